"""Passes over a file that are kept now and then: a training that continues gives the same as gensim undisturbed."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.ranking import unfinished
from annot.ranking.unfinished import Resumable
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

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


@pytest.mark.parametrize("killed", [1, 2, 3])
def test_a_killed_training_goes_on_after_the_last_pass_that_was_kept(
    sentences: Path, tmp_path: Path, passes: list[int], killed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished, "BETWEEN", 0)
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
    monkeypatch.setattr(unfinished, "BETWEEN", 0)
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
