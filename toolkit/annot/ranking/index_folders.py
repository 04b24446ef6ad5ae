"""The folders of the index between a command and its workers: in place, or through a URL where they do not see them.

A worker that makes a folder puts its files at the URL, each under its content, and names them to the command, which
fetches them to the study: a worker that is killed half-way has named nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from annot.base import storage
from annot.store.files_at_url import FolderAtUrl, fetch_file, put_files, sha256_of

Urls = Mapping[str, str]
"""Where the files of a folder are, by their names; none where the folder is in its place."""


def folders_for(folders: Sequence[Path], url: str) -> list[storage.Folder]:
    """These folders as workers read them: at the URL, where their files are put first, or, where it is empty, in place.

    Raises InputError where that cannot be done.
    """
    return [*_put(folders, url)] if url else [*folders]


def folder_for(path: Path, url: str) -> storage.Folder:
    """The same for one file of a folder of any kind."""
    return FolderAtUrl(path.parent, {path.name: put_files({path: sha256_of(path)}, url)[path]}) if url else path.parent


def keep(
    folder: Path, url: str, *, kind: str, arrays: Mapping[str, storage.Array | storage.Blocks], facts: Mapping[str, int]
) -> Urls:
    """Save what was made: to its folder, or, where there is a URL, at that."""
    if not url:
        storage.save(folder, kind=kind, arrays=arrays, texts={}, facts=facts)
        return {}
    with TemporaryDirectory(prefix="annot-") as scratch:
        made = Path(scratch) / folder.name
        storage.save(made, kind=kind, arrays=arrays, texts={}, facts=facts)
        (sent,) = _put([made], url)
        return sent.urls


def take(folder: Path, urls: Urls) -> None:
    """Fetch, to its folder, what a worker kept at a URL."""
    if urls:
        with storage.written_whole(folder) as building:
            for name, url in urls.items():
                fetch_file(url, building / name)


def _put(folders: Sequence[Path], url: str) -> list[FolderAtUrl]:
    hashes = [storage.written_hashes(folder) for folder in folders]
    files = {folder / name: one for folder, own in zip(folders, hashes, strict=True) for name, one in own.items()}
    urls = put_files(files, url)
    return [
        FolderAtUrl(folder, {name: urls[folder / name] for name in own})
        for folder, own in zip(folders, hashes, strict=True)
    ]
