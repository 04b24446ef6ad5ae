"""The assessors, the plan of their pairs, and their notices about the publication of their words.

Accounts are identities: they leave only through here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter

from sqlalchemy import func, select, true

from annot.base.records import Assessor, Assignment
from annot.store import models
from annot.store.models import Notice, Plan, Session


def put_assessors(session: Session, assessors: Iterable[Assessor]) -> None:
    """Add these people, or change the account and role of those of the same pseudonym; others stay.

    A changed account forgets the servers' ids of it, which were the old account's.
    """
    people = list(assessors)
    current = {person.assessor: person for person in read_assessors(session)}
    changed = [
        person
        for person in people
        if (old := current.get(person.assessor)) is not None
        and (old.account, old.adjudicator) != (person.account, person.adjudicator)
    ]
    # Two people may swap accounts: nobody holds one while they are being changed.
    for person in changed:
        models.change_where(session, models.ASSESSOR_TABLE, {"account": None}, assessor=person.assessor)
    for person in changed:
        values = {"account": person.account, "adjudicator": person.adjudicator}
        models.change_where(session, models.ASSESSOR_TABLE, values, assessor=person.assessor)
        if person.account != current[person.assessor].account:
            models.change_where(session, models.PROJECT_TABLE, {"account_id": None}, assessor=person.assessor)
    models.insert_records(
        session, models.ASSESSOR_TABLE, (person for person in people if person.assessor not in current)
    )


def set_left(session: Session, assessor: str, left_on: str | None) -> None:
    """Remember when this person left; None brings them back."""
    models.change_where(session, models.ASSESSOR_TABLE, {"left_on": left_on}, assessor=assessor)


def set_language(session: Session, assessor: str, language: str | None) -> None:
    """Remember the language of this person's screens and letters; None is that of the study."""
    models.change_where(session, models.ASSESSOR_TABLE, {"language": language}, assessor=assessor)


def set_shares(session: Session, shares: Mapping[str, float]) -> None:
    """Remember the hours of these people, relative to others; those not named keep theirs."""
    models.check_known(session, models.ASSESSOR_TABLE, shares, what="--share")
    for name, share in shares.items():
        models.change_where(session, models.ASSESSOR_TABLE, {"share": share}, assessor=name)


def read_assessors(session: Session) -> tuple[Assessor, ...]:
    """Everyone, adjudicators included, by pseudonym."""
    return models.read_in_order(session, models.ASSESSOR_TABLE, Assessor, ["assessor"])


def people_who_left(session: Session) -> set[str]:
    """The people who have left the study."""
    return {person.assessor for person in read_assessors(session) if person.left_on is not None}


def replace_plan(
    session: Session, assignments: Iterable[Assignment], *, plan: Plan, handed_on: Iterable[Assignment] = ()
) -> None:
    """Make these assignments the plan. The same assignments, hash and seed again change nothing, `created` included.

    handed_on: assignments that a person gives up. They may leave although they were sent, or answered in a way that
    does not count. Raises InputError when another judged assignment would be removed, or a pair that was sent, or one
    names an unknown query or assessor.
    """
    new = list(assignments)
    models.check_known(session, models.QUERY_TABLE, {assignment.query_id for assignment in new}, what="plan")
    models.check_known(session, models.ASSESSOR_TABLE, {assignment.assessor for assignment in new}, what="plan")
    planned, old_plan = read_assignments(session), read_plan(session)
    if old_plan is not None and old_plan._replace(created=plan.created) == plan and set(planned) == set(new):
        return
    leaving = set(map(_key, planned)) - set(map(_key, handed_on))
    leaving = leaving and leaving - set(map(_key, new))
    models.refuse_in_use(
        session,
        {models.TASK_TABLE: "pushed task"},
        {key[:2] for key in leaving} - ({assignment.pair for assignment in new} if leaving else set()),
        what="leave the plan",
        hint="keep what is planned and add to it; `annot plan --withdraw` takes back what was not sent",
    )
    _remove_plan(session, leaving)
    models.insert_records(session, models.ASSIGNMENT_TABLE, new)
    models.insert_records(session, models.PLAN_TABLE, [plan], id=1)


def withdraw_plan(session: Session) -> int:
    """Remove the plan and its assignments; returns how many those were. Raises InputError when some are judged."""
    planned = set(map(_key, read_assignments(session)))
    _remove_plan(session, planned)
    return len(planned)


def read_plan(session: Session) -> Plan | None:
    """Current plan; None when nothing is planned."""
    return next(models.read_records(session, models.PLAN_TABLE, Plan), None)


def read_assignments(session: Session, assessor: str | None = None) -> tuple[Assignment, ...]:
    """The assignments of one assessor or of all, by assessor and position."""
    condition = true() if assessor is None else models.ASSIGNMENT_TABLE.c.assessor == assessor
    return models.read_in_order(session, models.ASSIGNMENT_TABLE, Assignment, ["assessor", "position"], condition)


def planned_pairs(session: Session) -> set[tuple[str, str]]:
    """Pairs (query, document) of the plan."""
    rows = models.ASSIGNMENT_TABLE.c
    return {*models.read_rows(session, select(rows.query_id, rows.doc_id).distinct())}


def planned_queries(session: Session) -> set[str]:
    """Queries of the pairs of the plan."""
    return {*session.connection().execute(select(models.ASSIGNMENT_TABLE.c.query_id).distinct()).scalars()}


def count_by_assessor(session: Session) -> Counter[str]:
    """Number of assignments of each assessor in the plan."""
    assessor = models.ASSIGNMENT_TABLE.c.assessor
    counts = select(assessor, func.count()).group_by(assessor)
    return Counter(dict(map(tuple, session.connection().execute(counts))))


_key = attrgetter("query_id", "doc_id", "assessor", "occasion")


def _remove_plan(session: Session, leaving: set[tuple[str, str, str, int]]) -> None:
    """leaving: the assignments that are removed for good."""
    models.refuse_in_use(
        session,
        {models.JUDGEMENT_TABLE: "judgement"},
        leaving,
        what="leave the plan",
        hint="keep what is planned and add to it; judgements are never deleted",
    )
    for model in (models.ASSIGNMENT_TABLE, models.PLAN_TABLE):
        session.connection().execute(model.delete())


def read_notices(session: Session) -> tuple[Notice, ...]:
    """Notices on record, the oldest first."""
    return models.read_in_order(session, models.NOTICE_TABLE, Notice, ["at", "assessor", "kind"])


def record_notices(session: Session, notices: Iterable[Notice]) -> None:
    """Record these notices, except those that repeat the last one of the same kind."""
    last = {(notice.assessor, notice.kind, notice.how): notice for notice in read_notices(session)}
    new = []
    for notice in notices:
        previous = last.get((notice.assessor, notice.kind, notice.how))
        changes = notice.published if previous is None else previous.published != notice.published
        if changes or notice.how == "consent":
            new.append(notice)
    if new:
        models.insert_records(session, models.NOTICE_TABLE, new)
