"""Answers collected from the server, and put on record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import FindingError, MissingInput
from annot.base.names import counted, moment_now, without_ids
from annot.base.records import OLDER, SUPERSEDED, Advance, Judgement, PairKey
from annot.judging.exchange.displayed_content import with_texts_on_server
from annot.judging.exchange.round_parts import ANSWERS, PARTS, RoundPart, own_tasks
from annot.judging.exchange.sending import counting
from annot.judging.exchange.servers import (
    Unreachable,
    locate,
    marker_of,
    unreachable_finding,
)
from annot.judging.trial_answers import current_answers
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import EDITED, SKIPPED, TEXT_FIELD, PulledTask, ReadAnnotation, read_task
from annot.labelstudio.tasks import pair_key
from annot.store import people, projects, trials
from annot.store.projects import Project
from annot.store.revisions import GONE, AnnotationHistory, R, SourcedAnswer
from annot.store.shown import NOTHING_SHOWN, ShownTasks, keep_composed, read_shown, read_sources
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# What all rounds share on the way back: every annotation of every task read and checked, and what is gone.
# ----------------------------------------------------------------------------------------------------------------------


PROJECT_GONE = "its project was deleted"
PROJECT_EMPTY = "its project has no tasks"
TASK_GONE = "its task was deleted"
ANNOTATION_GONE = "its annotation was deleted"
FORGOTTEN = "the server has an earlier state, as after a restore from a backup"
LAG = timedelta(seconds=10)
"""A change with an earlier moment may be seen later, by less than this."""


class MissingAnnotation(NamedTuple):
    """An annotation on record that the server no longer has as it was, and the reason."""

    line: AnnotationHistory[Any]
    why: str


class CollectedProject(NamedTuple):
    """Everything on one project."""

    project: Project
    tasks: int
    """Of ours that were looked at."""
    accounts: Sequence[int]
    """The server's ids of the accounts that are the person's."""
    found: tuple[ReadAnnotation, ...]
    gone: tuple[MissingAnnotation, ...]
    """Annotations that were found before and are no longer, whether they counted or not."""
    lost: tuple[MissingAnnotation, ...]
    """Answers that count on record, and that the server no longer has or no longer counts."""
    edited: int
    """Answers that somebody else changed; the person's own answer stands."""
    notes: tuple[str, ...]
    shown: ShownTasks = NOTHING_SHOWN
    """What its tasks showed, and when."""
    texts: Mapping[PairKey, str] = MappingProxyType({})
    """The HTML of the texts that its tasks show on the server."""

    @property
    def not_counting(self) -> int:
        """Annotations that do not count."""
        return sum(bool(found.flags) for found in self.found)

    def flagged(self, what: str) -> list[str]:
        """Why answers do not count, each reason with how often. what: what an answer is called."""
        reasons = Counter(without_ids(flag) for annotation in self.found for flag in annotation.flags)
        person = self.project.assessor
        return [f"{person}: {counted(count, what)} not counted: {reason}" for reason, count in sorted(reasons.items())]


class PullCursor(NamedTuple):
    """What a project held when it was pulled the last time."""

    tasks: int
    since: str
    """Before the latest change, by as much as another may come late; as the server writes it."""
    late: frozenset[tuple[str | None, str | None]]
    """The tasks that were changed since then: key and moment."""


