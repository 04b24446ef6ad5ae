"""What both rounds share on the way back: every annotation of every task read and checked, and what is gone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from annot.base.errors import MissingInput
from annot.base.records import OLDER, SUPERSEDED, Advance, Asked
from annot.judging.exchange.locating import locate, marker_of
from annot.judging.exchange.rounds import ANSWERS, ROUNDS, own_tasks
from annot.judging.exchange.sending import counting
from annot.labelstudio.annotations import EDITED, SKIPPED, OnRecord, Reading, account_of, read_task
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import PulledTask
from annot.labelstudio.tasks import pair_key
from annot.store import people, projects
from annot.store.database import Store
from annot.store.guidelines import Shown, read_shown
from annot.store.projects import Project, Round
from annot.store.revisions import GONE, Line
from annot.study.exports import without_ids
from annot.study.workspace import Workspace

PROJECT_GONE = "its project was deleted"
PROJECT_EMPTY = "its project holds no task"
TASK_GONE = "its task was deleted"
ANNOTATION_GONE = "its annotation was deleted"
FORGOTTEN = "the server has an earlier state, as after a restore from a backup"
LAG = timedelta(seconds=10)
"""A change with an earlier moment may be seen later, by less than this."""


class Found(NamedTuple):
    """One annotation of one task, read."""

    asked: Asked
    reading: Reading
    guidelines_sha256: str | None
    """Of what stood beside the task when the annotation was last changed."""

    @property
    def annotation(self) -> str:
        """The server's id, as text."""
        return str(self.reading.payload["id"])


class Missing(NamedTuple):
    """An annotation on record that the server no longer has as it was, and the reason."""

    line: Line[Any]
    why: str


class Haul(NamedTuple):
    """Everything on one project."""

    project: Project
    found: tuple[Found, ...]
    gone: tuple[Missing, ...]
    """Annotations that were found before and are no longer, whether they counted or not."""
    lost: tuple[Missing, ...]
    """Answers that count on record, and that the server no longer has or no longer counts."""
    edited: int
    """Answers that somebody else changed; the person's own answer stands."""
    notes: tuple[str, ...]
    again: int = 0
    """Answers that count on record and are gone, and whose person has given another one since."""

    def flagged(self, what: str) -> list[str]:
        """Why answers do not count, each reason with how often. what: what an answer is called."""
        reasons = Counter(without_ids(flag) for annotation in self.found for flag in annotation.reading.flags)
        person = self.project.assessor
        return [f"{person}: {count} {what}(s) do not count: {reason}" for reason, count in sorted(reasons.items())]


class Seen(NamedTuple):
    """What a project held when it was pulled the last time."""

    tasks: int
    since: str
    """Before the latest change, by as much as another may come late; as the server writes it."""
    late: frozenset[tuple[str | None, str | None]]
    """The tasks that were changed since then: key and moment."""


