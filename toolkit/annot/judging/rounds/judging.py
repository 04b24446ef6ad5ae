"""Rounds of judging and of adjudication, and queries that are taken back before they have an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.base.names import counted, moment_now
from annot.base.records import Adjudication, Assignment, Judgement, PairKey, Source, grouped
from annot.base.words import Words
from annot.judging.exchange import displayed_content
from annot.judging.exchange.collecting import (
    CollectedProject,
    PreparedPush,
    PullResult,
    Round,
    RoundOptions,
    record_counting,
    sourced,
    sourced_judgement,
)
from annot.judging.exchange.outgoing import (
    OutgoingProject,
    TaskMaterial,
    check_outgoing,
    forms_of,
    next_versions,
    tasks_of,
    with_sent_screens,
)
from annot.judging.exchange.sending import SentProject
from annot.judging.exchange.servers import PARTS, on_servers
from annot.judging.plan_on_record import record_plan, write_plan
from annot.judging.planning import give_back
from annot.judging.trial_answers import hidden_gold_of, hidden_on_record
from annot.judging.trial_draws import with_hidden
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import REASON_NEEDED, ReadAnnotation, StudioTask
from annot.labelstudio.tasks import adjudicate_task, opinions_in, pair_key, reasoned_task, returned_task
from annot.store import people, pools, projects, runs, trials
from annot.store.answers import TRIALS, SourcedAdjudication, assessors_shown, read_returned
from annot.store.models import Project, Session
from annot.store.shown import in_force, read_versions
from annot.study import outcome as outcomes
from annot.study.judged_texts import Pair, set_aside_of
from annot.study.snapshot import export_judgements
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Judging: the planned pairs to their assessors, withdrawn if they were handed on, and the judgements back.
# ----------------------------------------------------------------------------------------------------------------------


PART = PARTS["judge"]
REPEATED = (1, 2)
"""Occasions on which a pair is asked."""


class JudgingRound(Round):
    """The round that makes the collection: each pair to as many assessors as were planned."""

    name = "judging"
    parts = (PART,)
    answer = "annotation"
    option_names = frozenset({"changed", "new_screen", "accept_deletions"})
    hint = "send the tasks with `annot push`"
    noted_as = "push"

    def prepare(self, ws: Workspace, options: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """Make the planned tasks of all who have not left; tasks that were handed on are withdrawn first."""
        if not dry_run:
            ws.write(displayed_content.send_back, now=moment_now())
        outgoing = outgoing_of(ws)
        with ws.reading() as session:
            shown = partial(next_versions, ws, session, why=options.changed, new_screen=options.new_screen)
            outgoing, new, notes = shown(outgoing)
            notes += _notes_on_untrained(trials.read_trials(session), {project.assessor for project in outgoing})
            notes += displayed_content.waiting_in_words(session)
            sent_before = {project.assessor for project in projects.read_projects(session, round="judge")}
        if dry_run:
            return PreparedPush(outgoing, notes, new_versions=new)
        # Before anything is withdrawn, too.
        check_outgoing(ws, outgoing)
        withdrawn: list[SentProject] = []
        late: dict[str, frozenset[PairKey]] = {}
        answered_late: set[Pair] = set()

        def withdraw(gateway: Gateway, _names: Sequence[str]) -> None:
            for row, answered in withdraw_handed_on(ws, gateway, notes):
                withdrawn.append(row)
                if answered:
                    late[row.assessor] = answered
            answered_late.update(displayed_content.withdraw_earlier_texts(ws, gateway, outgoing))

        everyone = sorted({*sent_before, *(project.assessor for project in outgoing)})
        unreachable = on_servers(ws, everyone, withdraw)
        if late:
            notes += _notes_on_late_answers(ws, late)
            outgoing = with_sent_screens(ws, outgoing_of(ws), ws.read(read_versions), new=options.new_screen)
        away = {server.assessor for server in unreachable}
        held_back = answered_late | displayed_content.open_elsewhere(ws, away)
        if held_back:
            notes.append(_held(held_back))
            outgoing = [
                replace(project, tasks={key: task for key, task in project.tasks.items() if key.pair not in held_back})
                for project in outgoing
            ]
        return PreparedPush(
            [project for project in outgoing if project.assessor not in away],
            notes,
            unreachable,
            checked=not late,
            new_versions=new,
            withdrawn=tuple(withdrawn),
        )

    def record(self, ws: Workspace, collected: CollectedProject, options: RoundOptions) -> PullResult:
        """Record every annotation as a judgement; answers to hidden gold are recorded apart, and do not count."""
        name = collected.project.assessor
        with ws.writing() as session:
            returned = [pair for pair in read_returned(session) if pair.assessor == name and pair.withdrawn_at is None]
            assigned = len(people.read_assignments(session, name)) + len(returned)
            collected = _without_hidden_gold(session, collected)
        sourced = partial(sourced_judgement, source=Source.LABEL_STUDIO)
        return record_counting(
            *(ws, collected, sourced), answer=self.answer, assigned=assigned, accept_deletions=options.accept_deletions
        )

    def after_pull(self, ws: Workspace) -> tuple[list[str], int]:
        """Write `exports/judgements.jsonl`, and record each person's results on hidden gold."""
        with ws.writing() as session:
            outcome = outcomes.outcome_of(session, ws.settings)
            for probed in hidden_gold_of(ws, session):
                trials.put_trial(session, f"hidden-gold/{probed.assessor}", hidden_on_record(probed))
            changed = outcomes.changes_in_words(outcomes.changed_after_adjudication(session))
            returned = displayed_content.send_back(session, now=moment_now())
            outcome = outcomes.outcome_of(session, ws.settings) if returned else outcome
            notes = [changed] if changed else []
            if returned:
                answers = counted(len(returned), "answer")
                notes.append(f"{answers} came in on a text before its correction; `annot push` asks for them again")
            notes += displayed_content.waiting_in_words(session)
        export_judgements(ws, outcome)
        return notes, outcome.progress.left_by_assessor.total()


