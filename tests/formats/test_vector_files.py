"""Vectors of papers in files: which rows are taken, which are counted, and what each refusal says."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from annot.base.errors import InputError
from annot.formats import vector_files
from annot.formats.vector_files import Block, RowCounts, read_npy, read_parquet, read_s2_vectors


def plain(blocks: Iterable[Block]) -> list[tuple[list[str], list[list[float]], str]]:
    """The blocks, each with the end of its place."""
    return [(list(ids), matrix.tolist(), where.rpartition("/")[2]) for ids, matrix, where in blocks]


@pytest.fixture(autouse=True)
def two_rows_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_files, "ROWS", 2)


MATRIX = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]


def npy(folder: Path, array: Any) -> Path:
    np.save(folder / "v.npy", array)
    return folder / "v.npy"


def test_rows_of_a_matrix_are_those_of_its_ids(tmp_path: Path) -> None:
    tally = RowCounts()
    found = plain(read_npy(npy(tmp_path, np.array(MATRIX)), "abcde", {"b", "c", "d"}, tally))
    assert found == [(["b"], [[3, 4]], "v.npy: row 1"), (["c", "d"], [[5, 6], [7, 8]], "v.npy: row 3")]
    assert (tally.foreign, tally.broken) == (2, 0)


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.zeros((2, 2), np.int64), "found int64 in 2 dimensions, expected floating-point numbers in 2"),
        (np.zeros(2, np.float32), "found float32 in 1 dimension, expected floating-point numbers in 2"),
        (np.zeros((3, 1), np.float16), "3 rows, expected 2, one for each id"),
    ],
)
def test_what_is_no_matrix_of_one_row_for_each_id_is_refused(tmp_path: Path, array: Any, problem: str) -> None:
    path = npy(tmp_path, array)
    with pytest.raises(InputError) as caught:
        list(read_npy(path, "ab", {"a"}, RowCounts()))
    assert caught.value.message == f"{path}: {problem}"


def test_objects_are_never_unpickled_from_a_matrix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a \.npy file"):
        list(read_npy(npy(tmp_path, np.array([{}, {}], object)), "ab", {"a"}, RowCounts()))


def test_an_archive_of_arrays_is_no_matrix(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", a=np.zeros(1))
    with pytest.raises(InputError, match="found an archive, expected"):
        list(read_npy(tmp_path / "v.npz", "a", {"a"}, RowCounts()))


def parquet(folder: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), folder / "v.parquet")
    return folder / "v.parquet"


def rows_of(path: Path, papers: Iterable[str], tally: RowCounts, ids: str | None = None, vectors: str | None = None):  # type: ignore[no-untyped-def]
    return plain(read_parquet(path, set(papers), tally, id_column=ids, vector_column=vectors))


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 2)])
def test_rows_of_a_table_are_those_of_its_papers(tmp_path: Path, kind: pa.DataType) -> None:
    path = parquet(tmp_path, id=pa.array([1, 2, 3, 4, 5]), embedding=pa.array(MATRIX, kind))
    tally = RowCounts()
    assert rows_of(path, "245", tally) == [
        (["2"], [[3, 4]], "v.parquet: row 1"),
        (["4"], [[7, 8]], "v.parquet: row 3"),
        (["5"], [[9, 10]], "v.parquet: row 5"),
    ]
    assert (tally.foreign, tally.broken) == (2, 0)


def test_a_row_without_a_vector_is_broken_and_its_neighbours_stay(tmp_path: Path) -> None:
    path = parquet(tmp_path, paper_id=list("abcd"), vector=pa.array([None, [1.0], None, None], pa.list_(pa.float64())))
    tally = RowCounts()
    assert rows_of(path, "abd", tally) == [(["b"], [[1]], "v.parquet: row 1")]
    assert (tally.foreign, tally.broken) == (1, 2)
    assert tally.examples == [f"{path}: row 1: a: no vector", f"{path}: row 3: d: no vector"]


def test_the_first_usual_column_is_taken_unless_one_is_named(tmp_path: Path) -> None:
    path = parquet(tmp_path, id=["x"], paper_id=["a"], embedding=[[1.0]], vector=[[2.0]])
    assert rows_of(path, "a", RowCounts())[0][:2] == (["a"], [[2]])
    assert rows_of(path, "x", RowCounts(), "id", "embedding")[0][:2] == (["x"], [[1]])


ONE_ROW: dict[str, Any] = {"paper_id": ["a"], "vector": [[1.0]]}


@pytest.mark.parametrize(
    ("columns", "asked", "problem"),
    [
        (ONE_ROW, {"ids": "papr_id"}, "column 'papr_id': not found; did you mean 'paper_id'?"),
        ({"paper": ["a"], "vector": [[1.0]]}, {}, "found columns paper, vector, expected 'paper_id'"),
        ({"paper_id": ["a"], "numbers": [[1.0]]}, {}, "found columns paper_id, numbers, expected 'vector'"),
        (ONE_ROW | {"vector": [1.0]}, {}, "column vector: found double, expected lists of floating-point numbers"),
        ({"id": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]}, {}, "row 1 and after: rows of 1 and 2 numbers"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(
    tmp_path: Path, columns: dict[str, Any], asked: dict[str, str], problem: str
) -> None:
    path = parquet(tmp_path, **columns)
    with pytest.raises(InputError) as caught:
        rows_of(path, "ab", RowCounts(), **asked)
    assert caught.value.message.replace(f"{path}: ", "") == problem


def embeddings(folder: Path, *lines: object) -> Path:
    path = folder / "part.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_a_block_has_one_width_and_begins_at_the_line_of_its_first_row(tmp_path: Path) -> None:
    path = embeddings(
        tmp_path,
        {"corpusid": 9, "vector": [0]},
        {"corpusid": 1, "vector": "[1, 2]"},
        "",
        {"corpusid": 2, "vector": [3, 4]},
        {"corpusid": 3, "vector": [5, 6]},
        {"corpusid": 4, "vector": [7]},
    )
    tally = RowCounts()
    assert plain(read_s2_vectors(path, set("1234"), tally)) == [
        (["1", "2"], [[1, 2], [3, 4]], "part.jsonl:2"),
        (["3"], [[5, 6]], "part.jsonl:5"),
        (["4"], [[7]], "part.jsonl:6"),
    ]
    assert (tally.foreign, tally.broken, tally.spaces) == (1, 0, {})


def test_lines_that_are_no_vector_are_counted_and_the_first_five_are_shown(tmp_path: Path) -> None:
    wrong = ["no JSON", '{"corpusid": 1}', {"corpusid": 1, "vector": [[1]]}, {"corpusid": 1, "vector": 3}]
    path = embeddings(tmp_path, *wrong, *["no JSON"] * 3)
    tally = RowCounts()
    assert plain(read_s2_vectors(path, {"1"}, tally)) == []
    assert (tally.foreign, tally.broken) == (0, 7)
    assert [fault.split(": ")[0] for fault in tally.examples] == [f"{path}:{line}" for line in range(1, 6)]
    assert tally.examples[2] == f"{path}:3: corpusid 1, vector [[1]]: expected a paper and its numbers"


@pytest.mark.parametrize(
    ("model", "space"),
    [
        ("specter@v0.1.1", "semantic-scholar/specter_v1"),
        ("SPECTER", "semantic-scholar/specter_v1"),
        ("specter_v2", "allenai/specter2"),
        ("Specter2", "allenai/specter2"),
        ("other-model", "semantic-scholar/other-model"),
    ],
)
def test_the_space_is_that_of_the_model_on_the_line(tmp_path: Path, model: str, space: str) -> None:
    path = embeddings(tmp_path, {"corpusid": 1, "model": model, "vector": [1]})
    tally = RowCounts()
    assert len(list(read_s2_vectors(path, {"1"}, tally))) == 1
    assert tally.spaces == {space: f"{path}:1"}


def test_two_spaces_are_refused_with_the_place_of_each(tmp_path: Path) -> None:
    folder = tmp_path / "embeddings-specter_v1"
    folder.mkdir()
    same, other = (
        {"corpusid": 1, "model": "specter", "vector": [1]},
        {"corpusid": 1, "model": "specter_v2", "vector": [1]},
    )
    path = embeddings(folder, same, other)
    with pytest.raises(InputError) as caught:
        list(read_s2_vectors(path, {"1"}, RowCounts()))
    assert caught.value.faults == (f"{path}: semantic-scholar/specter_v1", f"{path}:2: allenai/specter2")
