"""The tasks of a query that was sent by mistake, taken back from the servers while nobody has answered them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from annot.base.errors import FindingError, InputError
from annot.base.names import counted
from annot.base.records import Asked
from annot.judging.exchange.servers import on_servers
from annot.judging.rounds.judging import REPEATED
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import StudioTask
from annot.labelstudio.tasks import pair_key
from annot.store import people, pools, projects
from annot.store.projects import Project
from annot.study.workspace import Workspace


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
    possible = {Asked(query_id, doc_id, occasion) for doc_id in documents for occasion in REPEATED}
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