def _plan_to_send(
    session: Session, answered: Collection[tuple[str, PairKey]], *, left: Set[str], returned: Set[str]
) -> dict[str, list[Assignment]]:
    """Assignments of the people whose tasks are sent, by person. returned: people to whom pairs were returned.

    A person who judged all pairs elsewhere has no project and needs none. Raises MissingInput if nothing is to be sent.
    """
    planned = people.read_assignments(session)
    sent = projects.was_sent(session)
    if not planned and not sent:
        raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
    done_elsewhere: Set[str] = set()
    if runs.judgements_imported(session):
        working = returned | {project.assessor for project in projects.read_projects(session, round="judge")}
        working |= {row.assessor for row in planned if (row.assessor, row.pair_key) not in answered}
        done_elsewhere = {row.assessor for row in planned} - working
    plan = grouped((row.assessor, row) for row in planned if row.assessor not in left | done_elsewhere)
    if planned and not (plan or sent):
        raise MissingInput(
            "every planned pair was judged elsewhere, and nothing is left to send",
            hint="pairs in dispute are sent by `annot push adjudication`",
        )
    return plan


def outgoing_of(ws: Workspace) -> list[OutgoingProject]:
    """The tasks of every assessor of the plan; people who left get none.

    Raises MissingInput when nothing is planned.
    """
    with ws.reading() as session:
        left = people.people_who_left(session)
        returned = [back for back in read_returned(session) if back.withdrawn_at is None and back.assessor not in left]
        hidden = {name: pairs for name, pairs in projects.read_hidden(session).items() if name not in left}
        waiting = displayed_content.not_shown(session)
        answered = _answered_keys(session)
        plan = _plan_to_send(session, answered, left=left, returned={back.assessor for back in returned})
    pairs = {row.pair for rows in plan.values() for row in rows}.union(*hidden.values())
    material = TaskMaterial(ws, pairs)
    forms = forms_of(ws, PART, material)
    outgoing: list[OutgoingProject] = []
    for assessor, rows in sorted(plan.items()):
        order = [row.pair_key for row in sorted(rows, key=attrgetter("position"))]
        answered_here = {question for name, question in answered if name == assessor}
        sequence = with_hidden(order, hidden.get(assessor, ()), answered_here, assessor=assessor, seed=ws.settings.seed)
        # Behind the plan, and counted apart: the places in the plan stay as they were sent.
        why = {back.pair_key: back.why for back in returned if back.assessor == assessor}
        words = forms[assessor].words
        tasks = tasks_of(ws, material, sequence, words=words, more=bool(why))
        again = tasks_of(ws, material, list(why), words=words)
        tasks |= {question: returned_task(task, why[question], words) for question, task in again.items()}
        # A pair that waits for a decision, or whose document was withdrawn, is not sent; a task with an answer stays
        # where it is.
        tasks = {
            question: task
            for question, task in tasks.items()
            if question.pair not in waiting or question in answered_here
        }
        outgoing.append(OutgoingProject(forms[assessor], assessor, tasks))
    return outgoing


