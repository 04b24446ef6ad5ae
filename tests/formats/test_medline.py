"""PubMed's own format (.nbib): what is read of articles and books, old and new, and how abstracts are divided."""

from pathlib import Path
from typing import Any

import pytest
from annot.formats.corpora.pieces import Head, Piece
from annot.formats.corpora.sections import parts_of
from annot.formats.corpora.tagged import MEDLINE


def piece(path: Path, text: str | bytes) -> Piece:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Piece(str(path), MEDLINE.name, *MEDLINE.cut(str(path))[0])


def papers(path: Path, text: str | bytes) -> list[tuple[int, Any]]:
    found = MEDLINE.records(piece(path, text))
    return [(at, MEDLINE.paper(record) if isinstance(record, dict) else record) for at, record in found]


NEW = """
PMID- 30000001
OWN - NLM
STAT- MEDLINE
IS  - 1234-5678 (Electronic)
DP  - 2018 Mar-Apr
TI  - Rye bread in small ovens: a randomized trial of <i>Secale</i> with a very long 
      name.
LID - S1234(18)00001-2 [pii]
LID - 10.1000/182 [doi]
AB  - BACKGROUND: Ovens differ in size. METHODS: We baked 20 loaves, the CONTROL 
      GROUP: none. RESULTS: All were eaten (P < 0.05). CONCLUSIONS: More is 
      needed.
CI  - Copyright 2018.
FAU - Müller, Anna
AU  - Müller A
AD  - Department of Bread, University of Ovens, 
      Town.
PT  - Journal Article
MH  - Bread
PMC - PMC1234567
EDAT- 2018/03/01 06:00
AID - 10.1000/other [doi]
SO  - Bread. 2018 Mar-Apr;1(1):1-2.
"""
OLD = """
UI  - 90000001
PMID- 2000001
DA  - 19900101
TI  - [On ovens]
PG  - 1-2
AB  - Old lines are shorter, and
      have no space at their ends.
AU  - Baker A
DP  - 1989 Winter
SO  - Bread 1989 Winter;1(1):1-2
"""
BOOK = """
PMID- 20000001
OWN - NLM
STAT- Publisher
PB  - National Bakery
CTI - All about bread
BTI - Handbook of ovens
DP  - 1993
ISBN- 0000000000
AB  - A chapter on stoves.
PT  - Review
"""


def test_an_article_of_today_is_read(tmp_path: Path) -> None:
    assert papers(tmp_path / "p.nbib", NEW) == [
        (
            2,
            {
                "title": "Rye bread in small ovens: a randomized trial of <i>Secale</i> with a very long name.",
                "abstract": "BACKGROUND: Ovens differ in size. METHODS: We baked 20 loaves, the CONTROL GROUP: none. "
                "RESULTS: All were eaten (P < 0.05). CONCLUSIONS: More is needed.",
                **{"year": "2018", "doi": "10.1000/182", "pmid": "30000001", "language": None},
            },
        )
    ]


def test_an_old_article_and_a_book_are_read(tmp_path: Path) -> None:
    (at, old), (book_at, book) = papers(tmp_path / "p.txt", (OLD + BOOK).replace("\n", "\r\n"))
    assert (at, book_at) == (2, 13)
    assert old == {
        "title": "[On ovens]",
        "abstract": "Old lines are shorter, and have no space at their ends.",
        **{"year": "1989", "doi": None, "pmid": "2000001", "language": None},
    }
    assert book == {
        "title": "Handbook of ovens",
        "abstract": "A chapter on stoves.",
        **{"year": "1993", "doi": None, "pmid": "20000001", "language": None},
    }
    ((_, chapter),) = papers(tmp_path / "p.txt", BOOK + "TI  - Stoves\n")
    assert chapter["title"] == "Stoves"


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("TT  - Über Öfen", "title", "Über Öfen"),
        ("TT  - Über Öfen\nTI  - On ovens", "title", "On ovens"),
        ("TI  - ", "title", None),
        ("AB  - A.\nOAB - Publisher: B.", "abstract", "A."),
        ("OAB - PIP: B.\nOABL- eng", "abstract", "B."),
        ("OAB - Publisher: Abstract available from the publisher.\nOABL- spa", "abstract", None),
        ("DEP - 20201105", "year", "2020"),
        ("DP  - 1999 Dec-2000 Jan\nDEP - 20201105", "year", "1999"),
        ("AID - 10.1000/182 [doi]", "doi", "10.1000/182"),
        ("AID - S0140 [pii]\nAID - NBK1234 [bookaccession]", "doi", None),
    ],
)
def test_each_field_has_one_of_several_tags(tmp_path: Path, lines: str, field: str, value: str | None) -> None:
    ((_, found),) = papers(tmp_path / "p.nbib", f"PMID- 1\n{lines}\n")
    assert found[field] == value
    assert found["pmid"] == "1"


def test_a_record_begins_after_a_blank_line_or_with_another_number(tmp_path: Path) -> None:
    text = "Saved from PubMed\n\nPMID- 1\nTI  - One\nPMC - PMC9\nPMID- 2\nTI  - Two\n"
    text += "\nPMC - PMC3\nPMID- 3\nTI  - Three\nfoot"
    found = papers(tmp_path / "p.nbib", "\ufeff" + text)
    assert [(at, one["pmid"], one["title"]) for at, one in found] == [
        (3, "1", "One"),
        (6, "2", "Two"),
        (9, "3", "Three"),
    ]


@pytest.mark.parametrize(
    ("abstract", "parts"),
    [
        ("BACKGROUND AND AIMS: A.", [("BACKGROUND AND AIMS", "OBJECTIVE")]),
        ("OBJECTIVES/HYPOTHESIS: A.", [("OBJECTIVES/HYPOTHESIS", "OBJECTIVE")]),
        ("STUDY DESIGN: A. DISCUSSION: B.", [("STUDY DESIGN", "METHODS"), ("DISCUSSION", "CONCLUSIONS")]),
        ("CONCLUSIONS AND RELEVANCE: A. FUNDING: B.", [("CONCLUSIONS AND RELEVANCE", "CONCLUSIONS"), ("FUNDING", "")]),
        ("What it is. METHODS: A.", [("", ""), ("METHODS", "METHODS")]),
        ("METHODS: RESULTS: A.", [("METHODS", "METHODS")]),
        ("DNA: a molecule. RNA: another.", []),
        ("We compare the METHODS: none.", []),
        ("Methods: in small letters. results: too.", []),
        ("METHODS:without a space", []),
    ],
)
def test_an_abstract_is_divided_at_its_headings_only(abstract: str, parts: list[tuple[str, str]]) -> None:
    assert [part[:2] for part in parts_of(abstract)] == parts


def test_no_text_of_a_structured_abstract_is_lost() -> None:
    abstract = 'It is. AIM: To see (DNA: none). METHODS: We looked! RESULTS: "Yes." CONCLUSION: Good.'
    found = parts_of(abstract)
    assert " ".join(f"{heading}: {text}" if heading else text for heading, _, text in found) == abstract
    assert len(found) == 5


@pytest.mark.parametrize(
    "start", ["PMID- 1\nOWN - NLM\n", "\n\nPMC - PMC1\r\nPMID- 1\r\n", "UI  - 2\rPMID- 1\rTI  - T\r"]
)
def test_the_format_is_told_by_a_pmid(start: str) -> None:
    assert MEDLINE.matches(Head("p.txt", start.encode(), {}))
