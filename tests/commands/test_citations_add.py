"""`annot import --as citations`: edges of papers in the corpus are kept, whatever the file, and the pools see them."""

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Paper
from annot.corpus.corpus_facts import write_corpus_manifest
from annot.formats import citation_edges
from annot.formats.corpora import pieces
from annot.steps import corpus
from annot.steps.corpus import AddedCitations
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


def of_papers(pairs: Pairs) -> str:
    """S2ORC of 2020; a paper stands once for each of its citations."""
    rows = ({"paper_id": a, "title": "T", "abstract": None, "mag_id": "1", "outbound_citations": [b]} for a, b in pairs)
    return "".join(json.dumps(row) + "\n" for row in rows)


WAYS: dict[str, Callable[[Pairs], str]] = {
    "semantic scholar": of_semantic_scholar,
    "tabs": lambda pairs: "".join(f"{citing}\t{cited}\n" for citing, cited in pairs),
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


def test_broken_lines_are_counted_and_written_aside(ws: Workspace, tmp_path: Path) -> None:
    good, bad = '{"citingcorpusid": 5, "citedcorpusid": 9}\n', '{"citingcorpusid": 5}\n'
    fill(ws, "5")
    path = tmp_path / "edges"
    path.write_text(good * 2 + bad + good)
    added = add(ws, path)
    assert (added.files[0].citations, added.files[0].rejected) == (3, {"cannot be read: no citation": 1})
    (aside,) = added.rejected_files
    record = json.loads(Path(aside).read_text())
    assert (record["reason"], record["place"], record["record"]) == ("no citation", 3, bad.rstrip())


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
