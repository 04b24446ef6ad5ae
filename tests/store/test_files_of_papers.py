"""Files of the corpus, row by row: removal of papers, the next name, and the hash of the papers."""

import errno
import hashlib
import os
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.store.papers import (
    PART_OF,
    PaperWriter,
    columns_sha256,
    corpus_sha256,
    count_passages,
    groups_of,
    ids_at,
    keep_rows,
    known_ids,
    paper_ids,
    paper_schema,
    papers_in,
    read_columns,
    read_papers,
    remove_papers,
    texts_of_papers,
)

ONE = Paper("p1", "Größe", ("One.", "Two."), 1999, ("background", "method"), ("p2",))
BARE = Paper("p2", "", ())


def written(path: Path, *papers: Paper) -> Path:
    with PaperWriter(path.parent, name=path.name) as writer:
        for paper in papers:
            writer.add(paper)
    assert writer.count == len(papers)
    return path


def in_groups(path: Path, ids: str, rows: int) -> Path:
    """A file of papers with one-letter ids, with this number in a group of rows."""
    columns: dict[str, list[object]] = {
        "paper_id": [*ids], "title": [*ids], "sentences": [[]] * len(ids), "year": [None] * len(ids),
        "labels": [None] * len(ids), "citations": [[]] * len(ids),
    }  # fmt: skip
    table = pyarrow.Table.from_pydict(columns, paper_schema(()))
    pyarrow.parquet.write_table(table, path, row_group_size=rows)
    return path


def test_rows_are_kept_group_by_group(tmp_path: Path) -> None:
    path = in_groups(tmp_path / "part-00001.parquet", "abcdef", 2)
    keep_rows(path, pyarrow.array([True, False, False, False, False, True]).to_numpy(zero_copy_only=False))
    assert paper_ids(tmp_path) == ("a", "f")
    assert [group.papers for group in groups_of(tmp_path)] == [1, 1]
    assert [one.name for one in tmp_path.iterdir()] == ["part-00001.parquet"]


def test_papers_are_removed_and_files_without_any_go(tmp_path: Path) -> None:
    for name, ids in (("part-1", "ab"), ("part-2", "cd"), ("part-3", "ef")):
        in_groups(tmp_path / f"{name}.parquet", ids, 2)
    untouched = (tmp_path / "part-3.parquet").read_bytes()
    remove_papers(tmp_path, ["a", "b", "d", "z"])
    assert paper_ids(tmp_path) == ("c", "e", "f")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part-2.parquet", "part-3.parquet"]
    assert (tmp_path / "part-3.parquet").read_bytes() == untouched


def test_a_file_of_papers_has_the_rights_of_every_file(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert written(tmp_path / "a.parquet", ONE).stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)


def test_what_went_wrong_is_told_even_if_the_folder_has_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "corpus"

    def full(*_: object) -> None:
        shutil.rmtree(corpus)
        raise OSError(errno.ENOSPC, "disk full")

    with pytest.raises(OSError, match="disk full"), PaperWriter(corpus) as writer:
        full(writer)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"), PaperWriter(corpus) as writer:
        writer.add(ONE)


def test_places_and_ids_are_counted_over_all_files(tmp_path: Path) -> None:
    in_groups(tmp_path / "a.parquet", "abc", 2)
    in_groups(tmp_path / "b.parquet", "def", 2)
    assert ids_at(tmp_path, [4, 0, 2, 3, 0]) == {0: "a", 2: "c", 3: "d", 4: "e"}
    assert known_ids(tmp_path, ["e", "x", "a"]) == {"a", "e"}
    second = groups_of(tmp_path)[1]
    assert [paper.paper_id for paper in papers_in(read_columns([second], ["paper_id"]))] == ["c"]
    assert [batch.num_rows for batch in read_columns(groups_of(tmp_path), ["title"])] == [2, 1, 2, 1]


PASSAGE = Paper("d1-2", "", ("Three.",), part_of="d1")
GERMAN = Paper("g1", "Größe", ("Eins.",), language="de")


