"""What each file brought to the corpus: printed when it is added, remembered, and shown on any later day."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from annot.base.errors import InputError
from annot.base.records import Source
from annot.corpus.adding import FileRead, by_format
from annot.formats.corpora import FORMATS
from annot.steps import corpus
from annot.store.models import ImportedSource
from annot.store.papers import read_papers
from annot.store.runs import put_import, read_imports
from annot.study.workspace import Workspace
from command_line import annot, annot_done

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


def test_a_guessed_encoding_is_named_with_a_remedy_that_works(ws: Workspace, tmp_path: Path) -> None:
    """A file in the encoding of another country: its letters are wrong until it is saved as UTF-8 and added again."""
    text = table(3).replace("caf\u00e9", "k\u016f\u0148")
    (tmp_path / "cells.csv").write_bytes(text.encode("windows-1250"))
    guessed = annot_done("corpus", "add", tmp_path / "cells.csv", folder=ws.root).stdout
    assert "cells.csv is not UTF-8 and does not name its encoding: it was read as Windows-1252" in guessed
    assert [paper.title for paper in read_papers(ws.corpus)] == ["On k\u00f9\u00f2 3"]
    (tmp_path / "cells.csv").write_text(text, encoding="utf-8")
    added = ("corpus", "add", tmp_path / "cells.csv", "--corrected", "it is in another encoding")
    known = annot_done(*added, folder=ws.root).stdout
    assert known.startswith("1 paper read, 0 kept, 1 corrected; the corpus now has 1\n")
    assert "Windows-1252" not in known
    assert [paper.title for paper in read_papers(ws.corpus)] == ["On k\u016f\u0148 3"]


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


def test_two_names_of_one_file_at_once_bring_its_papers_once(ws: Workspace, tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text(records(1, 2))
    found = add(ws, tmp_path / "one.jsonl", tmp_path / "two.jsonl")
    assert [(one.name, one.read, one.kept) for one in found] == [("one.jsonl", 2, 2), ("two.jsonl", 2, 0)]
    assert [(one.name, one.read, one.kept) for one in shown(ws).files] == [("one.jsonl", 2, 2)]


def test_a_file_that_is_named_twice_is_read_once(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "a.jsonl").write_text(records(1, 2))
    assert [(one.read, one.kept) for one in add(ws, folder / "a.jsonl", folder / "a.jsonl")] == [(2, 2)]
    assert [(one.read, one.kept) for one in add(ws, folder, folder / "a.jsonl")] == [(2, 0)]


def test_papers_that_wider_limits_let_in_are_those_of_their_file(ws: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(records(1, 2) + records(3, abstract=SENTENCES[:1]))
    assert [one.kept for one in add(ws, path)] == [2]
    assert [one.kept for one in add(ws.replaced("corpus", min_sentences=1), path)] == [1]
    assert [(one.read, one.kept) for one in shown(ws).files] == [(3, 3)]


def test_a_study_that_knows_no_files_shows_its_papers_as_before(ws: Workspace, files: tuple[Path, Path]) -> None:
    """Facts as they were written before files were remembered."""
    add(ws, *files)
    with ws.writing() as session:
        (one,) = read_imports(session)
        earlier = {name: value for name, value in one.facts.items() if name != "files"}
        put_import(session, ImportedSource(Source.CORPUS, one.source_sha256, earlier))
    assert (shown(ws).papers, shown(ws).files) == (5, ())
    assert annot_done("corpus", "show", folder=ws.root).stdout.startswith("5 papers, 1999 to 2001, 1 without a year\n")
    assert add(ws.replaced("corpus", min_sentences=1), *files)
    third = files[0].with_name("third.jsonl")
    third.write_text(records(7))
    add(ws, third)
    assert ([one.name for one in shown(ws).files], shown(ws).from_others) == (["third.jsonl"], 5)
    assert "  other sources: 5 kept\n" in annot_done("corpus", "show", folder=ws.root).stdout


def test_no_folder_of_the_machine_is_remembered(ws: Workspace, tmp_path: Path, files: tuple[Path, Path]) -> None:
    add(ws, *files)
    with ws.reading() as session:
        facts = json.dumps([one.facts for one in read_imports(session)])
    assert "a.jsonl" in facts
    assert str(tmp_path) not in facts
    assert "/" not in json.dumps([one.name for one in shown(ws).files])


def test_files_of_semantic_scholar_are_one(ws: Workspace, tmp_path: Path) -> None:
    papers, abstracts = tmp_path / "papers.gz", tmp_path / "abstracts.gz"
    titles = [{"corpusid": at, "title": f"On {at}", "year": 2001} for at in (1, 2)]
    papers.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in titles).encode()))
    text = {"corpusid": 1, "openaccessinfo": {}, "abstract": " ".join(SENTENCES)}
    abstracts.write_bytes(gzip.compress(json.dumps(text).encode()))
    (found,) = add(ws, papers, abstracts)
    assert found == FileRead("papers.gz and 1 more file", "semantic-scholar", "", read=2, kept=1, without_abstract=1)
    assert shown(ws).files == (found,)


def test_the_sheet_of_a_workbook_of_several_is_named(ws: Workspace, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Papers").append(["id", "title", "abstract"])
    book["Papers"].append(["p1", "T", " ".join(SENTENCES)])
    book.save(tmp_path / "a.xlsx")
    (found,) = add(ws, tmp_path / "a.xlsx")
    assert (found.format, found.encoding, found.sheet, found.kept) == ("xlsx", "", "Papers", 1)
    shown_now = annot_done("corpus", "show", folder=ws.root).stdout
    assert "  a.xlsx (xlsx, sheet 'Papers'): 1 record, 1 kept, 1 without a year\n" in shown_now


def test_many_files_are_shown_by_their_formats(ws: Workspace, tmp_path: Path) -> None:
    for number in range(11):
        (tmp_path / f"{number:02}.jsonl").write_text(records(2 * number, 2 * number + 1))
    (tmp_path / "99.csv").write_text(table(100))
    given = sorted(str(path) for path in tmp_path.glob("[0-9]*"))
    lines = annot_done("corpus", "add", *given, folder=ws.root).stdout.splitlines()
    expected = ["  annot, 11 files: 22 records, 22 kept, 22 without a year", "  csv, 1 file: 1 record, 1 kept"]
    assert lines[1:3] == expected
    assert annot_done("corpus", "show", folder=ws.root).stdout.splitlines()[1:3] == expected
    told = json.loads(annot_done("corpus", "show", "--json", folder=ws.root).stdout)["data"]
    assert len(told["files"]) == 12
    assert {name: count for name, (count, _) in by_format(shown(ws).files).items()} == {"annot": 11, "csv": 1}


BROKEN = {
    "a.txt": (b"Dear all", "begins with 'Dear all', expected papers in one of the formats of --format"),
    "b.pdf": (b"%PDF-1.4\n", "a PDF, which is not read"),
    "c.ris": (b"", "the file is empty, or has only blank lines"),
    "d.jsonl": (b'{"a":\n' * 1_200, "not valid JSON in each of 1,200 records"),
    "e.jsonl": (b'{"a":\n' * 3_400, "not valid JSON in each of 3,400 records"),
    "f.jsonl.gz": (gzip.compress(records(*range(999)).encode())[:-9], "cannot be decompressed"),
    "g.xml": (b"<PubmedArticleSet></PubmedArticleSet>", "found no paper"),
}


@pytest.mark.parametrize("letters", ["abcdefg", "cg", "de", "fc"])
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


def test_of_many_groups_of_near_duplicates_the_first_are_shown(ws: Workspace, tmp_path: Path) -> None:
    words = [[f"word{number}" for number in range(at, at + 30)] for at in range(0, 360, 30)]
    texts = [f"We {' '.join(some[:10])}. We {' '.join(some[10:20])}. We {' '.join(some[20:])}." for some in words]
    rows = [{"id": f"{at}-{n}", "title": f"On {at}", "abstract": text} for at, text in enumerate(texts) for n in (1, 2)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    add(ws, tmp_path / "a.jsonl")
    last = annot_done("corpus", "show", folder=ws.root).stdout.splitlines()[-1]
    shown_groups, all_groups = corpus.REPORTED, len(shown(ws).near_duplicates)
    assert all_groups > shown_groups
    assert last == f"  {all_groups - shown_groups} more group{'s' * (all_groups > shown_groups + 1)} (--json lists all)"


def test_the_help_lists_the_formats_that_there_are(ws: Workspace) -> None:
    told = annot("corpus", "add", "--help", folder=ws.root).stdout
    words = told.replace("\u2502", " ").replace(",", " ").split()
    assert {*FORMATS} <= {*words}
    wrong = annot("corpus", "add", "x", "--format", "zzz", folder=ws.root).message()
    assert {*FORMATS} <= {*wrong.replace(",", " ").split()}
