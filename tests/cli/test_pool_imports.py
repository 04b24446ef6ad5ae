"""Other engines and people bring candidates: told at import, drawn, replayed, and known by their origin everywhere."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from command_line import annot, annot_done, difference, snapshot


def corpus_ids(folder: Path) -> list[str]:
    lines = (folder / "papers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["paper_id"] for line in lines]


def pool(folder: Path, query: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = annot_done("pool", "show", query, "--json", folder=folder).data["entries"]
    return found


def pooled(folder: Path, query: str) -> set[object]:
    return {entry["doc_id"] for entry in pool(folder, query)}


def outside(folder: Path, query: str, n: int) -> list[str]:
    """Papers that are no query paper and in no pool."""
    papers = {one["topic_id"] for one in annot_done("query", "list", "--json", folder=folder).data}
    there = pooled(folder, query)
    return [doc_id for doc_id in corpus_ids(folder) if doc_id not in there | papers][:n]


def write_run(folder: Path, rankings: Mapping[str, Sequence[str]], name: str = "engine.run") -> None:
    (folder / name).write_text(
        "".join(
            f"{topic} Q0 {doc_id} {rank} {100 - rank} engine\n"
            for topic, docs in rankings.items()
            for rank, doc_id in enumerate(docs, start=1)
        )
    )


def test_a_run_draws_as_our_own_methods_do_is_replayed_and_a_changed_file_is_refused(
    study: Callable[[str], Path],
) -> None:
    folder = study("pooled")
    paper = "fic0407"
    new = outside(folder, paper, 4)
    write_run(folder, {paper: [new[0], paper, *new[1:]]})
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
    by_engine = [entry for entry in pool(folder, paper) if entry["drawn"]["method"] == "engine"]  # type: ignore[index]
    # The query paper never enters, and takes no rank.
    assert (
        [(entry["doc_id"], entry["drawn"]["rank"]) for entry in by_engine]
        == [  # type: ignore[index]
            (doc_id, rank) for rank, doc_id in enumerate(new[:3], start=1)
        ]
    )
    assert annot_done("check", "pools", "--json", folder=folder).data["pools"]["differences"] == {}
    assert "engine" in annot_done("pool", "show", folder=folder).stdout
    annot_done("check", "files", folder=folder)
    before = snapshot(folder)
    annot_done("pool", folder=folder)
    assert not difference(before, snapshot(folder))
    # Another file under that name would make the pools unrepeatable; a changed one is no longer what was brought in.
    write_run(folder, {paper: new[::-1]}, "other.run")
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
    first, second = outside(folder, "fic0407", 2)
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
    assert (entry["doc_id"], entry["drawn"]["method"]) == (first, "manual")  # type: ignore[index]
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
    assert {first, second} <= pooled(folder, "fic0407")
    replayed = annot_done("check", "pools", "--json", folder=folder).data["pools"]
    assert (replayed["added_to"], replayed["differences"]) == (1, {})
    annot_done("check", "files", folder=folder)
