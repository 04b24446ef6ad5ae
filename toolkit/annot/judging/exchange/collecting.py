"""Rounds of exchange with people, and their answers collected from the server and put on record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from annot.base.errors import FindingError, MissingInput
from annot.base.names import counted, moment_now, without_ids
from annot.base.records import OLDER, SUPERSEDED, Advance, Judgement, PairKey
from annot.judging.exchange import servers
from annot.judging.exchange.displayed_content import with_texts_on_server
from annot.judging.exchange.outgoing import OutgoingProject
from annot.judging.exchange.sending import SentProject, counting
from annot.judging.exchange.servers import ANSWERS, PARTS, RoundName, RoundPart, Unreachable, own_tasks
from annot.judging.trial_answers import current_answers
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import (
    EDITED,
    SKIPPED,
    Payload,
    PulledTask,
    ReadAnnotation,
    StudioProject,
    read_task,
)
from annot.labelstudio.tasks import pair_key
from annot.store import people, projects, trials
from annot.store.answers import GONE, TRIALS, AnnotationHistory, R, SourcedAnswer
from annot.store.models import Project, Session
from annot.store.shown import NOTHING_SHOWN, ShownTasks, ShownVersion, keep_contents, read_shown, read_sources
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The way back that all rounds share: every annotation of every task, read and compared with the record.
# ----------------------------------------------------------------------------------------------------------------------


PROJECT_GONE = "its project was deleted"
PROJECT_EMPTY = "its project has no tasks"
TASK_GONE = "its task was deleted"
ANNOTATION_GONE = "its annotation was deleted"
FORGOTTEN = "the server has an earlier state, as after a restore from a backup"
LAG = timedelta(seconds=10)
"""Longest time by which a change becomes visible later than its moment."""


MissingAnnotation = tuple[AnnotationHistory[Any], str]
"""An annotation on record that the server no longer has as it was, and the reason."""


Cursors = dict[int, "PullCursor"]
"""Cursors by our number of the project."""


class CollectedProject(NamedTuple):
    """All annotations of one person's project, compared with the record."""

    project: Project
    tasks: int
    """Number of our tasks that were read."""
    accounts: Sequence[int]
    """The server's ids of the person's accounts."""
    readings: tuple[ReadAnnotation, ...]
    gone: tuple[MissingAnnotation, ...]
    """Annotations on record that the server no longer has, whether they counted or not."""
    lost: tuple[MissingAnnotation, ...]
    """Answers on record that count, and that the server no longer has or no longer counts."""
    edited: int
    """Number of answers that another account changed; the person's own answers count."""
    notes: tuple[str, ...]
    shown: ShownTasks = NOTHING_SHOWN
    """Displays of its tasks, with the moments from which they were shown."""
    data: Mapping[PairKey, Payload] = MappingProxyType({})
    """Fields that its tasks show on the server, by question."""

    @property
    def not_counting(self) -> int:
        """Number of annotations that do not count."""
        return sum(bool(annotation.flags) for annotation in self.readings)

    def flagged(self, noun: str) -> list[str]:
        """Reasons why answers do not count, each with their number. noun: the word for an answer."""
        reasons = Counter(without_ids(flag) for annotation in self.readings for flag in annotation.flags)
        person = self.project.assessor
        return [f"{person}: {counted(count, noun)} not counted: {reason}" for reason, count in sorted(reasons.items())]


class PullCursor(NamedTuple):
    """The state of a project when it was last pulled."""

    tasks: int
    since: str
    """Moment before the latest change, earlier by `LAG`, as the server writes it."""
    late: frozenset[tuple[str | None, str | None]]
    """Key and moment of the tasks that were changed since then."""


