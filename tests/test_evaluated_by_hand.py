"""How queries are averaged, what is beside chance, and what a reader is told, on a handful of queries."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import CHANCE, Qrel, ScoredDoc
from annot.base.stats.inference import Reach, interval_of_mean
from annot.base.stats.values import Interval, Undefined
from annot.measuring.evaluation.evaluated import (
    DEV,
    PLAIN,
    TEST,
    TEST_FOLD,
    TOGETHER,
    EvaluatedRuns,
    RunMeasures,
    _Figures,
    average_of,
    in_test_folds,
    mean_of_all,
    version_scores,
)
from annot.measuring.evaluation.measures import MeasureSelection
from annot.measuring.evaluation.other_figures import TIED, ChangedSides, _changed, compare_qrels
from evaluated_runs import evaluated_runs
from scipy.stats import t

# Relevance of the first two documents of each query in two versions of a corpus.
THEN = {"q1": (1, 1), "q2": (1, 0), "q3": (0, 0), "q4": (1, 0), "gone": (1, 1)}
NOW = {"q1": (1, 0), "q2": (0, 1), "q3": (1, 0), "q4": (0, 0), "new": (1, 1)}
FOLDS = {"fold1_test": ("q1", "q2"), "fold2_test": ("q3",), "fold1_dev": ("q3",), "fold2_dev": ("q1", "q2")}
QUERIES = {"q1", "q2", "q3"}


@pytest.mark.parametrize(
    ("members", "splits", "average", "folds", "kind"),
    [
        (QUERIES, FOLDS, "test", (("q1", "q2"), ("q3",)), TEST),
        ({"q1", "q2"}, {"fold1_test": ("q2", "q1")}, "test", (("q2", "q1"),), TEST_FOLD),
        ({"q1"}, FOLDS, "test", (("q1",),), PLAIN),
        (QUERIES, {}, "test", (("q1", "q2", "q3"),), PLAIN),
        (QUERIES, FOLDS, "plain", (("q1", "q2", "q3"),), PLAIN),
        ({"q3"}, FOLDS, "dev", (("q3",),), DEV),
    ],
)
def test_queries_are_averaged_by_the_test_folds_if_these_hold_just_them(
    members: set[str], splits: dict[str, tuple[str, ...]], average: str, folds: tuple[tuple[str, ...], ...], kind: str
) -> None:
    found = average_of(members, "m", splits, None, average)
    assert (found.folds, found.kind, found.facet, found.unit) == (folds, kind, "m", "query")


def test_queries_are_tested_if_all_others_are_for_development() -> None:
    one = {"fold1_test": ("q1",), "fold1_dev": ("q2", "q3")}
    assert in_test_folds(QUERIES, one) == {"q1"}
    assert in_test_folds({*QUERIES, "q4"}, one) == {*QUERIES, "q4"}
    assert in_test_folds(QUERIES, FOLDS) == QUERIES
    assert in_test_folds(QUERIES, {"other": ("q1", "q2", "q3")}) == QUERIES


def test_the_mean_of_all_is_that_of_the_folds_means_or_plain() -> None:
    """(0.3 + 0.5) / 2 and 0.9 give 0.65; the plain mean is 1.7 / 3; q3 alone is for development."""
    values = {"q1": 0.3, "q2": 0.5, "q3": 0.9}
    assert mean_of_all(values, {"all": FOLDS, "m": {}}) == pytest.approx(0.65)
    assert mean_of_all(values, {"m": FOLDS}) == pytest.approx(1.7 / 3)
    assert mean_of_all(values, {"all": {"fold1_test": ("q1", "q2"), "fold1_dev": ("q3",)}}) == pytest.approx(0.4)
    assert mean_of_all({"q1": 0.3, "q3": 0.9}, {"all": FOLDS}) == pytest.approx(0.6)


def test_sums_are_by_paper_and_fold() -> None:
    found = average_of(QUERIES, "m", FOLDS, {"q1": "p", "q2": "r", "q3": "p"}, "test")
    assert found.unit == "query paper"
    assert found.sizes().tolist() == [[1, 1], [1, 0]]
    assert found.sums({"q1": 0.5, "q2": 0.25, "q3": 2.0}).tolist() == [[0.5, 2.0], [0.25, 0.0]]


@pytest.mark.parametrize(
    ("ahead", "above", "interval"),
    [
        # Six papers that all point one way: p is 2 of 64.
        ([0.25] * 6, True, False),
        ([0.25] * 5, False, False),
        ([0.0] * 6, False, False),
        ([-0.25] * 6, False, False),
        ([0.25, 0.3, 0.35, 0.3, 0.1, 0.2], True, True),
        ([0.25, 0.3, 0.35, 0.3, 0.1], False, True),
        ([0.25, -0.3, 0.35, 0.3, 0.1, 0.2], False, True),
        # The lower end is a loss.
        ([-0.25, -0.3, -0.35, -0.3], False, True),
    ],
)
def test_a_run_is_above_chance_by_a_test_that_six_papers_can_pass(
    ahead: list[float], above: bool, interval: bool
) -> None:
    names = [f"q{at}" for at in range(len(ahead))]
    average = average_of(set(names), "m", {}, None, "plain")
    figures = object.__new__(_Figures)
    figures.selection, figures.level, figures.seed = MeasureSelection("trec", ("AP",), 1), 0.95, 1
    figures.tags_of, figures.best = {"run": ["run"]}, None
    figures.values = {"run": {name: {"AP": value} for name, value in zip(names, ahead, strict=True)}}
    figures.longest = {name: {"AP": 0.0} for name in names}
    figures.chance = {"run": figures.longest}
    found, _ = figures.lines(average, "AP")
    assert found.above_chance is above
    assert isinstance(found.over_chance, Interval) is interval
    if isinstance(found.over_chance, Interval) and max(ahead) < 0:
        assert found.over_chance.high < 0


def docs(*names: str) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


QRELS = [
    Qrel(f"p{at}-{facet}", doc, grade) for at in range(3) for facet in "mr" for doc, grade in (("d1", 2), ("d2", 0))
]
RUN = {one.query_id: docs("d1", "d2") for one in QRELS}


def test_runs_are_compared_on_the_first_measure_that_is_asked_for() -> None:
    for measures in (("P@1",), ("P@1", "AP")):
        found = evaluated_runs(
            {"run": RUN, "other": {name: docs("d2", "d1") for name in RUN}}, QRELS, measures=measures
        )
        assert found.measure == "P@1"
        assert {one.difference for one in found.comparisons} == {1.0}
    assert evaluated_runs({"run": RUN}, QRELS).measure == "nDCG"


def test_a_run_of_none_of_the_queries_is_refused_with_three_of_each() -> None:
    with pytest.raises(InputError) as caught:
        evaluated_runs({"run": {f"x{at}": docs("d1") for at in range(5)}}, QRELS)
    assert caught.value.faults == ("found x0, x1, x2", "expected p0-m, p0-r, p1-m")


def test_queries_outside_the_test_folds_are_left_out_and_told_once() -> None:
    splits = {"m": {"fold1_test": ("p0-m", "p1-m"), "fold1_dev": ("p2-m",)}}
    found = evaluated_runs({"run": RUN}, QRELS, splits=splits, conventions=("trec", "csfcube"))
    said = "m: leaves out 1 query outside the test folds; `--average plain` takes all"
    assert found.notes.count(said) == 1
    assert {line.queries for line in found.lines if line.facet == "m"} == {2}
    assert {line.average for line in found.lines if line.facet == "m"} == {TEST_FOLD}
    plain = evaluated_runs({"run": RUN}, QRELS, splits=splits, average="plain")
    assert plain.notes == ()
    assert {line.queries for line in plain.lines if line.facet == "m"} == {3}


def test_a_development_fold_has_to_be_on_record() -> None:
    with pytest.raises(InputError, match="m: no query is in a development fold on record") as caught:
        evaluated_runs({"run": RUN}, QRELS, average="dev")
    assert "annot query folds" in str(caught.value.hint)


def test_a_list_of_names_is_told_once_for_all_runs_that_share_it() -> None:
    names = [f"p{at}-m" for at in range(8)]
    qrels = [Qrel(name, "d1", 3 * (at < 2)) for at, name in enumerate(names)]
    whole = {name: docs("d1") for name in names}
    less = {name: docs("d1") for name in names[1:]}
    runs = {"a": whole, "b": less, "c": less, "d": whole}
    unable = {"b": {"p1-m"}, "d": {"p1-m"}}
    assert evaluated_runs(runs, qrels, left_out=unable).notes == (
        "b: leaves out 1 judged document",
        "c: leaves out 1 judged document",
        "b, c: rank no documents for p0-m, so their scores there are 0",
        f"no document is relevant for 6 queries: {', '.join(names[2:])}",
        "b, d: not compared where p1-m count, which their systems cannot rank for",
    )


@pytest.mark.parametrize(
    ("highest", "relevant_from", "told"),
    [
        (1, 2, "set `relevant_from = 1`"),
        (2, 3, "set `relevant_from = 2`"),
        (0, 2, "the highest grade is 0"),
        (2, 2, ""),
    ],
)
def test_grades_of_which_none_counts_as_relevant_are_told_once_and_not_query_by_query(
    highest: int, relevant_from: int, told: str
) -> None:
    qrels = [Qrel(f"p{at}-m", doc, grade) for at in range(7) for doc, grade in (("d1", highest), ("d2", 0))]
    runs = {tag: {f"p{at}-m": docs("d1", "d2") for at in range(7)} for tag in "ab"}
    found = evaluated_runs(runs, qrels, relevant_from=relevant_from)
    assert told in found.warning
    assert bool(found.warning) == bool(told)
    assert found.notes == ()


def test_a_run_whose_system_cannot_rank_for_a_query_is_measured_on_the_other_facets_alone() -> None:
    some = {name: ranking for name, ranking in RUN.items() if name != "p1-m"}
    found = evaluated_runs({"run": RUN, "some": some}, QRELS, left_out={"some": {"p1-m"}})
    measured = {(line.facet, line.run): line.queries for line in found.lines if line.run != CHANCE}
    assert measured == {("m", "run"): 3, ("r", "run"): 3, ("r", "some"): 3, ("together", "run"): 6}
    assert found.notes == ("some: not compared where p1-m count, which its system cannot rank for",)
    assert {one.facet for one in found.verdicts} == {"r"}
    # Without that on record, it scores 0 there.
    plain = evaluated_runs({"run": RUN, "some": some}, QRELS)
    assert "some: ranks no documents for p1-m, so its score there is 0" in plain.notes


# Two qrels


def compared(run_a: str, run_b: str, difference: float, facet: str = "m", holds: bool = True) -> Any:
    return SimpleNamespace(run_a=run_a, run_b=run_b, difference=difference, facet=facet, holds=holds)


def test_two_runs_change_sides_if_each_is_ahead_by_one_of_the_qrels() -> None:
    by_a = [compared("x", "y", 0.2), compared("x", "z", 0.1), compared("y", "z", 0.0), compared("x", "y", 0.3, "r")]
    by_b = [compared("y", "x", 0.1, holds=False), compared("x", "z", 0.1), compared("z", "y", 0.1)]
    assert list(_changed(by_a, by_b, "m")) == [ChangedSides("x", "y", 0.2, 0.1, True, False)]
    tied = [compared("y", "x", 0.0)]
    assert list(_changed(by_a, tied, "m")) == []


def both(runs: dict[str, Any], a: list[Qrel], b: list[Qrel]) -> Any:
    by_a, by_b = evaluated_runs(runs, a), evaluated_runs(runs, b)
    assert isinstance(by_a, EvaluatedRuns)
    return compare_qrels(a, b, by_a, by_b, facet="m", level=0.95, topics={f"p{at}-m": f"p{at}" for at in range(3)})


def test_an_order_of_runs_needs_two_that_differ() -> None:
    qrels = [one for one in QRELS if one.query_id.endswith("m")]
    one = both({"run": RUN}, qrels, qrels)
    assert (one.tau, one.tau_ap) == (TIED, TIED)
    reverse = {name: docs("d2", "d1") for name in RUN}
    turned = [one._replace(relevance=2 - one.relevance) for one in qrels]
    found = both({"run": RUN, "other": reverse}, qrels, turned)
    assert (found.tau, found.tau_ap) == (-1.0, -1.0)
    # No document has grade 1, which is on the scale.
    assert found.grades == (0, 1, 2)
    assert found.confusion == ((0, 0, 3), (0, 0, 0), (3, 0, 0))
    assert list(found.means) == ["run", "other"]
    assert found.like_chance
    same = both({"run": RUN, "twin": RUN}, qrels, qrels)
    assert (same.tau, same.tau_ap) == (TIED, TIED)
    assert both({"run": RUN, "other": reverse}, qrels, qrels).tau == 1.0


def test_a_query_that_one_of_them_lacks_has_no_pairs() -> None:
    qrels = [one for one in QRELS if one.query_id.endswith("m")]
    found = compare_qrels(
        qrels,
        [one for one in qrels if one.query_id != "p2-m" and one != qrels[0]],
        *[evaluated_runs({"run": RUN}, qrels)] * 2,
        **{"facet": "m", "level": 0.95, "topics": {f"p{at}-m": f"p{at}" for at in range(3)}},
    )
    assert [(one.query_id, one.pairs, one.only_a, one.only_b) for one in found.topics] == [
        ("p0-m", 1, 1, 0),
        ("p1-m", 2, 0, 0),
        ("p2-m", 0, 2, 0),
    ]
    assert isinstance(found.topics[2].kappa, Undefined)


def test_qrels_of_one_grade_have_a_scale_of_two() -> None:
    qrels = [one._replace(relevance=0) for one in QRELS if one.query_id.endswith("m")]
    found = both({"run": RUN}, qrels, qrels)
    assert (found.grades, found.confusion) == ((0, 1), ((6, 0), (0, 0)))
    assert "every judgement is grade 0" in found.topics[0].kappa.reason


def on_version(relevance: dict[str, tuple[int, int]]) -> EvaluatedRuns:
    """A run of two documents for each query, on P@2."""
    qrels = [
        Qrel(f"{name}-m", f"d{at}", grade) for name, grades in relevance.items() for at, grade in enumerate(grades)
    ]
    run = {f"{name}-m": (ScoredDoc("d0", 2.0), ScoredDoc("d1", 1.0)) for name in relevance}
    return evaluated_runs({"run": run}, qrels, measures=("P@2",), relevant_from=1)


def left_out(contrast: Callable[[set[str]], float], topics: set[str]) -> tuple[float, float]:
    """The ends of the jackknife's interval over these topics, by its definition."""
    z = np.arctanh([contrast(topics - {topic}) for topic in topics])
    half = t.ppf(0.975, len(z) - 1) * np.sqrt((len(z) - 1) * np.var(z))
    middle = np.arctanh(contrast(topics))
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def mean(relevance: dict[str, tuple[int, int]], topics: set[str]) -> float:
    return float(np.mean([sum(grades) / 2 for name, grades in relevance.items() if name in topics]))


