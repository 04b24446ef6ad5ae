"""Pools of a corpus in which papers come twice: one of each is drawn, and what is on record stays."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from annot.store import pools
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result

WORDS = [f"word{at:03d}" for at in range(60)]


def paper(number: int, name: str | None = None, **given: object) -> str:
    """Every paper has the words of others, in an order of its own."""
    words = random.Random(number).sample(WORDS, 40)
    sentences = [" ".join(words[at : at + 10]) + "." for at in range(0, 40, 10)]
    record = {"paper_id": name or f"p{number}", "title": f"Title {number}", "abstract": sentences}
    return json.dumps(record | {"labels": ["background", "method", "method", "result"]} | given)


@pytest.fixture
def lines() -> list[str]:
    """Sixty papers; ten of them come again under another id, in capitals."""
    again = [json.loads(paper(number, f"twice{number}")) for number in range(10, 20)]
    copies = [record | {"abstract": [one.upper() for one in record["abstract"]]} for record in again]
    return [*(paper(number) for number in range(60)), *map(json.dumps, copies)]


def made(ws: Workspace, annot: Callable[..., Result], lines: list[str]) -> None:
    settings = ws.root / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    start = text.index("methods = [", text.index("[pool]"))
    end = text.index("]", start) + 1
    text = text[:start] + 'methods = ["title_tfidf", "abs_tfidf", "cited"]' + text[end:]
    settings.write_text(text, encoding="utf-8")
    (ws.root / "papers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for words in (
        ("corpus", "add", str(ws.root / "papers.jsonl")),
        ("facets",),
        ("query", "add", "p5", "--facet", "method"),
        ("query", "add", "p12", "--facet", "method"),
    ):
        assert annot(*words).exit_code == 0


def drawn(ws: Workspace) -> dict[str, set[str]]:
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        found = pools.read_pools(session)
    return {paper_id: {entry.doc_id for entry in pool.entries} for paper_id, pool in found.items()}


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
    assert "near-duplicates of other papers were passed over" in built.stderr
    assert annot("pool", "replay").exit_code == 0
    stats = json.loads(annot("pool", "stats", "--json").stdout)["data"]
    assert stats["passed_over"] > 0


def test_a_pool_that_was_drawn_with_both_keeps_both(
    ws: Workspace, annot: Callable[..., Result], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(ws, annot, lines)
    with monkeypatch.context() as patched:
        patched.setattr("annot.study.near_duplicates.near_duplicates", lambda ws, keep, advance: ())
        assert annot("pool", "--per-method", "60").exit_code == 0
    before = drawn(ws)
    assert {"p15", "twice15"} <= before["p5"]
    assert annot("pool", "replay").exit_code == 0
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
    told = annot("corpus")
    assert "70 papers, 70 without a year" in told.stdout
    assert "20 papers have nearly the same abstract as another, in 10 groups" in told.stdout
    groups = json.loads(annot("corpus", "--json").stdout)["data"]["near_duplicates"]
    assert groups == [[f"p{at}", f"twice{at}"] for at in range(10, 20)]
