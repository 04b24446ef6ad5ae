"""The report as a page in a real browser, on a phone, a desk and paper: nothing is cut, and everything can be read."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from annot.steps import publish
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from demo_collection import papers as demonstration
from study_stages import copied, published

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def undrawn() -> None:
    """Figures are looked at here."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Judged, settled and measured, with four runs and three query papers."""
    ws = copied(published(3), "measured", tmp_path_factory.mktemp("page") / "study")
    publish.write_report(ws)
    return ws


@pytest.fixture
def page(study: Workspace, chromium: Any) -> Iterator[Any]:
    """The page in a window of a desk."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda one: requests.append(one.url))
    page.goto((study.exports / "report.html").as_uri())
    assert len(requests) == 1
    yield page
    context.close()


CUT_OFF = """() => [...document.querySelectorAll('figcaption, .note')].filter(
    one => one.closest('.scroll') || one.getBoundingClientRect().right > innerWidth).length"""
LETTERS = """() => [...document.querySelectorAll('figure.drawing text')]
    .map(one => one.getBoundingClientRect().height).filter(height => height > 0)"""
SEEN = """() => [...document.querySelectorAll('figure.drawing')].map(one => [...one.querySelectorAll('svg')]
    .filter(svg => svg.getBoundingClientRect().height > 0).length)"""
WIDER = """() => [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => one.getAttribute('aria-label'))"""
FIRST_COLUMNS = """() => [...document.querySelectorAll('.scroll')]
    .filter(one => one.scrollWidth > one.clientWidth + 40).map(one => {
        one.scrollLeft = one.scrollWidth;
        const cell = one.querySelector('td').getBoundingClientRect();
        return [cell.left - one.getBoundingClientRect().left, cell.width / one.clientWidth];
    })"""


def test_at_any_width_nothing_is_cut_and_everything_can_be_read(page: Any) -> None:
    """With the appendix open; on a phone the first column of a table stays while the numbers go by."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    for width in (1440, 820, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("width => document.documentElement.scrollWidth === width", arg=width)
        assert page.evaluate(CUT_OFF) == 0
        assert min(page.evaluate(LETTERS)) >= 11
        assert set(page.evaluate(SEEN)) == {1}
        if width == 1440:
            assert page.evaluate(WIDER) == [], "at a desk no table is wider than its place"
    places = page.evaluate(FIRST_COLUMNS)
    assert len(places) >= 3
    assert max(left for left, _ in places) <= 1
    assert max(share for _, share in places) < 0.4


def test_the_first_screen_alone_answers(study: Workspace) -> None:
    """Of one study of three query papers: what it is, whether it can be trusted and for what, which run is best."""
    text = (study.exports / "report.md").read_text(encoding="utf-8")
    first = text[: text.index("## Agreement")]
    agreement = json.loads((study.exports / "agreement.json").read_text(encoding="utf-8"))
    runs = json.loads((study.exports / "evaluation.json").read_text(encoding="utf-8"))
    effect = json.loads((study.exports / "assessor-effect.json").read_text(encoding="utf-8"))
    alpha = agreement["groups"][-1]["before"]["alpha_ordinal"]
    assert f"{agreement['groups'][-1]['n_queries']} queries, " in first
    needed = "3 query papers: an interval over query papers needs 6"
    assert alpha["intervals"]["median"] == {"undefined": needed}
    found = re.search(rf"Krippendorff's alpha \((0\.\d+), median over 6 queries\) has no interval: {needed}\.", first)
    assert found is not None
    assert float(found[1]) == pytest.approx(alpha["median"], abs=0.051)
    reversed_, of = effect["random_assessors"]["with_swap"], effect["random_assessors"]["n"]
    held = any(one["holds"] for one in runs["comparison"]["pairs"])
    systems = "not known" if not held else "yes" if reversed_ <= 0.05 * of else "no"
    verdict = (
        "Not known"
        if systems == "not known"
        else f"To compare systems: {systems}. As labels of single pairs: not known"
    )
    assert f"**{verdict}.**" in first
    best = runs["comparison"]["verdicts"][-1]
    (of_best,) = [
        line
        for line in runs["lines"]
        if (line["convention"], line["facet"], line["run"]) == ("csfcube", "together", best["best"])
    ]
    assert not of_best["above_chance"], "three query papers are too few to show it"
    assert "not better than chance" not in first
    assert "With 3 query papers, no difference between runs can be shown: at least 6 query papers are needed." in first
    for run in (*best["worse"], *best["behind"], *best["as_good"]):
        assert run in first


