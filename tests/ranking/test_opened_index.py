"""Index of a small corpus: its cuts and parts, those that are used or damaged, and the limits of memory."""

import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError, MissingInput
from annot.base.parallel import in_threads
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.ranking import index, word_vectors
from annot.ranking.corpus import Corpus
from annot.ranking.index import (
    GIGABYTE,
    OF_A_PROCESS,
    Places,
    averages,
    changed_folders,
    faults_of,
    lacks_shards,
    lsa_place,
    missing_averages,
    open_corpus,
    open_index,
    parts_of,
    places_of,
    processes_within,
    shards_of,
    words_place,
)
from annot.ranking.methods import RankingInputs, Variant
from annot.ranking.search import Parts
from annot.ranking.vectors import Vectors
from annot.ranking.word_vectors import WordVectors
from annot.store.database import open_store
from annot.store.papers import PaperWriter, RowGroups, groups_of
from annot.study.workspace import Workspace
from indexed import write_vectors

TEXTS = ("trees parse words", "words parse trees", "models train words", "models label trees", "we train", "trees")


def write_corpus(ws: Workspace, texts: tuple[str, ...], *, file: str = "a") -> None:
    with PaperWriter(ws.corpus, name=f"{file}.parquet") as writer:
        for at, text in enumerate(texts):
            writer.add(Paper(f"{file}{at}", text.title(), (f"{text}.", f"{text} again.")))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    found = Workspace(tmp_path, Settings()).replaced("word_vectors", dimensions=4, min_count=1, epochs=1)
    open_store(found.database_url).close()
    write_corpus(found, TEXTS)
    return found


def opened(ws: Workspace, *methods: str, **given: Any) -> RankingInputs:
    inputs, corpus_sha256 = open_index(ws, methods=methods, advance=lambda done, total: None, **given)
    assert corpus_sha256 == places_of(ws, keep=False).corpus_sha256
    return inputs


def damaged(ws: Workspace) -> tuple[Path, ...]:
    return tuple(folder for folder, faults in changed_folders(ws).items() if faults)


def names(ws: Workspace) -> set[str]:
    """Names of the parts of the index for this corpus."""
    (own,) = (ws.cache / "index" / "corpora").iterdir()
    return {path.name.partition("-")[0] for path in own.iterdir()}


def test_only_what_the_methods_need_is_made(ws: Workspace) -> None:
    counted = opened(ws, "abs_tfidf")
    assert names(ws) == {"whole"}
    assert counted.corpus.paper_ids.to_pylist() == [f"a{at}" for at in range(6)]
    assert (counted.word_vectors, counted.vectors, counted.averages) == ({}, {}, {})
    decomposed = opened(ws, "abs_tfidf", "lsa")
    assert set(decomposed.vectors) == {"lsa"}
    assert names(ws) == {"whole", "lsa"}
    averaged = opened(ws, "title_cbow200", "abs_tfidfcbow200")
    assert set(averaged.averages) == {("cbow", "title", False), ("cbow", "abstract", True)}
    assert averaged.word_vectors["cbow"].matrix.shape[1] == 4
    assert averaged.vectors == {}
    assert names(ws) == {"whole", "lsa", "words", "averages"}


def test_a_set_of_vectors_is_opened_by_its_name_and_must_be_there(ws: Workspace) -> None:
    rows = np.eye(6, dtype=np.float32)
    write_vectors(Vectors(strings_of(f"a{at}" for at in range(6)), rows, "m", "s", "l2", {}), ws.vectors / "mine")
    assert set(opened(ws, "mine", "abs_tfidf", "lsa").vectors) == {"mine", "lsa"}
    with pytest.raises(MissingInput, match="other: no vectors"):
        opened(ws, "mine", "other")


def test_a_dry_run_makes_what_is_missing_in_its_own_folder(ws: Workspace, tmp_path: Path) -> None:
    opened(ws, "abs_tfidf")
    before = sorted(ws.cache.rglob("*"))
    shutil.copytree(ws.cache, tmp_path / "copy")
    (ws.cache / "corpus.json").unlink()
    found = opened(ws, "lsa", "title_cbow200", scratch=tmp_path / "scratch")
    assert {"lsa"} == set(found.vectors)
    assert sorted(ws.cache.rglob("*")) == [path for path in before if path.name != "corpus.json"]
    assert {path.name.partition("-")[0] for path in (tmp_path / "scratch").glob("corpora/*/*")} == {
        "averages",
        "lsa",
        "words",
    }


