"""Arrow arrays made and read without `pyarrow.array` and `to_numpy`, which import pandas if it is installed; that takes
longer than most searches.

The memory of an array is described in https://arrow.apache.org/docs/format/Columnar.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


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
    array = _in_one(array)
    kind = np.dtype(str(array.type))
    data = array.buffers()[1]
    return np.zeros(0, kind) if data is None else np.frombuffer(data, kind, len(array), array.offset * kind.itemsize)


def truths(array: Any) -> NDArray[np.bool_]:
    """NumPy array of an Arrow array of truth values without nulls, or of one in several chunks."""
    array = _in_one(array)
    data = array.buffers()[1]
    bits = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    end = array.offset + len(array)
    return np.unpackbits(bits, count=end, bitorder="little")[array.offset :].astype(bool)


def each_once(table: Any) -> Any:
    """Distinct rows of an Arrow table of strings, in the order in which they first come."""
    keys = np.zeros(len(table), np.int64)
    for column in table.columns:
        codes = np.concatenate(
            [np.zeros(0, np.int32), *(numbers(c.indices) for c in column.dictionary_encode().chunks)]
        )
        # Few columns have so many different values that their product does not fit.
        keys = keys * (int(codes.max(initial=0)) + 1) + codes
    return table.take(integers_of(np.sort(np.unique(keys, return_index=True)[1])))


def _in_one(array: Any) -> Any:
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
