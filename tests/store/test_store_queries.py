"""Facet labels, queries and pools come back from both databases; the same content twice changes nothing."""

from dataclasses import replace

import pytest
from annot.base.errors import InputError, MissingInput, StoreError
from annot.base.records import WHOLE, Addition, Assignment, Query, Source, Topic
from annot.store import facet_labels, people, pools
from annot.store.database import Store
from annot.store.facet_labels import FacetLabels
from annot.store.models import CorpusVersion
from annot.store.pools import put_queries, put_topics, read_topics, remove_topic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored import NOW, PLAN, judge, pool, write_pools

PREDICTED = "predicted:0123abcd"


# Facet labels


def test_a_prediction_never_writes_over_a_correction(store: Store) -> None:
    corrected = FacetLabels("p1", ("method",), Source.CORRECTED)
    with store.begin() as session:
        given = [FacetLabels("p1", ("other",), PREDICTED), FacetLabels("p0", (), Source.CARRIED)]
        facet_labels.replace_labels(session, given)
        facet_labels.replace_labels(session, [corrected, given[1]])
    with store.begin() as session:
        facet_labels.replace_labels(
            session, [FacetLabels("p1", ("result",), PREDICTED), FacetLabels("p2", ("result",), PREDICTED)]
        )
        assert sorted(facet_labels.read_labels(session)) == [corrected, FacetLabels("p2", ("result",), PREDICTED)]
    with store.begin() as session:
        facet_labels.replace_labels(session, [])
        assert list(facet_labels.read_labels(session)) == [corrected]


@pytest.mark.parametrize(
    "wrong", [[FacetLabels("p1", ("a,b",), Source.CARRIED)], [FacetLabels("p1", ("",), Source.CARRIED)]]
)
def test_labels_that_would_not_come_back_are_refused(store: Store, wrong: list[FacetLabels]) -> None:
    with pytest.raises(InputError, match="paper p1"), store.begin() as session:
        facet_labels.replace_labels(session, wrong)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1),
        st.lists(st.sampled_from(["background", "method", "other"])),
    )
)
def test_any_labels_come_back(store: Store, labels: dict[str, list[str]]) -> None:
    records = {FacetLabels(paper_id, tuple(one), Source.CARRIED) for paper_id, one in labels.items()}
    with store.begin() as session:
        facet_labels.replace_labels(session, records)
    with store.read() as session:
        assert set(facet_labels.read_labels(session)) == records


# Queries


def test_judged_queries_neither_go_nor_change(study: Store) -> None:
    judge(study, "p1-method", "d1")
    judge(study, "p1-method", "d1", "a2")
    with study.read() as session:
        before = pools.read_queries(session)
    with pytest.raises(InputError, match="2 judgements") as caught, study.begin() as session:
        pools.replace_queries(session, [query for query in before if query.query_id != "p1-method"])
    assert caught.value.faults == ("p1-method: 2 judgements",)
    with pytest.raises(InputError, match="would change"), study.begin() as session:
        pools.put_queries(session, [Query("p1-method", "p1", "method", (0,))])
    with study.read() as session:
        assert pools.read_queries(session) == before


def test_the_type_of_a_paper_is_kept_and_may_be_set_when_the_query_is_judged(study: Store) -> None:
    judge(study, "p1-method", "d1")
    plain = Query("p1-method", "p1", "method", (2,))
    for query in (replace(plain, paper_type="data-driven approach"), plain):
        with study.begin() as session:
            pools.put_queries(session, [query])
        with study.read() as session:
            types = {one.query_id: one.paper_type for one in pools.read_queries(session)}
        assert types == {"p1-background": None, "p1-method": "data-driven approach", "p2-method": None}


def test_planned_queries_do_not_go(study: Store) -> None:
    with study.begin() as session:
        people.replace_plan(session, [Assignment("p2-method", "d1", "a1", 1)], plan=PLAN)
    with pytest.raises(InputError, match="1 planned assignment"), study.begin() as session:
        pools.replace_queries(session, [])


# Pools


def test_a_pool_comes_back_as_it_was_drawn(study: Store) -> None:
    drawn = [pool("p1", "d9", "d1", "d5"), pool("p2", "d1")]
    write_pools(study, *drawn)
    with study.read() as session:
        assert pools.read_pools(session) == {"p1": drawn[0], "p2": drawn[1]}
        assert pools.read_pool(session, "p2") == drawn[1]
        assert pools.read_rankings_sha256(session) == {"p1": "r1", "p2": "r1"}
        assert pools.documents_by_query(session) == {
            "p1-background": ("d9", "d1", "d5"),
            "p1-method": ("d9", "d1", "d5"),
            "p2-method": ("d1",),
        }
        with pytest.raises(MissingInput, match="p7"):
            pools.read_pool(session, "p7")
    write_pools(study, *drawn)
    write_pools(study, drawn[0], sha256="r2")


def test_what_was_added_to_a_pool_comes_back_with_who_when_and_why(study: Store) -> None:
    first = Addition(2, "late", 13, ("d5",), None, "ada", NOW)
    second = Addition(4, "manual", None, ("d9", "naïve 𝛼"), "seen in a survey", None, None)
    drawn = [replace(pool("p1", "d1", "d5", "d9"), additions=(first, second)), pool("p2", "d1")]
    write_pools(study, *drawn)
    with study.read() as session:
        assert pools.read_pools(session) == {"p1": drawn[0], "p2": drawn[1]}
    write_pools(study, *drawn)
    with study.begin() as session:
        pools.remove_pool(session, "p1")
        assert pools.read_pools(session) == {"p2": drawn[1]}


def test_judged_pairs_do_not_leave_the_pool(study: Store) -> None:
    write_pools(study, pool("p1", "d1", "d2"), pool("p2", "d1"))
    judge(study, "p1-method", "d2")
    judge(study, "p1-background", "d2", "a2")
    with pytest.raises(InputError, match="2 pairs would leave the pool, with 2 judgements") as caught:
        write_pools(study, pool("p1", "d1", "d3"), pool("p2", "d1"))
    assert caught.value.faults == ("p1-background d2: 1 judgement", "p1-method d2: 1 judgement")
    with pytest.raises(InputError):
        write_pools(study, pool("p2", "d1"))
    write_pools(study, pool("p1", "d2", "d4"), pool("p2", "d5"))


# Versions of the corpus


@pytest.mark.parametrize(
    ("name", "after"), [("../2026", ""), ("/tmp/2026", ""), (".", ""), ("", ""), ("2026", "../part-00001.parquet")]
)
def test_a_version_on_record_never_names_a_place_elsewhere(store: Store, name: str, after: str) -> None:
    with store.begin() as session:
        pools.add_version(session, CorpusVersion(name, 1, after, None, None, NOW))
    with store.read() as session, pytest.raises(InputError, match="versions of the corpus") as refused:
        pools.read_corpus_versions(session)
    assert repr(name) in refused.value.faults[0]


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
