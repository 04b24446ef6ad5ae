"""What a drawing shows, in words, for those who cannot see it."""

from types import SimpleNamespace
from typing import Any

from annot.base.names import OF_PAPERS
from annot.base.stats.values import Interval
from annot.publishing.report.cells import GRADES, MEASURE, SHARE, Number
from annot.publishing.report.tables import Figure, sentence


def test_a_title_is_the_first_sentence_of_the_caption() -> None:
    svg: Any = None
    assert Figure("grades", "Grades of each facet. Dashed: chance.", svg, "").title == "Grades of each facet."
    assert Figure("grades", "Grades", svg, "").title == "Grades"


def test_agreement_is_told_from_the_lowest_to_the_highest_query() -> None:
    points = {"aim": [("q1", 0.5, 0.9), ("q2", -0.25, None), ("q3", None, 0.75)], "way": [("q4", 0.1, None)]}
    assert sentence("agreement.drawn", words=OF_PAPERS, points=points, drawn=4, of=5) == (
        "Two dots for each of 4 of 5 queries, joined by a line. "
        "aim, 3 queries: before from -0.25 to 0.50, after from 0.75 to 0.90; way, 1 query: before from 0.10 to 0.10."
    )
    told = sentence("agreement.drawn", words=OF_PAPERS, points={"aim": [("q1", None, 0.5)] * 2}, drawn=2, of=2)
    assert told.endswith("each of 2 queries, joined by a line. aim, 2 queries: after from 0.50 to 0.50.")


def test_bars_dots_and_marks_are_told_with_their_figures() -> None:
    half = Number(0.5, SHARE, Interval(0.4, 0.6, 0.95, "Wilson"))
    told = sentence(
        "grades.drawn",
        words=OF_PAPERS,
        shares={"aim": [("no", half), ("yes", Number(0.25, SHARE))], "way": [("no", half)]},
    )
    assert told == "A bar for each grade. aim: no 50% [40, 60], yes 25%; way: no 50% [40, 60]."
    severity = {"a1": Number(0.1, GRADES), "a2": Number(-0.1, GRADES)}
    told = sentence("effect.severity_drawn", severity=severity)
    assert told == "A dot for each assessor: a1 +0.10; a2 -0.10."
    marks = {"final grades": {"x": 0.5, "y": 0.25}, "assessor A": {"x": 0.75}}
    assert sentence("effect.drawn", marks=marks, spans={"x": (0.25, 0.75), "y": None}).endswith(
        "x: final grades 50.0, assessor A 75.0, bar from 25.0 to 75.0; y: final grades 25.0."
    )
    told = sentence("collection.pools_drawn", bars={"p1": {"bm25": 3, "lsa": 4}, "p2": {"bm25": 1}})
    assert told == "A bar for each pool, with a part for each method. p1: 7 documents; p2: 1 document."


def test_runs_are_told_with_chance_and_what_is_significant() -> None:
    best = SimpleNamespace(chance=Number(0.25, MEASURE), runs=2, verdict=SimpleNamespace(pairs=1))
    runs = {"x": Number(0.5, MEASURE), "y": Number(0.375, MEASURE)}
    assert sentence("runs.drawn", best=best, runs=runs, holding=[("x", ["y"])]) == (
        "A dot for each run, from best to worst: x 50.0; y 37.5. A random order reaches 25.0. "
        "The difference between the two runs is significant: x is better than y."
    )
    best = SimpleNamespace(chance=Number(None, MEASURE), runs=1)
    told = sentence("runs.drawn", best=best, runs={"x": Number(0.5, MEASURE)}, holding=[])
    assert told == "A dot for each run, from best to worst: x 50.0."
