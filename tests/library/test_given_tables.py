"""What users hand in: the same data in every form gives the same figures; every fault is named with its row."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import annot
import numpy as np
import pandas as pd
import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.formats.trec import write_qrels, write_run
from annot.steps.inputs import FORMS, qrels_in, ratings_in, runs_in

ROWS = [
    ("q1", "d1", "a1", 3), ("q1", "d1", "a2", 2), ("q1", "d2", "a1", 0), ("q1", "d2", "a2", None),
    ("q2", "d1", "a1", 1), ("q2", "d1", "a2", 1), ("q2", "d2", "a1", 0), ("q2", "d2", "a2", 2),
]  # fmt: skip
FRAME = pd.DataFrame(ROWS, columns=["query", "document", "assessor", "grade"])


def faults_of(call: Callable[[], object]) -> list[str]:
    with pytest.raises(annot.InputError) as caught:
        call()
    return list(caught.value.faults) or [caught.value.message]


@pytest.mark.parametrize(
    "form",
    [
        FRAME,
        FRAME.set_index(pd.Index(range(100, 108))),
        FRAME.rename(columns={"query": "query_id", "document": "Doc ID", "grade": "relevance"}),
        FRAME.astype({"grade": "Int64"}),
        FRAME.assign(query=["1"] * 4 + ["2"] * 4).replace({"query": {"1": "q1", "2": "q2"}}),
        ROWS,
        [list(row) for row in ROWS],
        FRAME.to_dict("records"),
        np.array(ROWS, dtype=object).tolist(),
    ],
    ids=["frame", "index", "other names", "nullable", "other frame", "tuples", "lists", "dicts", "objects"],
)
def test_judgements_are_the_same_in_every_form(form: Any) -> None:
    assert ratings_in(form, name="ratings") == ratings_in(FRAME, name="ratings")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            FRAME.drop(columns=["grade", "assessor"]),
            [
                "ratings: no column for the assessor; found query, document, expected one named assessor",
                "ratings: no column for the grade; found query, document, expected one named grade",
            ],
        ),
        (FRAME.assign(query_id="q"), ["ratings: columns 'query' and 'query_id' could both be the query"]),
        (FRAME.iloc[:0], ["ratings: contains no judgement"]),
        ([], ["ratings: contains no judgement"]),
        (FRAME.assign(occasion=2), ["ratings: contains no judgement that counts"]),
        (
            pd.concat([FRAME.iloc[:2], FRAME.iloc[:1]]).reset_index(drop=True),
            ["ratings: row 2: a1 already has a grade for q1 d1 in row 0, expected one"],
        ),
        (
            FRAME.iloc[:3].astype(object).assign(grade=[1.5, "3", math.inf], query=["q1", None, 2.5]),
            [
                "ratings: row 0: grade 1.5, expected a whole number, or nan if there is none",
                "ratings: row 1: query None, expected text or a whole number",
                "ratings: row 1: grade '3', expected a whole number, or nan if there is none",
                "ratings: row 2: query 2.5, expected text or a whole number",
                "ratings: row 2: grade inf, expected a whole number, or nan if there is none",
            ],
        ),
        (
            FRAME.assign(facet=["a", "b"] * 4).iloc[:2],
            ["ratings: row 1: facet 'b' of query q1, expected 'a' as in its other rows"],
        ),
        ([("q1", "d1", "a1")], ["ratings: row 0: 3 values, expected 4 (query, document, assessor, grade)"]),
        ([[1, 2], [3]], ["ratings: row 1: 1 values, expected 2 as in the first row"]),
        ([1, 2], [f"ratings: row {at}: found int, expected a row of values" for at in (0, 1)]),
        (np.zeros(3), ["ratings: an array of 1 dimension, expected items x assessors"]),
        (3, ["ratings: found int, expected a DataFrame, an array or rows"]),
        (
            pd.DataFrame([[1, 2], [0, 5.5]], index=["x", "x"], columns=["a1", "a2"]),
            [
                "ratings: item 'x' is listed 2 times, expected once",
                "ratings: item x, assessor a2: grade 5.5, expected a whole number, or nan if there is none",
            ],
        ),
        (
            pd.DataFrame([[0, 1], [1, 100_000]]),
            ["ratings: grades from 0 to 100000, expected a scale of at most 100 steps"],
        ),
        ([[None, None], [None, None]], ["ratings: no judgement has a grade"]),
    ],
)
def test_wrong_judgements_are_refused_with_every_fault(given: Any, expected: list[str]) -> None:
    assert faults_of(lambda: annot.measure_agreement(given)) == expected
    assert faults_of(lambda: annot.alpha(given)) == expected


QRELS = [Qrel("q1", "d1", 3), Qrel("q1", "d2", 0), Qrel("q2", "d1", 1)]
QRELS_FRAME = pd.DataFrame(QRELS, columns=["query_id", "doc_id", "relevance"])


def test_final_grades_are_the_same_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(write_qrels(QRELS))
    forms = [path, str(path), QRELS_FRAME, QRELS, {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}, annot.read_qrels(path)]
    assert [qrels_in(form) for form in forms] == [qrels_in(QRELS_FRAME)] * len(forms)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (QRELS_FRAME.iloc[:0], "qrels: contains no final grade"),
        ({}, "qrels: contains no final grade"),
        (
            QRELS_FRAME.assign(relevance=[3, np.nan, 1]),
            "qrels: row 1: no grade; leave out the rows of pairs that are not judged",
        ),
        (
            pd.concat([QRELS_FRAME, QRELS_FRAME.iloc[:1]]),
            "qrels: row 0: q1 d1 is listed twice, expected one final grade",
        ),
        ({"q1": 3}, "qrels: found int, expected {query: {document: number}}"),
        ("nowhere.txt", "nowhere.txt: no such file, expected one of TREC's files"),
        (".", ".: a folder, expected one of TREC's files"),
    ],
)
def test_wrong_final_grades_are_refused(given: Any, expected: str) -> None:
    assert expected in faults_of(lambda: annot.evaluate({"q1": {"d1": 1.0}}, given))


RUN = {"q1": {"d1": 2.5, "d2": 7.5}, "q2": {"d3": -1.0}}
RANKINGS = {"q1": (ScoredDoc("d2", 7.5), ScoredDoc("d1", 2.5)), "q2": (ScoredDoc("d3", -1.0),)}


def test_runs_are_the_same_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(write_run(RANKINGS, tag="bm25"))
    table = annot.read_run(path)
    for form in (
        path,
        table,
        [path],
        {"bm25": path},
        {"bm25": RUN},
        {"bm25": table},
        table.rename(columns={"run": "tag"}),
    ):
        assert runs_in(form, name="run") == {"bm25": RANKINGS}
    assert runs_in(RUN, name="run") == runs_in(table.drop(columns="run"), name="run") == {"run": RANKINGS}
    two = pd.concat([table, table.assign(run="other")])
    assert runs_in(two, name="run") == {"bm25": RANKINGS, "other": RANKINGS}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "run: contains no document"),
        ([], "run: contains no run"),
        ({"q1": {"d1": "x", "d2": math.nan}}, "run: row 1: score nan, expected a finite number, higher is better"),
        ({"q1": {"d1", "d2"}}, f"run: found set, expected {FORMS}"),
        ([RUN, RUN], "run: two runs with the tag 'run'"),
        ({"bm25": pd.DataFrame()}, "run bm25: no column for the score; found no column, expected one named score"),
        (
            pd.DataFrame({"query": ["q", "q"], "document": ["d", "d"], "score": [1, 2]}),
            "run: row 1: document 'd' is listed twice for query 'q'",
        ),
        (5, "run: found int, expected a TREC file, a DataFrame or a dict"),
        ("nowhere.run", "nowhere.run: no such file, expected one of TREC's files"),
        ({"q9": {"d1": 1.0}}, "expected q1, q2"),
    ],
)
def test_wrong_runs_are_refused(given: Any, expected: str) -> None:
    assert expected in faults_of(lambda: annot.evaluate(given, QRELS_FRAME))


LISTED = {"q1": ["d3", "d1"], "q2": ["d1"]}


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Series, pd.Index])
def test_a_list_of_documents_is_a_ranking_best_first(form: Callable[[list[str]], Any]) -> None:
    run = {query: form(documents) for query, documents in LISTED.items()}
    expected = {"q1": (ScoredDoc("d3", 2.0), ScoredDoc("d1", 1.0)), "q2": (ScoredDoc("d1", 1.0),)}
    assert runs_in(run, name="run") == {"run": expected}
    assert runs_in({"bm25": run}, name="run") == {"bm25": expected}
    assert runs_in([{"bm25": run}, RUN], name="run") == {"bm25": expected, "run": RANKINGS}


PAPERS_FILE = "query_id\tquery_paper\nq1\tp\nq2\tp\nq9\tother\n"


def with_papers(folder: Path, text: str = PAPERS_FILE) -> Path:
    """Qrels with the papers of their queries next to them."""
    (folder / "qrels.txt").write_text(write_qrels(QRELS))
    (folder / "query_papers.tsv").write_text(text)
    return folder / "qrels.txt"


def test_the_papers_next_to_the_qrels_come_with_them(tmp_path: Path) -> None:
    path = with_papers(tmp_path)
    frame = annot.read_qrels(path)
    assert frame.columns.tolist() == ["query_id", "doc_id", "relevance", "query_paper"]
    assert frame["query_paper"].tolist() == ["p", "p", "p"]
    expected = f"query papers are the sampling units: 2 queries on 1 paper, by {tmp_path / 'query_papers.tsv'}"
    for given in (path, frame):
        assert annot.evaluate(RUN, given).notes[0] == expected
    assert annot.measure_agreement(FRAME, final=path).notes == (expected,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("query_id\tquery_paper\nq1\tp\n", "q2: no line, expected its paper"),
        ("q1\tp\nq2\tp\n", "query_papers.tsv:1: found 'q1\\tp', expected the header 'query_id\\tquery_paper'"),
        (PAPERS_FILE + "q1\n", "query_papers.tsv:5: expected a query and its paper, with a tab between"),
        (PAPERS_FILE + "q1\tr\n", "query_papers.tsv:5: paper 'r' of query q1, expected 'p' as above"),
    ],
)
def test_papers_that_do_not_fit_the_qrels_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    path = with_papers(tmp_path, text)
    for read in (lambda: annot.read_qrels(path), lambda: annot.evaluate(RUN, path)):
        assert [fault.removeprefix(f"{tmp_path}/") for fault in faults_of(read)] == [expected]


def test_the_column_of_the_paper_is_the_one_that_is_named() -> None:
    judgements = FRAME.assign(paper="p")
    assert "by the column 'paper'" in annot.measure_agreement(judgements, clusters="paper").notes[0]
    assert "by the column 'paper'" in annot.evaluate(RUN, QRELS_FRAME.assign(paper="p"), clusters="paper").notes[0]
    (fault,) = faults_of(lambda: annot.measure_agreement(FRAME, clusters="paper"))
    assert fault == (
        "ratings: no column for the query paper; found query, document, assessor, grade, expected one named paper"
    )
    apart = FRAME.assign(paper=[*"pppppppr"])
    (fault,) = faults_of(lambda: annot.measure_agreement(apart, clusters="paper"))
    assert fault == "ratings: row 7: query paper 'r' of query q2, expected 'p' as in its other rows"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: annot.measure_agreement([[1, 1], [0, 1]], clusters="paper"), "ratings is a matrix of items"),
        (
            lambda: annot.evaluate(RUN, {"q1": {"d1": 3}}, clusters="paper"),
            "expected qrels in a table with this column",
        ),
        (lambda: annot.evaluate(RUN, "qrels.txt", clusters="paper"), "expected qrels in a table with this column"),
    ],
    ids=["matrix", "dict", "file"],
)
def test_what_has_no_columns_has_none_to_name(call: Callable[[], object], expected: str) -> None:
    (fault,) = faults_of(call)
    assert fault.startswith("clusters='paper': ")
    assert expected in fault


def test_a_column_of_topics_is_the_unit_beside_a_column_of_queries_and_the_query_alone() -> None:
    named = FRAME.assign(topic_id="t")
    assert annot.measure_agreement(named).notes == (
        "topics are the sampling units: 2 queries on 1 topic, by the column 'topic_id'",
    )
    alone = FRAME.rename(columns={"query": "topic_id"})
    assert annot.measure_agreement(alone).notes[0].startswith("queries are taken as independent")
    both = annot.measure_agreement(named.assign(query_paper="p")).notes[0]
    assert both == "query papers are the sampling units: 2 queries on 1 paper, by the column 'query_paper'"
    (fault,) = faults_of(lambda: annot.measure_agreement(FRAME.assign(topic_id=[*"tttttttu"])))
    assert fault == "ratings: row 7: topic 'u' of query q2, expected 't' as in its other rows"
    assert "by the column 'topic_id'" in annot.measure_agreement(named, clusters="topic_id").notes[0]


def test_the_topics_next_to_the_qrels_come_with_them(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(write_qrels(QRELS))
    beside = tmp_path / "query_topics.tsv"
    beside.write_text("query_id\ttopic_id\nq1\tt\nq2\tt\n")
    frame = annot.read_qrels(tmp_path / "qrels.txt")
    assert frame["topic_id"].tolist() == ["t", "t", "t"]
    for given in (tmp_path / "qrels.txt", frame):
        told = annot.evaluate(RUN, given).notes[0]
        assert told == f"topics are the sampling units: 2 queries on 1 topic, by {beside}"
    beside.write_text("query_id\ttopic_id\nq1\tt\n")
    assert faults_of(lambda: annot.read_qrels(tmp_path / "qrels.txt")) == ["q2: no line, expected its topic"]
