"""The release as a whole: the names of its files, and their checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath

from annot.errors import InputError
from annot.release.leaks import Leak, Secret, addresses, leaks

__all__ = ["SUMS_FILE", "Leak", "Secret", "addresses", "bundle", "leaks"]

SUMS_FILE = "SHA256SUMS"


def bundle(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with `SHA256SUMS` (as `sha256sum -c` reads it) added, by path in order. The same files, the same bytes.

    Raises InputError with every path that is not a plain relative one, and those that differ in case only.
    """
    faults = [f"{path!r}: expected a relative path with `/`" for path in files if not _is_plain(path)]
    by_folded: dict[str, list[str]] = {}
    for path in files:
        by_folded.setdefault(path.casefold(), []).append(path)
    faults += [
        f"{', '.join(same)}: these names differ only in upper and lower case" for same in by_folded.values() if same[1:]
    ]
    if SUMS_FILE in files:
        faults.append(f"{SUMS_FILE}: reserved for the checksums")
    if faults:
        raise InputError(f"the release: {len(faults)} fault(s) in the names of files", faults=faults)
    sums = "".join(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n" for path in sorted(files))
    return dict(sorted({**files, SUMS_FILE: sums.encode("utf-8")}.items()))


def _is_plain(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and ".." not in parts
        and not path.startswith("/")
        and "/".join(parts) == path
        and path.isprintable()
        and "\\" not in path
    )
