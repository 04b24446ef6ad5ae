"""The screens in a real browser, at the sizes people have: what must be seen, how keys work, what is stored.

What a screen must hold, by number, and the tests that prove it: here, in `test_marks_in_view` (M), `test_screen_keys`
(K), `test_screens` (S) and `story/test_facets_corrected` (F).

 1 the whole window          test_the_whole_window_is_for_the_pair, test_the_labels_of_an_abstract_fill_the_window
 2 the first view            test_the_whole_window_is_for_the_pair, test_the_adjudicator_sees_both_opinions...
 3 lines on a large screen   test_the_whole_window_is_for_the_pair, M test_the_marked_sentences...
 4 opens at the marks        M test_the_marked_sentences_of_real_pairs..., M test_each_task_opens_at_its_marks...,
                             M test_a_browser_without_an_initial_target...; by keys: K test_an_assessors_whole_way...
 5 only the target marked    test_marks_follow_the_labels...
 6 not by colour alone       test_a_mark_can_be_told_without_colour; relabelled at once: the test of 5
 7 no target sentence        the test of 5
 8 grades with their names   test_the_bar_says..., K test_pairs_are_judged..., S test_grades_are_stored...
 9 facet and definition      test_the_bar_says_what_to_judge_and_how_far
10 guidelines                test_the_guidelines_open_on_entering..., S test_the_adjudicators_page..., F
11 progress                  test_the_bar_says_what_to_judge_and_how_far
12 keys                      K (each screen from end to end, on two laptops), S test_every_control_has_a_key...,
                             S test_a_key_means_the_same..., F; test_a_grade_or_a_reason...; the test of 5
13 light and dark            test_everything_can_be_read_in_light_and_dark, test_the_labels_of_an_abstract...
14 blindness                 test_nothing_of_others..., test_the_adjudicator_sees..., story/test_repeats (keys of tasks)

Two things no labelling configuration can have in Label Studio 1.23.2: it hears Ctrl+Enter only where no field of text
has the focus, so Enter comes first in a comment (12); and it builds the whole screen anew for each task, so the query's
column is back at its marks, wherever it had been scrolled to (4)."""

from collections.abc import Iterator
from typing import Any

import pytest
from annot.base.records import PairKey, Paper, Query
from annot.base.settings import CollectionSettings
from annot.base.words import read_words
from annot.labelstudio.screens import instructions_html, lint_tasks, screen_of
from annot.labelstudio.tasks import adjudicate_task, facets_task, judge_task, place_of, returned_task
from browsing import ADJUDICATE, LINES, Screen, corrected, judging, open_screen, stored, stored_labels, too_pale
from fixtures_studio import Studio
from labelling_texts import CANDIDATE, LABELS, QUERY, SCALE, long_text, opinion, task, text

pytestmark = [pytest.mark.studio, pytest.mark.browser]

INSTRUCTIONS = instructions_html(
    ["# Judging\n\nGrade 3: the same method."], scale_names=SCALE, labels=LABELS, language="en", screen="judge"
)
SIZES = [(1280, 720), (1440, 900), (1920, 1080)]


@pytest.fixture(scope="module")
def plain_project(studio: Studio) -> int:
    """Tasks of ordinary length that tests look at and leave alone."""
    studio.account("colleague")
    return judging(studio, [task(1, query=long_text(QUERY, 15), candidate=long_text(CANDIDATE, 15))])


@pytest.fixture(scope="module")
def plain_screen(studio: Studio, signed_in: Any, plain_project: int) -> Iterator[Screen]:
    """The first of them, on a laptop."""
    with open_screen(studio, signed_in, plain_project) as screen:
        yield screen


def test_the_whole_window_is_for_the_pair(plain_screen: Screen) -> None:
    screen = plain_screen
    for size in SIZES:
        screen.resize(size)
        boxes = screen.boxes
        assert not screen.page.locator(".lsf-tabs-panel").first.is_visible()
        assert boxes["query_side"]["right"] <= boxes["cand_side"]["left"]
        assert boxes["cand_side"]["right"] - boxes["query_side"]["left"] >= 0.94 * size[0]
        assert abs(boxes["query_side"]["width"] - boxes["cand_side"]["width"]) < 2
        assert boxes["query"]["top"] == boxes["cand"]["top"] <= 220
        for name in ("facet", "help", "progress", "grades", "query_title", "cand_title", "comment", "submit"):
            assert boxes[name]["top"] >= 0, name
            assert boxes[name]["bottom"] <= size[1], name
        assert boxes["comment"]["bottom"] <= boxes["view"]["bottom"]  # Label Studio cuts off what is below
        for side in ("query", "cand"):
            lines = screen.page.evaluate(LINES, side)
            assert sum(line["seen"] for line in lines) >= 12
            assert max(line["letters"] for line in lines) <= 95
            assert min(line["size"] for line in lines) >= 16
            assert all(1.4 <= line["height"] / line["size"] <= 1.6 for line in lines)


