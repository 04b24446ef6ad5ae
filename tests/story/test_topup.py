"""A judged study meets a new system: its papers alone are sent and judged, and the old qrels stay in the new."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import MANUAL
from annot.formats.trec import read_run
from annot.judging import plan_on_record
from annot.pools import drawn_pools
from annot.pools.drawn_pools import PoolGrowth
from annot.steps import evaluate, exchange, plan, pool, qrels, run
from annot.study.workspace import Workspace
from studies import Study
from study_stages import quietly

METHOD, REASON = "xyz-9", "the system of this spring"


def pooled(study: Study) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for path in sorted(study.workspace.query_pools.glob("*.jsonl")):
        head, *entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found[head["topic_id"]] = entries
    return found


def engine_run(study: Study) -> tuple[Path, dict[str, list[str]], str]:
    """An engine that ranks for each paper one of the pool between two new ones; and a paper that it does not know."""
    ids = [json.loads(line)["paper_id"] for line in (study.folder / "papers.jsonl").read_text("utf-8").splitlines()]
    pools = pooled(study)
    known = {entry["doc_id"] for entries in pools.values() for entry in entries} | pools.keys()
    first, second, by_hand, *_ = (doc_id for doc_id in ids if doc_id not in known)
    rankings = {paper_id: [first, entries[0]["doc_id"], second] for paper_id, entries in pools.items()}
    path = study.folder / "engine.run"
    path.write_text(
        "".join(
            f"{paper_id} Q0 {doc_id} {rank} {10 - rank} engine\n"
            for paper_id, docs in rankings.items()
            for rank, doc_id in enumerate(docs, start=1)
        )
    )
    return path, rankings, by_hand


def top_up(ws: Workspace, file: Path, *, grow: bool) -> PoolGrowth:
    return pool.top_up(
        ws,
        method=METHOD,
        file=file,
        depth=3,
        only=(),
        reason=REASON,
        by="ada",
        grow=grow,
        dry_run=False,
        advance=quietly,
    )


def test_only_what_a_top_up_added_is_sent_and_judged_and_old_scores_stand_beside_new(study: Study) -> None:
    ws = study.workspace
    qrels.write(ws, partial=False)
    old_qrels = set(ws.qrels.read_text().splitlines())
    run.make(ws, systems=("fabs_tfidf", "fabs_bm25"), advance=quietly)
    printed = evaluated(ws)
    before = {name: [task["id"] for task in study.on_server(name)] for name in ("a1", "a2")}
    planned, pools = study.planned(), pooled(study)
    file, rankings, by_hand = engine_run(study)
    with pytest.raises(InputError, match="would be added to a study that was sent"):
        top_up(ws, file, grow=False)
    assert pooled(study) == pools
    grown = top_up(ws, file, grow=True)
    paper_id = min(pools)
    pool.add(ws, paper_id, (by_hand,), reason="a colleague's", by="ada", grow=True, dry_run=False, advance=quietly)
    assert not drawn_pools.replay(ws, advance=quietly).differences
    with pytest.raises(InputError, match="would be added to a study that was sent"):
        plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)
    plan.make(ws, queries=(), shares={}, seed=None, grow=True, dry_run=False)
    assert not plan_on_record.check(ws).faults
    new = {name: pairs[len(planned[name]) :] for name, pairs in study.planned().items()}
    expected = {(query, doc) for one in grown.pools for query in one.queries for doc in one.added}
    expected |= {(query, by_hand) for one in grown.pools if one.topic_id == paper_id for query in one.queries}
    assert {doc for _, doc in expected} == {rankings[paper_id][0], rankings[paper_id][2], by_hand}
    assert {*new["a1"]} == {*new["a2"]} == expected
    sent = exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    assert {one.assessor: one.sent for one in sent.projects} == {"a1": len(expected), "a2": len(expected)}
    for name, tasks in before.items():
        there = study.on_server(name)
        assert [task["id"] for task in there][: len(tasks)] == tasks
        assert len(there) == len(tasks) + len(expected)
        # Nobody reads where a paper comes from.
        told = json.dumps([task["data"] for task in study.as_exported(name)])
        assert METHOD not in told
        assert MANUAL not in told
        assert REASON not in told
        study.judge(name, {pair: 3 if pair[1] == rankings[paper_id][0] else 0 for pair in new[name]})
    exchange.pull(ws, round="judging", advance=quietly)
    written = qrels.write(ws, partial=False)
    assert any(f"{len(expected)} with version 2 ({METHOD}) or later" in note for note in written.notes)
    lines = set(ws.qrels.read_text().splitlines())
    assert old_qrels < lines
    assert {tuple(line.split()[::2]) for line in lines - old_qrels} == expected
    run.make(ws, systems=("fabs_tfidf", "fabs_bm25"), advance=quietly)
    ranked = read_run(ws.run_file("fabs_bm25").read_text().splitlines(), name="fabs_bm25").rankings
    assert all(any(doc.doc_id == one for doc in ranked[query]) for query, one in expected)
    restated = evaluate_all(ws).restated
    assert restated is not None
    assert [(one.version, one.method, one.pairs) for one in restated.topups] == [(2, METHOD, len(expected))]
    before, now = ({(one.facet, one.run): one.values[at] for one in restated.scores} for at in (0, 1))
    assert before == pytest.approx(printed)
    assert now == pytest.approx(evaluated(ws))
    assert now != pytest.approx(printed)
    # The second day: nothing is sent, added or changed.
    again = exchange.push(ws, round="judging", dry_run=False, advance=quietly)
    assert {one.sent for one in again.projects} == {0}
    assert top_up(ws, file, grow=False).version is None
    origins = {entry["drawn"]["method"] for entry in pooled(study)[paper_id][len(pools[paper_id]) :]}
    assert origins == {METHOD, MANUAL}


def evaluate_all(ws: Workspace) -> Any:
    return evaluate.evaluate(
        ws,
        runs=(),
        convention=None,
        measures=(),
        ties="order",
        average="test",
        at_least_two=False,
        tell=lambda text: None,
    )


def evaluated(ws: Workspace) -> dict[tuple[str, str], float]:
    found = evaluate_all(ws)
    return {
        (line.facet, line.run): line.values[found.measure]
        for line in found.lines
        if line.convention == found.convention and line.run != "chance"
    }
