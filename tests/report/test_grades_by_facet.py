"""The tables of final and given grades, on seven decisions counted by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import CITED, Decision, Draw, Judgement, Pool, PoolEntry, Query
from annot.publishing.report.cells import Number
from annot.publishing.report.sections import collection
from annot.publishing.report.tables import Chapter, Table

FINAL = {
    ("p1-aim", "d1"): 0,
    ("p1-aim", "d2"): 1,
    ("p1-aim", "d3"): 3,
    ("p1-way", "d1"): 2,
    ("p1-way", "d2"): 0,
    ("p2-aim", "d1"): 3,
    ("p2-aim", "d4"): 0,
}
GIVEN = (
    *(("p1-aim", "d1", "a1", 0), ("p1-aim", "d2", "a1", 3), ("p2-aim", "d1", "a1", None), ("p2-aim", "d4", "a1", 1)),
    ("p1-aim", "d1", "a2", None),
)


def pool(paper_id: str, methods: dict[str, str]) -> Pool:
    entries = tuple(
        PoolEntry(doc_id, Draw(method, None, None, at)) for at, (doc_id, method) in enumerate(methods.items())
    )
    return Pool(paper_id, "blocks", 2, 10, 1, (CITED, "bm25"), (), (), 0, entries)


def study(final: dict[tuple[str, str], int], given: tuple[tuple[str, str, str, int | None], ...] = GIVEN) -> Any:
    flagged = Judgement("p1-aim", "d3", "a1", 2, flags=("by another account",))
    scale = SimpleNamespace(grades=(0, 1, 2, 3), names=("no", "bit", "much", "same"))
    queries = [
        Query(f"{paper}-{facet}", paper, facet, ()) for paper, facet in (("p1", "aim"), ("p1", "way"), ("p2", "aim"))
    ]
    return SimpleNamespace(
        words=OF_PAPERS,
        settings=SimpleNamespace(scale=scale, facets={"aim": (), "way": (), "end": ()}),
        queries=queries,
        snapshot=SimpleNamespace(topics={query.query_id: query.topic_id for query in queries}),
        decisions=[Decision(*pair, grade, "agreed") for pair, grade in final.items()],
        judgements=[*(Judgement(*one) for one in given), flagged],
        pools={"p1": pool("p1", {"d1": CITED, "d2": "bm25"}), "p2": pool("p2", {"d1": "bm25", "d4": CITED})},
        level=0.95,
        grade_counts=None,
        **{
            "made_elsewhere": None,
            "given_to": [(2, 7)],
            "unjudgeable": 0,
            "withdrawn": (0, 0),
            "open": 0,
            "incomplete": 0,
        },
        isolation="project",
    )


def data(found: Table) -> list[dict[str, object]]:
    return [
        {name: cell.raw if isinstance(cell, Number) else cell for name, cell in record.items()}
        for record in found.records
    ]


def chapters(final: dict[tuple[str, str], int]) -> dict[str, Chapter]:
    return {chapter.anchor: chapter for chapter in collection.grades_appendix(study(final))}


def named(chapter: Chapter) -> dict[str, Table]:
    return {found.name: found for found in chapter.tables}


def shares(facet: str, queries: int, counts: list[int]) -> dict[str, object]:
    pairs = sum(counts)
    by_grade = {str(grade): n / pairs for grade, n in enumerate(counts)}
    return {"facet": facet, "queries": queries, "pairs": pairs, **by_grade}


def test_each_facet_and_all_have_the_share_of_each_grade() -> None:
    table = collection.final_grades(study(FINAL))
    assert data(table) == [
        shares("aim", 2, [2, 1, 0, 2]),
        shares("way", 1, [1, 0, 1, 0]),
        shares("together", 3, [3, 1, 1, 2]),
    ]
    assert table.headings == ("Facet", "Queries", "Pairs", "0 no", "1 bit", "2 much", "3 same")


def test_a_study_of_one_facet_has_no_line_for_all() -> None:
    of_aim = {pair: grade for pair, grade in FINAL.items() if pair[0].endswith("aim")}
    assert data(collection.final_grades(study(of_aim))) == [shares("aim", 2, [2, 1, 0, 2])]


def test_in_a_sentence_a_share_without_a_useful_interval_is_the_share_alone() -> None:
    of_two = {pair: grade for pair, grade in FINAL.items() if pair in (("p1-way", "d2"), ("p2-aim", "d4"))}
    chapter = collection.grades_body(study(of_two))
    assert "(interval too wide)" in str(chapter.blocks[1].rows[-1][3])
    assert 'a final grade: 100% have the lowest ("no"), 0% the highest' in chapter.paragraphs[0]


def test_without_a_final_grade_the_chapter_says_so() -> None:
    assert collection.grades_body(study({})) == Chapter("grades", "Grades", ("No pair has a final grade yet.",))
    assert list(chapters({})) == ["judgements"]


def test_assessors_have_the_shares_of_what_counts_and_the_mean_of_what_has_a_grade() -> None:
    (table,) = chapters(FINAL)["judgements"].tables
    first, second = data(table)
    assert first == {
        **{"assessor": "a1", "queries": 2, "pairs": 4, "0": 0.25, "1": 0.25, "2": 0.0, "3": 0.25},
        **{"no_grade": 1, "mean_grade": pytest.approx(4 / 3)},
    }
    assert (second["assessor"], second["pairs"], second["no_grade"], second["mean_grade"]) == ("a2", 1, 1, None)


def test_documents_of_a_grade_or_higher_are_counted_by_query() -> None:
    chapter = chapters(FINAL)["final-grades"]
    assert chapter.paragraphs == ("7 pairs have a final grade: 3 queries of 2 papers, 2.33 pairs each on average.",)
    # aim: of p1 grades 0, 1, 3, of p2 3 and 0. way: of p1 2 and 0.
    rows = {(row["facet"], row["grade"]): row for row in data(named(chapter)["relevant"])}
    counts = {
        ("aim", "1 or higher"): (1, 2, 3 / 2, 3 / 5, 2, 5),
        ("aim", "2 or higher"): (1, 1, 2 / 2, 2 / 5, 2, 5),
        ("aim", "3 or higher"): (1, 1, 2 / 2, 2 / 5, 2, 5),
        ("way", "2 or higher"): (1, 1, 1, 1 / 2, 1, 2),
        ("way", "3 or higher"): (0, 0, 0, 0, 1, 2),
        ("together", "1 or higher"): (1, 2, 4 / 3, 4 / 7, 3, 7),
        ("together", "3 or higher"): (0, 1, 2 / 3, 2 / 7, 3, 7),
    }
    assert len(rows) == 9
    columns = ("fewest", "most", "mean", "share_of_pairs", "queries", "pairs")
    for row, expected in counts.items():
        assert tuple(rows[row][column] for column in columns) == pytest.approx(expected), row


def test_two_facets_of_a_paper_share_their_candidates() -> None:
    chapter = chapters(FINAL)["final-grades"]
    across = named(chapter)["aim-and-way"]
    # Candidates d1 (0 for aim, 2 for way) and d2 (1, 0) have a grade in both facets of p1.
    assert [list(row.values()) for row in data(across)] == [
        ["aim 0 no", 0, 0, 1, 0],
        ["aim 1 bit", 1, 0, 0, 0],
        ["aim 2 much", 0, 0, 0, 0],
        ["aim 3 same", 0, 0, 0, 0],
    ]
    assert "(2 candidates of 1 paper)" in across.caption
    assert not {"aim-and-end", "end-and-way"} & named(chapter).keys()


def test_papers_that_the_query_paper_cites_are_those_of_its_own_pool() -> None:
    # p1 cites d1 and p2 cites d4: grades 0 and 0 for aim, 2 for way.
    cited = data(named(chapters(FINAL)["final-grades"])["cited"])
    assert cited == [
        {**shares("aim", 2, [2, 0, 0, 0]), "0_or_1": 1.0},
        {**shares("way", 1, [0, 0, 1, 0]), "0_or_1": 0.0},
    ]
    assert "cited" not in named(chapters({("p1-aim", "d2"): 1})["final-grades"])


def test_the_mean_of_documents_has_an_interval_between_none_and_all() -> None:
    papers = [f"p{at}" for at in range(6)]
    made = study({})
    made.queries = [Query(f"{paper}-aim", paper, "aim", ()) for paper in papers]
    made.snapshot.topics = {query.query_id: query.topic_id for query in made.queries}
    made.decisions = [
        Decision(f"p{at}-aim", f"d{doc}", 3 * (doc <= min(at, 2)), "agreed") for at in range(6) for doc in range(3)
    ]
    row = named(list(collection.grades_appendix(made))[1])["relevant"].records[-1]
    mean = row["mean"]
    assert isinstance(mean, Number)
    assert mean.raw == pytest.approx((1 + 2 + 3 + 3 + 3 + 3) / 6)
    assert mean.ends is not None
    low, high = mean.ends
    assert 0 < low < 2.5
    assert 2.5 < high <= 3
    assert "with intervals" in collection.grades_body(made).blocks[0].caption
