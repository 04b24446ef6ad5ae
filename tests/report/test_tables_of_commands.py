"""The columns of the tables that commands print, on rows made here."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import CITED, Draw, Pool, PoolEntry
from annot.base.stats.values import Estimate, Interval
from annot.measuring.agreement.estimates import AgreementOfGradings
from annot.publishing.report import commands
from annot.publishing.report.cells import Number
from annot.publishing.report.tables import Table


def printed(found: Table) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in found.rows]


def row(**values: object) -> Any:
    return SimpleNamespace(**values)


@pytest.mark.parametrize(
    ("n", "shown"), [(2, "d0 d1"), (5, "d0 d1 d2 d3 d4"), (6, "d0 d1 d2 d3 d4 ..."), (9, "d0 d1 d2 d3 d4 ...")]
)
def test_five_of_the_documents_that_were_added_are_printed_and_all_are_in_the_data(n: int, shown: str) -> None:
    added = tuple(f"d{at}" for at in range(n))
    found = commands.added(OF_PAPERS).of([row(topic_id="p1", added=added, queries=("p1-a", "p1-b"), size=30)])
    assert found.headings == ("query paper", "documents", "added", "queries", "pool")
    assert printed(found) == [["p1", shown, str(n), "2", "30"]]
    assert found.records == ({"query_paper": "p1", "queries": 2, "added": n, "size": 30, "documents": " ".join(added)},)


def test_documents_of_a_pool_show_who_drew_them_and_who_also_had_them() -> None:
    entries = (
        PoolEntry("d1", Draw("bm25", 3, 12.3456789, 1), (Draw("tfidf", 7, 0.5, None), Draw(CITED, None, None, None))),
        PoolEntry("d2", Draw(CITED, None, None, 2)),
    )
    pool = Pool("p1", "blocks", 2, 10, 1, ("bm25",), (), (), 0, entries)
    found = commands.documents(pool, {"d1": "T" * 70}).of(pool.entries)
    assert found.headings == ("turn", "document", "drawn by", "rank", "score", "also ranked by", "title")
    assert printed(found) == [
        ["1", "d1", "bm25", "3", "12.3457", "tfidf:7 cited", "T" * 60],
        ["2", "d2", "cited", "None", "", "", ""],
    ]
    assert found.records[0] == {
        **{"query_paper": "p1", "doc_id": "d1", "turn": 1, "method": "bm25", "rank": 3, "score": 12.3456789},
        "also_had_by": "tfidf:7 cited",
    }


def test_a_person_without_a_grade_has_a_dash() -> None:
    rows = [
        row(query_id="q1", doc_id="d1", assessor="a1", counts=True, why="left", grade=grade) for grade in (None, 0, 2)
    ]
    assert [found[-1] for found in printed(commands.WITHDRAWN.of(rows))] == ["-", "0", "2"]


def between() -> AgreementOfGradings:
    value = Estimate(0.5, Interval(0.4, 0.6, 0.95, "jackknife"))
    return AgreementOfGradings(
        12, 3, dict.fromkeys(commands.AGREED, value) | {"percent": Estimate(80.0, Interval(70, 90, 0.95, "j"))}
    )


def test_agreement_with_gold_prints_three_coefficients_and_keeps_five() -> None:
    trained = row(assessor="a1", gold=20, answered=12, verdict="passed", agreement=between(), looked_at=1)
    found = commands.TRAINING.of([trained])
    shown = ("kappa (quadratic)", "Spearman's rho", "agreement, %")
    assert found.headings == ("assessor", "gold pairs", "answered", *shown, "looked at again", "verdict")
    assert printed(found)[0][3:6] == ["0.50 [0.40, 0.60]", "0.50 [0.40, 0.60]", "80 [70, 90]"]
    (record,) = found.records
    assert [*record] == ["assessor", "given", "answered", "verdict", *commands.AGREED]
    kappa = record["kappa"]
    assert isinstance(kappa, Number)
    assert kappa.rests_on == (("queries", 3), ("pairs", 12))
