"""The screens of training and of the sub-study in a real browser: what is seen, what a link does, what keys do."""

from collections.abc import Iterator
from typing import Any

import pytest
from annot.labelstudio.screens import screen_of
from annot.labelstudio.tasks import feedback_task, full_text_task
from browsing import strike
from fixtures_studio import Studio, written
from labelling_texts import CANDIDATE, LABELS, QUERY, SCALE, opinion, task

pytestmark = [pytest.mark.studio, pytest.mark.browser]


@pytest.fixture
def page(signed_in: Any) -> Iterator[Any]:
    """A page of an assessor who has signed in, on a small screen."""
    page = signed_in.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    yield page
    page.close()


def opened(studio: Studio, page: Any, screen: str, tasks: list[dict[str, Any]]) -> int:
    with studio.gateway() as gateway:
        project = studio.project(gateway, screen, tasks)
        page.goto(gateway.labelling_url(project))
    page.wait_for_selector(".a-cand p")
    return project


def submit(page: Any) -> None:
    """Submit by key, and wait until the server has it."""
    with written(page):
        page.keyboard.press("Control+Enter")


def wait_for_progress(page: Any, begins: str) -> None:
    """Wait until the next task is there, ready for keys."""
    page.wait_for_function(
        "begins => document.querySelector('.a-facet h4:nth-child(3)')?.textContent.startsWith(begins)", arg=begins
    )
    page.wait_for_selector(".a-cand p")


def test_the_gold_grade_stands_beside_the_own_one_and_one_key_leads_on(studio: Studio, page: Any) -> None:
    tasks = [
        feedback_task(task(number), opinion(1, None, None), gold=3, why="Both pool many votes.", scale_names=SCALE)
        for number in (1, 2)
    ]
    screen = screen_of("feedback", scale_names=SCALE, labels=LABELS, language="en", overrides=None)
    project = opened(studio, page, screen, tasks)
    page.wait_for_selector("button[name=submit]:not([disabled])")
    shown = [" ".join(text.split()) for text in page.locator(".a-opinion").all_inner_texts()]
    assert shown == ["You: 1 Related no comment", "Gold: 3 Near-identical Both pool many votes."]
    assert page.locator(".a-grades").count() == 0
    assert page.locator(".annot input[type=radio]").count() == 0
    for name in (".a-opinions", ".a-comment", "button[name=submit]"):
        box = page.locator(name).first.bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 720, name
    page.fill(".a-comment input, .a-comment textarea", "Why not 2?")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-testid=htx-textbox-content]")
    submit(page)
    wait_for_progress(page, "2 of")
    page.wait_for_selector("button[name=submit]:not([disabled])")
    submit(page)
    with studio.gateway() as gateway:
        answers = [one for pulled in gateway.pull(project) for one in pulled.annotations]
    assert len(answers) == 2
    assert [item["value"]["text"] for one in answers for item in one["result"] if item["from_name"] == "comment"] == [
        ["Why not 2?"]
    ]


def test_a_full_text_opens_beside_the_screen_and_the_pair_is_judged_there(studio: Studio, page: Any) -> None:
    link = f"{studio.url}/static/images/opossum_looking.svg?a=1&b=2"
    query, candidate = (
        type(paper)(name, paper.title, paper.sentences, labels=paper.labels)
        for name, paper in (("fic1", QUERY), ("fic101", CANDIDATE))
    )
    tasks = [
        full_text_task(
            task(number), query, candidate, {"fic1": link, "fic101": "Folder 3/truffles.pdf"}, facet="method"
        )
        for number in (1, 2)
    ]
    screen = screen_of("full-text", scale_names=SCALE, labels=LABELS, language="en", overrides=None)
    project = opened(studio, page, screen, tasks)
    text = page.locator(".a-pair").inner_text()
    assert "Folder 3/truffles.pdf" in text
    assert link in text
    assert not [one for one in (*QUERY.sentences, *CANDIDATE.sentences) if one in text]
    assert page.locator(".a-none").first.is_visible()
    assert not page.locator(".a-labels").is_visible()
    assert page.locator("button[name=submit]").is_disabled()
    keys = "side => getComputedStyle(document.querySelector(`.a-${side} h2 span`), '::after').content"
    assert [page.evaluate(keys, side) for side in ("query", "cand")] == ['"Alt+Q"', "none"], "a file has no key"
    for opens in (lambda: page.click(".a-query a"), lambda: strike(page, "q", alt=True)):
        with page.context.expect_page() as popup:
            opens()
        popup.value.wait_for_url(lambda at: at == link)
        assert popup.value.evaluate("window.opener") is None
        popup.value.close()
        page.bring_to_front()
    page.keyboard.press("2")
    page.wait_for_selector('.annot input[name="2"]:checked', state="attached")
    submit(page)
    wait_for_progress(page, "2 of")
    with studio.gateway() as gateway:
        (answer,) = [one for pulled in gateway.pull(project) for one in pulled.annotations]
    assert [item["value"] for item in answer["result"]] == [{"choices": ["2"]}]
