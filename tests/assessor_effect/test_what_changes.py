"""What is said of who judges, on planted runs and on assessors who are equally good: only noise between them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Judgement, Qrel, ScoredDoc
from annot.publishing.report.verdict import OrderChanges, robustness
from graded_runs import SETTINGS, assessor_effect_on_runs, study
from scipy.stats import kendalltau

HELD: Any = SimpleNamespace(comparisons=[SimpleNamespace(holds=True)])


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_are_far_apart_stay_in_their_order_whoever_of_equals_judges(seed: int) -> None:
    runs, judgements, qrels = study(n_queries=40, n_docs=30, noise=(0.1, 1.0, 4.0), seed=seed)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert robustness(found, HELD, judged_twice=1) == "robust"
    assert found.random_assessors.best_places == (1, 1)
    assert OrderChanges(found).best == "r0"


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_are_alike_change_places_among_equals_and_it_is_not_said_that_they_do_not(seed: int) -> None:
    """Nine runs of one quality, and one that is clearly worse: that difference is significant and stays."""
    runs, judgements, qrels = study(n_queries=30, n_docs=30, noise=(*[1.0] * 9, 9.0), seed=seed)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert robustness(found, HELD, judged_twice=1) != "robust"
    changes = OrderChanges(found)
    # By another implementation, on the printed means.
    by_name = {one.name: one.means for one in found.rankings}
    tags = sorted(runs)
    for name, value in changes.taus:
        order = [[by_name[grades][tag] for tag in tags] for grades in (name, "final")]
        assert value == pytest.approx(kendalltau(*order).statistic)
        place = list(by_name[name].values()).index(by_name[name][changes.best]) + 1
        assert dict(changes.places).get(name, 1) == place
    low, high = found.random_assessors.best_places
    assert 1 <= low <= high <= changes.lowest_place <= 9
    assert high > 1


def test_the_place_of_the_best_run_is_that_of_the_middle_share_of_choices() -> None:
    """Two runs and one query of two documents: the first is relevant to a1, the second to a2, and finally the first.

    r0 ranks the first document first. A choice takes all grades from a1 or all from a2: with (3, 0) r0 is first, with
    (0, 3) second.
    """
    docs = ("d0", "d1")
    orders = {"r0": docs, "r1": docs[::-1]}
    runs = {tag: {"q": tuple(ScoredDoc(doc, -at) for at, doc in enumerate(order))} for tag, order in orders.items()}
    of_people = {"a1": (3, 0), "a2": (0, 3)}
    judgements = [
        Judgement("q", doc, name, grade)
        for name, own in of_people.items()
        for doc, grade in zip(docs, own, strict=True)
    ]
    qrels = [Qrel("q", "d0", 3), Qrel("q", "d1", 0)]
    found = assessor_effect_on_runs(runs, judgements, qrels, replace(SETTINGS, convention="trec", measure="nDCG"))
    assert found.random_assessors.best_places == (1, 2)
    changes = OrderChanges(found)
    assert (changes.best, changes.places, changes.lowest_place) == ("r0", [("B", 2)], 2)
    assert changes.taus == [("A", 1.0), ("B", -1.0)]
