"""A project for each person, its tasks sent once and remembered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import starmap

from annot.base.errors import FindingError
from annot.base.names import counted, moment_now
from annot.base.records import Advance, Judgement, PairKey
from annot.judging.exchange import servers
from annot.judging.exchange.displayed_content import as_displayed, has_earlier_text
from annot.judging.exchange.outgoing import OutgoingProject, displays_of, spec_of
from annot.labelstudio.gateway import Gateway, deliver, tasks_to_resend
from annot.labelstudio.studio_records import Delivery, StudioTask
from annot.labelstudio.tasks import opinions_in, pair_key
from annot.store import people, projects
from annot.store.answers import note_opinions
from annot.store.models import Kind, Notice, StoredRound
from annot.store.pools import withdrawn_ids
from annot.store.shown import ShownVersion, keep_contents, note_shown, record_versions
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SentProject:
    """One person's project after a push."""

    assessor: str
    planned: int
    there: int
    """Tasks that were there already."""
    sent: int
    withdrawn: int
    """Unanswered tasks that were deleted because their content was out of date."""
    known: int
    """Tasks that are not on the server and are not sent, because their answers are on record and count."""
    address: str
    """The link to give to the person."""
    updated: int = 0
    """Unanswered tasks that were there and showed another place in the person's order."""
    part: str = ""
    """Purpose of the project, in words."""


@dataclass(frozen=True, slots=True)
class PushResult:
    """Projects after a push, and notes for the lead."""

    projects: tuple[SentProject, ...]
    notes: tuple[str, ...] = ()
    unreachable: tuple[servers.Unreachable, ...] = ()
    without_account: tuple[str, ...] = ()
    """People who got no tasks because their account is not on the server yet."""

    def finding(self, command: str) -> FindingError | None:
        """The finding that ends the command if a server could not be reached."""
        return servers.unreachable_finding(self.unreachable, command)


def send_outgoing(
    ws: Workspace,
    outgoing: Sequence[OutgoingProject],
    *,
    dry_run: bool,
    advance: Advance,
    new_versions: Sequence[ShownVersion] = (),
) -> PushResult:
    """Send these projects of one part, which `check_outgoing` has passed. With `dry_run` nothing is sent.

    new_versions: versions to put on record as in force from now on, before anything is sent.
    """
    part = outgoing[0].part
    if dry_run:
        return PushResult(tuple(_promised(ws, outgoing, part)))
    rows: list[SentProject] = []
    notes: list[str] = []
    waiting: list[str] = []
    places: list[str] = []
    without_account: list[str] = []
    unrecorded = list(new_versions)

    def send(gateway: Gateway, names: Sequence[str]) -> None:
        outgoing_here = [project for project in outgoing if project.assessor in names]
        places.append(gateway.url)
        accounts, faults = accounts_on(ws, gateway, [project.assessor for project in outgoing_here])
        waiting.extend(faults)
        without_account.extend(project.assessor for project in outgoing_here if project.assessor not in accounts)
        if not accounts:
            return
        ws.write(record_versions, unrecorded)
        unrecorded.clear()
        ready = [project for project in outgoing_here if project.assessor in accounts]
        for row, notes_of_project in _send(ws, gateway, ready, accounts, part=part, advance=advance):
            rows.append(row)
            notes.extend(notes_of_project)

    unreachable = servers.on_servers(ws, [project.assessor for project in outgoing], send)
    if waiting and not rows and not unreachable:
        raise FindingError(
            f"{counted(len(waiting), 'person', 'people')} without access to {', '.join(places)}", faults=waiting
        )
    later = tuple(f"{fault}, then run `{part.push}` again" for fault in waiting)
    every_note = (*later, *notes, *servers.unreachable_notes(unreachable))
    return PushResult(tuple(rows), every_note, unreachable, tuple(without_account))


def _promised(ws: Workspace, outgoing: Sequence[OutgoingProject], part: servers.RoundPart) -> Iterator[SentProject]:
    """The rows of a push according to the records alone; no server is asked."""
    with ws.reading() as session:
        recorded = projects.read_projects(session, round=part.stored)
        noted = [(project, projects.read_tasks(session, project.project)) for project in recorded]
    for outgoing_project in outgoing:
        on_server = {
            question for project, tasks in noted if project.assessor == outgoing_project.assessor for question in tasks
        }
        on_server &= outgoing_project.tasks.keys()
        where = [project.url for project in recorded if project.assessor == outgoing_project.assessor]
        planned, new = len(outgoing_project.tasks), len(outgoing_project.tasks) - len(on_server)
        address = where[-1] if where else "not sent"
        yield SentProject(outgoing_project.assessor, planned, len(on_server), new, 0, 0, address, part=part.title)


