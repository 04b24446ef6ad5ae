"""The plan: drawing it, handing it on, and checking it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, combinations
from operator import attrgetter
from types import MappingProxyType

import numpy as np

from annot.base.array_files import Array
from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Assignment, PairKey, Query, grouped
from annot.base.stats.inference import generator
from annot.formats.input_files import table_lines

# ----------------------------------------------------------------------------------------------------------------------
# Drawing the plan from the seed, before anything is sent.
#
# Each pair gets exactly `per_pair` assessors. Loads are balanced per facet and over all, by the hours that people
# have, every two assessors come to overlap as evenly as the queries allow, and each assessor sees the queries, and
# the candidates of a query, in an order of their own.
# ----------------------------------------------------------------------------------------------------------------------


Pair = tuple[str, str]
FEWEST_BETWEEN = 20
"""Other pairs between a pair and its repeat; a repeat that came 17 pairs later was recognised."""

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
    shares: Mapping[str, float] | None = None,
    withdrawn: Collection[str] = (),
    barred: Mapping[Pair, Collection[str]] = MappingProxyType({}),
) -> tuple[Assignment, ...]:
    """The assignments, by assessor and position.

    documents: the `doc_id`s to judge of each `query_id`.
    assignment: `per-query` gives all documents of a query to one team; `per-pair` forms a team for each document.
    repeats: the share of an assessor's pairs that come again in the second half of their sequence, as hidden repeats.
    current: assignments that were made before; they keep their place, and new pairs are added behind them. A current
    pair that lacks assessors, since a person left, gets them if people are free. People who are not among `assessors`
    by now keep their pairs.
    shares: the hours of people relative to each other; 1 for those not named.
    withdrawn: documents that the corpus no longer has; planned pairs with them stay, and no others are planned.
    barred: people who must not get a pair, by pair, besides those who have it.

    Raises InputError when there are fewer assessors than a new pair needs, or a current assignment has no pair any
    more.
    """
    current = tuple(current)
    _check_current(current, documents, per_pair)
    have = _members(current)
    missing = {
        query_id: [doc for doc in doc_ids if len(have.get((query_id, doc), ())) < per_pair and doc not in withdrawn]
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

    judges = grouped((assignment.query_id, assignment.assessor) for assignment in current)
    assigned: dict[str, dict[str, list[str]]] = {name: {} for name in assessors}
    # The largest queries first: the small ones balance the loads.
    for query_id in sorted(missing, key=lambda name: (-len(missing[name]), name)):
        usual = teams.busiest_first(judges.get(query_id, ())) if assignment == "per-query" else ()
        for members, pending, key in _groups_to_draw(
            query_id, missing[query_id], have, barred, apart=assignment == "per-pair"
        ):
            team = teams.completing(
                *(members, usual, query_id, len(pending)),
                barred=barred.get((query_id, pending[0]), ()),
                size=per_pair,
                key=key,
            )
            teams.take(team, query_id, len(pending), beside=members)
            for name in team:
                assigned[name].setdefault(query_id, []).extend(pending)
    return (*current, *_sequence(assigned, current, repeats, seed))


def plan_lines(plan: Iterable[Assignment]) -> bytearray:
    """The plan as JSON lines, by assessor and position: the file that is hashed and can be read before the push."""
    names = ("assessor", "position", "query_id", "doc_id", "occasion")
    ordered = sorted(plan, key=attrgetter("assessor", "position"))
    return table_lines(names, [list(map(attrgetter(name), ordered)) for name in names])


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
        self,
        members: Sequence[str],
        usual: Sequence[str],
        query_id: str,
        pairs: int,
        *,
        barred: Collection[str],
        size: int,
        key: str,
    ) -> tuple[str, ...]:
        """People who join `members` to make `size`: the usual team of the query, then the best; fewer if too few are
        free."""
        joining = [name for name in usual if name not in (*members, *barred)][: size - len(members)]
        free = [name for name in self.assessors if name not in (*members, *joining, *barred)]
        wanting = min(size - len(members) - len(joining), len(free))
        return (*joining, *self._best(free, wanting, (*members, *joining), query_id, pairs, key))

    def _best(
        self, free: Sequence[str], size: int, beside: Sequence[str], query_id: str, pairs: int, key: str
    ) -> tuple[str, ...]:
        """The team whose heaviest member stays lightest; then the one with least to do, the rarest, the one with least
        of the facet; then the seed decides."""
        if not size:
            return ()
        facet = self.queries[query_id].facet
        share = np.array([self._share(name) for name in free])
        load = np.array([self.load[name] for name in free])
        of_facet = np.array([self.facet_load[name, facet] for name in free])
        teams = _all_teams(len(free), size)
        teams = teams[np.argsort(generator(self.seed, "team", query_id, key).permutation(len(teams)))]

        def total(loads: Array) -> Array:
            # Person by person, as the last digit of a sum depends on the order.
            sums: Array = sum((loads / share)[person] for person in teams.T)
            return sums

        teams = _least(teams, ((load + pairs) / share)[teams].max(axis=1))
        teams = _least(teams, total(load))
        complete = [tuple(sorted((*(free[person] for person in team), *beside))) for team in teams.tolist()]
        teams = _least(teams, np.array([self.overlap[names] for names in complete]))
        teams = _least(teams, total(of_facet))
        return tuple(free[person] for person in teams[0])

    def take(self, team: Sequence[str], query_id: str, pairs: int, *, beside: Sequence[str] = ()) -> None:
        for name in team:
            self.load[name] += pairs
            self.facet_load[name, self.queries[query_id].facet] += pairs
        self.overlap[tuple(sorted((*team, *beside)))] += pairs

    def busiest_first(self, judges: Iterable[str]) -> tuple[str, ...]:
        """People who have pairs of a query, one name per pair: a query keeps its team when its pool grows."""
        members = Counter(judges)
        return tuple(sorted(members.keys() & {*self.assessors}, key=lambda name: (-members[name], name)))

    def _share(self, name: str) -> float:
        return self.shares.get(name, 1.0)


@cache
def _all_teams(people: int, size: int) -> Array:
    """Every team of this size, each as the numbers of its people: shape (teams, size)."""
    return np.array(list(combinations(range(people), size)))


def _least(teams: Array, costs: Array) -> Array:
    """The teams with the least cost, in their order."""
    least: Array = teams[costs == costs.min()]
    return least


def _groups_to_draw(
    query_id: str,
    pending: Sequence[str],
    have: Mapping[Pair, tuple[str, ...]],
    barred: Mapping[Pair, Collection[str]],
    *,
    apart: bool,
) -> Iterator[tuple[tuple[str, ...], list[str], str]]:
    """Groups of documents that get the same people: (members so far, documents, key of the draw)."""
    by_people: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for doc_id in pending:
        members = tuple(sorted(have.get((query_id, doc_id), ())))
        if apart:
            yield members, [doc_id], doc_id
        else:
            closed_to = tuple(sorted(barred.get((query_id, doc_id), ())))
            by_people.setdefault((members, closed_to), []).append(doc_id)
    for (members, _), doc_ids in sorted(by_people.items()):
        yield members, doc_ids, ""


def _members(assignments: Iterable[Assignment]) -> dict[tuple[str, str], tuple[str, ...]]:
    members = grouped((assignment.pair, assignment.assessor) for assignment in assignments if assignment.occasion == 1)
    return {pair: tuple(names) for pair, names in members.items()}


def _sequence(
    assigned: Mapping[str, Mapping[str, Sequence[str]]], current: Sequence[Assignment], repeats: float, seed: int
) -> list[Assignment]:
    sequence: list[Assignment] = []
    for assessor in sorted(assigned):
        last = max((assignment.position for assignment in current if assignment.assessor == assessor), default=0)
        queries = sorted(assigned[assessor])
        blocks = []
        for index in generator(seed, "queries", assessor).permutation(len(queries)):
            query_id = queries[index]
            documents = sorted(assigned[assessor][query_id])
            order = generator(seed, "documents", assessor, query_id).permutation(len(documents))
            blocks.append([PairKey(query_id, documents[place]) for place in order])
        questions = with_repeats(blocks, repeats, generator(seed, "repeats", assessor))
        sequence += [
            Assignment(*question.pair, assessor, position, question.occasion)
            for position, question in enumerate(questions, last + 1)
        ]
    return sequence


def _check_current(current: Sequence[Assignment], documents: Mapping[str, Sequence[str]], per_pair: int) -> None:
    expected = {(query_id, doc_id) for query_id, doc_ids in documents.items() for doc_id in doc_ids}
    faults = [
        f"{assignment.query_id} {assignment.doc_id}: assigned to {assignment.assessor}, but no longer in the pool"
        for assignment in current
        if assignment.pair not in expected
    ]
    crowded = {pair: len(names) for pair, names in _members(current).items() if len(names) > per_pair}
    faults += [
        f"{' '.join(pair)}: the plan has {counted(number, 'assessor')}, expected {per_pair}"
        for pair, number in crowded.items()
    ]
    hint = "`annot plan --withdraw` takes back what was not sent; `annot plan` then assigns it again"
    if crowded:
        hint += f"; for pairs that were sent, set per_pair = {max(crowded.values())} in annot.toml again"
    if faults:
        raise InputError(f"the existing plan no longer fits: {counted(len(faults), 'fault')}", faults=faults, hint=hint)


def with_repeats(blocks: Sequence[Sequence[PairKey]], rate: float, rng: np.random.Generator) -> list[PairKey]:
    """One person's queries in their order, with some pairs of the first half asked again in the second.

    A pair alone in the middle of another query would be noticed. So a query with repeats comes back: its repeats are
    mixed with as many of its pairs that were held back for that. Between a pair and its repeat lies at least a third of
    the sequence, and never fewer than `FEWEST_BETWEEN` pairs; a sequence of fewer than `FEWEST_FOR_REPEATS` has none.
    The rate is met on average, whatever its fraction of a pair, as long as no query has more than a third of its pairs
    asked again.
    """
    sequence = [question for block in blocks for question in block]
    repeats = math.floor(rate * len(sequence) + rng.random())
    far = max(FEWEST_BETWEEN, len(sequence) // 3)
    early = min(len(sequence) // 2, len(sequence) - repeats - far)
    if len(sequence) < FEWEST_FOR_REPEATS or repeats == 0 or early <= 0:
        return sequence
    first = {question: place for place, question in enumerate(sequence)}
    chosen = _choose(blocks, [question for question in sequence if first[question] < early], repeats, rng)
    stay, come_back = [], []
    for block, again in zip(blocks, chosen, strict=True):
        others = [question for question in block if question not in again and first[question] < early]
        held_back = [others[place] for place in sorted(rng.permutation(len(others))[: len(again)].tolist())]
        stay.append([question for question in block if question not in held_back])
        mixed = [*held_back, *(question._replace(occasion=2) for question in again)]
        come_back.append([mixed[place] for place in rng.permutation(len(mixed))])
    return _placed(stay, [block for block in come_back if block], far, rng)


def _choose(
    blocks: Sequence[Sequence[PairKey]], early: Sequence[PairKey], repeats: int, rng: np.random.Generator
) -> list[list[PairKey]]:
    """Pairs of each block to ask again, at most a third of the early ones: another third is held back."""
    block_of = {question: number for number, block in enumerate(blocks) for question in block}
    sizes = np.bincount([block_of[question] for question in early], minlength=len(blocks))
    chosen: list[list[PairKey]] = [[] for _ in blocks]
    for place in rng.permutation(len(early)):
        number = block_of[early[place]]
        if repeats and len(chosen[number]) < sizes[number] // 3:
            chosen[number].append(early[place])
            repeats -= 1
    return chosen


def _placed(
    blocks: Sequence[Sequence[PairKey]], returning: Sequence[Sequence[PairKey]], far: int, rng: np.random.Generator
) -> list[PairKey]:
    """The blocks with each returning block behind one of them, far enough from its pair: the end always is."""
    places = {question: index for index, question in enumerate(question for block in blocks for question in block)}
    ends = list(accumulate(len(block) for block in blocks))
    half = (len(places) + sum(map(len, returning)) + 1) // 2
    behind: dict[int, list[Sequence[PairKey]]] = {}
    for block in returning:
        last = max(places[question._replace(occasion=1)] for question in block if question.occasion == 2)
        fitting = [index for index, end in enumerate(ends) if end >= max(last + 1 + far, half)] or [len(ends) - 1]
        behind.setdefault(fitting[int(rng.integers(len(fitting)))], []).append(block)
    return [
        question
        for index, stays in enumerate(blocks)
        for block in (stays, *behind.get(index, ()))
        for question in block
    ]


# ----------------------------------------------------------------------------------------------------------------------
# Rules that every plan must keep whoever came and left, and signs that the order of tasks reveals something.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlannedTogether:
    """Number of pairs that two people both judge."""

    first: str
    second: str
    pairs: int


def faults_of(
    plan: Iterable[Assignment],
    *,
    documents: Mapping[str, Collection[str]],
    per_pair: int | None,
    left: Collection[str],
    answered: Collection[tuple[str, PairKey]],
    settling: Mapping[Pair, Collection[str]],
    may_assess: bool,
    accepted: Collection[Pair],
) -> tuple[str, ...]:
    """Every fault of the plan, in words.

    documents: the pool of each query; a query without one was imported and is not checked against it. per_pair: None if
    the plan was imported. left: people who left. answered: (assessor, question) with an answer that counts. settling:
    adjudicators who have a pair as a task or settled it, by pair. may_assess: True if they may be its assessors, too.
    accepted: pairs that count with fewer judgements, by the lead's word.
    """
    plan = tuple(plan)
    return (
        *_faults_of_pairs(plan, documents, per_pair, accepted),
        *_faults_of_positions(plan),
        *_faults_of_repeats(plan, answered),
        *_faults_of_people(plan, left, answered),
        *(() if may_assess else _faults_of_adjudicators(plan, settling)),
    )


def overlaps(plan: Iterable[Assignment], assessors: Sequence[str]) -> tuple[PlannedTogether, ...]:
    """Number of pairs that both judge, for every two of the assessors."""
    pairs: dict[str, set[Pair]] = {name: set() for name in assessors}
    for assignment in plan:
        if assignment.occasion == 1:
            pairs.setdefault(assignment.assessor, set()).add(assignment.pair)
    return tuple(
        PlannedTogether(first, second, len(pairs[first] & pairs[second]))
        for first, second in combinations(sorted(pairs), 2)
    )


def _faults_of_pairs(
    plan: Sequence[Assignment],
    documents: Mapping[str, Collection[str]],
    per_pair: int | None,
    accepted: Collection[Pair],
) -> Iterator[str]:
    members = grouped(((row.query_id, row.doc_id), row.assessor) for row in plan if row.occasion == 1)
    pooled = {query_id: frozenset(doc_ids) for query_id, doc_ids in documents.items()}
    for pair, names in sorted(members.items()):
        fewer = pair in accepted and per_pair is not None and len(names) < per_pair
        if per_pair is not None and len(names) != per_pair and not fewer:
            number = counted(len(names), "assessor")
            yield f"{' '.join(pair)}: {number} ({', '.join(sorted(names))}), expected {per_pair}"
        if pair[0] in pooled and pair[1] not in pooled[pair[0]]:
            yield f"{' '.join(pair)}: planned, but not in the pool"


def _faults_of_positions(plan: Sequence[Assignment]) -> Iterator[str]:
    positions = grouped((assignment.assessor, assignment.position) for assignment in plan)
    for name, places in sorted(positions.items()):
        wrong = next((number for number, place in enumerate(sorted(places), start=1) if number != place), None)
        if wrong is not None:
            yield f"{name}: the positions should run from 1 to {len(places)}, but {wrong} is missing or used twice"


def _faults_of_repeats(plan: Sequence[Assignment], answered: Collection[tuple[str, PairKey]]) -> Iterator[str]:
    question_of = attrgetter("assessor", "query_id", "doc_id", "occasion")
    keys = list(map(question_of, plan))
    twice = {key for key, times in Counter(keys).items() if times > 1} if len({*keys}) < len(keys) else ()
    looked_at = [row for row in plan if row.occasion > 1 or (twice and question_of(row) in twice)]
    firsts = {(row.assessor, row.pair): row.position for row in plan if row.occasion == 1} if looked_at else {}
    for row in sorted(looked_at, key=attrgetter("assessor", "position")):
        if question_of(row) in twice:
            yield f"{row.query_id} {row.doc_id}: assigned to {row.assessor} twice"
        if row.occasion == 1:
            continue
        first = firsts.get((row.assessor, row.pair))
        if first is None and (row.assessor, row.pair_key) not in answered:
            yield f"{row.query_id} {row.doc_id}: a hidden repeat for {row.assessor}, who does not judge the pair"
        if first is not None and first > row.position:
            yield f"{row.query_id} {row.doc_id}: the hidden repeat comes before the pair for {row.assessor}"


def _faults_of_people(
    plan: Sequence[Assignment], left: Collection[str], answered: Collection[tuple[str, PairKey]]
) -> Iterator[str]:
    still_open = Counter(
        assignment.assessor
        for assignment in plan
        if assignment.assessor in left and (assignment.assessor, assignment.pair_key) not in answered
    )
    for name, count in sorted(still_open.items()):
        yield (
            f"{name}: has left, with {counted(count, 'unanswered pair')}; "
            f"reassign them with `annot assessor leave {name}`"
        )


def _faults_of_adjudicators(plan: Sequence[Assignment], settling: Mapping[Pair, Collection[str]]) -> Iterator[str]:
    assessors = {(row.pair, row.assessor) for row in plan if row.pair in settling} if settling else ()
    for pair, names in sorted(settling.items()):
        for name in sorted(names):
            if (pair, name) in assessors:
                yield f"{' '.join(pair)}: {name} both judges and settles it"


def papers_shared(plan: Iterable[Assignment], queries: Mapping[str, Query]) -> dict[str, int]:
    """Number of query papers that each assessor shares with another person."""
    members: dict[tuple[str, str], set[str]] = {}
    for assignment in plan:
        members.setdefault(assignment.pair, set()).add(assignment.assessor)
    shared: dict[str, set[str]] = {name: set() for people in members.values() for name in people}
    for (query_id, _), people in members.items():
        for name in people if len(people) > 1 else ():
            shared[name].add(queries[query_id].topic_id)
    return {name: len(papers) for name, papers in sorted(shared.items())}


def papers_by_facet(plan: Iterable[Assignment], queries: Mapping[str, Query]) -> dict[str, int]:
    """Number of query papers that are judged, by facet."""
    judged = {queries[assignment.query_id] for assignment in plan}
    facets = sorted({query.facet for query in judged})
    return {facet: len({query.topic_id for query in judged if query.facet == facet}) for facet in facets}


MOST_DEVIATIONS = 6.0
"""Standard deviations; an order that was drawn is further out once in five hundred million draws."""
LEAST_PROBABLE = 1e-5
"""Chance of a sorted order above which sorted values are no sign."""


def follows(groups: Iterable[Sequence[float]]) -> bool:
    """True if the values rise, or fall, along the sequences more than in any order that was drawn.

    groups: a secret value of each task, in the order of the tasks; one sequence a query. Kendall's S, summed
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
    column = np.asarray(values, dtype=float)
    return int(np.triu(np.sign(column[np.newaxis, :] - column[:, np.newaxis])).sum())


