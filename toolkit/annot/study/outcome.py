"""The state of every planned pair: what its assessors said, what it waits for, its final grade, and what changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from annot.base.names import counted
from annot.base.records import Adjudication, Asked, Assignment, Decision, Judgement, Qrel, Returned, grouped
from annot.base.settings import Settings
from annot.store.adjudications import ADJUDICATIONS, SourcedAdjudication, read_accepted, read_current
from annot.store.judgements import JUDGEMENTS, count_corrected_texts, read_judgements, read_returned
from annot.store.people import Plan, read_assignments, read_plan
from annot.store.revisions import RESTORED, Sourced
from annot.study.adjudication import Pair, PlannedJudgements, Settlement, planned_judgements, rulings_of, settle

if TYPE_CHECKING:
    from annot.study.judged_texts import JudgedTexts


@dataclass(frozen=True, slots=True)
class Outcome:
    """The pairs of the plan, all from one look at the store."""

    planned: dict[Pair, tuple[str, ...]]
    judgements: tuple[Judgement, ...]
    """One for each pair and assessor that has any: the latest that counts, else the latest of all. Given before anybody
    spoke of the pair: agreement before adjudication is measured on these."""
    repeats: tuple[Judgement, ...]
    """The answers to hidden repeats, chosen the same way. They settle nothing."""
    returned: tuple[Returned, ...]
    """The pairs that were put before an assessor again, less those that were taken back."""
    again: tuple[Judgement, ...]
    """The answers to these, and to what was taken back, chosen the same way."""
    current: tuple[Judgement, ...]
    """What the final grades are made of, one for each pair and assessor: the answer given when the pair was returned
    where there is one, else the first. None of an assessor who has a returned pair still to answer."""
    settlement: Settlement
    adjudications: dict[Pair, Adjudication]
    """The adjudication that counts, of each pair that has a grade from one."""
    unjudgeable: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that nobody can judge: their assessors do not agree, and no adjudicator who was asked could judge them.
    They have ended, without a final grade."""
    passed_on: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that an adjudicator could not judge and that wait for another one."""
    reopened: dict[Pair, int]
    """How often a pair was put before an assessor after an adjudicator had answered, of the pairs that were."""
    decisions: tuple[Decision, ...]
    """By pair."""
    open: tuple[Pair, ...]
    """Pairs in dispute that nobody has settled yet."""
    waiting: tuple[Pair, ...]
    """Pairs that all of their assessors have answered, and one is asked again: that answer is not there yet."""
    incomplete: tuple[Pair, ...]
    """The other pairs that wait for a judgement."""
    short: tuple[Pair, ...]
    """Those of them that no present assessor will complete: an assessor left, and the pair went to no other."""
    progress: PlannedJudgements
    """How many judgements were planned, given, and are still to be given."""
    accepted: dict[Pair, str]
    """Pairs that count although they have fewer judgements than planned, with the lead's reason."""
    per_pair: int | None
    """How many judgements each pair is to have; None if the judgements were imported."""
    set_aside: tuple[Judgement, ...] = ()
    """Answers on another version of a text than the pair is judged on. They settle nothing, and in `judgements` an
    answer that was asked for again takes the place of the first."""

    @property
    def everything(self) -> tuple[Judgement, ...]:
        """All answers that are chosen, by pair, assessor and occasion."""
        return tuple(sorted((*self.judgements, *self.repeats, *self.again, *self.set_aside), key=_key))

    @property
    def given_again(self) -> set[Judgement]:
        """The answers to pairs that were put before their assessor again."""
        return {*self.again, *(one for one in self.judgements if one.occasion > 1)}

    @property
    def answered(self) -> set[tuple[str, Asked]]:
        """(assessor, what was asked) of every answer that counts, planned or not."""
        return {(one.assessor, one.asked) for one in self.everything if one.counts}

    @property
    def rulings(self) -> tuple[Adjudication, ...]:
        """What adjudicators said, grade or not, of the pairs that wait for no new answer."""
        ended = (said for several in (*self.unjudgeable.values(), *self.passed_on.values()) for said in several)
        return (*self.adjudications.values(), *ended)

    @property
    def people(self) -> set[str]:
        """Everyone who has an answer on record."""
        return {one.assessor for one in self.everything} | {one.adjudicator for one in self.adjudications.values()}

    @property
    def qrels(self) -> tuple[Qrel, ...]:
        """The final grades, by pair; a pair without one is not among them."""
        return tuple(Qrel(decision.query_id, decision.doc_id, decision.grade) for decision in self.decisions)

    @property
    def of_answered_pairs(self) -> tuple[Judgement, ...]:
        """The judgements of the pairs that have as many as they are to have: none is missing."""
        incomplete = set(self.incomplete)
        return tuple(judgement for judgement in self.judgements if judgement.pair not in incomplete)


