"""Tables of papers, CSV and Parquet: each row with its place, what it means, and why one cannot be read."""

import csv
import gzip
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from annot.base.errors import InputError
from annot.formats.corpora import tables
from annot.formats.corpora.pieces import BrokenRecord, Head, Piece
from annot.formats.corpora.tables import CSV, csv_rows, parquet_rows, row_groups, table_paper


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


PAPERS = [
    {"title": 'A "new" method; of, sorts', "abstract": "We look.\n\nThey see | hear.", "year": "2004", "doi": "10.1/a"},
    {"title": "Über die Größe", "abstract": "", "year": "", "doi": ""},
]
READ = [
    {"title": 'A "new" method; of, sorts', "abstract": "We look.\n\nThey see | hear.", "year": "2004", "doi": "10.1/a"},
    {"title": "Über die Größe", "abstract": "", "year": None, "doi": None},
]


def papers(path: Path, data: bytes) -> list[dict[str, Any]]:
    return [table_paper(row) if isinstance(row, Mapping) else row for _, row in rows(path, data) if row is not None]


def written(delimiter: str, quoting: Any = csv.QUOTE_MINIMAL, line_end: str = "\r\n") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    writer.writerow(PAPERS[0])
    writer.writerows(one.values() for one in PAPERS)
    return out.getvalue()


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_what_is_between_cells_is_told_by_the_header(tmp_path: Path, delimiter: str) -> None:
    for name, encoding in (("p.csv", "utf-8"), ("p.tsv", "utf-8-sig"), ("p.txt", "utf-16"), ("p.csv", "latin-1")):
        assert papers(tmp_path / name, written(delimiter).encode(encoding)) == READ


@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("line_end", ["\r", "\n", "\r\n"])
def test_quoted_headers_and_any_line_ends_are_read(tmp_path: Path, quoting: Any, line_end: str) -> None:
    text = written(";", quoting, line_end)
    assert papers(tmp_path / "p.csv", text.encode()) == READ
    assert papers(tmp_path / "p.csv", text.removesuffix(line_end).encode()) == READ


def test_excels_first_line_names_what_is_between_cells(tmp_path: Path) -> None:
    for first in ("sep=;\r\n", '"sep=;"\r\n', "SEP=;\n"):
        assert papers(tmp_path / "p.csv", (first + written(";")).encode("utf-8-sig")) == READ


def test_lines_before_the_header_are_passed_over(tmp_path: Path) -> None:
    note = '"About the data: exported on Jan 03, 2024; criteria: title, abstract"\n\n'
    assert papers(tmp_path / "p.csv", (note + written(",")).encode()) == READ
    assert papers(tmp_path / "p.csv", ("\n;;;\n" + written(";")).encode()) == READ


OPEN = "not valid CSV: a quote in the row is not closed, or one within a cell is not doubled"


@pytest.mark.parametrize("after", ['2,"b"\n3,"c, d"\n', "2,b\n3,c\n", '"2",b\n', ""])
def test_a_quote_that_is_not_closed_costs_its_own_line(tmp_path: Path, after: str) -> None:
    found = rows(tmp_path / "p.csv", f'id,title\n1,"a\n{after}'.encode())
    assert found[0] == (2, BrokenRecord("not valid CSV", (OPEN,), '1,"a'))
    expected = [row for _, row in rows(tmp_path / "q.csv", f"id,title\n{after}".encode())]
    assert [row for _, row in found[1:]] == expected
    assert [place for place, _ in found] == list(range(2, 3 + len(expected)))


def test_quotes_within_a_cell_are_text(tmp_path: Path) -> None:
    assert rows(tmp_path / "p.csv", b'id,title\n1,5" disks\n2,"a" b\n3,c\n') == [
        (2, {"id": "1", "title": '5" disks'}),
        (3, {"id": "2", "title": "a b"}),
        (4, {"id": "3", "title": "c"}),
    ]
    # Between tabs, programs leave quotes as they are.
    assert rows(tmp_path / "p.tsv", b'id\ttitle\n1\t"a\n2\t"b" c\n3\t"d"\n') == [
        (2, {"id": "1", "title": '"a'}),
        (3, {"id": "2", "title": "b c"}),
        (4, {"id": "3", "title": "d"}),
    ]


def test_a_row_beyond_the_limit_is_broken_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LONGEST_LINE", 40)
    found = rows(tmp_path / "p.csv", b'id,title\n1,"' + b"text\n" * 9 + b'"\n2,b\n')
    assert found[0] == (
        2,
        BrokenRecord("not valid CSV", ("not valid CSV: a row of more than 40 characters",), '1,"text'),
    )
    assert found[-1][1] == {"id": "2", "title": "b"}


