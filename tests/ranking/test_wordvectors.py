"""Word vectors: the same under any hash seed, averages by their formula, and what holds at their limits."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.ranking import word_vectors
from annot.ranking.methods import RankingInputs
from annot.ranking.word_vectors import OVERHEAD, Averages, WordVectors, epochs_for, gigabytes, hashed, trained_on_few
from gensim.models import Word2Vec
from indexed import corpus_of
from scipy.sparse import csr_matrix

TINY = {"dimensions": 8, "window": 3, "min_count": 2, "epochs": 3, "seed": 7, "workers": 1, "sample": 0}


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


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


GIBIBYTE = 1024**3


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (3 * GIBIBYTE, "3G"),
        (3 * GIBIBYTE + 1, "3.1G"),
        (int(3.1 * GIBIBYTE), "3.1G"),
        (GIBIBYTE // 10, "0.1G"),
        (10 * GIBIBYTE + 1, "10.1G"),
        (1, "0.1G"),
    ],
)
def test_memory_is_written_in_tenths_of_a_gigabyte_rounded_up(size: int, said: str) -> None:
    assert gigabytes(size) == said


@pytest.mark.parametrize(
    ("running_words", "passes"),
    [
        *((0, 20), (1, 20), (15_000_000, 20), (15_789_473, 20), (15_789_474, 19)),
        *((120_000_000, 3), (150_000_000, 2), (299_999_999, 2), (300_000_000, 1), (12_000_000_000, 1)),
    ],
)
def test_three_hundred_million_words_are_read_in_twenty_passes_at_most(running_words: int, passes: int) -> None:
    assert epochs_for(running_words) == passes


@pytest.mark.parametrize("dimensions", [8, 200])
def test_words_need_what_gensim_says_they_need_and_no_less_is_enough(dimensions: int) -> None:
    totals = np.array([9, 7, 7, 3, 1])
    model = Word2Vec(vector_size=dimensions, min_count=1)
    needed = OVERHEAD + model.estimate_memory(vocab_size=4)["total"]
    word_vectors._refuse_too_many(totals, dimensions=dimensions, min_count=3, memory=needed)
    with pytest.raises(InputError) as caught:
        word_vectors._refuse_too_many(totals, dimensions=dimensions, min_count=3, memory=needed - 1)
    assert f"4 words of {dimensions} numbers need 0.5G" in str(caught.value)
    # Three words fit: those of 7 and more; a word that occurs 3 times would be the fourth.
    assert caught.value.hint == (
        "give --memory 0.5G to `annot index`, or set min_count = 4 in [word_vectors] of annot.toml"
    )
    with pytest.raises(InputError) as caught:
        word_vectors._refuse_too_many(totals, dimensions=dimensions, min_count=3, memory=OVERHEAD - 1)
    assert "min_count = 10 " in str(caught.value.hint)


@pytest.mark.parametrize(("sample", "drawn"), [(0, None), (1, 1), (9, 9), (10, None), (11, None)])
def test_a_sample_is_smaller_than_the_corpus_and_has_no_paper_twice(sample: int, drawn: int | None) -> None:
    found = word_vectors._drawn(10, sample, 3)
    if drawn is None:
        assert found is None
    else:
        assert found is not None
        assert len(set(found.tolist())) == len(found) == drawn
        assert found.tolist() == sorted(found.tolist())
        assert found.min() >= 0
        assert found.max() <= 9


PAPERS = [
    Paper("p", "not read", ("One two.", "Three.")),
    Paper("q", "", ()),
    Paper("r", "", ("Four five six.", "!", "Seven's 8.")),
    Paper("s", "", ("Nine.",)),
    Paper("t", "", ("Ten eleven.", "Twelve.")),
]
LINES = {
    "p": ["one two", "three"],
    "r": ["four five six", "", "seven's 8"],
    "s": ["nine"],
    "t": ["ten eleven", "twelve"],
}


@pytest.mark.parametrize(("block", "shard"), [(1, 2), (2, 100), (100, 1)])
def test_gensim_reads_a_sentence_a_line(block: int, shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "BLOCK", block)
    corpus = corpus_of(PAPERS, shard=shard)
    for rows in (None, [0, 2, 4], [3], [1, 4], []):
        file = io.BytesIO()
        read = None if rows is None else np.array(rows, dtype=np.int64)
        count = word_vectors._write_sentences(corpus, corpus.tokens("words"), file, read)
        ids = "prst" if rows is None else [PAPERS[row].paper_id for row in rows]
        expected = [line for paper_id in ids for line in LINES.get(paper_id, [])]
        assert [line.strip() for line in file.getvalue().decode().split("\n")[:-1]] == expected
        assert count == len(expected)


@pytest.mark.parametrize("block", [1, 2, 3, 4])
def test_the_hash_is_of_the_words_and_of_the_numbers_row_by_row(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_vectors, "BLOCK", block)
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    made = hashed(["b", "a", "c"], matrix, {"seed": 1})
    expected = hashlib.sha256(b"b\na\nc\n" + np.arange(6, dtype="<f4").tobytes()).hexdigest()
    assert (made.words, made.facts) == (("b", "a", "c"), {"seed": 1, "sha256": expected})


@pytest.mark.parametrize("idf", [None, [1.0, 3.0, 2.0]])
def test_an_average_is_over_the_words_that_have_a_vector(idf: list[float] | None) -> None:
    """Tokens a, b and c; a has the second vector, b the first, c none."""
    vectors = WordVectors(("b", "a"), np.array([[10, 1], [1, 1]], np.float32), {})
    rows = vectors.rows(strings_of("abc"))
    assert rows.tolist() == [1, 0, -1]
    counts = csr_matrix(np.array([[2, 1, 5], [0, 0, 4], [0, 2, 0], [0, 0, 0]], np.int32))
    made = Averages(counts, rows, vectors, idf=None if idf is None else np.array(idf))
    assert made.shape == (4, 2)
    # Plain: (2 * 1 + 1 * 10) / 3; weighted: (2 * 1 + 3 * 10) / (2 + 3).
    first = 4 if idf is None else 32 / 5
    np.testing.assert_allclose(made[:4], [[first, 1], [0, 0], [10, 1], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(made[np.array([2, 0])], [[10, 1], [first, 1]], rtol=1e-6)


def settings(abstracts: int | None) -> dict[str, dict[str, int]]:
    return {"word_vectors": {} if abstracts is None else {"abstracts": abstracts}}


def test_fewer_than_two_thousand_abstracts_are_few() -> None:
    assert trained_on_few({"a": settings(2_000), "b": settings(None), "c": {}}) == ()
    (found,) = trained_on_few({"b": settings(1_999), "a": settings(1_000), "c": settings(2_000), "d": settings(None)})
    assert (found.names, found.abstracts, found.enough) == (("a", "b"), 1_000, 2_000)


@pytest.mark.parametrize(("seconds", "message"), [(59, None), (61, "training word vectors: 2 passes over 12 words")])
def test_a_training_of_a_minute_or_more_says_first_how_long_it_takes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    seconds: float,
    message: str | None,
) -> None:
    corpus = corpus_of([Paper("p", "", ("b a b a c", "d b a d c c", "rare"))])
    monkeypatch.setattr(word_vectors, "OF_A_NUMBER", seconds / (12 * 3 * 2))
    word_vectors.train(
        corpus, dimensions=3, window=2, min_count=2, epochs=2, seed=1, workers=1, sample=0, memory=2**31,
        scratch=tmp_path, after_epoch=lambda done, total: None,
    )  # fmt: skip
    said = [record.getMessage() for record in caplog.records if record.name == "annot"]
    assert said == ([] if message is None else [f"{message}, about 1 minute"])


PROGRAM = """
import sys
from collections import ChainMap
from pathlib import Path

