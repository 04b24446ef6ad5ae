"""The parts of the index: shards of the corpus, what they are together, and averages of word vectors, made once.

Each is a folder under the hash of what it was made of, written whole: a build that was killed goes on with what is
missing. A part is looked for in `found` and made in `made`; the two are one folder, but in a dry run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.errors import InputError
from annot.ranking import shard, storage, wordvectors
from annot.ranking.corpus import Corpus, gather
from annot.ranking.dense import Parts
from annot.ranking.methods import Bench
from annot.ranking.shard import Shard
from annot.ranking.threads import Each
from annot.ranking.tokens import Field
from annot.shards import Advance, Engine, map_shards
from annot.store import papers
from annot.store.paper_columns import RowGroups, groups_of, read_columns

SHARD, CORPUS, AVERAGES = "annot-shard-1", "annot-corpus-1", "annot-averages-1"
TEXT = ("paper_id", "title", "sentences")

PAPERS = 50_000
"""Papers of a full shard. It changes what is made anew when papers are added, and memory; no result."""
LEAST = 10_000
"""Papers from which on a shard ends with its file, so that papers added later make shards of their own."""

WHOLE = "whole"
"""What the shards of a corpus are together, among what belongs to it."""

Variant = tuple[Field, bool]
"""Averages of a field: weighted by idf, or plain."""

GIGABYTE = 2**30
OF_A_PROCESS = 9 * GIGABYTE // 10
"""Memory that a process needs at work on a full shard, libraries included (measured: 0.6 to 0.8)."""


@dataclass(frozen=True)
class Places:
    """Where the parts of the index of one corpus lie, or would."""

    found: Path
    made: Path
    corpus_sha256: str

    def part(self, name: str) -> Path:
        """The folder of a part: where it is, or where it is to be made."""
        path = self.found / name
        return path if path.exists() else self.made / name

    def own(self, name: str) -> Path:
        """The folder of a part that belongs to this corpus alone."""
        return self.part(f"corpora/{self.corpus_sha256[:16]}/{name}")


def processes_within(memory: int) -> int:
    """How many processes fit into so many bytes beside the one that is told of them.

    Raises InputError where not even one fits.
    """
    fit = int(memory / OF_A_PROCESS) - 1
    if fit < 1:
        raise InputError(
            f"memory: found {memory / GIGABYTE:.2g} G, expected {2 * OF_A_PROCESS / GIGABYTE:.2g} G or more"
        )
    return fit


def open_corpus(places: Places, folder: Path, *, engine: Callable[[], Engine], advance: Advance) -> Corpus:
    """The corpus in `folder` over its shards; what is missing is made. engine: what makes it, asked for only then."""
    if lacks_shards(places):
        cut = _cut(groups_of(folder))
        digests = tuple(map_shards(_MakeShard(places), cut, engine=engine(), advance=advance))
        if digests != shards_of(places):
            arrays = gather([_shard(places, digest) for digest in digests])
            storage.save(places.own(WHOLE), kind=CORPUS, arrays=arrays, texts={"shards": digests}, facts={})
        storage.remove_unfinished(places.made)
    return _load(places)


def averages(
    places: Places, words: Path, variants: Sequence[Variant], *, each: Each, advance: Advance
) -> dict[Variant, Parts]:
    """The averages of every paper's words by variant; what is missing is made. words: the folder of the vectors."""
    digests = shards_of(places) or ()
    where = _Averages(places, words, tuple(variants), digests)
    if missing := where.missing():
        for done, _made in enumerate(each(where, missing), start=1):
            advance(done, len(missing))
        storage.remove_unfinished(places.made)
    return {
        variant: Parts([_Rows(where.place(number, variant)) for number in range(len(digests))]) for variant in variants
    }


def lacks_averages(places: Places, words: Path, variants: Sequence[Variant]) -> bool:
    """Whether averages of these variants are to be made."""
    return bool(_Averages(places, words, tuple(variants), shards_of(places) or ()).missing())


def averages_name(words: Path) -> str:
    """The folder of the averages of these word vectors, among what belongs to a corpus."""
    return f"averages-{hashlib.sha256((words / storage.ABOUT).read_bytes()).hexdigest()[:16]}"


def shards_of(places: Places) -> tuple[str, ...] | None:
    """The names of the corpus's shards; None where the index of the corpus was not made."""
    whole = places.own(WHOLE)
    return storage.load(whole, kind=CORPUS).texts["shards"] if whole.exists() else None


def lacks_shards(places: Places) -> bool:
    """Whether shards of the corpus are to be made."""
    shards = shards_of(places)
    return shards is None or not all(places.part(f"shards/{name}").exists() for name in shards)


@dataclass(frozen=True)
class _MakeShard:
    """Makes the shard of a run of row groups, unless it stands, and returns its name."""

    places: Places

    def __call__(self, groups: tuple[RowGroups, ...]) -> str:
        batches = list(read_columns(groups, TEXT))
        digest = hashlib.sha256(f"{SHARD} {papers.columns_sha256(batches)}".encode()).hexdigest()[:32]
        place = self.places.part(f"shards/{digest}")
        if not place.exists():
            count = sum(run.papers for run in groups)
            storage.save(place, kind=SHARD, arrays=shard.make(batches), texts={}, facts={"papers": count})
        return digest


@dataclass(frozen=True)
class _Averages:
    """Makes the averages of one shard, each variant that is not there."""

    places: Places
    words: Path
    variants: tuple[Variant, ...]
    shards: tuple[str, ...]

    def place(self, number: int, variant: Variant) -> Path:
        field, weighted = variant
        kind = "weighted" if weighted else "plain"
        return self.places.own(f"{averages_name(self.words)}/{field}-{kind}/{self.shards[number]}")

    def missing(self) -> list[int]:
        """The shards of which an average is not there."""
        return [
            number
            for number in range(len(self.shards))
            if not all(self.place(number, one).exists() for one in self.variants)
        ]

    def __call__(self, number: int) -> None:
        for variant in self.variants:
            place = self.place(number, variant)
            if not place.exists():
                source = self._bench.averages_of(number, *variant)
                storage.save(place, kind=AVERAGES, arrays={"vectors": source[:]}, texts={}, facts={})

    @cached_property
    def _bench(self) -> Bench:
        return Bench(_load(self.places), word_vectors=wordvectors.load(self.words), vectors={}, averages={})


class _Rows:
    """The averages of one shard, mapped while they are read."""

    def __init__(self, folder: Path) -> None:
        self._stored = storage.load(folder, kind=AVERAGES)
        self.shape = self._stored.arrays["vectors"].shape

    def __getitem__(self, rows: Any, /) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self._stored.arrays["vectors"][rows]
        return found


def _load(places: Places) -> Corpus:
    stored = storage.load(places.own(WHOLE), kind=CORPUS)
    return Corpus([_shard(places, digest) for digest in stored.texts["shards"]], stored.arrays)


def _shard(places: Places, digest: str) -> Shard:
    return Shard(storage.load(places.part(f"shards/{digest}"), kind=SHARD).arrays)


def _cut(groups: Sequence[RowGroups]) -> list[tuple[RowGroups, ...]]:
    """Row groups put together to shards, in order."""
    shards: list[list[RowGroups]] = []
    held = PAPERS
    for group in groups:
        ends = bool(shards) and group.path != shards[-1][-1].path and held >= LEAST
        if held >= PAPERS or ends:
            shards.append([])
            held = 0
        shards[-1].append(group)
        held += group.papers
    return [tuple(shard) for shard in shards]
