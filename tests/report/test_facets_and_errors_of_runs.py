"""The best run on the facets of one paper, the errors of runs, and the kinds that the lead entered."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import Qrel, ScoredDoc
from annot.base.stats.values import Undefined
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.publishing.report import figures
from annot.publishing.report.sections import runs as analyses
from annot.publishing.report.tables import Figure, Table
from evaluated_runs import evaluated_runs

DOCS = [f"d{at}" for at in range(10)]
QUERIES = ("p1-aim", "p1-way", "p2-aim")
GRADES = {"p1-aim": (3, 0), "p1-way": (0, 2), "p2-aim": (2, 1)}
"""Of d0 and d9; each other paper has grade 1."""
FORWARDS = tuple(ScoredDoc(doc, -float(at)) for at, doc in enumerate(DOCS))
RUNS = {"first": dict.fromkeys(QUERIES, FORWARDS), "second": {"p1-way": FORWARDS[::-1], "p2-aim": ()}}


def qrels() -> list[Qrel]:
    ends = {"d0": 0, "d9": 1}
    return [Qrel(name, doc, GRADES[name][ends[doc]] if doc in ends else 1) for name in QUERIES for doc in DOCS]


def study(evaluated: EvaluatedRuns | Undefined, runs: Any = RUNS, **values: Any) -> Any:
    return SimpleNamespace(
        words=OF_PAPERS,
        runs=runs,
        evaluated=evaluated,
        outcome=SimpleNamespace(qrels=qrels()),
        settings=SimpleNamespace(
            facets={"way": (), "aim": (), "unused": ()},
            evaluation=SimpleNamespace(relevant_from=2, error_kinds=("topic", "method", "other")),
            agreement=SimpleNamespace(level=0.95),
        ),
        snapshot=SimpleNamespace(
            facets={name: name[3:] for name in QUERIES},
            topics={name: name[:2] for name in QUERIES},
            ws=None,
            sample=None,
            **values,
        ),
    )


def test_errors_are_counted_by_facet_among_what_could_go_wrong() -> None:
    found = analyses._errors(study(Undefined("not asked")))
    rows = {row[:2]: (row[2], row[4]) for row in found.rows}
    # The first fifth of ten papers is two. d0 of p1-aim and p2-aim is relevant and first, that of p1-way irrelevant.
    assert rows == {("aim", "first"): (0, 0), ("way", "first"): (1, 1), ("way", "second"): (0, 0)}
    shares = {row[:2]: (str(row[3]).split()[0], str(row[5]).split()[0]) for row in found.rows}
    assert shares == {
        ("aim", "first"): ("0%", "0%"),
        # One of the two papers of the first fifth, and the only relevant paper.
        ("way", "first"): ("50%", "100%"),
        ("way", "second"): ("0%", "0%"),
    }
    assert "grade 2 or higher" in found.caption


def kinds(entered: dict[tuple[str, str], str]) -> list[Table]:
    told = study(Undefined("not asked"))
    told.error_kinds = entered
    return list(analyses._kinds(told))


def test_kinds_and_facets_that_were_entered_have_rows_and_columns_in_the_order_of_the_settings() -> None:
    assert kinds({}) == []
    given = {("p1-aim", "d1"): "other", ("p2-aim", "d1"): "other", ("p1-way", "d2"): "topic"}
    (found,) = kinds(given)
    assert (found.headings, found.rows) == (("Kind", "way", "aim"), (("topic", 1, 0), ("other", 0, 2)))
    (found,) = kinds({("p1-aim", "d1"): "method"})
    assert (found.headings, found.rows) == (("Kind", "aim"), (("method", 1),))


def test_the_best_run_is_shown_on_each_paper_with_several_facets(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(figures, "ranges", lambda values, spans, **named: drawn.append((values, spans, named)))
    evaluated = evaluated_runs({"first": RUNS["first"]}, qrels(), conventions=("csfcube",))
    figure, table = analyses._facets(study(evaluated), evaluated)
    assert isinstance(figure, Figure)
    assert isinstance(table, Table)
    assert table.headings == ("Paper", "way", "aim", "Difference")
    ((paper, way, aim, difference),) = table.rows
    # p2 has one facet only. The relevant paper is first for the aim, and last for the way.
    assert paper == "p1"
    assert aim.raw > way.raw
    assert difference.raw == aim.raw - way.raw
    ((values, spans, _),) = drawn
    assert values == {"way": {"p1": way.raw}, "aim": {"p1": aim.raw}}
    assert spans == {"p1": (way.raw, aim.raw)}
    assert figure.description.startswith("A row for each paper, with a mark for each facet. p1: ")


def test_without_a_paper_of_several_facets_nothing_is_shown_of_facets_and_without_runs_nothing_at_all() -> None:
    of_one = [one for one in qrels() if one.query_id != "p1-way"]
    runs = {"first": {name: FORWARDS for name in QUERIES if name != "p1-way"}}
    evaluated = evaluated_runs(runs, of_one, conventions=("csfcube",))
    assert list(analyses._facets(study(evaluated, runs), evaluated)) == []
    assert list(analyses.analyses_appendix(study(Undefined("no runs")))) == []
