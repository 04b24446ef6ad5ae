"""Agreement in words: each figure with its n and interval, each reason once, in the terminal and in the report."""

from __future__ import annotations

import re

import pytest
from annot.agreement import AgreementTable, Bootstrap, Interval, Intervals, Undefined, agreement_table
from annot.records import Decision, Judgement
from annot.report.agreed import HEADLINE, every_rows, headline_rows, interval, intervals_in_words, value
from annot.report.document import Document, Section, Table, rows_of
from annot.report.latex import latex
from annot.report.reasons import HEADINGS, NO_INTERVAL, NO_VALUE, WITH_CARE, Reason, lines, reasons
from annot.steps.agreement import describe

PLAN = Bootstrap(200, 0.95, 1)
A = [0, 1, 2, 3, 0, 1]
B = [0, 2, 2, 3, 1, 0]


def judged(query_id: str, first: list[int], second: list[int]) -> list[Judgement]:
    return [
        Judgement(query_id, f"d{at}", assessor, grade)
        for assessor, row in (("a1", first), ("a2", second))
        for at, grade in enumerate(row)
    ]


def table(
    *queries: list[Judgement],
    settled: bool = True,
    binarised_at: int | None = None,
    coefficients: tuple[str, ...] | None = None,
) -> AgreementTable:
    """Of queries of one facet; the higher grade is the final one of every pair, or agreed pairs alone are final."""
    judgements = [one for query in queries for one in query]
    by_pair: dict[tuple[str, str], list[int]] = {}
    for one in judgements:
        assert one.grade is not None
        by_pair.setdefault((one.query_id, one.doc_id), []).append(one.grade)
    decisions = [
        Decision(*pair, max(grades), "adjudicated")
        for pair, grades in by_pair.items()
        if settled or len({*grades}) == 1
    ]
    more = {} if coefficients is None else {"coefficients": coefficients}
    return agreement_table(
        judgements,
        decisions,
        {one.query_id: "method" for one in judgements},
        grades=(0, 1, 2, 3),
        missing="drop",
        binarised_at=binarised_at,
        bootstrap=PLAN,
        **more,  # type: ignore[arg-type]
    )


UNANIMOUS = judged("u", [0] * 6, [0] * 6)
CONSTANT = judged("c", [0] * 6, [0, 1, 0, 2, 0, 0])
MIXED = table(judged("n", A, B), UNANIMOUS, CONSTANT)


def of(found: list[Reason], about: str) -> list[Reason]:
    return [one for one in found if one.about == about]


def concerns(one: Reason, title: str) -> bool:
    """Whether the reason is told of this coefficient."""
    if one.figures.startswith("all coefficients"):
        return title not in one.figures.split(":")[0]
    return title in one.figures


def test_each_headline_cell_has_the_n_of_its_own_coefficient() -> None:
    before = next(row for row in headline_rows(MIXED) if row[:2] == ["together", "before"])
    cells = dict(zip(HEADLINE, map(str, before[2:]), strict=True))
    assert cells["spearman_rho"].endswith("(1/3; 6)")
    assert cells["kappa"].endswith("(2/3; 12)")
    assert cells["percent"].endswith("(3/3; 18)")


def test_undefined_figure_has_no_queries_behind_it() -> None:
    row = next(row for row in headline_rows(table(UNANIMOUS)) if row[:2] == ["together", "before"])
    assert row[2] == "undefined (0/1; 0)"
    assert str(row[-1]).startswith("100.00")


def test_no_cell_of_a_group_with_open_disputes_has_a_figure_after_adjudication() -> None:
    unsettled = table(judged("n", A, B), UNANIMOUS, settled=False)
    for row in headline_rows(unsettled):
        if row[1] == "after":
            assert row[2:] == ["undefined (0/2; 0)"] * 4
    shown = describe(unsettled, per_query=False, every=True)
    assert "3 of 3 disputed pairs are not settled yet, on n" in shown
    for line in shown.splitlines():
        if re.match(r"(method|together) +after ", line):
            assert not re.search(r"\d\.\d", line)


def test_open_disputes_of_many_queries_are_one_reason() -> None:
    many = table(*(judged(f"q{at:02}", A, B) for at in range(50)), settled=False)
    found = of(reasons(many, names=tuple(many.titles)), NO_VALUE)
    assert [one.stage for one in found] == ["after"]
    assert found[0].why.startswith("150 of 150 disputed pairs are not settled yet, on q00, q01, q02 and 47 more")
    assert found[0].places == "2: method, together"


