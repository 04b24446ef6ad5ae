"""Files that cannot be read, as people bring them: one clear error each, and nothing half-added."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.steps import corpus
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied

TEXT = "We look at the shape of it. We look at the size of it. We look at the colour of it."
LINE = json.dumps({"paper_id": "p1", "title": "T", "abstract": TEXT}) + "\n"
RIS = f"TY  - JOUR\nTI  - A title\nAB  - {TEXT}\nPY  - 2001\nDO  - 10.1/x\nER  - \n"
ARTICLE = (
    '<PubmedArticle><MedlineCitation><PMID Version="1">1</PMID><Article><ArticleTitle>T</ArticleTitle>'
    f"<Abstract><AbstractText>{TEXT}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
)
PUBMED = '<?xml version="1.0" ?>\n<PubmedArticleSet>'
ENTITIES = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>'
BIBTEX = f"@article{{key,\n  title = {{A title}},\n  abstract = {{{TEXT}}},\n  year = 2001"


def workbook(sheet: bytes) -> bytes:
    """The parts of a workbook that say where its one sheet is, with this sheet."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships"><Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"paper_id": ["a"], "title": ["T"], "abstract": [TEXT]}), out)
    return out.getvalue()


class Bad(NamedTuple):
    name: str
    content: bytes | Callable[[], bytes]
    told: tuple[str, ...]
    """Words of the error."""
    faults: int = 0
    """That it lists."""