def collect(
    ws: Workspace,
    gateway: Gateway,
    parts: Sequence[RoundPart],
    *,
    hint: str,
    advance: Advance,
    cursors: Cursors | None = None,
    keep: bool,
) -> Iterator[CollectedProject]:
    """The annotations of each project of these parts on this server, one at a time, complete or not at all.

    hint: advice if nothing was sent there.
    cursors: cursors by our number of the project, kept up to date for a caller who collects again and again. Only the
    tasks that have changed since are collected, and a project without any is left out.
    keep: True if the caller records the annotations, and does not only look at them.
    """
    records = list(_records(ws, gateway.identity(), parts))
    if not records:
        raise MissingInput(f"nothing was sent to {gateway.url}", hint=hint)
    present = _present_accounts(ws, gateway, [record.project for record in records])
    counter = counting(advance, total=sum(len(record.sent) for record in records))
    for record in records:
        project = record.project
        # Read before the server is asked: an answer that another pull records meanwhile is not missed here.
        lines = lines_of(ws, project)
        others = {account for name, account in present.items() if name != project.assessor}
        accounts = accounts_of(lines, present[project.assessor], others)
        questions = record.questions(question for question, _ in lines)
        marker = servers.marker_of(ws.settings.collection.name, project.round, project.assessor)
        current = servers.locate(gateway, project, marker=marker, known_keys=questions)
        pulled, cursor = _pulled(gateway, current, (cursors or {}).get(project.project), counter)
        if cursor is not None and not pulled:
            continue
        collected = _collected(ws, record, pulled, questions, lines, accounts, current, changed_only=cursor is not None)
        yield collected
        if current is not None and current.opens_instructions and collected.readings and keep:
            # From now on F5 leads straight on to the next open task.
            gateway.open_instructions(current.project_id, False)
        # It is recorded now. A pair with two tasks is read from both, so always from the complete project.
        single = cursor is not None or len({task.key for task in pulled}) == len(pulled)
        if cursors is not None and pulled and single:
            cursors[project.project] = _advanced_cursor(cursor, pulled)


class ProjectRecord:
    """One project and its tasks on record, before the server is asked."""

    def __init__(self, session: Session, project: Project, sources: Any) -> None:
        self.project = project
        self.sent = projects.read_tasks(session, project.project)
        """Questions of the tasks that pushes have noted down."""
        self.planned = own_tasks(session, project.round, project.assessor)
        """Questions that the person may be asked, by key."""
        self.shown = read_shown(session, project.project, sources)

    def questions(self, answered: Iterable[PairKey]) -> dict[str, PairKey]:
        """Questions that the tasks of the project may ask, by key. answered: those with an answer on record.

        A push that was killed has sent tasks that it did not note down; they are part of the plan all the same.
        """
        noted = {pair_key(*question): question for question in (*self.sent, *answered)}
        return {**noted, **self.planned} if self.project.round == "adjudicate" else {**self.planned, **noted}


def _records(ws: Workspace, server: str, parts: Sequence[RoundPart]) -> Iterator[ProjectRecord]:
    """The projects of these parts that were sent to a server."""
    with ws.reading() as session:
        sources = read_sources(session)
        for project in (row for part in parts for row in projects.sent_projects(session, round=part.stored)):
            if project.server == server:
                yield ProjectRecord(session, project, sources)


def _present_accounts(ws: Workspace, gateway: Gateway, pushed: Sequence[Project]) -> dict[str, int | None]:
    """The server's id of each person's present account; None if the person has none there."""
    present = {project.assessor: project.account_id for project in pushed}
    if None not in present.values():
        return present
    addresses = {person.assessor: person.account for person in ws.read(people.read_assessors)}
    ids = gateway.user_ids()
    return {
        name: ids.get((addresses.get(name) or "").lower()) if account is None else account
        for name, account in present.items()
    }


def _pulled(
    gateway: Gateway, current: StudioProject | None, cursor: PullCursor | None, advance: Callable[[int], None]
) -> tuple[tuple[PulledTask, ...], PullCursor | None]:
    """The tasks of a project that have changed since the cursor, and the cursor; or all tasks, and None.

    current: the project on the server; None if it is gone.
    """
    if current is None:
        return (), None
    if cursor is None or cursor.tasks != current.tasks:
        return gateway.pull(current.project_id, advance=advance), None
    listed = gateway.tasks_of(current.project_id, since=cursor.since)
    changed = [task.task_id for task in listed if (task.key, task.updated_at) not in cursor.late]
    return gateway.pull(current.project_id, task_ids=changed), cursor


def _advanced_cursor(cursor: PullCursor | None, pulled: Sequence[PulledTask]) -> PullCursor:
    """The cursor after these tasks were recorded. cursor: the one before; None if these are all tasks."""
    moments = {(task.key, task.updated_at) for task in pulled} | (cursor.late if cursor else frozenset())
    latest = datetime.fromisoformat(max(moment or "" for _, moment in moments))
    since = (latest - LAG).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    late = frozenset((key, moment) for key, moment in moments if (moment or "") >= since)
    return PullCursor(cursor.tasks if cursor else len(pulled), since, late)


