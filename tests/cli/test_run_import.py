"""Runs of others: what is wrong with them is told with counts, refused or settled by a stated rule, and then they count
as our own do, in evaluation, report and release."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import pytrec_eval
from annot import read_qrels
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
    return {query: [doc.doc_id for doc in docs] for query, docs in read_run(lines, name=tag).rankings.items()}


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


def test_the_file_of_an_imported_run_has_its_scores_and_gives_its_figures(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    scores = {doc: 1235 - at / 1000 for at, doc in enumerate(pool(folder))}
    lines = (f"{QUERY} Q0 {doc} 0 {score} theirs\n" for doc, score in scores.items())
    (folder / "theirs.run").write_text("".join(lines))
    told = annot_done("run", "import", "theirs.run", "--tag", "theirs", "--json", folder=folder).data
    assert [one["what"] for one in told["findings"]] == ["missing queries"], "none of the scores ties with another"
    kept = read_run((folder / "exports/runs/theirs.run").read_text().splitlines(), name="theirs").rankings[QUERY]
    assert {doc.doc_id: doc.score for doc in kept} == scores
    qrels = read_qrels(folder / "exports/qrels.txt")
    graded = {QUERY: qrels[qrels["query_id"] == QUERY].set_index("doc_id")["relevance"].to_dict()}
    theirs = pytrec_eval.RelevanceEvaluator(graded, {"map"}, relevance_level=2).evaluate({QUERY: scores})
    found = annot_done("evaluate", "theirs", "--convention", "trec", "--per-query", "--csv", folder=folder).stdout
    (ours,) = (line.split(",") for line in found.splitlines() if ",AP," in line and f",{QUERY}," in line)
    header = found.splitlines()[0].split(",")
    assert math.isclose(float(ours[header.index("value")]), theirs[QUERY]["map"], abs_tol=1e-6)


def test_neither_run_of_a_name_takes_the_place_of_the_other_unasked(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    docs = pool(folder)
    (folder / "a.run").write_text(run_text({QUERY: docs}))
    annot_done("run", "import", "a.run", "--tag", "whole_tfidf", "--replace", folder=folder)
    before = snapshot(folder)
    refused = annot("run", "fabs_tfidf", "whole_tfidf", folder=folder)
    assert refused.exit_code == 2
    assert "imported runs have these names: whole_tfidf" in refused.message()
    assert "--replace" in refused.message()
    assert difference(before, snapshot(folder)) == []
    annot_done("run", "whole_tfidf", "--replace", folder=folder)
    assert set(stored(folder, "whole_tfidf")) > {QUERY}
    # And the other way round.
    before = snapshot(folder)
    refused = annot("run", "import", "a.run", "--tag", "whole_tfidf", folder=folder)
    assert refused.exit_code == 2
    assert "--replace" in refused.message()
    assert difference(before, snapshot(folder)) == []
    annot_done("run", "import", "a.run", "--tag", "whole_tfidf", "--replace", folder=folder)
    assert stored(folder, "whole_tfidf") == {QUERY: docs}


def test_a_run_that_somebody_put_there_is_not_written_over_but_can_be_brought_in(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    docs = pool(folder)
    own = folder / "exports" / "runs" / "own.run"
    own.write_text(run_text({QUERY: docs}, tag="own"))
    (folder / "a.run").write_text(run_text({QUERY: docs[::-1]}))
    assert "not on record" in annot("run", "import", "a.run", "--tag", "own", folder=folder).message()
    annot_done("run", "import", own, "--tag", "own", folder=folder)
    assert stored(folder, "own") == {QUERY: docs}


@pytest.mark.parametrize("field", ["sede: 3", "- a\n- b", "seed: often", "a: [b"])
def test_metadata_that_does_not_hold_is_refused(field: str, study: Callable[[str], Path]) -> None:
    folder = study("measured")
    (folder / "a.run").write_text(run_text({QUERY: pool(folder)}))
    (folder / "a.yaml").write_text(f"{field}\n")
    refused = annot("run", "import", "a.run", "--tag", "a", "--meta", "a.yaml", folder=folder)
    assert refused.exit_code == 2
    assert not (folder / "exports" / "runs" / "a.run").exists()


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
