"""Scores before a pool grew, beside those after it: what systems that came later do to figures that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Values = Mapping[str, Mapping[str, float]]
"""By facet, then run."""


@dataclass(frozen=True, slots=True)
class Score:
    """One run on one facet: before each top-up, the oldest first, and now."""

    facet: str
    run: str
    values: tuple[float, ...]
    """Fractions, 0..1."""
    places: tuple[int, ...]
    """By the score, from 1; equal scores have the better place."""


@dataclass(frozen=True, slots=True)
class ToppedUp:
    """One version of the pools that a system brought."""

    version: int
    """What came with it, or later, is left out of the scores before."""
    method: str
    pairs: int
    """Judged pairs that are left out."""


@dataclass(frozen=True, slots=True)
class Restated:
    """Every run under the grades that there were before each top-up, and under all."""

    topups: tuple[ToppedUp, ...]
    """The oldest first."""
    convention: str
    measure: str
    scores: tuple[Score, ...]
    """By facet, the best run of now first."""


def restated_scores(before: Sequence[Values], now: Values) -> tuple[Score, ...]:
    """The scores of the runs that were measured every time; before: one for each top-up."""
    found = []
    for facet in now:
        states = [of.get(facet, {}) for of in (*before, now)]
        runs = [run for run in states[-1] if all(run in of for of in states)]
        found += [
            Score(
                facet,
                run,
                tuple(of[run] for of in states),
                tuple(1 + sum(of[other] > of[run] for other in runs) for of in states),
            )
            for run in sorted(runs, key=lambda run: (-states[-1][run], run))
        ]
    return tuple(found)
