"""Runs measured where a sample was judged: estimates of whole pools, in the place of what was judged."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.steps import evaluate
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace
from measured_runs import evaluate as plainly
from sampled_study import WHOLE, judged, pooled, rankings


def measure(
    ws: Workspace,
    *,
    convention: str | None = None,
    so_far: bool = False,
    corpus: str | None = None,
    **of: tuple[str, ...],
) -> EvaluatedRuns:
    given = {"runs": (), "measures": ()} | of
    how: dict[str, Any] = {"ties": "order", "average": "plain", "at_least_two": False, "tell": print, "corpus": corpus}
    return evaluate.evaluate(ws, convention=convention, so_far=so_far, **how, **given)


def values(found: EvaluatedRuns, convention: str, measure: str) -> dict[str, float]:
    return {line.run: line.values[measure] for line in found.lines if line.convention == convention}


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return judged(pooled(tmp_path_factory.mktemp("half")), share=0.5)


@pytest.mark.parametrize(("convention", "name"), [("trec", "nDCG"), ("csfcube", "NDCG%20"), ("csfcube", "R@20")])
def test_a_sample_gives_estimates_of_the_whole_pools_where_what_was_judged_is_far_off(
    half: Workspace, convention: str, name: str
) -> None:
    found = values(measure(half), convention, name)
    judged_only = exported_qrels(read_snapshot(half))
    off = []
    for tag, run in rankings().items():
        by_whole, by_judged = (
            plainly(run, qrels, convention=convention, relevant_from=2, ties="order").mean[name]
            for qrels in (WHOLE, judged_only)
        )
        assert found[tag] == pytest.approx(by_whole, abs=0.05)
        off.append(abs(by_judged - by_whole))
    assert max(off) > 0.1


def test_all_of_the_pools_drawn_is_all_of_them_judged(tmp_path: Path) -> None:
    ws = judged(pooled(tmp_path), share=1.0)
    found = measure(ws)
    assert found.sampled is not None
    assert (found.sampled.drawn, found.sampled.pairs) == (len(WHOLE), len(WHOLE))
    for convention, names in (("csfcube", ("P@20", "NDCG%20", "AP")), ("trec", ("nDCG", "AP", "P@20"))):
        for tag, run in rankings().items():
            whole = plainly(run, WHOLE, convention=convention, relevant_from=2, ties="order").mean
            for name in names:
                assert values(found, convention, name)[tag] == pytest.approx(whole[name], abs=1e-9)


def test_a_measure_without_an_estimator_is_refused_with_the_reason(half: Workspace) -> None:
    with pytest.raises(InputError, match="measures that cannot be estimated") as error:
        measure(half, measures=("Rprec",))
    assert error.value.faults[0].startswith("Rprec: ")


def test_drawn_pairs_without_a_grade_stop_the_evaluation_unless_asked(tmp_path: Path) -> None:
    ws = judged(pooled(tmp_path), share=0.5, leave=6)
    with pytest.raises(InputError, match="6 drawn pairs without a final grade") as error:
        measure(ws)
    assert "--so-far" in str(error.value.hint)
    found = measure(ws, so_far=True)
    assert found.sampled is not None
    assert found.sampled.so_far == pytest.approx(1 - 6 / found.sampled.drawn)
    assert any("of the drawn pairs have a grade so far" in note for note in found.notes)
    whole = plainly(rankings()["forward"], WHOLE, convention="trec", relevant_from=2, ties="order").mean["nDCG"]
    assert values(found, "trec", "nDCG")["forward"] == pytest.approx(whole, abs=0.1)


def test_what_recall_and_judged_documents_mean_in_a_sample_is_noted_where_they_are_shown(half: Workspace) -> None:
    usual, asked = measure(half).notes, measure(half, measures=("Judged@10",)).notes
    assert any(note.startswith("R@20: recall from a sample is less certain") for note in usual)
    assert not any("whether drawn or not" in note for note in usual)
    assert "Judged@10: the share of the first documents that are in a pool, whether drawn or not" in asked
    assert set(values(measure(half, measures=("Judged@10",)), "trec", "Judged@10").values()) == {1.0}
