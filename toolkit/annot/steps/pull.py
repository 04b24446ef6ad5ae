"""Judgements back from Label Studio: every payload kept, a changed annotation a new revision, no answer lost."""

from __future__ import annotations

from datetime import datetime

from annot.exchange.collecting import Found, Seen, collect
from annot.exchange.connection import connect
from annot.exchange.recording import Collected, Lost, Pulled, record_haul
from annot.exchange.sending import Advance
from annot.exchange.trials import without_hidden_gold
from annot.records import Judgement, Source
from annot.store import judgements, people, trials
from annot.store.database import open_store
from annot.store.projects import Project
from annot.store.returned import read_returned
from annot.study.exports import export_judgements
from annot.study.outcome import outcome_of
from annot.study.overtaken import overtaken_of, told_overtaken
from annot.study.trials import hidden_gold_of, hidden_on_record
from annot.study.workspace import Workspace


def pull(
    ws: Workspace,
    *,
    url: str | None,
    api_key: str | None,
    advance: Advance,
    accept_deletions: bool = False,
    seen: dict[int, Seen] | None = None,
) -> Pulled:
    """Bring back every annotation of every judging project and write `exports/judgements.jsonl`.

    Answers that counted and that the server no longer has count on; with `accept_deletions` they are withdrawn.
    seen: as `exchange.collecting.collect` keeps it: only what has changed since is brought back.
    """
    rows: list[Collected] = []
    notes: list[str] = []
    lost: list[Lost] = []
    with open_store(ws.database_url, create=False) as store:
        with connect(ws, url=url, api_key=api_key) as gateway:
            hint = "send the tasks with `annot push`"
            for haul in collect(ws, store, gateway, round="judge", hint=hint, advance=advance, seen=seen):
                with store.begin() as session:
                    assessor = haul.project.assessor
                    assigned = len(people.read_assignments(session, assessor)) + sum(
                        back.assessor == assessor and back.withdrawn_at is None for back in read_returned(session)
                    )
                    haul = without_hidden_gold(session, haul)
                row, told, missing = record_haul(
                    store, haul, _sourced, assigned=assigned, what="annotation", accept_deletions=accept_deletions
                )
                rows.append(row)
                notes += told
                lost += missing
        if seen is not None and not rows:
            return Pulled((), ())
        with store.begin() as session:
            outcome = outcome_of(session, ws.settings)
            for probed in hidden_gold_of(ws, session):
                trials.put_trial(session, f"hidden-gold/{probed.assessor}", hidden_on_record(probed))
            overtaken = told_overtaken(overtaken_of(session))
            answered = {(answer.asked, answer.assessor) for answer in outcome.everything if answer.counts}
            left = sum((one.asked, one.assessor) not in answered for one in people.read_assignments(session))
    export_judgements(ws, outcome)
    notes += filter(None, [overtaken])
    return Pulled(tuple(rows), tuple(notes), tuple(lost), accept_deletions, left + len(outcome.waiting))


def told(pulled: Pulled, *, now: datetime) -> str:
    """One line on what a pull brought; nothing where it brought nothing."""
    if not pulled.assessors:
        return ""
    brought = (
        f"{row.assessor} {row.new} new" + (f" and {row.changed} changed" if row.changed else "")
        for row in pulled.assessors
    )
    return f"{now:%H:%M:%S}  {', '.join(brought)}; {pulled.open} to come"


def _sourced(found: Found, project: Project) -> judgements.SourcedJudgement:
    reading = found.reading
    return judgements.SourcedJudgement(
        Judgement(
            *found.asked.pair,
            project.assessor,
            reading.grade,
            cannot_judge=reading.cannot_judge,
            comment=reading.comment,
            judged_at=reading.created_at,
            lead_time=reading.lead_time,
            flags=reading.flags,
            occasion=found.asked.occasion,
        ),
        Source.LABEL_STUDIO,
        found.annotation,
        reading.payload,
        server=project.server,
        account=reading.account,
        changed_at=reading.changed_at,
    )
