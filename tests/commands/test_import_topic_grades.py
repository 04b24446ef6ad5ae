"""Grades and judgements of topics, made elsewhere: they keep the ids of their topics, and come out as they went in."""

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


NAMED = "query,document,assessor,grade\n1,p3,{person},1\n2,p3,{person},1\n"


@pytest.mark.parametrize("first", ["qrels.txt", "named.csv"])
def test_grades_without_a_name_and_those_of_a_person_never_replace_each_other(
    study: Workspace, annot: Callable[..., Result], first: str
) -> None:
    written(study, "qrels.txt", QRELS)
    written(study, "named.csv", NAMED.format(person="a1"))
    (second,) = {"qrels.txt", "named.csv"} - {first}
    assert annot("import", first).exit_code == 0
    before = snapshot(study.root)
    refused = annot("import", second)
    assert refused.exit_code == 2
    assert "a1: these would be replaced" in refused.stderr
    assert not difference(before, snapshot(study.root))
    assert annot("import", first).exit_code == 0
    written(study, "other.csv", NAMED.format(person="a2"))
    assert annot("import", "other.csv").exit_code == 0
