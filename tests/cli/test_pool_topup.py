"""A system that came later tops the pools up: only what they lack is added, and old scores stand beside new."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.records import Judgement
from annot.store import people, projects
from annot.store.database import open_store
from annot.store.judgements import SourcedJudgement, read_judgements, record_judgements
from annot.study.workspace import Workspace
from command_line import annot, annot_done, difference, snapshot

PAPER, OTHER = "fic0407", "fic0802"


def pools_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for path in sorted((folder / "pools" / "queries").glob("*.jsonl")):
        head, *entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found[head["paper_id"]] = entries
    return found


def unpooled(folder: Path, paper_id: str, n: int) -> list[str]:
    lines = (folder / "papers.jsonl").read_text(encoding="utf-8").splitlines()
    pools = pools_of(folder)
    there = {entry["doc_id"] for entry in pools[paper_id]} | pools.keys()
    return [doc_id for line in lines if (doc_id := json.loads(line)["paper_id"]) not in there][:n]


def engine(folder: Path, name: str = "engine.run") -> dict[str, list[str]]:
    """An engine that knows for each query paper two of the pool and three others, in turn."""
    rankings = {}
    for paper_id, entries in pools_of(folder).items():
        new, old = unpooled(folder, paper_id, 3), [entry["doc_id"] for entry in entries[:2]]
        rankings[paper_id] = [new[0], old[0], new[1], old[1], new[2]]
    write_run(folder / name, rankings)
    return rankings


def write_run(path: Path, rankings: dict[str, list[str]]) -> None:
    path.write_text(
        "".join(
            f"{topic} Q0 {doc_id} {rank} {100 - rank} engine\n"
            for topic, docs in rankings.items()
            for rank, doc_id in enumerate(docs, start=1)
        )
    )


def send_all(folder: Path, names: Sequence[str] = ("a1", "a2", "a3", "a4")) -> None:
    """What a push leaves on record."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        for at, name in enumerate(names, start=1):
            project = projects.open_project(
                session, round="judge", assessor=name, server="s", url="u", version="1", account_id=at
            )
            projects.set_remote_project(session, project.project, at)
            asked = [one.asked for one in people.read_assignments(session, name)]
            projects.record_tasks(session, project.project, {one: place for place, one in enumerate(asked)})


