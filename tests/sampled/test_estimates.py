"""Estimates and counts from a sample of pairs: today's figures where all is judged, without bias where it is not."""

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel, ScoredDoc, ranked
from annot.base.stats.inference import share_of_counts
from annot.base.stats.values import Interval
from annot.measuring.evaluation.measures import JudgedWhole, MeasureSelection, family_of
from annot.measuring.sampled.estimates import Lists, SampledPools, columns, pools_of, so_far
from annot.measuring.sampled.grades import GradeCounts, by_grade, counts_of, pool_grades, share_of, signs
from measured_runs import estimates, evaluate

ASKED = {
    "csfcube": ("NDCG@5", "NDCG%37", "P@3", "R@7", "AP", "Judged@4"),
    "trec": ("nDCG@5", "nDCG@1", "P@3", "R@7", "AP", "Judged@4"),
}
CLOSE = 1e-12
Grades = dict[str, dict[str, int]]


def study(
    seed: int, queries: int = 6, documents: int = 30
) -> tuple[Grades, dict[str, dict[str, tuple[ScoredDoc, ...]]]]:
    """Grades of pools and three runs: one ranks the pool, one has strangers and ties, one leaves documents out."""
    rng = np.random.default_rng(seed)
    grades: Grades = {}
    runs: dict[str, dict[str, tuple[ScoredDoc, ...]]] = {"whole": {}, "strangers": {}, "short": {}}
    for at in range(queries):
        ids = [f"d{number:02}" for number in range(documents)]
        grades[f"q{at}"] = dict(zip(ids, rng.choice(4, documents, p=(0.7, 0.15, 0.1, 0.05)).tolist(), strict=True))
        others = [*ids, "x1", "x2", "x3"]
        runs["whole"][f"q{at}"] = ranked(map(ScoredDoc, ids, rng.normal(size=documents).tolist()))
        runs["strangers"][f"q{at}"] = ranked(map(ScoredDoc, others, rng.integers(0, 9, len(others)).astype(float)))
        runs["short"][f"q{at}"] = ranked(map(ScoredDoc, others[::3], rng.normal(size=11).tolist()))
    grades["q0"] = dict.fromkeys(grades["q0"], 0)
    runs["short"].pop("q3", None)
    return grades, runs


def census(grades: Grades) -> dict[str, dict[str, float]]:
    return {query_id: dict.fromkeys(of, 1.0) for query_id, of in grades.items()}


@pytest.mark.parametrize(
    ("convention", "ties", "relevant_from"),
    [("csfcube", "order", 1), ("csfcube", "expected", 2), ("trec", "order", 2), ("trec", "expected", 1)],
)
def test_where_all_is_judged_the_figures_are_those_of_the_evaluation(
    convention: str, ties: str, relevant_from: int
) -> None:
    grades, runs = study(5)
    rng = np.random.default_rng(1)
    guessed = {query_id: {doc_id: tuple(rng.dirichlet(np.ones(4))) for doc_id in of} for query_id, of in grades.items()}
    names = columns(convention, ASKED[convention])
    asked = {"convention": convention, "relevant_from": relevant_from, "ties": ties, "measures": ASKED[convention]}
    qrels = [Qrel(query_id, doc_id, grade) for query_id, of in grades.items() for doc_id, grade in of.items()]
    for predicted in (None, guessed):
        found = estimates(runs, pools_of(census(grades), grades, predicted, highest=3), **asked)  # type: ignore[arg-type]
        for tag, run in runs.items():
            expected = evaluate(run, qrels, **asked)  # type: ignore[arg-type]
            own = found[tag]
            assert own.not_submitted == expected.not_submitted
            assert own.without_relevant == expected.without_relevant == ("q0",)
            assert {name: own.mean[name] for name in names} == pytest.approx(
                {name: expected.mean[name] for name in names}, abs=CLOSE
            )
            for mine, theirs in zip(own.queries, expected.queries, strict=True):
                assert mine.values == pytest.approx({name: theirs.values[name] for name in names}, abs=CLOSE)
                for part in ("query_id", "submitted", "relevant", "unjudged", "judged_at_20", "missing"):
                    assert getattr(mine, part) == getattr(theirs, part)
            assert not any(found[tag].floored.values())


