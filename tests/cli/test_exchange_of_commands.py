"""Pushing and pulling, the functions of the commands by themselves: watching, and what is refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from annot.base.errors import AnnotError, FindingError, InputError
from annot.cli import judge, keep
from annot.judging.exchange.collecting import PullResult
from annot.publishing.report import tables
from annot.steps import changes, status
from annot.steps import exchange as pull
from annot.steps import publish as release

Said = pytest.CaptureFixture[str]
ANY: Any = SimpleNamespace(settings=SimpleNamespace(plugins=SimpleNamespace(names=())))


def test_the_gravest_of_several_findings_ends_the_pull(monkeypatch: pytest.MonkeyPatch) -> None:
    class Grave(AnnotError):
        exit_code = 3

    for refused in ((Grave("grave"), FindingError("light")), (FindingError("light"), Grave("grave"))):
        monkeypatch.setattr(pull, "pull_sent", lambda *_, refused=refused, **__: (PullResult((), ("noted",)), refused))
        found = judge.pull(ANY)
        assert found is not None
        assert found.finding is not None
        assert (found.finding.message, found.notes) == ("grave", ("noted", "light"))


# -- watching ----------------------------------------------------------------------------------------------------------


class Page:
    """A status page that is written, or cannot be."""

    def __init__(self) -> None:
        self.path = Path("/study/status.html")
        self.line = "40 pairs left"
        self.errors: list[Exception] = []
        self.finished = 0

    def renew(self, *, news: bool, trouble: str) -> None:
        if self.errors:
            raise self.errors.pop(0)

    def finish(self) -> None:
        self.finished += 1


Rounds = Iterator[tuple[PullResult, str]]
NOTHING = PullResult((), ())
NEWS = replace(NOTHING, assessors=(SimpleNamespace(assessor="a1", new=1, changed=0),))


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, page: Page, rounds: Callable[..., Rounds]) -> Iterator[list[Any]]:
    """What is kept, locked and printed while `rounds` plays the loop of the step."""
    seen: list[Any] = []

    @contextmanager
    def held(ws: Any, words: str, *, wait_seconds: float) -> Iterator[None]:
        seen.append((words, wait_seconds))
        yield

    monkeypatch.setattr(judge, "status_page", lambda ws, *, every: page)
    monkeypatch.setattr(judge, "held", held)
    monkeypatch.setattr(
        judge, "keep_backup", lambda ws, why, *, apart=timedelta(): seen.append((why, apart.total_seconds()))
    )
    monkeypatch.setattr(judge.WAITING, "stay", lambda text: seen.append(text[10:]))
    monkeypatch.setattr(pull, "watch", rounds)
    yield seen


def watching(as_json: bool = False) -> None:
    study: Any = SimpleNamespace(settings=SimpleNamespace(watch=SimpleNamespace(every=60)))
    judge._watch(study, as_json=as_json)


def test_a_watch_backs_up_news_at_most_every_ten_minutes_and_once_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    def rounds(*_: object, **__: object) -> Rounds:
        yield NEWS, ""
        yield NOTHING, "no connection"

    page = Page()
    with watched(monkeypatch, page, rounds) as seen:
        watching()
    assert seen == [("after pull", 600), "40 pairs left", "no connection", ("after pull", 0)]
    assert page.finished == 1
    assert capsys.readouterr().err.splitlines() == ["page: file:///study/status.html", "all planned judgements are in"]


def test_a_page_that_cannot_be_written_is_reported_once_for_each_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    def rounds(*_: object, **__: object) -> Rounds:
        return iter([(NOTHING, "")] * 4)

    page = Page()
    page.errors = [OSError("disk full"), OSError("disk full"), AnnotError("locked")]
    with watched(monkeypatch, page, rounds):
        watching()
    assert capsys.readouterr().err.splitlines()[:3] == [
        "could not write the status page: disk full",
        "could not write the status page: locked",
        "page: file:///study/status.html",
    ]


def test_a_watch_that_is_stopped_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    def rounds(*_: object, **__: object) -> Rounds:
        raise KeyboardInterrupt

    page = Page()
    with watched(monkeypatch, page, rounds) as seen, pytest.raises(typer.Exit) as end:
        watching()
    assert end.value.exit_code == 130
    assert (seen, page.finished) == ([("after pull", 0)], 1)
    assert capsys.readouterr().err == "stopped watching; what was pulled is kept\n"


@pytest.mark.parametrize(("lost", "notes"), [(False, ("noted", "refused")), (True, ("noted", "refused", "2 lost"))])
def test_each_pull_of_a_watch_takes_the_study_at_once_and_notes_what_is_lost(
    monkeypatch: pytest.MonkeyPatch, lost: bool, notes: tuple[str, ...]
) -> None:
    class Found(PullResult):
        def finding(self, command: str) -> FindingError | None:
            return FindingError("2 lost") if lost else None

    made: list[PullResult] = []
    monkeypatch.setattr(pull, "pull_sent", lambda *_, **__: (Found((), ("noted",)), (AnnotError("refused"),)))

    def rounds(pull_once: Callable[..., PullResult], **_: object) -> Rounds:
        made.append(pull_once({}))
        yield NOTHING, ""

    with watched(monkeypatch, Page(), rounds) as seen:
        watching()
    assert seen[0] == ("pull", 0)
    assert tuple(note.partition(";")[0] for note in made[0].notes) == notes


# -- options that exclude each other -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [("page", "adjudication"), ("adjudication", "returned")])
def test_one_form_of_the_status_is_shown(pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(typer.BadParameter, match="expected one of them"):
        judge.status(ANY, **dict.fromkeys(pair, True))
    monkeypatch.setattr(status, "adjudication", lambda _: tables.Table("", "", (), (), ""))
    monkeypatch.setattr(changes, "listing", lambda _: [])
    monkeypatch.setattr(changes, "notes", lambda _: ())
    assert judge.status(ANY, adjudication=True).text == "no pairs planned yet; plan them with `annot plan`"
    assert judge.status(ANY, returned=True).text == "no pair was returned"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"design": True, "pools": True}, "found --design and --pools"),
        ({"per_pair": 2}, "--per-pair can only be used with --design"),
        ({"repeats": 0.1}, "--repeats can only be used with --design"),
        ({"depth": [3]}, "--depth can only be used with --pools"),
        ({"pools": True, "seed": 0}, "--seed can only be used with --design"),
        ({"pools": True, "sample": True}, "found --pools and --sample"),
        ({"seconds": 3.0}, "--seconds can only be used with --pools or --sample"),
    ],
)
def test_options_of_a_forecast_go_with_their_kind(given: dict[str, Any], words: str) -> None:
    with pytest.raises(typer.BadParameter, match=words):
        judge.forecast(ANY, **given)


def test_a_forecast_of_another_study_has_no_queries_to_show() -> None:
    with pytest.raises(InputError, match="`annot forecast --design` cannot be used with --all"):
        judge.forecast(ANY, all_queries=True, design=True)


# -- what the functions hand on ----------------------------------------------------------------------------------------


class Taken(Exception):
    """Ends a call with what it was given."""

    def __init__(self, *given: object, **named: Any) -> None:
        self.given, self.named = given, named


def taken(*given: object, **named: object) -> None:
    raise Taken(*given, **named)


@pytest.mark.parametrize(
    ("typed", "alone"),
    [
        ({}, False),
        ({"consented": "by letter", "dry_run": True}, False),
        ({"consented": "by letter"}, True),
        ({"date": datetime(2031, 3, 4)}, False),
    ],
)
def test_a_release_has_the_study_alone_only_to_record_consent(
    monkeypatch: pytest.MonkeyPatch, typed: dict[str, Any], alone: bool
) -> None:
    seen: list[float] = []

    @contextmanager
    def held(ws: Any, words: str, *, wait_seconds: float) -> Iterator[None]:
        seen.append(wait_seconds)
        yield

    monkeypatch.setattr(keep, "held", held)
    monkeypatch.setattr(release, "release", taken)
    with pytest.raises(Taken) as found:
        keep.release(ANY, Path("out"), **typed)
    assert seen == ([0.0] if alone else [])
    assert found.value.named["published"] == (typed["date"].date() if "date" in typed else None)
