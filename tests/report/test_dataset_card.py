"""The dataset card: its header is the YAML that a hub expects, its body says what a user must know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from annot.errors import InputError
from annot.formats.beir import beir_paths
from annot.formats.csfcube import Material
from annot.release.card import dataset_card, hub_header, size_category, yaml_text
from annot.release.collection import CollectionFacts
from annot.release.licences import licence
from collection_facts import demo_facts
from hypothesis import given
from hypothesis import strategies as st


def card(facts: CollectionFacts) -> str:
    return dataset_card(
        facts,
        beir=beir_paths("beir/", with_text=facts.with_text),
        files={"qrels.txt": "final grades | TREC"},
        csfcube="csfcube/",
        overrides=None,
    )


def header(text: str) -> dict[str, Any]:
    start, yaml_part, _ = text.split("---\n", 2)
    assert start == ""
    found: dict[str, Any] = yaml.safe_load(yaml_part)
    return found


def test_the_header_has_the_keys_and_values_of_the_hub(facts: CollectionFacts) -> None:
    """https://huggingface.co/docs/hub/datasets-cards and MTEB's configurations."""
    people = replace(facts, judging=replace(facts.judging, simulated=False))
    assert header(card(people)) == {
        "pretty_name": facts.title,
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
    found = header(card(replace(facts, licence="EUPL-1.2")))
    assert (found["license"], found["license_name"], found["license_link"]) == (
        "other",
        "eupl-1-2",
        "https://spdx.org/licenses/EUPL-1.2.html",
    )
    assert licence("https://example.org/terms").hub == "other"
    assert licence("cc-by-nc-sa-4.0")[:2] == ("CC-BY-NC-SA-4.0", "https://creativecommons.org/licenses/by-nc-sa/4.0/")
    with pytest.raises(InputError, match="SPDX"):
        licence("free for all")


def test_without_texts_the_hub_is_offered_ids_only(material: Material) -> None:
    text = card(demo_facts(material, with_text=False))
    assert [config["config_name"] for config in header(text)["configs"]] == ["default", "top_ranked"]
    assert "not part of this release" in text
    assert "BEIR reads" not in text


def test_the_body_carries_numbers_warnings_and_loading(facts: CollectionFacts) -> None:
    text = card(facts)
    assert "**The judgements are simulated by programs.**" in text
    assert (
        "| method | before | Krippendorff's alpha (ordinal) | median over queries | 0.26 [0.20, 0.31] | 5 | 100 |"
        in text
    )
    assert "**unjudged**, which is not the same as grade 0" in text
    assert 'ir_datasets.load("demo-collection/background")' in text
    assert "| `qrels.txt` | final grades \\| TREC |" in text
    assert f"The demo makers (2031). {facts.title}. Version 0.1. https://example.org/demo" in text
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


texts = st.text(st.characters(codec="utf-8"), max_size=20)


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_any_text_in_the_header_is_read_back_by_a_yaml_reader(title: str, words: list[str]) -> None:
    values = {"pretty_name": title, "tags": words, "configs": [{"config_name": title, "data_files": [{"path": title}]}]}
    assert yaml.safe_load(yaml_text(values)) == values


def test_the_size_is_that_of_the_largest_table(facts: CollectionFacts) -> None:
    paths = beir_paths("", with_text=True)
    assert hub_header(replace(facts, papers=12_000), paths)["size_categories"] == ["10K<n<100K"]
