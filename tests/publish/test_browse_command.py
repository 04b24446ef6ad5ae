"""`annot browse`: the final grades on the page are the qrels, and none is there while somebody is still to judge."""

import csv
import io
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from annot.study.workspace import Workspace
from annot_demo.whole_way import RUNS
from command_line import Result
from study_answers import ACCOUNTS

Annot = Callable[..., Result]


def page(ws: Workspace) -> str:
    return (ws.exports / "browse.html").read_text(encoding="utf-8")


def data_of(text: str) -> Any:
    """What the page's program reads."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def qrels(ws: Workspace) -> dict[tuple[str, str], int]:
    lines = (line.split() for line in ws.qrels.read_text(encoding="utf-8").splitlines())
    return {(query_id, doc_id): int(grade) for query_id, _, doc_id, grade in lines}


def shown_grades(data: Any) -> dict[tuple[str, str], int]:
    return {
        (query["id"], data["papers"][paper][0]): grade
        for query in data["queries"]
        for paper, grade in zip(query["docs"], query["grades"], strict=True)
        if grade >= 0
    }


def run_lines(ws: Workspace, tag: str, query_id: str) -> list[str]:
    """Document ids of a query, best first, as the run file has them."""
    lines = (line.split() for line in ws.run_file(tag).read_text(encoding="utf-8").splitlines())
    return [line[2] for line in sorted(lines, key=lambda line: int(line[3])) if line[0] == query_id]


def test_grades_and_orders_are_those_of_the_files(ws: Workspace, annot: Annot) -> None:
    assert annot("browse").exit_code == 0
    data = data_of(page(ws))
    assert shown_grades(data) == qrels(ws)
    assert len(data["systems"]) == len(RUNS)
    for query in data["queries"]:
        for tag, system in zip(data["systems"], query["systems"], strict=True):
            found = [data["papers"][query["docs"][at]][0] for at in system["order"]]
            assert found == run_lines(ws, tag, query["id"])


def test_errors_are_those_of_a_plain_count(ws: Workspace, annot: Annot) -> None:
    annot("browse")
    data, grades = data_of(page(ws)), qrels(ws)
    several = 0
    for query in data["queries"]:
        for tag, errors in zip(data["systems"], query["errors"], strict=True):
            order = run_lines(ws, tag, query["id"])
            fifth, half = int(len(order) / 5), (len(order) + 1) / 2
            top = [one for one in order[:fifth] if grades.get((query["id"], one)) == 0]
            down = [one for rank, one in enumerate(order, 1) if rank > half and grades.get((query["id"], one), 0) >= 2]
            found = [[data["papers"][query["docs"][at]][0] for at in of] for of in errors]
            assert (found[0], set(found[1])) == (top, set(down))
            several += len(top) + len(down)
    assert several > 20


def some_pair(ws: Workspace) -> tuple[str, str]:
    return min(qrels(ws))


def put_back(ws: Workspace, annot: Annot) -> Result:
    """A pair is put before its assessor again: it waits for an answer."""
    pair = some_pair(ws)
    assessor = annot("trace", *pair, "--json").data["given_to"][0]["assessor"]
    return annot("return", *pair, "--to", assessor, "--why", "Again.")


def ask_again(ws: Workspace, annot: Annot) -> Result:
    """The plan has a hidden repeat that is not answered yet."""
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        connection.execute(
            "INSERT INTO assignment (query_id, doc_id, assessor, occasion, position) "
            "SELECT query_id, doc_id, assessor, 2, 9999 FROM assignment LIMIT 1"
        )
        connection.commit()
    return annot("status")


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (put_back, "1 pair without a final grade"),
        (ask_again, "1 pair to judge again"),
        (lambda ws, annot: annot("train", "hide", "--share", "0.1"), "of training or the sub-study"),
    ],
)
def test_no_grade_is_on_the_page_while_somebody_is_still_to_judge(
    begin: Callable[[Workspace, Annot], Result], said: str, ws: Workspace, annot: Annot
) -> None:
    started = begin(ws, annot)
    assert started.exit_code == 0, started.stderr
    written = annot("browse", "--json")
    assert written.exit_code == 0
    assert said in written.stderr
    assert written.data["graded"] is False
    text = page(ws)
    data = data_of(text)
    assert data["graded"] is False
    for query in data["queries"]:
        assert not {"grades", "errors", "kinds"} & query.keys()
        assert not any("value" in system for system in query["systems"])
    assert said in text
    assert "Do not show this page to assessors" in text


def test_nothing_that_people_wrote_and_no_person_is_on_it(ws: Workspace, annot: Annot) -> None:
    annot("browse")
    text = page(ws)
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        written = [row[0] for row in connection.execute("SELECT comment FROM judgement WHERE comment <> ''")]
        written += [row[0] for row in connection.execute("SELECT comment FROM adjudication WHERE comment <> ''")]
        people = [row[0] for row in connection.execute("SELECT assessor FROM assessor")]
    assert len(written) > 10
    assert not [one for one in (*written, *ACCOUNTS.values()) if one in text]
    # A pseudonym of two letters may stand in any word: none is a value of the data.
    values = json.dumps(data_of(text))
    assert not [name for name in people if f'"{name}"' in values]


def test_matches_of_a_run_are_on_the_page_and_wrong_ones_are_refused(ws: Workspace, annot: Annot) -> None:
    query_id, doc_id = some_pair(ws)
    line = {"query_id": query_id, "doc_id": doc_id, "matches": [[1, 0, 0.25], [1, 2, 0.75], [2, 2, 0.5]]}
    path = ws.runs / "fabs_bm25.matches.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    annot("browse")
    data = data_of(page(ws))
    (query,) = [one for one in data["queries"] if one["id"] == line["query_id"]]
    system = query["systems"][data["systems"].index("fabs_bm25")]
    ((at, found),) = system["matches"].items()
    assert data["papers"][query["docs"][int(at)]][0] == doc_id
    assert found == [[1, 2, 0.75], [2, 2, 0.5]]
    path.write_text(json.dumps(line | {"matches": [[0, 99, 1.0]]}) + "\n", encoding="utf-8")
    refused = annot("browse")
    assert refused.exit_code == 2
    assert f"fabs_bm25.matches.jsonl: query '{query_id}', document '{doc_id}': sentence 99" in refused.message()


def sheet(ws: Workspace) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((ws.root / "errors.csv").read_text(encoding="utf-8-sig"))))


def test_the_kind_of_an_error_is_kept_counted_and_shown(ws: Workspace, annot: Annot) -> None:
    annot("errors")
    rows = sheet(ws)
    systems = [len(re.findall(r"\(", row["irrelevant_near_the_top"] + row["relevant_far_down"])) for row in rows]
    assert systems == sorted(systems, reverse=True)
    assert systems[0] == len(RUNS)
    filled = (ws.root / "errors.csv").read_text(encoding="utf-8-sig").splitlines()
    cells = filled[1].split(",")
    cells[2:4] = ["Multiple Aspects", "=one of two"]
    (ws.root / "errors.csv").write_text("\n".join([filled[0], ",".join(cells), *filled[2:]]), encoding="utf-8")
    again = annot("errors", "--json")
    assert again.data["with_kind"] == 1
    assert (sheet(ws)[0]["kind"], sheet(ws)[0]["note"]) == ("multiple aspects", "'=one of two")
    before = (ws.root / "errors.csv").read_bytes()
    annot("errors")
    assert (ws.root / "errors.csv").read_bytes() == before
    annot("browse")
    kinds = [kind for query in data_of(page(ws))["queries"] for kind in query["kinds"].values()]
    assert kinds == ["multiple aspects"]