def collect(
    ws: Workspace,
    gateway: Gateway,
    parts: Sequence[RoundPart],
    *,
    hint: str,
    advance: Advance,
    seen: dict[int, PullCursor] | None = None,
    keep: bool,
) -> Iterator[CollectedProject]:
    """The annotations of each project of the round on this server, one at a time, complete or not at all.

    seen: by our number of the project, for those who collect again and again; it is kept up to date. Of a project that
    was seen only the tasks are collected that have changed since, and a project without any is left out.
    keep: what is collected is recorded, and not only looked at.
    """
    server = gateway.identity()
    with ws.reading() as session:
        every = [project for part in parts for project in projects.read_projects(session, round=part.stored)]
        pushed = [project for project in every if project.server == server and project.remote_id is not None]
        tasks = {project.project: projects.read_tasks(session, project.project) for project in pushed}
        own = {project.project: own_tasks(session, project.round, project.assessor) for project in pushed}
        sources = read_sources(session)
        shown = {project.project: read_shown(session, project.project, sources) for project in pushed}
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
        lines = lines_of(ws, project)
        others = {account for name, account in present.items() if name != project.assessor}
        accounts = accounts_of(lines, present[project.assessor], others)
        # A push that was killed has sent tasks that it did not note down: they are of the plan all the same.
        asked_before = (*tasks[project.project], *(asked for asked, _ in lines))
        noted = {pair_key(*asked): asked for asked in asked_before}
        planned = own[project.project]
        ours = {**noted, **planned} if project.round == "adjudicate" else {**planned, **noted}
        marker = marker_of(ws.settings.collection.name, project.round, project.assessor)
        there = locate(gateway, project, marker=marker, own=ours)
        before = None if seen is None or there is None else seen.get(project.project)
        if there is None:
            pulled: tuple[PulledTask, ...] = ()
        elif before is None or before.tasks != there.tasks:
            before, pulled = None, gateway.pull(there.project_id, advance=more)
        else:
            pulled = _changed(gateway, there.project_id, before)
            if not pulled:
                continue
        why_all = None if pulled else PROJECT_GONE if there is None else PROJECT_EMPTY
        sent: Set[PairKey] = {ours[pair_key(*asked)] for asked in tasks[project.project]}
        if before is not None:
            asked = {ours[task.key] for task in pulled if task.key in ours}
            sent, lines = sent & asked, {at: line for at, line in lines.items() if at[0] in asked}
        collected = _collected(ws, project, pulled, ours, sent, shown[project.project], lines, accounts, why_all)
        yield collected
        if there is not None and there.opens_instructions and collected.found and keep:
            # From now on F5 leads straight on to the next open task.
            gateway.open_instructions(there.project_id, False)
        # It is recorded now. A pair that stands there twice is read from all its tasks, so always from the whole.
        single = before is not None or len({task.key for task in pulled}) == len(pulled)
        if seen is not None and there is not None and pulled and single:
            seen[project.project] = _seen(before, pulled)


def _changed(gateway: Gateway, project_id: int, before: PullCursor) -> tuple[PulledTask, ...]:
    listed = gateway.tasks_of(project_id, since=before.since)
    new = [task.task_id for task in listed if (task.key, task.updated_at) not in before.late]
    return gateway.pull(project_id, task_ids=new)


def _seen(before: PullCursor | None, pulled: Sequence[PulledTask]) -> PullCursor:
    moments = {(task.key, task.updated_at) for task in pulled} | (before.late if before else frozenset())
    latest = datetime.fromisoformat(max(moment or "" for _, moment in moments))
    since = (latest - LAG).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    late = frozenset((key, moment) for key, moment in moments if (moment or "") >= since)
    return PullCursor(before.tasks if before else len(pulled), since, late)


def lines_of(ws: Workspace, project: Project) -> dict[tuple[PairKey, str], AnnotationHistory[Any]]:
    """What is on record of this person on this server, by what was asked and the annotation's id.

    Nothing of a round that never counts: what is gone of it from the server is lost to nobody.
    """
    if project.round not in ANSWERS:
        return {}
    revisions = ANSWERS[project.round]
    with ws.reading() as session:
        lines = revisions.lines(session, server=project.server, person=project.assessor)
    return {(line.record.asked, line.current.annotation): line for line in lines}


def accounts_of(lines: Mapping[Any, AnnotationHistory[Any]], present: int | None, others: set[int | None]) -> list[int]:
    """The accounts that are the person's: the present one, and those of their answers that nobody else has now."""
    former = {line.current.account for line in lines.values() if line.counts} - others
    return sorted({account for account in (present, *former) if account is not None})


