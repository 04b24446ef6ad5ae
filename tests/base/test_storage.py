"""Arrays and lists in a folder come back whole or not at all; Arrow arrays are those that pyarrow makes."""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from annot.base.array_files import (
    ABOUT,
    Blocks,
    as_arrays,
    as_strings,
    distinct_rows,
    faults,
    held_alone,
    integers_of,
    lists_of,
    load,
    mapped,
    mask_of,
    numbers,
    remove_unfinished,
    save,
    save_array,
    strings_in,
    strings_of,
    truths,
    written_hashes,
)
from annot.base.errors import BusyError, InputError, MissingInput
from hypothesis import given
from hypothesis import strategies as st

KIND = "test-1"
ARRAYS: dict[str, Any] = {
    "flat": np.arange(5, dtype=np.int64),
    "rows": np.arange(6, dtype=np.float32).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6, dtype=np.float16).reshape(3, 2)),
}
TEXTS = {"words": ("one", "", "two\rthree\u2028four"), "none": ()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "deep" / "kept", kind=KIND, arrays=ARRAYS, texts=TEXTS, facts={"n": 1, "name": "é"})
    return tmp_path / "deep" / "kept"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_was_written_comes_back(folder: Path) -> None:
    stored = load(folder, kind=KIND)
    assert set(stored.arrays) == set(ARRAYS)
    assert len(stored.arrays) == 3
    for name, array in ARRAYS.items():
        assert stored.arrays[name].dtype == array.dtype
        assert stored.arrays[name].tolist() == array.tolist()
        assert np.load(folder / f"{name}.npy").tolist() == array.tolist()
    assert stored.texts == TEXTS
    assert stored.facts == {"n": 1, "name": "é"}
    assert faults(folder) == []


def test_a_folder_is_replaced_whole(folder: Path) -> None:
    save(folder, kind="other", arrays={}, texts={}, facts={})
    assert [path.name for path in folder.iterdir()] == [ABOUT]


def test_after_an_error_the_old_folder_is_there_and_nothing_else(folder: Path) -> None:
    def arrays() -> Iterator[Any]:
        yield np.zeros((1, 2), np.float32)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        save(folder, kind=KIND, arrays={"half": Blocks((2, 2), arrays())}, texts={}, facts={})
    assert list(folder.parent.iterdir()) == [folder]
    assert faults(folder) == []