def _answered_keys(session: Session) -> set[tuple[str, PairKey]]:
    """Assessor and question of every answer that counts, those to hidden gold included."""
    gold = [answer.record for answer in trials.read_answers(session, "hidden-gold") if answer.record.counts]
    return outcomes.answered_of(session) | {(judgement.assessor, judgement.pair_key) for judgement in gold}


def _without_hidden_gold(session: Session, collected: CollectedProject) -> CollectedProject:
    """The judging project without the answers to hidden gold, which are recorded where they do not count."""
    hidden = set(projects.read_hidden(session).get(collected.project.assessor, ()))
    answers = [reading for reading in collected.readings if reading.pair_key.pair in hidden]
    sourced = [sourced_judgement(reading, collected.project, source="hidden-gold") for reading in answers]
    TRIALS.record(session, sourced, recorded_at=moment_now())
    return collected._replace(
        readings=tuple(reading for reading in collected.readings if reading.pair_key.pair not in hidden)
    )


def _held(pairs: Collection[Pair]) -> str:
    number = counted(len(pairs), "pair")
    return (
        f"not sent: {number} that may have an answer on the text before its correction; fetch it with `annot pull`, "
        "then run `annot push` again"
    )


def _notes_on_late_answers(ws: Workspace, late: Mapping[str, Collection[PairKey]]) -> tuple[str, ...]:
    """Let people keep pairs that they answered after handing them on, unless others have begun; returns notes."""
    notes = []
    with ws.writing() as session:
        plan, drawn = people.read_assignments(session), people.read_plan(session)
        per_pair = (drawn and drawn.per_pair) or ws.settings.judging.per_pair
        bound = outcomes.answered_of(session)
        bound |= {(name, question) for name, questions in projects.read_sent(session).items() for question in questions}
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


def _notes_on_untrained(trials_on_record: Mapping[str, Mapping[str, Any]], assessors: Set[str]) -> tuple[str, ...]:
    """Notes on people who are sent pairs to judge although they have not passed their training: the lead decides."""
    return tuple(
        f"{name}: {facts['verdict']} in the training; see `annot train report`"
        for name in sorted(assessors)
        if (facts := trials_on_record.get(f"train/{name}")) is not None and facts["verdict"] != "passed"
    )


