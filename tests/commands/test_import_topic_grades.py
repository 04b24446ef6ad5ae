"""Grades and judgements of topics, made elsewhere: they keep the ids of their topics, and come out as they went in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from annot.store import pools
from annot.store.pools import read_queries
from annot.study.workspace import Workspace
from command_line import Result, difference, snapshot
from pooled_corpus import made, paper

QRELS = "1 0 p3 2\n1 0 p4 0\n2 0 p3 1\n2 0 p19 3\n"
TOPICS = "1\tword001 word002\n2\tword004 word005\n3\tword006\n"
BEIR = "query-id\tcorpus-id\tscore\n1\tp3\t2\n1\tp4\t0\n2\tp3\t1\n2\tp19\t3\n"


@pytest.fixture
def study(ws: Workspace, annot: Callable[..., Result]) -> Workspace:
    """A study of twenty papers with two queries on papers, and three topics that are texts."""
    made(ws, annot, [paper(number) for number in range(20)])
    (ws.root / "topics.tsv").write_text(TOPICS, encoding="utf-8")
    assert annot("query", "add", "--file", "topics.tsv").exit_code == 0
    return ws


def written(ws: Workspace, name: str, text: str) -> Path:
    path = ws.root / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [QRELS, QRELS.replace(" 0 ", " 4.5 "), BEIR])
def test_qrels_of_topics_come_out_as_they_went_in(study: Workspace, annot: Callable[..., Result], text: str) -> None:
    written(study, "given.txt", text)
    told = annot("import", "given.txt", "--json")
    assert told.exit_code == 0, told.stderr
    assert (told.data["queries"], told.data["pairs"], told.data["grades"]) == (2, 4, {"0": 1, "1": 1, "2": 1, "3": 1})
    assert "without a text" not in told.stderr
    with study.reading() as session:
        assert [one.query_id for one in read_queries(session)] == ["1", "2", "3", "p12-method", "p5-method"]
        drawn = pools.read_pools(session)
    assert {name: [one.doc_id for one in pool.entries] for name, pool in drawn.items()} == {
        "1": ["p3", "p4"], "2": ["p3", "p19"],
    }  # fmt: skip
    assert annot("qrels").exit_code == 0
    assert sorted((study.root / "exports" / "qrels.txt").read_text().splitlines()) == sorted(QRELS.splitlines())


def test_the_same_qrels_again_change_nothing_and_others_add(study: Workspace, annot: Callable[..., Result]) -> None:
    written(study, "given.txt", QRELS)
    assert annot("import", "given.txt").exit_code == 0
    assert annot("qrels").exit_code == 0
    before = (study.root / "exports" / "qrels.txt").read_text()
    assert annot("import", "given.txt").exit_code == 0
    assert annot("qrels").exit_code == 0
    assert (study.root / "exports" / "qrels.txt").read_text() == before
    written(study, "more.txt", "3 0 p1 1\np5-method 0 p2 2\n")
    assert annot("import", "more.txt").exit_code == 0
    assert annot("qrels").exit_code == 0
    assert (study.root / "exports" / "qrels.txt").read_text().splitlines()[-2:] == ["3 0 p1 1", "p5-method 0 p2 2"]


def test_topics_that_the_study_does_not_have_are_named_and_nothing_is_imported(
    study: Workspace, annot: Callable[..., Result]
) -> None:
    written(study, "given.txt", QRELS + "301 0 p3 1\n02 0 p3 1\n")
    before = snapshot(study.root)
    refused = annot("import", "given.txt")
    assert refused.exit_code == 2
    assert "given.txt:5: topic '301': not in this study\n" in refused.stderr
    assert "given.txt:6: topic '02': not in this study; did you mean '2'?" in refused.stderr
    assert "annot query add --file" in refused.message()
    assert not difference(before, snapshot(study.root))


def test_judgements_of_a_table_are_of_topics_too(study: Workspace, annot: Callable[..., Result]) -> None:
    written(study, "judged.csv", "topic,document,assessor,grade\n1,p3,Ann,2\n1,p3,Bob,3\n2,p9,Ann,0\n")
    told = annot("import", "judged.csv", "--json")
    assert told.exit_code == 0, told.stderr
    assert (told.data["queries"], told.data["new_queries"], told.data["judgements"]) == (2, 0, 3)
    refused = annot("query", "remove", "1")
    assert refused.exit_code == 2
    assert "2 judgements" in refused.message()
    written(study, "topics.tsv", TOPICS.replace("word001", "word009"))
    refused = annot("query", "add", "--file", "topics.tsv")
    assert "topics.tsv:1: topic 1: another text has this id, and pairs of it were judged or sent" in refused.stderr
    assert "topics.tsv:2" not in refused.stderr


def test_a_study_without_the_topics_is_told_to_add_them_first(ws: Workspace, annot: Callable[..., Result]) -> None:
    made(ws, annot, [paper(number) for number in range(20)])
    written(ws, "given.txt", QRELS)
    refused = annot("import", "given.txt")
    assert refused.exit_code == 2
    assert "annot query add --file" in refused.message()
    refused = annot("import", "given.txt", "--facet", "method")
    assert "no query is a paper of the corpus, expected ids such as 1" in refused.stderr
    assert "annot query add --file" in refused.message()
