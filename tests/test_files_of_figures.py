"""The files that hold what was measured: how they are written, what they say, and that figures keep their digits."""

import errno
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from annot.base.names import sha256_of
from annot.base.stats.values import Interval, Undefined, rounded
from annot.formats.trec import Match
from annot.measuring import measured


@pytest.fixture
def ws(tmp_path: Path) -> Any:
    folders = SimpleNamespace(exports=tmp_path / "exports", runs=tmp_path / "runs")
    folders.exports.mkdir()
    folders.runs.mkdir()
    return folders


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_figures_of_a_study_that_can_only_be_read_are_only_printed(
    ws: Any, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def refuse(*_: object) -> None:
        raise OSError(number, "no way")

    monkeypatch.setattr(measured, "write_file", refuse)
    measured.keep(ws, "a.json", "", tell=told.append)
    assert told == [f"{ws.exports / 'a.json'}: cannot be written (no way); the figures are only printed here"]


def test_a_full_disk_is_an_error(ws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(measured, "write_file", refuse)
    with pytest.raises(OSError, match="full"):
        measured.keep(ws, "a.json", "", tell=lambda text: None)


def test_an_audit_is_current_while_the_judgements_are_the_same(ws: Any) -> None:
    assert measured.read_audit(ws) is None
    assert measured.judgements_sha256(ws) == ""
    file = ws.exports / "judgements.jsonl"
    file.write_text("{}\n")
    assert measured.judgements_sha256(ws) == sha256_of(file)
    (ws.exports / "audit.json").write_text(json.dumps({"judgements_sha256": sha256_of(file), "faults": 1}))
    assert measured.read_audit(ws) == {"judgements_sha256": sha256_of(file), "faults": 1, "current": True}
    file.write_text("")
    assert (measured.read_audit(ws) or {})["current"] is False


def test_matches_of_a_run_go_with_a_run_that_has_none(ws: Any) -> None:
    measured.write_matches(ws, "bm25", None)
    assert measured.matches_of(ws, "bm25") == {}
    file = measured.matches_file(ws, "bm25")
    assert file.parent == ws.runs
    found = (Match(0, 2, 1.0),)
    measured.write_matches(ws, "bm25", {"q": {"d": found}})
    assert measured.matches_of(ws, "bm25") == {("q", "d"): found}
    measured.write_matches(ws, "bm25", None)
    assert not file.exists()


class Both(NamedTuple):
    low: float
    high: float


def test_what_differs_in_the_last_bits_is_the_same_afterwards() -> None:
    for value in (0.1 + 0.2, 100 / 3, 1e9 / 7, -2e-7 / 3, float(np.float64(20.125))):
        for neighbour in (math.nextafter(value, -math.inf), math.nextafter(value, math.inf)):
            assert rounded(neighbour) == rounded(value)
        assert math.isclose(rounded(value), value, rel_tol=1e-9)


def test_what_is_left_of_a_sum_that_cancels_out_is_nothing() -> None:
    assert str(rounded(0.1 + 0.2 - 0.3)) == str(rounded(-1e-16)) == "0.0"


def test_every_number_of_a_record_is_rounded_and_nothing_else_changes() -> None:
    third, cut = 1 / 3, 0.3333333333
    found = rounded(
        {"a": [Interval(third, 2.0, 0.95, "jackknife")], "b": (Both(third, 1), "1/3"), 3: Undefined("none")}
    )
    assert found == {"a": [Interval(cut, 2.0, 0.95, "jackknife")], "b": (Both(cut, 1), "1/3"), 3: Undefined("none")}
    assert isinstance(found["b"][0], Both)
    assert type(found["b"][0].high) is int
    assert math.isnan(rounded(math.nan))