@pytest.mark.parametrize("convention", ["csfcube", "trec"])
def test_where_all_is_judged_a_random_order_reaches_what_it_reaches_in_the_evaluation(convention: str) -> None:
    grades, _ = study(6)
    qrels = tuple(Qrel(query_id, doc_id, grade) for query_id, of in grades.items() for doc_id, grade in of.items())
    asked = MeasureSelection(convention, columns(convention, ASKED[convention]), 2)
    cuts = [(query_id, len(of)) for query_id, of in grades.items()]
    expected = JudgedWhole(qrels, ()).chance(grades, cuts, asked)
    found = SampledPools(pools_of(census(grades), grades, None, highest=3)).chance(grades, cuts, asked)
    assert found.keys() == expected.keys() == {*cuts}
    for cut, values in found.items():
        assert values == pytest.approx(expected[cut], abs=CLOSE)


PI = {"a": 0.9, "b": 0.5, "c": 1.0, "d": 0.25, "e": 0.4, "f": 0.3, "g": 0.6, "h": 0.2}
GRADES = {"a": 3, "b": 0, "c": 2, "d": 1, "e": 2, "f": 0, "g": 2, "h": 3}
F = {doc_id: (0.4, 0.3, 0.2, 0.1) if doc_id in "adgh" else (0.9, 0.05, 0.05, 0.0) for doc_id in PI}
IN_TIES = (("d",), ("a", "x", "b"), ("h",), ("c",), ("g", "e"), ("f",))
IN_PLACES = tuple((doc_id,) for doc_id in "dahxcbgef")


def every_draw() -> Iterator[tuple[float, dict[str, int]]]:
    """Each possible sample with its chance."""
    for there in itertools.product((True, False), repeat=len(PI)):
        chance = np.prod([pi if drawn else 1 - pi for pi, drawn in zip(PI.values(), there, strict=True)])
        if chance:
            yield float(chance), {doc_id: GRADES[doc_id] for doc_id, drawn in zip(PI, there, strict=True) if drawn}


def lists_of(judged: Mapping[str, int], f: bool) -> Lists:
    return Lists.of([IN_TIES, IN_PLACES], pool_grades(PI, judged, F if f else None, highest=3, query_id="q"))


@pytest.mark.parametrize("f", [True, False])
def test_over_all_draws_linear_measures_and_average_precision_are_without_bias(f: bool) -> None:
    whole = Lists.of([IN_TIES, IN_PLACES], pool_grades(dict.fromkeys(PI, 1.0), GRADES, None, highest=3, query_id="q"))
    discounts = 1 / np.log2(np.arange(2, 11))

    def sums(lists: Lists) -> np.ndarray:
        hits = lists.grades.relevant(2)
        family = family_of("trec", "nDCG@6")
        assert family is not None
        return np.concatenate(
            [
                lists._linear(lists.grades.gains, lists._weights(family[0], np.array([6, 6]))).value,
                lists._precisions(hits).value,
                [hits.value.sum()],
                lists.grades.at_least.sum(axis=0),
            ]
        )

    mean = sum(chance * sums(lists_of(judged, f)) for chance, judged in every_draw())
    assert mean == pytest.approx(sums(whole), abs=CLOSE)
    # The DCG of the second list, by its definition.
    in_places = [GRADES.get(doc_id, 0) for (doc_id,) in IN_PLACES]
    assert sums(whole)[1] == pytest.approx(np.array(in_places[:6]) @ discounts[:6], abs=CLOSE)
    p_at_3 = family_of("trec", "P@3")
    assert p_at_3 is not None
    estimated = [(chance, lists_of(judged, f).measured(*p_at_3, relevant_from=2)) for chance, judged in every_draw()]
    values = sum(chance * one.values for chance, one in estimated)
    assert values == pytest.approx(whole.measured(*p_at_3, relevant_from=2).values, abs=CLOSE)
    # The design variance is right over all draws, too.
    variance = sum(chance * (one.values - values) ** 2 for chance, one in estimated)
    assert sum(chance * (one.effects**2).sum(axis=1) for chance, one in estimated) == pytest.approx(variance, abs=CLOSE)
    of_difference = sum(chance * float(np.diff(one.values - values)[0]) ** 2 for chance, one in estimated)
    by_effects = sum(chance * float(((one.effects[0] - one.effects[1]) ** 2).sum()) for chance, one in estimated)
    assert by_effects == pytest.approx(of_difference, abs=CLOSE)


