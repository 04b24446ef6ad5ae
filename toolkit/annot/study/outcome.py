"""The state of every planned pair, and its final grade."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, pairwise
from operator import attrgetter, itemgetter, lt
from statistics import median_high
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from annot.base.errors import InputError
from annot.base.names import counted, moment_of, verb
from annot.base.records import (
    Adjudication,
    Assignment,
    Decision,
    Judgement,
    PairKey,
    PairReturn,
    Qrel,
    Query,
    grouped,
    nested,
)
from annot.base.settings import Settings
from annot.store import trials
from annot.store.answers import (
    ADJUDICATIONS,
    JUDGEMENTS,
    RESTORED,
    SourcedAdjudication,
    SourcedAnswer,
    chain_ends,
    count_corrected_texts,
    read_accepted,
    read_returned,
)
from annot.store.models import Plan, Session, StoredRound
from annot.store.people import count_by_assessor, read_assignments, read_plan
from annot.store.pools import withdrawn_ids

if TYPE_CHECKING:
    from annot.study.judged_texts import JudgedTexts


# ----------------------------------------------------------------------------------------------------------------------
# Planned judgements, disputes, adjudicators and final grades.
# ----------------------------------------------------------------------------------------------------------------------


Pair = tuple[str, str]
"""(query_id, doc_id)."""
WIDE = 2
"""Difference between two grades from which a reason is wanted."""


Ask = tuple[str, PairKey]
"""An assessor and what they were asked."""


@dataclass(frozen=True, slots=True)
class PlannedJudgements:
    """Planned judgements by their state. A pair that was returned is asked again: its first answer no longer counts."""

    given: Counter[str]
    """Number of each assessor's judgements with an answer that counts, hidden repeats among them."""
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
        unanswered = sum(key.occasion == 1 for _, key in self.pending)
        return unanswered + sum(self.vacant.values()) + sum(self.waived.values())

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
        if not (self.pending or self.vacant):
            return self
        waived = Counter(self.waived)
        waived.update({pair: n for pair, n in self.vacant.items() if pair in pairs})
        waived.update(key.pair for _, key in self.pending if key.pair in pairs and key.occasion == 1)
        return replace(
            self,
            pending=tuple((name, key) for name, key in self.pending if key.pair not in pairs),
            vacant={pair: n for pair, n in self.vacant.items() if pair not in pairs},
            waived=dict(waived),
        )

    def without(self, documents: Collection[str]) -> PlannedJudgements:
        """The judgements without hidden repeats of these documents still to be given."""
        if not documents:
            return self
        repeats = tuple((name, key) for name, key in self.pending_repeats if key.doc_id not in documents)
        return replace(self, pending_repeats=repeats)


def planned_judgements(
    plan: Iterable[Assignment],
    teams: Mapping[Pair, Collection[str]],
    returned: Iterable[PairReturn],
    answers: Iterable[Judgement],
    *,
    per_pair: int | None,
    accepted: Collection[Pair],
) -> PlannedJudgements:
    """Sort the planned judgements into those that are given and those that are not.

    teams: the assessors of each pair, also of pairs without any. returned: in the order in which pairs
    were returned, without those that were taken back; the last one counts. answers: of the assessors, in which those
    that do not count are left out of account.
    per_pair: judgements that each pair is to have; None if the plan was imported. accepted: pairs that may have fewer,
    but at least one.
    """
    answered = list(map(_key, [answer for answer in answers if answer.counts]))
    last = {
        (*entry.pair, entry.assessor): entry.occasion
        for entry in returned
        if entry.assessor in teams.get(entry.pair, ())
    }
    first = [(*pair, name, 1) for pair, team in sorted(teams.items()) for name in team]
    questions = [(*key[:3], last.get(key[:3], 1)) for key in first] if last else first
    repeats = [row for row in plan if row.occasion > 1]
    pending = _pending(questions, answered)
    pending_repeats = _pending(list(map(_key, repeats)), answered)
    planned = Counter(chain.from_iterable(teams.values())) + Counter(row.assessor for row in repeats)
    vacant, waived = _lacking(teams, per_pair or 0, accepted)
    return PlannedJudgements(
        given=planned - Counter(name for name, _ in (*pending, *pending_repeats)),
        pending=tuple(sorted(pending, key=itemgetter(0))),
        pending_repeats=tuple(pending_repeats),
        vacant=vacant,
        waived=waived,
    )


