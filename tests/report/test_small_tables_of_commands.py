"""The columns of the small tables that commands print: chosen queries, shares, counts and what a pool drew."""

from types import SimpleNamespace
from typing import Any

from annot.publishing.report import commands
from annot.publishing.report.tables import Table


def row(**values: object) -> Any:
    return SimpleNamespace(**values)


def test_each_kind_has_its_count() -> None:
    found = commands.counts("imported", "count").of([("pairs", 7), ("queries", 3)])
    assert (found.headings, found.rows) == (("imported", "count"), (("pairs", 7), ("queries", 3)))


def test_shares_of_the_chosen_queries_name_kind_and_value() -> None:
    found = commands.SHARES.of([("period", row(value="2019", chosen=2, available=9))])
    assert found.headings == ("kind", "value", "chosen", "available")
    assert found.rows == (("period", "2019", 2, 9),)
    assert found.numeric_from == 2


def test_chosen_queries_are_a_paper_and_a_facet() -> None:
    assert commands.CHOSEN.of([row(paper_id="p1", facet="method")]).rows == (("p1", "method"),)


def test_the_pairs_that_two_people_share_are_counted() -> None:
    assert commands.PLAN_OVERLAPS.of([row(first="a1", second="a2", pairs=5)]).rows == (("a1", "a2", 5),)


def test_the_first_column_of_a_table_holds_names_unless_it_says_otherwise() -> None:
    assert Table("t", "C.", ("name", "n"), (), "annot").numeric_from == 1