def collect(
    ws: Workspace,
    store: Store,
    gateway: Gateway,
    *,
    round: Round,
    hint: str,
    advance: Advance,
    seen: dict[int, Seen] | None = None,
) -> Iterator[Haul]:
    """The annotations of each project of the round on this server, one project at a time, complete or not at all.

    seen: by project id, for those who collect again and again; it is kept up to date. Of a project that was seen only
    the tasks are collected that have changed since, and a project without any is left out.
    """
    server = gateway.identity()
    with store.read() as session:
        every = projects.read_projects(session, round=round)
        pushed = [project for project in every if project.server == server and project.remote_id is not None]
        tasks = {project.project: projects.read_tasks(session, project.project) for project in pushed}
        own = {project.project: own_tasks(session, round, project.assessor) for project in pushed}
        shown = {project.project: read_shown(session, project.project) for project in pushed}
        addresses = {person.assessor: person.account for person in people.read_assessors(session)}
    if not pushed:
        raise MissingInput(f"nothing was sent to {gateway.url}", hint=hint)
    present = {project.assessor: project.account_id for project in pushed}
    if None in present.values():
        ids = gateway.user_ids()
        found = {name: ids.get((addresses.get(name) or "").lower()) for name in present}
        present = {name: account if account is not None else found[name] for name, account in present.items()}
    more = counting(advance, total=sum(len(tasks[project.project]) for project in pushed))
    for project in pushed:
        # Before the server is asked: what another pull records meanwhile is not missed here.
        lines = lines_of(store, project)
        others = {account for name, account in present.items() if name != project.assessor}
        accounts = accounts_of(lines, present[project.assessor], others)
        # A push that was killed has sent tasks that it did not note down: they are of the plan all the same.
        asked_before = (*tasks[project.project], *(asked for asked, _ in lines))
        noted = {pair_key(*asked): asked for asked in asked_before}
        ours = {**noted, **own[project.project]} if round == "adjudicate" else {**own[project.project], **noted}
        marker = marker_of(ws.settings.collection.name, project.round, project.assessor)
        there = locate(gateway, project, marker=marker, own=ours)
        before = None if seen is None or there is None else seen.get(there.project_id)
        if there is None:
            pulled: tuple[PulledTask, ...] = ()
        elif before is None or before.tasks != there.tasks:
            before, pulled = None, gateway.pull(there.project_id, advance=more)
        else:
            pulled = _changed(gateway, there.project_id, before)
            if not pulled:
                continue
        why_all = None if pulled else PROJECT_GONE if there is None else PROJECT_EMPTY
        sent: Set[Asked] = {ours[pair_key(*asked)] for asked in tasks[project.project]}
        if before is not None:
            asked = {ours[task.key] for task in pulled if task.key in ours}
            sent, lines = sent & asked, {at: line for at, line in lines.items() if at[0] in asked}
        haul = _haul(ws, project, pulled, ours, sent, shown[project.project], lines, accounts, why_all)
        yield haul
        if there is not None and there.opens_instructions and haul.found:
            # From now on F5 leads straight on to the next open task.
            gateway.open_instructions(there.project_id, False)
        # It is recorded now. A pair that stands there twice is read from all its tasks, so always from the whole.
        single = before is not None or len({task.key for task in pulled}) == len(pulled)
        if seen is not None and there is not None and pulled and single:
            seen[there.project_id] = _seen(before, pulled)


def _changed(gateway: Gateway, project_id: int, before: Seen) -> tuple[PulledTask, ...]:
    listed = gateway.tasks_of(project_id, since=before.since)
    new = [task.task_id for task in listed if (task.key, task.updated_at) not in before.late]
    return gateway.pull(project_id, task_ids=new)


def _seen(before: Seen | None, pulled: Sequence[PulledTask]) -> Seen:
    moments = {(task.key, task.updated_at) for task in pulled} | (before.late if before else frozenset())
    latest = datetime.fromisoformat(max(moment or "" for _, moment in moments))
    since = (latest - LAG).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    late = frozenset((key, moment) for key, moment in moments if (moment or "") >= since)
    return Seen(before.tasks if before else len(pulled), since, late)


def lines_of(store: Store, project: Project) -> dict[tuple[Asked, str], Line[Any]]:
    """What is on record of this person on this server, by what was asked and the annotation's id.

    Nothing of a round that never counts: what is gone of it from the server is lost to nobody.
    """
    if project.round not in ANSWERS:
        return {}
    revisions = ANSWERS[project.round]
    with store.read() as session:
        lines = revisions.lines(session, server=project.server, person=project.assessor)
        if any(line.counts and line.stands.changed_at is None for line in lines):
            # Older records have the account in the payload alone.
            lines = revisions.lines(session, server=project.server, person=project.assessor, payload=True)
    return {(line.stands.record.asked, line.stands.annotation): line for line in lines}


def _account_on_record(line: Line[Any]) -> int | None:
    stands = line.stands
    return stands.account if stands.account is not None or not stands.payload else account_of(stands.payload)


def _changed_on_record(line: Line[Any]) -> str | None:
    stands = line.stands
    return stands.changed_at or (stands.payload or {}).get("updated_at")


def accounts_of(lines: Mapping[Any, Line[Any]], present: int | None, others: set[int | None]) -> list[int]:
    """The accounts that are the person's: the present one, and those of their answers that nobody else has now."""
    former = {_account_on_record(line) for line in lines.values() if line.counts} - others
    return sorted({account for account in (present, *former) if account is not None})


