"""Judgements made elsewhere, brought into the store with their queries, people, plan and pools, all or nothing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annot.base.errors import InputError, gathered, raise_together
from annot.base.names import counted, moment_now
from annot.base.records import Adjudication, Assessor, Assignment, Judgement, Query, Source, grouped
from annot.corpus.named_rows import (
    NamedRow,
    check_adjudicated,
    check_once,
    persons_of,
    plan_of,
    queries_of,
    with_sentences,
)
from annot.corpus.papers_by_id import CheckedRows, rows_in_corpus
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
    grades: dict[int, int]
    """How many rows give each grade, skipped annotations left out."""
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
    foreign: str | None,
    same_person: bool | None,
    dry_run: bool,
) -> ImportedJudgements:
    """Bring in these judgements, as `judgements_from` does. name: what messages call the file."""
    errors: list[InputError] = []
    queries: dict[str, Query] = {}
    persons: dict[str, Assessor] = {}
    checked = CheckedRows({}, ())
    corpus = ws.corpus if ws.has_corpus else None
    with ws.reading() as session:
        refuse_other_work(ws, session)
        topics = read_topics(session)
        with gathered(errors):
            queries = queries_of(rows, ws.settings, facet, topics=topics, name=name, drop=foreign == "drop")
        known = {query.query_id for query in read_queries(session)}
        everyone = people.read_assessors(session)
        planned = people.read_assignments(session)
        paper_ids = [query.topic_id for query in queries.values()]
        labels = {labelled.paper_id: labelled.labels for labelled in facet_labels.read_labels(session, paper_ids)}
    with gathered(errors):
        checked = rows_in_corpus({name: rows}, queries, corpus, topics=topics, foreign=foreign)
    with gathered(errors):
        persons = persons_of(rows, set(adjudicators), everyone, name=name, same_person=same_person)
    raise_together(errors, name=name)
    in_file = {(queries[row.query].query_id, row.document) for row in rows if row.query in queries}
    rows = checked.rows[name]
    left_out = in_file - {(queries[row.query].query_id, row.document) for row in rows}
    earlier = len(left_out & {assignment.pair for assignment in planned})
    queries = {row.query: queries[row.query] for row in rows}
    persons = {row.assessor: persons[row.assessor] for row in rows}
    papers = find_papers(ws.corpus, paper_ids) if corpus else {}
    given = [
        NamedRow(row, queries[row.query], persons[row.assessor].assessor, persons[row.assessor].adjudicator)
        for row in rows
    ]
    new = [
        with_sentences(query, labels, papers, ws.settings) for query in queries.values() if query.query_id not in known
    ]
    plan = plan_of(given, planned)
    check_once(given, name=name)
    check_adjudicated(given, plan, name=name)
    recorded, outside = RecordedCount(0, 0, 0), 0
    if not dry_run:
        with ws.writing() as session:
            present = {person.assessor for person in everyone}
            named = {person.assessor: person for person in persons.values()}
            people.put_assessors(session, [person for who, person in named.items() if who not in present])
            put_queries(session, new)
            recorded = _record(session, given, plan, ws)
            outside = put_judged_pools(session, rows, queries, with_text={*papers, *topics})
            facts = {"rows": len(rows), "queries": len(queries)}
            runs.put_import(session, runs.Imported(Source.FILE, hashlib.sha256(data).hexdigest(), facts))
        with ws.reading() as session:
            outcome = outcome_of(session, ws.settings)
        export_judgements(ws, outcome)
    notes = (*checked.notes, *_notes(given, persons, outside, earlier))
    return _in_figures(given, len(new), recorded, notes)


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
    return Sourced(record, Source.FILE, row.annotation, dict(row.row), changed_at=row.changed_at)


def _notes(given: Sequence[NamedRow], persons: Mapping[str, Assessor], outside: int, earlier: int) -> Iterator[str]:
    """Notes on what was imported. outside: documents outside drawn pools. earlier: pairs on record, left out now."""
    if earlier:
        pairs = counted(earlier, "pair")
        yield f"{pairs} left out now {'was' if earlier == 1 else 'were'} imported earlier and still on record"
    renamed = {named.row.query: named.query.query_id for named in given if named.row.query != named.query.query_id}
    if renamed:
        old, new = min(renamed.items())
        yield f"{counted(len(renamed), 'query')} renamed to paper and facet, such as {old} to {new}"
    if outside:
        yield f"documents of the file outside the drawn pools: {outside}; systems do not rank them"
    if len(persons) > (people_named := len({person.assessor for person in persons.values()})):
        yield f"{len(persons)} names in the file were taken as {counted(people_named, 'person', 'people')}"
    answers = grouped(
        ((named.asked, named.person), named.row) for named in given if not (named.adjudicates or named.row.flags)
    )
    changed = [
        (asked, max(rows, key=_changed_at))
        for (asked, _), rows in answers.items()
        if max(rows, key=_changed_at) is not max(rows, key=lambda row: row.judged_at or "")
    ]
    if changed:
        asked, row = changed[0]
        yield (
            f"{counted(len(changed), 'pair')} with several answers by one person: the answer that was changed last "
            f"counts, not the one that was created last, such as {asked.query_id} {asked.doc_id}: annotation "
            f"{row.annotation}, changed {_changed_at(row)[:16].replace('T', ' ')} UTC"
        )


def _changed_at(row: FileJudgement) -> str:
    return row.changed_at or row.judged_at or ""


def _in_figures(
    given: Sequence[NamedRow], new_queries: int, recorded: RecordedCount, notes: tuple[str, ...]
) -> ImportedJudgements:
    judged = [named for named in given if not named.adjudicates]
    first = {(*named.asked.pair, named.person) for named in judged if named.asked.occasion == 1 and not named.row.flags}
    graded = [named.row for named in given if not named.row.flags]
    assessors = Counter((query_id, doc_id) for query_id, doc_id, _ in first)
    return ImportedJudgements(
        judgements=len(judged),
        adjudications=len(given) - len(judged),
        without_grade=sum(named.row.grade is None for named in judged),
        queries=len({named.query.query_id for named in given}),
        new_queries=new_queries,
        pairs_by_assessors=dict(sorted(Counter(assessors.values()).items())),
        rows_by_person=dict(sorted(Counter(named.person for named in given).items())),
        grades=dict(sorted(Counter(row.grade for row in graded if row.grade is not None).items())),
        **recorded._asdict(),
        notes=notes,
    )
