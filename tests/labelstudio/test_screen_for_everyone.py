"""The screens for people who read with their ears, need large letters, use a tablet, or cannot tell colours apart."""

from collections.abc import Iterator
from typing import Any

import pytest
from annot.labelstudio.screens import screen_of
from annot.labelstudio.tasks import adjudicate_task, reasoned_task
from browsing import Screen, judging, open_screen, stored, tab_to
from fixtures_studio import Studio, written
from labelling_texts import CANDIDATE, LABELS, QUERY, SCALE, long_text, opinion, task

pytestmark = [pytest.mark.studio, pytest.mark.browser]

CRITERIA = {
    "background": ["another need", "a distant need", "a similar need", "the same need"],
    "method": ["other steps", "steps of one kind", "similar steps", "the same steps in the same order on like things"],
}
JUDGE, ADJUDICATE = (
    screen_of(kind, scale_names=SCALE, labels=LABELS, language="en", overrides=None, opinions=n, criteria=CRITERIA)
    for kind, n in (("judge", 0), ("adjudicate", 2))
)
TEXTS = {"query": long_text(QUERY, 12), "candidate": long_text(CANDIDATE, 12)}
GRADES = ["0 Irrelevant", "1 Related", "2 Similar", "3 Near-identical", "Cannot judge c"]
CAUSES = [
    "another aspect of the facet k",
    "facet label wrong w",
    "context needed d",
    "slip s",
    "guideline gap g",
    "none of these z",
]
LINES_IN_VIEW = """() => {
    const top = document.querySelector('.a-grades').getBoundingClientRect().bottom;
    const bottom = document.querySelector('.lsf-bottombar').getBoundingClientRect().top;
    const tops = new Set();
    for (const paragraph of document.querySelectorAll('.a-text p')) {
        const range = document.createRange();
        range.selectNodeContents(paragraph);
        for (const box of range.getClientRects())
            if (box.top >= top - 1 && box.bottom <= bottom + 1) tops.add(Math.round(box.top / 8));
    }
    return tops.size;
}"""