def test_a_difference_between_versions_has_a_part_by_documents_and_one_by_queries() -> None:
    """By hand: 3.0 / 5 then, 2.5 / 5 now; on the four queries of both 2.0 / 4 and 1.5 / 4."""
    then, now = version_scores({"2026": on_version(THEN), "2027": on_version(NOW)}, {})
    assert (then.value, then.since, then.difference) == (pytest.approx(0.6), None, None)
    assert (now.value, now.since, now.queries) == (pytest.approx(0.5), "2026", 5)
    parts = [part for part in (now.difference, now.by_documents, now.by_queries) if part]
    assert [part.value for part in parts] == pytest.approx([-0.1, -0.125, 0.025])
    both = THEN.keys() & NOW.keys()
    contrasts = (
        lambda topics: mean(NOW, topics) - mean(THEN, topics),
        lambda topics: mean(NOW, topics & both) - mean(THEN, topics & both),
        lambda topics: mean(NOW, topics) - mean(NOW, topics & both) - mean(THEN, topics) + mean(THEN, topics & both),
    )
    every = THEN.keys() | NOW.keys()
    for part, contrast, topics in zip(parts, contrasts, (every, both, every), strict=True):
        assert isinstance(part.interval, Interval)
        assert (part.interval.low, part.interval.high) == pytest.approx(left_out(contrast, topics))


