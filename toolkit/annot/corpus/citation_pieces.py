"""Reading citations piece by piece, each piece by itself, so that processes can share the work."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from annot.corpus.corpus_lots import TOLD, PieceRead
from annot.formats.citation_edges import edges_of
from annot.formats.corpora.cutting import Piece
from annot.store import papers


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

    corpus: the folder of the papers, corpus_sha256: their hash. folder: where the Parquet files go; None writes none.
    """

    corpus: Path
    corpus_sha256: str
    folder: Path | None

    def __call__(self, piece: Piece) -> EdgesRead:
        """Read the citations of one piece, and write those of papers of the corpus."""
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet

        known = _ids(self.corpus, self.corpus_sha256)
        read, citations, kept, rejects = PieceRead(piece), 0, 0, []
        name = f"{Path(piece.path).name}-{piece.start:015d}-{uuid4().hex[:8]}"
        writer = None
        for edges in edges_of(piece):
            for place, broken in edges.broken:
                read.broken[broken.reason] += 1
                read.faults += [(read.places + place, fault) for fault in broken.faults[: TOLD - len(read.faults)]]
                rejects.append(json.dumps({"piece": 0, "place": read.places + place, **broken._asdict()}) + "\n")
            read.places += edges.places
            read.read += len(edges.citing)
            citations += len(edges.citing)
            there = pyarrow.compute.is_in(edges.citing, value_set=known)
            table = pyarrow.table({"citing": edges.citing, "cited": edges.cited}).filter(there)
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
def _ids(corpus: Path, _corpus_sha256: str) -> Any:
    """The ids of the corpus; a process keeps them."""
    import pyarrow

    return pyarrow.array(papers.paper_ids(corpus), pyarrow.string())
