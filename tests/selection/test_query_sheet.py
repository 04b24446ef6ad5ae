"""The sheet of query papers, as it is written and read."""

import csv
import io
from collections.abc import Sequence

import pytest
from annot.base.errors import InputError
from annot.pools.selection import COLUMNS, SheetRow, read_sheet, write_sheet
from hypothesis import given, settings
from hypothesis import strategies as st
from sheet_rows import FACETS, PAPER_TYPES, row

EXPLANATION = ("How to fill in: a type, and a rating.", "    1. an indented line", "=1+1")
CELL = st.text(
    st.one_of(st.sampled_from("=+-@'\t\n,;\"＝"), st.characters(exclude_categories=("Cc", "Cs"))),
    min_size=1,
    max_size=12,
).filter(lambda text: text == text.strip() != "")
ROW = st.builds(
    lambda paper_id, title, year, rated, chosen, note, abstract: SheetRow(
        paper_id, title, year, "1994-1999", rated[0], rated[1], chosen, note, abstract
    ),
    CELL,
    CELL,
    st.one_of(st.none(), st.integers(1994, 1999)),
    st.one_of(st.just((None, None)), st.tuples(st.sampled_from(PAPER_TYPES), st.integers(1, 5))),
    st.sampled_from([(), ("background",), ("background", "result"), FACETS]),
    st.one_of(st.just(""), CELL),
    CELL,
)


def written(rows: Sequence[SheetRow]) -> str:
    return write_sheet(rows, explanation=EXPLANATION)


def read(text: str | bytes, known: Sequence[str] | None = None) -> tuple[SheetRow, ...]:
    data = text.encode("utf-8") if isinstance(text, str) else text
    return read_sheet(data, name="sheet.csv", facets=FACETS, types=PAPER_TYPES, known=known)


@settings(deadline=None)
@given(st.lists(ROW, min_size=1, max_size=5, unique_by=lambda entry: entry.paper_id))
def test_what_is_written_is_read_back_to_the_letter(rows: list[SheetRow]) -> None:
    assert read(written(rows)) == tuple(rows)


@settings(deadline=None)
@given(st.lists(ROW, min_size=1, max_size=5))
def test_no_cell_of_a_written_sheet_begins_like_a_formula(rows: list[SheetRow]) -> None:
    cells = [cell for line in csv.reader(io.StringIO(written(rows)[1:], newline="")) for cell in line]
    assert len(cells) == len(COLUMNS) * (1 + len(EXPLANATION) + len(rows))
    assert not any(cell[:1] in tuple("=+-@\t\r\n＝＋－＠") for cell in cells if cell)


