"""The pages of one study in a real browser: axe-core finds no serious fault, and links lead from each to the others."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from annot.publishing.so_far import write_pages
from annot.steps import agreement, publish
from annot.study.workspace import Workspace
from axe_playwright_python.sync_playwright import Axe
from command_line import annot_done
from study_stages import copied, published
from worlds import world

pytestmark = pytest.mark.browser

PAGES = ("exports/report.html", "exports/browse.html", "exports/datasheet.html", "exports/meeting.html")
STATUS = ".annot/status.html"
OPTIONS = {"resultTypes": ["violations"], "preload": False}
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
SHORTEN = "document.querySelectorAll('tbody tr:nth-child(n+3)').forEach((one) => one.remove())"
"""The rows of a table are alike, and looking at each takes most of the time."""
SCREENS = [("light", 390), ("dark", 1440)]
"""Colours depend on the scheme alone, and what is cut off or scrolled on the width alone."""


@pytest.fixture(scope="module")
def undrawn() -> None:
    """Figures are looked at here."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Judged and measured, with every page, each written once."""
    ws = copied(published(3), "measured", tmp_path_factory.mktemp("pages") / "study")
    publish.write_report(ws)
    publish.write_browse_page(ws, partial=False)
    publish.write_datasheet(ws)
    agreement.write(ws, since=None, out=None)
    annot_done("status", "--page", folder=ws.root)
    return ws


def faults(page: Any) -> list[str]:
    """What axe-core calls serious or critical."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_no_serious_fault_is_found_on_any_page(
    study: Workspace, tmp_path: Path, chromium: Any, scheme: str, width: int
) -> None:
    with world("settled", tmp_path / "study") as settled:
        write_pages(settled.ws, now=datetime.now(UTC))
        decided = sorted((settled.ws.cache / "people").glob("*/*.html"))
    assert [page.parent.name for page in decided] == ["a1", "a2", "j1"]
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    for path in (*(study.root / name for name in (*PAGES, STATUS)), *decided[1:]):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width, f"{path} is scrolled sideways"
        assert path not in decided or page.locator("td a[href]").count() > 0
        page.evaluate(UNFOLD)
        page.evaluate(SHORTEN)
        assert faults(page) == [], path
    context.close()


def test_the_checker_finds_what_it_looks_for(chromium: Any) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.set_content(
        '<html lang="en"><title>t</title><main><h1>h</h1><p style="color:#ccc">pale</p><input></main></html>'
    )
    assert [one.partition(":")[0] for one in faults(page)] == ["color-contrast", "label"]
    context.close()


def test_every_page_is_reached_from_the_status_page_by_links_alone(study: Workspace, chromium: Any) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto((study.root / STATUS).as_uri())
    walked = []
    for title in ("Report", "Browse", "Datasheet", "Report"):
        page.get_by_role("navigation", name="Pages of the collection").get_by_role("link", name=title).click()
        page.wait_for_load_state()
        assert page.locator("nav.pages [aria-current]").inner_text() == title
        assert page.locator("h1").count() == 1
        walked.append(Path(page.url.partition("#")[0]).name)
    assert walked == ["report.html", "browse.html", "datasheet.html", "report.html"]
    page.goto((study.root / "exports/meeting.html").as_uri())
    assert page.locator("a[href]:not([href^='#'])").count() == 0, "assessors in a meeting are led nowhere"
    assert page.get_by_role("navigation", name="Pages of the collection").count() == 0
    context.close()