def _collected(
    ws: Workspace,
    project: Project,
    pulled: Sequence[PulledTask],
    ours: Mapping[str, PairKey],
    sent: Set[PairKey],
    shown: ShownTasks,
    lines: Mapping[tuple[PairKey, str], AnnotationHistory[Any]],
    accounts: Sequence[int],
    why_all: str | None,
) -> CollectedProject:
    known = [(ours[task.key], task) for task in pulled if task.key is not None and task.key in ours]
    by_asked = dict(known)
    counting_lines: defaultdict[PairKey, dict[str, AnnotationHistory[Any]]] = defaultdict(dict)
    for (asked, annotation), line in lines.items():
        if line.counts:
            counting_lines[asked][annotation] = line
    found = []
    for asked, task in known:
        known_of_task = {annotation: line.current for annotation, line in counting_lines[asked].items()}
        readings = read_task(
            task.annotations, asked=asked, grades=ws.settings.scale.grades, accounts=accounts, on_record=known_of_task
        )
        found += [replace(one, shown_sha256=shown.at(asked, one.changed_at)) for one in readings]
    if project.round in ANSWERS:
        with ws.reading() as session:
            counting = {(asked, annotation) for asked, of in counting_lines.items() for annotation in of}
            found = with_texts_on_server(session, shown, found, by_asked, counting)
    gone, lost, edited = _compare(found, lines, by_asked, why_all)
    notes = _notes(project, accounts, why_all, len(sent - by_asked.keys()), len(pulled) - len(known))
    texts = {asked: str(task.data.get(TEXT_FIELD, "")) for asked, task in known}
    return CollectedProject(
        *(project, len(known), accounts, tuple(found), tuple(gone), tuple(lost), edited, tuple(notes), shown, texts)
    )


def _compare(
    found: Sequence[ReadAnnotation],
    lines: Mapping[tuple[PairKey, str], AnnotationHistory[Any]],
    by_asked: Mapping[PairKey, PulledTask],
    why_all: str | None,
) -> tuple[list[MissingAnnotation], list[MissingAnnotation], int]:
    """The annotations on record that were not found, the answers that are lost, and how many others have edited."""
    readings = {(one.asked, one.annotation): one for one in found}
    later: dict[PairKey, str] = {}
    for one in found:
        if not one.flags:
            later[one.asked] = one.changed_at or ""
    gone, lost, edited = [], [], 0
    for (asked, annotation), line in lines.items():
        reading = readings.get((asked, annotation))
        current = line.current
        if reading is None or (line.counts and reading.created_at != current.record.judged_at):
            missing = MissingAnnotation(
                line, _why_known(line) or why_all or _why_gone(by_asked.get(asked), line.current.changed_at)
            )
            if reading is None and not _known_as_gone(line):
                gone.append(missing)
        elif not reading.flags or OLDER in reading.flags or reading.flags[0].startswith(SUPERSEDED):
            continue
        elif any(flag.startswith(EDITED) for flag in reading.flags) and SKIPPED not in reading.flags:
            edited += line.counts
            continue
        else:
            missing = MissingAnnotation(line, "; ".join(map(without_ids, reading.flags)))
        answered_again = later.get(asked, "") > (line.current.changed_at or "")
        if line.counts and not line.kept and not answered_again:
            lost.append(missing)
    return gone, lost, edited


def _known_as_gone(line: AnnotationHistory[Any]) -> bool:
    """Whether nothing new can be said of an annotation that is not found."""
    return line.latest.ruling is not None or line.why.startswith(GONE)


def _why_known(line: AnnotationHistory[Any]) -> str:
    """The reason that was found the first time: what was done since hides it."""
    return line.why.removeprefix(f"{GONE}: ") if line.why.startswith(GONE) else ""


def _why_gone(task: PulledTask | None, changed_at: str | None) -> str:
    if task is None:
        return TASK_GONE
    return FORGOTTEN if (task.updated_at or "") < (changed_at or "") else ANNOTATION_GONE