def _send(
    ws: Workspace,
    gateway: Gateway,
    projects_out: Sequence[OutgoingProject],
    accounts: Mapping[str, int],
    *,
    part: servers.RoundPart,
    advance: Advance,
) -> Iterator[tuple[SentProject, list[str]]]:
    """Send each project, every task once, and remember the server's ids; a row and notes for each."""
    server, version, stored = gateway.identity(), gateway.version(), part.stored
    # Questions about papers are not on record.
    of_pairs, disputes = stored != "labels", stored == "adjudicate"
    with ws.writing() as session:
        # People of one language share a form.
        forms = {id(project.form): project.form for project in projects_out}
        keep_contents(session, {body for form in forms.values() for body in form.contents.values()})
    counter = counting(advance, total=sum(len(project_out.tasks) for project_out in projects_out))
    for outgoing in projects_out:
        person = outgoing.assessor
        with ws.writing() as session:
            project = projects.open_project(
                session,
                round=stored,
                assessor=person,
                server=server,
                url=gateway.address,
                version=version,
                account_id=accounts[person],
                now=moment_now(),
                language=outgoing.form.words.language,
            )
            questions_by_key = servers.own_tasks(session, stored, person)
            answered = servers.answered_tasks(session, stored, person)
            noted = projects.read_tasks(session, project.project)
            gone = withdrawn_ids(session)
        remote_id, project_notes = servers.bring_project(ws, gateway, spec_of(ws, outgoing), project, questions_by_key)
        since = moment_now("milliseconds")
        tasks = list(outgoing.tasks.values())
        listed = gateway.tasks_of(remote_id)
        stale = _stale(listed, outgoing, questions_by_key, {*starmap(pair_key, noted), *answered}, gone)
        delivery = deliver(gateway, remote_id, tasks, listed=listed, answered=answered, stale=stale, advance=counter)
        ids = {
            question: task_id for question in outgoing.tasks if (task_id := delivery.task_ids.get(pair_key(*question)))
        }
        if of_pairs:
            with ws.writing() as session:
                projects.renew_tasks(session, project.project, outgoing.tasks, ids)
                untouched = [task for task in listed if task not in stale]
                shown = as_displayed(session, project.project, displays_of(ws, outgoing), outgoing.tasks, untouched)
                existing_keys = {task.key for task in untouched}
                fresh = [question for question in outgoing.tasks if pair_key(*question) not in existing_keys]
                note_shown(session, project.project, shown, since=since, fresh=fresh)
                people.record_notices(session, _notices(outgoing, since))
                note_opinions(session, person, _opinions_on_server(outgoing, listed, ids), sent_at=since)
                # All that are not there, not only these: a kill may have come between deleting and forgetting.
                staying = {task.key for task in listed} - {task.key for task in stale}
                ended = noted.keys() - outgoing.tasks.keys()
                projects.forget_tasks(
                    session, project.project, _lost_questions(ended, staying, None if disputes else gone)
                )
        withdrawn = stale if disputes else []
        # A dispute that was opened again is another one; a pair that moved in the order is the same.
        new, updated = delivery.sent, delivery.updated
        new, updated = (new, updated + delivery.renewed) if stored == "judge" else (new + delivery.renewed, updated)
        planned = len(outgoing.tasks)
        counts = (planned, planned - new - delivery.spared, new, len(withdrawn), delivery.spared)
        notes = [*_notes(person, len(withdrawn), delivery)]
        if stored == "labels":
            notes += _labelled_before(person, listed, outgoing)
        address = gateway.labelling_url(remote_id)
        yield SentProject(person, *counts, address, updated, part.title), [*notes, *project_notes]


def _notes(person: str, withdrawn: int, delivery: Delivery) -> Iterator[str]:
    """Notes on the number of disputes that were withdrawn, and on tasks that are not sent as their answer is known."""
    if withdrawn:
        yield (
            f"{person}: {counted(withdrawn, 'unanswered task')} withdrawn: a grade, a comment or a text has changed, "
            "or the pair is no longer theirs to settle"
        )
    if delivery.spared:
        yield f"{person}: {counted(delivery.spared, 'task')} not sent again: the answers are on record"
    if delivery.removed:
        yield f"{person}: {delivery.removed} of them had no answer on the server and were deleted"