def test_with_the_same_queries_documents_make_the_whole_difference_and_without_common_ones_queries() -> None:
    names = {"same": dict(zip(THEN, NOW.values(), strict=True)), "other": {f"x{name}": NOW["q1"] for name in NOW}}
    for kind, relevance in names.items():
        _, now = version_scores({"2026": on_version(THEN), "2027": on_version(relevance)}, {})
        whole, part = (now.by_documents, now.by_queries)[:: 1 if kind == "same" else -1]
        assert whole == now.difference
        assert part
        assert (part.value, isinstance(part.interval, Undefined)) == (0.0, True)


def test_a_list_of_which_a_fifth_is_no_document_is_named_because_its_measure_is_0() -> None:
    """CSFCube cuts at floor(20% of n): n = 4 gives 0 documents, and n = 5 gives 1."""
    grades = [Qrel(f"{query}-m", f"d{at}", int(at == 0)) for query, n in (("p1", 4), ("p2", 5)) for at in range(n)]
    perfect = {
        query_id: [ScoredDoc(one.doc_id, -float(at)) for at, one in enumerate(grades) if one.query_id == query_id]
        for query_id in ("p1-m", "p2-m")
    }
    found = evaluated_runs({"perfect": perfect}, grades, conventions=("csfcube",), relevant_from=1)
    (line,) = (one for one in found.lines if one.run == "perfect" and one.facet == "m")
    assert line.values["NDCG%20"] == 0.5
    assert [note for note in found.notes if "NDCG%20" in note] == [
        "NDCG%20 is 0 for p1-m, where 20% of the list is less than one document"
    ]


