"""The rules of the first screen at their thresholds, and figures of single runs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.base.stats.values import Interval, Undefined
from annot.measuring.evaluation.evaluated import CHANCE, TOGETHER, Evaluated
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.verdict import best, figure, of_all, reliability, robustness, same_order, tau
from evaluated_runs import evaluated_runs

DOCS = [f"d{at}" for at in range(6)]


def measured(runs: dict[str, list[str]], facets: tuple[str, ...] = ("aim", "way"), papers: int = 3) -> Evaluated:
    """The first two documents are relevant to each query; each run has the same order on all, `-aim` only on that."""
    names = [f"p{paper}-{facet}" for paper in range(papers) for facet in facets]
    qrels = [Qrel(name, doc, 3 if doc in DOCS[:2] else 0) for name in names for doc in DOCS]
    of = {
        run: {
            name: tuple(ScoredDoc(doc, -float(at)) for at, doc in enumerate(order))
            for name in names
            if not run.endswith("-aim") or name.endswith("-aim")
        }
        for run, order in runs.items()
    }
    return evaluated_runs(of, qrels, conventions=("csfcube",))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        *((0.8, 0.9, "reliable"), (0.799, 0.9, "tentative"), (0.667, 0.7, "tentative"), (0.666, 0.9, "uncertain")),
        *((0.5, 0.667, "uncertain"), (0.5, 0.666, "unreliable")),
    ],
)
def test_alpha_is_judged_by_both_ends_of_its_interval(low: float, high: float, verdict: str) -> None:
    assert reliability(Number(0.7, COEFFICIENT, Interval(low, high, 0.95, "jackknife"))) == verdict
    assert reliability(Number(0.7, COEFFICIENT)) == "unknown"


def test_no_verdict_rests_on_an_interval_of_most_of_the_scale() -> None:
    low, wide = (
        Number(-0.2, COEFFICIENT, Interval(-1, 0.6, 0.95, "t")),
        Number(-0.2, COEFFICIENT, Interval(-1, 0.61, 0.95, "t")),
    )
    assert (reliability(low), reliability(wide)) == ("unreliable", "unknown")


def effect(with_swap: int = 0, tau_range: Any = (0.9, 1.0)) -> Any:
    mixed = SimpleNamespace(with_swap=with_swap, n=1000, tau_range=tau_range, tau=0.95)
    return SimpleNamespace(random_assessors=mixed, settings=SimpleNamespace(level=0.95))


@pytest.mark.parametrize(("with_swap", "verdict"), [(0, "robust"), (50, "robust"), (51, "fragile")])
def test_a_comparison_is_robust_if_one_choice_of_assessors_in_twenty_turns_it_round(
    with_swap: int, verdict: str
) -> None:
    held: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=False), SimpleNamespace(holds=True)])
    assert robustness(effect(with_swap), held, judged_twice=1) == verdict
    assert robustness(effect(with_swap), held, judged_twice=0) == "unknown"
    assert robustness(Undefined("no"), held, judged_twice=1) == "unknown"
    assert robustness(effect(with_swap), Undefined("no"), judged_twice=1) == "unknown"
    none: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=False)])
    assert robustness(effect(with_swap), none, judged_twice=1) == "untried"


@pytest.mark.parametrize(("found", "same"), [((0.9, 1.0), True), ((0.899, 1.0), False), (Undefined("one run"), False)])
def test_the_order_is_the_same_from_a_tau_of_nine_tenths(found: object, same: bool) -> None:
    assert same_order(effect(tau_range=found)) == same
    assert tau(effect(tau_range=found)).ends == (None if isinstance(found, Undefined) else found)
    assert tau(effect()).value == 0.95


def test_a_run_without_rivals_beats_none() -> None:
    found = best(measured({"good": DOCS}, papers=3))
    assert found is not None
    verdict = found.verdict
    assert (verdict.best, verdict.papers, verdict.pairs, verdict.smallest_p, verdict.detectable) == (
        "good",
        0,
        0,
        0.0,
        None,
    )
    assert (verdict.worse, verdict.behind, verdict.as_good) == ((), (), ())
    assert (found.runs, found.queries, found.too_few, found.certain) == (1, 6, True, True)
    assert found.detectable.value is None


@pytest.mark.parametrize(("papers", "too_few"), [(5, True), (6, False)])
def test_of_several_runs_the_best_is_compared_with_the_others(papers: int, too_few: bool) -> None:
    found = best(measured({"worst": DOCS[::-1], "b best": DOCS, "a best": DOCS}, papers=papers))
    assert found is not None
    # Equal figures are in order of name.
    assert (found.verdict.best, found.runs, found.verdict.papers, found.verdict.pairs) == ("a best", 3, papers, 3)
    assert (found.figure.value, found.too_few) == (pytest.approx(100), too_few)
    assert found.like_chance == (("worst",) if papers > 5 else ()), "of five papers nothing can be shown"
    assert found.above_chance == (papers > 5)


def test_runs_on_one_facet_only_are_compared_on_that() -> None:
    whole, chance = of_all(measured({"good": DOCS, "more-aim": DOCS}))
    assert [(line.run, line.facet) for line in whole] == [("good", TOGETHER)]
    assert (chance.run, chance.facet) == (CHANCE, TOGETHER)
    part, chance = of_all(measured({"more-aim": DOCS}))
    assert [(line.run, line.facet) for line in part] == [("more-aim", "aim")]
    assert chance.facet == "aim"


def test_without_runs_there_is_no_best() -> None:
    assert best(Undefined("no runs")) is None
    assert best(measured({})) is None


def test_a_system_of_several_runs_has_their_spread_in_percent() -> None:
    found = measured({"good": DOCS})
    line, _ = of_all(found)
    assert figure(line[0], "AP").after == ""
    assert figure(replace(line[0], spread={"AP": 0.0123}), "AP").after == "± 1.2"