def lines_of(ws: Workspace, project: Project) -> dict[tuple[PairKey, str], AnnotationHistory[Any]]:
    """Annotations of this person on this server that are on record, by question and the annotation's id.

    Empty for a round that never counts: an answer of it that is gone from the server is no loss.
    """
    if project.round not in ANSWERS:
        return {}
    revisions = ANSWERS[project.round]
    lines = ws.read(revisions.lines, server=project.server, person=project.assessor)
    return {(line.record.pair_key, line.current.annotation): line for line in lines}


def accounts_of(lines: Mapping[Any, AnnotationHistory[Any]], present: int | None, others: set[int | None]) -> list[int]:
    """The person's accounts: the present one, and those of their answers unless another person has them now."""
    former = {line.current.account for line in lines.values() if line.counts} - others
    return sorted({account for account in (present, *former) if account is not None})


def _collected(
    ws: Workspace,
    record: ProjectRecord,
    pulled: Sequence[PulledTask],
    questions: Mapping[str, PairKey],
    lines: Mapping[tuple[PairKey, str], AnnotationHistory[Any]],
    accounts: Sequence[int],
    current: StudioProject | None,
    *,
    changed_only: bool,
) -> CollectedProject:
    """The annotations of the pulled tasks, compared with the record. changed_only: if these are not all tasks."""
    project, shown = record.project, record.shown
    tasks = [(questions[task.key], task) for task in pulled if task.key is not None and task.key in questions]
    by_question = dict(tasks)
    sent: Set[PairKey] = {questions[pair_key(*question)] for question in record.sent}
    if changed_only:
        sent &= by_question.keys()
        lines = {key: line for key, line in lines.items() if key[0] in by_question}
    counting_lines: defaultdict[PairKey, dict[str, AnnotationHistory[Any]]] = defaultdict(dict)
    for (question, annotation), line in lines.items():
        if line.counts:
            counting_lines[question][annotation] = line
    readings: list[ReadAnnotation] = []
    for question, task in tasks:
        on_record = {annotation: line.current for annotation, line in counting_lines[question].items()}
        readings += (
            replace(reading, shown_sha256=shown.at(question, reading.changed_at))
            for reading in read_task(
                task.annotations,
                pair_key=question,
                grades=ws.settings.scale.grades,
                accounts=accounts,
                on_record=on_record,
            )
        )
    if project.round in ANSWERS:
        with ws.reading() as session:
            counting = {(question, key) for question, of_question in counting_lines.items() for key in of_question}
            readings = with_texts_on_server(session, shown, readings, by_question, counting)
    why_all = None if pulled else PROJECT_GONE if current is None else PROJECT_EMPTY
    gone, lost, edited = _compare(readings, lines, by_question, why_all)
    return CollectedProject(
        project=project,
        tasks=len(tasks),
        accounts=accounts,
        readings=tuple(readings),
        gone=tuple(gone),
        lost=tuple(lost),
        edited=edited,
        notes=tuple(_notes(project, accounts, why_all, len(sent - by_question.keys()), len(pulled) - len(tasks))),
        shown=shown,
        data={question: task.data for question, task in tasks},
    )


def _compare(
    readings: Sequence[ReadAnnotation],
    lines: Mapping[tuple[PairKey, str], AnnotationHistory[Any]],
    by_question: Mapping[PairKey, PulledTask],
    why_all: str | None,
) -> tuple[list[MissingAnnotation], list[MissingAnnotation], int]:
    """Annotations on record that are gone, answers that are lost, and the number that other accounts have edited."""
    by_annotation = {(reading.pair_key, reading.annotation): reading for reading in readings}
    later = {reading.pair_key: reading.changed_at or "" for reading in readings if not reading.flags}
    gone, lost, edited = [], [], 0
    for (question, annotation), line in lines.items():
        reading = by_annotation.get((question, annotation))
        current = line.current
        if reading is None or (line.counts and reading.created_at != current.record.judged_at):
            missing = line, _reason_gone(line, by_question.get(question), why_all)
            if reading is None and line.latest.ruling is None and not line.why.startswith(GONE):
                gone.append(missing)
        elif _is_no_loss(reading):
            continue
        elif any(flag.startswith(EDITED) for flag in reading.flags) and SKIPPED not in reading.flags:
            edited += line.counts
            continue
        else:
            missing = line, "; ".join(map(without_ids, reading.flags))
        answered_again = later.get(question, "") > (current.changed_at or "")
        if line.counts and not line.kept and not answered_again:
            lost.append(missing)
    return gone, lost, edited


