"""Pools drawn, and drawn again: what is on record, what the command line changes, and which pools stay."""

from pathlib import Path
from typing import Any

import pytest
from annot.pools.pool_design import DesignOverrides
from annot.steps import pool
from annot.store import pools
from annot.study.workspace import Workspace
from small_study import QUERIES, Small
from study_stages import copied, quietly

METHODS = ("title_tfidf", "abs_tfidf")
PAPERS = [one.topic_id for one in QUERIES]


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Four queries without pools; two papers of each method are to be drawn for each."""
    made = copied(Small(), "queried", tmp_path / "study")
    return made.replaced("pool", methods=METHODS, per_method=2, ranking_depth=8)


def drawn(ws: Workspace, *, dry_run: bool = False, **of: Any) -> pool.BuiltPools:
    usual: dict[str, Any] = {"overrides": DesignOverrides(), "redraw": False, "frozen": False, "grow": True}
    return pool.build(ws, **(usual | of), dry_run=dry_run, advance=quietly)


def depths(ws: Workspace) -> dict[str, int]:
    with ws.reading() as session:
        return {name: one.per_method for name, one in pools.read_pools(session).items()}


def entries(ws: Workspace) -> dict[str, tuple[str, ...]]:
    with ws.reading() as session:
        return {name: tuple(one.doc_id for one in of.entries) for name, of in pools.read_pools(session).items()}


def test_pools_are_drawn_by_the_settings_and_then_as_they_are_on_record(ws: Workspace) -> None:
    assert drawn(ws, dry_run=True).sent is False
    assert entries(ws) == {}
    first = drawn(ws)
    assert [(one.topic_id, one.queries, one.size, one.added, one.leaving) for one in first.pools] == [
        (name, 1, 4, 4, 0) for name in PAPERS
    ]
    before = entries(ws)
    again = drawn(ws)
    assert {(one.added, one.leaving) for one in again.pools} == {(0, 0)}
    deeper = ws.replaced("pool", per_method=3)
    assert any("per_method" in note for note in drawn(deeper).notes)
    assert (entries(ws), set(depths(ws).values())) == (before, {2})
    asked = drawn(deeper, overrides=DesignOverrides(per_method=2), dry_run=True)
    assert not any("per_method" in note for note in asked.notes)
    assert {one.size for one in drawn(deeper, redraw=True).pools} == {6}
    assert set(depths(ws).values()) == {3}


def test_pools_of_other_papers_stay_if_some_are_named(ws: Workspace) -> None:
    drawn(ws)
    before = entries(ws)
    found = drawn(ws, only=("p2-method",), overrides=DesignOverrides(per_method=3))
    assert [(one.topic_id, one.size, one.added) for one in found.pools] == [("p2", 6, 2)]
    assert depths(ws) == {"p1": 2, "p2": 3, "p3": 2, "p4": 2}
    after = entries(ws)
    assert {name: ids for name, ids in after.items() if name != "p2"} == {
        name: ids for name, ids in before.items() if name != "p2"
    }
    # As each is on record, and all of them from the rankings as they are.
    for frozen in (False, True):
        drawn(ws, frozen=frozen)
        assert (entries(ws), depths(ws)["p2"]) == (after, 3)


def test_a_method_that_is_left_out_is_noted(ws: Workspace) -> None:
    found = drawn(ws, overrides=DesignOverrides(without=("title_tfidf",)))
    assert any("title_tfidf" in note for note in found.notes)
    assert not any("abs_tfidf" in note for note in found.notes)
    assert {one.size for one in found.pools} == {2}
    later = drawn(ws)
    assert {one.size for one in later.pools} == {2}
    assert any("title_tfidf" in note for note in later.notes)


def test_a_pool_is_shown_with_titles_and_counted(ws: Workspace) -> None:
    drawn(ws)
    for name in ("p1", "p1-method"):
        shown, titles = pool.show(ws, name)
        assert shown.topic_id == "p1"
        assert titles == {entry.doc_id: f"Title of {entry.doc_id}" for entry in shown.entries}
    rankings, facts = pool.fresh_rankings(ws, advance=quietly)
    assert (rankings.keys(), facts["ranking_depth"]) == (set(METHODS), 8)
    assert pool.stats(ws, advance=quietly).passed_over is not None
