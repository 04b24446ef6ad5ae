"""The pools: which documents are judged for a query paper, and how each came in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlmodel import Session

from annot.errors import InputError, MissingInput
from annot.records import Draw, Pool, PoolEntry
from annot.store.models import AdjudicationRow, DrawRow, JudgementRow, PoolEntryRow, PoolRow, QueryRow, table
from annot.store.rows import Change, check_distinct, delete_where, in_chunks, insert_rows

Pair = tuple[str, str]
"""(query_id, doc_id)."""


def replace_pools(session: Session, pools: Iterable[Pool], *, rankings_sha256: Mapping[str, str]) -> Change:
    """Make these the pools of the study, all others go.

    rankings_sha256: for each `paper_id`, the hash of what its pool was drawn from.

    Raises InputError, with how many judgements stand on them, when judged pairs would leave the pool.
    """
    pools = list(pools)
    check_distinct([pool.paper_id for pool in pools], what="pools")
    _check_entries(pools)
    given = {pool.paper_id: (pool, rankings_sha256[pool.paper_id]) for pool in pools}
    standing = _read(session, None)
    added = [pool for pool in pools if pool.paper_id not in standing]
    changed = [pool for pool in pools if pool.paper_id in standing and standing[pool.paper_id] != given[pool.paper_id]]
    removed = [paper_id for paper_id in standing if paper_id not in given]
    leaving = {paper_id: _documents(standing[paper_id][0]) for paper_id in removed}
    for pool in changed:
        leaving[pool.paper_id] = _documents(standing[pool.paper_id][0]) - _documents(pool)
    _refuse_judged(session, leaving)
    gone = [*removed, *(pool.paper_id for pool in changed)]
    for model in (DrawRow, PoolEntryRow, PoolRow):
        delete_where(session, model, "paper_id", gone)
    new = [*added, *changed]
    insert_rows(session, PoolRow, (_pool_row(pool, rankings_sha256[pool.paper_id]) for pool in new))
    insert_rows(session, PoolEntryRow, (row for pool in new for row in _entry_rows(pool)))
    insert_rows(session, DrawRow, (row for pool in new for row in _draw_rows(pool)))
    return Change(len(added), len(changed), len(removed), len(given) - len(new))


def read_pools(session: Session, paper_ids: Sequence[str] | None = None) -> dict[str, Pool]:
    """The pools by `paper_id`, of the papers named or of all, in the order of the ids."""
    return {paper_id: pool for paper_id, (pool, _sha256) in sorted(_read(session, paper_ids).items())}


def read_pool(session: Session, paper_id: str) -> Pool:
    """The pool of one query paper. Raises MissingInput when it has none."""
    found = read_pools(session, [paper_id])
    if not found:
        raise MissingInput(f"query paper {paper_id}: no pool", hint="draw it with `annot pool`")
    return found[paper_id]


def read_rankings_sha256(session: Session) -> dict[str, str]:
    """For each `paper_id` with a pool, the hash of what the pool was drawn from."""
    rows = table(PoolRow)
    return dict(sorted(session.connection().execute(select(rows.c.paper_id, rows.c.rankings_sha256))))


def documents_by_query(session: Session) -> dict[str, tuple[str, ...]]:
    """The documents to judge of each query, in the order drawn; a query whose paper has no pool is left out."""
    query, entry = table(QueryRow), table(PoolEntryRow)
    statement = select(query.c.query_id, entry.c.doc_id).join(entry, entry.c.paper_id == query.c.paper_id)
    documents: dict[str, list[str]] = {}
    for query_id, doc_id in session.connection().execute(statement.order_by(entry.c.position)):
        documents.setdefault(query_id, []).append(doc_id)
    return {query_id: tuple(doc_ids) for query_id, doc_ids in sorted(documents.items())}


def _documents(pool: Pool) -> set[str]:
    return {entry.doc_id for entry in pool.entries}


def _check_entries(pools: Iterable[Pool]) -> None:
    for pool in pools:
        check_distinct([entry.doc_id for entry in pool.entries], what=f"pool of {pool.paper_id}")
        for entry in pool.entries:
            methods = [entry.drawn.method, *(draw.method for draw in entry.also)]
            check_distinct(methods, what=f"pool of {pool.paper_id}, methods of {entry.doc_id}")


def _refuse_judged(session: Session, leaving: Mapping[str, set[str]]) -> None:
    """`leaving`: for each paper the documents that its pool would lose."""
    query = table(QueryRow)
    judged: dict[Pair, int] = {}
    for model in (JudgementRow, AdjudicationRow):
        rows = table(model)
        for chunk in in_chunks(leaving):
            statement = (
                select(query.c.paper_id, rows.c.query_id, rows.c.doc_id)
                .join(query, query.c.query_id == rows.c.query_id)
                .where(query.c.paper_id.in_(chunk))
            )
            for paper_id, query_id, doc_id in session.connection().execute(statement):
                if doc_id in leaving[paper_id]:
                    judged[query_id, doc_id] = judged.get((query_id, doc_id), 0) + 1
    if judged:
        raise InputError(
            f"{len(judged)} judged pair(s) would leave the pool; {sum(judged.values())} judgement(s) stand on them",
            faults=[
                f"{query_id} {doc_id}: {count} judgement(s)" for (query_id, doc_id), count in sorted(judged.items())
            ],
            hint="draw from the same rankings and seed, or start a new study; judgements are never deleted",
        )


def _read(session: Session, paper_ids: Sequence[str] | None) -> dict[str, tuple[Pool, str]]:
    pool, entry, draw = table(PoolRow), table(PoolEntryRow), table(DrawRow)
    found: dict[str, tuple[Pool, str]] = {}
    chunks = [None] if paper_ids is None else in_chunks(dict.fromkeys(paper_ids))
    for chunk in chunks:
        pools = select(pool)
        entries = select(entry.c.paper_id, entry.c.doc_id).order_by(entry.c.position)
        draws = select(*(draw.c[name] for name in ("paper_id", "doc_id", "method", "rank", "score", "turn")))
        if chunk is not None:
            pools = pools.where(pool.c.paper_id.in_(chunk))
            entries = entries.where(entry.c.paper_id.in_(chunk))
            draws = draws.where(draw.c.paper_id.in_(chunk))
        by_entry: dict[tuple[str, str], list[Draw]] = {}
        for paper_id, doc_id, *one in session.connection().execute(draws.order_by(draw.c.place)).all():
            by_entry.setdefault((paper_id, doc_id), []).append(Draw(*one))
        members: dict[str, list[PoolEntry]] = {}
        for paper_id, doc_id in session.connection().execute(entries).all():
            drawn, *also = by_entry[paper_id, doc_id]
            members.setdefault(paper_id, []).append(PoolEntry(doc_id, drawn, tuple(also)))
        for row in session.connection().execute(pools):
            record = Pool(
                paper_id=row.paper_id,
                mode=row.mode,
                per_method=row.per_method,
                ranking_depth=row.ranking_depth,
                seed=row.seed,
                methods=tuple(row.methods),
                without=tuple(row.without),
                dry=tuple(row.dry),
                cited_outside=row.cited_outside,
                entries=tuple(members.get(row.paper_id, ())),
            )
            found[row.paper_id] = record, row.rankings_sha256
    return found


def _pool_row(pool: Pool, rankings_sha256: str) -> dict[str, object]:
    return {
        "paper_id": pool.paper_id,
        "mode": pool.mode,
        "per_method": pool.per_method,
        "ranking_depth": pool.ranking_depth,
        "seed": pool.seed,
        "methods": list(pool.methods),
        "without": list(pool.without),
        "dry": list(pool.dry),
        "cited_outside": pool.cited_outside,
        "rankings_sha256": rankings_sha256,
    }


def _entry_rows(pool: Pool) -> Iterable[dict[str, object]]:
    for position, entry in enumerate(pool.entries, 1):
        yield {"paper_id": pool.paper_id, "doc_id": entry.doc_id, "position": position}


def _draw_rows(pool: Pool) -> Iterable[dict[str, object]]:
    for entry in pool.entries:
        for place, draw in enumerate((entry.drawn, *entry.also)):
            yield {
                "paper_id": pool.paper_id,
                "doc_id": entry.doc_id,
                "method": draw.method,
                "rank": draw.rank,
                "score": draw.score,
                "turn": draw.turn,
                "place": place,
            }
