"""How the format of a file is told, and datasets that are read by their name from a library put in its place."""

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.formats.corpora import FORMATS, Piece, format_named, format_of

LINE = '{"paper_id": "1", "title": "T", "abstract": "A."}'
XML = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- x --><!DOCTYPE collection SYSTEM "schema.dtd">\n'
CONTENTS = {
    "lines": (LINE + "\n" + LINE, "annot"),
    "one line": (LINE, "annot"),
    "lines behind a broken one": (LINE[:20] + "\n" + LINE + "\n" + LINE, "annot"),
    "broken lines": ((LINE[:20] + "\n") * 3, "annot"),
    "a list": (f"[{LINE}, {LINE}]", "json"),
    "a list, a paper a line": (f"[\n{LINE},\n{LINE}\n]", "json"),
    "papers by their ids": (json.dumps({"1": json.loads(LINE), "2": json.loads(LINE)}, indent=1), "json"),
    "one paper on many lines": (json.dumps(json.loads(LINE), indent=1), "json"),
    "the anthology": (XML + '<collection id="P18"></collection>', "acl"),
    "columns": ("id,title,abstract\n1,T,A.\n", "csv"),
    "columns between tabs": ("\nid\ttitle\tabstract\n1\tT\tA.\n", "csv"),
    "columns between semicolons": ("id;title;abstract\n1;T;A.\n", "csv"),
    "only white space": (" \n\n", "annot"),
    "nothing": ("", "annot"),
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize(
    "write", [str.encode, lambda text: gzip.compress(text.encode()), lambda text: ("\ufeff" + text).encode()]
)
def test_the_beginning_of_a_file_tells_its_format_whatever_its_name(
    tmp_path: Path, content: str, write: Callable[[str], bytes]
) -> None:
    text, form = CONTENTS[content]
    for name in ("papers.parquet", "papers.json", "papers"):
        (tmp_path / name).write_bytes(write(text))
        assert format_of(str(tmp_path / name), None) == form


def test_a_parquet_file_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"id": ["1"], "text": ["A."]}), tmp_path / "x.csv")
    assert format_of(str(tmp_path / "x.csv"), None) == "parquet"


def test_only_a_table_whose_columns_tell_nothing_is_told_by_its_ending(tmp_path: Path) -> None:
    for name in ("x.csv", "x.tsv"):
        (tmp_path / name).write_text("Autor,Ort\n1,2\n")
        assert format_of(str(tmp_path / name), None) == "csv"
        (tmp_path / name).write_text(LINE)
        assert format_of(str(tmp_path / name), None) == "annot"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"Dear all,\nplease find attached", "begins with 'Dear all,'"),
        (b"x" * 50, "begins with '" + "x" * 40 + "' ..."),
        (b"<opml version='2.0'><body/></opml>", "XML of an unknown kind: its root is <opml>"),
        (b'<collection><volume id="1"/></collection>', "XML of an unknown kind: its root is <collection>"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not text; it begins with the bytes 89 50 4e 47 0d 0a 1a 0a"),
        (b"Autor,Ort\n1,2\n", "begins with 'Autor,Ort'"),
    ],
)
def test_a_file_that_tells_nothing_is_refused_once_with_how_it_begins(
    tmp_path: Path, content: bytes, what: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        format_of(str(path), None)
    assert caught.value.message == f"{path}: {what}, expected papers in one of the formats of --format"
    assert "annot corpus add --help" in str(caught.value.hint)
    assert caught.value.faults == ()
    assert format_of(str(path), "annot") == "annot"


def test_a_name_that_is_near_to_one_is_suggested() -> None:
    with pytest.raises(InputError, match=r"format 'parket': not known; did you mean 'parquet'\?"):
        format_named("parket")
    # That of the shares into which Semantic Scholar's rows are spread is known, and people do not give it.
    assert format_named("semantic-scholar-share").name not in FORMATS


ARXIV_RECORD = {"id": "1", "title": "T", "abstract": "A.", "categories": "cs.CL"}


@pytest.mark.parametrize("before", [0, 99])
def test_the_first_of_a_hundred_lines_that_is_a_record_tells_the_format(tmp_path: Path, before: int) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("".join(["no record\n"] * before) + json.dumps(ARXIV_RECORD) + "\n")
    assert format_of(str(path), None) == "arxiv"


class Document(NamedTuple):
    doc_id: str
    title: str
    text: str


class Library:
    """In place of `ir_datasets`: two datasets, one without documents."""

    registry = ("cranfield", "queries-only")

    def load(self, name: str) -> Any:
        if name not in self.registry:
            raise KeyError(name)

        def documents() -> Iterator[Document]:
            yield Document("1", "T", "One.")
            yield Document("2", "", "Two.")

        return SimpleNamespace(has_docs=lambda: name == "cranfield", docs_iter=documents)


def test_documents_of_a_dataset_are_read_in_one_piece_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", Library())  # type: ignore[arg-type]
    form = format_named("irds")
    assert form.by_name
    assert form.cut("cranfield") == [(0, None)]
    assert list(form.records(Piece("cranfield", "irds", 0, None))) == [
        (1, {"doc_id": "1", "title": "T", "text": "One."}),
        (2, {"doc_id": "2", "title": "", "text": "Two."}),
    ]
    with pytest.raises(InputError, match="cranfeld: not a dataset of ir_datasets") as caught:
        form.cut("cranfeld")
    assert caught.value.hint == "did you mean 'cranfield'?"
    with pytest.raises(InputError) as caught:
        form.cut("x")
    assert caught.value.hint == "https://ir-datasets.com lists them"
    with pytest.raises(InputError, match="queries-only: this dataset of ir_datasets has no documents"):
        form.cut("queries-only")