def withdraw_handed_on(
    ws: Workspace, gateway: Gateway, notes: list[str]
) -> Iterator[tuple[SentProject, frozenset[PairKey]]]:
    """Delete, in every judging project on this server, the unanswered tasks that are not in its owner's plan any more.

    Yields a row for each project that had such tasks, and the questions that were answered after they had been handed
    on; these tasks stay. notes: get a note if the project of a person who left cannot be read; the others are withdrawn
    all the same.
    """
    server = gateway.identity()
    with ws.reading() as session:
        rows = projects.sent_projects(session, round="judge")
        judging = [project for project in rows if project.server == server]
        left = people.people_who_left(session)
        tasks = {project.project: projects.read_tasks(session, project.project) for project in judging}
        gold = {name: {PairKey(*pair) for pair in pairs} for name, pairs in projects.read_hidden(session).items()}
        waiting, set_aside = displayed_content.not_shown(session), set_aside_of(session)
        planned, answered = _planned_or_returned(session), outcomes.answered_of(session)
        pooled = pools.documents_by_query(session, withdrawn=True)
    possible = _questions_of(pooled)
    for project in judging:
        person, sent = project.assessor, tasks[project.project]
        hidden = gold.get(person, set())
        staying = planned.get(person, set()) | (hidden if person not in left else set())
        staying = {question for question in staying if question.pair not in waiting or (person, question) in answered}
        if not (sent.keys() - staying) and person not in left:
            continue
        try:
            row, answered_late = _withdraw(ws, gateway, project, staying, {*possible, *sent})
        except StudioError as error:
            if person not in left:
                raise
            notes.append(f"{person}: the unanswered tasks could not be withdrawn: {error.message}")
            continue
        # Hidden gold is in no plan: an answer to it stays where it is, and gives no pair back. Nor does an answer to a
        # pair that waits for a decision, to a withdrawn document, or to a text before its correction.
        yield (
            row,
            frozenset(
                question
                for question in answered_late - hidden
                if question.pair not in waiting and (person, question) not in set_aside
            ),
        )


def _questions_of(pools: Mapping[str, Iterable[str]]) -> set[PairKey]:
    """Every question about the pairs of these pools: a push that was killed has noted down none that it sent."""
    pairs = ((query_id, doc_id) for query_id, doc_ids in pools.items() for doc_id in doc_ids)
    return {PairKey(*pair, occasion) for pair in pairs for occasion in REPEATED}


def _planned_or_returned(session: Session) -> dict[str, set[PairKey]]:
    """Questions of the plan and of returned pairs, by person."""
    questions = [(planned.assessor, planned.pair_key) for planned in people.read_assignments(session)]
    questions += [(back.assessor, back.pair_key) for back in read_returned(session) if back.withdrawn_at is None]
    return {name: set(of_person) for name, of_person in grouped(questions).items()}


def unpulled(
    gateway: Gateway, project: Project, tasks: dict[PairKey, int], recorded: Collection[PairKey]
) -> list[PairKey]:
    """Questions that the person has answered on the server and that have no answer on record."""
    questions = {pair_key(*question): question for question in tasks}
    answered = [
        questions[task.key]
        for task in gateway.tasks_of(project.number)
        if task.annotations and task.key is not None and task.key in questions
    ]
    return [question for question in answered if question not in recorded]


