"""Memory of training and decomposing: the peak does not grow with the papers; larger work is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.ranking import word_vectors
from annot.ranking.index import processes_within
from annot.ranking.methods import RankingInputs
from annot.ranking.word_vectors import OVERHEAD

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
    small, large = peaks(tmp_path, work, 5, 23)
    # 72,000 more papers of 120 words. Held whole, their counts alone take 69 MB, their vectors 58. Some 10 to 35
    # MB come of the papers' ids, and of threads that are at work on more or fewer parts at once.
    assert large - small < 50e6
    assert large < OVERHEAD


def settings(**given: object) -> dict[str, object]:
    usual = {"dimensions": 8, "window": 1, "min_count": 1, "epochs": 1, "seed": 1, "workers": 1, "sample": 0}
    return usual | {"after_epoch": lambda done, total: None} | given


def test_words_that_do_not_fit_are_refused_with_what_would(
    inputs: RankingInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_vectors, "OF_A_WORD", 2**25)
    corpus, scratch = inputs.corpus, tmp_path
    with pytest.raises(InputError, match=r"\d+ words of 8 numbers need \S+G, found 1G") as refused:
        word_vectors.train(corpus, memory=2**30, scratch=scratch, **settings())  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    hint = refused.value.hint or ""
    (memory,), (count,) = re.findall(r"--memory ([\d.]+)G", hint), re.findall(r"min_count = (\d+)", hint)
    enough = int(float(memory) * 2**30)
    everything = word_vectors.train(corpus, memory=enough, scratch=scratch, **settings())  # type: ignore[arg-type]
    frequent = word_vectors.train(
        corpus,
        memory=2**30,
        scratch=scratch,
        **settings(min_count=int(count)),  # type: ignore[arg-type]
    )
    assert 0 < len(frequent.words) <= (2**30 - OVERHEAD) // (2**25 + 64) < len(everything.words)
    with pytest.raises(InputError, match="need"):
        word_vectors.train(
            corpus,
            memory=2**30,
            scratch=scratch,
            **settings(min_count=int(count) - 1),  # type: ignore[arg-type]
        )


def test_a_decomposition_that_does_not_fit_is_refused(inputs: RankingInputs) -> None:
    def fit(memory: int) -> None:
        word_vectors.fit(
            inputs.corpus, dimensions=12, iterations=1, seed=1, memory=memory, advance=lambda done, total: None
        )

    with pytest.raises(InputError, match=r"lsa: \d+ terms need 0.5G of memory, the limit is 0.4G"):
        fit(OVERHEAD)
    fit(OVERHEAD + 2**20)


def test_the_least_memory_of_a_build_leaves_room_for_words() -> None:
    """Whoever may build an index of usual settings at all can have words: some, if not all."""
    least = 2**31
    assert processes_within(least) == 1
    assert (least - OVERHEAD) / (word_vectors.OF_A_WORD + 8 * 200) > 500_000
