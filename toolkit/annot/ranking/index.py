"""The index: all that ranking methods need of a corpus, made once and kept by content."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from annot.base import array_files
from annot.base.errors import InputError, MissingInput
from annot.base.names import counted, sha256_of
from annot.base.parallel import Each, Engine, in_threads, map_shards
from annot.base.records import Advance, grouped, nested
from annot.base.settings import MachineSettings
from annot.corpus.corpus_facts import current_sha256
from annot.formats.paper_text import ENGLISH, language_code, language_name, language_of
from annot.ranking import count_vectors, given_vectors, search, word_vectors
from annot.ranking.corpus import UNICODE, Corpus, Shard, gather, make_shard
from annot.ranking.methods import LSA, RankingInputs, Variant, WordSource, method_named
from annot.ranking.vectors import MATRIX, Vectors
from annot.store import papers
from annot.store.pools import last_file, read_corpus_versions
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The parts of the index: shards of the corpus, their joint tables, and averages of word vectors, made once.
#
# Each is a folder named by the hash of its sources and written as a whole: a build that was killed continues with the
# missing parts. A part is searched in `existing` and made in `new`, which are one folder except in a dry run.
#
# Workers that do not see the folders fetch them from a URL and put their results there, each file under its hash.
# They report these to the command, which fetches them to the study: a worker that is killed half-way has reported
# nothing.
# ----------------------------------------------------------------------------------------------------------------------


Urls = Mapping[str, str]
"""URLs of the files of a folder by name; empty if the folder is in its place."""


def folders_for(folders: Sequence[Path], url: str) -> list[array_files.Folder]:
    """Folders as workers read them: at the URL, where their files are put first, or in place if the URL is empty.

    Raises InputError if that cannot be done.
    """
    return [*_put(folders, url)] if url else [*folders]


def folder_for(path: Path, url: str) -> array_files.Folder:
    """Folder of one file of any kind, as workers read it."""
    return (
        papers.FolderAtUrl(path.parent, {path.name: papers.put_files({path: sha256_of(path)}, url)[path]})
        if url
        else path.parent
    )


def save_result(
    folder: Path,
    url: str,
    *,
    kind: str,
    arrays: Mapping[str, array_files.Array | array_files.Blocks],
    facts: Mapping[str, int],
) -> Urls:
    """Save a result in its folder, or at the URL if there is one."""
    if not url:
        array_files.save(folder, kind=kind, arrays=arrays, texts={}, facts=facts)
        return {}
    with TemporaryDirectory(prefix="annot-") as scratch:
        folder_of_parts = Path(scratch) / folder.name
        array_files.save(folder_of_parts, kind=kind, arrays=arrays, texts={}, facts=facts)
        (sent,) = _put([folder_of_parts], url)
        return sent.urls


def fetch_result(folder: Path, urls: Urls) -> None:
    """Fetch a worker's result from the URL to its folder."""
    if urls:
        with array_files.written_whole(folder) as building:
            for name, url in urls.items():
                papers.fetch_file(url, building / name)


def _put(folders: Sequence[Path], url: str) -> list[papers.FolderAtUrl]:
    hashes = {folder: array_files.written_hashes(folder) for folder in folders}
    urls = papers.put_files(
        {folder / name: sha256 for folder in hashes for name, sha256 in hashes[folder].items()}, url
    )
    return [papers.FolderAtUrl(folder, {name: urls[folder / name] for name in hashes[folder]}) for folder in folders]


