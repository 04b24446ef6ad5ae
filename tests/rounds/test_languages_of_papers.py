"""A paper in another language than its collection: how its record is kept, and how screens and pages name it."""

import json
import re
from datetime import datetime
from typing import Any

import pytest
from annot.publishing.so_far import write_pages
from annot.store.papers import find_papers
from command_line import annot_done
from small_study import DOCUMENTS
from worlds import World

GERMAN = {
    "title": "Wie Bienen tanzen",
    "abstract": "Bienen tanzen nach Abb. 3 im Kreis. Wir messen das z. B. mit der Uhr. Die Tänze sind kurz.",
}


@pytest.fixture
def with_german(planned: World) -> World:
    """The first document is in German, as its corrected record says."""
    record = {"paper_id": DOCUMENTS[0], **GERMAN, "lang": "ger", "paragraph_labels": ["method"]}
    path = planned.folder / "german.jsonl"
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    annot_done("corpus", "add", "--corrected", "the original abstract", path, folder=planned.folder)
    annot_done("facets", folder=planned.folder)
    return planned


def titles_by_language(html: str) -> dict[str, str]:
    """Language of each title on a page."""
    found = re.findall(r'<(?:h2|td)[^>]* lang="([\w-]+)"[^>]*>(?:<[^>]*>)*([^<]+)', html)
    return {title.strip(): language for language, title in found}


def test_the_record_keeps_its_language_and_is_cut_by_it(with_german: World) -> None:
    paper = find_papers(with_german.ws.corpus, DOCUMENTS)[DOCUMENTS[0]]
    assert paper.language == "de"
    assert len(paper.sentences) == 3
    assert {paper.language for paper in find_papers(with_german.ws.corpus, DOCUMENTS[1:]).values()} == {None}


def test_tasks_and_pages_name_the_language_of_the_paper(with_german: World) -> None:
    world = with_german
    world.push()
    shown = {task["data"]["pair_html"] for task in world.studio.tasks_of(world.project("a1"))}
    german = [html for html in shown if GERMAN["title"] in html]
    assert len(german) == 1
    assert all(("lang=" in html) == (html in german) for html in shown), "English pages say so themselves"
    assert '<h2 dir="auto" lang="de"><span dir="auto" lang="en">' in german[0]
    assert german[0].count('lang="de"') == 4
    world.judge("a1", dict.fromkeys(world.pairs, 1))
    world.judge("a2", dict.fromkeys(world.pairs, 3))
    world.pull()
    write_pages(world.ws, now=datetime.now().astimezone())
    grades = (world.ws.cache / "people" / "a1" / "grades.html").read_text("utf-8")
    languages = titles_by_language(grades)
    assert languages.pop(GERMAN["title"]) == "de"
    assert {*languages.values()} == {"en"}
    annot_done("meeting", folder=world.folder)
    meeting = (world.folder / "exports" / "meeting.html").read_text("utf-8")
    assert re.search(rf'<section lang="de"><h3[^>]*><span[^>]*>[^<]*</span> <bdi>{GERMAN["title"]}', meeting)
    assert '<section lang="en">' in meeting
    assert re.search(rf'<td class="name" dir="auto" lang="de">{GERMAN["title"]} ', meeting)
    assert meeting.count('<td class="name" dir="auto" lang=') < meeting.count('<td class="name" dir="auto">')


def test_the_page_to_browse_names_the_language_of_the_paper(with_german: World, chromium: Any) -> None:
    annot_done("run", "fabs_tfidf", folder=with_german.folder)
    annot_done("browse", folder=with_german.folder)
    context = chromium.new_context()
    page = context.new_page()
    page.goto((with_german.folder / "exports" / "browse.html").as_uri())
    card = page.locator("article", has=page.get_by_role("heading", name=GERMAN["title"], exact=True))
    assert card.locator("h3").get_attribute("lang") == card.locator("p.abstract").get_attribute("lang") == "de"
    languages = [title.get_attribute("lang") for title in page.locator("article h3").all()]
    assert sorted(languages) == ["de", *["en"] * (len(DOCUMENTS) - 1)]
    context.close()
