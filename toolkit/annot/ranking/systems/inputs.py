"""Inputs of systems: pooled queries, the vectors of papers and of sentences, and grades to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from annot.base.records import Qrel, Query
from annot.base.settings.sections import SystemSettings
from annot.base.stats.arrays import Integers, Matrix
from annot.ranking.methods import RankingInputs
from annot.ranking.systems.weights import EncoderWeights
from annot.ranking.vectors import Vectors


@dataclass(frozen=True, slots=True)
class PooledQuery:
    """A query with the documents that a system is to put in order."""

    query_id: str
    topic_id: str
    facet: str
    sentences: tuple[int, ...]
    """Positions (from 0) of the sentences of the query paper that make the query; none of a topic that is a text."""
    whole: bool
    """True if these are all sentences of the abstract."""
    doc_ids: tuple[str, ...]
    text: str | None = None
    """Text that a topic is ranked by; None if the topic is a paper."""


@dataclass(frozen=True)
class SentenceVectors:
    """Vectors of the sentences of papers. Paper p has the rows `starts[p]` to `starts[p + 1] - 1`, one for each
    sentence from its first on.

    An encoder with a limit of tokens leaves the last sentences of a long abstract without a row.
    """

    ids: tuple[str, ...]
    starts: Integers
    """Shape (papers + 1,)."""
    matrix: Matrix
    """Shape (sentences, dimensions)."""
    facts: Mapping[str, Any]

    @cached_property
    def rows(self) -> dict[str, int]:
        """The place of each paper."""
        return {paper_id: place for place, paper_id in enumerate(self.ids)}

    def of(self, paper_id: str) -> Matrix:
        """The vectors of a paper's sentences: shape (sentences, dimensions)."""
        place = self.rows[paper_id]
        return np.asarray(self.matrix[self.starts[place] : self.starts[place + 1]])


@dataclass(frozen=True)
class Features:
    """Vectors of queries and of candidates from one system, by id, for SciSearch to learn from."""

    name: str
    queries: Mapping[str, Matrix]
    candidates: Mapping[str, Matrix]


class Grades(Protocol):
    """The grades of a study, and how systems that learn from them are trained and tested."""

    qrels: Sequence[Qrel]
    count: int
    """Number of grades on the scale."""
    seed: int

    def folds(self, queries: Sequence[Query]) -> tuple[list[list[str]], bool]:
        """Query ids of each test fold, and True if the folds were drawn now rather than taken from the record."""

    def shared(
        self, learned: Sequence[Query], tested: Sequence[Query], *, documents: Mapping[str, Sequence[str]], where: str
    ) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
        """The candidates that both sides have, and pairs of query papers that each judges for the other.

        documents: of each query. Raises LeakError if a figure would be void.
        """


class SystemInputs(Protocol):
    """A study as its systems see it: each thing is made when it is asked for, once for all of them."""

    topics: Sequence[PooledQuery]

    @property
    def settings(self) -> SystemSettings: ...

    @property
    def ranking_inputs(self) -> RankingInputs:
        """The corpus with the vectors that the formulas of terms need."""

    @property
    def grades(self) -> Grades: ...

    def sentence_vectors(self, weights: EncoderWeights) -> SentenceVectors:
        """The vectors of the sentences of all papers. Raises MissingInput when the weights are not there."""

    def own_vectors(self, name: str) -> Vectors | None:
        """Vectors in `corpus/vectors/NAME`; None if there is no such folder."""

    def paper_vectors(self, weights: EncoderWeights) -> Vectors:
        """A vector for each paper's title and abstract, and for each text. Raises MissingInput when the weights are not
        there."""

    def features(self, name: str) -> Features:
        """Features that the system of this name provides. Raises InputError for one that has no vectors."""
