"""State of every planned pair: its answers, the judgements that it waits for, its final grade, and its changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
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
    """One judgement for each pair and assessor with any: the latest that counts, else the latest of all. They were
    given before the pair was discussed: agreement before adjudication is measured on them."""
    repeats: tuple[Judgement, ...]
    """The answers to hidden repeats, chosen the same way. They settle nothing."""
    returned: tuple[Returned, ...]
    """The pairs that were put before an assessor again, less those that were taken back."""
    again: tuple[Judgement, ...]
    """Answers to these pairs, and to those taken back, chosen the same way."""
    current: tuple[Judgement, ...]
    """Judgements that the final grades are made of, one for each pair and assessor: the answer given when the pair was
    returned, if there is one, else the first. None of an assessor who has a returned pair still to answer."""
    settlement: Settlement
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
        return {*self.again, *(judgement for judgement in self.judgements if judgement.occasion > 1)}

    @property
    def answered(self) -> set[tuple[str, Asked]]:
        """Assessor and question of every answer that counts, planned or not."""
        return _answered(self.everything)

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
        return tuple(Qrel(decision.query_id, decision.doc_id, decision.grade) for decision in self.decisions)

    @property
    def of_answered_pairs(self) -> tuple[Judgement, ...]:
        """Judgements of the pairs from which none is missing."""
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
    """Answered pairs with a corrected text (`annot.study.judged_texts`)."""
    if not count_corrected_texts(session):
        return {}
    # Only here: most studies have none.
    from annot.study.judged_texts import judged_texts

    return judged_texts(session)


def answered_of(session: Session) -> set[tuple[str, Asked]]:
    """Assessor and question of every answer that counts, planned or not."""
    return _answered(read_judgements(session))


def _answered(judgements: Iterable[Judgement]) -> set[tuple[str, Asked]]:
    return {(judgement.assessor, judgement.asked) for judgement in judgements if judgement.counts}


def outcome_from(
    plan: tuple[Assignment, ...],
    judgements: Iterable[Judgement],
    settled: Iterable[SourcedAdjudication],
    returned: Iterable[Returned],
    *,
    asked: int,
    drawn: Plan | None = None,
    accepted: Mapping[Pair, str] = MappingProxyType({}),
    texts: Iterable[JudgedTexts] = (),
) -> Outcome:
    """The state of every planned pair.

    drawn: facts about the plan besides its assignments. accepted: the pairs that may have fewer judgements than it
    wants, and the reasons. texts: the pairs with a corrected text. asked: see `annot.study.adjudication.rulings_of`. A
    grade from an adjudicator counts once it is given, even if an assessor changed a grade afterwards and the two now
    agree. If the lead returned the pair to an assessor after that, the adjudicator's grade no longer counts: the new
    answers are agreed or in dispute. An adjudicator who could not judge settles nothing if the assessors agree. If a
    pair was returned to an assessor, the new answer counts for the final grade; until then the pair waits.
    """
    per_pair, vacant = (drawn.per_pair, drawn.vacant) if drawn else (None, ())
    planned: dict[Pair, tuple[str, ...]] = dict.fromkeys(vacant, ()) | assessors_by_pair(plan)
    lacking = {pair for pair, names in planned.items() if len(names) < (per_pair or 0)}
    every_return = tuple(returned)
    sent_back = {(entry.asked, entry.assessor) for entry in every_return}
    back = tuple(entry for entry in every_return if entry.withdrawn_at is None)
    corrected = list(texts)
    latest, set_aside, first = _on_judged_texts(current_judgements(judgements), corrected, back)
    again = tuple(answer for answer in latest if (answer.asked, answer.assessor) in sent_back and answer not in first)
    current = _current(first, (*first, *again), back)
    contested = {entry.pair for entry in every_return if entry.contested}
    progress = planned_judgements(plan, planned, back, _answered(latest), per_pair=per_pair, accepted=accepted)
    settlement = settle(planned, current, unfinished=progress.unfinished, contested=contested)
    of_plan = [sourced for sourced in settled if sourced.record.pair in planned]
    ruled, reopened = _since_returned(of_plan, back, corrected)
    rulings = rulings_of(ruled, asked=asked)
    adjudications = rulings.graded
    agreed = {decision.pair for decision in settlement.agreed}
    unjudgeable = {pair: several for pair, several in rulings.unjudgeable.items() if pair not in agreed}
    ended = adjudications.keys() | unjudgeable.keys()
    progress = progress.closed(ended)
    return Outcome(
        planned=planned,
        judgements=first,
        repeats=tuple(
            answer for answer in latest if answer.occasion > 1 and (answer.asked, answer.assessor) not in sent_back
        ),
        set_aside=set_aside,
        returned=back,
        again=again,
        current=current,
        settlement=settlement,
        adjudications=adjudications,
        unjudgeable=unjudgeable,
        passed_on=rulings.passed_on,
        reopened=reopened,
        decisions=_decisions(settlement, adjudications),
        open=tuple(dispute.pair for dispute in settlement.disputed if dispute.pair not in ended),
        waiting=tuple(sorted(progress.waiting)),
        incomplete=tuple(sorted(progress.unfinished - progress.waiting)),
        short=tuple(sorted(progress.short)),
        progress=progress,
        accepted={pair: why for pair, why in accepted.items() if pair in lacking},
        per_pair=per_pair,
    )


def _on_judged_texts(
    latest: tuple[Judgement, ...], corrected: Collection[JudgedTexts], returned: Iterable[Returned]
) -> tuple[tuple[Judgement, ...], tuple[Judgement, ...], tuple[Judgement, ...]]:
    """The answers that count, those set aside, and the first ones (`annot.study.judged_texts.on_required_texts`)."""
    if not corrected:
        return latest, (), tuple(answer for answer in latest if answer.occasion == 1)
    from annot.study.judged_texts import on_required_texts

    return on_required_texts(latest, corrected, returned)


def _decisions(settlement: Settlement, adjudications: Mapping[Pair, Adjudication]) -> tuple[Decision, ...]:
    """Final grades by pair; the grade of an adjudicator replaces an agreed one."""
    decisions = {decision.pair: decision for decision in settlement.agreed}
    for pair, ruling in adjudications.items():
        assert ruling.grade is not None
        decisions[pair] = Decision(*pair, ruling.grade, "adjudicated", ruling.adjudicator, ruling.reason)
    return tuple(decisions[pair] for pair in sorted(decisions))


def _since_returned(
    settled: Iterable[SourcedAdjudication], returned: Iterable[Returned], corrected: Iterable[JudgedTexts]
) -> tuple[list[Adjudication], dict[Pair, int]]:
    """Adjudications given since their pair was last returned, and the number of times each pair was returned after one.

    A decision on another version of a corrected text counts as if the pair had been returned.
    """
    set_aside = {(texts.pair, name) for texts in corrected for name in texts.rulings_aside}
    times = grouped((entry.pair, datetime.fromisoformat(entry.returned_at)) for entry in returned)
    ruled: list[Adjudication] = []
    ended_by: dict[Pair, set[datetime]] = {}
    for ruling in settled:
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
    first_answers: tuple[Judgement, ...], again: tuple[Judgement, ...], returned: tuple[Returned, ...]
) -> tuple[Judgement, ...]:
    """Answers that final grades are made of; of a pair that was asked for again, the last answer if there is one."""
    answers = {(judgement.asked, judgement.assessor): judgement for judgement in again if judgement.counts}
    # By occasion: what is asked last decides.
    last = {(*entry.pair, entry.assessor): answers.get((entry.asked, entry.assessor)) for entry in returned}
    current = {(*judgement.pair, judgement.assessor): judgement for judgement in first_answers} | last
    return tuple(judgement for judgement in current.values() if judgement is not None)


def assessors_by_pair(plan: tuple[Assignment, ...]) -> dict[Pair, tuple[str, ...]]:
    """Assessors of each planned pair. A repeat alone makes no assessor: the pair itself was handed on."""
    assessors_of = grouped((assignment.pair, assignment.assessor) for assignment in plan if assignment.occasion == 1)
    return {pair: tuple(sorted(names)) for pair, names in assessors_of.items()}


def current_judgements(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Latest answer that counts, of each assessor on each occasion; the latest of all if none counts."""
    latest: dict[tuple[str, str, str, int], Judgement] = {}
    for judgement in judgements:
        if _key(judgement) not in latest or not judgement.flags or latest[_key(judgement)].flags:
            latest[_key(judgement)] = judgement
    return tuple(latest[key] for key in sorted(latest))


