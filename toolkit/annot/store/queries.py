"""The queries of the study, and those of their topics that are texts.

A topic that is a paper has no row: its id is that of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sqlalchemy import Table, select
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.records import Query, Topic, grouped
from annot.store.judging_models import (
    ACCEPTED_TABLE,
    ADJUDICATION_TABLE,
    ASSIGNMENT_TABLE,
    GOLD_TABLE,
    JUDGEMENT_TABLE,
    OPINION_CALL_TABLE,
    SAMPLE_TABLE,
    SAMPLED_TABLE,
    TASK_TABLE,
    TRIAL_ASSIGNMENT_TABLE,
)
from annot.store.models import (
    QUERY_TABLE,
    SPLIT_TABLE,
    TOPIC_TABLE,
    check_distinct,
    delete_where,
    insert_records,
    read_in_order,
    refuse_in_use,
)

_JUDGED: dict[Table, str] = {
    JUDGEMENT_TABLE: "judgement",
    ADJUDICATION_TABLE: "adjudication",
    TASK_TABLE: "pushed task",
}
_IN_USE: dict[Table, str] = {
    **_JUDGED,
    ASSIGNMENT_TABLE: "planned assignment",
    SPLIT_TABLE: "fold",
    GOLD_TABLE: "gold pair",
    TRIAL_ASSIGNMENT_TABLE: "training or sub-study pair",
    OPINION_CALL_TABLE: "question to a model",
}


def replace_queries(session: Session, queries: Iterable[Query]) -> None:
    """Make these the queries of the study; all others are removed, and with them the texts that they ask.

    The type of a paper stays if the query has none. Raises InputError, with the number of judgements and other uses,
    when a query that is in use would be removed, or one that is judged would change in more than the type of its paper.
    """
    _write(session, list(queries), keep_others=False)


def put_queries(session: Session, queries: Iterable[Query]) -> None:
    """Add these queries, or change those of the same id; others stay. Raises InputError as `replace_queries` does."""
    _write(session, list(queries), keep_others=True)


def move_sentences(session: Session, sentences: Mapping[str, tuple[int, ...]]) -> None:
    """Change the sentences of queries, by id, judged or not: the text of their paper was corrected.

    Tasks that were sent have their own sentences on record.
    """
    rows = QUERY_TABLE
    for query_id, places in sentences.items():
        session.connection().execute(rows.update().where(rows.c.query_id == query_id).values(sentences=places))


def remove_query(session: Session, query_id: str) -> None:
    """Take a query out of the study, and out of its folds.

    Raises InputError, with its uses and the remedy, if pairs of it were judged, sent or planned.
    """
    check_unanswered(session, query_id)
    back = f"if there is no answer yet, `annot query remove {query_id} --sent` takes its tasks back from Label Studio"
    _refuse(session, [query_id], {TASK_TABLE: _IN_USE[TASK_TABLE]}, "be removed", hint=back)
    withdraw = f"take its pairs back with `annot plan --withdraw --query {query_id}`"
    _refuse(session, [query_id], {ASSIGNMENT_TABLE: _IN_USE[ASSIGNMENT_TABLE]}, "be removed", hint=withdraw)
    _take_from_sample(session, [query_id])
    for table in (SPLIT_TABLE, ACCEPTED_TABLE, QUERY_TABLE):
        delete_where(session, table, "query_id", [query_id])


def check_unanswered(session: Session, query_id: str) -> None:
    """Raise InputError if a person or a model has answered about the query, or if its pairs are gold or under a sample
    that the query cannot leave."""
    answers = (JUDGEMENT_TABLE, ADJUDICATION_TABLE, GOLD_TABLE, TRIAL_ASSIGNMENT_TABLE, OPINION_CALL_TABLE)
    _refuse(session, [query_id], {table: _IN_USE[table] for table in answers}, "be removed")
    _refuse_shared_sample(session, [query_id])


def read_queries(session: Session) -> tuple[Query, ...]:
    """All queries, by `query_id`."""
    return read_in_order(session, QUERY_TABLE, Query, ["query_id"])


def put_topics(session: Session, topics: Iterable[Topic]) -> None:
    """Add these topics, or change those of the same id; others stay.

    Raises InputError when a topic with judged or sent pairs would change, and when a paper is a query under its id.
    """
    topics = list(topics)
    check_distinct((topic.topic_id for topic in topics), what="topics")
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
    delete_where(session, TOPIC_TABLE, "topic_id", changed)
    new = [topic_id for topic_id in topic_of if topic_id in changed or topic_id not in current]
    insert_records(session, TOPIC_TABLE, (topic_of[topic_id] for topic_id in new))


def remove_topic(session: Session, topic_id: str) -> None:
    """Remove a topic that no longer has a query; nothing happens if it is a paper."""
    delete_where(session, TOPIC_TABLE, "topic_id", [topic_id])


def read_topics(session: Session) -> dict[str, Topic]:
    """The topics that are texts, in the order of their ids."""
    return {topic.topic_id: topic for topic in read_in_order(session, TOPIC_TABLE, Topic, ["topic_id"])}


def judged_queries(session: Session) -> frozenset[str]:
    """Queries with pairs that were judged or sent."""
    query_ids = (session.connection().execute(select(table.c.query_id).distinct()).scalars() for table in _JUDGED)
    return frozenset(chain.from_iterable(query_ids))


def _write(session: Session, queries: Sequence[Query], *, keep_others: bool) -> None:
    check_distinct((query.query_id for query in queries), what="queries")
    check_distinct(((query.topic_id, query.facet) for query in queries), what="queries (paper and facet)")
    texts = read_topics(session)
    if of_papers := sorted({query.topic_id for query in queries if query.sentences and query.topic_id in texts}):
        raise InputError(
            f"queries of papers: {', '.join(of_papers)}: a topic that is a text has this id",
            hint=f"take the text away with `annot query remove {of_papers[0]}`, or name another paper",
        )
    current = {query.query_id: query for query in read_queries(session)}
    known_types = {query_id: query.paper_type for query_id, query in current.items()}
    query_of = {
        query.query_id: replace(query, paper_type=query.paper_type or known_types.get(query.query_id))
        for query in queries
    }
    removed = [] if keep_others else [query_id for query_id in current if query_id not in query_of]
    changed = [query for query_id, query in query_of.items() if current.get(query_id, query) != query]
    _refuse(session, removed, _IN_USE, "be removed")
    reworded = [
        query.query_id for query in changed if replace(current[query.query_id], paper_type=query.paper_type) != query
    ]
    _refuse(session, reworded, _JUDGED, "change")
    _take_from_sample(session, removed)
    delete_where(session, QUERY_TABLE, "query_id", removed)
    without_query = {current[query_id].topic_id for query_id in removed} - {query.topic_id for query in queries}
    delete_where(session, TOPIC_TABLE, "topic_id", without_query)
    rows = QUERY_TABLE
    for query in changed:
        values = {name: getattr(query, name) for name in ("topic_id", "facet", "sentences", "paper_type")}
        session.connection().execute(rows.update().where(rows.c.query_id == query.query_id).values(values))
    insert_records(session, QUERY_TABLE, (query for query_id, query in query_of.items() if query_id not in current))


def _take_from_sample(session: Session, query_ids: Sequence[str]) -> None:
    """Remove the pairs of these queries from the sample, and with the last pair the sample."""
    _refuse_shared_sample(session, query_ids)
    delete_where(session, SAMPLED_TABLE, "query_id", query_ids)
    if session.connection().execute(select(SAMPLED_TABLE.c.query_id).limit(1)).first() is None:
        session.connection().execute(SAMPLE_TABLE.delete())


def _refuse_shared_sample(session: Session, query_ids: Sequence[str]) -> None:
    """Raise InputError if the share of a sample is of several pools together and these queries were drawn with others:
    the probabilities of the other pairs would change. Each batch is drawn by itself."""
    if session.connection().execute(select(SAMPLE_TABLE.c.across)).scalar() != "study":
        return
    columns = SAMPLED_TABLE.c
    by_chance = select(columns.query_id, columns.batch).distinct().where(columns.batch > 0)
    queries_of = grouped((batch, query_id) for query_id, batch in session.connection().execute(by_chance))
    shared = [{*several} for several in queries_of.values() if not {*several} <= {*query_ids}]
    if under := sorted({*query_ids} & set().union(*shared)):
        raise InputError(
            f"{', '.join(under)}: under a sample whose share is of all pools together, so that the probabilities of "
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
    leaving = {(query_id,) for query_id in query_ids}
    refuse_in_use(session, tables, ["query_id"], leaving, noun="query", what=what, hint=hint)
