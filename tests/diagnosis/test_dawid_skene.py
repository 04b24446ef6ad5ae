"""Dawid and Skene's EM on their own data: Table 1 of the paper, 45 patients seen by five anaesthetists."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis.pairs import compare_with_final, dawid_skene
from annot.measuring.diagnosis.panel import panel_of
from csfcube_grades import csfcube_panel

# A patient a group: the first anaesthetist saw each form three times, the others once.
TABLE_1 = (
    "111 1 1 1 1/333 4 3 3 4/112 2 1 2 2/222 3 1 2 1/222 3 2 2 2/222 3 3 2 2/122 2 1 1 1/333 3 4 3 3/222 2 2 2 3/"
    "232 2 2 2 3/444 4 4 4 4/222 3 3 4 3/111 1 1 1 1/222 3 2 1 2/121 1 1 1 1/111 2 1 1 1/111 1 1 1 1/111 1 1 1 1/"
    "222 2 2 2 1/222 1 3 2 2/222 2 2 2 2/222 2 2 2 1/222 3 2 2 2/221 2 2 2 2/111 1 1 1 1/111 1 1 1 1/232 2 2 2 2/"
    "111 1 1 1 1/111 1 1 1 1/112 1 1 2 1/111 1 1 1 1/333 3 2 3 3/111 1 1 1 1/222 2 2 2 2/222 3 2 3 2/433 4 3 4 3/"
    "221 2 2 3 2/232 3 2 3 3/333 3 4 3 2/111 1 1 1 1/111 1 1 1 1/121 2 1 1 1/232 2 2 2 2/121 1 1 1 1/222 2 2 2 2"
)


def judged(*, looks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Patient, anaesthetist and class of each judgement; `looks`: how many of the first one's are taken."""
    said = [
        (patient, who, int(one) - 1)
        for patient, group in enumerate(TABLE_1.split("/"))
        for who, said in enumerate(group.split())
        for one in said[:looks]
    ]
    patient, who, said = np.array(said).T
    return patient, who, said


def test_prevalences_are_those_of_the_paper() -> None:
    fitted = dawid_skene(*judged(looks=3), n_grades=4, max_steps=1000)
    assert fitted.converged
    assert np.round(fitted.prevalence, 2).tolist() == [0.40, 0.42, 0.11, 0.07]


