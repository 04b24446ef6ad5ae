"""How a report says figures, lists and names, and what it says of a drawing for those who cannot see it."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.stats.values import Estimate, Finish, Interval, Undefined
from annot.publishing.report import cells
from annot.publishing.report.cells import GRADES, MEASURE, SHARE, Number, Quantity, p_value, parts, text
from annot.publishing.report.tables import Figure, capitalised, listed, sentence, with_p

FAR = Interval(-9, 9, 0.95, "jackknife")


@pytest.mark.parametrize(
    ("kind", "raw", "plain", "precise", "between"),
    [
        (cells.COEFFICIENT, 0.55557, "0.56", "0.5556", (-1, 1)),
        (cells.PERCENTAGE, 5.5555, "6", "5.56", (0, 9)),
        (cells.SHARE, 0.55555, "56%", "55.6%", (0, 100)),
        (cells.MEAN_SHARE, 0.55557, "56%", "55.56%", (0, 100)),
        (cells.MEASURE, 0.55557, "55.6", "55.56", (0, 100)),
        (cells.POINTS, 0.55557, "+55.6", "+55.56", (-100, 100)),
        (cells.LOSS, 0.55557, "55.6", "55.56", (0, 100)),
        (cells.EFFECT, 0.5557, "+0.56", "+0.56", (-9, 9)),
        (cells.DETECTABLE, 0.05557, "6", "5.6", (0, 100)),
        (cells.PERCENT, 0.05557, "5.6", "5.6", (-900, 900)),
        (cells.TAU, 0.5557, "0.56", "0.56", (-1, 1)),
        (cells.DISTANCE, 0.5557, "0.56", "0.56", (0, 9)),
        (cells.MEAN, 1.5557, "1.6", "1.56", (-9, 9)),
        (cells.GRADES, 0.5557, "+0.56", "+0.56", (-9, 9)),
        (cells.SECONDS, 2.5557, "2.6", "2.6", (0, 9)),
        (cells.HOURS, 2.5557, "2.6", "2.6", (0, 9)),
        (cells.COST, 2.5557, "2.56", "2.56", (0, 9)),
        (cells.P, 0.05557, "0.056", "0.056", (0, 1)),
    ],
)
def test_each_kind_of_figure_has_its_digits_and_ends(
    kind: Quantity, raw: float, plain: str, precise: str, between: tuple[float, float]
) -> None:
    found = Number(raw, kind)
    assert (found.text(precise=False), found.text(precise=True)) == (plain, precise)
    assert Number(raw, kind, FAR).ends == pytest.approx(between)


def test_a_number_of_a_p_value_has_four_decimals_in_its_ends() -> None:
    assert dataclasses.astuple(cells.P)[:2] == (4, 4)


def test_a_cell_is_a_figure_yes_no_or_words() -> None:
    shown = [text(one, precise=False) for one in (True, False, None, 7, "a", Number(0.5, cells.COEFFICIENT))]
    assert shown == ["yes", "no", "–", "7", "a", "0.50"]
    assert text(Number(0.5, cells.COEFFICIENT), precise=True) == "0.5000"
    assert [parts(one, precise=False) for one in (True, None)] == [("yes", ""), ("–", "")]
    with_ends = Number(0.5, cells.COEFFICIENT, Interval(0.3, 0.7, 0.95, "jackknife"))
    assert parts(with_ends, precise=False) == ("0.50", "[0.30, 0.70]")
    assert parts(with_ends, precise=True) == ("0.5000", "[0.3000, 0.7000]")
    assert with_ends.figure == "0.50"


def test_an_estimate_is_its_figure_or_why_there_is_none() -> None:
    between = Interval(10.0, 15.0, 0.95, "bootstrap")
    assert cells.estimate(Estimate(12.0, between), cells.HOURS) == "12.0 [10.0, 15.0]"
    assert cells.estimate(Estimate(Undefined("nobody judged"), Undefined("x")), cells.HOURS) == "unknown: nobody judged"
    days = ("2031-03-30", "2031-04-11")
    assert cells.date(Finish("2031-04-02", days, 0.95)) == "2031-04-02 [2031-03-30, 2031-04-11]"
    assert cells.date(Finish("2031-04-02", Undefined("one day"), 0.95)) == "2031-04-02"
    assert cells.date(Finish(Undefined("nobody judged"), Undefined("x"), 0.95)) == "unknown: nobody judged"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.00099, "p < 0.001"), (0.001, "p = 0.001"), (0.0126, "p = 0.013"), (1.0, "p = 1"), (Undefined("no"), "p = –")],
)
def test_a_p_value_in_a_sentence(value: float | Undefined, shown: str) -> None:
    assert with_p(value) == shown
    assert p_value(None) == "–"


@pytest.mark.parametrize(
    ("names", "last", "shown"),
    [
        *((["a"], "and", "a"), (["a", "b"], "and", "a and b"), (["a", "b", "c"], "and", "a, b and c")),
        *(([1, 2, 3, 4], "or", "1, 2, 3 or 4"), ([0], "or", "0")),
    ],
)
def test_names_in_a_row_have_a_word_before_the_last(names: list[object], last: str, shown: str) -> None:
    assert listed(names, last) == shown
    assert listed(["a", "b"]) == "a and b"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *(("nobody", "Nobody"), ("a1 changes", "a1 changes"), ("runs/x", "runs/x"), ("tf_idf", "tf_idf")),
        *(("", ""), ("x", "X"), ("bm25 first", "bm25 first"), ("Already", "Already"), ("1 pair", "1 pair")),
    ],
)
def test_a_sentence_has_a_capital_but_a_name_keeps_its_letters(written: str, shown: str) -> None:
    assert capitalised(written) == shown


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
