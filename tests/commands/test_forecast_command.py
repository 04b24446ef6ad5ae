"""A study under way is seen as it is: counts, grades, agreement on complete pairs, and what is still to come."""

from collections.abc import Callable
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.judging.progress import StudyProgress
from annot.publishing.report.status_page import describe, tables
from annot.steps.forecast import forecast
from annot.study.workspace import Workspace
from small_study import NOW, build

Run = Callable[..., Any]


def look(ws: Workspace) -> StudyProgress:
    """What `forecast` shows."""
    return forecast(ws.replaced("forecast", hourly_rate=30.0), clock=lambda: NOW)


def test_a_study_half_way(ws: Workspace) -> None:
    build(ws, judged=25)
    seen = look(ws)
    assert (seen.judged, seen.planned) == (50, 80)
    assert {one.assessor: (one.judged, one.assigned) for one in seen.assessors} == {"a1": (25, 40), "a2": (25, 40)}
    # By hand from the planted grades: (document + query) mod 4 on eight documents, then 0 and 1.
    assert seen.assessors[0].grades == {0: 7, 1: 7, 2: 5, 3: 6}
    assert [(one.query_id, one.complete, one.by_assessor["a1"]) for one in seen.queries] == [
        ("p1-method", 10, (10, 10)),
        ("p2-method", 10, (10, 10)),
        ("p3-method", 5, (5, 10)),
        ("p4-method", 0, (0, 10)),
    ]
    assert seen.agreement is not None
    assert (seen.agreement.n_pairs, seen.agreement.n_queries) == (25, 3)
    percent = next(shown for shown in seen.agreement.figures if shown.coefficient == "percent")
    assert percent.value == pytest.approx(80)
    assert percent.n_queries == 3
    assert "agreement so far, median over queries" in describe(
        seen, tables(seen, OF_PAPERS, all_queries=False), OF_PAPERS
    )


def test_the_agreement_so_far_is_that_of_annot_agreement(ws: Workspace, annot: Run) -> None:
    """One alpha is one number: the same median over queries, with the same interval."""
    build(ws, judged=25)
    shown = {one["coefficient"]: one for one in annot("forecast", "--json").data["agreement"]["figures"]}
    together = annot("agreement", "--json").data["groups"][-1]
    for name in ("spearman_rho", "alpha_ordinal", "kappa", "percent"):
        summary = together["before"][name]
        assert shown[name]["value"] == summary["median"]
        assert shown[name]["interval"] == summary["intervals"]["median"]
