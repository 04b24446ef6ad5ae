"""The queries of the study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import func, select
from sqlmodel import Session, SQLModel

from annot.errors import InputError
from annot.records import Query
from annot.store.models import AdjudicationRow, AssignmentRow, JudgementRow, QueryRow, SplitRow, TaskRow, table
from annot.store.rows import Change, check_distinct, delete_where, in_chunks, insert_rows

_STANDS_ON_QUERIES: tuple[tuple[type[SQLModel], str], ...] = (
    (JudgementRow, "judgement(s)"),
    (AdjudicationRow, "adjudication(s)"),
    (TaskRow, "pushed task(s)"),
    (AssignmentRow, "planned assignment(s)"),
    (SplitRow, "place(s) in a split"),
)


def replace_queries(session: Session, queries: Iterable[Query]) -> Change:
    """Make these the queries of the study, all others go.

    Raises InputError, with how many judgements and other work stand on them, when a query that is in use would go, or
    one that is judged would change.
    """
    return _write(session, list(queries), keep_others=False)


def put_queries(session: Session, queries: Iterable[Query]) -> Change:
    """Add these queries, or change those of the same id; others stay. Raises InputError as `replace_queries` does."""
    return _write(session, list(queries), keep_others=True)


def read_queries(session: Session) -> tuple[Query, ...]:
    """All queries, by `query_id`."""
    rows = table(QueryRow)
    found = session.connection().execute(select(rows.c.query_id, rows.c.paper_id, rows.c.facet, rows.c.sentences))
    queries = (Query(query_id, paper_id, facet, tuple(places)) for query_id, paper_id, facet, places in found)
    return tuple(sorted(queries, key=lambda query: query.query_id))


def _write(session: Session, queries: Sequence[Query], *, keep_others: bool) -> Change:
    check_distinct([query.query_id for query in queries], what="queries")
    check_distinct([(query.paper_id, query.facet) for query in queries], what="queries (paper and facet)")
    standing = {query.query_id: query for query in read_queries(session)}
    given = {query.query_id: query for query in queries}
    added = [query for query_id, query in given.items() if query_id not in standing]
    changed = [query for query_id, query in given.items() if query_id in standing and standing[query_id] != query]
    removed = [] if keep_others else [query_id for query_id in standing if query_id not in given]
    _refuse(session, removed, _STANDS_ON_QUERIES, "would go")
    _refuse(session, [query.query_id for query in changed], _STANDS_ON_QUERIES[:3], "would change")
    delete_where(session, QueryRow, "query_id", removed)
    rows = table(QueryRow)
    for query in changed:
        session.connection().execute(rows.update().where(rows.c.query_id == query.query_id).values(**_row(query)))
    insert_rows(session, QueryRow, (_row(query) for query in added))
    return Change(len(added), len(changed), len(removed), len(given) - len(added) - len(changed))


def _row(query: Query) -> dict[str, object]:
    return {
        "query_id": query.query_id,
        "paper_id": query.paper_id,
        "facet": query.facet,
        "sentences": list(query.sentences),
    }


def _refuse(
    session: Session, query_ids: Sequence[str], standing_on: Sequence[tuple[type[SQLModel], str]], verb: str
) -> None:
    total: dict[str, int] = {}
    by_query: dict[str, list[str]] = {}
    for model, words in standing_on:
        rows = table(model)
        for chunk in in_chunks(query_ids):
            counted = select(rows.c.query_id, func.count()).where(rows.c.query_id.in_(chunk)).group_by(rows.c.query_id)
            for query_id, count in session.connection().execute(counted):
                total[words] = total.get(words, 0) + count
                by_query.setdefault(query_id, []).append(f"{count} {words}")
    if total:
        what = ", ".join(f"{count} {words}" for words, count in total.items())
        raise InputError(
            f"{len(by_query)} query(ies) {verb}, but {what} stand on them",
            faults=[f"{query_id}: {', '.join(parts)}" for query_id, parts in sorted(by_query.items())],
            hint="keep these queries, or start a new study; judgements are never deleted",
        )
