"""`annot run` for topics that are texts: what can rank for them does, and what cannot says so and leaves them out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from annot.formats.trec import read_run
from annot.store import runs
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import made, paper, words_of
from study_stages import set_in

TEXTS = {"T1": words_of(7)[:12], "T2": words_of(9)[5:20]}


def add_texts(annot: Callable[..., Result]) -> None:
    for name, words in TEXTS.items():
        half = len(words) // 2
        text, description = " ".join(words[:half]), " ".join(words[half:])
        assert annot("query", "add", "--text", text, "--description", description, "--id", name).exit_code == 0


@pytest.fixture
def mixed(ws: Workspace, annot: Callable[..., Result]) -> Workspace:
    """Pools for two papers, of which one facet each is asked, and for two texts."""
    made(ws, annot, [paper(number) for number in range(60)])
    add_texts(annot)
    assert annot("pool", "--per-method", "5").exit_code == 0
    return ws


@pytest.fixture
def texts(ws: Workspace, annot: Callable[..., Result]) -> Workspace:
    """Pools for two texts, and no other topic."""
    made(ws, annot, [paper(number) for number in range(60)])
    for name in ("p5-method", "p12-method"):
        assert annot("query", "remove", name).exit_code == 0
    add_texts(annot)
    set_in(ws.root, {"pool": {"methods": ["title_tfidf", "abs_tfidf"]}})
    assert annot("pool", "--per-method", "5").exit_code == 0
    return ws


def facts_of(ws: Workspace) -> dict[str, dict[str, Any]]:
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        return {run.tag: run.facts for run in runs.read_runs(session)}


def first_of(ws: Workspace, tag: str) -> dict[str, str]:
    with ws.run_file(tag).open(encoding="utf-8") as lines:
        return {query_id: ranking[0].doc_id for query_id, ranking in read_run(lines, name=tag).items()}


def test_papers_keep_their_rankings_beside_texts(mixed: Workspace, annot: Callable[..., Result]) -> None:
    assert annot("run", "fabs_tfidf", "whole_bm25", "lsa").exit_code == 0
    first = first_of(mixed, "fabs_tfidf")
    assert set(first) == {"p5-method", "p12-method", "T1", "T2"}
    assert (first["T1"], first["T2"]) == ("p7", "p9")
    together = mixed.run_file("fabs_tfidf").read_text(encoding="utf-8").splitlines()
    for name in TEXTS:
        assert annot("query", "remove", name).exit_code == 0
    assert annot("run", "fabs_tfidf").exit_code == 0
    alone = mixed.run_file("fabs_tfidf").read_text(encoding="utf-8").splitlines()
    assert alone == [line for line in together if not line.startswith("T")]


def with_vectors(ws: Workspace, annot: Callable[..., Result]) -> None:
    """Vectors of a model that only knows papers."""
    matrix = np.random.default_rng(3).normal(size=(60, 4))
    np.save(ws.root / "mine.npy", matrix)
    (ws.root / "ids.txt").write_text("".join(f"p{number}\n" for number in range(60)), encoding="utf-8")
    told = annot("vectors", "add", "mine", str(ws.root / "mine.npy"), "--ids", str(ws.root / "ids.txt"))
    assert told.exit_code == 0, told.stderr


def test_a_system_without_vectors_of_texts_says_so_and_leaves_them_out_on_record(
    mixed: Workspace, annot: Callable[..., Result]
) -> None:
    with_vectors(mixed, annot)
    told = annot("run", "mine", "fabs_tfidf")
    assert told.exit_code == 0, told.stderr
    assert (
        "mine: leaves out 2 topics that are texts (T1, T2), because this system needs a vector of each topic in"
        " corpus/vectors/mine" in told.stderr
    )
    assert told.stderr.count("leaves out") == 1
    assert set(first_of(mixed, "mine")) == {"p5-method", "p12-method"}
    assert facts_of(mixed)["mine"]["topics_left_out"] == ["T1", "T2"]
    assert "topics_left_out" not in facts_of(mixed)["fabs_tfidf"]


def test_a_system_with_no_topic_left_is_refused_and_nothing_is_written(
    texts: Workspace, annot: Callable[..., Result]
) -> None:
    refused = annot("run", "whole_tfidf", "sentbert-pp", "scisearch-untrained")
    assert refused.exit_code == 2
    for name in ("sentbert-pp", "scisearch-untrained"):
        assert f"{name} needs the sentences of a query paper" in refused.stderr
    assert "whole_tfidf, whole_bm25, whole_ppmi200, whole_tfidfppmi200, lsa" in refused.message()
    assert facts_of(texts) == {}
    assert not texts.run_file("whole_tfidf").exists()
