"""Files of others that are made to cost: long runs of one character, lines without end, archives that swell."""

from __future__ import annotations

import gzip
import random
import time
import tracemalloc
import unicodedata
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats import input_files
from annot.formats.cleaning import clean
from annot.formats.corpora.pieces import Piece, read_lines
from annot.formats.corpora.xml_papers import xml_records
from annot.formats.paper_text import split_sentences

LETTERS = 50_000
"""What costs the square of a run's length takes half a minute and more for so many, and well under a second if not."""
SECONDS = 5.0
RUNS = [
    *(".", "!", "?", "…", ". ", ".a ", "a.b. ", ". A", "(.", "). ", "( . ", '."', ".)", "1. ", "i.e. ", "A. ", ".The "),
    *("(", ")", '"', "'", "\n", "\n ", " ", "\t", "\x85", "\xa0", "\u2028", ",", ";", ":", "-", "_", "/", "\\", "$"),
    *(
        "&",
        "&amp;",
        "&#",
        "&amp;lt;",
        "<",
        "<i",
        "<i ",
        '<i a="" ',
        "</",
        "<jats:",
        "<<",
        ">",
        "<p",
        "[1",
        "{",
        "|",
        "~",
    ),
    *("\u0300", "\u0327\u0300", "\u0300\u0327\u0301", "\u00c2\u0080", "\ufb01", "\u200b", "\u202e", "e\u0301"),
]


@pytest.mark.parametrize("run", RUNS, ids=[repr(run) for run in RUNS])
def test_long_runs_of_any_character_take_linear_time(run: str) -> None:
    text = run * (LETTERS // len(run))
    begin = time.process_time()
    for hostile in (text, f"A{text}x"):
        clean(hostile)
        split_sentences(hostile)
    assert time.process_time() - begin < SECONDS


def test_thirty_marks_on_a_letter_stay_and_cleaning_twice_is_cleaning_once() -> None:
    marked = "e" + "\u0300\u0327" * 200
    once = clean(f"caf{marked} ok")
    assert sum(unicodedata.combining(char) > 0 for char in unicodedata.normalize("NFD", once)) == 30
    assert clean(once) == once
    assert clean("Việt Nam, ąę") == "Việt Nam, ąę"


def test_no_sentence_is_lost_whatever_the_marks() -> None:
    draw = random.Random(20)
    pieces = [
        ".",
        "!",
        "?",
        "…",
        " ",
        "(",
        ")",
        "a",
        "B",
        "The ",
        "e.g.",
        "1",
        "\n",
        ')"',
        "ab.The ",
        "[1",
        "Fig",
        ". ",
    ]
    for _ in range(2_000):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 40)))
        assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "swelling.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"x" * (1 << 22))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"swelling\.jsonl\.gz: (a line of more than|more than)"):
        list(read_lines(Piece(str(path), "annot", 0, None)))
    assert tracemalloc.get_traced_memory()[1] < 5 * input_files.LONGEST_LINE
    tracemalloc.stop()


def test_a_file_that_swells_is_refused_and_text_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "LONGEST_LINE", 1 << 16)
    swelling, text = tmp_path / "lines.gz", tmp_path / "text.gz"
    swelling.write_bytes(gzip.compress(b"x\n" * (1 << 22)))
    with pytest.raises(InputError, match="unpacks to more than 100 times its size"):
        sum(1 for _ in read_lines(Piece(str(swelling), "annot", 0, None)))
    draw = random.Random(1)
    lines = ["".join(draw.choices("abcdefgh ", k=300)) for _ in range(2_000)]
    text.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert [line.decode().rstrip("\n") for _, line in read_lines(Piece(str(text), "annot", 0, None))] == lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_declares_entities_is_refused(tmp_path: Path, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    bomb = head + '<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><collection id="P18">&b;</collection>'
    path = tmp_path / "P18.xml"
    path.write_bytes(bomb.encode(encoding))
    with pytest.raises(InputError, match="declares the entity 'a'"):
        list(xml_records(path, depth=2))
    path.write_bytes(f'{head}<collection id="P18">&lt;<volume id="1"/></collection>'.encode(encoding))
    assert list(xml_records(path, depth=2)) == []
