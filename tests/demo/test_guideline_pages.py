"""The guidelines: a file a facet, a definition that fits the screen, grades as named, examples from the demo corpus.

And what they owe to their source: `sources.md` compares the two, and leaves out no point of either.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
from annot.base.settings import ScaleSettings, Settings
from annot.base.templating import render
from annot.formats.trec import read_qrels
from annot_demo import simulated_people
from annot_demo.simulated_people import latent_relevance
from demo_collection import papers
from markdown import markdown

FACETS = tuple(Settings().facets)
PAGES = ("general", *FACETS)
QRELS = Path(__file__).resolve().parents[2] / "exports" / "demo" / "qrels.txt"
RULE = re.compile(r"^(?:- )?\*\*([^a-z(][^*]*)\*\*(?! \(fic)", re.MULTILINE)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
CONTAINERS = {"Rules for every facet", "Close calls"}
"""Headings that say nothing themselves."""
POINTS_OF_THE_SOURCE = {
    *("G 1.2", "G 1.3", "P 3", "P 4"),
    *("G 1.4 pools", *(f"G 1.4 step {step}" for step in range(1, 5)), "G figure 1"),
    *(f"G 2.1 rule {rule}" for rule in range(1, 8)),
    *("G 2.2", "G 2.2.1", "G 2.2.2", "G 2.2.3"),
    *("G 2.3", "G 2.3.1", "G 2.3.2", *(f"G 2.3.3 case {case}" for case in range(1, 5))),
    *("G 2.4", "G 2.4.1", "G 2.4.1 form 1", "G 2.4.1 form 2", "G 2.4.2", "G 2.4.3"),
    *(f"G example {example}" for example in (*range(1, 8), "8b", "8c", *range(9, 14))),
}
"""What the annotator guidelines of CSFCube (G) number or enumerate, and the sections of the paper (P) on judging. Its
example 8 has two candidates, each for a criterion of its own; example 10 shows both forms of a grade."""
EXAMPLE = re.compile(r"^> \*\*(Query|Candidate)\*\* \((fic\d{4})\): (.+)$", re.MULTILINE)


def text_of(page: str) -> str:
    return resources.files("annot.study.guideline_pages").joinpath(f"{page}.md").read_text(encoding="utf-8")


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


def graded_examples(facet: str) -> list[tuple[int, str, str]]:
    """Grade, query and candidate of each example on a facet's page."""
    found = []
    for grade, name in enumerate(ScaleSettings().names):
        ids = [paper_id for _, paper_id, _ in EXAMPLE.findall(section(text_of(facet), f"{grade} {name}"))]
        found += [(grade, *pair) for pair in zip(ids[::2], ids[1::2], strict=True)]
    return found


@pytest.mark.parametrize("facet", FACETS)
def test_a_simulated_assessor_who_errs_in_nothing_gives_examples_their_grade(facet: str) -> None:
    latents = simulated_people.latents()
    for grade, query, candidate in graded_examples(facet):
        relevance = latent_relevance(query, facet, candidate, latents)
        assert sum(relevance >= threshold for threshold in (0.5, 1.5, 2.5)) == grade, (query, candidate)


@pytest.mark.parametrize("facet", FACETS)
def test_examples_that_the_demonstration_judged_have_their_grade_in_its_qrels(facet: str) -> None:
    lines = QRELS.read_text(encoding="utf-8").splitlines()
    final = {(one.query_id, one.doc_id): one.relevance for one in read_qrels(lines, name="qrels.txt")}
    judged = [
        (query, candidate, grade, final[f"{query}-{facet}", candidate])
        for grade, query, candidate in graded_examples(facet)
        if (f"{query}-{facet}", candidate) in final
    ]
    assert len(judged) >= 2
    assert [one for one in judged if one[2] != one[3]] == []


