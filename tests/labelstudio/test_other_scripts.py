"""Screens with texts in other scripts and words in other languages, in a real browser.

ANNOT_PICTURES=FOLDER runs all scripts and screens and keeps a picture of each.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import WHOLE, PairKey, Paper, Query, Topic
from annot.base.settings import CollectionSettings
from annot.base.words import read_words
from annot.labelstudio.screens import lint_tasks, screen_of
from annot.labelstudio.tasks import judge_task, place_of
from browsing import judging, open_screen, stored
from fixtures_studio import Studio
from labelling_texts import LABELS, SCALE

pytestmark = [pytest.mark.studio, pytest.mark.browser]

PICTURES = os.environ.get("ANNOT_PICTURES")
TEXTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "ar": (
        "de",
        "فرز الفطر بالرائحة بواسطة شبكة من الأنوف الصغيرة",
        (
            "لا تزال قوائم الغابات تعتمد على أشخاص يعرفون كل فطر بالنظر.",
            "نسأل هل تكفي الرائحة وحدها لتمييز الأنواع الصالحة للأكل.",
            "رُتّب أربعون مستشعرًا رخيصًا في شبكة، ويصوّت كل منها مع جيرانه (BERT 2019).",
            "جُمعت الأصوات بغابة قرار صغيرة دُرّبت على 3,100 شمّة.",
            "على اثني عشر نوعًا أخطأت الشبكة في 4.1 بالمئة من العينات.",
        ),
    ),
    "zh": (
        "zh",
        "用小型电子鼻阵列按气味分拣蘑菇",
        (
            "森林清查至今仍依赖凭肉眼认识每种蘑菇的人。",
            "我们想知道仅凭气味能否区分可食用菌与其相似种。",
            "四十个廉价气体传感器排成阵列，每个都与相邻者一起投票。",
            "投票由一个在 3,100 次嗅闻上训练的小型决策森林汇总。",
            "在十二个物种上，该阵列的错误率为 4.1%。",
        ),
    ),
    "hi": (
        "es",
        "छोटी नाकों के जाल से गंध द्वारा मशरूम छाँटना",
        (
            "वनों की सूची आज भी उन लोगों पर निर्भर है जो हर मशरूम को देखकर पहचानते हैं।",
            "हम पूछते हैं कि क्या केवल गंध से खाद्य प्रजातियों को अलग किया जा सकता है।",
            "चालीस सस्ते गैस संवेदक एक जाल में लगाए गए, और हर एक अपने पड़ोसियों के साथ मत देता है।",
            "मतों को 3,100 सूँघों पर प्रशिक्षित एक छोटे निर्णय वन ने जोड़ा।",
            "बारह प्रजातियों पर जाल ने 4.1 प्रतिशत नमूनों में गलती की।",
        ),
    ),
    "de": (
        "de",
        "Pilze am Geruch sortieren mit einem Gitter kleiner Nasen",
        (
            "Waldinventuren verlassen sich noch immer auf Menschen, die jeden Pilz am Aussehen erkennen.",
            "Wir fragen, ob der Geruch allein essbare Arten von ihren Doppelgängern unterscheiden kann.",
            "Vierzig günstige Gassensoren sind in einem Gitter angeordnet, und jeder stimmt mit seinen Nachbarn ab.",
            "Die Stimmen fasst ein kleiner Entscheidungswald zusammen, der mit 3.100 Schnüfflern trainiert wurde.",
            "Bei zwölf Arten irrt das Gitter in 4,1 Prozent der Proben.",
        ),
    ),
}
MARKS = ("background", "objective", "method", "method", "result")
RIGHT_TO_LEFT = "selector => getComputedStyle(document.querySelector(selector)).direction"


def stated(language: str) -> str:
    """Language of the collection: the Arabic papers are in an English one."""
    return "en" if language == "ar" else language


def pairs(language: str, *, whole: bool) -> list[dict[str, Any]]:
    """Three tasks in this language; whole: of a topic that is a text."""
    spoken, title, sentences = TEXTS[language]
    words = read_words(spoken, overrides=None)
    topic: Paper | Topic = Paper("p", title, sentences, labels=MARKS)
    if whole:
        topic = Topic("T1", title, sentences[0], sentences[1])
    return [
        judge_task(
            question=PairKey("q", f"d{number}"),
            query=Query("q", "p", WHOLE if whole else "method", () if whole else (2, 3)),
            topic=topic,
            document=Paper(f"d{number}", title, sentences * 3, labels=MARKS * 3),
            facet_help=sentences[2][:140],
            facet_labels=() if whole else ("method",),
            progress=place_of(
                topic, words, position=number, count=3, topics=1, documents=number, of_topic=3, last=number == 3
            ),
            first=number == 1,
            fold_after=20,
            mark_terms=False,
            words=words,
            collection=CollectionSettings(language=stated(language)),
        )
        for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("language", TEXTS if PICTURES else ["ar"])
def test_a_pair_in_another_script_is_judged_in_the_words_of_the_person(
    studio: Studio, signed_in: Any, language: str
) -> None:
    words = read_words(TEXTS[language][0], overrides=None)
    screen_xml = screen_of(
        "judge", scale_names=SCALE, labels=LABELS, language=stated(language), overrides=None, words=words
    )
    tasks = pairs(language, whole=False)
    lint_tasks(tasks, screen="judge", labels=LABELS, private=(), words=words)
    project = judging(studio, tasks, screen=screen_xml)
    with open_screen(studio, signed_in, project, (1280, 720)) as screen:
        page, boxes = screen.page, screen.boxes
        picture(page, f"judge-{language}")
        direction = "rtl" if language == "ar" else "ltr"
        for selector in (".a-query h2", ".a-query p.a-hit", ".a-cand p.a-s"):
            assert page.evaluate(RIGHT_TO_LEFT, selector) == direction, selector
        assert {part.get_attribute("lang") for part in page.locator(".a-text p").all()} == {language}
        assert boxes["query"]["top"] == boxes["cand"]["top"] <= 220
        for name in ("help", "progress", "grades", "query_title", "cand_title", "comment", "submit"):
            assert 0 <= boxes[name]["top"] <= boxes[name]["bottom"] <= 720, name
        assert page.locator(".a-query h2 span").inner_text().lower() == words("task.query").lower()
        assert len(screen.marked()) == 2 + 6
        screen.choose("2", "2")
        screen.submit()
        page.locator(".a-cand p.a-s .htx-highlight").first.click()
        labels = page.locator(".a-foot .lsf-label").all_inner_texts()
        assert [words.name(label) in text for label, text in zip(LABELS, labels, strict=True)] == [True] * 5
        picture(page, f"labels-{language}")
        screen.press("Escape")
        screen.press("c")
        reason = page.locator(".a-reasons .ant-radio-wrapper").nth(2)
        reason.wait_for()
        assert reason.inner_text().startswith(words.choice("outside my field"))
        picture(page, f"reasons-{language}")
        screen.press("f")
        screen.submit()
    grade, cannot_judge = stored(studio, project)
    assert (grade.grade, grade.flags) == (2, ())
    assert (cannot_judge.cannot_judge, cannot_judge.flags) == ("outside my field", ())


def picture(page: Any, name: str) -> None:
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))
