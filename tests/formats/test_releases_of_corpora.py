"""The releases of others in annot's fields: S2ORC in four forms, arXiv, BEIR, ir_datasets, and joined datasets."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from annot.formats.corpora import datasets
from annot.formats.corpora.datasets import S2ORC, joined, spread_rows
from annot.formats.corpora.pieces import BrokenRecord, Piece, PieceRead


def test_other_records_than_those_of_the_datasets_are_not_s2orc() -> None:
    others: list[Mapping[str, Any]] = [{"corpusid": 1, "content": ""}, {"content": {}}, {"metadata": {"title": "T"}}]
    assert not any(map(S2ORC.fits, others))


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