def _is_no_loss(reading: ReadAnnotation) -> bool:
    """True if an annotation counts, is older than the one on record, or gave way to a later one of the person."""
    return not reading.flags or OLDER in reading.flags or reading.flags[0].startswith(SUPERSEDED)


def _reason_gone(line: AnnotationHistory[Any], task: PulledTask | None, why_all: str | None) -> str:
    """The reason why an annotation is gone: the one on record first, as later changes on the server would hide it."""
    if line.why.startswith(GONE):
        return line.why.removeprefix(f"{GONE}: ")
    if why_all is not None or task is None:
        return why_all or TASK_GONE
    return FORGOTTEN if (task.updated_at or "") < (line.current.changed_at or "") else ANNOTATION_GONE


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
# Collected annotations into the store. An answer that counts stops counting only if the lead accepts it.
# ----------------------------------------------------------------------------------------------------------------------


SHOWN_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Lost:
    """A counting answer that the server no longer has, or no longer counts."""

    assessor: str
    query_id: str
    doc_id: str
    occasion: int
    why: str
    push: str = "annot push"
    """The command that sends missing tasks without an answer again."""


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
    """Purpose of the project, in words."""


@dataclass(frozen=True, slots=True)
class PullResult:
    """Everyone's project after a pull, and notes for the lead."""

    assessors: tuple[PulledProject, ...]
    notes: tuple[str, ...]
    lost: tuple[Lost, ...] = ()
    """Lost answers; they still count, unless `withdrawn`."""
    withdrawn: bool = False
    unreachable: tuple[Unreachable, ...] = ()
    open: int | None = None
    """Planned judgements that have no answer yet; None if they were not counted."""

    def finding(self, command: str) -> FindingError | None:
        """A finding that needs the lead, or None. command: `annot pull`, or that of a round."""
        unreachable = servers.unreachable_finding(self.unreachable, command)
        if not self.lost or self.withdrawn:
            return unreachable
        pushes = sorted({answer.push for answer in self.lost})
        push = " and ".join(f"`{command}`" for command in pushes) + (" sends" if len(pushes) == 1 else " send")
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


def record_counting(
    ws: Workspace,
    collected: CollectedProject,
    sourced: Callable[[ReadAnnotation, Project], SourcedAnswer[Any]],
    *,
    answer: str,
    assigned: int,
    accept_deletions: bool,
) -> PullResult:
    """Record the annotations of one project of a round that makes the collection.

    sourced: makes the record of an annotation. answer: the word for one. assigned: number of tasks.
    accept_deletions: withdraw the answers that are lost; otherwise they still count.
    """
    part = PARTS[collected.project.round]
    revisions: Any = ANSWERS[part.stored]
    person = collected.project.assessor
    recorded_at = moment_now()
    with ws.writing() as session:
        # A push that was killed may not have noted these down.
        keep_contents(session, collected.shown.bodies(reading.shown_sha256 for reading in collected.readings))
        read = revisions.record(
            session,
            [sourced(annotation, collected.project) for annotation in collected.readings],
            recorded_at=recorded_at,
        )
        missing = [(line.current, why) for line, why in collected.gone]
        gone = revisions.record_gone(session, missing, recorded_at=recorded_at)
        withdrawn = 0
        if accept_deletions:
            given_up = [(line.current, why) for line, why in collected.lost]
            withdrawn = revisions.withdraw(session, given_up, recorded_at=recorded_at)
        lines = revisions.lines(session, person=person)
    answered = {line.record.pair_key for line in lines if line.counts}
    older = sum(line.counts and line.latest.record.flags == (OLDER,) for line in lines)
    flagged, changed = collected.flagged(answer), read.revised + gone.revised + withdrawn
    counts = (assigned, len(answered), read.added, changed, collected.not_counting, len(collected.lost))
    questions: list[tuple[PairKey, str]] = [(line.record.pair_key, why) for line, why in collected.lost]
    lost = [Lost(person, *question.pair, question.occasion, why, part.push) for question, why in questions]
    remaining = _notes_on_record(collected, older, lost if withdrawn else [])
    notes = (*collected.notes, *flagged, *_not_asked_again(collected, answered), *remaining)
    return PullResult((PulledProject(person, *counts, part.title),), notes, tuple(lost))