SHARD, CORPUS, AVERAGES, COUNTS = "annot-shard-1", "annot-corpus-1", "annot-averages-1", "annot-pair-counts-1"
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

    existing: Path
    new: Path
    corpus_sha256: str
    url: str
    """Address from which workers fetch the parts and where they put new ones; empty if they see the folders."""
    english: bool = True
    """True if tokens are cut by the rules of English."""
    last: str | None = None
    """Name of the last file of the corpus that belongs to it; None if all do."""
    kept: Places | None = None
    """Places of the earlier version of the corpus whose trained vectors are kept; None if it has vectors of its own."""

    def part(self, name: str) -> Path:
        """The existing folder of a part, or the folder in which it is to be made."""
        path = self.existing / name
        return path if path.exists() else self.new / name

    def corpus_part(self, name: str) -> Path:
        """The folder of a part that belongs to this corpus alone."""
        return self.part(f"corpora/{self.corpus_sha256[:16]}{'' if self.english else f'-{UNICODE}'}/{name}")

    def shard(self, name: str) -> Path:
        """The folder of a shard."""
        return self.part(f"shards/{name}")

    @property
    def made_before(self) -> frozenset[str]:
        """The names of the shards that were made, of any corpus."""
        return frozenset(path.name for root in (self.existing, self.new) for path in root.glob("shards/*"))


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
        cut = _cut(papers.groups_for(folder, places.url, places.last))
        digests = []
        for digest, urls in each()(partial(_make_missing_shard, places, places.made_before), cut):
            fetch_result(places.shard(digest), urls)
            digests.append(digest)
            advance(len(digests), len(cut))
        if tuple(digests) != shards_of(places):
            arrays = gather(list(map(_opened, map(places.shard, digests))))
            array_files.save(places.corpus_part(WHOLE), kind=CORPUS, arrays=arrays, texts={"shards": digests}, facts={})
        array_files.remove_unfinished(places.new)
    names = shards_of(places) or ()
    joint, *shards = folders_for([places.corpus_part(WHOLE), *map(places.shard, names)], places.url)
    return Corpus(list(map(_opened, shards)), array_files.load(joint, kind=CORPUS).arrays)


def averages(
    places: Places, corpus: Corpus, words: Path, variants: Sequence[Variant], *, each: Each, advance: Advance
) -> dict[Variant, search.Parts]:
    """Averages of every paper's words by variant; missing ones are made. words: the folder of the vectors, which all
    variants have in common.
    """
    if missing := missing_averages(places, words, variants):
        (vectors,) = folders_for([words], places.url)
        making = _MakeAverages(corpus, variants[0].source, vectors, missing, places.url)
        for done, folders_made in enumerate(each(making, list(missing)), start=1):
            for folder, urls in folders_made.items():
                fetch_result(folder, urls)
            advance(done, len(missing))
        array_files.remove_unfinished(places.new)
    shards = shards_of(places) or ()
    folders = folders_for(
        [_average(places, words, variant, name) for variant in variants for name in shards], places.url
    )
    rows = iter(Rows(array_files.load(folder, kind=AVERAGES).arrays) for folder in folders)
    return {variant: search.Parts(list(islice(rows, len(shards)))) for variant in variants}


def averages_name(words: Path) -> str:
    """Name of the folder of the averages of these word vectors, in the folder of the corpus."""
    return f"averages-{hashlib.sha256((words / array_files.ABOUT).read_bytes()).hexdigest()[:16]}"


def shards_of(places: Places) -> tuple[str, ...] | None:
    """The names of the corpus's shards; None if the index of the corpus was not made."""
    joint = places.corpus_part(WHOLE)
    return array_files.load(joint, kind=CORPUS).texts["shards"] if joint.exists() else None


def lacks_shards(places: Places) -> bool:
    """True if shards of the corpus are missing."""
    shards = shards_of(places)
    return shards is None or not all(places.shard(name).exists() for name in shards)


def _make_missing_shard(
    places: Places, made_before: frozenset[str], groups: tuple[papers.RowGroups, ...]
) -> tuple[str, Urls]:
    """Make the shard of a run of row groups unless it exists; returns its name and its URLs.

    made_before: names of shards that a worker that does not see the places leaves alone.
    """
    batches = list(papers.read_columns(groups, TEXT))
    kind = SHARD if places.english else f"{SHARD} {UNICODE}"
    digest = hashlib.sha256(f"{kind} {papers.columns_sha256(batches)}".encode()).hexdigest()[:32]
    place = places.shard(digest)
    if digest in made_before if places.url else place.exists():
        return digest, {}
    facts = {"papers": sum(run.papers for run in groups)}
    return digest, save_result(
        place, places.url, kind=SHARD, arrays=make_shard(batches, english=places.english), facts=facts
    )