BAD = {
    "nothing": Bad("a.ris", b"", ("a.ris: the file is empty, or has only blank lines",), 1),
    "blank lines": Bad("a.bib", b" \n\n \n", ("a.bib: the file is empty, or has only blank lines",), 1),
    "blank, compressed": Bad("a.jsonl.gz", gzip.compress(b"\n\n"), ("the file is empty, or has only blank lines",), 1),
    "a letter": Bad("a.ris", b"Dear colleague,\nthe list follows.\n", ("begins with 'Dear colleague,'", "--format")),
    "a picture": Bad("a.bib", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("not text", "89 50 4e 47")),
    "random bytes": Bad("a.nbib", bytes(range(256)) * 40, ("not text",)),
    "an error page": Bad(
        "a.ris", b"<!DOCTYPE html>\n<html><body>403 Forbidden</body></html>", ("a web page", "browser")
    ),
    "a PDF": Bad("a.csv", b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", ("a PDF", "export the records")),
    "an archive": Bad("a.jsonl", b"7z\xbc\xaf\x27\x1c\0\4", ("an archive", "unpack it")),
    "XML of another kind": Bad("a.xml", b"<opml version='2.0'/>", ("its root is <opml>",)),
    "JSON of another kind": Bad(
        "a.json", b'{"type": "FeatureCollection", "features": []}', ("no field 'paper_id'",), 1
    ),
    "JSON without objects": Bad("a.json", b"[1, 2, 3]", ("not a JSON object in each of 3 records",), 1),
    "JSON that breaks off": Bad(
        "a.json", f'[\n{{"paper_id": "p1", "title": "{"x" * 90}'.encode(), ("not valid JSON",), 1
    ),
    "JSON Lines that all break off": Bad(
        "a.jsonl", (LINE[:60] + "\n").encode() * 1_234, ("not valid JSON in each of 1,234 records", "the first: "), 1
    ),
    "JSON Lines without ids": Bad(
        "a.jsonl", b'{"title": "T", "abstract": "A."}\n' * 30, ("no field 'paper_id' in each of 30 records",), 1
    ),
    "Crossref's JSON": Bad("a.json", b'{"status": "ok", "message-type": "work-list"}', ("Crossref's JSON", "OpenAlex")),
    "half a compressed file": Bad(
        "a.jsonl.gz", gzip.compress(LINE.encode() * 99)[:60], ("cannot be decompressed", "download it again")
    ),
    "no end of the compression": Bad(
        "a.ris.gz", gzip.compress(RIS.encode() * 99)[:-8], ("cannot be decompressed", "download it again")
    ),
    "a bomb": Bad("a.jsonl.gz", gzip.compress(b" " * (1 << 26)), ("unpacks to more than 100 times its size",)),
    "RIS without a type": Bad("a.ris", RIS.replace("TY  - JOUR\n", "").encode(), ("begins with 'TI  - A title'",)),
    "BibTeX that never closes": Bad("a.bib", BIBTEX.encode(), ("a.bib",), 1),
    "BibTeX without an entry": Bad("a.bib", b"% refs\n@string{acl = {ACL}}\n", ("a.bib",), 1),
    "PubMed XML cut in its first article": Bad("a.xml", (PUBMED + ARTICLE[:120]).encode(), ("not valid XML",), 1),
    "PubMed XML without articles": Bad("a.xml", f"{PUBMED}</PubmedArticleSet>".encode(), ("found no paper",), 1),
    "PubMed XML with entities": Bad(
        "a.xml", f"{ENTITIES}<PubmedArticleSet>{ARTICLE}</PubmedArticleSet>".encode(), ("declares the entity 'a'",)
    ),
    "the Anthology with entities": Bad(
        "a.xml", f'{ENTITIES}<collection id="P18"/>'.encode(), ("declares the entity 'a'",)
    ),
    "the Anthology, empty": Bad("a.xml", b'<collection id="P18"></collection>', ("found no paper",), 1),
    "CSV without known columns": Bad("a.csv", b"Autor,Ort\nx,y\n", ("columns: found Autor, Ort", "expected"), 1),
    "CSV without an abstract": Bad("a.csv", b"Title,DOI\nT,10.1/x\n", ("expected an abstract among them",), 1),
    "CSV with a header alone": Bad("a.csv", b"paper_id,title,abstract\n", ("found no paper",), 1),
    "CSV with rows of other widths": Bad(
        "a.csv", b"paper_id,title,abstract\n" + b"p1,T\n" * 12, ("another number of columns in each of 12 records",), 1
    ),
    "PubMed's CSV": Bad("a.csv", b"PMID,Title,Authors,Citation,First Author\n1,T,A,C,A\n", ("no abstracts", "Save")),
    "a workbook that is no workbook": Bad("a.xlsx", b"PK\x03\x04" + bytes(40) + b"xl/workbook.xml", ("a.xlsx",)),
    "a workbook with a bomb": Bad("a.xlsx", lambda: workbook(b"<worksheet>" + b" " * (1 << 26)), ("unpacks",)),
    "half a Parquet file": Bad("a.parquet", lambda: parquet()[:200], ("a.parquet: not a Parquet file",)),
    "Parquet overwritten": Bad("a.parquet", lambda: parquet()[:-20] + bytes(20), ("not a Parquet file",)),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(), "made", tmp_path_factory.mktemp("broken") / "study").replaced("machine", processes=1)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("alone", [True, False])
def test_a_broken_file_gives_one_error_and_leaves_nothing(
    study: Workspace, tmp_path: Path, name: str, alone: bool
) -> None:
    bad = BAD[name]
    path, good = tmp_path / bad.name, tmp_path / "good.jsonl"
    path.write_bytes(bad.content if isinstance(bad.content, bytes) else bad.content())
    good.write_text(LINE)
    before = {one: one.stat().st_size for one in study.root.rglob("*") if one.is_file()}
    with pytest.raises(InputError) as caught:
        corpus.add(study, [path] if alone else [good, path], form=None, dry_run=False, advance=lambda _, __: None)
    error = caught.value
    told = "\n".join((error.message, *error.faults, error.hint or ""))
    assert [word for word in bad.told if word not in told] == []
    assert (len(error.faults), str(path) in told) == (bad.faults, True)
    assert len(told) < 1_000
    assert {one: one.stat().st_size for one in study.root.rglob("*") if one.is_file()} == before


def test_more_than_thirty_kinds_of_broken_files_are_tried() -> None:
    assert len(BAD) > 30
