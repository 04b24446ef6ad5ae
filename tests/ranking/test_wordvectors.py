"""Word vectors come out the same under any hash seed; averages are the sums that their formula names."""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from annot.base.records import Paper
from annot.ranking import word_vectors
from annot.ranking.methods import RankingInputs
from annot.ranking.word_vectors import Averages, WordVectors
from indexed import inputs_of

TINY = {"dimensions": 8, "window": 3, "min_count": 2, "epochs": 3, "seed": 7, "workers": 1, "sample": 0}

TRAIN = """
import sys
from pathlib import Path
from annot.ranking import word_vectors
from annot.base.records import Paper
from indexed import inputs_of
papers = [Paper(str(n), "t", tuple(f"w{n * k % 11} w{k} w{n % 5} common" for k in range(6))) for n in range(40)]
inputs = inputs_of(papers)
made = word_vectors.train(
    inputs.corpus, memory=2**31, scratch=Path(sys.argv[1]),
    dimensions=8, window=3, min_count=2, epochs=3, seed=int(sys.argv[2]), workers=1, sample=0, after_epoch=print,
)
print(made.words, made.matrix.tobytes().hex(), made.facts)
"""


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


def test_one_seed_gives_one_result_whatever_the_hash_seed(tmp_path: Path) -> None:
    def run(name: str, *, hash_seed: str) -> str:
        environment = os.environ | {
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
        }
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", TRAIN, str(tmp_path / name), "7"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run("a", hash_seed="1") == run("b", hash_seed="2")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that gensim was given to read."""
    import gensim.models

    texts: list[str] = []
    train = gensim.models.Word2Vec.train

    def watched(self: object, *, corpus_file: str, **settings: object) -> object:
        texts.append(Path(corpus_file).read_text("utf-8"))
        return train(self, corpus_file=corpus_file, **settings)

    monkeypatch.setattr(gensim.models.Word2Vec, "train", watched)
    return texts


