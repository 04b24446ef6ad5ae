"""A declared table: what is printed of its columns, what is in its data, its title, and why figures are missing."""

from __future__ import annotations

import pytest
from annot.base.names import OF_PAPERS
from annot.base.stats.values import Interval, Undefined
from annot.publishing.report.cells import COEFFICIENT, Number
from annot.publishing.report.tables import Column, Table, columns_for, data_of, missing_figures, table

BETWEEN = Interval(0.25, 0.75, 0.95, "jackknife")
FIGURE = Number(0.512345, COEFFICIENT, BETWEEN)


def made(**options: object) -> Table:
    return table(
        "some",
        [("a", 1), ("b", 2)],
        [Column("Its name", lambda row: row[0]), Column("", lambda row: row[0] * 2, "twice")],
        [
            Column("Number", lambda row: row[1]),
            Column("Seen", lambda row: -row[1], ""),
            Column("F", lambda row: FIGURE, "f"),
        ],
        **options,  # type: ignore[arg-type]
    )


def test_a_column_is_printed_if_it_has_a_heading_and_is_data_if_it_has_a_name() -> None:
    found = made()
    assert found.headings == ("Its name", "Number", "Seen", "F")
    assert found.rows == (("a", 1, -1, FIGURE), ("b", 2, -2, FIGURE))
    assert found.records == (
        {"its_name": "a", "twice": "aa", "number": 1, "f": FIGURE},
        {"its_name": "b", "twice": "bb", "number": 2, "f": FIGURE},
    )
    # Names stand in the first column; the numbers begin at the second that is printed.
    assert found.numeric_from == 1
    assert (found.name, found.caption, found.notes, found.command) == ("some", "", (), "annot report --table some")
    assert made(command="annot x").command == "annot x"
    assert made(notes=["one"]).notes == ("one",)


def test_data_keep_figures_as_they_were_computed() -> None:
    assert data_of(made(notes=["one"])) == {
        "name": "some",
        "caption": "",
        "notes": ("one",),
        "rows": [
            {"its_name": one, "twice": one * 2, "number": at, "f": {"value": 0.512345, "interval": BETWEEN}}
            for at, one in enumerate("ab", start=1)
        ],
    }


def test_a_column_for_each_key_has_its_name_in_data() -> None:
    columns: list[Column[str]] = columns_for([1, 2], lambda row, key: f"{row}{key}", lambda key: f"Grade {key}")
    assert [(one.heading, one.field, one.cell("x")) for one in columns] == [
        ("Grade 1", "1", "x1"),
        ("Grade 2", "2", "x2"),
    ]
    plain: list[Column[str]] = columns_for(["a"], lambda row, key: 0)
    assert [one.heading for one in plain] == ["a"]


@pytest.mark.parametrize(
    ("caption", "title", "below"),
    [
        *(("One.", "One.", ("n",)), ("One. Two. Three.", "One.", ("Two. Three.", "n")), ("", "", ("n",))),
        ("From 0.5 on.", "From 0.5 on.", ("n",)),
    ],
)
def test_the_first_sentence_is_the_title_and_the_rest_stands_below(
    caption: str, title: str, below: tuple[str, ...]
) -> None:
    found = Table("t", caption, (), (), "", notes=("n",))
    assert (found.title, found.below) == (title, below)


def test_each_reason_is_said_once_with_what_it_is_a_reason_for() -> None:
    few = [Undefined(f"{n} papers: an interval needs 4", "fewer than 4 papers") for n in (2, 3)]
    none = Undefined("nobody judged")
    figures = [Number(0.5, COEFFICIENT, few[0]), Number(none, COEFFICIENT, none), FIGURE, Number(0.5, COEFFICIENT)]
    assert missing_figures(figures, OF_PAPERS) == (
        "1 figure has no interval: 2 papers: an interval needs 4. 1 figure has no value: nobody judged.",
    )
    # Two reasons of a kind are told by the kind.
    assert missing_figures([Number(0.5, COEFFICIENT, one) for one in few], OF_PAPERS) == (
        "2 figures have no interval: fewer than 4 papers.",
    )
    assert missing_figures([FIGURE], OF_PAPERS) == ()


def test_an_interval_of_most_of_the_scale_is_data_and_a_note_and_no_bracket() -> None:
    wide = Interval(-0.9, 0.9, 0.95, "jackknife")
    found = table("t", [wide], [Column("A", lambda row: "a")], [Column("F", lambda row: Number(0.1, COEFFICIENT, row))])
    assert found.notes == ("1 figure has no interval: it would cover more than 80% of the scale.",)
    assert not found.bracketed
    assert data_of(found)["rows"] == [{"a": "a", "f": {"value": 0.1, "interval": wide}}]
