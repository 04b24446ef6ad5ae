"""Tables that people fill in: however a program saves them, each row is read with its line and each fault is named."""

import pytest
from annot.base.errors import Faults, InputError
from annot.base.records import Gold
from annot.formats.input_files import (
    ReturnedLine,
    guarded,
    plain,
    read_columns,
    read_error_sheet,
    read_full_texts,
    read_gold,
    read_returned_lines,
    read_table,
    unguarded,
    write_full_texts,
    write_gold,
    written_sheet,
)


def test_each_row_has_the_line_on_which_it_begins() -> None:
    text = 'sep=;\r\n; ;\r\n"a";B b;c\r\n1;2;3\r\n;;\r\n"x\r\ny";5\r\n6;7;8; ;\r\n9;10;11;12\r\n13;14;15\r\n'
    faults = Faults("t.csv")
    table = read_table(text, faults, known_headings=("a", "b_b", "c"))
    assert table.line == 3
    assert table.headings == ("a", "B b", "c")
    assert table.rows == [
        (4, {"a": "1", "B b": "2", "c": "3"}),
        (6, {"a": "x\r\ny", "B b": "5", "c": ""}),
        (8, {"a": "6", "B b": "7", "c": "8"}),
        (10, {"a": "13", "B b": "14", "c": "15"}),
    ]
    assert faults.found == ["t.csv:9: found 4 cells, expected 3; quote a cell with a separator"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_the_one_that_gives_most_known_columns(separator: str) -> None:
    others = "".join(one for one in ",;\t" if one != separator)
    text = f"one{others}x{separator}two\n1{separator}2{others}3\n".replace(others, others[0])
    faults = Faults("t")
    table = read_table(f"two{separator}" + text, faults, known_headings=("one", "two"))
    assert table.headings == ("two", f"one{others[0]}x", "two")
    assert faults.found == ["t:1: column 'two' occurs 2 times"]


def test_only_a_known_heading_may_not_occur_twice() -> None:
    faults = Faults("t")
    assert read_table("A,a,x,x\n1,2,3,4\n", faults, known_headings=("a", "b")).line == 1
    assert faults.found == []
    read_table("a,a,a,x,x\n", faults, known_headings=("a",))
    assert faults.found == ["t:1: column 'a' occurs 3 times"]


def test_a_file_of_empty_lines_has_no_table() -> None:
    for text in ("", "\n", " ,;\t\r\n\n", "sep=,\n"):
        table = read_table(text, faults := Faults("t"), known_headings=("a",))
        assert (table.line, table.headings, table.rows) == (0, (), [])
        assert not faults.found


def test_what_is_no_csv_is_a_fault_of_its_line_and_the_rows_before_it_stay() -> None:
    faults = Faults("t")
    table = read_table('sep=,\na,b\n1,2\n"x"y,3\n4,5\n', faults, known_headings=("a",))
    assert [line for line, _ in table.rows] == [3]
    (fault,) = faults.found
    assert fault.startswith("t:4: not CSV from here on: ")


def test_columns_are_found_by_their_plain_names_and_optional_ones_may_be_absent() -> None:
    data = b"Query ID,why ,Other\n'=1 , x,y\n\n2,,\n"
    faults = Faults("t")
    rows = read_columns(data, faults, columns=("query_id",), optional=("why", "never"))
    assert rows == [(2, {"query_id": "=1", "why": "x", "never": ""}), (4, {"query_id": "2", "why": "", "never": ""})]
    assert not faults.found


def test_a_missing_column_and_one_nearly_called_so_are_faults() -> None:
    faults = Faults("t")
    data = b"\nquery_id,wy,docid\n1,2,3\n"
    assert read_columns(data, faults, columns=("query_id", "doc_id"), optional=("why", "far_from_all")) == []
    assert faults.found == ["t:2: found no column 'doc_id', but 'docid'", "t:2: found column 'wy': did you mean 'why'?"]
    faults = Faults("t")
    assert read_columns(data, faults, columns=("query_id",), optional=("why",)) == []
    assert faults.found == ["t:2: found column 'wy': did you mean 'why'?"]


def test_headings_are_compared_in_small_letters_with_low_lines() -> None:
    assert plain("  Query -\tID ") == "query_id"


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        *[(start + "1", f"'{start}1") for start in "=+-@\t\n＝＋－＠'"],
        *[(cell, cell) for cell in ("", "1", "a=b", "1-2", "x'")],
        ("'", "''"),
        ("'=1", "''=1"),
    ],
)
def test_a_cell_like_a_formula_is_guarded_and_comes_back_as_it_was(cell: str, safe: str) -> None:
    assert guarded(cell) == safe
    assert unguarded(safe) == cell