def test_one_reason_on_many_queries_is_one_line_with_their_number_and_an_example() -> None:
    many = table(*(judged(f"u{at:02}", [at % 3] * 6, [at % 3] * 6) for at in range(45)))
    found = [one for one in of(reasons(many, names=HEADLINE), NO_VALUE) if "pooled" not in one.figures]
    before = [one for one in found if one.stage == "before"]
    assert len(before) == 1
    assert before[0].places == "45: u00, u01, u02 and 42 more"
    assert "grade 0 (6 pairs)" in before[0].why
    assert before[0].figures == "all coefficients but Agreement, %"


def test_every_undefined_or_bare_figure_has_its_reason() -> None:
    """All coefficients, pooled and binarised too: each title without a value is named in some reason."""
    for made in (table(judged("n", A, B), UNANIMOUS, binarised_at=2), table(judged("two", [0, 1], [1, 1]))):
        told = reasons(made, names=tuple(made.titles))
        for about, mark in ((NO_VALUE, "undefined"), (NO_INTERVAL, "[none]")):
            # Each of these has both.
            wanting = {str(row[2]) for row in every_rows(made) if any(mark in str(cell) for cell in row[3:])}
            assert wanting
            for title in wanting:
                assert any(concerns(one, title) for one in of(told, about)), (title, about)


def test_unanimous_study_has_intervals_and_says_what_they_are_worth() -> None:
    found = table(UNANIMOUS, judged("v", [0] * 6, [0] * 6))
    shown = describe(found, per_query=False, every=False)
    assert "100.00 [100.00, 100.00]†" in shown
    assert "too few queries" not in shown
    assert "the interval has no width" in shown


def test_forced_zero_has_its_caveat_in_words() -> None:
    cares = of(reasons(MIXED, names=HEADLINE, statistics=("median",)), WITH_CARE)
    assert any("kappa is then 0" in one.why and "Cohen's kappa" in one.figures and one.places == "c" for one in cares)
    two = describe(table(judged("two", [0, 1], [1, 1])), per_query=False, every=False)
    assert "it rests on two pairs" in two


def test_terminal_names_method_level_and_resamples() -> None:
    assert "95% bootstrap intervals (BCa; † percentile" in intervals_in_words(MIXED)
    assert "200 resamples of whole queries" in describe(MIXED, per_query=False, every=False)


def test_terminal_says_what_the_policy_does() -> None:
    shown = describe(MIXED, per_query=False, every=False)
    assert shown.startswith("missing judgements: drop\n")
    assert "its pair stays with the grades that it has" in shown


def test_zero_has_no_sign() -> None:
    assert value("kappa", -0.00001) == "0.0000"
    assert value("percent", -0.001) == "0.00"
    assert value("kappa", -0.25) == "-0.2500"
    low = Interval(-0.001, 0.97, 0.95, "bca", 10, 0)
    assert interval(Intervals(low, low)) == "[0.00, 0.97]"


def test_percentile_interval_is_marked_where_bca_has_none() -> None:
    found = Interval(0.1, 0.2, 0.95, "percentile", 10, 0)
    assert interval(Intervals(found, Undefined("no"))) == "[0.10, 0.20]†"
    assert interval(Intervals(Undefined("no"), Undefined("no"))) == "[none]"
    assert interval(Intervals(found, found), percent=True) == "[10.00, 20.00]"


def test_only_the_wanted_coefficients_are_computed() -> None:
    few = table(judged("n", A, B), coefficients=("kappa",))
    assert few.queries[0].before == {"kappa": MIXED.queries[1].before["kappa"]}
    assert list(few.groups[0].after) == ["kappa"]


@pytest.mark.parametrize("settled", [True, False])
def test_latex_captions_carry_no_list_of_reasons(settled: bool) -> None:
    made = table(*(judged(f"q{at:02}", A, B) for at in range(50)), UNANIMOUS, settled=settled)
    block = Table("Why.", HEADINGS, rows_of(reasons(made, names=HEADLINE)), "annot", numeric_from=len(HEADINGS))
    text = latex(Document("T", "S", None, (), (Section("s", "S", (), (block,)),)))
    captions = re.findall(r"\\caption\{(.*)\}", text)
    assert captions == ["Why."]
    # The long column is broken into lines.
    assert r"\raggedright\arraybackslash}p{" in text
    assert len(text) < 5000


def test_lines_for_the_terminal_have_no_row_twice() -> None:
    told = lines(reasons(MIXED, names=tuple(MIXED.titles)))
    assert len(told) == len(set(told))
