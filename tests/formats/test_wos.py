"""Web of Science's plain text: records by their tags, wrapped lines, ids, and the works that are cited."""

from pathlib import Path
from typing import Any

import pytest
from annot.formats.corpora import format_of
from annot.formats.corpora.pieces import BrokenRecord, Piece
from annot.formats.corpora.tagged import WOS

FILE = """\
\ufeffFN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Li, HQ
   Lin, HZ
TI Estimating population size
   of bees
AB Bees are counted. We count
   them again.
PY 2019
CR Doe J, 2001, J BEES, V1, P2, DOI 10.1000/182
   Roe R, 2002, J ANTS, V1
   Poe P, 2003, BOOKS, DOI [10.1000/a(1)b, 10.1000/c]
DI 10.1111/BIOM.1
PM 30412656
UT WOS:000483733900022
ER

PT C
TI Ants
DT Article; Retracted Publication
EA MAR 2021
UT WOS:2
ER

EF"""


def papers(path: Path, text: str, encoding: str = "utf-8") -> list[tuple[int, Any]]:
    path.write_text(text, encoding=encoding)
    found = WOS.records(Piece(str(path), WOS.name, 0, None))
    return [(at, one if isinstance(one, BrokenRecord) else WOS.paper(one or {})) for at, one in found]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_each_record_gives_its_fields_with_wrapped_lines_joined(tmp_path: Path, encoding: str) -> None:
    first, second = papers(tmp_path / "savedrecs.txt", FILE, encoding)
    assert first == (
        3,
        {
            "title": "Estimating population size of bees",
            "abstract": "Bees are counted. We count them again.",
            "year": "2019",
            "doi": "10.1111/BIOM.1",
            "pmid": "30412656",
            "language": None,
            "key": "WOS:000483733900022",
            "cited": [("doi", "10.1000/182"), ("doi", "10.1000/a(1)b")],
        },
    )
    assert (second[0], second[1]["title"], second[1]["year"], second[1].get("retracted")) == (19, "Ants", "2021", True)


def test_the_format_is_known_by_the_beginning_of_the_file(tmp_path: Path) -> None:
    for number, text in enumerate((FILE, FILE[FILE.index("PT J") :], FILE.replace("\n", "\r\n"))):
        path = tmp_path / f"{number}.ciw"
        path.write_text(text, encoding="utf-8", newline="")
        assert format_of(str(path), None) == "wos"


def test_a_record_that_is_cut_off_is_read_and_a_file_without_any_is_one_fault(tmp_path: Path) -> None:
    ((_, one),) = papers(tmp_path / "a.txt", "FN Clarivate\nPT J\nTI Bees\nAB They dance.\n")
    assert (one["title"], one["abstract"]) == ("Bees", "They dance.")
    ((_, fault),) = papers(tmp_path / "b.txt", "FN Clarivate\nVR 1.0\nEF\n")
    assert fault.reason == "no record"
