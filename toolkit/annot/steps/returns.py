"""Sending a pair back: it is put before its assessor again with a reason, and both answers are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlmodel import Session

from annot.base.errors import Faults, InputError, MissingInput
from annot.base.names import known_query, moment_now, near
from annot.base.records import Judgement, Returned, Source
from annot.formats.spreadsheet import RETURNED_COLUMNS, ReturnedLine, read_returned_lines
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.words import sentences
from annot.store import judgements, people, projects
from annot.store.queries import read_queries
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace, given_bytes

LONGEST_WHY = 300
"""Characters: two lines above the pair."""

State = Literal["not sent yet", "waiting", "answered", "adjudicated meanwhile"]


@dataclass(frozen=True, slots=True)
class ReturnedPair:
    """A pair that was put before its assessor again, and what came of it."""

    query_id: str
    doc_id: str
    assessor: str
    why: str
    returned_at: str
    state: State
    before: str
    """The first answer: a grade, or `cannot judge`."""
    after: str | None
    """The answer given then; None while there is none."""


RETURNED = Columns[ReturnedPair](
    [
        Column("query", lambda one: one.query_id, "query_id"),
        Column("document", lambda one: one.doc_id, "doc_id"),
        Column("assessor", lambda one: one.assessor),
        Column("state", lambda one: one.state),
        Column("first answer", lambda one: one.before),
        Column("new answer", lambda one: one.after or ""),
        Column("returned at", lambda one: one.returned_at),
        Column("reason", lambda one: one.why),
    ]
)


@dataclass(frozen=True, slots=True)
class Change:
    """What came of asking for a pair to go back, or to be taken back."""

    query_id: str
    doc_id: str
    assessor: str
    changed: bool


def change(ws: Workspace, file: Path, *, undo: bool, dry_run: bool) -> tuple[Change, ...]:
    """Send back every pair of the file, or take it back: all of them, or none if one row is wrong.

    The same file once more changes nothing. Raises MissingInput if there is no file, and InputError with the line of
    every row that `change_one` would refuse.
    """
    if not file.is_file():
        columns = ", ".join(RETURNED_COLUMNS)
        raise MissingInput(f"{file}: no such file", hint=f"expected a table with the columns {columns}")
    lines = read_returned_lines(given_bytes(file, expected="a table of pairs"), name=str(file))
    return _change(ws, lines, Faults(str(file)), undo=undo, dry_run=dry_run)


def change_one(
    ws: Workspace, pair: tuple[str, str], *, assessor: str, why: str, undo: bool, dry_run: bool
) -> tuple[Change, ...]:
    """Put the pair before its assessor again, or take it back where it is not answered yet: the first answer counts.

    The same once more changes nothing. An adjudicator's grade of the pair does not count, until it is taken back or
    adjudicated again. Raises InputError for a pair that is not the assessor's, that they have not judged, or that waits
    for them already, and for a reason that is empty, too long, or names a person; and for taking back what was never
    returned or is answered.
    """
    return _change(ws, [ReturnedLine(*pair, assessor, why)], None, undo=undo, dry_run=dry_run)


def _change(
    ws: Workspace, rows: Sequence[ReturnedLine], faults: Faults | None, *, undo: bool, dry_run: bool
) -> tuple[Change, ...]:
    """faults: where those of a file are noted; without it, the first one is raised as it is."""
    decide = _to_take_back if undo else _to_send_back
    now = moment_now()
    with ws.writing() as session:
        outcome = outcome_of(session, ws.settings)
        decided: list[tuple[ReturnedLine, Returned | None]] = []
        for row in rows:
            try:
                _check_pair(session, outcome, row[:2], row.assessor)
                decided.append((row, decide(ws, session, outcome, row, now)))
            except InputError as error:
                if faults is None:
                    raise
                faults.add(f"{error.message}; {error.hint}", line=row.line)
        if faults is not None:
            faults.raise_if_any(hint="nothing was changed; correct these rows and run the command again")
        new = [one for _, one in decided if one is not None and not dry_run]
        for one in new:
            if undo:
                judgements.withdraw_returned(session, one, withdrawn_at=now)
            else:
                judgements.add_returned(session, one)
    return tuple(Change(*row[:3], changed=one is not None) for row, one in decided)


def _to_send_back(ws: Workspace, session: Session, outcome: Outcome, row: ReturnedLine, now: str) -> Returned | None:
    """What is to be noted down; None if it was returned with this reason already."""
    pair, assessor, why = row[:2], row.assessor, " ".join(row.why.split())
    earlier = [one for one in outcome.returned if one.pair == pair and one.assessor == assessor]
    if any(one.why == why for one in earlier):
        return None
    if earlier and (assessor, earlier[-1].asked) not in outcome.answered:
        raise InputError(
            f"{' '.join(pair)}: already waits for {assessor}",
            hint=f"wait for the answer, or take it back: `annot return {' '.join(pair)} --to {assessor} --undo`",
        )
    _check_present(session, outcome, pair, assessor)
    _check_judged(session, outcome, pair, assessor)
    _check_why(ws, session, why)
    return Returned(*pair, assessor, _next_occasion(session, outcome, pair, assessor), why, now)


def _to_take_back(ws: Workspace, session: Session, outcome: Outcome, row: ReturnedLine, now: str) -> Returned | None:
    """The one to take back; None if it was taken back already."""
    pair, assessor = row[:2], row.assessor
    mine = [one for one in judgements.read_returned(session) if one.pair == pair and one.assessor == assessor]
    if not mine:
        raise InputError(
            f"{' '.join(pair)}: was not returned to {assessor}", hint="`annot status --returned` lists returned pairs"
        )
    if mine[-1].withdrawn_at is not None:
        return None
    if any(one.pair == pair and one.assessor == assessor for one in outcome.set_aside):
        raise InputError(
            f"{' '.join(pair)}: goes back because its text was corrected",
            hint="the first answer cannot count again; `annot corpus corrected` shows your decision",
        )
    if (assessor, mine[-1].asked) in outcome.answered:
        raise InputError(
            f"{' '.join(pair)}: {assessor} has already answered", hint="return it again with another reason"
        )
    return mine[-1]


def describe(changes: Sequence[Change], *, undo: bool) -> str:
    """What was done, in words."""
    done = Counter(one.assessor for one in changes if one.changed)
    return "\n".join(
        sentences("commands.returned", done=sorted(done.items()), same=len(changes) - done.total(), undo=undo)
    )


def listing(ws: Workspace) -> tuple[ReturnedPair, ...]:
    """Every pair that was put before its assessor again and not taken back, by time."""
    with ws.reading() as session:
        outcome = outcome_of(session, ws.settings)
        sent = set(projects.read_asked(session, round="judge"))
    answers = {(one.asked, one.assessor): one for one in outcome.everything if one.counts}

    def told(one: Returned) -> ReturnedPair:
        before = answers.get((one.asked._replace(occasion=1), one.assessor))
        after = answers.get((one.asked, one.assessor))
        state: State = "answered" if after else "waiting"
        if after is None and (one.pair in outcome.adjudications or one.pair in outcome.unjudgeable):
            state = "adjudicated meanwhile"
        elif after is None and (one.assessor, one.asked) not in sent:
            state = "not sent yet"
        answered = _answer(before) or "none", _answer(after)
        return ReturnedPair(*one.pair, one.assessor, one.why, one.returned_at, state, *answered)

    return tuple(map(told, sorted(outcome.returned, key=lambda one: (one.returned_at, one.asked))))


def notes(listed: Sequence[ReturnedPair]) -> tuple[str, ...]:
    """How to take back what is not answered."""
    waiting = [one for one in listed if one.state in ("not sent yet", "waiting")]
    return sentences("commands.returned_waiting", waiting=waiting)


def _answer(judgement: Judgement | None) -> str | None:
    if judgement is None:
        return None
    return "cannot judge" if judgement.grade is None else str(judgement.grade)


def _check_pair(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError if this is no pair of this assessor."""
    query_id, doc_id = pair
    known_query({known.query_id: known for known in read_queries(session)}, query_id)
    documents = [known for query, known in outcome.planned if query == query_id]
    if pair not in outcome.planned:
        raise InputError(
            f"document {doc_id!r}: not planned for {query_id}; "
            + (near(doc_id, documents) if len(documents) < 10 else "see the plan in pools/plan.jsonl"),
            hint="only planned pairs can be returned",
        )
    if assessor not in outcome.planned[pair]:
        raise InputError(
            f"{' '.join(pair)}: not a pair of {assessor}", hint=f"it belongs to {', '.join(outcome.planned[pair])}"
        )


