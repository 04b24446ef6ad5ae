"""The releases of others in annot's fields: S2ORC in four forms, arXiv, BEIR, ir_datasets, and joined datasets."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from annot.formats.corpora import datasets
from annot.formats.corpora.datasets import S2ORC, SEMANTIC_SCHOLAR, joined, shares_of, spread_rows
from annot.formats.corpora.pieces import BrokenRecord, Piece, PieceRead
from annot.formats.corpora.tables import IRDS


def text_with_places(**changed: Any) -> dict[str, Any]:
    text = "A title\nFirst part.\nSecond part.\nThe rest."
    places = {
        "title": [{"start": 0, "end": 7}],
        "abstract": json.dumps([{"start": "8", "end": "19"}, {"start": 20, "end": 32}]),
        "bibentry": [{"attributes": {"matched_paper_id": 5}}, {"attributes": None}, {"attributes": {}}],
    }
    return {"corpusid": 3, "year": 1999, "content": {"text": text, "annotations": places | changed}}


@pytest.mark.parametrize("name", ["content", "body"])
def test_the_abstract_and_title_of_a_whole_text_are_at_their_places(name: str) -> None:
    record = text_with_places()
    record[name] = record.pop("content")
    assert S2ORC.fits(record)
    assert S2ORC.paper(record) == {
        "paper_id": 3,
        "title": "A title",
        "abstract": "First part.\n\nSecond part.",
        "year": 1999,
        "citations": [5],
    }
    assert S2ORC.paper(record | {"title": "Own"})["title"] == "Own"
    assert S2ORC.paper({"corpusid": 1, name: {}}) == {
        **{"paper_id": 1, "title": "", "abstract": "", "year": None, "citations": []}
    }


def test_other_records_than_those_of_the_datasets_are_not_s2orc() -> None:
    others: list[Mapping[str, Any]] = [{"corpusid": 1, "content": ""}, {"content": {}}, {"metadata": {"title": "T"}}]
    assert not any(map(S2ORC.fits, others))


def test_the_year_of_a_preprint_is_that_of_its_first_version() -> None:
    record = {"id": "1", "title": "T", "abstract": "A", "categories": "cs", "update_date": "2011-01-01"}
    versions = [{"created": "Mon, 2 Apr 2007 19:18:42 GMT"}, {"created": "Mon, 5 May 2008"}]
    assert datasets.arxiv_paper(record | {"versions": versions}) == {
        **{"paper_id": "1", "title": "T", "abstract": "A", "year": "2007"}
    }
    for other in ([], None, ["x"], [{"created": 1800}], [{"created": "in 18999"}]):
        assert datasets.arxiv_paper(record | {"versions": other})["year"] == "2011"
    assert datasets.arxiv_paper({"id": "1"}) == {"paper_id": "1", "year": None}
    assert datasets.ARXIV.fits(record)
    assert datasets.ARXIV.fits({"id": "1", "abstract": "A", "categories": "cs"})
    assert not datasets.ARXIV.fits({"id": "1", "abstract": "A"})


def test_a_document_of_a_dataset_has_its_first_text_as_abstract() -> None:
    assert IRDS.paper({"doc_id": "1", "abstract": "", "text": "T", "body": "B", "year": 1999}) == {
        **{"paper_id": "1", "title": None, "abstract": "T", "year": 1999}
    }
    assert IRDS.paper({"doc_id": "1", "title": "x", "body": "B"}) == {"paper_id": "1", "title": "x", "abstract": "B"}
    assert IRDS.paper({"doc_id": "1"})["abstract"] is None
    assert IRDS.by_name


def spread(folder: Path, number: int, *lines: object) -> PieceRead:
    path = folder / f"{number}.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return spread_rows((number, str(path)), folder=folder / "shares", shares=2)[0]


def test_papers_and_abstracts_are_joined_share_by_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_ROWS", 2)
    papers = spread(
        tmp_path, 1,
        {"corpusid": 4, "title": "Four", "year": 1999},
        "",
        {"corpusid": 2, "title": None, "year": None},
        {"corpusid": 1, "title": "One", "year": 2000},
        {"corpusid": 6, "title": "Six \ud800", "year": 2001},
    )  # fmt: skip
    abstracts = spread(
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


@pytest.mark.parametrize(
    ("record", "reason", "fault"),
    [
        ({"title": "T"}, "corpusid", "found None, expected a whole number of at most 63 bits"),
        ({"corpusid": True}, "corpusid", "found True, expected a whole number of at most 63 bits"),
        ({"corpusid": 2**63}, "corpusid", f"found {2**63}, expected a whole number of at most 63 bits"),
        ({"corpusid": 1, "title": 2}, "title", "found 2, expected text"),
        ({"corpusid": 1, "abstract": ["x"]}, "abstract", "found ['x'], expected text"),
    ],
)
def test_a_row_that_a_column_cannot_hold_is_broken(tmp_path: Path, record: object, reason: str, fault: str) -> None:
    found = spread(tmp_path, 0, {"corpusid": 2**63 - 1, "title": "T"}, record)
    assert found.broken == Counter([f"{reason} cannot be used"])
    assert found.faults == [(2, f"{reason}: {fault}")]
    assert found.read == 1


def test_a_file_that_begins_with_broken_rows_only_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "MOST_FAULTS", 2)
    assert spread(tmp_path, 0, "x", "x", "x", {"corpusid": 1}).places == 2
    late = spread(tmp_path, 1, {"corpusid": 1, "title": ""}, "x", "x", "x")
    assert (late.places, late.read, late.broken.total()) == (4, 1, 3)
    shares = {path.parent.name: pq.read_table(path).num_rows for path in (tmp_path / "shares").rglob("*.parquet")}
    assert shares == {"001": 1}


def test_the_shares_follow_from_the_size_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "SHARE_BYTES", 100)
    monkeypatch.setattr(datasets, "MOST_SHARES", 9)
    path, packed = tmp_path / "a", tmp_path / "b"
    packed.write_bytes(gzip.compress(b""))
    for size, shares in ((99, 1), (100, 2), (399, 4), (5_000, 9)):
        path.write_bytes(b"x" * size)
        assert shares_of([str(path)]) == shares
    monkeypatch.setattr(datasets, "SHARE_BYTES", 4 * packed.stat().st_size)
    assert shares_of([str(packed)]) == 2
    monkeypatch.setattr(datasets, "SHARE_BYTES", 4 * packed.stat().st_size + 1)
    assert shares_of([str(packed)]) == 1
    assert SEMANTIC_SCHOLAR.fits({"corpusid": 1})
