"""`annot import --as citations`: edges of papers in the corpus are kept, whatever the file, and the pools see them."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.corpus.corpus_facts import papers_of, write_corpus_manifest
from annot.formats import citation_edges
from annot.formats.corpora import pieces
from annot.steps import corpus
from annot.steps.corpus import AddedCitations
from annot.store import papers
from annot.store.citations import cited_by
from annot.store.papers import PaperWriter
from annot.study.workspace import Workspace
from command_line import Result
from pooled_corpus import paper

Pairs = list[tuple[str, str]]


def fill(ws: Workspace, *ids: str) -> None:
    with PaperWriter(ws.corpus) as writer:
        for name in ids:
            writer.add(Paper(name, f"Title {name}", ("One.", "Two."), citations=("1",)))
    write_corpus_manifest(ws)


def add(ws: Workspace, *files: Path, dry_run: bool = False) -> AddedCitations:
    return corpus.add_citations(ws, files, dry_run=dry_run, advance=lambda done, total: None)


@pytest.fixture
def pairs() -> Pairs:
    """Three thousand citations; half of the citing papers are in the corpus, and some come twice."""
    rng = random.Random(3)
    return [(str(rng.randrange(200)), str(rng.randrange(400))) for _ in range(3_000)]


def expected(pairs: Pairs, corpus: set[str]) -> dict[str, tuple[str, ...]]:
    """In plain dictionaries."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for citing, cited in pairs:
        if citing in corpus:
            found[citing][cited] = None
    return {citing: tuple(cited) for citing, cited in found.items()}


def of_semantic_scholar(pairs: Pairs) -> str:
    extra: dict[str, Any] = {"isinfluential": False, "contexts": ["a \\n b"], "intents": None}
    rows = ({"citingcorpusid": int(citing), "citedcorpusid": int(cited)} | extra for citing, cited in pairs)
    return "".join(json.dumps(row) + "\n" for row in rows)


def of_two_columns(between: str, head: str = "") -> Callable[[Pairs], str]:
    return lambda pairs: head + "".join(f"{citing}{between}{cited}\n" for citing, cited in pairs)


def of_papers(pairs: Pairs) -> str:
    """S2ORC of 2020; a paper stands once for each of its citations."""
    rows = ({"paper_id": a, "title": "T", "abstract": None, "mag_id": "1", "outbound_citations": [b]} for a, b in pairs)
    return "".join(json.dumps(row) + "\n" for row in rows)


WAYS: dict[str, Callable[[Pairs], str]] = {
    "semantic scholar": of_semantic_scholar,
    "tabs": of_two_columns("\t"),
    "commas under a head": of_two_columns(",", "citing,cited\n"),
    "three columns under a head": lambda pairs: "note,cited,citing\n" + "".join(f"x,{b},{a}\n" for a, b in pairs),
    "spaces": of_two_columns(" "),
    "papers": of_papers,
}


@pytest.mark.parametrize("way", WAYS)
def test_citations_of_papers_in_the_corpus_are_kept(
    ws: Workspace, tmp_path: Path, pairs: Pairs, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed = way in ("tabs", "papers")
    corpus = {str(at) for at in range(0, 200, 2)}
    fill(ws, *sorted(corpus))
    path = tmp_path / "edges"
    text = WAYS[way](pairs).encode()
    path.write_bytes(gzip.compress(text) if compressed else text)
    monkeypatch.setattr(pieces, "PIECE_BYTES", 7_001)
    monkeypatch.setattr(citation_edges, "BLOCK_BYTES", 999)
    (read,) = add(ws.replaced("machine", processes=1), path).files
    assert (read.citations, read.kept) == (3_000, sum(citing in corpus for citing, _ in pairs))
    assert cited_by(ws.corpus, map(str, range(500))) == expected(pairs, corpus)
    assert cited_by(ws.corpus, ["4"]) == {"4": expected(pairs, {"4"})["4"]}


def test_processes_give_the_same_and_a_second_time_adds_nothing(ws: Workspace, tmp_path: Path, pairs: Pairs) -> None:
    fill(ws, "0", "2")
    path = tmp_path / "edges.csv"
    path.write_text(of_two_columns(",")(pairs))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pieces, "PIECE_BYTES", 9_000)
        added = add(ws.replaced("machine", processes=2), path)
    assert cited_by(ws.corpus, ["0", "2", "4"]) == expected(pairs, {"0", "2"})
    again = add(ws, path)
    assert (again.files, again.known) == ((), (str(path),))
    fill(ws, "4")
    assert add(ws, path).files[0].kept > added.files[0].kept
    assert cited_by(ws.corpus, ["0", "2", "4"]) == expected(pairs, {"0", "2", "4"})


