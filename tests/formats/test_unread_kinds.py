"""Files of kinds that are known and not read: each is named with what to do, and `--format` overrules that."""

import gzip
import io
import json
import re
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.formats.corpora import format_of
from annot.formats.corpora.pieces import UNREAD

XML = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made -->\n'
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
    "endnote.xml": (
        XML + '<xml><records><record><database name="My.enl">My.enl</database><source-app>EndNote</source-app>',
        "EndNote's XML",
        "RefMan (RIS) Export",
    ),
    "medline.xml": (
        XML + "<MedlineCitationSet><MedlineCitation><PMID>1</PMID>",
        "a MEDLINE set of before 2017",
        "pubmed.ncbi.nlm.nih.gov",
    ),
    "corpus.jsonl": (
        json.dumps({"id": "x", "title": "T", "paperAbstract": "One.", "outCitations": ["y"]}) + "\n",
        "the Open Research Corpus",
        "Semantic Scholar's datasets",
    ),
    "marc.xml": (
        XML + f'<collection xmlns="http://www.loc.gov/MARC21/slim"><record>{MARC_FIELD}',
        "MARCXML",
        "Zotero",
    ),
    "marc-prefixed.xml": (f'<marc:record xmlns:marc="http://www.loc.gov/MARC21/slim">{MARC_FIELD}', "MARCXML", "RIS"),
    "mods.xml": ('<modsCollection xmlns="http://www.loc.gov/mods/v3"><mods>', "MODS", "Zotero"),
    "zotero.rdf": ('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">', "Zotero's RDF", "RIS"),
    "jats.xml": (
        XML + '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS.dtd">\n<article xml:lang="en">',
        "the full text of an article (JATS)",
        "RIS",
    ),
    "arxiv.atom": ('<feed xmlns="http://www.w3.org/2005/Atom"><entry>', "a feed", "records"),
    "dblp.xml": (XML + '<!DOCTYPE dblp SYSTEM "dblp.dtd">\n<dblp>\n<article>', "DBLP's XML", "records"),
    "login.ris": ("<!DOCTYPE html>\n<html lang='en'><head><title>Sign in</title>", "a web page", "browser"),
    "error.json": ("\n<HTML><BODY>502</BODY></HTML>", "a web page", "browser"),
    "crossref.json": (
        json.dumps({"status": "ok", "message-type": "work-list", "message": {"items": [WORK]}}),
        "Crossref's JSON",
        "OpenAlex or PubMed",
    ),
    "crossref.jsonl": (json.dumps(WORK) + "\n", "Crossref's JSON", "DOIs"),
    "csl.json": (json.dumps([CITED], indent=2), "CSL JSON", "Zotero"),
    "csv-pubmed-set.csv": (
        "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year\n1,T,A,C,A,J,2001\n",
        "PubMed's CSV",
        "Save",
    ),
    "endnote.enw": ("%0 Journal Article\n%A Doe, J.\n%T A title\n%X A text.\n", "EndNote's tagged text", "EndNote"),
    "books.mrc": (
        "00714cam a2200205 a 4500001001300000003000400013\x1e   89048230 /AC/r91\x1eDLC\x1e",
        "MARC 21",
        "Zotero",
    ),
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF", "records"),
    "list.docx": (zipped("[Content_Types].xml", "_rels/.rels", "word/document.xml"), "a Word document", "records"),
    "list.rtf": (r"{\rtf1\ansi x}", "a Word document", "records"),
    "list.ods": (
        zipped("content.xml", stored="application/vnd.oasis.opendocument.spreadsheet"),
        "a spreadsheet of LibreOffice",
        ".xlsx",
    ),
    "list.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "a file of Office before 2007", ".xlsx"),
    "papers.zip": (zipped("papers/1.jsonl", "papers/2.jsonl"), "a zip archive", "unpack it"),
    "papers.tar": (tarred(), "an archive", "unpack it"),
    "papers.tar.gz": (gzip.compress(tarred()), "an archive", "unpack it"),
    "papers.7z": (b"7z\xbc\xaf\x27\x1c\0\4", "an archive", "unpack it"),
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
