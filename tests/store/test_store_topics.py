"""Topics that are texts come back from both databases; a topic with judgements does not change."""

import pytest
from annot.base.errors import InputError, StoreError
from annot.base.records import WHOLE, Query, Topic
from annot.store.database import Store
from annot.store.pools import put_queries, put_topics, read_topics, remove_topic
from stored import judge, pool, write_pools

FULL = Topic("T1", "naïve retrieval", "What is it?\nAnd why?", "Not of images.", {"num": "1", "desc": "é"})
SHORT = Topic("T2", "pools")


def test_topics_come_back_and_twice_changes_nothing(store: Store) -> None:
    for _ in range(2):
        with store.begin() as session:
            put_topics(session, [SHORT, FULL])
    with store.read() as session:
        assert list(read_topics(session).values()) == [FULL, SHORT]


def test_a_topic_is_changed_alone_and_taken_away_alone(store: Store) -> None:
    changed = Topic("T2", "deeper pools", narrative="At any depth.")
    with store.begin() as session:
        put_topics(session, [FULL, SHORT])
        put_topics(session, [changed])
        assert read_topics(session) == {"T1": FULL, "T2": changed}
        remove_topic(session, "T1")
        remove_topic(session, "p1")
        assert read_topics(session) == {"T2": changed}


def test_a_topic_given_twice_and_one_without_a_title_are_refused(store: Store) -> None:
    with store.begin() as session, pytest.raises(InputError, match="topics: 1 given twice"):
        put_topics(session, [SHORT, SHORT])
    with pytest.raises(StoreError, match="refused the change"), store.begin() as session:
        put_topics(session, [Topic("T3", "")])


def test_a_topic_that_was_judged_stays_as_it_was_asked(study: Store) -> None:
    with study.begin() as session:
        put_topics(session, [FULL, SHORT])
        put_queries(session, [Query("T1", "T1", WHOLE, ()), Query("T2", "T2", WHOLE, ())])
    write_pools(study, pool("T1", "d1"), pool("T2", "d1"))
    judge(study, "T1", "d1")
    with study.begin() as session:
        put_topics(session, [FULL, Topic("T2", "other")])
        with pytest.raises(InputError, match="1 query would change, with 1 judgement"):
            put_topics(session, [Topic("T1", "other")])
        assert read_topics(session) == {"T1": FULL, "T2": Topic("T2", "other")}