def test_an_empty_corpus_has_no_index(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        opened(Workspace(tmp_path, Settings()), "abs_tfidf")


def test_parts_are_used_as_long_as_corpus_and_settings_are_the_same(ws: Workspace) -> None:
    def used() -> dict[str, bool]:
        """True for each kind of part if all of them are used."""
        found: dict[str, bool] = {}
        for part in parts_of(ws):
            kind = "shards" if part.path.parent.name == "shards" else part.path.name.partition("-")[0]
            found[kind] = part.used and found.get(kind, True)
        return found

    opened(ws, "lsa", "title_cbow200")
    (ws.cache / "corpus.json").unlink()
    everything = {"shards": True, "whole": True, "lsa": True, "words": True, "averages": True}
    assert used() == everything
    assert not (ws.cache / "corpus.json").exists()
    assert [part.path for part in parts_of(ws)] == sorted(part.path for part in parts_of(ws))
    ws = ws.replaced("word_vectors", dimensions=5)
    assert used() == everything | {"words": False, "averages": False}
    # Before another corpus is indexed, any shard may be part of it.
    write_corpus(ws, ("more trees",), file="b")
    assert used() == {kind: kind == "shards" for kind in everything}
    opened(ws, "abs_tfidf")
    kept = {part.path.name: part.used for part in parts_of(ws) if part.path.parent.name == "shards"}
    assert sorted(kept.values()) == [False, True]


def test_what_a_killed_build_was_writing_is_not_used(ws: Workspace) -> None:
    opened(ws, "abs_tfidf")
    places = places_of(ws, keep=False)
    words = words_place(ws, places, "cbow")
    (words.parent / "unfinished-words").mkdir()
    left = [ws.cache / "index" / "shards" / ".one.9@here.x", places.corpus_part("whole") / ".two.9@here.x"]
    for path in left:
        path.mkdir()
    used = {part.path: part.used for part in parts_of(ws)}
    assert [used[path] for path in left] == [False, False]
    # A training that was killed goes on from what it left, until there are words.
    assert used[words.parent / "unfinished-words"]
    opened(ws, "title_cbow200")
    (words.parent / "unfinished-words").mkdir()
    assert not {part.path: part.used for part in parts_of(ws)}[words.parent / "unfinished-words"]


def test_every_changed_file_and_every_shard_that_is_gone_is_named(ws: Workspace) -> None:
    with pytest.raises(MissingInput, match=r"index: no index$") as caught:
        faults_of(ws)
    assert caught.value.hint == "make it with `annot index`"
    opened(ws, "lsa")
    assert (faults_of(ws), damaged(ws)) == ((), ())
    folder = lsa_place(places_of(ws, keep=False))
    (folder / "basis.npy").write_bytes(b"?")
    (fault,) = faults_of(ws)
    assert fault.startswith(f"{folder / 'basis.npy'}: ")
    assert damaged(ws) == (folder,)
    (shard,) = (ws.cache / "index" / "shards").iterdir()
    shutil.rmtree(shard)
    gone, changed = faults_of(ws)
    assert gone.startswith(f"{shard}: found no folder, expected a shard of ")
    assert changed == fault


PLAIN, WEIGHTED = Variant("cbow", "title", False), Variant("cbow", "abstract", True)
VARIANTS = [PLAIN, WEIGHTED]


@pytest.mark.parametrize(
    ("papers", "runs"),
    [
        # A shard is full with 50,000 papers; the group that fills it is still part of it.
        ([("a", 25_000), ("a", 25_000), ("a", 1)], [[25_000, 25_000], [1]]),
        ([("a", 25_000), ("a", 24_999), ("a", 1), ("a", 7)], [[25_000, 24_999, 1], [7]]),
        # Another file begins a shard of its own if the shard before has 10,000 papers.
        ([("a", 10_000), ("b", 5)], [[10_000], [5]]),
        ([("a", 9_999), ("b", 5), ("c", 6)], [[9_999, 5], [6]]),
        ([("a", 10_000), ("a", 5), ("b", 6)], [[10_000, 5], [6]]),
        ([("a", 3)], [[3]]),
        ([], []),
    ],
)
def test_a_shard_ends_when_it_is_full_or_with_its_file(papers: list[tuple[str, int]], runs: list[list[int]]) -> None:
    groups = [RowGroups(Path(name), at, at + 1, count) for at, (name, count) in enumerate(papers)]
    found = index._cut(groups)
    assert [[group.papers for group in run] for run in found] == runs
    assert [group for run in found for group in run] == groups


@pytest.mark.parametrize(("memory", "processes"), [("1.8", 1), ("2.6", 1), ("2.7", 2), ("3.6", 3), ("9", 9)])
def test_each_process_has_nine_tenths_of_a_gigabyte_and_so_has_the_one_that_starts_them(
    memory: str, processes: int
) -> None:
    assert processes_within(int(float(memory) * 2**30)) == processes


def test_memory_for_less_than_one_process_is_refused_with_what_is_enough() -> None:
    with pytest.raises(InputError, match=r"memory: found 1 G, expected 1\.8 G or more"):
        processes_within(2**30)
    with pytest.raises(InputError):
        processes_within(2 * OF_A_PROCESS - 1)
    assert processes_within(2 * OF_A_PROCESS) == 1
    assert GIGABYTE == 1024**3


def paper(paper_id: str, title: str, *sentences: str) -> Paper:
    return Paper(paper_id, title, sentences)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of two files, each in one shard, of two papers and of three."""
    monkeypatch.setattr(index, "LEAST", 1)
    made = tmp_path / "corpus"
    files = {
        "a": [paper("p0", "one two", "two three."), paper("p1", "", "one one three.", "two.")],
        "b": [paper("p2", "three", "one."), paper("p3", "two two", "none of them."), paper("p4", "none")],
    }
    for name, papers in files.items():
        with PaperWriter(made, name=f"{name}.parquet") as writer:
            for one in papers:
                writer.add(one)
    return made


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "index", tmp_path / "index", "c" * 64, "")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Vectors of three words: 1, 10 and 100 in the first of two dimensions, and 1 in the second."""
    matrix = np.array([[1, 1], [10, 1], [100, 1]], np.float32)
    word_vectors.save(WordVectors(("one", "two", "three"), matrix, {}), tmp_path / "words")
    return tmp_path / "words"


def opened_corpus(places: Places, folder: Path, told: list[Any] | None = None) -> Corpus:
    return open_corpus(
        places,
        folder,
        each=lambda: in_threads,
        advance=lambda done, total: None if told is None else told.append((done, total)),
    )


def test_shards_are_made_once_and_opened_in_order(places: Places, folder: Path) -> None:
    assert shards_of(places) is None
    assert lacks_shards(places)
    told: list[Any] = []
    corpus = opened_corpus(places, folder, told)
    assert told == [(1, 2), (2, 2)]
    assert corpus.paper_ids.to_pylist() == ["p0", "p1", "p2", "p3", "p4"]
    assert [len(shard.paper_ids) for shard in corpus.shards] == [2, 3]
    assert not lacks_shards(places)
    names = shards_of(places)
    assert names is not None
    assert places.made_before == set(names)
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)

    def asked() -> Any:
        raise AssertionError("nothing is missing")

    again = open_corpus(places, folder, each=asked, advance=lambda done, total: None)
    assert again.paper_ids.to_pylist() == corpus.paper_ids.to_pylist()


