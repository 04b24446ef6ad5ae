"""Dawid and Skene's EM on their own data: Table 1 of the paper, 45 patients seen by five anaesthetists."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from annot.diagnosis import Undefined, compare_with_final, dawid_skene, panel_of
from annot.diagnosis.overview import MAX_STEPS, TOLERANCE
from annot.errors import UndefinedStatistic
from annot.records import Decision, Judgement
from csfcube_grades import csfcube_panel

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


def plain_em(counts: np.ndarray, *, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """The EM as the paper writes it, with patterns counted but no extrapolation: prevalences and posteriors."""
    said, of_pair, times = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    posterior = said.sum(axis=1) / said.sum(axis=(1, 2))[:, None]
    change = 1.0
    while change >= tolerance:
        weighted = posterior * times[:, None]
        errors = (weighted.T @ said.reshape(len(said), -1)).reshape(counts.shape[2], *counts.shape[1:])
        errors /= errors.sum(axis=2, keepdims=True)
        likelihood = weighted.sum(axis=0) * np.exp(
            said.reshape(len(said), -1) @ np.log(np.maximum(errors, 1e-300)).reshape(len(errors), -1).T
        )
        moved = likelihood / likelihood.sum(axis=1, keepdims=True)
        change, posterior = float(np.abs(moved - posterior).max()), moved
    return (posterior * times[:, None]).sum(axis=0) / times.sum(), posterior[of_pair.reshape(-1)]


def test_slow_convergence_on_csfcube_comes_to_where_the_plain_em_comes(shared: Path) -> None:
    """Two judgements a pair: a plain EM needs 43,772 steps, and stands still on the way."""
    said = (csfcube_panel(shared).grades[:, :, None] == np.arange(4)).astype(np.float64)
    assert said.sum() == 8102 - 11
    fitted = dawid_skene(said, tolerance=TOLERANCE, max_steps=MAX_STEPS)
    assert fitted.converged
    prevalence, posterior = plain_em(said, tolerance=1e-9)
    assert fitted.prevalence == pytest.approx(prevalence, abs=1e-4)
    assert (fitted.posterior.argmax(axis=1) == posterior.argmax(axis=1)).all()


def test_what_has_not_converged_says_so() -> None:
    assert not dawid_skene(counts(looks=3), tolerance=1e-9, max_steps=5).converged


def test_comparison_names_the_pairs_that_depart_from_the_final_grade() -> None:
    judgements, decisions = [], []
    for i in range(60):
        grade = i % 3
        judgements += [Judgement(f"q{i % 2}", f"d{i:02}", name, grade) for name in ("a1", "a2", "a3")]
        decisions.append(Decision(f"q{i % 2}", f"d{i:02}", 2 if i == 0 else grade, "agreed"))
    facets = {"q0": "method", "q1": "result"}
    panel = panel_of(judgements, decisions, facets, scale=(0, 1, 2), open_pairs=())
    found = compare_with_final(panel, tolerance=1e-9, max_steps=200, level=0.95)
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
    panel = panel_of(judgements, decisions, {"q0": "method"}, scale=(0, 1), open_pairs=())
    departures = compare_with_final(panel, tolerance=1e-12, max_steps=5000, level=0.95).departures
    certain = [one for one in departures if f"{one.probability:.2f}" == "1.00"]
    assert len({one.probability for one in certain}) > 1
    assert [one.doc_id for one in certain] == sorted(one.doc_id for one in certain)


def test_disputes_that_wait_leave_nothing_to_compare_with() -> None:
    judgements = [Judgement("q0", f"d{i}", name, i % 2) for i in range(9) for name in ("a1", "a2")]
    judgements += [Judgement("q0", "d9", "a1", 0), Judgement("q0", "d9", "a2", 1), Judgement("q0", "e1", "a1", 1)]
    decisions = [Decision("q0", f"d{i}", i % 2, "agreed") for i in range(9)] + [Decision("q0", "e1", 1, "agreed")]
    facets = {"q0": "method"}
    panel = panel_of(judgements, decisions, facets, scale=(0, 1), open_pairs=[("q0", "d9")])
    found = compare_with_final(panel, tolerance=1e-9, max_steps=200, level=0.95)
    reason = Undefined("1 pair is disputed and not settled; until then only undisputed pairs have a final grade")
    assert found.same.value == found.by_facet["method"].value == reason
    settled = [*decisions, Decision("q0", "d9", 0, "adjudicated")]
    panel = panel_of(judgements, settled, facets, scale=(0, 1), open_pairs=())
    # The pair that one person judged alone does not count.
    assert compare_with_final(panel, tolerance=1e-9, max_steps=200, level=0.95).same.of == 10


def test_nothing_judged_has_no_model() -> None:
    with pytest.raises(UndefinedStatistic):
        compare_with_final(panel_of([], [], {}, scale=(0, 1), open_pairs=()), tolerance=1e-6, max_steps=10, level=0.95)
