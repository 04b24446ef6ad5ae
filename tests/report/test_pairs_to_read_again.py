"""A pair to read again at a meeting: both abstracts, the sentences of the facet, and the words for its grades."""

from types import SimpleNamespace
from typing import Any

from annot.base.names import OF_PAPERS
from annot.base.records import Paper
from annot.base.stats.values import Interval
from annot.publishing.report.side_by_side import Screens, side_by_side
from annot.publishing.report.single_pages import _agreement
from annot.publishing.report.tables import Abstract, SideBySide

SAID = Screens(
    query_marks={"q1": (1,)},
    labels={"d1": ("method", "goal", "goal", "other")},
    facets={"aim": ("goal", "other"), "way": ("method",)},
    scale=("no", "bit", "much"),
    criteria={"aim": {0: "Nothing.", 1: "A bit.", 2: "Much."}, "way": {0: "x"}},
)


def paper(paper_id: str, *sentences: str) -> Paper:
    return Paper(paper_id=paper_id, title=f"Title {paper_id}", sentences=sentences)


def read_again(query: Paper | None, candidate: Paper | None, screens: Screens) -> SideBySide:
    return side_by_side(("q1", "d1"), "aim", (2, 0), query, candidate, screens, OF_PAPERS, summary="")


def test_both_sides_are_marked_and_each_grade_has_its_words_once() -> None:
    found = read_again(paper("p1", "a", "b"), paper("d1", "c", "d", "e", "f"), SAID)
    assert found.sides == (
        Abstract("Query", "Title p1", ("a", "b"), frozenset({1})),
        Abstract("Candidate", "Title d1", ("c", "d", "e", "f"), frozenset({1, 2, 3})),
    )
    assert found.criteria == (("2 much", "Much."), ("0 no", "Nothing."))


def test_a_paper_that_is_not_here_has_no_side_and_a_page_without_words_no_criteria() -> None:
    bare = Screens(query_marks={}, labels={}, facets={}, scale=SAID.scale, criteria={"aim": {0: "", 2: "Much."}})
    found = read_again(paper("p1", "a"), None, bare)
    assert found.sides == (Abstract("Query", "Title p1", ("a",), frozenset()),)
    assert found.criteria == (("2 much", "Much."),)
    assert read_again(None, None, Screens({}, {}, {}, SAID.scale, {})).criteria == ()


def group(name: str, pooled: float) -> Any:
    between = Interval(pooled - 0.1, pooled + 0.1, 0.95, "jackknife")
    summaries = {
        "alpha_ordinal": SimpleNamespace(pooled=pooled, intervals={"pooled": between}),
        "percent": SimpleNamespace(pooled=100 * pooled, intervals=None),
    }
    return SimpleNamespace(name=name, before=summaries, n_queries=3, n_pairs=7)


def test_agreement_before_the_period_stands_above_that_in_it() -> None:
    meeting: Any = SimpleNamespace(
        before=SimpleNamespace(groups=[group("aim", 0.5)]),
        agreement=SimpleNamespace(groups=[group("way", 0.7), group("aim", 0.6)]),
    )
    rows = [[None if cell is None else str(cell) for cell in row] for row in _agreement(meeting, OF_PAPERS).rows]
    assert rows == [
        ["aim", "before", "3", "7", "0.50 [0.40, 0.60]", "50"],
        ["aim", "this period", "3", "7", "0.60 [0.50, 0.70]", "60"],
        ["way", "before", "0", "0", None, None],
        ["way", "this period", "3", "7", "0.70 [0.60, 0.80]", "70"],
    ]
