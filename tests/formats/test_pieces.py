"""Files of lines cut into pieces: each line is read once, whatever the cut, and what is made to cost is refused."""

import gzip
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats import input_files
from annot.formats.corpora import pieces as cutting
from annot.formats.corpora.pieces import BrokenRecord, Format, Piece, cut_lines, json_records, read_lines
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


def test_a_line_belongs_to_the_piece_in_which_it_begins(path: Path) -> None:
    ends = [len(b"".join(LINES[:count])) for count in range(len(LINES) + 1)]
    assert lines_in(path, 0, ends[1]) == [(1, b"one\n")]
    assert lines_in(path, ends[1], ends[1] + 1) == [(1, b"\n")]
    assert lines_in(path, ends[2] + 1, ends[3]) == []
    assert lines_in(path, ends[2] + 1, ends[3] + 1) == [(1, LINES[3])]


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


MEBIBYTE = 1024**2


def sparse(path: Path, size: int) -> str:
    """A file of zeros that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)
    return str(path)


def test_a_piece_has_sixteen_mebibytes_and_a_line_thirty_two_at_most(tmp_path: Path) -> None:
    size = 16 * MEBIBYTE
    assert cut_lines(sparse(tmp_path / "p", size)) == [(0, None)]
    assert cut_lines(sparse(tmp_path / "p", size + 1)) == [(0, size), (size, size + 1)]
    longest = 32 * MEBIBYTE
    assert [len(line) for _, line in lines_in(Path(sparse(tmp_path / "p", longest)), 0, None)] == [longest]
    with pytest.raises(InputError, match=f"a line of more than {longest} bytes from byte 0 on"):
        lines_in(Path(sparse(tmp_path / "p", longest + 1)), 0, None)


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


def test_a_format_is_of_json_lines_in_files_unless_it_says_otherwise() -> None:
    form = Format("x")
    assert form.paper({"id": 1}) == {"id": 1}
    assert not form.fits({"id": 1})
    assert not form.by_name
    assert (form.records, form.cut, form.endings) == (json_records, cut_lines, ())