def test_without_predictions_it_is_the_estimator_of_horvitz_and_thompson() -> None:
    rng = np.random.default_rng(3)
    grades, runs = study(8, queries=1, documents=40)
    (true,) = grades.values()
    true |= {"d03": 2, "d11": 3, "d17": 2}
    pi = {doc_id: float(np.round(rng.uniform(0.3, 1), 6)) for doc_id in true}
    judged = {doc_id: grade for doc_id, grade in true.items() if rng.random() < pi[doc_id]}
    pools = pools_of({"q0": pi}, {"q0": judged}, None, highest=3)
    run = {"whole": runs["whole"]}
    asked = {"relevant_from": 2, "ties": "order"}
    (found,) = estimates(run, pools, convention="trec", measures=["P@10"], **asked).values()  # type: ignore[arg-type]
    top = [doc.doc_id for doc in runs["whole"]["q0"][:10]]
    plain = sum((judged.get(doc_id, 0) >= 2) / pi[doc_id] for doc_id in top) / 10
    assert found.mean["P@10"] == pytest.approx(plain, abs=CLOSE)
    number = sum((grade >= 2) / pi[doc_id] for doc_id, grade in judged.items())
    assert found.queries[0].relevant == round(number)


def test_the_ideal_is_never_below_what_was_found_nor_below_one_document() -> None:
    pi = {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.5}
    f = dict.fromkeys(pi, (0.0, 1.0))
    # By the estimator one relevant document, less one for each of two that were taken for relevant.
    judged = {"q": {"a": 1, "b": 0, "c": 0}, "none": {"a": 0, "b": 0, "c": 0}}
    pools = pools_of({"q": pi, "none": pi}, judged, {"q": f, "none": f}, highest=1)
    assert pools["q"].at_least.sum() == pytest.approx(1 - 2 + 1)
    run = {query_id: tuple(ScoredDoc(doc_id, -float(at)) for at, doc_id in enumerate("abcd")) for query_id in pools}
    (found,) = estimates({"r": run}, pools, convention="trec", relevant_from=1, ties="order", measures=["R@1"]).values()
    assert found.floored["nDCG"] == found.floored["R@1"] == ("none", "q")
    assert found.floored["P@20"] == ()
    assert found.without_relevant == ("none",)
    # Of one relevant document found at rank 1, the hits are 1; what replicates take off stays within.
    assert all(np.isfinite(one.values["nDCG"]) for one in found.queries)
    # One document was found, so P@20 is at least 1 / 20, and by the estimator it is 0.
    assert [query.query_id for query in found.queries if query.shown("P@20") is None] == ["none", "q"]


def test_a_query_that_a_run_leaves_out_has_no_ideal_that_was_raised() -> None:
    """By CSFCube's convention the ideal is of what a run submits; trec_eval's is of the whole pool."""
    pi = dict.fromkeys("abcd", 0.5)
    pools = pools_of({"q": pi}, {"q": {"a": 0, "b": 0}}, None, highest=1)
    runs: dict[str, dict[str, tuple[ScoredDoc, ...]]] = {
        "none": {}, "strangers": {"q": (ScoredDoc("x", 1.0),)}, "some": {"q": (ScoredDoc("a", 1.0),)}
    }  # fmt: skip
    for convention, measures, raised in (
        ("csfcube", ("NDCG@5", "AP"), (False, False, True)),
        ("trec", ("nDCG@5", "AP"), (True, True, True)),
    ):
        found = estimates(runs, pools, convention=convention, relevant_from=1, ties="order", measures=measures)
        for measure in measures:
            assert tuple(one.floored[measure] == ("q",) for one in found.values()) == raised, (convention, measure)
            assert [one.mean[measure] for one in found.values()] == [0, 0, 0]


