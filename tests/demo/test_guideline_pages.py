"""The guidelines: a file a facet, a definition that fits the screen, grades as named, examples from the demo corpus."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from annot.demo import packaged
from annot.settings import ScaleSettings, Settings
from demo_collection import papers
from markdown import markdown

FACETS = tuple(Settings().facets)
PAGES = ("general", *FACETS)
EXAMPLE = re.compile(r"^> \*\*(Query|Candidate)\*\* \((fic\d{4})\): (.+)$", re.MULTILINE)


def text_of(page: str) -> str:
    return resources.files("annot.guidelines").joinpath(f"{page}.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    return re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], flags=re.MULTILINE)[0]


@pytest.mark.parametrize("facet", FACETS)
def test_each_facet_opens_with_its_name_and_a_definition_of_one_line(facet: str) -> None:
    heading, _, definition, blank, *_ = text_of(facet).splitlines()
    assert heading == f"# {facet.capitalize()}"
    assert blank == ""
    assert 40 <= len(definition) <= 140
    assert not re.search(r"[*_`#\[]", definition), "the screen shows it as it stands"


@pytest.mark.parametrize("facet", FACETS)
def test_each_grade_has_its_name_and_an_example_of_a_pair(facet: str) -> None:
    text = text_of(facet)
    for grade, name in enumerate(ScaleSettings().names):
        roles = [role for role, _, _ in EXAMPLE.findall(section(text, f"{grade} {name}"))]
        assert roles, (facet, grade)
        assert roles == ["Query", "Candidate"] * (len(roles) // 2), (facet, grade)


@pytest.mark.parametrize("page", PAGES)
def test_examples_stand_word_for_word_in_the_demo_corpus_under_the_facet(page: str) -> None:
    corpus = {paper.paper_id: paper for paper in papers()}
    examples = EXAMPLE.findall(text_of(page))
    assert len(examples) == text_of(page).count("\n> "), "every quotation is an example with its id"
    assert examples
    for _, paper_id, quoted in examples:
        paper = corpus[paper_id]
        rest, used = quoted, []
        for at, sentence in enumerate(paper.sentences):
            if rest.startswith(sentence):
                rest = rest[len(sentence) :].lstrip()
                used.append((paper.labels or ())[at])
        assert rest == "", f"{paper_id}: not whole sentences of it: {quoted}"
        if page != "general":
            assert {Settings().facet_of(label) for label in used} == {page}, (paper_id, quoted)


@pytest.mark.parametrize("facet", FACETS)
def test_the_simulated_truth_gives_examples_their_grade(facet: str) -> None:
    from annot.demo.relevance import latent_relevance

    latents = packaged.latents()
    for grade, name in enumerate(ScaleSettings().names):
        ids = [paper_id for _, paper_id, _ in EXAMPLE.findall(section(text_of(facet), f"{grade} {name}"))]
        for query, candidate in zip(ids[::2], ids[1::2], strict=True):
            assert abs(latent_relevance(query, facet, candidate, latents) - grade) < 0.75, (query, candidate)


def test_the_general_page_names_the_scale_and_every_rule() -> None:
    text = text_of("general")
    for grade, name in enumerate(ScaleSettings().names):
        assert re.search(rf"^\| {grade} \| {name} \|", text, re.MULTILINE)
    for rule in (
        "Stay with the facet",
        "Several aspects in one facet",
        "Wrong labels",
        "context",
        "Cannot judge",
        "Opposite findings",
        "Do not discuss",
        "Do not overthink",
        "Ctrl+Enter",
    ):
        assert rule in text


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_plain_markdown_and_short(page: str) -> None:
    text = text_of(page)
    assert "<" not in text, "no raw HTML"
    assert len(text.split()) <= 1000
    html = markdown(text, extensions=["tables", "sane_lists"])
    assert html.count("<h1>") == 1
    assert html.count("<blockquote>") >= 1
    assert html.count("<table>") == (2 if page == "general" else 0)
