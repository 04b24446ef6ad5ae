"""A study that was judged in another tool: brought in under pseudonyms, and served like one that was judged here."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from annot.formats.trec import read_qrels
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


def test_the_same_file_again_changes_nothing_and_further_files_add(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    rows = rows_of_study()
    everything = "SELECT * FROM judgement, assignment, assessor, plan"
    first = write(tmp_path, [row for row in rows if row[2] != "Ben Ode"], name="first.csv")
    assert annot("import", "--as", "judgements", first).exit_code == 0
    before = table(ws, everything)
    again = annot("import", "--as", "judgements", first, "--json").data
    assert (again["added"], again["revised"], again["unchanged"], again["new_queries"]) == (0, 0, 24, 0)
    assert table(ws, everything) == before
    # The people keep their pseudonyms: who comes later is counted on, though the name sorts between.
    second = write(tmp_path, [row for row in rows if row[2] == "Ben Ode"], name="second.csv")
    assert annot("import", "--as", "judgements", second, "--json").data["rows_by_person"] == {"a3": 5}
    assert table(ws, "SELECT COUNT(*) FROM assignment") == [(29,)]
    positions = table(ws, "SELECT position FROM assignment WHERE assessor = 'a3' ORDER BY position")
    assert positions == [(at,) for at in range(1, 6)]


def test_a_corrected_grade_is_a_revision(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    rows = rows_of_study()
    annot("import", "--as", "judgements", write(tmp_path, rows))
    rows[0][3] = 3
    changed = annot("import", "--as", "judgements", write(tmp_path, rows), "--json").data
    assert (changed["added"], changed["revised"]) == (0, 1)
    found = table(ws, "SELECT revision, grade FROM judgement WHERE query_id = 'p1-method' AND doc_id = 'd0'")
    assert sorted(found) == [(1, 0), (1, 0), (2, 3)]


def test_pseudonyms_in_the_file_are_kept(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    path = write(tmp_path, rows_of_study(("a2", "r7", "Zoe Quill")))
    assert set(annot("import", "--as", "judgements", path, "--json").data["rows_by_person"]) == {"a1", "a2", "r7"}
    assert table(ws, "SELECT account FROM assessor WHERE assessor IN ('a2', 'r7')") == [(None,), (None,)]


def test_a_pair_without_a_grade_is_missing_by_the_policy_in_force(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    rows = [row for row in rows_of_study() if row[0] == "p1-method"]
    rows[9][3] = ""  # d4, where the other gave 0
    assert (rows[8][1], rows[8][3]) == ("d4", 0)
    assert annot("import", "--as", "judgements", write(tmp_path, rows), "--json").data["without_grade"] == 1
    (dropped,) = annot("agreement", "--missing", "drop", "--json").data["queries"]
    (zero,) = annot("agreement", "--missing", "zero", "--json").data["queries"]
    assert (dropped["n_missing"], dropped["n_pairs"]) == (1, 5)
    assert dropped["before"]["percent"] == pytest.approx(100 * 4 / 5)
    assert (zero["n_pairs"], zero["before"]["percent"]) == (6, pytest.approx(100 * 5 / 6))


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


def test_an_order_of_judging_comes_from_the_times(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    rows = list(reversed(rows_of_study(("a1", "a2", "a3"))))
    annot("import", "--as", "judgements", write(tmp_path, rows))
    found = table(ws, "SELECT doc_id FROM assignment WHERE assessor = 'a3' ORDER BY position")
    assert found == [(f"d{at}",) for at in range(1, 6)]


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


def test_queries_without_a_facet_get_the_one_that_is_named(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    rows = [["q7", f"d{at}", name, 1, "", ""] for at in range(3) for name in ("a1", "a2")]
    result = annot("import", "--as", "judgements", write(tmp_path, rows), "--facet", "method")
    assert "such as q7 to q7-method" in result.stderr
    assert table(ws, "SELECT query_id, topic_id, facet FROM query") == [("q7-method", "q7", "method")]


def test_a_dry_run_touches_nothing(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    told = annot("import", "--as", "judgements", write(tmp_path, rows_of_study()), "--dry-run", "--json").data
    assert (told["judgements"], told["new_queries"]) == (29, 2)
    assert table(ws, "SELECT COUNT(*) FROM query") == [(0,)]
    assert not list(ws.exports.iterdir())


def test_a_study_with_a_plan_of_its_own_is_left_alone(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    from annot.base.records import Assessor, Assignment, Query
    from annot.store.database import open_store
    from annot.store.models import Plan
    from annot.store.people import put_assessors, replace_plan
    from annot.store.pools import put_queries

    with open_store(ws.database_url) as store, store.begin() as session:
        put_queries(session, [Query("p1-method", "p1", "method", (0,))])
        put_assessors(session, [Assessor("a1", None, False)])
        replace_plan(session, [Assignment("p1-method", "d0", "a1", 1)], plan=Plan("0", 13, "2031-01-01"))
    result = annot("import", "--as", "judgements", write(tmp_path, rows_of_study()))
    assert result.exit_code == 2
    assert "has its own plan or judgements" in result.stderr


def test_a_trace_says_that_the_pair_was_judged_elsewhere(ws: Workspace, annot: Run, tmp_path: Path) -> None:
    annot("import", "--as", "judgements", write(tmp_path, rows_of_study()))
    told = annot("trace", "p1-method", "d2").stdout
    assert (
        "judged outside this study by a1 (number 5 of their imported judgements)" in told
    )  # by time, both queries in turn
    assert "given to" not in told
