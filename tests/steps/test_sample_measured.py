"""A sample that was judged: every place that measures prints an estimate of the whole pools or refuses."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import annot
import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.formats.input_files import SHEET
from annot.formats.trec import write_qrels
from annot.measuring import sampled_study
from annot.measuring.evaluation.evaluated import EvaluatedRuns
from annot.measuring.forecast.sample import Certainty
from annot.publishing.report.study import Study
from annot.steps import agreement, evaluate, publish, qrels
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace, write_file
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


@pytest.mark.parametrize(
    ("bias", "words"), [(0.033, "3.3 points too high"), (-0.021, "2.1 points too low"), (0.01, "")]
)
def test_a_mean_that_is_further_off_than_its_interval_allows_is_noted(
    half: Workspace, monkeypatch: pytest.MonkeyPatch, bias: float, words: str
) -> None:
    """Half an interval is .06 here, and a quarter of that .015."""
    known = Estimate(0.1, Undefined("no range"))
    monkeypatch.setattr(sampled_study, "certainty", lambda *_: Certainty(known, known, bias, 0.06, 0.0))
    found = measure(half)
    assert found.sampled is not None
    assert (found.sampled.bias, found.sampled.biased) == (bias, bool(words))
    noted = [note for note in found.notes if "is expected to be" in note]
    assert len(noted) == bool(words)
    assert all(words in note for note in noted)


RUN = "backward"
NEAR = 0.05
"""How far an estimate of this study is from the whole pools at most, beside .1 for what was judged."""


def truth(of: tuple[Qrel, ...] = WHOLE, *, measure: str = "nDCG") -> float:
    convention = "trec" if measure == "nDCG" else "csfcube"
    return plainly(rankings()[RUN], of, convention=convention, relevant_from=2, ties="order").mean[measure]


def evaluated(ws: Workspace) -> float:
    found = evaluate.evaluate(
        ws, runs=(), convention=None, measures=(), ties="order", average="test", at_least_two=True, tell=print
    )
    return next(one.values["nDCG"] for one in found.lines if (one.convention, one.run) == ("trec", RUN))


def written_as_json(ws: Workspace) -> float:
    evaluated(ws)
    lines = json.loads((ws.exports / "evaluation.json").read_text(encoding="utf-8"))["lines"]
    return next(one["values"]["nDCG"] for one in lines if (one["convention"], one["run"]) == ("trec", RUN))


def beside_a_paper(ws: Workspace) -> float:
    table = "\n".join(
        ('title = "T"', 'source = "S"', 'convention = "trec"', 'facets = ["method"]', 'measures = ["nDCG", "Rprec"]')
    )
    path = ws.root / "paper.toml"
    write_file(path, f"{table}\n[figures.method]\n{RUN} = [50.0, 50.0]")
    found = evaluate.against(ws, str(path), runs=())
    assert {one.measure for one in found.figures} == {"nDCG"}
    assert "Rprec cannot be estimated from a sample" in evaluate.describe_against(found, evaluate.beside_paper(found))
    return mean(one.ours for one in found.figures) / 100


def of_two_qrels(ws: Workspace) -> float:
    path = ws.root / "whole.txt"
    write_file(path, write_qrels(WHOLE))
    found = qrels.compare(ws, ws.qrels, path, conventions=("trec",), measures=())
    by_ours, by_whole = found.found.means[RUN]
    assert by_ours == pytest.approx(by_whole)
    assert any("not drawn: left out" in note for note in found.notes)
    return by_ours


def by_each_assessor(ws: Workspace) -> float:
    found = agreement.measure_assessor_effect(ws, convention="trec", measure_name="nDCG", tell=print)
    of = {one.name: one.means[RUN] for one in found.rankings}
    assert {"final", "A", "B"} < of.keys()
    assert len(set(of.values())) == 1
    assert any("estimate of the whole pools" in note for note in found.notes)
    return of["final"]


def in_the_page(ws: Workspace) -> float:
    publish.write_browse_page(ws, partial=False)
    text = (ws.exports / publish.BROWSE_FILE).read_text(encoding="utf-8")
    data = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
    assert data["standings"][-1] == "not drawn"
    drawn = sum(1 for _ in exported_qrels(read_snapshot(ws)))
    left_out = [grade for query in data["queries"] for grade in query["grades"] if grade == -len(data["standings"])]
    assert len(left_out) == len(WHOLE) - drawn
    at = data["systems"].index(RUN)
    return mean(query["systems"][at]["value"] for query in data["queries"]) / 100


def in_the_report(ws: Workspace) -> float:
    found = Study(read_snapshot(ws)).evaluated
    publish.write_report(ws)
    (value,) = (one.values["nDCG"] for one in found.lines if (one.convention, one.run) == ("trec", RUN))
    assert f"{100 * value:.1f}" in (ws.exports / "report.md").read_text(encoding="utf-8")
    return float(value)


def in_python(ws: Workspace) -> float:
    frame = annot.open_study(ws.root).evaluation
    kept = frame[(frame["convention"] == "trec") & (frame["run"] == RUN) & (frame["measure"] == "nDCG")]
    return float(kept["value"].iloc[0])


@pytest.mark.parametrize(
    ("of", "measure"),
    [
        (written_as_json, "nDCG"),
        (beside_a_paper, "nDCG"),
        (of_two_qrels, "nDCG"),
        (by_each_assessor, "nDCG"),
        (in_the_page, "NDCG%20"),
        (in_the_report, "nDCG"),
        (in_python, "nDCG"),
    ],
)
def test_it_is_the_estimate_that_is_printed_where_what_was_judged_is_a_tenth_off(
    half: Workspace, of: Callable[[Workspace], float], measure: str
) -> None:
    by_judged, whole = truth(exported_qrels(read_snapshot(half)), measure=measure), truth(measure=measure)
    assert abs(by_judged - whole) > 0.1
    assert of(half) == pytest.approx(whole, abs=NEAR)


def test_what_a_method_alone_found_is_estimated_and_its_pairs_are_all_of_them(half: Workspace) -> None:
    found, page = evaluate.certificate(half, tell=print)
    ws = judged(pooled(half.root.parent / "all"), share=1.0)
    whole, _ = evaluate.certificate(ws, tell=print)
    of_whole = {one.method: one for one in whole.losses}
    assert len(found.losses) == 2
    for one in found.losses:
        assert one.alone == of_whole[one.method].alone > 0
        assert one.loss == pytest.approx(of_whole[one.method].loss, abs=NEAR)
        assert one.score == pytest.approx(of_whole[one.method].score, abs=NEAR)
        relevant, of_all = one.alone_relevant, of_whole[one.method].alone_relevant
        assert isinstance(relevant, Estimate)
        assert isinstance(relevant.interval, Interval)
        assert isinstance(of_all, int | Estimate)
        count = of_all if isinstance(of_all, int) else of_all.value
        assert isinstance(count, int | float)
        assert relevant.interval.low < count < relevant.interval.high
    for run, as_whole in zip(found.runs, whole.runs, strict=True):
        assert run.as_it_is == pytest.approx(as_whole.as_it_is, abs=NEAR)
        assert run.judged_at_20 == 1
    assert "estimates of the whole pools" in page.read_text(encoding="utf-8")


def test_only_drawn_pairs_are_errors_and_the_command_says_so(half: Workspace) -> None:
    evaluate.write_error_sheet(half)
    drawn = {(one.query_id, one.doc_id) for one in exported_qrels(read_snapshot(half))}
    with (half.root / SHEET).open(encoding="utf-8-sig", newline="") as lines:
        found = {(row["query_id"], row["doc_id"]) for row in csv.DictReader(lines)}
    assert found
    assert found <= drawn
    assert [note.split(":")[0] for note in evaluate.error_sheet_notes(half)] == [
        f"only the {len(drawn)} drawn pairs of the {len(WHOLE)} in the pools can be in it"
    ]
