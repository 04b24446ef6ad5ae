"""Where a report and a certificate go, what they are measured by, and how many runs the assessors' effect needs."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Qrel, ScoredDoc
from annot.judging.exchange import servers
from annot.labelstudio import server
from annot.steps import agreement, evaluate, publish, qrels, setup
from annot.study.provenance import read_made
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small, write_runs
from study_stages import copied


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The first query is graded, and two runs rank all documents."""
    ws = copied(Small(answers=FirstPairs(10)), "settled", tmp_path_factory.mktemp("written") / "study")
    write_runs(ws)
    qrels.write(ws, partial=True)
    return ws


def test_the_effect_of_the_assessors_is_measured_on_two_runs_or_more(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(agreement.study_analyses, "assessor_effect_of", lambda *_, **how: told.append(how) or how)
    monkeypatch.setattr(agreement.measured, "keep", lambda *_, **__: None)

    def measured(runs: int, name: str | None = None) -> None:
        monkeypatch.setattr(agreement.measured, "read_run_files", lambda ws: {str(at): {} for at in range(runs)})
        agreement.measure_assessor_effect(ws, convention="trec", measure_name=name, tell=lambda _: None)

    with pytest.raises(InputError, match="1 run, expected at least 2"):
        measured(1)
    measured(2)
    measured(2, "AP")
    assert told == [{"convention": "trec", "measure": "nDCG"}, {"convention": "trec", "measure": "AP"}]
    with pytest.raises(InputError, match="measure of convention trec"):
        measured(2, "NDCG%20")


def test_pools_are_certified_in_the_order_of_the_convention_and_losses_over_all_orders(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of fifteen documents a fifth is looked at: three that tie, of which one is relevant, and the first as given."""
    scores: list[Any] = []

    def certify(*given: Any, **_: Any) -> Any:
        scores.extend(given[5:7])
        raise InterruptedError

    monkeypatch.setattr(evaluate.reusability, "certify", certify)
    grades = {"a": 2, **{f"d{at:02}": 0 for at in range(14)}}
    monkeypatch.setattr(
        evaluate, "exported_qrels", lambda snapshot: tuple(Qrel("q", doc, grade) for doc, grade in grades.items())
    )
    with pytest.raises(InterruptedError):
        evaluate.certificate(ws, tell=lambda _: None)
    tied = {"run": {"q": tuple(ScoredDoc(doc, float(at < 3)) for at, doc in enumerate(grades))}}
    first, loss = scores
    assert first(tied) == {"run": {"q": 1.0}}
    # nDCG over all orders of the three: its gain undiscounted, over log2(3), and over log2(4).
    assert loss(tied)["run"]["q"] == pytest.approx((1 + 0.6309 + 0.5) / 3, abs=1e-4)


def test_without_pools_there_is_no_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = copied(Small(), "queried", tmp_path / "study")
    monkeypatch.setattr(evaluate, "exported_qrels", lambda snapshot: ())
    monkeypatch.setattr(evaluate.measured, "read_run_files", lambda ws: {})
    with pytest.raises(MissingInput, match="no pools on record"):
        evaluate.certificate(ws, tell=lambda _: None)


def test_a_report_that_goes_elsewhere_is_not_noted_as_made(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"report.html": "<p>", "more/report.md": "text", "agreement.json": "{}"}
    monkeypatch.setattr(publish.pages, "report_files", lambda study: files)
    elsewhere = publish.write_report(ws, out=tmp_path)
    assert elsewhere == tmp_path / "report.html"
    assert (tmp_path / "more" / "report.md").read_text(encoding="utf-8") == "text"
    assert not {"report", "agreement"} & read_made(ws).keys()
    assert publish.write_report(ws) == ws.exports / "report.html"
    # The figures that a report writes need no command of their own; those that it lacks do.
    assert {"report", "agreement"} <= read_made(ws).keys()
    assert "evaluate" not in read_made(ws)


# -- servers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("healthy", [True, False, None])
def test_a_server_is_as_it_runs_here(ws: Workspace, monkeypatch: pytest.MonkeyPatch, healthy: bool | None) -> None:
    running = None if healthy is None else server.Server("http://here", 80, 1, healthy)
    monkeypatch.setattr(server, "status", lambda folder: running)
    monkeypatch.setattr(server, "installed", lambda environ: None if healthy is None else Path("there"))
    (found,) = setup.status(ws)
    assert (found.running, found.healthy) == (healthy is not None, healthy is True)
    assert (found.url, found.installed) == ("" if healthy is None else "http://here", healthy is not None)
    assert (found.assessor, found.here) == (None, True)


def test_of_a_server_elsewhere_the_address_is_known(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    own = ws.replaced("judging", isolation="server")
    monkeypatch.setattr(server, "status", lambda folder: pytest.fail("it does not run here"))
    servers.keep_address(own, "a1", url="http://ann", token="t")
    (found,) = setup.status(own)
    assert (found.assessor, found.url, found.running, found.healthy, found.here) == (
        "a1", "http://ann", False, False, False,
    )  # fmt: skip
