"""What is still to judge, what is in dispute, who settles it, and what the final grades are."""

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
"""From this difference on two grades want a reason."""


Ask = tuple[str, Asked]
"""(assessor, what they were asked)."""


@dataclass(frozen=True, slots=True)
class PlannedJudgements:
    """Every planned judgement, by what has become of it. A pair that was returned is asked again: its first answer
    is no longer the one that is wanted."""

    given: tuple[Ask, ...]
    """Those with an answer that counts, hidden repeats among them."""
    pending: tuple[Ask, ...]
    """Those that their assessor has still to give."""
    pending_repeats: tuple[Ask, ...]
    """Hidden repeats that their assessor has still to give; no final grade waits for them."""
    vacant: Mapping[Pair, int]
    """Judgements of a pair that no assessor has, because a person left."""
    waived: Mapping[Pair, int]
    """Judgements of a pair that nobody will give: the lead accepted fewer, or an adjudicator closed the pair."""

    @property
    def left(self) -> int:
        """How many judgements are still to be given, whoever gives them."""
        return self.left_by_assessor.total() + sum(self.vacant.values())

    @property
    def left_by_assessor(self) -> Counter[str]:
        """How many of them each assessor has."""
        return Counter(name for name, _ in (*self.pending, *self.pending_repeats))

    @property
    def missing(self) -> int:
        """How many judgements were planned and never given; one that was given and asked again is not missing."""
        never = sum(asked.occasion == 1 for _, asked in self.pending)
        return never + sum(self.vacant.values()) + sum(self.waived.values())

    @property
    def unfinished(self) -> set[Pair]:
        """Pairs whose final grade waits for a judgement."""
        return {asked.pair for _, asked in self.pending} | self.vacant.keys()

    def closed(self, pairs: Collection[Pair]) -> PlannedJudgements:
        """The same, once an adjudicator has closed these pairs: their grades wait for no judgement any more."""
        waived = Counter(self.waived)
        waived.update({pair: n for pair, n in self.vacant.items() if pair in pairs})
        waived.update(asked.pair for _, asked in self.pending if asked.pair in pairs and asked.occasion == 1)
        return replace(
            self,
            pending=tuple((name, asked) for name, asked in self.pending if asked.pair not in pairs),
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

    teams: the assessors of each pair, also of pairs that nobody has any more. returned: in the order in which pairs
    were returned, without those that were taken back; what is asked last is wanted. answered: asks with an answer that
    counts. per_pair: how many judgements each pair is to have; None if the plan is what was imported. accepted: pairs
    that may have fewer, but at least one.
    """
    last = {(name, pair): Asked(*pair) for pair, team in teams.items() for name in team}
    last |= {(one.assessor, one.pair): one.asked for one in returned if one.assessor in teams.get(one.pair, ())}
    wanted = [(name, asked) for (name, _), asked in sorted(last.items())]
    repeats = [(one.assessor, one.asked) for one in plan if one.occasion > 1]
    vacant: dict[Pair, int] = {}
    waived: dict[Pair, int] = {}
    for pair, team in sorted(teams.items()):
        if (lacking := (per_pair or 0) - len(team)) > 0:
            (waived if pair in accepted and team else vacant)[pair] = lacking
    return PlannedJudgements(
        given=tuple(ask for ask in (*wanted, *repeats) if ask in answered),
        pending=tuple(ask for ask in wanted if ask not in answered),
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
        """The largest difference between two grades; the scale's unknown width where someone could not judge is 0."""
        grades = [judgement.grade for judgement in self.judgements if judgement.grade is not None]
        return max(grades) - min(grades) if grades else 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """The pairs that have all their judgements, by what these say."""

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
    by_pair = nested((one.pair, one.assessor, one) for one in judgements if one.counts)
    agreed: list[Decision] = []
    disputed: list[Dispute] = []
    for pair in sorted(planned.keys() - set(unfinished)):
        given = [by_pair[pair][name] for name in sorted(planned[pair])]
        grades = {one.grade for one in given}
        if len(grades) == 1 and None not in grades and pair not in contested:
            grade = given[0].grade
            assert grade is not None
            agreed.append(Decision(*pair, grade=grade, origin="agreed"))
        else:
            disputed.append(Dispute(*pair, judgements=tuple(given)))
    return Settlement(tuple(agreed), tuple(disputed))


@dataclass(frozen=True, slots=True)
class Rulings:
    """What adjudicators said of the pairs, by what it settles."""

    graded: dict[Pair, Adjudication]
    """The adjudication that counts, of each pair that has a grade from one."""
    unjudgeable: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that as many adjudicators as are asked could not judge: nobody can, and no further person is asked."""
    passed_on: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that an adjudicator could not judge and that wait for another one."""


def rulings_of(adjudications: Iterable[Adjudication], *, asked: int) -> Rulings:
    """Sort what adjudicators said; those with flags do not count, and of one person's several answers the last does,
    and of several people's grades the latest.

    asked: how many adjudicators must say that they cannot judge a pair before it is given up.
    """
    said = nested((ruling.pair, ruling.adjudicator, ruling) for ruling in adjudications if ruling.counts)
    graded: dict[Pair, Adjudication] = {}
    unjudgeable: dict[Pair, tuple[Adjudication, ...]] = {}
    passed_on: dict[Pair, tuple[Adjudication, ...]] = {}
    for pair, by_person in sorted(said.items()):
        grades = [ruling for ruling in by_person.values() if ruling.grade is not None]
        if grades:
            graded[pair] = sorted(grades, key=lambda ruling: ruling.judged_at or "")[-1]
        else:
            ended = len(by_person) >= asked
            (unjudgeable if ended else passed_on)[pair] = tuple(by_person.values())
    return Rulings(graded, unjudgeable, passed_on)


class Unexplained(NamedTuple):
    """Of the settled pairs that need a reason most, those that have none."""

    pairs: int
    """The adjudicator gave a grade that no assessor gave, or the assessors' grades are `WIDE` apart or more."""
    without_reason: int
    """No sentence was written."""
    without_cause: int
    """It was not said why they differ."""


def unexplained_of(adjudications: Mapping[Pair, Adjudication], judgements: Iterable[Judgement]) -> Unexplained:
    """How many overrulings and wide gaps lack the words that Label Studio cannot require for them alone.

    judgements: those that the final grades are made of; the ones that do not count are left out. As everywhere, only a
    pair with two grades or more can be overruled.
    """
    grades = grouped((one.pair, one.grade) for one in judgements if one.counts and one.grade is not None)
    wanting = [
        settled
        for pair, settled in adjudications.items()
        if len(given := grades.get(pair, [])) > 1 and (settled.grade not in given or max(given) - min(given) >= WIDE)
    ]
    return Unexplained(
        len(wanting), sum(not one.comment for one in wanting), sum(one.reason is None for one in wanting)
    )


def shown_assessors(pair: Pair, assessors: Iterable[str], *, seed: int) -> tuple[str, ...]:
    """The assessors in the order in which their grades are shown, drawn for each pair: no place is a person."""
    # Where an order is drawn, and not at the top: it imports numpy, which `annot status` does without.
    from annot.base.stats.seeding import generator

    names = sorted(assessors)
    return tuple(names[at] for at in generator(seed, "shown", *pair).permutation(len(names)))


def shown_order(dispute: Dispute, *, seed: int) -> tuple[Judgement, ...]:
    """The judgements of a dispute in the order of `shown_assessors`."""
    by_assessor = {judgement.assessor: judgement for judgement in dispute.judgements}
    order = shown_assessors(dispute.pair, by_assessor, seed=seed)
    return tuple(by_assessor[name] for name in order)


def queue(disputes: Iterable[Dispute], queries: Mapping[str, Query]) -> tuple[Dispute, ...]:
    """Disputes topic by topic, and of one topic facet by facet. The place of a pair says nothing of its grades."""

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
    """The adjudicator of each dispute, loads balanced, a query kept with one person where that stays balanced.

    An adjudicator never settles a pair that they judged, unless `may_assess` allows it and nobody else is there.
    `current` are the disputes that someone has already. `passed_on`: who could not judge a pair that goes to another
    adjudicator; that one is neither of them nor an assessor of the pair, and where there is no such person the pair has
    nobody here. Raises InputError naming the other pairs that nobody may settle.
    """
    if not adjudicators:
        raise InputError("no adjudicator", hint="add one with `annot assessor add NAME --account EMAIL --adjudicator`")
    given = dict(current)
    load: Counter[str] = Counter(given.values())
    new = sorted((dispute for dispute in disputes if dispute.pair not in given), key=attrgetter("pair"))
    queries_of = grouped((dispute.query_id, dispute) for dispute in new)
    from annot.base.stats.seeding import generator

    stuck: list[str] = []
    for query_id, group in sorted(queries_of.items()):
        order = list(generator(seed, "adjudicator", query_id).permutation(sorted(adjudicators)))
        for one in group:
            judged = {judgement.assessor for judgement in one.judgements}
            could_not = passed_on.get(one.pair, ())
            free = [name for name in order if name not in judged and name not in could_not]
            if could_not and not free:
                continue
            if may_assess:
                free = free or order
            if not free:
                stuck.append(f"{one.query_id} {one.doc_id}: judged by every adjudicator ({', '.join(sorted(judged))})")
                continue
            name = str(min(free, key=lambda person: (load[person] // len(group), order.index(person))))
            given[one.pair] = name
            load[name] += 1
    if stuck:
        raise InputError(
            f"{counted(len(stuck), 'pair')} without an adjudicator",
            faults=stuck,
            hint="`annot assessor add --adjudicator`",
        )
    return given