def _check_present(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError for a person who has left."""
    left = people.who_left(session)
    if assessor in left:
        others = [name for name in outcome.planned[pair] if name not in left]
        raise InputError(
            f"{' '.join(pair)}: {assessor} has left the study",
            hint=f"return it to {others[0]}" if others else "`annot assessor add` brings a person back",
        )


def _check_judged(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> None:
    """Raise InputError if there is nothing to think over, or it is too late."""
    name = " ".join(pair)
    if not any(one.counts and one.assessor == assessor and one.pair == pair for one in outcome.judgements):
        raise InputError(f"{name}: {assessor} has not judged it", hint="if it was judged since, run `annot pull`")
    history = judgements.read_history(session, *pair)
    if not any(one.source == Source.LABEL_STUDIO and one.record.assessor == assessor for one in history):
        raise InputError(
            f"{name}: was judged with another tool", hint="judge it there again and use `annot import --as judgements`"
        )


def _check_why(ws: Workspace, session: Session, why: str) -> None:
    """Raise InputError for a reason that cannot be shown to an assessor."""
    if not 0 < len(why) <= LONGEST_WHY:
        raise InputError(f"the reason has {len(why)} characters, expected 1 to {LONGEST_WHY}")
    everyone = people.read_assessors(session)
    private = {*ws.settings.pool.methods, *(person.assessor for person in everyone)}
    private |= {person.account for person in everyone if person.account is not None}
    named = sorted(word for word in private if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", why, re.IGNORECASE))
    if named:
        raise InputError(
            f"the reason names {', '.join(named)}, which assessors must not see", hint="write about the texts"
        )


def _next_occasion(session: Session, outcome: Outcome, pair: tuple[str, str], assessor: str) -> int:
    """One that neither the plan nor an earlier return, taken back or not, has used for this person and pair."""
    planned = [one.occasion for one in people.read_assignments(session, assessor) if one.pair == pair]
    given = [one.occasion for one in outcome.everything if one.pair == pair and one.assessor == assessor]
    back = [one.occasion for one in judgements.read_returned(session) if one.pair == pair and one.assessor == assessor]
    return max(planned + given + back) + 1
