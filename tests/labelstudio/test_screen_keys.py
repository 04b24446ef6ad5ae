"""The screens by keyboard alone: reading, grading, commenting and submitting, at the sizes of laptops."""

from typing import Any

import pytest
from annot.base.words import ENGLISH
from annot.labelstudio.tasks import LAST, adjudicate_task
from browsing import ADJUDICATE, Screen, corrected, followed_link, judging, stored
from fixtures_studio import Studio
from labelling_texts import CANDIDATE, QUERY, SCALE, long_text, opinion, task

pytestmark = [pytest.mark.studio, pytest.mark.browser]

LAPTOPS = [(1280, 720), (1440, 900)]
READ_FIRST = "<h1>Read this first</h1>"


def scroll_by_keys(screen: Screen, letter: str, name: str) -> None:
    """A column to its end and to its beginning by the keys that browsers scroll with."""
    screen.strike(letter, alt=True)
    assert screen.focus == name
    screen.press("PageDown")
    screen.page.wait_for_function(f"() => document.querySelector('.a-{name} .a-text').scrollTop > 150")
    screen.press("End")
    screen.page.wait_for_function(
        f"() => {{ const text = document.querySelector('.a-{name} .a-text');"
        " return text.scrollTop + text.clientHeight >= text.scrollHeight - 2; }"
    )
    screen.press("Home")
    screen.page.wait_for_function(f"() => document.querySelector('.a-{name} .a-text').scrollTop === 0")


def read_by_keys(screen: Screen) -> None:
    """Both columns, while the other stays where it is."""
    for place, (letter, name) in enumerate([("q", "query"), ("c", "cand")]):
        others = screen.tops[1 - place]
        scroll_by_keys(screen, letter, name)
        assert screen.tops[1 - place] == others


def last(made: dict[str, Any]) -> dict[str, Any]:
    """The task as the last of a person's."""
    progress = made["data"]["progress"].replace(" ·", f"{ENGLISH(LAST)} ·", 1)
    return {**made, "data": {**made["data"], "progress": progress}}


def go_back_and_on(studio: Studio, screen: Screen, project: int) -> None:
    """Change the pair before; Label Studio stays there, the screen names the key that leads on, and it does."""
    on = screen.progress
    screen.change_the_one_before("3", "3")
    assert screen.progress.startswith("1 of ")
    hint = "e => getComputedStyle(e.querySelector('span'), '::after').content"
    assert "F5" in screen.page.locator("[data-testid=bottombar-update-button]").evaluate(hint)
    with studio.gateway() as gateway:  # as `annot pull` does once there is an answer
        gateway.open_instructions(project, False)
    screen.page.reload()
    screen.settle()
    assert screen.progress == on
    assert screen.page.locator(".lsf-modal-ls__body").count() == 0


def test_an_assessors_whole_way_by_keys(studio: Studio, chromium: Any) -> None:
    """The letter's link, signing in, instructions, reading, comments, going back, the last pair, on two laptops."""
    texts = {"query": long_text(QUERY, 30), "candidate": long_text(CANDIDATE, 30)}
    tasks = [task(number, of=3, **texts) for number in (1, 2, 3)]
    project = judging(studio, [*tasks[:2], last(tasks[2])], instructions=READ_FIRST)
    with followed_link(studio, chromium, project, LAPTOPS[0]) as screen:
        screen.close_instructions()
        read_by_keys(screen)
        screen.choose("2", "2")
        for key, places in (("Shift+Tab", ["cand", "comment"]), ("Tab", ["cand", "cand", "query", "query"])):
            for place in places:
                screen.press(key)
                assert screen.focus == place
        screen.submit()
        go_back_and_on(studio, screen, project)
        screen.page.set_viewport_size({"width": LAPTOPS[1][0], "height": LAPTOPS[1][1]})

        # A key opens the comment, also right after a submission; Enter keeps it, and Ctrl+Enter submits.
        screen.choose("1", "1")
        screen.press("Tab")
        assert screen.focus == "comment"
        screen.page.keyboard.type("3 of them are close")
        screen.press("Enter")
        screen.page.wait_for_selector("[data-testid=htx-textbox-content]")
        assert screen.progress.startswith("2 of ")
        screen.submit()

        assert screen.progress.startswith("3 of 3, the last for now")

        # Left unfinished in the box, the comment goes with the pair all the same.
        screen.choose("0", "0")
        screen.press("Tab")
        screen.page.keyboard.type("not finished")
        screen.press("Tab")
        assert screen.focus == "cand"
        read_by_keys(screen)
        screen.submit_last()
        screen.page.wait_for_selector("text=No More Tasks Left in Queue")
    readings = stored(studio, project)
    assert [(reading.grade, reading.comment) for reading in readings] == [
        (3, None),
        (1, "3 of them are close"),
        (0, "not finished"),
    ]
    assert all(corrected(reading) == [] and reading.flags == () for reading in readings)


def test_an_adjudicators_whole_way_by_keys(studio: Studio, chromium: Any) -> None:
    """The letter's link, signing in, instructions, both opinions, a reason, going back, the last pair, two laptops."""
    opinions = [opinion(0, None, None), opinion(3, None, "Both are lattices.")]
    texts = {"query": long_text(QUERY, 30), "candidate": long_text(CANDIDATE, 30)}
    pairs = [task(1, of=2, **texts), last(task(2, of=2, **texts))]
    tasks = [adjudicate_task(pair, opinions, scale_names=SCALE) for pair in pairs]
    project = judging(studio, tasks, screen=ADJUDICATE, instructions=READ_FIRST)
    with followed_link(studio, chromium, project, LAPTOPS[0]) as screen:
        screen.close_instructions()
        read_by_keys(screen)
        screen.choose("1", "1")
        screen.choose("g", "guideline gap")
        screen.press("Shift+Tab")
        screen.press("Shift+Tab")
        assert screen.focus == "comment"
        screen.page.keyboard.type("Neither saw the second aspect.")
        screen.press("Enter")
        screen.page.wait_for_selector("[data-testid=htx-textbox-content]")
        screen.submit()
        go_back_and_on(studio, screen, project)
        screen.page.set_viewport_size({"width": LAPTOPS[1][0], "height": LAPTOPS[1][1]})
        read_by_keys(screen)
        assert screen.progress.startswith("2 of 2, the last for now")
        screen.choose("c", "cannot judge")
        screen.choose("t", "text missing or broken")
        screen.submit_last()
    first, second = stored(studio, project)
    assert (first.grade, first.settled_by) == (3, "guideline gap")
    assert first.comment == "Neither saw the second aspect."
    assert (second.grade, second.cannot_judge, second.settled_by) == (None, "text missing or broken", None)
