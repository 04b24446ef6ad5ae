"""What holds of every measure, and so of every estimate of it: its range, and what some rankings must reach."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from annot.base.records import ScoredDoc
from annot.measuring.evaluation.measures import Evaluation, family_of
from annot.measuring.sampled.estimates import Lists, pools_of
from annot.measuring.sampled.grades import KINDS, PoolGrades, pool_grades
from measured_runs import estimates

HIGHEST = 3
MEASURES = {
    "csfcube": ("NDCG%20", "NDCG%100", "NDCG@5", "P@5", "P@20", "R@5", "R@20", "AP"),
    "trec": ("nDCG", "nDCG@5", "P@5", "P@20", "R@5", "R@20", "AP"),
}
CASES = [(convention, seed) for convention in MEASURES for seed in range(2)]


class Case:
    """Sampled pools with few or many relevant documents, bad predictions, and three runs."""

    def __init__(self, seed: int, *, weight: float, everything: bool = False) -> None:
        rng = np.random.default_rng(seed)
        size = int(rng.integers(5, 21))
        ids = [f"d{number:02}" for number in range(size)]
        self.grades = {
            f"q{at}": dict(
                zip(ids, (rng.integers(1, 4, size) * (rng.random(size) < chance)).astype(int).tolist(), strict=True)
            )
            for at, chance in enumerate((0.0, 0.05, 0.2, 0.6, 1.0))
        }
        self.pi = {
            query_id: {
                doc_id: 1.0 if everything else float(chance) for doc_id, chance in zip(ids, chances, strict=True)
            }
            for query_id, chances in ((query_id, rng.uniform(0.1, 1.0, size)) for query_id in self.grades)
        }
        self.judged = {
            query_id: {doc_id: grade for doc_id, grade in of.items() if rng.random() < self.pi[query_id][doc_id]}
            for query_id, of in self.grades.items()
        }
        guessed = {
            query_id: dict(zip(ids, map(tuple, rng.dirichlet((1, 1, 1, 1), size).tolist()), strict=True))
            for query_id in self.grades
        }
        self.pools: dict[str, PoolGrades] = pools_of(
            self.pi,
            self.judged,
            guessed,
            highest=HIGHEST,
            weights=dict.fromkeys(self.grades, dict.fromkeys(KINDS, weight)),
        )
        orders = {
            "random": {query_id: rng.permutation(ids).tolist() for query_id in self.grades},
            "perfect": {query_id: sorted(of, key=lambda doc: -of[doc]) for query_id, of in self.grades.items()},
            "worst": {query_id: sorted(of, key=lambda doc: of[doc]) for query_id, of in self.grades.items()},
            "short": {query_id: rng.permutation(ids).tolist()[: size // 2] for query_id in self.grades},
        }
        self.runs = {
            tag: {
                query_id: tuple(ScoredDoc(doc_id, -float(rank)) for rank, doc_id in enumerate(order))
                for query_id, order in of.items()
            }
            for tag, of in orders.items()
        }

    def measured(self, convention: str) -> dict[str, Evaluation]:
        found = estimates(
            self.runs, self.pools, convention=convention, relevant_from=1, ties="order", measures=MEASURES[convention]
        )
        return dict(found)

    def found_relevant(self, query_id: str) -> bool:
        return any(self.judged[query_id].values())


def cases(seed: int) -> Iterator[Case]:
    for weight in (0.0, 0.4, 1.0):
        yield Case(seed, weight=weight)


@pytest.mark.parametrize(("convention", "seed"), CASES)
def test_every_figure_is_in_the_range_of_its_measure(convention: str, seed: int) -> None:
    for case in cases(seed):
        for evaluation in case.measured(convention).values():
            assert all(0 <= mean <= 1 for mean in evaluation.mean.values())
            for query in evaluation.queries:
                for name in query.values:
                    shown = query.shown(name)
                    assert shown is None or -1e-9 <= shown <= 1 + 1e-9, (query.query_id, name)
                    assert shown is not None or name.startswith("P@"), "ratios are guarded, and always shown"


@pytest.mark.parametrize(("convention", "seed"), CASES)
def test_a_run_that_ranks_the_whole_pool_finds_all_of_it(convention: str, seed: int) -> None:
    for case in cases(seed):
        evaluations = case.measured(convention)
        for tag in ("random", "perfect", "worst"):
            for query in evaluations[tag].queries:
                if case.found_relevant(query.query_id):
                    assert query.values["R@20"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("convention", "seed"), CASES)
def test_precision_that_is_shown_is_within_what_the_known_grades_leave_possible(convention: str, seed: int) -> None:
    for case in cases(seed):
        for tag, evaluation in case.measured(convention).items():
            for query in evaluation.queries:
                top = [doc.doc_id for doc in case.runs[tag][query.query_id][:5]]
                judged = case.judged[query.query_id]
                least = sum(judged.get(doc_id, 0) > 0 for doc_id in top) / 5
                most = least + sum(doc_id not in judged for doc_id in top) / 5
                shown = query.shown("P@5")
                assert shown is None or least - 1e-9 <= shown <= most + 1e-9


@pytest.mark.parametrize(("convention", "seed"), CASES)
def test_without_predictions_a_query_in_which_nothing_relevant_was_drawn_has_nothing(
    convention: str, seed: int
) -> None:
    case = Case(seed, weight=0.0)
    case.pools = pools_of(case.pi, case.judged, None, highest=HIGHEST)
    for evaluation in case.measured(convention).values():
        for query in evaluation.queries:
            if not case.found_relevant(query.query_id):
                assert not any(query.values.values())
                assert query.relevant == 0


def test_the_number_of_relevant_documents_is_one_that_the_pool_can_have() -> None:
    for seed in range(3):
        for case in cases(seed):
            for query in case.measured("trec")["random"].queries:
                judged = case.judged[query.query_id]
                fewest = sum(grade > 0 for grade in judged.values())
                most = fewest + len(case.grades[query.query_id]) - len(judged)
                assert fewest <= query.relevant <= most


def test_a_query_in_which_nothing_relevant_was_drawn_is_taken_to_have_one_relevant_document() -> None:
    """Three relevant documents are predicted. One document of four, at any rank with the same chance, gains on average
    a quarter of 1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)."""
    pi = dict.fromkeys("abcde", 0.5)
    family = family_of("trec", "nDCG")
    assert family is not None
    for chance, documents in ((0.75, 1.0), (0.1, 0.4)):
        predicted = dict.fromkeys(pi, (1 - chance, chance))
        pool = pool_grades(pi, {"e": 0}, predicted, highest=1, query_id="q")
        lists = Lists.of([[(doc_id,) for doc_id in "abcde"]], pool)
        (value,) = lists.measured(*family, relevant_from=1).values
        gain = (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)) / 4
        assert value == pytest.approx(documents * gain, abs=1e-9)
