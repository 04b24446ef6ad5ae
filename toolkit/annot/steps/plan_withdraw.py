"""Taking planned pairs back: those that were never sent, and whole queries that were sent and nobody has answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from annot.base.errors import InputError, MissingInput, StudioError
from annot.base.names import known_query
from annot.base.records import Asked, Assignment
from annot.judging.exchange.servers import on_servers
from annot.judging.plan_file import record_plan, write_plan
from annot.judging.planning.handing_on import renumbered
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import StudioTask
from annot.labelstudio.tasks import pair_key
from annot.store import judgements, people, pools, projects
from annot.store.database import Store, open_store
from annot.store.projects import Project
from annot.store.queries import read_queries
from annot.study.workspace import Workspace

OCCASIONS = (1, 2)
"""On which a pair can be asked before it is judged."""


def withdraw(ws: Workspace, *, queries: tuple[str, ...], sent: bool, dry_run: bool) -> int:
    """Take back the pairs that were sent to nobody and that nobody has judged; returns how many assignments they had.

    `queries` limits it to these queries. sent: take these queries back although they were sent, with their tasks, if
    nobody has answered any of them; every server is asked, and once more just before tasks are deleted. Raises
    MissingInput when nothing is planned, InputError when nothing can be taken back: people would go on with tasks that
    nobody knows of.
    """
    if sent and not queries:
        raise InputError("--sent: found no query, expected those to take back", hint="name each with --query")
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            standing = people.read_assignments(session)
            known = {query.query_id: query for query in read_queries(session)}
        if not standing:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        chosen = {known_query(known, name).query_id for name in queries} or set(known)
        if sent:
            _unsend(ws, store, chosen, dry_run=dry_run)
        leaving, remaining = _drop(ws, store, chosen, of_query=bool(queries), unsent=sent, dry_run=dry_run)
    if not dry_run:
        write_plan(ws, remaining)
    return leaving


def _drop(
    ws: Workspace, store: Store, chosen: set[str], *, of_query: bool, unsent: bool, dry_run: bool
) -> tuple[int, tuple[Assignment, ...]]:
    """Take out of the plan what holds nobody; how many assignments those were, and those that remain.

    unsent: in a dry run, that what was sent of these queries would have been taken back by now.
    """
    with store.begin() as session:
        standing = people.read_assignments(session)
        sent = projects.read_sent(session)
        bound = {asked.pair for of_person in sent.values() for asked in of_person}
        if unsent and dry_run:
            bound = {pair for pair in bound if pair[0] not in chosen}
        bound |= {one.pair for one in judgements.read_judgements(session)}
        leaving = {one for one in standing if one.query_id in chosen and one.pair not in bound}
        if not leaving:
            of = f" of {', '.join(sorted(chosen))}" if of_query else ""
            who = f"; tasks were sent to {', '.join(sorted(sent))}" if sent else ""
            raise InputError(
                f"every planned pair{of} was sent or judged{who}",
                hint="a query without an answer can be taken back: `annot plan withdraw --query QUERY --sent`",
            )
        remaining = renumbered(one for one in standing if one not in leaving)
        if not dry_run and remaining:
            record_plan(ws, session, remaining, dropped={one.pair for one in leaving})
        elif not dry_run:
            people.withdraw_plan(session)
    return len(leaving), remaining


def _unsend(ws: Workspace, store: Store, chosen: set[str], *, dry_run: bool) -> None:
    """Delete the tasks of these queries from every server, and forget them.

    Raises InputError, and deletes nothing, where somebody has answered one of them, and StudioError where a server
    cannot be asked.
    """
    with store.read() as session:
        judged = {one.query_id for one in judgements.read_judgements(session)} & chosen
        documents = pools.documents_by_query(session)
        tasks = {
            project: [asked for asked in projects.read_tasks(session, project.project) if asked.query_id in chosen]
            for project in projects.read_projects(session, round="judge")
            if project.remote_id is not None
        }
    if judged:
        raise InputError(f"{', '.join(sorted(judged))}: judged already", hint="judgements are never deleted")
    # A push that was killed may have sent what it did not note down.
    possible = (Asked(name, doc_id, at) for name in chosen for doc_id in documents.get(name, ()) for at in OCCASIONS)
    keys = {pair_key(*asked): asked for asked in (*possible, *(asked for own in tasks.values() for asked in own))}

    def look(gateway: Gateway, project: Project) -> list[StudioTask]:
        assert project.remote_id is not None
        return [task for task in gateway.tasks_of(project.remote_id) if task.key in keys]

    answered: list[str] = []

    def refuse_answered(gateway: Gateway, project: Project) -> None:
        pairs = [keys[task.key or ""] for task in look(gateway, project) if task.annotations]
        answered.extend(f"{asked.query_id} {asked.doc_id}: answered by {project.assessor}" for asked in pairs)

    def delete(gateway: Gateway, project: Project) -> None:
        assert project.remote_id is not None
        gateway.delete_unanswered(project.remote_id, [task.task_id for task in look(gateway, project)])
        staying = {keys[task.key or ""] for task in look(gateway, project)}
        with store.begin() as session:
            projects.forget_tasks(session, project.project, [asked for asked in tasks[project] if asked not in staying])
        answered.extend(f"{asked.query_id} {asked.doc_id}: answered by {project.assessor}" for asked in staying)

    def refuse(what: str, hint: str) -> None:
        if answered:
            raise InputError(f"{len(answered)} task(s) {what}", faults=answered, hint=f"`annot pull` brings {hint}")

    _on_each(ws, store, tasks, refuse_answered)
    refuse(
        "are answered already; nothing was deleted",
        "the answers in; a query that people have begun with stays in the plan",
    )
    if dry_run:
        return
    _on_each(ws, store, tasks, delete)
    refuse(
        "were answered while the others were deleted; the queries stay in the plan",
        "the answers in, and `annot push` sends again what was deleted",
    )


def _on_each(
    ws: Workspace, store: Store, tasks: Mapping[Project, Sequence[Asked]], work: Callable[[Gateway, Project], None]
) -> None:
    """Do `work` on every project; StudioError where one could not be reached."""
    done: set[Project] = set()
    if not tasks:
        return

    def on_server(gateway: Gateway, names: Sequence[str]) -> None:
        server = gateway.identity()
        for project in tasks:
            if project.server == server and project.assessor in names:
                work(gateway, project)
                done.add(project)

    away = on_servers(ws, store, sorted({project.assessor for project in tasks}), on_server)
    missed = [project for project, asked in tasks.items() if asked and project not in done]
    if missed:
        whys = {one.assessor: one.why for one in away}
        raise StudioError(
            f"{len(missed)} project(s) could not be asked; what was sent stays in the plan",
            faults=[f"{one.assessor}: {whys.get(one.assessor, f'the tasks are on {one.url}')}" for one in missed],
            hint="run the command again when every server answers, or name the server with --url",
        )