def test_only_a_file_with_passages_has_their_column(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.parquet", ONE, BARE)
    with_passage = written(tmp_path / "b.parquet", BARE, PASSAGE)
    assert pyarrow.parquet.read_schema(plain).names == [
        *("paper_id", "title", "sentences", "year", "labels", "citations")
    ]
    assert pyarrow.parquet.read_table(with_passage)[PART_OF].to_pylist() == [None, "d1"]
    assert list(read_papers(tmp_path)) == [ONE, BARE, BARE, PASSAGE]
    assert [paper.part_of for paper in read_papers(tmp_path, columns=(PART_OF,))] == [None, None, None, "d1"]
    assert count_passages(tmp_path) == 1
    assert texts_of_papers(tmp_path)[PART_OF].to_pylist() == [None, None, None, "d1"]
    with_passage.unlink()
    assert count_passages(tmp_path) == 0
    assert texts_of_papers(tmp_path).column_names == ["paper_id", "title", "year", "sentences", "abstract"]


def test_a_passage_that_comes_late_gives_the_groups_before_it_the_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annot.store.papers.ROWS_IN_GROUP", 2)
    papers = [*(Paper(f"p{at}", "t", ("s.",), at, ("method",), ("c",)) for at in range(5)), PASSAGE, BARE, GERMAN]
    path = written(tmp_path / "a.parquet", *papers)
    assert list(read_papers(tmp_path)) == papers
    assert [group.papers for group in groups_of(tmp_path)] == [2, 2, 2, 2]
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]
    keep_rows(path, pyarrow.array([at in (0, 5, 7) for at in range(8)]).to_numpy(zero_copy_only=False))
    assert list(read_papers(tmp_path)) == [papers[0], PASSAGE, GERMAN]


def test_two_writers_of_one_file_refuse_each_other_once_passages_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annot.store.papers.ROWS_IN_GROUP", 1)
    with PaperWriter(tmp_path, name="a.parquet") as writer:
        writer.add(PASSAGE)
        with (
            pytest.raises(InputError, match="another process is adding"),
            PaperWriter(tmp_path, name="a.parquet") as other,
        ):
            other.add(ONE)
    assert list(read_papers(tmp_path)) == [PASSAGE]


@pytest.mark.parametrize("other", [PASSAGE, GERMAN])
def test_a_corpus_that_has_lost_its_passages_has_the_hash_of_one_that_had_none(tmp_path: Path, other: Paper) -> None:
    written(tmp_path / "plain" / "a.parquet", ONE, BARE)
    mixed = tmp_path / "mixed"
    written(mixed / "a.parquet", ONE)
    written(mixed / "b.parquet", other, BARE)
    assert corpus_sha256(mixed) != corpus_sha256(tmp_path / "plain")
    remove_papers(mixed, [other.paper_id])
    assert corpus_sha256(mixed) == corpus_sha256(tmp_path / "plain")


def test_the_document_of_a_passage_counts_in_the_hash(tmp_path: Path) -> None:
    for name, document in (("one", "d1"), ("two", "d2")):
        written(tmp_path / name / "a.parquet", replace(PASSAGE, part_of=document))
    assert corpus_sha256(tmp_path / "one") != corpus_sha256(tmp_path / "two")


def flags(*values: bool) -> bytes:
    return bytes(values)


def numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def texts(prefix: str, *values: str) -> dict[str, bytes]:
    return {
        f"{prefix}valid": flags(*[True] * len(values)),
        f"{prefix}lengths": numbers(*(len(value.encode()) for value in values)),
        f"{prefix}values": "".join(values).encode(),
    }


def lists(*values: tuple[str, ...] | None) -> dict[str, bytes]:
    items = [item for value in values for item in value or ()]
    return {
        "valid": flags(*(value is not None for value in values)),
        "lengths": numbers(*(len(value or ()) for value in values)),
        **texts("items ", *items),
    }


def test_the_hash_is_that_of_validity_lengths_and_values_of_each_column(tmp_path: Path) -> None:
    """A new version of the program must not make an unchanged corpus look changed."""
    written(tmp_path / "a.parquet", ONE, BARE)
    of_columns = {
        "paper_id": texts("", "p1", "p2"),
        "title": texts("", "Größe", ""),
        "sentences": lists(("One.", "Two."), ()),
        "year": {"valid": flags(True, False), "values": numbers(1999, 0)},
        "labels": lists(("background", "method"), None),
        "citations": lists(("p2",), ()),
    }
    lines = sorted((name, part, of) for name, parts in of_columns.items() for part, of in parts.items())
    whole = hashlib.sha256()
    for name, part, content in lines:
        whole.update(f"{name} {part} {hashlib.sha256(content).hexdigest()}\n".encode())
    assert corpus_sha256(tmp_path) == whole.hexdigest()


@pytest.mark.parametrize("start", [0, 1, 2])
def test_the_hash_of_a_slice_is_that_of_its_rows(start: int) -> None:
    names = ["Größe", "", "zwei", "c"]
    batch = pyarrow.RecordBatch.from_pydict({"text": names, "many": [[name, "x"] for name in names]})
    again = pyarrow.RecordBatch.from_pydict({"text": names[start:], "many": [[name, "x"] for name in names[start:]]})
    assert columns_sha256([batch.slice(start)]) == columns_sha256([again])
    assert columns_sha256([batch.slice(0, start), batch.slice(start)]) == columns_sha256([batch])