def test_the_signs_of_replicates_are_balanced() -> None:
    for pairs in (0, 1, 2, 3, 7, 8, 33):
        found = signs(pairs)
        assert found.shape[1] == pairs
        assert len(found) <= max(1, 2 * pairs)
        assert (found.sum(axis=0) == 0).all()
        assert (found.T @ found == len(found) * np.eye(pairs)).all()


def test_ratios_are_nearly_without_bias_once_corrected() -> None:
    """Over all draws of one pool, NDCG with its ideal estimated: the plain ratio is further off."""
    nothing = pool_grades(dict.fromkeys(PI, 1.0), GRADES, None, highest=3, query_id="q")
    family = family_of("trec", "nDCG@6")
    assert family is not None
    truth = Lists.of([IN_TIES, IN_PLACES], nothing).measured(*family, relevant_from=2).values
    plain, corrected = np.zeros(2), np.zeros(2)
    for chance, judged in every_draw():
        lists = lists_of(judged, True)
        top = lists._linear(lists.grades.gains, lists._weights(family[0], np.array([6, 6])))
        ideal = lists._ideal(family[0], family[1], np.array([6, 6]))
        plain += chance * top.value / np.maximum(ideal.value, np.maximum(1, ideal.least))
        corrected += chance * lists.measured(*family, relevant_from=2).values
    assert (abs(corrected - truth) < abs(plain - truth)).all()


def test_measures_without_an_estimator_are_refused_with_the_reason() -> None:
    assert columns("csfcube") == ("P@20", "R@20", "NDCG%100", "NDCG%20", "AP")
    assert columns("trec", ["nDCG@10", "NDCG@10"]) == ("P@20", "R@20", "nDCG", "AP", "nDCG@10")
    with pytest.raises(InputError, match="cannot be estimated") as refused:
        columns("trec", ["Rprec", "RR@10", "P@5", "P(rel=1)@5"])
    assert [fault.split(":")[0] for fault in refused.value.faults] == ["Rprec", "RR@10", "P(rel=1)@5"]
    assert "number of relevant documents" in refused.value.faults[0]
    with pytest.raises(InputError, match="cannot be estimated"):
        estimates({}, {}, convention="csfcube", relevant_from=1, ties="order", measures=["RP@last"])


def test_a_sample_that_contradicts_itself_is_refused_with_every_fault() -> None:
    with pytest.raises(InputError, match="sample") as refused:
        pools_of(
            {"q": {"a": 1.0, "b": 0.5, "c": 0.0}, "r": {"a": 0.5}},
            {"q": {"b": 7, "x": 1}},
            {"q": {"a": (1, 0), "b": (1, 0), "c": (1, 0)}},
            highest=1,
        )
    assert refused.value.faults == (
        "q x: judged, but not in the pool",
        "q b: found grade 7, expected 0 to 1",
        "q c: found probability 0, expected above 0, at most 1",
        "q a: drawn for certain, but it has no grade",
        "r a: no prediction",
    )


def test_with_some_pairs_unfinished_probabilities_fall_by_the_share_of_the_query() -> None:
    pi = {"q": {"a": 1.0, "b": 0.5, "c": 0.2}, "r": {"a": 0.5}}
    found = so_far(pi, {"q": ("a", "b"), "r": ()}, {"q": {"b": 1}})
    assert found == {"q": {"a": 0.5, "b": 0.25, "c": 0.1}, "r": {"a": 0.5}}
    with pytest.raises(InputError, match="none of its 2 drawn pairs"):
        so_far(pi, {"q": ("a", "b")}, {})


AT_LEAST = np.array([6, 5, 2])
"""Documents with grade 1, 2 and 3, or a higher one."""


def counted(judged: dict[str, int], pi: dict[str, float] = PI) -> GradeCounts:
    return counts_of(pool_grades(pi, judged, None, highest=3, query_id="q"))


def every_count() -> Iterator[tuple[float, GradeCounts]]:
    """The counts of each possible sample, with its chance."""
    return ((chance, counted(judged)) for chance, judged in every_draw())