def test_a_grade_or_a_reason_is_asked_for_and_cannot_judge_replaces_the_grade(studio: Studio, signed_in: Any) -> None:
    project = judging(studio, [task(1), task(2)])
    with open_screen(studio, signed_in, project) as screen:
        assert not screen.page.locator(".a-reasons").is_visible()
        assert screen.page.get_by_text("Skip", exact=True).count() == 0
        assert "Give a grade, or say that you cannot judge" in screen.refused()
        screen.choose("1", "1")
        screen.choose("c", "cannot judge")
        screen.page.locator(".a-reasons").wait_for()
        assert "Say why this pair cannot be judged" in screen.refused()
        screen.choose("f", "outside my field")
        screen.submit()
        screen.choose("c", "cannot judge")
        screen.choose("e", "not in English")
        screen.choose("3", "3")
        screen.page.locator(".a-reasons").wait_for(state="hidden")
        screen.submit_last()
    assert [(r.grade, r.cannot_judge, r.flags) for r in stored(studio, project)] == [
        (None, "outside my field", ()),
        (3, None, ()),
    ]


def test_marks_follow_the_labels_and_corrections_leave_the_grade_as_it_is(studio: Studio, signed_in: Any) -> None:
    """Sentences of the facet alone; none of them; sentences that were chosen; a label that is deleted."""
    without = text(CANDIDATE.title, CANDIDATE.sentences, ("background", "other", "result"))
    tasks = [task(1, facet="background"), task(2, candidate=without), task(3, query_sentences=(1, 4)), task(4)]
    project = judging(studio, tasks)
    with open_screen(studio, signed_in, project) as screen:
        assert screen.marked() == [QUERY.sentences[0], QUERY.sentences[1], CANDIDATE.sentences[0]]
        tags = [mark["tag"] for mark in screen.marks]
        assert tags == [*QUERY.labels, *CANDIDATE.labels]
        screen.choose("2", "2")
        screen.page.click(".a-cand p:nth-child(3) .htx-highlight")
        screen.press("b")
        screen.page.wait_for_selector('.a-cand p:nth-child(3) [data-label$="background"]')
        assert screen.marked()[-1] == CANDIDATE.sentences[2]
        screen.page.click(".a-query p:nth-child(1) .htx-highlight")
        screen.press("x")
        screen.page.wait_for_selector('.a-query p:nth-child(1) [data-label$="other"]')
        assert screen.marked() == [QUERY.sentences[1], CANDIDATE.sentences[0], CANDIDATE.sentences[2]]
        screen.submit()
        notes = screen.page.locator(".a-none")
        assert notes.nth(1).is_visible()
        assert notes.nth(1).inner_text() == "No sentence here is labelled method."
        assert not notes.nth(0).is_visible()
        screen.choose("1", "1")
        screen.page.click(".a-cand p:nth-child(2) .htx-highlight")
        screen.press("m")
        notes.nth(1).wait_for(state="hidden")
        screen.submit()
        assert screen.marked() == [QUERY.sentences[1], QUERY.sentences[4], CANDIDATE.sentences[1]]
        assert not notes.first.is_visible()
        screen.choose("0", "0")
        screen.submit()
        screen.choose("2", "2")
        screen.page.click(".a-cand p:nth-child(2) .htx-highlight")
        screen.press("Backspace")
        screen.page.wait_for_selector(".a-cand p:nth-child(2) .htx-highlight", state="detached")
        screen.submit_last()
    readings = stored(studio, project)
    assert [(reading.grade, reading.flags) for reading in readings] == [(2, ()), (1, ()), (0, ()), (2, ())]
    assert corrected(readings[0]) == ["cand-2", "query-0"]
    labels = stored_labels(readings[0])
    assert (labels["cand-2"], labels["query-0"]) == ("background", "other")
    assert "cand-1" not in stored_labels(readings[3])


def test_the_guidelines_open_on_entering_and_again_without_losing_the_grade(studio: Studio, signed_in: Any) -> None:
    project = judging(studio, [task(1), task(2)], instructions=INSTRUCTIONS)
    with open_screen(studio, signed_in, project) as screen:
        page = screen.page.locator(".lsf-modal-ls__body")
        page.wait_for()
        assert "Grade 3: the same method." in page.inner_text()
        assert "Near-identical" in page.inner_text()
        assert page.inner_text().index("Judging") < page.inner_text().index("Keys")
        screen.close_instructions()
        screen.choose("2", "2")
        screen.page.get_by_role("button", name="Instructions").click()
        screen.close_instructions()
        assert screen.page.locator('.annot input[name="2"]').is_checked()
        screen.submit()
    assert [reading.grade for reading in stored(studio, project)] == [2]