def outcome_of(session: Session, settings: Settings) -> Outcome:
    """The state of every planned pair in the store."""
    return outcome_from(
        read_assignments(session),
        read_judgements(session),
        read_current(session),
        read_returned(session),
        asked=settings.adjudication.asked,
        drawn=read_plan(session),
        accepted=read_accepted(session),
        texts=texts_of(session).values(),
    )


def texts_of(session: Session) -> dict[Pair, JudgedTexts]:
    """The answered pairs of which a text was corrected, as `annot.study.judged_texts` has them."""
    if not count_corrected_texts(session):
        return {}
    # Only here: most studies have none.
    from annot.study.judged_texts import judged_texts

    return judged_texts(session)


def answered_of(session: Session) -> set[tuple[str, Asked]]:
    """(assessor, what was asked) of every answer that counts, planned or not."""
    return {(one.assessor, one.asked) for one in read_judgements(session) if one.counts}


def outcome_from(
    plan: tuple[Assignment, ...],
    judgements: Iterable[Judgement],
    settled: Iterable[SourcedAdjudication],
    returned: Iterable[Returned],
    *,
    asked: int,
    drawn: Plan | None = None,
    accepted: Mapping[Pair, str] | None = None,
    texts: Iterable[JudgedTexts] = (),
) -> Outcome:
    """The state of every planned pair.

    drawn: what is known of the plan besides its assignments. accepted: the pairs that may have fewer judgements than
    it wants, and the reasons. texts: the pairs of which a text was corrected.
    asked: see `annot.study.adjudication.rulings_of`. A grade from an adjudicator stands once it is given, also where an
    assessor changed a grade afterwards and the two now agree. Where the lead put the pair before an assessor after
    that, the adjudicator's grade no longer stands: the new answers are agreed or in dispute. An adjudicator who could
    not judge settles nothing if the assessors agree. Of a pair that was returned to an assessor the answer then
    given counts for the final grade; until it is there the pair waits.
    """
    per_pair, vacant = (drawn.per_pair, drawn.vacant) if drawn else (None, ())
    planned: dict[Pair, tuple[str, ...]] = dict.fromkeys(vacant, ()) | assessors_by_pair(plan)
    every = tuple(returned)
    sent_back = {(one.asked, one.assessor) for one in every}
    back = tuple(one for one in every if one.withdrawn_at is None)
    corrected = list(texts)
    latest, set_aside = current_judgements(judgements), tuple[Judgement, ...]()
    first = tuple(one for one in latest if one.occasion == 1)
    if corrected:
        from annot.study.judged_texts import on_required_texts

        latest, set_aside, first = on_required_texts(latest, corrected, back)
    rulings_aside = {(pair.pair, name) for pair in corrected for name in pair.rulings_aside}
    again = tuple(one for one in latest if (one.asked, one.assessor) in sent_back and one not in first)
    current = _current(first, (*first, *again), back)
    contested = {one.pair for one in every if one.contested}
    answered = {(one.assessor, one.asked) for one in latest if one.counts}
    progress = planned_judgements(plan, planned, back, answered, per_pair=per_pair, accepted=accepted or ())
    settlement = settle(planned, current, unfinished=progress.unfinished, contested=contested)
    ruled, reopened = _since_returned([one for one in settled if one.record.pair in planned], back, rulings_aside)
    rulings = rulings_of(ruled, asked=asked)
    adjudications = rulings.graded
    decisions = {decision.pair: decision for decision in settlement.agreed}
    unjudgeable = {pair: said for pair, said in rulings.unjudgeable.items() if pair not in decisions}
    ended = adjudications.keys() | unjudgeable.keys()
    progress = progress.closed(ended)
    unfinished, pending = progress.unfinished, grouped((asked.pair, asked.occasion) for _, asked in progress.pending)
    waiting = {pair for pair, occasions in pending.items() if 1 not in occasions}
    for pair, one in adjudications.items():
        assert one.grade is not None
        decisions[pair] = Decision(*pair, one.grade, "adjudicated", one.adjudicator, one.reason)
    return Outcome(
        planned=planned,
        judgements=first,
        repeats=tuple(one for one in latest if one.occasion > 1 and (one.asked, one.assessor) not in sent_back),
        set_aside=set_aside,
        returned=back,
        again=again,
        current=current,
        settlement=settlement,
        adjudications=adjudications,
        unjudgeable=unjudgeable,
        passed_on=rulings.passed_on,
        reopened=reopened,
        decisions=tuple(decisions[pair] for pair in sorted(decisions)),
        open=tuple(dispute.pair for dispute in settlement.disputed if dispute.pair not in ended),
        waiting=tuple(sorted(waiting)),
        incomplete=tuple(sorted(unfinished - waiting)),
        short=tuple(sorted(unfinished - pending.keys())),
        progress=progress,
        accepted={
            pair: why
            for pair, why in (accepted or {}).items()
            if pair in planned and len(planned[pair]) < (per_pair or 0)
        },
        per_pair=per_pair,
    )