@pytest.mark.parametrize(
    ("header", "row", "read"),
    [
        # Scopus
        (
            "Authors,Author full names,Author(s) ID,Title,Year,Source title,Cited by,DOI,Abstract,PubMed ID,EID",
            "A,B,57,A title,2021,Journal,3,10.1/a,A text.,123,2-s2.0-85",
            {
                "title": "A title",
                "abstract": "A text.",
                "year": "2021",
                "doi": "10.1/a",
                "pmid": "123",
                "key": "2-s2.0-85",
            },
        ),
        # Web of Science, Excel
        (
            "Publication Type,Article Title,Source Title,Abstract,Publication Date,Publication Year,DOI,Pubmed Id"
            ",UT (Unique WOS ID)",
            "J,A title,JOURNAL,An abstract.,MAY 3,2021,10.1/a,,WOS:0001",
            {
                **{"title": "A title", "abstract": "An abstract.", "year": "2021"},
                **{"doi": "10.1/a", "pmid": None, "key": "WOS:0001"},
            },
        ),
        # Web of Science, tab-delimited: ID are keywords, and TC counts citations.
        (
            "PT\tAU\tTI\tSO\tDE\tID\tAB\tTC\tPY\tDI\tUT\tPM",
            "J\tA, B\tA title\tJOURNAL\tx\tWORDS; MORE\tAn abstract.\t7\t2021\t10.1/a\tWOS:0001\t123\t",
            {
                **{"title": "A title", "abstract": "An abstract.", "year": "2021"},
                **{"doi": "10.1/a", "pmid": "123", "key": "WOS:0001"},
            },
        ),
        # IEEE Xplore: Publication Title is the journal.
        (
            '"Document Title",Authors,"Publication Title","Date Added To Xplore","Publication Year","Abstract","DOI"',
            '"A title","A","Journal","3 May 2022","2021","An abstract.","10.1/a"',
            {"title": "A title", "abstract": "An abstract.", "year": "2021", "doi": "10.1/a"},
        ),
        # CORD-19
        (
            "cord_uid,sha,source_x,title,doi,pmcid,pubmed_id,license,abstract,publish_time,authors",
            "ug7v899j,d1,PMC,A title,10.1/a,PMC3,11472636,no-cc,An abstract.,2001-07-04,A",
            {
                **{"title": "A title", "abstract": "An abstract.", "year": "2001"},
                **{"doi": "10.1/a", "pmid": "11472636", "key": "ug7v899j"},
            },
        ),
        # Zotero
        (
            '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Abstract Note","Date"',
            '"AB12CD34","journalArticle","2019","A, B","A title","Journal","10.1/a","An abstract.","2019-03"',
            {"title": "A title", "abstract": "An abstract.", "year": "2019", "doi": "10.1/a", "key": "AB12CD34"},
        ),
        # OpenAlex
        (
            "id,abstract,authorships.author.display_name,display_name,doi,ids.pmid,language,publication_year",
            "https://openalex.org/W1,An abstract.,A|B,A title,https://doi.org/10.1/a,,en,2021",
            {"title": "A title", "abstract": "An abstract.", "year": "2021", "language": "en"}
            | {"openalex": "https://openalex.org/W1", "doi": "https://doi.org/10.1/a", "pmid": None},
        ),
        # By hand
        ("Titel;Abstract;Jahr", "Ein Titel;Text.;1998", {"title": "Ein Titel", "abstract": "Text.", "year": "1998"}),
        (
            "DOI,title,text,date",
            "10.1/a,A title,Text.,3/5/1998",
            {"doi": "10.1/a", "title": "A title"} | {"abstract": "Text.", "year": "1998"},
        ),
    ],
)
def test_columns_of_exports_are_known_by_their_names(tmp_path: Path, header: str, row: str, read: Any) -> None:
    assert papers(tmp_path / "p.csv", f"{header}\n{row}\n".encode()) == [read]


def test_a_table_with_ids_of_its_own_stays_as_it_is(tmp_path: Path) -> None:
    row = b"ID,Title,Abstract,Year,DOI,citations\n7,A title,Text.,2001,10.1/a,8;9\n"
    assert papers(tmp_path / "p.csv", row) == [
        {"paper_id": "7", "title": "A title", "abstract": "Text.", "year": "2001", "citations": ["8", "9"]}
    ]
    # A column that is named exactly so goes before one that differs in case.
    assert papers(tmp_path / "p.csv", b"ID,id,Title,title,text\n7,8,no,yes,Text.\n") == [
        {"paper_id": "8", "title": "yes", "abstract": "Text."}
    ]


def test_a_row_whose_cell_of_the_id_is_empty_has_its_doi(tmp_path: Path) -> None:
    """As in exports of tools that merge several databases."""
    rows_of_file = b"ID,Title,Abstract,DOI\n7,A title,Text.,10.1/a\n,Another,Text.,10.1/b\n"
    own, other = papers(tmp_path / "p.csv", rows_of_file)
    assert (own["paper_id"], "doi" in own) == ("7", False)
    assert ("paper_id" in other, other["doi"]) == (False, "10.1/b")
    # An empty cell as R and pandas write it; a table in Parquet has a number that is none.
    for empty in ("NA", math.nan, None):
        row = table_paper({"ID": empty, "Title": "A title", "Abstract": "Text.", "DOI": "10.1/c"})
        assert ("paper_id" in row, row["doi"]) == (False, "10.1/c")


def test_a_number_of_citations_is_no_citation(tmp_path: Path) -> None:
    row = b"title,abstract,doi,citations\nA title,Text.,10.1/a,12\n"
    assert papers(tmp_path / "p.csv", row) == [{"title": "A title", "abstract": "Text.", "doi": "10.1/a"}]


def test_a_table_without_abstracts_is_one_fault(tmp_path: Path) -> None:
    ((_, broken),) = rows(tmp_path / "p.csv", b"PMID,Title,Authors\n1,A,B\n2,C,D\n")
    assert broken.faults == ("columns: found PMID, Title, Authors, expected an abstract among them",)


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (b"Authors;Title;Abstract\n", True),
        (b"sep=;\r\nTitle;Abstract\n", True),
        (b"PT\tAU\tTI\tSO\tAB\n", True),
        (b'"Key","Item Type","Title","Abstract Note"\n', True),
        (b"query,grade,note\n", False),
        (b"TY  - JOUR\nTI  - A title\nAB  - Text\n", False),
        (b'{"title": "A", "abstract": "B"}\n', False),
        (b"A title, an abstract\n", False),
        (b"", False),
    ],
)
def test_a_table_is_told_by_two_known_columns(start: bytes, told: bool) -> None:
    assert CSV.matches(Head("x", start, {})) == told
