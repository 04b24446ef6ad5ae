"""The formats of papers: each is told from its file, and gives the papers that its documentation promises."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.formats.corpora import BrokenRecord, Piece, format_named, format_of
from annot.formats.corpora.xml_papers import anthology_id
from annot.formats.paper_records import paper_of_record

LABELS = Settings().labels.names
TITLE, TEXT = "On Abstracts", "We look at abstracts. They are short."
SENTENCES = ("We look at abstracts.", "They are short.")


def papers_of(path: Path | str, form: str | None = None) -> list[Paper | BrokenRecord]:
    """Every record of every piece of a file, as a paper or as broken."""
    form = format_of(str(path), form)
    known = format_named(form)
    found: list[Paper | BrokenRecord] = []
    for start, stop in known.cut(str(path)):
        for _, record in known.records(Piece(str(path), form, start, stop)):
            if isinstance(record, dict):
                found.append(paper_of_record(known.paper(record), LABELS))
            elif record is not None:
                found.append(record)
    return found


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


WHOLE = f"{TITLE}\nAbstract\n{TEXT}\n1 Introduction"
START = WHOLE.index(TEXT)
PLACES = {"title": [{"start": 0, "end": len(TITLE)}], "abstract": [{"start": START, "end": START + len(TEXT)}]}
CITED = [{"start": 1, "end": 2, "attributes": {"matched_paper_id": 7}}, {"start": 3, "end": 4, "attributes": {}}]
RECORDS = {
    "annot": {"paper_id": "1", "title": TITLE, "abstract": list(SENTENCES), "year": 2001, "citations": ["7"]},
    "csfcube": {
        "paper_id": "1",
        "metadata": {"authors": [], "venue": None, "year": 2001, "doi": None},
        "title": TITLE,
        "abstract": list(SENTENCES),
        "pred_labels_truncated": False,
        "pred_labels": ["background_label", "result_label"],
    },
    "annot as S2ORC of 2020": {
        "paper_id": "1",
        "title": TITLE,
        "abstract": TEXT,
        "year": 2001,
        "mag_id": "242",
        "outbound_citations": ["7"],
        "has_outbound_citations": True,
    },
    "s2orc datasets": {
        "corpusid": 1,
        "externalids": {},
        "year": 2001,
        "content": {
            "text": WHOLE,
            "annotations": {kind: json.dumps(places) for kind, places in (PLACES | {"bibentry": CITED}).items()},
        },
    },
    "s2orc v2": {
        "corpusid": 1,
        "title": TITLE,
        "year": 2001,
        "body": {"text": WHOLE, "annotations": {"abstract": PLACES["abstract"], "bib_entry": CITED}},
    },
    "arxiv": {
        "id": "0704.0001",
        "submitter": "P. N.",
        "title": "On\n  Abstracts",
        "categories": "cs.IR cs.CL",
        "abstract": "  We look at abstracts. They\nare short.\n",
        "versions": [{"version": "v1", "created": "Mon, 2 Apr 2001 19:18:42 GMT"}],
        "update_date": "2008-11-26",
    },
    "beir": {"_id": "1", "title": TITLE, "text": TEXT, "metadata": {"year": 2001}},
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_of_each_kind_is_told_and_read(tmp_path: Path, name: str) -> None:
    record = RECORDS[name]
    path = lines(tmp_path / "x.jsonl", record, record)
    assert format_of(str(path), None) == name.split()[0]
    paper_id = "0704.0001" if name == "arxiv" else "1"
    labels = ("background", "result") if name == "csfcube" else None
    cited = () if name in ("csfcube", "arxiv", "beir") else ("7",)
    assert papers_of(path) == [Paper(paper_id, TITLE, SENTENCES, 2001, labels, cited)] * 2


ACL = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="{collection}"><volume id="{volume}" ingest-date="2020-05-13"><meta><booktitle>B</booktitle>
<year>2001</year></meta><frontmatter><url>x</url></frontmatter>
<paper id="6"><title>On <fixed-case>A</fixed-case>bstracts</title><author><first>A</first><last>B</last></author>
<abstract>We look at <i>abstracts</i>. They are short.</abstract></paper>
<paper id="7"><title>Without one</title></paper></volume></collection>"""


@pytest.mark.parametrize(
    ("collection", "volume", "expected"), [("2020.acl", "main", "2020.acl-main.6"), ("P18", "1", "P18-1006")]
)
def test_the_papers_of_an_anthology_file(tmp_path: Path, collection: str, volume: str, expected: str) -> None:
    """Ids as https://aclanthology.org/info/ids has them."""
    path = tmp_path / "x.xml"
    path.write_text(ACL.format(collection=collection, volume=volume), encoding="utf-8")
    second = anthology_id(collection, volume, "7")
    assert papers_of(path) == [Paper(expected, TITLE, SENTENCES, 2001), Paper(second, "Without one", (), 2001)]


def test_a_damaged_group_of_rows_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "papers.parquet"
    rows = [
        {"paper_id": f"p{number}", "title": f"{TITLE} {number}", "abstract": f"{TEXT} {number}"} for number in range(50)
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + b"\xff" * 200 + whole[240:])
    with pytest.raises(InputError, match=r"papers\.parquet: not readable"):
        papers_of(path)