def _since_returned(
    settled: Iterable[SourcedAdjudication], returned: Iterable[Returned], set_aside: Collection[tuple[Pair, str]]
) -> tuple[list[Adjudication], dict[Pair, int]]:
    """The adjudications given since their pair was last returned, and how often each pair was returned after one.

    set_aside: the pairs and adjudicators whose decision is on another version of a text, as if the pair had gone back.
    """
    times = grouped((one.pair, datetime.fromisoformat(one.returned_at)) for one in returned)
    ruled: list[Adjudication] = []
    ended_by: dict[Pair, set[datetime]] = {}
    for ruling in settled:
        moment = ruling.changed_at or ruling.record.judged_at
        at = None if moment is None else datetime.fromisoformat(moment)
        later = [time for time in times.get(ruling.record.pair, ()) if at is not None and time > at]
        aside = (ruling.record.pair, ruling.record.adjudicator) in set_aside
        if (later or (aside and at is not None)) and ruling.record.counts:
            ended_by.setdefault(ruling.record.pair, set()).add(min(later, default=at or datetime.min))
        elif not later and not aside:
            ruled.append(ruling.record)
    return ruled, {pair: len(moments) for pair, moments in ended_by.items()}


def _current(
    first: tuple[Judgement, ...], again: tuple[Judgement, ...], returned: tuple[Returned, ...]
) -> tuple[Judgement, ...]:
    """The answers that final grades are made of; of a pair that was asked for again, the last answer if it is there."""
    answers = {(one.asked, one.assessor): one for one in again if one.counts}
    # By occasion: what is asked last decides.
    last = {(*one.pair, one.assessor): answers.get((one.asked, one.assessor)) for one in returned}
    current = {(*one.pair, one.assessor): one for one in first} | last
    return tuple(one for one in current.values() if one is not None)


def assessors_by_pair(plan: tuple[Assignment, ...]) -> dict[Pair, tuple[str, ...]]:
    """The assessors of each planned pair. A repeat alone makes nobody one: the pair itself was handed on."""
    found = grouped((assignment.pair, assignment.assessor) for assignment in plan if assignment.occasion == 1)
    return {pair: tuple(sorted(names)) for pair, names in found.items()}


def current_judgements(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Of several answers of one assessor on one occasion, the latest that counts; where none counts, the latest."""
    found: dict[tuple[str, str, str, int], Judgement] = {}
    for judgement in judgements:
        if _key(judgement) not in found or not judgement.flags or found[_key(judgement)].flags:
            found[_key(judgement)] = judgement
    return tuple(found[key] for key in sorted(found))


def _key(one: Judgement) -> tuple[str, str, str, int]:
    return one.query_id, one.doc_id, one.assessor, one.occasion


SHOWN = 3


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """An assessor's answer as it was when the pair was adjudicated, and as it is now; None is `cannot judge`."""

    query_id: str
    doc_id: str
    assessor: str
    before: int | None
    after: int | None


def changed_after_adjudication(session: Session) -> tuple[ChangedAnswer, ...]:
    """Every answer of the first occasion that changed after the decision that counts, by pair and assessor."""
    decided: dict[Pair, str] = {
        line.record.pair: _moment(line.current)
        for line in ADJUDICATIONS.lines(session)
        if line.counts and _moment(line.current)
    }
    given = grouped(
        ((*answer.record.pair, answer.record.assessor), answer)
        for answer in JUDGEMENTS.answers(session)
        if answer.ruling != RESTORED and answer.record.occasion == 1 and answer.record.pair in decided
    )
    found = []
    for (query_id, doc_id, assessor), answers in sorted(given.items()):
        at = decided[query_id, doc_id]
        before = [answer.record for answer in answers if _moment(answer) <= at]
        after = [answer.record for answer in answers if _moment(answer) > at]
        if before and after and _said(before[-1]) != _said(after[-1]):
            found.append(ChangedAnswer(query_id, doc_id, assessor, before[-1].grade, after[-1].grade))
    return tuple(found)


def changes_in_words(found: tuple[ChangedAnswer, ...]) -> str:
    """The answers in one sentence, with the first pairs; empty if there are none."""
    if not found:
        return ""
    pairs = list(dict.fromkeys((one.query_id, one.doc_id) for one in found))
    shown = ", ".join(" ".join(pair) for pair in pairs[:SHOWN]) + (", ..." if len(pairs) > SHOWN else "")
    several = counted(len(found), "answer")
    return f"{several} changed after their pair was adjudicated; the adjudicated grade is kept: {shown}"


def _said(record: Any) -> tuple[int | None, str | None]:
    return record.grade, record.cannot_judge


def _moment(answer: Sourced[Any]) -> str:
    """When it was said; older records know of a change only when it was recorded."""
    first = answer.record.judged_at if answer.record.revision == 1 else answer.recorded_at
    return answer.changed_at or first or ""
