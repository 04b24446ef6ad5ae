"""What people write into settings and answers is text in the Markdown of a release: nothing runs or is fetched."""

from collections.abc import Collection

import pytest
import yaml
from annot.base.templating import harmless
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import datasheet_markdown
from collection_facts import changed
from markdown_it import MarkdownIt
from test_dataset_card import card, header

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![spy](https://spy.example/p.png) "
    "[run](javascript:alert(1)) [on](JaVa&#83;cript:alert(1)) [d](data:text/html,x) [kept](https://example.org)"
)


FILES_OF_A_RELEASE = {
    *("DATASHEET.md", "datasheet.html", "report.html", "report.md", "report.tex", "agreement.json", "decisions.jsonl"),
    *("qrels.txt", "query_papers.tsv", "judgements.jsonl", "croissant.json", "SHA256SUMS"),
}


def inert(markdown: str, *, beside: Collection[str] = ()) -> bool:
    """As CommonMark reads it: no raw HTML, no image, and every link to a web page, a mailbox or a place on the page.

    beside: files that are linked as well.
    """
    markdown_it = MarkdownIt("commonmark")
    for token in markdown_it.parse(markdown):
        for inner in token.children or []:
            if inner.type in ("image", "html_inline"):
                return False
            target = inner.attrGet("href")
            known = target is None or target in beside
            if not known and not str(target).startswith(("https://", "http://", "mailto:", "#")):
                return False
        if token.type == "html_block":
            return False
    return True


def test_settings_and_answers_are_text_in_card_and_datasheet(facts: CollectionFacts) -> None:
    fields = dict.fromkeys(("title", "description", "url", "version"), HOSTILE)
    fields["citation"] = f"@misc{{x,\n  title = {{```\n{HOSTILE}\n}}\n}}"
    named = changed(facts, collection=facts.collection.model_copy(update={**fields, "creators": (HOSTILE,)}))
    sheet = datasheet_markdown(named, {"uses.tasks": f"{HOSTILE}\n\n[ref]: javascript:alert(2)"}, overrides=None)
    body = card(named).split("---\n", 2)[2]
    assert inert(sheet)
    assert inert(body, beside=FILES_OF_A_RELEASE)
    assert "[kept](https://example.org)" in sheet
    assert header(card(named))["pretty_name"] == HOSTILE


@pytest.mark.parametrize(
    "text",
    [
        *("[x](javascript:1)", r"[x\](javascript:1)", r"[x\\](javascript:1)", r"[x\\\](javascript:1)", "[x](\nvbs:1)"),
        *("![x](https://e/p.png)", r"\![x](https://e/p.png)", r"\\![x](https://e/p.png)", r"!\[x](https://e/p.png)"),
        *(
            "[x]: javascript:1\n\n[x]",
            "[x]:\njavascript:1\n\n[x]",
            "<javascript:1>",
            "[x](<javascript:1>)",
            "<b>",
            "<!--",
        ),
        *(
            "[![x](https://e/p.png)](https://e)",
            "[x]: java&#115;cript&colon;1\n\n[x]",
            "<a\nhref=javascript:1>",
            "<?x?>",
        ),
    ],
)
def test_no_way_of_writing_it_is_obeyed_and_twice_is_once(text: str) -> None:
    assert inert(harmless(text))
    assert harmless(harmless(text)) == harmless(text)


def test_plain_markdown_stays_as_it_is() -> None:
    plain = "a < b, *so* [1] we see [here](https://example.org) and [there](#part); `x` | y\n\n- a list"
    assert harmless(plain) == plain


def test_the_card_is_valid_yaml_above_whatever_it_says(facts: CollectionFacts) -> None:
    named = changed(facts, collection=facts.collection.model_copy(update={"title": 'a "b"\n---\n<c>'}))
    assert yaml.safe_load(card(named).split("---\n", 2)[1])["pretty_name"] == 'a "b"\n---\n<c>'
