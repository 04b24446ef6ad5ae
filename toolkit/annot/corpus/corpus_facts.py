"""What the study knows of its corpus: hash, size, years, and the papers and labels that must be there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sqlmodel import Session

from annot.base.errors import AnnotError, MissingInput
from annot.base.names import counted
from annot.base.records import Paper
from annot.store import facet_labels, papers
from annot.store.citations import cited_by
from annot.study.workspace import Workspace, read_manifest, sha256_of, write_file, write_manifest

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """The papers by number and year; a study that was judged elsewhere has none."""

    papers: int
    years: tuple[int, int] | None
    """The first and the last; None if no paper has one."""
    without_year: int


def corpus_facts(ws: Workspace, *, without: Collection[str] = ()) -> CorpusFacts:
    """Count the papers and their years. without: papers that are not counted."""
    found = papers.read_papers(ws.corpus, columns=("year",)) if ws.has_corpus else ()
    years = Counter(paper.year for paper in found if paper.paper_id not in without)
    known = sorted(year for year in years if year is not None)
    return CorpusFacts(years.total(), (known[0], known[-1]) if known else None, years[None])


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


def papers_of(ws: Workspace, paper_ids: Iterable[str]) -> dict[str, Paper]:
    """The papers by id, with the citations that were added to them. Raises MissingInput with every one that is not in
    the corpus."""
    wanted = sorted(set(paper_ids))
    found = papers.find_papers(ws.corpus, wanted) if wanted else {}
    if absent := [paper_id for paper_id in wanted if paper_id not in found]:
        raise MissingInput(
            f"{counted(len(absent), 'paper')} not found in the corpus",
            faults=[f"{paper_id}: not in the corpus" for paper_id in absent],
            hint="add them with `annot corpus add`",
        )
    return with_citations(ws, {paper_id: found[paper_id] for paper_id in wanted})


def with_citations(ws: Workspace, found: Mapping[str, Paper]) -> dict[str, Paper]:
    """These papers, by id, with the citations that were added to them behind their own."""
    added = cited_by(ws.corpus, found)

    def citing(paper: Paper) -> Paper:
        cited = dict.fromkeys((*paper.citations, *added.get(paper.paper_id, ())))
        return replace(paper, citations=tuple(doc_id for doc_id in cited if doc_id != paper.paper_id))

    return {paper_id: citing(paper) if paper_id in added else paper for paper_id, paper in found.items()}


def labels_of(session: Session, paper_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The label of each sentence by paper. Raises MissingInput when a paper has none."""
    wanted = set(paper_ids)
    labels = {labelled.paper_id: labelled.labels for labelled in facet_labels.read_labels(session, sorted(wanted))}
    if absent := sorted(wanted - labels.keys()):
        hint = "label them with `annot facets`"
        one = f"paper {absent[0]} has no sentence labels"
        several = f"{len(absent)} papers have no sentence labels, {absent[0]} among them"
        raise MissingInput(one if len(absent) == 1 else several, hint=hint)
    return labels


def labels_where_asked(ws: Workspace, session: Session, found: Mapping[str, Paper]) -> dict[str, tuple[str, ...]]:
    """The same of these papers; empty labels where no facet is judged."""
    if ws.settings.faceted:
        return labels_of(session, found)
    return {paper_id: ("",) * len(paper.sentences) for paper_id, paper in found.items()}


def current_sha256(ws: Workspace, *, keep: bool) -> str:
    """The hash that `annot.store.papers.corpus_sha256` gives. Raises MissingInput when the corpus is empty.

    keep: write down what was found.

    A file is taken for unchanged while its size, its times and its number in the file system are: whoever exchanges a
    file, even under its old date, changes one of them.
    """
    remembered = ws.cache / "corpus.json"
    files = _files(ws)
    try:
        known = json.loads(remembered.read_text("utf-8"))
        if known["files"] == files:
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    digest = _from_manifest(ws, list(files)) or papers.corpus_sha256(ws.corpus)
    if keep:
        write_file(remembered, json.dumps({"files": files, "sha256": digest}))
    return digest


def _files(ws: Workspace) -> dict[str, list[int]]:
    found = {path.name: path.stat() for path in sorted(ws.corpus.glob("*.parquet")) if not path.name.startswith(".")}
    return {name: [at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino] for name, at in found.items()}


def _from_manifest(ws: Workspace, names: list[str]) -> str | None:
    """What the corpus's manifest says, if its files are the very ones that are there."""
    try:
        manifest = read_manifest(ws.corpus / MANIFEST, hint="")
    except AnnotError:
        return None
    found = {name: sha256_of(ws.corpus / name) for name in names}
    digest = manifest.get("content_sha256")
    return digest if found and manifest.get("files") == found and isinstance(digest, str) else None