def test_the_papers_of_a_study_cite_what_was_added(ws: Workspace, tmp_path: Path) -> None:
    fill(ws, "5", "6")
    path = tmp_path / "edges.tsv"
    path.write_text("5\t9\n5\t5\n5\t1\n7\t9\n")
    assert add(ws, path, dry_run=True).files[0].kept == 3
    assert papers_of(ws, ["5"])["5"].citations == ("1",)
    add(ws, path)
    assert papers_of(ws, ["5"])["5"].citations == ("1", "9")
    assert papers_of(ws, ["6"])["6"].citations == ("1",)


@pytest.mark.parametrize(
    ("good", "bad", "reason"),
    [
        ('{"citingcorpusid": 5, "citedcorpusid": 9}', '{"citingcorpusid": 5}', "no citation"),
        ('{"citingcorpusid": 5, "citedcorpusid": 9}', '{"citingcorpusid": 5, "citedcorp', "no citation"),
        ('{"citingcorpusid": 5, "citedcorpusid": 9}', '{"citingcorpusid": 5, "citedcorpusid": null}', "no citation"),
        ("5,9", "5,9,9", "another number of columns"),
        ("5,9", "5,", "an empty id"),
    ],
)
def test_broken_lines_are_counted_and_written_aside(
    ws: Workspace, tmp_path: Path, good: str, bad: str, reason: str
) -> None:
    fill(ws, "5")
    path = tmp_path / "edges"
    path.write_text("".join(f"{line}\n" for line in [good, good, bad, good]))
    added = add(ws, path)
    assert (added.files[0].citations, added.files[0].rejected) == (3, {f"cannot be read: {reason}": 1})
    (aside,) = added.rejected_files
    record = json.loads(Path(aside).read_text())
    assert record["reason"] == reason
    if reason == "no citation":
        assert (record["place"], record["record"]) == (3, bad)


@pytest.fixture
def library(ws: Workspace, tmp_path: Path) -> Workspace:
    """Two works of OpenAlex whose papers have their DOIs, and one without a DOI."""
    path = tmp_path / "works.jsonl"
    path.write_text("".join(json.dumps(work(at)) + "\n" for at in (1, 2, 3)))
    corpus.add(ws, [path], form=None, dry_run=False, advance=lambda done, total: None)
    assert set(papers.paper_ids(ws.corpus)) == {"10.1000/w1", "10.1000/w2", "33"}
    return ws


def work(at: int, *cited: int) -> dict[str, Any]:
    words = f"Work {at} asks one thing. There people did two others. Then we found all three.".split()
    ids = {"openalex": f"https://openalex.org/W{at}", "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{at}{at}"}
    return {
        "id": f"https://openalex.org/W{at}",
        "ids": ids | ({"doi": f"https://doi.org/10.1000/W{at}"} if at < 3 else {}),
        "title": f"The work of number {at} on all that is to be known",
        "publication_year": 2000 + at,
        "abstract_inverted_index": {word: [place] for place, word in enumerate(words)},
        "referenced_works": [f"https://openalex.org/W{one}" for one in cited],
    }


@pytest.mark.parametrize(
    "text",
    [
        "citing,cited\n11,22\n22,33\n33,44\n44,11\n",
        "pmid:11\tPMID: 22\nhttps://pubmed.ncbi.nlm.nih.gov/22/\t33\n33\t44\n44\t11\n",
        "10.1000/W1,https://doi.org/10.1000/w2\ndoi:10.1000/W2,W3\nhttps://openalex.org/W3,44\n10.1000/w4,11\n",
    ],
)
def test_a_table_may_name_papers_by_any_of_their_ids(library: Workspace, tmp_path: Path, text: str) -> None:
    path = tmp_path / "edges"
    path.write_text(text)
    (read,) = add(library, path).files
    assert (read.citations, read.kept) == (4, 3)
    expected = {"10.1000/w1": ("10.1000/w2",), "10.1000/w2": ("33",), "33": ("44",)}
    assert cited_by(library.corpus, papers.paper_ids(library.corpus)) == expected


