"""The guidelines: a file a facet, a definition that fits the screen, grades as named, examples from the demo corpus.

And what they owe to their source: `sources.md` compares the two, and leaves out no point of either.
"""

import re
from importlib import resources
from pathlib import Path

import pytest
from annot.base.settings import ScaleSettings, Settings
from annot.formats.trec import read_qrels
from annot_demo import simulated_people
from annot_demo.simulated_people import latent_relevance
from demo_collection import papers

FACETS = tuple(Settings().facets)
PAGES = ("general", *FACETS)
QRELS = Path(__file__).resolve().parents[2] / "exports" / "demo" / "qrels.txt"
EXAMPLE = re.compile(r"^> \*\*(Query|Candidate)\*\* \((fic\d{4})\): (.+)$", re.MULTILINE)


def text_of(page: str) -> str:
    return resources.files("annot.study.guideline_pages").joinpath(f"{page}.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    return re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], flags=re.MULTILINE)[0]


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
