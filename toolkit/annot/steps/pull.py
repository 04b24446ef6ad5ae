"""Judgements back from Label Studio: every payload kept, a changed annotation a new revision, no answer lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial

from annot.base.records import Advance, Source
from annot.judging.exchange.collecting import Haul, Seen
from annot.judging.exchange.recording import Pulled, Taken, pull_round, record_haul, sourced_judgement
from annot.judging.exchange.trials import without_hidden_gold
from annot.judging.trial_answers import hidden_gold_of, hidden_on_record
from annot.store import people, trials
from annot.store.database import open_store
from annot.store.judgements import read_returned
from annot.study.exports import export_judgements
from annot.study.outcome import outcome_of, overtaken_of, told_overtaken
from annot.study.workspace import Workspace


def pull(
    ws: Workspace, *, advance: Advance, accept_deletions: bool = False, seen: dict[int, Seen] | None = None
) -> Pulled:
    """Bring back every annotation of every judging project and write `exports/judgements.jsonl`.

    Answers that counted and that the server no longer has count on; with `accept_deletions` they are withdrawn.
    seen: as `exchange.collecting.collect` keeps it: only what has changed since is brought back.
    """
    sourced = partial(sourced_judgement, source=Source.LABEL_STUDIO)
    with open_store(ws.database_url, create=False) as store:

        def take(haul: Haul) -> Taken:
            with store.begin() as session:
                assessor = haul.project.assessor
                assigned = len(people.read_assignments(session, assessor)) + sum(
                    back.assessor == assessor and back.withdrawn_at is None for back in read_returned(session)
                )
                haul = without_hidden_gold(session, haul)
            return record_haul(
                store, haul, sourced, assigned=assigned, what="annotation", accept_deletions=accept_deletions
            )

        hint = "send the tasks with `annot push`"
        pulled = pull_round(
            ws, store, take, round="judge", hint=hint, advance=advance, seen=seen, accept_deletions=accept_deletions
        )
        if seen is not None and not pulled.assessors:
            return pulled
        with store.begin() as session:
            outcome = outcome_of(session, ws.settings)
            for probed in hidden_gold_of(ws, session):
                trials.put_trial(session, f"hidden-gold/{probed.assessor}", hidden_on_record(probed))
            overtaken = told_overtaken(overtaken_of(session))
            answered = {(answer.asked, answer.assessor) for answer in outcome.everything if answer.counts}
            left = sum((one.asked, one.assessor) not in answered for one in people.read_assignments(session))
    export_judgements(ws, outcome)
    return replace(pulled, notes=(*pulled.notes, *filter(None, [overtaken])), open=left + len(outcome.waiting))


def told(pulled: Pulled, *, now: datetime) -> str:
    """One line on what a pull brought; nothing where it brought nothing."""
    if not pulled.assessors:
        return ""
    brought = (
        f"{row.assessor} {row.new} new" + (f" and {row.changed} changed" if row.changed else "")
        for row in pulled.assessors
    )
    return f"{now:%H:%M:%S}  {', '.join(brought)}; {pulled.open} to come"
