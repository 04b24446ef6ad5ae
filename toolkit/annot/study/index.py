"""What the ranking methods need of a corpus: its shards, word vectors and averages, made once and kept by content."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annot.errors import MissingInput
from annot.ranking import lsa, storage, vectors, wordvectors
from annot.ranking.corpus import Corpus
from annot.ranking.methods import LSA, METHODS, Bench
from annot.shards import Engine
from annot.study.corpus_state import current_sha256
from annot.study.index_parts import Places, Variant, averages, open_corpus, processes_within
from annot.study.workspace import Workspace

LSA_SETTINGS = {"dimensions": 200, "iterations": 7, "seed": 1}
DECOMPOSITION = "annot-lsa-1"

VARIANTS: dict[str, Variant] = {
    "title_cbow200": ("title", False),
    "title_tfidfcbow200": ("title", True),
    "abs_cbow200": ("abstract", False),
    "abs_tfidfcbow200": ("abstract", True),
}
"""The averages that a method ranks by."""

MEMORY = 4 * 2**30
"""Bytes that making the index takes, where nothing else is said."""

Advance = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Index:
    """The bench of a corpus and the hash of the corpus it was made from."""

    bench: Bench
    corpus_sha256: str


def open_index(
    ws: Workspace,
    *,
    methods: Iterable[str],
    advance: Advance,
    scratch: Path | None = None,
    memory: int = MEMORY,
) -> Index:
    """The index with all that `methods` need; what is missing is made and kept, what stands is used.

    scratch: make what is missing there instead, and keep nothing; it has to last as long as the index. memory: bytes
    that the processes at work on shards may take together.
    Raises MissingInput when a method needs vectors that are not there, with what to put where.
    """
    methods = tuple(methods)
    given = {name: _vectors(ws, name) for name in methods if name not in METHODS and name != LSA}

    most = processes_within(memory)

    def engine() -> Engine:
        own = Engine.of(ws.settings.machine)
        return replace(own, processes=min(own.processes, most))

    places = places_of(ws, scratch, keep=scratch is None)
    corpus = open_corpus(places, ws.corpus, engine=engine, advance=advance)
    word_vectors, averaged = None, {}
    variants = [VARIANTS[name] for name in methods if name in VARIANTS]
    if variants:
        words = words_place(ws, places)
        if not words.is_dir():
            _train(corpus, ws.settings.word_vectors.model_dump(), words, advance)
        word_vectors = wordvectors.load(words)
        averaged = averages(places, words, variants, engine=engine, advance=advance)
    if LSA in methods:
        given[LSA] = _lsa(corpus, places.own(LSA))
    bench = Bench(corpus, word_vectors=word_vectors, vectors=given, averages=averaged)
    return Index(bench, places.corpus_sha256)


def places_of(ws: Workspace, scratch: Path | None = None, *, keep: bool) -> Places:
    """Where the index of the corpus as it is now lies. keep: remember the corpus's hash (`current_sha256`).

    Raises MissingInput when the corpus is empty.
    """
    root = ws.cache / "index"
    return Places(root, scratch or root, current_sha256(ws, keep=keep))


def words_place(ws: Workspace, places: Places) -> Path:
    """The folder of the word vectors of the study's settings."""
    settings = json.dumps(ws.settings.word_vectors.model_dump(), sort_keys=True)
    return places.own(f"words-{hashlib.sha256(settings.encode()).hexdigest()[:16]}")


def _vectors(ws: Workspace, name: str) -> vectors.Vectors:
    folder = ws.vectors / name
    if not folder.is_dir():
        near = difflib.get_close_matches(name, (*METHODS, LSA), 1)
        raise MissingInput(
            f"{name}: no vectors at {folder}" + (f"; did you mean {near[0]!r}?" if near else ""),
            hint=f"put ids.txt, vectors.npy and vectors.json there, or leave the method out with --without {name}",
        )
    return vectors.load(folder, hint=f"mend {folder}, or leave the method out with --without {name}")


def _train(corpus: Corpus, settings: dict[str, Any], place: Path, advance: Advance) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    trained = wordvectors.train(
        *corpus.running_text("words"),
        **settings,
        scratch=place.with_suffix(".txt"),
        after_epoch=lambda done: advance(done, settings["epochs"]),
    )
    wordvectors.save(trained, place)


def _lsa(corpus: Corpus, place: Path) -> vectors.Vectors:
    if not place.is_dir():
        made = lsa.fit(corpus, **LSA_SETTINGS)
        facts = {"space": made.space, "facts": dict(made.facts)}
        storage.save(place, kind=DECOMPOSITION, arrays={"vectors": made.matrix}, texts={}, facts=facts)
    stored = storage.load(place, kind=DECOMPOSITION)
    ids = tuple(corpus.paper_ids)
    return vectors.Vectors(ids, stored.arrays["vectors"], LSA, stored.facts["space"], "cosine", stored.facts["facts"])
