"""What was collected into the store: nothing that counted stops counting unless the lead says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from sqlmodel import Session

from annot.base.errors import FindingError, MissingInput
from annot.base.names import counted, moment_now
from annot.base.records import OLDER, Advance, Judgement
from annot.judging.exchange.collecting import Collected, Seen, collect
from annot.judging.exchange.rounds import ANSWERS, PARTS, Round, Wishes
from annot.judging.exchange.servers import Unreachable, isolated, on_servers, unreachable_finding, unreachable_notes
from annot.judging.trial_answers import current_answers
from annot.labelstudio.annotations import Reading
from annot.labelstudio.gateway import Gateway
from annot.store import projects, trials
from annot.store.projects import Project
from annot.store.revisions import R, Sourced
from annot.store.shown import keep_composed
from annot.study.workspace import Workspace

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
class Pulled:
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


def pull_round(
    ws: Workspace, round: Round, wishes: Wishes, *, advance: Advance, seen: dict[int, Seen] | None = None
) -> Pulled:
    """Record each project of the round, server by server."""
    wanted = {part.stored for part in round.parts}
    with ws.reading() as session:
        sent = [project for project in projects.read_projects(session) if project.round in wanted]
    names = sorted({project.assessor for project in sent if project.remote_id is not None})
    if not names and isolated(ws):
        raise MissingInput("nothing was sent", hint=round.hint)
    recorded: list[RecordedProject] = []
    keep = not wishes.dry_run

    def record_each(gateway: Gateway, _names: Sequence[str]) -> None:
        for collected in collect(ws, gateway, round, advance=advance, seen=seen, keep=keep):
            done = round.record(ws, collected, wishes)
            if PARTS[collected.project.round].graded:
                recorded.append(done)

    unreachable = on_servers(ws, names, record_each)
    notes = (*(note for one in recorded for note in one.notes), *unreachable_notes(unreachable))
    lost = tuple(answer for one in recorded for answer in one.lost)
    return Pulled(tuple(one.row for one in recorded), notes, lost, wishes.accept_deletions, unreachable)


def record_counting(
    round: Round,
    ws: Workspace,
    collected: Collected,
    wishes: Wishes,
    sourced: Callable[[Reading, Project], Sourced[Any]],
    *,
    assigned: int,
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
        if wishes.accept_deletions:
            given_up = [(lost.line.current, lost.why) for lost in collected.lost]
            withdrawn = revisions.withdraw(session, given_up, recorded_at=recorded_at)
        lines = revisions.lines(session, person=person)
    answered = {line.record.asked for line in lines if line.counts}
    older = sum(line.counts and line.latest.record.flags == (OLDER,) for line in lines)
    flagged, changed = collected.flagged(round.answer), read.revised + gone.revised + withdrawn
    counts = (assigned, len(answered), read.added, changed, collected.not_counting, len(collected.lost))
    answers = [(missing.line.record.asked, missing.why) for missing in collected.lost]
    lost = [Lost(person, asked.query_id, asked.doc_id, asked.occasion, why, part.push) for asked, why in answers]
    remaining = _what_remains(collected, older, lost if withdrawn else [])
    return RecordedProject(PulledProject(person, *counts, part.title), [*collected.notes, *flagged, *remaining], lost)


def record_beside(
    ws: Workspace, collected: Collected, source_of: Callable[[Session], Callable[[Reading], str]] | None = None
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


def _keep_displays(session: Session, collected: Collected) -> None:
    """Keep what tasks displayed that a killed push did not note down."""
    keep_composed(session, collected.shown, (reading.shown_sha256 for reading in collected.found))


def sourced_judgement(reading: Reading, project: Project, *, source: str) -> Sourced[Judgement]:
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


def sourced(record: R, reading: Reading, project: Project, *, source: str) -> Sourced[R]:
    """A record of what was read, with where it comes from."""
    return Sourced(
        record,
        source,
        reading.annotation,
        reading.payload,
        server=project.server,
        account=reading.account,
        changed_at=reading.changed_at,
        shown_sha256=reading.shown_sha256,
    )


def _what_remains(collected: Collected, older: int, withdrawn: list[Lost]) -> Iterable[str]:
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
