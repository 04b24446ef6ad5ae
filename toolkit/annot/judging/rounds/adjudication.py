"""Adjudication: the pairs in dispute to the adjudicators, and their decisions back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from annot.base.errors import MissingInput
from annot.base.names import counted
from annot.base.records import Adjudication, Asked, Source
from annot.judging.exchange.collecting import Collected
from annot.judging.exchange.displays import next_versions
from annot.judging.exchange.outgoing import Outgoing, form_of, material_of, tasks_of
from annot.judging.exchange.recording import RecordedProject, record_counting, sourced
from annot.judging.exchange.rounds import PARTS, Afterwards, Prepared, Round, Wishes
from annot.judging.exchange.sending import GRADE_CHANGED, TEXT_CORRECTED
from annot.judging.text_decisions import waiting_in_words, waiting_pairs
from annot.labelstudio.annotations import Reading
from annot.labelstudio.controls import REASON_NEEDED
from annot.labelstudio.tasks import adjudicate_task, reasoned_task
from annot.store import adjudications, people, projects
from annot.store.projects import Project
from annot.study.adjudication import (
    WIDE,
    Dispute,
    Pair,
    assign_adjudicators,
    queue,
    shown_assessors,
    shown_order,
    unexplained_of,
)
from annot.study.judged_texts import tasks_on_other_texts
from annot.study.outcome import Outcome, assessors_by_pair, outcome_of, texts_of
from annot.study.workspace import Workspace

PART = PARTS["adjudicate"]


class AdjudicationRound(Round):
    """Pairs in dispute, one adjudicator each; pairs that agree are settled without a person."""

    name = "adjudication"
    parts = (PART,)
    person = "adjudicator"
    answer = "decision"
    wishes = frozenset({"changed", "new_screen", "accept_deletions"})
    hint = "send the disputes with `annot push adjudication`"
    makes_collection = True
    noted_as = "push adjudication"

    def prepare(self, ws: Workspace, wishes: Wishes, *, dry_run: bool) -> Prepared:
        """Every pair in dispute, query by query."""
        with ws.reading() as session:
            outcome = outcome_of(session, ws.settings)
        if not outcome.judgements:
            raise MissingInput("no judgements", hint="fetch them with `annot pull`")
        with ws.reading() as session:
            told = waiting_in_words(session)
            shown = partial(next_versions, ws, session, why=wishes.changed, new_screen=wishes.new_screen)
            outgoing, new, notes = shown(outgoing_of(ws))
        outgoing = [_asking_for_reasons(person_tasks) for person_tasks in outgoing]
        notes += [*_waiting(outcome, outgoing), *told]
        return Prepared(outgoing, notes, is_made=bool(outgoing), new_versions=new)

    def record(self, ws: Workspace, collected: Collected, wishes: Wishes) -> RecordedProject:
        """Every annotation a decision."""
        with ws.reading() as session:
            planned = assessors_by_pair(people.read_assignments(session))
            assigned = len(projects.read_tasks(session, collected.project.project))
        sourced = partial(_sourced, ws, planned=planned)
        return record_counting(self, ws, collected, wishes, sourced, assigned=assigned)

    def after_pull(self, ws: Workspace) -> Afterwards:
        """What the adjudicators left out, and how many disputes they have still to settle."""
        with ws.reading() as session:
            outcome = outcome_of(session, ws.settings)
            sent = {asked.pair for _, asked in projects.read_asked(session, round="adjudicate")}
        return Afterwards(list(_unexplained(outcome)), len(sent.intersection(outcome.open)))


def outgoing_of(ws: Workspace) -> list[Outgoing]:
    """What every adjudicator is to find in their project; empty when nothing is in dispute and nothing was sent.

    Whoever was sent something before is among them, with no task where all of theirs have ended: then the unanswered
    ones are withdrawn. A pair that one could not judge, and that nobody else may settle, is in none.
    """
    with ws.reading() as session:
        outcome = outcome_of(session, ws.settings)
        everyone = people.read_assessors(session)
        left = people.who_left(session)
        adjudicators = [person.assessor for person in everyone if person.adjudicator and person.assessor not in left]
        asked_before = projects.read_asked(session, round="adjudicate")
        waiting = waiting_pairs(session)
        on_other_texts = tasks_on_other_texts(session, "adjudicate", texts_of(session))
    sent = [(name, asked.pair) for name, asked in asked_before]
    sent_before = {person for person, _ in sent}
    # Who settled a pair keeps it; so does, of those who were sent it, the first.
    passed_on = {pair: {one.adjudicator for one in said} for pair, said in outcome.passed_on.items()}
    gone_on = {pair: {*left, *names} for pair, names in passed_on.items()}
    current = {pair: person for person, pair in reversed(sent) if person not in gone_on.get(pair, left)}
    current |= {pair: said[-1].adjudicator for pair, said in outcome.unjudgeable.items()}
    current |= {pair: one.adjudicator for pair, one in outcome.adjudications.items()}
    # A settled pair keeps its task: its answer is there.
    ended = outcome.adjudications.keys() | outcome.unjudgeable.keys()
    disputes = tuple(one for one in outcome.settlement.disputed if one.pair not in waiting or one.pair in ended)
    if not disputes and not sent_before:
        return []
    given = assign_adjudicators(
        disputes,
        adjudicators,
        may_assess=ws.settings.adjudication.adjudicator_may_assess,
        seed=ws.settings.seed,
        current=current,
        passed_on=passed_on,
    )
    disputes = tuple(one for one in disputes if one.pair in given)
    settles = {one.pair: given[one.pair] for one in disputes}
    hidden = ws.settings.adjudication.ratings == "hidden"
    material = material_of(ws, {one.pair for one in disputes})
    form = form_of(ws, PART, material)
    found: list[Outgoing] = []
    for person in sorted({given[one.pair] for one in disputes} | sent_before):
        mine = [one for one in queue(disputes, material.queries) if given[one.pair] == person]
        # A pair that came back to an assessor after it was settled is another task: the first one keeps its answer.
        asked_of = {one.pair: Asked(*one.pair, 1 + outcome.reopened.get(one.pair, 0)) for one in mine}
        tasks = tasks_of(ws, material, list(asked_of.values()))
        opinions = {} if hidden else {asked_of[one.pair]: shown_order(one, seed=ws.settings.seed) for one in mine}
        tasks |= {
            asked: adjudicate_task(tasks[asked], said, scale_names=ws.settings.scale.names)
            for asked, said in opinions.items()
        }
        withdrawn = {
            asked: TEXT_CORRECTED
            if asked.pair in waiting or asked in on_other_texts.get(person, ())
            else _why_ended(asked.pair, outcome, settles.get(asked.pair), person)
            for name, asked in asked_before
            if name == person and asked not in tasks
        }
        found.append(Outgoing(form, person, tasks, opinions=opinions, ended=withdrawn))
    return found


def _asking_for_reasons(outgoing: Outgoing) -> Outgoing:
    """The same; grades far apart need a cause and a reason, unless the screen was sent before it could ask for them."""
    if f'name="{REASON_NEEDED}"' not in outgoing.form.label_config:
        return outgoing
    far = [asked for asked, said in outgoing.opinions.items() if Dispute(*asked.pair, tuple(said)).gap >= WIDE]
    return replace(outgoing, tasks={**outgoing.tasks, **{asked: reasoned_task(outgoing.tasks[asked]) for asked in far}})


def _why_ended(pair: Pair, outcome: Outcome, settles: str | None, person: str) -> str:
    """Why a task is none of a person's any more. settles: who settles the pair now."""
    if pair in outcome.waiting or settles == person:
        return "the pair was returned to an assessor"
    if pair in outcome.incomplete:
        return "a judgement is missing again"
    if settles is not None:
        return f"{settles} has the pair now"
    return "another adjudicator is needed" if pair in outcome.passed_on else GRADE_CHANGED


