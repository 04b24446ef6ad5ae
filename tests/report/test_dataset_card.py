"""The dataset card: its header is the YAML that a hub expects, its body says what a user must know."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from annot.base.errors import InputError
from annot.base.records import Qrel, Query
from annot.base.templating import harmless
from annot.formats.beir import Fields, beir_paths
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import ExamplePair, dataset_card, datasheet_markdown, example_pairs
from annot.publishing.terms import licence_named
from annot_csfcube.files import Material
from collection_facts import changed, demo_facts
from demo_collection import demo_material
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

EXAMPLES = (ExamplePair("Of <b>bold</b> claims", "method", "A | B", 3), ExamplePair("Of bold claims", "method", "C", 0))


FIELDS = Fields(("year",), ("paper_id", "facet"), True)


def card(facts: CollectionFacts, *, examples: Sequence[ExamplePair] = EXAMPLES) -> str:
    with_text = facts.terms.with_text
    return dataset_card(
        facts,
        beir=beir_paths("beir/", with_text=with_text, worded=with_text),
        fields=FIELDS._replace(worded=with_text),
        examples=examples if with_text else (),
        holds={"runs", "csfcube"},
        overrides=None,
    )


def header(text: str) -> dict[str, Any]:
    start, yaml_part, _ = text.split("---\n", 2)
    assert start == ""
    found: dict[str, Any] = yaml.safe_load(yaml_part)
    return found


def test_the_header_has_the_keys_and_values_of_the_hub(facts: CollectionFacts) -> None:
    """https://huggingface.co/docs/hub/datasets-cards and MTEB's configurations."""
    people = changed(facts, judging=facts.judging | {"simulated": False})
    assert header(card(people)) == {
        "pretty_name": facts.collection.title,
        "language": ["en"],
        "license": ["cc-by-4.0", "cc0-1.0"],
        "size_categories": ["n<1K"],
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "annotations_creators": ["expert-generated"],
        "multilinguality": ["monolingual"],
        "tags": ["information-retrieval", "test-collection", "query-by-example", "scientific documents"],
        "configs": [
            {"config_name": "default", "data_files": [{"split": "test", "path": "beir/qrels/test.jsonl"}]},
            {"config_name": "corpus", "data_files": [{"split": "corpus", "path": "beir/corpus.jsonl"}]},
            {"config_name": "queries", "data_files": [{"split": "queries", "path": "beir/queries.jsonl"}]},
            {"config_name": "top_ranked", "data_files": [{"split": "test", "path": "beir/top_ranked/test.jsonl"}]},
        ],
    }
    assert header(card(facts))["annotations_creators"] == ["machine-generated"]


