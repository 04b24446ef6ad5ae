"""Systems with encoders in a study: run, run again from kept vectors, with what they matched, refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from annot.base.array_files import strings_of
from annot.formats.trec import read_run
from annot.measuring.measured import matches_of
from annot.ranking.systems import encoders
from annot.ranking.vectors import Vectors
from annot.store.papers import find_papers, paper_ids
from annot.study.workspace import Workspace
from annot_systems import sentences
from command_line import annot, annot_done
from indexed import write_vectors
from transformers import AutoModel

NAMES = ("unsimcse", "mpnet-1b", "specter", "ot-aspire", "att-aspire", "mine")


@pytest.fixture(scope="module")
def made(study: Path) -> dict[str, dict[str, Any]]:
    """The settings of each run."""
    annot_done("run", *NAMES, "fabs_bm25", folder=study)
    return {name: json.loads((study / f"exports/runs/{name}.json").read_text())["settings"] for name in NAMES}


def test_every_run_orders_every_pool_and_says_how(study: Path, made: dict[str, dict[str, Any]]) -> None:
    terms = read_run((study / "exports/runs/fabs_bm25.run").read_text().splitlines(), name="fabs_bm25")
    for name in NAMES:
        found = read_run((study / f"exports/runs/{name}.run").read_text().splitlines(), name=name)
        assert {query: {doc.doc_id for doc in ranking} for query, ranking in found.items()} == {
            query: {doc.doc_id for doc in ranking} for query, ranking in terms.items()
        }
    assert {name: made[name]["similarity"] for name in ("unsimcse", "mpnet-1b", "ot-aspire", "mine")} == {
        **{"unsimcse": "cosine", "mpnet-1b": "l2", "ot-aspire": "l2", "mine": "cosine"}
    }
    assert (made["ot-aspire"]["temperature"], made["ot-aspire"]["lambda"]) == (0.5, 20.0)
    assert made["specter"]["vectors"]["reading"] == "document"
    assert len({made[name]["weights_sha256"] for name in ("unsimcse", "mpnet-1b", "ot-aspire")}) == 3


def test_a_second_run_reads_kept_vectors_and_gives_the_same(
    study: Path, made: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: (study / f"exports/runs/{name}.run").read_bytes() for name in NAMES}
    for name in ("open_text_encoder", "open_paper_encoder", "encode_in_context"):
        monkeypatch.setattr(encoders, name, None)
    annot_done("run", *NAMES, folder=study)
    assert {name: (study / f"exports/runs/{name}.run").read_bytes() for name in NAMES} == before


def test_a_run_by_sentences_keeps_what_it_matched_heaviest_first(study: Path, made: dict[str, dict[str, Any]]) -> None:
    ws = Workspace.open(study)
    run = read_run((study / "exports/runs/ot-aspire.run").read_text().splitlines(), name="ot-aspire")
    query_id, ranking = next(iter(run.items()))
    matched = matches_of(ws, "ot-aspire")[query_id, ranking[0].doc_id]
    weights = [match.weight for match in matched]
    assert weights == sorted(weights, reverse=True)
    assert 0 < sum(weights) <= 1 + 1e-5
    papers = find_papers(study / "corpus", [query_id.split("-")[0], ranking[0].doc_id])
    query, document = (len(papers[paper_id].sentences) for paper_id in (query_id.split("-")[0], ranking[0].doc_id))
    assert all(match.query_sentence < query and match.doc_sentence < document for match in matched)
    # A run of documents as a whole has none.
    assert matches_of(ws, "specter") == {}


def test_weights_read_a_topic_that_is_a_text(study: Path, tmp_path: Path) -> None:
    study = Path(shutil.copytree(study, tmp_path / "study", symlinks=True))
    annot_done("query", "add", "--text", "What is asked?", "--id", "T1", folder=study)
    annot_done("pool", "--query", "T1", "--method", "abs_tfidf", "--per-method", "5", "--grow", folder=study)
    pooled = {one["doc_id"] for one in annot_done("pool", "show", "T1", "--json", folder=study).data["entries"]}
    annot_done("run", "specter", folder=study)
    ranked = read_run((study / "exports/runs/specter.run").read_text().splitlines(), name="specter")["T1"]
    assert {doc.doc_id for doc in ranked} == pooled
    assert len({doc.score for doc in ranked}) > 1


def test_vectors_in_the_corpus_win_over_weights_and_order_by_their_metric(study: Path) -> None:
    ids = paper_ids(study / "corpus")
    matrix = np.random.default_rng(0).normal(size=(len(ids), 4)).astype(np.float32)
    for name in ("specter", "house"):
        made = Vectors(strings_of(ids), matrix, model=name, space=name, metric="cosine", facts={})
        write_vectors(made, study / "corpus" / "vectors" / name)
    annot_done("run", "specter", "house", folder=study)
    runs = {
        name: read_run((study / f"exports/runs/{name}.run").read_text().splitlines(), name=name)
        for name in ("specter", "house")
    }
    assert runs["specter"] == runs["house"]
    query_id, ranking = next(iter(runs["house"].items()))
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    row = {paper_id: at for at, paper_id in enumerate(ids)}
    for doc in ranking:
        assert doc.score == pytest.approx(float(unit[row[query_id.split("-")[0]]] @ unit[row[doc.doc_id]]), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("susimcse", "hf download princeton-nlp/sup-simcse-bert-base-uncased --local-dir"),
        ("ictsentbert", "they were never published"),
        ("../susimcse", "system '../susimcse': not known"),
    ],
)
def test_weights_that_are_not_there_are_named_with_the_command_that_fetches_them(
    study: Path, name: str, says: str
) -> None:
    refused = annot("run", name, folder=study)
    assert refused.exit_code == 2
    assert says in refused.message()


def test_what_weights_lack_of_a_system_is_listed_and_kept_with_its_runs(study: Path) -> None:
    listed = {one["name"]: one for one in annot_done("run", "list", "--json", folder=study).data}
    assert "(without its adapter)" in listed["specter2"]["needs"]
    tiny_models.bert(study / "weights" / "specter2", positions=120)
    mixed = tiny_models.bert(study / "weights" / "specter-cocite", positions=120)
    state = {f"bert_encoder.{name}": value for name, value in AutoModel.from_pretrained(mixed).state_dict().items()}
    torch.save({**state, "bert_layer_weights.weight": torch.zeros(1, 3)}, mixed / "model_cur_best.pt")
    for name in ("scibert-cased", "scibert-uncased"):
        tiny_models.bert(study / "weights" / name, seed=len(name), positions=120)
    annot_done("run", "specter2", "specter-cocite", "scibert-cased", "scibert-uncased", folder=study)
    settings = {
        name: json.loads((study / f"exports/runs/{name}.json").read_text())["settings"]
        for name in ("specter2", "specter-cocite", "scibert-cased")
    }
    assert settings["specter2"]["lacks"] == "its adapter"
    assert settings["specter-cocite"]["vectors"]["layers"] == "mixed"
    assert "lacks" not in settings["specter-cocite"]
    assert settings["scibert-cased"]["reading"] == "mean"


def test_a_run_that_gave_up_says_how_often(
    study: Path, made: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "plans_given_up" not in made["ot-aspire"]
    monkeypatch.setattr(sentences, "STEPS", 1)
    told = annot_done("run", "ot-aspire", folder=study)
    settings = json.loads((study / "exports/runs/ot-aspire.json").read_text())["settings"]
    given_up = settings["plans_given_up"]
    assert given_up > 0
    documents = len((study / "exports/runs/ot-aspire.run").read_text().splitlines())
    assert (
        f"ot-aspire: the scores of {given_up} of {documents} documents are approximate, because optimal transport did "
        "not converge" in told.stderr
    )
    monkeypatch.undo()
    annot_done("run", "ot-aspire", folder=study)
