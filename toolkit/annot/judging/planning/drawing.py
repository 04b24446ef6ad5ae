"""Drawing the plan from the seed, before anything is sent.

Each pair gets exactly `per_pair` assessors. Loads are balanced per facet and over all, by the hours that people have,
every two assessors come to overlap as evenly as the queries allow, and each assessor sees the queries, and the
candidates of a query, in an order of their own.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Asked, Assignment, Query, grouped
from annot.base.stats.seeding import generator
from annot.formats.json_lines import json_lines

FEWEST_BETWEEN = 20
"""Other pairs between a pair and its repeat: one that came 17 pairs later was recognised."""

FEWEST_FOR_REPEATS = 2 * (FEWEST_BETWEEN + 1)
"""Pairs of a sequence in which the one half holds a repeat, and the other the pairs between."""


def draw_plan(
    documents: Mapping[str, Sequence[str]],
    queries: Mapping[str, Query],
    assessors: Sequence[str],
    *,
    per_pair: int,
    assignment: str,
    repeats: float,
    seed: int,
    current: Iterable[Assignment] = (),
    former: Collection[str] = (),
    shares: Mapping[str, float] | None = None,
) -> tuple[Assignment, ...]:
    """The assignments, by assessor and position.

    documents: the `doc_id`s to judge of each `query_id`.
    assignment: `per-query` gives all documents of a query to one team; `per-pair` forms a team for each document.
    repeats: the share of an assessor's pairs that come again in the second half of their sequence, as hidden repeats.
    current: assignments that were made before; they keep their place, and new pairs are added behind them. A current
    pair that lacks assessors, since somebody left, gets them where somebody is free.
    former: people who left; what they have stays, and they get nothing new.
    shares: the hours of people relative to each other; 1 for those not named.

    Raises InputError when there are fewer assessors than a new pair needs, or a current assignment has no pair any
    more.
    """
    current = tuple(current)
    _check_current(current, documents, {*assessors, *former}, per_pair)
    have = _members(current)
    missing = {
        query_id: [doc for doc in doc_ids if len(have.get((query_id, doc), ())) < per_pair]
        for query_id, doc_ids in documents.items()
    }
    if len(set(assessors)) < per_pair and (
        not current or any((query_id, doc) not in have for query_id in missing for doc in missing[query_id])
    ):
        raise InputError(
            f"{counted(len(set(assessors)), 'assessor')}, expected at least {per_pair}",
            hint="add people with `annot assessor add`",
        )
    teams = _Teams(sorted(set(assessors)), queries, seed, shares or {})
    for (query_id, _doc_id), members in have.items():
        teams.take(members, query_id, 1)

    given: dict[str, dict[str, list[str]]] = {name: {} for name in assessors}
    # The largest queries first: what is left to balance the loads with gets finer and finer.
    for query_id in sorted(missing, key=lambda name: (-len(missing[name]), name)):
        usual = teams.of_query(current, query_id) if assignment == "per-query" else ()
        for members, pending, key in _groups(query_id, missing[query_id], have, apart=assignment == "per-pair"):
            team = teams.completing(members, usual, query_id, len(pending), size=per_pair, key=key)
            teams.take(team, query_id, len(pending), beside=members)
            for name in team:
                given[name].setdefault(query_id, []).extend(pending)
    return (*current, *_sequence(given, current, repeats, seed))


def plan_lines(plan: Iterable[Assignment]) -> str:
    """The plan as JSON lines, by assessor and position: the file that is hashed and can be read before the push."""
    names = ("assessor", "position", "query_id", "doc_id", "occasion")
    ordered = sorted(plan, key=attrgetter("assessor", "position"))
    return json_lines({name: getattr(assignment, name) for name in names} for assignment in ordered)


class _Teams:
    """The possible teams and how much each person and each team has to do so far."""

    def __init__(
        self, assessors: Sequence[str], queries: Mapping[str, Query], seed: int, shares: Mapping[str, float]
    ) -> None:
        self.assessors = assessors
        self.queries = queries
        self.seed = seed
        self.shares = shares
        self.load: Counter[str] = Counter()
        self.facet_load: Counter[tuple[str, str]] = Counter()
        self.overlap: Counter[tuple[str, ...]] = Counter()

    def completing(
        self, members: Sequence[str], usual: Sequence[str], query_id: str, pairs: int, *, size: int, key: str
    ) -> tuple[str, ...]:
        """Who joins `members` so that they are `size`: the usual team of the query, then the best; fewer where nobody
        is free."""
        joining = [name for name in usual if name not in members][: size - len(members)]
        free = [name for name in self.assessors if name not in (*members, *joining)]
        wanting = min(size - len(members) - len(joining), len(free))
        return (*joining, *self._best(free, wanting, (*members, *joining), query_id, pairs, key))

    def _best(
        self, free: Sequence[str], size: int, beside: Sequence[str], query_id: str, pairs: int, key: str
    ) -> tuple[str, ...]:
        """The team whose heaviest member stays lightest; then the rarest team; then the seed decides."""
        if not size:
            return ()
        combinations = list(itertools.combinations(free, size))
        facet = self.queries[query_id].facet
        order = generator(self.seed, "team", query_id, key).permutation(len(combinations))

        def cost(index: int) -> tuple[float, float, int, float, int]:
            team = combinations[index]
            return (
                max((self.load[name] + pairs) / self._share(name) for name in team),
                sum(self.load[name] / self._share(name) for name in team),
                self.overlap[tuple(sorted((*team, *beside)))],
                sum(self.facet_load[name, facet] / self._share(name) for name in team),
                int(order[index]),
            )

        return combinations[min(range(len(combinations)), key=cost)]

    def take(self, team: Sequence[str], query_id: str, pairs: int, *, beside: Sequence[str] = ()) -> None:
        for name in team:
            self.load[name] += pairs
            self.facet_load[name, self.queries[query_id].facet] += pairs
        self.overlap[tuple(sorted((*team, *beside)))] += pairs

    def of_query(self, current: Iterable[Assignment], query_id: str) -> tuple[str, ...]:
        """Who has the query already, the busiest with it first; a query keeps its team when its pool grows."""
        members = Counter(assigned.assessor for assigned in current if assigned.query_id == query_id)
        return tuple(
            sorted((name for name in members if name in self.assessors), key=lambda name: (-members[name], name))
        )

    def _share(self, name: str) -> float:
        return self.shares.get(name, 1.0)


def _groups(
    query_id: str, pending: Sequence[str], have: Mapping[tuple[str, str], tuple[str, ...]], *, apart: bool
) -> Iterator[tuple[tuple[str, ...], list[str], str]]:
    """(members so far, documents, what tells the draw from others): documents that get the same people, together."""
    by_members: dict[tuple[str, ...], list[str]] = {}
    for doc_id in pending:
        members = tuple(sorted(have.get((query_id, doc_id), ())))
        if apart:
            yield members, [doc_id], doc_id
        else:
            by_members.setdefault(members, []).append(doc_id)
    for members, doc_ids in sorted(by_members.items()):
        yield members, doc_ids, ""


def _members(assignments: Iterable[Assignment]) -> dict[tuple[str, str], tuple[str, ...]]:
    members = grouped((one.pair, one.assessor) for one in assignments if one.occasion == 1)
    return {pair: tuple(names) for pair, names in members.items()}


def _sequence(
    given: Mapping[str, Mapping[str, Sequence[str]]], current: Sequence[Assignment], repeats: float, seed: int
) -> list[Assignment]:
    sequence: list[Assignment] = []
    for assessor in sorted(given):
        position = max((assignment.position for assignment in current if assignment.assessor == assessor), default=0)
        queries = sorted(given[assessor])
        blocks = []
        for at in generator(seed, "queries", assessor).permutation(len(queries)):
            documents = sorted(given[assessor][queries[at]])
            order = generator(seed, "documents", assessor, queries[at]).permutation(len(documents))
            blocks.append([Asked(queries[at], documents[place]) for place in order])
        asked = with_repeats(blocks, repeats, generator(seed, "repeats", assessor))
        sequence += [Assignment(*one.pair, assessor, position + at, one.occasion) for at, one in enumerate(asked, 1)]
    return sequence


def _check_current(
    current: Sequence[Assignment], documents: Mapping[str, Sequence[str]], assessors: Collection[str], per_pair: int
) -> None:
    wanted = {(query_id, doc_id) for query_id, doc_ids in documents.items() for doc_id in doc_ids}
    faults = [
        f"{assignment.query_id} {assignment.doc_id}: assigned to {assignment.assessor}, but no longer in the pool"
        for assignment in current
        if assignment.pair not in wanted
    ]
    faults += [
        f"{assignment.query_id} {assignment.doc_id}: assigned to {assignment.assessor}, who is no longer an assessor"
        for assignment in current
        if assignment.assessor not in assessors
    ]
    faults += [
        f"{query_id} {doc_id}: the plan has {counted(len(names), 'assessor')}, expected {per_pair}"
        for (query_id, doc_id), names in _members(current).items()
        if len(names) > per_pair
    ]
    if faults:
        raise InputError(f"the existing plan no longer fits: {counted(len(faults), 'fault')}", faults=faults)


def with_repeats(blocks: Sequence[Sequence[Asked]], rate: float, rng: np.random.Generator) -> list[Asked]:
    """One person's queries in their order, with some pairs of the first half asked again in the second.

    A pair alone in the middle of another query would be noticed. So a query with repeats comes back: its repeats are
    mixed with as many of its pairs that were held back for that. Between a pair and its repeat lies at least a third of
    the sequence, and never fewer than `FEWEST_BETWEEN` pairs; a sequence of fewer than `FEWEST_FOR_REPEATS` has none.
    The rate is met on average, whatever its fraction of a pair, as long as no query has more than a third of its pairs
    asked again.
    """
    asked = [one for block in blocks for one in block]
    wanted = math.floor(rate * len(asked) + rng.random())
    far = max(FEWEST_BETWEEN, len(asked) // 3)
    early = min(len(asked) // 2, len(asked) - wanted - far)
    if len(asked) < FEWEST_FOR_REPEATS or wanted == 0 or early <= 0:
        return asked
    first = {one: at for at, one in enumerate(asked)}
    chosen = _choose(blocks, [one for one in asked if first[one] < early], wanted, rng)
    stay, come_back = [], []
    for block, again in zip(blocks, chosen, strict=True):
        others = [one for one in block if one not in again and first[one] < early]
        held = [others[at] for at in sorted(rng.permutation(len(others))[: len(again)].tolist())]
        stay.append([one for one in block if one not in held])
        mixed = [*held, *(one._replace(occasion=2) for one in again)]
        come_back.append([mixed[at] for at in rng.permutation(len(mixed))])
    return _placed(stay, [block for block in come_back if block], far, rng)


def _choose(
    blocks: Sequence[Sequence[Asked]], early: Sequence[Asked], wanted: int, rng: np.random.Generator
) -> list[list[Asked]]:
    """Of each block the pairs to ask again, at most a third of those that are early: another third is held back."""
    block_of = {one: number for number, block in enumerate(blocks) for one in block}
    sizes = np.bincount([block_of[one] for one in early], minlength=len(blocks))
    chosen: list[list[Asked]] = [[] for _ in blocks]
    for at in rng.permutation(len(early)):
        number = block_of[early[at]]
        if wanted and len(chosen[number]) < sizes[number] // 3:
            chosen[number].append(early[at])
            wanted -= 1
    return chosen


def _placed(
    blocks: Sequence[Sequence[Asked]], returning: Sequence[Sequence[Asked]], far: int, rng: np.random.Generator
) -> list[Asked]:
    """The blocks, and each that returns behind one of them, far enough from what it repeats: the end always is."""
    place = {one: at for at, one in enumerate(one for block in blocks for one in block)}
    ends = list(itertools.accumulate(len(block) for block in blocks))
    half = (len(place) + sum(map(len, returning)) + 1) // 2
    behind: dict[int, list[Sequence[Asked]]] = {}
    for block in returning:
        last = max(place[one._replace(occasion=1)] for one in block if one.occasion == 2)
        fitting = [at for at, end in enumerate(ends) if end >= max(last + 1 + far, half)] or [len(ends) - 1]
        behind.setdefault(fitting[int(rng.integers(len(fitting)))], []).append(block)
    return [one for at, own in enumerate(blocks) for block in (own, *behind.get(at, ())) for one in block]