# Papers and chance

FIRST_RELEVANT = {
    "p1-background": 1,
    "p1-method": 2,
    "p2-background": 4,
    "p2-method": 5,
    "p3-method": 1,
    "p4-method": 2,
}
"""The rank of each query's first relevant document."""
RELEVANT = {"p1-background": 1, "p1-method": 3, "p2-background": 2, "p2-method": 4, "p3-method": 4, "p4-method": 2}
"""How many of each query's eight documents are relevant; the others follow the first."""


def evaluated(*query_ids: str) -> EvaluatedRuns:
    """The queries, each with a list of eight documents in order of their numbers."""
    documents = [f"d{rank}" for rank in range(1, 9)]
    qrels = [
        Qrel(query_id, doc_id, 3 * (first <= rank < first + RELEVANT[query_id]))
        for query_id in query_ids
        for first in [FIRST_RELEVANT[query_id]]
        for rank, doc_id in enumerate(documents, start=1)
    ]
    run = {name: tuple(ScoredDoc(doc_id, -float(at)) for at, doc_id in enumerate(documents)) for name in query_ids}
    return evaluated_runs({"in order": run}, qrels)


def line_of(found: EvaluatedRuns, facet: str, run: str) -> RunMeasures:
    (of_facet,) = [one for one in found.lines if (one.facet, one.run) == (facet, run)]
    return of_facet


