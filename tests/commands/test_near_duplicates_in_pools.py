"""Pools of a corpus in which papers come twice: one of each is drawn, and what is on record stays."""

import json
from collections.abc import Callable

import pytest
from annot.pools.admission import near_duplicates
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import drawn, made, paper


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
