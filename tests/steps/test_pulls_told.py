"""Pulls again and again, and several rounds as one: what is shown, what is waited for, and what is said."""

from collections.abc import Sequence
from typing import Any

import pytest
from annot.base.errors import BusyError, MissingInput, StudioError
from annot.base.words import ENGLISH
from annot.judging.exchange.collecting import NO_OPTIONS, PreparedPush, PulledProject, PullResult, RoundOptions
from annot.judging.exchange.outgoing import OutgoingProject, TaskForm
from annot.judging.exchange.sending import PushResult, SentProject
from annot.judging.exchange.servers import PARTS, Unreachable
from annot.judging.rounds import ROUNDS
from annot.steps import exchange
from annot.study.provenance import read_made
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied, quietly


def row(name: str, *, new: int = 0, changed: int = 0) -> PulledProject:
    return PulledProject(name, 10, 5, new, changed, 0, 0)


def brought(*rows: PulledProject, notes: Sequence[str] = (), open: int | None = 1) -> PullResult:
    return PullResult(rows, tuple(notes), open=open)


class Watched:
    """A watch over these pulls: results, or errors that they raise."""

    def __init__(self, *pulls: PullResult | Exception) -> None:
        left = list(pulls)
        self.shown: list[PullResult] = []
        self.told: list[str] = []
        self.waited: list[float] = []
        self.after: list[tuple[bool, str]] = []
        self.seen: list[int] = []

        def pulled(seen: dict[int, Any]) -> PullResult:
            self.seen.append(len(seen))
            seen[len(self.seen)] = object()
            one = left.pop(0)
            if isinstance(one, Exception):
                raise one
            return one

        for news, trouble in exchange.watch(pulled, every=60.0, wait=self.waited.append, tell=self.told.append):
            if news.assessors or news.notes:
                self.shown.append(news)
            self.after.append((bool(news.assessors), trouble))


def test_a_watch_shows_what_is_new_until_nothing_is_open() -> None:
    watch = Watched(
        brought(row("a1", new=2), row("a2"), notes=["one"], open=3),
        brought(row("a1"), row("a2"), notes=["one"], open=2),
        brought(row("a1"), row("a2", changed=1), notes=["one", "two"], open=1),
        brought(row("a1"), open=None),
        brought(row("a1", new=1), open=0),
    )
    assert [([one.assessor for one in shown.assessors], shown.notes, shown.open) for shown in watch.shown] == [
        (["a1"], ("one",), 3), (["a2"], ("two",), 1), (["a1"], (), 0)
    ]  # fmt: skip
    assert watch.after == [(True, ""), (False, ""), (True, ""), (False, ""), (True, "")]
    assert (watch.waited, watch.told) == ([60.0] * 4, [])
    assert watch.seen == [0, 1, 2, 3, 4]


def test_a_server_that_is_away_later_is_waited_for_and_reported_once() -> None:
    watch = Watched(
        brought(open=2), StudioError("away"), StudioError("away"), BusyError("busy"), brought(open=2),
        StudioError("away"), brought(open=0),
    )  # fmt: skip
    again = "trying again every 60 s"
    assert watch.told == [f"away; {again}", f"busy; {again}", "pulling again", f"away; {again}", "pulling again"]
    assert [why for _, why in watch.after] == ["", "away", "away", "busy", "", "away", ""]
    assert not any(news for news, _ in watch.after)
    assert watch.seen == [0, 1, 0, 0, 0, 1, 0]


def test_a_server_that_is_not_there_at_first_ends_the_watch() -> None:
    with pytest.raises(StudioError):
        Watched(StudioError("away"))
    with pytest.raises(StudioError):
        Watched(BusyError("busy"), StudioError("away"))
    assert len(Watched(BusyError("busy"), brought(open=0)).waited) == 1


# -- several rounds ----------------------------------------------------------------------------------------------------