def test_instructions_that_were_filled_down_over_are_passed_over_and_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A spreadsheet leaves them like this if type and rating are filled in from the header to the last paper."""
    lines = list(csv.reader(io.StringIO(written([row("p1"), row("p2")]).removeprefix("\ufeff"), newline="")))
    types, ratings = (lines[0].index(column) for column in ("type", "rating"))
    for line in lines[1:]:
        line[types], line[ratings] = PAPER_TYPES[0], "4"
    out = io.StringIO(newline="")
    csv.writer(out).writerows(lines)
    assert [(paper.paper_id, paper.rating) for paper in read(out.getvalue(), known=["p1", "p2"])] == [
        ("p1", 4),
        ("p2", 4),
    ]
    (said,) = caplog.messages
    assert "sheet.csv: lines 2 to 4 are the instructions" in said


def test_ids_that_look_like_formulas_or_guarded_formulas_come_back_unaltered() -> None:
    ids = ("=1+1", "'=1+1", "''=1+1", "'", "''", "'plain", "-5", "@x")
    assert tuple(found.paper_id for found in read(written([row(paper_id) for paper_id in ids]))) == ids


def test_sheets_are_read_as_spreadsheet_programs_save_them() -> None:
    plain = (
        'paper_id,title,year,period,type,rating,facets,note\np1,Café,1995,1994-1999,empirical,4,"background, method",\n'
    )
    expected = (row(title="Café"),)
    semicolons = plain.replace('"background, method"', "background|method").replace(",", ";")
    every_cell = io.StringIO(newline="")
    csv.writer(every_cell, quoting=csv.QUOTE_ALL, delimiter=";").writerows(csv.reader(io.StringIO(plain)))
    for saved in (
        plain,
        "\ufeff" + plain,
        plain.replace("\n", "\r\n"),
        plain.replace("\n", "\r"),
        plain + ",,,,,,,\n\n",
        plain.removesuffix(",\n"),
        semicolons,
        "\ufeff" + semicolons.replace("\n", "\r\n"),
        "sep=;\r\n" + semicolons,
        plain.replace('"background, method"', "background; method").replace(",", "\t").encode("utf-16"),
        plain.encode("cp1252"),
        every_cell.getvalue(),
        semicolons.replace(";4;", ";4,0;").replace("empirical", " Empirical "),
        plain.replace("1994-1999", "1994–1999").replace("paper_id", "Paper_ID").replace(",4,", ",4.0,"),
    ):
        assert read(saved) == expected, saved


def test_rows_that_explain_the_sheet_are_no_papers_wherever_they_stand() -> None:
    lines = written([row("p1"), row("p2")]).splitlines(keepends=True)
    assert lines[1].startswith(f'"# {EXPLANATION[0]}"')
    assert [found.paper_id for found in read("".join([lines[0], *lines[4:], *lines[1:4]]))] == ["p1", "p2"]
    assert [found.paper_id for found in read("".join([lines[0], *lines[4:]]))] == ["p1", "p2"]


def test_every_fault_is_told_with_its_line_and_the_near_name() -> None:
    sheet = (
        "paper_id,title,year,period,type,rating,facets\n"
        "p1,T,1995,1994-1999,empirical,4,method\n"
        'p2,"two\nlines",1995,1994-1999,emprical,4,method\n'
        "p3,T,1995,1994-1999,tool,6,methods\n"
        "p4,T,MCM,nineties,resource,3.5,\n"
        "p1,T,2001,1994-1999,resource,,method\n"
        "p5,T,1995,1994-1999,,5,method\n"
        ",T,1995,1994-1999,resource,5,method\n"
        "1.23E+12,T,1995,1994-1999,resource,5,method\n"
    )
    with pytest.raises(InputError, match=r"^sheet\.csv: 13 faults") as caught:
        read(sheet, known=["p1", "p2", "p3", "p4", "p5"])
    assert caught.value.faults == (
        "sheet.csv:3: type: found 'emprical', did you mean 'empirical'?",
        "sheet.csv:5: type: found 'tool', expected one of application, empirical, resource, theoretical, survey",
        "sheet.csv:5: rating: found '6', expected a whole number from 1 to 5",
        "sheet.csv:5: facets: found 'methods', did you mean 'method'?",
        "sheet.csv:6: rating: found '3.5', expected a whole number from 1 to 5",
        "sheet.csv:6: year: found 'MCM', expected a year such as 1999, or nothing",
        "sheet.csv:6: period: found 'nineties', expected two years such as 1994-1999",
        "sheet.csv:7: found a type and no rating, expected both or neither",
        "sheet.csv:7: period: found 1994-1999, expected one that contains 2001",
        "sheet.csv:7: paper 'p1' is on line 2 already",
        "sheet.csv:8: found a rating and no type, expected both or neither",
        "sheet.csv:9: paper_id is empty",
        "sheet.csv:10: paper '1.23E+12' is not in the corpus; a spreadsheet turned its id into a number: "
        "import the column paper_id as text",
    )


def test_a_sheet_without_its_columns_its_rows_or_its_form_is_refused() -> None:
    for data, faults in (
        (
            "paper_id,title,year,period,typ,facets\np1,T,1995,1994-1999,resource,method\n",
            ("sheet.csv:1: found no column 'type', but 'typ'", "sheet.csv:1: found no column 'rating'"),
        ),
        ("", ("sheet.csv: an empty file, expected the columns paper_id, period, type, rating, facets",)),
        (written([]), ("sheet.csv: no papers in the sheet",)),
        (
            ",".join(COLUMNS) + '\np1,"never closed,1995,1994-1999,resource,4,method,,\n',
            ("sheet.csv:2: not CSV from here on: unexpected end of data",),
        ),
        (
            ",".join(COLUMNS) + "\np1,One, two,1995,1994-1999,0,resource,4,method,,x\n",
            ("sheet.csv:2: found 11 cells, expected 10; quote a cell with a separator",),
        ),
    ):
        with pytest.raises(InputError) as caught:
            read(data)
        assert caught.value.faults == faults
