"""What `annot status` counts, on a study whose first query is judged and settled, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.steps import status
from annot.store import people
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Four queries of ten pairs; a1 and a2 judged the ten of the first, and j1 settled the two they differ on."""
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


def test_each_count_is_that_of_the_study(ws: Workspace) -> None:
    found = status.status(ws)
    assert (found.labelled_papers, found.queries, found.pools, found.pairs) == (15, 4, 4, 40)
    assert (found.incomplete, found.agreed, found.disputed, found.settled, found.open) == (30, 8, 2, 2, 0)
    assert (found.returned, found.waiting, found.unjudgeable, found.unassigned, found.accepted) == (0, 0, 0, 0, 0)
    assert (found.changed_after_adjudication, found.lost, found.withdrawn, found.to_withdraw) == (0, 0, 0, 0)
    assert [(one.assessor, one.assigned, one.judged, one.left) for one in found.assessors] == [
        ("a1", 40, 10, False),
        ("a2", 40, 10, False),
    ]


def test_who_left_is_marked_and_still_counted(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    assert [(one.assessor, one.left) for one in status.status(ws).assessors] == [("a1", False), ("a2", True)]


def test_disputes_are_counted_for_each_query(ws: Workspace) -> None:
    first, *others = status.adjudication(ws)
    assert (first.query_id, first.pairs, first.agreed, first.disputed, first.settled) == ("p1-method", 10, 8, 2, 2)
    assert [one.query_id for one in others] == ["p2-method", "p3-method", "p4-method"]
    assert {(one.pairs, one.incomplete, one.agreed, one.disputed, one.open) for one in others} == {(10, 10, 0, 0, 0)}
