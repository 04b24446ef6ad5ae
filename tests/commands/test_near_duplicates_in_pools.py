"""Pools of a corpus in which papers come twice: one of each is drawn, and what is on record stays."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from annot.pools.admission import near_duplicates
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import drawn, made, paper, words_of


@pytest.fixture
def lines() -> list[str]:
    """Sixty papers; ten of them come again under another id, in capitals."""
    again = [json.loads(paper(number, f"twice{number}")) for number in range(10, 20)]
    copies = [record | {"abstract": [one.upper() for one in record["abstract"]]} for record in again]
    return [*(paper(number) for number in range(60)), *map(json.dumps, copies)]


def test_of_near_duplicates_one_is_drawn_and_the_command_says_so(
    ws: Workspace, annot: Callable[..., Result], lines: list[str]
) -> None:
    lines[5] = paper(5, citations=["twice13", "p13", "twice14"])
    made(ws, annot, lines)
    built = annot("pool", "--per-method", "60")
    assert built.exit_code == 0, built.stderr
    found = drawn(ws)
    everything = {f"p{at}" for at in range(60)}
    # p13 and twice13 are both cited: the first stands for both. Of the fourteenth only the copy is cited.
    assert found["p5"] == (everything - {"p5", "p14"}) | {"twice14"}
    assert found["p12"] == everything - {"p12"}
    assert "near-duplicates of other papers were skipped" in built.stderr
    assert annot("check", "pools").exit_code == 0
    stats = json.loads(annot("pool", "show", "--json").stdout)["data"]
    assert stats["passed_over"] > 0


def test_a_pool_that_was_drawn_with_both_keeps_both(
    ws: Workspace, annot: Callable[..., Result], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(ws, annot, lines)
    alike = near_duplicates(ws, keep=False, advance=lambda done, total: None)
    with monkeypatch.context() as patched:
        patched.setattr("annot.pools.admission.near_duplicates", lambda ws, keep, advance: alike._replace(texts=()))
        assert annot("pool", "--per-method", "60").exit_code == 0
    before = drawn(ws)
    assert {"p15", "twice15"} <= before["p5"]
    assert annot("check", "pools").exit_code == 0
    assert annot("pool", "--per-method", "60").exit_code == 0
    assert drawn(ws) == before
    removed = annot("query", "remove", "p5-method")
    assert removed.exit_code == 0, removed.stderr
    assert annot("query", "add", "p5", "--facet", "method").exit_code == 0
    assert annot("pool").exit_code == 0
    assert "twice15" not in drawn(ws)["p5"]
    assert drawn(ws)["p12"] == before["p12"]


def test_the_corpus_lists_them(ws: Workspace, annot: Callable[..., Result], lines: list[str]) -> None:
    made(ws, annot, lines)
    told = annot("corpus", "show")
    assert "70 papers, 70 without a year" in told.stdout
    assert "20 papers in 10 groups of near-duplicates" in told.stdout
    groups = json.loads(annot("corpus", "show", "--json").stdout)["data"]["near_duplicates"]
    assert groups == [[f"p{at}", f"twice{at}"] for at in range(10, 20)]


def test_a_paper_of_the_query_papers_title_neither_ranks_nor_enters(
    ws: Workspace, annot: Callable[..., Result], lines: list[str]
) -> None:
    """Though it is cited, has the same words, and an engine finds it first: its text is another one."""
    lines[5] = paper(5, citations=["twin5", "p7"])
    words = words_of(5)[::-1]
    backwards = [" ".join(words[at : at + 10]) + "." for at in range(0, 40, 10)]
    lines.append(paper(5, "twin5", title="TITLE 5!", abstract=backwards))
    made(ws, annot, lines)
    assert annot("pool", "--per-method", "60").exit_code == 0
    found = drawn(ws)
    assert found["p5"] == {f"p{at}" for at in range(60)} - {"p5"}
    assert "twin5" in found["p12"]
    engine = ws.root / "engine.run"
    engine.write_text("p5 Q0 twin5 1 9 engine\np5 Q0 twice11 2 8 engine\np5 Q0 p11 3 7 engine\n")
    grown = annot("pool", "add", "--run", str(engine), "--method", "engine", "--depth", "1", "--query", "p5")
    assert grown.exit_code == 0, grown.stderr
    ranked = {path.stem: path.read_text() for path in (ws.pools / "rankings").glob("*.run")}
    assert {name: " twin5 " in "\n".join(of_query(text, "p5")) for name, text in ranked.items()} == {
        "title_tfidf": False, "abs_tfidf": False, "engine": False,
    }  # fmt: skip
    assert any(" twin5 " in line for line in of_query(ranked["abs_tfidf"], "p12"))
    assert annot("check", "pools").exit_code == 0


def of_query(run: str, paper_id: str) -> list[str]:
    return [line for line in run.splitlines() if line.startswith(f"{paper_id} ")]
