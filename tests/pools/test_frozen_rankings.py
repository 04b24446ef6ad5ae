"""Rankings on disk: written, read back, joined, refused if changed, and the papers that came after they were made."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Addition, Draw, Paper, Pool, PoolEntry, Ranking, ScoredDoc
from annot.base.settings import Settings
from annot.pools.frozen_rankings import (
    join_rankings,
    lines_of,
    lines_on_disk,
    method_settings,
    needed_topics,
    rank_corpus,
    ranked_corpus,
    read_rankings,
    write_rankings,
)
from annot.pools.pool_design import PoolDesign
from annot.ranking.submission import keep_imported
from annot.store.papers import PaperWriter, beginnings, corpus_sha256
from annot.study.workspace import Workspace, write_manifest


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


def ranking(*doc_ids: str) -> Ranking:
    return tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids))


BM25: dict[str, Ranking] = {"p2": ranking("c"), "p1": ranking("a", "b"), "p3": ()}


def facts(*papers: str, corpus: str = "c1", depth: int = 5, **methods: Any) -> dict[str, Any]:
    return {"corpus_sha256": corpus, "ranking_depth": depth, "topics": list(papers), "methods": methods}


def written(ws: Workspace, rankings: Mapping[str, Mapping[str, Ranking]], **given: Any) -> None:
    write_rankings(ws, lines_of(rankings), facts=given)


def test_rankings_are_read_back_and_a_paper_without_one_has_none(ws: Workspace) -> None:
    written(ws, {"bm25": BM25}, **facts("p1", "p2", "p3", bm25={"k1": 1.5}))
    assert (ws.rankings / "bm25.run").read_text().splitlines() == [
        "p1 Q0 a 1 0 bm25",
        "p1 Q0 b 2 -1 bm25",
        "p2 Q0 c 1 0 bm25",
    ]
    assert read_rankings(ws, {"bm25": ["p3", "p1"]}) == {"bm25": {"p3": (), "p1": BM25["p1"]}}
    assert method_settings(ws) == {"bm25": {"k1": 1.5}}
    manifest = json.loads((ws.rankings / "manifest.json").read_text())
    assert manifest["inputs"] == {"corpus": "c1"}
    assert "corpus_sha256" not in manifest


def test_new_rankings_join_those_on_disk(ws: Workspace) -> None:
    added = lines_of({"dense": {"p4": ranking("d"), "p1": ranking("e")}})
    first = facts("p4", "p1", corpus="c2", depth=3, dense={"space": "s"})
    assert join_rankings(ws, added, facts=first) == (added, first)
    assert method_settings(ws) == {}
    written(ws, {"bm25": BM25}, **facts("p1", "p2", "p3", bm25={"k1": 1.5}), inputs={"x": "1"})
    lines, told = join_rankings(ws, added, facts={**first, "inputs": {"y": "2"}})
    assert lines == {"bm25": {"p3": "", **lines_on_disk(ws)["bm25"]}, "dense": added["dense"]}
    assert told == {
        "corpus_sha256": "c1",
        "inputs": {"x": "1", "y": "2"},
        "ranking_depth": 5,
        "topics": ["p1", "p2", "p3", "p4"],
        "methods": {"bm25": {"k1": 1.5}, "dense": {"space": "s", "corpus_sha256": "c2"}},
        "not_ranked": {"bm25": ["p4"], "dense": ["p2", "p3"]},
    }
    write_rankings(ws, lines, facts=told)
    assert read_rankings(ws, {"dense": ["p4"], "bm25": ["p3"]}) == {"dense": {"p4": ranking("d")}, "bm25": {"p3": ()}}
    with pytest.raises(MissingInput, match="no rankings for these query papers: p9, p4 by bm25, p2 by dense"):
        read_rankings(ws, {"bm25": ["p4", "p1"], "dense": ["p2", "p9"]})
    again, later = join_rankings(ws, lines_of({"bm25": {"p4": ranking("f")}}), facts=facts("p4", depth=9, bm25={}))
    assert again["bm25"]["p4"] == "p4 Q0 f 1 0 bm25\n"
    assert later["not_ranked"] == {"dense": ["p2", "p3"]}
    assert (later["ranking_depth"], later["methods"]["bm25"]) == (9, {})


def test_a_file_that_is_not_as_recorded_is_refused(ws: Workspace) -> None:
    written(ws, {"bm25": BM25}, **facts("p1", "p2", "p3", bm25={}))
    with pytest.raises(MissingInput, match="no rankings to draw from"):
        read_rankings(ws, {"dense": ["p1"]})
    (ws.rankings / "bm25.run").write_text("p1 Q0 b 1 0 bm25\n")
    with pytest.raises(InputError, match="SHA-256"):
        read_rankings(ws, {"bm25": ["p1"]})
    (ws.rankings / "manifest.json").write_text('{"files": {}, "inputs": {}}')
    with pytest.raises(InputError, match="found no `topics`, expected a list"):
        read_rankings(ws, {"bm25": ["p1"]})


def test_a_pool_follows_from_the_rankings_of_its_design_and_of_its_additions() -> None:
    design = PoolDesign("blocks", 2, 50, 1, ("cited", "bm25"), ())
    additions = (
        Addition(2, "dense", 1, (), None, None, None),
        Addition(3, "manual", None, ("x",), None, None, None),
        Addition(4, "bm25", 1, (), None, None, None),
    )
    entry = PoolEntry("d", Draw("bm25", 1, 0.5, 1))
    pool = Pool("p1", "blocks", 2, 50, 1, ("bm25",), (), (), None, (entry,), additions)
    assert needed_topics({"p2": design, "p1": design}, {"p1": pool}) == {"bm25": ["p2", "p1"], "dense": ["p1"]}


def test_given_rankings_leave_out_what_may_not_rank_and_end_at_the_depth(ws: Workspace) -> None:
    with PaperWriter(ws.corpus, name="a.parquet") as writer:
        writer.add(Paper("p1", "A title", ("One.",)))
    given = {"other": {"p1": ranking("a", "p1", "out", "b", "c"), "p9": ranking("z")}}
    rankings, told = rank_corpus(
        ws,
        methods=["other"],
        topics=["p1", "p2"],
        excluded=lambda: {"p1": ["out"]},
        ranking_depth=2,
        keep=False,
        advance=lambda done, total: None,
        imports=given,
    )
    assert [doc.doc_id for doc in rankings["other"]["p1"]] == ["a", "b"]
    assert rankings["other"]["p2"] == ()
    assert (told["ranking_depth"], told["topics"]) == (2, ["p1", "p2"])
    (imported,) = told["methods"]["other"].values()
    assert told["inputs"] == {"pools/imported/other.run": imported}
    assert not ws.cache.exists(), "a study that is only read keeps nothing"


def test_a_given_ranking_for_a_text_keeps_the_document_that_has_the_texts_id(ws: Workspace) -> None:
    with PaperWriter(ws.corpus, name="a.parquet") as writer:
        writer.add(Paper("7", "A title", ("One.",)))
    rankings, _ = rank_corpus(
        ws,
        methods=["other"],
        topics=["7"],
        excluded=dict,
        ranking_depth=2,
        keep=False,
        advance=lambda done, total: None,
        imports={"other": {"7": ranking("a", "7", "b")}},
        texts={"7": {"title": "What?", "abstract": "What?"}},
    )
    assert [doc.doc_id for doc in rankings["other"]["7"]] == ["a", "7"]


def test_rankings_that_were_imported_and_are_not_asked_for_play_no_part(ws: Workspace) -> None:
    with PaperWriter(ws.corpus, name="a.parquet") as writer:
        writer.add(Paper("p1", "A title", ("One.",)))
    for name in ("mine", "other"):
        keep_imported(ws, name, {"p1": ranking("a")}, about={"sha256": name * 2})
    rankings, told = rank_corpus(
        ws,
        methods=["mine"],
        topics=["p1"],
        excluded=dict,
        ranking_depth=2,
        keep=False,
        advance=lambda done, total: None,
    )
    assert rankings == {"mine": {"p1": ranking("a")}}
    assert told["methods"] == {"mine": {"imported": "minemine"}}


def add(ws: Workspace, *names: str, **more: Any) -> str:
    """Add papers in a file of their own; the hash of the corpus after that."""
    with PaperWriter(ws.corpus) as writer:
        for name in names:
            writer.add(Paper(name, f"Title of {name}", (f"A sentence on {name}.", "Another."), **more))
    return corpus_sha256(ws.corpus)


def ranked(ws: Workspace, corpus: str, later: Mapping[str, str] | None = None) -> None:
    """Rankings of that corpus, and of later ones by method."""
    methods = {"bm25": {}, **{name: {"corpus_sha256": sha256} for name, sha256 in (later or {}).items()}}
    facts = {"topics": [], "methods": methods}
    write_manifest(ws.rankings / "manifest.json", files=[], inputs={"corpus": corpus}, facts=facts)


def added(ws: Workspace) -> Sequence[str]:
    return ranked_corpus(ws).added


def test_the_papers_of_later_files_are_added(stored: Workspace) -> None:
    first = add(stored, "p1", "p2")
    ranked(stored, first)
    assert added(stored) == ()
    add(stored, "p3")
    add(stored, "p4", "p5")
    assert added(stored) == ("p3", "p4", "p5")
    assert ranked_corpus(stored).ranked == first


def test_a_method_that_was_added_later_has_ranked_what_came_before_it(stored: Workspace) -> None:
    first, second, third = add(stored, "p1"), add(stored, "p2"), add(stored, "p3")
    ranked(stored, first, {"lsa": second})
    assert added(stored) == ("p3",)
    ranked(stored, first, {"lsa": second, "specter": third})
    assert added(stored) == ()


def test_papers_that_came_after_passages_began_are_added_too(stored: Workspace) -> None:
    first = add(stored, "p1")
    add(stored, "d1.1", "d1.2", part_of="d1")
    ranked(stored, first)
    assert added(stored) == ("d1.1", "d1.2")


def test_a_corpus_that_begins_with_other_papers_is_unknown(stored: Workspace) -> None:
    first = add(stored, "p1", "p2")
    ranked(stored, "1" * 64, {"lsa": first})
    found = ranked_corpus(stored)
    assert (found.unknown, found.added, found.current) == (("1" * 64,), (), first)


def test_without_its_papers_or_with_a_damaged_file_every_ranked_corpus_is_unknown(stored: Workspace) -> None:
    ranked(stored, "1" * 64)
    assert ranked_corpus(stored).unknown == ("1" * 64,)
    sha256 = add(stored, "p1")
    ranked(stored, sha256)
    (part,) = stored.corpus.glob("*.parquet")
    part.write_bytes(part.read_bytes()[:-20])
    assert ranked_corpus(stored).unknown == (sha256,)


@pytest.mark.parametrize("passages", [False, True])
def test_each_beginning_has_the_hash_that_the_corpus_had_then(stored: Workspace, passages: bool) -> None:
    hashes = [add(stored, "p1"), add(stored, "p2", "p3", part_of="p" if passages else None), add(stored, "p4")]
    assert list(beginnings(stored.corpus)) == list(zip(hashes, (1, 3, 4), strict=True))
