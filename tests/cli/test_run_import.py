"""Runs of others: what is wrong with them is told with counts, refused or settled by a stated rule, and then they count
as our own do, in evaluation, report and release."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from annot.formats.trec import read_run
from command_line import annot, annot_done, difference, snapshot

QUERY, OTHER = "fic0407-background", "fic0407-result"
META = """\
ir_metadata.start
schema-version: 0.1
tag: dense
platform:
  hardware:
    cpu: {model: A fast one}
method:
  automatic: true
system: Dense
seed: 7
seconds: 12.5
ir_metadata.end
"""


def pool(folder: Path, query: str = QUERY) -> list[str]:
    return [entry["doc_id"] for entry in annot_done("pool", "show", query, "--json", folder=folder).data["entries"]]


def run_text(rankings: dict[str, list[str]], *, tag: str = "theirs") -> str:
    return "".join(
        f"{query} Q0 {doc} {rank} {100 - rank} {tag}\n"
        for query, docs in rankings.items()
        for rank, doc in enumerate(docs, start=1)
    )


def stored(folder: Path, tag: str) -> dict[str, list[str]]:
    lines = (folder / "exports" / "runs" / f"{tag}.run").read_text().splitlines()
    return {query: [doc.doc_id for doc in docs] for query, docs in read_run(lines, name=tag).items()}


def test_a_whole_run_comes_in_with_its_metadata_and_again_changes_nothing(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    docs = pool(folder)
    head = "".join(f"# {line}\n" for line in META.splitlines())
    (folder / "theirs.run").write_text(head + run_text({QUERY: docs}))
    told = annot_done("run", "import", "theirs.run", "--tag", "dense-7", "--json", folder=folder).data
    assert (told["system"], told["seed"], told["documents"], told["of_documents"]) == ("Dense", 7, len(docs), len(docs))
    assert [one["what"] for one in told["findings"]] == ["missing queries"]
    assert stored(folder, "dense-7") == {QUERY: docs}
    record = json.loads((folder / "exports" / "runs" / "dense-7.json").read_text())
    assert record["settings"]["metadata"]["platform"]["hardware"]["cpu"]["model"] == "A fast one"
    digest = hashlib.sha256((folder / "theirs.run").read_bytes()).hexdigest()
    assert record["settings"]["files"] == {"theirs.run": digest}
    before = snapshot(folder)
    annot_done("run", "import", "theirs.run", "--tag", "dense-7", folder=folder)
    assert not difference(before, snapshot(folder))


def test_what_is_foreign_or_twice_is_refused_with_examples_until_a_rule_is_named(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    docs = pool(folder)
    text = run_text({QUERY: [docs[0], "nowhere", *docs[1:], docs[0]], "fic9999-method": docs[:2]})
    (folder / "bad.run").write_text(text)
    before = snapshot(folder)
    refused = annot("run", "import", "bad.run", "--tag", "bad", folder=folder)
    assert refused.exit_code == 1
    for fault in (
        "foreign queries: 1 in 1 query: fic9999-method",
        f"foreign candidates: 1 in 1 query: {QUERY} nowhere",
        f"duplicates: 1 in 1 query: {QUERY} {docs[0]}",
        "--foreign drop",
        "--duplicates best",
    ):
        assert fault in refused.message()
    assert not difference(before, snapshot(folder))
    rules = ("--foreign", "drop", "--duplicates", "best")
    done = annot_done("run", "import", "bad.run", "--tag", "bad", *rules, folder=folder)
    assert stored(folder, "bad") == {QUERY: docs}
    assert "foreign candidates: 1 in 1 query" in done.stdout
    annot_done("run", "import", "bad.run", "--tag", "bad", "--foreign", "keep", "--duplicates", "best", folder=folder)
    assert stored(folder, "bad") == {QUERY: [docs[0], "nowhere", *docs[1:]]}


def test_an_imported_run_is_evaluated_reported_and_released(study: Callable[[str], Path], tmp_path: Path) -> None:
    folder = study("measured")
    queries = [one["query_id"] for one in annot_done("query", "list", "--json", folder=folder).data]
    (folder / "theirs.run").write_text(run_text({query: sorted(pool(folder, query)) for query in queries}))
    (folder / "meta.yaml").write_text(META)
    annot_done("run", "import", "theirs.run", "--tag", "dense-7", "--meta", "meta.yaml", folder=folder)
    lines = annot_done("evaluate", "--json", folder=folder).data["lines"]
    assert {line["run"] for line in lines} >= {"Dense", "fabs_bm25"}
    annot_done("report", folder=folder)
    page = (folder / "exports" / "report.md").read_text()
    assert "Dense" in page
    assert "A fast one" in page
    draft = annot_done("release", tmp_path / "out", "--draft", "--licence", "CC0-1.0", folder=folder)
    assert "dense-7.run: not on record" not in draft.stderr
    released = tmp_path / "out" / "runs" / "dense-7.run"
    assert released.read_bytes() == (folder / "exports" / "runs" / "dense-7.run").read_bytes()
    told = json.loads(released.with_suffix(".json").read_text())
    assert (told["kind"], told["settings"]["metadata"]["seed"]) == ("imported", 7)
