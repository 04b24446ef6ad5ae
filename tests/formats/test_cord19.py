"""CORD-19's parses of PDFs and of PubMed Central's XML, one a file or one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from annot.formats.corpora import FORMATS, Piece, format_named, format_of
from annot.formats.corpora.cord19 import CORD19

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


def test_many_may_be_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "parses.jsonl").write_text("\n".join(map(json.dumps, (PDF, PMC))))
    assert papers(tmp_path / "parses.jsonl") == [PAPER, OF_PMC]
    (tmp_path / "parses.json").write_text(json.dumps([PDF, PMC], indent=1))
    assert papers(tmp_path / "parses.json") == [PAPER, OF_PMC]


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


def test_no_other_format_is_taken_for_it() -> None:
    assert [form.name for form in FORMATS.values() if form.fits(PDF) and form.bibliographic] == ["cord19"]
    for other in ({"paper_id": "1", "metadata": {"title": "T"}}, {"paper_id": "1", "title": "T", "body_text": [{}]}):
        assert not CORD19.fits(other)