def together(*pulls: PullResult) -> PullResult:
    return exchange._joined_pulls(list(zip(ROUNDS.values(), pulls, strict=False)))


def test_notes_name_their_round_if_there_are_several() -> None:
    one, other = list(ROUNDS.values())[:2]
    assert together(brought(notes=["x"])).notes == ("x",)
    assert together(brought(notes=["x"]), brought(notes=["y"])).notes == (f"{one.name}: x", f"{other.name}: y")


@pytest.mark.parametrize(
    ("opens", "expected"), [((None,), None), ((0,), 0), ((2, None, 3), 5), ((0, None), 0), ((None, None), None)]
)
def test_open_answers_of_rounds_are_added(opens: tuple[int | None, ...], expected: int | None) -> None:
    assert together(*(brought(open=one) for one in opens)).open == expected


def test_people_who_were_not_reached_are_named_once() -> None:
    away = Unreachable("a1", "no answer", False)
    found = together(PullResult((), (), unreachable=(away,)), PullResult((), (), withdrawn=True, unreachable=(away,)))
    assert (found.unreachable, found.withdrawn) == ((away,), True)


@pytest.fixture
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(), "planned", tmp_path_factory.mktemp("pulls") / "study")


def sent_to(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, PullResult | Exception]
) -> list[tuple[str, RoundOptions]]:
    """What each round's pull brings or raises; returns the calls."""
    calls: list[tuple[str, RoundOptions]] = []

    def pulled(_ws: object, *, round: str, options: RoundOptions, **_: object) -> PullResult:
        calls.append((round, options))
        found = answers[round]
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(exchange, "pull", pulled)
    monkeypatch.setattr(exchange, "_sent", lambda *_: tuple(ROUNDS[name] for name in answers))
    return calls


