"""A screen with texts from right to left and words in another language, in a real browser."""

from typing import Any

import pytest
from annot.base.records import PairKey, Paper, Query
from annot.base.settings import CollectionSettings
from annot.base.words import read_words
from annot.labelstudio.screens import lint_tasks, screen_of
from annot.labelstudio.tasks import judge_task, place_of
from browsing import judging, open_screen, stored
from fixtures_studio import Studio
from labelling_texts import LABELS, SCALE

pytestmark = [pytest.mark.studio, pytest.mark.browser]

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
