"""Parts of the index of a small corpus: its cuts, the parts made once, and the limits of memory."""

import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.parallel import in_threads
from annot.base.records import Paper
from annot.ranking import index, word_vectors
from annot.ranking.corpus import Corpus
from annot.ranking.index import (
    GIGABYTE,
    OF_A_PROCESS,
    Places,
    averages,
    lacks_shards,
    missing_averages,
    open_corpus,
    processes_within,
    shards_of,
)
from annot.ranking.methods import Variant
from annot.ranking.search import Parts
from annot.ranking.word_vectors import WordVectors
from annot.store.papers import PaperWriter, RowGroups, groups_of

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


def opened(places: Places, folder: Path, told: list[Any] | None = None) -> Corpus:
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
    corpus = opened(places, folder, told)
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
    opened(places, folder)
    first, second = shards_of(places) or ()
    before = (places.shard(first) / "about.json").stat().st_mtime_ns
    whole = (places.corpus_part("whole") / "about.json").stat().st_mtime_ns
    shutil.rmtree(places.shard(second))
    assert lacks_shards(places)
    assert len(opened(places, folder)) == 5
    assert (places.shard(first) / "about.json").stat().st_mtime_ns == before
    assert (places.corpus_part("whole") / "about.json").stat().st_mtime_ns == whole
    assert not lacks_shards(places)


def test_what_a_killed_build_left_is_removed(places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[Path] = []
    monkeypatch.setattr(index.array_files, "remove_unfinished", swept.append)
    opened(places, folder)
    assert swept == [places.new]


@pytest.mark.parametrize("at_once", [1, 2, 2_500])
def test_averages_are_those_of_the_words_of_each_field(
    places: Places, folder: Path, words: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "AT_ONCE", at_once)
    corpus = opened(places, folder)
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
    corpus = opened(places, tmp_path / "other")
    found = averages(places, corpus, words, [WEIGHTED], each=in_threads, advance=lambda done, total: None)
    rare = np.log(4 / 2) + 1
    np.testing.assert_allclose(found[WEIGHTED][:][0, 0], (1 + 10 * rare) / (1 + rare), rtol=1e-6)


def test_averages_that_are_there_are_not_made_again(places: Places, folder: Path, words: Path) -> None:
    corpus = opened(places, folder)
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


def test_a_dry_run_reads_what_is_there_and_makes_the_rest_elsewhere(tmp_path: Path, folder: Path, words: Path) -> None:
    dry = Places(tmp_path / "index", tmp_path / "scratch", "c" * 64, "")
    corpus = opened(dry, folder)
    averages(dry, corpus, words, VARIANTS, each=in_threads, advance=lambda done, total: None)
    assert not dry.existing.exists()
    kept = Places(dry.existing, dry.existing, "c" * 64, "")
    opened(kept, folder)
    assert dry.corpus_part("whole").is_relative_to(dry.existing)
    assert missing_averages(kept, words, VARIANTS) != {}


def test_a_worker_that_does_not_see_the_folders_makes_only_shards_that_were_not_made_before(
    places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(places, folder)
    name, _other = shards_of(places) or ()
    kept: list[Path] = []
    monkeypatch.setattr(index, "save_result", lambda folder, url, **_: kept.append(folder) or {"a": url})
    at_url = Places(places.existing, places.new, places.corpus_sha256, "memory://shards")
    (first, _second) = groups_of(folder)
    assert index._make_missing_shard(at_url, frozenset({name}), (first,)) == (name, {})
    assert kept == []
    assert index._make_missing_shard(at_url, frozenset(), (first,)) == (name, {"a": "memory://shards"})
    assert kept == [places.shard(name)]
