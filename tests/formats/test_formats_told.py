"""How the format of a file is told, and datasets that are read by their name from a library put in its place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from annot.base.errors import InputError
from annot.formats.corpora import FORMATS, Piece, format_named, format_of, irds
from annot.formats.corpora.arxiv import ARXIV


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("p.csv", "csv"),
        ("p.tsv.gz", "csv"),
        ("p.parquet", "parquet"),
        ("p.xml", "acl"),
    ],
)
def test_an_ending_tells_the_format_whatever_is_in_the_file(name: str, form: str) -> None:
    assert format_of(name, None) == form


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_that_is_named_is_taken(form: str) -> None:
    assert format_of("p.csv", form) == form
    assert format_named(form).name == form


def test_a_name_that_is_near_to_one_is_suggested() -> None:
    with pytest.raises(InputError, match=r"format 'parket': not known; did you mean 'parquet'\?"):
        format_named("parket")
    # That of the shares into which Semantic Scholar's rows are spread is known, and people do not give it.
    assert format_named("semantic-scholar-share").name not in FORMATS


ARXIV_RECORD = {"id": "1", "title": "T", "abstract": "A.", "categories": "cs.CL"}


@pytest.mark.parametrize(("before", "form"), [(0, "arxiv"), (99, "arxiv"), (100, "annot"), (101, "annot")])
def test_the_first_of_a_hundred_lines_that_is_a_record_tells_the_format(tmp_path: Path, before: int, form: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("".join(["no record\n"] * before) + json.dumps(ARXIV_RECORD) + "\n")
    assert format_of(str(path), None) == form


def test_a_record_of_arxiv_has_categories_and_the_year_of_its_first_version() -> None:
    assert ARXIV.fits(ARXIV_RECORD)
    assert ARXIV.fits({**ARXIV_RECORD, "more": 1})
    assert not ARXIV.fits({"id": "1", "abstract": "A."})
    versions = [{"created": "Mon, 2 Apr 2007 19:18:42 GMT"}, {"created": "Tue, 3 Apr 2012 19:18:42 GMT"}]
    assert ARXIV.paper({**ARXIV_RECORD, "versions": versions})["year"] == "2007"


class Document(NamedTuple):
    doc_id: str
    title: str
    text: str


class Library:
    """In place of `ir_datasets`: two datasets, one without documents."""

    registry = ("cranfield", "queries-only")

    def load(self, name: str) -> Any:
        if name not in self.registry:
            raise KeyError(name)

        def documents() -> Iterator[Document]:
            yield Document("1", "T", "One.")
            yield Document("2", "", "Two.")

        return SimpleNamespace(has_docs=lambda: name == "cranfield", docs_iter=documents)


def test_documents_of_a_dataset_are_read_in_one_piece_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", Library())  # type: ignore[arg-type]
    form = format_named("irds")
    assert form.by_name
    assert form.cut("cranfield") == [(0, None)]
    assert list(form.records(Piece("cranfield", "irds", 0, None))) == [
        (1, {"doc_id": "1", "title": "T", "text": "One."}),
        (2, {"doc_id": "2", "title": "", "text": "Two."}),
    ]
    with pytest.raises(InputError, match="cranfeld: not a dataset of ir_datasets") as caught:
        form.cut("cranfeld")
    assert caught.value.hint == "did you mean 'cranfield'?"
    with pytest.raises(InputError) as caught:
        form.cut("x")
    assert caught.value.hint == "https://ir-datasets.com lists them"
    with pytest.raises(InputError, match="queries-only: this dataset of ir_datasets has no documents"):
        form.cut("queries-only")


@pytest.mark.parametrize(
    ("record", "abstract"),
    [
        ({"abstract": "A", "text": "T", "body": "B"}, "A"),
        ({"abstract": "", "text": "T", "body": "B"}, "T"),
        ({"body": "B"}, "B"),
        ({}, None),
    ],
)
def test_the_first_text_of_a_document_is_its_abstract(record: dict[str, str], abstract: str | None) -> None:
    assert irds.paper({"doc_id": "1", **record}) == {"paper_id": "1", "title": None, "abstract": abstract}
    assert irds.paper({"doc_id": "1", "year": 1999})["year"] == 1999
