"""The formats of papers: each is told from its file, and gives the papers that its documentation promises."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.formats.corpora import FORMATS, BrokenRecord, Piece, format_named, format_of
from annot.formats.corpora.datasets import JOINED, spread_rows
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


def test_a_missing_abstract_or_title_is_left_to_the_filters(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", {"_id": "1", "text": TEXT}, {"_id": "2", "title": None, "text": ""})
    assert papers_of(path) == [Paper("1", "", SENTENCES), Paper("2", "", ())]


ACL = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="{collection}"><volume id="{volume}" ingest-date="2020-05-13"><meta><booktitle>B</booktitle>
<year>2001</year></meta><frontmatter><url>x</url></frontmatter>
<paper id="6"><title>On <fixed-case>A</fixed-case>bstracts</title><author><first>A</first><last>B</last></author>
<abstract>We look at <i>abstracts</i>. They are short.</abstract></paper>
<paper id="7"><title>Without one</title></paper></volume></collection>"""


@pytest.mark.parametrize(
    ("collection", "volume", "expected"),
    [
        ("2020.acl", "main", "2020.acl-main.6"),
        ("P18", "1", "P18-1006"),
        ("W03", "12", "W03-1206"),
        ("D19", "50", "D19-5006"),
        ("D19", "1", "D19-1006"),
    ],
)
def test_the_papers_of_an_anthology_file(tmp_path: Path, collection: str, volume: str, expected: str) -> None:
    """Ids as https://aclanthology.org/info/ids has them."""
    path = tmp_path / "x.xml"
    path.write_text(ACL.format(collection=collection, volume=volume), encoding="utf-8")
    second = anthology_id(collection, volume, "7")
    assert papers_of(path) == [Paper(expected, TITLE, SENTENCES, 2001), Paper(second, "Without one", (), 2001)]


def test_an_anthology_file_that_breaks_off_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text(ACL.format(collection="P18", volume="1").partition('<paper id="7"')[0], encoding="utf-8")
    good, broken = papers_of(path)
    assert isinstance(good, Paper)
    assert isinstance(broken, BrokenRecord)
    assert broken.reason == "not valid XML"


def test_rows_of_csv_with_line_ends_in_cells_and_broken_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["id", "title", "abstract", "year", "citations", "note"])
    rows.writerow(["1", TITLE, "We look at abstracts.\n\nThey are short.", "2001", "7; 8", "x"])
    rows.writerow(["2", TITLE, TEXT, "", "", ""])
    rows.writerow(["3", TITLE, TEXT])
    rows.writerow(["4", "Latin \udce9", TEXT, "", "", ""])
    path.write_bytes(b"\xef\xbb\xbf" + out.getvalue().encode("utf-8", "surrogateescape"))
    first, second, third, fourth = papers_of(path)
    assert first == Paper("1", TITLE, SENTENCES, 2001, None, ("7", "8"))
    assert second == Paper("2", TITLE, SENTENCES)
    assert isinstance(third, BrokenRecord)
    assert third.faults == ("3 columns, expected 6",)
    assert isinstance(fourth, BrokenRecord)
    assert fourth.reason == "not UTF-8"


def test_rows_of_parquet_group_by_group_with_years_as_pandas_writes_them(tmp_path: Path) -> None:
    rows = [{"id": at, "title": TITLE, "abstract": TEXT, "year": 2001.0 if at % 2 else None} for at in range(2_500)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "x.parquet", row_group_size=1_200)
    assert len(format_named("parquet").cut(str(tmp_path / "x.parquet"))) == 3
    expected = [Paper(str(at), TITLE, SENTENCES, 2001 if at % 2 else None) for at in range(2_500)]
    assert papers_of(tmp_path / "x.parquet") == expected


def test_a_number_that_is_none_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "papers.jsonl"
    path.write_text(json.dumps({"paper_id": "p", "title": TITLE, "abstract": TEXT, "year": float("nan")}))
    assert papers_of(path) == [Paper("p", TITLE, SENTENCES)]


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


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("paper_id,title,title,abstract", "columns: found title twice, expected each once"),
        ("7,On Abstracts,A", "columns: found 7, On Abstracts, A, expected an id and a text among them"),
    ],
)
def test_a_table_whose_columns_tell_nothing_is_broken_as_a_whole(tmp_path: Path, header: str, fault: str) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(f"{header}\n1,a,b,c\n2,a,b,c\n")
    assert papers_of(path) == [BrokenRecord("the columns cannot be used", (fault,), header)]


