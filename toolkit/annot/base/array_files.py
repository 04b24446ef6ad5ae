"""Arrays and word lists in a folder with their hashes, and Arrow arrays made and read without pandas."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import mmap
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import BusyError, InputError, MissingInput
from annot.base.names import sha256_of

# ----------------------------------------------------------------------------------------------------------------------
# Arrays and word lists in a folder: written whole, with the SHA-256 of each file, read back memory-mapped.
#
# A folder holds one `<name>.npy` for each array, one `<name>.txt` (a string a line, so none with a line feed) for
# each list, and `about.json` with the kind, the facts and the hashes, the last of them its own: of its text without
# that hash.
# ----------------------------------------------------------------------------------------------------------------------


ABOUT = "about.json"
Array = NDArray[Any]
_HEADER = re.compile(rb"\{'descr': '([<|][biuf]\d)', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \} *\n")


class Folder(Protocol):
    """Place of files that were written together: a path, or an object that fetches them from elsewhere."""

    def __truediv__(self, name: str, /) -> Path:
        """Path at which this process reads the file of this name."""
        ...


class ArrayFolder(Mapping[str, Array]):
    """Arrays in a folder by name: each is mapped when it is used, and released with its last use."""

    def __init__(self, folder: Folder, names: Sequence[str]) -> None:
        self._folder = folder
        self._names = names

    def __getitem__(self, name: str) -> Array:
        path = self._folder / f"{name}.npy"
        try:
            return mapped(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: not readable: {error}", hint=_again(path.parent)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def mapped(path: Path) -> Array:
    """Array of numbers in a file that `numpy.save` wrote, mapped, to be read only.

    `numpy.load` takes several times as long, which counts if each search opens a thousand files, and it parses Python,
    which fails now and then if several threads do so (CPython, issue 106905).
    """
    with path.open("rb") as file:
        if (version := np.lib.format.read_magic(file)) != (1, 0):  # type: ignore[no-untyped-call]
            raise ValueError(f"found an array of version {version}, expected (1, 0)")
        header = file.read(int.from_bytes(file.read(2), "little"))
        if not (match := _HEADER.fullmatch(header)):
            raise ValueError(f"found {header[:100]!r}, expected type, order and shape of an array of numbers")
        start, pages = file.tell(), mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    kind, by_columns, sizes = (part.decode() for part in match.groups())
    shape = [int(size) for size in sizes.replace(",", " ").split()]
    array = np.frombuffer(pages, kind, math.prod(shape), start)
    return array.reshape(shape, order="F" if by_columns == "True" else "C")


@dataclass(frozen=True)
class Blocks:
    """Array that comes block by block and is never in memory whole. shape: of all of it; kind: of its numbers."""

    shape: tuple[int, ...]
    blocks: Iterable[Array]
    kind: str = "<f4"


@dataclass(frozen=True)
class StoredArrays:
    """Content of a folder: `arrays` and `texts` by name, the `facts` written with them."""

    arrays: Mapping[str, Array]
    texts: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, Any]


def save(
    folder: Path,
    *,
    kind: str,
    arrays: Mapping[str, Array | Blocks | Path],
    texts: Mapping[str, Sequence[str]],
    facts: Mapping[str, Any],
) -> None:
    """Write all of it to `folder`, replacing its content. An array given as a file on the same disk is moved.

    The files are made next to the folder and moved in at the end, so that a reader never finds a part.
    """
    with written_whole(folder) as building:
        for name, array in arrays.items():
            if isinstance(array, Path):
                array.replace(building / f"{name}.npy")
            else:
                save_array(building / f"{name}.npy", array)
        for name, lines in texts.items():
            with (building / f"{name}.txt").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
        sha256 = {path.name: sha256_of(path) for path in sorted(building.iterdir())}
        about = {"kind": kind, "facts": dict(facts), "arrays": sorted(arrays), "lists": sorted(texts), "sha256": sha256}
        sha256[ABOUT] = hashlib.sha256(_text(about).encode()).hexdigest()
        (building / ABOUT).write_text(_text(about), "utf-8")


@contextmanager
def written_whole(folder: Path) -> Iterator[Path]:
    """Make a new folder to write into, which takes the place of `folder` at the end; after an error it is removed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_prefix(folder)))
    try:
        yield building
        building.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        building.replace(folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


@contextmanager
def scratch_for(folder: Path) -> Iterator[Path]:
    """Temporary folder next to `folder`, which is removed at the end."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=_prefix(folder)) as scratch:
        yield Path(scratch)


def _prefix(folder: Path) -> str:
    """Beginning of the names of unfinished folders that this process makes."""
    return f".{folder.name}.{os.getpid()}@{platform.node()}."


def remove_unfinished(root: Path) -> None:
    """Remove, anywhere below `root`, the unfinished folders of processes of this machine that were killed."""
    for building in root.rglob(f".*@{platform.node()}.*"):
        process = building.name.rpartition("@")[0].rpartition(".")[2]
        if not _runs(int(process)):
            shutil.rmtree(building, ignore_errors=True)


def save_array(path: Path, array: Array | Blocks) -> None:
    """Write the array to `path`. NumPy reports a full disk only if it does not know that it writes to a file."""
    with path.open("wb") as file:
        if isinstance(array, Blocks):
            write_header(file, array.shape, array.kind)
            for block in array.blocks:
                file.write(np.ascontiguousarray(block, array.kind).tobytes())
        else:
            writable: Any = SimpleNamespace(write=file.write)
            np.save(writable, array)


def write_header(file: IO[bytes], shape: tuple[int, ...], kind: str) -> None:
    """Write the beginning of an array file; NumPy leaves room in it for the number of rows that follow."""
    writable: Any = SimpleNamespace(write=file.write)
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(writable, header)  # type: ignore[no-untyped-call]


def load(folder: Folder, *, kind: str) -> StoredArrays:
    """Read a folder that `save` wrote. The arrays stay on disk and are read when they are used.

    Raises MissingInput if nothing is there, InputError if it is of another kind or incomplete.
    """
    path = folder / ABOUT
    hint = _again(path.parent)
    if not path.is_file():
        raise MissingInput(f"{path.parent}: {ABOUT} is missing", hint=hint)
    try:
        about = json.loads(path.read_text("utf-8"))
        if about["kind"] != kind:
            raise InputError(f"{path}: found kind {about['kind']!r}, expected {kind!r}", hint=hint)
        absent = [name for name in about["arrays"] if not (folder / f"{name}.npy").is_file()]
        if absent:
            raise InputError(f"{path.parent}: missing: {', '.join(f'{name}.npy' for name in absent)}", hint=hint)
        texts = {name: _lines(folder / f"{name}.txt") for name in about["lists"]}
        return StoredArrays(arrays=ArrayFolder(folder, about["arrays"]), texts=texts, facts=about["facts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path.parent}: not readable as {kind}: {error}", hint=hint) from None


def written_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file in a folder when `save` wrote it, by the file's name.

    Raises InputError if the folder has no record of it.
    """
    text, about = _read_record(folder)
    return {**about["sha256"], ABOUT: hashlib.sha256(text.encode()).hexdigest()}


def _read_record(folder: Path) -> tuple[str, dict[str, Any]]:
    """Text of the record that `save` wrote, and its content. Raises InputError if it cannot be read."""
    path = folder / ABOUT
    try:
        text = path.read_text("utf-8")
        about = json.loads(text)
        return text, about | {"sha256": dict(about["sha256"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not readable: {error}", hint=_again(folder)) from None


def faults(folder: Path) -> list[str]:
    """Changes in `folder` since `save` wrote it, one line a file; none if all hashes hold."""
    try:
        text, about = _read_record(folder)
    except InputError as error:
        return [error.message]
    written = about["sha256"]
    if text != _text(about) or ABOUT not in written:
        return [f"{folder / ABOUT}: has changed since it was written"]
    hashes = {name: sha256_of(folder / name) for name in written if (folder / name).is_file()}
    others = {name: digest for name, digest in written.items() if name != ABOUT}
    hashes[ABOUT] = hashlib.sha256(_text(about | {"sha256": others}).encode()).hexdigest()
    return [
        f"{folder / name}: found {hashes.get(name, 'no file')[:12]}, expected SHA-256 {digest[:12]}"
        for name, digest in written.items()
        if hashes.get(name) != digest
    ]


def _text(about: Mapping[str, Any]) -> str:
    return json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _again(folder: Path) -> str:
    return f"delete {folder}, and make it again with `annot index`"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _lines(path: Path) -> tuple[str, ...]:
    # Not splitlines, nor universal newlines: a string may hold any character but the line feed.
    with path.open(encoding="utf-8", newline="\n") as file:
        return tuple(file.read().split("\n")[:-1])


@contextmanager
def held_alone(lock: Path, *, busy: str, hint: str) -> Iterator[None]:
    """Lock a file for this process alone; the operating system releases it when that ends.

    Raises BusyError, with these words, if another process holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    # A link in a study of others must not lead out of it.
    with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(busy, hint=hint) from None
        yield


# ----------------------------------------------------------------------------------------------------------------------
# Arrow arrays made and read without `pyarrow.array` and `to_numpy`, which import pandas if it is installed; that
# takes longer than most searches.
#
# The memory of an array is described in https://arrow.apache.org/docs/format/Columnar.html.
# ----------------------------------------------------------------------------------------------------------------------


def as_arrays(name: str, strings: Any) -> dict[str, Array]:
    """Take an Arrow array of strings without nulls apart into two arrays that `as_strings` reads: UTF-8, and the start
    of each string.
    """
    _validity, begins, values = strings.buffers()
    if not len(strings):
        return {f"{name}_utf8": np.zeros(0, np.uint8), f"{name}_offsets": np.zeros(1, np.int32)}
    offsets = np.frombuffer(begins, np.int32, len(strings) + 1, strings.offset * 4)
    utf8 = np.frombuffer(values, np.uint8)[offsets[0] : offsets[-1]] if values else np.zeros(0, np.uint8)
    return {f"{name}_utf8": utf8, f"{name}_offsets": offsets - offsets[0]}


def as_strings(arrays: Mapping[str, Array], name: str) -> Any:
    """Arrow array that `as_arrays` took apart, without a copy of its text."""
    import pyarrow as pa

    offsets, utf8 = arrays[f"{name}_offsets"], arrays[f"{name}_utf8"]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(utf8)])


def strings_of(texts: Iterable[str | None]) -> Any:
    """Arrow array of these strings; None becomes null."""
    import pyarrow as pa

    items = list(texts)
    validity = _bits(np.array([text is not None for text in items], bool)) if None in items else None
    strings = [text or "" for text in items]
    joined = "".join(strings)
    parts: list[Any] = strings if joined.isascii() else [text.encode() for text in strings]
    offsets = np.zeros(len(strings) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(joined.encode())]
    return pa.Array.from_buffers(pa.string(), len(strings), buffers)


def lists_of(lists: Sequence[Sequence[str] | None]) -> Any:
    """Arrow array of these lists of strings; None becomes null."""
    import pyarrow as pa

    offsets = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(texts or ()) for texts in lists], out=offsets[1:])
    items = strings_of(chain.from_iterable(texts for texts in lists if texts))
    validity = _bits(np.array([texts is not None for texts in lists], bool))
    kind = pa.list_(pa.string())
    return pa.Array.from_buffers(kind, len(lists), [validity, pa.py_buffer(offsets)], children=[items])


def integers_of(values: Iterable[int | None], kind: type[np.int32 | np.int64] = np.int64) -> Any:
    """Arrow array of these integers, of this kind if they are not of NumPy; None becomes null."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        validity, numbers = None, np.ascontiguousarray(values)
    else:
        items = list(values)
        validity = _bits(np.array([value is not None for value in items], bool))
        numbers = np.array([value or 0 for value in items], kind)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [validity, pa.py_buffer(numbers)])


def mask_of(values: NDArray[np.bool_]) -> Any:
    """Arrow array of these truth values."""
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def numbers(array: Any) -> NDArray[Any]:
    """NumPy array of an Arrow array of integers without nulls, or of one in several chunks."""
    array = _one_chunk(array)
    kind = np.dtype(str(array.type))
    data = array.buffers()[1]
    return np.zeros(0, kind) if data is None else np.frombuffer(data, kind, len(array), array.offset * kind.itemsize)


def places_of(strings: Any, values: Any) -> NDArray[np.int32]:
    """Place of each string of an Arrow array among those of another, which are distinct; -1 where it is not."""
    import pyarrow.compute as pc

    # A number of Python would make Arrow import pandas.
    return numbers(pc.fill_null(pc.index_in(strings, value_set=values), integers_of(np.full(1, -1, np.int32))[0]))


def truths(array: Any) -> NDArray[np.bool_]:
    """NumPy array of an Arrow array of truth values without nulls, or of one in several chunks."""
    array = _one_chunk(array)
    data = array.buffers()[1]
    bits = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    end = array.offset + len(array)
    return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].astype(bool)


def distinct_rows(table: Any) -> Any:
    """Distinct rows of an Arrow table of strings, in the order in which they first come."""
    keys = np.zeros(len(table), np.int64)
    for column in table.columns:
        codes = np.concatenate(
            [np.zeros(0, np.int32), *(numbers(c.indices) for c in column.dictionary_encode().chunks)]
        )
        # Few columns have so many different values that their product does not fit.
        keys = keys * (int(codes.max(initial=0)) + 1) + codes
    return table.take(integers_of(np.sort(np.unique(keys, return_index=True)[1])))


def _one_chunk(array: Any) -> Any:
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array


def _bits(valid: NDArray[np.bool_]) -> Any:
    """Validity bitmap in Arrow's format; None if no value is null."""
    import pyarrow as pa

    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def strings_in(text: bytes) -> Any:
    """Arrow array of the lines of a text; a line feed at its end begins no line. Raises ValueError if it is not
    UTF-8.
    """
    import pyarrow as pa

    lines = text if text.endswith(b"\n") else text + b"\n"
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
    offsets = np.concatenate(([0], ends - np.arange(len(ends)))).astype(np.int32)
    values = lines.replace(b"\n", b"")
    array = pa.Array.from_buffers(pa.string(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(values)])
    array.validate(full=True)
    return array
