"""The parts of the index: shards of the corpus, their joint tables, and averages of word vectors, made once.

Each is a folder named by the hash of its sources and written as a whole: a build that was killed continues with the
missing parts. A part is searched in `found` and made in `made`, which are one folder except in a dry run.

Workers that do not see the folders fetch them from a URL and put their results there, each file under its hash. They
report these to the command, which fetches them to the study: a worker that is killed half-way has reported nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base import storage
from annot.base.cores import Each
from annot.base.errors import InputError
from annot.base.records import Advance, nested
from annot.ranking import wordvectors
from annot.ranking.corpus import Corpus, Shard, gather, make_shard
from annot.ranking.dense import Parts
from annot.ranking.methods import RankingInputs, Variant
from annot.store import papers
from annot.store.files_at_url import FolderAtUrl, fetch_file, put_files, sha256_of
from annot.store.papers import RowGroups, groups_for, read_columns

Urls = Mapping[str, str]
"""URLs of the files of a folder by name; empty if the folder is in its place."""


def folders_for(folders: Sequence[Path], url: str) -> list[storage.Folder]:
    """Folders as workers read them: at the URL, where their files are put first, or in place if the URL is empty.

    Raises InputError if that cannot be done.
    """
    return [*_put(folders, url)] if url else [*folders]


def folder_for(path: Path, url: str) -> storage.Folder:
    """Folder of one file of any kind, as workers read it."""
    return FolderAtUrl(path.parent, {path.name: put_files({path: sha256_of(path)}, url)[path]}) if url else path.parent


def keep(
    folder: Path, url: str, *, kind: str, arrays: Mapping[str, storage.Array | storage.Blocks], facts: Mapping[str, int]
) -> Urls:
    """Save a result in its folder, or at the URL if there is one."""
    if not url:
        storage.save(folder, kind=kind, arrays=arrays, texts={}, facts=facts)
        return {}
    with TemporaryDirectory(prefix="annot-") as scratch:
        folder_of_parts = Path(scratch) / folder.name
        storage.save(folder_of_parts, kind=kind, arrays=arrays, texts={}, facts=facts)
        (sent,) = _put([folder_of_parts], url)
        return sent.urls


def take(folder: Path, urls: Urls) -> None:
    """Fetch a worker's result from the URL to its folder."""
    if urls:
        with storage.written_whole(folder) as building:
            for name, url in urls.items():
                fetch_file(url, building / name)


def _put(folders: Sequence[Path], url: str) -> list[FolderAtUrl]:
    hashes = {folder: storage.written_hashes(folder) for folder in folders}
    urls = put_files({folder / name: sha256 for folder in hashes for name, sha256 in hashes[folder].items()}, url)
    return [FolderAtUrl(folder, {name: urls[folder / name] for name in hashes[folder]}) for folder in folders]


SHARD, CORPUS, AVERAGES = "annot-shard-1", "annot-corpus-1", "annot-averages-1"
TEXT = ("paper_id", "title", "sentences")

PAPERS = 50_000
"""Papers of a full shard. It changes memory and how much is made again when papers are added; no result."""
LEAST = 10_000
"""Papers from which on a shard ends with its file, so that papers added later make shards of their own."""

AT_ONCE = 2_500
"""Averages that are in memory at once; changes no result."""

WHOLE = "whole"
"""Name of the joint tables of a corpus's shards, in the folder of the corpus."""

GIGABYTE = 2**30
OF_A_PROCESS = 9 * GIGABYTE // 10
"""Memory that a process needs at work on a full shard, libraries included (measured: 0.6 to 0.8)."""


@dataclass(frozen=True)
class Places:
    """Folders where the parts of the index of one corpus are kept, or will be."""

    found: Path
    made: Path
    corpus_sha256: str
    url: str
    """Address from which workers fetch the parts and where they put new ones; empty if they see the folders."""

    def part(self, name: str) -> Path:
        """The existing folder of a part, or the folder in which it is to be made."""
        path = self.found / name
        return path if path.exists() else self.made / name

    def own(self, name: str) -> Path:
        """The folder of a part that belongs to this corpus alone."""
        return self.part(f"corpora/{self.corpus_sha256[:16]}/{name}")

    def shard(self, name: str) -> Path:
        """The folder of a shard."""
        return self.part(f"shards/{name}")

    @property
    def made_before(self) -> frozenset[str]:
        """The names of the shards that were made, of any corpus."""
        return frozenset(path.name for root in (self.found, self.made) for path in root.glob("shards/*"))


def processes_within(memory: int) -> int:
    """Number of processes that fit into the memory, besides the one that starts them.

    Raises InputError if not even one fits.
    """
    fit = int(memory / OF_A_PROCESS) - 1
    if fit < 1:
        raise InputError(
            f"memory: found {memory / GIGABYTE:.2g} G, expected {2 * OF_A_PROCESS / GIGABYTE:.2g} G or more"
        )
    return fit


def open_corpus(places: Places, folder: Path, *, each: Callable[[], Each], advance: Advance) -> Corpus:
    """Corpus in `folder` over its shards; missing ones are made. each: returns the executor that makes them."""
    if lacks_shards(places):
        cut = _cut(groups_for(folder, places.url))
        digests = []
        for digest, urls in each()(_MakeShard(places, places.made_before), cut):
            take(places.shard(digest), urls)
            digests.append(digest)
            advance(len(digests), len(cut))
        if tuple(digests) != shards_of(places):
            arrays = gather(list(map(_opened, map(places.shard, digests))))
            storage.save(places.own(WHOLE), kind=CORPUS, arrays=arrays, texts={"shards": digests}, facts={})
        storage.remove_unfinished(places.made)
    names = shards_of(places) or ()
    joint, *shards = folders_for([places.own(WHOLE), *map(places.shard, names)], places.url)
    return Corpus(list(map(_opened, shards)), storage.load(joint, kind=CORPUS).arrays)


