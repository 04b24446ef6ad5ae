"""A study that was judged in another tool: brought in under pseudonyms, and served like one that was judged here."""

import csv
import io
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from annot.formats.trec import read_qrels
from annot.pools import chain
from annot.store.answers import unsound_revisions
from annot.store.models import Session
from annot.study.workspace import Workspace

Run = Callable[..., Any]
PEOPLE = ("Zoe Quill", "Ada Byron", "Ben Ode")
HEADER = ("query", "document", "assessor", "grade", "time", "comment")


def rows_of_study(people: Sequence[str] = PEOPLE) -> list[list[object]]:
    """Two queries of 6 pairs: two assessors on the first, three on the second; one of these leaves one pair out.

    They differ on document d5 of each query.
    """
    rows: list[list[object]] = []
    for query, team in (("p1-method", people[:2]), ("p2-background", people)):
        for at in range(6):
            for place, name in enumerate(team):
                if (place, at) != (2, 0):
                    grade = at % 4 if at != 5 else place
                    rows.append([query, f"d{at}", name, grade, f"2031-01-0{place + 1}T10:0{at}:00Z", ""])
    return rows


def write(folder: Path, rows: Sequence[Sequence[object]], header: Sequence[str] = HEADER, name: str = "j.csv") -> Path:
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    path = folder / name
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def table(ws: Workspace, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        return connection.execute(statement).fetchall()


def test_agreement_qrels_and_report_serve_the_study(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    imported = annot("import", "--as", "judgements", write(tmp_path, rows_of_study()), "--json").data
    assert (imported["judgements"], imported["queries"], imported["added"]) == (29, 2, 29)
    assert imported["pairs_by_assessors"] == {"2": 7, "3": 5}
    tried = annot("import", "--as", "judgements", tmp_path / "j.csv", "--dry-run")
    assert "already in the study" not in tried.stdout, "a trial does not compare with the record"
    agreement = annot("agreement", "--json").data
    (method,) = (one for one in agreement["queries"] if one["facet"] == "method")
    # Five pairs alike and 0 against 1 on the sixth: 5 of 6.
    assert method["before"]["percent"] == pytest.approx(100 * 5 / 6)
    standing = {one["query_id"]: one for one in annot("status", "--adjudication", "--json").data}
    assert {query: (one["agreed"], one["disputed"]) for query, one in standing.items()} == {
        "p1-method": (5, 1),
        "p2-background": (5, 1),
    }
    refused = annot("qrels")
    assert refused.exit_code == 2
    assert "p1-method d5: in dispute" in refused.stderr
    assert annot("qrels", "--partial").exit_code == 0
    qrels = read_qrels((ws.exports / "qrels.txt").read_text().splitlines(), name="qrels")
    assert {(one.query_id, one.doc_id): one.relevance for one in qrels} == {
        (query, f"d{at}"): at % 4 for query in ("p1-method", "p2-background") for at in range(5)
    }
    assert annot("report").exit_code == 0
    page = (ws.exports / "report.html").read_text(encoding="utf-8")
    assert "made with another tool" in page
    assert ">Pools<" not in page
    assert "next: annot import FILE --as judgements --adjudicator NAME (2 pairs in dispute; " in annot("status").stdout
    assert [one["query_id"] for one in annot("query", "list", "--json").data] == ["p1-method", "p2-background"]


def test_imported_answers_are_not_checked_until_one_is_changed_by_hand(
    ws: Workspace, annot: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def faults(session: Session) -> Iterator[str]:
        checked.extend(unsound_revisions(session))
        yield from checked

    annot("import", "--as", "judgements", write(tmp_path, rows_of_study()))
    monkeypatch.setattr(chain, "unsound_revisions", pytest.fail)
    assert annot("agreement").exit_code == 0
    monkeypatch.setattr(chain, "unsound_revisions", faults)
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection, connection:
        connection.execute("DROP TRIGGER judgement_no_update")
        connection.execute("UPDATE judgement SET grade = 3 WHERE doc_id = 'd0'")
    annot("agreement")
    assert len(checked) == sum(row[1] == "d0" for row in rows_of_study())


def test_names_stay_in_the_database(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    path = write(tmp_path, rows_of_study())
    said = annot("import", "--as", "judgements", path)
    for command in (("agreement",), ("report",), ("assessor", "list", "--csv"), ("status",), ("qrels", "--partial")):
        told = annot(*command)
        assert told.exit_code == 0
        said = type(said)(0, said.stdout + told.stdout, said.stderr + told.stderr)
    assert table(ws, "SELECT assessor, account FROM assessor ORDER BY assessor") == [
        ("a1", "Ada Byron"),
        ("a2", "Ben Ode"),
        ("a3", "Zoe Quill"),
    ]
    written = [one.read_bytes() for one in ws.root.rglob("*") if one.is_file() and not one.name.startswith("annot.db")]
    assert len(written) > 3
    for name in ("Byron", "Quill", "Ode"):
        assert name not in said.stdout + said.stderr
        assert not any(name.encode() in content for content in written)


def test_the_adjudicators_rows_are_final_grades(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    rows = rows_of_study()
    rows += [[query, "d5", "Ivo Judge", 3, "", "read twice"] for query in ("p1-method", "p2-background")]
    path = write(tmp_path, rows)
    assert annot("import", path, "--adjudicator", "Ivo Judge", "--json").data["adjudications"] == 2
    assert annot("qrels").exit_code == 0
    assert "p1-method 0 d5 3\n" in (ws.exports / "qrels.txt").read_text()
    data = annot("agreement", "--json").data
    (method,) = (one for one in data["queries"] if one["facet"] == "method")
    # 0 and 1 became 3: both are right on five of six pairs, and over-ruled on one.
    assert method["after"]["percent"] == pytest.approx(100 * 5 / 6)
    assert method["overruled"]["count"] == 1
    assert table(ws, "SELECT assessor FROM assessor WHERE adjudicator") == [("j1",)]
    # Once known, they need not be named again.
    assert annot("import", "--as", "judgements", path, "--json").data["unchanged"] == len(rows)


FAULTS: list[tuple[dict[int, object], tuple[str, ...], str]] = [
    ({0: "p1"}, (), "query 'p1' does not end in a facet of annot.toml (-background, -method, -result)"),
    ({3: 4}, (), "grade '4', expected 0 to 3"),
    ({}, ("--facet", "methods"), "unknown facet 'methods': did you mean 'method'?"),
    ({}, ("--adjudicator", "Nobody"), "1 name given with --adjudicator not found in any row"),
    ({}, ("--grade-column", "grades"), "no column for the grade; did you mean 'grade'?"),
    (
        {1: "d99", 2: "Ivo Judge"},
        ("--adjudicator", "Ivo Judge"),
        "p1-method d99: adjudicated, but not judged by any assessor",
    ),
]


def test_a_fault_changes_nothing(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    for change, options, fault in FAULTS:
        rows = rows_of_study()
        for column, value in change.items():
            rows[0][column] = value
        result = annot("import", "--as", "judgements", write(tmp_path, rows), *options)
        assert result.exit_code == 2
        assert fault in result.stderr
    assert table(ws, "SELECT COUNT(*) FROM query") == [(0,)]
    assert table(ws, "SELECT COUNT(*) FROM assessor") == [(0,)]
    assert not list(ws.exports.iterdir())


def test_nothing_is_sent_of_what_was_judged_elsewhere(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    path = write(tmp_path, rows_of_study())
    assert annot("import", str(path), "--as", "judgements").exit_code == 0
    for words in (("push",), ("push", "--dry-run")):
        refused = annot(*words)
        assert refused.exit_code == 2
        assert "judged elsewhere" in refused.stderr
        assert "annot push adjudication" in refused.stderr
