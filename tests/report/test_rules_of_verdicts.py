"""The rules of the first screen at their thresholds, and figures of single runs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import CHANCE, Qrel, ScoredDoc
from annot.base.stats.values import Interval, Undefined
from annot.measuring.evaluation.evaluated import TOGETHER, EvaluatedRuns
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.tables import sentence
from annot.publishing.report.verdict import best, figure, lines_of_all_queries, reliability, robustness
from evaluated_runs import evaluated_runs

DOCS = [f"d{at}" for at in range(6)]


def measured(runs: dict[str, list[str]], facets: tuple[str, ...] = ("aim", "way"), papers: int = 3) -> EvaluatedRuns:
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


RUNS = [f"r{at}" for at in range(10)]


def by_first(order: list[str], *, tau: Any = 0.95, swaps: int = 0, queries: int = 3, name: str = "A") -> Any:
    """The runs in this order by the first assessor of each pair, against the final grades."""
    means = {run: 0.9 - at / 100 for at, run in enumerate(order)}
    return SimpleNamespace(
        first=name, second="final", n_queries=queries, means={name: means}, tau=tau, swaps=("swap",) * swaps
    )


def effect(
    with_swap: int = 0, tau_range: Any = (0.9, 1.0), places: tuple[int, int] = (1, 1), comparisons: Any = ()
) -> Any:
    mixed = SimpleNamespace(with_swap=with_swap, n=1000, tau_range=tau_range, tau=0.95, best_places=places)
    final = SimpleNamespace(means=dict.fromkeys(RUNS, 0.5))
    return SimpleNamespace(
        random_assessors=mixed,
        settings=SimpleNamespace(level=0.95),
        rankings=[final],
        comparisons=comparisons,
        queries=("q1", "q2", "q3"),
    )


HELD: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=True)])
NINTH = [*RUNS[1:9], "r0", "r9"]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (effect(), "robust"),
        (effect(places=(1, 2)), "robust"),
        (effect(comparisons=[by_first(["r1", "r0", *RUNS[2:]])]), "robust"),
        # Voorhees's limit of .9, for random choices and for the two assessors of each pair.
        (effect(tau_range=(0.899, 1.0)), "order"),
        (effect(tau_range=(0.64, 0.95)), "order"),
        (effect(comparisons=[by_first(RUNS, tau=0.9)]), "robust"),
        (effect(comparisons=[by_first(RUNS, tau=0.89)]), "order"),
        (effect(comparisons=[by_first(RUNS, tau=Undefined("all runs tie"))]), "robust"),
        # The best run by the final grades is ninth by those of the first assessor, or of many a random choice.
        (effect(comparisons=[by_first(NINTH)]), "order"),
        (effect(places=(1, 3)), "order"),
        (effect(places=(1, 9)), "order"),
        # A significant difference is turned round, by chance in who judged or by the people who did.
        (effect(50), "robust"),
        (effect(51), "fragile"),
        (effect(comparisons=[by_first(RUNS, swaps=1)]), "fragile"),
        # An assessor of some of the queries shows other queries as well, and is not compared.
        (effect(comparisons=[by_first(NINTH, tau=0.1, swaps=3, queries=2)]), "robust"),
        (effect(comparisons=[by_first(NINTH, tau=0.1, swaps=3, name="a7")]), "robust"),
    ],
)
def test_it_hardly_matters_who_judges_if_significant_differences_the_order_and_the_best_run_stay(
    found: Any, verdict: str
) -> None:
    assert robustness(found, HELD, judged_twice=1) == verdict


def test_without_a_pair_judged_twice_or_a_difference_that_holds_nothing_is_said_of_assessors() -> None:
    with_swap = 0
    held: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=False), SimpleNamespace(holds=True)])
    assert robustness(effect(with_swap), held, judged_twice=0) == "unknown"
    assert robustness(Undefined("no"), held, judged_twice=1) == "unknown"
    assert robustness(effect(with_swap), Undefined("no"), judged_twice=1) == "unknown"
    none: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=False)])
    assert robustness(effect(with_swap), none, judged_twice=1) == "untried"


@pytest.mark.parametrize(("papers", "too_few"), [(5, True), (6, False)])
def test_of_several_runs_the_best_is_compared_with_the_others(papers: int, too_few: bool) -> None:
    found = best(measured({"worst": DOCS[::-1], "b best": DOCS, "a best": DOCS}, papers=papers))
    assert found is not None
    # Equal figures are in order of name.
    assert (found.verdict.best, found.runs, found.verdict.papers, found.verdict.pairs) == ("a best", 3, papers, 3)
    assert (found.figure.value, found.too_few) == (pytest.approx(100), too_few)
    assert found.like_chance == (("worst",) if papers > 5 else ()), "of five papers nothing can be shown"
    assert found.above_chance == (papers > 5)
    # None of two runs with one score is ahead of the other, and further queries do not separate copies.
    assert (found.tied, found.alike, "b best" in found.to_separate) == (("b best",), ("b best",), False)
    assert sentence("runs.lead", best=found).startswith("a best and b best are ahead with the same score")


def test_runs_on_one_facet_only_are_compared_on_that() -> None:
    whole, chance = lines_of_all_queries(measured({"good": DOCS, "more-aim": DOCS}))
    assert [(line.run, line.facet) for line in whole] == [("good", TOGETHER)]
    assert (chance.run, chance.facet) == (CHANCE, TOGETHER)
    part, chance = lines_of_all_queries(measured({"more-aim": DOCS}))
    assert [(line.run, line.facet) for line in part] == [("more-aim", "aim")]
    assert chance.facet == "aim"


def test_without_runs_there_is_no_best() -> None:
    assert best(Undefined("no runs")) is None
    assert best(measured({})) is None


def test_a_system_of_several_runs_has_their_spread_in_percent() -> None:
    found = measured({"good": DOCS})
    line, _ = lines_of_all_queries(found)
    assert figure(line[0], "AP").after == ""
    assert figure(replace(line[0], spread={"AP": 0.0123}), "AP").after == "± 1.2"
