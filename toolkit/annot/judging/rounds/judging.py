"""Rounds of judging and of adjudication, and queries taken back before anybody answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.base.names import counted, moment_now
from annot.base.records import Adjudication, PairKey, PairReturn, Source
from annot.judging.exchange.collecting import (
    CollectedProject,
    RecordedProject,
    record_counting,
    sourced,
    sourced_judgement,
)
from annot.judging.exchange.displayed_content import (
    open_elsewhere,
    send_back,
    waiting_in_words,
    waiting_pairs,
    withdraw_earlier_texts,
    without_pairs,
)
from annot.judging.exchange.outgoing import (
    OutgoingProject,
    check_outgoing,
    form_of,
    material_of,
    next_versions,
    tasks_of,
    with_sent_screens,
)
from annot.judging.exchange.round_parts import PARTS
from annot.judging.exchange.rounds import PreparedPush, PullOutcome, Round, RoundOptions
from annot.judging.exchange.sending import GRADE_CHANGED, TEXT_CORRECTED, SentProject
from annot.judging.exchange.servers import on_servers
from annot.judging.plan_on_record import record_plan, write_plan
from annot.judging.planning import give_back
from annot.judging.trial_answers import hidden_gold_of, hidden_on_record
from annot.judging.trial_draws import with_hidden
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import REASON_NEEDED, ReadAnnotation, StudioTask
from annot.labelstudio.tasks import adjudicate_task, pair_key, reasoned_task, returned_task
from annot.store import adjudications, people, pools, projects, trials
from annot.store.judgements import read_returned
from annot.store.projects import Project, read_hidden
from annot.store.shown import read_versions
from annot.study.judged_texts import Pair, set_aside_of, tasks_on_other_texts
from annot.study.outcome import (
    WIDE,
    Dispute,
    Outcome,
    answered_of,
    assessors_by_pair,
    assign_adjudicators,
    changed_after_adjudication,
    changes_in_words,
    outcome_of,
    queue,
    shown_assessors,
    shown_order,
    texts_of,
    unexplained_of,
)
from annot.study.outcome import Pair as PlannedPair
from annot.study.snapshot import export_judgements
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Judging: the planned pairs to their assessors, withdrawn where they were handed on, and the judgements back.
# ----------------------------------------------------------------------------------------------------------------------


PART = PARTS["judge"]
REPEATED = (1, 2)
"""The occasions on which a pair is asked."""


class WithdrawnTasks(NamedTuple):
    """One person's project after the withdrawal."""

    assessor: str
    tasks: int
    """Unanswered tasks that are gone."""
    answered: frozenset[PairKey]
    """What was answered after it had been handed on; it stays there."""
    address: str
    """The link to the project."""


