"""Index of a corpus for the ranking methods, made once and kept by content: opened, listed, checked."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from annot.base import storage
from annot.base.cores import Each, in_threads
from annot.base.errors import MissingInput
from annot.base.records import Advance
from annot.base.settings.sections import MachineSettings
from annot.base.shards import Engine, map_shards
from annot.corpus.corpus_facts import current_sha256
from annot.ranking import lsa, wordvectors
from annot.ranking.corpus import Corpus
from annot.ranking.index_parts import (
    WHOLE,
    Places,
    Rows,
    averages,
    averages_name,
    folder_for,
    open_corpus,
    processes_within,
    shards_of,
)
from annot.ranking.methods import LSA, RankingInputs, method_named
from annot.ranking.paper_vectors import vectors_of
from annot.ranking.vectors import MATRIX, Vectors
from annot.ranking.wordvectors import UNFINISHED
from annot.study.workspace import Workspace

LSA_SETTINGS = {"dimensions": 200, "iterations": 7, "seed": 1}
DECOMPOSITION = "annot-lsa-2"

MEMORY = 4 * 2**30
"""Bytes that making the index takes by default."""

FEW = 2
"""Most cores on which threads make shards faster than processes (100,000 abstracts: 2.7 s against 3.0, with three
quarters of the memory); with more, they wait for each other."""

V = TypeVar("V", bound=Vectors)


@dataclass(frozen=True)
class Index:
    """Inputs of the ranking methods, and the hash of the corpus that they were made from."""

    inputs: RankingInputs
    corpus_sha256: str


def open_index(
    ws: Workspace,
    *,
    methods: Iterable[str],
    advance: Advance,
    scratch: Path | None = None,
    memory: int = MEMORY,
) -> Index:
    """Index with all that `methods` need; missing parts are made and kept.

    scratch: folder for missing parts instead, which are then not kept; it has to last as long as the index. memory:
    bytes that all processes at work on shards may take together, and so may the training and `lsa` after them. Raises
    MissingInput when a method needs vectors that are missing, with how to add them; InputError when the memory is too
    small.
    """
    needs = [method_named(name).needs for name in methods]
    machine, processes = ws.machine, processes_within(memory)

    def making() -> Each:
        engine_of_machine = Engine.of(machine)
        engine = replace(engine_of_machine, processes=min(engine_of_machine.processes, processes))
        by_threads = not engine.cluster and engine.processes <= FEW
        return partial(in_threads, most=engine.processes) if by_threads else partial(map_shards, engine=engine)

    named = [need.vectors for need in needs if need.vectors is not None and need.vectors != LSA]
    sets = {name: vectors_of(ws, name) for name in named}
    places = places_of(ws, scratch, keep=scratch is None)
    searched = {name: _searched(vectors, ws.vectors / name, machine) for name, vectors in sets.items()}
    corpus = open_corpus(places, ws.corpus, each=making, advance=advance)
    word_vectors, averaged = None, {}
    variants = [variant for need in needs for variant in need.averages]
    if variants:
        words = words_place(ws, places)
        if not words.is_dir():
            words.parent.mkdir(parents=True, exist_ok=True)
            settings = ws.settings.word_vectors.model_dump()
            trained = wordvectors.train(corpus, **settings, memory=memory, scratch=words.parent, after_epoch=advance)
            wordvectors.save(trained, words)
            shutil.rmtree(words.parent / UNFINISHED, ignore_errors=True)
        word_vectors = wordvectors.load(words)
        averaged = averages(places, corpus, words, variants, each=each_on(machine, most=processes), advance=advance)
    if any(need.vectors == LSA for need in needs):
        decomposition = _lsa(corpus, lsa_place(places), memory=memory, advance=advance)
        searched[LSA] = _searched(decomposition, lsa_place(places), machine)
    inputs = RankingInputs(
        corpus, word_vectors=word_vectors, vectors=searched, averages=averaged, each=each_on(machine)
    )
    return Index(inputs, places.corpus_sha256)


def places_of(ws: Workspace, scratch: Path | None = None, *, keep: bool) -> Places:
    """Places of the index of the corpus in its current state. keep: remember the corpus's hash (`current_sha256`).

    Raises MissingInput when the corpus is empty.
    """
    root = ws.cache / "index"
    return Places(root, scratch or root, current_sha256(ws, keep=keep), ws.machine.url)


def words_place(ws: Workspace, places: Places) -> Path:
    """The folder of the word vectors that the methods rank by: the imported ones, or those of the study's settings."""
    settings = json.dumps(ws.settings.word_vectors.model_dump(), sort_keys=True)
    trained = f"words-{hashlib.sha256(settings.encode()).hexdigest()[:16]}"
    return ws.word_vectors if ws.word_vectors.is_dir() else places.own(trained)