def test_everything_is_what_crowd_kit_gives() -> None:
    """crowd-kit 1.4.2, DawidSkene(n_iter=150, tol=0), on the first look of each (it takes one answer a worker)."""
    fitted = dawid_skene(*judged(looks=1), n_grades=4, max_steps=1000)
    assert fitted.prevalence == pytest.approx([0.399963, 0.412612, 0.120759, 0.066667], abs=1e-4)
    first = [[1, 0, 0, 0], [0.053947, 0.946053, 0, 0], [0, 0.447934, 0.552066, 0], [0, 0, 1 / 3, 2 / 3]]
    second = [[0.833354, 0.166646, 0, 0], [0.053913, 0.646324, 0.299763, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert fitted.errors[0] == pytest.approx(np.array(first), abs=1e-3)
    assert fitted.errors[1] == pytest.approx(np.array(second), abs=1e-3)
    assert fitted.posterior[37] == pytest.approx([0, 0.056386, 0.943614, 0], abs=1e-3)
    assert fitted.log_likelihood == pytest.approx(-141.0772, abs=1e-3)


def test_likelihood_never_falls() -> None:
    steps = [dawid_skene(*judged(looks=3), n_grades=4, max_steps=n).log_likelihood for n in range(1, 12)]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(steps))


def by_hand(patient: np.ndarray, who: np.ndarray, said: np.ndarray, *, steps: int) -> np.ndarray:
    """The posteriors after some steps of the EM, judgement by judgement, as the paper writes it."""
    patients, people = range(max(patient) + 1), range(max(who) + 1)
    posterior = np.array([[np.mean(said[patient == i] == j) for j in range(4)] for i in patients])
    for _ in range(steps):
        rate = np.zeros((len(people), 4, 4))
        for i, k, answer in zip(patient, who, said, strict=True):
            rate[k, :, answer] += posterior[i]
        rate /= np.maximum(rate.sum(axis=2, keepdims=True), 1e-12)
        likelihood = np.tile(posterior.mean(axis=0), (len(patients), 1))
        for i, k, answer in zip(patient, who, said, strict=True):
            likelihood[i] *= rate[k, :, answer]
        posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    return posterior


def test_each_step_is_that_of_a_second_computation() -> None:
    for steps in (1, 2, 7):
        ours = dawid_skene(*judged(looks=3), n_grades=4, max_steps=steps).posterior
        assert ours == pytest.approx(by_hand(*judged(looks=3), steps=steps), abs=1e-9)


def test_on_csfcube_the_model_gains_little_over_the_lower_grade(shared: Path) -> None:
    panel = csfcube_panel(shared)
    found = compare_with_final(panel, level=0.95)
    assert (found.same.of, found.baseline.of, found.baseline.count) == (4051, 4051, 3327)
    assert found.same.value == pytest.approx(0.827, abs=0.002)


def test_what_has_not_converged_says_so() -> None:
    assert not dawid_skene(*judged(looks=3), n_grades=4, max_steps=5).converged


def test_comparison_names_the_pairs_that_depart_from_the_final_grade() -> None:
    judgements, decisions = [], []
    for i in range(60):
        grade = i % 3
        judgements += [Judgement(f"q{i % 2}", f"d{i:02}", name, grade) for name in ("a1", "a2", "a3")]
        decisions.append(Decision(f"q{i % 2}", f"d{i:02}", 2 if i == 0 else grade, "agreed"))
    facets = {"q0": "method", "q1": "result"}
    panel = panel_of(judgements, decisions, facets, scale=(0, 1, 2), open_pairs=(), assignments=(), by_clock=False)
    found = compare_with_final(panel, level=0.95)
    assert (found.same.count, found.same.of) == (59, 60)
    assert (found.by_facet["method"].of, found.by_facet["result"].count) == (30, 30)
    (only,) = found.departures
    assert (only.query_id, only.doc_id, only.final, only.model) == ("q0", "d00", 2, 0)
    assert only.probability == pytest.approx(1.0, abs=1e-6)


def test_departures_printed_alike_are_ordered_by_id() -> None:
    """Everybody errs now and then, and the more have judged a pair the surer the model is: by more than is printed."""
    judgements, decisions = [], []
    for i in range(240):
        grade = i % 2
        for who in range(5 + i % 4):
            wrong = (i + 5 * who) % 23 == 0
            judgements.append(Judgement("q0", f"d{i:03}", f"a{who}", 1 - grade if wrong else grade))
        decisions.append(Decision("q0", f"d{i:03}", 1 - grade if i < 24 else grade, "adjudicated"))
    panel = panel_of(
        judgements, decisions, {"q0": "method"}, scale=(0, 1), open_pairs=(), assignments=(), by_clock=False
    )
    departures = compare_with_final(panel, level=0.95).departures
    certain = [one for one in departures if f"{one.probability:.2f}" == "1.00"]
    assert len({one.probability for one in certain}) > 1
    assert [one.doc_id for one in certain] == sorted(one.doc_id for one in certain)


def test_disputes_that_wait_leave_nothing_to_compare_with() -> None:
    judgements = [Judgement("q0", f"d{i}", name, i % 2) for i in range(9) for name in ("a1", "a2")]
    judgements += [Judgement("q0", "d9", "a1", 0), Judgement("q0", "d9", "a2", 1), Judgement("q0", "e1", "a1", 1)]
    decisions = [Decision("q0", f"d{i}", i % 2, "agreed") for i in range(9)] + [Decision("q0", "e1", 1, "agreed")]
    facets = {"q0": "method"}
    panel = panel_of(
        judgements, decisions, facets, scale=(0, 1), open_pairs=[("q0", "d9")], assignments=(), by_clock=False
    )
    found = compare_with_final(panel, level=0.95)
    reason = Undefined("1 pair is disputed and not settled; until then only undisputed pairs have a final grade")
    assert found.same.value == found.by_facet["method"].value == reason
    settled = [*decisions, Decision("q0", "d9", 0, "adjudicated")]
    panel = panel_of(judgements, settled, facets, scale=(0, 1), open_pairs=(), assignments=(), by_clock=False)
    # The pair that one person judged alone does not count.
    assert compare_with_final(panel, level=0.95).same.of == 10