def _not_asked_again(collected: CollectedProject, answered: Set[PairKey]) -> Iterator[str]:
    """A note on questions that Label Studio takes as answered though no annotation of them counts."""
    unanswered = sorted({reading.pair_key for reading in collected.readings if reading.flags} - answered)
    if unanswered:
        pairs = [" ".join(question.pair) for question in unanswered[:SHOWN_PAIRS]]
        rest = f", and {len(unanswered) - SHOWN_PAIRS} more" if len(unanswered) > SHOWN_PAIRS else ""
        yield (
            f"{collected.project.assessor}: without an answer that counts: {'; '.join(pairs)}{rest}; Label Studio asks "
            "again once you have deleted their annotations there"
        )


def record_uncounted(
    ws: Workspace,
    collected: CollectedProject,
    source_of: Callable[[Session], Callable[[ReadAnnotation], str]] | None = None,
) -> PullResult:
    """Record the annotations of one project of a round that never counts. Answers that are gone still count there.

    source_of: makes the function that names the source of each answer; None takes the name of the part.
    """
    part, person = PARTS[collected.project.round], collected.project.assessor
    with ws.writing() as session:
        # A push that was killed may not have noted these down.
        keep_contents(session, collected.shown.bodies(reading.shown_sha256 for reading in collected.readings))
        source = (lambda _: part.stored) if source_of is None else source_of(session)
        answers = [
            sourced_judgement(reading, collected.project, source=source(reading)) for reading in collected.readings
        ]
        recorded = TRIALS.record(session, answers, recorded_at=moment_now())
        assigned = len(trials.read_assignments(session, part.stored, person))
        current = current_answers(session, part.stored)
    answered = sum(judgement.counts and judgement.assessor == person for judgement in current)
    counts = (assigned, answered, recorded.added, recorded.revised, collected.not_counting, 0)
    return PullResult((PulledProject(person, *counts, part.title),), (*collected.notes, *collected.flagged("answer")))


def sourced_judgement(reading: ReadAnnotation, project: Project, *, source: str) -> SourcedAnswer[Judgement]:
    """The assessor's judgement in an annotation."""
    judgement = Judgement(
        *reading.pair_key.pair,
        project.assessor,
        reading.grade,
        cannot_judge=reading.cannot_judge,
        comment=reading.comment,
        judged_at=reading.created_at,
        lead_time=reading.lead_time,
        flags=reading.flags,
        occasion=reading.pair_key.occasion,
    )
    return sourced(judgement, reading, project, source=source)


def sourced(record: R, reading: ReadAnnotation, project: Project, *, source: str) -> SourcedAnswer[R]:
    """A record made of an annotation, with its source."""
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


def _notes_on_record(collected: CollectedProject, older: int, withdrawn: list[Lost]) -> Iterable[str]:
    person = collected.project.assessor
    if collected.edited:
        edited = counted(collected.edited, "answer")
        yield f"{person}: {edited} changed by another account; the person's own answers count"
    if older:
        yield f"{person}: the server has an earlier state of {counted(older, 'answer')}; those on record count"
    if withdrawn:
        yield f"{person}: {counted(len(withdrawn), 'answer')} withdrawn; `annot answers list` lists them"


def _faults(lost: Iterable[Lost]) -> Iterable[str]:
    """A line for each person and reason: the number of answers, and the first pairs."""

    def group(answer: Lost) -> tuple[str, str]:
        return answer.assessor, answer.why

    for (person, why), members in groupby(sorted(lost, key=group), key=group):
        answers = list(members)
        pairs = ", ".join(f"{answer.query_id} {answer.doc_id}" for answer in answers[:SHOWN_PAIRS])
        rest = ", ..." if len(answers) > SHOWN_PAIRS else ""
        yield f"{person}: {counted(len(answers), 'answer')}, {why}: {pairs}{rest}"


