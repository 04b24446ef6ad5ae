"""Files of others that are made to cost: long runs of one character, lines without end, archives that swell."""

import random
import time

import pytest
from annot.formats.cleaning import clean
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
