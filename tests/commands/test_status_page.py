"""The page that a lead leaves open while people judge: what it counts, when it is written, and what it never shows."""

import re
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from annot.judging.progress import AgreementSoFar, papers_with_complete_pairs, running_agreement
from annot.publishing.report.status_page import StatusWords
from annot.steps.status_page import StatusPage
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from small_study import NOW, build

Run = Callable[..., Any]


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def page_of(ws: Workspace, clock: Clock, *, every: float = 60) -> StatusPage:
    return StatusPage(ws, lambda: StatusWords("annot pull", "people judge", ()), every=every, clock=clock, zone=UTC)


def written(page: StatusPage) -> str:
    return re.search(r'data-written="([^"]+)"', page.path.read_text(encoding="utf-8"))[1]  # type: ignore[index]


def test_it_is_private_and_written_at_most_once_a_minute_by_whatever_process(ws: Workspace) -> None:
    build(ws, judged=10)
    clock = Clock(NOW)
    page = page_of(ws, clock)
    page.renew(news=True)
    assert stat.S_IMODE(page.path.stat().st_mode) == 0o600
    first = written(page)
    clock.now += timedelta(seconds=59)
    page_of(ws, clock).renew(news=True)
    page.renew(news=True)
    assert written(page) == first
    clock.now += timedelta(seconds=1)
    page_of(ws, clock).renew(news=False)
    assert written(page) == "2031-03-14T18:01:00+00:00"
    clock.now += timedelta(seconds=5)
    page.finish()
    assert written(page) == "2031-03-14T18:01:05+00:00", "what came since is not lost at the end"


def test_agreement_waits_for_six_papers_and_is_computed_only_when_something_came(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(ws, judged=25)
    snapshot = read_snapshot(ws)
    assert papers_with_complete_pairs(snapshot) == 3
    assert AgreementSoFar(least_papers=4)(snapshot) is None
    so_far = AgreementSoFar(least_papers=3)
    assert so_far(snapshot) == running_agreement(snapshot)
    monkeypatch.setattr("annot.judging.progress.running_agreement", lambda _: pytest.fail("computed again"))
    assert so_far(read_snapshot(ws)) is not None


def test_titles_and_messages_of_others_are_text_on_it(ws: Workspace, annot: Run) -> None:
    build(ws, judged=5)
    settings = ws.root / "annot.toml"
    lines = settings.read_text(encoding="utf-8")
    settings.write_text(re.sub(r"(?m)^title = .*$", 'title = "<script>alert(1)</script>"', lines), encoding="utf-8")
    page = page_of(Workspace.open(ws.root), Clock(NOW))
    text = page.write(trouble="<img src=x onerror=alert(2)>").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<img" not in text


@pytest.mark.browser
def test_it_reloads_itself_says_when_it_is_no_longer_written_and_fits_a_phone(ws: Workspace, chromium: Any) -> None:
    build(ws, judged=25)
    clock = Clock(NOW)
    page = page_of(ws, clock)
    page.write()
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    tab = context.new_page()
    tab.clock.install(time=NOW + timedelta(minutes=2))
    tab.goto(page.path.as_uri())
    shown = tab.locator("header b").first
    assert not tab.locator("#stale").is_visible()
    wide = tab.evaluate("document.documentElement.scrollWidth")
    assert wide == 390, "nothing is cut off or scrolled sideways"
    clock.now = NOW + timedelta(minutes=4)
    page.write()
    reload = tab.get_by_label("Reload every 30 seconds")
    reload.uncheck()
    tab.clock.fast_forward(70_000)
    assert tab.locator("#stale").is_visible()
    assert shown.inner_text() == "18:00:00", "whoever reads it may stop it"
    reload.check()
    tab.clock.fast_forward(31_000)
    tab.wait_for_function("document.querySelector('header b').textContent === '18:04:00'")
    assert not tab.locator("#stale").is_visible()
    context.close()
