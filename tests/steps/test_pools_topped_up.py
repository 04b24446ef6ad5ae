"""Pools topped up by a run from a file: what is added, when it is kept, and which papers nothing can be said for."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import ScoredDoc
from annot.formats.trec import write_run
from annot.pools.drawn_pools import PoolGrowth
from annot.pools.frozen_rankings import lines_of, write_rankings
from annot.ranking.submission import imported_methods
from annot.steps import pool
from annot.store import pools
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, Small, pool_of
from study_stages import copied, quietly

PAPERS = [query.topic_id for query in QUERIES]


def ranking(*doc_ids: str) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(doc_id, 1.0 - at / 100) for at, doc_id in enumerate(doc_ids))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Pools of d00 to d09, drawn by two methods whose rankings are on disk; d99 is in the corpus only."""
    ws = copied(Small(), "pooled", tmp_path / "study")
    drew = dict.fromkeys(PAPERS, ranking(*DOCUMENTS))
    methods: dict[str, Any] = {"title_tfidf": {}, "abs_tfidf": {}}
    facts = {"corpus_sha256": "1", "ranking_depth": 50, "topics": PAPERS, "methods": methods}
    write_rankings(ws, lines_of(dict.fromkeys(methods, drew)), facts=facts)
    return ws


def run_file(folder: Path, *doc_ids: str, papers: Sequence[str] = PAPERS) -> Path:
    path = folder / "mine.run"
    path.write_text(write_run(dict.fromkeys(papers, ranking(*doc_ids)), tag="mine"), encoding="utf-8")
    return path


def top_up(ws: Workspace, file: Path | None, depth: int | None, **of: Any) -> PoolGrowth:
    usual: dict[str, Any] = {
        "method": "mine", "only": (), "reason": None, "by": "me", "grow": False, "dry_run": False,
    }  # fmt: skip
    return pool.top_up(ws, file=file, depth=depth, **(usual | of), advance=quietly)


def entries(ws: Workspace) -> dict[str, int]:
    with ws.reading() as session:
        return {name: len(pool.entries) for name, pool in pools.read_pools(session).items()}


def test_what_the_pools_lack_of_the_best_is_added_as_one_version_and_once(ws: Workspace, tmp_path: Path) -> None:
    file = run_file(tmp_path, "d00", "d99", "d01")
    dry = top_up(ws, file, 2, dry_run=True)
    assert (dry.version, imported_methods(ws), set(entries(ws).values())) == (2, {}, {10})
    assert top_up(ws, file, 1, dry_run=True).version == 2, "its best is in the pools, and they say so from then on"
    found = top_up(ws, file, 2)
    assert (found.version, found.method, found.depth) == (2, "mine", 2)
    assert [(one.topic_id, one.added, one.size) for one in found.pools] == [(name, ("d99",), 11) for name in PAPERS]
    assert list(imported_methods(ws)) == ["mine"]
    assert any("50%" in note for note in found.notes), "of its best two, d00 was there"
    assert top_up(ws, file, 2).version is None
    again = top_up(ws, None, 3)
    assert (again.version, {one.added for one in again.pools}) == (3, {()})


def test_a_run_that_ends_before_the_depth_is_named(ws: Workspace, tmp_path: Path) -> None:
    file = run_file(tmp_path, "d00", "d99", "d01")
    for depth, ends in ((3, False), (4, True)):
        notes = top_up(ws, file, depth, dry_run=True).notes
        assert any("p1" in note and "p4" in note for note in notes) is ends


def test_only_the_pools_that_are_named_are_topped_up(ws: Workspace, tmp_path: Path) -> None:
    found = top_up(ws, run_file(tmp_path, "d99"), 1, only=("p2-method", "p3"))
    assert {one.topic_id for one in found.pools} == {"p2", "p3"}
    assert entries(ws) == {"p1": 10, "p2": 11, "p3": 11, "p4": 10}


def test_papers_that_the_method_ranked_before_are_not_ranked_again(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []
    rank_corpus = pool.frozen_rankings.rank_corpus

    def noted(ws: Workspace, **options: Any) -> Any:
        calls.append(options)
        return rank_corpus(ws, **options)

    monkeypatch.setattr(pool.frozen_rankings, "rank_corpus", noted)
    top_up(ws, run_file(tmp_path, "d99", "d05"), 1, only=("p2-method",))
    top_up(ws, None, 1)
    asked = [(call["topics"], call["methods"], call["ranking_depth"], {*call["imports"]}) for call in calls]
    assert asked == [(["p2"], ["mine"], 50, {"mine"}), (["p1", "p3", "p4"], ["mine"], 50, set())]
    assert [doc.doc_id for doc in calls[0]["imports"]["mine"]["p1"]] == ["d99", "d05"]
    assert set(entries(ws).values()) == {11}
    top_up(ws, None, 2)
    assert len(calls) == 2


def refused(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, *doc_ids: str, alike: tuple[str, ...], same_title: tuple[str, ...]
) -> list[str]:
    """What speaks against adding these to the pool of p1."""
    found = SimpleNamespace(texts=(alike,), of_same_title=lambda ids: dict.fromkeys(ids, same_title))
    monkeypatch.setattr(pool.admission, "near_duplicates", lambda ws, *, keep, advance: found)
    monkeypatch.setattr(
        pool.papers, "find_papers", lambda corpus, ids: {name: None for name in ids if name != "nowhere"}
    )
    try:
        pool._refuse(ws, pool_of("p1"), doc_ids, keep=False, advance=quietly)
    except InputError as error:
        return list(error.faults)
    return []


@pytest.mark.parametrize(
    ("doc_ids", "alike", "same_title", "faults"),
    [
        (["x"], ("y", "z"), (), []),
        (["x"], ("x", "y"), (), []),
        (["x"], ("x", "d03"), (), ["x: nearly the same text as d03, in the pool"]),
        (["x"], ("x", "p1"), (), ["x: nearly the same text as the query paper"]),
        (["x", "y"], ("x", "y"), (), ["y: nearly the same text as x, which is also named here"]),
        (["x", "y"], (), ("y",), ["y: is the query paper, or has its title"]),
        (["p1"], (), (), ["p1: is the query paper, or has its title"]),
        (["nowhere", "x"], ("x", "nowhere"), (), [
            "nowhere: not in the corpus", "x: nearly the same text as nowhere, which is also named here",
        ]),
    ],
)  # fmt: skip
def test_a_paper_with_the_text_of_another_is_not_added(
    ws: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    doc_ids: list[str],
    alike: tuple[str, ...],
    same_title: tuple[str, ...],
    faults: list[str],
) -> None:
    assert refused(ws, monkeypatch, *doc_ids, alike=alike, same_title=same_title) == faults


def test_what_was_in_the_pool_already_is_named(ws: Workspace) -> None:
    found = pool.add(ws, "p1", ["d00", "d99"], reason="Found.", by="me", grow=False, dry_run=True, advance=quietly)
    assert any("d00" in note for note in found.notes)
    assert not any("d01" in note for note in found.notes)
