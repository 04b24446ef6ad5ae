"""Agreement in words: each figure with its n and interval, each reason once, in the terminal and in the report."""

import re
from collections.abc import Callable

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.estimates import AgreementTable, agreement_table
from annot.publishing.report.cells import Number
from annot.publishing.report.sections.agreement import all_coefficients, by_query, glance, headline
from annot.publishing.report.tables import Table
from annot.steps.agreement import describe

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
        level=0.95,
        topics=None,
        **more,  # type: ignore[arg-type]
    )


UNANIMOUS = judged("u", [0] * 6, [0] * 6)
CONSTANT = judged("c", [0] * 6, [0, 1, 0, 2, 0, 0])
MIXED = table(judged("n", A, B), UNANIMOUS, CONSTANT)


def rows_of(shown: Table, *names: str) -> list[tuple[object, ...]]:
    """The rows that begin with these cells."""
    return [row for row in shown.rows if row[: len(names)] == names]


def test_no_cell_of_a_group_with_open_disputes_has_a_figure_after_adjudication() -> None:
    unsettled = table(judged("n", A, B), UNANIMOUS, settled=False)
    ((*_, rho, alpha, kappa, percent),) = rows_of(headline(unsettled), "together", "after")
    assert {str(cell) for cell in (rho, alpha, kappa, percent)} == {"–"}
    shown = describe(unsettled, OF_PAPERS, per_query=False, every=True)
    assert "3 of 3 disputed pairs are not settled yet, on n" in shown
    for row in rows_of(all_coefficients(unsettled), "together", "after"):
        assert not any(isinstance(cell, Number) and cell.value is not None for cell in row)


def test_open_disputes_of_many_queries_are_one_reason() -> None:
    many = table(*(judged(f"q{at:02}", A, B) for at in range(50)), settled=False)
    for shown in (headline(many), all_coefficients(many)):
        (told,) = [note for note in shown.notes if "not settled" in note]
        assert "150 of 150 disputed pairs are not settled yet, on q00, q01, q02 and 47 more" in told


def test_one_reason_on_many_queries_is_told_once_with_the_number_of_figures() -> None:
    many = table(*(judged(f"u{at:02}", [0] * 6, [0] * 6) for at in range(45)))
    (note,) = by_query(many).notes
    told = re.findall(r"(\d+) figures have no value: ([^.]*)", note)
    shown = [cell for row in by_query(many).rows for cell in row if isinstance(cell, Number)]
    assert sum(int(n) for n, _ in told) == sum(cell.value is None for cell in shown) > 45
    assert "grade 0 (6 pairs)" in told[0][1]
    assert len(told) == len({why for _, why in told}) <= 3


@pytest.mark.parametrize("shown", [glance, headline, all_coefficients, by_query])
def test_every_undefined_or_bare_figure_has_its_reason(shown: Callable[[AgreementTable], Table]) -> None:
    """All coefficients, pooled and binarised too."""
    lacking = {"value": 0, "interval": 0}
    for made in (table(judged("n", A, B), UNANIMOUS, binarised_at=2), table(judged("two", [0, 1], [1, 1]))):
        found = shown(made)
        told = " ".join(found.notes)
        for cell in (cell for row in found.rows for cell in row if isinstance(cell, Number)):
            what, why = ("value", cell.raw) if isinstance(cell.raw, Undefined) else ("interval", cell.interval)
            if isinstance(why, Undefined):
                lacking[what] += 1
                assert f"no {what}: {why.kind}" in told or f"no {what}: {why.reason}" in told
            else:
                # Quartiles and the figures of a query have no interval by design.
                assert cell.ends or cell.interval is None
    assert lacking["value"]
    assert lacking["interval"] or shown is by_query


def test_forced_zero_has_its_caveat_in_words() -> None:
    (care,) = [note for note in headline(MIXED).notes if "kappa is then 0" in note]
    assert "Cohen's kappa" in care
    assert " with care on c: " in care
    two = describe(table(judged("two", [0, 1], [1, 1])), OF_PAPERS, per_query=False, every=False)
    assert "it rests on two pairs" in two


def test_only_the_wanted_coefficients_are_computed() -> None:
    few = table(judged("n", A, B), coefficients=("kappa",))
    assert few.queries[0].before == {"kappa": MIXED.queries[1].before["kappa"]}
    assert list(few.groups[0].after) == ["kappa"]