def _notes(project: Project, accounts: Sequence[int], why_all: str | None, gone: int, strangers: int) -> Iterator[str]:
    person = project.assessor
    push = f"`{PARTS[project.round].push}`"
    if not accounts:
        yield f"{person}: the server has no account for this person, so new answers cannot be attributed"
    if why_all == PROJECT_GONE:
        yield f"{person}: the project is missing from the server; {push} creates it again with its open tasks"
    elif gone:
        yield f"{person}: {counted(gone, 'task')} missing from the server; {push} sends those without an answer again"
    if strangers > 0:
        yield f"{person}: ignored {counted(strangers, 'task')} from outside this study"


# ----------------------------------------------------------------------------------------------------------------------
# What was collected into the store: nothing that counted stops counting unless the lead says so.
# ----------------------------------------------------------------------------------------------------------------------


SHOWN_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Lost:
    """An answer that counted and that the server no longer has, or no longer counts."""

    assessor: str
    query_id: str
    doc_id: str
    occasion: int
    why: str
    push: str = "annot push"
    """The command that sends what is missing and unanswered."""


@dataclass(frozen=True, slots=True)
class PulledProject:
    """One person's project after a pull."""

    assessor: str
    assigned: int
    judged: int
    """Pairs with an answer that counts."""
    new: int
    changed: int
    """Further revisions of known annotations: changed, gone, withdrawn."""
    flagged: int
    """Annotations that do not count."""
    lost: int
    """Answers that counted and that the server no longer has, or no longer counts."""
    part: str = ""
    """What the project is for, in words."""


@dataclass(frozen=True, slots=True)
class PullResult:
    """Everyone's project after a pull, and what a person should know."""

    assessors: tuple[PulledProject, ...]
    notes: tuple[str, ...]
    lost: tuple[Lost, ...] = ()
    """They count on, unless `withdrawn`."""
    withdrawn: bool = False
    unreachable: tuple[Unreachable, ...] = ()
    open: int | None = None
    """Planned judgements that have no answer yet; None if that was not looked at."""

    def finding(self, command: str) -> FindingError | None:
        """What the lead has to decide on or do, if there is anything. command: `annot pull`, or that of a round."""
        unreachable = unreachable_finding(self.unreachable, command)
        if not self.lost or self.withdrawn:
            return unreachable
        pushes = sorted({one.push for one in self.lost})
        push = " and ".join(f"`{one}`" for one in pushes) + (" sends" if len(pushes) == 1 else " send")
        lost = FindingError(
            f"{counted(len(self.lost), 'answer')} changed or missing on the server; what is on record still counts",
            faults=list(_faults(self.lost)),
            hint=f"to withdraw them: `{command} --accept-deletions`; to keep them for good: "
            f"`annot answers restore --all`; {push} missing tasks without an answer again",
        )
        if unreachable is None:
            return lost
        both = f"{lost.message}; {unreachable.message}"
        return FindingError(both, faults=[*lost.faults, *unreachable.faults], hint=f"{lost.hint}; {unreachable.hint}")


class RecordedProject(NamedTuple):
    """What became of one project."""

    row: PulledProject
    notes: Sequence[str]
    lost: Sequence[Lost] = ()


def record_counting(
    ws: Workspace,
    collected: CollectedProject,
    sourced: Callable[[ReadAnnotation, Project], SourcedAnswer[Any]],
    *,
    answer: str,
    assigned: int,
    accept_deletions: bool,
) -> RecordedProject:
    """Append what one project of a round that makes the collection brought.

    If deletions are accepted, the answers that are lost are withdrawn; otherwise they count on.
    """
    part = PARTS[collected.project.round]
    revisions: Any = ANSWERS[part.stored]
    person = collected.project.assessor
    recorded_at = moment_now()
    with ws.writing() as session:
        _keep_displays(session, collected)
        read = revisions.record(
            session, [sourced(found, collected.project) for found in collected.found], recorded_at=recorded_at
        )
        missing = [(gone.line.current, gone.why) for gone in collected.gone]
        gone = revisions.record_gone(session, missing, recorded_at=recorded_at)
        withdrawn = 0
        if accept_deletions:
            given_up = [(lost.line.current, lost.why) for lost in collected.lost]
            withdrawn = revisions.withdraw(session, given_up, recorded_at=recorded_at)
        lines = revisions.lines(session, person=person)
    answered = {line.record.asked for line in lines if line.counts}
    older = sum(line.counts and line.latest.record.flags == (OLDER,) for line in lines)
    flagged, changed = collected.flagged(answer), read.revised + gone.revised + withdrawn
    counts = (assigned, len(answered), read.added, changed, collected.not_counting, len(collected.lost))
    answers = [(missing.line.record.asked, missing.why) for missing in collected.lost]
    lost = [Lost(person, asked.query_id, asked.doc_id, asked.occasion, why, part.push) for asked, why in answers]
    remaining = _what_remains(collected, older, lost if withdrawn else [])
    return RecordedProject(PulledProject(person, *counts, part.title), [*collected.notes, *flagged, *remaining], lost)


