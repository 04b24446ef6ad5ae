"""Queries of the study, with their topics, and their pools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path, PurePath
from typing import Any

from sqlalchemy import Select, Table, func, select, true

from annot.base.errors import InputError, MissingInput
from annot.base.names import counted
from annot.base.records import Addition, Draw, Pool, PoolEntry, Query, Topic, grouped
from annot.store import models
from annot.store.models import Session

# ----------------------------------------------------------------------------------------------------------------------
# The queries of the study, and those of their topics that are texts.
#
# A topic that is a paper has no row: its id is that of the paper.
# ----------------------------------------------------------------------------------------------------------------------


_JUDGED: dict[Table, str] = {
    models.JUDGEMENT_TABLE: "judgement",
    models.ADJUDICATION_TABLE: "adjudication",
    models.TASK_TABLE: "pushed task",
}
_IN_USE: dict[Table, str] = {
    **_JUDGED,
    models.ASSIGNMENT_TABLE: "planned assignment",
    models.SPLIT_TABLE: "fold",
    models.GOLD_TABLE: "gold pair",
    models.TRIAL_ASSIGNMENT_TABLE: "training or sub-study pair",
    models.OPINION_CALL_TABLE: "question to a model",
}


def replace_queries(session: Session, queries: Iterable[Query]) -> None:
    """Make these the queries of the study; all others are removed, and with them the texts that they ask.

    The type of a paper stays if the query has none. Raises InputError, with the number of judgements and other uses,
    when a query that is in use would be removed, or one that is judged would change in more than the type of its paper.
    """
    new = list(queries)
    staying = {query.query_id for query in new}
    leaving = {query.query_id: query.topic_id for query in read_queries(session) if query.query_id not in staying}
    _refuse(session, leaving, _IN_USE, "be removed")
    _take_from_sample(session, leaving)
    models.delete_where(session, models.QUERY_TABLE, "query_id", leaving)
    without_query = set(leaving.values()) - {query.topic_id for query in new}
    models.delete_where(session, models.TOPIC_TABLE, "topic_id", without_query)
    put_queries(session, new)


def put_queries(session: Session, queries: Iterable[Query]) -> None:
    """Add these queries, or change those of the same id; others stay. Raises InputError as `replace_queries` does."""
    queries = list(queries)
    models.check_distinct((query.query_id for query in queries), what="queries")
    texts = read_topics(session)
    if of_papers := sorted({query.topic_id for query in queries if query.sentences and query.topic_id in texts}):
        raise InputError(
            f"queries of papers: {', '.join(of_papers)}: a topic that is a text has this id",
            hint=f"take the text away with `annot query remove {of_papers[0]}`, or name another paper",
        )
    current = queries_by_id(session)
    new = [query for query in queries if query.query_id not in current]
    known = [(query, current[query.query_id]) for query in queries if query.query_id in current]
    changed = [(replace(query, paper_type=query.paper_type or old.paper_type), old) for query, old in known]
    reworded = [query.query_id for query, old in changed if replace(old, paper_type=query.paper_type) != query]
    _refuse(session, reworded, _JUDGED, "change")
    for query, old in changed:
        if query != old:
            values = {name: getattr(query, name) for name in ("topic_id", "facet", "sentences", "paper_type")}
            models.change_where(session, models.QUERY_TABLE, values, query_id=query.query_id)
    models.insert_records(session, models.QUERY_TABLE, new)


def move_sentences(session: Session, sentences: Mapping[str, tuple[int, ...]]) -> None:
    """Change the sentences of queries, by id, judged or not: the text of their paper was corrected.

    Tasks that were sent have their own sentences on record.
    """
    for query_id, places in sentences.items():
        models.change_where(session, models.QUERY_TABLE, {"sentences": places}, query_id=query_id)


def remove_query(session: Session, query_id: str) -> None:
    """Take a query out of the study, and out of its folds.

    Raises InputError, with its uses and the remedy, if pairs of it were judged, sent or planned.
    """
    check_unanswered(session, query_id)
    back = f"if there is no answer yet, `annot query remove {query_id} --sent` takes its tasks back from Label Studio"
    _refuse(session, [query_id], {models.TASK_TABLE: _IN_USE[models.TASK_TABLE]}, "be removed", hint=back)
    withdraw = f"take its pairs back with `annot plan --withdraw --query {query_id}`"
    _refuse(
        session, [query_id], {models.ASSIGNMENT_TABLE: _IN_USE[models.ASSIGNMENT_TABLE]}, "be removed", hint=withdraw
    )
    _take_from_sample(session, [query_id])
    for table in (models.SPLIT_TABLE, models.ACCEPTED_TABLE, models.QUERY_TABLE):
        models.delete_where(session, table, "query_id", [query_id])


def check_unanswered(session: Session, query_id: str) -> None:
    """Raise InputError if a person or a model has answered about the query, or if its pairs are gold or under a sample
    that the query cannot leave."""
    answers = (
        models.JUDGEMENT_TABLE,
        models.ADJUDICATION_TABLE,
        models.GOLD_TABLE,
        models.TRIAL_ASSIGNMENT_TABLE,
        models.OPINION_CALL_TABLE,
    )
    _refuse(session, [query_id], {table: _IN_USE[table] for table in answers}, "be removed")
    _refuse_shared_sample(session, [query_id])


def queries_by_id(session: Session) -> dict[str, Query]:
    """Every query by its id."""
    return {query.query_id: query for query in read_queries(session)}


def read_queries(session: Session) -> tuple[Query, ...]:
    """All queries, by `query_id`."""
    return models.read_in_order(session, models.QUERY_TABLE, Query, ["query_id"])


def put_topics(session: Session, topics: Iterable[Topic]) -> None:
    """Add these topics, or change those of the same id; others stay.

    Raises InputError when a topic with judged or sent pairs would change, and when a paper is a query under its id.
    """
    topics = list(topics)
    models.check_distinct((topic.topic_id for topic in topics), what="topics")
    topic_of = {topic.topic_id: topic for topic in topics}
    current = read_topics(session)
    queries = read_queries(session)
    papers = sorted({query.topic_id for query in queries} & topic_of.keys() - current.keys())
    if papers:
        raise InputError(
            f"topics: {', '.join(papers)}: a paper is a query under this id", hint="give the text another id"
        )
    changed = [topic_id for topic_id, topic in topic_of.items() if topic_id in current and current[topic_id] != topic]
    _refuse(session, [query.query_id for query in queries if query.topic_id in changed], _JUDGED, "change")
    models.delete_where(session, models.TOPIC_TABLE, "topic_id", changed)
    new = [topic_id for topic_id in topic_of if topic_id in changed or topic_id not in current]
    models.insert_records(session, models.TOPIC_TABLE, (topic_of[topic_id] for topic_id in new))


def remove_topic(session: Session, topic_id: str) -> None:
    """Remove a topic that no longer has a query; nothing happens if it is a paper."""
    models.delete_where(session, models.TOPIC_TABLE, "topic_id", [topic_id])


def read_topics(session: Session) -> dict[str, Topic]:
    """The topics that are texts, in the order of their ids."""
    return {topic.topic_id: topic for topic in models.read_in_order(session, models.TOPIC_TABLE, Topic, ["topic_id"])}


def judged_queries(session: Session) -> frozenset[str]:
    """Queries with pairs that were judged or sent."""
    query_ids = (session.connection().execute(select(table.c.query_id).distinct()).scalars() for table in _JUDGED)
    return frozenset(chain.from_iterable(query_ids))


def _take_from_sample(session: Session, query_ids: Collection[str]) -> None:
    """Remove the pairs of these queries from the sample, and with the last pair the sample."""
    _refuse_shared_sample(session, query_ids)
    models.delete_where(session, models.SAMPLED_TABLE, "query_id", query_ids)
    if session.connection().execute(select(models.SAMPLED_TABLE.c.query_id).limit(1)).first() is None:
        session.connection().execute(models.SAMPLE_TABLE.delete())


def _refuse_shared_sample(session: Session, query_ids: Collection[str]) -> None:
    """Raise InputError if the share of a sample is of several pools together and these queries were drawn with others:
    the probabilities of the other pairs would change. Each batch is drawn by itself."""
    if session.connection().execute(select(models.SAMPLE_TABLE.c.across)).scalar() != "study":
        return
    columns = models.SAMPLED_TABLE.c
    by_chance = select(columns.query_id, columns.batch).distinct().where(columns.batch > 0)
    queries_of = grouped((batch, query_id) for query_id, batch in session.connection().execute(by_chance))
    shared = [{*several} for several in queries_of.values() if not {*several} <= {*query_ids}]
    if blocked := sorted({*query_ids} & set().union(*shared)):
        raise InputError(
            f"{', '.join(blocked)}: under a sample whose share is of all pools together, so that the probabilities of "
            "all pairs depend on it",
            hint="keep the query without planning it: `annot plan --withdraw --query QUERY --sent` and `annot push` "
            "take its tasks back; before the first push, `annot plan --withdraw` takes all back",
        )


def _refuse(
    session: Session,
    query_ids: Iterable[str],
    tables: Mapping[Table, str],
    what: str,
    *,
    hint: str = "keep these queries, or start a new study; judgements are never deleted",
) -> None:
    models.refuse_in_use(session, tables, {(query_id,) for query_id in query_ids}, what=what, hint=hint)


# ----------------------------------------------------------------------------------------------------------------------
# The pools: which documents are judged for a topic, how each came in, and the sample of them that is judged.
# ----------------------------------------------------------------------------------------------------------------------


OF_POOLS: tuple[Table, ...] = (
    models.DRAW_TABLE,
    models.POOL_ENTRY_TABLE,
    models.POOL_ADDITION_TABLE,
    models.POOL_TABLE,
)
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
    staying = {(pool.topic_id, entry.doc_id) for pool in pools for entry in pool.entries}
    leaving = {
        (query_id, doc_id)
        for query_id, topic_id, doc_id in session.connection().execute(_pooled_pairs())
        if (topic_id, doc_id) not in staying
    }
    hint = (
        "`annot pool` without options draws the pools on record again, and --frozen from the rankings on record; pools "
        "that came with judgements have no such record, and grow by `annot pool add` or another `annot import`"
    )
    models.refuse_in_use(
        session,
        {
            **dict.fromkeys((models.JUDGEMENT_TABLE, models.ADJUDICATION_TABLE), "judgement"),
            models.TASK_TABLE: "pushed task",
        },
        leaving,
        what="leave the pool",
        hint=f"{hint}; judgements are never deleted",
    )
    _refuse_sampled(session, leaving)
    for table in OF_POOLS:
        session.connection().execute(table.delete())
    for pool in pools:
        models.insert_records(session, models.POOL_TABLE, [pool], rankings_sha256=rankings_sha256[pool.topic_id])
        models.insert_records(session, models.POOL_ADDITION_TABLE, pool.additions, topic_id=pool.topic_id)
    entries = [(pool.topic_id, entry, place) for pool in pools for place, entry in enumerate(pool.entries, 1)]
    of_entries = ((topic_id, entry.doc_id, place) for topic_id, entry, place in entries)
    _insert(session, models.POOL_ENTRY_TABLE, ("topic_id", "doc_id", "position"), of_entries)
    names = models.field_names(Draw)
    draw = attrgetter(*names)
    of_draws = (
        (topic_id, entry.doc_id, place, *draw(drawn))
        for topic_id, entry, _ in entries
        for place, drawn in enumerate((entry.drawn, *entry.also))
    )
    _insert(session, models.DRAW_TABLE, ("topic_id", "doc_id", "place", *names), of_draws)


def _insert(session: Session, table: Table, names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows of these columns."""
    for lot in models.in_chunks(rows):
        models.insert_columns(session.connection(), table, dict(zip(names, zip(*lot, strict=True), strict=True)))


