"""What each file brought to the corpus: printed when it is added, remembered, and shown on any later day."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.corpus.adding import FileRead
from annot.steps import corpus
from annot.store.runs import read_imports
from annot.study.workspace import Workspace

SENTENCES = ["We look at the shape of it.", "We look at the size of it.", "We look at the colour of it."]


def records(*numbers: int, **given: Any) -> str:
    texts = [[f"{sentence} {number}." for sentence in SENTENCES] for number in numbers]
    rows = [{"id": f"p{at}", "title": f"On {at}", "abstract": text} for at, text in zip(numbers, texts, strict=True)]
    return "".join(json.dumps(row | given) + "\n" for row in rows)


def table(*numbers: int) -> str:
    rows = "".join(f'p{number};On caf\u00e9 {number};"{" ".join(SENTENCES)}";2001\n' for number in numbers)
    return "id;title;abstract;year\n" + rows


def quiet(_done: int, _total: int | None) -> None: ...


def add(ws: Workspace, *files: Path, dry_run: bool = False) -> tuple[FileRead, ...]:
    return corpus.add(ws, files, form=None, dry_run=dry_run, advance=quiet).files


def shown(ws: Workspace) -> corpus.CorpusContents:
    return corpus.contents(ws, advance=quiet)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    lines, cells = tmp_path / "a.jsonl", tmp_path / "b.txt"
    lines.write_text(records(1, 2, year=1999) + records(3) + records(4, abstract=None) + "{\n")
    cells.write_bytes(table(3, 5, 6).encode("windows-1252"))
    return lines, cells


EXPECTED = (
    FileRead("a.jsonl", "annot", "", read=5, kept=3, without_abstract=1, without_year=2),
    FileRead("b.txt", "csv", "windows-1252", read=3, kept=2),
)


def test_each_file_is_told_with_format_encoding_and_what_it_brought(ws: Workspace, files: tuple[Path, Path]) -> None:
    assert add(ws, *files, dry_run=True) == EXPECTED
    assert add(ws, *files) == EXPECTED
    found = shown(ws)
    assert (found.papers, found.files, found.from_others) == (5, EXPECTED, 0)


def test_a_file_added_again_under_any_name_is_shown_once(
    ws: Workspace, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    add(ws, *files)
    assert [one.kept for one in add(ws, *files)] == [0, 0]
    other = tmp_path / "other.jsonl"
    other.write_bytes(files[0].read_bytes())
    assert [(one.name, one.kept) for one in add(ws, other)] == [("other.jsonl", 0)]
    found = shown(ws).files
    assert sorted((one.format, one.read, one.kept) for one in found) == [("annot", 5, 3), ("csv", 3, 2)]
    assert {one.name for one in found} < {"a.jsonl", "other.jsonl", "b.txt"}


def test_no_folder_of_the_machine_is_remembered(ws: Workspace, tmp_path: Path, files: tuple[Path, Path]) -> None:
    add(ws, *files)
    with ws.reading() as session:
        facts = json.dumps([one.facts for one in read_imports(session)])
    assert "a.jsonl" in facts
    assert str(tmp_path) not in facts
    assert "/" not in json.dumps([one.name for one in shown(ws).files])


BROKEN = {
    "a.txt": (b"Dear all", "begins with 'Dear all', expected papers in one of the formats of --format"),
    "b.pdf": (b"%PDF-1.4\n", "a PDF, which is not read"),
    "c.ris": (b"", "the file is empty, or has only blank lines"),
    "d.jsonl": (b'{"a":\n' * 1_200, "not valid JSON in each of 1,200 records"),
    "e.jsonl": (b'{"a":\n' * 3_400, "not valid JSON in each of 3,400 records"),
    "f.jsonl.gz": (gzip.compress(records(*range(999)).encode())[:-9], "cannot be decompressed"),
    "g.xml": (b"<PubmedArticleSet></PubmedArticleSet>", "found no paper"),
}


@pytest.mark.parametrize("letters", ["abcdefg", "de"])
def test_every_file_that_cannot_be_read_is_named_at_once(ws: Workspace, tmp_path: Path, letters: str) -> None:
    """Whatever is found first: a kind that is not read, a file without a record, one that breaks off."""
    for name, (content, _) in BROKEN.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "0.jsonl").write_text(records(1) + "{\n" * 2_000)
    given = [name for name in BROKEN if name[0] in letters]
    with pytest.raises(InputError) as caught:
        add(ws, tmp_path / "0.jsonl", *(tmp_path / name for name in given))
    assert caught.value.message == f"{len(given)} files cannot be read"
    told = {Path(fault.partition(": ")[0]).name: fault for fault in caught.value.faults}
    assert len(told) == len(caught.value.faults)
    assert told.keys() == {*given}
    assert [name for name, fault in told.items() if BROKEN[name][1] not in fault] == []
    assert not ws.has_corpus