def _key(judgement: Judgement) -> tuple[str, str, str, int]:
    return judgement.query_id, judgement.doc_id, judgement.assessor, judgement.occasion


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
    answers_by_pair = grouped(
        ((*answer.record.pair, answer.record.assessor), answer)
        for answer in JUDGEMENTS.answers(session)
        if answer.ruling != RESTORED and answer.record.occasion == 1 and answer.record.pair in decided
    )
    changes = []
    for (query_id, doc_id, assessor), answers in sorted(answers_by_pair.items()):
        decided_at = decided[query_id, doc_id]
        earlier = [answer.record for answer in answers if _moment(answer) <= decided_at]
        later = [answer.record for answer in answers if _moment(answer) > decided_at]
        if earlier and later and _said(earlier[-1]) != _said(later[-1]):
            changes.append(ChangedAnswer(query_id, doc_id, assessor, earlier[-1].grade, later[-1].grade))
    return tuple(changes)


def changes_in_words(changes: tuple[ChangedAnswer, ...]) -> str:
    """The answers in one sentence, with the first pairs; empty if there are none."""
    if not changes:
        return ""
    pairs = list(dict.fromkeys((change.query_id, change.doc_id) for change in changes))
    shown = ", ".join(" ".join(pair) for pair in pairs[:SHOWN]) + (", ..." if len(pairs) > SHOWN else "")
    several = counted(len(changes), "answer")
    return f"{several} changed after their pair was adjudicated; the adjudicated grade is kept: {shown}"


def _said(record: Any) -> tuple[int | None, str | None]:
    return record.grade, record.cannot_judge


def _moment(answer: Sourced[Any]) -> str:
    """Time of the answer; older records have the time of a change only as it was recorded."""
    recorded = answer.record.judged_at if answer.record.revision == 1 else answer.recorded_at
    return answer.changed_at or recorded or ""
