"""The page on which a collection of topics is read, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Topic
from annot.store.pools import put_topics
from command_line import annot_done
from study_stages import copied
from topic_study import GRADED, UNTITLED, OfTopics

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("topics")


def opened(chromium: Any, folder: Path, recipe: OfTopics, *, hostile: bool = False) -> Any:
    """The page of a study, and the faults that the browser saw."""
    if not folder.exists():
        ws = copied(recipe, "measured" if not hostile else "queried", folder)
        if hostile:
            with ws.writing() as session:
                put_topics(session, [Topic("T1", HOSTILE, HOSTILE, HOSTILE, {HOSTILE: HOSTILE})])
            for stage in ("pooled", "planned", "judged", "settled", "measured"):
                getattr(recipe, stage)(ws)
        settings = folder / "annot.toml"
        text = settings.read_text("utf-8").replace('topic_language = ""\n', "")
        settings.write_text(text.replace("[collection]\n", '[collection]\ntopic_language = "de"\n'), "utf-8")
        annot_done("qrels", folder=folder)
        annot_done("browse", folder=folder)
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto((folder / "exports" / "browse.html").as_uri())
    return context, page, faults


@pytest.fixture
def page(folder: Path, chromium: Any) -> Iterator[Any]:
    context, page, faults = opened(chromium, folder / "binary", OfTopics(passages=True))
    yield page
    assert not faults
    context.close()


def test_topics_are_read_and_turned_by_key_and_no_facet_is_there(page: Any) -> None:
    asked = page.get_by_role("region", name="Topic")
    assert asked.locator("h2").inner_text() == "sleep and memory"
    first, second = asked.locator("p.abstract").all_inner_texts()
    assert first == "How does sleep affect the memory of what was learned the day before?"
    assert second.startswith("Narrative A document is relevant if it measures memory after sleep.")
    page.keyboard.press("n")
    assert asked.locator("h2").inner_text() == "tea and the heart"
    assert page.locator("#status").inner_text() == "Topic 2 of 4: 10 of 10 documents"
    assert page.locator("#query option").all_inner_texts()[3].endswith(" · salt in old masonry")
    page.locator("#query").select_option("T4")
    assert asked.locator("p.abstract").all_inner_texts() == ["How is salt taken out of walls?", "track buildings"]
    assert page.locator("#facet").count() == 0
    assert page.locator("#text option").all_inner_texts() == ["texts", "titles"]
    assert "facet" not in page.locator("main").inner_text().lower()


def test_a_passage_without_a_title_has_its_id_and_its_document(page: Any) -> None:
    card = page.locator("article", has=page.get_by_role("heading", name=UNTITLED, exact=True))
    assert card.locator("p.about").inner_text().startswith(f"{UNTITLED} · passage of d · pooled by ")
    assert card.locator("p.abstract").inner_text() == f"Why {UNTITLED}. How {UNTITLED}. What {UNTITLED}."


def test_a_paper_among_the_topics_is_read_as_a_paper(folder: Path, chromium: Any) -> None:
    context, page, faults = opened(chromium, folder / "mixed", OfTopics(scale=GRADED, mixed=True))
    asked = page.get_by_role("region", name="Topic")
    page.locator("#query").select_option("T1")
    assert asked.get_attribute("lang") == "de"
    page.locator("#query").select_option("p4-method")
    assert asked.get_attribute("lang") == "en"
    assert asked.locator("p.about").inner_text() == "p4-method · facet: method"
    assert asked.locator("b.facet").all_inner_texts() == ["How p4."]
    page.locator("#query").select_option("T1")
    assert asked.locator("p.about").inner_text() == "T1"
    assert page.locator("#facet option").all_inner_texts() == ["all", "method", "whole"]
    assert not faults
    context.close()


def test_what_a_topic_says_is_text_whatever_it_holds(folder: Path, chromium: Any) -> None:
    context, page, faults = opened(chromium, folder / "hostile", OfTopics(), hostile=True)
    asked = page.get_by_role("region", name="Topic")
    assert asked.locator("h2").inner_text() == HOSTILE
    assert asked.locator("p.abstract").all_inner_texts() == [HOSTILE, f"Narrative {HOSTILE}", f"{HOSTILE} {HOSTILE}"]
    assert page.evaluate("window.hacked") is None
    assert not faults
    context.close()