def averages(
    places: Places, corpus: Corpus, words: Path, variants: Sequence[Variant], *, each: Each, advance: Advance
) -> dict[Variant, Parts]:
    """Averages of every paper's words by variant; missing ones are made. words: the folder of the vectors."""
    if missing := missing_averages(places, words, variants):
        (vectors,) = folders_for([words], places.url)
        making = _MakeAverages(corpus, vectors, missing, places.url)
        for done, folders_made in enumerate(each(making, list(missing)), start=1):
            for folder, urls in folders_made.items():
                take(folder, urls)
            advance(done, len(missing))
        storage.remove_unfinished(places.made)
    shards = shards_of(places) or ()
    folders = folders_for(
        [_average(places, words, variant, name) for variant in variants for name in shards], places.url
    )
    rows = iter(Rows(storage.load(folder, kind=AVERAGES).arrays) for folder in folders)
    return {variant: Parts(list(islice(rows, len(shards)))) for variant in variants}


def averages_name(words: Path) -> str:
    """Name of the folder of the averages of these word vectors, in the folder of the corpus."""
    return f"averages-{hashlib.sha256((words / storage.ABOUT).read_bytes()).hexdigest()[:16]}"


def shards_of(places: Places) -> tuple[str, ...] | None:
    """The names of the corpus's shards; None if the index of the corpus was not made."""
    joint = places.own(WHOLE)
    return storage.load(joint, kind=CORPUS).texts["shards"] if joint.exists() else None


def lacks_shards(places: Places) -> bool:
    """True if shards of the corpus are missing."""
    shards = shards_of(places)
    return shards is None or not all(places.shard(name).exists() for name in shards)


@dataclass(frozen=True)
class _MakeShard:
    """Makes the shard of a run of row groups unless it exists, and returns its name and its URLs."""

    places: Places
    made_before: frozenset[str]
    """Names of shards that a worker that does not see the places leaves alone."""

    def __call__(self, groups: tuple[RowGroups, ...]) -> tuple[str, Urls]:
        batches = list(read_columns(groups, TEXT))
        digest = hashlib.sha256(f"{SHARD} {papers.columns_sha256(batches)}".encode()).hexdigest()[:32]
        place = self.places.shard(digest)
        if digest in self.made_before if self.places.url else place.exists():
            return digest, {}
        facts = {"papers": sum(run.papers for run in groups)}
        return digest, keep(place, self.places.url, kind=SHARD, arrays=make_shard(batches), facts=facts)


@dataclass(frozen=True)
class _MakeAverages:
    """Makes the missing averages of one shard, and returns their URLs by folder."""

    corpus: Corpus
    words: storage.Folder
    missing: Mapping[int, Mapping[Variant, Path]]
    """Folder of each missing variant by the number of the shard."""
    url: str

    def __call__(self, number: int) -> dict[Path, Urls]:
        urls_by_folder = {}
        for variant, folder in self.missing[number].items():
            if not self.url and folder.exists():
                continue
            source = self._inputs.averages_of(number, *variant)
            rows = (source[start : start + AT_ONCE] for start in range(0, source.shape[0], AT_ONCE))
            arrays = {"vectors": storage.Blocks(source.shape, rows)}
            urls_by_folder[folder] = keep(folder, self.url, kind=AVERAGES, arrays=arrays, facts={})
        return urls_by_folder

    @cached_property
    def _inputs(self) -> RankingInputs:
        return RankingInputs(self.corpus, word_vectors=wordvectors.load(self.words), vectors={}, averages={})


class Rows:
    """The rows of the array `vectors`, mapped while they are read, wherever that is."""

    def __init__(self, arrays: Mapping[str, storage.Array]) -> None:
        self._arrays = arrays
        self.shape = arrays["vectors"].shape

    def __getitem__(self, rows: Any, /) -> NDArray[np.float32]:
        matrix: NDArray[np.float32] = self._arrays["vectors"][rows]
        return matrix


def _average(places: Places, words: Path, variant: Variant, name: str) -> Path:
    """The folder of the averages of a shard."""
    field, weighted = variant
    kind = "weighted" if weighted else "plain"
    return places.own(f"{averages_name(words)}/{field}-{kind}/{name}")


def missing_averages(places: Places, words: Path, variants: Sequence[Variant]) -> dict[int, dict[Variant, Path]]:
    """The folders of those that are not there, by the number of the shard."""
    return nested(
        (number, variant, folder)
        for number, name in enumerate(shards_of(places) or ())
        for variant in variants
        if not (folder := _average(places, words, variant, name)).exists()
    )


def _opened(folder: storage.Folder) -> Shard:
    return Shard(storage.load(folder, kind=SHARD).arrays)


def _cut(groups: Sequence[RowGroups]) -> list[tuple[RowGroups, ...]]:
    """Row groups put together to shards, in order."""
    shards: list[list[RowGroups]] = []
    papers_in_shard = PAPERS
    for group in groups:
        ends = bool(shards) and group.path != shards[-1][-1].path and papers_in_shard >= LEAST
        if papers_in_shard >= PAPERS or ends:
            shards.append([])
            papers_in_shard = 0
        shards[-1].append(group)
        papers_in_shard += group.papers
    return [tuple(shard) for shard in shards]
