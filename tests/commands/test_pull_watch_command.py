"""`annot pull --watch`: again and again until all is judged, telling what is new and nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import annot.steps.exchange as pulling
import pytest
from annot.base.errors import AnnotError, BusyError, StudioError
from annot.judging.exchange.collecting import PullCursor, PulledProject, PullResult
from annot.steps.exchange import watch
from annot.study.workspace import Workspace
from small_study import build

Run = Callable[..., Any]
AWAY = StudioError("no server answers")
BUSY = BusyError("`annot plan` is changing this study")


def brought(new: int, *, changed: int = 0, open: int, notes: tuple[str, ...] = ()) -> PullResult:
    people = (PulledProject("a1", 9, 9, new, changed, 0, 0), PulledProject("a2", 9, 9, 0, 0, 0, 0))
    return PullResult(people, notes, open=open)


def rounds(*pulls: PullResult | AnnotError) -> tuple[list[PullResult], list[str], int]:
    """What is shown and told while these pulls come one after the other, and the number of waits."""
    return watched(*pulls)[:3]


def watched(*pulls: PullResult | AnnotError) -> tuple[list[PullResult], list[str], int, list[tuple[bool, str]]]:
    """The same, and what is said after each pull."""
    coming = list(pulls)
    shown: list[PullResult] = []
    told: list[str] = []
    waits: list[float] = []
    after: list[tuple[bool, str]] = []

    def pull(seen: dict[int, PullCursor]) -> PullResult:
        given = coming.pop(0)
        assert bool(seen) == (len(waits) >= 1 and isinstance(pulls[len(waits) - 1], PullResult)), "looks at all anew"
        if isinstance(given, AnnotError):
            raise given
        seen[1] = PullCursor(1, "2026-11-21T10:00:00.000000Z", frozenset())
        return given

    def pulled(news: bool, trouble: str) -> None:
        after.append((news, trouble))

    watch(pull, every=7, wait=waits.append, show=shown.append, tell=told.append, after=pulled)
    assert not coming
    assert set(waits) <= {7}
    return shown, told, len(waits), after


def test_it_pulls_until_everything_is_judged_and_shows_only_what_is_new() -> None:
    shown, told, waits = rounds(
        brought(5, open=3), brought(0, open=3), PullResult((), ()), brought(1, changed=2, open=2), brought(2, open=0)
    )
    assert [[(row.assessor, row.new, row.changed) for row in one.assessors] for one in shown] == [
        [("a1", 5, 0)],
        [("a1", 1, 2)],
        [("a1", 2, 0)],
    ]
    assert [one.open for one in shown] == [3, 2, 0]
    assert (told, waits) == ([], 4)


def test_a_note_is_shown_once() -> None:
    shown, _, _ = rounds(
        brought(0, open=1, notes=("first",)),
        brought(0, open=1, notes=("first",)),
        brought(0, open=0, notes=("first", "second")),
    )
    assert [one.notes for one in shown] == [("first",), ("second",)]


def test_a_server_that_is_away_for_a_while_is_told_once_and_waited_for() -> None:
    shown, told, waits = rounds(brought(1, open=2), AWAY, AWAY, AWAY, brought(1, open=1), AWAY, brought(1, open=0))
    again = "no server answers; trying again every 7 s"
    assert told == [again, "pulling again", again, "pulling again"]
    assert (len(shown), waits) == (3, 6)


def test_another_command_at_work_is_waited_for_from_the_first_pull_on() -> None:
    shown, told, _ = rounds(BUSY, BUSY, brought(1, open=0))
    assert told == ["`annot plan` is changing this study; trying again every 7 s", "pulling again"]
    assert len(shown) == 1


def test_a_server_that_is_away_at_first_is_an_error() -> None:
    with pytest.raises(StudioError):
        rounds(AWAY)
    with pytest.raises(StudioError):
        rounds(BUSY, AWAY)


def test_after_each_pull_the_page_gets_to_know_how_it_went() -> None:
    *_, after = watched(brought(1, open=2), AWAY, brought(0, open=2, notes=("a note",)), BUSY, brought(2, open=0))
    assert after == [(True, ""), (False, AWAY.message), (False, ""), (False, BUSY.message), (True, "")]


def test_one_line_tells_what_came(ws: Workspace, annot: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    coming = [brought(3, changed=1, open=4, notes=("a note",)), brought(0, open=0)]
    monkeypatch.setattr(pulling, "pull", lambda *_, **__: coming.pop(0))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    build(ws, judged=25)
    result = annot("pull", "--watch")
    assert result.exit_code == 0
    assert result.stdout[10:] == "a1 3 new and 1 changed; 4 answers to come\n"
    page = f"page: {(ws.cache / 'status.html').as_uri()}\n"
    coming_next = "next: annot push (30 tasks to send, withdraw or update on the server)\n"
    assert result.stderr == f"a note\n{page}all planned judgements are in\n{coming_next}"


def test_ctrl_c_ends_it_with_130_and_a_word(ws: Workspace, annot: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    build(ws, judged=25)

    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pulling, "pull", interrupted)
    result = annot("pull", "--watch")
    assert result.exit_code == 130
    assert result.stderr == "stopped watching; what was pulled is kept\n"


def test_a_page_that_cannot_be_written_is_named_once_and_ends_nothing(
    ws: Workspace, annot: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    coming = [brought(1, open=2), brought(1, open=1), brought(1, open=0)]
    monkeypatch.setattr(pulling, "pull", lambda *_, **__: coming.pop(0))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    build(ws, judged=25)
    (ws.cache / "status.html").mkdir(parents=True)
    result = annot("pull", "--watch")
    assert (result.exit_code, coming) == (0, [])
    assert result.stderr.count("could not write the status page: ") == 1
