"""Reading BibTeX in tests."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annot.formats.corpora import format_named
from annot.formats.corpora.pieces import BrokenRecord, Head, Piece

Reader = Callable[[str | bytes], list[Any]]


def reader_in(folder: Path) -> Reader:
    """The papers of a text, which is a file in this folder."""

    def reader(text: str | bytes) -> list[Any]:
        path = folder / "refs.bib"
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return read_file(path)

    return reader


def read_file(path: Path) -> list[Any]:
    """The papers of a file, without the fields that they lack; broken entries as they are."""
    form = format_named("bibtex")
    assert form.cut(str(path)) == [(0, None)]
    found = (record for _, record in form.records(Piece(str(path), form.name, 0, None)) if record is not None)
    return [
        record
        if isinstance(record, BrokenRecord)
        else {name: value for name, value in form.paper(record).items() if value}
        for record in found
    ]


def told(text: str | bytes) -> bool:
    """Whether a file that begins so is taken for BibTeX."""
    start = text.encode("utf-8") if isinstance(text, str) else text
    return format_named("bibtex").matches(Head("refs.bib", start[: 1 << 16], {}))


def regular_entry(number: int, seed: random.Random) -> str:
    """An entry that every reader reads in the same way."""
    words = " ".join(seed.choices(["of", "Straße", "naïve", "models,", "5", "x", "=", "y;"], k=60))
    ends = seed.choice([("{", "}"), ('"', '"')])
    fields = [("title", f"A {{Title}} {number}"), ("abstract", words), ("year", str(1900 + number % 120))]
    seed.shuffle(fields)
    body = ",\n".join(f"  {name} = {ends[0]}{value}{ends[1]}" for name, value in fields)
    return f"@article{{key:{number},\n{body}{seed.choice(['', ','])}\n}}\n"