@dataclass(frozen=True)
class _CountPairs:
    """Counts the neighbours of words in one shard, and returns the URLs of the counts."""

    corpus: Corpus
    settings: count_vectors.CountSettings
    missing: Mapping[int, Path]
    """Folder of the counts by the number of the shard."""
    url: str

    def __call__(self, number: int) -> Urls:
        shard, place = self.corpus.shards[number], self.corpus.places("words")[number]
        arrays = count_vectors.count_pairs(shard, place, self.counted, window=self.settings.window)
        return save_result(self.missing[number], self.url, kind=COUNTS, arrays=arrays, facts={})

    @cached_property
    def counted(self) -> count_vectors.CountedWords:
        return count_vectors.counted_words(self.corpus, self.settings)


@dataclass(frozen=True)
class _MakeAverages:
    """Makes the missing averages of one shard, and returns their URLs by folder."""

    corpus: Corpus
    source: WordSource
    words: array_files.Folder
    missing: Mapping[int, Mapping[Variant, Path]]
    """Folder of each missing variant by the number of the shard."""
    url: str

    def __call__(self, number: int) -> dict[Path, Urls]:
        urls_by_folder = {}
        for variant, folder in self.missing[number].items():
            if not self.url and folder.exists():
                continue
            source = self._inputs.averages_of(number, variant)
            rows = (source[start : start + AT_ONCE] for start in range(0, source.shape[0], AT_ONCE))
            arrays = {"vectors": array_files.Blocks(source.shape, rows)}
            urls_by_folder[folder] = save_result(folder, self.url, kind=AVERAGES, arrays=arrays, facts={})
        return urls_by_folder

    @cached_property
    def _inputs(self) -> RankingInputs:
        words: Mapping[WordSource, word_vectors.WordVectors] = {self.source: word_vectors.load(self.words)}
        return RankingInputs(self.corpus, word_vectors=words, vectors={}, averages={})


class Rows:
    """The rows of the array `vectors`, mapped while they are read, wherever that is."""

    def __init__(self, arrays: Mapping[str, array_files.Array]) -> None:
        self._arrays = arrays
        self.shape = arrays["vectors"].shape

    def __getitem__(self, rows: Any, /) -> NDArray[np.float32]:
        matrix: NDArray[np.float32] = self._arrays["vectors"][rows]
        return matrix


def _average(places: Places, words: Path, variant: Variant, name: str) -> Path:
    """The folder of the averages of a shard."""
    return places.corpus_part(
        f"{averages_name(words)}/{variant.field}-{'weighted' if variant.weighted else 'plain'}/{name}"
    )


def missing_averages(places: Places, words: Path, variants: Sequence[Variant]) -> dict[int, dict[Variant, Path]]:
    """Folders of the missing averages, by the number of the shard."""
    return nested(
        (number, variant, folder)
        for number, name in enumerate(shards_of(places) or ())
        for variant in variants
        if not (folder := _average(places, words, variant, name)).exists()
    )


def _opened(folder: array_files.Folder) -> Shard:
    return Shard(array_files.load(folder, kind=SHARD).arrays)


def _cut(groups: Sequence[papers.RowGroups]) -> list[tuple[papers.RowGroups, ...]]:
    """Row groups put together to shards, in order."""
    shards: list[list[papers.RowGroups]] = []
    papers_in_shard = PAPERS
    for group in groups:
        ends = bool(shards) and group.path != shards[-1][-1].path and papers_in_shard >= LEAST
        if papers_in_shard >= PAPERS or ends:
            shards.append([])
            papers_in_shard = 0
        shards[-1].append(group)
        papers_in_shard += group.papers
    return [tuple(shard) for shard in shards]


# ----------------------------------------------------------------------------------------------------------------------
# Index of a corpus for the ranking methods, made once and kept by content: opened, listed, checked.
# ----------------------------------------------------------------------------------------------------------------------


LSA_SETTINGS = {"dimensions": 200, "iterations": 7, "seed": 1}
DECOMPOSITION = "annot-lsa-2"

MEMORY = 4 * 2**30
"""Bytes that making the index takes by default."""

FEW = 2
"""Most cores on which threads make shards faster than processes (100,000 abstracts: 2.7 s against 3.0, with three
quarters of the memory); with more, they wait for each other."""


