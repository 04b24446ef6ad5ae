"""The weights in a model file that CRFsuite wrote, read at full precision.

The layout is that of CRFsuite 0.12, `lib/crf/src/crf1d_model.c`; names are kept in its constant database
(`lib/cqdb/src/cqdb.c`). CRFsuite itself tells weights with six decimals only.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import InputError

_MAGIC = b"lCRF"
_HEADER = struct.Struct("<4sI4sIIIIIIIII")
_FEATURES_HEADER = struct.Struct("<4sII")
_FEATURE = [("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")]
_STATE, _TRANSITION = 0, 1
_NAMES_HEADER = struct.Struct("<4sIIIII")
_NAME = struct.Struct("<II")


class Weights(NamedTuple):
    """What a linear-chain conditional random field has learnt; L labels, A attributes."""

    labels: tuple[str, ...]
    attributes: dict[str, int]
    """The number of each attribute, from 0."""
    state: NDArray[np.float64]
    """Array, shape (L, A): the weight of a label where the attribute is seen; 0 where none was learnt."""
    transition: NDArray[np.float64]
    """Array, shape (L, L): the weight of a label (second) after another (first)."""


def read_weights(raw: bytes, *, name: str) -> Weights:
    """The weights in the bytes of an uncompressed model file; `name` stands in messages.

    Raises InputError when it is not a whole model.
    """
    if not raw.startswith(_MAGIC):
        raise InputError(f"{name}: not a CRFsuite model: found {raw[:4]!r} at the start, expected {_MAGIC!r}")
    stated = int.from_bytes(raw[4:8], "little")
    if stated != len(raw):
        raise InputError(f"{name}: the model is cut short: found {len(raw)} bytes, expected {stated}")
    try:
        header = _HEADER.unpack_from(raw)
        features_at, labels_at, attributes_at = header[7:10]
        labels = _names(raw, labels_at)
        attributes = _names(raw, attributes_at)
        _chunk, _size, count = _FEATURES_HEADER.unpack_from(raw, features_at)
        learnt = np.frombuffer(raw, _FEATURE, count, features_at + _FEATURES_HEADER.size)
        state = np.zeros((len(labels), len(attributes)))
        transition = np.zeros((len(labels), len(labels)))
        seen, follows = learnt[learnt["kind"] == _STATE], learnt[learnt["kind"] == _TRANSITION]
        state[seen["target"], seen["source"]] = seen["weight"]
        transition[follows["source"], follows["target"]] = follows["weight"]
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(f"{name}: not a CRFsuite model: {error}") from None
    return Weights(tuple(labels), {attribute: number for number, attribute in enumerate(attributes)}, state, transition)


def _names(raw: bytes, start: int) -> list[str]:
    """The strings of a constant database that begins at `start`, in the order of their numbers."""
    *_, count, list_at = _NAMES_HEADER.unpack_from(raw, start)
    names = []
    for offset in np.frombuffer(raw, "<u4", count, start + list_at).tolist():
        _number, size = _NAME.unpack_from(raw, start + offset)
        begin = start + offset + _NAME.size
        names.append(raw[begin : begin + size - 1].decode())
    return names
