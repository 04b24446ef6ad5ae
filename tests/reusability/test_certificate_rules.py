"""The rule of the certificate, and the judged shares of runs, on figures made by hand."""

from statistics import mean

import pytest
from annot.base.records import Draw, Pool, PoolEntry, Qrel, Ranking, ScoredDoc
from annot.base.stats.values import Undefined
from annot.measuring.reusability import Certificate, JudgedShare, Loss, certify, verdict_of
from annot.publishing.report.single_pages import certificate_page, terminal


def loss(place: str, value: float = 0.0, needed: int | None = None) -> Loss:
    return Loss("m", True, 0, 0, 0.5, 0.5, 1, 1, 1.0, value, Undefined("few"), place, needed)


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        ([loss("above", 0.1), loss("open", 0.05, 8), loss("below")], ("care", None)),
        ([loss("below"), loss("below")], ("fair", None)),
        # One method leaves nothing to compare with.
        ([loss("below")], ("unknown", None)),
        ([], ("unknown", None)),
        # To be fair, every method has to be below: the slowest decides.
        ([loss("open", 0.01, 20), loss("open", 0.02, 30), loss("below")], ("unknown", 30)),
        ([loss("open", 0.01, 20), loss("open", 0.02, None)], ("unknown", None)),
        # One above the tolerance would do: the quickest of these decides.
        ([loss("open", 0.03, 50), loss("open", 0.021, 400), loss("open", 0.01, 7)], ("unknown", 50)),
        ([loss("open", 0.03, 1000)], ("unknown", 1000)),
        ([loss("open", 0.03, None), loss("open", 0.01, 5)], ("unknown", None)),
    ],
)
def test_care_fair_or_unknown(losses: list[Loss], verdict: tuple[str, int | None]) -> None:
    assert verdict_of(losses, tolerance=0.02) == verdict


def ranking(*names: str) -> Ranking:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


def first_relevant(runs: dict[str, dict[str, Ranking]]) -> dict[str, dict[str, float]]:
    """1 where the first document is d1."""
    return {
        tag: {q: float(bool(run.get(q)) and run[q][0].doc_id == "d1") for q in ("q1", "q2")}
        for tag, run in runs.items()
    }


def certified() -> Certificate:
    qrels = [Qrel(query, doc, grade) for query in ("q1", "q2") for doc, grade in (("d1", 3), ("d2", 0))]
    entries = (PoolEntry("d1", Draw("bm25", 1, 1.0, None)), PoolEntry("d2", Draw("lsa", 1, 1.0, None)))
    pool = Pool("p1", "blocks", None, None, None, ("bm25", "lsa"), (), (), None, entries)
    others = [f"x{at}" for at in range(30)]
    runs = {
        "bm25": {"q1": ranking("d1", "d2"), "q2": ranking("x1", "d1")},
        "deep": {"q1": ranking("d1", *others[:18], "d2", "x99"), "q2": ranking(*others[:20], "d1")},
        "part": {"q1": ranking("d2", "x1", "x2", "d1"), "q9": ranking("d1")},
        "none": {},
    }
    return certify(
        *(runs, qrels, {"p1": pool}, {"bm25": {"p1": ranking("d1")}}, {"q1": "p1", "q2": "p1"}),
        *(first_relevant, first_relevant),
        measure="P@1",
        loss_measure="P@1",
        relevant_from=2,
        tolerance=0.02,
        level=0.95,
    )


def test_runs_have_the_judged_share_of_their_first_twenty_and_two_scores() -> None:
    found = certified()
    assert found.runs == (
        JudgedShare("bm25", True, mean([1.0, 0.5]), 0.5, 1.0),
        JudgedShare("deep", False, mean([2 / 20, 0.0]), 0.5, 1.0),
        JudgedShare("none", False, 0.0, 0.0, 0.0),
        JudgedShare("part", False, 0.5, 0.0, 0.0),
    )
    assert (found.queries, found.papers, found.tolerance, found.level) == (2, 1, 0.02, 0.95)
    assert [(one.method, one.ranked) for one in found.losses] == [("bm25", True), ("lsa", False)]


def test_the_page_names_the_runs_that_are_judged_to_less_than_95_percent() -> None:
    page = certificate_page(certified(), title="Demo", notice="simulated")
    losses, unjudged = (chapter.tables[0] for chapter in page.body)
    assert page.notice == "simulated"
    assert page.answers[0].question == "Reusability"
    assert [row[:2] for row in unjudged.rows] == [("bm25", True), ("deep", False), ("none", False), ("part", False)]
    assert [row[-3:-1] for row in losses.rows] == [(1, 1), ("–", "–")]
    text, tables = terminal(certified())
    assert [table.name for table in tables] == ["losses", "runs"]
    assert text.split("\n")[0].endswith(".")
