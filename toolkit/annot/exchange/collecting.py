"""What both rounds share on the way back: every annotation of every task, read, checked, none lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annot.errors import InputError, MissingInput, StudioError
from annot.exchange.sending import counting, own_tasks
from annot.labelstudio.annotations import Reading, read_task
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import pair_key
from annot.records import Asked
from annot.store import projects
from annot.store.database import Store
from annot.store.projects import Project, Round
from annot.store.revisions import Recorded
from annot.study.exports import without_ids

Advance = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Collected:
    """One person's project after a pull."""

    assessor: str
    assigned: int
    judged: int
    """Pairs with an answer that counts."""
    new: int
    changed: int
    """Further revisions of known annotations, deleted ones included."""
    flagged: int
    """Annotations that do not count."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """Everyone's project after a pull, and what a person should know."""

    assessors: tuple[Collected, ...]
    notes: tuple[str, ...]


class Found(NamedTuple):
    """One annotation of one task, read."""

    asked: Asked
    reading: Reading

    @property
    def annotation(self) -> str:
        """The server's id, as text."""
        return str(self.reading.payload["id"])


class Haul(NamedTuple):
    """Everything on one project."""

    project: Project
    found: tuple[Found, ...]
    notes: tuple[str, ...]

    @property
    def seen(self) -> set[str]:
        """The server's ids of all annotations, as text."""
        return {annotation.annotation for annotation in self.found}

    def collected(self, *, assigned: int, judged: int, recorded: Recorded, vanished: int) -> Collected:
        """The person's line after the recording. judged: pairs with an answer that counts."""
        flagged = sum(bool(annotation.reading.flags) for annotation in self.found)
        changed = recorded.revised + vanished
        return Collected(self.project.assessor, assigned, judged, recorded.added, changed, flagged)

    def flagged(self, what: str) -> list[str]:
        """Why answers do not count, each reason with how often. what: what an answer is called."""
        reasons = Counter(without_ids(flag) for annotation in self.found for flag in annotation.reading.flags)
        person = self.project.assessor
        return [f"{person}: {count} {what}(s) do not count: {reason}" for reason, count in sorted(reasons.items())]


def collect(
    store: Store, gateway: Gateway, *, round: Round, grades: Sequence[int], hint: str, advance: Advance
) -> Iterator[Haul]:
    """The annotations of each project of the round on this server, one project at a time, complete or not at all."""
    server = gateway.identity()
    with store.read() as session:
        every = projects.read_projects(session, round=round)
        pushed = [project for project in every if project.server == server and project.remote_id is not None]
        tasks = {project.project: projects.read_tasks(session, project.project) for project in pushed}
        own = {project.project: own_tasks(session, round, project.assessor) for project in pushed}
    if not pushed:
        raise MissingInput(f"nothing was sent to {gateway.url}", hint=hint)
    unknown = [project.assessor for project in pushed if project.account_id is None]
    if unknown:
        raise InputError(
            f"the account of {', '.join(unknown)} on {gateway.url} is not known, so answers cannot be attributed",
            hint="the account was changed; `annot push` looks for the new one",
        )
    more = counting(advance, total=sum(len(tasks[project.project]) for project in pushed))
    for project in pushed:
        yield _haul(gateway, project, tasks[project.project], own[project.project], grades, more)


def _haul(
    gateway: Gateway,
    project: Project,
    tasks: dict[Asked, int],
    own: dict[str, Asked],
    grades: Sequence[int],
    more: Callable[[int], None],
) -> Haul:
    assert project.remote_id is not None
    assert project.account_id is not None
    pulled = gateway.pull(project.remote_id, advance=more)
    if tasks and not pulled:
        raise StudioError(
            f"project {project.remote_id} of {project.assessor} is empty, expected {len(tasks)} tasks",
            hint="somebody deleted them in Label Studio; what was pulled before is safe, `annot push` sends them again",
        )
    # A push that was killed has sent tasks that it did not note down: they are of the plan all the same.
    ours = {**own, **{pair_key(*asked): asked for asked in tasks}}
    there = {task.key for task in pulled}
    notes = []
    gone = {pair_key(*asked) for asked in tasks} - there
    if gone:
        notes.append(f"{project.assessor}: {len(gone)} task(s) are gone from the server; `annot push` sends them again")
    strangers = sum(task.key not in ours for task in pulled)
    if strangers:
        notes.append(f"{project.assessor}: ignored {strangers} task(s) that do not belong to this study")
    found = [
        Found(ours[task.key], reading)
        for task in pulled
        if task.key is not None and task.key in ours
        for reading in read_task(task.annotations, grades=grades, expected_account=project.account_id)
    ]
    return Haul(project, tuple(found), tuple(notes))