@pytest.mark.parametrize("nameless", [True, False])
def test_training_reads_the_sentences_and_keeps_the_frequent_words(
    inputs: RankingInputs,
    papers: list[Paper],
    tmp_path: Path,
    given: list[str],
    nameless: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not nameless:
        monkeypatch.setattr(word_vectors, "NAMELESS", tmp_path / "none")
    seen: list[tuple[int, int]] = []
    made = word_vectors.train(
        inputs.corpus,
        memory=2**31,
        scratch=tmp_path,
        after_epoch=lambda done, total: seen.append((done, total)),
        **TINY,
    )
    sentences = [words(sentence) for paper in papers for sentence in paper.sentences]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert [line.split() for line in given.pop().splitlines()] == sentences
    assert not list(tmp_path.iterdir())
    totals = Counter(word for sentence in sentences for word in sentence)
    frequent = sorted((word for word in totals if totals[word] >= 2), key=lambda word: (-totals[word], word))
    assert made.words == tuple(frequent)
    assert made.matrix.shape == (len(frequent), 8)
    assert {name: made.facts[name] for name in TINY if name != "sample"} == {
        name: value for name, value in TINY.items() if name != "sample"
    }
    assert (
        made.facts["sha256"]
        == hashlib.sha256("".join(f"{word}\n" for word in made.words).encode() + made.matrix.tobytes()).hexdigest()
    )
    assert made.facts["running_words"] == sum(totals.values())


def test_words_of_the_same_contexts_come_to_lie_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sides = [["parser", "tree", "syntax", "head"], ["sound", "speech", "phone", "audio"]]
    papers = [Paper(str(n), "", tuple(" ".join(rng.choice(sides[n % 2], 8)) for _ in range(6))) for n in range(120)]
    inputs = inputs_of(papers)
    made = word_vectors.train(
        inputs.corpus, memory=2**31, scratch=tmp_path,
        after_epoch=print, dimensions=16, window=5, min_count=1, epochs=10, seed=1, workers=1, sample=0,
    )  # fmt: skip
    unit = made.matrix / np.linalg.norm(made.matrix, axis=1, keepdims=True)
    row_of = {word: row for row, word in enumerate(made.words)}
    cosine = {(one, other): unit[row_of[one]] @ unit[row_of[other]] for one in made.words for other in made.words}
    within = [cosine[a, b] for side in sides for a in side for b in side if a != b]
    across = [cosine[a, b] for a in sides[0] for b in sides[1]]
    assert min(within) > max(across)


def test_a_sample_is_drawn_by_the_seed_and_read_alone(
    inputs: RankingInputs, papers: list[Paper], tmp_path: Path, given: list[str]
) -> None:
    def train(seed: int) -> tuple[WordVectors, list[list[str]]]:
        made = word_vectors.train(
            inputs.corpus, memory=2**31, scratch=tmp_path,
            after_epoch=lambda done, total: None,
            **TINY | {"seed": seed, "sample": 40, "epochs": 1},
        )  # fmt: skip
        return made, [line.split() for line in given.pop().splitlines()]

    (made, lines), (again, _), (other, others) = train(7), train(7), train(8)
    assert np.array_equal(made.matrix, again.matrix)
    assert lines != others
    assert (made.facts["abstracts"], other.facts["abstracts"]) == (40, 40)
    # The lines are those of 40 whole abstracts, in the order of the corpus.
    at, whole = 0, 0
    for paper in papers:
        own = [words(sentence) for sentence in paper.sentences]
        if own and lines[at : at + len(own)] == own:
            at, whole = at + len(own), whole + 1
    assert at == len(lines)
    assert 40 - sum(not paper.sentences for paper in papers) <= whole <= 40
    assert made.facts["running_words"] == sum(map(len, lines))
    totals = Counter(word for line in lines for word in line)
    assert set(made.words) == {word for word in totals if totals[word] >= 2}


def test_the_fast_mode_is_gensims_own_with_as_many_workers(
    inputs: RankingInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gensim.models

    asked: dict[str, object] = {}
    train = gensim.models.Word2Vec.train

    def watched(self: gensim.models.Word2Vec, **settings: object) -> object:
        asked.update(settings, workers=self.workers)
        return train(self, **settings)

    monkeypatch.setattr(gensim.models.Word2Vec, "train", watched)
    made = word_vectors.train(
        inputs.corpus, memory=2**31, scratch=tmp_path,
        after_epoch=lambda done, total: None, **TINY | {"workers": 3},
    )  # fmt: skip
    assert "corpus_file" in asked
    assert asked["workers"] == 3
    assert made.facts["workers"] == 3
    assert np.isfinite(made.matrix).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_averages_are_what_the_formula_says(inputs: RankingInputs, papers: list[Paper], weighted: bool) -> None:
    tokens = inputs.corpus.tokens("words")
    counts = inputs.corpus.counts("abstract", "words", np.arange(len(papers)))
    rng = np.random.default_rng(1)
    known = tuple(tokens.to_pylist()[::2])
    vectors = WordVectors(known, rng.normal(size=(len(known), 5)).astype(np.float32), {})
    idf = inputs.corpus.statistics("abstract", "words").smooth_idf
    source = Averages(counts, vectors.rows(tokens), vectors, idf=idf if weighted else None)
    texts = [words(" ".join(paper.sentences)) for paper in papers]
    df = Counter(word for text in texts for word in set(text))
    expected = np.zeros((len(papers), 5))
    for row, text in enumerate(texts):
        share = {
            word: tf * (math.log((1 + len(texts)) / (1 + df[word])) + 1 if weighted else 1)
            for word, tf in Counter(text).items()
            if word in known
        }
        if share:
            total = sum(vectors.matrix[known.index(word)] * weight for word, weight in share.items())
            expected[row] = total / sum(share.values())
    found = source[: len(papers)]
    assert (expected == 0).all(axis=1).any(), "an empty document must be among them"
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    rows = np.array([9, 3, 3, 80])
    assert np.array_equal(source[rows], found[rows])
    query = inputs.corpus.sentences("p000", range(len(papers[0].sentences)), "words")
    assert np.array_equal(source.average(query)[0], found[0])
