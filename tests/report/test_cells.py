"""One way to print a number: digits by its interval, or as published, and nothing outside what is possible."""

import re
from types import SimpleNamespace

import pytest
from annot.base.names import OF_PAPERS
from annot.base.stats.values import Estimate, Finish, Interval, Undefined
from annot.base.words import read_words
from annot.publishing.report import cells
from annot.publishing.report.cells import (
    COEFFICIENT,
    GRADES,
    HOURS,
    MEASURE,
    PERCENTAGE,
    POINTS,
    SHARE,
    Number,
    Quantity,
    decimals,
    p_value,
    parts,
    text,
)
from annot.publishing.report.tables import capitalised, listed, sentence, with_p
from hypothesis import given
from hypothesis import strategies as st


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "jackknife")


@pytest.mark.parametrize(
    ("error", "shown"),
    # Particle Data Group 2022, Review of Particle Physics, section 5.3: 0.827 with errors 0.119 and 0.367; 0.827±0.119
    # is 0.83±0.12, 0.827±0.367 is 0.8±0.4.
    [(0.119, 2), (0.367, 1), (0.0354, 3), (0.0355, 2), (4.5, 0), (1.2, 1), (120.0, 0)],
)
def test_digits_follow_the_rule_of_the_particle_data_group(error: float, shown: int) -> None:
    assert decimals(error) == shown


def test_figure_and_ends_have_the_same_digits() -> None:
    assert str(Number(0.6551, COEFFICIENT, interval(0.54, 0.71))) == "0.66 [0.54, 0.71]"
    assert str(Number(0.436, SHARE, interval(0.396, 0.4863))) == "44% [40, 49]"
    assert str(Number(0.8148, COEFFICIENT, interval(0.80, 0.84))) == "0.815 [0.800, 0.840]"


def test_marks_are_those_of_the_language_of_the_page() -> None:
    german = read_words("de", overrides=None)
    assert str(Number(0.6551, COEFFICIENT, interval(0.54, 0.71), say=german)) == "0,66 [0,54; 0,71]"
    assert str(Number(0.5, COEFFICIENT, interval(-0.9, 0.99), say=german)).endswith(" [–]")
    assert str(Number(1234.5, HOURS, say=german)) == "1.234,5"
    assert str(Number(1234.5, HOURS, say=read_words("zh", overrides=None))) == "1,234.5"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.002, 0.098, "+5.0 [0.2, 9.8]"),
        (-0.098, -0.002, "-5.0 [-9.8, -0.2]"),
        (0.0003, 0.0997, "+5.00 [0.03, 9.97]"),
        (-0.002, 0.102, "+5 [0, 10]"),
    ],
)
def test_the_interval_of_a_difference_that_excludes_0_reads_so(low: float, high: float, shown: str) -> None:
    assert str(Number((low + high) / 2, POINTS, interval(low, high))) == shown


def test_no_figure_has_more_digits_than_were_published() -> None:
    assert str(Number(0.5, SHARE, interval(0.4999, 0.5001))) == "50.0% [50.0, 50.0]"


@given(st.floats(-1, 1), st.floats(-4, 4), st.floats(0.001, 4))
def test_no_interval_leaves_what_is_possible_and_digits_never_differ(value: float, middle: float, half: float) -> None:
    shown = str(Number(value, COEFFICIENT, interval(middle - half, middle + half)))
    found = re.findall(r"-?\d+\.?\d*", shown)
    assert len({len(one.partition(".")[2]) for one in found}) == 1
    assert all(-1 <= float(one) <= 1 for one in found)


def test_an_interval_without_width_is_none() -> None:
    assert str(Number(100.0, PERCENTAGE, interval(100.0, 100.0))) == "100"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [(COEFFICIENT, -0.8, 0.8), (SHARE, 0.1, 0.9), (MEASURE, -0.4, 0.8), (PERCENTAGE, 20.0, 100.0)],
)
def test_an_interval_over_four_fifths_of_its_scale_is_read_as_too_wide(kind: Quantity, low: float, high: float) -> None:
    found, wider = (Number(high / 2, kind, interval(low, end)) for end in (high, high * 1.01))
    if kind is PERCENTAGE:
        wider = Number(50.0, kind, interval(19.9, high))
    assert (found.bracketed, found.lacking, "[" in str(found)) == (True, None, True)
    assert not wider.bracketed
    assert wider.lacking is not None
    assert wider.lacking.reason == "it would cover more than 80% of the scale"
    assert {wider.parts(precise=precise)[1] for precise in (False, True)} == {"(interval too wide)"}
    assert wider.interval is not None, "data keep it"


def test_a_figure_without_a_scale_keeps_the_widest_interval() -> None:
    assert str(Number(0.5, GRADES, interval(-9.0, 9.0))) == "0 [-9, 9]"


def test_no_value_is_a_dash_and_keeps_no_interval() -> None:
    assert str(Number(Undefined("no"), COEFFICIENT, interval(0, 1))) == "–"
    assert str(Number(None, SHARE)) == "–"


def test_zero_has_no_sign() -> None:
    assert str(Number(-0.00001, COEFFICIENT)) == "0.00"
    assert str(Number(0.5, COEFFICIENT, interval(-0.001, 0.97))) == "0.5 [0.0, 1.0]"
    assert [str(Number(value, GRADES)) for value in (-0.001, 0.0, 0.004, -0.02, 0.02)] == [
        "0.00",
        "0.00",
        "0.00",
        "-0.02",
        "+0.02",
    ]


def test_what_a_figure_rests_on_stands_behind_it() -> None:
    found = Number(0.5, COEFFICIENT, interval(0.3, 0.7), after="(1 of 3 queries)")
    assert str(found) == "0.50 [0.30, 0.70] (1 of 3 queries)"
    assert found.parts(precise=False) == ("0.50", "[0.30, 0.70] (1 of 3 queries)")


def test_p_values_are_never_zero() -> None:
    assert [p_value(value) for value in (0.5, 0.0123, 0.001, 0.0004, 0.0)] == [
        "0.5",
        "0.012",
        "0.001",
        "< 0.001",
        "< 0.001",
    ]
    assert p_value(Undefined("no")) == "–"


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
