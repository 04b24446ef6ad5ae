"""Judgements made elsewhere, brought into the store with their queries, people, plan and pools, all or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted, moment_now
from annot.base.records import Adjudication, Assignment, Judgement, Source
from annot.corpus.named_rows import NamedRow, check_adjudicated, persons_of, plan_of, queries_of, with_sentences
from annot.formats.judgements_file import FileJudgement
from annot.judging.plan_on_record import plan_sha256
from annot.pools.drawn_pools import put_judged_pools
from annot.store import adjudications, facet_labels, judgements, people, runs
from annot.store.papers import find_papers
from annot.store.queries import put_queries, read_queries, read_topics
from annot.store.revisions import RecordedCount, Sourced
from annot.store.shown import keep_imported_scale
from annot.study.exports import export_judgements
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

NO_GRADE = "no grade in the file"
"""Why a row without a grade has none: its assessor had the pair and did not grade it."""
UNKNOWN = "unknown"
"""Whether the adjudicator saw the grades."""


@dataclass(frozen=True, slots=True)
class ImportedJudgements:
    """What the file held, and what was new in it."""

    judgements: int
    adjudications: int
    without_grade: int
    queries: int
    new_queries: int
    pairs_by_assessors: dict[int, int]
    """How many pairs of the file have one assessor, two, and so on."""
    rows_by_person: dict[str, int]
    """By pseudonym, adjudicators included."""
    added: int
    revised: int
    unchanged: int
    notes: tuple[str, ...]


def import_judgements(
    ws: Workspace,
    rows: Sequence[FileJudgement],
    data: bytes,
    *,
    name: str,
    facet: str | None,
    adjudicators: tuple[str, ...],
    dry_run: bool,
) -> ImportedJudgements:
    """Bring in these judgements, as `judgements_from` does. name: what messages call the file."""
    with ws.reading() as session:
        topics = read_topics(session)
        queries = queries_of(rows, ws.settings, facet, topics=topics, name=name)
        refuse_other_work(ws, session)
        known = {query.query_id for query in read_queries(session)}
        everyone = people.read_assessors(session)
        planned = people.read_assignments(session)
        paper_ids = [query.topic_id for query in queries.values()]
        labels = {labelled.paper_id: labelled.labels for labelled in facet_labels.read_labels(session, paper_ids)}
    papers = find_papers(ws.corpus, paper_ids) if ws.has_corpus else {}
    persons = persons_of(rows, set(adjudicators), everyone, name=name)
    given = [
        NamedRow(row, queries[row.query], persons[row.assessor].assessor, persons[row.assessor].adjudicator)
        for row in rows
    ]
    new = [
        with_sentences(query, labels, papers, ws.settings) for query in queries.values() if query.query_id not in known
    ]
    plan = plan_of(given, planned)
    check_adjudicated(given, plan, name=name)
    recorded, outside = RecordedCount(0, 0, 0), 0
    if not dry_run:
        with ws.writing() as session:
            present = {person.assessor for person in everyone}
            people.put_assessors(session, [person for person in persons.values() if person.assessor not in present])
            put_queries(session, new)
            recorded = _record(session, given, plan, ws)
            outside = put_judged_pools(session, rows, queries, with_text={*papers, *topics})
            facts = {"rows": len(rows), "queries": len(queries)}
            runs.put_import(session, runs.Imported(Source.FILE, hashlib.sha256(data).hexdigest(), facts))
        with ws.reading() as session:
            outcome = outcome_of(session, ws.settings)
        export_judgements(ws, outcome)
    return _in_figures(given, len(new), recorded, outside)


def refuse_other_work(ws: Workspace, session: Session) -> None:
    """Raise InputError if the study has judgements or a plan of its own: its people would be asked for these, too.

    What files brought stands, and further files add to it.
    """
    sourced = judgements.read_sourced(session)
    ours = {(known.record.asked, known.record.assessor) for known in sourced}
    plan = {(assignment.asked, assignment.assessor) for assignment in people.read_assignments(session)}
    if plan - ours or any(judgement.source != Source.FILE for judgement in sourced):
        raise InputError(f"{ws.root}: has its own plan or judgements", hint="make another study with `annot init`")


def _record(session: Session, given: Sequence[NamedRow], plan: tuple[Assignment, ...], ws: Workspace) -> RecordedCount:
    recorded_at = moment_now()
    keep_imported_scale(session, ws.settings.scale.names, since=recorded_at)
    people.replace_plan(session, plan, plan=people.Plan(plan_sha256(plan), ws.settings.seed, recorded_at))
    judged = [_sourced(named) for named in given if not named.adjudicates]
    settled = [_sourced(named) for named in given if named.adjudicates]
    both = (
        judgements.record_judgements(session, judged, recorded_at=recorded_at),
        adjudications.record_adjudications(session, settled, recorded_at=recorded_at),
    )
    return RecordedCount(*map(sum, zip(*both, strict=True)))


def _sourced(named: NamedRow) -> Sourced[Any]:
    row = named.row
    pair = (named.query.query_id, row.document, named.person, row.grade)
    said: dict[str, Any] = {"comment": row.comment, "judged_at": row.judged_at, "lead_time": row.seconds}
    if named.adjudicates:
        record: Judgement | Adjudication = Adjudication(*pair, UNKNOWN, (), **said)
    else:
        why = row.cannot_judge or (NO_GRADE if row.grade is None and not row.flags else None)
        record = Judgement(*pair, cannot_judge=why, flags=row.flags, occasion=row.occasion, **said)
    return Sourced(record, Source.FILE, row.annotation, dict(row.row))


def _in_figures(
    given: Sequence[NamedRow], new_queries: int, recorded: RecordedCount, outside: int
) -> ImportedJudgements:
    judged = [named for named in given if not named.adjudicates]
    first = {(*named.asked.pair, named.person) for named in judged if named.asked.occasion == 1 and not named.row.flags}
    assessors = Counter((query_id, doc_id) for query_id, doc_id, _ in first)
    renamed = {named.row.query: named.query.query_id for named in given if named.row.query != named.query.query_id}
    notes = []
    if renamed:
        old, new = min(renamed.items())
        notes.append(f"{counted(len(renamed), 'query')} renamed to paper and facet, such as {old} to {new}")
    if outside:
        notes.append(f"documents of the file outside the drawn pools: {outside}; systems do not rank them")
    return ImportedJudgements(
        judgements=len(judged),
        adjudications=len(given) - len(judged),
        without_grade=sum(named.row.grade is None for named in judged),
        queries=len({named.query.query_id for named in given}),
        new_queries=new_queries,
        pairs_by_assessors=dict(sorted(Counter(assessors.values()).items())),
        rows_by_person=dict(sorted(Counter(named.person for named in given).items())),
        **recorded._asdict(),
        notes=tuple(notes),
    )
