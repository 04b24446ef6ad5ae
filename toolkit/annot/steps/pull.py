"""Judgements back from Label Studio: every payload kept, a changed annotation a new revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from annot.exchange.collecting import Collected, Found, collect
from annot.exchange.connection import connect
from annot.records import Judgement, Source
from annot.store import judgements, people
from annot.store.database import Store, open_store
from annot.store.projects import Project
from annot.study.exports import export_judgements, without_ids
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

Advance = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Pulled:
    """The assessors after the pull, and what a person should know."""

    assessors: tuple[Collected, ...]
    notes: tuple[str, ...]


def pull(ws: Workspace, *, url: str | None, api_key: str | None, advance: Advance) -> Pulled:
    """Bring back every annotation of every judging project and write `exports/judgements.jsonl`."""
    rows: list[Collected] = []
    notes: list[str] = []
    with open_store(ws.database_url, create=False) as store:
        with connect(ws, url=url, api_key=api_key) as gateway:
            hauls = collect(
                store,
                gateway,
                round="judge",
                grades=ws.settings.scale.grades,
                hint="send the tasks with `annot push`",
                advance=advance,
            )
            for haul in hauls:
                assessor = haul.project.assessor
                recorded_at = datetime.now(UTC).isoformat(timespec="seconds")
                with store.begin() as session:
                    done = judgements.record_judgements(
                        session, [_sourced(one, haul.project) for one in haul.found], recorded_at=recorded_at
                    )
                    vanished = judgements.record_vanished(
                        session,
                        source=Source.LABEL_STUDIO,
                        server=haul.project.server,
                        assessor=assessor,
                        seen=haul.seen,
                        recorded_at=recorded_at,
                    )
                rows.append(_row(store, assessor, haul.found, done.added, done.revised + vanished))
                notes += haul.notes
                notes += _flags(assessor, haul.found)
        with store.read() as session:
            outcome = outcome_of(session)
    export_judgements(ws, outcome)
    return Pulled(tuple(rows), tuple(notes))


def _sourced(one: Found, project: Project) -> judgements.SourcedJudgement:
    reading = one.reading
    return judgements.SourcedJudgement(
        Judgement(
            *one.asked.pair,
            project.assessor,
            reading.grade,
            cannot_judge=reading.cannot_judge,
            comment=reading.comment,
            judged_at=reading.created_at,
            lead_time=reading.lead_time,
            flags=reading.flags,
            occasion=one.asked.occasion,
        ),
        Source.LABEL_STUDIO,
        one.annotation,
        reading.payload,
        server=project.server,
    )


def _row(store: Store, assessor: str, found: tuple[Found, ...], new: int, changed: int) -> Collected:
    with store.read() as session:
        assigned = len(people.read_assignments(session, assessor))
    judged = {one.asked for one in found if not one.reading.flags}
    flagged = sum(bool(one.reading.flags) for one in found)
    return Collected(assessor, assigned, len(judged), new, changed, flagged)


def _flags(assessor: str, found: tuple[Found, ...]) -> list[str]:
    """Why annotations do not count, each reason with how often."""
    reasons = Counter(without_ids(flag) for one in found for flag in one.reading.flags)
    return [f"{assessor}: {count} annotation(s) do not count: {reason}" for reason, count in sorted(reasons.items())]