def _pending(keys: list[tuple[str, str, str, int]], answered: list[tuple[str, str, str, int]]) -> list[Ask]:
    """The questions without an answer, in their order."""
    # Often every question has its answer, in the same order.
    if not keys or keys == answered:
        return []
    done = {*answered}
    return [(key[2], PairKey(key[0], key[1], key[3])) for key in keys if key not in done]


def _lacking(
    teams: Mapping[Pair, Collection[str]], per_pair: int, accepted: Collection[Pair]
) -> tuple[dict[Pair, int], dict[Pair, int]]:
    """Judgements without an assessor, by pair: those still expected, and those that no longer are."""
    vacant: dict[Pair, int] = {}
    waived: dict[Pair, int] = {}
    for pair, team in sorted(teams.items()) if per_pair else ():
        if (lacking := per_pair - len(team)) > 0:
            (waived if pair in accepted and team else vacant)[pair] = lacking
    return vacant, waived


Dispute = tuple[Judgement, ...]
"""A pair that a person must settle: the judgements of it that count, by assessor; there is at least one."""


def gap_of(judgements: Iterable[Judgement]) -> int:
    """Largest difference between two grades, without assessors who could not judge; 0 without any grade."""
    grades = [judgement.grade for judgement in judgements if judgement.grade is not None]
    return max(grades) - min(grades) if grades else 0


def settle(
    planned: Mapping[Pair, Sequence[str]],
    judgements: Iterable[Judgement],
    *,
    unfinished: Collection[Pair],
    contested: Collection[Pair] = (),
) -> tuple[tuple[Decision, ...], tuple[Dispute, ...]]:
    """Sort the planned pairs that wait for no judgement into agreed and disputed.

    planned: the assessors of each pair. judgements: the current judgement of each (pair, assessor); those that carry
    flags do not count. unfinished: the pairs that wait for one (`PlannedJudgements`). A pair is
    agreed when all its assessors gave the same grade; it is in dispute when grades differ or someone could not judge.
    contested: pairs that are in dispute although their grades are equal, by the lead's word.
    """
    by_pair: defaultdict[Pair, list[Judgement]] = defaultdict(list)
    for row in judgements:
        pair = row.query_id, row.doc_id
        if row.counts and row.assessor in planned.get(pair, ()):
            by_pair[pair].append(row)
    agreed: list[Decision] = []
    disputed: list[Dispute] = []
    for pair in sorted(planned):
        if pair in unfinished:
            continue
        current = by_pair[pair]
        grade, *others = [judgement.grade for judgement in current]
        if grade is None or pair in contested or others.count(grade) < len(others):
            disputed.append(tuple(sorted(current, key=attrgetter("assessor"))))
        else:
            agreed.append(Decision(*pair, grade, "agreed"))
    return tuple(agreed), tuple(disputed)


@dataclass(frozen=True, slots=True)
class Rulings:
    """Rulings of adjudicators, by their effect on the pairs."""

    graded: dict[Pair, Adjudication]
    """The adjudication that counts, of each pair that has a grade from one."""
    unjudgeable: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that as many adjudicators as are asked could not judge: they are closed, and no further person is asked."""
    passed_on: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that an adjudicator could not judge and that wait for another one."""


def rulings_of(adjudications: Iterable[Adjudication], *, asked: int, agreed: Collection[Pair]) -> Rulings:
    """Sort the rulings of adjudicators. Those with flags do not count; the last answer of each person does, and the
    latest grade among several people.

    asked: adjudicators who must be unable to judge a pair before it is given up. agreed: pairs on which the assessors
    agree, so that they are never given up.
    """
    rulings = nested((ruling.pair, ruling.adjudicator, ruling) for ruling in adjudications if ruling.counts)
    graded: dict[Pair, Adjudication] = {}
    unjudgeable: dict[Pair, tuple[Adjudication, ...]] = {}
    passed_on: dict[Pair, tuple[Adjudication, ...]] = {}
    for pair, by_person in sorted(rulings.items()):
        grades = [ruling for ruling in by_person.values() if ruling.grade is not None]
        if grades:
            graded[pair] = sorted(grades, key=lambda ruling: ruling.judged_at or "")[-1]
        elif len(by_person) < asked:
            passed_on[pair] = tuple(by_person.values())
        elif pair not in agreed:
            unjudgeable[pair] = tuple(by_person.values())
    return Rulings(graded, unjudgeable, passed_on)


class UnexplainedSettlements(NamedTuple):
    """Settled pairs without the reason that they need."""

    pairs: int
    """The adjudicator gave a grade that no assessor gave, or the assessors' grades are `WIDE` apart or more."""
    without_reason: int
    """Number of pairs without a sentence."""
    without_cause: int
    """Number of pairs without a cause of the difference."""