def test_everything_can_be_read_in_light_and_dark(studio: Studio, signed_in: Any) -> None:
    without = text(CANDIDATE.title, CANDIDATE.sentences, ("background", "other", "result"))
    project = judging(studio, [task(1, candidate=without)])
    with open_screen(studio, signed_in, project, theme="Dark") as screen:
        assert screen.page.evaluate("document.documentElement.dataset.colorScheme") == "dark"
        screen.choose("c", "cannot judge")
        screen.page.locator(".a-reasons").wait_for()
        for theme in ("dark", "light"):
            contrasts = screen.contrasts(theme)
            assert {name.split()[0] for name, _ in contrasts} == {"text", "tag", "mark", "border"}
            assert too_pale(contrasts) == []


def test_nothing_of_others_or_of_the_model_is_on_the_screen(plain_screen: Screen, plain_project: int) -> None:
    seen = plain_screen.page.locator("body").inner_text()
    assert "sentence-labels" not in seen
    assert "colleague" not in seen
    assert not plain_screen.page.locator("a[href$='/settings']").first.is_visible()
    assert f"/projects/{plain_project}/data?labeling=1" in plain_screen.page.url


def test_the_adjudicator_sees_both_opinions_and_settles_with_keys(studio: Studio, signed_in: Any) -> None:
    opinions = [opinion(1, None, None), opinion(3, None, "The lattice and the collars do the same work.")]
    texts = {"query": long_text(QUERY, 9), "candidate": long_text(CANDIDATE, 9)}
    tasks = [adjudicate_task(task(number, **texts), opinions, scale_names=SCALE) for number in (1, 2)]
    with studio.gateway() as gateway:
        project = studio.project(gateway, ADJUDICATE, tasks)
    with open_screen(studio, signed_in, project, (1280, 720)) as screen:
        boxes = screen.boxes
        assert boxes["query"]["top"] == boxes["cand"]["top"] <= 270
        for side in ("query", "cand"):
            assert sum(line["seen"] for line in screen.page.evaluate(LINES, side)) >= 12
        for name in ("opinions", "grades", "differences", "comment", "submit"):
            assert boxes[name]["top"] >= 0, name
            assert boxes[name]["bottom"] <= 720, name
        shown = [" ".join(text.split()) for text in screen.page.locator(".a-opinion").all_inner_texts()]
        assert shown == [
            "Judge A: 1 Related no comment",
            "Judge B: 3 Near-identical The lattice and the collars do the same work.",
        ]
        assert screen.page.locator(".annot input:checked").count() == 0
        screen.choose("2", "2")
        screen.choose("k", "another aspect of the facet")
        screen.submit()
    (reading,) = stored(studio, project)
    assert (reading.grade, reading.settled_by, reading.flags) == (2, "another aspect of the facet", ())


def test_the_labels_of_an_abstract_fill_the_window(studio: Studio, signed_in: Any) -> None:
    made = facets_task("fic1/labels", long_text(QUERY, 20), progress="1 of 1")
    project = judging(
        studio, [made], screen=screen_of("facets", scale_names=SCALE, labels=LABELS, language="en", overrides=None)
    )
    with open_screen(studio, signed_in, project, (1280, 720), text=".a-query") as screen:
        boxes = screen.boxes
        assert not screen.page.locator(".lsf-tabs-panel").first.is_visible()
        assert boxes["query_side"]["width"] >= 0.94 * 1280
        assert boxes["query"]["top"] <= 220
        for name in ("facet", "help", "progress", "query_title", "comment", "submit"):
            assert boxes[name]["top"] >= 0, name
            assert boxes[name]["bottom"] <= 720, name
        lines = screen.page.evaluate(LINES, "query")
        assert sum(line["seen"] for line in lines) >= 12
        assert [mark["tag"] for mark in screen.marks] == list(long_text(QUERY, 20).labels or ())
        assert screen.marked() == []
        for theme in ("light", "dark"):
            assert too_pale(screen.contrasts(theme)) == []


