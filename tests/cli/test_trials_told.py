"""Training and sub-study as terminal, report page and datasheet tell them."""

import re
from collections.abc import Callable
from pathlib import Path

from annot.judging.trial_answers import ON_RECORD, SubstudyReport, TrainedAssessor, on_record, substudy_of, training_of
from annot.judging.trial_answers import substudy_on_record as substudy_on_record
from annot.store import trials
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import annot_done
from usual import answered, answers, judged_substudy, trained

PROBED = {
    **{"hidden": 9, "answered": 8, "coefficient": "kappa_quadratic"},
    **{"value": 0.714, "low": 0.5, "high": 0.8, "level": 0.95},
}
"""What is on record of hidden gold."""


def test_the_report_of_a_training_says_who_passed_and_what_to_talk_about(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    trained(folder)
    told = annot_done("train", "report", folder=folder).stdout
    assert "a9, furthest from gold:" in told
    assert "a quadratically weighted kappa of 0.6" in " ".join(told.split())
    (found,) = annot_done("train", "report", "--json", folder=folder).data["assessors"]
    assert (found["answered"], found["verdict"]) == (found["gold"], "not passed")
    settings = folder / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("threshold = 0.6", "threshold = -0.9"))
    (found,) = annot_done("train", "report", "--json", folder=folder).data["assessors"]
    assert found["verdict"] == "passed"


def on_record_of_both(folder: Path) -> tuple[TrainedAssessor, SubstudyReport]:
    """Training, hidden gold and sub-study are judged, and noted down as after a pull."""
    trained(folder)
    judged_substudy(folder)
    answered("substudy-full", folder)
    ws = Workspace.open(folder)
    with open_store(ws.database_url) as store, store.begin() as session:
        (one,) = training_of(ws, session)
        report = substudy_of(ws, session)
        trials.put_trial(session, "train/a9", on_record(one))
        trials.put_trial(session, ON_RECORD, substudy_on_record(report))
        trials.put_trial(session, "hidden-gold/a1", {**PROBED, "pairs": one.agreement.n_pairs})
    return one, report


def told_by(page: str, folder: Path) -> str:
    """The text of the page that the command of this name writes."""
    annot_done(page, folder=folder)
    return (folder / "exports" / f"{page}.md").read_text(encoding="utf-8")


def test_the_datasheet_tells_what_is_on_record_of_both_and_names_nobody(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    before = told_by("datasheet", folder)
    untrained = "No training on gold pairs is on record."
    assert untrained in before
    assert "full texts" not in before
    one, report = on_record_of_both(folder)
    answers(folder)
    told = told_by("datasheet", folder)
    assert untrained not in told
    kappa = one.agreement.figures["kappa_quadratic"].value
    assert f"\n- {kappa:.1f} [" in told
    assert f"on {one.agreement.n_pairs} pairs in {one.batches} batches, threshold 0.6: not passed" in told
    for pair in report.compared:
        assert f"- {pair.first} and {pair.second} ({pair.agreement.n_pairs} pairs): Spearman's rho " in told
    assert "hidden among the pairs of 1 assessor who" in told
    assert f"0.71 [0.50, 0.80] ({one.agreement.n_pairs} pairs)." in told
    assert f"Median seconds per pair: abstracts {report.views[0].seconds.value:.0f}" in told
    assert f"({report.views[0].timed} pairs)" in told
    assert not re.search(r"\ba9\b|\bj1\b", told)
    # The qrels, the agreement and what is counted of judgements are what they were.
    for line in before.splitlines():
        if line.startswith("|"):
            assert line in told
