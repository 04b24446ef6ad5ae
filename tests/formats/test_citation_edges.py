"""Citations from files: every citation once, however the file is cut, and every line that is none with its place."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats import citation_edges
from annot.formats.citation_edges import COLUMNS, SEMANTIC_SCHOLAR, edge_format, edges_of
from annot.formats.corpora.pieces import Piece

PAIRS = [("1", "2"), ("10", "20"), ("3", "444"), ("5", "6")]


def read(path: Path, form: str, start: int = 0, stop: int | None = None) -> Iterator[tuple[str, str]]:
    for block in edges_of(Piece(str(path), form, start, stop)):
        assert not block.broken
        yield from zip(block.citing.to_pylist(), block.cited.to_pylist(), strict=True)


def json_text(*pairs: tuple[str, str]) -> str:
    return "".join(json.dumps({"citingcorpusid": int(one), "citedcorpusid": int(two)}) + "\n" for one, two in pairs)


TEXTS = {
    "columns": (COLUMNS, "".join(f"{one},{two}\n" for one, two in PAIRS)),
    "headed": (COLUMNS, "cited\tyear\tCiting\n" + "".join(f"{two}\t1999\t{one}\n" for one, two in PAIRS)),
    "json": (SEMANTIC_SCHOLAR, json_text(*PAIRS)),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("size", [3, 1000])
def test_each_citation_is_read_once_however_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    form, text = TEXTS[name]
    path = tmp_path / "c"
    path.write_text(text)
    monkeypatch.setattr(citation_edges, "BLOCK_BYTES", size)
    assert list(read(path, form)) == PAIRS
    for cut in range(1, len(text)):
        assert [*read(path, form, 0, cut), *read(path, form, cut, len(text))] == PAIRS


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n10 20\n3 444\n5 6",
        '"1";"2"\n10;20\n3;444\n5;6\n',
        "1 \t2\n10\t20\n3\t444\n5\t6\n",
        "1, 2\n10, 20\n3, 444\n5, 6\n",
        " 1\t2\n10\t 20\n3 \t444 \n5\t6\n",
        "\ufefffrom,to\n1,2\n10,20\n3,444\n5,6\n",
        "a,source,b,target\nx,1,y,2\nx,10,y,20\nx,3,y,444\nx,5,y,6\n",
    ],
)
def test_two_columns_are_found_whatever_is_between_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c"
    path.write_text(text)
    assert list(read(path, COLUMNS)) == PAIRS
    path.write_bytes(gzip.compress(text.encode()))
    assert list(read(path, COLUMNS)) == PAIRS


def test_a_table_of_more_columns_needs_their_names(tmp_path: Path) -> None:
    path = tmp_path / "c"
    for text, columns in (("1,2,3\n", 3), ("citing,x,y\n1,2,3\n", 3), ("1\n", 1)):
        path.write_text(text)
        with pytest.raises(InputError, match=rf"{columns} columns?, expected citing and cited"):
            list(read(path, COLUMNS))
    path.write_text("\n")
    assert list(read(path, COLUMNS)) == []


def test_rows_of_another_number_of_columns_and_empty_ids_are_broken(tmp_path: Path) -> None:
    path = tmp_path / "c"
    path.write_text("1,2\n3\n,4\n5,\n 6 ,7\n8,9,10\n")
    (block,) = edges_of(Piece(str(path), COLUMNS, 0, None))
    assert list(zip(block.citing.to_pylist(), block.cited.to_pylist(), strict=True)) == [("1", "2"), ("6", "7")]
    assert block.places == 6
    assert [(place, broken.reason, broken.record) for place, broken in block.broken] == [
        (2, "another number of columns", "3"),
        (3, "an empty id", ",4"),
        (4, "an empty id", "5,"),
        (6, "another number of columns", "8,9,10"),
    ]
    assert block.broken[0][1].faults == ("1 columns, expected 2",)


def test_a_line_of_json_that_is_no_citation_is_broken_at_its_place(tmp_path: Path) -> None:
    lines = [
        '{"citingcorpusid": 1, "citedcorpusid": 2}', "", '{"citingcorpusid": 1}', "no JSON",
        '{"citingcorpusid": true, "citedcorpusid": 2}', '{"citingcorpusid": null, "citedcorpusid": 2}',
        '{"citingcorpusid": "3", "citedcorpusid": 4, "x": 1}',
    ]  # fmt: skip
    path = tmp_path / "c"
    path.write_text("\n".join(lines))
    (block,) = edges_of(Piece(str(path), SEMANTIC_SCHOLAR, 0, None))
    assert list(zip(block.citing.to_pylist(), block.cited.to_pylist(), strict=True)) == [("1", "2"), ("3", "4")]
    assert block.places == 7
    assert [place for place, _ in block.broken] == [3, 4, 5, 6]
    assert {broken.reason for _, broken in block.broken} == {"no citation"}
    assert block.broken[1][1].faults == ("found b'no JSON', expected citingcorpusid and citedcorpusid",)
    path.write_text("x" * 61)
    (block,) = edges_of(Piece(str(path), SEMANTIC_SCHOLAR, 0, None))
    assert block.broken[0][1].faults == (f"found b'{'x' * 60}', expected citingcorpusid and citedcorpusid",)
    path.write_text('{"citingcorpusid": null, "citedcorpusid": 2}\n' + lines[0] + "\n")
    (block,) = edges_of(Piece(str(path), SEMANTIC_SCHOLAR, 0, None))
    assert (block.places, len(block.citing), [place for place, _ in block.broken]) == (2, 1, [1])


def test_papers_with_what_they_cite_are_citations_too(tmp_path: Path) -> None:
    records = [
        {"paper_id": "a", "title": "", "citations": ["b", "c"]},
        {"id": 7, "outbound_citations": [8]},
        {"paper_id": "none"},
        {"title": "no id", "citations": ["x"]},
        {"paper_id": "a", "citations": "b"},
    ]
    path = tmp_path / "c"
    path.write_text("".join(json.dumps(record) + "\n" for record in records) + "\nno JSON\n")
    (block,) = edges_of(Piece(str(path), "annot", 0, None))
    pairs = list(zip(block.citing.to_pylist(), block.cited.to_pylist(), strict=True))
    assert pairs == [("a", "b"), ("a", "c"), ("7", "8")]
    assert block.places == 7
    assert [(place, broken.reason) for place, broken in block.broken] == [
        (4, "no citation"),
        (5, "no citation"),
        (7, "not valid JSON"),
    ]


def test_the_place_of_a_paper_counts_from_the_beginning_of_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(citation_edges, "PAPERS_AT_ONCE", 2)
    path = tmp_path / "c"
    path.write_text("\n" + '{"paper_id": "a", "title": "", "citations": ["b"]}\n' * 3 + "no JSON\nno JSON\n")
    blocks = list(edges_of(Piece(str(path), "annot", 0, None)))
    assert [(block.places, len(block.citing)) for block in blocks] == [(2, 1), (2, 2), (2, 0)]
    assert [[place for place, _ in block.broken] for block in blocks] == [[], [], [1, 2]]


def test_the_first_record_tells_the_format(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    for text, form in (
        ("1,2\n", COLUMNS),
        ("\n" * 99 + json_text(("1", "2")), SEMANTIC_SCHOLAR),
        ("\n" * 100 + json_text(("1", "2")), COLUMNS),
        ('{"paper_id": "a", "title": "", "citations": []}\n', "annot"),
    ):
        path.write_text(text)
        assert edge_format(str(path)) == form
