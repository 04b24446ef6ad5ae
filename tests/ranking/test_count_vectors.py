"""Word vectors by counting: the cells by the formula of the paper, and decomposed as SciPy and scikit-learn do."""

import math
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base import array_files
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.ranking import count_vectors, index, word_vectors
from annot.ranking.corpus import Corpus
from annot.ranking.count_vectors import SETTINGS, CountSettings
from annot.ranking.index import changed_folders, open_index, parts_of
from annot.store.database import open_store
from annot.store.papers import PaperWriter
from annot.study.workspace import Workspace
from indexed import corpus_of
from scipy.sparse import vstack
from scipy.sparse.linalg import svds

SMALL = CountSettings(dimensions=8, window=2, contexts=6, min_count=2, iterations=30, seed=1)
LETTERS = "abcdefghijkl"


@pytest.fixture(scope="module")
def papers() -> list[Paper]:
    """Sentences of letters, of which the first are more frequent."""
    rng = np.random.default_rng(5)
    weights = 1 / np.arange(1, len(LETTERS) + 1)
    return [
        Paper(
            f"p{number}", "",
            tuple(" ".join(rng.choice([*LETTERS], rng.integers(1, 9), p=weights / weights.sum())) for _ in range(3)),
        )
        for number in range(40)
    ]  # fmt: skip


def stored_counts(corpus: Corpus, settings: CountSettings, folder: Path) -> list[Any]:
    words = count_vectors.counted_words(corpus, settings)
    counts = []
    for number, (shard, place) in enumerate(zip(corpus.shards, corpus.places("words"), strict=True)):
        arrays = count_vectors.count_pairs(shard, place, words, window=settings.window)
        array_files.save(folder / f"{number}", kind="counts", arrays=arrays, texts={}, facts={})
        counts.append(array_files.load(folder / f"{number}", kind="counts").arrays)
    return counts


def made(corpus: Corpus, settings: CountSettings, folder: Path) -> word_vectors.WordVectors:
    words = count_vectors.counted_words(corpus, settings)
    counts = stored_counts(corpus, settings, folder)
    count_vectors.train(corpus, counts, words, settings, folder=folder / "words", advance=lambda done, total: None)
    return word_vectors.load(folder / "words")


def information(papers: list[Paper], settings: CountSettings) -> tuple[list[str], np.ndarray]:
    """Positive pointwise mutual information as in Levy, Goldberg and Dagan (2015), sections 2.1 and 3.2, pair by
    pair: words in the order of their characters, contexts in that of their frequency.
    """
    sentences = [sentence.split() for paper in papers for sentence in paper.sentences]
    totals = Counter(word for sentence in sentences for word in sentence)
    words = sorted(word for word in totals if totals[word] >= settings.min_count)
    contexts = sorted(words, key=lambda word: (-totals[word], word))[: settings.contexts]
    pairs = Counter(
        (sentence[place], sentence[other])
        for sentence in sentences
        for place, other in product(range(len(sentence)), repeat=2)
        if 0 < abs(place - other) <= settings.window and sentence[place] in words and sentence[other] in contexts
    )
    of_word = {word: sum(pairs[word, context] for context in contexts) for word in words}
    of_context = {context: sum(pairs[word, context] for word in words) for context in contexts}
    smooth = {context: count**0.75 for context, count in of_context.items()}
    whole = sum(pairs.values())
    matrix = np.zeros((len(words), len(contexts)))
    for (word, context), count in pairs.items():
        p_context = smooth[context] / sum(smooth.values())
        pmi = math.log((count / whole) / ((of_word[word] / whole) * p_context))
        matrix[words.index(word), contexts.index(context)] = max(0, pmi)
    return words, matrix


