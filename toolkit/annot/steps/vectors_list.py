"""The vectors that a study has: of its papers, by set, and of words."""

from __future__ import annotations

from dataclasses import dataclass

from annot.ranking import vectors
from annot.store.papers import paper_ids
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VectorSet:
    """One set of paper vectors."""

    name: str
    model: str
    space: str
    metric: str
    dimensions: int
    precision: str
    papers: int
    """Papers of the corpus that have a vector."""
    missing: int


def list_sets(ws: Workspace) -> tuple[VectorSet, ...]:
    """Every set in `corpus/vectors/`, by name. Raises InputError when one is damaged."""
    wanted = frozenset(paper_ids(ws.corpus))
    found = []
    for folder in sorted(path for path in ws.vectors.glob("[!.]*") if path.is_dir()):
        loaded = vectors.load(folder, hint=f"mend {folder}, or remove it")
        papers = len(wanted.intersection(loaded.ids.to_pylist()))
        kind = loaded.matrix.dtype.name
        width = int(loaded.matrix.shape[1])
        one = (folder.name, loaded.model, loaded.space, loaded.metric, width, kind, papers, len(wanted) - papers)
        found.append(VectorSet(*one))
    return tuple(found)