def judge_the_rest(folder: Path) -> set[tuple[str, str]]:
    """Everyone gives what is planned and not judged yet the grade of its id's last figure; returns these pairs."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        judged = {(one.asked, one.assessor) for one in read_judgements(session)}
        new = [one for one in people.read_assignments(session) if (one.asked, one.assessor) not in judged]
        given = [
            Judgement(one.query_id, one.doc_id, one.assessor, int(one.doc_id[-1]) % 4, occasion=one.occasion)
            for one in new
        ]
        sourced = [SourcedJudgement(one, "label-studio", f"new-{at}", None) for at, one in enumerate(given)]
        record_judgements(session, sourced, recorded_at="2031-01-01T00:00:00Z")
    return {one.asked.pair for one in new}


def test_only_what_the_pools_lack_of_its_best_is_added_and_nothing_that_was_there_changes(
    study: Callable[[str], Path],
) -> None:
    folder = study("planned")
    rankings, before = engine(folder), pools_of(folder)
    held = snapshot(folder)
    promised = annot_done(
        "pool", "topup", "engine.run", "--method", "engine", "--depth", 4, "--dry-run", "--json", folder=folder
    )
    assert not difference(held, snapshot(folder))
    done = annot_done("pool", "topup", "engine.run", "--method", "engine", "--depth", 4, "--json", folder=folder).data
    assert (done["version"], done["pools"]) == (2, promised.data["pools"])
    assert "had 50% of the best papers of engine already" in promised.stderr
    after = pools_of(folder)
    for paper_id, ranking in rankings.items():
        old = before[paper_id]
        kept = after[paper_id][: len(old)]
        assert [(one["doc_id"], one["drawn"]) for one in kept] == [(one["doc_id"], one["drawn"]) for one in old]
        added = after[paper_id][len(old) :]
        assert [(one["doc_id"], one["drawn"]["rank"]) for one in added] == [(ranking[0], 1), (ranking[2], 3)]
        # Two of the pool had the engine, too.
        assert [one["doc_id"] for one in kept if "engine" in [also["method"] for also in one["also"]]] == [
            ranking[1], ranking[3],
        ]  # fmt: skip
    assert annot_done("pool", "replay", "--json", folder=folder).data["differences"] == {}
    assert "version 2: engine, its first 4" in annot_done("pool", "show", PAPER, folder=folder).stdout
    # Again: nothing. Deeper: what is still missing, from the same ranking, as another version.
    held = snapshot(folder)
    again = annot_done("pool", "topup", "--method", "engine", "--depth", 4, folder=folder)
    assert "nothing is new" in again.stderr
    assert not difference(held, snapshot(folder))
    deeper = annot_done("pool", "topup", "--method", "engine", "--depth", 5, "--query", PAPER, "--json", folder=folder)
    assert deeper.data["version"] == 3
    assert [(one["paper_id"], one["added"]) for one in deeper.data["pools"]] == [(PAPER, [rankings[PAPER][4]])]
    assert annot_done("pool", "replay", "--json", folder=folder).data["differences"] == {}
    # What is on record is drawn again, whoever asks.
    pools = pools_of(folder)
    annot_done("pool", "--frozen", folder=folder)
    assert pools_of(folder) == pools
    # The plan takes up the new pairs alone, behind what stands.
    planned = annot_done("plan", "--json", folder=folder).data
    queries = [one["query_id"] for one in annot_done("query", "list", "--json", folder=folder).data]
    pairs = 2 * len(queries) + sum(name.startswith(PAPER) for name in queries)
    assert planned["new"] == 2 * pairs
    annot_done("verify", folder=folder)


def test_a_study_that_was_sent_is_topped_up_only_with_grow(study: Callable[[str], Path]) -> None:
    folder = study("judged")
    send_all(folder)
    engine(folder)
    annot_done("pool", "import-run", "engine.run", "--method", "engine", folder=folder)
    new = unpooled(folder, PAPER, 4)[3]
    for call in (
        ("pool", "topup", "--method", "engine", "--depth", 3),
        ("pool", "add", PAPER, new, "--reason", "seen in a survey"),
    ):
        before = snapshot(folder)
        told = annot_done(*call, "--dry-run", folder=folder)
        assert "pairs are added with --grow only" in told.stderr
        refused = annot(*call, folder=folder)
        assert refused.exit_code == 2
        assert "would be added to a study that was sent" in refused.stderr
        assert not difference(before, snapshot(folder))
        annot_done(*call, "--grow", folder=folder)
    annot_done("plan", "--grow", folder=folder)
    annot_done("plan", "check", folder=folder)


def test_old_scores_stand_beside_new_and_are_those_that_were_printed_before(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    before = annot_done("evaluate", "--json", folder=folder).data
    old_qrels = (folder / "exports" / "qrels.txt").read_text().splitlines()
    engine(folder)
    annot_done("pool", "topup", "engine.run", "--method", "engine", "--depth", 5, folder=folder)
    annot_done("plan", folder=folder)
    # Planned and not judged: the new pairs are open, and nothing is restated yet.
    assert annot("qrels", folder=folder).exit_code == 2
    assert "restated" not in annot_done("evaluate", "--json", folder=folder).data
    new = judge_the_rest(folder)
    written = annot_done("qrels", folder=folder)
    assert f"{len(new)} of them came with version 2 of the pools (engine)" in written.stderr
    qrels = (folder / "exports" / "qrels.txt").read_text().splitlines()
    assert {tuple(line.split()[::2]) for line in {*qrels} - {*old_qrels}} == new
    assert {*old_qrels} < {*qrels}
    annot_done("run", "fabs_tfidf", "fabs_bm25", folder=folder)
    found = annot_done("evaluate", "--json", folder=folder).data
    told = found["restated"]
    assert (told["version"], told["method"], told["pairs"]) == (2, "engine", len(new))
    for which, source in (("before", before), ("after", found)):
        printed = {
            (line["facet"], line["run"]): line["values"][told["measure"]]
            for line in source["lines"]
            if line["convention"] == told["convention"] and line["run"] != "chance"
        }
        assert {(one["facet"], one["run"]): one[which] for one in told["scores"]} == pytest.approx(printed)
    assert any(one["before"] != one["after"] for one in told["scores"])
    shown = " ".join(annot_done("evaluate", folder=folder).stdout.split())
    assert "version 2 of the pools, which added papers of engine" in shown
    annot_done("report", folder=folder)
    assert json.loads((folder / "exports" / "evaluation.json").read_text())["restated"] == told


def test_a_method_that_drew_the_pools_is_no_new_system(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    refused = annot("pool", "topup", "--method", "abs_tfidf", folder=folder)
    assert refused.exit_code == 2
    assert "--method abs_tfidf: drew these pools" in refused.stderr
    # One of ours that did not: it ranks the corpus now, and what others drew stays frozen.
    annot_done("pool", "--frozen", "--without", "lsa", folder=folder)
    other = (folder / "pools" / "rankings" / "abs_cbow200.run").read_bytes()
    before = pools_of(folder)
    done = annot_done("pool", "topup", "--method", "lsa", "--json", folder=folder).data
    assert sum(len(one["added"]) for one in done["pools"]) > 0
    assert (folder / "pools" / "rankings" / "abs_cbow200.run").read_bytes() == other
    after = pools_of(folder)
    assert all(after[name][: len(of)] for name, of in before.items())
    assert annot_done("pool", "replay", "--json", folder=folder).data["differences"] == {}
    redraw = annot("pool", "--redraw", folder=folder)
    assert redraw.exit_code == 2
    assert "lsa was added after the draw, and cannot draw, too" in redraw.stderr


def test_pools_of_different_size_in_one_study(study: Callable[[str], Path]) -> None:
    """CSFCube has 8 pools of 250 and 42 of 100."""
    folder = study("pooled")
    before = pools_of(folder)
    done = annot_done(
        "pool", "--query", PAPER, "--per-method", 6, "--frozen", "--json", folder=folder
    ).data["pools"]  # fmt: skip
    assert [one["paper_id"] for one in done] == [PAPER]
    after = pools_of(folder)
    assert len(after[PAPER]) > len(before[PAPER])
    assert {name: of for name, of in after.items() if name != PAPER} == {
        name: of for name, of in before.items() if name != PAPER
    }
    manifest = json.loads((folder / "pools" / "manifest.json").read_text())
    assert sorted(manifest["per_method"]) == [3, 6]
    # Each keeps its own depth from now on, also where it is ranked anew.
    annot_done("pool", "--frozen", folder=folder)
    assert pools_of(folder) == after
    annot_done("pool", "--query", OTHER, "--per-method", 4, folder=folder)
    fresh = pools_of(folder)
    assert {name: of for name, of in fresh.items() if name != OTHER} == {
        name: of for name, of in after.items() if name != OTHER
    }
    assert annot_done("pool", "replay", "--json", folder=folder).data["differences"] == {}
    annot_done("verify", folder=folder)
