"""Proving that a plan is sound: what must hold of it whoever came and left, with every fault named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter

from annot.base.records import Asked, Assignment

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Overlap:
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
) -> tuple[str, ...]:
    """Every fault of the plan, in words.

    documents: the pool of each query; a query without one is not held against it, since its judgements were imported.
    per_pair: None where the plan is what was imported. left: people who left. answered: (assessor, what was asked)
    with an answer that counts. settling: by pair, the adjudicators who have it as a task or settled it. may_assess:
    whether they may be its assessors, too.
    """
    plan = tuple(plan)
    return (
        *_of_pairs(plan, documents, per_pair),
        *_of_positions(plan),
        *_of_repeats(plan, answered),
        *_of_people(plan, left, answered),
        *(() if may_assess else _of_adjudicators(plan, settling)),
    )


def overlaps(plan: Iterable[Assignment], assessors: Sequence[str]) -> tuple[Overlap, ...]:
    """For every two of the assessors, the pairs that both judge."""
    pairs: dict[str, set[Pair]] = {name: set() for name in assessors}
    for one in plan:
        if one.occasion == 1:
            pairs.setdefault(one.assessor, set()).add(one.pair)
    return tuple(
        Overlap(first, second, len(pairs[first] & pairs[second])) for first, second in combinations(sorted(pairs), 2)
    )


def _of_pairs(
    plan: Sequence[Assignment], documents: Mapping[str, Collection[str]], per_pair: int | None
) -> Iterator[str]:
    members: dict[Pair, list[str]] = {}
    for one in plan:
        if one.occasion == 1:
            members.setdefault(one.pair, []).append(one.assessor)
    for pair, names in sorted(members.items()):
        if per_pair is not None and len(names) != per_pair:
            yield f"{' '.join(pair)}: {len(names)} assessor(s) ({', '.join(sorted(names))}), expected {per_pair}"
        if pair[0] in documents and pair[1] not in documents[pair[0]]:
            yield f"{' '.join(pair)}: planned, but not in the pool"


def _of_positions(plan: Sequence[Assignment]) -> Iterator[str]:
    positions: dict[str, list[int]] = {}
    for one in plan:
        positions.setdefault(one.assessor, []).append(one.position)
    for name, found in sorted(positions.items()):
        wrong = next((at for at, place in enumerate(sorted(found), start=1) if at != place), None)
        if wrong is not None:
            yield f"{name}: positions are not 1 to {len(found)}: {wrong} is missing or stands twice"


def _of_repeats(plan: Sequence[Assignment], answered: Collection[tuple[str, Asked]]) -> Iterator[str]:
    firsts = {(one.assessor, one.pair): one.position for one in plan if one.occasion == 1}
    twice = Counter((one.assessor, one.asked) for one in plan)
    for one in sorted(plan, key=attrgetter("assessor", "position")):
        if twice[one.assessor, one.asked] > 1:
            yield f"{one.query_id} {one.doc_id}: {one.assessor} has it twice"
        if one.occasion == 1:
            continue
        first = firsts.get((one.assessor, one.pair))
        if first is None and (one.assessor, one.asked) not in answered:
            yield f"{one.query_id} {one.doc_id}: a hidden repeat of {one.assessor}, who does not judge the pair"
        if first is not None and first > one.position:
            yield f"{one.query_id} {one.doc_id}: {one.assessor} gets the hidden repeat before the pair"


def _of_people(
    plan: Sequence[Assignment], left: Collection[str], answered: Collection[tuple[str, Asked]]
) -> Iterator[str]:
    still_open = Counter(
        one.assessor for one in plan if one.assessor in left and (one.assessor, one.asked) not in answered
    )
    for name, count in sorted(still_open.items()):
        yield f"{name}: has left, with {count} unanswered pair(s); `annot assessor leave {name}` hands them on"


def _of_adjudicators(plan: Sequence[Assignment], settling: Mapping[Pair, Collection[str]]) -> Iterator[str]:
    assessors = {(one.pair, one.assessor) for one in plan}
    for pair, names in sorted(settling.items()):
        for name in sorted(names):
            if (pair, name) in assessors:
                yield f"{' '.join(pair)}: {name} judges it and settles it"
