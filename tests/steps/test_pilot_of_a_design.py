"""A design is forecast from pairs that two people judged; one person alone a pair is pilot enough for teams of one."""

from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.steps.forecast import SimulatedStudy, design
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_stages import copied


def forecast(ws: Workspace, *, team: int, queries: int | None = None, assessors: int | None = None) -> SimulatedStudy:
    few = ws.replaced("forecast", simulations=10).replaced("judging", per_pair=team)
    return design(few, queries=queries, assessors=assessors, per_method=None, coefficient="kappa")


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Twenty pairs, each judged by both."""
    return copied(Small(answers=FirstPairs(20)), "judged", tmp_path_factory.mktemp("pilot") / "study")


def test_without_a_pair_of_two_people_there_is_no_pilot(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(0)), "judged", tmp_path / "study")
    with pytest.raises(MissingInput, match="no pilot"):
        forecast(ws, team=2)


@pytest.mark.parametrize("team", [1, 2, 3])
def test_two_people_on_a_pair_are_a_pilot_for_teams_of_any_size(pilot: Workspace, team: int) -> None:
    found = forecast(pilot, team=team, assessors=3)
    assert (found.pilot.judgements, found.pilot.with_time, found.pilot.cited) == (40, 40, 0.0)
    assert found.forecast.judgements == found.forecast.pairs * team


def test_a_coefficient_that_does_not_exist_is_named(pilot: Workspace) -> None:
    with pytest.raises(InputError, match="--coefficient"):
        design(pilot, queries=None, assessors=None, per_method=None, coefficient="kapa")
