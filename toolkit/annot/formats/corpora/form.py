"""What a format of papers is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from annot.formats.corpora.cutting import Piece, Records, cut_lines, json_records


@dataclass(frozen=True, slots=True)
class Format:
    """A format of papers, JSON Lines unless it says otherwise."""

    name: str
    paper: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: record
    """A record in the fields that `paper_lines.read_papers` knows."""
    fits: Callable[[Mapping[str, Any]], bool] = lambda _record: False
    """Whether a JSON record, the first of a file, is of this format."""
    records: Callable[[Piece], Records] = json_records
    cut: Callable[[str], list[tuple[int, int | None]]] = cut_lines
    endings: tuple[str, ...] = ()
    """Of file names, compressed or not, that tell the format; without any its files are JSON Lines."""
    by_name: bool = False
    """Whether what is given are names of datasets, not of files."""


def in_one_piece(_name: str) -> list[tuple[int, int | None]]:
    """How a file is cut that has to be read from its beginning."""
    return [(0, None)]