@pytest.mark.parametrize(("neighbours", "shard"), [(4, 7), (100, 100), (10**6, 7)])
def test_cells_are_those_of_the_formula_however_the_corpus_is_cut(
    papers: list[Paper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard: int, neighbours: int
) -> None:
    for name, value in (("NEIGHBOURS", neighbours), ("SENTENCES", neighbours)):
        monkeypatch.setattr(count_vectors, name, value)
    counts = stored_counts(corpus_of(papers, shard=shard), SMALL, tmp_path)
    (tmp_path / "parts").mkdir()
    firsts = list(count_vectors._write_parts(counts, [(0, 3), (3, 4), (4, 12)], 6, tmp_path / "parts"))
    parts = count_vectors._parts(array_files.ArrayFolder(tmp_path / "parts", ()), firsts, 6)
    _, expected = information(papers, SMALL)
    np.testing.assert_allclose(vstack([part for part, _ in parts]).toarray(), expected, rtol=1e-6)


def test_vectors_are_the_same_bytes_however_the_corpus_is_cut(
    papers: list[Paper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_vectors, "OF_A_PART", 300)
    few, whole = (
        made(corpus_of(papers, shard=shard), replace(SMALL, iterations=2), tmp_path / str(shard)).matrix
        for shard in (7, 100)
    )
    assert few.tobytes() == whole.tobytes()


def test_vectors_are_those_of_the_exact_decomposition(papers: list[Paper], tmp_path: Path) -> None:
    settings = replace(SMALL, dimensions=3)
    vectors = made(corpus_of(papers), settings, tmp_path)
    words, matrix = information(papers, settings)
    left, singular, _ = svds(matrix, 3)
    exact = left * np.sqrt(singular)
    assert list(vectors.words) == words
    np.testing.assert_allclose(vectors.matrix @ vectors.matrix.T, exact @ exact.T, atol=1e-4)
    facts = {"algorithm": "ppmi", "dimensions": 3, "window": 2, "contexts": 6, "min_count": 2, "iterations": 30}
    facts |= {"seed": 1, "smoothing": 0.75, "power": 0.5, "abstracts": 40, "running_words": len(all_words(papers))}
    assert facts.items() <= vectors.facts.items()
    assert vectors.facts["sha256"] == word_vectors.sha256_of(vectors.words, vectors.matrix)


def all_words(papers: list[Paper]) -> list[str]:
    return [word for paper in papers for sentence in paper.sentences for word in sentence.split()]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("each word once",), "no word occurs 2 times"),
        (("alone", "alone", "words", "words"), "no two words are in one sentence"),
    ],
)
def test_a_corpus_without_neighbours_is_refused(texts: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        made(corpus_of([Paper("p", "", texts)]), SETTINGS, tmp_path)
    assert not (tmp_path / "words").exists()
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def ws(tmp_path: Path, papers: list[Paper], monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A study with six shards."""
    monkeypatch.setattr(index, "PAPERS", 7)
    workspace = Workspace(tmp_path, Settings())
    open_store(workspace.database_url).close()
    for number, start in enumerate(range(0, len(papers), 7)):
        with PaperWriter(workspace.corpus, name=f"{number}.parquet") as writer:
            for paper in papers[start : start + 7]:
                writer.add(paper)
    monkeypatch.setattr(index, "LEAST", 1)
    return workspace


def opened(ws: Workspace, *methods: str) -> word_vectors.WordVectors:
    inputs, _ = open_index(ws, methods=methods, advance=lambda done, total: None)
    return inputs.word_vectors["ppmi"]


def test_gensim_is_not_loaded(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    opened(ws, "abs_ppmi200", "title_tfidfppmi200")


def test_after_an_error_half_way_the_counts_of_finished_shards_are_kept_and_used(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    count_pairs = count_vectors.count_pairs

    def count(shard: Any, *parts: Any, **options: Any) -> Any:
        if len(counted) == 3:
            raise KeyboardInterrupt
        counted.append(len(shard.paper_ids))
        return count_pairs(shard, *parts, **options)

    monkeypatch.setattr(count_vectors, "count_pairs", count)
    monkeypatch.setattr(index, "FEW", 0)
    one_process = ws.replaced("machine", processes=1)
    with pytest.raises(KeyboardInterrupt):
        opened(one_process, "abs_ppmi200")
    kept = [part for part in parts_of(ws) if part.path.name.startswith("unfinished-ppmi")]
    assert [part.used for part in kept] == [True]
    counted.clear()
    monkeypatch.setattr(
        count_vectors, "count_pairs", lambda *parts, **options: counted.append(1) or count_pairs(*parts, **options)
    )
    vectors = opened(one_process, "abs_ppmi200")
    assert len(counted) == 3
    assert not [part for part in parts_of(ws) if not part.used or part.path.name.startswith("unfinished")]
    assert not any(changed_folders(ws).values())
    expected = vectors.facts["sha256"]
    for part in parts_of(ws):
        if part.path.name.startswith("ppmi"):
            for file in part.path.iterdir():
                file.unlink()
            part.path.rmdir()
    assert opened(one_process, "abs_ppmi200").facts["sha256"] == expected
