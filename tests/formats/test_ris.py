"""RIS as reference managers and databases write it: what is read of each, where it is, and what cannot be read."""

from pathlib import Path
from typing import Any

import pytest
import rispy
from annot.formats.corpora import tagged
from annot.formats.corpora.pieces import BrokenRecord, Head, Piece
from annot.formats.corpora.sections import readable
from annot.formats.corpora.tagged import RIS


def piece(path: Path, text: str | bytes, encoding: str = "utf-8") -> Piece:
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return Piece(str(path), RIS.name, *RIS.cut(str(path))[0])


def papers(path: Path, text: str | bytes, encoding: str = "utf-8") -> list[tuple[int, Any]]:
    found = RIS.records(piece(path, text, encoding))
    return [(at, RIS.paper(record) if isinstance(record, dict) else record) for at, record in found]


@pytest.fixture
def paper(tmp_path: Path) -> Any:
    """The one paper of a record, given its lines without type and end."""

    def read(*lines: str, kind: str = "JOUR") -> Any:
        text = "\n".join([f"TY  - {kind}", *lines, "ER  - ", ""])
        ((place, one),) = papers(tmp_path / "p.ris", text)
        assert place == 1
        return one

    return read


REFERENCE_MANAGER = """\
TY  - JOUR
ID  - 17
T1  - On the heat of small ovens and what it does
      to bread
A1  - Baker,A.B.
Y1  - 1996/03/01/
N2  - Ovens differ. This is a long note about them that
goes on in the next line.
JF  - Annals of Bread
SP  - 1
ER  - \n\n"""
ZOTERO = """\
TY  - CONF
TI  - Bröd & <i>brioche</i>
AU  - Ågren, Åsa
PY  - 2020
DA  - 2020/05/11/
DO  - 10.1000/182
DP  - DOI.org (Crossref)
AB  - First paragraph.

Second paragraph.
UR  - https://example.org/p
Y2  - 2023/01/09/10:11:12
ER  - \n\n"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            REFERENCE_MANAGER,
            {
                "title": "On the heat of small ovens and what it does to bread",
                "abstract": "Ovens differ. This is a long note about them that goes on in the next line.",
                **{"year": "1996", "doi": None, "pmid": None, "key": "17", "language": None},
            },
        ),
        (
            ZOTERO,
            {
                "title": "Bröd & <i>brioche</i>",
                "abstract": "First paragraph.\n\nSecond paragraph.",
                **{"year": "2020", "doi": "10.1000/182", "pmid": None, "key": None, "language": None},
            },
        ),
    ],
)
def test_an_old_and_a_new_record_give_the_same_fields(tmp_path: Path, text: str, expected: dict[str, Any]) -> None:
    assert papers(tmp_path / "p.ris", text) == [(1, expected)]


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (["TI  - One", "T1  - Two"], "One"),
        (["CT  - One"], "One"),
        (["ST  - Short"], "Short"),
        (["ST  - Short", "TI  - Long"], "Long"),
        (["BT  - The journal", "T2  - The series"], None),
        ([], None),
    ],
)
def test_the_title_has_one_of_several_tags(paper: Any, lines: list[str], title: str | None) -> None:
    assert paper(*lines)["title"] == title


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("PY  - 2004/03/01/", "2004"),
        ("Y1  - 4-8 March 2019", "2019"),
        ("DA  - 20040301", "2004"),
        ("PY  - 2015-01-01T00:00:00///", "2015"),
        ("PY  - c1987", "1987"),
        ("PY  - in press", None),
        ("PY  - 12345", None),
        ("Y2  - 2020", None),
        ("PY  - \nDA  - 1999/12/31", "1999"),
    ],
)
def test_the_year_is_found_in_dates_of_any_form(paper: Any, date: str, year: str | None) -> None:
    assert paper(date)["year"] == year


@pytest.mark.parametrize(
    ("lines", "doi"),
    [
        ("DO  - 10.1000/182", "10.1000/182"),
        ("M3  - doi: 10.1000/182", "10.1000/182"),
        ("M3  - 10.1000/XYZ.1.", "10.1000/XYZ.1"),
        ("L3  - http://dx.doi.org/10.1000/182", "10.1000/182"),
        ("N1  - References: A; B, https://doi.org/10.1000/other", None),
        ("UR  - http://a.org/x; http://dx.doi.org/10.1000/182; http://b.org", "10.1000/182"),
        ("UR  - https://example.com/doi/full/10.1000/182?download=1", "10.1000/182"),
        ("UR  - http://a.org\nhttps://doi.org/10.1000/182", "10.1000/182"),
        ("DO  - 10.1000/1\nUR  - https://doi.org/10.1000/2", "10.1000/1"),
        ("M3  - doi: 10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
         "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O"),
    ],
)  # fmt: skip
def test_the_doi_is_found_where_programs_put_it(paper: Any, lines: str, doi: str | None) -> None:
    assert paper(*lines.split("\n"))["doi"] == doi


@pytest.mark.parametrize(
    ("lines", "pmid", "key"),
    [
        ("AN  - 12345\nDB  - PubMed", "12345", "12345"),
        ("AN  - 12345\nDB  - PsycINFO", None, "12345"),
        ("AN  - WOS:000123", None, "WOS:000123"),
        ("AN  - MEDLINE:12345", "12345", "MEDLINE:12345"),
        ("C2  - 12345\nDB  - Scopus", "12345", None),
        ("C2  - 12345\nDB  - EndNote", None, None),
        ("N1  - PMID: 12345", "12345", None),
        ("UR  - https://pubmed.ncbi.nlm.nih.gov/12345/", "12345", None),
        ("PMID- 12345\nLB  - kept", "12345", "kept"),
        ("ID  - key1\nAN  - 5\nLB  - label", None, "key1"),
    ],
)
def test_other_ids_are_found_where_programs_put_them(paper: Any, lines: str, pmid: str | None, key: str | None) -> None:
    found = paper(*lines.split("\n"))
    assert (found["pmid"], found["key"]) == (pmid, key)


def test_an_abstract_may_be_in_several_places_and_is_taken_once(paper: Any) -> None:
    assert paper("N2  - Two.")["abstract"] == "Two."
    assert paper("N2  - Two.", "AB  - One.")["abstract"] == "One."
    several = paper("AB  - One.", "AB  - One.", "AB  - More.")
    assert several["abstract"] == "One.\n\nMore."
    assert several["noted"] == [("several lines of abstract were joined", "More.")]
    assert "noted" not in paper("AB  - One.", "AB  - One.")
    assert paper("AB  - ", "N2  - Two.")["abstract"] == "Two."
    assert paper("TI  - T")["abstract"] is None
    assert paper("AB  - [No abstract available]")["abstract"] is None


def test_a_structured_abstract_comes_in_its_parts(paper: Any) -> None:
    of_file = paper("AB  - OBJECTIVE: To see. MAIN OUTCOME MEASURES: Light.", "CONCLUSION: It is dark.")
    found = readable(of_file, published=False)[0]
    assert found["sections"] == [
        ("OBJECTIVE", "OBJECTIVE", "To see."),
        ("MAIN OUTCOME MEASURES", "METHODS", "Light."),
        ("CONCLUSION", "CONCLUSIONS", "It is dark."),
    ]


SAME = ("Straße", "One. Two - three. AB-testing")


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nTI  - Straße\nAB  - One. Two - three. AB-testing\nER  - \n",
        "TY - JOUR\nTI - Straße\nAB - One. Two - three. AB-testing\nER -\n",
        "ty  - jour\nti  - Straße\nab  - One. Two\n- three. AB-testing\ner  -\n",
        "  TY  - JOUR\n  TI  - Straße\n  AB  - One.\n      Two - three. AB-testing\n  ER  - \n",
        "TY  - JOUR\n\nTI  - Straße\n\nAB  - One. Two -\n\nthree. AB-testing\n\nER  - \n",
        "TY  - JOUR\nKW  - a\nb\nKW  - c\nTI  - Straße\nXX  - x\ny\nAB  - One. Two\n- three. AB-testing",
        "TY  - JOUR\nno tag\nTI  - Straße\nAB  - One. Two - three. AB-testing\nER - \nTYPE: none\nAB  - Not this.",
        "\n \n1.\nProvider: Ovid\nTY  - JOUR\nTI  - Straße\nAB  - One. Two - three. AB-testing\n",
    ],
)
def test_records_that_are_written_otherwise_are_read_the_same(tmp_path: Path, text: str) -> None:
    ((_, found),) = papers(tmp_path / "p.ris", text)
    assert (found["title"], found["abstract"]) == SAME


def test_a_wrapped_line_is_no_tag_because_it_begins_with_two_letters(paper: Any, tmp_path: Path) -> None:
    assert (
        paper("AB  - The two", "AN - not a tag - are", "in - one.")["abstract"]
        == "The two AN - not a tag - are in - one."
    )
    text = "ty - jour\nab - Grown\nat - sea.\n"
    assert papers(tmp_path / "p.ris", text)[0][1]["abstract"] == "Grown at - sea."


def test_a_record_ends_where_the_next_begins(tmp_path: Path) -> None:
    text = "TY  - JOUR\nTI  - One\nTY  - BOOK\nTI  - Two\nER  - \n\n\ufeffTY  - JOUR\nER  - \n"
    text += "TY  - label.ris.X_Y\nT1  - Four"
    found = papers(tmp_path / "p.ris", text)
    assert [(at, one["title"]) for at, one in found] == [(1, "One"), (3, "Two"), (7, None), (9, "Four")]


def test_a_record_that_cannot_be_read_is_broken_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tagged, "LONGEST_RECORD", 60)
    long = "TY  - JOUR\nTI  - Two\n" + "KW  - some word\n" * 20
    text = b"TY  - JOUR\nTI  - \xc3\xa9\xc3\xa9\xff\n" + long.encode() + b"TY  - JOUR\nTI  - Three\xc3\xa9\n"
    (_, one), (_, two), (at, three) = papers(tmp_path / "p.ris", text)
    assert one == BrokenRecord("not UTF-8", ("not UTF-8",), "TY  - JOUR\nTI  - éé\ufffd\n")
    assert (two.reason, two.faults) == ("too long", (f"a record of {len(long)} characters, expected at most 60",))
    assert long.startswith(two.record)
    assert len(two.record) <= 60
    assert (at, three["title"]) == (25, "Threeé")


def test_a_file_without_a_record_is_one_fault_and_an_empty_one_has_nothing(tmp_path: Path) -> None:
    for text in ("AB  - text\nER  - \n", "\n{}\n[]\n"):
        ((place, found),) = papers(tmp_path / "p.ris", text)
        assert (place, found.reason, found.record) == (1, "no record", text.split("\n")[text[0] == "\n"])
        assert found.faults == ("found no record, expected one to begin with a line such as 'TY  - JOUR'",)
    for text in ("", "\n \n"):
        assert papers(tmp_path / "p.ris", text) == []


def test_regular_records_are_read_as_rispy_reads_them(tmp_path: Path) -> None:
    text = written(50)
    theirs = rispy.loads(text)
    ours = [one for _, one in papers(tmp_path / "p.ris", text)]
    assert len(ours) == len(theirs) == 50
    for mine, other in zip(ours, theirs, strict=True):
        named = {"title": "title", "abstract": "abstract", "year": "year", "doi": "doi", "key": "id"}
        assert {ours: mine[ours] for ours in named} == {ours: other.get(theirs) for ours, theirs in named.items()}


def written(n: int) -> str:
    """Records as programs write them; every seventh has no abstract."""
    authors = "".join(f"AU  - Müller, {name}\n" for name in "ABCDEFGHIJ")
    return "".join(
        f"TY  - JOUR\nTI  - Straße {number}\n{authors}PY  - {1950 + number % 70}\nDO  - 10.1000/{number}\n"
        + (f"AB  - {'Viele Wörter über Öfen und Brot. ' * 40}".strip() + "\n" if number % 7 else "")
        + f"ID  - key{number}\nER  - \n\n"
        for number in range(n)
    )


@pytest.mark.parametrize(
    "start",
    [
        "TY  - JOUR\n",
        "\n\n  ty - jour\r\n",
        "Provider: JSTOR\nContent: text/plain\r\rTY  - JOUR\rTI  - x\r",
        "TY  - label.ris.referenceType.BOOK_CHAPTER\n",
    ],
)
def test_ris_is_told_by_the_type_of_a_reference(start: str) -> None:
    assert RIS.matches(Head("p.txt", start.encode(), {}))


def test_the_type_may_come_after_other_tags_and_a_record_without_a_type_is_not_lost(tmp_path: Path) -> None:
    text = (
        "DB  - Cat\nTI  - Dances\nTY  - JOUR\nPY  - 2001\nER  - \n\n2.\nTI  - Walks\nTY  - BOOK\nER  - \n"
        "TI  - No type\nAB  - It counts.\nER  - \n"
    )
    found = papers(tmp_path / "p.ris", text)
    assert [(at, one["title"], one["year"]) for at, one in found] == [
        (1, "Dances", "2001"),
        (8, "Walks", None),
        (11, "No type", None),
    ]