def ends_of(counts: GradeCounts, least: int) -> tuple[float, float]:
    interval = counts.number(least, level=0.95).interval
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def test_over_all_draws_the_numbers_have_no_bias() -> None:
    mean = sum(chance * counts.estimated for chance, counts in every_count())
    assert mean == pytest.approx(AT_LEAST, abs=1e-12)


def test_of_every_draw_the_printed_number_is_possible_and_in_its_interval() -> None:
    for _, counts in every_count():
        for least in (1, 2, 3):
            estimate = counts.number(least, level=0.95)
            found = counts.found[least - 1]
            low, high = ends_of(counts, least)
            assert isinstance(estimate.value, float)
            assert found <= low <= estimate.value <= high <= found + counts.unknown <= len(PI)
        grades = by_grade([counts])[0]
        assert grades.sum() == pytest.approx(len(PI), abs=1e-9)
        assert grades.min() >= -1e-9


def test_where_all_is_drawn_it_is_the_count_of_whole_judging_and_its_interval() -> None:
    whole = counted(GRADES, dict.fromkeys(PI, 1.0))
    other = counted({doc_id: 1 if doc_id in "ab" else 0 for doc_id in PI}, dict.fromkeys(PI, 1.0))
    assert by_grade([whole, other]).tolist() == [[2, 1, 3, 2], [6, 2, 0, 0]]
    assert whole.number(2, level=0.95).value == 5
    assert ends_of(whole, 2) == (5, 5)
    assert share_of([whole, other], [2, 3], level=0.95, topics=None) == share_of_counts([5, 0], [8, 8], level=0.95)
    drawn_by_chance = counted(GRADES)
    assert ends_of(drawn_by_chance, 2) == (5, 5)


def test_nothing_relevant_drawn_is_not_nothing_relevant() -> None:
    """Three of ten are drawn at random, none is relevant. If four of ten were, that would happen in one draw of six
    (C(6, 3) / C(10, 3) = 20 / 120), and if seven were, in one of 120."""
    pi = {f"d{at}": 0.3 for at in range(10)}
    counts = counted(dict.fromkeys(["d1", "d4", "d7"], 0), pi)
    low, high = ends_of(counts, 1)
    assert counts.number(1, level=0.95).value == 0
    assert low == 0
    assert 4 < high < 7
    none_drawn = counted({}, pi)
    assert ends_of(none_drawn, 1) == (0, 10)


def test_a_part_of_a_pool_is_counted_alone() -> None:
    pool = pool_grades(PI, {"a": 3, "c": 2, "e": 2}, None, highest=3, query_id="q")
    part = counts_of(pool, {"a", "b", "e"})
    assert (part.documents, part.unknown) == (3, 1)
    assert part.estimated == pytest.approx([1 / 0.9 + 1 / 0.4, 1 / 0.9 + 1 / 0.4, 1 / 0.9])
    assert part.possible(part.estimated) == pytest.approx([3, 3, 1 / 0.9])


def test_the_share_of_pools_is_that_of_whole_judging_on_average_where_the_drawn_share_is_twice_it() -> None:
    """Of forty documents of a pool the first ten are drawn at .9, the others at .1; half of the first are relevant."""
    rng = np.random.default_rng(4)
    pi = {f"d{at:02}": 0.9 if at < 10 else 0.1 for at in range(40)}
    shares, plain, held = [], [], []
    for _ in range(100):
        pools, hits, drawn = [], 0, 0
        for _ in range(6):
            judged = {doc_id: int(rank < 5) for rank, (doc_id, p) in enumerate(pi.items()) if rng.random() < p}
            pools.append(counted(judged, pi))
            hits, drawn = hits + sum(judged.values()), drawn + len(judged)
        share = share_of(pools, [1, 2, 3], level=0.95, topics=None)
        assert isinstance(share.interval, Interval)
        shares.append(share.value)
        plain.append(hits / drawn)
        held.append(share.interval.low <= 5 / 40 <= share.interval.high)
    assert np.mean(shares) == pytest.approx(5 / 40, abs=0.005)
    assert np.mean(plain) > 2 * 5 / 40
    assert np.mean(held) >= 0.93
