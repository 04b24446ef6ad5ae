"""Pools that grow: additions and removals of a change, versions, and the guard of studies under way."""

from dataclasses import replace

import pytest
from annot.base.errors import InputError
from annot.base.records import (
    CITED,
    MANUAL,
    Addition,
    Assessor,
    Draw,
    Judgement,
    PairKey,
    Pool,
    PoolEntry,
    Query,
    ScoredDoc,
)
from annot.formats.trec import rankings_sha256, run_lines
from annot.pools.drawn_pools import changed_documents, queries_of, refuse_growth, topics_named
from annot.steps import pool as step
from annot.store import pools
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.people import put_assessors
from annot.store.pools import put_queries
from annot.store.projects import open_project, record_tasks
from annot.study.workspace import Workspace

QUERIES = (
    Query("p1-method", "p1", "method", (0,)),
    Query("p1-result", "p1", "result", (1,)),
    Query("p2-method", "p2", "method", (0,)),
)


def pool(paper_id: str, doc_ids: str, *methods: str) -> Pool:
    entries = tuple(PoolEntry(doc, Draw("bm25", rank, 1.0, rank)) for rank, doc in enumerate(doc_ids, 1))
    return Pool(paper_id, "blocks", 2, 50, 1, methods or ("bm25",), (), (), None, entries)


def added(before: Pool, version: int, doc_id: str) -> Pool:
    addition = Addition(version, MANUAL, None, (doc_id,), "why", "ada", "2031")
    entry = PoolEntry(doc_id, Draw(MANUAL, None, None, len(before.entries) + 1))
    return replace(before, entries=(*before.entries, entry), additions=(*before.additions, addition))


def test_a_query_paper_is_named_by_itself_or_by_its_queries() -> None:
    assert topics_named(QUERIES, ["p1-result", "p2"]) == {"p1", "p2"}
    with pytest.raises(InputError, match="query 'p3': not in this study"):
        topics_named(QUERIES, ["p3"])
    # A query may have the name of another query's paper: the query is meant.
    assert topics_named([*QUERIES, Query("p1", "p9", "method", (0,))], ["p1"]) == {"p9"}


def test_a_change_is_what_comes_and_what_goes() -> None:
    assert changed_documents(pool("p1", "abc"), pool("p1", "dcb")) == (("d",), ("a",))
    assert changed_documents(None, pool("p2", "x")) == (("x",), ())
    assert queries_of(QUERIES, "p1") == ("p1-method", "p1-result")


@pytest.fixture
def study(stored: Workspace) -> Workspace:
    with stored.writing() as session:
        put_queries(session, QUERIES)
        put_assessors(session, [Assessor("a1", None, False)])
        pools.replace_pools(session, [pool("p1", "ab"), pool("p2", "c")], rankings_sha256={"p1": "old1", "p2": "old2"})
    return stored


def sent(ws: Workspace) -> None:
    with ws.writing() as session:
        made = open_project(session, round="judge", assessor="a1", server="s", url="u", version="1", account_id=1)
        record_tasks(session, made.project, {PairKey("p1-method", "a"): 1})


def judged(ws: Workspace) -> None:
    with ws.writing() as session:
        said = SourcedJudgement(Judgement("p1-method", "a", "a1", 1), "file", "", {})
        JUDGEMENTS.record(session, [said], recorded_at="2031")


def test_a_study_that_was_sent_or_judged_grows_only_if_asked(study: Workspace) -> None:
    more = {"p1-result": 2, "p1-method": 1, "p2-method": 0}
    with study.reading() as session:
        refuse_growth(session, more, grow=False, judged=True)
    judged(study)
    with study.reading() as session:
        refuse_growth(session, more, grow=False)
        with pytest.raises(InputError, match="3 pairs would be added to a study that was judged"):
            refuse_growth(session, more, grow=False, judged=True)
    sent(study)
    with study.reading() as session:
        with pytest.raises(InputError, match="3 pairs would be added to a study that was sent") as error:
            refuse_growth(session, more, grow=False)
        assert error.value.faults == ("p1-method: 1 more", "p1-result: 2 more")
        refuse_growth(session, more, grow=True)
        refuse_growth(session, {"p1-method": 0}, grow=False)


def test_a_new_version_is_put_on_record_with_what_it_follows_from(study: Workspace) -> None:
    with study.reading() as session:
        current = pools.read_pools(session)
    rankings = {"bm25": {"p1": (ScoredDoc("a", 1.0), ScoredDoc("b", 0.5))}}
    after = {
        "p1": replace(added(current["p1"], 2, "x"), methods=(CITED, "bm25", MANUAL)),
        "p2": added(current["p2"], 2, "y"),
    }
    step._write(study, step._Drawn(after, True, rankings, {}, {}, None), whole=False, grow=False)
    with study.reading() as session:
        assert [entry.doc_id for entry in pools.read_pool(session, "p1").entries] == ["a", "b", "x"]
        hashes = pools.read_rankings_sha256(session)
    # Of p2 no ranking is known: its hash stays.
    assert hashes["p2"] == "old2"
    assert hashes["p1"] == rankings_sha256({"bm25": run_lines(rankings["bm25"], tag="bm25")}, "p1")
    assert sorted(path.name for path in study.query_pools.iterdir()) == ["p1.jsonl", "p2.jsonl"]
    sent(study)
    more = step._Drawn({"p2": added(after["p2"], 3, "z")}, True, {}, {}, {}, None)
    with pytest.raises(InputError, match="1 pair would be added to a study that was sent"):
        step._write(study, more, whole=False, grow=False)
