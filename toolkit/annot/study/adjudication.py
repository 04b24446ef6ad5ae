"""Planned judgements, disputes, adjudicators and final grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import (
    Adjudication,
    Asked,
    Assignment,
    Decision,
    Judgement,
    OfPair,
    Query,
    Returned,
    grouped,
    nested,
)

Pair = tuple[str, str]
"""(query_id, doc_id)."""
WIDE = 2
"""Difference between two grades from which a reason is wanted."""


Ask = tuple[str, Asked]
"""An assessor and what they were asked."""


@dataclass(frozen=True, slots=True)
class PlannedJudgements:
    """Planned judgements by their state. A pair that was returned is asked again: its first answer no longer counts."""

    given: tuple[Ask, ...]
    """Judgements with an answer that counts, hidden repeats among them."""
    pending: tuple[Ask, ...]
    """Judgements that their assessor has still to give."""
    pending_repeats: tuple[Ask, ...]
    """Hidden repeats that their assessor has still to give; no final grade waits for them."""
    vacant: Mapping[Pair, int]
    """Judgements of a pair that no assessor has, because a person left."""
    waived: Mapping[Pair, int]
    """Judgements of a pair that are no longer expected: the lead accepted fewer, or an adjudicator closed the pair."""

    @property
    def left(self) -> int:
        """Number of judgements that are still to be given by anyone."""
        return self.left_by_assessor.total() + sum(self.vacant.values())

    @property
    def left_by_assessor(self) -> Counter[str]:
        """Number of these judgements for each assessor."""
        return Counter(name for name, _ in (*self.pending, *self.pending_repeats))

    @property
    def missing(self) -> int:
        """Number of judgements that were planned and never given; one that was given and asked again is not missing."""
        never = sum(key.occasion == 1 for _, key in self.pending)
        return never + sum(self.vacant.values()) + sum(self.waived.values())

    @property
    def unfinished(self) -> set[Pair]:
        """Pairs whose final grade waits for a judgement."""
        return {key.pair for _, key in self.pending} | self.vacant.keys()

    @property
    def waiting(self) -> set[Pair]:
        """Pairs that wait only for answers that are asked again."""
        occasions = grouped((key.pair, key.occasion) for _, key in self.pending)
        return {pair for pair, several in occasions.items() if 1 not in several}

    @property
    def short(self) -> set[Pair]:
        """Unfinished pairs that no present assessor will complete."""
        return self.vacant.keys() - {key.pair for _, key in self.pending}

    def closed(self, pairs: Collection[Pair]) -> PlannedJudgements:
        """The judgements once an adjudicator has closed these pairs: their grades no longer wait for a judgement."""
        waived = Counter(self.waived)
        waived.update({pair: n for pair, n in self.vacant.items() if pair in pairs})
        waived.update(key.pair for _, key in self.pending if key.pair in pairs and key.occasion == 1)
        return replace(
            self,
            pending=tuple((name, key) for name, key in self.pending if key.pair not in pairs),
            vacant={pair: n for pair, n in self.vacant.items() if pair not in pairs},
            waived=dict(waived),
        )


def planned_judgements(
    plan: Iterable[Assignment],
    teams: Mapping[Pair, Collection[str]],
    returned: Iterable[Returned],
    answered: Collection[Ask],
    *,
    per_pair: int | None,
    accepted: Collection[Pair],
) -> PlannedJudgements:
    """Sort the planned judgements into those that are given and those that are not.

    teams: the assessors of each pair, also of pairs without any. returned: in the order in which pairs
    were returned, without those that were taken back; the last one counts. answered: asks with an answer that counts.
    per_pair: judgements that each pair is to have; None if the plan was imported. accepted: pairs that may have fewer,
    but at least one.
    """
    last = {(name, pair): Asked(*pair) for pair, team in teams.items() for name in team}
    last |= {
        (entry.assessor, entry.pair): entry.asked for entry in returned if entry.assessor in teams.get(entry.pair, ())
    }
    asks = [(name, asked) for (name, _), asked in sorted(last.items())]
    repeats = [(assignment.assessor, assignment.asked) for assignment in plan if assignment.occasion > 1]
    vacant: dict[Pair, int] = {}
    waived: dict[Pair, int] = {}
    for pair, team in sorted(teams.items()):
        if (lacking := (per_pair or 0) - len(team)) > 0:
            (waived if pair in accepted and team else vacant)[pair] = lacking
    return PlannedJudgements(
        given=tuple(ask for ask in (*asks, *repeats) if ask in answered),
        pending=tuple(ask for ask in asks if ask not in answered),
        pending_repeats=tuple(ask for ask in repeats if ask not in answered),
        vacant=vacant,
        waived=waived,
    )


@dataclass(frozen=True, slots=True)
class Dispute(OfPair):
    """A pair that a person must settle: the judgements that count, by assessor."""

    query_id: str
    doc_id: str
    judgements: tuple[Judgement, ...]

    @property
    def gap(self) -> int:
        """Largest difference between two grades, without assessors who could not judge; 0 without any grade."""
        grades = [judgement.grade for judgement in self.judgements if judgement.grade is not None]
        return max(grades) - min(grades) if grades else 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """Pairs that have all their judgements, agreed and disputed."""

    agreed: tuple[Decision, ...]
    disputed: tuple[Dispute, ...]


def settle(
    planned: Mapping[Pair, Sequence[str]],
    judgements: Iterable[Judgement],
    *,
    unfinished: Collection[Pair],
    contested: Collection[Pair] = (),
) -> Settlement:
    """Sort the planned pairs that wait for no judgement into agreed and disputed.

    planned: the assessors of each pair. judgements: the current judgement of each (pair, assessor); those that carry
    flags do not count. unfinished: the pairs that wait for one (`PlannedJudgements`). A pair is
    agreed when all its assessors gave the same grade; it is in dispute when grades differ or someone could not judge.
    contested: pairs that are in dispute although their grades are equal, by the lead's word.
    """
    by_pair = nested((judgement.pair, judgement.assessor, judgement) for judgement in judgements if judgement.counts)
    agreed: list[Decision] = []
    disputed: list[Dispute] = []
    for pair in sorted(planned.keys() - set(unfinished)):
        current = [by_pair[pair][name] for name in sorted(planned[pair])]
        grades = {judgement.grade for judgement in current}
        if len(grades) == 1 and None not in grades and pair not in contested:
            grade = current[0].grade
            assert grade is not None
            agreed.append(Decision(*pair, grade=grade, origin="agreed"))
        else:
            disputed.append(Dispute(*pair, judgements=tuple(current)))
    return Settlement(tuple(agreed), tuple(disputed))


@dataclass(frozen=True, slots=True)
class Rulings:
    """Rulings of adjudicators, by their effect on the pairs."""

    graded: dict[Pair, Adjudication]
    """The adjudication that counts, of each pair that has a grade from one."""
    unjudgeable: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that as many adjudicators as are asked could not judge: they are closed, and no further person is asked."""
    passed_on: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that an adjudicator could not judge and that wait for another one."""


def rulings_of(adjudications: Iterable[Adjudication], *, asked: int) -> Rulings:
    """Sort the rulings of adjudicators. Those with flags do not count; the last answer of each person does, and the
    latest grade among several people.

    asked: adjudicators who must be unable to judge a pair before it is given up.
    """
    rulings = nested((ruling.pair, ruling.adjudicator, ruling) for ruling in adjudications if ruling.counts)
    graded: dict[Pair, Adjudication] = {}
    unjudgeable: dict[Pair, tuple[Adjudication, ...]] = {}
    passed_on: dict[Pair, tuple[Adjudication, ...]] = {}
    for pair, by_person in sorted(rulings.items()):
        grades = [ruling for ruling in by_person.values() if ruling.grade is not None]
        if grades:
            graded[pair] = sorted(grades, key=lambda ruling: ruling.judged_at or "")[-1]
        else:
            ended = len(by_person) >= asked
            (unjudgeable if ended else passed_on)[pair] = tuple(by_person.values())
    return Rulings(graded, unjudgeable, passed_on)


class Unexplained(NamedTuple):
    """Settled pairs without the reason that they need."""

    pairs: int
    """The adjudicator gave a grade that no assessor gave, or the assessors' grades are `WIDE` apart or more."""
    without_reason: int
    """Number of pairs without a sentence."""
    without_cause: int
    """Number of pairs without a cause of the difference."""


