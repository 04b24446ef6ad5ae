"""CSFCube's readable annotation files: what each line says, and the line of each fault."""

from __future__ import annotations

from functools import partial

import pytest
from annot.base.errors import Faults
from annot.formats.csfcube.readable import RatedPair, ReadableFile, read_readable
from annot.formats.paper_text import paper_of

QUERY = [
    "=" * 70,
    "paper_id: 7; YEAR: 1999",
    "TITLE: The query",
    "ABSTRACT: method_label: We try.",
    "other_label: It works.",
]
FIRST = [
    "=" * 35,
    "paper_id: 12; YEAR: None",
    "adju relevance: Similar (+2)",
    "difference: 2; annotator3: 1; annotator1: 3",
    "sources: cited - bm25",
    "TITLE: ",
    "ABSTRACT: ",
    "method_label: One.",
]
SECOND = [
    "=" * 35,
    "paper_id: 13; YEAR: -1",
    "adju relevance: Irrelevant (0)",
    "difference: 1; annotator4: -1; annotator2: 0",
    "sources: bm25",
    "TITLE: Another",
    "ABSTRACT: method_label: Two.",
]


def read(lines: list[str]) -> tuple[ReadableFile | None, list[str]]:
    faults = Faults("f")
    paper = partial(paper_of, known_labels=("method", "other"))
    return read_readable([f"{line}\n" for line in lines], faults, paper=paper), faults.found


def changed(lines: list[str], at: int, line: str) -> list[str]:
    return [*lines[: at - 1], line, *lines[at:]]


def test_the_query_and_its_candidates_with_text_ratings_grade_and_sources() -> None:
    found, faults = read([*QUERY, "", *FIRST, *SECOND])
    assert not faults
    assert found is not None
    query = found.query
    assert (query.paper_id, query.title, query.year) == ("7", "The query", 1999)
    assert (query.sentences, query.labels) == (("We try.", "It works."), ("method", "other"))
    assert list(found.papers) == ["13", "12", "7"]
    assert [(paper.title, paper.year, paper.sentences) for paper in found.papers.values()] == [
        ("Another", -1, ("Two.",)),
        ("", None, ("One.",)),
        ("The query", 1999, ("We try.", "It works.")),
    ]
    assert found.pairs == {
        "12": RatedPair("12", 2, {"a2": 1, "a3": 3}),
        "13": RatedPair("13", 0, {"a1": None, "a4": 0}),
    }
    assert found.sources == {"12": ("cited", "bm25"), "13": ("bm25",)}


def test_a_query_that_is_its_own_candidate_has_the_text_of_the_query() -> None:
    own = changed(FIRST, 2, "paper_id: 7; YEAR: 2000")
    found, faults = read([*QUERY, *own])
    assert not faults
    assert found is not None
    assert found.papers == {"7": found.query}
    assert found.query.year == 1999


@pytest.mark.parametrize(
    ("at", "line", "problem"),
    [
        (1, "=" * 69, f"1: found {'=' * 60!r}, expected a line of 70 '='"),
        (2, "paper_id: 7; YEAR: 19999", "2: found 'paper_id: 7; YEAR: 19999', expected 'paper_id: <id>; YEAR: <year>'"),
        (3, "TITEL: x", "3: found 'TITEL: x', expected 'TITLE: ...'"),
        (5, "no sentence", "5: found 'no sentence', expected '<label>: <sentence>'"),
        (5, "odd_label: x", "1: paper 7: unknown sentence label 'odd': expected one of method, other"),
        (8, "adju relevance: Similar (+3)", "8: grade 'Similar (+3)': did you mean 'Similar (+2)'?"),
        (9, "difference: 1; annotator3: 1; annotator1: 3", "9: difference 1 between 1 and 3"),
        (10, "sources: ", "10: found 'sources: ', expected 'sources: <method> - <method>'"),
    ],
)
def test_a_fault_has_its_line(at: int, line: str, problem: str) -> None:
    found, faults = read(changed([*QUERY, *FIRST], at, line))
    assert found is None
    assert faults == [f"f:{problem}"]


@pytest.mark.parametrize(
    "ratings",
    [
        "difference: 0; annotator3: 1; annotator3: 1",
        "difference: 0; annotator5: 1; annotator1: 1",
        "difference: 3; annotator3: 4; annotator1: 1",
        "difference: 2; annotator3: -2; annotator1: 0",
    ],
)
def test_ratings_are_of_two_of_four_annotators_on_the_scale(ratings: str) -> None:
    found, faults = read(changed([*QUERY, *FIRST], 9, ratings))
    assert found is None
    assert [fault.startswith(f"f:9: found {ratings!r}, expected 'difference: d;") for fault in faults] == [True]


def test_a_block_that_is_too_short_a_repeated_candidate_and_no_paper_are_faults() -> None:
    assert read(QUERY[:3]) == (None, ["f:3: 3 lines for one paper, expected at least 4"])
    assert read([*QUERY, *FIRST[:6]]) == (None, ["f:11: 6 lines for one paper, expected at least 7"])
    assert read([*QUERY, *FIRST, *FIRST]) == (None, ["f:14: candidate 12 is listed twice"])
    assert read([]) == (None, ["f: found no paper"])
    assert read([*QUERY[:4], *FIRST[:7]])[1] == []