def _labelled_before(person: str, listed: Iterable[StudioTask], outgoing: OutgoingProject) -> Iterator[str]:
    """A note on each answered task of labels that shows the text before its correction: it cannot be sent again."""
    tasks = {pair_key(*question): (question.query_id, task) for question, task in outgoing.tasks.items()}
    for task in listed:
        paper_id, sent = tasks.get(task.key or "", ("", None))
        if sent is not None and task.annotations and has_earlier_text(task, sent):
            yield (
                f"{paper_id}: {person} labelled the text before its correction; delete task {task.task_id} in Label "
                "Studio, and push again"
            )


def counting(advance: Advance, *, total: int) -> Callable[[int], None]:
    """A function that reports progress when it is called with the number of further steps."""
    done = 0

    def count_further(count: int) -> None:
        nonlocal done
        done += count
        advance(done, total)

    return count_further


def accounts_on(ws: Workspace, gateway: Gateway, names: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """The server's id of each person's account, and a fault for each person without one."""
    accounts = {person.assessor: person.account for person in ws.read(people.read_assessors)}
    by_address = gateway.user_ids()
    ids = {}
    faults = []
    for name in names:
        address = accounts.get(name)
        if address is None:
            faults.append(f"{name}: has no account on record; add it with `annot assessor add {name} --account EMAIL`")
        elif address.lower() in by_address:
            ids[name] = by_address[address.lower()]
        elif servers.runs_here(ws, gateway.url, name):
            faults.append(f"{name}: has no account on the server; `annot studio up` makes one")
        else:
            faults.append(
                f"{name}: has not signed up on the server yet; `annot invite {name}` writes a letter that says how"
            )
    return ids, faults


def _notices(outgoing: OutgoingProject, since: str) -> list[Notice]:
    """Notices of publication on the screen."""
    kinds: dict[StoredRound, Kind] = {"judge": "comments", "adjudicate": "reasons"}
    kind = kinds.get(outgoing.part.stored)
    publishes = outgoing.form.words("screen.published") in unescape(outgoing.form.label_config)
    return [] if kind is None else [Notice(outgoing.assessor, kind, "screen", since, publishes)]


def _opinions_on_server(
    outgoing: OutgoingProject, listed: Sequence[StudioTask], ids: Mapping[PairKey, int]
) -> dict[PairKey, Sequence[Judgement]]:
    """Opinions on the server after a push: an answered task keeps its earlier ones."""
    shown_before = {task.task_id: opinions_in(task.data) for task in listed}
    return {
        question: outgoing.opinions[question]
        for question, task_id in ids.items()
        if question in outgoing.opinions
        and shown_before.get(task_id) in (None, opinions_in(outgoing.tasks[question]["data"]))
    }


def _lost_questions(
    ended: Iterable[PairKey], staying: Collection[str | None], gone: Collection[str] | None
) -> list[PairKey]:
    """The questions without a task on the server, and with a withdrawn document; None takes every document."""
    of_them = (question for question in ended if gone is None or question.doc_id in gone)
    return [question for question in of_them if pair_key(*question) not in staying]


def _tasks_of_withdrawn(
    tasks: Iterable[StudioTask], questions: Mapping[str, PairKey], gone: Collection[str]
) -> set[int]:
    """The server's numbers of the tasks about withdrawn documents."""
    keys = {key for key, question in questions.items() if question.doc_id in gone}
    return {task.task_id for task in tasks if task.key in keys}


def _stale(
    listed: Sequence[StudioTask],
    outgoing: OutgoingProject,
    questions: Mapping[str, PairKey],
    known: Collection[str],
    gone: Collection[str],
) -> list[StudioTask]:
    """Unanswered tasks to delete; those that are still asked are sent again.

    known: keys of tasks that were sent before, or whose answer is on record, so that they are not sent.

    These are tasks with a text that was corrected since; in judging also tasks that come before an earlier one; in
    adjudication also pairs that are no dispute any more, and disputes whose opinions have changed; and everywhere those
    of withdrawn documents (`gone`).
    """
    tasks = {pair_key(*question): task for question, task in outgoing.tasks.items()}
    waiting = [task for task in listed if not task.annotations]
    stale = {task.task_id for task in waiting if task.key in tasks and has_earlier_text(task, tasks[task.key])}
    if outgoing.part.stored == "judge":
        new = tasks.keys() - known
        stale |= {task.task_id for task in tasks_to_resend(listed, list(tasks.values()), new=new)}
    elif outgoing.part.stored == "adjudicate":
        shown = {key: opinions_in(task["data"]) for key, task in tasks.items()}
        stale = {
            task.task_id
            for task in waiting
            if task.key in questions and (task.task_id in stale or shown.get(task.key or "") != opinions_in(task.data))
        }
    stale |= _tasks_of_withdrawn(waiting, questions, gone)
    return [task for task in listed if task.task_id in stale]