def test_the_general_page_names_the_scale_and_every_rule() -> None:
    text = text_of("general")
    for grade, name in enumerate(ScaleSettings().names):
        assert re.search(rf"^\| {grade} \| {name} \|", text, re.MULTILINE)
    for rule in (
        "Stay with the facet",
        "Structure before attributes",
        "One shared aspect is enough",
        "Wrong labels",
        "context",
        "{cannot_judge}",
        "Opposite findings",
        "Meet between batches",
        "Do not overthink",
    ):
        assert rule in text


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_plain_markdown_and_short(page: str) -> None:
    text = text_of(page)
    assert "<" not in text, "no raw HTML"
    assert len(EXAMPLE.sub("", text).split()) <= 1000
    html = markdown(text, extensions=["tables", "sane_lists"])
    assert html.count("<h1>") == 1
    assert html.count("<blockquote>") >= 1
    assert html.count("<table>") == (page == "general")


def test_nobody_is_told_to_take_the_lower_grade_or_to_keep_silent_until_the_end() -> None:
    for page in PAGES:
        assert not re.search(r"lower (one|grade)|until the (study|end)", text_of(page)), page


def rows_of_sources() -> list[list[str]]:
    """The cells of every row of every table on the page of sources."""
    lines = [line for line in text_of("sources").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in rows if row[0] not in ("Source", "Ours", "---")]


def places_on(page: str) -> set[str]:
    """The headings and rules of a page, and what stands before the grades of a facet."""
    text = EXAMPLE.sub("", text_of(page))
    found = {place.rstrip(".").strip() for place in (*HEADING.findall(text), *RULE.findall(text))} - CONTAINERS
    return found | ({"definition", "question"} if page in FACETS else set())


def test_the_comparison_names_every_point_of_the_source() -> None:
    named = {row[0] for row in rows_of_sources() if len(row) == 3}
    assert POINTS_OF_THE_SOURCE - named == set()
    assert named - POINTS_OF_THE_SOURCE == set()


def test_the_comparison_names_every_place_of_ours_and_no_other() -> None:
    cells = [row[-1] if len(row) == 3 else row[0] for row in rows_of_sources()]
    named = {place.rstrip(".") for cell in cells if ": " in cell for place in cell.split("; ")}
    ours = {f"{page}: {place}".rstrip(".") for page in (*PAGES, "queries") for place in places_on(page)}
    assert ours - named == set()
    assert named - ours == {"general: How to judge"}, "the title of a page"


def test_what_is_ours_has_a_reason() -> None:
    own = [row for row in rows_of_sources() if len(row) == 2]
    assert len(own) > 10
    assert all(len(reason.split()) >= 4 for _, reason in own)


def test_examples_of_the_comparison_stand_on_their_page_under_their_grade() -> None:
    examples = [row for row in rows_of_sources() if row[0].startswith("G example")]
    for _, shows, ours in examples:
        facet, grade = re.match(r"(\w+) (\d)", shows).groups()  # type: ignore[union-attr]
        query, candidate = ours.split(" and ")
        assert (int(grade), query, candidate) in graded_examples(facet), ours
    assert len({ours for *_, ours in examples}) == len(examples), "no pair does the work of two"
    named = set(re.findall(r"(fic\d{4}) and (fic\d{4})", text_of("sources")))
    assert {pair[1:] for facet in FACETS for pair in graded_examples(facet) if pair[0]} - named == set()


def test_the_page_on_queries_and_the_rating_sheet_say_the_same() -> None:
    page = text_of("queries")
    types = Settings().queries.types
    sheet = render("rating.txt.j2", {"min_rating": 3, "types": types}, overrides=None)
    for paper_type in types:
        assert f"| {paper_type} |" in page
        assert f"{paper_type}: " in sheet
    criteria = re.findall(r"^\d\. (.+)$", page, re.MULTILINE)
    assert len(criteria) == 3
    assert "delete its name" in page
    assert "Delete the name of a facet without substantial content" in sheet
    for text in (*criteria, "rated 3", "never chosen"):
        assert text.rstrip(".") in page, text
        assert text.rstrip(".") in sheet, text
