"""The encoding of a text file: by its mark, as UTF-8, as UTF-8 with broken places, or as Windows-1252."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats import input_files
from annot.formats.corpora.pieces import BrokenRecord, encoding_fault
from annot.formats.input_files import encoding_of, text_of

POLISH = "Zażółć gęślą jaźń — naïve “café”, Müller & Søn, 中文 𝒳\n"
WESTERN = "naïve “café” – Müller, Søn, €5…\n"


def file_of(folder: Path, data: bytes, name: str = "refs.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path, newline: str | None = None) -> str:
    with text_of(path, newline) as text:
        return text.read()


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (POLISH.encode(), "utf-8", POLISH),
        (POLISH.encode("utf-8-sig"), "utf-8", POLISH),
        (b"\xff\xfe" + POLISH.encode("utf-16-le"), "utf-16", POLISH),
        (b"\xfe\xff" + POLISH.encode("utf-16-be"), "utf-16", POLISH),
        (WESTERN.encode("windows-1252"), "windows-1252", WESTERN),
        ("Gödel, Lukács\n".encode("latin-1"), "windows-1252", "Gödel, Lukács\n"),
        (b"plain\n", "utf-8", "plain\n"),
        (b"", "utf-8", ""),
    ],
)
def test_text_is_read_as_it_was_written(tmp_path: Path, data: bytes, encoding: str, text: str) -> None:
    for path in (file_of(tmp_path, data), file_of(tmp_path, gzip.compress(data), "refs.txt.gz")):
        assert encoding_of(path) == encoding
        assert read(path) == text


def test_bytes_that_windows_1252_leaves_undefined_are_those_of_latin_1(tmp_path: Path) -> None:
    # The index of windows-1252 (https://encoding.spec.whatwg.org/index-windows-1252.txt) maps each of them to itself.
    undefined = b"\x81\x8d\x8f\x90\x9d"
    assert read(file_of(tmp_path, undefined)) == "\x81\x8d\x8f\x90\x9d"
    defined = bytes(byte for byte in range(0x80, 0x100) if byte not in undefined)
    assert read(file_of(tmp_path, defined, "defined")) == defined.decode("cp1252")


def test_one_broken_place_does_not_change_the_encoding_of_a_file(tmp_path: Path) -> None:
    good = "Müller, Gödel, Søn\n".encode()
    path = file_of(tmp_path, good + b"M\xfcller\n")
    assert encoding_of(path) == "utf-8"
    with text_of(path) as text:
        first, second = text
    assert encoding_fault(first) is None
    assert encoding_fault(second) == BrokenRecord("not UTF-8", ("not UTF-8",), "M\ufffdller\n")
    assert encoding_of(file_of(tmp_path, "Müller\n".encode() + b"M\xfcller, G\xf6del\n")) == "windows-1252"


def test_a_character_cut_off_at_the_end_is_a_broken_place(tmp_path: Path) -> None:
    path = file_of(tmp_path, "Müller, 中".encode()[:-1])
    assert encoding_of(path) == "windows-1252"
    path = file_of(tmp_path, "Müller, Gödel, Søn, 中".encode()[:-1], "longer")
    assert encoding_of(path) == "utf-8"
    broken = encoding_fault(read(path))
    assert broken is not None
    assert broken.record.startswith("Müller, Gödel, Søn, ")


@pytest.mark.parametrize("chunk", range(1, 8))
def test_where_a_character_is_cut_in_two_by_reading_does_not_matter(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "_CHUNK", chunk)
    assert encoding_of(file_of(tmp_path, (POLISH * 3).encode(), f"good{chunk}")) == "utf-8"
    assert encoding_of(file_of(tmp_path, POLISH.encode() + b"\xe9\n", f"one{chunk}")) == "utf-8"
    assert encoding_of(file_of(tmp_path, b"abc " * 9 + b"\xe9t\xe9", f"no{chunk}")) == "windows-1252"


def test_line_ends_are_those_asked_for(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"a\rb\r\nc\nd")
    with text_of(path) as text:
        assert list(text) == ["a\n", "b\n", "c\n", "d"]
    with text_of(path, newline="") as text:
        assert list(text) == ["a\r", "b\r\n", "c\n", "d"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_without_line_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(input_files, "LONGEST_LINE", 10)
    path = file_of(tmp_path, pack(b"123456789\n1234567890\n"))
    with text_of(path) as text:
        assert next(text) == "123456789\n"
        with pytest.raises(InputError, match=f"{path}: a line of more than 10 characters"):
            next(text)
