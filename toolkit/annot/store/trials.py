"""Judging that never counts as the collection's: the sub-study and the training of assessors.

Its questions and answers are in tables of their own, so that no reader of judgements can meet them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from sqlalchemy import select

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Assignment, Gold, Judgement
from annot.store import models
from annot.store.answers import TRIALS, AnnotationHistory, SourcedAnswer
from annot.store.models import Session, StoredRound
from annot.store.projects import read_asked

SAME_PAIRS: dict[StoredRound, StoredRound] = {"train-feedback": "train"}
"""Rounds that show the pairs of another round again."""


def read_lines(session: Session, source: str, assessor: str) -> tuple[AnnotationHistory[Judgement], ...]:
    """Histories of one assessor's answers from one source."""
    lines = TRIALS.lines(session, person=assessor)
    return tuple(line for line in lines if line.current.source == source)


def read_every_answer(session: Session, assessor: str) -> tuple[SourcedAnswer[Judgement], ...]:
    """Every answer that one assessor ever gave in these rounds, in the order recorded."""
    return tuple(answer for answer in TRIALS.answers(session) if answer.record.assessor == assessor)


def read_pairs(session: Session) -> set[tuple[str, str]]:
    """Pairs that an assessor has in any of these rounds, as (query_id, doc_id)."""
    rows = models.TRIAL_ASSIGNMENT_TABLE
    return {(row[0], row[1]) for row in session.connection().execute(select(rows.c.query_id, rows.c.doc_id))}


def read_answers(session: Session, source: str) -> tuple[SourcedAnswer[Judgement], ...]:
    """Current revision of each answer from one source, flagged ones included, in the order of `Revisions.read`."""
    return tuple(answer for answer in TRIALS.current(session) if answer.source == source)


def put_trial(session: Session, name: str, facts: Mapping[str, Any]) -> None:
    """Record the facts of a trial; earlier facts of that name are removed."""
    rows = models.TRIAL_TABLE
    session.connection().execute(rows.delete().where(rows.c.name == name))
    models.insert_rows(session, models.TRIAL_TABLE, [{"name": name, "facts": dict(facts)}])


def read_trials(session: Session) -> dict[str, dict[str, Any]]:
    """The facts of every trial, by name."""
    rows = models.TRIAL_TABLE
    return dict(sorted(tuple(row) for row in session.connection().execute(select(rows.c.name, rows.c.facts))))


def replace_assignments(session: Session, round: StoredRound, assignments: Iterable[Assignment]) -> None:
    """Make these the pairs of the round, of all its assessors. Raises InputError for an unknown query or assessor."""
    rows = models.TRIAL_ASSIGNMENT_TABLE
    session.connection().execute(rows.delete().where(rows.c.round == round))
    add_assignments(session, round, assignments)


def add_assignments(session: Session, round: StoredRound, assignments: Iterable[Assignment]) -> None:
    """Add pairs to the round. Raises InputError for an unknown query or assessor."""
    new = list(assignments)
    noun = f"{round} round"
    models.check_known(session, models.QUERY_TABLE, {assignment.query_id for assignment in new}, what=noun)
    models.check_known(session, models.ASSESSOR_TABLE, {assignment.assessor for assignment in new}, what=noun)
    models.insert_records(session, models.TRIAL_ASSIGNMENT_TABLE, new, round=round)


def read_assignments(session: Session, round: StoredRound, assessor: str | None = None) -> tuple[Assignment, ...]:
    """The pairs of a round, of one assessor or of all, by assessor and position."""
    rows = models.TRIAL_ASSIGNMENT_TABLE
    columns = rows.c.query_id, rows.c.doc_id, rows.c.assessor, rows.c.position
    of_round = rows.c.round == SAME_PAIRS.get(round, round)
    rows_found = (Assignment(*row) for row in session.connection().execute(select(*columns).where(of_round)))
    of_assessor = (assignment for assignment in rows_found if assessor in (None, assignment.assessor))
    return tuple(sorted(of_assessor, key=attrgetter("assessor", "position")))


def replace_gold(session: Session, gold: Iterable[Gold]) -> None:
    """Make these the gold pairs. Raises InputError for an unknown query, and if a pair that was sent would change.

    A pair that was sent keeps its grade: an assessor may have answered it, and have been shown that grade.
    """
    new = list(gold)
    models.check_known(session, models.QUERY_TABLE, {pair.query_id for pair in new}, what="gold")
    grades = {pair.pair: pair.grade for pair in new}
    sent = {key.pair for _, key in read_asked(session, round="train")}
    changed = [pair for pair in read_gold(session) if pair.pair in sent and grades.get(pair.pair) != pair.grade]
    new_grades = [str(grades.get(pair.pair, "no such pair")) for pair in changed]
    if changed:
        raise InputError(
            f"{counted(len(changed), 'gold pair')} already sent to assessors would change or be removed",
            faults=[
                f"{pair.query_id} {pair.doc_id}: grade {pair.grade} on record, found {new_grade}"
                for pair, new_grade in zip(changed, new_grades, strict=True)
            ],
            hint="keep what was sent, and add new pairs to it; a reason may be reworded",
        )
    session.connection().execute(models.GOLD_TABLE.delete())
    models.insert_records(session, models.GOLD_TABLE, new)


def read_gold(session: Session) -> tuple[Gold, ...]:
    """The gold pairs in their order."""
    return models.read_in_order(session, models.GOLD_TABLE, Gold, ["position"])