def test_the_reason_of_a_returned_pair_stands_above_both_columns(studio: Studio, signed_in: Any) -> None:
    """And takes nothing away: labels, marks and the columns' own scrolling are as without it."""
    plain = task(1, query=long_text(QUERY), candidate=long_text(CANDIDATE))
    why = "Look at the last sentence <of the candidate>: whose method is it? " * 4
    project = judging(studio, [returned_task(plain, why.strip())])
    with open_screen(studio, signed_in, project) as screen:
        banner = screen.page.locator(".a-returned")
        assert "Please judge this pair once more. Look at the last sentence <of the candidate>" in banner.inner_text()
        for size in SIZES[:2]:
            screen.resize(size)
            box, boxes = banner.bounding_box(), screen.boxes
            for side in ("query_side", "cand_side"):
                assert boxes["grades"]["bottom"] <= box["y"]
                assert box["y"] + box["height"] <= boxes[side]["top"]
                assert boxes[side]["bottom"] <= boxes["comment"]["top"]
                assert boxes[side]["height"] >= 250
            assert boxes["query_side"]["left"] - 1 <= box["x"] <= boxes["query_side"]["left"] + 1
            assert box["x"] + box["width"] >= boxes["cand_side"]["right"] - 1
        wanted = [s for text in (QUERY, CANDIDATE) for s in long_text(text).sentences if "method" in labelled(text, s)]
        assert screen.marked() == wanted
        assert screen.page.evaluate(
            "() => [...document.querySelectorAll('.a-text')].every(e => e.scrollHeight > e.clientHeight + 4)"
        )


def labelled(paper: Any, sentence: str) -> str:
    return str(paper.labels[paper.sentences.index(sentence)])


# -- texts from right to left, and words in another language -----------------------------------------------------------


TITLE = "فرز الفطر بالرائحة بواسطة شبكة من الأنوف الصغيرة"
SENTENCES = (
    "لا تزال قوائم الغابات تعتمد على أشخاص يعرفون كل فطر بالنظر.",
    "نسأل هل تكفي الرائحة وحدها لتمييز الأنواع الصالحة للأكل.",
    "رُتّب أربعون مستشعرًا رخيصًا في شبكة، ويصوّت كل منها مع جيرانه (BERT 2019).",
    "جُمعت الأصوات بغابة قرار صغيرة دُرّبت على 3,100 شمّة.",
    "على اثني عشر نوعًا أخطأت الشبكة في 4.1 بالمئة من العينات.",
)
"""In a collection whose language is English."""
MARKS = ("background", "objective", "method", "method", "result")
WORDS = read_words("de", overrides=None)
DIRECTION = "selector => getComputedStyle(document.querySelector(selector)).direction"


def pairs() -> list[dict[str, Any]]:
    """Three tasks of one query."""
    topic = Paper("p", TITLE, SENTENCES, labels=MARKS)
    return [
        judge_task(
            question=PairKey("q", f"d{number}"),
            query=Query("q", "p", "method", (2, 3)),
            topic=topic,
            document=Paper(f"d{number}", TITLE, SENTENCES * 3, labels=MARKS * 3),
            facet_help=SENTENCES[2][:140],
            facet_labels=("method",),
            progress=place_of(
                topic, WORDS, position=number, count=3, topics=1, documents=number, of_topic=3, last=number == 3
            ),
            first=number == 1,
            fold_after=20,
            mark_terms=False,
            words=WORDS,
            collection=CollectionSettings(language="en"),
        )
        for number in (1, 2, 3)
    ]


def test_a_pair_in_another_script_is_judged_in_the_words_of_the_person(studio: Studio, signed_in: Any) -> None:
    screen_xml = screen_of("judge", scale_names=SCALE, labels=LABELS, language="en", overrides=None, words=WORDS)
    tasks = pairs()
    lint_tasks(tasks, screen="judge", labels=LABELS, private=(), words=WORDS)
    project = judging(studio, tasks, screen=screen_xml)
    with open_screen(studio, signed_in, project, (1280, 720)) as screen:
        page, boxes = screen.page, screen.boxes
        for selector in (".a-query h2", ".a-query p.a-hit", ".a-cand p.a-s"):
            assert page.evaluate(DIRECTION, selector) == "rtl", selector
        assert {part.get_attribute("lang") for part in page.locator(".a-text p").all()} == {"ar"}
        assert boxes["query"]["top"] == boxes["cand"]["top"] <= 220
        for name in ("help", "progress", "grades", "query_title", "cand_title", "comment", "submit"):
            assert 0 <= boxes[name]["top"] <= boxes[name]["bottom"] <= 720, name
        assert page.locator(".a-query h2 span").inner_text().lower() == WORDS("task.query").lower()
        assert len(screen.marked()) == 2 + 6
        screen.choose("2", "2")
        screen.submit()
        page.locator(".a-cand p.a-s .htx-highlight").first.click()
        labels = page.locator(".a-foot .lsf-label").all_inner_texts()
        assert [WORDS.name(label) in text for label, text in zip(LABELS, labels, strict=True)] == [True] * 5
        screen.press("Escape")
        screen.press("c")
        reason = page.locator(".a-reasons .ant-radio-wrapper").nth(2)
        reason.wait_for()
        assert reason.inner_text().startswith(WORDS.choice("outside my field"))
        screen.press("f")
        screen.submit()
    grade, cannot_judge = stored(studio, project)
    assert (grade.grade, grade.flags) == (2, ())
    assert (cannot_judge.cannot_judge, cannot_judge.flags) == ("outside my field", ())