# ----------------------------------------------------------------------------------------------------------------------
# A round: one exchange with people through Label Studio, out and back. The five rounds are in `judging.rounds`.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """Options of a push or a pull; each is for some rounds only."""

    changed: str | None = None
    """Reason for changed names of grades, facets, guidelines, templates or [screen]; without it, a push stops if they
    have changed."""
    new_screen: bool = False
    """Send the screens of this version of the program, not those that were sent before."""
    assessor: tuple[str, ...] = ()
    """People to train, or people who correct labels."""
    view: str | None = None
    """Texts on which the pairs of the sub-study are judged."""
    texts: Path | None = None
    """Table of the addresses of full texts; None takes the one that the draw has written."""
    accept_deletions: bool = False
    """Withdraw the answers that the server no longer has."""
    dry_run: bool = False
    """Record nothing in a pull."""


NO_OPTIONS = RoundOptions()


class PreparedPush(NamedTuple):
    """Everything that a push of a round is about to send, and the tasks already withdrawn for it."""

    outgoing: Sequence[OutgoingProject]
    notes: Sequence[str] = ()
    unreachable: tuple[Unreachable, ...] = ()
    checked: bool = False
    """True if all of it has passed `check_outgoing`."""
    new_versions: Sequence[ShownVersion] = ()
    """Versions to put on record as in force from now on, before anything is sent."""
    withdrawn: Sequence[SentProject] = ()
    """A row for each project from which tasks were withdrawn already."""
    is_made: bool = True
    """True if this push, once it has succeeded, counts as one of the study as it is now."""


class Round(ABC):
    """One of the five exchanges with people: the tasks that it sends, and the records that answers become."""

    name: RoundName
    parts: tuple[RoundPart, ...]
    person = "assessor"
    """The word for one of its people."""
    answer = "answer"
    """The word for one of its answers."""
    option_names: frozenset[str] = frozenset()
    """Fields of `RoundOptions` that apply to it."""
    hint: str
    """Advice for a pull before any of its tasks were sent."""
    noted_as = ""
    """Name under which a push is noted as made, if the round makes the collection: then it sends the settings of
    annot.toml and puts each change on record. Other rounds send the settings on record."""

    @abstractmethod
    def prepare(self, ws: Workspace, options: RoundOptions, *, dry_run: bool) -> PreparedPush:
        """Make the tasks of everyone in the round."""

    def before_sending(self, session: Session, outgoing: Sequence[OutgoingProject]) -> None:
        """Put on record everything that must be there before people see these tasks. outgoing: projects of one part."""
        return

    @abstractmethod
    def record(self, ws: Workspace, collected: CollectedProject, options: RoundOptions) -> PullResult:
        """Store the answers of one project as records; returns its row, with notes and lost answers."""

    def after_pull(self, ws: Workspace) -> tuple[Sequence[str], int | None]:
        """Put the consequences of the answers on record; returns notes, and the number of answers still to come.

        The number is None if the study does not wait for any.
        """
        return (), None


def pull_round(
    ws: Workspace, round: Round, options: RoundOptions, *, advance: Advance, cursors: Cursors | None = None
) -> PullResult:
    """Fetch and record each project of the round, server by server. cursors: as `collect` takes it."""
    stored = {part.stored for part in round.parts}
    names = sorted({row.assessor for row in ws.read(projects.sent_projects) if row.round in stored})
    if not names and servers.isolated(ws):
        raise MissingInput("nothing was sent", hint=round.hint)
    recorded: list[PullResult] = []
    keep = not options.dry_run

    def record_each(gateway: Gateway, _names: Sequence[str]) -> None:
        for collected in collect(
            ws, gateway, round.parts, hint=round.hint, advance=advance, cursors=cursors, keep=keep
        ):
            pulled = round.record(ws, collected, options)
            if PARTS[collected.project.round].graded:
                recorded.append(pulled)

    unreachable = servers.on_servers(ws, names, record_each)
    together = joined(recorded)
    return replace(
        together,
        notes=(*together.notes, *servers.unreachable_notes(unreachable)),
        withdrawn=options.accept_deletions,
        unreachable=unreachable,
    )


def joined(pulls: Sequence[PullResult]) -> PullResult:
    """Several pulls as one."""
    counts = [pulled.open for pulled in pulls if pulled.open is not None]
    return PullResult(
        assessors=tuple(row for pulled in pulls for row in pulled.assessors),
        notes=tuple(note for pulled in pulls for note in pulled.notes),
        lost=tuple(answer for pulled in pulls for answer in pulled.lost),
        withdrawn=any(pulled.withdrawn for pulled in pulls),
        unreachable=tuple(dict.fromkeys(server for pulled in pulls for server in pulled.unreachable)),
        open=sum(counts) if counts else None,
    )
