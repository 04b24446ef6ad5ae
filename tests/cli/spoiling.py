"""Ways to spoil a study, one fault each, for the tests of wrong input."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

Spoil = Callable[[Path], None]

PAPER = {"paper_id": "p", "title": "A title", "abstract": ["One sentence of words.", "Two of them.", "And three."]}


def write(name: str, text: str | bytes) -> Spoil:
    """A file with this text."""

    def spoil(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    return spoil


def replace(name: str, old: str, new: str) -> Spoil:
    """A file in which one text stands in place of another."""

    def spoil(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return spoil


def add_to(name: str, text: str) -> Spoil:
    """A file with a text more at its end."""

    def spoil(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")

    return spoil


def remove(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def both(*spoils: Spoil) -> Spoil:
    def spoil(folder: Path) -> None:
        for one in spoils:
            one(folder)

    return spoil


def judgements_with(line_17: str) -> Spoil:
    """Forty judgements as CSV of which the one on line 17 is something else."""
    lines = ["query_id,doc_id,assessor,grade", *(f"p-method,d{at},ann,1" for at in range(2, 41))]
    lines[16] = line_17
    return write("mine.csv", "\n".join(lines) + "\n")


def line_17(name: str, text: str) -> Spoil:
    """A file whose line 17 is something else."""

    def spoil(folder: Path) -> None:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        lines[16] = text
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    return spoil


def sql(*statements: str) -> Spoil:
    """A database in which somebody was at work by hand."""

    def spoil(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "annot.db")) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return spoil


def damaged_pages(folder: Path) -> None:
    """A database whose beginning is sound and whose pages are not."""
    path = folder / "annot.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[120:] = b"\x5a" * (len(data) - 120)
    path.write_bytes(bytes(data))
