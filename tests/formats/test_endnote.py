"""EndNote's XML as EndNote, Zotero and Mendeley write it, and its tagged text.

The files are made by hand after exports of these programs and the tags of refer
(https://man7.org/linux/man-pages/man1/refer.1.html).
"""

from pathlib import Path
from typing import Any

import pytest
from annot.formats.corpora import FORMATS, format_of
from annot.formats.corpora.pieces import BrokenRecord, Piece

STYLED = """<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database name="My.enl">My.enl</database>
<source-app name="EndNote" version="20.2">EndNote</source-app><rec-number>7</rec-number><titles><title>
<style face="normal" font="default">Uptake of CO</style><style face="subscript" font="default">2</style>
<style face="italic" font="default">in vivo</style></title><secondary-title>J</secondary-title></titles>
<dates><year><style face="normal">1999</style></year></dates><accession-num>123456</accession-num>
<remote-database-name>Medline</remote-database-name>
<abstract><style face="normal">We looked &lt; twice.</style></abstract>
<electronic-resource-num><style face="normal">10.5555/made.1</style></electronic-resource-num></record>
"""
PLAIN = """<record><database name="L">L</database><titles><title>Other</title></titles><dates><pub-dates><date>2022 May
</date></pub-dates></dates><accession-num>35319117</accession-num><language>eng</language><abstract>One. Two.</abstract>
</record>"""
TAGGED = """%0 Journal Article
%A Doe, Jane
%T A title that goes
on
%D 2021
%R 10.5555/made.2
%M 987654
%~ PubMed
%G eng
%X First part.

Second part: 5 %% of it.
%F Doe2021


%T After two lines
%0 Journal Article
%8 May 3, 2020
%U https://doi.org/10.5555/made.3
%X One.
"""


def papers(tmp_path: Path, text: str, form: str, name: str = "export") -> list[Any]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert format_of(str(path), None) == form
    read = [record for _, record in FORMATS[form].records(Piece(str(path), form, 0, None))]
    return [record if isinstance(record, BrokenRecord) else dict(FORMATS[form].paper(record)) for record in read]


def test_the_xml_has_plain_fields_or_styled_ones(tmp_path: Path) -> None:
    styled, plain = papers(tmp_path, f"{STYLED}{PLAIN}</records></xml>", "endnote")
    assert " ".join(styled.pop("title").split()) == "Uptake of CO<sub>2</sub> in vivo"
    expected = {"abstract": "We looked < twice.", "year": "1999", "doi": "10.5555/made.1", "pmid": "123456", "key": "7"}
    assert {name: value for name, value in styled.items() if value} == expected
    assert (plain["title"], plain["year"], plain["pmid"], plain["language"]) == ("Other", "2022", None, "eng")


@pytest.mark.parametrize("cut", ["</records>", ""])
def test_xml_that_breaks_off_ends_with_a_fault(tmp_path: Path, cut: str) -> None:
    first, fault = papers(tmp_path, STYLED + cut, "endnote")
    assert (first["doi"], fault.reason) == ("10.5555/made.1", "not valid XML")


def test_tagged_text_has_its_title_before_the_kind_or_behind_it(tmp_path: Path) -> None:
    first, second = papers(tmp_path, TAGGED, "refer")
    assert first == {
        "title": "A title that goes on",
        "abstract": "First part. Second part: 5 %% of it.",
        "year": "2021",
        "doi": "10.5555/made.2",
        "pmid": "987654",
        "key": "Doe2021",
        "language": "eng",
    }
    assert (second["title"], second["year"], second["doi"]) == ("After two lines", "2020", "10.5555/made.3")