def unexplained_of(adjudications: Mapping[Pair, Adjudication], judgements: Iterable[Judgement]) -> Unexplained:
    """Overrulings and wide gaps without the words that Label Studio cannot require for them alone.

    judgements: those that the final grades are made of; the ones that do not count are left out. As everywhere, only a
    pair with two grades or more can be overruled.
    """
    grades = grouped(
        (judgement.pair, judgement.grade)
        for judgement in judgements
        if judgement.counts and judgement.grade is not None
    )

    def is_contrary(adjudication: Adjudication) -> bool:
        of_pair = grades.get(adjudication.pair, [])
        if len(of_pair) < 2:
            return False
        return adjudication.grade not in of_pair or max(of_pair) - min(of_pair) >= WIDE

    contrary = list(filter(is_contrary, adjudications.values()))
    without_cause = sum(adjudication.reason is None for adjudication in contrary)
    return Unexplained(len(contrary), sum(not adjudication.comment for adjudication in contrary), without_cause)


def shown_assessors(pair: Pair, assessors: Iterable[str], *, seed: int) -> tuple[str, ...]:
    """The assessors in the order in which their grades are shown, drawn for each pair: no place is a person."""
    # Where an order is drawn, and not at the top: it imports numpy, which `annot status` does without.
    from annot.base.stats.seeding import generator

    names = sorted(assessors)
    return tuple(names[place] for place in generator(seed, "shown", *pair).permutation(len(names)))


