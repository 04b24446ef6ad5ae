"""A fresh study on real input: CSFCube's papers, pooled, judged and settled on a real Label Studio, nothing lost."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Query
from annot.demo import simulated_people
from annot.measuring.agreement.estimates import TOGETHER
from annot.pools.pool_design import DesignOverrides
from annot.steps import agreement, corpus, evaluate, exchange, facets, plan, pool, publish, qrels, query, run
from annot.steps.setup import init
from annot.store import papers
from annot.store import projects as tasks_of_store
from annot.store.database import open_store
from annot.study.workspace import Workspace, write_file
from demo_collection import common_words
from memory_studio import StudioOfMemory
from studies import PEOPLE, Study, add_people
from study_stages import quietly

NAME = "fresh-csfcube"
PER_METHOD = 6
"""Six methods of 6 each: 36 pairs a query-facet, since these papers carry no citations."""
SETTINGS = f"""
[collection]
name = "{NAME}"
title = "A fresh study on the release's papers"

[pool]
without = ["specter"]
per_method = {PER_METHOD}

[word_vectors]
epochs = 1
"""
JUDGED = ("1791179-background", "1791179-method", "3264891-background", "1936997-method")
"""Two facets of one paper, which share a pool, and two more."""
SEED = 13


@dataclass(frozen=True)
class Drawn:
    """The corpus with all queries, and both draws of the pools: each pool's documents in their order."""

    ws: Workspace
    rows: list[dict[str, str]]
    added: corpus.AddedPapers
    by_mode: dict[str, dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def drawn(shared: Path, memory: StudioOfMemory, tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    folder = tmp_path_factory.mktemp("fresh") / "study"
    write_file(folder / "annot.toml", SETTINGS)
    init(folder, name=None, dry_run=False)
    ws = Workspace.open(folder)
    ws.cache.mkdir()
    (ws.cache / "studio").symlink_to(memory.folder)
    release = shared / "csfcube"
    added = corpus.add(ws, [release / "abstracts-csfcube-preds.jsonl"], form=None, dry_run=False, advance=quietly)
    facets.label(ws, model=None, dry_run=False, advance=quietly)
    with (release / "queries-release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        query.add(ws, row["pid"], facet=row["facet"], sentences=None, dry_run=False)
    by_mode = {}
    # The study goes on with the last of them.
    for mode in ("blocks", "round-robin"):
        draw(ws, mode=mode)
        by_mode[mode] = {path.stem: entries(path) for path in ws.query_pools.glob("*.jsonl")}
    return Drawn(ws, rows, added, by_mode)


def draw(ws: Workspace, *, mode: str, without: tuple[str, ...] | None = None) -> None:
    overrides = DesignOverrides(mode=mode, without=without)
    pool.build(ws, overrides=overrides, redraw=False, frozen=False, grow=False, dry_run=False, advance=quietly)


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()][1:]


@pytest.fixture(scope="module")
def judged(drawn: Drawn, memory: StudioOfMemory) -> Study:
    """Four query-facets planned for two assessors, sent, judged by simulated people, pulled."""
    ws = drawn.ws
    add_people(ws, PEOPLE)
    plan.make(ws, queries=JUDGED, shares={}, seed=None, grow=False, dry_run=False)
    exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    simulated_people.judge(ws, seed=SEED, truth=truth(ws), advance=quietly)
    exchange.pull(ws, round="judging", advance=quietly)
    return Study(ws.root, memory)


@pytest.fixture(scope="module")
def settled(judged: Study) -> Study:
    """The disputes sent, settled by a simulated adjudicator, pulled."""
    ws = judged.workspace
    exchange.push(ws, round="adjudication", dry_run=False, advance=quietly)
    simulated_people.settle(ws, seed=SEED, truth=truth(ws), advance=quietly)
    exchange.pull(ws, round="adjudication", advance=quietly)
    return judged


def truth(ws: Workspace) -> simulated_people.Relevance:
    """Common words stand in for what a person would see."""
    texts = {paper.paper_id: paper.sentences for paper in papers.read_papers(ws.corpus)}

    def relevance(query: Query, doc_id: str) -> float:
        asked = [texts[query.topic_id][place] for place in query.sentences]
        return 3 * min(1.0, max(0.0, (common_words(asked, texts[doc_id]) - 0.05) / 0.22))

    return relevance


def test_all_papers_but_the_one_that_is_too_short_are_taken(drawn: Drawn) -> None:
    assert (drawn.added.read, drawn.added.kept) == (3368, 3367)
    assert drawn.added.rejected == {"too few sentences": 1}


def test_every_query_of_the_release_has_its_facet(drawn: Drawn) -> None:
    listed = {(one.topic_id, one.facet) for one in query.listing(drawn.ws)}
    assert listed == {(row["pid"], row["facet"]) for row in drawn.rows}
    assert (len(listed), len({row["pid"] for row in drawn.rows})) == (33, 28)


@pytest.mark.parametrize("mode", ["blocks", "round-robin"])
def test_pools_of_all_query_papers_are_drawn_by_every_method_in_both_modes(drawn: Drawn, mode: str) -> None:
    pools = drawn.by_mode[mode]
    assert pools.keys() == {row["pid"] for row in drawn.rows}
    for paper_id, found in pools.items():
        ids = [entry["doc_id"] for entry in found]
        assert len(set(ids)) == len(ids) == 6 * PER_METHOD
        assert paper_id not in ids
        assert set(Counter(entry["drawn"]["method"] for entry in found).values()) == {PER_METHOD}
        methods = [entry["drawn"]["method"] for entry in found]
        if mode == "blocks":
            assert methods == [name for name in dict.fromkeys(methods) for _ in range(PER_METHOD)]
        else:
            assert methods == list(dict.fromkeys(methods)) * PER_METHOD


def test_the_modes_draw_different_pools_from_the_same_rankings(drawn: Drawn) -> None:
    blocks, turns = drawn.by_mode["blocks"], drawn.by_mode["round-robin"]
    assert any({e["doc_id"] for e in blocks[name]} != {e["doc_id"] for e in turns[name]} for name in blocks)
    for name in blocks:
        first = {entry["drawn"]["method"]: entry["doc_id"] for entry in blocks[name] if entry["drawn"]["rank"] == 1}
        # Whoever draws a method's first document, it is in both pools.
        assert set(first.values()) <= {entry["doc_id"] for entry in turns[name]}


def test_every_pair_comes_back_once_as_it_was_judged(judged: Study) -> None:
    planned = judged.planned()
    pairs = {pair for mine in planned.values() for pair in mine}
    assert {query_id for query_id, _ in pairs} == set(JUDGED)
    assert len(pairs) == 4 * 6 * PER_METHOD
    assert planned.keys() == {"a1", "a2"}
    assert all(Counter(mine) == Counter(pairs) for mine in planned.values())
    lines = (judged.folder / "exports" / "judgements.jsonl").read_text(encoding="utf-8").splitlines()
    held = {(one["query_id"], one["doc_id"], one["assessor"]): one for one in map(json.loads, lines)}
    assert len(held) == len(lines) == 2 * len(pairs)
    with open_store(judged.workspace.database_url) as store, store.read() as session:
        accounts = {one.assessor: one.account_id for one in tasks_of_store.read_projects(session, round="judge")}
    for name, mine in planned.items():
        there = judged.on_server(name)
        assert [task["data"]["pair_id"] for task in there] == ["/".join(pair) for pair in mine]
        assert judged.in_store(name) == {task["data"]["pair_id"]: task["id"] for task in there}
        for pair, task in zip(mine, there, strict=True):
            (annotation,) = task["annotations"]
            assert annotation["completed_by"] == accounts[name]
            assert answer_in(annotation) == (held[(*pair, name)]["grade"], held[(*pair, name)]["cannot_judge"])
            assert held[(*pair, name)]["flags"] == []


def test_disputes_and_nothing_else_are_settled_and_every_pair_has_its_grade(settled: Study) -> None:
    given: dict[tuple[str, str], set[tuple[int | None, str | None]]] = {}
    for name in ("a1", "a2"):
        for pair, task in zip(settled.planned()[name], settled.on_server(name), strict=True):
            given.setdefault(pair, set()).add(answer_in(task["annotations"][0]))
    agreed = {pair: next(iter(said))[0] for pair, said in given.items() if len(said) == 1}
    agreed = {pair: grade for pair, grade in agreed.items() if grade is not None}
    rulings = {
        tuple(task["data"]["pair_id"].split("/")): answer_in(task["annotations"][0])[0]
        for task in settled.on_server("j1", "adjudicate")
    }
    assert rulings.keys() == given.keys() - agreed.keys()
    assert 0 < len(rulings) < len(given)
    written = qrels.write(settled.workspace, partial=False)
    assert (written.pairs, written.open, written.incomplete) == (len(given), 0, 0)
    lines = [line.split() for line in written.path.read_text(encoding="utf-8").splitlines()]
    assert {(query_id, doc_id): int(grade) for query_id, _, doc_id, grade in lines} == agreed | rulings


def test_the_settled_study_is_measured_run_evaluated_and_reported(settled: Study) -> None:
    ws = settled.workspace
    table = agreement.measure(ws, missing=None, binarised_at=None, tell=print)
    assert {one.query_id for one in table.queries} == set(JUDGED)
    together = next(group for group in table.groups if group.name == TOGETHER)
    assert together.n_queries == 4
    assert 0 < together.before["alpha_ordinal"].median < together.after["alpha_ordinal"].median <= 1
    qrels.write(ws, partial=False)
    made = run.make(ws, systems=(), advance=quietly)
    # A run ranks what is pooled: every query has a pool, and only four are judged.
    assert all(one.queries == 33 for one in made)
    evaluate.evaluate(
        ws, runs=(), convention=None, measures=(), ties="order", average="test", at_least_two=False, tell=print
    )
    evaluation = json.loads((ws.exports / "evaluation.json").read_text(encoding="utf-8"))
    assert {line["run"] for line in evaluation["lines"]} >= {one.tag for one in made}
    assert {line["convention"] for line in evaluation["lines"]} == {"csfcube", "trec"}
    # Queries without judgements are not counted as zero.
    counts = {line["facet"]: line["queries"] for line in evaluation["lines"]}
    assert (counts["background"], counts["method"]) == (2, 2)
    page = publish.write_report(ws).read_text(encoding="utf-8")
    assert all(query_id in page for query_id in JUDGED)


def test_sending_and_pulling_again_changes_nothing(settled: Study) -> None:
    files = {path: path.read_bytes() for path in settled.workspace.exports.glob("*.jsonl")}
    pushed = exchange.push(settled.workspace, round="judging", dry_run=False, advance=quietly)
    again = exchange.push(settled.workspace, round="adjudication", dry_run=False, advance=quietly)
    assert [(one.sent, one.withdrawn) for one in (*pushed.projects, *again.projects)] == [(0, 0)] * 3
    pulled = exchange.pull(settled.workspace, round="judging", advance=quietly)
    rulings = exchange.pull(settled.workspace, round="adjudication", advance=quietly)
    assert [(one.new, one.changed) for one in (*pulled.assessors, *rulings.assessors)] == [(0, 0)] * 3
    assert {path: path.read_bytes() for path in files} == files


def answer_in(annotation: dict[str, Any]) -> tuple[int | None, str | None]:
    """The grade, or the reason for which there is none, read from the server's own record."""
    chosen = {item["from_name"]: item["value"].get("choices") for item in annotation["result"]}
    (rating,) = chosen["rating"]
    return (None, chosen["cannot_judge"][0]) if rating == "cannot judge" else (int(rating), None)
