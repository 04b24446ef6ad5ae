"""The word vectors of a study: those that were imported, or else trained on its corpus and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from annot.ranking import wordvectors
from annot.ranking.counts import Sparse
from annot.ranking.tokens import TokenisedCorpus, Vocabulary
from annot.ranking.wordvectors import WordVectors
from annot.study.workspace import Workspace

SCRATCH = "training.txt"
"""One name for every training of a study, so that the next one takes over what a killed one left."""


def imported_word_vectors(ws: Workspace) -> WordVectors | None:
    """Those that `annot vectors import-words` keeps; None where there are none."""
    return wordvectors.load(ws.word_vectors) if ws.word_vectors.is_dir() else None


def word_vectors_of(
    ws: Workspace,
    corpus: TokenisedCorpus,
    counts: Sparse,
    vocabulary: Vocabulary,
    *,
    kept_in: Callable[[str], Path],
    advance: Callable[[int, int | None], None],
) -> WordVectors:
    """The imported word vectors, or those of these settings and this corpus, trained where they are not yet kept.

    counts, vocabulary: of the abstracts under the rule `words`. kept_in: the folder for what has this name.
    """
    imported = imported_word_vectors(ws)
    if imported is not None:
        return imported
    settings = ws.settings.word_vectors.model_dump()
    key = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
    place = kept_in(f"words-{key}")
    if not place.is_dir():
        trained = wordvectors.train(
            corpus, counts, vocabulary, **settings, scratch=place.with_name(SCRATCH), after_epoch=advance
        )
        wordvectors.save(trained, place)
    # What was stored is what is ranked from, now and the next time.
    return wordvectors.load(place)
