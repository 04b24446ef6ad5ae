"""Sending a pair back: it is put before its assessor again with a reason, and both answers are kept."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlmodel import Session

from annot.errors import InputError
from annot.names import known_query, near
from annot.records import Judgement, Returned, Source
from annot.store import judgements, people, projects, returned
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace

LONGEST_WHY = 300
"""Characters: two lines above the pair."""

Standing = Literal["not sent yet", "waiting", "answered", "adjudicated meanwhile"]


@dataclass(frozen=True, slots=True)
class ReturnedPair:
    """A pair that was put before its assessor again, and what came of it."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    returned_at: str
    standing: Standing
    before: str
    """The first answer: a grade, or `cannot judge`."""
    after: str | None
    """The answer given then; None while there is none."""


def send_back(ws: Workspace, query_id: str, doc_id: str, *, assessor: str, why: str, dry_run: bool) -> str | None:
    """Put the pair before its assessor again. The same once more changes nothing; returns a note then.

    Raises InputError for a pair that is not the assessor's, that they have not judged, that has ended with an
    adjudication, or that waits for them already, and for a reason that is empty, too long, or names somebody.
    """
    why = " ".join(why.split())
    pair = (query_id, doc_id)
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        outcome = outcome_of(session, ws.settings)
        _check_pair(session, outcome, pair, assessor)
        earlier = [one for one in outcome.returned if one.pair == pair and one.assessor == assessor]
        answered = {(one.asked, one.assessor) for one in outcome.again if one.counts}
        if any(one.why == why for one in earlier):
            return "it was returned with this reason already; nothing changed"
        if earlier and (earlier[-1].asked, assessor) not in answered:
            raise InputError(
                f"{' '.join(pair)}: was returned to {assessor} already and waits for the answer",
                hint="take that back first with --undo, or wait for the answer",
            )
        _check_judged(session, outcome, pair, assessor)
        _check_why(ws, session, why)
        if not dry_run:
            occasion = _next_occasion(session, outcome, pair, assessor)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            returned.add_returned(session, Returned(*pair, assessor, occasion, why, now))
    return None


def take_back(ws: Workspace, query_id: str, doc_id: str, *, assessor: str, dry_run: bool) -> str | None:
    """Take a returned pair back that is not answered: the first answer counts again. Returns a note where it was.

    Raises InputError where nothing was returned, or it is answered.
    """
    pair = (query_id, doc_id)
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        outcome = outcome_of(session, ws.settings)
        _check_pair(session, outcome, pair, assessor)
        mine = [one for one in returned.read_returned(session) if one.pair == pair and one.assessor == assessor]
        if not mine:
            raise InputError(
                f"{' '.join(pair)}: was not returned to {assessor}",
                hint="`annot adjudicate status --returned` lists them",
            )
        if mine[-1].withdrawn_at is not None:
            return "it was taken back already; nothing changed"
        if any(one.asked == mine[-1].asked and one.assessor == assessor and one.counts for one in outcome.again):
            raise InputError(
                f"{' '.join(pair)}: {assessor} has answered it, and that answer counts for the final grade",
                hint="return it once more with another reason, or let an adjudicator settle it",
            )
        if not dry_run:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            returned.withdraw_returned(session, mine[-1], withdrawn_at=now)
    return None


def listing(ws: Workspace) -> tuple[ReturnedPair, ...]:
    """Every pair that was put before its assessor again and not taken back, by time."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session, ws.settings)
        sent = {
            (project.assessor, asked)
            for project in projects.read_projects(session, round="judge")
            for asked in projects.read_tasks(session, project.project)
        }
    answers = {(one.asked, one.assessor): one for one in outcome.everything if one.counts}

    def told(one: Returned) -> ReturnedPair:
        before = answers.get((one.asked._replace(occasion=1), one.assessor))
        after = answers.get((one.asked, one.assessor))
        standing: Standing = "answered" if after else "waiting"
        if after is None and (one.pair in outcome.adjudications or one.pair in outcome.unjudgeable):
            standing = "adjudicated meanwhile"
        elif after is None and (one.assessor, one.asked) not in sent:
            standing = "not sent yet"
        facts = {name: value for name, value in asdict(one).items() if name not in ("occasion", "withdrawn_at")}
        return ReturnedPair(**facts, standing=standing, before=_answer(before) or "none", after=_answer(after))

    return tuple(map(told, sorted(outcome.returned, key=lambda one: (one.returned_at, one.asked))))


def _answer(judgement: Judgement | None) -> str | None:
    if judgement is None:
        return None
    return "cannot judge" if judgement.grade is None else str(judgement.grade)


def _check_pair(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError where this is no pair of this assessor."""
    query_id, doc_id = pair
    known_query({known.query_id: known for known in read_queries(session)}, query_id)
    documents = [known for query, known in outcome.planned if query == query_id]
    if pair not in outcome.planned:
        raise InputError(
            f"document {doc_id!r}: not planned for {query_id}; "
            + (near(doc_id, documents) if len(documents) < 10 else "see the plan in pools/plan.jsonl"),
            hint="only planned pairs were judged",
        )
    if assessor not in outcome.planned[pair]:
        raise InputError(
            f"{' '.join(pair)}: is not a pair of {assessor}",
            hint=f"its assessors are {', '.join(outcome.planned[pair])}",
        )


def _check_judged(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError where there is nothing to think over, or it is too late."""
    name = " ".join(pair)
    if pair in outcome.adjudications or pair in outcome.unjudgeable:
        raise InputError(
            f"{name}: is adjudicated",
            hint="the adjudicator can change the decision in their project; then run `annot adjudicate pull`",
        )
    if not any(one.counts and one.assessor == assessor and one.asked.pair == pair for one in outcome.judgements):
        raise InputError(
            f"{name}: {assessor} has not judged it yet",
            hint="it still stands in their project; `annot pull` brings in what was judged since",
        )
    history = judgements.read_history(session, *pair)
    if not any(one.source == Source.LABEL_STUDIO and one.record.assessor == assessor for one in history):
        raise InputError(
            f"{name}: was judged with another tool, so {assessor} has no project here",
            hint="let it be judged again there, and run `annot import judgements` with the new file",
        )


def _check_why(ws: Workspace, session: Session, why: str) -> None:
    """Raise InputError for a reason that cannot be shown to an assessor."""
    if not 0 < len(why) <= LONGEST_WHY:
        raise InputError(
            f"--why: {len(why)} characters, expected 1 to {LONGEST_WHY}", hint="say in a sentence what to look at"
        )
    everyone = people.read_assessors(session)
    private = {*ws.settings.pool.methods, *(person.assessor for person in everyone)}
    private |= {person.account for person in everyone if person.account is not None}
    named = sorted(word for word in private if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", why, re.IGNORECASE))
    if named:
        raise InputError(
            f"--why: names {', '.join(named)}, which assessors must not see",
            hint="say what to look at in the texts, not what others did",
        )


def _next_occasion(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> int:
    """One that neither the plan nor an earlier return, taken back or not, has used for this person and pair."""
    planned = [one.occasion for one in people.read_assignments(session, assessor) if one.asked.pair == pair]
    given = [one.occasion for one in outcome.everything if one.asked.pair == pair and one.assessor == assessor]
    back = [one.occasion for one in returned.read_returned(session) if one.pair == pair and one.assessor == assessor]
    return max(planned + given + back, default=1) + 1
