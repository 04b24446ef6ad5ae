"""Papers that were added after the rankings behind the pools were made, as distinct from those that were ranked."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from annot.base.records import Paper
from annot.pools.frozen_rankings import RankedCorpus, ranked_corpus
from annot.store.papers import PaperWriter, beginnings, corpus_sha256
from annot.study.workspace import Workspace, write_manifest


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


def test_nothing_is_added_to_what_was_never_ranked(stored: Workspace) -> None:
    assert ranked_corpus(stored) == RankedCorpus()
    add(stored, "p1")
    assert ranked_corpus(stored) == RankedCorpus()


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
