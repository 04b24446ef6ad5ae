"""What is told of one pair: each answer and each run in a line, and how text and hashes stand in the report's files."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.publishing.report import pages
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.steps.trace import ANSWERS, RUNS, TracedAnswer

HEADINGS = ("given at", "person", "role", "revision", "grade", "seconds", "counts", "source", "remarks")


def answer(**changes: Any) -> TracedAnswer:
    usual: dict[str, Any] = {
        "person": "a1", "role": "assessor", "repeat": False, "revision": 1, "grade": 0,
        "cannot_judge": None, "reason": None, "comment": None, "at": "2031-01-02",
        "recorded_at": None, "lead_time": None, "flags": (), "source": "studio", "annotation": "17", "counts": True,
        "versions": (),
    }  # fmt: skip
    return TracedAnswer(**(usual | changes))


@pytest.mark.parametrize(
    ("changes", "column", "shown"),
    [
        *(({}, "given at", "2031-01-02"), ({"at": None}, "given at", "-")),
        *(({}, "grade", 0), ({"grade": None}, "grade", "none")),
        *(({}, "seconds", "-"), ({"lead_time": 0.0}, "seconds", "0.0"), ({"lead_time": 12.34}, "seconds", "12.3")),
        *(({}, "counts", "yes"), ({"repeat": True}, "counts", "as a repeat")),
        *(({"counts": False}, "counts", "superseded"), ({"counts": False, "repeat": True}, "counts", "superseded")),
        ({"counts": False, "flags": ("late", "deleted")}, "counts", "late; deleted"),
        *(({}, "source", "studio 17"), ({"annotation": ""}, "source", "studio")),
        *(({}, "remarks", ""), ({"reason": "why", "cannot_judge": "cut", "comment": "oh"}, "remarks", "cut; why; oh")),
        ({"comment": "oh"}, "remarks", "oh"),
    ],
)
def test_an_answer_says_when_what_and_whether_it_counts(changes: dict[str, Any], column: str, shown: object) -> None:
    found = ANSWERS.of([answer(**changes)])
    assert found.headings == HEADINGS
    assert found.rows[0][HEADINGS.index(column)] == shown


def test_a_run_says_where_it_has_the_document() -> None:
    assert RUNS.of([("bm25", 1), ("lsa", None)]).rows == (("bm25", 1), ("lsa", "left out"))


def test_the_chain_has_files_as_they_will_be_and_those_that_are_there(tmp_path: Path) -> None:
    ws: Any = SimpleNamespace(
        ws=SimpleNamespace(root=tmp_path), version=None, qrels_file=tmp_path / "exports" / "qrels.txt"
    )
    for name in ("exports/qrels.txt", "exports/agreement.json", "corpus/manifest.json", "exports/else.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("old " + name)
    found = list(pages._chain(ws, {"agreement.json": "new"}))
    assert found == [
        (name, hashlib.sha256(text.encode()).hexdigest())
        for name, text in (
            ("corpus/manifest.json", "old corpus/manifest.json"),
            ("exports/qrels.txt", "old exports/qrels.txt"),
            ("exports/agreement.json", "new"),
        )
    ]


def test_cells_of_markdown_are_on_one_line_with_bars_escaped() -> None:
    row = ("a|b\n c", None, True, Number(0.51234, COEFFICIENT))
    assert pages._texts(row, False) == ["a\\|b c", "–", "yes", "0.51"]
    assert pages._texts(row, True)[-1] == "0.5123"
