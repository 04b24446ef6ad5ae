"""Tables of papers, CSV and Parquet: each row with its place, what it means, and why one cannot be read."""

import gzip
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from annot.base.errors import InputError
from annot.formats.corpora import tables
from annot.formats.corpora.pieces import BrokenRecord, Piece
from annot.formats.corpora.tables import csv_rows, parquet_rows, row_groups, table_paper


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"year": 2001.0}, {"year": "2001"}),
        ({"year": "n.d."}, {"year": "n.d."}),
        ({"year": math.nan}, {"year": None}),
        ({"year": " 2001.0 "}, {"year": "2001"}),
        ({"year": ""}, {"year": None}),
        ({"year": 1999, "other": 1}, {"year": "1999"}),
        ({"citations": "a b;c, d|e\n"}, {"citations": ["a", "b", "c", "d", "e"]}),
        ({"outbound_citations": ["a b"]}, {"outbound_citations": ["a b"]}),
        ({"title": "a;b"}, {"title": "a;b"}),
    ],
)
def test_a_cell_means_what_its_column_holds(given: dict[str, Any], read: dict[str, Any]) -> None:
    assert table_paper({"id": "1"} | given) == {"paper_id": "1"} | read


def test_the_year_of_a_table_may_be_in_a_date() -> None:
    found = table_paper({"Title": "T", "Abstract": "A", "DOI": "10.1000/x", "year": "2020-05-01"})
    assert (found["doi"], found["year"]) == ("10.1000/x", "2020")
    assert table_paper({"id": "1", "text": "A", "year": "2020-05-01"})["year"] == "2020"


def rows(path: Path, text: bytes) -> list[tuple[int, Any]]:
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return list(csv_rows(Piece(str(path), "csv", 0, None)))


@pytest.mark.parametrize(("name", "between"), [("p.csv", ","), ("p.tsv", "\t"), ("p.tsv.gz", "\t"), ("p.csv.gz", ",")])
def test_rows_have_the_line_on_which_they_end(tmp_path: Path, name: str, between: str) -> None:
    text = '\ufeffid,title\n1,"a\nb"\n\n2,é\n'.replace(",", between)
    assert rows(tmp_path / name, text.encode()) == [
        (3, {"id": "1", "title": "a\nb"}),
        (4, None),
        (5, {"id": "2", "title": "é"}),
    ]


def test_a_row_that_cannot_be_read_is_broken_and_the_next_is_read(tmp_path: Path) -> None:
    text = b"id,title\n1\n2,\xff\x7f\xff\n3,c\n4,d,e\n5,\x80\n" + "6,中文\n".encode()
    assert rows(tmp_path / "p.csv", text) == [
        (2, BrokenRecord("another number of columns", ("1 columns, expected 2",), "1")),
        (3, BrokenRecord("not UTF-8", ("not UTF-8",), "2,\ufffd\x7f\ufffd")),
        (4, {"id": "3", "title": "c"}),
        (5, BrokenRecord("another number of columns", ("3 columns, expected 2",), "4,d,e")),
        (6, BrokenRecord("not UTF-8", ("not UTF-8",), "5,\ufffd")),
        (7, {"id": "6", "title": "中文"}),
    ]


def test_a_cell_beyond_the_limit_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_LONGEST_CELL", 8)
    found = rows(tmp_path / "p.csv", b"id,title\n1,12345678\n2,123456789\n")
    assert found[0] == (2, {"id": "1", "title": "12345678"})
    number, broken = found[1]
    assert (number, broken.reason) == (3, "not valid CSV")
    assert len(found) == 2


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("id,title,id,title,x,x", "columns: found id, title twice, expected each once"),
        ("a,b", "columns: found a, b, expected an id and a text among them"),
    ],
)
def test_a_header_that_names_no_column_or_one_twice_ends_the_reading(tmp_path: Path, header: str, fault: str) -> None:
    assert rows(tmp_path / "p.csv", f"{header}\n1,2\n".encode()) == [
        (1, BrokenRecord("the columns cannot be used", (fault,), header))
    ]
    assert rows(tmp_path / "q.csv", b"id,x,x\n") == []
    assert rows(tmp_path / "r.csv", b"") == []


def test_a_group_of_rows_is_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROWS", 2)
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": list("abcde"), "other": range(5)}), path, row_group_size=3)
    assert row_groups(str(path)) == [(0, 1), (1, 2)]

    def read(start: int, stop: int | None) -> list[tuple[int, Any]]:
        return [
            (number, row["id"])
            for number, row in parquet_rows(Piece(str(path), "parquet", start, stop))
            if len(row) == 1
        ]  # type: ignore[arg-type, call-overload, index]

    assert read(0, 1) == [(1, "a"), (2, "b"), (3, "c")]
    assert read(1, 2) == [(1, "d"), (2, "e")]
    assert read(0, None) == [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")]


def test_an_empty_table_is_one_piece_of_no_rows_and_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    assert [
        row for start, stop in row_groups(str(path)) for row in parquet_rows(Piece(str(path), "parquet", start, stop))
    ] == []
    pq.ParquetWriter(path, pa.schema({"id": pa.string()})).close()
    assert row_groups(str(path)) == [(0, 0)]
    assert list(parquet_rows(Piece(str(path), "parquet", 0, 0))) == []
    path.write_bytes(b"id,title\n")
    with pytest.raises(InputError, match="not a Parquet file"):
        row_groups(str(path))
