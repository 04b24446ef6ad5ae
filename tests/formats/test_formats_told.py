"""How the format of a file is told, and datasets that are read by their name from a library put in its place."""

import gzip
import io
import json
import re
import sqlite3
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.formats.corpora import FORMATS, Piece, format_named, format_of
from annot.formats.corpora.pieces import UNREAD

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


HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made -->\n'
MARC_FIELD = '<leader>00714cam a2200205 a 4500</leader><datafield tag="245" ind1="1"><subfield code="a">T</subfield>'
WORK = {"indexed": {"date-parts": [[2024, 1, 2]]}, "reference-count": 3, "DOI": "10.1/x", "title": ["T"]}
CITED = {"id": "a", "type": "article-journal", "title": "T", "issued": {"date-parts": [[2001, 5]]}}


def zipped(*names: str, stored: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        if stored:
            archive.writestr("mimetype", stored)
        for name in names:
            archive.writestr(name, "x")
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("papers.jsonl")
        member.size = 2
        archive.addfile(member, io.BytesIO(b"{}"))
    return out.getvalue()


def database(folder: Path) -> bytes:
    path = folder / "zotero.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE items (itemID INTEGER)")
    return path.read_bytes()


FILES: dict[str, tuple[str | bytes, str, str]] = {
    "corpus.jsonl": (
        json.dumps({"id": "x", "title": "T", "paperAbstract": "One.", "outCitations": ["y"]}) + "\n",
        "the Open Research Corpus",
        "Semantic Scholar's datasets",
    ),
    "marc.xml": (
        HEAD + f'<collection xmlns="http://www.loc.gov/MARC21/slim"><record>{MARC_FIELD}',
        "MARCXML",
        "Zotero",
    ),
    "marc-prefixed.xml": (f'<marc:record xmlns:marc="http://www.loc.gov/MARC21/slim">{MARC_FIELD}', "MARCXML", "RIS"),
    "zotero.rdf": ('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">', "Zotero's RDF", "RIS"),
    "jats.xml": (
        HEAD + '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS.dtd">\n<article xml:lang="en">',
        "the full text of an article (JATS)",
        "RIS",
    ),
    "login.ris": ("<!DOCTYPE html>\n<html lang='en'><head><title>Sign in</title>", "a web page", "browser"),
    "error.json": ("\n<HTML><BODY>502</BODY></HTML>", "a web page", "browser"),
    "crossref.json": (
        json.dumps({"status": "ok", "message-type": "work-list", "message": {"items": [WORK]}}),
        "Crossref's JSON",
        "OpenAlex or PubMed",
    ),
    "csl.json": (json.dumps([CITED], indent=2), "CSL JSON", "Zotero"),
    "csv-pubmed-set.csv": (
        "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year\n1,T,A,C,A,J,2001\n",
        "PubMed's CSV",
        "Save",
    ),
    "citations.cgi": ("<1. >\nVN  - Ovid Technologies\nDB  - Embase\nUI  - 1\nTI  - A title\n", "Ovid's tagged", "RIS"),
    "pmid.txt": ("30668574\n30653526\n30640925\n", "a list of PubMed ids", "Save"),
    "books.mrc": (
        "00714cam a2200205 a 4500001001300000003000400013\x1e   89048230 /AC/r91\x1eDLC\x1e",
        "MARC 21",
        "Zotero",
    ),
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF", "records"),
    "list.docx": (zipped("[Content_Types].xml", "_rels/.rels", "word/document.xml"), "a Word document", "records"),
    "list.ods": (
        zipped("content.xml", stored="application/vnd.oasis.opendocument.spreadsheet"),
        "a spreadsheet of LibreOffice",
        ".xlsx",
    ),
    "papers.zip": (zipped("papers/1.jsonl", "papers/2.jsonl"), "a zip archive", "unpack it"),
    "papers.tar": (tarred(), "an archive", "unpack it"),
    "papers.tar.gz": (gzip.compress(tarred()), "an archive", "unpack it"),
    "zotero.sqlite": (b"", "a database, perhaps Zotero's own", "export"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_kind_that_is_not_read_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    content, kind, remedy = FILES[name]
    path = tmp_path / f"given-{name}"
    if name == "zotero.sqlite":
        content = database(tmp_path)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        format_of(str(path), None)
    assert caught.value.message.startswith(f"{path}: {kind}")
    assert caught.value.message.endswith("which is not read")
    assert caught.value.faults == ()
    assert remedy in str(caught.value.hint)
    assert format_of(str(path), "csv") == "csv"


def test_a_workbook_is_no_archive() -> None:
    workbooks = (
        zipped("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"),
        zipped("docProps/app.xml", "xl/workbook.xml"),
    )
    for content in workbooks:
        assert not [name for name, (begins, _) in UNREAD.items() if re.match(begins, content, re.DOTALL)]
