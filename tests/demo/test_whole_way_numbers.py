"""What the demonstration is run with, and how near its rankings are to the packaged ones."""

import tomllib
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import ScoredDoc
from annot.steps import plan
from annot_demo import whole_way
from sampled_study import pooled


def ranking(*names: str) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


def documents(first: int, n: int = 30) -> tuple[ScoredDoc, ...]:
    return ranking(*(f"d{at}" for at in range(first, first + n)))


@pytest.mark.parametrize(("first", "share"), [(0, 1.0), (5, 0.75), (20, 0.0), (25, 0.0)])
def test_rankings_are_compared_by_their_first_twenty_documents(first: int, share: float) -> None:
    assert whole_way._overlap({"p1": documents(first)}, {"p1": documents(0)}) == pytest.approx(share)


def test_the_overlap_is_the_mean_over_query_papers() -> None:
    fresh = {"p1": documents(0), "p2": documents(10)}
    assert whole_way._overlap(fresh, {"p2": documents(0), "p1": documents(0), "p3": ()}) == pytest.approx(0.75)


def test_a_sample_is_drawn_from_deeper_pools() -> None:
    usual, deeper = (
        tomllib.loads(whole_way.demo_settings(deeper=times))["pool"]["per_method"] for times in (1, whole_way.DEEPER)
    )
    assert deeper == 3 * usual


def test_a_demo_goes_on_with_the_share_that_it_was_begun_with(tmp_path: Path) -> None:
    ws = pooled(tmp_path)
    whole_way._refuse_another_share(ws, None)
    whole_way._refuse_another_share(ws, 0.33)
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False, sample=0.33)
    whole_way._refuse_another_share(ws, 0.33)
    with pytest.raises(InputError, match=r"found the demo with a sample of 0\.33, expected whole pools"):
        whole_way._refuse_another_share(ws, None)
    with pytest.raises(InputError, match=r"found the demo with a sample of 0\.33, expected a sample of 0\.5"):
        whole_way._refuse_another_share(ws, 0.5)