def test_the_answers_fill_one_screen_the_body_six_and_the_rest_is_folded(page: Any) -> None:
    first, body, appendix = page.evaluate(
        "() => ['.verdicts', '.body', '.appendix'].map(one => document.querySelector(one).getBoundingClientRect())"
        ".map((one, at) => at ? one.top : one.bottom)"
    )
    assert first <= 720
    assert len(page.locator(".verdicts").inner_text().split()) <= 110
    assert page.locator(".tiles b").count() == 4
    assert appendix - body <= 6 * 900
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0
    rows = page.evaluate("() => [...document.querySelectorAll('.body tbody')].map(one => one.rows.length)")
    assert max(rows) <= 12
    # A browser that opens nothing by itself is helped.
    page.evaluate("location.hash = 'table-pools'")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false; }); scrollTo(0, 0)")
    assert not page.locator("#table-pools").is_visible()
    page.evaluate("dispatchEvent(new Event('hashchange'))")
    assert 0 <= page.locator("#table-pools").bounding_box()["y"] < 900
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 1


def test_on_paper_nothing_is_folded_and_the_first_sheet_is_full(study: Workspace, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 718, "height": 1030})
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto((study.exports / "report.html").as_uri())
    heights = page.evaluate(
        "() => [...document.querySelectorAll('details table')].map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) > 25
    assert min(heights) > 20
    # The first thing that may not be broken is below what fills the first sheet.
    top, height = page.evaluate(
        "() => { const one = document.querySelector('figure.drawing').getBoundingClientRect();"
        " return [one.top, one.height]; }"
    )
    assert top > 600 or top + height < 1030
    context.close()


def test_no_name_in_one_drawing_is_taken_by_another(study: Workspace) -> None:
    text = (study.exports / "report.html").read_text(encoding="utf-8")
    for drawing in re.findall(r'<figure class="drawing">.*?</figure>', text, re.DOTALL):
        clips = [set(re.findall(r'<clipPath id="([^"]+)"', one)) for one in re.findall(r"<svg.*?</svg>", drawing, re.S)]
        assert len(clips) == 2
        assert not clips[0] & clips[1]


def test_a_pair_is_shown_for_each_grade_with_both_abstracts_and_no_remark_of_an_assessor(study: Workspace) -> None:
    text = (study.exports / "report.md").read_text(encoding="utf-8")
    told = text[text.index("## Examples of the grades") : text.index("## Runs")]
    table = text[text.index("### Examples of the grades, by id") :]
    finals = {(one.query_id, one.doc_id): one.grade for one in read_snapshot(study).outcome.decisions}
    rows = re.findall(
        r"^\| (\d) [\w-]+ \| (\w+) \| (\S+) \| (\S+) \| (\d) and (\d) \| agreement \|$", table, re.MULTILINE
    )
    assert [row[0] for row in rows] == ["3", "2", "1", "0"]
    assert len({row[1] for row in rows}) == 3
    papers = {paper.paper_id: paper for paper in demonstration()}
    for grade, facet, query, candidate, first, second in rows:
        assert finals[query, candidate] == int(grade) == int(first) == int(second)
        of_both = [papers[query.partition("-")[0]], papers[candidate]]
        assert all(f"*{paper.title}*" in told for paper in of_both)
        for paper in of_both:
            for sentence, label in zip(paper.sentences, paper.labels or (), strict=True):
                marked = label in study.settings.facets[facet]
                assert (f"**{sentence}**" in told) or not marked
    said = [one.comment for one in read_snapshot(study).outcome.everything if one.comment]
    assert not any(one in told for one in said)
