"""Vectors of the sentences of papers: one matrix, cut into papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class SentenceVectors:
    """Paper p has the rows `starts[p]` to `starts[p + 1] - 1`, one for each sentence from its first on.

    An encoder that reads only so many tokens leaves the last sentences of a long abstract without a row.
    """

    ids: tuple[str, ...]
    starts: NDArray[np.int64]
    """Shape (papers + 1,)."""
    matrix: Matrix
    """Shape (sentences, dimensions)."""
    facts: Mapping[str, Any]

    @cached_property
    def rows(self) -> dict[str, int]:
        """The place of each paper."""
        return {paper_id: at for at, paper_id in enumerate(self.ids)}

    def of(self, paper_id: str) -> Matrix:
        """The vectors of a paper's sentences: shape (sentences, dimensions)."""
        at = self.rows[paper_id]
        return np.asarray(self.matrix[self.starts[at] : self.starts[at + 1]])


class Candidates:
    """The sentences of several papers below each other; a sentence without a vector of its own is left out.

    matrix: shape (sentences, dimensions). starts: shape (papers + 1,). positions: shape (sentences,), from 0 in each
    paper.
    """

    def __init__(self, vectors: SentenceVectors, paper_ids: Sequence[str]) -> None:
        parts = [vectors.of(paper_id) for paper_id in paper_ids]
        usable = [np.flatnonzero(part.any(axis=1)) for part in parts]
        width = vectors.matrix.shape[1]
        empty = np.zeros((0, width), dtype=np.float32)
        self.matrix: Matrix = np.concatenate([empty, *(part[rows] for part, rows in zip(parts, usable, strict=True))])
        self.starts = np.cumsum([0, *map(len, usable)])
        self.positions: NDArray[np.int64] = np.concatenate([np.zeros(0, dtype=np.int64), *usable])

    @property
    def filled(self) -> NDArray[np.int64]:
        """The papers that have a sentence."""
        return np.flatnonzero(np.diff(self.starts))