def _haul(
    ws: Workspace,
    project: Project,
    pulled: Sequence[PulledTask],
    ours: Mapping[str, Asked],
    sent: Set[Asked],
    shown: Shown,
    lines: Mapping[tuple[Asked, str], Line[Any]],
    accounts: Sequence[int],
    why_all: str | None,
) -> Haul:
    known = [(ours[task.key], task) for task in pulled if task.key is not None and task.key in ours]
    by_asked = dict(known)
    counting_lines: defaultdict[Asked, dict[str, Line[Any]]] = defaultdict(dict)
    for (asked, annotation), line in lines.items():
        if line.counts:
            counting_lines[asked][annotation] = line
    found = []
    for asked, task in known:
        on_record = {
            annotation: OnRecord(_account_on_record(line), line.stands.record.judged_at, _changed_on_record(line))
            for annotation, line in counting_lines[asked].items()
        }
        readings = read_task(task.annotations, grades=ws.settings.scale.grades, accounts=accounts, on_record=on_record)
        found += [Found(asked, reading, shown.at(asked, reading.changed_at)) for reading in readings]
    gone, lost, again, edited = _compare(found, lines, by_asked, why_all)
    notes = _notes(project, accounts, why_all, len(sent - by_asked.keys()), len(pulled) - len(known))
    return Haul(project, tuple(found), tuple(gone), tuple(lost), edited, tuple(notes), again)


def _compare(
    found: Sequence[Found],
    lines: Mapping[tuple[Asked, str], Line[Any]],
    by_asked: Mapping[Asked, PulledTask],
    why_all: str | None,
) -> tuple[list[Missing], list[Missing], int, int]:
    """The annotations on record that were not found, and the answers that are lost; how many of them were given again,
    and how many others have edited."""
    readings = {(one.asked, one.annotation): one.reading for one in found}
    later: dict[Asked, str] = {}
    for one in found:
        if not one.reading.flags:
            later[one.asked] = one.reading.changed_at or ""
    gone, lost, again, edited = [], [], 0, 0
    for (asked, annotation), line in lines.items():
        reading = readings.get((asked, annotation))
        stands = line.stands
        if reading is None or (line.counts and reading.created_at != stands.record.judged_at):
            missing = Missing(
                line, _why_known(line) or why_all or _why_gone(by_asked.get(asked), _changed_on_record(line))
            )
            if reading is None and not _known_as_gone(line):
                gone.append(missing)
        elif not reading.flags or OLDER in reading.flags or reading.flags[0].startswith(SUPERSEDED):
            continue
        elif any(flag.startswith(EDITED) for flag in reading.flags) and SKIPPED not in reading.flags:
            edited += line.counts
            continue
        else:
            missing = Missing(line, "; ".join(map(without_ids, reading.flags)))
        answered_again = later.get(asked, "") > (_changed_on_record(line) or "")
        if line.counts and not line.kept and not answered_again:
            lost.append(missing)
        again += line.counts and answered_again and not line.why.startswith(GONE)
    return gone, lost, again, edited


def _known_as_gone(line: Line[Any]) -> bool:
    """Whether nothing new can be said of an annotation that is not found."""
    return line.latest.ruling is not None or line.why.startswith(GONE)


def _why_known(line: Line[Any]) -> str:
    """The reason that was found the first time: what was done since hides it."""
    return line.why.removeprefix(f"{GONE}: ") if line.why.startswith(GONE) else ""


def _why_gone(task: PulledTask | None, changed_at: str | None) -> str:
    if task is None:
        return TASK_GONE
    return FORGOTTEN if (task.updated_at or "") < (changed_at or "") else ANNOTATION_GONE


def _notes(project: Project, accounts: Sequence[int], why_all: str | None, gone: int, strangers: int) -> Iterator[str]:
    person = project.assessor
    push = f"`{ROUNDS[project.round].push}`"
    if not accounts:
        yield f"{person}: the server has no account of this person, so no new answer can be attributed"
    if why_all == PROJECT_GONE:
        yield f"{person}: the project is gone from the server; {push} makes it again, with its open tasks"
    elif gone:
        yield f"{person}: {gone} task(s) are gone from the server; {push} sends those without an answer again"
    if strangers > 0:
        yield f"{person}: ignored {strangers} task(s) that do not belong to this study"
