"""What must hold of a plan whoever came and left, with every fault named, and what it is too small to show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter

import numpy as np

from annot.base.names import counted
from annot.base.records import Asked, Assignment, Query, grouped

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PlannedTogether:
    """How many pairs two people both judge."""

    first: str
    second: str
    pairs: int


def faults_of(
    plan: Iterable[Assignment],
    *,
    documents: Mapping[str, Collection[str]],
    per_pair: int | None,
    left: Collection[str],
    answered: Collection[tuple[str, Asked]],
    settling: Mapping[Pair, Collection[str]],
    may_assess: bool,
    accepted: Collection[Pair],
) -> tuple[str, ...]:
    """Every fault of the plan, in words.

    documents: the pool of each query; a query without one is not held against it, since its judgements were imported.
    per_pair: None if the plan is what was imported. left: people who left. answered: (assessor, what was asked)
    with an answer that counts. settling: by pair, the adjudicators who have it as a task or settled it. may_assess:
    whether they may be its assessors, too. accepted: pairs that count with fewer judgements, by the lead's word.
    """
    plan = tuple(plan)
    return (
        *_of_pairs(plan, documents, per_pair, accepted),
        *_of_positions(plan),
        *_of_repeats(plan, answered),
        *_of_people(plan, left, answered),
        *(() if may_assess else _of_adjudicators(plan, settling)),
    )


def overlaps(plan: Iterable[Assignment], assessors: Sequence[str]) -> tuple[PlannedTogether, ...]:
    """For every two of the assessors, the pairs that both judge."""
    pairs: dict[str, set[Pair]] = {name: set() for name in assessors}
    for one in plan:
        if one.occasion == 1:
            pairs.setdefault(one.assessor, set()).add(one.pair)
    return tuple(
        PlannedTogether(first, second, len(pairs[first] & pairs[second]))
        for first, second in combinations(sorted(pairs), 2)
    )


def _of_pairs(
    plan: Sequence[Assignment],
    documents: Mapping[str, Collection[str]],
    per_pair: int | None,
    accepted: Collection[Pair],
) -> Iterator[str]:
    members = grouped((one.pair, one.assessor) for one in plan if one.occasion == 1)
    for pair, names in sorted(members.items()):
        fewer = pair in accepted and per_pair is not None and len(names) < per_pair
        if per_pair is not None and len(names) != per_pair and not fewer:
            found = counted(len(names), "assessor")
            yield f"{' '.join(pair)}: {found} ({', '.join(sorted(names))}), expected {per_pair}"
        if pair[0] in documents and pair[1] not in documents[pair[0]]:
            yield f"{' '.join(pair)}: planned, but not in the pool"


def _of_positions(plan: Sequence[Assignment]) -> Iterator[str]:
    positions = grouped((one.assessor, one.position) for one in plan)
    for name, found in sorted(positions.items()):
        wrong = next((at for at, place in enumerate(sorted(found), start=1) if at != place), None)
        if wrong is not None:
            yield f"{name}: the positions should run from 1 to {len(found)}, but {wrong} is missing or used twice"


def _of_repeats(plan: Sequence[Assignment], answered: Collection[tuple[str, Asked]]) -> Iterator[str]:
    firsts = {(one.assessor, one.pair): one.position for one in plan if one.occasion == 1}
    twice = Counter((one.assessor, one.asked) for one in plan)
    for one in sorted(plan, key=attrgetter("assessor", "position")):
        if twice[one.assessor, one.asked] > 1:
            yield f"{one.query_id} {one.doc_id}: assigned to {one.assessor} twice"
        if one.occasion == 1:
            continue
        first = firsts.get((one.assessor, one.pair))
        if first is None and (one.assessor, one.asked) not in answered:
            yield f"{one.query_id} {one.doc_id}: a hidden repeat for {one.assessor}, who does not judge the pair"
        if first is not None and first > one.position:
            yield f"{one.query_id} {one.doc_id}: the hidden repeat comes before the pair for {one.assessor}"


def _of_people(
    plan: Sequence[Assignment], left: Collection[str], answered: Collection[tuple[str, Asked]]
) -> Iterator[str]:
    still_open = Counter(
        one.assessor for one in plan if one.assessor in left and (one.assessor, one.asked) not in answered
    )
    for name, count in sorted(still_open.items()):
        yield (
            f"{name}: has left, with {counted(count, 'unanswered pair')}; "
            f"reassign them with `annot assessor leave {name}`"
        )


def _of_adjudicators(plan: Sequence[Assignment], settling: Mapping[Pair, Collection[str]]) -> Iterator[str]:
    assessors = {(one.pair, one.assessor) for one in plan}
    for pair, names in sorted(settling.items()):
        for name in sorted(names):
            if (pair, name) in assessors:
                yield f"{' '.join(pair)}: {name} both judges and settles it"


def papers_shared(plan: Iterable[Assignment], queries: Mapping[str, Query]) -> dict[str, int]:
    """By assessor, the query papers of which they have a pair that somebody else has too."""
    members: dict[tuple[str, str], set[str]] = {}
    for one in plan:
        members.setdefault(one.pair, set()).add(one.assessor)
    shared: dict[str, set[str]] = {name: set() for people in members.values() for name in people}
    for (query_id, _), people in members.items():
        for name in people if len(people) > 1 else ():
            shared[name].add(queries[query_id].topic_id)
    return {name: len(papers) for name, papers in sorted(shared.items())}


def papers_by_facet(plan: Iterable[Assignment], queries: Mapping[str, Query]) -> dict[str, int]:
    """By facet, the query papers that are judged."""
    asked = {queries[one.query_id] for one in plan}
    facets = sorted({query.facet for query in asked})
    return {facet: len({query.topic_id for query in asked if query.facet == facet}) for facet in facets}


MOST_DEVIATIONS = 6.0
"""Standard deviations; an order that was drawn is further out once in five hundred million draws."""
LEAST_PROBABLE = 1e-5
"""Values that are sorted throughout are no sign where they would be by chance more often than this."""


def follows(groups: Iterable[Sequence[float]]) -> bool:
    """Whether the values rise, or fall, along the sequences more than in any order that was drawn.

    groups: what must not be known of each task, in the order of the tasks; one sequence a query. Kendall's S, summed
    over the groups, against its variance under random order, ties allowed for (M. Kendall, Rank Correlation Methods,
    4th edition 1970, section 4.9); or, where tasks are too few for that, values that are sorted in every group.
    """
    score = most = 0
    variance = arrangements = 0.0
    for values in groups:
        count = len(values)
        ties = np.unique(np.asarray(values, dtype=float), return_counts=True)[1].tolist()
        score += kendalls_s(values)
        most += (count * (count - 1) - sum(tie * (tie - 1) for tie in ties)) // 2
        variance += variance_of_s(count, ties)
        arrangements += math.lgamma(count + 1) - sum(math.lgamma(tie + 1) for tie in ties)
    is_sorted = abs(score) == most and math.log(2) - arrangements < math.log(LEAST_PROBABLE)
    return is_sorted or abs(score) > MOST_DEVIATIONS * math.sqrt(variance)


def kendalls_s(values: Sequence[float]) -> int:
    """Pairs that rise less pairs that fall."""
    found = np.asarray(values, dtype=float)
    return int(np.triu(np.sign(found[np.newaxis, :] - found[:, np.newaxis])).sum())


def variance_of_s(count: int, ties: Iterable[int]) -> float:
    """The variance of S over all orders of `count` values. ties: how often each value comes."""
    return (count * (count - 1) * (2 * count + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