def open_index(
    ws: Workspace,
    *,
    methods: Iterable[str],
    advance: Advance,
    scratch: Path | None = None,
    memory: int = MEMORY,
    version: str | None = None,
) -> tuple[RankingInputs, str]:
    """All that `methods` need, and the hash of the corpus that it was made from; missing parts are made and kept.

    version: of the corpus, whose documents alone count; None takes the newest. scratch: folder for missing parts
    instead, which are then not kept; it has to last as long as the index. memory: bytes that all processes at work on
    shards may take together, and so may the training and `lsa` after them. Raises MissingInput when a method needs
    vectors that are missing, with how to add them; InputError when the memory is too small.
    """
    chosen = [method_named(name, ws.settings.plugins.names) for name in methods]
    machine, processes = ws.machine, processes_within(memory)

    def making() -> Each:
        engine_of_machine = Engine.of(machine)
        engine = replace(engine_of_machine, processes=min(engine_of_machine.processes, processes))
        by_threads = not engine.cluster and engine.processes <= FEW
        return partial(in_threads, most=engine.processes) if by_threads else partial(map_shards, engine=engine)

    named = [method.vectors for method in chosen if method.vectors is not None and method.vectors != LSA]
    sets = {name: given_vectors.vectors_of(ws, name) for name in named}
    places = places_of(ws, scratch, keep=scratch is None, version=version)
    searched = {name: _searched(vectors, ws.vectors / name, machine) for name, vectors in sets.items()}
    corpus = open_corpus(places, ws.corpus, each=making, advance=advance)
    # Vectors that are kept are trained on the documents of their version, if they are not there any more.
    trained_places = places.kept or places
    trained_on = cache(
        lambda: open_corpus(trained_places, ws.corpus, each=making, advance=advance) if places.kept else corpus
    )
    if any(method.vectors in (None, LSA) for method in chosen):
        _refuse_without_words(ws, corpus)
    loaded_words: dict[WordSource, word_vectors.WordVectors] = {}
    averaged: dict[Variant, search.VectorSource] = {}
    variants_of = grouped((variant.source, variant) for method in chosen for variant in method.averages)
    for source, variants in variants_of.items():
        words = words_place(ws, places, source)
        if not words.is_dir():
            words.parent.mkdir(parents=True, exist_ok=True)
            if source == "cbow":
                _train_words(ws, trained_on(), words, memory=memory, advance=advance)
            else:
                _count_words(trained_places, trained_on(), words, each=making(), advance=advance)
        loaded_words[source] = word_vectors.load(words)
        each = each_on(machine, most=processes)
        averaged |= averages(places, corpus, words, variants, each=each, advance=advance)
    if any(method.vectors == LSA for method in chosen):
        decomposition = _lsa(places, corpus, trained_on, memory=memory, advance=advance)
        searched[LSA] = _searched(decomposition, lsa_place(places), machine)
    return RankingInputs(corpus, loaded_words, searched, averaged, each_on(machine)), places.corpus_sha256


def _train_words(ws: Workspace, corpus: Corpus, words: Path, *, memory: int, advance: Advance) -> None:
    settings = ws.settings.word_vectors.of_training
    trained = word_vectors.train(corpus, **settings, memory=memory, scratch=words.parent, after_epoch=advance)
    word_vectors.save(trained, words)
    shutil.rmtree(unfinished_of(words, "cbow"), ignore_errors=True)


def _count_words(places: Places, corpus: Corpus, words: Path, *, each: Each, advance: Advance) -> None:
    """Make word vectors by counting; each shard's counts are kept until then."""
    unfinished = unfinished_of(words, "ppmi")
    counts = {number: unfinished / name for number, name in enumerate(shards_of(places) or ())}
    missing = {number: folder for number, folder in counts.items() if not folder.exists()}
    making = _CountPairs(corpus, count_vectors.SETTINGS, missing, places.url)
    for done, (number, urls) in enumerate(zip(missing, each(making, list(missing)), strict=True), start=1):
        fetch_result(missing[number], urls)
        advance(done, len(missing))
    arrays = [array_files.load(folder, kind=COUNTS).arrays for folder in counts.values()]
    count_vectors.train(corpus, arrays, making.counted, making.settings, folder=words, advance=advance)
    shutil.rmtree(unfinished, ignore_errors=True)
    array_files.remove_unfinished(places.new)