def variance_of_s(count: int, ties: Iterable[int]) -> float:
    """The variance of S over all orders of `count` values. ties: how often each value comes."""
    return (count * (count - 1) * (2 * count + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18


# ----------------------------------------------------------------------------------------------------------------------
# Open pairs of a person who leaves are handed on, so that the plan stays sound.
#
# Answered pairs stay with who answered them. No person gets a pair that they have already.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanHandedOn:
    """The plan without a person's open pairs in their hands."""

    plan: tuple[Assignment, ...]
    given_up: tuple[Assignment, ...]
    """Assignments that the leaver had and has no more."""
    moved: dict[Pair, str | None]
    """New assessor of each open pair, in the leaver's order; None if no person could take it."""
    repeats_gone: int
    """Number of hidden repeats that no person could take, or that would come too soon after their pair."""


def hand_on(
    plan: Iterable[Assignment],
    *,
    leaver: str,
    answered: Collection[PairKey],
    successor: str | None,
    others: Sequence[str],
    together: bool,
    open_loads: Mapping[str, int],
    shares: Mapping[str, float],
    barred: Mapping[Pair, Collection[str]],
) -> PlanHandedOn:
    """Give the leaver's open pairs to the successor if they can take them, else to the others, as evenly as possible.

    answered: questions that the leaver has answered; these stay. together: all open pairs of a query go to one person
    if one can take them all. open_loads: number of unanswered pairs of each person, which breaks ties. shares: the
    hours of people relative to each other, 1 for those not named. barred: people who must not get a pair, by pair,
    besides those who have it.
    """
    plan = tuple(plan)
    leavers = sorted((assignment for assignment in plan if assignment.assessor == leaver), key=attrgetter("position"))
    open_pairs = [
        assignment.pair for assignment in leavers if assignment.occasion == 1 and assignment.pair_key not in answered
    ]
    holders = grouped((assignment.pair, assignment.assessor) for assignment in plan)

    def can_take(name: str, pairs: Iterable[Pair]) -> bool:
        return not any(name in holders[pair] or name in barred.get(pair, ()) for pair in pairs)

    received: Counter[str] = Counter()

    def lightest(pairs: Sequence[Pair]) -> str | None:
        free = [name for name in others if name != leaver and can_take(name, pairs)]

        def cost(name: str) -> tuple[float, float, str]:
            share = shares.get(name, 1.0)
            return (received[name] + len(pairs)) / share, open_loads.get(name, 0) / share, name

        return min(free, key=cost, default=None)

    receiver: dict[Pair, str | None] = dict.fromkeys(open_pairs)
    unassigned = []
    for pair in open_pairs:
        if successor is not None and can_take(successor, [pair]):
            receiver[pair] = successor
        else:
            unassigned.append(pair)
    for group in _groups_to_hand_on(unassigned, together=together):
        taker = lightest(group)
        for pair in group:
            name = taker or lightest([pair])
            receiver[pair] = name
            if name is not None:
                received[name] += 1

    staying = [assignment for assignment in leavers if assignment.pair_key in answered]
    given_up = tuple(assignment for assignment in leavers if assignment.pair_key not in answered)
    new, dropped = _sequences(plan, given_up, receiver)
    remaining = [assignment for assignment in plan if assignment.assessor != leaver]
    return PlanHandedOn(renumbered([*remaining, *staying, *new]), given_up, receiver, dropped)


def give_back(
    plan: Iterable[Assignment],
    *,
    assessor: str,
    answered: Collection[PairKey],
    per_pair: int,
    bound: Collection[tuple[str, PairKey]],
) -> tuple[tuple[Assignment, ...], tuple[PairKey, ...]]:
    """The plan with the pairs that the assessor answered after they were handed on, and these questions.

    bound: (assessor, question) that was sent or answered; no person loses those, so a pair whose assignments are all
    bound stays where it is.
    """
    plan = list(plan)
    behind = len(plan)
    returned = []
    for question in sorted(answered, key=lambda question: (question.occasion, question)):
        if any((assignment.assessor, assignment.pair_key) == (assessor, question) for assignment in plan):
            continue
        holders = [assignment for assignment in plan if assignment.pair_key == PairKey(*question.pair)]
        if question.occasion == 1 and len(holders) >= per_pair:
            free = [assignment for assignment in holders if (assignment.assessor, assignment.pair_key) not in bound]
            if not free:
                continue
            giver = max(free, key=attrgetter("position")).assessor
            plan = [
                assignment for assignment in plan if assignment.assessor != giver or assignment.pair != question.pair
            ]
        plan.append(Assignment(*question.pair, assessor, behind, question.occasion))
        returned.append(question)
    return renumbered(plan), tuple(returned)


def renumbered(plan: Iterable[Assignment]) -> tuple[Assignment, ...]:
    """The plan by assessor and position, positions counted from 1 without gaps."""
    numbered: list[Assignment] = []
    places: Counter[str] = Counter()
    for assignment in sorted(plan, key=attrgetter("assessor", "position")):
        places[assignment.assessor] += 1
        numbered.append(replace(assignment, position=places[assignment.assessor]))
    return tuple(numbered)


def _groups_to_hand_on(pairs: Sequence[Pair], *, together: bool) -> list[list[Pair]]:
    if not together:
        return [[pair] for pair in pairs]
    return sorted(grouped((pair[0], pair) for pair in pairs).values(), key=len, reverse=True)


def _sequences(
    plan: Sequence[Assignment], given_up: Sequence[Assignment], receiver: Mapping[Pair, str | None]
) -> tuple[list[Assignment], int]:
    """New assignments of the receivers behind their own, in the leaver's order, and the number of dropped repeats."""
    last: Counter[str] = Counter()
    for assignment in plan:
        last[assignment.assessor] = max(last[assignment.assessor], assignment.position)
    new: list[Assignment] = []
    place_of: dict[PairKey, int] = {}
    dropped = 0
    for assignment in given_up:
        name = receiver.get(assignment.pair)
        if assignment.occasion > 1:
            first = place_of.get(PairKey(*assignment.pair))
            if name is None or first is None or last[name] - first < FEWEST_BETWEEN:
                dropped += 1
                continue
        if name is None:
            continue
        last[name] += 1
        place_of[assignment.pair_key] = last[name]
        new.append(replace(assignment, assessor=name, position=last[name]))
    return new, dropped
