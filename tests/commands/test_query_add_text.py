"""A topic that is a text: added by hand, pooled by the methods that can rank for one, and no paper anywhere."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from annot.store import papers, pools
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import made, paper, words_of

TEXT = " ".join(words_of(7)[:12])
ADD = ("query", "add", "--text", TEXT, "--id", "T1", "--narrative", "Only of made-up words.")


@pytest.fixture
def study(ws: Workspace, annot: Callable[..., Result]) -> Workspace:
    """A study of sixty papers, two of which are queries."""
    made(ws, annot, [paper(number) for number in range(60)])
    return ws


def rows(ws: Workspace, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        return connection.execute(statement).fetchall()


def test_a_text_is_a_topic_of_its_own_and_no_paper(study: Workspace, annot: Callable[..., Result]) -> None:
    before = papers.corpus_sha256(study.corpus), rows(study, "SELECT * FROM facet_labels ORDER BY paper_id")
    would = annot(*ADD, "--dry-run", "--json")
    assert json.loads(would.stdout)["data"]["query_id"] == "T1"
    assert rows(study, "SELECT * FROM topic") == []
    for _ in range(2):
        assert annot(*ADD).exit_code == 0
    assert rows(study, "SELECT * FROM topic") == [("T1", TEXT, None, "Only of made-up words.", "{}")]
    assert rows(study, "SELECT * FROM query WHERE topic_id = 'T1'") == [("T1", "T1", "whole", "[]", None)]
    assert (papers.corpus_sha256(study.corpus), rows(study, "SELECT * FROM facet_labels ORDER BY paper_id")) == before
    listed = {one["query_id"]: one for one in json.loads(annot("query", "list", "--json").stdout)["data"]}
    assert (listed["T1"]["title"], listed["T1"]["year"], listed["p5-method"]["title"]) == (TEXT, None, "Title 5")


def test_its_pool_is_drawn_by_the_methods_that_rank_texts_and_the_others_stay(
    study: Workspace, annot: Callable[..., Result]
) -> None:
    def drawn() -> dict[str, pools.Pool]:
        with open_store(study.database_url, create=False) as store, store.read() as session:
            return pools.read_pools(session)

    assert annot("pool", "--per-method", "3").exit_code == 0
    before = drawn()
    assert annot(*ADD).exit_code == 0
    told = annot("pool")
    assert told.exit_code == 0, told.stderr
    assert (
        "cited is left out of the pool of T1, and the pools record this: a topic that is a text has no citations"
        in told.stderr
    )
    after = drawn()
    assert {name: after[name] for name in before} == before
    assert (after["T1"].methods, after["T1"].without, after["T1"].cited_outside) == (
        tuple(name for name in after["T1"].methods if name in ("abs_tfidf", "title_tfidf")), ("cited",), None
    )  # fmt: skip
    assert after["T1"].entries[0].doc_id == "p7"
    assert "left out of the pool" not in annot("pool").stderr
    assert annot("check", "pools").exit_code == 0
    assert drawn() == after
    # Alone, it is drawn as among others.
    assert annot("pool", "--query", "T1").exit_code == 0
    assert drawn() == after


REFUSED = [
    (("--text", "a"), "found a topic without --text and --id, expected both"),
    (("p5", "--text", "a", "--id", "T1"), "expected --text alone"),
    (("--text", " ", "--id", "T1"), "--text: found no words"),
    (("--text", "a", "--id", "T 1"), "--id 'T 1': expected no space, no slash"),
    (("--text", "a", "--id", "a/b"), "--id 'a/b': expected no space, no slash"),
    (("--text", "a", "--id", "p5-method"), "--id p5-method: a query of p5 has this id"),
]


def test_what_cannot_be_a_topic_is_refused_and_nothing_is_added(study: Workspace, annot: Callable[..., Result]) -> None:
    before = rows(study, "SELECT * FROM query")
    for words, told in REFUSED:
        refused = annot("query", "add", *words)
        assert refused.exit_code == 2
        assert told in refused.stderr
    assert (rows(study, "SELECT * FROM query"), rows(study, "SELECT * FROM topic")) == (before, [])


def test_a_topic_for_which_nothing_is_found_leads_out_of_the_study_and_not_in_a_circle(
    study: Workspace, annot: Callable[..., Result]
) -> None:
    annot("query", "add", "--text", "xqzzy", "--id", "T9")
    drawn = annot("pool", "--without", "cited")
    assert (drawn.exit_code, "no method found a document for T9" in drawn.stderr) == (0, True)
    assert "next: annot query remove T9 (" in drawn.stderr
    assert "`annot query remove`" in annot("plan").stderr
    assert "T9" not in annot("query", "remove", "T9").stderr
