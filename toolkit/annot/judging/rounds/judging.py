"""Judging: the planned pairs to their assessors, withdrawn where they were handed on, and the judgements back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import MissingInput, StudioError
from annot.base.names import counted, moment_now
from annot.base.records import Asked, Returned, Source
from annot.judging.exchange.collecting import Collected
from annot.judging.exchange.displays import next_versions, with_sent_screens
from annot.judging.exchange.outgoing import Outgoing, check_outgoing, form_of, material_of, tasks_of
from annot.judging.exchange.recording import RecordedProject, record_counting, sourced_judgement
from annot.judging.exchange.rounds import PARTS, Afterwards, Prepared, Round, Wishes
from annot.judging.exchange.sending import SentProject
from annot.judging.exchange.servers import on_servers
from annot.judging.exchange.text_changes import open_elsewhere, withdraw_earlier_texts, without_pairs
from annot.judging.plan_on_record import record_plan, write_plan
from annot.judging.planning.handing_on import give_back
from annot.judging.text_decisions import send_back, waiting_in_words, waiting_pairs
from annot.judging.trial_answers import hidden_gold_of, hidden_on_record
from annot.judging.trials.draws import with_hidden
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import pair_key, returned_task
from annot.store import people, pools, projects, trials
from annot.store.judgements import read_returned
from annot.store.projects import Project, read_hidden
from annot.store.shown import read_versions
from annot.study.exports import export_judgements
from annot.study.judged_texts import Pair, set_aside_of
from annot.study.outcome import answered_of, changed_after_adjudication, changes_in_words, outcome_of
from annot.study.workspace import Workspace

PART = PARTS["judge"]
REPEATED = (1, 2)
"""The occasions on which a pair is asked."""


class WithdrawnTasks(NamedTuple):
    """One person's project after the withdrawal."""

    assessor: str
    tasks: int
    """Unanswered tasks that are gone."""
    answered: frozenset[Asked]
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

    def prepare(self, ws: Workspace, wishes: Wishes, *, dry_run: bool) -> Prepared:
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
            return Prepared(outgoing, notes, new_versions=new)
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
        return Prepared(
            [one for one in outgoing if one.assessor not in away],
            notes,
            unreachable,
            checked=not late,
            new_versions=new,
            before=tuple(
                SentProject(one.assessor, 0, 0, 0, one.tasks, 0, one.address, part=PART.title) for one in withdrawn
            ),
        )

    def record(self, ws: Workspace, collected: Collected, wishes: Wishes) -> RecordedProject:
        """Every annotation a judgement; answers to hidden gold are kept where they do not count."""
        name = collected.project.assessor
        with ws.writing() as session:
            returned = [one for one in read_returned(session) if one.assessor == name and one.withdrawn_at is None]
            assigned = len(people.read_assignments(session, name)) + len(returned)
            collected = _without_hidden_gold(session, collected)
        sourced = partial(sourced_judgement, source=Source.LABEL_STUDIO)
        return record_counting(self, ws, collected, wishes, sourced, assigned=assigned)

    def after_pull(self, ws: Workspace) -> Afterwards:
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
        return Afterwards(notes, outcome.progress.left_by_assessor.total())


def outgoing_of(ws: Workspace) -> list[Outgoing]:
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
    found: list[Outgoing] = []
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
        found.append(Outgoing(form, assessor, kept))
    return found


def _without_hidden_gold(session: Session, collected: Collected) -> Collected:
    """The judging project without the answers to hidden gold, which are recorded where they do not count."""
    hidden = set(read_hidden(session).get(collected.project.assessor, ()))
    answers = [found for found in collected.found if found.asked.pair in hidden]
    sourced = [sourced_judgement(found, collected.project, source="hidden-gold") for found in answers]
    trials.record_answers(session, sourced, recorded_at=moment_now())
    return collected._replace(found=tuple(found for found in collected.found if found.asked.pair not in hidden))


def _returned_in_words(returned: Collection[Returned]) -> tuple[str, ...]:
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


def _given_back(ws: Workspace, late: Mapping[str, Collection[Asked]]) -> tuple[str, ...]:
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
    possible = {Asked(query_id, doc_id, at) for query_id in pooled for doc_id in pooled[query_id] for at in REPEATED}
    withdrawn, notes = [], []
    for project in here:
        own = {planned.asked for planned in plan if planned.assessor == project.assessor}
        own |= {returned.asked for returned in back if returned.assessor == project.assessor}
        gold = {Asked(*pair) for pair in hidden.get(project.assessor, ())}
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


def unpulled(gateway: Gateway, project: Project, tasks: dict[Asked, int], recorded: Collection[Asked]) -> list[Asked]:
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
    ws: Workspace, gateway: Gateway, project: Project, own: set[Asked], possible: set[Asked]
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
