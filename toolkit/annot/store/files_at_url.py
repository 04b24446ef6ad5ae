"""Files at a URL, so that workers on other machines can read them where they do not see the study's folder.

Each lies there under the SHA-256 of its bytes: what is there is never out of date, and never sent twice.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from annot.errors import InputError


def put_files(paths: Iterable[Path], url: str) -> dict[Path, str]:
    """Put the files there that are not; the URL of each. Raises InputError where that cannot be done."""
    names = {path: f"{_sha256(path)}{path.suffix}" for path in paths}
    with _told(url):
        files, root = _opened(url)
        files.makedirs(root, exist_ok=True)
        for path, name in names.items():
            if not files.exists(f"{root}/{name}"):
                unfinished = f"{root}/{name}.{uuid4().hex}"
                files.put_file(str(path), unfinished)
                files.mv(unfinished, f"{root}/{name}")
    return {path: f"{url.rstrip('/')}/{name}" for path, name in names.items()}


def local_copy(url: str) -> Path:
    """The file at this URL, fetched once to this machine's temporary folder; its name is the hash it must have.

    Raises InputError where it cannot be read or is another file.
    """
    name = url.rpartition("/")[2]
    place = Path(tempfile.gettempdir()) / f"annot-corpus-{os.getuid()}" / name
    if not place.exists():
        place.parent.mkdir(mode=0o700, exist_ok=True)
        fetched = place.with_suffix(f".{uuid4().hex}")
        try:
            with _told(url):
                files, path = _opened(url)
                with files.open(path, "rb") as source, fetched.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
            if _sha256(fetched) != place.stem:
                raise InputError(
                    f"{url}: its bytes have another hash", hint="delete it there, and run the command again"
                )
            fetched.replace(place)
        finally:
            fetched.unlink(missing_ok=True)
    return place


@contextmanager
def _told(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, ImportError, NotImplementedError) as error:
        raise InputError(
            f"{url}: {error or type(error).__name__}", hint="`shards` of [machine] in annot.toml"
        ) from None


def _opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    from fsspec.core import url_to_fs

    files, path = url_to_fs(url)
    return files, str(path).rstrip("/")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
