"""Training and sub-study as the terminal and the datasheet tell them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from annot.steps import substudy
from annot.store import trials
from annot.store.database import open_store
from annot.study import substudy as substudy_study
from annot.study.trials import on_record, training_of
from annot.study.workspace import Workspace
from command_line import annot_done
from usual import answered, answers, judged_substudy, trained


def test_the_report_of_a_training_says_who_passed_and_what_to_talk_about(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    trained(folder)
    told = annot_done("train", "report", folder=folder).stdout
    assert "a9, furthest from gold:" in told
    assert "reaches 0.6 in Cohen's kappa with quadratic weights" in told
    (found,) = annot_done("train", "report", "--json", folder=folder).data["assessors"]
    assert (found["answered"], found["verdict"]) == (found["gold"], "not passed")
    settings = folder / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("threshold = 0.6", "threshold = -0.9"))
    (found,) = annot_done("train", "report", "--json", folder=folder).data["assessors"]
    assert found["verdict"] == "passed"


def test_the_datasheet_tells_what_is_on_record_of_both_and_names_nobody(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    annot_done("datasheet", folder=folder)
    before = (folder / "exports" / "datasheet.md").read_text(encoding="utf-8")
    assert "gold pairs" not in before
    assert "full texts" not in before
    trained(folder)
    judged_substudy(folder)
    answered("substudy-full", folder)
    ws = Workspace.open(folder)
    report = substudy.report(ws)
    with open_store(ws.database_url) as store, store.begin() as session:
        (one,) = training_of(ws, session)
        trials.put_trial(session, "train/a9", on_record(one))
        trials.put_trial(session, substudy_study.ON_RECORD, substudy_study.on_record(report))
        trials.put_trial(session, "hidden-gold/a1", {**on_record(one), "value": 0.714, "low": 0.5, "high": 0.8})
    answers(folder)
    annot_done("datasheet", folder=folder)
    told = (folder / "exports" / "datasheet.md").read_text(encoding="utf-8")
    kappa = one.agreement.figures["kappa_quadratic"].value
    assert f"\n- {kappa:.1f} [" in told
    assert f"on {one.agreement.n_pairs} pairs, threshold 0.6: not passed" in told
    assert f"One assessor judged {report.compared[0].agreement.n_pairs} pairs on the abstracts" in told
    assert "hidden among the pairs of 1 assessor who" in told
    assert f"0.71 [0.50, 0.80] ({one.agreement.n_pairs} pairs)." in told
    assert "Median seconds a pair: abstracts" in told
    assert not re.search(r"\ba9\b|\bj1\b", told)
    # The qrels, the agreement and what is counted of judgements are what they were.
    for line in before.splitlines():
        if line.startswith("|"):
            assert line in told


def test_a_push_names_those_who_did_not_pass_their_training(study: Callable[[str], Path]) -> None:
    folder = study("planned")
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        for name, verdict in (("a1", "passed"), ("a2", "not passed"), ("j1", "not finished")):
            trials.put_trial(session, f"train/{name}", {"verdict": verdict})
    told = annot_done("push", "--dry-run", folder=folder).stderr
    assert "a2: not passed in the training" in told
    assert "a1:" not in told
    assert "j1:" not in told
