"""The sub-study is drawn once: the same options again draw nothing, others replace it, and a dry run keeps nothing."""

from pathlib import Path

import pytest
from annot.base.errors import MissingInput
from annot.judging.trial_answers import ROUNDS
from annot.steps import training
from annot.store import trials
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_stages import copied


def planned(ws: Workspace) -> set[str]:
    with ws.reading() as session:
        return {name for name, round in ROUNDS.items() if trials.read_assignments(session, round)}


def test_the_same_wishes_draw_nothing_again(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(40)), "settled", tmp_path / "study")
    dry = training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=True)
    assert (dry.new, planned(ws), ws.substudy.exists()) == (True, set(), False)
    first = training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=False)
    assert first == dry
    assert (first.assessor, first.pairs, first.by_facet) == ("a1", 6, {"method": 2})
    assert sum(first.by_grade.values()) == first.pairs
    assert planned(ws) == set(ROUNDS)
    again = training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=False)
    assert (again.new, again.sha256) == (False, first.sha256)
    other = training.draw(ws, assessor="a1", queries=2, candidates=2, dry_run=False)
    assert (other.new, other.pairs) == (True, 4)


def test_where_nothing_is_settled_nothing_can_be_drawn(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(0)), "settled", tmp_path / "study")
    with pytest.raises(MissingInput, match="no pair is settled"):
        training.draw(ws, assessor="a1", queries=2, candidates=3, dry_run=True)
