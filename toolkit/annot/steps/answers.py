"""Answers that the server no longer has: which they are, and the lead's word that they count."""

from __future__ import annotations

from dataclasses import dataclass

from annot.base.errors import InputError
from annot.base.names import check_name, known_query, moment_now
from annot.judging.withdrawn import TABLES, Withdrawn, lines_withdrawn, withdrawn_of
from annot.store.people import read_assessors
from annot.store.queries import read_queries
from annot.study.exports import export_judgements
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Restored:
    """What `annot answers restore` did."""

    restored: tuple[Withdrawn, ...]
    """Answers that had been withdrawn and count again."""
    kept: tuple[Withdrawn, ...]
    """Answers that counted on and will not be listed again."""


def withdrawn(ws: Workspace) -> tuple[Withdrawn, ...]:
    """Every answer that stopped counting, or that counts although the server no longer has it as it was."""
    with ws.reading() as session:
        return withdrawn_of(session)


def restore(
    ws: Workspace, query_id: str | None, doc_id: str | None, *, assessor: str | None, every: bool, dry_run: bool
) -> Restored:
    """Make these answers count, by a revision of each that is the lead's word; a pull does not list them again.

    every: all that are listed, of the person where one is named. Otherwise one pair of one person. Raises InputError
    for a query, a person or a pair that there is not; one whose answer counts already is left as it is.
    """
    recorded_at = moment_now()
    if every == (query_id is not None) or (not every and (doc_id is None or assessor is None)):
        raise InputError("expected QUERY DOC --assessor NAME, or --all", hint="`annot answers list` shows the answers")
    with ws.reading() as session:
        names = [person.assessor for person in read_assessors(session)]
        if assessor is not None:
            check_name(assessor, names, what="assessor")
        if query_id is not None:
            known_query({query.query_id: query for query in read_queries(session)}, query_id)
        listed = withdrawn_of(session)
        outcome = outcome_of(session, ws.settings)
    wanted = [
        one
        for one in listed
        if (every or (one.query_id, one.doc_id) == (query_id, doc_id)) and assessor in (None, one.assessor)
    ]
    answered = {(one.query_id, one.doc_id, one.assessor) for one in outcome.everything if one.counts}
    answered |= {(*pair, one.adjudicator) for pair, one in outcome.adjudications.items()}
    if not wanted and not every and (query_id, doc_id, assessor) not in answered:
        raise InputError(f"{assessor}: no answer to {query_id} {doc_id}", hint="`annot answers list` shows the answers")
    if not dry_run:
        chosen = {(one.role, one.asked, one.assessor) for one in wanted}
        with ws.writing() as session:
            for role, revisions in TABLES.items():
                answers = [
                    line.answer
                    for person in sorted({person for of, _, person in chosen if of == role})
                    for line in lines_withdrawn(session, role, person=person, payload=True)
                    if (role, line.record.asked, person) in chosen and line.answer is not None
                ]
                revisions.restore(session, answers, recorded_at=recorded_at)
            outcome = outcome_of(session, ws.settings)
        if wanted:
            export_judgements(ws, outcome)
    return Restored(tuple(one for one in wanted if not one.counts), tuple(one for one in wanted if one.counts))
