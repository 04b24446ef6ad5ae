"""Pools that other engines and people add to: what is new is added, known by its origin, and drawn again as it was;
old scores are shown with new ones."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Judgement
from annot.store import people
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import annot, annot_done, difference, snapshot
from usual import answers

PAPER, OTHER = "fic0407", "fic0802"


def pools_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for path in sorted((folder / "pools" / "queries").glob("*.jsonl")):
        head, *entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found[head["topic_id"]] = entries
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


def judge_the_rest(folder: Path) -> set[tuple[str, str]]:
    """Everyone gives what is planned and not judged yet the grade of its id's last figure; returns these pairs."""
    with open_store(Workspace.open(folder).database_url) as store, store.begin() as session:
        judged = {(one.pair_key, one.assessor) for one in JUDGEMENTS.records(session)}
        new = [one for one in people.read_assignments(session) if (one.pair_key, one.assessor) not in judged]
        given = [
            Judgement(one.query_id, one.doc_id, one.assessor, int(one.doc_id[-1]) % 4, occasion=one.occasion)
            for one in new
        ]
        sourced = [SourcedJudgement(one, "label-studio", f"new-{at}", None) for at, one in enumerate(given)]
        JUDGEMENTS.record(session, sourced, recorded_at="2031-01-01T00:00:00Z")
    return {one.pair_key.pair for one in new}


def test_only_what_the_pools_lack_of_its_best_is_added_and_nothing_that_was_there_changes(
    study: Callable[[str], Path],
) -> None:
    folder = study("planned")
    rankings, before = engine(folder), pools_of(folder)
    shutil.rmtree(folder / ".annot" / "near-duplicates")
    held = snapshot(folder)
    promised = annot_done(
        "pool", "add", "--run", "engine.run", "--method", "engine", "--depth", 4, "--dry-run", "--json", folder=folder
    )
    assert not difference(held, snapshot(folder))
    done = annot_done(
        "pool", "add", "--run", "engine.run", "--method", "engine", "--depth", 4, "--json", folder=folder
    ).data
    assert (done["version"], done["pools"]) == (2, promised.data["pools"])
    assert "already had 50% of the best papers of engine" in promised.stderr
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
    assert annot_done("check", "pools", "--json", folder=folder).data["pools"]["differences"] == {}
    assert "version 2: engine, top 4" in annot_done("pool", "show", PAPER, folder=folder).stdout
    # Again: nothing. Deeper: what is still missing, from the same ranking, as another version.
    held = snapshot(folder)
    again = annot_done("pool", "add", "--method", "engine", "--depth", 4, folder=folder)
    assert "nothing is new" in again.stderr
    assert not difference(held, snapshot(folder))
    deeper = annot_done("pool", "add", "--method", "engine", "--depth", 5, "--query", PAPER, "--json", folder=folder)
    assert deeper.data["version"] == 3
    assert [(one["topic_id"], one["added"]) for one in deeper.data["pools"]] == [(PAPER, [rankings[PAPER][4]])]
    assert annot_done("check", "pools", "--json", folder=folder).data["pools"]["differences"] == {}
    # What is on record is drawn again, whoever asks.
    pools = pools_of(folder)
    annot_done("pool", "--frozen", folder=folder)
    assert pools_of(folder) == pools
    # The plan takes up the new pairs alone, behind what stands.
    planned = annot_done("plan", "--json", folder=folder).data
    queries = [one["query_id"] for one in annot_done("query", "list", "--json", folder=folder).data]
    pairs = 2 * len(queries) + sum(name.startswith(PAPER) for name in queries)
    assert planned["new"] == 2 * pairs
    annot_done("check", "files", folder=folder)


def evaluated(folder: Path) -> Any:
    """The scores of now; one of the runs is of others, and is brought in again as it is."""
    annot_done("qrels", folder=folder)
    annot_done("run", "fabs_tfidf", "fabs_bm25", folder=folder)
    annot_done("run", "import", "theirs.run", "--tag", "drop", "--foreign", "drop", folder=folder)
    return annot_done("evaluate", "--json", folder=folder).data