import numpy as np
from annot.base import array_files
from annot.base.array_files import as_arrays, strings_of
from annot.ranking import word_vectors
from annot.ranking.corpus import Corpus, Shard, gather, make_shard
from annot.base.records import Paper
from indexed import batches

PAPERS = 4000
folder, work = Path(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(1)
words = np.array([f"w{at}" for at in range(2000)], dtype=object)
papers = [Paper(str(at), "t", tuple(" ".join(words[rng.integers(0, 2000, 120)]) for _ in "s")) for at in range(PAPERS)]
array_files.save(folder / "shard", kind="s", arrays=make_shard(batches(papers)), texts={}, facts={})
stored = array_files.load(folder / "shard", kind="s").arrays

def of(at):
    own = strings_of([f"{at}-{paper}" for paper in range(PAPERS)])
    return Shard(ChainMap(as_arrays("paper_ids", own), stored))

for number in map(int, sys.argv[3:]):
    shards = [of(at) for at in range(number)]
    corpus = Corpus(shards, gather(shards))
    if work == "words":
        word_vectors.train(
            corpus, dimensions=8, window=1, min_count=1, epochs=1, seed=1, workers=1, sample=0, memory=2**30,
            scratch=folder, after_epoch=lambda *_: None,
        )
    else:
        basis, _ = word_vectors.fit(corpus, dimensions=200, iterations=1, seed=1, memory=2**30, advance=lambda *_: None)
        rows = word_vectors.documents(corpus, basis)
        lsa = folder / f"lsa-{number}"
        array_files.save(lsa, kind="l", arrays={"vectors": rows, "basis": basis}, texts={}, facts={})
        assert array_files.load(lsa, kind="l").arrays["vectors"].shape == (number * PAPERS, 200)
    # Of this program alone: what `getrusage` tells begins with the peak of the process that started it.
    print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1], flush=True)
"""


def peaks(folder: Path, work: str, *shards: int) -> list[int]:
    """The most bytes that a process of its own had in memory, up to the end of each of these corpora."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    command = [sys.executable, "-c", PROGRAM, folder, work, *map(str, shards)]
    told = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [int(line) * 1024 for line in told.split()]


@pytest.mark.parametrize("work", ["words", "lsa"])
def test_the_peak_does_not_grow_with_the_papers(work: str, tmp_path: Path) -> None:
    small, large = peaks(tmp_path, work, 5, 15 if work == "words" else 23)
    # 40,000 more papers of 120 words, held as strings, are 270 MB. Of 72,000 the counts alone take 69 MB if they are
    # held whole, the vectors 58. Some 10 to 35 MB come of the papers' ids, and of how many threads are at work.
    assert large - small < 50e6
    assert large < OVERHEAD
