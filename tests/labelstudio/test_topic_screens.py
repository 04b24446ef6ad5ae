"""The screens of pairs that are judged whole, in a real browser: topic left, document right, and what is folded.

What a screen must hold has its numbers in `test_screen_in_browser`: 1-3, 8, 9 (the definition alone), 11-14 are proved
here; 4 as far as columns scroll; 5 to 7 are of facets only.
"""

from typing import Any

import pytest
from annot.labelstudio.tasks import adjudicate_task
from browsing import LINES, PLAIN, judging, open_screen, stored, strike, too_pale
from fixtures_studio import Studio
from labelling_texts import CANDIDATE, SCALE, long_text, opinion
from topic_texts import ADJUDICATE, HELP, JUDGE, TOPIC, whole_task

pytestmark = [pytest.mark.studio, pytest.mark.browser]

OPEN = "name => document.querySelector(`.a-${name}`).open"
LONG = long_text(CANDIDATE, 30)


def test_a_document_is_read_and_judged_by_keys_beside_a_topic_with_a_long_narrative(
    studio: Studio, signed_in: Any
) -> None:
    size = (1280, 720)
    assert len((TOPIC.narrative or "").split()) >= 200
    shown = {"document": LONG, "fold_after": 300, "mark_terms": True}
    project = judging(studio, [whole_task(1, opened=True, **shown), whole_task(2, **shown)], screen=JUDGE)
    with open_screen(studio, signed_in, project, size, text=PLAIN) as screen:
        page, boxes = screen.page, screen.boxes
        assert boxes["cand_side"]["right"] - boxes["query_side"]["left"] >= 0.94 * size[0]
        assert boxes["query"]["top"] == boxes["cand"]["top"] <= 220
        for name in ("help", "progress", "grades", "query_title", "cand_title", "comment", "submit"):
            assert 0 <= boxes[name]["top"] <= boxes[name]["bottom"] <= size[1], name
        for side in ("query", "cand"):
            seen = [line for line in page.evaluate(LINES, side) if line["seen"]]
            assert len(seen) >= 12
            assert max(line["letters"] for line in seen) <= 95
            assert min(line["size"] for line in seen) >= 16
            assert all(1.4 <= line["height"] / line["size"] <= 1.6 for line in seen)
        assert page.locator(".a-facet h4:visible").all_inner_texts() == [HELP, "1 of 3 · topic 1, document 1 of 3"]
        words = [one.inner_text().upper() for one in page.locator("h2 span").all()]
        assert words == ["TOPIC", "DOCUMENT"]
        assert page.locator(".a-labels").count() == 0
        marked = {one.lower() for one in page.locator("mark").all_text_contents()}
        assert marked == {"truffle", "hounds", "find", "metres"}
        assert "of forests" not in page.locator("body").inner_text()
        for theme in ("dark", "light"):
            assert too_pale(screen.contrasts(theme)) == []
        assert page.evaluate(OPEN, "narrative"), "the first time"
        assert not page.evaluate(OPEN, "rest")
        assert (
            page.locator(".a-rest summary").inner_text() == "The rest of the document: 87 words"
        )  # 10 + 17 + 11 words each time: 293 of 380 within 300
        strike(page, "n", alt=True)
        page.wait_for_selector(".a-narrative:not([open])")
        strike(page, "m", alt=True)
        page.wait_for_selector(".a-rest[open]")
        screen.press("End")
        page.wait_for_function("() => document.querySelector('.a-cand .a-text').scrollTop > 0")
        assert page.locator(".a-rest p").last.is_visible()
        screen.choose("2", "2")
        screen.submit()
        assert not page.evaluate(OPEN, "narrative"), "later"
        strike(page, "n", alt=True)
        page.wait_for_selector(".a-narrative[open]")
    (reading,) = stored(studio, project)
    assert (reading.grade, reading.flags) == (2, ())
    assert len(reading.payload["result"]) == 1


def test_a_pair_judged_whole_is_settled_by_keys(studio: Studio, signed_in: Any) -> None:
    opinions = [opinion(1, None, None), opinion(3, None, "It names the metres.")]
    tasks = [adjudicate_task(whole_task(n, opened=True, document=LONG), opinions, scale_names=SCALE) for n in (1, 2)]
    project = judging(studio, tasks, screen=ADJUDICATE)
    with open_screen(studio, signed_in, project, (1280, 720), text=PLAIN) as screen:
        boxes = screen.boxes
        assert boxes["query"]["top"] == boxes["cand"]["top"] <= 270
        assert sum(line["seen"] for line in screen.page.evaluate(LINES, "cand")) >= 12
        for name in ("opinions", "grades", "differences", "comment", "submit"):
            assert 0 <= boxes[name]["top"] <= boxes[name]["bottom"] <= 720, name
        screen.choose("1", "1")
        screen.choose("k", "topic read differently")
        screen.submit()
    (reading,) = stored(studio, project)
    assert (reading.grade, reading.settled_by, reading.flags) == (1, "topic read differently", ())
