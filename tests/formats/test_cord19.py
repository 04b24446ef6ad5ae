"""CORD-19: a release with its table, and its parses of PDFs and of PubMed Central's XML, one a file or one a line."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from annot.formats.corpora import Piece, format_named, format_of
from annot.formats.corpora.datasets import CORD19
from annot.formats.corpora.pieces import BrokenRecord
from annot.steps import corpus
from annot.store.citations import cited_by
from annot.store.papers import paper_ids
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied, quietly

SHA = "0" * 36 + "ab12"


def paragraph(text: str, section: str) -> dict[str, Any]:
    return {"text": text, "cite_spans": [], "ref_spans": [], "section": section}


def entry(number: int, **other_ids: Any) -> dict[str, Any]:
    return {
        **{"ref_id": f"b{number}", "title": "Cited", "authors": [], "year": 2003, "venue": "", "volume": ""},
        **{"issn": "", "pages": "", "other_ids": other_ids},
    }


PDF: dict[str, Any] = {
    "paper_id": SHA,
    "metadata": {
        "title": "Épidémie &amp; cités",
        "authors": [
            {"first": "Ana", "middle": ["M"], "last": "Peña", "suffix": "", "affiliation": {}, "email": ""},
            {"first": "Jörg", "middle": [], "last": "Groß", "suffix": "Jr", "affiliation": {}, "email": ""},
        ],
    },
    "abstract": [
        paragraph("A virus is spreading.", "Abstract"),
        paragraph(" ", "Abstract"),
        paragraph("We count.", "Abstract"),
    ],
    "body_text": [paragraph("Long text.", "Introduction"), paragraph("More.", "Conclusion")],
    "bib_entries": {
        "BIBREF0": entry(0, DOI=["10.1016/S0140-6736(03)13077-2"]),
        "BIBREF1": entry(1, DOI=[], PMID=["12690092"], PMCID=["PMC1"]),
        "BIBREF2": entry(2),
    },
    "ref_entries": {"FIGREF0": {"text": "Figure", "type": "figure"}},
    "back_matter": [],
}
PMC = {name: value for name, value in PDF.items() if name != "abstract"} | {"paper_id": "PMC7095028"}
PAPER = {
    "key": SHA,
    "title": "Épidémie &amp; cités",
    "abstract": "A virus is spreading.\n\nWe count.",
    "cited": [(("doi", "10.1016/S0140-6736(03)13077-2"),), (("pmid", "12690092"),)],
}
OF_PMC = {**PAPER, "key": "PMC7095028", "abstract": None}


def papers(path: Path) -> list[Mapping[str, Any]]:
    form = format_named(format_of(str(path), None))
    assert form is CORD19
    found = form.records(Piece(str(path), form.name, 0, None))
    return [form.paper(record) for _, record in found if isinstance(record, dict)]


@pytest.mark.parametrize("indent", [4, None])
@pytest.mark.parametrize(("record", "paper"), [(PDF, PAPER), (PMC, OF_PMC)], ids=["pdf_json", "pmc_json"])
def test_a_file_has_one_paper(tmp_path: Path, record: Any, paper: Any, indent: int | None) -> None:
    (tmp_path / f"{record['paper_id']}.json").write_text(json.dumps(record, indent=indent))
    assert papers(tmp_path / f"{record['paper_id']}.json") == [paper]


def test_what_a_parse_lacks_its_paper_lacks() -> None:
    nothing = {"key": "x", "title": None, "abstract": None, "cited": []}
    for record in (
        {"paper_id": "x"},
        {"paper_id": "x", "metadata": {"title": ""}, "abstract": [], "bib_entries": {}, "body_text": []},
        {"paper_id": "x", "metadata": None, "abstract": None, "bib_entries": None},
        {"paper_id": "x", "metadata": [], "abstract": ["text", {"text": None}], "bib_entries": {"b": None, "c": {}}},
    ):
        assert CORD19.paper(record) == nothing


@pytest.mark.parametrize("ids", [{"DOI": ["10.1/x"]}, {"DOI": "10.1/x"}, {"DOI": [None, "10.1/x", 3], "PMID": 7}])
def test_a_bibliography_may_have_its_ids_as_lists_or_alone(ids: dict[str, Any]) -> None:
    for entries in ({"BIBREF0": entry(0, **ids)}, [entry(0, **ids)]):
        assert CORD19.paper({**PDF, "bib_entries": entries})["cited"] == [(("doi", "10.1/x"),)]


HEADER = (
    "cord_uid,sha,source_x,title,doi,pmcid,pubmed_id,license,abstract,publish_time,authors,journal,mag_id,"
    "who_covidence_id,arxiv_id,pdf_json_files,pmc_json_files,url,s2_id"
)
"""Of the release of 2 June 2022."""
OF_PDF, OF_XML = f"document_parses/pdf_json/{SHA}.json", "document_parses/pmc_json/PMC7095028.xml.json"
ROW = {"cord_uid": "ug7v899j", "title": "Épidémie", "doi": "10.1101/A", "pubmed_id": "11", "publish_time": "2003-07-04"}
ABSTRACT = "A virus is spreading fast. We count its cases. They are many."


def release(folder: Path, *rows: Mapping[str, str]) -> Path:
    """A folder with the table of these rows, and with both full texts."""
    for name, record in ((OF_PDF, PDF), (OF_XML, PMC)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(record, indent=4))
    with (folder / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEADER.split(","))
        writer.writeheader()
        writer.writerows(rows)
    return folder / "metadata.csv"


def test_a_row_of_the_table_has_what_its_full_texts_add(tmp_path: Path) -> None:
    """Two parses of one paper cite the same works twice, which the corpus has once."""
    both = {**ROW, "pdf_json_files": OF_PDF, "pmc_json_files": OF_XML}
    table = release(tmp_path, both, {**both, "abstract": ABSTRACT, "pmc_json_files": ""}, ROW)
    one, with_abstract, alone = papers(table)
    ids = {"key": "ug7v899j", "title": "Épidémie", "doi": "10.1101/A", "pmid": "11", "year": "2003"}
    assert one == {**ids, "abstract": PAPER["abstract"], "cited": [*PAPER["cited"], *PAPER["cited"]]}
    assert with_abstract == {**ids, "abstract": ABSTRACT, "cited": PAPER["cited"]}
    assert (alone["abstract"], alone["cited"]) == (None, [])


@pytest.mark.parametrize(
    "name", ["", "document_parses/pdf_json/gone.json", "../secret.json", "document_parses/pdf_json/../../secret.json"]
)
def test_a_full_text_that_is_not_there_or_elsewhere_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    for place in (tmp_path, tmp_path / "in"):
        (place / "secret.json").write_text(json.dumps(PDF))
    (one,) = papers(release(tmp_path / "in", {**ROW, "abstract": ABSTRACT, "pdf_json_files": name}))
    assert (one["abstract"], one["cited"]) == (ABSTRACT, [])


def test_a_full_text_that_is_broken_is_named_and_its_paper_stays(tmp_path: Path) -> None:
    table = release(tmp_path, {**ROW, "abstract": ABSTRACT, "pdf_json_files": OF_PDF})
    (tmp_path / OF_PDF).write_text('{"paper_id": ')
    (_, broken), (_, row) = CORD19.records(Piece(str(table), "cord19", 0, None))
    assert isinstance(broken, BrokenRecord)
    assert broken.faults[0].startswith(f"{tmp_path / OF_PDF}: not valid JSON")
    assert isinstance(row, dict)
    assert CORD19.paper(row)["abstract"] == ABSTRACT


def test_of_a_release_each_paper_is_added_once_with_what_it_cites(tmp_path: Path) -> None:
    """The folder has a licence and notes, too; parses that no row names are not read."""
    ws: Workspace = copied(Small(), "made", tmp_path / "study").replaced("machine", processes=1)
    folder = tmp_path / "2022-06-02"
    release(folder, {**ROW, "abstract": ABSTRACT, "pdf_json_files": OF_PDF, "pmc_json_files": OF_XML})
    (folder / "changelog").write_text("2022-06-02\nFinal release\n")
    (folder / "document_parses" / "pdf_json" / f"{'1' * 40}.json").write_text(json.dumps(PDF | {"paper_id": "1" * 40}))
    found = corpus.add(ws, [folder], form=None, dry_run=False, advance=quietly)
    assert [(one.name, one.format, one.kept) for one in found.files] == [("2022-06-02: 1 file", "cord19", 1)]
    assert found.rejected == {"cannot be read: a file in no known format": 1}
    assert [*paper_ids(ws.corpus)] == ["10.1101/a"]
    assert cited_by(ws.corpus, ["10.1101/a"])["10.1101/a"] == ("doi:10.1016/s0140-6736(03)13077-2", "pmid:12690092")
