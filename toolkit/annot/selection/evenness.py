"""An even choice: papers and facets such that the counts of periods, types and facets lie as close as they can.

The imbalance of a choice is the sum of its squared counts: papers in each period, papers of each type, queries of each
facet. For a given total it is least where the counts of a kind differ by no more than one, or by no more than the
supply of the scarce ones forces. Choosing under three kinds at once is a hard matching problem, so the search is
iterated local search (Lourenço, Martin and Stützle 2003): fill greedily, improve by single exchanges, then again and
again undo a few and refill, keeping what is not worse. It stops at once where the lower bound is reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

Key = tuple[str, str]
"""What is counted: the kind (`period`, `type` or `facet`) and its value."""

ROUNDS = 200
"""How often the search starts again from its best choice where the lower bound is out of reach."""
UNDONE = 4
"""How many papers each round takes out."""


class Candidate(NamedTuple):
    """A paper that can be chosen, with the facets it can serve."""

    paper_id: str
    period: str
    type: str
    facets: tuple[str, ...]

    def keys(self, facets: Sequence[str]) -> tuple[Key, ...]:
        """All that a choice of this paper for `facets` adds one to."""
        return (("period", self.period), ("type", self.type), *(("facet", facet) for facet in facets))


@dataclass(frozen=True, slots=True)
class EvenChoice:
    """What the search found."""

    facets: Mapping[str, tuple[str, ...]]
    """The facets of each chosen paper."""
    counts: Mapping[Key, int]
    imbalance: int
    least: int
    """A lower bound of the imbalance: each kind for itself as even as its supply allows."""


class _Option(NamedTuple):
    """Papers that count alike: same period, same type, chosen for the same facets."""

    keys: tuple[Key, ...]
    facets: tuple[str, ...]
    paper_ids: tuple[str, ...]


class _Place(NamedTuple):
    """One chosen paper."""

    option: _Option
    paper_id: str

    @property
    def size(self) -> int:
        return len(self.option.facets)


def even_choice(candidates: Sequence[Candidate], *, singles: int, doubles: int, rng: np.random.Generator) -> EvenChoice:
    """Choose `singles` papers for one facet each and `doubles` papers for two, evenly.

    There must be `doubles` candidates with two facets or more and `singles` others besides. Every candidate has at
    least one facet. Papers that count alike are taken in an order drawn from `rng`.
    """
    shuffled = [candidates[at] for at in rng.permutation(len(candidates))]
    search = _Search({size: _options(shuffled, size) for size in (1, 2)}, rng)
    search.fill([2] * doubles + [1] * singles)
    least = _lower_bound(candidates, singles + doubles, singles + 2 * doubles)
    search.descend()
    for _ in range(ROUNDS):
        if search.imbalance == least:
            break
        before, imbalance = list(search.places), search.imbalance
        search.fill(search.undo(UNDONE))
        search.descend()
        if search.imbalance > imbalance:
            search.restore(before)
    facets = {place.paper_id: place.option.facets for place in search.places}
    return EvenChoice(facets, dict(search.counts), search.imbalance, least)


def least_squares(total: int, supplies: Sequence[int]) -> int:
    """The least sum of squares of counts that add up to `total`, none above its supply (in all at least `total`)."""
    counts = [0] * len(supplies)
    for _ in range(total):
        lowest = min((at for at, supply in enumerate(supplies) if counts[at] < supply), key=counts.__getitem__)
        counts[lowest] += 1
    return sum(count * count for count in counts)


def _lower_bound(candidates: Sequence[Candidate], papers: int, queries: int) -> int:
    supply = Counter(key for candidate in candidates for key in candidate.keys(candidate.facets))
    return sum(
        least_squares(total, [count for (owner, _), count in supply.items() if owner == kind])
        for kind, total in (("period", papers), ("type", papers), ("facet", queries))
    )


def _options(candidates: Sequence[Candidate], size: int) -> list[_Option]:
    papers: dict[tuple[tuple[Key, ...], tuple[str, ...]], list[str]] = {}
    for candidate in candidates:
        for facets in combinations(candidate.facets, size):
            papers.setdefault((candidate.keys(facets), facets), []).append(candidate.paper_id)
    return [_Option(keys, facets, tuple(paper_ids)) for (keys, facets), paper_ids in papers.items()]


class _Search:
    """A choice being changed, with its counts and its imbalance kept up."""

    def __init__(self, options: Mapping[int, Sequence[_Option]], rng: np.random.Generator) -> None:
        self._options = options
        self._rng = rng
        self._used: set[str] = set()
        self.places: list[_Place] = []
        self.counts: Counter[Key] = Counter()
        self.imbalance = 0

    def fill(self, sizes: Sequence[int]) -> None:
        """Add a paper for each of `sizes` (1 or 2 facets), the cheapest first; pairs first, for few can give them."""
        for size in sorted(sizes, reverse=True):
            self._put(self._cheapest(size))

    def undo(self, count: int) -> list[int]:
        """Take out up to `count` papers at random; the number of facets each had."""
        out = [self.places[at] for at in self._rng.permutation(len(self.places))[:count]]
        for place in out:
            self._take(place)
        return [place.size for place in out]

    def descend(self) -> None:
        """Exchange one paper at a time for the cheapest with as many facets, until none makes it more even."""
        improved = True
        while improved:
            improved = False
            for place in list(self.places):
                before = self.imbalance
                self._take(place)
                self._put(self._cheapest(place.size))
                improved = improved or self.imbalance < before

    def restore(self, places: Sequence[_Place]) -> None:
        """Go back to an earlier choice."""
        for place in list(self.places):
            self._take(place)
        for place in places:
            self._put(place)

    def _price(self, option: _Option) -> int:
        """What the option adds to the imbalance: (c + 1)^2 - c^2 for each of its counts."""
        return sum(2 * self.counts[key] + 1 for key in option.keys)

    def _cheapest(self, size: int) -> _Place:
        """The cheapest option with a paper that is free; among equals one at random."""
        options = self._options[size]
        priced = sorted(
            ((self._price(options[at]), turn, at) for turn, at in enumerate(self._rng.permutation(len(options))))
        )
        for _, _, at in priced:
            free = next((paper_id for paper_id in options[at].paper_ids if paper_id not in self._used), None)
            if free is not None:
                return _Place(options[at], free)
        raise AssertionError("fewer candidates than papers to choose")

    def _put(self, place: _Place) -> None:
        self.imbalance += self._price(place.option)
        self.counts.update(place.option.keys)
        self._used.add(place.paper_id)
        self.places.append(place)

    def _take(self, place: _Place) -> None:
        self.counts.subtract(place.option.keys)
        self.imbalance -= self._price(place.option)
        self._used.remove(place.paper_id)
        self.places.remove(place)
