"""What the tables of agreement count: queries, pairs, disputes and reasons, on nine pairs worked by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import HEADLINE
from annot.measuring.agreement.estimates import AgreementTable, agreement_table
from annot.publishing.report.cells import Number
from annot.publishing.report.sections import agreement, whole
from annot.publishing.report.tables import Table

GIVEN = {"q1-aim": [(0, 0), (1, 2), (3, 3), (2, 0)], "q2-aim": [(0, 0), (1, 1), (2, 3)], "q3-way": [(0, 0), (0, 0)]}
"""The grades of two assessors, pair by pair: three of nine differ."""
FINAL = {("q1-aim", "d1"): 2, ("q1-aim", "d3"): 1, ("q2-aim", "d2"): 2}
"""The second is a grade that neither gave."""


def table(*facets: str, binarised_at: int | None = None) -> AgreementTable:
    judgements, decisions = [], []
    for query_id, rows in GIVEN.items():
        if query_id.split("-")[1] in facets:
            for at, (first, second) in enumerate(rows):
                judgements += [
                    Judgement(query_id, f"d{at}", name, one) for name, one in (("a1", first), ("a2", second))
                ]
                if first == second:
                    decisions.append(Decision(query_id, f"d{at}", first, "agreed"))
                else:
                    decisions.append(Decision(query_id, f"d{at}", FINAL[query_id, f"d{at}"], "adjudicated"))
    return agreement_table(
        *(judgements, decisions, {query_id: query_id.split("-")[1] for query_id in GIVEN}),
        grades=(0, 1, 2, 3),
        missing="drop",
        binarised_at=binarised_at,
        level=0.95,
        topics=None,
        coefficients=HEADLINE,
    )


def rows(found: Table) -> list[list[object]]:
    return [[cell.raw if isinstance(cell, Number) else cell for cell in row] for row in found.rows]


def test_facets_and_all_have_their_queries_pairs_and_disputes() -> None:
    found = rows(agreement.glance(table("aim", "way")))
    assert [row[:3] for row in found] == [["aim", 2, 7], ["way", 1, 2], ["together", 3, 9]]
    assert [row[-1] for row in found] == pytest.approx([3 / 7, 0.0, 3 / 9])
    # The median over queries of the share of equal grades: 1/2 and 2/3; with the third query 1.
    assert [row[5] for row in found] == pytest.approx([100 * (1 / 2 + 2 / 3) / 2, 100.0, 100 * 2 / 3])


def test_one_facet_is_shown_as_all_together() -> None:
    assert [row[0] for row in agreement.glance(table("aim")).rows] == ["together"]


def test_adjudication_counts_pairs_asked_twice_disputed_and_overruled() -> None:
    found = rows(agreement.adjudicated(table("aim", "way")))
    assert found[0] == ["aim", 7, 3, pytest.approx(3 / 7), 7, 1, pytest.approx(1 / 7), pytest.approx(1 / 8), 2]
    assert found[-1][:3] == ["together", 9, 3]
    shares = agreement.shares(table("aim", "way"))
    assert [(one["facet"], one["coefficient"]) for one in shares.records[:2]] == [
        ("aim", "disputed_share"),
        ("aim", "overruled_share"),
    ]
    pooled = shares.records[0]["pooled"]
    assert isinstance(pooled, Number)
    assert pooled.rests_on == (("queries", 2), ("pairs", 7))


def test_every_statistic_rests_on_the_queries_and_pairs_behind_it() -> None:
    found = agreement.all_coefficients(table("aim", "way"))
    before = {(row["facet"], row["adjudication"], row["coefficient"]): row for row in found.records}
    alpha = before["together", "before", "alpha_ordinal"]
    median, pooled = alpha["median"], alpha["pooled"]
    assert isinstance(median, Number)
    assert isinstance(pooled, Number)
    # The query with one grade has no alpha, but its pairs are among all.
    assert median.rests_on == (("queries", 2), ("pairs", 7))
    assert pooled.rests_on == (("queries", 3), ("pairs", 9))
    shown = {(row[0], row[1], row[2]): row for row in found.rows}
    assert shown["together", "before", table("aim").titles["alpha_ordinal"]][7:9] == ("2/3", 7)
    assert len(found.rows) == 3 * 2 * 4


def test_a_headline_figure_of_fewer_queries_than_its_row_names_them() -> None:
    found = agreement.headline(table("aim", "way"))
    together = next(row for row in found.rows if row[:2] == ("together", "before"))
    assert found.headings[5].startswith("Krippendorff's alpha")
    alpha, percent = together[5], together[7]
    assert isinstance(alpha, Number)
    assert isinstance(percent, Number)
    assert (alpha.after, percent.after) == ("(2 of 3 queries, 7 pairs)", "")


def test_reasons_of_adjudicators_are_counted_the_most_frequent_first() -> None:
    reasons = ["b", "a", "b", None, "c"]
    decisions = [SimpleNamespace(origin="adjudicated", reason=one) for one in reasons]
    decisions.append(SimpleNamespace(origin="agreed", reason="a"))
    study: Any = SimpleNamespace(words=OF_PAPERS, decisions=decisions)
    (found,) = agreement.differences(study)
    assert found.rows == (("b", 2), ("a", 1), ("c", 1))
    study.decisions = decisions[3:4]
    assert list(agreement.differences(study)) == []


def test_pairs_of_a_person_that_were_not_disputed_are_others() -> None:
    study: Any = SimpleNamespace(
        words=OF_PAPERS,
        agreement=table("aim", "way"),
        outcome=SimpleNamespace(adjudications=range(4)),
        unjudgeable=2,
        open=1,
    )
    found = agreement._counts(study)
    assert (found["asked_twice"], found["needed"], found["by_policy"]) == (9, 3, 0)
    assert (found["by_person"], found["others"]) == (7, 4)


def test_versions_of_guidelines_have_the_figures_of_their_pairs() -> None:
    versions: Any = [
        SimpleNamespace(facet="aim", number=1, sent_at="2031-02-03T04:05:06Z", why=None, table=table("aim"), mixed=2),
        SimpleNamespace(facet="way", number=2, sent_at="2031-03-03T04:05:06Z", why="clearer", table=None, mixed=0),
    ]
    first, second = rows(agreement.by_guidelines(versions))
    assert first[:6] == ["aim", 1, "2031-02-03", "", 2, 7]
    assert first[7:] == [pytest.approx(100 * (1 / 2 + 2 / 3) / 2), 2]
    assert second == ["way", 2, "2031-03-03", "clearer", 0, 0, None, None, 0]


def test_the_first_screen_has_alpha_before_and_after_the_share_disputed_and_what_is_open() -> None:
    found = table("aim", "way")
    nothing = Undefined("nothing is measured")
    study: Any = SimpleNamespace(
        words=OF_PAPERS,
        agreement=found,
        effect=nothing,
        evaluated=nothing,
        diagnosed=SimpleNamespace(diagnosed=SimpleNamespace(diagnosis=nothing)),
        settings=SimpleNamespace(agreement=SimpleNamespace(level=0.95)),
        judgements=[
            SimpleNamespace(assessor=name, pair=("q", doc), counts=name != "a3")
            for name, doc in (("a1", "d1"), ("a2", "d1"), ("a1", "d2"), ("a3", "d3"))
        ],
        open=2,
        incomplete=3,
    )
    values = whole._values(study)
    before, after = values["alpha"], values["alpha_after"]
    assert isinstance(before, Number)
    assert isinstance(after, Number)
    assert (before.raw, after.raw) == tuple(
        one["alpha_ordinal"].median for one in (found.groups[-1].before, found.groups[-1].after)
    )
    assert before.raw != after.raw
    assert isinstance(disputed := values["disputed"], Number)
    assert disputed.raw == pytest.approx(3 / 9)
    assert (values["level"], values["assessors"], values["judged"], values["unfinished"]) == ("95%", 2, 2, 5)
    assert values["facets"] == [("aim", 2), ("way", 1)]
    assert (values["effect"], values["tau"], values["order_changes"], values["known"]) == (None, None, "", False)
