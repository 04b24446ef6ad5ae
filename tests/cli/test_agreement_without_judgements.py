"""`annot agreement` before anything is judged names both ways in."""

from pathlib import Path

from command_line import annot, annot_done


def test_an_empty_study_is_told_how_judgements_come_in(tmp_path: Path) -> None:
    annot_done("init", tmp_path / "study", folder=tmp_path)
    refused = annot("agreement", folder=tmp_path / "study")
    assert refused.exit_code != 0
    assert "annot pull" in refused.stderr
    assert "annot import FILES --as judgements" in refused.stderr


def test_the_policies_are_described_as_they_work(tmp_path: Path) -> None:
    shown = " ".join(annot_done("agreement", "--help", folder=tmp_path).stdout.replace("│", " ").split())
    assert "drop: leave them out, and compare only pairs with two or more grades. zero: count them as grade 0." in shown
