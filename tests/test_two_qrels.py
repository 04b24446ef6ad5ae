"""Two qrels compared, held against brute force, scikit-learn, krippendorff, and a planted change of sides."""

import krippendorff
import numpy as np
import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.base.stats.inference import tau_ap
from annot.measuring.evaluation.other_figures import TwoQrels, compare_qrels
from evaluated_runs import evaluated_runs
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score


@given(st.permutations(range(6)))
def test_tau_ap_is_the_chance_it_is_defined_by(estimate: list[int]) -> None:
    """All (thing not on top, thing above it) of the estimated ranking, the first chosen evenly, then the second."""
    reference = list(range(6))
    ranks = sorted(range(6), key=lambda at: -estimate[at])
    chances = [np.mean([reference[ranks[above]] > reference[ranks[at]] for above in range(at)]) for at in range(1, 6)]
    assert tau_ap(estimate, reference) == pytest.approx(2 * np.mean(chances) - 1)


PAPERS = [f"p{at:02}" for at in range(12)]
DOCS = [f"d{at}" for at in range(8)]
PAPER_OF = {f"{paper}-m": paper for paper in PAPERS}


def qrels(seed: int) -> list[Qrel]:
    rng = np.random.default_rng(seed)
    return [
        Qrel(f"{paper}-m", doc, int(grade))
        for paper in PAPERS
        for doc, grade in zip(DOCS, rng.integers(0, 4, 8), strict=True)
    ]


def by_grades(of: list[Qrel], noise: float) -> dict[str, list[ScoredDoc]]:
    rng = np.random.default_rng(9)
    scored: dict[str, list[ScoredDoc]] = {}
    for one in of:
        scored.setdefault(one.query_id, []).append(ScoredDoc(one.doc_id, one.relevance + rng.normal(0, noise)))
    return {query: sorted(docs, key=lambda doc: -doc.score) for query, docs in scored.items()}


def compared(a: list[Qrel], b: list[Qrel]) -> TwoQrels:
    """Three runs: one made from the grades of each qrels, and one of noise."""
    runs = {"of a": by_grades(qrels(1), 0.3), "of b": by_grades(qrels(2), 0.3), "noise": by_grades(qrels(3), 9)}
    return compare_qrels(a, b, evaluated_runs(runs, a), evaluated_runs(runs, b), facet="m", level=0.95, topics=PAPER_OF)


def test_qrels_with_opposite_grades_turn_the_runs_made_from_them() -> None:
    found = compared(qrels(1), qrels(2))
    turned = {(one.better_by_a, one.better_by_b): one for one in found.changed}
    assert ("of a", "of b") in turned
    one = turned["of a", "of b"]
    assert one.holds_by_a
    assert one.holds_by_b
    first, second = found.means["of a"], found.means["of b"]
    assert (one.lead_by_a, one.lead_by_b) == pytest.approx((first[0] - second[0], second[1] - first[1]), abs=1e-9)
    assert next(iter(found.means)) == "of a"
    assert found.tau < 1


def test_agreement_is_that_of_scikit_learn_and_krippendorff_query_by_query() -> None:
    a, b = qrels(1), qrels(2)
    found = compared(a, b)
    for topic in found.topics:
        ratings = [[one.relevance for one in of if one.query_id == topic.query_id] for of in (a, b)]
        assert topic.kappa == pytest.approx(cohen_kappa_score(*ratings), abs=1e-9)
        alpha = krippendorff.alpha(ratings, value_domain=[0, 1, 2, 3], level_of_measurement="ordinal")
        assert topic.alpha == pytest.approx(alpha, abs=1e-9)
    assert sum(map(sum, found.confusion)) == found.together.n_pairs == 96
    twos = [(x.relevance, y.relevance) for x, y in zip(a, b, strict=True)]
    assert found.confusion[2][1] == twos.count((2, 1))


def test_facets_of_one_paper_are_one_unit_of_chance() -> None:
    """Every grade told twice, for a second facet of the same papers: figures and intervals stay, and by query they do
    not."""
    rng = np.random.default_rng(4)
    a = qrels(1)
    b = [one._replace(relevance=one.relevance if rng.random() < 0.7 else 0) for one in a]
    a, b = ([*of, *(one._replace(query_id=one.query_id.replace("-m", "-r")) for one in of)] for of in (a, b))
    runs = {"one": by_grades(a, 0.3), "other": by_grades(a, 3)}
    by_a, by_b = evaluated_runs(runs, a), evaluated_runs(runs, b)
    paper_of = {f"{paper}-{facet}": paper for paper in PAPERS for facet in "mr"}
    both = compare_qrels(a, b, by_a, by_b, facet="together", level=0.95, topics=paper_of)
    of_half = [[one for one in of if one.query_id.endswith("-m")] for of in (a, b)]
    half = compare_qrels(*of_half, by_a, by_b, facet="m", level=0.95, topics=PAPER_OF)
    by_query = {query_id: query_id for query_id in paper_of}
    plain = compare_qrels(a, b, by_a, by_b, facet="together", level=0.95, topics=by_query)
    for name, once in half.together.figures.items():
        twice = both.together.figures[name]
        assert twice.value == pytest.approx(once.value, abs=0.01)
        assert twice.interval.high - twice.interval.low == pytest.approx(
            once.interval.high - once.interval.low, rel=0.02
        )
        narrow = plain.together.figures[name].interval
        assert narrow.high - narrow.low < 0.8 * (twice.interval.high - twice.interval.low)
        assert "12 query papers" in twice.interval.method
