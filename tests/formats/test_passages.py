"""Documents and passages under the names that people give their fields, in JSON Lines, tables and datasets."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.formats.corpora import Piece, format_named, format_of
from annot.formats.corpora.tables import IRDS, document, plain_paper
from annot.formats.paper_records import document_of_record

TEXT = "Bees dance. They point to flowers."
SENTENCES = ("Bees dance.", "They point to flowers.")


def read(**record: Any) -> Paper:
    return document_of_record(document(record), ())


@pytest.mark.parametrize("own", ["paper_id", "passage_id", "id", "_id", "doc_id", "docid", "document_id", "doc"])
def test_a_document_needs_an_id_and_a_text(own: str) -> None:
    for text in ("abstract", "text", "contents", "passage"):
        assert read(**{own: "d1", text: TEXT}) == Paper("d1", "", SENTENCES)
    assert read(**{own: 7, "text": TEXT, "title": "On bees"}) == Paper("7", "On bees", SENTENCES)


def test_the_first_text_that_is_not_empty_counts_and_an_abstract_before_all_others() -> None:
    assert read(id="d", text="", contents=TEXT).sentences == SENTENCES
    assert read(id="d", text=None, contents="").sentences == ()
    assert read(id="d", abstract=TEXT, text="The whole paper.").sentences == SENTENCES
    assert read(id="d", abstract="", text="The whole paper.").sentences == ()
    assert read(id="d", abstract=None, text="The whole paper.").sentences == ()


@pytest.mark.parametrize("whole", ["part_of", "document_id", "msmarco_document_id", "doc"])
def test_a_passage_names_its_document(whole: str) -> None:
    assert read(id="d1-2", text=TEXT, **{whole: "d1"}) == Paper("d1-2", "", SENTENCES, part_of="d1")
    assert read(id="d1-2", text=TEXT, **{whole: 1}).part_of == "1"
    assert read(id="d1", text=TEXT, **{whole: "d1"}).part_of is None
    assert read(id="d1", text=TEXT, **{whole: None}).part_of is None
    assert read(id="d1", text=TEXT, **{whole: ""}).part_of is None


@pytest.mark.parametrize("whole", ["doc_id", "docid"])
def test_the_id_of_a_document_is_that_of_the_whole_where_the_passage_has_its_own(whole: str) -> None:
    assert read(passage_id="d1-2", text=TEXT, **{whole: "d1"}) == Paper("d1-2", "", SENTENCES, part_of="d1")
    # A paper that has another id besides is no passage.
    assert read(id="p1", text=TEXT, **{whole: "10.1/x"}).part_of is None


def test_what_is_no_id_names_no_document_but_part_of_has_to_be_one() -> None:
    assert read(id="d", text=TEXT, doc="A text of some words.").part_of is None
    assert read(id="d", text=TEXT, doc={"a": 1}, document_id="e").part_of == "e"
    assert read(id="d", text=TEXT, part_of="e", document_id="f").part_of == "e"
    with pytest.raises(InputError) as refused:
        read(id="d", text=TEXT, part_of="Annual report")
    assert refused.value.faults == ("part_of: found 'Annual report', expected an id without white space",)


@pytest.mark.parametrize(
    ("record", "faults"),
    [
        ({"text": TEXT}, ("no field 'paper_id': found abstract, text",)),
        ({"id": "d", "txt": TEXT}, ("no field 'abstract': found txt, paper_id",)),
        ({"id": "d", "abstrct": TEXT}, ("no field 'abstract': did you mean 'abstrct'?",)),
        ({"id": None, "txt": "T"}, ("no field 'paper_id': found txt", "no field 'abstract': found txt")),
        ({"id": "d 1", "text": TEXT}, ("paper_id: found 'd 1', expected an id without white space",)),
        ({"id": "d", "passage": 3}, ("abstract: found 3, expected a valid list",)),
    ],
)
def test_a_record_that_lacks_something_is_refused_with_what_it_has(
    record: dict[str, Any], faults: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as refused:
        read(**record)
    assert refused.value.faults == faults


def test_beirs_documents_may_lack_title_and_text_and_name_their_document_in_their_metadata() -> None:
    assert document_of_record(plain_paper({"_id": "d"}), ()) == Paper("d", "", ())
    assert document_of_record(plain_paper({"_id": "d", "title": "", "text": ""}), ()) == Paper("d", "", ())
    passage = {"_id": "d-1", "text": TEXT, "abstract": "never read", "metadata": {"year": 1999, "part_of": "d"}}
    assert document_of_record(plain_paper(passage), ()) == Paper("d-1", "", SENTENCES, 1999, part_of="d")
    assert document_of_record(plain_paper({**passage, "metadata": [], "document_id": "e"}), ()).part_of == "e"


def test_a_passage_of_msmarco_in_ir_datasets_names_its_document() -> None:
    passage = {"doc_id": "msmarco_passage_1", "text": TEXT, "spans": "(0,9)", "msmarco_document_id": "msmarco_doc_00"}
    assert document_of_record(IRDS.paper(passage), ()) == Paper(
        "msmarco_passage_1", "", SENTENCES, part_of="msmarco_doc_00"
    )
    assert IRDS.paper({"doc_id": "d", "title": "T"}) == {"paper_id": "d", "title": "T", "abstract": None}


ROWS = [{"docid": "d1-1", "contents": TEXT, "document_id": "d1"}, {"docid": "d2", "contents": TEXT, "document_id": ""}]
READ = [Paper("d1-1", "", SENTENCES, part_of="d1"), Paper("d2", "", SENTENCES)]


def in_lines(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def in_csv(path: Path) -> Path:
    path.write_text("docid,contents,document_id\n" + "".join(",".join(row.values()) + "\n" for row in ROWS))
    return path


def in_parquet(path: Path) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    return path


@pytest.mark.parametrize(
    ("name", "write"), [("d.jsonl", in_lines), ("d.csv", in_csv), ("d.parquet", in_parquet), ("d.json", in_lines)]
)
def test_every_format_of_plain_records_has_the_same_names(tmp_path: Path, name: str, write: Any) -> None:
    path = write(tmp_path / name)
    known = format_named(format_of(str(path), None))
    found = [
        record
        for start, stop in known.cut(str(path))
        for _, record in known.records(Piece(str(path), known.name, start, stop))
    ]
    assert [document_of_record(known.paper(record), ()) for record in found if isinstance(record, dict)] == READ
