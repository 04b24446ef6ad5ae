"""What assessors wrote, as the lead reads it while the study runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.study.workspace import Workspace

Run = Callable[..., Any]
ROWS = """query,document,assessor,grade,time,comment
p1-method,d1,Ada,1,2031-03-01T10:00:00Z,The oldest.
p1-method,d2,Ada,,2031-03-03T10:00:00+02:00,"No text | at all, none"
p1-method,d1,Bob,2,2031-03-02T23:30:00-02:00,By the clock of its zone the day before.
p1-method,d2,Bob,2,2031-03-04T10:00:00Z,
"""


@pytest.fixture
def written(ws: Workspace, annot: Run, tmp_path: Path) -> Workspace:
    path = tmp_path / "j.csv"
    path.write_text(ROWS, encoding="utf-8")
    assert annot("import", "--as", "judgements", path).exit_code == 0
    return ws


def test_comments_come_newest_first_with_pair_grade_and_pseudonym(written: Workspace, annot: Run) -> None:
    found = annot("comments", "--json").data
    assert [(one["assessor"], one["doc_id"], one["grade"], one["comment"]) for one in found] == [
        ("a1", "d2", None, "No text | at all, none"),
        ("a2", "d1", 2, "By the clock of its zone the day before."),
        ("a1", "d1", 1, "The oldest."),
    ]
    assert "Ada" not in annot("comments").stdout
    assert annot("comments", "--csv").stdout.count("\n") == 4


@pytest.mark.parametrize(
    ("since", "comments"),
    [("2031-03-02", 2), ("2031-03-03T08:00:00Z", 1), ("2031-03-03T08:00:01+00:00", 0), ("2031-03-09", 0)],
)
def test_comments_since_a_day_or_a_moment(written: Workspace, annot: Run, since: str, comments: int) -> None:
    assert len(annot("comments", "--since", since, "--json").data) == comments


def test_a_day_that_is_none_is_refused(written: Workspace, annot: Run) -> None:
    refused = annot("comments", "--since", "last week")
    assert refused.exit_code == 2
    assert "--since 'last week': not a date, expected ISO 8601" in refused.stderr
    assert annot("comments", "--since", "2031-03-09").stdout == "no comments\n"
