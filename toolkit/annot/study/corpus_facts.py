"""What is known of the corpus as a whole: its hash, its size, its years."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annot.store import papers
from annot.study.workspace import Workspace, read_manifest, write_manifest

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """The papers by number and year; a study that was judged elsewhere has none."""

    papers: int
    years: tuple[int, int] | None
    """The first and the last; None where no paper has one."""
    without_year: int


def corpus_facts(ws: Workspace) -> CorpusFacts:
    """Count the papers and their years."""
    years = (
        Counter(paper.year for paper in papers.read_papers(ws.corpus, columns=("year",)))
        if has_corpus(ws)
        else Counter()
    )
    known = sorted(year for year in years if year is not None)
    return CorpusFacts(years.total(), (known[0], known[-1]) if known else None, years[None])


def has_corpus(ws: Workspace) -> bool:
    """Whether there are any papers."""
    return any(ws.corpus.glob("*.parquet"))


def write_corpus_manifest(ws: Workspace) -> str:
    """Write the manifest of the corpus as it is now, and return the hash of its content."""
    digest = papers.corpus_sha256(ws.corpus)
    facts = {"papers": papers.count_papers(ws.corpus), "content_sha256": digest}
    write_manifest(ws.corpus / MANIFEST, files=sorted(ws.corpus.glob("*.parquet")), inputs={}, facts=facts)
    return digest


def recorded_sha256(ws: Workspace) -> str:
    """The hash of the corpus as its manifest has it: to hash a large corpus anew takes long."""
    manifest = read_manifest(ws.corpus / MANIFEST, hint="add papers with `annot corpus add`")
    return str(manifest["content_sha256"])
