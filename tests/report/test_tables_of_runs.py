"""The tables of runs: their order and letters, every measure, each query, and what was measured before a top-up."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import CHANCE, Judgement, Qrel, ScoredDoc
from annot.measuring.evaluation.comparisons import Score
from annot.measuring.evaluation.evaluated import ONE_ASSESSOR, TOGETHER, EvaluatedRuns
from annot.publishing.report.sections.runs import compared, letter_of, scores_before_topups, table_of_queries
from evaluated_runs import evaluated_runs

DOCS = [f"d{at}" for at in range(6)]
PAPERS = 8
NAMES = [f"p{paper}-{facet}" for paper in range(PAPERS) for facet in ("aim", "way")]
QRELS = [Qrel(name, doc, 3 if doc in DOCS[:2] else 0) for name in NAMES for doc in DOCS]


def ranked(order: list[str], *, way: list[str] | None = None) -> dict[str, tuple[ScoredDoc, ...]]:
    """This order for every query, or another one for the way."""
    return {
        name: tuple(ScoredDoc(doc, -float(at)) for at, doc in enumerate(way if way and name.endswith("way") else order))
        for name in NAMES
    }


RUNS = {"worst": ranked(DOCS[::-1]), "best": ranked(DOCS), "mixed": ranked(DOCS, way=DOCS[::-1])}


@pytest.fixture(scope="module")
def found() -> EvaluatedRuns:
    judgements = [
        Judgement(one.query_id, one.doc_id, assessor, one.relevance) for one in QRELS for assessor in ("a1", "a2")
    ]
    return evaluated_runs(RUNS, QRELS, judgements, conventions=("csfcube", "trec"))


@pytest.mark.parametrize(
    ("place", "letters"),
    [(0, "a"), (1, "b"), (25, "z"), (26, "aa"), (27, "ab"), (51, "az"), (52, "ba"), (701, "zz"), (702, "aaa")],
)
def test_letters_go_on_after_z(place: int, letters: str) -> None:
    assert letter_of(place) == letters


def test_the_best_run_is_first_and_what_is_no_run_is_last(found: EvaluatedRuns) -> None:
    (table,) = compared(found)
    names = [str(row[0]) for row in table.rows]
    assert names[:3] == ["best", "mixed", "worst"]
    assert [row[1] for row in table.rows] == ["a", "b", "c", *[""] * (len(names) - 3)]
    assert names[3:] == ([CHANCE, ONE_ASSESSOR] if found.ceiling else [CHANCE])


def test_a_run_has_the_letters_of_those_it_beats_on_each_facet(found: EvaluatedRuns) -> None:
    (table,) = compared(found)
    marks = {
        (str(row[0]).split(" ")[0], facet): set(str(cell).split()[-2:]) & {"a", "b", "c"}
        for row in table.rows
        for facet, cell in zip(table.headings[2:], row[2:], strict=True)
    }
    letters = {"best": "a", "mixed": "b", "worst": "c"}
    for run in letters:
        for facet in table.headings[2:]:
            beaten = {
                letters[one.run_b] for one in found.comparisons if one.holds and (one.facet, one.run_a) == (facet, run)
            }
            assert marks[run, facet] == beaten, (run, facet)
    assert any(marks.values())


def test_nothing_that_is_no_run_has_the_sign_of_chance(found: EvaluatedRuns) -> None:
    (table,) = compared(found)
    assert all("°" not in str(cell) for row in table.rows[3:] for cell in row)
    assert all("°" in str(cell) for cell in table.rows[2][2:])


def test_each_query_has_its_counts_in_the_data(found: EvaluatedRuns) -> None:
    table = table_of_queries(found, "csfcube", ["best", "worst"])
    assert [row[:2] for row in table.rows] == [(run, name) for run in ("best", "worst") for name in sorted(NAMES)]
    first = table.records[0]
    # Six documents are ranked and judged, and two of them are relevant.
    assert (first["submitted"], first["relevant"], first["unjudged"]) == (6, 2, 0)


def test_scores_before_each_topup_are_beside_those_of_now(found: EvaluatedRuns) -> None:
    scores = (Score(TOGETHER, "best", (0.5, 0.6, 0.75), (1, 2)), Score(TOGETHER, "worst", (0.2, 0.15, 0.1), (3,)))
    topups = tuple(SimpleNamespace(version=version, method="bm25", pairs=3) for version in (2, 4))
    before: Any = SimpleNamespace(convention="csfcube", measure="NDCG%20", scores=scores, topups=topups)
    given = replace(found, restated=before)
    (table,) = scores_before_topups(given)
    assert table.headings == (*("Facet", "Run", "Before version 2", "Before version 4", "Now", "Difference", "Places"),)
    assert [str(cell) for cell in table.rows[0]] == [TOGETHER, "best", "50.0", "60.0", "75.0", "+25.0", "1, 2"]
    assert [str(cell) for cell in table.rows[1]][1:] == ["worst °", *("20.0", "15.0", "10.0", "-10.0", "3")]
    assert list(scores_before_topups(found)) == []
