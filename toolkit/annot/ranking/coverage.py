"""How much of a corpus's text has a word vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annot.ranking.corpus import Corpus
from annot.ranking.shard import FIELDS
from annot.ranking.wordvectors import WordVectors


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of titles and abstracts together."""

    running: float
    """The share of running words that have a vector, 0..1."""
    distinct: float
    """The share of distinct words that have one, 0..1."""
    lacking: tuple[tuple[str, int], ...]
    """The most frequent words without one, and how often each stands."""


def measure(corpus: Corpus, vectors: WordVectors, *, most: int) -> Coverage | None:
    """The coverage of the corpus, with so many words that lack a vector; None where the corpus has no word."""
    words = corpus.tokens("words")
    totals = np.sum([corpus.totals(field, "words") for field in FIELDS], axis=0)
    if not totals.any():
        return None
    has = vectors.rows(words) >= 0
    lacking = np.flatnonzero(~has & (totals > 0))
    chosen = lacking[np.argsort(-totals[lacking], kind="stable")][:most]
    return Coverage(
        running=float(totals[has].sum() / totals.sum()),
        distinct=float(has[totals > 0].mean()),
        lacking=tuple(zip(words.take(chosen).to_pylist(), totals[chosen].tolist(), strict=True)),
    )