def unexplained_of(
    adjudications: Mapping[Pair, Adjudication], judgements: Iterable[Judgement]
) -> UnexplainedSettlements:
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
    return UnexplainedSettlements(
        len(contrary), sum(not adjudication.comment for adjudication in contrary), without_cause
    )


def shown_assessors(pair: Pair, assessors: Iterable[str], *, seed: int) -> tuple[str, ...]:
    """The assessors in the order in which their grades are shown, drawn for each pair: no place is a person."""
    # Where an order is drawn, and not at the top: it imports numpy, which `annot status` does without.
    from annot.base.stats.inference import generator

    names = sorted(assessors)
    return tuple(names[place] for place in generator(seed, "shown", *pair).permutation(len(names)))


def shown_order(dispute: Dispute, *, seed: int) -> tuple[Judgement, ...]:
    """The judgements of a dispute in the order of `shown_assessors`."""
    by_assessor = {judgement.assessor: judgement for judgement in dispute}
    order = shown_assessors(dispute[0].pair, by_assessor, seed=seed)
    return tuple(by_assessor[name] for name in order)


def queue(disputes: Iterable[Dispute], queries: Mapping[str, Query]) -> tuple[Dispute, ...]:
    """Disputes topic by topic, and facet by facet within a topic. The place of a pair reveals nothing of its grades."""

    places = {name: (query.topic_id, query.facet) for name, query in queries.items()}
    return tuple(sorted(disputes, key=lambda dispute: (places[dispute[0].query_id], dispute[0].pair)))


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
    new = sorted(
        (dispute for dispute in disputes if dispute[0].pair not in adjudicator_of), key=lambda dispute: dispute[0].pair
    )
    queries_of = grouped((dispute[0].query_id, dispute) for dispute in new)
    from annot.base.stats.inference import generator

    stuck: list[str] = []
    for query_id, group in sorted(queries_of.items()):
        order = list(generator(seed, "adjudicator", query_id).permutation(sorted(adjudicators)))
        for dispute in group:
            judged = {judgement.assessor for judgement in dispute}
            declined = passed_on.get(dispute[0].pair, ())
            free = [name for name in order if name not in judged and name not in declined]
            if declined and not free:
                continue
            if may_assess:
                free = free or order
            if not free:
                stuck.append(
                    f"{query_id} {dispute[0].doc_id}: every adjudicator judged it ({', '.join(sorted(judged))})"
                )
                continue
            name = str(min(free, key=lambda person: (load[person] // len(group), order.index(person))))
            adjudicator_of[dispute[0].pair] = name
            load[name] += 1
    if stuck:
        raise InputError(
            f"{counted(len(stuck), 'pair')} without an adjudicator",
            faults=stuck,
            hint="`annot assessor add --adjudicator`",
        )
    return adjudicator_of


# ----------------------------------------------------------------------------------------------------------------------
# State of every planned pair: its answers, the judgements that it waits for, its final grade, and its changes.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """The pairs of the plan, all from one look at the store."""

    assignments: tuple[Assignment, ...]
    """The plan, by assessor and position."""
    planned: dict[Pair, tuple[str, ...]]
    """Assessors of each pair, by pair."""
    judgements: tuple[Judgement, ...]
    """One judgement for each pair and assessor with any: the latest that counts, else the latest of all. They were
    given before the pair was discussed: agreement before adjudication is measured on them."""
    repeats: tuple[Judgement, ...]
    """The answers to hidden repeats, chosen the same way. They settle nothing."""
    returned: tuple[PairReturn, ...]
    """The pairs that were put before an assessor again, less those that were taken back."""
    again: tuple[Judgement, ...]
    """Answers to these pairs, and to those taken back, chosen the same way."""
    current: tuple[Judgement, ...]
    """Judgements that the final grades are made of, one for each pair and assessor: the answer given when the pair was
    returned, if there is one, else the first. None of an assessor who has a returned pair still to answer."""
    agreed: tuple[Decision, ...]
    """Pairs that have all their judgements, with one grade."""
    disputed: tuple[Dispute, ...]
    """Pairs that have all their judgements, which differ or which the lead contests, settled or not."""
    adjudications: dict[Pair, Adjudication]
    """The adjudication that counts, of each pair that has a grade from one."""
    unjudgeable: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that cannot be judged: their assessors do not agree, and no adjudicator who was asked could judge them.
    They are closed without a final grade."""
    passed_on: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that an adjudicator could not judge and that wait for another one."""
    reopened: dict[Pair, int]
    """Number of times that a pair was returned to an assessor after an adjudicator had answered, for the pairs that
    were."""
    decisions: tuple[Decision, ...]
    """Decisions by pair."""
    open: tuple[Pair, ...]
    """Pairs in dispute that are not settled yet."""
    waiting: tuple[Pair, ...]
    """Pairs that all of their assessors have answered, and one is asked again: that answer is not there yet."""
    incomplete: tuple[Pair, ...]
    """The other pairs that wait for a judgement."""
    short: tuple[Pair, ...]
    """Incomplete pairs that no present assessor will complete: an assessor left, and the pair went to no other."""
    progress: PlannedJudgements
    """Judgements that were planned, given, and are still to be given."""
    accepted: dict[Pair, str]
    """Pairs that count although they have fewer judgements than planned, with the lead's reason."""
    per_pair: int | None
    """Judgements that each pair is to have; None if the judgements were imported."""
    flagged: tuple[Judgement, ...] = ()
    """Judgements that do not count, whether another one is chosen or not."""
    set_aside: tuple[Judgement, ...] = ()
    """Answers on another version of a text than the pair is judged on. They settle nothing, and in `judgements` an
    answer that was asked for again takes the place of the first."""
    withdrawn: frozenset[str] = frozenset()
    """Documents that were withdrawn from the corpus: their pairs wait for nothing, and are in no qrels of the newest
    version."""

    @property
    def everything(self) -> tuple[Judgement, ...]:
        """All answers that are chosen, by pair, assessor and occasion."""
        if not (self.repeats or self.again or self.set_aside):
            return self.judgements
        return tuple(sorted((*self.judgements, *self.repeats, *self.again, *self.set_aside), key=_key))

    @property
    def repeated_answers(self) -> set[Judgement]:
        """The answers to pairs that were put before their assessor again."""
        return {*self.again, *(judgement for judgement in self.judgements if judgement.occasion > 1)}

    @property
    def answered(self) -> set[tuple[str, PairKey]]:
        """Assessor and question of every answer that counts, planned or not."""
        return _answered_keys(self.everything)

    @property
    def rulings(self) -> tuple[Adjudication, ...]:
        """Rulings of adjudicators, with a grade or not, on the pairs that wait for no new answer."""
        ended = (ruling for several in (*self.unjudgeable.values(), *self.passed_on.values()) for ruling in several)
        return (*self.adjudications.values(), *ended)

    @property
    def people(self) -> set[str]:
        """Everyone who has an answer on record."""
        return {judgement.assessor for judgement in self.everything} | {
            judgement.adjudicator for judgement in self.adjudications.values()
        }

    @property
    def qrels(self) -> tuple[Qrel, ...]:
        """The final grades, by pair; a pair without one is not among them."""
        return tuple(Qrel(decision.query_id, decision.doc_id, decision.grade) for decision in self.to_show)

    @property
    def to_show(self) -> tuple[Decision, ...]:
        """Decisions on documents that people may still be shown: those that were not withdrawn."""
        return tuple(decision for decision in self.decisions if decision.doc_id not in self.withdrawn)

    @property
    def of_answered_pairs(self) -> tuple[Judgement, ...]:
        """Judgements of the pairs from which none is missing."""
        incomplete = set(self.incomplete)
        return tuple(judgement for judgement in self.judgements if judgement.pair not in incomplete)


def outcome_of(
    session: Session,
    settings: Settings,
    *,
    texts: Mapping[Pair, JudgedTexts] | None = None,
    has: Callable[[Pair], bool] | None = None,
) -> Outcome:
    """State of every planned pair in the store. texts: as `texts_of` has them, if read before. has: true for the
    pairs of one version of the corpus; None takes all, and withdrawn documents wait for nothing.

    A command that reads the study more than once, such as for its next step, gets the same one until something on which
    it depends has changed.
    """
    plan, returned, accepted = read_plan(session), read_returned(session), read_accepted(session)
    texts = texts_of(session) if texts is None else texts
    if not (texts or has) and (last := last_outcome(session, settings)):
        return last
    if has and plan:
        plan = plan._replace(vacant=tuple(filter(has, plan.vacant)))
    outcome = outcome_from(
        tuple(_of_pairs(read_assignments(session), has)),
        _of_pairs(JUDGEMENTS.records(session), has),
        _of_pairs(ADJUDICATIONS.current(session), has),
        _of_pairs(returned, has),
        asked=settings.adjudication.asked,
        drawn=plan,
        accepted=accepted,
        texts=texts.values(),
        withdrawn=frozenset() if has else withdrawn_ids(session),
    )
    if not (texts or has):
        _LAST[session.connection().engine.pool] = (_state(session, settings), outcome)
    return outcome


def _of_pairs(rows: Iterable[Any], has: Callable[[Pair], bool] | None) -> Iterable[Any]:
    """The rows about these pairs. rows: records with a pair, or sourced ones."""
    return rows if has is None else (row for row in rows if has(getattr(row, "record", row).pair))


def _state(session: Session, settings: Settings) -> tuple[Any, ...]:
    """Summary of everything on which the outcome depends."""
    written = chain_ends(session), count_by_assessor(session).total()
    notes = read_plan(session), read_returned(session), read_accepted(session), withdrawn_ids(session)
    return *written, *notes, settings.adjudication.asked


def last_outcome(session: Session, settings: Settings) -> Outcome | None:
    """The last outcome of the open store, if nothing has changed since."""
    last = _LAST.get(session.connection().engine.pool)
    return last[1] if last and last[0] == _state(session, settings) else None


_LAST: WeakKeyDictionary[sa.Pool, tuple[Any, Outcome]] = WeakKeyDictionary()
"""Last outcome of each open store, and the state of the store that it is of. A store that is opened again is read
again: someone may have changed a row by hand, which no state tells."""


def texts_of(session: Session) -> dict[Pair, JudgedTexts]:
    """Answered pairs with a corrected text (`annot.study.judged_texts`)."""
    if not count_corrected_texts(session):
        return {}
    # Only here: most studies have none.
    from annot.study.judged_texts import judged_texts

    return judged_texts(session)


def answered_of(session: Session) -> set[tuple[str, PairKey]]:
    """Assessor and question of every answer that counts, planned or not."""
    return _answered_keys(JUDGEMENTS.records(session))


def _answered_keys(judgements: Iterable[Judgement]) -> set[tuple[str, PairKey]]:
    return {(judgement.assessor, judgement.pair_key) for judgement in judgements if judgement.counts}


def outcome_from(
    plan: tuple[Assignment, ...],
    judgements: Iterable[Judgement],
    settled: Iterable[SourcedAdjudication],
    returned: Iterable[PairReturn],
    *,
    asked: int,
    drawn: Plan | None = None,
    accepted: Mapping[Pair, str] = MappingProxyType({}),
    texts: Iterable[JudgedTexts] = (),
    withdrawn: frozenset[str] = frozenset(),
) -> Outcome:
    """The state of every planned pair.

    drawn: facts about the plan besides its assignments. accepted: the pairs that may have fewer judgements than it
    wants, and the reasons. texts: the pairs with a corrected text. withdrawn: documents that the corpus no longer has,
    whose pairs wait for nothing. asked: see `annot.study.outcome.rulings_of`. A
    grade from an adjudicator counts once it is given, even if an assessor changed a grade afterwards and the two now
    agree. If the lead returned the pair to an assessor after that, the adjudicator's grade no longer counts: the new
    answers are agreed or in dispute. An adjudicator who could not judge settles nothing if the assessors agree. If a
    pair was returned to an assessor, the new answer counts for the final grade; until then the pair waits.
    """
    per_pair, vacant = (drawn.per_pair, drawn.vacant) if drawn else (None, ())
    # In the order of pairs, which everything below takes them in: sorting what is in order costs little.
    planned = assessors_by_pair(plan, vacant)
    every_return = tuple(returned)
    sent_back = {(entry.pair_key, entry.assessor) for entry in every_return}
    back = tuple(entry for entry in every_return if entry.withdrawn_at is None)
    corrected = list(texts)
    answers = tuple(judgements)
    latest, set_aside, first = on_required_texts(current_judgements(answers), corrected, back)
    again = _answers_given_again(latest, first, sent_back)
    current = _current(first, (*first, *again), back)
    contested = {entry.pair for entry in every_return if entry.contested}
    progress = planned_judgements(plan, planned, back, latest, per_pair=per_pair, accepted=accepted)
    agreed, disputed = settle(planned, current, unfinished=progress.unfinished, contested=contested)
    ruled, reopened = _adjudications_since_return(settled, planned, back, corrected)
    rulings = rulings_of(ruled, asked=asked, agreed={decision.pair for decision in agreed} if ruled else ())
    ended = {*rulings.graded, *rulings.unjudgeable, *(pair for pair in planned if pair[1] in withdrawn)}
    progress = progress.closed(ended).without(withdrawn)
    return Outcome(
        assignments=plan,
        planned=planned,
        judgements=first,
        repeats=tuple(
            answer for answer in latest if answer.occasion > 1 and (answer.pair_key, answer.assessor) not in sent_back
        ),
        flagged=tuple(filter(attrgetter("flags"), answers)),
        set_aside=set_aside,
        returned=back,
        again=again,
        current=current,
        agreed=agreed,
        disputed=disputed,
        adjudications=rulings.graded,
        unjudgeable=rulings.unjudgeable,
        passed_on=rulings.passed_on,
        reopened=reopened,
        decisions=_decisions(agreed, rulings.graded),
        open=tuple(dispute[0].pair for dispute in disputed if dispute[0].pair not in ended),
        waiting=tuple(sorted(progress.waiting)),
        incomplete=tuple(sorted(progress.unfinished - progress.waiting)),
        short=tuple(sorted(progress.short)),
        progress=progress,
        accepted={
            pair: why for pair, why in accepted.items() if pair in planned and len(planned[pair]) < (per_pair or 0)
        },
        per_pair=per_pair,
        withdrawn=withdrawn,
    )


def _answers_given_again(
    latest: Iterable[Judgement], first: Collection[Judgement], sent_back: Collection[tuple[PairKey, str]]
) -> tuple[Judgement, ...]:
    """The answers to pairs that were put before their assessor again. sent_back: these pairs and assessors."""
    answers = [answer for answer in latest if (answer.pair_key, answer.assessor) in sent_back] if sent_back else []
    return tuple(answer for answer in answers if answer not in first)


def on_required_texts(
    latest: Iterable[Judgement], corrected: Iterable[JudgedTexts], returned: Iterable[PairReturn]
) -> tuple[tuple[Judgement, ...], tuple[Judgement, ...], tuple[Judgement, ...]]:
    """The answers on the version that their pair is judged on, the others, and the first of each pair and assessor.

    latest: one answer for each person and question. returned: those that were not taken back. If the first answer is on
    another version, the first one that was given again replaces it.
    """
    other_keys = {key for texts in corrected for key in texts.set_aside}
    on_required = tuple(latest)
    set_aside: tuple[Judgement, ...] = ()
    if other_keys:
        set_aside = tuple(answer for answer in on_required if (answer.assessor, answer.pair_key) in other_keys)
        on_required = tuple(answer for answer in on_required if (answer.assessor, answer.pair_key) not in other_keys)
    if not set_aside:
        return on_required, (), tuple([answer for answer in on_required if answer.occasion == 1])
    without_first = {(answer.pair, answer.assessor) for answer in set_aside if answer.occasion == 1}
    sent_back = {(entry.pair_key, entry.assessor) for entry in returned}
    first_answers: dict[tuple[Pair, str], Judgement] = {}
    for answer in on_required:
        key = (answer.pair, answer.assessor)
        if answer.occasion == 1 or (
            key in without_first and answer.counts and (answer.pair_key, answer.assessor) in sent_back
        ):
            first_answers.setdefault(key, answer)
    return on_required, set_aside, tuple(first_answers.values())


def _decisions(agreed: Iterable[Decision], adjudications: Mapping[Pair, Adjudication]) -> tuple[Decision, ...]:
    """Final grades by pair; the grade of an adjudicator replaces an agreed one."""
    if not adjudications:
        return tuple(agreed)
    decisions = {decision.pair: decision for decision in agreed}
    for pair, ruling in adjudications.items():
        assert ruling.grade is not None
        decisions[pair] = Decision(*pair, ruling.grade, "adjudicated", ruling.adjudicator, ruling.reason)
    return tuple(decisions[pair] for pair in sorted(decisions))


def _adjudications_since_return(
    settled: Iterable[SourcedAdjudication],
    planned: Collection[Pair],
    returned: Iterable[PairReturn],
    corrected: Iterable[JudgedTexts],
) -> tuple[list[Adjudication], dict[Pair, int]]:
    """Adjudications of planned pairs given since their pair was last returned, and the number of times each pair was
    returned after one.

    A decision on another version of a corrected text counts as if the pair had been returned.
    """
    set_aside = {(texts.pair, name) for texts in corrected for name in texts.rulings_aside}
    times = grouped((entry.pair, datetime.fromisoformat(entry.returned_at)) for entry in returned)
    ruled: list[Adjudication] = []
    ended_by: dict[Pair, set[datetime]] = {}
    for ruling in settled:
        if ruling.record.pair not in planned:
            continue
        moment = ruling.changed_at or ruling.record.judged_at
        ruled_at = None if moment is None else datetime.fromisoformat(moment)
        later = [time for time in times.get(ruling.record.pair, ()) if ruled_at is not None and time > ruled_at]
        aside = (ruling.record.pair, ruling.record.adjudicator) in set_aside
        if (later or (aside and ruled_at is not None)) and ruling.record.counts:
            ended_by.setdefault(ruling.record.pair, set()).add(min(later, default=ruled_at or datetime.min))
        elif not later and not aside:
            ruled.append(ruling.record)
    return ruled, {pair: len(moments) for pair, moments in ended_by.items()}


def _current(
    first_answers: tuple[Judgement, ...], again: tuple[Judgement, ...], returned: tuple[PairReturn, ...]
) -> tuple[Judgement, ...]:
    """Answers that final grades are made of; of a pair that was asked for again, the last answer if there is one."""
    if not returned:
        return first_answers
    answers = {(judgement.pair_key, judgement.assessor): judgement for judgement in again if judgement.counts}
    # By occasion: what is asked last decides.
    last = {(*entry.pair, entry.assessor): answers.get((entry.pair_key, entry.assessor)) for entry in returned}
    current = {(*judgement.pair, judgement.assessor): judgement for judgement in first_answers} | last
    return tuple(judgement for judgement in current.values() if judgement is not None)


def assessors_by_pair(plan: Iterable[Assignment], vacant: Iterable[Pair] = ()) -> dict[Pair, tuple[str, ...]]:
    """Assessors of each planned pair, by pair; none of those in `vacant` that no one has. A repeat alone makes no
    assessor: the pair itself was handed on."""
    members = sorted([(row.query_id, row.doc_id, row.assessor) for row in plan if row.occasion == 1])
    teams: dict[Pair, tuple[str, ...]] = {}
    for query_id, doc_id, assessor in members:
        pair = query_id, doc_id
        teams[pair] = (*teams[pair], assessor) if pair in teams else (assessor,)
    return dict(sorted((dict.fromkeys(vacant, ()) | teams).items())) if vacant else teams


def current_judgements(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Latest answer that counts, of each assessor on each occasion; the latest of all if none counts."""
    answers = tuple(judgements)
    keys = list(map(_key, answers))
    if all(map(lt, keys, keys[1:])):
        return answers
    latest: dict[tuple[str, str, str, int], Judgement] = {}
    for key, judgement in zip(keys, answers, strict=True):
        other = latest.get(key)
        if other is None or not judgement.flags or other.flags:
            latest[key] = judgement
    return tuple([latest[key] for key in sorted(latest)])


_key: Callable[[Judgement | Assignment], tuple[str, str, str, int]] = attrgetter(
    "query_id", "doc_id", "assessor", "occasion"
)


SHOWN = 3


Change = tuple[Judgement, Judgement]
"""An assessor's answer as it was when the pair was adjudicated, and as it is now."""


def changed_after_adjudication(session: Session) -> list[Change]:
    """Every answer of the first occasion that changed after the decision that counts, by pair and assessor."""
    decided: dict[Pair, str] = {
        line.record.pair: _moment(line.current)
        for line in ADJUDICATIONS.lines(session)
        if line.counts and _moment(line.current)
    }
    if not decided:
        return []
    answers_by_pair = grouped(
        ((*answer.record.pair, answer.record.assessor), answer)
        for answer in JUDGEMENTS.answers(session)
        if answer.ruling != RESTORED and answer.record.occasion == 1 and answer.record.pair in decided
    )
    changes = []
    for (query_id, doc_id, _), answers in sorted(answers_by_pair.items()):
        decided_at = decided[query_id, doc_id]
        earlier = [answer.record for answer in answers if _moment(answer) <= decided_at]
        later = [answer.record for answer in answers if _moment(answer) > decided_at]
        if earlier and later and _grade_and_reason(earlier[-1]) != _grade_and_reason(later[-1]):
            changes.append((earlier[-1], later[-1]))
    return changes


def changes_in_words(changes: Sequence[Change]) -> str:
    """Sentence on the answers, with the first pairs; empty if there are none."""
    if not changes:
        return ""
    pairs = list(dict.fromkeys(judgement.pair for judgement, _ in changes))
    shown = ", ".join(" ".join(pair) for pair in pairs[:SHOWN]) + (", ..." if len(pairs) > SHOWN else "")
    several, whose = counted(len(changes), "answer"), verb(len(changes), "its pair was", "their pairs were")
    return f"{several} changed after {whose} adjudicated; the adjudicated grade is kept: {shown}"


def _grade_and_reason(record: Any) -> tuple[int | None, str | None]:
    return record.grade, record.cannot_judge


def _moment(answer: SourcedAnswer[Any]) -> str:
    """Time of the answer; older records have the time of a change only as it was recorded."""
    recorded = answer.record.judged_at if answer.record.revision == 1 else answer.recorded_at
    return answer.changed_at or recorded or ""


# ----------------------------------------------------------------------------------------------------------------------
# Answers that came faster than anyone can read: whose they are, and to which pairs. They count all the same.
# ----------------------------------------------------------------------------------------------------------------------


FLOOR_SECONDS = 1.0
"""Nobody reads two texts and presses two keys in less."""
SHARE, ENOUGH_TIMES = 0.05, 20
"""Share of the study's median time, once people have that many times each: long texts need more than a second."""
LOADING_SECONDS = 3.0
"""Seconds that a slow server needs from one pair to the next."""
TRIAL_ROUNDS: tuple[StoredRound, ...] = ("train", "substudy-abstract", "substudy-full")
"""The rounds whose grades do not count, by their names in the store."""


def answers_of(session: Session, outcome: Outcome) -> list[tuple[StoredRound, Judgement]]:
    """Every answer of assessors that counts, each with the round of the project that it is in: hidden gold is judged
    among the others."""
    answers: list[tuple[StoredRound, Judgement]] = [("judge", answer) for answer in outcome.everything]
    answers += [("judge", gold.record) for gold in trials.read_answers(session, "hidden-gold")]
    answers += [(round, answer.record) for round in TRIAL_ROUNDS for answer in trials.read_answers(session, round)]
    return [(round, answer) for round, answer in answers if answer.counts]


Rushed = tuple[float, Mapping[tuple[str, str], tuple[Pair, ...]]]
"""Seconds in which a pair cannot be read, and the pairs of each person and round that were answered faster."""
NONE_RUSHED: Rushed = (FLOOR_SECONDS, {})


def rushed_pairs(session: Session, outcome: Outcome) -> Rushed:
    """Everyone's answers and decisions that came too fast."""
    # An answer with neither a moment nor seconds is not too fast, and tells nothing of the one after it.
    timed = (
        (round, answer)
        for round, answer in answers_of(session, outcome)
        if answer.judged_at or answer.lead_time is not None
    )
    projects: dict[tuple[str, str], Sequence[Judgement | Adjudication]] = {
        **grouped(((answer.assessor, round), answer) for round, answer in timed),
        **grouped(((ruling.adjudicator, "adjudicate"), ruling) for ruling in outcome.rulings),
    }
    limit = reading_limit(answers for (_, round), answers in projects.items() if round == "judge")
    return limit, {project: too_fast(answers, limit) for project, answers in sorted(projects.items())}


def reading_limit(by_person: Iterable[Iterable[Judgement | Adjudication]]) -> float:
    """Seconds in which a pair cannot be read: one, or a twentieth of what a pair usually takes in this study.

    The usual time is a median over people of their medians. One hasty person cannot lower it.
    """
    times = (
        [answer.lead_time for answer in answers if answer.counts and answer.lead_time is not None]
        for answers in by_person
    )
    medians = [median_high(seconds) for seconds in times if len(seconds) >= ENOUGH_TIMES]
    return max(FLOOR_SECONDS, SHARE * median_high(medians)) if medians else FLOOR_SECONDS


def too_fast(answers: Iterable[Judgement | Adjudication], limit: float) -> tuple[Pair, ...]:
    """The pairs of one project that were answered within `limit` seconds of being shown, in their order.

    Whoever reloads the page, or comes back to an open pair, may have read it before: Label Studio counts the seconds
    from the last time it was shown. So there must also have been no time to read since the answer before.
    """
    answers = [answer for answer in answers if answer.counts and answer.judged_at]
    if all(answer.lead_time is None or answer.lead_time >= limit for answer in answers):
        return ()
    dated = [(moment, answer) for answer in answers if (moment := moment_of(answer.judged_at))]
    fast = (
        answer.pair
        for (earlier, _), (moment, answer) in pairwise(sorted(dated, key=itemgetter(0)))
        if (answer.lead_time if answer.lead_time is not None else limit) < limit
        and (moment - earlier).total_seconds() < limit + LOADING_SECONDS
    )
    return tuple(dict.fromkeys(fast))
