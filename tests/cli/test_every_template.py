"""No page and no command asks for what a study does not have yet: templates have strict undefined names."""

import shutil
from pathlib import Path

import pytest
from command_line import annot

REPORTED = ("made", "pooled", "judged")
"""Stages of a study without grades or runs."""


@pytest.mark.parametrize("stage", REPORTED)
def test_no_page_and_no_command_names_what_a_younger_study_lacks(
    stage: str, stages: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(stages[stage], tmp_path / "study"))
    for typed in (
        "report",
        "datasheet",
        "browse --partial",
        "status",
        "forecast",
        "agreement --all",
        "evaluate",
        "qrels",
    ):
        result = annot(*typed.split(), folder=folder)
        assert "correct the template" not in result.stderr, result.message()
