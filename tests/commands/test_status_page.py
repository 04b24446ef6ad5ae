"""The page that a lead leaves open while people judge: what it counts, when it is written, and what it never shows."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from annot.judging.progress import (
    AgreementSoFar,
    by_day,
    papers_with_complete_pairs,
    running_agreement,
)
from annot.publishing.report.status_page import LEAST_PAPERS, StatusWords
from annot.steps.status_page import StatusPage
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file
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


def test_each_day_has_the_answers_that_were_given_on_it(ws: Workspace) -> None:
    """The small study: query 1 on 11 March, query 2 on 12, half of query 3 on 13; j1 settled two on 14 March."""
    build(ws, judged=25)
    found = by_day(read_snapshot(ws), now=NOW, zone=UTC)
    assert [day.day for day in found.days[-4:]] == [11, 12, 13, 14]
    assert found.assessors["a1"].given[-4:] == (10, 10, 5, 0)
    assert found.adjudicators["j1"].given[-4:] == (0, 0, 0, 2)
    assert found.undated == 0


def test_days_are_those_of_the_leads_calendar(ws: Workspace) -> None:
    """Given from noon UTC on; 12 hours further east it is the next day already."""
    build(ws, judged=25)
    east = timezone(timedelta(hours=12))
    found = by_day(read_snapshot(ws), now=NOW, zone=east)
    assert [day.day for day in found.days[-4:]] == [12, 13, 14, 15]
    assert found.assessors["a1"].given[-4:] == (10, 10, 5, 0)


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


def test_a_clock_that_was_set_back_does_not_stop_it(ws: Workspace) -> None:
    build(ws, judged=10)
    clock = Clock(NOW)
    page_of(ws, clock).renew(news=False)
    clock.now -= timedelta(days=1)
    page = page_of(ws, clock)
    page.renew(news=False)
    assert written(page) == "2031-03-13T18:00:00+00:00"


@pytest.mark.parametrize("damage", ["", "no page at all", '<html data-written="tomorrow">'])
def test_a_damaged_page_is_replaced(ws: Workspace, damage: str) -> None:
    build(ws, judged=10)
    page = page_of(ws, Clock(NOW))
    page.path.parent.mkdir(exist_ok=True)
    page.path.write_text(damage, encoding="utf-8")
    page.renew(news=False)
    assert written(page) == NOW.isoformat()


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


def test_it_says_how_many_papers_are_missing_and_shows_no_grade(ws: Workspace) -> None:
    build(ws, judged=25)
    text = page_of(ws, Clock(NOW)).write().read_text(encoding="utf-8")
    assert f"once pairs of {LEAST_PAPERS} query papers are complete. So far there are complete pairs of 3" in text
    assert "50 of 80" in text
    assert "6 open" not in text
    for of_a_pair in ("p1-method", "d09", "the facet was misread", "Title of"):
        assert of_a_pair not in text
    assert 'content="30"' in text
    assert "http" not in re.sub(r'(?s)<meta http-equiv="[^>]*>', "", text), "it asks nothing of a network"


def test_titles_and_messages_of_others_are_text_on_it(ws: Workspace, annot: Run) -> None:
    build(ws, judged=5)
    settings = ws.root / "annot.toml"
    lines = settings.read_text(encoding="utf-8")
    settings.write_text(re.sub(r"(?m)^title = .*$", 'title = "<script>alert(1)</script>"', lines), encoding="utf-8")
    page = page_of(Workspace.open(ws.root), Clock(NOW))
    text = page.write(trouble="<img src=x onerror=alert(2)>").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<img" not in text


def test_it_links_to_the_pages_in_exports_that_are_there(ws: Workspace) -> None:
    page = page_of(ws, Clock(NOW))
    assert '<nav class="pages" aria-label="Pages of the collection"></nav>' in page.write().read_text(encoding="utf-8")
    write_file(ws.exports / "browse.html", "")
    text = page.write().read_text(encoding="utf-8")
    assert re.findall(r'<a href="(\.\.[^"]*)">([^<]*)</a>', text) == [("../exports/browse.html", "Browse")]


def test_a_study_without_a_plan_has_a_page_that_says_what_is_next(ws: Workspace, annot: Run) -> None:
    result = annot("status", "--page")
    assert result.exit_code == 0
    text = (ws.cache / "status.html").read_text(encoding="utf-8")
    assert "Nothing is planned yet" in text
    assert f"<code>{annot('status', '--json').data['next_command']}</code>" in text


def test_status_without_it_loads_nothing_of_it(ws: Workspace) -> None:
    program = (
        "import sys\nfrom annot.cli.main import app\n"
        "try:\n    app(['status', '-C', sys.argv[1]])\nexcept SystemExit:\n    pass\n"
        "names = {name.rpartition('.')[2] for name in sys.modules}\n"
        "print('LOADED', sorted(names & {'status_page', 'by_day', 'progress'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(ws.root)], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stdout


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