def test_orders_to_a_terminal_are_shown_by_number_and_line_ends_are_line_feeds() -> None:
    assert guarded("\x1b]52;c;ZWNobw==\x07\x9b31m\u202e") == "\\u001b]52;c;ZWNobw==\\u0007\\u009b31m\\u202e"
    assert guarded("=a\r\nb\rc\td") == "'=a\nb\nc\td"


def test_a_sheet_begins_with_a_byte_order_mark_and_quotes_what_would_split_a_cell() -> None:
    assert written_sheet([[None, "=1", -1.5], ["a,b", 'c"d', "e\rf"]]) == (
        '\ufeff,\'=1,-1.5\r\n"a,b","c""d","e\nf"\r\n'
    )


def refused(read: object, data: bytes, **given: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read(data, name="t", **given)  # type: ignore[operator]
    return caught.value.faults


def test_gold_pairs_are_read_back_as_written() -> None:
    rows = [Gold("q-b", "d1", 0, "=no", 1), Gold("q-b", "d2", 3, "", 2)]
    written = write_gold([rows[0]._replace(why="=no"), rows[1]])
    assert written == "query_id\tdoc_id\tgrade\twhy\nq-b\td1\t0\t'=no\nq-b\td2\t3\t\n"
    assert read_gold(written.encode(), name="t", grades=(0, 1, 2, 3), queries=["q-b"]) == tuple(rows)
    assert write_gold([Gold("q", "d", 1, " two \n words ", 1)]).endswith("\t1\ttwo words\n")


def test_every_fault_of_gold_pairs_has_its_line() -> None:
    data = b"query_id,doc_id,grade,why\nq,d,4,\nq,d,1,\nq,d,2,\nquery-of-no-study,,0,x\n"
    assert refused(read_gold, data, grades=(0, 1, 2), queries=["q"]) == (
        "t:2: grade: found '4', expected one of 0, 1, 2",
        "t:4: q d: given twice",
        "t:5: query 'query-of-no-study': not in this study; expected one of q",
        "t:5: doc_id is empty",
    )
    empty = b"query_id,doc_id,grade,why\n"
    assert refused(read_gold, empty, grades=(0,), queries=["q"]) == ("t: found no gold pair",)


def test_a_pair_goes_back_to_each_assessor_once() -> None:
    head = "query_id,doc_id,to,why\n"
    data = f"{head}q,d,ann,look again\nq,d,bob,\nq,e,ann,\n".encode()
    assert read_returned_lines(data, name="t") == (
        ReturnedLine("q", "d", "ann", "look again", 2),
        ReturnedLine("q", "d", "bob", "", 3),
        ReturnedLine("q", "e", "ann", "", 4),
    )
    again = f"{head}q,d,ann,x\nq,e,ann,x\nq,d,ann,y\n".encode()
    assert refused(read_returned_lines, again) == ("t:4: q d to ann: given twice",)
    assert refused(read_returned_lines, head.encode()) == ("t: found no pair",)


def test_places_of_full_texts_are_kept_in_the_table_and_read_back() -> None:
    written = write_full_texts({"p2": "Two", "p1": "One\ttitle"}, {"p2": "https://x"})
    assert written == "paper_id\twhere\ttitle\np1\t\tOne title\np2\thttps://x\tTwo\n"
    data = written.encode()
    assert read_full_texts(data, name="t", ids=None) == {"p2": "https://x"}
    assert read_full_texts(data, name="t", ids=["p2"]) == {"p2": "https://x"}
    assert refused(read_full_texts, data, ids=["p2", "p1"]) == ("t: paper 'p1': found no address of its full text",)


def test_a_paper_may_have_its_one_address_twice_but_not_two_addresses() -> None:
    head = "paper_id,where\n"
    same = f"{head}p,x.pdf\np,x.pdf\np,\n".encode()
    assert read_full_texts(same, name="t", ids=None) == {"p": "x.pdf"}
    two = f"{head}p,x.pdf\np,y.pdf\n".encode()
    assert refused(read_full_texts, two, ids=["p", "q"]) == ("t:3: paper 'p' has two addresses: x.pdf and y.pdf",)


def test_what_the_lead_entered_in_the_error_sheet_is_read_back() -> None:
    def sheet(*rows: tuple[str, str, str]) -> bytes:
        head = ("query_id", "doc_id", "kind", "note", "grade")
        return written_sheet([head, *(("q", *row, None) for row in rows)]).encode()

    entered = sheet(("d1", "Too General", ""), ("d2", "", "see d1"), ("d3", "", ""))
    assert read_error_sheet(entered, name="t", kinds=("other", "too general")) == {
        ("q", "d1"): ("too general", ""),
        ("q", "d2"): ("", "see d1"),
    }
    wrong = sheet(("d1", "odd", ""), ("d1", "", "x"))
    assert refused(read_error_sheet, wrong, kinds=("general",)) == (
        "t:2: kind: found 'odd', expected one of general",
        "t:3: document 'd1' is listed twice for query 'q'",
    )