def shown_order(dispute: Dispute, *, seed: int) -> tuple[Judgement, ...]:
    """The judgements of a dispute in the order of `shown_assessors`."""
    by_assessor = {judgement.assessor: judgement for judgement in dispute.judgements}
    order = shown_assessors(dispute.pair, by_assessor, seed=seed)
    return tuple(by_assessor[name] for name in order)


def queue(disputes: Iterable[Dispute], queries: Mapping[str, Query]) -> tuple[Dispute, ...]:
    """Disputes topic by topic, and facet by facet within a topic. The place of a pair reveals nothing of its grades."""

    places = {name: (query.topic_id, query.facet) for name, query in queries.items()}
    return tuple(sorted(disputes, key=lambda dispute: (places[dispute.query_id], dispute.pair)))


def assign_adjudicators(
    disputes: Sequence[Dispute],
    adjudicators: Sequence[str],
    *,
    may_assess: bool,
    seed: int,
    current: Mapping[Pair, str],
    passed_on: Mapping[Pair, Collection[str]],
) -> dict[Pair, str]:
    """The adjudicator of each dispute, loads balanced, a query kept with one person if the loads stay balanced.

    An adjudicator never settles a pair that they judged, unless `may_assess` allows it and there is no one else.
    `current`: the adjudicators of disputes that have one already. `passed_on`: adjudicators who could not judge a pair
    that goes to another one, who is neither of them nor an assessor of the pair; if there is no such person the pair is
    left out. Raises InputError naming the other pairs that no adjudicator may settle.
    """
    if not adjudicators:
        raise InputError("no adjudicator", hint="add one with `annot assessor add NAME --account EMAIL --adjudicator`")
    adjudicator_of = dict(current)
    load: Counter[str] = Counter(adjudicator_of.values())
    new = sorted((dispute for dispute in disputes if dispute.pair not in adjudicator_of), key=attrgetter("pair"))
    queries_of = grouped((dispute.query_id, dispute) for dispute in new)
    from annot.base.stats.seeding import generator

    stuck: list[str] = []
    for query_id, group in sorted(queries_of.items()):
        order = list(generator(seed, "adjudicator", query_id).permutation(sorted(adjudicators)))
        for dispute in group:
            judged = {judgement.assessor for judgement in dispute.judgements}
            could_not = passed_on.get(dispute.pair, ())
            free = [name for name in order if name not in judged and name not in could_not]
            if could_not and not free:
                continue
            if may_assess:
                free = free or order
            if not free:
                stuck.append(
                    f"{dispute.query_id} {dispute.doc_id}: judged by every adjudicator ({', '.join(sorted(judged))})"
                )
                continue
            name = str(min(free, key=lambda person: (load[person] // len(group), order.index(person))))
            adjudicator_of[dispute.pair] = name
            load[name] += 1
    if stuck:
        raise InputError(
            f"{counted(len(stuck), 'pair')} without an adjudicator",
            faults=stuck,
            hint="`annot assessor add --adjudicator`",
        )
    return adjudicator_of