def test_a_licence_that_the_hub_does_not_list_is_other_with_name_and_link(facts: CollectionFacts) -> None:
    found = header(card(changed(facts, terms=replace(facts.terms, licence="EUPL-1.2"))))
    assert (found["license"], found["license_name"], found["license_link"]) == (
        "other",
        "eupl-1-2",
        "https://spdx.org/licenses/EUPL-1.2.html",
    )
    assert licence_named("https://example.org/terms").hub == "other"
    assert licence_named("cc-by-nc-sa-4.0")[:2] == (
        "CC-BY-NC-SA-4.0",
        "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    )
    with pytest.raises(InputError, match="SPDX"):
        licence_named("free for all")


@pytest.mark.parametrize(
    ("topic_licence", "hub", "shown"),
    [
        ("MIT", ["cc-by-4.0", "mit", "cc0-1.0"], "Topics: [MIT](https://spdx.org/licenses/MIT.html)."),
        ("EUPL-1.2", ["cc-by-4.0", "cc0-1.0"], "Topics: EUPL-1.2."),
        ("with NIST", ["cc-by-4.0", "cc0-1.0"], "Topics: with NIST."),
        ("CC-BY-4.0", ["cc-by-4.0", "cc0-1.0"], "Topics: [CC-BY-4.0]("),
    ],
)
def test_topics_from_elsewhere_have_their_licence(
    facts: CollectionFacts, topic_licence: str, hub: list[str], shown: str
) -> None:
    named = changed(facts, terms=replace(facts.terms, topic_licence=topic_licence))
    text = card(changed(named, topics=(0, 4)))
    assert header(text)["license"] == hub
    assert shown in text
    assert "Topics: " not in card(named)


def test_the_language_of_topics_is_named_where_there_are_such_topics(facts: CollectionFacts) -> None:
    named = changed(facts, collection=facts.collection.model_copy(update={"topic_language": "fr"}))
    assert header(card(named))["language"] == ["en"]
    assert "**Languages:**" not in card(named)
    assert header(card(changed(named, topics=(0, 4))))["language"] == ["en", "fr"]


def test_without_texts_the_hub_is_offered_ids_only(material: Material) -> None:
    text = card(demo_facts(material, with_text=False))
    assert [config["config_name"] for config in header(text)["configs"]] == ["default", "top_ranked"]
    assert "not part of this release" in text
    assert "BEIR reads" not in text


def test_the_body_carries_numbers_warnings_and_loading(facts: CollectionFacts) -> None:
    text = card(facts)
    assert "**The judgements are simulated by programs.**" in text
    (agreement,) = re.findall(r"\| facet \| adjudication \|.*?\n\n", text, re.DOTALL)
    assert agreement.strip().splitlines() == [
        "| facet | adjudication | queries | Krippendorff's alpha (ordinal) | Cohen's kappa |",
        "| --- | --- | --- | --- | --- |",
        "| method | before | 5 | 0.26 [0.20, 0.31] | – |",
        "| all facets | after | 0 | – | undefined: one grade only |",
    ]
    assert "**unjudged**, which is not the same as grade 0" in text
    assert 'ir_datasets.load("demo-collection")  # one facet: "demo-collection/background"' in text
    assert "| [`qrels.txt`](qrels.txt) | the final grades, for trec_eval |" in text
    assert f"The demo makers (2031). {facts.collection.title}. Version 0.1. https://example.org/demo" in text
    assert card(facts) == text


FACTS = demo_facts(demo_material())
texts = st.text(st.characters(codec="utf-8"), max_size=20)


@settings(deadline=None, max_examples=30)
@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_any_text_in_the_header_is_read_back_by_a_yaml_reader(title: str, words: list[str]) -> None:
    hostile = FACTS.collection.model_copy(update={"title": title, "keywords": tuple(words)})
    end = "\n---\n\n# "
    found = yaml.safe_load(card(changed(FACTS, collection=hostile)).removeprefix("---\n").partition(end)[0])
    assert (found["pretty_name"], found["tags"][3:]) == (title, words)


def test_a_grade_with_a_bar_in_its_name_stays_in_its_cell(facts: CollectionFacts) -> None:
    text = card(changed(facts, grades=("No | none", *facts.grades[1:])))
    assert "| judgements | No \\| none | Related |" in text


def test_the_size_is_that_of_the_largest_table(facts: CollectionFacts) -> None:
    many = changed(facts, corpus=replace(facts.corpus, papers=12_000))
    assert header(card(many))["size_categories"] == ["10K<n<100K"]


Q1, Q2 = (Query(f"p{at}-m", f"p{at}", "m", (1,)) for at in (1, 2))


def qrels(query: Query, *grades: int) -> list[Qrel]:
    return [Qrel(query.query_id, f"d{at}", grade) for at, grade in enumerate(grades)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            [*qrels(Q2, 0, 1, 2, 3), *qrels(Q1, 1, 0, 3, 2, 3)],
            [("p1-m", "d2", 3), ("p1-m", "d0", 1), ("p1-m", "d1", 0)],
        ),
        ([*qrels(Q1, 1, 1), *qrels(Q2, 0, 2, 0)], [("p2-m", "d1", 2), ("p2-m", "d0", 0)]),
        (qrels(Q1, 1, 1), [("p1-m", "d0", 1)]),
        ([], []),
    ],
)
def test_examples_are_the_highest_a_middle_and_the_lowest_grade_of_the_query_with_the_most(
    given: list[Qrel], expected: list[tuple[str, str, int]]
) -> None:
    found = example_pairs(given, (Q1, Q2), {}, {})
    assert [(one.query, one.candidate, one.grade) for one in found] == expected


def test_examples_have_titles_where_texts_go_out_and_an_id_where_there_is_none() -> None:
    (found,) = example_pairs(qrels(Q1, 2), (Q1, Q2), {"p1": "One", "d0": ""}, {})
    assert found == ExamplePair("One", "m", "d0", 2)


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
