"""Judgements back from Label Studio: every payload kept, a changed annotation a new revision."""

from __future__ import annotations

from datetime import UTC, datetime

from annot.exchange.collecting import Advance, Collected, Found, Pulled, collect
from annot.exchange.connection import connect
from annot.exchange.trials import without_hidden_gold
from annot.records import Judgement, Source
from annot.store import judgements, people, trials
from annot.store.database import open_store
from annot.store.projects import Project
from annot.study.exports import export_judgements
from annot.study.outcome import outcome_of
from annot.study.trials import hidden_gold_of, hidden_on_record
from annot.study.workspace import Workspace


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
                    haul = without_hidden_gold(session, haul, recorded_at=recorded_at)
                    recorded = judgements.record_judgements(
                        session, [_sourced(one, haul.project) for one in haul.found], recorded_at=recorded_at
                    )
                    vanished = judgements.record_vanished(
                        session,
                        source=Source.LABEL_STUDIO,
                        server=haul.project.server,
                        person=assessor,
                        seen=haul.seen,
                        recorded_at=recorded_at,
                    )
                    assigned = len(people.read_assignments(session, assessor))
                judged = {one.asked for one in haul.found if not one.reading.flags}
                rows.append(haul.collected(assigned=assigned, judged=len(judged), recorded=recorded, vanished=vanished))
                notes += [*haul.notes, *haul.flagged("annotation")]
        with store.begin() as session:
            outcome = outcome_of(session)
            for probed in hidden_gold_of(ws, session):
                trials.put_trial(session, f"hidden-gold/{probed.assessor}", hidden_on_record(probed))
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