def _refuse_sampled(session: Session, leaving: set[tuple[str, str]]) -> None:
    """Raise InputError if pairs of the sample would leave, as estimates without those not drawn have a bias."""
    pair = models.SAMPLED_TABLE.c.query_id, models.SAMPLED_TABLE.c.doc_id
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
    topics, documents, *drawn = _columns(
        session, models.DRAW_TABLE, ("doc_id", *models.field_names(Draw)), "place", topic_id
    )
    # In an imported pool all are equal.
    draws = grouped(zip(zip(topics, documents, strict=True), map(cache(Draw), *drawn), strict=True))
    entries: defaultdict[str, list[PoolEntry]] = defaultdict(list)
    pooled = _columns(session, models.POOL_ENTRY_TABLE, ["doc_id"], "position", topic_id)
    for entry in zip(*pooled, strict=True):
        of_entry = draws[entry]
        entries[entry[0]].append(PoolEntry(entry[1], of_entry[0], (*of_entry[1:],)))
    rows = _rows(session, models.POOL_ADDITION_TABLE, models.field_names(Addition), "version", topic_id)
    additions = grouped((topic, Addition(*added)) for topic, *added in rows)
    facts = [name for name in models.field_names(Pool) if name not in ("topic_id", "entries", "additions")]
    pools: dict[str, Pool] = {}
    for topic, *row in sorted(_rows(session, models.POOL_TABLE, facts, "topic_id", topic_id), key=itemgetter(0)):
        facts_of_pool = dict(zip(facts, row, strict=True))
        pools[topic] = Pool(
            topic_id=topic, entries=(*entries[topic],), additions=(*additions.get(topic, ()),), **facts_of_pool
        )
    return pools


