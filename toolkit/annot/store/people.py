"""The assessors, and the plan that says who judges what. Accounts are identities: they leave only through here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import select
from sqlmodel import Session

from annot.errors import InputError
from annot.records import Assessor, Assignment
from annot.store.models import AssessorRow, AssignmentRow, JudgementRow, PlanRow, ProjectRow, table
from annot.store.rows import Change, check_distinct, check_queries_known, insert_rows


class Plan(NamedTuple):
    """What is known of the current plan besides its assignments; `created` is ISO 8601, UTC."""

    sha256: str
    seed: int
    created: str


def put_assessors(session: Session, assessors: Iterable[Assessor]) -> Change:
    """Add these people, or change those of the same pseudonym; others stay.

    A changed account forgets the servers' ids of it, which were the old account's. Raises InputError when two people
    would share an account.
    """
    people = list(assessors)
    check_distinct([person.assessor for person in people], what="assessors")
    standing = {person.assessor: person for person in read_assessors(session)}
    after = standing | {person.assessor: person for person in people}
    owners: dict[str, list[str]] = {}
    for person in after.values():
        if person.account is not None:
            owners.setdefault(person.account, []).append(person.assessor)
    shared = [names for names in owners.values() if len(names) > 1]
    if shared:
        raise InputError(
            "an account belongs to one assessor",
            faults=[f"{', '.join(sorted(names))}: same account" for names in shared],
        )
    rows = table(AssessorRow)
    changed = [person for person in people if standing.get(person.assessor, person) != person]
    # Two people may swap accounts: nobody holds one while they are being changed.
    for person in changed:
        session.connection().execute(rows.update().where(rows.c.assessor == person.assessor).values(account=None))
    for person in changed:
        values: dict[str, object] = {"account": person.account, "adjudicator": person.adjudicator}
        if person.account != standing[person.assessor].account:
            projects = table(ProjectRow)
            session.connection().execute(
                projects.update().where(projects.c.assessor == person.assessor).values(account_id=None)
            )
        session.connection().execute(rows.update().where(rows.c.assessor == person.assessor).values(**values))
    added = [person for person in people if person.assessor not in standing]
    insert_rows(
        session,
        AssessorRow,
        (
            {"assessor": person.assessor, "account": person.account, "adjudicator": person.adjudicator}
            for person in added
        ),
    )
    return Change(len(added), len(changed), 0, len(people) - len(added) - len(changed))


def read_assessors(session: Session) -> tuple[Assessor, ...]:
    """Everyone, adjudicators included, by pseudonym."""
    rows = table(AssessorRow)
    found = session.connection().execute(select(rows.c.assessor, rows.c.account, rows.c.adjudicator))
    people = (Assessor(name, account, bool(adjudicator)) for name, account, adjudicator in found)
    return tuple(sorted(people, key=lambda person: person.assessor))


def check_assessors_known(session: Session, assessors: Iterable[str], *, what: str) -> None:
    """Raise InputError that lists the names nobody has."""
    known = {person.assessor for person in read_assessors(session)}
    unknown = sorted(set(assessors) - known)
    if unknown:
        raise InputError(
            f"{what}: {len(unknown)} unknown assessor(s)",
            faults=[f"{name}: no such assessor" for name in unknown],
            hint="add them with `annot assessor add`",
        )


def replace_plan(session: Session, assignments: Iterable[Assignment], *, plan: Plan) -> Change:
    """Make these assignments the plan. The same assignments and hash again change nothing, `created` included.

    Raises InputError when an assignment that is judged already would go, or names an unknown query or assessor.
    """
    new = list(assignments)
    given = {_key(one): one for one in new}
    check_distinct([(*key[:3], str(key[3])) for key in map(_key, new)], what="plan")
    check_distinct([(one.assessor, str(one.position)) for one in new], what="plan (assessor and position)")
    check_queries_known(session, {one.query_id for one in new}, what="plan")
    check_assessors_known(session, {one.assessor for one in new}, what="plan")
    standing = {_key(assignment): assignment for assignment in read_assignments(session)}
    removed = standing.keys() - given.keys()
    _refuse_judged(session, removed)
    added = given.keys() - standing.keys()
    changed = [key for key in given.keys() & standing.keys() if given[key] != standing[key]]
    old = read_plan(session)
    if added or changed or removed or old is None or (old.sha256, old.seed) != (plan.sha256, plan.seed):
        session.connection().execute(table(AssignmentRow).delete())
        session.connection().execute(table(PlanRow).delete())
        insert_rows(
            session,
            AssignmentRow,
            (
                {
                    "query_id": one.query_id,
                    "doc_id": one.doc_id,
                    "assessor": one.assessor,
                    "occasion": one.occasion,
                    "position": one.position,
                }
                for one in new
            ),
        )
        insert_rows(session, PlanRow, [{"id": 1, **plan._asdict()}])
    return Change(len(added), len(changed), len(removed), len(given) - len(added) - len(changed))


def withdraw_plan(session: Session) -> int:
    """Remove the plan and its assignments; returns how many those were. Raises InputError when some are judged."""
    standing = {_key(assignment) for assignment in read_assignments(session)}
    _refuse_judged(session, standing)
    session.connection().execute(table(AssignmentRow).delete())
    session.connection().execute(table(PlanRow).delete())
    return len(standing)


def read_plan(session: Session) -> Plan | None:
    """What is known of the current plan; None when nothing is planned."""
    rows = table(PlanRow)
    row = session.connection().execute(select(rows.c.sha256, rows.c.seed, rows.c.created)).one_or_none()
    return None if row is None else Plan(*row)


def read_assignments(session: Session, assessor: str | None = None) -> tuple[Assignment, ...]:
    """The assignments of one assessor or of all, by assessor and position."""
    rows = table(AssignmentRow)
    statement = select(rows.c.query_id, rows.c.doc_id, rows.c.assessor, rows.c.position, rows.c.occasion)
    if assessor is not None:
        statement = statement.where(rows.c.assessor == assessor)
    found = (Assignment(*row) for row in session.connection().execute(statement))
    return tuple(sorted(found, key=lambda one: (one.assessor, one.position)))


_Key = tuple[str, str, str, int]
"""(query_id, doc_id, assessor, occasion)."""


def _key(one: Assignment) -> _Key:
    return one.query_id, one.doc_id, one.assessor, one.occasion


def _refuse_judged(session: Session, leaving: Iterable[_Key]) -> None:
    """`leaving`: the assignments that would go."""
    wanted = set(leaving)
    if not wanted:
        return
    rows = table(JudgementRow)
    count: dict[_Key, int] = {}
    columns = rows.c.query_id, rows.c.doc_id, rows.c.assessor, rows.c.occasion
    for row in session.connection().execute(select(*columns)):
        key = row.query_id, row.doc_id, row.assessor, row.occasion
        if key in wanted:
            count[key] = count.get(key, 0) + 1
    if count:
        raise InputError(
            f"{len(count)} judged assignment(s) would leave the plan; {sum(count.values())} judgement(s) stand on them",
            faults=[f"{' '.join(key[:3])}: {number} judgement(s)" for key, number in sorted(count.items())],
            hint="keep what is planned and add to it; judgements are never deleted",
        )