def test_numbers_of_semantic_scholar_are_no_pmids(library: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "edges"
    for text in ("citingcorpusid,citedcorpusid\n11,22\n", of_semantic_scholar([("11", "22")])):
        path.write_text(text)
        assert add(library, path).files[0].kept == 0


def test_papers_of_libraries_are_citations_too(library: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "more.jsonl"
    path.write_text("".join(json.dumps(work(at, *cited)) + "\n" for at, cited in ((1, (2, 9)), (3, (1,)), (9, (1,)))))
    (read,) = add(library, path).files
    assert (read.citations, read.kept) == (4, 3)
    expected = {"10.1000/w1": ("10.1000/w2", "openalex:W9"), "33": ("10.1000/w1",)}
    assert cited_by(library.corpus, papers.paper_ids(library.corpus)) == expected
    # What is cited may come later, and then the file says more.
    later = tmp_path / "later.jsonl"
    later.write_text(json.dumps(work(9)) + "\n")
    corpus.add(library, [later], form=None, dry_run=False, advance=lambda done, total: None)
    assert cited_by(library.corpus, ["10.1000/w1"]) == {"10.1000/w1": ("10.1000/w2", "99")}
    assert add(library, path).files[0].kept == 4


@pytest.mark.parametrize("record", ["TY  - JOUR\nTI  - A\nER  - \n", "@article{a, title = {A}}\n"])
def test_papers_of_a_format_without_citations_are_refused(library: Workspace, tmp_path: Path, record: str) -> None:
    path = tmp_path / "refs.txt"
    path.write_text(record)
    with pytest.raises(InputError, match="which has no citations"):
        add(library, path)


def test_a_file_without_a_citation_and_one_of_many_columns_are_refused(ws: Workspace, tmp_path: Path) -> None:
    fill(ws, "5")
    for name, text, fault in (
        ("empty", "\n", "the file is empty"),
        ("wide", "1,2,3\n", "3 columns, expected citing and cited"),
    ):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            add(ws, path)
        assert fault in f"{caught.value.message} {caught.value.faults}"
    assert cited_by(ws.corpus, ["5"]) == {}
    assert not (ws.corpus / "citations").exists()


def test_encoders_are_trained_on_added_citations_as_on_those_of_the_papers(
    ws: Workspace, annot: Callable[..., Result]
) -> None:
    rng = random.Random(7)
    names = [f"p{at}" for at in range(60)]
    cited = {name: sorted(rng.sample(names, rng.randrange(5))) for name in names}
    found = []
    for own in (True, False):
        lines = [paper(at, **({"citations": of} if own else {})) for at, of in enumerate(cited.values())]
        (ws.root / "papers.jsonl").write_text("\n".join(lines) + "\n")
        for path in ws.corpus.glob("*.parquet"):
            path.unlink()
        assert annot("corpus", "add", "papers.jsonl").exit_code == 0
        if not own:
            (ws.root / "edges.tsv").write_text("".join(f"{one}\t{two}\n" for one, of in cited.items() for two in of))
            assert annot("import", "--as", "citations", "edges.tsv").exit_code == 0
        done = annot("encoder", "examples", "specter-id", "--out", f"examples-{own}", "--dev", "5")
        assert done.exit_code == 0, done.stderr
        found.append({path.name: path.read_bytes() for path in (ws.root / f"examples-{own}").iterdir()})
    assert found[0] == found[1]
    assert len(found[0]["train.jsonl"].splitlines()) > 20


def test_where_nothing_is_held_out_no_empty_file_is_left(ws: Workspace, annot: Callable[..., Result]) -> None:
    lines = [paper(at, citations=[f"p{at + 1}", f"p{at + 2}"]) for at in range(30)]
    (ws.root / "papers.jsonl").write_text("\n".join(lines) + "\n")
    assert annot("corpus", "add", "papers.jsonl").exit_code == 0
    for share, files in (("0.2", ["dev.jsonl", "train.jsonl"]), ("0", ["train.jsonl"])):
        done = annot("encoder", "examples", "specter-id", "--out", "examples", "--dev-share", share)
        assert done.exit_code == 0, done.stderr
        assert sorted(path.name for path in (ws.root / "examples").iterdir()) == files