def test_a_shard_that_is_gone_is_made_again_and_the_others_are_left(places: Places, folder: Path) -> None:
    opened_corpus(places, folder)
    first, second = shards_of(places) or ()
    before = (places.shard(first) / "about.json").stat().st_mtime_ns
    whole = (places.corpus_part("whole") / "about.json").stat().st_mtime_ns
    shutil.rmtree(places.shard(second))
    assert lacks_shards(places)
    assert len(opened_corpus(places, folder)) == 5
    assert (places.shard(first) / "about.json").stat().st_mtime_ns == before
    assert (places.corpus_part("whole") / "about.json").stat().st_mtime_ns == whole
    assert not lacks_shards(places)


def test_what_a_killed_build_left_is_removed(places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[Path] = []
    monkeypatch.setattr(index.array_files, "remove_unfinished", swept.append)
    opened_corpus(places, folder)
    assert swept == [places.new]


@pytest.mark.parametrize("at_once", [1, 2, 2_500])
def test_averages_are_those_of_the_words_of_each_field(
    places: Places, folder: Path, words: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "AT_ONCE", at_once)
    corpus = opened_corpus(places, folder)
    told: list[Any] = []
    found = averages(
        places, corpus, words, VARIANTS, each=in_threads, advance=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 2), (2, 2)]
    plain, weighted = found[PLAIN], found[WEIGHTED]
    assert plain.shape == weighted.shape == (5, 2)
    np.testing.assert_allclose(plain[:][:, 0], [5.5, 0, 100, 10, 0])
    np.testing.assert_allclose(plain[:][:, 1], [1, 0, 1, 1, 0])
    # Of five abstracts "one" is in two, "two" in two and "three" in two: ln(6 / 3) + 1 weighs all of them alike.
    np.testing.assert_allclose(weighted[:][:, 0], [55, (1 + 1 + 100 + 10) / 4, 1, 0, 0], rtol=1e-6)