def test_what_one_round_refuses_keeps_none_of_the_others(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = StudioError("first"), MissingInput("second")
    sent_to(monkeypatch, {"judging": first, "adjudication": brought(row("j1", new=1)), "training": second})
    found, refused = exchange.pull_sent(ws, advance=quietly)
    assert ([one.assessor for one in found.assessors], refused) == (["j1"], (first,))
    sent_to(monkeypatch, {"judging": first, "training": second})
    with pytest.raises(StudioError, match="first"):
        exchange.pull_sent(ws, advance=quietly)


def test_deletions_are_accepted_in_rounds_that_know_them(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = sent_to(monkeypatch, {name: brought() for name in ROUNDS})
    options = RoundOptions(accept_deletions=True)
    exchange.pull_sent(ws, advance=quietly, options=options)
    assert dict(calls) == {
        name: options if "accept_deletions" in round.option_names else NO_OPTIONS for name, round in ROUNDS.items()
    }
    assert NO_OPTIONS in dict(calls).values()
    calls.clear()
    exchange.pull_sent(ws, advance=quietly, options=options, named="adjudication")
    assert calls == [("adjudication", options)]


def test_a_round_without_news_is_waited_for_if_another_has_some(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for seen, news, expected in (({}, True, 40 * 2 + 1), ({}, False, 1), (None, True, 1)):
        quiet = brought(open=None)
        other = brought(row("j1", new=1), open=1) if news else brought(open=1)
        sent_to(monkeypatch, {"judging": quiet, "adjudication": other})
        found, _ = exchange.pull_sent(ws, advance=quietly, cursors=seen)
        assert found.open == expected


def test_without_anything_sent_the_judging_is_pulled(ws: Workspace) -> None:
    assert exchange._sent(ws, tuple(ROUNDS.values())) == (ROUNDS["judging"],)


# -- a push goes part by part ------------------------------------------------------------------------------------------


FIRST, SECOND = PARTS["train"], PARTS["train-feedback"]
AWAY = Unreachable("a2", "away", False)


def sent_row(name: str, *, withdrawn: int = 0, sent: int = 1) -> SentProject:
    return SentProject(name, 1, 0, sent, withdrawn, 0, f"project of {name}")


class Sent:
    """A round of two parts for a1 and a2, and which parts were sent to whom."""

    def __init__(self, patch: pytest.MonkeyPatch, *, away: Sequence[Unreachable] = (), **prepared: Any) -> None:
        self.sent: list[tuple[str, list[str]]] = []
        self.begun: list[list[str]] = []
        self.checked = 0
        outgoing = [
            OutgoingProject(TaskForm(part, "", "", ENGLISH), name, {})
            for part in (FIRST, SECOND)
            for name in ("a1", "a2")
        ]
        self.prepared = PreparedPush(outgoing, ["a note"], **prepared)
        patch.setattr(exchange, "round_of", lambda name: self)
        patch.setattr(exchange.outgoing, "check_outgoing", self._check)
        patch.setattr(exchange, "send_outgoing", lambda ws, mine, **_: self._send(mine, away))

    name, option_names, parts, noted_as = "judging", frozenset[str](), (FIRST, SECOND), "push"

    def prepare(self, *_: object, dry_run: bool) -> PreparedPush:
        return self.prepared

    def before_sending(self, _session: object, mine: Sequence[OutgoingProject]) -> None:
        self.begun.append([one.assessor for one in mine])

    def after_sending(self, pushed: PushResult) -> PushResult:
        return pushed

    def _check(self, *_: object) -> None:
        self.checked += 1

    def _send(self, mine: Sequence[OutgoingProject], away: Sequence[Unreachable]) -> PushResult:
        names = [one.assessor for one in mine]
        self.sent.append((mine[0].part.stored, names))
        gone = {one.assessor for one in away}
        return PushResult(tuple(sent_row(name) for name in names if name not in gone), ("sent",), tuple(away))


def pushed(ws: Workspace, *, dry_run: bool = False) -> PushResult:
    return exchange.push(ws, round="judging", dry_run=dry_run, advance=lambda done, total: None)


def test_every_part_goes_to_everyone_and_is_noted(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(monkeypatch)
    found = pushed(ws)
    assert sent.sent == [("train", ["a1", "a2"]), ("train-feedback", ["a1", "a2"])]
    assert sent.begun == [["a1", "a2"]] * 2
    assert [one.assessor for one in found.projects] == ["a1", "a2"] * 2
    assert (found.notes, sent.checked, "push" in read_made(ws)) == (("a note", "sent", "sent"), 1, True)


def test_a_dry_run_begins_nothing(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(monkeypatch, checked=True)
    pushed(ws, dry_run=True)
    assert (sent.begun, sent.checked, "push" in read_made(ws)) == ([], 0, False)


def test_whose_server_is_away_is_left_out_of_the_next_part(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(monkeypatch, away=[AWAY])
    found = pushed(ws)
    assert sent.sent == [("train", ["a1", "a2"]), ("train-feedback", ["a1"])]
    assert found.unreachable == (AWAY, AWAY)
    assert "push" not in read_made(ws)


@pytest.mark.parametrize("prepared", [{"unreachable": (AWAY,)}, {"is_made": False}])
def test_a_push_that_did_not_bring_everything_is_not_noted(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, prepared: dict[str, Any]
) -> None:
    Sent(monkeypatch, **prepared)
    pushed(ws)
    assert "push" not in read_made(ws)


def test_what_was_withdrawn_before_is_in_the_persons_row_or_in_one_of_its_own() -> None:
    before = [sent_row("a1", withdrawn=3), sent_row("a8", withdrawn=0), sent_row("a9", withdrawn=2)]
    found = exchange._with_withdrawn(
        PushResult((sent_row("a1", withdrawn=1), sent_row("a1", withdrawn=0), sent_row("a2"))), before
    )
    assert [(one.assessor, one.withdrawn) for one in found.projects] == [
        ("a1", 4), ("a1", 0), ("a2", 0), ("a9", 2),
    ]  # fmt: skip
