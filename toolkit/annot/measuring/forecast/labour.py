"""What the times of a pilot show: how long queries take, and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.records import Judgement
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.values import Undefined
from annot.measuring.forecast.hours import HOUR, Speed, kept_times, speed_of
from annot.measuring.forecast.redrawing import Redrawn


@dataclass(frozen=True, slots=True)
class Labour:
    """What the times of a pilot show: of T queries, by n people."""

    query_ids: tuple[str, ...]
    by_query: Array
    """Shape (T,): the time of a query's pairs over that of its assessors on the average query."""
    by_person: Array
    """Shape (n,): seconds a pair."""

    def expected(self, asked: int) -> float:
        """Hours for so many judgements, shared evenly."""
        return asked * float(self.by_person.mean() * self.by_query.mean()) / HOUR

    def simulated(self, asked: int, redrawn: Redrawn, like: Integers, people: int, rng: np.random.Generator) -> float:
        """Hours of one study, whose queries are `like` those of the pilot as it is `redrawn`."""
        queries = np.exp(redrawn.future(np.log(self.by_query), 1.0))[like]
        return asked * float(queries.mean() * self._team(people, rng).mean()) / HOUR

    def _team(self, people: int, rng: np.random.Generator) -> Array:
        """The pilot's people: some of them, or all and others who differ from them as they do from each other."""
        n = len(self.by_person)
        if people <= n:
            return rng.choice(self.by_person, size=people, replace=False)
        spread = np.var(np.log(self.by_person), ddof=1) * (1 + 1 / n) if n > 1 else 0.0
        others = np.exp(np.sqrt(spread) * rng.standard_normal(people - n) - spread / 2)
        return np.concatenate([self.by_person, self.by_person.mean() * others])


def labour_of(by_assessor: Mapping[str, Sequence[Judgement]], *, fence: float) -> Labour | Undefined:
    """Learn from times within the fences.

    A query's time is relative to its own assessors', so that a query that slow people judged is no slow query.
    """
    speed = speed_of(by_assessor, fence=fence)
    if not isinstance(speed, Speed):
        return speed
    relative: dict[str, list[float]] = {}
    for name, times in kept_times(by_assessor, fence=fence).items():
        for query_id, seconds in times:
            relative.setdefault(query_id, []).append(seconds / speed.means[name])
    query_ids = tuple(sorted(relative))
    by_query = np.array([np.mean(relative[query_id]) for query_id in query_ids])
    return Labour(query_ids, by_query, np.array([speed.means[name] for name in sorted(speed.means)]))