def test_old_scores_stand_beside_new_and_are_those_that_were_printed_before(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    # Two of others: one was taken with what is in no pool, one without.
    query = f"{PAPER}-background"
    docs = [*unpooled(folder, PAPER, 2), *[entry["doc_id"] for entry in pools_of(folder)[PAPER][:9]]]
    write_run(folder / "theirs.run", {query: docs})
    annot_done("run", "import", "theirs.run", "--tag", "keep", "--foreign", "keep", folder=folder)
    sources = [evaluated(folder)]
    old_qrels = (folder / "exports" / "qrels.txt").read_text().splitlines()
    engine(folder)
    call = ("pool", "add", "--run", "engine.run", "--method", "engine", "--depth", 5)
    assert "added to a study that was judged" in annot(*call, folder=folder).stderr
    annot_done(*call, "--grow", folder=folder)
    annot_done("plan", folder=folder)
    # Planned and not judged: the new pairs are open, and nothing is restated yet.
    assert annot("qrels", folder=folder).exit_code == 2
    assert "restated" not in annot_done("evaluate", "--json", folder=folder).data
    first = judge_the_rest(folder)
    written = annot_done("qrels", folder=folder)
    assert f"{len(first)} with version 2 (engine) or later" in written.stderr
    qrels = (folder / "exports" / "qrels.txt").read_text().splitlines()
    assert {tuple(line.split()[::2]) for line in {*qrels} - {*old_qrels}} == first
    assert {*old_qrels} < {*qrels}
    sources.append(evaluated(folder))
    # One by hand is no top-up; it counts where it came before one.
    annot_done("pool", "add", PAPER, unpooled(folder, PAPER, 9)[8], "--reason", "seen", "--grow", folder=folder)
    annot_done("plan", folder=folder)
    by_hand = judge_the_rest(folder)
    sources.append(evaluated(folder))
    assert len(sources[-1]["restated"]["topups"]) == 1
    engine(folder, "other.run")
    annot_done("pool", "add", "--run", "other.run", "--method", "other", "--depth", 5, "--grow", folder=folder)
    annot_done("plan", folder=folder)
    second = judge_the_rest(folder)
    sources.append(evaluated(folder))
    told = sources[-1]["restated"]
    assert told["topups"] == [
        {"version": 2, "method": "engine", "pairs": len(first | by_hand | second)},
        {"version": 4, "method": "other", "pairs": len(second)},
    ]
    for at, source in enumerate((sources[0], sources[2], sources[3])):
        printed = {
            (line["facet"], line["run"]): line["values"][told["measure"]]
            for line in source["lines"]
            if line["convention"] == told["convention"] and line["run"] != "chance"
        }
        assert {(one["facet"], one["run"]): one["values"][at] for one in told["scores"]} == pytest.approx(printed)
        for one in told["scores"]:
            others = [value for (facet, _), value in printed.items() if facet == one["facet"]]
            assert one["places"][at] == 1 + sum(value > printed[one["facet"], one["run"]] for value in others)
    assert any(len(set(one["values"])) == 3 for one in told["scores"])
    shown = " ".join(annot_done("evaluate", folder=folder).stdout.split())
    assert "Before version 2, which added papers of engine:" in shown
    assert "Before version 2 Before version 4 Now" in shown


@pytest.mark.parametrize("broken", ["write_rankings", "replace_pools", "write_pools"])
def test_a_top_up_that_ended_half_way_is_finished_by_the_next(
    study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    folder = study("planned")
    engine(folder)
    call = ("pool", "add", "--run", "engine.run", "--method", "engine", "--depth", 4, "--by", "ada", "--json")
    place = {
        "write_rankings": "annot.pools.frozen_rankings.write_rankings",
        "replace_pools": "annot.store.pools.replace_pools",
        "write_pools": "annot.pools.drawn_pools.write_pools",
    }[broken]

    class KilledError(Exception):
        """The process ended here."""

    def killed(*given: object, **named: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(place, killed)
        with pytest.raises(KilledError):
            annot(*call, folder=folder)
    done = annot_done(*call, folder=folder).data
    assert done["version"] == (None if broken == "write_pools" else 2)
    assert annot_done("check", "pools", "--json", folder=folder).data["pools"]["differences"] == {}
    annot_done("plan", folder=folder)
    annot_done("check", "files", folder=folder)
    shown = annot_done("pool", "show", PAPER, "--json", folder=folder).data
    assert [one["doc_id"] for one in shown["entries"]] == [one["doc_id"] for one in pools_of(folder)[PAPER]]


def test_nobody_reads_in_a_release_who_added_a_paper_and_everybody_that_it_was_added(
    study: Callable[[str], Path],
) -> None:
    folder = study("settled")
    engine(folder)
    new = unpooled(folder, PAPER, 4)[3]
    who = ("--by", "ada-lovelace-1815", "--grow")
    annot_done("pool", "add", "--run", "engine.run", "--method", "engine", "--depth", 4, *who, folder=folder)
    annot_done("pool", "add", PAPER, new, "--reason", "cited by a survey", *who, folder=folder)
    annot_done("plan", folder=folder)
    judge_the_rest(folder)
    annot_done("qrels", folder=folder)
    annot_done("run", "fabs_tfidf", "fabs_bm25", folder=folder)
    answers(folder)
    annot_done("release", "out", "--licence", "CC0-1.0", folder=folder)
    told = {path: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}
    assert not [path for path, content in told.items() if b"ada-lovelace" in content]
    head = json.loads((folder / "out" / "pools" / f"{PAPER}.jsonl").read_text().splitlines()[0])
    assert [(one["version"], one["method"]) for one in head["additions"]] == [(2, "engine"), (3, "manual")]
    (path,) = [path for path in told if path.name.lower() == "datasheet.md"]
    sheet = " ".join(path.read_text().split())
    assert "were added to 9 pools: those of the first 4 of engine that were missing" in sheet
    assert "1 paper was added to 1 pool: found by hand (cited by a survey)" in sheet


# -- brought in by other engines and by people -------------------------------------------------------------------------


def pool(folder: Path, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = annot_done("pool", "show", query, "--json", folder=folder).data["entries"]
    return found


def test_a_run_draws_as_our_own_methods_do_is_replayed_and_a_changed_file_is_refused(
    study: Callable[[str], Path],
) -> None:
    folder = study("pooled")
    paper = PAPER
    new = unpooled(folder, paper, 4)
    write_run(folder / "engine.run", {paper: [new[0], paper, *new[1:]]})
    before = snapshot(folder)
    annot_done("pool", "import", "engine.run", "--method", "engine", "--dry-run", folder=folder)
    assert not difference(before, snapshot(folder))
    told = annot_done("pool", "import", "engine.run", "--method", "engine", "--json", folder=folder).data
    assert (told["query_papers"], told["documents"]) == (1, 5)
    assert [one["what"] for one in told["findings"]] == ["missing query papers"]
    manifest = json.loads((folder / "pools" / "imported" / "manifest.json").read_text())
    assert manifest["files"] == {"engine.run": manifest["methods"]["engine"]["sha256"]}
    handed_in = hashlib.sha256((folder / "engine.run").read_bytes()).hexdigest()
    assert manifest["methods"]["engine"]["source"] == {"name": "engine.run", "sha256": handed_in}
    before = snapshot(folder)
    annot_done("pool", "import", "engine.run", "--method", "engine", folder=folder)
    assert not difference(before, snapshot(folder))
    # It draws where it is named, and where it has nothing it runs dry.
    ours = ["abs_tfidf", "title_tfidf", "cited"]
    methods = [word for name in (*ours, "engine") for word in ("--method", name)]
    drawn = {one["topic_id"]: one for one in annot_done("pool", *methods, "--json", folder=folder).data["pools"]}
    assert drawn["fic0802"]["dry"] == ["engine"]
    by_engine = [entry for entry in pool(folder, paper) if entry["drawn"]["method"] == "engine"]
    # The query paper never enters, and takes no rank.
    assert [(entry["doc_id"], entry["drawn"]["rank"]) for entry in by_engine] == [
        (doc_id, rank) for rank, doc_id in enumerate(new[:3], start=1)
    ]
    assert annot_done("check", "pools", "--json", folder=folder).data["pools"]["differences"] == {}
    assert "engine" in annot_done("pool", "show", folder=folder).stdout
    annot_done("check", "files", folder=folder)
    before = snapshot(folder)
    annot_done("pool", folder=folder)
    assert not difference(before, snapshot(folder))
    # Another file under that name would make the pools unrepeatable; a changed one is no longer what was brought in.
    write_run(folder / "other.run", {paper: new[::-1]})
    refused = annot("pool", "import", "other.run", "--method", "engine", folder=folder)
    assert refused.exit_code == 2
    assert "the pools were drawn from another ranking of this name" in refused.stderr
    file = folder / "pools" / "imported" / "engine.run"
    file.write_text(file.read_text().replace(new[0], new[3]))
    for command in (["pool"], ["pool", "import", "engine.run", "--method", "second"]):
        refused = annot(*command, folder=folder)
        assert refused.exit_code == 2
        assert "engine.run: its SHA-256 is" in refused.stderr
    assert annot("check", "files", folder=folder).exit_code == 1


def test_a_hand_s_find_is_manual_in_every_table_and_survives_a_redraw(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    first, second = unpooled(folder, "fic0407", 2)
    there = pool(folder, "fic0407")[0]["doc_id"]
    call = ("pool", "add", "fic0407-background", first, there, "--reason", "cited by a survey", "--by", "ada")
    before = snapshot(folder)
    promised = annot_done(*call, "--dry-run", "--json", folder=folder).data
    assert not difference(before, snapshot(folder))
    added = annot_done(*call, "--json", folder=folder)
    assert {**added.data, "notes": None} == {**promised, "notes": None}
    assert (added.data["version"], [one["added"] for one in added.data["pools"]]) == (2, [[first]])
    assert f"{there}: already in the pool" in added.stderr
    before = snapshot(folder)
    assert "nothing is new" in annot_done(*call, folder=folder).stderr
    assert not difference(before, snapshot(folder))
    entry = pool(folder, "fic0407")[-1]
    assert (entry["doc_id"], entry["drawn"]["method"]) == (first, "manual")
    shown = annot_done("pool", "show", "fic0407", folder=folder).stdout
    assert "version 2: manual: 1 added" in shown
    assert "by ada: cited by a survey" in shown
    assert "manual" in annot_done("pool", "show", folder=folder).stdout
    traced = annot_done("trace", "fic0407-background", first, folder=folder).stdout
    assert "manual" in traced
    assert "cited by a survey" in traced
    file = (folder / "pools" / "queries" / "fic0407.jsonl").read_text().splitlines()
    assert json.loads(file[0])["additions"][0] == {
        "version": 2, "method": "manual", "depth": None, "reason": "cited by a survey", "documents": [first],
    }  # fmt: skip
    assert "ada" not in "".join(file)
    # Drawn again, also deeper, it is there still; and the next one is a version of its own.
    annot_done("pool", "--frozen", folder=folder)
    assert pool(folder, "fic0407")[-1] == entry
    annot_done("pool", "add", "fic0407", second, "--reason", "a colleague", folder=folder)
    annot_done("pool", "--per-method", 5, "--frozen", folder=folder)
    assert {first, second} <= {one["doc_id"] for one in pool(folder, "fic0407")}
    replayed = annot_done("check", "pools", "--json", folder=folder).data["pools"]
    assert (replayed["added_to"], replayed["differences"]) == (1, {})
    annot_done("check", "files", folder=folder)
