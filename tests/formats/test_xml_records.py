"""Records of XML files: what is whole counts, a fault ends the file, and neither memory nor entities grow."""

import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from annot.base.errors import InputError
from annot.formats.corpora import xml_papers as module
from annot.formats.corpora.pieces import BrokenRecord, Piece
from annot.formats.corpora.xml_papers import acl_records as papers_of_acl
from annot.formats.corpora.xml_papers import xml_records


def named(found: Iterator[module.XmlRecord | BrokenRecord]) -> list[str]:
    """The text of each record, and what is wrong with a broken one."""
    return [one.reason if isinstance(one, BrokenRecord) else "".join(one[0].itertext()) for one in found]


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
@pytest.mark.parametrize("depth", [1, 2])
def test_records_are_those_of_the_whole_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, depth: int
) -> None:
    text = "<r> <a><b>1</b>t<c/></a>\n<a/><a><b>2<i>x</i></b><b>é</b></a><d>4</d> </r>"
    (tmp_path / "r.xml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    expected = ElementTree.fromstring(text).findall("/".join("*" * depth))
    assert named(xml_records(tmp_path / "r.xml", depth=depth)) == ["".join(one.itertext()) for one in expected]


@pytest.mark.parametrize("at_once", [1, 1 << 16])
@pytest.mark.parametrize("rest", ["</x>", "<a>3", "<", "", "&none;"])
def test_a_fault_ends_the_file_and_what_was_whole_before_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, rest: str
) -> None:
    (tmp_path / "r.xml").write_text(f"<r><a>1</a><a>2</a>{rest}", encoding="utf-8")
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    *whole, broken = xml_records(tmp_path / "r.xml", depth=1)
    assert named(iter(whole)) == ["1", "2"]
    assert isinstance(broken, BrokenRecord)
    assert "line 1, column" in broken.faults[0]


@pytest.mark.parametrize("text", ["", "no XML", "<r>"])
def test_a_file_without_a_record_is_one_fault(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.xml").write_text(text)
    assert named(xml_records(tmp_path / "r.xml", depth=1)) == ["not valid XML"]


def test_a_record_is_in_the_elements_around_it(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text('<r n="0"><a n="1"><b/></a><a n="2"><b/><b/></a></r>')
    found = [one for one in xml_records(tmp_path / "r.xml", depth=2) if not isinstance(one, BrokenRecord)]
    assert [[element.get("n") for element in around] for _, around in found] == [["0", "1"], ["0", "2"], ["0", "2"]]


def test_a_document_type_elsewhere_is_not_fetched_and_a_record_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none.dtd").write_text('<!ENTITY e "from elsewhere">')
    elsewhere = f'<!DOCTYPE r PUBLIC "-//X" "{(tmp_path / "none.dtd").as_uri()}">'
    (tmp_path / "r.xml").write_text(f"{elsewhere}<r><a>1</a><a>&e;</a></r>")
    assert named(xml_records(tmp_path / "r.xml", depth=1)) == ["1", "not valid XML"]
    monkeypatch.setattr(module, "LONGEST_LINE", 1 << 17)
    (tmp_path / "long.xml.gz").write_bytes(gzip.compress(b"<r><a>" + b"x " * (1 << 18)))
    with pytest.raises(InputError, match=r"long\.xml\.gz: a record of more than 131072 bytes"):
        list(xml_records(tmp_path / "long.xml.gz", depth=1))


def peak(path: Path, papers: int) -> int:
    paper = '<paper id="{}"><title>A title</title><abstract>' + "One two three. " * 20 + "</abstract></paper>\n"
    volumes = (f'<volume id="{at}">{"".join(map(paper.format, range(1, 101)))}</volume>' for at in range(papers // 100))
    path.write_text(f'<collection id="P18">{"".join(volumes)}</collection>')
    tracemalloc.start()
    assert sum(1 for _ in papers_of_acl(Piece(str(path), "acl", 0, None))) == papers
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    assert peak(tmp_path / "large.xml", 2_000) < 1.5 * peak(tmp_path / "small.xml", 500)