def test_only_what_a_dead_process_of_this_machine_was_writing_is_removed(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    here, name = platform.node(), ".kept.7.{}@{}.abc"
    living = subprocess.Popen(["sleep", "60"])
    folders = {
        "dead": tmp_path / "deep" / name.format(dead.pid, here),
        "own": tmp_path / name.format(os.getpid(), here),
        "living": tmp_path / name.format(living.pid, here),
        "elsewhere": tmp_path / name.format(dead.pid, f"not-{here}"),
    }
    for path in folders.values():
        path.mkdir(parents=True)
        (path / "file").write_text("")
    try:
        remove_unfinished(tmp_path)
        ended = living.poll()
    finally:
        living.kill()
        living.wait()
    assert ended is None
    assert [key for key, path in folders.items() if path.exists()] == ["own", "living", "elsewhere"]


def test_folders_above_are_made_and_facts_are_written_in_one_order(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    save(folder, kind=KIND, arrays={}, texts={}, facts={"z": 1, "a": {"y": 1, "x": "é"}})
    text = (folder / ABOUT).read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    with held_alone(tmp_path / "d" / "e" / "lock", busy="x", hint="y"):
        pass


def test_what_went_wrong_is_told_even_if_the_folder_has_gone(tmp_path: Path) -> None:
    def arrays() -> Iterator[Any]:
        shutil.rmtree(tmp_path / "kept")
        raise ZeroDivisionError
        yield

    with pytest.raises(ZeroDivisionError):
        save(tmp_path / "kept" / "x", kind=KIND, arrays={"a": Blocks((1, 1), arrays())}, texts={}, facts={})


def test_an_array_may_come_in_blocks(tmp_path: Path) -> None:
    rows = np.arange(10, dtype=np.float32).reshape(5, 2)
    save_array(tmp_path / "a.npy", Blocks((5, 2), [rows[:3], np.asfortranarray(rows[3:]).astype(np.float64)]))  # type: ignore[list-item]
    assert mapped(tmp_path / "a.npy").tolist() == rows.tolist()
    assert np.load(tmp_path / "a.npy").dtype == np.float32


def test_an_array_of_another_version_or_cut_short_is_not_readable(folder: Path) -> None:
    stored = load(folder, kind=KIND)
    with (folder / "flat.npy").open("wb") as file:
        np.lib.format.write_array(file, ARRAYS["flat"], version=(2, 0))
    with pytest.raises(InputError, match=r"found an array of version \(2, 0\), expected \(1, 0\)"):
        stored.arrays["flat"]
    (folder / "rows.npy").write_bytes((folder / "rows.npy").read_bytes()[:-1])
    with pytest.raises(InputError, match="not readable"):
        stored.arrays["rows"]
    np.save(folder / "flat.npy", np.array(["words"]))
    with pytest.raises(InputError, match="array of numbers"):
        stored.arrays["flat"]


def test_what_cannot_be_read_says_what_is_missing_or_other(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match=r"about\.json is missing"):
        load(tmp_path, kind=KIND)
    with pytest.raises(InputError, match="found kind 'test-1', expected 'test-2'"):
        load(folder, kind="test-2")
    (folder / "rows.npy").unlink()
    (folder / "flat.npy").unlink()
    with pytest.raises(InputError, match=r"missing: flat\.npy, rows\.npy"):
        load(folder, kind=KIND)
    (folder / ABOUT).write_text("{}")
    with pytest.raises(InputError, match="not readable as test-1"):
        load(folder, kind=KIND)
    with pytest.raises(InputError, match="not readable"):
        written_hashes(folder)
    assert [fault.startswith(f"{folder / ABOUT}: not readable: ") for fault in faults(folder)] == [True]


def test_each_file_is_recorded_with_its_hash(folder: Path) -> None:
    found = written_hashes(folder)
    assert found == {path.name: sha256(path) for path in folder.iterdir()}


def test_each_file_that_is_not_as_written_is_named(folder: Path) -> None:
    before = sha256(folder / "flat.npy"), sha256(folder / "words.txt")
    np.save(folder / "flat.npy", np.arange(6))
    (folder / "words.txt").unlink()
    assert faults(folder) == [
        f"{folder / 'flat.npy'}: found {sha256(folder / 'flat.npy')[:12]}, expected SHA-256 {before[0][:12]}",
        f"{folder / 'words.txt'}: found no file, expected SHA-256 {before[1][:12]}",
    ]


def test_facts_that_were_changed_are_found_by_their_own_hash(folder: Path) -> None:
    about = json.loads((folder / ABOUT).read_text())
    about["facts"]["n"] = 2
    (folder / ABOUT).write_text(json.dumps(about, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    (fault,) = faults(folder)
    assert fault.startswith(f"{folder / ABOUT}: found ")
    (folder / ABOUT).write_text(json.dumps(about))
    assert faults(folder) == [f"{folder / ABOUT}: has changed since it was written"]


STRINGS = ["one", "", "zwölf", "汉字", "end"]


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (2, 4), (1, 2), (3, 3), (4, 5), (0, 0)])
def test_strings_are_taken_apart_and_put_together_again(start: int, stop: int) -> None:
    arrays = as_arrays("word", pa.array(STRINGS).slice(start, stop - start))
    assert sorted(arrays) == ["word_offsets", "word_utf8"]
    assert arrays["word_offsets"][0] == 0
    assert bytes(arrays["word_utf8"]) == "".join(STRINGS[start:stop]).encode()
    assert as_strings(arrays, "word").to_pylist() == STRINGS[start:stop]


@pytest.mark.parametrize(
    ("text", "lines"), [("a\nb\n", ["a", "b"]), ("a\n\nzwölf", ["a", "", "zwölf"]), ("\n", [""]), ("a\r\n", ["a\r"])]
)
def test_a_line_feed_at_the_end_begins_no_line(text: str, lines: list[str]) -> None:
    assert strings_in(text.encode()).to_pylist() == lines


def test_lines_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(ValueError, match="UTF"):
        strings_in(b"a\n\xff\n")


def test_a_file_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    lock = tmp_path / "new" / "lock"
    with (
        held_alone(lock, busy="first", hint="wait"),
        pytest.raises(BusyError, match="second"),
        held_alone(lock, busy="second", hint="wait"),
    ):
        pass
    with held_alone(lock, busy="third", hint="wait"):
        pass


STRINGS_TYPE, LISTS_TYPE = pa.string(), pa.list_(pa.string())
MASK = np.array([True, False, False, True, True, False, True, False, True])


@pytest.mark.parametrize(
    ("make", "values", "kind"),
    [
        (strings_of, [], STRINGS_TYPE),
        (strings_of, ["a", "", "ü€", "b"], STRINGS_TYPE),
        (strings_of, ["a", None, "", "ü", None], STRINGS_TYPE),
        (lists_of, [], LISTS_TYPE),
        (lists_of, [["a", "ü"], [], ["", "b"]], LISTS_TYPE),
        (lists_of, [None, ["a"], None, [], ("b", "c")], LISTS_TYPE),
        (integers_of, [], pa.int64()),
        (integers_of, [3, None, -5, 0, None], pa.int64()),
        (integers_of, np.array([3, -5], np.int32), pa.int32()),
        (mask_of, MASK, pa.bool_()),
        (mask_of, MASK[:0], pa.bool_()),
    ],
)
def test_an_array_is_the_one_that_pyarrow_makes(make: Callable[[Any], Any], values: Any, kind: pa.DataType) -> None:
    made, theirs = make(values), pa.array(values, kind)
    made.validate(full=True)
    assert made.type == kind
    assert made.equals(theirs)
    assert made.null_count == theirs.null_count


def test_an_array_is_read_as_pyarrow_reads_it_also_a_part_of_it() -> None:
    mask, whole = pa.array(MASK), pa.array([7, 8, 9], pa.int32())
    for begin in range(len(MASK) + 1):
        assert truths(mask.slice(begin)).tolist() == MASK[begin:].tolist()
        assert truths(mask.slice(0, begin)).tolist() == MASK[:begin].tolist()
    assert numbers(whole.slice(1)).tolist() == [8, 9]
    assert numbers(whole).dtype == np.int32
    assert numbers(pa.chunked_array([whole, whole[:1]])).tolist() == [7, 8, 9, 7]
    assert numbers(pa.chunked_array([], pa.int64())).tolist() == []
    assert truths(pa.chunked_array([mask[1:4], mask[:2]])).tolist() == [False, False, True, True, False]


@given(st.lists(st.lists(st.tuples(*[st.sampled_from(["", "a", "b", "é", "éé"])] * 2), max_size=6), max_size=4))
def test_of_rows_that_come_again_the_first_stay_in_their_order(parts: list[list[tuple[str, str]]]) -> None:
    columns = [pa.chunked_array([[row[at] for row in part] for part in parts], STRINGS_TYPE) for at in (0, 1)]
    found = distinct_rows(pa.table(columns, ["one", "other"]))
    rows = [row for part in parts for row in part]
    assert [tuple(row.values()) for row in found.to_pylist()] == list(dict.fromkeys(rows))
