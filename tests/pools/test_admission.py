"""Admission to pools besides rankings: it is written, read back, and keeps barred papers out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Addition, Draw, Pool, PoolEntry, ScoredDoc
from annot.base.settings import Settings
from annot.pools.admission import (
    Admission,
    NearDuplicates,
    admissions,
    as_recorded,
    passed_over_in,
    recorded_admissions,
    write_admissions,
)
from annot.study.workspace import Workspace, write_manifest


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


FOUND = {
    "p2": Admission(("c",), ("o",), "1" * 64, {1: {"x": "y", "t": None}, 2: {}}),
    "p1": Admission((), (), None, {1: {}}),
}


def test_what_was_written_down_is_read_back(ws: Workspace) -> None:
    assert recorded_admissions(ws) == {}
    write_admissions(ws, FOUND)
    assert recorded_admissions(ws) == FOUND
    lines = (ws.pools / "admission.jsonl").read_text().splitlines()
    assert [line[:17] for line in lines] == ['{"topic_id": "p1"', '{"topic_id": "p2"']


def test_a_file_that_the_manifest_does_not_name_is_refused_where_it_has_to_be_proved(ws: Workspace) -> None:
    write_admissions(ws, FOUND)
    path, manifest = ws.pools / "admission.jsonl", ws.pools / "manifest.json"
    assert recorded_admissions(ws, proved=True) == FOUND
    write_manifest(manifest, files=[path], inputs={}, facts={})
    assert recorded_admissions(ws, proved=True) == FOUND
    write_admissions(ws, {})
    assert recorded_admissions(ws) == {}
    with pytest.raises(InputError, match=r"its SHA-256 is e3b0c44298fc, expected \w{12} as in"):
        recorded_admissions(ws, proved=True)
    path.unlink()
    with pytest.raises(InputError, match=r"its SHA-256 is none, expected \w{12} as in"):
        recorded_admissions(ws, proved=True)
    path.write_text('{"topic_id": "p1"}\n')
    with pytest.raises(InputError, match="not what `annot pool` writes"):
        recorded_admissions(ws)


def pool(*doc_ids: str, additions: tuple[Addition, ...] = ()) -> Pool:
    entries = tuple(PoolEntry(doc_id, Draw("bm25", rank, None, rank)) for rank, doc_id in enumerate(doc_ids, 1))
    return Pool("p", "blocks", 2, 50, 1, ("bm25",), (), (), None, entries, additions)


def held(ws: Workspace, current: dict[str, Pool], coming: int | None = None, cited: str = "") -> Admission:
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "abctxz")}}
    duplicates = NearDuplicates((("a", "b", "c"), ("p", "x"), ("y", "w")), (("p", "t"), ("s", "z")))
    return admissions(ws, {"p": tuple(cited)}, rankings, duplicates=duplicates, current=current, coming=coming)["p"]


def test_of_near_duplicates_one_may_enter_and_of_the_query_papers_title_none(ws: Workspace) -> None:
    one = held(ws, {})
    assert (one.cited, one.cited_outside, one.citations_sha256) == ((), (), None)
    assert one.barred == {1: {"b": "a", "c": "a", "t": None, "x": "p"}}
    assert held(ws, {"p": pool("b")}).barred == {1: {"a": "b", "c": "b", "t": None, "x": "p"}}


def test_no_rule_about_papers_holds_for_a_text_not_even_where_a_paper_has_its_id(ws: Workspace) -> None:
    duplicates = NearDuplicates((("x", "p"),), (("p", "t"),))
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "tx")}}

    def barred(citations: tuple[str, ...] | None) -> Mapping[str, str | None]:
        return admissions(ws, {"p": citations}, rankings, duplicates=duplicates, current={})["p"].barred[1]

    assert barred(()) == {"t": None, "x": "p"}
    assert barred(None) == {}


def test_every_version_that_a_ranking_made_bars_on_its_own(ws: Workspace) -> None:
    additions = (
        Addition(2, "dense", 1, ("b",), None, None, None),
        Addition(3, "manual", None, ("m",), None, None, None),
    )
    entries = (PoolEntry("q", Draw("bm25", 1, None, 1)), PoolEntry("b", Draw("dense", 1, None, 2)))
    current = {"p": Pool("p", "blocks", 2, 50, 1, ("bm25", "dense"), (), (), None, entries, additions)}
    found = held(ws, current, coming=4).barred
    assert sorted(found) == [1, 2, 4]
    # b came with the second version, so that none of its group was in the first.
    assert found[1] == {"a": "b", "b": "b", "c": "b", "t": None, "x": "p"}
    assert found[2] == found[4] == {"a": "b", "c": "b", "t": None, "x": "p"}


def test_what_is_on_record_wins_over_what_holds_now() -> None:
    now = {"p": Admission(("new",), (), "2", {1: {"a": "b"}, 2: {"a": "b"}}), "q": FOUND["p1"]}
    recorded = {"p": Admission(("old",), (), "1", {1: {"a": "c", "x": "y"}}), "z": FOUND["p1"]}
    assert as_recorded(now, recorded) == {
        "p": Admission(("old",), (), "1", {1: {"a": "c", "x": "y"}, 2: {"a": "b"}}),
        "q": FOUND["p1"],
    }


@pytest.mark.parametrize(
    ("drawn", "barred", "count"),
    [
        # The draws came down to rank 3 of a, b, c, d.
        ((("a", 1), ("c", 3)), {1: {"b": "a", "d": "a", "t": None}}, 1),
        ((("a", 1), ("d", 4)), {1: {"b": "a"}, 2: {"c": "a", "d": "a"}}, 2),
        ((("a", 1),), {1: {"b": "a"}}, 0),
        ((("b", 2),), {1: {"a": "b", "b": "a"}}, 1),
    ],
)
def test_near_duplicates_above_the_last_draw_were_passed_over(
    drawn: tuple[tuple[str, int], ...], barred: dict[int, Any], count: int
) -> None:
    entries = tuple(PoolEntry(doc_id, Draw("bm25", rank, None, None)) for doc_id, rank in drawn)
    of = Pool("p", "blocks", 2, 50, 1, ("bm25", "other"), (), (), None, entries)
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "abcd")}}
    assert passed_over_in([of], rankings, {"p": Admission((), (), None, barred)}) == count
