"""The assessors, the plan that says who judges what, and what each was told of the publication of their words.

Accounts are identities: they leave only through here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Literal, NamedTuple

from sqlalchemy import true
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.records import Assessor, Assignment
from annot.store.judging_models import AssessorRow, AssignmentRow, JudgementRow, PlanRow, ProjectRow, ToldRow
from annot.store.models import QueryRow, check_distinct, check_known, insert_records, read_records, refuse_judged, table
from annot.store.projects import refuse_sent


class Plan(NamedTuple):
    """What is known of the current plan besides its assignments; `created` is ISO 8601, UTC."""

    sha256: str
    seed: int
    created: str
    per_pair: int | None = None
    """How many judgements each pair is to have; None where the judgements were imported."""
    vacant: tuple[tuple[str, str], ...] = ()
    """(query_id, doc_id) of the pairs that no assignment names any more, since their assessors left."""


def put_assessors(session: Session, assessors: Iterable[Assessor]) -> None:
    """Add these people, or change the account and role of those of the same pseudonym; others stay.

    A changed account forgets the servers' ids of it, which were the old account's. Raises InputError when two people
    would share an account.
    """
    people = list(assessors)
    check_distinct((person.assessor for person in people), what="assessors")
    standing = {person.assessor: person for person in read_assessors(session)}
    owners: dict[str, list[str]] = {}
    for person in (standing | {person.assessor: person for person in people}).values():
        if person.account is not None:
            owners.setdefault(person.account, []).append(person.assessor)
    shared = [names for names in owners.values() if len(names) > 1]
    if shared:
        raise InputError(
            "an account belongs to one assessor",
            faults=[f"{', '.join(sorted(names))}: same account" for names in shared],
        )
    rows, projects, connection = table(AssessorRow), table(ProjectRow), session.connection()
    changed = [
        person
        for person in people
        if (known := standing.get(person.assessor)) is not None
        and (known.account, known.adjudicator) != (person.account, person.adjudicator)
    ]
    # Two people may swap accounts: nobody holds one while they are being changed.
    for person in changed:
        connection.execute(rows.update().where(rows.c.assessor == person.assessor).values(account=None))
    for person in changed:
        values = {"account": person.account, "adjudicator": person.adjudicator}
        connection.execute(rows.update().where(rows.c.assessor == person.assessor).values(values))
        if person.account != standing[person.assessor].account:
            connection.execute(projects.update().where(projects.c.assessor == person.assessor).values(account_id=None))
    insert_records(session, AssessorRow, (person for person in people if person.assessor not in standing))


def set_left(session: Session, assessor: str, left_on: str | None) -> None:
    """Remember when this person left; None brings them back."""
    rows = table(AssessorRow)
    session.connection().execute(rows.update().where(rows.c.assessor == assessor).values(left_on=left_on))


def set_shares(session: Session, shares: Mapping[str, float]) -> None:
    """Remember the hours of these people, relative to others; those not named keep theirs."""
    check_known(session, AssessorRow, shares, what="--share")
    rows = table(AssessorRow)
    for name, share in shares.items():
        session.connection().execute(rows.update().where(rows.c.assessor == name).values(share=share))


def read_assessors(session: Session) -> tuple[Assessor, ...]:
    """Everyone, adjudicators included, by pseudonym."""
    return tuple(sorted(read_records(session, AssessorRow, Assessor), key=attrgetter("assessor")))


def replace_plan(
    session: Session, assignments: Iterable[Assignment], *, plan: Plan, handed_on: Iterable[Assignment] = ()
) -> None:
    """Make these assignments the plan. The same assignments, hash and seed again change nothing, `created` included.

    handed_on: what somebody gives up. It may leave although it was sent, or answered in a way that does not count.
    Raises InputError when another assignment that is judged already would go, or a pair that was sent, or one names an
    unknown query or assessor.
    """
    new = list(assignments)
    check_distinct(map(_key, new), what="plan")
    check_distinct(((one.assessor, one.position) for one in new), what="plan (assessor and position)")
    check_known(session, QueryRow, {one.query_id for one in new}, what="plan")
    check_known(session, AssessorRow, {one.assessor for one in new}, what="plan")
    standing, old = read_assignments(session), read_plan(session)
    if old is not None and old._replace(created=plan.created) == plan and set(standing) == set(new):
        return
    given_up = set(map(_key, handed_on))
    refuse_sent(
        session,
        {key[:2] for key in set(map(_key, standing)) - given_up} - {_key(one)[:2] for one in new},
        what="pair(s) would leave the plan",
        hint="keep what is planned and add to it; `annot plan --withdraw` takes back what was not sent",
    )
    _remove_plan(session, set(map(_key, standing)) - set(map(_key, new)) - given_up)
    insert_records(session, AssignmentRow, new)
    insert_records(session, PlanRow, [plan], id=1)


def withdraw_plan(session: Session) -> int:
    """Remove the plan and its assignments; returns how many those were. Raises InputError when some are judged."""
    standing = set(map(_key, read_assignments(session)))
    _remove_plan(session, standing)
    return len(standing)


def read_plan(session: Session) -> Plan | None:
    """What is known of the current plan; None when nothing is planned."""
    found = next(read_records(session, PlanRow, Plan), None)
    return found and found._replace(vacant=tuple((query_id, doc_id) for query_id, doc_id in found.vacant))


def read_assignments(session: Session, assessor: str | None = None) -> tuple[Assignment, ...]:
    """The assignments of one assessor or of all, by assessor and position."""
    wanted = true() if assessor is None else table(AssignmentRow).c.assessor == assessor
    found = read_records(session, AssignmentRow, Assignment, wanted)
    return tuple(sorted(found, key=attrgetter("assessor", "position")))


_KEY = ("query_id", "doc_id", "assessor", "occasion")
_key = attrgetter(*_KEY)


def _remove_plan(session: Session, leaving: set[tuple[str, str, str, int]]) -> None:
    """`leaving`: the assignments that do not come back."""
    refuse_judged(
        session,
        [JudgementRow],
        _KEY,
        leaving,
        what="assignment(s) would leave the plan",
        hint="keep what is planned and add to it; judgements are never deleted",
    )
    for model in (AssignmentRow, PlanRow):
        session.connection().execute(table(model).delete())


Kind = Literal["comments", "reasons"]
"""What assessors write beside their grades, and what adjudicators write beside the final ones."""
How = Literal["letter", "screen", "consent"]


class Told(NamedTuple):
    """What one person knows from one moment on."""

    assessor: str
    kind: Kind
    how: How
    """By a letter of `annot invite` or the screen they work on; `consent` is to all that they wrote until then."""
    at: str
    """ISO 8601, UTC."""
    published: bool
    """Whether it says that their words are published."""
    words: str = ""
    """How the lead has the consent."""


def read_told(session: Session) -> tuple[Told, ...]:
    """Everything on record, the oldest first."""
    return tuple(sorted(read_records(session, ToldRow, Told), key=lambda one: (one.at, one.assessor, one.kind)))


def note_told(session: Session, told: Iterable[Told]) -> None:
    """Note these down, but for what the last of the same kind said as well."""
    last = {(one.assessor, one.kind, one.how): one for one in read_told(session)}
    new = []
    for one in told:
        before = last.get((one.assessor, one.kind, one.how))
        if one.how == "consent" or (one.published if before is None else before.published != one.published):
            new.append(one)
    if new:
        insert_records(session, ToldRow, new)
