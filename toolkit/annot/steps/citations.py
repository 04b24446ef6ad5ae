"""Citations into the study: who cites whom, from files too large for memory, for the papers of the corpus."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from annot.base.records import Advance
from annot.base.shards import Engine, map_shards
from annot.corpus.corpus_facts import recorded_sha256
from annot.corpus.other_ids import write_citations_manifest
from annot.corpus.papers_by_id import PapersById
from annot.corpus.rejects import PieceRead, Rejects
from annot.formats.citation_edges import COLUMNS, SEMANTIC_SCHOLAR, edge_format, edges_of
from annot.formats.corpora import format_named
from annot.formats.corpora.cutting import Piece, cut_lines
from annot.store.citations import ABOUT, FOLDER, IDS_MANIFEST
from annot.study.workspace import Workspace, check_files, sha256_of


@dataclass(frozen=True, slots=True)
class EdgesRead:
    """What one piece brought."""

    read: PieceRead
    citations: int
    kept: int
    """Those whose citing paper is in the corpus."""
    rejected: Path


@dataclass(frozen=True, slots=True)
class EdgeReader:
    """Reads the pieces that a process is given.

    corpus: the folder of the papers, corpus_sha256: their hash, ids_sha256: that of the ids by which they are known.
    folder: where the Parquet files go; None writes none.
    """

    corpus: Path
    corpus_sha256: str
    ids_sha256: str | None
    folder: Path | None

    def __call__(self, piece: Piece) -> EdgesRead:
        """Read the citations of one piece, and write those of papers of the corpus."""
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet

        known = _papers(self.corpus, self.corpus_sha256, self.ids_sha256)
        read, citations, kept, rejects = PieceRead(piece), 0, 0, []
        name = f"{Path(piece.path).name}-{piece.start:015d}-{uuid4().hex[:8]}"
        writer = None
        for edges in edges_of(piece, known.papers_of):
            for place, broken in edges.broken:
                read.reject(read.places + place, broken)
                rejects.append(json.dumps({"piece": 0, "place": read.places + place, **broken._asdict()}) + "\n")
            read.places += edges.places
            read.read += len(edges.citing)
            citations += len(edges.citing)
            by_any = edges.any_ids and known.has_other_ids
            citing = known.named(edges.citing) if by_any else edges.citing
            there = pyarrow.compute.is_in(citing, value_set=known.own)
            citing, cited = citing.filter(there), edges.cited.filter(there)
            table = pyarrow.table({"citing": citing, "cited": known.named(cited) if by_any else cited})
            kept += len(table)
            if self.folder is not None and len(table):
                writer = writer or pyarrow.parquet.ParquetWriter(
                    self.folder / f"{name}.parquet", table.schema, compression="zstd"
                )
                writer.write_table(table)
        if writer:
            writer.close()
        rejected = (self.folder or Path()) / f"{name}.jsonl"
        if rejects and self.folder is not None:
            rejected.write_text("".join(rejects), encoding="utf-8")
        return EdgesRead(read, citations, kept, rejected)


@lru_cache(maxsize=1)
def _papers(corpus: Path, _corpus_sha256: str, _ids_sha256: str | None) -> PapersById:
    """The papers of the corpus by their ids; a process keeps them."""
    return PapersById(corpus)


REPORTED = 10
SCRATCH = ".citations"
"""Below the corpus: what was read of a file, until it is whole."""


@dataclass(frozen=True, slots=True)
class CitationsRead:
    """What one file brought."""

    file: str
    sha256: str
    corpus_sha256: str
    """Of the corpus whose papers' citations were kept."""
    ids_sha256: str | None
    """Of the other ids by which its papers were known; None if there were none."""
    citations: int
    kept: int
    """Those of papers of the corpus."""
    rejected: dict[str, int]


@dataclass(frozen=True, slots=True)
class AddedCitations:
    """What became of the files."""

    files: tuple[CitationsRead, ...]
    known: tuple[str, ...]
    """Files that were added before, to the same corpus."""
    faults: tuple[str, ...]
    """What is wrong with the first records that cannot be read."""
    rejected_files: tuple[str, ...]


def add(ws: Workspace, files: Sequence[Path], *, dry_run: bool, advance: Advance) -> AddedCitations:
    """Add the citations of files; a file that was added before is passed over until the corpus has grown.

    Citations are kept where the corpus has the citing paper. Records that cannot be read are counted and written aside.
    Raises InputError if a file is not there or has no citation that can be read; those before it stay added.
    """
    check_files(files)
    digest, ids = recorded_sha256(ws), ws.corpus / IDS_MANIFEST
    papers = (digest, sha256_of(ids) if ids.is_file() else None)
    found, known, faults, rejected_files = [], [], [], []
    for path in files:
        sha256 = sha256_of(path)
        place = ws.corpus / FOLDER / sha256[:16]
        if _of_papers(place) == papers:
            known.append(str(path))
            continue
        scratch = ws.corpus / SCRATCH
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            read, rejects = _read(ws, path, sha256, papers, None if dry_run else scratch, advance)
            if not dry_run:
                place.parent.mkdir(exist_ok=True)
                shutil.rmtree(place, ignore_errors=True)
                scratch.replace(place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        found.append(read)
        faults += rejects.faults
        if read.rejected and not dry_run:
            rejected_files.append(str(place / "rejected.jsonl"))
    if not dry_run:
        write_citations_manifest(ws.corpus, digest)
    return AddedCitations(tuple(found), tuple(known), tuple(faults[:REPORTED]), tuple(rejected_files))


def _read(
    ws: Workspace,
    path: Path,
    sha256: str,
    papers: tuple[str, str | None],
    scratch: Path | None,
    advance: Advance,
) -> tuple[CitationsRead, Rejects]:
    if scratch is not None:
        scratch.mkdir()
    rejects = Rejects("citation", told=REPORTED)
    reader = EdgeReader(ws.corpus, *papers, scratch)
    citations = kept = 0
    for brought in map_shards(reader, _pieces(str(path)), engine=Engine.in_place(ws.machine)):
        rejects.count((brought.read,), brought.rejected)
        citations += brought.read.read
        kept += brought.kept
        advance(citations, None)
    rejects.raise_if_unreadable(partial=True)
    read = CitationsRead(str(path), sha256, *papers, citations, kept, rejects.counts)
    if scratch is not None:
        rejects.write(scratch / "rejected.jsonl")
        (scratch / ABOUT).write_text(json.dumps(asdict(read), indent=2) + "\n", encoding="utf-8")
    return read, rejects


def _pieces(name: str) -> list[Piece]:
    form = edge_format(name)
    cut = cut_lines if form in (SEMANTIC_SCHOLAR, COLUMNS) else format_named(form).cut
    return [Piece(name, form, start, stop) for start, stop in cut(name)]


def _of_papers(place: Path) -> tuple[str, str | None] | None:
    """The hashes of the corpus to which the file of this folder was added, and of its other ids; None if it was
    not."""
    try:
        about = json.loads((place / ABOUT).read_text(encoding="utf-8"))
        return str(about["corpus_sha256"]), about.get("ids_sha256")
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None
