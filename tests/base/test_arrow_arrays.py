"""Arrow arrays made from their memory are those that pyarrow makes, and are read as it reads them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from annot.base.array_files import distinct_rows, integers_of, lists_of, mask_of, numbers, strings_of, truths
from hypothesis import given
from hypothesis import strategies as st

TEXTS, LISTS = pa.string(), pa.list_(pa.string())
MASK = np.array([True, False, False, True, True, False, True, False, True])


@pytest.mark.parametrize(
    ("make", "values", "kind"),
    [
        (strings_of, [], TEXTS),
        (strings_of, ["a", "", "ü€", "b"], TEXTS),
        (strings_of, ["a", None, "", "ü", None], TEXTS),
        (lists_of, [], LISTS),
        (lists_of, [["a", "ü"], [], ["", "b"]], LISTS),
        (lists_of, [None, ["a"], None, [], ("b", "c")], LISTS),
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
    columns = [pa.chunked_array([[row[at] for row in part] for part in parts], TEXTS) for at in (0, 1)]
    found = distinct_rows(pa.table(columns, ["one", "other"]))
    rows = [row for part in parts for row in part]
    assert [tuple(row.values()) for row in found.to_pylist()] == list(dict.fromkeys(rows))


def test_adding_papers_does_not_wait_for_pandas(tmp_path: Path) -> None:
    abstract = "A sentence of five words. Another one of as many. The third has five, too."
    (tmp_path / "p.ris").write_text(f"TY  - JOUR\nTI  - A\nAB  - {abstract}\nDO  - 10.1000/x\nER  - \n")
    works = {"id": "https://openalex.org/W1", "doi": "10.1000/x", "referenced_works": ["https://openalex.org/W2"]}
    (tmp_path / "w.json").write_text(json.dumps(works | {"title": "A", "abstract": abstract}))
    program = """
import sys
from annot.cli.main import run
add = ["corpus", "add", "p.ris", "w.json", "-C", "s"]
for words in (["init", "s"], add, add):
    sys.argv = ["annot", *words]
    try:
        run()
    except SystemExit as end:
        assert not end.code, end.code
assert "pandas" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 papers read, 1 kept; the corpus now has 1" in done.stdout
    assert "2 papers read, 0 kept; the corpus now has 1" in done.stdout
    assert "1 citation by papers in the corpus" in done.stdout
