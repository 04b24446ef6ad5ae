"""Files that the lead names: they are there, and they are text where text is expected."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from annot.base.errors import InputError


def check_files(paths: Iterable[Path]) -> None:
    """Raise InputError with each path where no file lies."""
    absent = [
        f"{path}: {'a folder, expected a file' if path.is_dir() else 'no such file'}"
        for path in paths
        if not path.is_file()
    ]
    if absent:
        raise InputError(f"{len(absent)} file(s) not found", faults=absent)


def given_bytes(path: Path, *, expected: str) -> bytes:
    """The content of the file. Raises InputError where there is none; expected: what it was to hold, in words."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {found}, expected {expected}")
    return path.read_bytes()


def given_text(path: Path, *, expected: str) -> str:
    """The text of the file, without a byte order mark. Raises InputError where there is none, or it is not UTF-8."""
    try:
        return given_bytes(path, expected=expected).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text at byte {error.start}, expected {expected}") from None