def each_on(machine: MachineSettings, *, most: int | None = None) -> Each:
    """Executor of work that NumPy does most of: threads, which share mapped memory, or a cluster's workers.

    most: threads at the most.
    """
    return partial(map_shards, engine=Engine.of(machine)) if machine.cluster else partial(in_threads, most=most)


def _searched(vectors: V, folder: Path, machine: MachineSettings) -> V:
    """The vectors of a folder, which a cluster's workers open by themselves."""
    if not machine.cluster:
        return vectors
    return replace(vectors, source=Rows(storage.Opened(folder_for(folder / MATRIX, machine.url), ["vectors"])))


def lsa_place(places: Places) -> Path:
    """The folder of the decomposition."""
    return places.own(DECOMPOSITION.removeprefix("annot-"))


def _lsa(corpus: Corpus, place: Path, *, memory: int, advance: Advance) -> lsa.Decomposition:
    if not place.is_dir():
        basis = lsa.fit(corpus, **LSA_SETTINGS, memory=memory, advance=advance)
        arrays: dict[str, storage.Array | storage.Blocks] = {
            "vectors": lsa.documents(corpus, basis),
            "basis": basis.matrix,
        }
        facts = {"space": basis.space, "facts": dict(basis.facts)}
        storage.save(place, kind=DECOMPOSITION, arrays=arrays, texts={}, facts=facts)
        storage.remove_unfinished(place.parent)
    stored = storage.load(place, kind=DECOMPOSITION)
    ids, stored_arrays = corpus.paper_ids.combine_chunks(), stored.arrays
    space, facts = stored.facts["space"], stored.facts["facts"]
    return lsa.Decomposition(ids, stored_arrays["vectors"], LSA, space, "cosine", facts, stored_arrays["basis"])


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A folder or file of the index."""

    path: Path
    used: bool
    """True if a command would open it, with the current corpus and settings."""
    bytes: int
    made: float
    """Time of the last write, in seconds since 1970."""


def parts_of(ws: Workspace) -> tuple[IndexPart, ...]:
    """Every part, by path. Raises MissingInput when the corpus is empty."""
    places = places_of(ws, keep=False)
    shards = shards_of(places)
    words = words_place(ws, places)
    used_names = {WHOLE, lsa_place(places).name, words.name}
    used_names.add(averages_name(words) if words.is_dir() else UNFINISHED)
    corpus_folder = places.own("")

    def is_used(path: Path) -> bool:
        if path.parent == corpus_folder:
            return path.name in used_names
        # Before the corpus of today is indexed, any shard may still be part of it.
        return (
            path.parent.name == "shards" and not path.name.startswith(".") and (shards is None or path.name in shards)
        )

    parts = []
    for path in _folders(places.found):
        parts.append(_measured(path, is_used(path)))
        # What a killed build was writing.
        parts += [_measured(unfinished, False) for unfinished in path.rglob(".*") if parts[-1].used]
    return tuple(sorted(parts, key=lambda part: part.path))


def faults_of(ws: Workspace) -> tuple[str, ...]:
    """Files of the index that have changed since they were written, and shards that are missing.

    Raises MissingInput if there is no index.
    """
    root = ws.cache / "index"
    abouts = sorted(root.rglob(storage.ABOUT))
    if not abouts:
        raise MissingInput(f"{root}: no index", hint="make it with `annot index`")
    missing = [
        f"{root / 'shards' / name}: found no folder, expected a shard of {corpus_folder.parent.name}"
        for corpus_folder in root.glob(f"corpora/*/{WHOLE}")
        for name in _names(corpus_folder / "shards.txt")
        if not (root / "shards" / name).is_dir()
    ]
    folders = [about.parent for about in abouts]
    return (*missing, *(fault for faults in in_threads(storage.faults, folders) for fault in faults))


def damaged(ws: Workspace) -> tuple[Path, ...]:
    """Folders to remove, so that changed files are made again."""
    folders = sorted(about.parent for about in (ws.cache / "index").rglob(storage.ABOUT))
    return tuple(folder for folder, faults in zip(folders, in_threads(storage.faults, folders), strict=True) if faults)


def _names(path: Path) -> list[str]:
    """The lines of a file; none when it is missing."""
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def _folders(root: Path) -> Iterator[Path]:
    """Folders and files that can be kept or removed by themselves: shards, parts of one corpus, and any other entry."""
    for top in root.glob("*"):
        if top.name == "shards":
            yield from top.glob("*")
        elif top.name == "corpora":
            for corpus in top.glob("*"):
                yield from corpus.glob("*")
        else:
            yield top


def _measured(path: Path, used: bool) -> IndexPart:
    files = [file.stat() for file in (path, *path.rglob("*")) if file.is_file()]
    return IndexPart(
        path, used, sum(file.st_size for file in files), max((file.st_mtime for file in files), default=0.0)
    )