def test_one_json_text_of_papers_by_id_or_in_a_list(tmp_path: Path) -> None:
    record = RECORDS["annot"]
    for name, content in (("a.json", {"1": record, "2": record}), ("b.json", [record, record])):
        (tmp_path / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
        assert len(papers_of(tmp_path / name)) == 2
    lines(tmp_path / "c.json", record, record, record)
    assert len(papers_of(tmp_path / "c.json")) == 3
    assert [type(one) for one in papers_of(_written(tmp_path / "d.json", "[1]"))] == [BrokenRecord]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_papers_and_abstracts_are_joined_by_their_id_whatever_their_order(tmp_path: Path) -> None:
    """The brute-force join in a dictionary gives the same."""
    papers = [{"corpusid": at, "title": f"Title {at}", "year": 2000 + at % 9, "authors": []} for at in range(400)]
    abstracts = [{"corpusid": at, "openaccessinfo": {}, "abstract": f"Text of {at}. More."} for at in range(500, 0, -3)]
    text_of = {row["corpusid"]: (f"Text of {row['corpusid']}.", "More.") for row in abstracts}
    files = [
        lines(tmp_path / "abstracts.jsonl", *abstracts),
        lines(tmp_path / "papers-0.jsonl", *papers[200:]),
        lines(tmp_path / "papers-1.jsonl", *papers[:200], {"corpusid": "12", "title": "T"}),
    ]
    assert {format_of(str(path), None) for path in files} == {"semantic-scholar"}
    shares = tmp_path / "shares"
    spreads = [spread_rows((number, str(path)), folder=shares, shares=7)[0] for number, path in enumerate(files)]
    assert [spread.broken.total() for spread in spreads] == [0, 0, 1]
    assert spreads[2].faults[0][1] == "corpusid: found '12', expected a whole number of at most 63 bits"
    found = [one for share in sorted(shares.glob("[0-9][0-9][0-9]")) for one in papers_of(share, JOINED.name)]
    joined = {one.paper_id: one for one in found if isinstance(one, Paper)}
    assert joined == {
        str(row["corpusid"]): Paper(str(row["corpusid"]), row["title"], text_of.get(row["corpusid"], ()), row["year"])
        for row in papers
    }
    alone = [one for one in found if isinstance(one, BrokenRecord)]
    assert len(alone) == sum(row["corpusid"] >= 400 for row in abstracts)
    first_share = [
        int(one.paper_id) for one in papers_of(tmp_path / "shares" / "000", JOINED.name) if isinstance(one, Paper)
    ]
    assert first_share == [at for at in (*range(200, 400), *range(200)) if at % 7 == 0]


class Doc(NamedTuple):
    doc_id: str
    title: str
    abstract: str
    text: str


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A dataset of forty documents that ir_datasets knows by name."""
    module: ModuleType = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import JsonlDocs
    from ir_datasets.util import LocalDownload

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    rows = [{"doc_id": f"d{at}", "title": TITLE, "abstract": TEXT, "text": "whole"} for at in range(40)]
    path = lines(tmp_path / "docs.jsonl", *rows)
    mapping = {name: name for name in Doc._fields}
    docs = JsonlDocs(LocalDownload(path), doc_cls=Doc, mapping=mapping, namespace="made", count_hint=40)
    module.registry.register("made-for-annot", module.Dataset(docs))
    yield "made-for-annot"
    del module.registry._registered["made-for-annot"]


def test_a_dataset_that_ir_datasets_knows_by_name(registered: str) -> None:
    assert papers_of(registered, "irds") == [Paper(f"d{at}", TITLE, SENTENCES) for at in range(40)]
    with pytest.raises(InputError) as caught:
        papers_of("made-for-anot", "irds")
    assert "made-for-annot" in (caught.value.hint or "")


def test_every_format_has_one_name_and_a_wrong_one_is_refused_with_the_near_one() -> None:
    assert all(form.name == name for name, form in FORMATS.items())
    with pytest.raises(InputError, match="did you mean 'parquet'"):
        format_named("parquett")