def any_drawn(session: Session) -> bool:
    """True if any pool was drawn here, or added to; pools that were imported have no files."""
    pools, additions = models.POOL_TABLE.c, models.POOL_ADDITION_TABLE.c
    statements = select(pools.topic_id).where(pools.per_method.is_not(None)), select(additions.topic_id)
    return any(session.connection().execute(statement.limit(1)).first() for statement in statements)


def read_pool(session: Session, topic_id: str) -> Pool:
    """The pool of one topic. Raises MissingInput when it has none."""
    pools = read_pools(session, topic_id)
    if not pools:
        raise MissingInput(f"query paper {topic_id}: no pool", hint="draw it with `annot pool`")
    return pools[topic_id]


def read_rankings_sha256(session: Session) -> dict[str, str]:
    """Hash of the rankings behind each pool, by `topic_id`."""
    return dict(sorted(map(tuple, _rows(session, models.POOL_TABLE, ["rankings_sha256"], "topic_id"))))


def documents_by_query(session: Session, *, withdrawn: bool = False) -> dict[str, tuple[str, ...]]:
    """Documents to judge of each query, in the order drawn; a query whose topic has no pool is left out.

    withdrawn: with those that were withdrawn from the corpus.
    """
    withdrawn_docs = frozenset() if withdrawn else withdrawn_ids(session)
    rows = models.read_rows(session, _pooled_pairs())
    documents = grouped((query_id, doc_id) for query_id, _topic_id, doc_id in rows if doc_id not in withdrawn_docs)
    return {query_id: tuple(doc_ids) for query_id, doc_ids in sorted(documents.items())}