def _waiting(outcome: Outcome, outgoing: Sequence[Outgoing]) -> Iterator[str]:
    """Which pairs wait, and for what."""
    if outcome.incomplete:
        yield f"not sent yet, with fewer judgements than planned: {counted(len(outcome.incomplete), 'pair')}"
    given = {asked.pair for one in outgoing for asked in one.tasks}
    if waiting := outcome.passed_on.keys() & set(outcome.open) - given:
        yield (
            f"waiting for another adjudicator, because one could not judge: {counted(len(waiting), 'pair')}; add one "
            "with `annot assessor add --adjudicator`, or set adjudication.cannot_judge"
        )
    if not outcome.settlement.disputed:
        yield "nothing is in dispute"


def _unexplained(outcome: Outcome) -> Iterator[str]:
    """A word for the lead where an adjudicator left out what the release publishes."""
    found = unexplained_of(outcome.adjudications, outcome.current)
    missing = [(found.without_reason, "no reason"), (found.without_cause, "no reason why the grades differ")]
    if told := " and ".join(f"{count} {what}" for count, what in missing if count):
        yield (
            f"{counted(found.pairs, 'pair')} overruled, or with grades {WIDE} or more apart: {told}; an adjudicator "
            "can go back and add it"
        )


def _sourced(
    ws: Workspace, reading: Reading, project: Project, *, planned: Mapping[Pair, tuple[str, ...]]
) -> adjudications.SourcedAdjudication:
    assessors = planned.get(reading.asked.pair, ())
    policy = ws.settings.adjudication.ratings
    shown = shown_assessors(reading.asked.pair, assessors, seed=ws.settings.seed) if policy == "shown" else ()
    decided = Adjudication(
        *reading.asked.pair,
        project.assessor,
        reading.grade,
        policy,
        shown,
        cannot_judge=reading.cannot_judge,
        reason=reading.settled_by,
        comment=reading.comment,
        judged_at=reading.created_at,
        lead_time=reading.lead_time,
        flags=reading.flags,
    )
    return sourced(decided, reading, project, source=Source.LABEL_STUDIO)
