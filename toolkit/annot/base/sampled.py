"""A sample of the pools: pairs drawn with known probabilities, so that what is judged of them describes the whole pool.

A pair that was not drawn is a pair of the pool that nobody is asked about. It is neither missing nor irrelevant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from annot.base.records import OfPair


class SampleDesign(NamedTuple):
    """By which rule pairs are drawn; fixed with the first sample but for `share`, which may rise."""

    share: float
    """Of the pairs of the pools, expected to be drawn."""
    across: str
    """What the share is of: `query`, every query's pool, or `study`, all of them together."""
    floor: float
    """The smallest probability of a pair."""
    unranked: float
    """The probability of a document that no method ranked: cited, or found by hand."""
    seed: int
    created: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class SampledPair(OfPair):
    """One pair of a pool under the sample."""

    query_id: str
    doc_id: str
    rank: int | None
    """In the fusion of the rankings, from 1, as they were when the pair came under the sample; None without a rank."""
    batch: int
    """1 for what was there at the first sample, a higher number for what came later together."""
    probability: float
    """With which it is drawn at the share on record, as rounded: above 0, at most 1."""
    drawn: bool


class Sample(NamedTuple):
    """The sample on record."""

    design: SampleDesign
    pairs: Mapping[tuple[str, str], SampledPair]
    """By (query_id, doc_id): every pair of the pools that is under the sample, drawn or not."""

    def drawn(self, query_id: str, doc_id: str) -> bool:
        """Whether the pair is to be judged; one that is not under the sample is."""
        found = self.pairs.get((query_id, doc_id))
        return found is None or found.drawn
