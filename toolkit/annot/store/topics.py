"""The topics that are texts. A topic that is a paper has no row here: its id is that of the paper."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.records import Topic
from annot.store.models import QUERY_TABLE, TOPIC_TABLE, check_distinct, delete_where, insert_records, read_records
from annot.store.queries import refuse_judged


def put_topics(session: Session, topics: Iterable[Topic]) -> None:
    """Add these topics, or change those of the same id; others stay.

    Raises InputError when one would change of which pairs were judged or sent, and when a paper is asked under its id.
    """
    topics = list(topics)
    check_distinct((topic.topic_id for topic in topics), what="topics")
    given = {topic.topic_id: topic for topic in topics}
    before = read_topics(session)
    asked = [tuple(row) for row in session.connection().execute(select(QUERY_TABLE.c.topic_id, QUERY_TABLE.c.query_id))]
    papers = sorted({topic_id for topic_id, _ in asked if topic_id in given and topic_id not in before})
    if papers:
        raise InputError(
            f"topics: {', '.join(papers)}: a paper is a query under this id", hint="give the text another id"
        )
    changed = [topic_id for topic_id, topic in given.items() if topic_id in before and before[topic_id] != topic]
    refuse_judged(session, [query_id for topic_id, query_id in asked if topic_id in changed], "change")
    delete_where(session, TOPIC_TABLE, "topic_id", changed)
    insert_records(session, TOPIC_TABLE, (one for name, one in given.items() if name in changed or name not in before))


def remove_topic(session: Session, topic_id: str) -> None:
    """Take a topic away that has no query any more; nothing where it is a paper."""
    delete_where(session, TOPIC_TABLE, "topic_id", [topic_id])


def read_topics(session: Session) -> dict[str, Topic]:
    """The topics that are texts, in the order of their ids."""
    found = {topic.topic_id: topic for topic in read_records(session, TOPIC_TABLE, Topic)}
    return dict(sorted(found.items()))
