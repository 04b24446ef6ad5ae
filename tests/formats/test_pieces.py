"""Files of lines cut into pieces: each line is read once, whatever the cut, and what is made to cost is refused."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.formats import input_files
from annot.formats.corpora import pieces
from annot.formats.corpora import pieces as cutting
from annot.formats.corpora.pieces import BrokenRecord, Piece, cut_lines, first_object, json_records, read_lines
from annot.formats.input_files import is_gzip, opened

LINES = [b"\xef\xbb\xbfone\n", b"\n", b"three, the longest\n", b"\xef\xbb\xbf\n", b"five\r\n", b"six"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "p.jsonl").write_bytes(b"".join(LINES))
    return tmp_path / "p.jsonl"


def lines_in(path: Path, start: int, stop: int | None) -> list[tuple[int, bytes]]:
    return list(read_lines(Piece(str(path), "annot", start, stop)))


@pytest.mark.parametrize("size", range(1, 50))
def test_each_line_is_in_one_piece_whatever_the_size(path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(cutting, "PIECE_BYTES", size)
    pieces = [lines_in(path, start, stop) for start, stop in cut_lines(str(path))]
    assert [line for piece in pieces for _, line in piece] == [b"one\n", *LINES[1:]]
    assert all([number for number, _ in piece] == list(range(1, len(piece) + 1)) for piece in pieces)


def test_a_file_is_cut_only_where_it_is_longer_than_a_piece(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = path.stat().st_size
    monkeypatch.setattr(cutting, "PIECE_BYTES", size)
    assert cut_lines(str(path)) == [(0, None)]
    monkeypatch.setattr(cutting, "PIECE_BYTES", size - 1)
    assert cut_lines(str(path)) == [(0, size - 1), (size - 1, size)]
    path.write_bytes(gzip.compress(path.read_bytes()))
    monkeypatch.setattr(cutting, "PIECE_BYTES", 1)
    assert cut_lines(str(path)) == [(0, None)]
    assert lines_in(path, 0, None)[2] == (3, LINES[2])


def test_a_line_without_end_is_refused_with_its_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = len(LINES[2])
    monkeypatch.setattr(cutting, "LONGEST_LINE", longest)
    assert len(lines_in(path, 0, None)) == len(LINES)
    monkeypatch.setattr(cutting, "LONGEST_LINE", longest - 1)
    begins = len(LINES[0] + LINES[1])
    for start in (0, begins + 1):
        with pytest.raises(InputError) as caught:
            lines_in(path, start, None)
        assert f"a line of more than {longest - 1} bytes from byte {begins} on" in str(caught.value)


def test_what_unpacks_to_more_than_its_size_allows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "p", b"a" * 5_000
    path.write_bytes(gzip.compress(text))
    monkeypatch.setattr(input_files, "UNPACKED", 3)
    monkeypatch.setattr(input_files, "LONGEST_LINE", len(text) - 3 * path.stat().st_size)
    with opened(path) as file:
        assert file.read() == text
    monkeypatch.setattr(input_files, "LONGEST_LINE", input_files.LONGEST_LINE - 1)
    with pytest.raises(InputError, match="unpacks to more than 3 times its size"), opened(path) as file:
        file.read()


def test_a_compressed_file_is_known_by_its_bytes_and_a_cut_one_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"text\n" * 100)
    named = {"plain.gz": b"text", "packed.txt": whole, "short": b"\x1f", "cut": whole[:-5], "empty": b""}
    for name, content in named.items():
        (tmp_path / name).write_bytes(content)
    assert [name for name in named if is_gzip(tmp_path / name)] == ["packed.txt", "cut"]
    with opened(tmp_path / "plain.gz") as file:
        assert file.read() == b"text"
    with pytest.raises(InputError, match="cannot be decompressed"), opened(tmp_path / "cut") as file:
        file.read()


def test_each_line_is_an_object_none_or_broken_for_a_reason(tmp_path: Path) -> None:
    long = "[" + "1, " * 30 + "1]"
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"a": NaN, "b": -Infinity}\r\n \n\xff{}\n{"a":\n' + long.encode() + b'\n{"c": 1}')
    assert list(json_records(Piece(str(path), "annot", 0, None))) == [
        (1, {"a": None, "b": None}),
        (2, None),
        (3, BrokenRecord("not UTF-8", ("not UTF-8: invalid start byte (bytes b'\\xff')",), "\ufffd{}\n")),
        (4, BrokenRecord("not valid JSON", ("not valid JSON: Expecting value at column 6",), '{"a":\n')),
        (5, BrokenRecord("not a JSON object", (f"found {long[:40]}, expected one JSON object per line",), long + "\n")),
        (6, {"c": 1}),
    ]


PAPERS: list[dict[str, Any]] = [
    {"id": 1, "title": 'Über \u2028 “quotes” \\ / ""', "n": -1.5e-7, "big": 12345678901234567890, "none": None},
    {"id": "zwei", "abstract": "line\nend \U0001f600", "deep": {"a": [[], [{}], {"b": [True, False]}]}},
    {},
    {"id": "drei", "x": 0.1, "y": [1, 22, 333]},
]
PAGE = {"meta": {"count": 4, "page": 1}, "results": PAPERS, "group_by": []}
BY_ID = {"a": PAPERS[0], "b": PAPERS[1], "c\n": PAPERS[3]}


def records(path: Path) -> list[Any]:
    return [record for _, record in json_records(Piece(str(path), "json", 0, None))]


def written(path: Path, content: object, **how: Any) -> Path:
    path.write_text(json.dumps(content, **how), encoding="utf-8")
    return path


@pytest.mark.parametrize("block", [2, 7, 1 << 18])
@pytest.mark.parametrize(
    "how", [{}, {"indent": 1}, {"indent": "\t", "ensure_ascii": False}, {"separators": (",", ":")}]
)
@pytest.mark.parametrize(
    ("content", "expected"),
    [(PAPERS, PAPERS), (PAGE, PAPERS), (BY_ID, [*BY_ID.values()]), (PAPERS[1], [PAPERS[1]]), ([], []), ({}, [{}])],
    ids=["list", "page", "by id", "one", "empty list", "empty object"],
)
def test_the_records_of_a_text_are_found_however_it_is_printed_and_wherever_it_is_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, expected: list[Any], how: dict[str, Any], block: int
) -> None:
    monkeypatch.setattr(pieces, "_BLOCK", block)
    assert records(written(tmp_path / "p", content, **how)) == expected
    (tmp_path / "z").write_bytes(gzip.compress((tmp_path / "p").read_bytes()))
    assert records(tmp_path / "z") == expected
    assert first_object(str(tmp_path / "p")) == (expected or [{}])[0]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_text_may_be_in_any_encoding_of_unicode_that_its_first_bytes_tell(tmp_path: Path, encoding: str) -> None:
    for content in (PAPERS, PAGE):
        (tmp_path / "p").write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding=encoding)
        assert records(tmp_path / "p") == PAPERS


@pytest.mark.parametrize(
    "lines",
    [
        ['{"id": 1}', '{"id": 2}'],
        ['{"id": 1}'],
        ['{"id": {}}', '{"id": {}}'],
        ['{"id": 1, "results": [{"a": 1}]}', '{"id": 2}'],
        ['{"id": 1, "results": ["word"]}'],
        ['{"results": "none"}', '{"id": 2}'],
        ['{"id": 1, "title": ', '{"id": 2}'],
        ['{"id": 1, "title": "}', '{"id": 2}'],
        ['{"id": 1},', '{"id": 2},'],
        ["no json", '{"id": 2}'],
    ],
)
def test_records_one_a_line_are_told_from_a_text_even_if_the_first_is_broken(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "p.json"
    path.write_text("\n".join(lines))
    found = list(json_records(Piece(str(path), "json", 0, None)))
    assert [place for place, _ in found] == [*range(1, len(lines) + 1)]
    for line, (_, record) in zip(lines, found, strict=True):
        try:
            assert record == json.loads(line)
        except json.JSONDecodeError:
            assert isinstance(record, BrokenRecord)
            assert record.record.rstrip("\n") == line


@pytest.mark.parametrize("block", [1, 7, 1 << 18])
@pytest.mark.parametrize("content", [PAPERS, PAGE, {str(n): {"id": n} for n in range(60)}], ids=["list", "page", "ids"])
def test_before_a_fault_all_is_read_and_the_fault_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, block: int
) -> None:
    monkeypatch.setattr(pieces, "_BLOCK", block)
    whole = json.dumps(content, indent=1)
    path = tmp_path / "p"
    path.write_text(whole)
    expected = records(path)
    for old, new in [('"id":', '"id"'), ('"id": ', '"id": x'), ("},\n", "}\n"), ('"id"', "'id'")]:
        at = whole.rindex(old)
        path.write_text(whole[:at] + new + whole[at + len(old) :])
        with pytest.raises(json.JSONDecodeError) as error:
            json.loads(path.read_text())
        *good, bad = records(path)
        assert good == expected[: len(good)]
        assert len(good) >= len(expected) - 2
        assert bad.reason == "not valid JSON"
        assert f"at line {error.value.lineno}, column {error.value.colno}" in bad.faults[0]


@pytest.mark.parametrize("content", [PAPERS, PAGE], ids=["list", "page"])
def test_of_a_file_that_is_cut_off_anywhere_what_is_whole_is_read(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "p"
    whole = json.dumps(content).encode()
    read = []
    for stop in range(1, len(whole)):
        path.write_bytes(whole[:stop])
        *good, bad = records(path)
        assert good == PAPERS[: len(good)]
        assert (bad.reason, "the file ends" in bad.faults[0]) == ("not valid JSON", True)
        read.append(len(good))
    assert all(before <= after for before, after in pairwise(read))
    assert read[-1] == len(PAPERS)


def test_what_is_no_record_is_a_fault_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text('[[1, 2], {"id": 1}, null, NaN, "x"] 12 {"id": 2}')
    found = records(path)
    assert [one for one in found if isinstance(one, dict)] == [{"id": 1}, {"id": 2}]
    assert {one.reason for one in found if isinstance(one, BrokenRecord)} == {"not a JSON object"}
    assert [one.record for one in found if isinstance(one, BrokenRecord)] == ["[1, 2]", "null", "NaN", '"x"', "12"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[" * 200_000, "nested too deeply"),
        ('[{"a": ' + "9" * 5_000 + "}]", "a number of too many digits"),
        ('[{"a": "' + "x" * 2_000_000, "a record of more than 1000 characters"),
        ("{" + ", ".join(f'"{n}": "{"x" * 500}"' for n in range(4_000)), "a record of more than 1000 characters"),
    ],
    ids=["nested", "digits", "long value", "long object"],
)
def test_what_is_made_to_cost_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fault: str
) -> None:
    monkeypatch.setattr(cutting, "LONGEST_LINE", 1_000)
    (tmp_path / "p").write_text(text)
    (bad,) = records(tmp_path / "p")
    assert fault in bad.faults[0]
    assert len(bad.record) <= 2_000


def peak(path: Path) -> int:
    def count(found: Iterator[Any]) -> int:
        return sum(1 for _ in found)

    tracemalloc.start()
    assert count(json_records(Piece(str(path), "json", 0, None))) > 100
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("shape", ["list", "page", "ids"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, shape: str) -> None:
    def large(n: int) -> Any:
        papers = [{"id": k, "abstract": f"word {k} " * 150} for k in range(n)]
        several = {"list": papers, "page": {"meta": {}, "results": papers}, "ids": {str(p["id"]): p for p in papers}}
        return several[shape]

    one = peak(written(tmp_path / "one", large(1_000), indent=1))
    four = peak(written(tmp_path / "four", large(4_000), indent=1))
    assert four < 1.2 * one
