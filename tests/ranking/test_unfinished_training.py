"""A training of word vectors that is killed continues in its pass, and gives the same as an unbroken one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from annot.ranking import unfinished, word_vectors
from annot.ranking.methods import RankingInputs
from numpy.typing import NDArray

PROGRAM = """
import os, signal, sys
from pathlib import Path
import gensim.models
from annot.base import array_files
from annot.ranking import unfinished, word_vectors
from annot.base.records import Paper
from indexed import inputs_of

unfinished.BETWEEN = 0
folder, end = Path(sys.argv[1]), sys.argv[2]
trained, kept = [], []
of_a_pass, save_array = gensim.models.Word2Vec._train_epoch_corpusfile, array_files.save_array

def reached(what):
    if what == end:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(self, *given, cur_epoch, **named):
    reached(f"in {cur_epoch + 1}")
    trained.append(cur_epoch + 1)
    return of_a_pass(self, *given, cur_epoch=cur_epoch, **named)

def watched(path, array):
    save_array(path, array)
    if trained and path.name == "vectors.npy":
        reached(f"keeping {trained[-1]}")

gensim.models.Word2Vec._train_epoch_corpusfile, array_files.save_array = counted, watched
papers = [Paper(str(n), "t", tuple(f"w{n * k % 11} w{k} w{n % 5} common" for k in range(6))) for n in range(40)]
inputs = inputs_of(papers)
made = word_vectors.train(
    inputs.corpus, memory=2**31, scratch=folder,
    dimensions=8, window=3, min_count=2, epochs=4, seed=7, workers=1, sample=0,
    after_epoch=lambda done, total: reached(f"after {done}"),
)
print(trained)
print(made.words, made.matrix.tobytes().hex(), made.facts)
"""


def run(folder: Path, end: str = "never", *, hash_seed: str = "1") -> tuple[int, str, str]:
    """Exit code, passes that were trained, and output."""
    environment = os.environ | {
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", PROGRAM, str(folder), end]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    passes, _, made = done.stdout.partition("\n")
    return done.returncode, passes, made


def test_killed_three_times_it_goes_on_and_gives_the_same(tmp_path: Path) -> None:
    code, passes, unbroken = run(tmp_path / "unbroken")
    assert (code, passes) == (0, "[1, 2, 3, 4]")
    for end in ("after 1", "keeping 3", "in 3"):
        assert run(tmp_path / "killed", end)[0] == -signal.SIGKILL
    assert run(tmp_path / "killed", hash_seed="2") == (0, "[3, 4]", unbroken)


class Ended(Exception):
    """Stand-in for a kill."""


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Passes that were trained."""
    import gensim.models

    trained: list[int] = []
    of_a_pass = gensim.models.Word2Vec._train_epoch_corpusfile

    def counted(self: object, *given: object, cur_epoch: int, **named: object) -> object:
        trained.append(cur_epoch + 1)
        return of_a_pass(self, *given, cur_epoch=cur_epoch, **named)

    monkeypatch.setattr(gensim.models.Word2Vec, "_train_epoch_corpusfile", counted)
    monkeypatch.setattr(unfinished, "BETWEEN", 0)
    return trained


def train(inputs: RankingInputs, folder: Path, *, last: int = 4, seed: int = 7) -> NDArray[np.float32]:
    """Train four passes, or as many as named."""

    def after_epoch(done: int, total: int) -> None:
        if done == last < total:
            raise Ended

    folder.mkdir(exist_ok=True)
    return word_vectors.train(
        inputs.corpus, memory=2**31, scratch=folder, after_epoch=after_epoch,
        dimensions=8, window=3, min_count=2, epochs=4, seed=seed, workers=1, sample=0,
    ).matrix  # fmt: skip


@pytest.mark.parametrize("spoilt", ["nothing", "seed", "vectors.npy", "outputs.npy", "random.npy", "about.json"])
def test_only_what_the_same_training_kept_whole_is_used(
    inputs: RankingInputs, tmp_path: Path, passes: list[int], spoilt: str
) -> None:
    unbroken = train(inputs, tmp_path / "unbroken")
    with pytest.raises(Ended):
        train(inputs, tmp_path / "ended", last=2, seed=8 if spoilt == "seed" else 7)
    path = tmp_path / "ended" / word_vectors.UNFINISHED / spoilt
    if path.is_file():
        content = bytearray(path.read_bytes())
        content[-9] ^= 1
        path.write_bytes(content)
    passes.clear()
    assert np.array_equal(train(inputs, tmp_path / "ended"), unbroken)
    assert passes == ([3, 4] if spoilt == "nothing" else [1, 2, 3, 4])
