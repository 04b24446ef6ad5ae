"""The word vectors of a study: those that were imported, or else trained on its corpus and kept."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from annot.ranking import wordvectors
from annot.ranking.corpus import Corpus
from annot.ranking.wordvectors import WordVectors
from annot.study.workspace import Workspace


def imported_word_vectors(ws: Workspace) -> WordVectors | None:
    """Those that `annot vectors add --words` keeps; None where there are none."""
    return wordvectors.load(ws.word_vectors) if ws.word_vectors.is_dir() else None


def trained_name(ws: Workspace) -> str:
    """Under which name the word vectors of these settings are kept."""
    settings = json.dumps(ws.settings.word_vectors.model_dump(), sort_keys=True)
    return f"words-{hashlib.sha256(settings.encode()).hexdigest()[:16]}"


def train(
    ws: Workspace,
    corpus: Corpus,
    *,
    kept_in: Path,
    memory: int,
    advance: Callable[[int, int | None], None],
) -> None:
    """Train by the study's settings on the abstracts, or go on with a training that was killed.

    memory: bytes that it may take.
    """
    kept_in.parent.mkdir(parents=True, exist_ok=True)
    trained = wordvectors.train(
        corpus,
        **ws.settings.word_vectors.model_dump(),
        memory=memory,
        scratch=kept_in.parent,
        after_epoch=advance,
    )
    wordvectors.save(trained, kept_in)
    shutil.rmtree(kept_in.parent / wordvectors.UNFINISHED, ignore_errors=True)