def places_of(ws: Workspace, scratch: Path | None = None, *, keep: bool, version: str | None = None) -> Places:
    """Places of the index of a version of the corpus; None takes the newest. keep: remember the corpus's hash
    (`current_sha256`).

    Raises MissingInput when the corpus is empty.
    """
    with ws.reading() as session:
        versions = read_corpus_versions(session)
    root, english = ws.cache / "index", is_english(ws)

    def places(name: str | None) -> Places:
        last = last_file(versions, name)
        digest = current_sha256(ws, keep=keep, last=last)
        return Places(root, scratch or root, digest, ws.machine.url, english, last)

    of_version = places(version)
    names = [recorded.version for recorded in versions]
    kept = places(trained_version(ws.settings.word_vectors.trained_in, names, version)) if versions else of_version
    return of_version if kept.corpus_sha256 == of_version.corpus_sha256 else replace(of_version, kept=kept)


def trained_version(trained_in: Collection[str], names: Sequence[str], version: str | None = None) -> str:
    """Version of the corpus on whose documents the vectors that a version ranks by were trained: the last of those in
    `trained_in` that is not later, or else the first.

    names: versions on record, the oldest first, at least one. version: None is the newest.
    """
    included = names if version is None else names[: names.index(version) + 1]
    return next((name for name in reversed(included) if name in trained_in), names[0])


LOOKED_AT, OTHERS = 1_000, 0.05
"""Papers at the beginning of the corpus that are looked at, and the share that may be in another language."""


def is_english(ws: Workspace) -> bool:
    """True if the tokens of the corpus are cut by the rules of English, which know Latin letters only.

    The language of the collection decides. If that is English and the papers are not, they have the rule of all other
    languages, under which English papers can be ranked as well.
    """
    language = language_code(ws.settings.collection.language)
    if language != ENGLISH or not ws.has_corpus:
        return language == ENGLISH
    texts = islice(papers.read_papers(ws.corpus, columns=("sentences", "language")), LOOKED_AT)
    languages = [language_of(" ".join(paper.sentences), paper.language or ENGLISH) for paper in texts]
    return sum(other != ENGLISH for other in languages) <= OTHERS * len(languages)


def _refuse_without_words(ws: Workspace, corpus: Corpus) -> None:
    """Raise InputError if the abstracts have no token."""
    if not corpus.statistics("abstract", "words").running:
        language = language_name(language_code(ws.settings.collection.language))
        raise InputError(
            f"{ws.corpus}: none of {counted(len(corpus), 'abstract')} has a word, expected texts in {language}",
            hint="set `[collection] language` in annot.toml to the language of the texts",
        )


def words_place(ws: Workspace, places: Places, source: WordSource) -> Path:
    """The folder of the word vectors that the methods rank by: the imported ones if there are any (for CBOW only), or
    those of the study's settings.
    """
    if source == "cbow" and ws.word_vectors.is_dir():
        return ws.word_vectors
    trained_as = ws.settings.word_vectors.of_training
    settings = trained_as if source == "cbow" else asdict(count_vectors.SETTINGS)
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
    return (places.kept or places).corpus_part(f"{'words' if source == 'cbow' else source}-{digest}")


def unfinished_of(words: Path, source: WordSource) -> Path:
    """Folder in which a killed command left unfinished word vectors; the next command continues there."""
    return words.parent / (word_vectors.UNFINISHED if source == "cbow" else f"unfinished-{words.name}")


def each_on(machine: MachineSettings, *, most: int | None = None) -> Each:
    """Executor of work that NumPy does most of: threads, which share mapped memory, or a cluster's workers.

    most: the largest number of threads.
    """
    return partial(map_shards, engine=Engine.of(machine)) if machine.cluster else partial(in_threads, most=most)


def _searched(vectors: Vectors, folder: Path, machine: MachineSettings) -> Vectors:
    """The vectors of a folder, which a cluster's workers open by themselves."""
    if not machine.cluster:
        return vectors
    return replace(vectors, source=Rows(array_files.ArrayFolder(folder_for(folder / MATRIX, machine.url), ["vectors"])))


def lsa_place(places: Places) -> Path:
    """The folder of the decomposition."""
    return places.corpus_part(DECOMPOSITION.removeprefix("annot-"))


