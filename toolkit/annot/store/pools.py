"""The pools: which documents are judged for a topic, how each came in, and the sample of them that is judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Select, Table, func, select, true
from sqlmodel import Session

from annot.base.errors import InputError, MissingInput
from annot.base.names import counted
from annot.base.records import Addition, Draw, Pool, PoolEntry, grouped
from annot.store.judging_models import (
    ADJUDICATION_TABLE,
    JUDGEMENT_TABLE,
    SAMPLE_TABLE,
    SAMPLED_TABLE,
    TASK_TABLE,
    PoolSample,
    SampleDesign,
    SampledPair,
)
from annot.store.models import (
    DRAW_TABLE,
    POOL_ADDITION_TABLE,
    POOL_ENTRY_TABLE,
    POOL_TABLE,
    QUERY_TABLE,
    check_distinct,
    check_known,
    field_names,
    insert_records,
    insert_rows,
    read_in_order,
    read_records,
    refuse_in_use,
)

OF_POOLS: tuple[Table, ...] = (DRAW_TABLE, POOL_ENTRY_TABLE, POOL_ADDITION_TABLE, POOL_TABLE)
"""Tables of pools; each refers to one that follows."""
SHOWN = 5
"""Pairs that an error names."""
UNKNOWN_RANKINGS = "unknown"
"""Value of the hash if the rankings behind a pool were lost."""


def replace_pools(session: Session, pools: Iterable[Pool], *, rankings_sha256: Mapping[str, str]) -> None:
    """Make these the pools of the study, all others are removed.

    rankings_sha256: for each `topic_id`, the hash of the rankings behind its pool.

    Raises InputError when pairs would leave the pool that are judged, with the number of their judgements, or sent, or
    under the sample, drawn or not.
    """
    pools = list(pools)
    check_distinct((pool.topic_id for pool in pools), what="pools")
    for pool in pools:
        check_distinct((entry.doc_id for entry in pool.entries), what=f"pool of {pool.topic_id}")
    staying = {(pool.topic_id, entry.doc_id) for pool in pools for entry in pool.entries}
    leaving = {
        (query_id, doc_id)
        for query_id, topic_id, doc_id in session.connection().execute(_pooled_pairs())
        if (topic_id, doc_id) not in staying
    }
    hint = "`annot pool` without options draws the pools on record again; --frozen uses the rankings on record, too"
    refuse_in_use(
        session,
        {**dict.fromkeys((JUDGEMENT_TABLE, ADJUDICATION_TABLE), "judgement"), TASK_TABLE: "pushed task"},
        ["query_id", "doc_id"],
        leaving,
        noun="pair",
        what="leave the pool",
        hint=f"{hint}; judgements are never deleted",
    )
    _refuse_sampled(session, leaving)
    for table in OF_POOLS:
        session.connection().execute(table.delete())
    for pool in pools:
        insert_records(session, POOL_TABLE, [pool], rankings_sha256=rankings_sha256[pool.topic_id])
        insert_records(session, POOL_ADDITION_TABLE, pool.additions, topic_id=pool.topic_id)
    insert_rows(
        session,
        POOL_ENTRY_TABLE,
        (
            {"topic_id": pool.topic_id, "doc_id": entry.doc_id, "position": position}
            for pool in pools
            for position, entry in enumerate(pool.entries, 1)
        ),
    )
    insert_rows(
        session,
        DRAW_TABLE,
        (
            {"topic_id": pool.topic_id, "doc_id": entry.doc_id, "place": place}
            | {name: getattr(draw, name) for name in field_names(Draw)}
            for pool in pools
            for entry in pool.entries
            for place, draw in enumerate((entry.drawn, *entry.also))
        ),
    )


def _refuse_sampled(session: Session, leaving: set[tuple[str, str]]) -> None:
    """Raise InputError if pairs of the sample would leave, as estimates without those not drawn have a bias."""
    pair = SAMPLED_TABLE.c.query_id, SAMPLED_TABLE.c.doc_id
    refused = sorted(leaving & {(*row,) for row in session.connection().execute(select(*pair))}) if leaving else []
    if refused:
        raise InputError(
            f"{counted(len(refused), 'pair')} of the sample would leave the pool",
            faults=[" ".join(pair) for pair in refused[:SHOWN]],
            hint="draw pools that keep them; before the first push, `annot plan --withdraw` takes the sample back",
        )


def remove_pool(session: Session, topic_id: str) -> None:
    """Remove the pool of a topic that no longer has a query."""
    for table in OF_POOLS:
        session.connection().execute(table.delete().where(table.c.topic_id == topic_id))


def read_pools(session: Session, topic_id: str | None = None) -> dict[str, Pool]:
    """The pools by `topic_id`, of one topic or of all, in the order of the ids."""
    rows = _rows(session, DRAW_TABLE, ("doc_id", *field_names(Draw)), topic_id)
    draws = grouped(((topic, doc_id), Draw(*draw)) for topic, doc_id, *draw in rows)
    entries: defaultdict[str, list[PoolEntry]] = defaultdict(list)
    for topic, doc_id in _rows(session, POOL_ENTRY_TABLE, ["doc_id"], topic_id):
        drawing, *also = draws[topic, doc_id]
        entries[topic].append(PoolEntry(doc_id, drawing, tuple(also)))
    rows = _rows(session, POOL_ADDITION_TABLE, field_names(Addition), topic_id)
    additions = grouped((topic, Addition(*added)) for topic, *added in rows)
    facts = [name for name in field_names(Pool) if name not in ("topic_id", "entries", "additions")]
    pools: dict[str, Pool] = {}
    for topic, *row in sorted(_rows(session, POOL_TABLE, facts, topic_id), key=itemgetter(0)):
        facts_of_pool = dict(zip(facts, row, strict=True))
        pools[topic] = Pool(
            topic_id=topic, entries=(*entries[topic],), additions=(*additions.get(topic, ()),), **facts_of_pool
        )
    return pools


def read_pool(session: Session, topic_id: str) -> Pool:
    """The pool of one topic. Raises MissingInput when it has none."""
    pools = read_pools(session, topic_id)
    if not pools:
        raise MissingInput(f"query paper {topic_id}: no pool", hint="draw it with `annot pool`")
    return pools[topic_id]


def read_rankings_sha256(session: Session) -> dict[str, str]:
    """Hash of the rankings behind each pool, by `topic_id`."""
    return dict(sorted(map(tuple, _rows(session, POOL_TABLE, ["rankings_sha256"]))))


def documents_by_query(session: Session) -> dict[str, tuple[str, ...]]:
    """Documents to judge of each query, in the order drawn; a query whose topic has no pool is left out."""
    rows = session.connection().execute(_pooled_pairs())
    documents = grouped((query_id, doc_id) for query_id, _topic_id, doc_id in rows)
    return {query_id: tuple(doc_ids) for query_id, doc_ids in sorted(documents.items())}


def read_sample(session: Session) -> PoolSample | None:
    """The sample on record; None if the pools are judged whole."""
    design = next(read_records(session, SAMPLE_TABLE, SampleDesign), None)
    if design is None:
        return None
    pairs = read_in_order(session, SAMPLED_TABLE, SampledPair, ["pair"])
    return PoolSample(design, {pair.pair: pair for pair in pairs})


def sample_judged_since(session: Session) -> str | None:
    """Time when the first judgement of a pair drawn by chance was recorded, in ISO 8601, UTC.

    Pairs that were planned whole before the first sample do not count.
    """
    pair, judged = SAMPLED_TABLE.c, JUDGEMENT_TABLE.c
    same_pair = (judged.query_id == pair.query_id) & (judged.doc_id == pair.doc_id) & (pair.batch > 0)
    statement = select(func.min(judged.recorded_at)).select_from(JUDGEMENT_TABLE.join(SAMPLED_TABLE, same_pair))
    recorded_at: str | None = session.connection().execute(statement).scalar_one()
    return recorded_at


def to_judge(pooled: Mapping[str, Sequence[str]], sample: PoolSample | None) -> dict[str, tuple[str, ...]]:
    """The documents of each query that are to be judged: those of its pool, or of these the ones that were drawn."""
    return {
        query_id: tuple(doc_id for doc_id in doc_ids if sample is None or sample.drawn(query_id, doc_id))
        for query_id, doc_ids in pooled.items()
    }


def replace_sample(session: Session, sample: PoolSample | None) -> None:
    """Make this the sample of the study; None removes it.

    Raises InputError if a pair that was sent or judged would no longer be drawn.
    """
    current = read_sample(session)
    if current == sample:
        return
    if sample is not None:
        check_known(session, QUERY_TABLE, {query_id for query_id, _ in sample.pairs}, what="sample")
    if current is not None:
        drawn = {pair for pair, sampled in current.pairs.items() if sampled.drawn}
        leaving = {pair for pair in drawn if not (sample and sample.drawn(*pair))}
        refuse_in_use(
            session,
            {JUDGEMENT_TABLE: "judgement", TASK_TABLE: "pushed task"},
            ["query_id", "doc_id"],
            leaving,
            noun="pair",
            what="leave the sample",
            hint="a sample grows only: give a larger share",
        )
    for table in (SAMPLED_TABLE, SAMPLE_TABLE):
        session.connection().execute(table.delete())
    if sample is not None:
        insert_records(session, SAMPLE_TABLE, [sample.design], id=1)
        insert_records(session, SAMPLED_TABLE, sample.pairs.values())


def _pooled_pairs() -> Select[Any]:
    """(query_id, topic_id, doc_id) of each query and document of its topic's pool, in the order drawn."""
    query, entry = QUERY_TABLE, POOL_ENTRY_TABLE
    columns = query.c.query_id, query.c.topic_id, entry.c.doc_id
    return select(*columns).join(entry, entry.c.topic_id == query.c.topic_id).order_by(entry.c.position)


def _rows(session: Session, table: Table, columns: Sequence[str], topic_id: str | None = None) -> Sequence[Any]:
    """`topic_id` and these columns, of one topic or of all, in the order drawn; pools by `topic_id`."""
    condition = true() if topic_id is None else table.c.topic_id == topic_id
    order = {POOL_ENTRY_TABLE: "position", DRAW_TABLE: "place", POOL_ADDITION_TABLE: "version"}.get(table, "topic_id")
    statement = select(table.c.topic_id, *(table.c[name] for name in columns)).where(condition)
    return session.connection().execute(statement.order_by(table.c[order])).all()
