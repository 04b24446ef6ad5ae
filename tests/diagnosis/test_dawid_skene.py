"""Dawid and Skene's EM on their own data: Table 1 of the paper, 45 patients seen by five anaesthetists."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from annot.diagnosis import compare_with_final, dawid_skene, panel_of
from annot.errors import UndefinedStatistic
from annot.records import Decision, Judgement

# A patient a group: the first anaesthetist saw each form three times, the others once.
TABLE_1 = (
    "111 1 1 1 1/333 4 3 3 4/112 2 1 2 2/222 3 1 2 1/222 3 2 2 2/222 3 3 2 2/122 2 1 1 1/333 3 4 3 3/222 2 2 2 3/"
    "232 2 2 2 3/444 4 4 4 4/222 3 3 4 3/111 1 1 1 1/222 3 2 1 2/121 1 1 1 1/111 2 1 1 1/111 1 1 1 1/111 1 1 1 1/"
    "222 2 2 2 1/222 1 3 2 2/222 2 2 2 2/222 2 2 2 1/222 3 2 2 2/221 2 2 2 2/111 1 1 1 1/111 1 1 1 1/232 2 2 2 2/"
    "111 1 1 1 1/111 1 1 1 1/112 1 1 2 1/111 1 1 1 1/333 3 2 3 3/111 1 1 1 1/222 2 2 2 2/222 3 2 3 2/433 4 3 4 3/"
    "221 2 2 3 2/232 3 2 3 3/333 3 4 3 2/111 1 1 1 1/111 1 1 1 1/121 2 1 1 1/232 2 2 2 2/121 1 1 1 1/222 2 2 2 2"
)


def counts(*, looks: int) -> np.ndarray:
    """How often each anaesthetist said each class; `looks`: how many of the first one's are taken."""
    found = np.zeros((45, 5, 4))
    for i, patient in enumerate(TABLE_1.split("/")):
        for m, said in enumerate(patient.split()):
            for one in said[:looks]:
                found[i, m, int(one) - 1] += 1
    return found


def test_prevalences_are_those_of_the_paper() -> None:
    fitted = dawid_skene(counts(looks=3), tolerance=1e-9, max_steps=1000)
    assert fitted.converged
    assert np.round(fitted.prevalence, 2).tolist() == [0.40, 0.42, 0.11, 0.07]


def test_everything_is_what_crowd_kit_gives() -> None:
    """crowd-kit 1.4.2, DawidSkene(n_iter=150, tol=0), on the first look of each (it takes one answer a worker)."""
    fitted = dawid_skene(counts(looks=1), tolerance=1e-10, max_steps=1000)
    assert fitted.prevalence == pytest.approx([0.399963, 0.412612, 0.120759, 0.066667], abs=1e-6)
    first = [[1, 0, 0, 0], [0.053947, 0.946053, 0, 0], [0, 0.447934, 0.552066, 0], [0, 0, 1 / 3, 2 / 3]]
    second = [[0.833354, 0.166646, 0, 0], [0.053913, 0.646324, 0.299763, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert fitted.errors[0] == pytest.approx(np.array(first), abs=1e-6)
    assert fitted.errors[1] == pytest.approx(np.array(second), abs=1e-6)
    assert fitted.posterior[37] == pytest.approx([0, 0.056386, 0.943614, 0], abs=1e-6)
    assert fitted.log_likelihood == pytest.approx(-141.0772, abs=1e-4)


def test_likelihood_never_falls() -> None:
    steps = [dawid_skene(counts(looks=3), tolerance=0.0, max_steps=n).log_likelihood for n in range(1, 12)]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(steps))


def test_comparison_names_the_pairs_that_depart_from_the_final_grade() -> None:
    judgements, decisions = [], []
    for i in range(60):
        grade = i % 3
        judgements += [Judgement(f"q{i % 2}", f"d{i:02}", name, grade) for name in ("a1", "a2", "a3")]
        decisions.append(Decision(f"q{i % 2}", f"d{i:02}", 2 if i == 0 else grade, "agreed"))
    facets = {"q0": "method", "q1": "result"}
    panel = panel_of(judgements, decisions, facets, scale=(0, 1, 2))
    found = compare_with_final(panel, tolerance=1e-9, max_steps=200, level=0.95)
    assert (found.same.count, found.same.of) == (59, 60)
    assert (found.by_facet["method"].of, found.by_facet["result"].count) == (30, 30)
    (only,) = found.departures
    assert (only.query_id, only.doc_id, only.final, only.model) == ("q0", "d00", 2, 0)
    assert only.probability == pytest.approx(1.0, abs=1e-6)


def test_nothing_judged_has_no_model() -> None:
    with pytest.raises(UndefinedStatistic):
        compare_with_final(panel_of([], [], {}, scale=(0, 1)), tolerance=1e-6, max_steps=10, level=0.95)