def queries_with_pool(session: Session) -> set[str]:
    """Queries that `documents_by_query` has documents of."""
    if withdrawn_ids(session):
        return {*documents_by_query(session)}
    query, entry = models.QUERY_TABLE.c, models.POOL_ENTRY_TABLE.c
    pooled = select(query.query_id).where(select(entry.doc_id).where(entry.topic_id == query.topic_id).exists())
    return {*session.connection().execute(pooled).scalars()}


def read_sample(session: Session) -> models.PoolSample | None:
    """The sample on record; None if the pools are judged whole."""
    design = next(models.read_records(session, models.SAMPLE_TABLE, models.SampleDesign), None)
    if design is None:
        return None
    pairs = models.read_in_order(session, models.SAMPLED_TABLE, models.SampledPair, ["pair"])
    return models.PoolSample(design, {pair.pair: pair for pair in pairs})


def sample_judged_since(session: Session) -> str | None:
    """Time when the first judgement of a pair drawn by chance was recorded, in ISO 8601, UTC.

    Pairs that were planned whole before the first sample do not count.
    """
    pair, judged = models.SAMPLED_TABLE.c, models.JUDGEMENT_TABLE.c
    same_pair = (judged.query_id == pair.query_id) & (judged.doc_id == pair.doc_id) & (pair.batch > 0)
    statement = select(func.min(judged.recorded_at)).select_from(
        models.JUDGEMENT_TABLE.join(models.SAMPLED_TABLE, same_pair)
    )
    recorded_at: str | None = session.connection().execute(statement).scalar_one()
    return recorded_at


def to_judge(pooled: Mapping[str, Sequence[str]], sample: models.PoolSample | None) -> dict[str, tuple[str, ...]]:
    """The documents of each query that are to be judged: those of its pool, or of these the ones that were drawn."""
    return {
        query_id: tuple(doc_id for doc_id in doc_ids if sample is None or sample.drawn(query_id, doc_id))
        for query_id, doc_ids in pooled.items()
    }


def replace_sample(session: Session, sample: models.PoolSample | None) -> None:
    """Make this the sample of the study; None removes it.

    Raises InputError if a pair that was sent or judged would no longer be drawn.
    """
    current = read_sample(session)
    if current == sample:
        return
    if sample is not None:
        models.check_known(session, models.QUERY_TABLE, {query_id for query_id, _ in sample.pairs}, what="sample")
    if current is not None:
        drawn = {pair for pair, sampled in current.pairs.items() if sampled.drawn}
        models.refuse_in_use(
            session,
            {models.JUDGEMENT_TABLE: "judgement", models.TASK_TABLE: "pushed task"},
            {pair for pair in drawn if not (sample and sample.drawn(*pair))},
            what="leave the sample",
            hint="a sample grows only: give a larger share",
        )
    for table in (models.SAMPLED_TABLE, models.SAMPLE_TABLE):
        session.connection().execute(table.delete())
    if sample is not None:
        models.insert_records(session, models.SAMPLE_TABLE, [sample.design], id=1)
        models.insert_records(session, models.SAMPLED_TABLE, sample.pairs.values())


