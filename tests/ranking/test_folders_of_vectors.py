"""Folders of vectors: the bytes of their files, the faults that are named, and their rankings."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.errors import InputError
from annot.ranking import vectors
from annot.ranking.vectors import Precision, Vectors, VectorsWriter


def write(folder: Path, ids: str, rows: Any, *, precision: Precision = "float32", most: int = 100) -> None:
    with VectorsWriter(folder, most=most, precision=precision) as writer:
        writer.about = {"model": "ü", "space": "s", "metric": "cosine", "batch": 8}
        writer.parts = ("p1", "p2")
        for paper_id, row in zip(ids, rows, strict=True):
            writer.add([paper_id], np.array([row]))


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_the_files_are_those_of_the_format(tmp_path: Path, precision: Precision) -> None:
    write(tmp_path / "v", "abc", [[1, 2], [3, 4], [5, 6]], precision=precision)
    assert {path.name for path in (tmp_path / "v").iterdir()} == {"ids.txt", "vectors.npy", "vectors.json", "parts.txt"}
    assert (tmp_path / "v" / "ids.txt").read_text() == "a\nb\nc\n"
    assert (tmp_path / "v" / "parts.txt").read_text() == "p1\np2\n"
    found = np.load(tmp_path / "v" / "vectors.npy")
    assert found.dtype == np.dtype(precision)
    assert found.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found.flags.c_contiguous
    # The file ends with the last number.
    with (tmp_path / "v" / "vectors.npy").open("rb") as file:
        assert np.lib.format.read_magic(file) == (1, 0)
        assert np.lib.format.read_array_header_1_0(file)[:2] == ((3, 2), False)
        assert len(file.read()) == 6 * found.itemsize
    text = (tmp_path / "v" / "vectors.json").read_text(encoding="utf-8")
    # People read it: indented by two, in the order of the keys, letters as they are.
    assert text.startswith('{\n  "batch": 8,\n  "dimensions": 2,\n  "files": {\n    "ids.txt": "')
    assert '"model": "ü"' in text
    about = json.loads(text)
    assert list(about) == ["batch", "dimensions", "files", "metric", "model", "precision", "space"]
    assert about["precision"] == precision
    assert set(about["files"]) == {"ids.txt", "vectors.npy", "parts.txt"}


def test_a_folder_that_is_read_back_keeps_what_its_maker_wrote_down(tmp_path: Path) -> None:
    write(tmp_path / "v", "ab", [[1, 2], [3, 4]])
    found = vectors.load(tmp_path / "v", hint="")
    assert set(found.facts) == {"batch", "files", "precision"}
    assert found.description["dimensions"] == 2
    assert found.description["metric"] == "cosine"
    assert found.rows == {"a": 0, "b": 1}
    (tmp_path / "v" / "vectors.json").write_text('{"model": "m", "space": "s"}')
    assert vectors.load(tmp_path / "v", hint="").metric == "l2"


def test_nothing_is_left_of_a_folder_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        write(tmp_path / "sets" / "v", "ab", ([1 / (1 - at), 2] for at in range(2)))
    assert list(tmp_path.iterdir()) == []


def faults(folder: Path, **given: Any) -> tuple[str, ...]:
    with pytest.raises(InputError, match="vectors that cannot be used") as caught:
        vectors.load(folder, hint="", **given)
    return tuple(caught.value.faults)


def test_an_empty_id_and_a_doubled_one_are_named_by_place(tmp_path: Path) -> None:
    write(tmp_path / "v", "abcd", [[1, 2]] * 4)
    (tmp_path / "v" / "ids.txt").write_text("a\n  \nb\na\n")
    assert faults(tmp_path / "v") == (
        "ids.txt:2: empty, expected a paper id",
        "ids.txt: 'a': found 2 times, expected once",
    )
    # The search itself finds what is there twice.
    assert faults(tmp_path / "v", unread=True) == ("ids.txt:2: empty, expected a paper id",)


@pytest.mark.parametrize(
    ("matrix", "fault"),
    [
        (np.ones((2, 2)), "vectors.npy: found float64 in 2 dimensions, expected float32 or float16 in 2"),
        (np.ones(2, np.float32), "vectors.npy: found float32 in 1 dimension, expected float32 or float16 in 2"),
        (
            np.ones((2, 2, 1), np.float16),
            "vectors.npy: found float16 in 3 dimensions, expected float32 or float16 in 2",
        ),
        (np.ones((3, 2), np.float32), "vectors.npy: 3 rows, expected 2, one for each id of ids.txt"),
        (np.ones((1, 2), np.float16), "vectors.npy: 1 rows, expected 2, one for each id of ids.txt"),
    ],
)
@pytest.mark.parametrize("unread", [False, True])
def test_a_matrix_of_another_form_is_named(tmp_path: Path, matrix: Any, fault: str, unread: bool) -> None:
    write(tmp_path / "v", "ab", [[1, 2]] * 2)
    np.save(tmp_path / "v" / "vectors.npy", matrix)
    assert faults(tmp_path / "v", unread=unread) == (fault,)


def test_a_matrix_of_python_objects_is_never_opened(tmp_path: Path) -> None:
    write(tmp_path / "v", "a", [[1, 2]])
    np.save(tmp_path / "v" / "vectors.npy", np.array([[{}, None]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not readable as vectors"):
        vectors.load(tmp_path / "v", hint="")


def test_facts_that_are_no_object_are_named(tmp_path: Path) -> None:
    write(tmp_path / "v", "a", [[1, 2]])
    (tmp_path / "v" / "vectors.json").write_text("[]")
    assert faults(tmp_path / "v") == ("vectors.json: found list, expected an object",)


@pytest.mark.parametrize(("row", "broken"), [(0, np.inf), (4, -np.inf), (5, np.nan), (9, np.nan), (10, np.nan)])
def test_a_number_that_is_not_finite_is_found_in_any_block(
    tmp_path: Path, row: int, broken: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "BLOCK", 5)
    rows = np.ones((11, 2))
    rows[row, 1] = broken
    write(tmp_path / "v", "abcdefghijk", rows)
    assert faults(tmp_path / "v") == (f"vectors.npy: row {row} ({'abcdefghijk'[row]}): not finite",)
    assert vectors.load(tmp_path / "v", hint="", unread=True).matrix.shape == (11, 2)


def made(ids: str, *, source: Any = None) -> Vectors:
    matrix = np.array([[at + 1, 1] for at in range(len(ids))], np.float32)
    return Vectors(strings_of(ids), matrix, "m", "s", "l2", {}, source=source)


@pytest.mark.parametrize(
    ("ids", "corpus", "ranked"),
    [
        ("abc", "abc", "abc"),
        # As many of them, and not the same ones; more; fewer; in another order.
        ("abc", "axc", "ac"),
        ("abcd", "ab", "ab"),
        ("ab", "abcd", "ab"),
        ("abc", "cba", "abc"),
    ],
)
def test_only_papers_of_the_corpus_rank(ids: str, corpus: str, ranked: str) -> None:
    (found,) = vectors.nearest(
        made(ids), vectors.vectors_named(made(ids), ["a"]), corpus=strings_of(corpus), depths=np.array([9])
    )
    assert "".join(doc.doc_id for doc in found) == ranked


def test_of_no_vectors_and_no_papers_nothing_is_ranked() -> None:
    empty = Vectors(strings_of(""), np.zeros((0, 2), np.float32), "m", "s", "l2", {})
    assert (
        vectors.nearest(empty, vectors.vectors_named(empty, []), corpus=strings_of(""), depths=np.zeros(0, np.int64))
        == []
    )


def test_rows_are_read_from_the_source_where_there_is_one() -> None:
    read: list[Any] = []

    class Source:
        shape = (3, 2)

        def __getitem__(self, rows: Any) -> Any:
            read.append(rows)
            return made("abc").matrix[rows]

    sourced = made("abc", source=Source())
    queries = vectors.vectors_named(sourced, ["a"])
    (found,) = vectors.nearest(sourced, queries, corpus=strings_of("abc"), depths=np.array([2]))
    assert [doc.doc_id for doc in found] == ["a", "b"]
    assert read
