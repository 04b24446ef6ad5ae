"""Files at a URL, for workers on other machines that do not see the study's folder.

Each has the SHA-256 of its bytes as its name: a file there is never out of date, and never sent twice.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from annot.base.errors import InputError


@dataclass(frozen=True)
class FolderAtUrl:
    """A folder (`annot.base.storage.Folder`) whose files are read in place here, and at URLs in other processes."""

    path: Path | None
    """Path here; None in a process to which it was sent."""
    urls: Mapping[str, str]
    """URLs by file name."""

    def __truediv__(self, name: str) -> Path:
        return local_copy(self.urls[name]) if self.path is None else self.path / name

    def __getstate__(self) -> dict[str, Any]:
        return {"path": None, "urls": self.urls}


def put_files(files: Mapping[Path, str], url: str) -> dict[Path, str]:
    """Put the files there that are not; the URL of each. files: the SHA-256 by path.

    Raises InputError if that cannot be done, or a file has another hash.
    """
    names = {path: f"{sha256}{path.suffix}" for path, sha256 in files.items()}
    with _errors_in_words(url):
        system, root = _opened(url)
        system.makedirs(root, exist_ok=True)
        existing = {name.rpartition("/")[2] for name in system.find(root, maxdepth=1)}
        for path, name in names.items():
            if name not in existing:
                if not path.is_file() or sha256_of(path) != files[path]:
                    raise InputError(f"{path}: changed since it was written", hint="run `annot index --repair`")
                unfinished = f"{root}/{name}.{uuid4().hex}"
                system.put_file(str(path), unfinished)
                system.mv(unfinished, f"{root}/{name}")
                existing.add(name)
    return {path: f"{url.rstrip('/')}/{name}" for path, name in names.items()}


def local_copy(url: str) -> Path:
    """The file at this URL, fetched once to this machine's temporary folder; its name is the hash it must have.

    Raises InputError if it cannot be read or is another file.
    """
    place = Path(tempfile.gettempdir()) / f"annot-fetched-{os.getuid()}" / url.rpartition("/")[2]
    if not place.exists():
        place.parent.mkdir(mode=0o700, exist_ok=True)
        unfinished = place.with_name(f"{place.name}.part")
        with unfinished.open("ab") as copy:
            # One of the workers of this machine fetches it, and the others wait.
            fcntl.flock(copy, fcntl.LOCK_EX)
            if not place.exists():
                fetch_file(url, unfinished)
                unfinished.replace(place)
    return place


def fetch_file(url: str, path: Path) -> None:
    """Fetch the file at this URL to a path; its name there must be its hash.

    Raises InputError if it cannot be read or is another file.
    """
    with _errors_in_words(url):
        system, name = _opened(url)
        with system.open(name, "rb") as source, path.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    if sha256_of(path) != Path(name).stem:
        raise InputError(
            f"{url}: its bytes do not have the hash in its name", hint="delete it there, and run the command again"
        )


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _errors_in_words(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise InputError(
            f"{url}: {error or type(error).__name__}", hint="check `shards` under [machine] in annot.toml"
        ) from None


def _opened(url: str) -> tuple[Any, str]:
    """File system of a URL, without its cached listings from before others put files there, and the path in it."""
    from fsspec.core import url_to_fs

    files, path = url_to_fs(url)
    files.invalidate_cache()
    return files, str(path).rstrip("/")
