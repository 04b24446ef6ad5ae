"""What was collected into the store: nothing that counted stops counting unless the lead says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from annot.base.errors import FindingError, MissingInput
from annot.base.records import OLDER, Advance, Judgement
from annot.judging.exchange.collecting import Found, Haul, Seen, collect
from annot.judging.exchange.connection import Away, away_finding, away_notes, on_servers
from annot.judging.exchange.rounds import ANSWERS
from annot.judging.exchange.set_back import with_set_back
from annot.judging.exchange.whose_server import isolated
from annot.labelstudio.gateway import Gateway
from annot.store import projects
from annot.store.database import Store
from annot.store.projects import Project, Round
from annot.store.revisions import R, Sourced
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


@dataclass(frozen=True, slots=True)
class Collected:
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


@dataclass(frozen=True, slots=True)
class Pulled:
    """Everyone's project after a pull, and what a person should know."""

    assessors: tuple[Collected, ...]
    notes: tuple[str, ...]
    lost: tuple[Lost, ...] = ()
    """They count on, unless `withdrawn`."""
    withdrawn: bool = False
    away: tuple[Away, ...] = ()
    open: int | None = None
    """Planned judgements that have no answer yet; None where that was not looked at."""

    def finding(self, command: str) -> FindingError | None:
        """What the lead has to decide on or do, if there is anything. command: `annot pull`, or another that pulls."""
        away = away_finding(self.away, command)
        if not self.lost or self.withdrawn:
            return away
        push = command.replace("pull", "push")
        lost = FindingError(
            f"{len(self.lost)} answer(s) that counted are not on the server as they were; they count on",
            faults=list(_told(self.lost)),
            hint=f"to have them count no longer: `{command} --accept-deletions`; to keep them for good: "
            f"`annot answers restore --all`; `{push}` sends what is missing and unanswered",
        )
        if away is None:
            return lost
        both = f"{lost.message}; {away.message}"
        return FindingError(both, faults=[*lost.faults, *away.faults], hint=f"{lost.hint}; {away.hint}")


class Taken(NamedTuple):
    """What became of one project."""

    row: Collected
    notes: Sequence[str]
    lost: Sequence[Lost] = ()


def pull_round(
    ws: Workspace,
    store: Store,
    take: Callable[[Haul], Taken],
    *,
    round: Round,
    hint: str,
    advance: Advance,
    accept_deletions: bool = False,
    seen: dict[int, Seen] | None = None,
) -> Pulled:
    """`take` each project of the round, server by server. hint: how the tasks are sent, for when none were."""
    with store.read() as session:
        sent = projects.read_projects(session, round=round)
    names = sorted({project.assessor for project in sent if project.remote_id is not None})
    if not names and isolated(ws):
        raise MissingInput("nothing was sent", hint=hint)
    taken: list[Taken] = []

    def take_each(gateway: Gateway, _names: Sequence[str]) -> None:
        for haul in collect(ws, store, gateway, round=round, hint=hint, advance=advance, seen=seen):
            taken.append(take(with_set_back(store, haul)))

    away = on_servers(ws, store, names, take_each)
    notes = (*(note for one in taken for note in one.notes), *away_notes(away))
    lost = tuple(answer for one in taken for answer in one.lost)
    return Pulled(tuple(one.row for one in taken), notes, lost, accept_deletions, away)


def record_haul(
    store: Store,
    haul: Haul,
    sourced: Callable[[Found, Project], Sourced[Any]],
    *,
    assigned: int,
    what: str,
    accept_deletions: bool,
) -> Taken:
    """Append what one project brought, and say what it came to. what: what an answer is called.

    With `accept_deletions` the answers that are lost are withdrawn; otherwise they count on.
    """
    revisions: Any = ANSWERS[haul.project.round]
    person = haul.project.assessor
    recorded_at = datetime.now(UTC).isoformat(timespec="seconds")
    with store.begin() as session:
        read = revisions.record(
            session, [sourced(found, haul.project) for found in haul.found], recorded_at=recorded_at
        )
        missing = [(gone.line.stands, gone.why) for gone in haul.gone]
        gone = revisions.record_gone(session, missing, recorded_at=recorded_at)
        withdrawn = 0
        if accept_deletions:
            given_up = [(lost.line.stands, lost.why) for lost in haul.lost]
            withdrawn = revisions.withdraw(session, given_up, recorded_at=recorded_at)
        lines = revisions.lines(session, person=person)
    answered = {line.stands.record.asked for line in lines if line.counts}
    older = sum(line.counts and line.latest.record.flags == (OLDER,) for line in lines)
    row = Collected(
        person,
        assigned,
        len(answered),
        read.added,
        read.revised + gone.revised + withdrawn,
        sum(bool(found.reading.flags) for found in haul.found),
        len(haul.lost),
    )
    answers = [(missing.line.stands.record.asked, missing.why) for missing in haul.lost]
    lost = [Lost(person, asked.query_id, asked.doc_id, asked.occasion, why) for asked, why in answers]
    return Taken(row, [*haul.notes, *haul.flagged(what), *_stands(haul, older, lost if withdrawn else [])], lost)


def sourced_judgement(found: Found, project: Project, *, source: str) -> Sourced[Judgement]:
    """What was found, as the assessor's judgement."""
    reading = found.reading
    judgement = Judgement(
        *found.asked.pair,
        project.assessor,
        reading.grade,
        cannot_judge=reading.cannot_judge,
        comment=reading.comment,
        judged_at=reading.created_at,
        lead_time=reading.lead_time,
        flags=reading.flags,
        occasion=found.asked.occasion,
    )
    return sourced(judgement, found, project, source=source)


def sourced(record: R, found: Found, project: Project, *, source: str) -> Sourced[R]:
    """A record of what was found, with where it comes from."""
    reading = found.reading
    return Sourced(
        record,
        source,
        found.annotation,
        reading.payload,
        server=project.server,
        account=reading.account,
        changed_at=reading.changed_at,
        guidelines_sha256=found.guidelines_sha256,
    )


def _stands(haul: Haul, older: int, withdrawn: list[Lost]) -> Iterable[str]:
    person = haul.project.assessor
    if haul.edited:
        yield f"{person}: {haul.edited} answer(s) were changed by somebody else; the person's own answers count"
    if older:
        yield f"{person}: the server holds {older} answer(s) in an earlier state; those on record count"
    if withdrawn:
        yield f"{person}: {len(withdrawn)} answer(s) count no longer; `annot answers list` lists them"


def _told(lost: Iterable[Lost]) -> Iterable[str]:
    """A line for each person and reason: how many, and the first pairs."""

    def group(one: Lost) -> tuple[str, str]:
        return one.assessor, one.why

    for (person, why), members in groupby(sorted(lost, key=group), key=group):
        answers = list(members)
        pairs = ", ".join(f"{one.query_id} {one.doc_id}" for one in answers[:SHOWN_PAIRS])
        more = ", ..." if len(answers) > SHOWN_PAIRS else ""
        yield f"{person}: {len(answers)} answer(s), {why}: {pairs}{more}"
