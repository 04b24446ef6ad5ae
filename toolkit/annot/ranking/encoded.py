"""Vectors of a study's papers from encoders: made once, and kept by what was read and by what read it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annot.base import storage
from annot.base.records import Paper
from annot.ranking import vectors
from annot.ranking.index import Advance
from annot.ranking.systems import encoders
from annot.ranking.systems.reading import MIXED
from annot.ranking.systems.sentence_vectors import SentenceVectors
from annot.ranking.systems.weights import Weights, digest_of
from annot.ranking.vectors import Vectors
from annot.study.workspace import Workspace

KIND = "annot-encoded-1"


def weights_folder(ws: Workspace) -> Path:
    """Where a lead puts weights, each under its system's name."""
    return ws.root / "weights"


def encoded_sentences(ws: Workspace, weights: Weights, papers: Sequence[Paper], *, advance: Advance) -> SentenceVectors:
    """The vectors of the papers' sentences, read by themselves or in their abstract, as the weights are to be read.

    Raises MissingInput when the weights are not there.
    """

    def make(folder: Path) -> dict[str, Any]:
        if weights.reading == "context":
            parts = encoders.encode_in_context(folder, papers, advance=advance)
            return {"matrix": np.concatenate(parts), "starts": np.cumsum([0, *map(len, parts)])}
        texts = [sentence for paper in papers for sentence in paper.sentences]
        matrix = encoders.encode_sentences(folder, weights.reading, texts, advance=advance)
        return {"matrix": matrix, "starts": np.cumsum([0, *(len(paper.sentences) for paper in papers)])}

    stored = _kept(ws, weights, papers, make)
    ids = tuple(paper.paper_id for paper in papers)
    return SentenceVectors(ids, np.asarray(stored.arrays["starts"]), stored.arrays["matrix"], stored.facts)


def encoded_abstracts(ws: Workspace, weights: Weights, papers: Sequence[Paper], *, advance: Advance) -> Vectors:
    """A vector for each paper's title and abstract. Raises MissingInput when the weights are not there."""

    def make(folder: Path) -> dict[str, Any]:
        return {"matrix": encoders.encode_documents(folder, papers, advance=advance)}

    stored = _kept(ws, weights, papers, make)
    ids = storage.strings_of(paper.paper_id for paper in papers)
    return Vectors(ids, stored.arrays["matrix"], weights.name, weights.name, metric="l2", facts=stored.facts)


def own_vectors(ws: Workspace, name: str) -> Vectors | None:
    """The vectors in `corpus/vectors/NAME`; None where there is no such folder."""
    folder = ws.vectors / name
    return vectors.load(folder, hint=f"mend {folder}, or remove it") if folder.is_dir() else None


def _kept(
    ws: Workspace, weights: Weights, papers: Sequence[Paper], make: Callable[[Path], Mapping[str, Any]]
) -> storage.Stored:
    folder = weights.find(weights_folder(ws))
    facts = {"encoder": weights.hub or weights.name, "weights_sha256": digest_of(folder), "reading": weights.reading}
    if (folder / MIXED).is_file():
        facts["layers"] = "mixed"
    read = [[paper.paper_id, paper.title, list(paper.sentences)] for paper in papers]
    key = hashlib.sha256(json.dumps([facts, read]).encode()).hexdigest()
    place = ws.cache / "encoded" / key[:32]
    if not place.is_dir():
        storage.save(place, kind=KIND, arrays=make(folder), texts={}, facts=facts)
    return storage.load(place, kind=KIND)
