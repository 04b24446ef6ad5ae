"""Scores before a pool grew, beside those after it: what a system that came later does to figures that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Values = Mapping[str, Mapping[str, float]]
"""By facet, then run."""


@dataclass(frozen=True, slots=True)
class Score:
    """One run on one facet; fractions, 0..1. Ranks count from 1, by the score."""

    facet: str
    run: str
    before: float
    after: float
    rank_before: int
    rank_after: int


@dataclass(frozen=True, slots=True)
class Restated:
    """Every run under the grades that there were, and under all."""

    version: int
    """Of the pools: what came with it, or later, is left out of the scores before."""
    method: str
    pairs: int
    """Judged pairs that are left out."""
    convention: str
    measure: str
    scores: tuple[Score, ...]
    """By facet, the best run of now first."""


def restated_scores(before: Values, after: Values) -> tuple[Score, ...]:
    """The scores of the runs that were measured before and after."""
    found = []
    for facet, scores in after.items():
        old = before.get(facet, {})
        both = [run for run in scores if run in old]
        then, now = _ranks({run: old[run] for run in both}), _ranks({run: scores[run] for run in both})
        found += [
            Score(facet, run, old[run], scores[run], then[run], now[run])
            for run in sorted(both, key=lambda run: (-scores[run], run))
        ]
    return tuple(found)


def _ranks(values: Mapping[str, float]) -> dict[str, int]:
    """Equal scores have the better rank."""
    return {run: 1 + sum(other > value for other in values.values()) for run, value in values.items()}
