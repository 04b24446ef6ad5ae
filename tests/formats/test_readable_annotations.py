"""CSFCube's readable annotation files: what each line says, and the line of each fault."""

import pytest
from annot.base.errors import InputError
from annot_csfcube.files import Release, read_release

NAME = "readable_annotations/7-method-adju.txt"
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


def read(lines: list[str]) -> Release:
    content = "".join(f"{line}\n" for line in lines).encode()
    labels = ("method", "other")
    return read_release({NAME: content}, name="f", known_labels=labels, facet_labels={"method": ("method",)})


def faults_of(lines: list[str]) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(lines)
    return [fault.removeprefix(f"f/{NAME}:").strip() for fault in caught.value.faults]


def changed(lines: list[str], at: int, line: str) -> list[str]:
    return [*lines[: at - 1], line, *lines[at:]]


def test_the_query_and_its_candidates_with_text_ratings_grade_and_sources() -> None:
    found = read([*QUERY, "", *FIRST, *SECOND])
    assert [(one.paper_id, one.title, one.year, one.sentences) for one in found.papers] == [
        ("7", "The query", 1999, ("We try.", "It works.")),
        ("12", "", None, ("One.",)),
        ("13", "Another", -1, ("Two.",)),
    ]
    assert found.papers[0].labels == ("method", "other")
    assert found.papers[0].citations == ("12",)
    (query,) = found.queries
    assert (query.query_id, query.sentences, query.paper_type) == ("7-method", (0,), None)
    assert [(one.doc_id, one.assessor, one.grade) for one in found.judgements] == [
        *(("12", "a2", 1), ("12", "a3", 3)),
        *(("13", "a1", None), ("13", "a4", 0)),
    ]
    assert [(one.doc_id, one.grade, one.origin) for one in found.decisions] == [
        ("12", 2, "adjudicated"),
        ("13", 0, "adjudicated"),
    ]
    assert [(entry.doc_id, entry.drawn.method) for entry in found.pools[0].entries] == [("12", "cited"), ("13", "bm25")]
    assert found.facts.missing_ratings == 1
    assert not found.facts.pools_in_order


def test_a_query_that_is_its_own_candidate_has_the_text_of_the_query() -> None:
    (paper,) = read([*QUERY, *changed(FIRST, 2, "paper_id: 7; YEAR: 2000")]).papers
    assert (paper.title, paper.year, paper.citations) == ("The query", 1999, ())


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
    assert faults_of(changed([*QUERY, *FIRST], at, line)) == [problem]


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
    (fault,) = faults_of(changed([*QUERY, *FIRST], 9, ratings))
    assert fault.startswith(f"9: found {ratings!r}, expected 'difference: d;")


def test_a_block_that_is_too_short_a_repeated_candidate_and_no_paper_are_faults() -> None:
    assert faults_of(QUERY[:3]) == ["3: 3 lines for one paper, expected at least 4"]
    assert faults_of([*QUERY, *FIRST[:6]]) == ["11: 6 lines for one paper, expected at least 7"]
    assert faults_of([*QUERY, *FIRST, *FIRST]) == ["14: candidate 12 is listed twice"]
    assert faults_of([]) == ["found no paper"]
    assert len(read([*QUERY[:4], *FIRST[:7]]).papers) == 2