def record_beside(
    ws: Workspace,
    collected: CollectedProject,
    source_of: Callable[[Session], Callable[[ReadAnnotation], str]] | None = None,
) -> RecordedProject:
    """Append what one project of a round that never counts brought. What is gone stays on record, and counts there.

    source_of: under which source each answer is kept, where that is not the round.
    """
    part, person = PARTS[collected.project.round], collected.project.assessor
    with ws.writing() as session:
        _keep_displays(session, collected)
        source = (lambda _: part.stored) if source_of is None else source_of(session)
        recorded = trials.record_answers(
            session,
            [sourced_judgement(found, collected.project, source=source(found)) for found in collected.found],
            recorded_at=moment_now(),
        )
        assigned = len(trials.read_assignments(session, part.stored, person))
        current = [one for one in current_answers(session, part.stored) if one.counts and one.assessor == person]
    counts = (assigned, len(current), recorded.added, recorded.revised, collected.not_counting, 0)
    notes = [*collected.notes, *collected.flagged("answer")]
    return RecordedProject(PulledProject(person, *counts, part.title), notes)


def _keep_displays(session: Session, collected: CollectedProject) -> None:
    """Keep what tasks displayed that a killed push did not note down."""
    keep_composed(session, collected.shown, (reading.shown_sha256 for reading in collected.found))


def sourced_judgement(reading: ReadAnnotation, project: Project, *, source: str) -> SourcedAnswer[Judgement]:
    """What was read, as the assessor's judgement."""
    judgement = Judgement(
        *reading.asked.pair,
        project.assessor,
        reading.grade,
        cannot_judge=reading.cannot_judge,
        comment=reading.comment,
        judged_at=reading.created_at,
        lead_time=reading.lead_time,
        flags=reading.flags,
        occasion=reading.asked.occasion,
    )
    return sourced(judgement, reading, project, source=source)


def sourced(record: R, reading: ReadAnnotation, project: Project, *, source: str) -> SourcedAnswer[R]:
    """A record of what was read, with where it comes from."""
    return SourcedAnswer(
        record,
        source,
        reading.annotation,
        reading.payload,
        server=project.server,
        account=reading.account,
        changed_at=reading.changed_at,
        shown_sha256=reading.shown_sha256,
    )


def _what_remains(collected: CollectedProject, older: int, withdrawn: list[Lost]) -> Iterable[str]:
    person = collected.project.assessor
    if collected.edited:
        edited = counted(collected.edited, "answer")
        yield f"{person}: {edited} changed by another account; the person's own answers count"
    if older:
        yield f"{person}: the server has an earlier state of {counted(older, 'answer')}; those on record count"
    if withdrawn:
        yield f"{person}: {counted(len(withdrawn), 'answer')} withdrawn; `annot answers list` lists them"


def _faults(lost: Iterable[Lost]) -> Iterable[str]:
    """A line for each person and reason: how many, and the first pairs."""

    def group(one: Lost) -> tuple[str, str]:
        return one.assessor, one.why

    for (person, why), members in groupby(sorted(lost, key=group), key=group):
        answers = list(members)
        pairs = ", ".join(f"{one.query_id} {one.doc_id}" for one in answers[:SHOWN_PAIRS])
        more = ", ..." if len(answers) > SHOWN_PAIRS else ""
        yield f"{person}: {counted(len(answers), 'answer')}, {why}: {pairs}{more}"
