"""`annot run` for topics that are texts: what can rank for them does, and what cannot says so and leaves them out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.formats.trec import read_run
from annot.publishing.report.tables import sentences
from annot.steps.run import MadeRun
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
        return {query_id: ranking[0].doc_id for query_id, ranking in read_run(lines, name=tag).rankings.items()}


def test_a_study_of_texts_is_ranked_by_the_usual_systems_under_names_that_speak_of_no_facet(
    texts: Workspace, annot: Callable[..., Result]
) -> None:
    told = annot("run", "--json")
    assert told.exit_code == 0, told.stderr
    ranked = {one["tag"]: one["queries"] for one in json.loads(told.stdout)["data"]}
    assert ranked == dict.fromkeys(("whole_tfidf", "whole_bm25", "whole_ppmi200", "whole_tfidfppmi200"), 2)
    assert first_of(texts, "whole_tfidf") == {"T1": "p7", "T2": "p9"}
    assert "topics_left_out" not in facts_of(texts)["whole_tfidf"]
    before = texts.run_file("whole_bm25").read_bytes()
    assert annot("run").exit_code == 0
    assert texts.run_file("whole_bm25").read_bytes() == before


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


def a_run(ws: Workspace, lines: list[tuple[str, str]]) -> str:
    """A TREC run of these pairs, best first."""
    path = ws.root / "engine.run"
    told = [f"{query_id} Q0 {doc_id} 1 {-at} engine\n" for at, (query_id, doc_id) in enumerate(lines)]
    path.write_text("".join(told), encoding="utf-8")
    return str(path)


def test_the_run_of_another_engine_names_texts_as_they_are(texts: Workspace, annot: Callable[..., Result]) -> None:
    pooled = annot("pool", "show", "T1", "--json")
    (first, *_, last) = [one["doc_id"] for one in json.loads(pooled.stdout)["data"]["entries"]]
    path = a_run(texts, [("T1", last), ("T1", first), ("T2", "p9")])
    for _ in range(2):
        told = annot("run", "import", path, "--tag", "engine")
        assert told.exit_code == 0, told.stderr
        assert "engine: 2 of 2 queries, 3 documents" in told.stdout
        assert first_of(texts, "engine") == {"T1": last, "T2": "p9"}


def test_a_run_of_which_nothing_is_left_is_refused_and_not_written(
    texts: Workspace, annot: Callable[..., Result]
) -> None:
    path = a_run(texts, [("T1", "x1"), ("T2", "x2")])
    refused = annot("run", "import", path, "--tag", "engine", "--foreign", "drop")
    assert refused.exit_code == 2
    assert "none of its documents is a candidate of its query" in refused.message()
    assert "--foreign keep" in refused.message()
    assert (facts_of(texts), texts.run_file("engine").exists()) == ({}, False)
    assert annot("run", "import", path, "--tag", "engine", "--foreign", "keep").exit_code == 0
    other = a_run(texts, [("p5", "p9")])
    refused = annot("run", "import", other, "--tag", "second", "--foreign", "drop")
    assert refused.exit_code == 2
    assert "none of its queries is in this study" in refused.message()
    assert "`annot query list`" in refused.message()


@pytest.mark.parametrize(
    ("topics", "told"),
    [
        (1, "1 topic that is a text (T1)"),
        (5, "5 topics that are texts (T1, T2, T3, T4, T5)"),
        (6, "6 topics that are texts (T1, T2, T3, T4, T5, ...)"),
    ],
)
def test_at_most_five_of_the_topics_left_out_are_named(topics: int, told: str) -> None:
    names = [f"T{at}" for at in range(1, topics + 1)]
    left = MadeRun("mine", 1, 9, Path("mine.run"), 0, names, "a vector of each")
    other = replace(left, tag="other", needed="its words")
    assert sentences("commands.texts_left_out", left_out={tuple(names): [left]}) == (
        f"mine: leaves out {told}, because this system needs a vector of each",
    )
    assert sentences("commands.texts_left_out", left_out={tuple(names): [left, other]}) == (
        f"mine, other: leave out {told}, because mine needs a vector of each, other needs its words",
    )