def _lsa(places: Places, corpus: Corpus, trained_on: Callable[[], Corpus], *, memory: int, advance: Advance) -> Vectors:
    """The decomposition of this corpus. trained_on: gives the version whose basis is kept, if there is one; terms that
    it does not have get zeros."""
    place = lsa_place(places)
    if not place.is_dir():
        if places.kept is None:
            basis, facts = word_vectors.fit(corpus, **LSA_SETTINGS, memory=memory, advance=advance)
        else:
            earlier = trained_on()
            fitted = _lsa(places.kept, earlier, trained_on, memory=memory, advance=advance)
            basis = _basis_for(corpus, earlier, fitted)
            fitted_to = {"fitted_to_corpus": places.kept.corpus_sha256}
            facts = {"space": fitted.space, "facts": {**fitted.facts, **fitted_to}}
        arrays: dict[str, array_files.Array | array_files.Blocks] = {
            "vectors": word_vectors.documents(corpus, basis),
            "basis": basis,
        }
        array_files.save(place, kind=DECOMPOSITION, arrays=arrays, texts={}, facts=facts)
        array_files.remove_unfinished(place.parent)
    stored = array_files.load(place, kind=DECOMPOSITION)
    ids, stored_arrays = corpus.paper_ids.combine_chunks(), stored.arrays
    space, facts = stored.facts["space"], stored.facts["facts"]
    return Vectors(ids, stored_arrays["vectors"], LSA, space, "cosine", facts, basis=stored_arrays["basis"])


def _basis_for(corpus: Corpus, earlier: Corpus, fitted: Vectors) -> NDArray[np.float32]:
    """The basis of an earlier version of the corpus, with a row for each term of this one."""
    assert fitted.basis is not None, "a decomposition has a basis"
    rows = array_files.places_of(corpus.tokens("terms"), earlier.tokens("terms"))
    return np.where(rows[:, None] >= 0, fitted.basis[rows], np.float32(0))


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
    used = {places.corpus_part(WHOLE), lsa_place(places), lsa_place(places.kept or places)}
    for source in get_args(WordSource):
        words = words_place(ws, places, source)
        used |= {words, places.corpus_part(averages_name(words)) if words.is_dir() else unfinished_of(words, source)}

    def is_used(path: Path) -> bool:
        if path in used:
            return True
        # Before the corpus of today is indexed, any shard may still be part of it.
        return (
            path.parent.name == "shards" and not path.name.startswith(".") and (shards is None or path.name in shards)
        )

    root = places.existing
    apart = (top for top in root.glob("*") if top.name not in ("shards", "corpora"))
    parts = []
    for path in (*root.glob("shards/*"), *root.glob("corpora/*/*"), *apart):
        parts.append(_measured(path, is_used(path)))
        # What a killed build was writing.
        parts += [_measured(unfinished, False) for unfinished in path.rglob(".*") if parts[-1].used]
    return tuple(sorted(parts, key=lambda part: part.path))


def faults_of(ws: Workspace) -> tuple[str, ...]:
    """Files of the index that have changed since they were written, and shards that are missing.

    Raises MissingInput if there is no index.
    """
    root = ws.cache / "index"
    changed = changed_folders(ws)
    if not changed:
        raise MissingInput(f"{root}: no index", hint="make it with `annot index`")
    missing = [
        f"{root / 'shards' / name}: found no folder, expected a shard of {names.parent.parent.name}"
        for names in root.glob(f"corpora/*/{WHOLE}/shards.txt")
        for name in names.read_text(encoding="utf-8").split()
        if not (root / "shards" / name).is_dir()
    ]
    return (*missing, *chain.from_iterable(changed.values()))


def changed_folders(ws: Workspace) -> dict[Path, list[str]]:
    """The files of each folder of the index that have changed since they were written, in words."""
    folders = sorted(about.parent for about in (ws.cache / "index").rglob(array_files.ABOUT))
    return dict(zip(folders, in_threads(array_files.faults, folders), strict=True))


def _measured(path: Path, used: bool) -> IndexPart:
    files = [file.stat() for file in (path, *path.rglob("*")) if file.is_file()]
    return IndexPart(
        path, used, sum(file.st_size for file in files), max((file.st_mtime for file in files), default=0.0)
    )
