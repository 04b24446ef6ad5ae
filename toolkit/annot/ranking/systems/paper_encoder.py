"""An encoder of whole papers that is loaded once and asked part by part."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from annot.base.records import Advance, Paper
from annot.ranking.dense import Metric
from annot.ranking.systems.encoders import document_vectors, sentence_transformer
from annot.ranking.systems.reading import load
from annot.ranking.systems.sentence_vectors import Matrix

PaperReading = Literal["own", "document"]
PaperEncoder = Callable[[Sequence[Paper], Advance], Matrix]
"""A vector for each paper: float32, shape (papers, dimensions)."""

SETTINGS = "config_sentence_transformers.json"


def reading_of(folder: Path) -> PaperReading:
    """How weights are to be read: a sentence-transformers model by its `own` pooling, any other as SPECTER."""
    return "own" if (folder / "modules.json").is_file() else "document"


def metric_of(folder: Path, reading: PaperReading) -> Metric:
    """How the vectors are compared: by distance, as SPECTER's, or as the sentence-transformers model says."""
    if reading == "document":
        return "l2"
    path = folder / SETTINGS
    says = json.loads(path.read_text(encoding="utf-8")).get("similarity_fn_name") if path.is_file() else None
    return "l2" if says == "euclidean" else "cosine"


def open_paper_encoder(
    folder: Path, reading: PaperReading, *, device: str | None, half: bool, batch: int
) -> PaperEncoder:
    """Load the weights in `folder`. Both readings join title, separator and abstract without spaces.

    half: compute in half precision. batch: papers that are read at once.
    """
    if reading == "document":
        loaded = load(folder, device, half=half)
        return lambda papers, advance: document_vectors(loaded, papers, batch=batch, advance=advance)
    model = sentence_transformer(folder, device, half=half)
    separator = getattr(model.tokenizer, "sep_token", None) or " "

    def encode(papers: Sequence[Paper], advance: Advance) -> Matrix:
        texts = [paper.title + separator + " ".join(paper.sentences) for paper in papers]
        rows = model.encode(texts, batch_size=batch, show_progress_bar=False)
        advance(len(papers), len(papers))
        return np.asarray(rows, dtype=np.float32)

    return encode
