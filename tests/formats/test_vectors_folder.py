"""The folder of precomputed vectors: written and read back, mapped, and each way of being wrong named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from annot.errors import InputError, MissingInput
from annot.formats.vectors import read_vectors, write_vectors

IDS = ("p1", "p2", "pé")
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_vectors(tmp_path / "specter", ids=IDS, matrix=MATRIX, model="specter@v0.1.1", space="specter")
    return tmp_path / "specter"


@pytest.mark.parametrize("verify", [True, False])
def test_vectors_read_back_are_those_written_and_are_mapped_read_only(folder: Path, verify: bool) -> None:
    vectors = read_vectors(folder, verify=verify)
    assert (vectors.ids, vectors.model, vectors.space) == (IDS, "specter@v0.1.1", "specter")
    np.testing.assert_array_equal(vectors.matrix, MATRIX)
    assert isinstance(vectors.matrix, np.memmap)
    assert not vectors.matrix.flags.writeable
    assert vectors.matrix.dtype == np.float32


def test_the_same_vectors_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_vectors(other, ids=IDS, matrix=np.asfortranarray(MATRIX), model="specter@v0.1.1", space="specter")
    for name in ("vectors.npy", "ids.txt", "vectors.json"):
        assert (other / name).read_bytes() == (folder / name).read_bytes()


def test_the_files_are_what_the_contract_says(folder: Path) -> None:
    assert (folder / "ids.txt").read_text(encoding="utf-8") == "p1\np2\npé\n"
    np.testing.assert_array_equal(np.load(folder / "vectors.npy"), MATRIX)
    facts = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
    assert (facts["count"], facts["dimension"]) == (3, 4)
    assert sorted(path.name for path in folder.iterdir()) == ["ids.txt", "vectors.json", "vectors.npy"]


@pytest.mark.parametrize("name", ["vectors.npy", "ids.txt", "vectors.json"])
def test_a_missing_file_is_named_with_the_remedy(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(MissingInput, match=name) as caught:
        read_vectors(folder, verify=False)
    assert "write_vectors" in (caught.value.hint or "")


def change_facts(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        facts = json.loads((folder / "vectors.json").read_text(encoding="utf-8"))
        (folder / "vectors.json").write_text(json.dumps(facts | changes), encoding="utf-8")

    return change


def save(array: np.ndarray) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / "vectors.npy", array)


def write(name: str, content: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return change


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (write("ids.txt", b"p1\np2\n"), "3 rows for 2 ids"),
        (write("ids.txt", b"p1\np2\np1\n"), "ids.txt:3: id 'p1' is there twice"),
        (write("ids.txt", b"p1\np 2\np3\n"), "ids.txt:2: id 'p 2', expected one without white space"),
        (write("ids.txt", b"p1\n\xff\np3\n"), "not UTF-8"),
        (write("vectors.npy", b"not an array"), "not a NumPy array file"),
        (save(MATRIX.astype(np.float64)), "dtype float64, expected float32: convert"),
        (save(MATRIX[0]), r"shape (4,), expected (papers, dimension)"),
        (write("vectors.json", b"{"), "not valid JSON"),
        (write("vectors.json", b"{}"), 'no "annot_vectors": 1'),
        (change_facts(space=""), "space: found ''"),
        (change_facts(model=None), "model: found None"),
        (change_facts(count=4), "count 4, but vectors.npy has 3"),
        (change_facts(dimension=5), "dimension 5, but vectors.npy has 4"),
        (change_facts(sha256={}), "sha256: none for vectors.npy"),
    ],
)
def test_each_fault_is_found_without_reading_the_whole_matrix(
    folder: Path, change: Callable[[Path], None], fault: str
) -> None:
    change(folder)
    with pytest.raises(InputError) as caught:
        read_vectors(folder, verify=False)
    assert any(fault in found for found in caught.value.faults), caught.value.faults


def test_verifying_finds_changed_values_and_values_that_are_not_finite(folder: Path) -> None:
    broken = MATRIX.copy()
    broken[1, 2] = np.nan
    np.save(folder / "vectors.npy", broken)
    with pytest.raises(InputError) as caught:
        read_vectors(folder, verify=True)
    assert any("SHA-256" in fault for fault in caught.value.faults)
    assert any("vectors.npy, row 2: nan or infinite" in fault for fault in caught.value.faults)
    assert len(caught.value.faults) == 2


def test_a_changed_list_of_ids_is_found_when_verifying(folder: Path) -> None:
    (folder / "ids.txt").write_text("p2\np1\npé\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_vectors(folder, verify=True)
    assert [fault.split(": ")[1] for fault in caught.value.faults] == ["ids.txt"]


def test_nothing_is_written_when_the_input_is_wrong(tmp_path: Path) -> None:
    wrong = MATRIX.copy()
    wrong[0, 0] = np.inf
    with pytest.raises(InputError) as caught:
        write_vectors(tmp_path / "v", ids=["a", "a"], matrix=wrong, model="m", space=" ")
    assert len(caught.value.faults) == 4
    assert not (tmp_path / "v").exists()


def test_a_folder_that_was_not_finished_does_not_pass_for_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        write_vectors(folder, ids=IDS, matrix=MATRIX, model="m", space="s")
    with pytest.raises(MissingInput, match=r"vectors\.json"):
        read_vectors(folder, verify=False)
