"""Hidden gold: the settled pairs that stand, unannounced, among those of an assessor; their answers never count."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import Session

from annot.store.base import table
from annot.store.judging_models import AssignmentRow, TrialAssignmentRow


def read_hidden(session: Session) -> dict[str, tuple[tuple[str, str], ...]]:
    """The (query_id, doc_id) hidden among each assessor's own; one that the plan came to ask of them is none any more.

    In the order in which they were hidden. Assessors without any are left out.
    """
    rows, plan, connection = table(TrialAssignmentRow), table(AssignmentRow), session.connection()
    wanted = select(rows.c.assessor, rows.c.query_id, rows.c.doc_id).where(rows.c.round == "hidden-gold")
    hidden = connection.execute(wanted.order_by(rows.c.assessor, rows.c.position)).all()
    if not hidden:
        return {}
    planned = {tuple(row) for row in connection.execute(select(plan.c.assessor, plan.c.query_id, plan.c.doc_id))}
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for assessor, *pair in hidden:
        if (assessor, *pair) not in planned:
            found[assessor] = (*found.get(assessor, ()), (pair[0], pair[1]))
    return found
