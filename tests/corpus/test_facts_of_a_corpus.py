"""What a study knows of its corpus: years, papers that have to be there, citations, and the hash of its content."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import MissingInput
from annot.base.records import Paper
from annot.corpus import corpus_facts as facts
from annot.corpus.corpus_facts import CorpusFacts
from annot.store.papers import PaperWriter


def corpus(folder: Path, *papers: Paper) -> Any:
    """A workspace of these papers; made again, the corpus has other files."""
    for old in (folder / "corpus").glob("*.parquet"):
        old.unlink()
    with PaperWriter(folder / "corpus") as writer:
        for paper in papers:
            writer.add(paper)
    return SimpleNamespace(corpus=folder / "corpus", cache=folder / "cache", has_corpus=True)


def paper(paper_id: str, year: int | None = None, citations: tuple[str, ...] = ()) -> Paper:
    return Paper(paper_id, "T", ("One.",), year=year, citations=citations)


def test_years_go_from_the_first_to_the_last_and_papers_without_one_are_counted(tmp_path: Path) -> None:
    found = facts.corpus_facts(corpus(tmp_path, paper("a", 2003), paper("b"), paper("c", 1999), paper("d", 2001)))
    assert found == CorpusFacts(4, (1999, 2003), 1)
    assert facts.corpus_facts(corpus(tmp_path, paper("a"), paper("b"))) == CorpusFacts(2, None, 2)
    nowhere: Any = SimpleNamespace(has_corpus=False)
    assert facts.corpus_facts(nowhere) == CorpusFacts(0, None, 0)


def test_every_paper_that_is_not_there_is_named(tmp_path: Path) -> None:
    ws = corpus(tmp_path, paper("a"), paper("b"))
    assert list(facts.papers_of(ws, ["b", "a", "b"])) == ["a", "b"]
    assert facts.papers_of(ws, []) == {}
    with pytest.raises(MissingInput, match="2 papers not found in the corpus") as caught:
        facts.papers_of(ws, ["z", "a", "x"])
    assert caught.value.faults == ("x: not in the corpus", "z: not in the corpus")


def test_added_citations_come_behind_the_papers_own_once_and_never_the_paper_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws = corpus(tmp_path)
    monkeypatch.setattr(facts, "cited_by", lambda folder, found: {"a": ("x", "a", "c", "x")})
    given = {"a": paper("a", citations=("b", "c")), "b": paper("b", citations=("b", "d"))}
    found = facts.with_citations(ws, given)
    assert {name: one.citations for name, one in found.items()} == {"a": ("b", "c", "x"), "b": ("b", "d")}


def test_papers_without_labels_are_counted_and_the_first_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"a": ("method",), "b": ("other",)}

    def read_labels(session: object, ids: list[str]) -> list[Any]:
        return [SimpleNamespace(paper_id=name, labels=known[name]) for name in ids if name in known]

    monkeypatch.setattr(facts.facet_labels, "read_labels", read_labels)
    session: Any = None
    assert facts.labels_of(session, ["b", "a"]) == known
    with pytest.raises(MissingInput, match=r"^1 paper without sentence labels: c$"):
        facts.labels_of(session, ["c", "a"])
    with pytest.raises(MissingInput, match=r"^2 papers without sentence labels: c, \.\.\."):
        facts.labels_of(session, ["d", "a", "c"])


def test_the_hash_is_remembered_while_no_file_changes(tmp_path: Path) -> None:
    ws = corpus(tmp_path, paper("a"))
    truth = facts.papers.corpus_sha256(ws.corpus)
    assert facts.current_sha256(ws, keep=False) == truth
    assert not (ws.cache / "corpus.json").exists()
    assert facts.current_sha256(ws, keep=True) == truth
    remembered = ws.cache / "corpus.json"
    remembered.write_text(json.dumps(json.loads(remembered.read_text()) | {"sha256": "remembered"}))
    assert facts.current_sha256(ws, keep=True) == "remembered"
    corpus(tmp_path, paper("a"), paper("b"))
    assert facts.current_sha256(ws, keep=True) == facts.papers.corpus_sha256(ws.corpus) != truth


def test_a_manifest_is_believed_if_its_files_are_those_that_are_there(tmp_path: Path) -> None:
    ws = corpus(tmp_path, paper("a"))
    truth = facts.write_corpus_manifest(ws)
    assert facts.recorded_sha256(ws) == truth
    manifest = ws.corpus / facts.MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"content_sha256": "by the manifest"}))
    assert facts.current_sha256(ws, keep=False) == "by the manifest"
    corpus(tmp_path, paper("a"), paper("b"))
    assert facts.current_sha256(ws, keep=False) == facts.papers.corpus_sha256(ws.corpus) != truth
