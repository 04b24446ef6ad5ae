"""Papers of large datasets: each release in the common fields, what no column can hold, and how files are cut."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import MOST_FAULTS
from annot.formats.corpora import datasets
from annot.formats.corpora.datasets import MOST_SHARES, S2ORC, SHARE_BYTES, joined, shares_of, spread_rows
from annot.formats.corpora.pieces import BrokenRecord, Piece, PieceRead


@pytest.mark.parametrize(
    ("dates", "year"),
    [
        ({"versions": [{"created": "Mon, 2 Apr 2007 19:18:42 GMT"}, {"created": "1 May 2009"}]}, "2007"),
        ({"versions": [{"created": "Mon, 2 Apr 1999"}], "update_date": "2011-01-02"}, "1999"),
        ({"versions": [], "update_date": "2011-01-02"}, "2011"),
        ({"versions": ["v1"], "update_date": "2011-01-02"}, "2011"),
        ({"update_date": "12011-01-02"}, None),
        ({}, None),
    ],
)
def test_the_year_on_arxiv_is_that_of_the_first_version(dates: dict[str, Any], year: str | None) -> None:
    assert datasets.arxiv_paper({"id": "1", "title": "T"} | dates) == {"paper_id": "1", "title": "T", "year": year}


def whole(**annotations: Any) -> dict[str, Any]:
    return {"text": "A title. Abstract one. Abstract two.", "annotations": annotations}


def test_each_form_of_s2orc_has_the_same_fields() -> None:
    places = whole(
        title=[{"start": 0, "end": 8}],
        abstract=json.dumps([{"start": "9", "end": "22"}, {"start": "23", "end": "36"}]),
        bibentry=[{"attributes": {"matched_paper_id": 3}}, {"attributes": None}, {}],
    )
    for name in ("content", "body"):
        assert S2ORC.paper({"corpusid": 1, "year": 2001, name: places}) == {
            "paper_id": 1,
            "title": "A title.",
            "abstract": "Abstract one.\n\nAbstract two.",
            "year": 2001,
            "citations": [3],
        }
    assert S2ORC.paper({"corpusid": 1, "title": "Given", "body": whole()})["title"] == "Given"


@pytest.mark.parametrize(
    ("record", "fits"),
    [({"corpusid": 1, "body": {}}, True), ({"corpusid": 1, "body": ""}, False), ({"body": {}}, False)],
)
def test_a_record_tells_that_it_is_of_s2orc(record: dict[str, Any], fits: bool) -> None:
    assert S2ORC.fits(record) is fits


def spread(folder: Path, *rows: Any) -> PieceRead:
    path = folder / "papers.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    shutil.rmtree(folder / "shares", ignore_errors=True)
    return spread_rows((0, str(path)), folder=folder / "shares", shares=2)[0]


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("corpusid", 2**63 - 1, None),
        ("corpusid", 2**63, f"corpusid: found {2**63}, expected a whole number of at most 63 bits"),
        ("corpusid", True, "corpusid: found True, expected a whole number of at most 63 bits"),
        ("corpusid", None, "corpusid: found None, expected a whole number of at most 63 bits"),
        ("year", None, None),
        ("year", "2001", "year: found '2001', expected a whole number of at most 63 bits"),
        ("title", 5, "title: found 5, expected text"),
        ("abstract", ["x" * 80], f"abstract: found ['{'x' * 58}, expected text"),
    ],
)
def test_a_row_is_spread_where_its_columns_hold_it(tmp_path: Path, field: str, value: Any, fault: str | None) -> None:
    found = spread(tmp_path, {"corpusid": 1, "title": "Ü", "year": 2001} | {field: value}, "")
    assert (found.places, found.read) == (2, int(fault is None))
    if fault is None:
        assert not found.broken
    else:
        broken = json.loads((tmp_path / "shares" / "00000.jsonl").read_text())
        assert (broken["place"], broken["reason"], broken["faults"]) == (1, f"{field} cannot be used", [fault])
        assert ("Ü" in broken["record"]) == (field != "title")


def test_a_file_of_no_rows_is_given_up_at_the_thousandth_fault(tmp_path: Path) -> None:
    assert (spread(tmp_path).places, spread(tmp_path).read) == (0, 0)
    assert MOST_FAULTS == 1000
    assert spread(tmp_path, *["no JSON"] * 1005).places == 1000
    assert spread(tmp_path, {"corpusid": 1, "title": "T"}, *["no JSON"] * 1005).places == 1006


def test_shares_follow_the_size_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annot.formats.corpora.datasets.SHARE_BYTES", 10)
    plain, packed = tmp_path / "a", tmp_path / "b"
    assert (SHARE_BYTES, MOST_SHARES) == (2**28, 256)
    for size, shares in ((0, 1), (9, 1), (10, 2), (29, 3), (2540, 255), (2550, 256), (2560, 256)):
        plain.write_bytes(b"x" * size)
        assert shares_of([str(plain)]) == shares
    packed.write_bytes(b"\x1f\x8b" + b"x" * 3)
    assert shares_of([str(packed)]) == 3
    plain.write_bytes(b"x" * 10)
    assert shares_of([str(packed), str(plain)]) == 4


def spread_file(folder: Path, number: int, *lines: object) -> PieceRead:
    path = folder / f"{number}.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return spread_rows((number, str(path)), folder=folder / "shares", shares=2)[0]


def test_papers_and_abstracts_are_joined_share_by_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_ROWS", 2)
    papers = spread_file(
        tmp_path, 1,
        {"corpusid": 4, "title": "Four", "year": 1999},
        "",
        {"corpusid": 2, "title": None, "year": None},
        {"corpusid": 1, "title": "One", "year": 2000},
        {"corpusid": 6, "title": "Six \ud800", "year": 2001},
    )  # fmt: skip
    abstracts = spread_file(
        tmp_path, 0,
        {"corpusid": 6, "abstract": "Of six."}, {"corpusid": 8, "abstract": "Of none."},
        {"corpusid": 1, "abstract": "Of one."}, {"corpusid": 2, "abstract": None, "openaccessinfo": {}},
        {"corpusid": 4, "abstract": "Of four."},
    )  # fmt: skip
    assert (papers.places, papers.read, papers.broken) == (5, 4, Counter())
    assert (abstracts.places, abstracts.read) == (5, 5)
    even, odd = (list(joined(Piece(str(tmp_path / "shares" / share), "", 0, None))) for share in ("000", "001"))
    assert [(at, row["corpusid"], row["title"], row["abstract"]) for at, row in even[:3] if isinstance(row, dict)] == [
        (1, 4, "Four", "Of four."),
        (2, 2, "", None),
        (3, 6, "Six ", "Of six."),
    ]
    (last,) = even[3:]
    assert last[0] == 4
    assert isinstance(last[1], BrokenRecord)
    assert last[1].faults == ("corpusid 8: no paper of this id in `papers`",)
    assert [(row["corpusid"], row["abstract"]) for _, row in odd if isinstance(row, dict)] == [(1, "Of one.")]