def _withdraw(
    ws: Workspace, gateway: Gateway, project: Project, staying: set[PairKey], possible: set[PairKey]
) -> tuple[SentProject, set[PairKey]]:
    handed_on = {pair_key(*question): question for question in possible if question not in staying}
    stale = [task for task in gateway.tasks_of(project.number) if task.key in handed_on]
    gateway.delete_unanswered(project.number, [task.task_id for task in stale if not task.annotations])
    still_there = gateway.tasks_of(project.number) if stale else ()
    answered = {task.key for task in still_there if task.key in handed_on}
    with ws.writing() as session:
        # All that are not there, not only these: a kill may have come between deleting and forgetting.
        untouched = [question for key, question in handed_on.items() if key not in answered]
        projects.forget_tasks(session, project.project, untouched)
    stays = {question for key, question in handed_on.items() if key in answered}
    address, deleted = gateway.labelling_url(project.number), len(stale) - len(answered)
    return SentProject(project.assessor, 0, 0, 0, deleted, 0, address, part=PART.title), stays


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
    option_names = frozenset({"changed", "new_screen", "accept_deletions"})
    hint = "send the disputes with `annot push adjudication`"
    noted_as = "push adjudication"

    def prepare(self, ws: Workspace, options: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """Make the tasks of every pair in dispute, query by query."""
        outcome = ws.read(outcomes.outcome_of, ws.settings)
        if not outcome.judgements:
            raise MissingInput("no judgements", hint="fetch them with `annot pull`")
        with ws.reading() as session:
            waiting_notes = displayed_content.waiting_in_words(session)
            shown = partial(next_versions, ws, session, why=options.changed, new_screen=options.new_screen)
            outgoing, new, notes = shown(adjudication_outgoing_of(ws))
        outgoing = [_asking_for_reasons(person_tasks) for person_tasks in outgoing]
        notes += [*_waiting(outcome, outgoing), *waiting_notes]
        return PreparedPush(outgoing, notes, is_made=bool(outgoing), new_versions=new)

    def record(self, ws: Workspace, collected: CollectedProject, options: RoundOptions) -> PullResult:
        """Record every annotation as a decision."""
        with ws.reading() as session:
            planned = outcomes.assessors_by_pair(people.read_assignments(session))
            assigned = len(projects.read_tasks(session, collected.project.project))
            orders = assessors_shown(session, collected.project.assessor)

        def decision_of(reading: ReadAnnotation, project: Project) -> SourcedAdjudication:
            # The plan and annot.toml may have changed since: the task itself says whether it shows grades.
            if not opinions_in(collected.data.get(reading.pair_key, {})):
                return _sourced(reading, project, shown=None)
            shown = in_force(orders.get(reading.pair_key.pair, ()), reading.created_at)
            if shown is None:
                # A push that was killed has not noted it down.
                assessors = planned.get(reading.pair_key.pair, ())
                shown = outcomes.shown_assessors(reading.pair_key.pair, assessors, seed=ws.settings.seed)
            return _sourced(reading, project, shown=shown)

        return record_counting(
            *(ws, collected, decision_of),
            answer=self.answer,
            assigned=assigned,
            accept_deletions=options.accept_deletions,
        )

    def after_pull(self, ws: Workspace) -> tuple[list[str], int]:
        """Notes on reasons that adjudicators left out, and the number of disputes still to settle."""
        with ws.reading() as session:
            outcome = outcomes.outcome_of(session, ws.settings)
            sent = {question.pair for _, question in projects.read_asked(session, round="adjudicate")}
        return list(_unexplained(outcome)), len(sent.intersection(outcome.open))


def adjudication_outgoing_of(ws: Workspace) -> list[OutgoingProject]:
    """The tasks of every adjudicator; empty when nothing is in dispute and nothing was sent.

    An adjudicator who was sent something before is among them, with no task if all of theirs have ended: then the
    unanswered ones are withdrawn. A pair that one could not judge, and that no other may settle, is in none.
    """
    with ws.reading() as session:
        outcome = outcomes.outcome_of(session, ws.settings)
        present = [person for person in people.read_assessors(session) if person.left_on is None]
        left = people.people_who_left(session)
        sent = projects.read_asked(session, round="adjudicate")
        waiting = displayed_content.not_shown(session)
    # A settled pair keeps its task: its answer is there.
    ended = outcome.adjudications.keys() | outcome.unjudgeable.keys()
    disputes = [row for row in outcome.disputed if row[0].pair not in waiting or row[0].pair in ended]
    sent_before = {person for person, _ in sent}
    if not disputes and not sent_before:
        return []
    passed_on = {pair: {ruling.adjudicator for ruling in rulings} for pair, rulings in outcome.passed_on.items()}
    settles = outcomes.assign_adjudicators(
        disputes,
        [person.assessor for person in present if person.adjudicator],
        may_assess=ws.settings.adjudication.adjudicator_may_assess,
        seed=ws.settings.seed,
        current=_adjudicators_on_record(outcome, sent, left, passed_on),
        passed_on=passed_on,
    )
    disputes = [dispute for dispute in disputes if dispute[0].pair in settles]
    settles = {dispute[0].pair: settles[dispute[0].pair] for dispute in disputes}
    material = TaskMaterial(ws, {*settles})
    forms = forms_of(ws, ADJUDICATION_PART, material)
    by_person = grouped((settles[dispute[0].pair], dispute) for dispute in outcomes.queue(disputes, material.queries))
    outgoing: list[OutgoingProject] = []
    for person in sorted({*by_person, *sent_before}):
        form, of_person = forms[person], by_person.get(person, ())
        tasks, opinions = _disputes_as_tasks(ws, material, of_person, outcome.reopened, form.words)
        outgoing.append(OutgoingProject(form, person, tasks, opinions=opinions))
    return outgoing


def _adjudicators_on_record(
    outcome: outcomes.Outcome,
    sent: Sequence[tuple[str, PairKey]],
    left: Collection[str],
    passed_on: Mapping[outcomes.Pair, Collection[str]],
) -> dict[outcomes.Pair, str]:
    """The adjudicator of each pair that has one: who settled it, else the first who was sent it and can still do so."""
    current = {
        question.pair: person
        for person, question in reversed(sent)
        if person not in left and person not in passed_on.get(question.pair, ())
    }
    current |= {pair: rulings[-1].adjudicator for pair, rulings in outcome.unjudgeable.items()}
    return current | {pair: ruling.adjudicator for pair, ruling in outcome.adjudications.items()}


def _disputes_as_tasks(
    ws: Workspace,
    material: TaskMaterial,
    disputes: Sequence[outcomes.Dispute],
    reopened: Mapping[outcomes.Pair, int],
    words: Words,
) -> tuple[dict[PairKey, dict[str, Any]], dict[PairKey, tuple[Judgement, ...]]]:
    """The tasks of one adjudicator, and the opinions that they show.

    reopened: times that a pair was returned to an assessor after it was settled. It is another task each time, as the
    earlier one keeps its answer.
    """
    questions = {PairKey(*dispute[0].pair, 1 + reopened.get(dispute[0].pair, 0)): dispute for dispute in disputes}
    tasks = tasks_of(ws, material, list(questions), words=words)
    if ws.settings.adjudication.ratings == "hidden":
        return tasks, {}
    opinions = {
        question: outcomes.shown_order(dispute, seed=ws.settings.seed) for question, dispute in questions.items()
    }
    names = ws.settings.scale.names
    return {
        question: adjudicate_task(task, opinions[question], scale_names=names, words=words)
        for question, task in tasks.items()
    }, opinions


def _asking_for_reasons(outgoing: OutgoingProject) -> OutgoingProject:
    """The project, with a cause and a reason required for grades far apart if its screen asks for them."""
    if f'name="{REASON_NEEDED}"' not in outgoing.form.label_config:
        return outgoing
    far = [
        question for question, judgements in outgoing.opinions.items() if outcomes.gap_of(judgements) >= outcomes.WIDE
    ]
    return replace(
        outgoing, tasks={**outgoing.tasks, **{question: reasoned_task(outgoing.tasks[question]) for question in far}}
    )


def _waiting(outcome: outcomes.Outcome, outgoing: Sequence[OutgoingProject]) -> Iterator[str]:
    """Notes on pairs that are not sent, with the reason."""
    if outcome.incomplete:
        yield f"not sent yet, with fewer judgements than planned: {counted(len(outcome.incomplete), 'pair')}"
    assigned = {question.pair for project in outgoing for question in project.tasks}
    if waiting := outcome.passed_on.keys() & set(outcome.open) - assigned:
        yield (
            f"waiting for another adjudicator, because one could not judge: {counted(len(waiting), 'pair')}; add one "
            "with `annot assessor add --adjudicator`, or set adjudication.cannot_judge"
        )
    if not outcome.disputed:
        yield "nothing is in dispute"


def _unexplained(outcome: outcomes.Outcome) -> Iterator[str]:
    """A note for the lead if an adjudicator left out a reason or a cause that the release publishes."""
    unexplained = outcomes.unexplained_of(outcome.adjudications, outcome.current)
    missing = [
        (unexplained.without_reason, "no reason"),
        (unexplained.without_cause, "no reason why the grades differ"),
    ]
    if omissions := " and ".join(f"{count} {omission}" for count, omission in missing if count):
        yield (
            f"{counted(unexplained.pairs, 'pair')} overruled, or with grades {outcomes.WIDE} or more apart: "
            f"{omissions}; an adjudicator can go back and add it"
        )


def _sourced(reading: ReadAnnotation, project: Project, *, shown: tuple[str, ...] | None) -> SourcedAdjudication:
    """The decision in an annotation. shown: the assessors whose grades its task showed; None if it showed none."""
    decided = Adjudication(
        *reading.pair_key.pair,
        project.assessor,
        reading.grade,
        "hidden" if shown is None else "shown",
        shown or (),
        cannot_judge=reading.cannot_judge,
        reason=reading.settled_by,
        comment=reading.comment,
        judged_at=reading.created_at,
        lead_time=reading.lead_time,
        flags=reading.flags,
    )
    return sourced(decided, reading, project, source=Source.LABEL_STUDIO)


# ----------------------------------------------------------------------------------------------------------------------
# The tasks of a query that was sent by mistake, taken back from the servers before any has an answer.
# ----------------------------------------------------------------------------------------------------------------------


def take_back_tasks(ws: Workspace, query_id: str, *, dry_run: bool) -> int:
    """Delete the tasks of a query from every server and forget them; returns how many there were.

    The plan stays as it is, so that a push would send them again. Safe to repeat after a kill. Raises InputError if
    one has an answer, before any is deleted, and FindingError if a server cannot be reached. dry_run: only look.
    """
    with ws.reading() as session:
        judging = projects.sent_projects(session, round="judge")
        recorded = {project.project: projects.read_tasks(session, project.project) for project in judging}
        documents = pools.documents_by_query(session, withdrawn=True).get(query_id, ())
        left = people.people_who_left(session)
    noted = {
        number: [question for question in tasks if question.query_id == query_id] for number, tasks in recorded.items()
    }
    keys = {pair_key(*question) for question in _questions_of({query_id: documents}).union(*noted.values())}
    names = sorted({project.assessor for project in judging if noted[project.project] or project.assessor not in left})
    if not names:
        return 0
    tasks_of: dict[int, list[StudioTask]] = {}

    def on_server(gateway: Gateway, names: Sequence[str]) -> list[Project]:
        server = gateway.identity()
        return [project for project in judging if project.server == server and project.assessor in names]

    def tasks_on(gateway: Gateway, project: Project) -> list[StudioTask]:
        if gateway.project(project.number) is None:
            return []
        return [task for task in gateway.tasks_of(project.number) if task.key in keys]

    def look(gateway: Gateway, names: Sequence[str]) -> None:
        tasks_of.update({project.project: tasks_on(gateway, project) for project in on_server(gateway, names)})

    def delete(gateway: Gateway, names: Sequence[str]) -> None:
        for project in on_server(gateway, names):
            if tasks_of[project.project]:
                gateway.delete_unanswered(project.number, [task.task_id for task in tasks_of[project.project]])
                tasks_of[project.project] = tasks_on(gateway, project)
            if not tasks_of[project.project]:
                ws.write(projects.forget_tasks, project.project, noted[project.project])

    _reach_all(ws, names, look, query_id)
    _refuse_answered(query_id, judging, tasks_of)
    elsewhere = [project for project in judging if noted[project.project] and project.project not in tasks_of]
    count = sum(map(len, tasks_of.values()))
    if not dry_run:
        _reach_all(ws, names, delete, query_id)
        _refuse_answered(query_id, judging, tasks_of)
    if elsewhere:
        persons = sorted(project.assessor for project in elsewhere)
        raise InputError(
            f"{query_id}: tasks of {', '.join(persons)} are on {elsewhere[0].url}",
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
            faults=[f"{server.assessor}: {server.why}" for server in unreachable],
            hint="run the same command again later",
        )


def _refuse_answered(query_id: str, judging: Sequence[Project], tasks_of: dict[int, list[StudioTask]]) -> None:
    person = {project.project: project.assessor for project in judging}
    answered = Counter(person[number] for number, tasks in tasks_of.items() for task in tasks if task.annotations)
    if answered:
        raise InputError(
            f"{query_id}: already answered on Label Studio, so it cannot be removed",
            faults=[
                f"{name}: {counted(count, 'task')} answered or skipped" for name, count in sorted(answered.items())
            ],
            hint="`annot pull` brings the answers; `annot push` sends tasks again that were taken back",
        )
