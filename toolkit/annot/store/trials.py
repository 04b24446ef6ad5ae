"""Judging that never counts as the collection's: the sub-study and the training of assessors.

What is asked and answered there lies in tables of its own, so that no reader of judgements can meet it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Assignment, Judgement
from annot.store.judging_models import (
    ASSESSOR_TABLE,
    GOLD_TABLE,
    TRIAL_ASSIGNMENT_TABLE,
    TRIAL_JUDGEMENT_TABLE,
    TRIAL_TABLE,
)
from annot.store.judging_models import Gold as Gold
from annot.store.models import QUERY_TABLE, check_distinct, check_known, insert_records, insert_rows, read_records
from annot.store.projects import StoredRound, read_asked
from annot.store.revisions import Line, Revisions, Sourced

SAME_PAIRS: dict[StoredRound, StoredRound] = {"train-feedback": "train"}
"""A round that shows again what another has asked."""


TRIALS = Revisions(TRIAL_JUDGEMENT_TABLE, Judgement)
"""Their table."""
record_answers = TRIALS.record
"""Each answer's `source` is its round."""


def read_lines(session: Session, source: str, assessor: str) -> tuple[Line[Judgement], ...]:
    """What is on record of one assessor's answers of one source."""
    lines = TRIALS.lines(session, person=assessor)
    return tuple(line for line in lines if line.current.source == source)


def read_given(session: Session, assessor: str) -> tuple[Sourced[Judgement], ...]:
    """Every answer that one assessor ever gave in these rounds, in the order recorded."""
    return tuple(answer for answer in TRIALS.answers(session) if answer.record.assessor == assessor)


def read_pairs(session: Session) -> set[tuple[str, str]]:
    """The (query_id, doc_id) of every pair that is given to somebody in any of these rounds."""
    rows = TRIAL_ASSIGNMENT_TABLE
    return {(row[0], row[1]) for row in session.connection().execute(select(rows.c.query_id, rows.c.doc_id))}


def read_answers(session: Session, source: str) -> tuple[Sourced[Judgement], ...]:
    """The current revision of each answer of one source, flagged ones included, as `Revisions.read` orders them."""
    return tuple(answer for answer in TRIALS.current(session) if answer.source == source)


def put_trial(session: Session, name: str, facts: Mapping[str, Any]) -> None:
    """Note down what is known of a trial; earlier facts of that name go."""
    rows = TRIAL_TABLE
    session.connection().execute(rows.delete().where(rows.c.name == name))
    insert_rows(session, TRIAL_TABLE, [{"name": name, "facts": dict(facts)}])


def read_trial(session: Session, name: str) -> dict[str, Any] | None:
    """What is known of a trial; None if there is none of that name."""
    return read_trials(session).get(name)


def read_trials(session: Session) -> dict[str, dict[str, Any]]:
    """The facts of every trial, by name."""
    rows = TRIAL_TABLE
    return dict(sorted(tuple(row) for row in session.connection().execute(select(rows.c.name, rows.c.facts))))


def replace_assignments(session: Session, round: StoredRound, assignments: Iterable[Assignment]) -> None:
    """Make these the pairs of the round, of all its assessors. Raises InputError for an unknown query or assessor."""
    rows = TRIAL_ASSIGNMENT_TABLE
    session.connection().execute(rows.delete().where(rows.c.round == round))
    add_assignments(session, round, assignments)


def add_assignments(session: Session, round: StoredRound, assignments: Iterable[Assignment]) -> None:
    """Add pairs to the round. Raises InputError for an unknown query or assessor, and for a pair given twice."""
    new = list(assignments)
    check_distinct(((one.query_id, one.doc_id, one.assessor) for one in new), what=f"{round} round")
    check_known(session, QUERY_TABLE, {one.query_id for one in new}, what=f"{round} round")
    check_known(session, ASSESSOR_TABLE, {one.assessor for one in new}, what=f"{round} round")
    insert_records(session, TRIAL_ASSIGNMENT_TABLE, new, round=round)


def read_assignments(session: Session, round: StoredRound, assessor: str | None = None) -> tuple[Assignment, ...]:
    """The pairs of a round, of one assessor or of all, by assessor and position."""
    rows = TRIAL_ASSIGNMENT_TABLE
    columns = rows.c.query_id, rows.c.doc_id, rows.c.assessor, rows.c.position
    wanted = rows.c.round == SAME_PAIRS.get(round, round)
    found = (Assignment(*row) for row in session.connection().execute(select(*columns).where(wanted)))
    mine = (one for one in found if assessor in (None, one.assessor))
    return tuple(sorted(mine, key=attrgetter("assessor", "position")))


def replace_gold(session: Session, gold: Iterable[Gold]) -> None:
    """Make these the gold pairs. Raises InputError for an unknown query, and if a pair that was sent would change.

    What was sent keeps its grade: an assessor may have answered it, and have been shown that grade.
    """
    new = list(gold)
    check_distinct((one.pair for one in new), what="gold")
    check_known(session, QUERY_TABLE, {one.query_id for one in new}, what="gold")
    grades = {one.pair: one.grade for one in new}
    sent = {asked.pair for _, asked in read_asked(session, round="train")}
    changed = [one for one in read_gold(session) if one.pair in sent and grades.get(one.pair) != one.grade]
    found = [str(grades.get(one.pair, "no such pair")) for one in changed]
    if changed:
        raise InputError(
            f"{counted(len(changed), 'gold pair')} already sent to assessors would change or be removed",
            faults=[
                f"{one.query_id} {one.doc_id}: grade {one.grade} on record, found {now}"
                for one, now in zip(changed, found, strict=True)
            ],
            hint="keep what was sent, and add new pairs to it; a reason may be reworded",
        )
    session.connection().execute(GOLD_TABLE.delete())
    insert_records(session, GOLD_TABLE, new)


def read_gold(session: Session) -> tuple[Gold, ...]:
    """The gold pairs in their order."""
    return tuple(sorted(read_records(session, GOLD_TABLE, Gold), key=attrgetter("position")))
