"""Pages side by side link to each other, whichever was written first; a page alone has no links."""

import re
from pathlib import Path

import pytest
from annot.base.templating import render
from annot.publishing.browse_page import CARD_FILE, linked, pages_in, with_links, write_pages

PLACE = {kind: render(f"pages{kind}.j2", {}, overrides=None) for kind in (".html", ".md")}


def page(kind: str = ".html", *, text: str = "<p>text</p>") -> str:
    return f"# head\n\n{PLACE[kind]}\n{text}\n"


def targets(content: bytes) -> list[str]:
    return [web or markdown for web, markdown in re.findall(r'href="([^"]*)"|\]\(([^)]+)\)', content.decode())]


def test_each_page_links_to_the_others_in_the_order_of_the_list() -> None:
    files = dict.fromkeys(("datasheet.html", "browse.html", "report.html"), page().encode())
    made = linked(files)
    assert targets(made["report.html"]) == ["browse.html", "datasheet.html"]
    assert targets(made["browse.html"]) == ["report.html", "datasheet.html"]
    assert targets(made["datasheet.html"]) == ["report.html", "browse.html"]
    assert b'<b aria-current="page">Browse</b>' in made["browse.html"]


def test_web_pages_lead_to_the_card_and_markdown_leads_to_markdown() -> None:
    web, markdown = page().encode(), page(".md").encode()
    made = linked({CARD_FILE: b"the card", "report.html": web, "report.md": markdown, "DATASHEET.md": markdown})
    assert targets(made["report.html"]) == [CARD_FILE]
    assert targets(made["report.md"]) == [CARD_FILE, "DATASHEET.md"]
    assert b"[README](README.md) \xc2\xb7 **Report** \xc2\xb7 [Datasheet](DATASHEET.md)\n\n<p>" in made["report.md"]
    assert made[CARD_FILE] == b"the card"


@pytest.mark.parametrize("kind", [".html", ".md"])
def test_links_are_replaced_and_a_page_that_is_alone_is_as_it_was_rendered(kind: str) -> None:
    rendered = page(kind).encode()
    alone, other, third = f"report{kind}", f"certificate{kind}", f"datasheet{kind}"
    once = with_links(rendered, alone, [alone, other])
    assert targets(once) == [other]
    assert with_links(once, alone, [alone, other]) == once
    assert targets(with_links(once, alone, [alone, third])) == [third]
    assert with_links(once, alone, [alone]) == rendered == with_links(rendered, alone, [])


def test_a_dead_link_goes_with_the_next_page_that_is_written(tmp_path: Path) -> None:
    for name in ("report.html", "browse.html", "datasheet.html"):
        write_pages(tmp_path, {name: page()})
    (tmp_path / "browse.html").unlink()
    (tmp_path / "browse.html").mkdir()
    write_pages(tmp_path, {"datasheet.html": page()})
    assert targets((tmp_path / "report.html").read_bytes()) == ["datasheet.html"]
    assert pages_in(tmp_path) == {"report.html", "datasheet.html"}