def radios(screen: Screen, names: list[str]) -> list[str]:
    """The radio buttons that a screen reader is told of, and whether they are checked."""
    session = screen.page.context.new_cdp_session(screen.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    told = []
    for node in nodes:
        if node.get("role", {}).get("value") == "radio" and not node["ignored"]:
            checked = {field["name"]: field["value"].get("value") for field in node["properties"]}["checked"]
            name = " ".join(node["name"]["value"].split())
            told.append(next((known for known in names if name.startswith(known)), name) + " *" * (checked == "true"))
    return told


@pytest.fixture(scope="module")
def wide(studio: Studio, signed_in: Any) -> Iterator[Screen]:
    """A page on two tasks of two facets, the first of them the first of its query; tests set its size."""
    first = task(1, **TEXTS)
    first["data"]["pair_html"] = first["data"]["pair_html"].replace(' a-is-method"', ' a-is-method a-first"')
    project = judging(studio, [first, task(2, facet="background", **TEXTS)], screen=JUDGE)
    with open_screen(studio, signed_in, project) as screen:
        yield screen


def test_adjudicators_are_told_the_causes_of_a_dispute_and_who_gave_which_grade(studio: Studio, signed_in: Any) -> None:
    opinions = [opinion(1, None, None), opinion(3, None, "The noses do what the hounds do.")]
    project = judging(studio, [adjudicate_task(task(1, **TEXTS), opinions, scale_names=SCALE)], screen=ADJUDICATE)
    with open_screen(studio, signed_in, project, (1280, 720)) as screen:
        # The mark of who gave a grade is read out with it.
        grades = [GRADES[0], f"A {GRADES[1]}", *GRADES[2:]]
        assert radios(screen, grades) == [*CAUSES, *grades]
        screen.choose("k", "another aspect of the facet")
        assert radios(screen, grades) == [f"{CAUSES[0]} *", *CAUSES[1:], *grades]
        marks = "e => ['::before', '::after'].map(p => getComputedStyle(e, p).content).filter(c => /[A-Z]/.test(c))"
        buttons = screen.page.locator(".a-grades .ant-radio-wrapper").all()
        assert [button.evaluate(marks) for button in buttons] == [[], ['"A"'], [], ['"B"'], []]
        box = screen.boxes["opinions"]
        assert box["left"] <= screen.boxes["query_side"]["left"]
        assert box["right"] >= screen.boxes["cand_side"]["right"]


def test_grades_are_given_and_sent_by_tab_and_space(studio: Studio, signed_in: Any) -> None:
    project = judging(studio, [task(1), task(2)], screen=JUDGE)
    with open_screen(studio, signed_in, project) as screen:
        tab_to(screen.page, ".a-comment input")
        # The dots of a column's marked sentences come before its text.
        for place in ("cand", "cand", "query", "query"):
            screen.press("Tab")
            assert screen.focus == place
        tab_to(screen.page, '.a-grades input[name="2"]')
        outline = "e => getComputedStyle(e.closest('label')).outlineStyle"
        assert screen.page.locator('.a-grades input[name="2"]').evaluate(outline) == "solid"
        screen.press("Space")
        screen.page.wait_for_selector('.annot input[name="2"]:checked', state="attached")
        # Keys are heard while a button has the focus.
        screen.choose("3", "3")
        with written(screen.page):
            screen.press("Control+Enter")
    assert [reading.grade for reading in stored(studio, project)] == [3]


def test_an_upright_tablet_shows_both_texts_and_all_grades(wide: Screen) -> None:
    wide.resize((820, 1180))
    boxes = wide.boxes
    for name in ("facet", "help", "progress", "grades", "query", "cand", "comment", "submit"):
        assert min(boxes[name]["left"], boxes[name]["top"]) >= 0, name
        assert boxes[name]["right"] <= 820, name
        assert boxes[name]["bottom"] <= 1180, name
    assert boxes["query_side"]["bottom"] <= boxes["cand_side"]["top"]
    assert wide.page.evaluate(LINES_IN_VIEW) >= 15
    boxes = [button.bounding_box() for button in wide.page.locator(".a-grades .ant-radio-wrapper").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 820 for box in boxes)


def test_a_screen_reader_is_told_the_grades_and_which_is_given(wide: Screen) -> None:
    wide.resize((1440, 900))
    assert radios(wide, GRADES) == GRADES
    wide.choose("2", "2")
    assert radios(wide, GRADES) == [*GRADES[:2], f"{GRADES[2]} *", *GRADES[3:]]
    wide.choose("c", "cannot judge")
    wide.page.locator(".a-reasons").wait_for()
    told = radios(wide, GRADES)
    assert told[:5] == [*GRADES[:4], f"{GRADES[4]} *"]
    assert [reason.split()[0] for reason in told[5:]] == ["text", "not", "outside", "other,"]


def test_each_grade_says_what_it_means_and_nobody_needs_to_undo_or_to_leave(wide: Screen) -> None:
    wide.resize((1440, 900))
    badge, query = wide.page.locator(".a-facet h4").first, wide.page.locator(".a-query h2 span")
    new, hue = "e => getComputedStyle(e, '::before').content", "e => getComputedStyle(e).backgroundColor"
    hues = []
    for facet in ("method", "background"):
        assert badge.inner_text().lower() == facet
        assert wide.page.locator(".a-grades i:visible").all_inner_texts() == CRITERIA[facet]
        assert ("new" in query.evaluate(new)) is (facet == "method")
        hues.append(badge.evaluate(hue))
        if facet == "method":
            wide.choose("1", "1")
            wide.submit()
    assert hues[0] != hues[1]
    for name in ("undo-button", "redo-button", "reset-button", "settings-button", "submit-dropdown"):
        assert not wide.page.locator(f"[data-testid=bottombar-{name}]").is_visible(), name
    assert not wide.page.locator(".a-labels .lsf-label").first.is_visible()
    wide.page.click(".a-cand p:nth-child(1) .htx-highlight")
    wide.page.locator(".a-labels .lsf-label").first.wait_for()


def test_arrows_go_from_one_marked_sentence_to_the_next(studio: Studio, signed_in: Any) -> None:
    texts = {"query": long_text(QUERY, 40), "candidate": long_text(CANDIDATE, 40)}
    project = judging(studio, [task(1, **texts)], screen=JUDGE)
    places = """() => {
        const column = document.querySelector('.a-cand .a-text'), top = column.getBoundingClientRect().top;
        return [...column.querySelectorAll('p.a-hit')].map(p => p.getBoundingClientRect().top - top); }"""
    with open_screen(studio, signed_in, project, (1280, 720)) as screen:
        screen.strike("c", alt=True)
        screen.press("Shift+Tab")
        first = screen.page.evaluate(places)[0]
        assert 0 <= first < 40
        at_rest = f"""() => {{ const before = ({places})()[0];
            return new Promise(told => setTimeout(() => told(({places})()[0] === before), 200)); }}"""
        for passed in (1, 2, 3):
            # A key that is struck while the page still scrolls only prolongs that scroll.
            screen.page.wait_for_function(at_rest)
            screen.press("ArrowDown")
            at_same_place = f"({places})()[{passed}] < 40 && ({places})()[{passed}] >= 0"
            screen.page.wait_for_function(at_same_place)
            assert screen.page.evaluate(places)[passed] == pytest.approx(first, abs=2)
        screen.choose("1", "1")


def test_grades_far_apart_are_settled_with_a_cause_and_a_reason(studio: Studio, signed_in: Any) -> None:
    far, near = (
        adjudicate_task(task(n), [opinion(1, None, None), opinion(grade, None, None)], scale_names=SCALE)
        for n, grade in ((1, 3), (2, 2))
    )
    unjudgeable = adjudicate_task(task(3), [opinion(0, None, None), opinion(3, None, None)], scale_names=SCALE)
    project = judging(studio, [reasoned_task(far), near, reasoned_task(unjudgeable)], screen=ADJUDICATE)

    def write(screen: Screen, words: str) -> None:
        screen.page.locator(".a-comment input:visible").fill(words)
        screen.press("Enter")
        screen.page.locator(".a-comment [data-testid=textarea-regions]", has_text=words).wait_for()

    with open_screen(studio, signed_in, project, (1280, 720)) as screen:
        for key in ("4", "5", "6"):
            screen.press(key)
        assert len(radios(screen, GRADES)) == 11, "what asks for them is seen and read out by nobody"
        screen.choose("2", "2")
        assert "why they differ" in screen.refused()
        screen.choose("s", "slip")
        assert "the reason" in screen.refused()
        write(screen, "Both count.")
        screen.submit()
        screen.choose("1", "1")
        screen.choose("k", "another aspect of the facet")
        write(screen, "Not the dogs.")
        screen.submit()
        # Who cannot judge need not know why the two differ.
        screen.choose("c", "cannot judge")
        screen.choose("f", "outside my field")
        assert "the reason" in screen.refused()
        write(screen, "No hunter.")
        screen.submit_last()
    assert [(answer.grade, answer.settled_by, answer.comment) for answer in stored(studio, project)] == [
        (2, "slip", "Both count."),
        (1, "another aspect of the facet", "Not the dogs."),
        (None, None, "No hunter."),
    ]
