"""Trainings of word vectors that are killed go on, and give the same as gensim undisturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.ranking import unfinished
from annot.ranking.unfinished import Resumable
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

PROGRAM = """
import os, signal, sys
from pathlib import Path
import gensim.models
from annot.base import array_files
from annot.ranking import unfinished, word_vectors
from annot.base.records import Paper
from indexed import inputs_of

unfinished.SECONDS_BETWEEN_SAVES = 0
trained = []
of_a_pass, save_array = gensim.models.Word2Vec._train_epoch_corpusfile, array_files.save_array

def counted(self, *given, cur_epoch, **named):
    trained.append(cur_epoch + 1)
    return of_a_pass(self, *given, cur_epoch=cur_epoch, **named)

def watched(path, array):
    save_array(path, array)
    if sys.argv[2:] == ["killed"] and trained[-1:] == [3] and path.name == "vectors.npy":
        os.kill(os.getpid(), signal.SIGKILL)

gensim.models.Word2Vec._train_epoch_corpusfile, array_files.save_array = counted, watched
papers = [Paper(str(n), "t", tuple(f"w{n * k % 11} w{k} w{n % 5} common" for k in range(6))) for n in range(40)]
made = word_vectors.train(
    inputs_of(papers).corpus, memory=2**31, scratch=Path(sys.argv[1]), after_epoch=lambda done, total: None,
    dimensions=8, window=3, min_count=2, epochs=4, seed=7, workers=1, sample=0,
)
print(trained)
print(made.words, made.matrix.tobytes().hex(), made.facts)
"""


def run(folder: Path, *killed: str, hash_seed: str = "1") -> tuple[int, str, str]:
    """Exit code, passes that were trained, and output."""
    environment = os.environ | {
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", PROGRAM, str(folder), *killed]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    passes, _, made = done.stdout.partition("\n")
    return done.returncode, passes, made


def test_killed_while_it_keeps_a_pass_it_goes_on_and_gives_the_same_under_any_hash_seed(tmp_path: Path) -> None:
    code, passes, unbroken = run(tmp_path / "unbroken")
    assert (code, passes) == (0, "[1, 2, 3, 4]")
    assert run(tmp_path / "killed", "killed")[0] == -signal.SIGKILL
    assert run(tmp_path / "killed", hash_seed="2") == (0, "[3, 4]", unbroken)


WORDS = {"a": 60, "b": 50, "c": 40, "d": 30}


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    lines = [" ".join(rng.choice(list(WORDS), 6, p=np.array(list(WORDS.values())) / 180)) for _ in range(30)]
    (tmp_path / "sentences").write_text("\n".join(lines) + "\n")
    return tmp_path / "sentences"


class Killed(CallbackAny2Vec):  # type: ignore[misc]
    """Ends the training after so many passes."""

    def __init__(self, after: int) -> None:
        self.after = after

    def on_epoch_end(self, model: Any) -> None:
        self.after -= 1
        if not self.after:
            raise KeyboardInterrupt


def trained(
    kind: type, sentences: Path, *, folder: Path | None = None, facts: dict[str, int] | None = None, killed: int = 0
) -> np.ndarray:
    model = kind(
        vector_size=4,
        window=2,
        min_count=1,
        epochs=4,
        seed=3,
        workers=1,
        hashfxn=lambda text: zlib.crc32(text.encode()),
    )
    if folder is not None:
        model.keep_in(folder, facts or {}, after_epoch=lambda _done: None)
    model.build_vocab_from_freq(WORDS, corpus_count=30)
    model.train(
        corpus_file=str(sentences), total_words=180, total_examples=30, epochs=4,
        callbacks=[Killed(killed)] if killed else [],
    )  # fmt: skip
    return np.array(model.wv.vectors)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The passes that gensim itself was asked for."""
    asked: list[int] = []
    train = Word2Vec._train_epoch_corpusfile

    def watched(self: Any, *given: Any, cur_epoch: int, **named: Any) -> Any:
        asked.append(cur_epoch)
        return train(self, *given, cur_epoch=cur_epoch, **named)

    monkeypatch.setattr(Word2Vec, "_train_epoch_corpusfile", watched)
    return asked


def test_an_unbroken_training_is_gensims(sentences: Path, tmp_path: Path, passes: list[int]) -> None:
    expected = trained(Word2Vec, sentences)
    assert passes == [0, 1, 2, 3]
    np.testing.assert_array_equal(trained(Resumable, sentences, folder=tmp_path / "kept"), expected)
    assert passes == [0, 1, 2, 3] * 2
    # A minute has not passed.
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("killed", [1, 3])
def test_a_killed_training_goes_on_after_the_last_pass_that_was_kept(
    sentences: Path, tmp_path: Path, passes: list[int], killed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished, "SECONDS_BETWEEN_SAVES", 0)
    expected = trained(Word2Vec, sentences)
    with pytest.raises(KeyboardInterrupt):
        trained(Resumable, sentences, folder=tmp_path / "kept", killed=killed)
    passes.clear()
    np.testing.assert_array_equal(trained(Resumable, sentences, folder=tmp_path / "kept"), expected)
    assert passes == list(range(killed, 4))
    # What was kept of a training with other settings is not gone on from.
    passes.clear()
    np.testing.assert_array_equal(trained(Resumable, sentences, folder=tmp_path / "kept", facts={"seed": 4}), expected)
    assert passes == [0, 1, 2, 3]


def test_a_kept_pass_that_was_changed_is_not_used(
    sentences: Path, tmp_path: Path, passes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished, "SECONDS_BETWEEN_SAVES", 0)
    with pytest.raises(KeyboardInterrupt):
        trained(Resumable, sentences, folder=tmp_path / "kept", killed=2)
    file = tmp_path / "kept" / "vectors.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    passes.clear()
    trained(Resumable, sentences, folder=tmp_path / "kept")
    assert passes == [0, 1, 2, 3]


@pytest.mark.parametrize(("seconds", "kept"), [(59.9, False), (60.0, True), (75.0, True)])
def test_a_pass_is_kept_once_a_minute(
    sentences: Path, tmp_path: Path, seconds: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    monkeypatch.setattr(unfinished.array_files, "save", lambda folder, *, facts, **_: saved.append(facts["passes"]))
    train = Word2Vec._train_epoch_corpusfile

    def slow(self: Any, *given: Any, **named: Any) -> Any:
        found = train(self, *given, **named)
        self.total_train_time += seconds / 2
        return found

    monkeypatch.setattr(Word2Vec, "_train_epoch_corpusfile", slow)
    trained(Resumable, sentences, folder=tmp_path / "kept")
    # Of four passes the second ends after so many seconds, and the last is never kept.
    assert saved == ([2] if kept else [3])