class JudgingRound(Round):
    """The round that makes the collection: each pair to as many assessors as were planned."""

    name = "judging"
    parts = (PART,)
    answer = "annotation"
    wishes = frozenset({"changed", "new_screen", "accept_deletions"})
    hint = "send the tasks with `annot push`"
    makes_collection = True
    noted_as = "push"

    def prepare(self, ws: Workspace, wishes: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """What is planned, for all who have not left; what was handed on is withdrawn first."""
        if not dry_run:
            with ws.writing() as session:
                send_back(session, now=moment_now())
        outgoing = outgoing_of(ws)
        with ws.reading() as session:
            shown = partial(next_versions, ws, session, why=wishes.changed, new_screen=wishes.new_screen)
            outgoing, new, notes = shown(outgoing)
            notes += _not_passed(trials.read_trials(session), {one.assessor for one in outgoing})
            notes += waiting_in_words(session)
            sent_before = {one.assessor for one in projects.read_projects(session, round="judge")}
        if dry_run:
            return PreparedPush(outgoing, notes, new_versions=new)
        # Before anything is withdrawn, too.
        check_outgoing(ws, outgoing)
        withdrawn: list[WithdrawnTasks] = []
        answered_late: set[Pair] = set()

        def withdraw(gateway: Gateway, _names: Sequence[str]) -> None:
            done, told = withdraw_handed_on(ws, gateway)
            withdrawn.extend(done)
            notes.extend(told)
            answered_late.update(withdraw_earlier_texts(ws, gateway, outgoing))

        everyone = sorted({*sent_before, *(one.assessor for one in outgoing)})
        unreachable = on_servers(ws, everyone, withdraw)
        late = {person.assessor: person.answered for person in withdrawn if person.answered}
        if late:
            notes += _given_back(ws, late)
            with ws.reading() as session:
                outgoing = with_sent_screens(ws, outgoing_of(ws), read_versions(session), new=wishes.new_screen)
        away = {one.assessor for one in unreachable}
        held = answered_late | open_elsewhere(ws, away)
        if held:
            notes.append(_held(held))
            outgoing = [without_pairs(one, held) for one in outgoing]
        return PreparedPush(
            [one for one in outgoing if one.assessor not in away],
            notes,
            unreachable,
            checked=not late,
            new_versions=new,
            before=tuple(
                SentProject(one.assessor, 0, 0, 0, one.tasks, 0, one.address, part=PART.title) for one in withdrawn
            ),
        )

    def record(self, ws: Workspace, collected: CollectedProject, wishes: RoundOptions) -> RecordedProject:
        """Every annotation a judgement; answers to hidden gold are kept where they do not count."""
        name = collected.project.assessor
        with ws.writing() as session:
            returned = [one for one in read_returned(session) if one.assessor == name and one.withdrawn_at is None]
            assigned = len(people.read_assignments(session, name)) + len(returned)
            collected = _without_hidden_gold(session, collected)
        sourced = partial(sourced_judgement, source=Source.LABEL_STUDIO)
        return record_counting(
            *(ws, collected, sourced), answer=self.answer, assigned=assigned, accept_deletions=wishes.accept_deletions
        )

    def after_pull(self, ws: Workspace) -> PullOutcome:
        """Write `exports/judgements.jsonl`, and note down how people did on hidden gold."""
        with ws.writing() as session:
            outcome = outcome_of(session, ws.settings)
            for probed in hidden_gold_of(ws, session):
                trials.put_trial(session, f"hidden-gold/{probed.assessor}", hidden_on_record(probed))
            changed = changes_in_words(changed_after_adjudication(session))
            returned = send_back(session, now=moment_now())
            outcome = outcome_of(session, ws.settings) if returned else outcome
            notes = [*([changed] if changed else []), *_returned_in_words(returned), *waiting_in_words(session)]
        export_judgements(ws, outcome)
        return PullOutcome(notes, outcome.progress.left_by_assessor.total())


def outgoing_of(ws: Workspace) -> list[OutgoingProject]:
    """What every assessor of the plan is to find in their project; those who left get nothing any more.

    Raises MissingInput when nothing is planned.
    """
    with ws.reading() as session:
        left = people.who_left(session)
        planned = people.read_assignments(session)
        sent = projects.was_sent(session)
        returned = [back for back in read_returned(session) if back.withdrawn_at is None and back.assessor not in left]
        hidden = {name: pairs for name, pairs in read_hidden(session).items() if name not in left}
        waiting = waiting_pairs(session)
        probed = [one.record for one in trials.read_answers(session, "hidden-gold") if one.record.counts]
        answered = answered_of(session) | {(one.assessor, one.asked) for one in probed}
    plan = [one for one in planned if one.assessor not in left]
    if not planned and not sent:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    pairs = {assignment.pair for assignment in plan}.union(*hidden.values())
    material = material_of(ws, pairs)
    form = form_of(ws, PART, material)
    found: list[OutgoingProject] = []
    for assessor in sorted({assignment.assessor for assignment in plan}):
        mine = sorted(
            (assignment for assignment in plan if assignment.assessor == assessor), key=lambda one: one.position
        )
        own = [one.asked for one in mine]
        met = {asked for name, asked in answered if name == assessor}
        sequence = with_hidden(own, hidden.get(assessor, ()), met, assessor=assessor, seed=ws.settings.seed)
        # Behind the plan, and counted apart: the places in the plan stay as they were sent.
        back = {one.asked: one.why for one in returned if one.assessor == assessor}
        tasks = tasks_of(ws, material, sequence, more=bool(back))
        tasks |= {asked: returned_task(task, back[asked]) for asked, task in tasks_of(ws, material, list(back)).items()}
        # What waits for a decision is sent to nobody; an answered task stays where it is.
        kept = {
            asked: task for asked, task in tasks.items() if asked.pair not in waiting or (assessor, asked) in answered
        }
        found.append(OutgoingProject(form, assessor, kept))
    return found


def _without_hidden_gold(session: Session, collected: CollectedProject) -> CollectedProject:
    """The judging project without the answers to hidden gold, which are recorded where they do not count."""
    hidden = set(read_hidden(session).get(collected.project.assessor, ()))
    answers = [found for found in collected.found if found.asked.pair in hidden]
    sourced = [sourced_judgement(found, collected.project, source="hidden-gold") for found in answers]
    trials.record_answers(session, sourced, recorded_at=moment_now())
    return collected._replace(found=tuple(found for found in collected.found if found.asked.pair not in hidden))


def _returned_in_words(returned: Collection[PairReturn]) -> tuple[str, ...]:
    if not returned:
        return ()
    answers = counted(len(returned), "answer")
    return (f"{answers} came in on a text before its correction; `annot push` asks for them again",)


def _held(pairs: Collection[Pair]) -> str:
    several = counted(len(pairs), "pair")
    return (
        f"not sent: {several} that may have an answer on the text before its correction; fetch it with `annot pull`, "
        "then run `annot push` again"
    )


def _given_back(ws: Workspace, late: Mapping[str, Collection[PairKey]]) -> tuple[str, ...]:
    """Let people keep what they answered after it had been handed on, where nobody else has begun with it; notes."""
    notes = []
    with ws.writing() as session:
        plan, drawn = people.read_assignments(session), people.read_plan(session)
        per_pair = (drawn and drawn.per_pair) or ws.settings.judging.per_pair
        bound = answered_of(session)
        bound |= {(name, asked) for name, own in projects.read_sent(session).items() for asked in own}
        changed = plan
        for name, answered in sorted(late.items()):
            changed, returned = give_back(changed, assessor=name, answered=answered, per_pair=per_pair, bound=bound)
            if returned:
                notes.append(f"{name}: keeps {counted(len(returned), 'pair')} answered in the meantime")
            if others := len(answered) - len(returned):
                notes.append(
                    f"{name}: {counted(others, 'task')} answered after others had begun; the others' answers count"
                )
        if changed != plan:
            record_plan(ws, session, changed)
    if changed != plan:
        write_plan(ws, changed)
    return tuple(notes)


def _not_passed(trials_on_record: Mapping[str, Mapping[str, Any]], assessors: Set[str]) -> tuple[str, ...]:
    """Who is sent pairs to judge although their training is on record without a pass: the lead decides."""
    return tuple(
        f"{name}: {facts['verdict']} in the training; see `annot train report`"
        for name in sorted(assessors)
        if (facts := trials_on_record.get(f"train/{name}")) is not None and facts["verdict"] != "passed"
    )


def withdraw_handed_on(ws: Workspace, gateway: Gateway) -> tuple[tuple[WithdrawnTasks, ...], tuple[str, ...]]:
    """Delete, in every judging project on this server, the unanswered tasks that are not in its owner's plan any more.

    Returns what was done where there was something to do, and notes: a project of somebody who left that cannot be read
    any more stands in nobody's way.
    """
    server = gateway.identity()
    with ws.reading() as session:
        every = projects.read_projects(session, round="judge")
        here = [project for project in every if project.server == server and project.remote_id is not None]
        plan = people.read_assignments(session)
        back = [returned for returned in read_returned(session) if returned.withdrawn_at is None]
        left = people.who_left(session)
        recorded = {project.project: projects.read_tasks(session, project.project) for project in here}
        hidden = read_hidden(session)
        waiting, given, aside = waiting_pairs(session), answered_of(session), set_aside_of(session)
        pooled = pools.documents_by_query(session)
    # A push that was killed may have sent what it did not note down: whatever the pools hold can be ours.
    possible = {PairKey(query_id, doc_id, at) for query_id in pooled for doc_id in pooled[query_id] for at in REPEATED}
    withdrawn, notes = [], []
    for project in here:
        own = {planned.asked for planned in plan if planned.assessor == project.assessor}
        own |= {returned.asked for returned in back if returned.assessor == project.assessor}
        gold = {PairKey(*pair) for pair in hidden.get(project.assessor, ())}
        own |= gold if project.assessor not in left else set()
        own -= {asked for asked in own if asked.pair in waiting and (project.assessor, asked) not in given}
        tasks = recorded[project.project]
        if not (tasks.keys() - own) and project.assessor not in left:
            continue
        try:
            done = _withdraw(ws, gateway, project, own, {*possible, *tasks})
            # Hidden gold is nobody's pair: an answer to it stays where it is, and gives nothing back. Nor does one to a
            # pair that waits for a decision, or to a text before its correction.
            settled = {asked for asked in done.answered if asked.pair in waiting or (project.assessor, asked) in aside}
            late = done.answered - gold - settled
            withdrawn.append(done._replace(answered=late))
        except StudioError as error:
            if project.assessor not in left:
                raise
            notes.append(f"{project.assessor}: the unanswered tasks could not be withdrawn: {error.message}")
    return tuple(withdrawn), tuple(notes)


def unpulled(
    gateway: Gateway, project: Project, tasks: dict[PairKey, int], recorded: Collection[PairKey]
) -> list[PairKey]:
    """What the person has answered on the server, while nothing of it is recorded."""
    assert project.remote_id is not None
    asked_by_key = {pair_key(*asked): asked for asked in tasks}
    answered = [
        asked_by_key[task.key]
        for task in gateway.tasks_of(project.remote_id)
        if task.annotations and task.key is not None and task.key in asked_by_key
    ]
    return [asked for asked in answered if asked not in recorded]


def _withdraw(
    ws: Workspace, gateway: Gateway, project: Project, own: set[PairKey], possible: set[PairKey]
) -> WithdrawnTasks:
    assert project.remote_id is not None
    handed_on = {pair_key(*asked): asked for asked in possible if asked not in own}
    stale = [task for task in gateway.tasks_of(project.remote_id) if task.key in handed_on]
    gateway.delete_unanswered(project.remote_id, [task.task_id for task in stale if not task.annotations])
    there = gateway.tasks_of(project.remote_id) if stale else ()
    answered = {task.key for task in there if task.key in handed_on}
    with ws.writing() as session:
        # All that are not there, not only these: a kill may have come between deleting and forgetting.
        gone = [asked for key, asked in handed_on.items() if key not in answered]
        projects.forget_tasks(session, project.project, gone)
    kept = frozenset(asked for key, asked in handed_on.items() if key in answered)
    address = gateway.labelling_url(project.remote_id)
    return WithdrawnTasks(project.assessor, len(stale) - len(answered), kept, address)


# ----------------------------------------------------------------------------------------------------------------------
# Adjudication: the pairs in dispute to the adjudicators, and their decisions back.
# ----------------------------------------------------------------------------------------------------------------------


ADJUDICATION_PART = PARTS["adjudicate"]


class AdjudicationRound(Round):
    """Pairs in dispute, one adjudicator each; pairs that agree are settled without a person."""

    name = "adjudication"
    parts = (ADJUDICATION_PART,)
    person = "adjudicator"
    answer = "decision"
    wishes = frozenset({"changed", "new_screen", "accept_deletions"})
    hint = "send the disputes with `annot push adjudication`"
    makes_collection = True
    noted_as = "push adjudication"

    def prepare(self, ws: Workspace, wishes: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """Every pair in dispute, query by query."""
        with ws.reading() as session:
            outcome = outcome_of(session, ws.settings)
        if not outcome.judgements:
            raise MissingInput("no judgements", hint="fetch them with `annot pull`")
        with ws.reading() as session:
            told = waiting_in_words(session)
            shown = partial(next_versions, ws, session, why=wishes.changed, new_screen=wishes.new_screen)
            outgoing, new, notes = shown(adjudication_outgoing_of(ws))
        outgoing = [_asking_for_reasons(person_tasks) for person_tasks in outgoing]
        notes += [*_waiting(outcome, outgoing), *told]
        return PreparedPush(outgoing, notes, is_made=bool(outgoing), new_versions=new)

    def record(self, ws: Workspace, collected: CollectedProject, wishes: RoundOptions) -> RecordedProject:
        """Every annotation a decision."""
        with ws.reading() as session:
            planned = assessors_by_pair(people.read_assignments(session))
            assigned = len(projects.read_tasks(session, collected.project.project))
        sourced = partial(_sourced, ws, planned=planned)
        return record_counting(
            *(ws, collected, sourced), answer=self.answer, assigned=assigned, accept_deletions=wishes.accept_deletions
        )

    def after_pull(self, ws: Workspace) -> PullOutcome:
        """What the adjudicators left out, and how many disputes they have still to settle."""
        with ws.reading() as session:
            outcome = outcome_of(session, ws.settings)
            sent = {asked.pair for _, asked in projects.read_asked(session, round="adjudicate")}
        return PullOutcome(list(_unexplained(outcome)), len(sent.intersection(outcome.open)))


def adjudication_outgoing_of(ws: Workspace) -> list[OutgoingProject]:
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
    form = form_of(ws, ADJUDICATION_PART, material)
    found: list[OutgoingProject] = []
    for person in sorted({given[one.pair] for one in disputes} | sent_before):
        mine = [one for one in queue(disputes, material.queries) if given[one.pair] == person]
        # A pair that came back to an assessor after it was settled is another task: the first one keeps its answer.
        asked_of = {one.pair: PairKey(*one.pair, 1 + outcome.reopened.get(one.pair, 0)) for one in mine}
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
        found.append(OutgoingProject(form, person, tasks, opinions=opinions, ended=withdrawn))
    return found


def _asking_for_reasons(outgoing: OutgoingProject) -> OutgoingProject:
    """The same; grades far apart need a cause and a reason, unless the screen was sent before it could ask for them."""
    if f'name="{REASON_NEEDED}"' not in outgoing.form.label_config:
        return outgoing
    far = [asked for asked, said in outgoing.opinions.items() if Dispute(*asked.pair, tuple(said)).gap >= WIDE]
    return replace(outgoing, tasks={**outgoing.tasks, **{asked: reasoned_task(outgoing.tasks[asked]) for asked in far}})


def _why_ended(pair: PlannedPair, outcome: Outcome, settles: str | None, person: str) -> str:
    """Why a task is none of a person's any more. settles: who settles the pair now."""
    if pair in outcome.waiting or settles == person:
        return "the pair was returned to an assessor"
    if pair in outcome.incomplete:
        return "a judgement is missing again"
    if settles is not None:
        return f"{settles} has the pair now"
    return "another adjudicator is needed" if pair in outcome.passed_on else GRADE_CHANGED


def _waiting(outcome: Outcome, outgoing: Sequence[OutgoingProject]) -> Iterator[str]:
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
    ws: Workspace, reading: ReadAnnotation, project: Project, *, planned: Mapping[PlannedPair, tuple[str, ...]]
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


# ----------------------------------------------------------------------------------------------------------------------
# The tasks of a query that was sent by mistake, taken back from the servers while nobody has answered them.
# ----------------------------------------------------------------------------------------------------------------------


def take_back_tasks(ws: Workspace, query_id: str, *, dry_run: bool) -> int:
    """Delete the tasks of a query from every server and forget them; returns how many there were.

    The plan stays as it is, so that a push would send them again. Safe to repeat after a kill. Raises InputError if
    anybody has answered one, before any is deleted, and FindingError if a server cannot be reached. dry_run: only look.
    """
    with ws.reading() as session:
        every = [one for one in projects.read_projects(session, round="judge") if one.remote_id is not None]
        recorded = {one.project: projects.read_tasks(session, one.project) for one in every}
        documents = pools.documents_by_query(session).get(query_id, ())
        left = people.who_left(session)
    noted = {number: [asked for asked in tasks if asked.query_id == query_id] for number, tasks in recorded.items()}
    # A push that was killed may have sent what it did not note down.
    possible = {PairKey(query_id, doc_id, occasion) for doc_id in documents for occasion in REPEATED}
    keys = {pair_key(*asked) for asked in possible.union(*noted.values())}
    names = sorted({one.assessor for one in every if noted[one.project] or one.assessor not in left})
    if not names:
        return 0
    tasks_of: dict[int, list[StudioTask]] = {}

    def here(gateway: Gateway, names: Sequence[str]) -> list[Project]:
        server = gateway.identity()
        return [one for one in every if one.server == server and one.assessor in names]

    def tasks_on(gateway: Gateway, project: Project) -> list[StudioTask]:
        assert project.remote_id is not None
        if gateway.project(project.remote_id) is None:
            return []
        return [task for task in gateway.tasks_of(project.remote_id) if task.key in keys]

    def look(gateway: Gateway, names: Sequence[str]) -> None:
        tasks_of.update({one.project: tasks_on(gateway, one) for one in here(gateway, names)})

    def delete(gateway: Gateway, names: Sequence[str]) -> None:
        for project in here(gateway, names):
            assert project.remote_id is not None
            if tasks_of[project.project]:
                gateway.delete_unanswered(project.remote_id, [task.task_id for task in tasks_of[project.project]])
                tasks_of[project.project] = tasks_on(gateway, project)
            if not tasks_of[project.project]:
                with ws.writing() as session:
                    projects.forget_tasks(session, project.project, noted[project.project])

    _reach_all(ws, names, look, query_id)
    _refuse_answered(query_id, every, tasks_of)
    elsewhere = [one for one in every if noted[one.project] and one.project not in tasks_of]
    count = sum(map(len, tasks_of.values()))
    if not dry_run:
        _reach_all(ws, names, delete, query_id)
        _refuse_answered(query_id, every, tasks_of)
    if elsewhere:
        raise InputError(
            f"{query_id}: tasks of {', '.join(sorted(one.assessor for one in elsewhere))} are on {elsewhere[0].url}",
            hint=f"run the same command with --url {elsewhere[0].url}, too",
        )
    return count


def _reach_all(
    ws: Workspace, names: Sequence[str], work: Callable[[Gateway, Sequence[str]], None], query_id: str
) -> None:
    """Do the work on every server. Raises FindingError if one cannot be reached, that of a person who left included."""
    unreachable = on_servers(ws, names, work)
    if unreachable:
        raise FindingError(
            f"{query_id}: could not reach {counted(len(unreachable), 'server')}, so it is not removed",
            faults=[f"{one.assessor}: {one.why}" for one in unreachable],
            hint="run the same command again later",
        )


def _refuse_answered(query_id: str, every: Sequence[Project], tasks_of: dict[int, list[StudioTask]]) -> None:
    person = {one.project: one.assessor for one in every}
    answered = Counter(person[number] for number, tasks in tasks_of.items() for task in tasks if task.annotations)
    if answered:
        raise InputError(
            f"{query_id}: already answered on Label Studio, so it cannot be removed",
            faults=[
                f"{name}: {counted(count, 'task')} answered or skipped" for name, count in sorted(answered.items())
            ],
            hint="`annot pull` brings the answers; `annot push` sends tasks again that were taken back",
        )
