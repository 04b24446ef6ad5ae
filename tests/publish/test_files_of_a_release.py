"""Which files a release takes in: runs as they are on record, citations, judged documents, and its sums."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Query, Source
from annot.publishing.release import released_files
from annot.publishing.release.released_files import SUMS_FILE, bundle, run_files
from annot.store.models import StoredRun


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def study(folder: Path, *runs: StoredRun) -> Any:
    ws = SimpleNamespace(run_file=lambda tag: folder / f"{tag}.run")
    return SimpleNamespace(ws=ws, runs=runs, run_files=tuple(sorted(folder.glob("*.run"))))


def test_a_run_goes_out_with_what_is_known_of_it(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("q Q0 d 1 0.5 bm25\n")
    known = StoredRun("bm25", Source.BASELINE, {"k1": 1.2}, sha256("q Q0 d 1 0.5 bm25\n"))
    files, missing, notes = run_files(study(tmp_path, known))
    assert (missing, notes) == ((), ())
    assert files["runs/bm25.run"] == b"q Q0 d 1 0.5 bm25\n"
    assert json.loads(files["runs/bm25.json"]) == {
        **{"kind": "baseline", "settings": {"k1": 1.2}, "sha256": known.sha256, "tag": "bm25"}
    }
    assert files["runs/bm25.json"].decode().split("\n")[1] == '  "kind": "baseline",'


@pytest.mark.parametrize(
    ("kind", "again"),
    [(Source.IMPORTED, "import it again with `annot run import`"), (Source.BASELINE, "make it again with `annot run`")],
)
def test_a_run_that_is_gone_or_changed_is_missing(kind: Source, again: str, tmp_path: Path) -> None:
    gone, changed = StoredRun("gone", kind, {}, "0" * 64), StoredRun("changed", kind, {}, "1" * 64)
    (tmp_path / "changed.run").write_text("x")
    files, missing, notes = run_files(study(tmp_path, gone, changed))
    assert (files, notes) == ({}, ())
    assert missing == (
        f"{tmp_path / 'gone.run'}: missing, although run 'gone' is on record; {again}",
        f"{tmp_path / 'changed.run'}: SHA-256 {sha256('x')[:12]}…, expected {'1' * 12}… as on record; {again}",
    )


def test_a_run_that_is_not_on_record_goes_out_with_its_hash_and_a_note(tmp_path: Path) -> None:
    (tmp_path / "other.run").write_text("x")
    files, missing, notes = run_files(study(tmp_path))
    assert json.loads(files["runs/other.json"]) == {
        **{"kind": "imported", "settings": {}, "sha256": sha256("x"), "tag": "other"}
    }
    assert missing == ()
    assert len(notes) == 1
    assert "not on record" in notes[0]


def test_sums_are_by_path_and_names_that_differ_only_in_case_are_refused() -> None:
    files = bundle({"b": b"2", "a/c": b"1"})
    assert [*files] == [SUMS_FILE, "a/c", "b"]
    assert files[SUMS_FILE].decode() == f"{sha256('1')}  a/c\n{sha256('2')}  b\n"
    with pytest.raises(InputError, match="1 file name differ") as caught:
        bundle({"A": b"", "a": b"", "b": b""})
    assert list(caught.value.faults) == ["A, a: expected names that differ in more than upper and lower case"]


def test_judged_documents_are_those_of_queries_without_pools() -> None:
    queries = [Query("q1", "p1", "aim", ()), Query("q2", "p2", "aim", (), "survey")]
    made: Any = SimpleNamespace(
        queries=queries,
        texts={},
        pools={"p1": None},
        outcome=SimpleNamespace(planned={("q1", "d1"): (), ("q2", "d2"): (), ("q2", "d3"): ()}),
    )
    assert released_files._judged(made, pooled=True) == {"q2": ["d2", "d3"]}
    assert released_files._judged(made, pooled=False) == {"q1": ["d1"], "q2": ["d2", "d3"]}
    assert list(released_files._notes_on_topics(made)) == ["1 query paper without a type: `annot query choose` sets it"]
    made.queries = queries[1:]
    assert list(released_files._notes_on_topics(made)) == []


def test_citations_are_those_of_papers_with_a_pool() -> None:
    made: Any = SimpleNamespace(pools={"p1": None, "p2": None})
    assert released_files._edges(made, {"p1": ("d1", "d2"), "p9": ("d3",)}) == {
        released_files.CITATIONS_FILE: "citing\tcited\np1\td1\np1\td2\n"
    }
    assert released_files._edges(made, {"p9": ("d3",)}) == {}
