"""The dataset card: its header is the YAML that a hub expects, its body says what a user must know."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from annot.base.errors import InputError
from annot.base.records import Qrel, Query
from annot.formats.beir import Fields, beir_paths
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import ExamplePair, dataset_card, example_pairs, size_category
from annot.publishing.terms import licence_named
from annot_csfcube.files import Material
from collection_facts import changed, demo_facts
from demo_collection import demo_material
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("count", "category"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (99_999, "10K<n<100K"),
        (800_000, "100K<n<1M"),
        (81_000_000, "10M<n<100M"),
    ],
)
def test_sizes_are_the_hubs_categories(count: int, category: str) -> None:
    assert size_category(count) == category


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


def test_it_begins_with_licence_size_graded_pairs_and_the_lines_that_load_it(facts: CollectionFacts) -> None:
    body = card(facts).partition(f"\n# {facts.collection.title}\n")[2]
    first, _, rest = body.partition("## Numbers")
    order = [
        "**Licence:** Judgements: [CC-BY-4.0](https://",
        "**Size:** ",
        "| query |",
        "```python\nimport ir_datasets",
    ]
    assert sorted(order, key=first.index) == order
    queries, pairs = facts.total("queries"), facts.total("pairs")
    assert (
        f"{queries} queries (a paper and one facet of it), {pairs} pairs with a final grade, 4 grades (0 Irr" in first
    )
    assert f"Near-identical), {facts.corpus.papers} papers." in first
    assert "| Of &lt;b>bold&lt;/b> claims | method | A \\| B | 3 Near-identical |\n| Of bold" in first
    assert "## Loading" not in rest
    assert "| query |" not in card(facts, examples=())


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
