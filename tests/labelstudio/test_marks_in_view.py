"""What is in view when a pair opens: the marked sentences of real pairs, task after task, in older browsers too."""

from pathlib import Path
from typing import Any

import marks_in_view
import pytest
from browsing import JUDGE, LINES, judging, open_screen
from fixtures_studio import Studio
from labelling_texts import CANDIDATE, QUERY, long_text, task

pytestmark = [pytest.mark.studio, pytest.mark.browser]

SMALL = (1280, 720)
LAPTOP = (1440, 757)
LATE = ("background",) * 12 + ("method",) * 2 + ("result",) * 16
EVERY = 29
"""Of the 10,593 pairs; pools have up to 300 candidates."""

FIRST_MARKS = """() => ['query', 'cand'].map(side => {
    const box = document.querySelector(`.a-${side} .a-text`).getBoundingClientRect();
    const first = document.querySelector(`.a-${side} .a-hit`).getBoundingClientRect();
    return first.top >= box.top && first.bottom <= box.bottom;
})"""


def test_the_marked_sentences_of_real_pairs_are_in_view_on_lines_of_at_most_95_characters(
    studio: Studio, signed_in: Any, shared: Path
) -> None:
    tasks = marks_in_view.release_tasks(shared / "csfcube")[::EVERY]
    project = judging(studio, tasks[:1])
    with open_screen(studio, signed_in, project, SMALL) as screen:
        small = marks_in_view.opened(screen.page, tasks)
        assert small.keys() == {"all", "background", "method", "result"}
        assert small["all"].pairs == len(tasks) > 350
        assert small["all"].out_of_view <= 0.12 * len(tasks)
        assert small["all"].unscrolled >= 2 * small["all"].out_of_view  # the columns are too short for the texts
        screen.page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
        assert marks_in_view.opened(screen.page, tasks)["all"].out_of_view <= 0.07 * len(tasks)
        screen.resize((1920, 1080))
        put = "html => { document.querySelector('.annot .a-pair').parentElement.innerHTML = html; }"
        for shown in tasks[::15]:
            screen.page.evaluate(put, shown["data"]["pair_html"])
            for side in ("query", "cand"):
                lines = screen.page.evaluate(LINES, side)
                assert max(line["letters"] for line in lines) <= 95
                assert min(line["size"] for line in lines) >= 16


def test_each_task_opens_at_its_marks_and_the_query_where_it_was(studio: Studio, signed_in: Any) -> None:
    query = long_text(QUERY, len(LATE), labels=LATE)
    late, early = long_text(CANDIDATE, len(LATE), labels=LATE), long_text(CANDIDATE, len(LATE))
    candidates = [late, early, late]
    project = judging(studio, [task(at, query=query, candidate=text) for at, text in enumerate(candidates, start=1)])
    with open_screen(studio, signed_in, project, SMALL) as screen:
        opened = screen.tops
        assert min(opened) > 200
        assert screen.page.evaluate(FIRST_MARKS) == [True, True]

        # The columns scroll on their own, and the bar, the grades and the foot stay.
        screen.page.hover(".a-cand .a-text")
        screen.page.mouse.wheel(0, 3000)
        screen.page.wait_for_function("top => document.querySelector('.a-cand .a-text').scrollTop > top", arg=opened[1])
        screen.page.mouse.wheel(0, -9000)
        screen.page.wait_for_function("() => document.querySelector('.a-cand .a-text').scrollTop === 0")
        assert screen.tops[0] == opened[0]
        boxes = screen.boxes
        assert screen.page.evaluate("() => [scrollY, document.querySelector('.lsf-main-view').scrollTop]") == [0, 0]
        for name in ("facet", "grades", "comment", "submit"):
            assert boxes[name]["top"] >= 0, name
            assert boxes[name]["bottom"] <= SMALL[1], name

        # Correcting a label moves no text under the reader's eyes.
        screen.page.click(".a-cand p:nth-child(3) .htx-highlight")
        screen.press("m")
        screen.page.wait_for_selector('.a-cand p:nth-child(3) [data-label$="method"]')
        assert screen.tops == [opened[0], 0]

        screen.choose("1", "1")
        screen.submit()
        assert screen.tops[0] == opened[0]  # the same query: where it was when the last task opened
        assert screen.page.evaluate(FIRST_MARKS) == [True, True]
        screen.choose("1", "1")
        screen.submit()
        assert screen.tops == opened


def test_a_browser_without_an_initial_target_opens_at_the_marks_too(studio: Studio, signed_in: Any) -> None:
    older = JUDGE.replace("@supports not (scroll-initial-target: nearest)", "@supports (display: grid)")
    for known in ("nearest", "none"):
        older = older.replace(f"scroll-initial-target: {known};", "")
    assert "scroll-initial-target" not in older
    text = long_text(QUERY, len(LATE), labels=LATE)
    project = judging(studio, [task(1, query=text, candidate=text), task(2, query=text, candidate=text)], screen=older)
    with open_screen(studio, signed_in, project, SMALL) as screen:
        for number in (1, 2):
            assert screen.progress.startswith(f"{number} of ")
            assert min(screen.tops) > 200
            assert screen.page.evaluate(FIRST_MARKS) == [True, True]
            # Once open, it lets go: a reader may scroll anywhere.
            screen.page.wait_for_function("() => document.getAnimations().every(one => one.animationName !== 'a-open')")
            screen.page.hover(".a-query .a-text")
            screen.page.mouse.wheel(0, -37)
            opened = screen.tops[0]
            screen.page.mouse.wheel(0, -9000)
            screen.page.wait_for_function("() => document.querySelector('.a-query .a-text').scrollTop === 0")
            assert opened > 0
            screen.choose("1", "1")
            if number == 1:
                screen.submit()
