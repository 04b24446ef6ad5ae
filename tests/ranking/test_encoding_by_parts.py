"""Encoding a corpus part by part: nothing is read twice, and a killed run goes on where it was."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import held_alone
from annot.base.errors import BusyError, InputError
from annot.base.parallel import Engine
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.ranking import encoding, vectors
from annot.ranking.encoding import CorpusEncoding
from annot.store.papers import PaperWriter
from annot.study.workspace import Workspace


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(encoding, "PART", 2)
    found = Workspace(tmp_path, Settings())
    add(found, "a", "pqrst")
    return found


def add(ws: Workspace, name: str, papers: str, title: str = "T") -> None:
    with PaperWriter(ws.corpus, name=f"{name}.parquet") as writer:
        for paper_id in papers:
            writer.add(Paper(paper_id, title, ("One.",)))


class Encoder:
    """Gives each paper the number of its letter, and remembers what it read; dies at one paper if it is asked to."""

    def __init__(self, *, dies_at: str = "", broken: str = "") -> None:
        self.read: list[str] = []
        self._dies_at, self._broken = dies_at, broken

    def __call__(self, papers: Sequence[Paper], advance: Any) -> np.ndarray:
        ids = [paper.paper_id for paper in papers]
        if self._dies_at in ids:
            raise KeyboardInterrupt
        self.read += ids
        advance(len(ids), len(ids))
        return np.array([[np.inf if one == self._broken else ord(one), 1] for one in ids], np.float32)


def run(ws: Workspace, encoder: Encoder, told: list[Any] | None = None, **facts: Any) -> tuple[int, int]:
    facts = {"weights_sha256": "w", **facts}
    about = {"model": "m", "space": "s", "metric": "l2"}

    def advance(done: int, total: int | None) -> None:
        if told is not None:
            told.append((done, total))

    return CorpusEncoding(ws, "mine", facts=facts, precision="float16").run(
        lambda: encoder, engine=Engine(1), about=about, advance=advance
    )


def test_what_is_there_is_not_encoded_again(ws: Workspace) -> None:
    run(ws, Encoder())
    before = (ws.vectors / "mine" / "vectors.json").stat().st_mtime_ns
    again = Encoder()
    assert run(ws, again) == (5, 0)
    assert again.read == []
    assert (ws.vectors / "mine" / "vectors.json").stat().st_mtime_ns == before
    other = Encoder()
    assert run(ws, other, weights_sha256="x") == (5, 5)


def test_papers_that_were_added_are_encoded_with_the_part_that_they_change(ws: Workspace) -> None:
    run(ws, Encoder())
    add(ws, "b", "uvw")
    assert CorpusEncoding(ws, "mine", facts={"weights_sha256": "w"}, precision="float16").count() == (4, 8)
    added = Encoder()
    assert run(ws, added) == (8, 4)
    assert added.read == list("tuvw")
    assert vectors.load(ws.vectors / "mine", hint="").matrix[:, 0].tolist() == [ord(one) for one in "pqrstuvw"]


def test_a_killed_run_goes_on_where_it_was(ws: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(ws, Encoder(dies_at="r"))
    assert not (ws.vectors / "mine").exists()
    assert CorpusEncoding(ws, "mine", facts={"weights_sha256": "w"}, precision="float16").count() == (2, 5)
    rest = Encoder()
    assert run(ws, rest) == (5, 3)
    assert rest.read == list("rst")


def test_a_set_that_is_not_as_it_was_written_is_made_anew(ws: Workspace) -> None:
    run(ws, Encoder())
    (ws.vectors / "mine" / "vectors.npy").write_bytes(b"")
    assert run(ws, Encoder()) == (5, 5)
    (ws.vectors / "mine" / "vectors.json").write_text("")
    assert run(ws, Encoder()) == (5, 5)


def test_vectors_that_are_not_finite_are_refused_by_paper(ws: Workspace) -> None:
    with pytest.raises(InputError, match="the encoder made vectors that are not finite") as caught:
        run(ws, Encoder(broken="s"))
    assert caught.value.faults == ("s: not finite in float16",)


def test_a_second_run_for_the_same_set_is_refused(ws: Workspace) -> None:
    lock = ws.cache / "encoding" / "mine.lock"
    with (
        held_alone(lock, busy="", hint=""),
        pytest.raises(BusyError, match="mine: another process is encoding it"),
    ):
        run(ws, Encoder())