def test_averages_weigh_words_by_how_rare_they_are(places: Places, tmp_path: Path, words: Path) -> None:
    with PaperWriter(tmp_path / "other", name="a.parquet") as writer:
        for at, text in enumerate(("one two.", "one.", "one.")):
            writer.add(paper(f"p{at}", "", text))
    corpus = opened_corpus(places, tmp_path / "other")
    found = averages(places, corpus, words, [WEIGHTED], each=in_threads, advance=lambda done, total: None)
    rare = np.log(4 / 2) + 1
    np.testing.assert_allclose(found[WEIGHTED][:][0, 0], (1 + 10 * rare) / (1 + rare), rtol=1e-6)


def test_averages_that_are_there_are_not_made_again(places: Places, folder: Path, words: Path) -> None:
    corpus = opened_corpus(places, folder)
    missing = missing_averages(places, words, VARIANTS)
    assert {number: set(of) for number, of in missing.items()} == {0: set(VARIANTS), 1: set(VARIANTS)}
    shards = shards_of(places) or ()
    assert {path.name for of in missing.values() for path in of.values()} == set(shards)
    assert {path.parent.name for path in missing[0].values()} == {"title-plain", "abstract-weighted"}
    assert all(re.fullmatch("averages-[0-9a-f]{16}", path.parents[1].name) for path in missing[0].values())

    def made(variants: list[Variant]) -> list[int]:
        numbers: list[int] = []

        def each(work: Callable[[int], Any], parts: Iterable[int]) -> Any:
            numbers.extend(parts)
            return in_threads(work, numbers)

        found = averages(places, corpus, words, variants, each=each, advance=lambda done, total: None)
        assert all(isinstance(one, Parts) and one.shape == (5, 2) for one in found.values())
        return numbers

    assert made(VARIANTS) == [0, 1]
    assert missing_averages(places, words, VARIANTS) == {}
    assert made(VARIANTS) == []
    written = {path: (path / "about.json").stat().st_mtime_ns for path in missing[0].values()}
    shutil.rmtree(missing[1][PLAIN])
    assert made(VARIANTS) == [1]
    assert {path: (path / "about.json").stat().st_mtime_ns for path in missing[0].values()} == written


def test_a_worker_that_does_not_see_the_folders_makes_only_shards_that_were_not_made_before(
    places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_corpus(places, folder)
    name, _other = shards_of(places) or ()
    kept: list[Path] = []
    monkeypatch.setattr(index, "save_result", lambda folder, url, **_: kept.append(folder) or {"a": url})
    at_url = Places(places.existing, places.new, places.corpus_sha256, "memory://shards")
    (first, _second) = groups_of(folder)
    assert index._make_missing_shard(at_url, frozenset({name}), (first,)) == (name, {})
    assert kept == []
    assert index._make_missing_shard(at_url, frozenset(), (first,)) == (name, {"a": "memory://shards"})
    assert kept == [places.shard(name)]