@pytest.mark.parametrize("run", ["in order", CHANCE])
def test_intervals_are_over_whole_papers_with_all_their_facets(run: str) -> None:
    """Six queries of four papers: the papers are the units, and one with more queries weighs more."""
    found = evaluated(*RELEVANT)
    # P@20 of eight documents is the same in every order: the relevant ones out of 20.
    together = line_of(found, TOGETHER, run)
    assert together.values["P@20"] == pytest.approx((1 + 3 + 2 + 4 + 4 + 2) / 6 / 20, abs=1e-9)
    sums, sizes = np.array([[1 + 3], [2 + 4], [4], [2]]) / 20, np.array([[2.0], [2.0], [1.0], [1.0]])
    # The best order has all relevant documents among the first 20, of which no query has more than 4.
    together_reach = Reach(4 / 20, (1 + 1 / 3 + 1 / 2 + 1 / 4 + 1 / 4 + 1 / 2) / 6)
    by_paper = interval_of_mean(sums, sizes, together_reach, level=0.95, unit="query paper")
    of_method = interval_of_mean(
        np.array([[3], [4], [4], [2]]) / 20,
        np.ones((4, 1)),
        Reach(4 / 20, (1 / 3 + 1 / 4 + 1 / 4 + 1 / 2) / 4),
        level=0.95,
        unit="query paper",
    )
    for facet, expected in ((TOGETHER, by_paper), ("method", of_method)):
        interval = line_of(found, facet, run).intervals["P@20"]
        assert isinstance(interval, Interval)
        assert isinstance(expected, Interval)
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_chance_line_of_a_facet_is_that_of_its_own_queries() -> None:
    """Chance is what a random order reaches: of 8 documents with R relevant, an R-precision of R / 8."""
    found = evaluated("p1-background", "p1-method", "p2-background", "p2-method", "p3-method")
    by_facet = {facet: line_of(found, facet, CHANCE) for facet in ("background", "method", TOGETHER)}
    expected = {"background": (1 + 2) / 2, "method": (3 + 4 + 4) / 3, TOGETHER: (1 + 3 + 2 + 4 + 4) / 5}
    assert {facet: one.values["P@20"] for facet, one in by_facet.items()} == pytest.approx(
        {facet: mean / 20 for facet, mean in expected.items()}, abs=1e-9
    )
    assert {facet: one.values["Rprec"] for facet, one in by_facet.items()} == pytest.approx(
        {facet: mean / 8 for facet, mean in expected.items()}, abs=1e-9
    )
    assert {facet: one.queries for facet, one in by_facet.items()} == {"background": 2, "method": 3, TOGETHER: 5}


BAD = {one.query_id: docs("d2", "d1") for one in QRELS}


@pytest.mark.parametrize(("facets", "lines"), [("m", {"m"}), ("mr", {"m", "r", TOGETHER})])
def test_facets_are_put_together_where_there_are_two(facets: str, lines: set[str]) -> None:
    qrels = [one for one in QRELS if one.query_id[-1] in facets]
    found = evaluated_runs({"run": RUN}, qrels)
    assert {line.facet for line in found.lines} == lines


def test_a_system_of_two_runs_has_their_mean_and_their_spread() -> None:
    found = evaluated_runs({"one": RUN, "two": BAD}, QRELS, systems={"one": "system", "two": "system"})
    (line,) = [line for line in found.lines if line.facet == "m" and line.run != CHANCE]
    assert (line.run, line.runs) == ("system", 2)
    # The relevant document first or second.
    assert line.values["AP"] == pytest.approx(0.75)
    assert line.spread["AP"] == pytest.approx(np.std([1.0, 0.5], ddof=1))
    alone = evaluated_runs({"one": RUN}, QRELS).lines
    assert {line.runs for line in alone} == {1}
    assert not any(line.spread for line in alone)