def _pooled_pairs() -> Select[Any]:
    """(query_id, topic_id, doc_id) of each query and document of its topic's pool, in the order drawn."""
    query, entry = models.QUERY_TABLE, models.POOL_ENTRY_TABLE
    columns = query.c.query_id, query.c.topic_id, entry.c.doc_id
    return select(*columns).join(entry, entry.c.topic_id == query.c.topic_id).order_by(entry.c.position)


def _rows(
    session: Session, table: Table, columns: Sequence[str], order: str, topic_id: str | None = None
) -> Iterable[tuple[Any, ...]]:
    """`topic_id` and these columns, of one topic or of all, in the order of another one."""
    return zip(*_columns(session, table, columns, order, topic_id), strict=True)


def _columns(
    session: Session, table: Table, columns: Sequence[str], order: str, topic_id: str | None = None
) -> list[Sequence[Any]]:
    """The rows of `_rows` by column; a column is empty if there is no row."""
    condition = true() if topic_id is None else table.c.topic_id == topic_id
    statement = select(table.c.topic_id, *(table.c[name] for name in columns)).where(condition)
    return models.read_columns(session, statement.order_by(table.c[order])) or [()] * (1 + len(columns))


# ----------------------------------------------------------------------------------------------------------------------
# The versions of the corpus, which pools are drawn from.
# ----------------------------------------------------------------------------------------------------------------------


VERSION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""Name of a version of the corpus, which also names files and folders."""


def read_corpus_versions(session: Session) -> tuple[models.CorpusVersion, ...]:
    """All versions, the oldest first; none if the corpus has only one.

    Raises InputError for a record that would name a file elsewhere: a study may come from somebody else.
    """
    versions = models.read_in_order(session, models.CORPUS_VERSION_TABLE, models.CorpusVersion, ["number"])
    faults = [
        f"version {version.version!r} after {version.after!r}: found the name of a place, expected that of a file"
        for version in versions
        if not VERSION_NAME.fullmatch(version.version) or PurePath(version.after).name != version.after
    ]
    if faults:
        raise InputError("the versions of the corpus on record cannot be used", faults=faults)
    return versions


def newest_version(session: Session) -> str | None:
    """Name of the newest version; None if the corpus has only one."""
    versions = read_corpus_versions(session)
    return versions[-1].version if versions else None


def add_version(session: Session, version: models.CorpusVersion) -> None:
    """Put a new version on record."""
    models.insert_records(session, models.CORPUS_VERSION_TABLE, [version])


def read_withdrawn(session: Session) -> dict[str, models.WithdrawnDocument]:
    """The withdrawn documents, by id."""
    rows = models.read_in_order(session, models.WITHDRAWN_TABLE, models.WithdrawnDocument, ["doc_id"])
    return {row.doc_id: row for row in rows}


def withdrawn_ids(session: Session) -> frozenset[str]:
    """The ids of the withdrawn documents."""
    return frozenset(session.connection().execute(select(models.WITHDRAWN_TABLE.c.doc_id)).scalars())


def withdraw_documents(session: Session, documents: Iterable[models.WithdrawnDocument]) -> None:
    """Put withdrawals on record."""
    models.insert_records(session, models.WITHDRAWN_TABLE, documents)


def keep_qrels(session: Session, version: str, qrels: str) -> None:
    """Put the final text of the qrels of a version on record."""
    models.change_where(session, models.CORPUS_VERSION_TABLE, {"qrels": qrels}, version=version)


def last_file(versions: Sequence[models.CorpusVersion], version: str | None) -> str | None:
    """Name of the last file of the corpus that belongs to a version; None if all files do."""
    names = [entry.version for entry in versions]
    later = versions[names.index(version) + 1 :] if version in names else ()
    return later[0].after if later else None


def documents_came(folder: Path, versions: Sequence[models.CorpusVersion], version: str | None) -> bool:
    """True if documents came to the corpus in this folder after a version; None is the first."""
    last = last_file(versions, version or versions[0].version)
    return last is not None and any(path.name > last for path in folder.glob("*.parquet"))
