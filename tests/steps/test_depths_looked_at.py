"""Pools by several depths, counted by hand on rankings of ten documents, and what a design is played through with."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Draw, PoolEntry, Query, Ranking, ScoredDoc
from annot.judging.planning import FEWEST_FOR_REPEATS
from annot.pools.frozen_rankings import lines_of, write_rankings
from annot.steps import forecast
from annot.steps.forecast import SimulatedStudy, design
from annot.store import pools
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, FirstPairs, Small, pool_of
from study_stages import copied, quietly

PAPERS = [query.topic_id for query in QUERIES]


def ranking(doc_ids: Sequence[str]) -> Ranking:
    return tuple(ScoredDoc(doc_id, 1.0 - at / 100) for at, doc_id in enumerate(doc_ids))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 judged ten pairs each, a1 in half the time. The two methods turn each other's rankings around; for p1
    they are the same three documents."""
    ws = copied(Small(answers=FirstPairs(10)), "judged", tmp_path / "study")
    once = {name: ranking(DOCUMENTS[:3] if name == "p1" else DOCUMENTS) for name in PAPERS}
    turned = {name: ranking(DOCUMENTS[:3] if name == "p1" else DOCUMENTS[::-1]) for name in PAPERS}
    facts = {"corpus_sha256": "1", "ranking_depth": 50, "topics": PAPERS, "methods": {}}
    write_rankings(ws, lines_of({"title_tfidf": once, "abs_tfidf": turned}), facts=facts)
    return ws


def depths(ws: Workspace, *of: int, seconds: float | None = 36.0) -> forecast.DepthForecast:
    return forecast.pools(ws, depths=of, mode=None, seconds=seconds, advance=quietly)


def test_pools_by_each_depth_are_counted(ws: Workspace) -> None:
    """By two documents a method the pool of p1 has three, since the second method runs out; every other has four."""
    found = depths(ws, 1, 2)
    one, two = found.depths
    assert (found.mode, found.queries, found.pools, found.per_pair, found.timed) == ("round-robin", 4, 4, 2, 0)
    assert (one.per_method, one.smallest, one.mean, one.largest, one.dry) == (1, 2, 2.0, 2, 0)
    assert (two.per_method, two.smallest, two.mean, two.largest, two.dry) == (2, 3, 3.75, 4, 1)
    assert (two.pairs, two.new, two.judgements) == (15, 0, 30)
    # Of p1 the methods share all, of the others nothing.
    assert (one.shared, two.shared) == (0.25, 0.25)
    # 30 judgements of 36 seconds.
    assert two.hours.value == pytest.approx(0.3)
    assert not (ws.cache / "near-duplicates").exists()


def test_without_depths_those_of_the_guide_and_the_one_on_record_are_looked_at(ws: Workspace) -> None:
    assert [one.per_method for one in depths(ws).depths] == [5, 10, 13, 20, 33, 50]
    deeper = [replace(pool_of(name), per_method=7) for name in PAPERS]
    with ws.writing() as session:
        pools.replace_pools(session, deeper, rankings_sha256=dict.fromkeys(PAPERS, "abc"))
    assert [one.per_method for one in depths(ws).depths] == [5, 7, 10, 13, 20, 33, 50]


def test_pairs_that_the_pools_on_record_do_not_have_are_new(ws: Workspace) -> None:
    few = [replace(pool_of(name), entries=pool_of(name).entries[:1]) for name in PAPERS]
    for pool in few:
        assert [entry.doc_id for entry in pool.entries] == ["d00"]
    with ws.writing() as session:
        pools.replace_pools(session, [pool_of("p1"), *few[1:]], rankings_sha256=dict.fromkeys(PAPERS, "abc"))
    (one,) = depths(ws, 1).depths
    # Of p2 to p4, d00 is there and d09 is new.
    assert (one.pairs, one.new) == (8, 3)


def test_hours_are_learnt_from_the_judgements_unless_the_time_is_given(ws: Workspace) -> None:
    """About 30 seconds for a1 and 60 for a2, with noise of a fifth: 30 judgements in about 22.5 minutes."""
    found = depths(ws, 2, seconds=None)
    assert found.timed == 20
    (two,) = found.depths
    assert two.hours.value == pytest.approx(30 * 45 / 3600, rel=0.2)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is played through."""
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(
        forecast.study_design, "simulate_design", lambda design, **how: told.append({"design": design, **how})
    )
    return told


def played_design(ws: Workspace, **named: int | None) -> forecast.SimulatedStudy:
    usual: dict[str, Any] = {"queries": None, "assessors": None, "per_method": None}
    return forecast.design(ws, **(usual | named), coefficient="kappa", difference=5.0)


@pytest.mark.parametrize(("queries", "has_repeats"), [(FEWEST_FOR_REPEATS - 1, False), (FEWEST_FOR_REPEATS, True)])
def test_an_assessor_with_too_few_pairs_repeats_none(
    ws: Workspace, played: list[dict[str, Any]], queries: int, has_repeats: bool
) -> None:
    """Two methods draw one document each, two people judge each pair, and four share the work: a pair for a query."""
    found = played_design(ws.replaced("judging", repeats=0.25), queries=queries, assessors=4, per_method=1)
    (told,) = played
    assert (told["design"].queries, told["design"].pool_size, told["design"].assessors) == (queries, 2, 4)
    assert told["design"].repeats == (0.25 if has_repeats else 0.0)
    assert found.repeats == 0.25


def test_a_design_for_nobody_has_all_its_pairs_for_one(ws: Workspace, played: list[dict[str, Any]]) -> None:
    played_design(ws.replaced("judging", repeats=0.25), queries=FEWEST_FOR_REPEATS // 4, assessors=0, per_method=1)
    assert FEWEST_FOR_REPEATS % 4 == 2
    assert played[0]["design"].repeats == 0.0, "two pairs too few"
    played_design(ws.replaced("judging", repeats=0.25), queries=1 + FEWEST_FOR_REPEATS // 4, assessors=0, per_method=1)
    assert played[1]["design"].repeats == 0.25


def test_cited_documents_come_on_top_of_the_quotas(ws: Workspace, played: list[dict[str, Any]]) -> None:
    """Three of ten documents of each pool are cited: 2 methods of 5, and 3."""
    cited = tuple(PoolEntry(f"d0{at}", Draw("cited", at + 1, None, at + 1)) for at in range(3))
    made = [replace(pool_of(name), entries=(*cited, *pool_of(name).entries[3:])) for name in PAPERS]
    with ws.writing() as session:
        pools.replace_pools(session, made, rankings_sha256=dict.fromkeys(PAPERS, "abc"))
    found = played_design(ws)
    assert (found.pilot.cited, found.pilot.judgements, found.pilot.with_time) == (3.0, 20, 20)
    assert played[0]["design"].pool_size == 2 * 5 + 3
    assert set(played[0]["topics"].values()) == set(PAPERS)


def test_what_differs_from_the_settings_is_named_but_not_what_the_command_line_names(
    ws: Workspace, played: list[dict[str, Any]]
) -> None:
    assert {one[0] for one in played_design(ws).pools_differ} >= {"per_method", "methods"}
    named = played_design(ws, per_method=9)
    assert {one[0] for one in named.pools_differ} >= {"methods"}
    assert "per_method" not in {one[0] for one in named.pools_differ}
    assert named.pools.per_method == 9


# -- what forecasts of pools count -------------------------------------------------------------------------------------


def ranked(*doc_ids: str) -> list[ScoredDoc]:
    return [ScoredDoc(doc_id, 1.0 - at / 10) for at, doc_id in enumerate(doc_ids)]


@pytest.mark.parametrize(
    ("depth", "shared"),
    [
        (1, 0.0),  # a | b | c
        (2, 2 / 6),  # a x | b x | c d
        (3, 1.0),  # a x b | b x a | c d a: all but c and d are elsewhere too, see below
    ],
)
def test_what_methods_share_of_their_best(depth: int, shared: float) -> None:
    rankings = [
        ranked("a", "x", "b"),
        ranked("b", "x", "a"),
        ranked("c", "d", "a"),
    ]
    expected = shared if depth < 3 else (1.0 + 1.0 + 1 / 3) / 3
    assert forecast._shared(rankings, depth) == pytest.approx(expected)


def test_a_pair_is_a_query_and_a_document_of_the_pool_of_its_paper() -> None:
    other = Query("p1-result", "p1", "result", (2,))
    pairs = forecast._pairs([pool_of("p1")], [*QUERIES, other])
    assert pairs == {(name, doc_id) for name in ("p1-method", "p1-result") for doc_id in DOCUMENTS}
    assert forecast._pairs([replace(pool_of("p2"), entries=())], QUERIES) == set()


def test_judgements_are_spread_evenly_over_those_whose_speed_is_known() -> None:
    assert forecast._even_shares(10, ["a1", "a2"]) == {"a1": 5.0, "a2": 5.0}
    assert forecast._even_shares(10, []) == {"": 10.0}


# -- a design is forecast from pairs that two people judged; one person alone a pair is pilot enough for teams of one --


def of_team(ws: Workspace, *, team: int, queries: int | None = None, assessors: int | None = None) -> SimulatedStudy:
    few = ws.replaced("forecast", simulations=10).replaced("judging", per_pair=team)
    return design(few, queries=queries, assessors=assessors, per_method=None, coefficient="kappa")


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Twenty pairs, each judged by both."""
    return copied(Small(answers=FirstPairs(20)), "judged", tmp_path_factory.mktemp("pilot") / "study")


def test_without_a_pair_of_two_people_there_is_no_pilot(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(0)), "judged", tmp_path / "study")
    with pytest.raises(MissingInput, match="no pilot"):
        of_team(ws, team=2)


@pytest.mark.parametrize("team", [1, 2, 3])
def test_two_people_on_a_pair_are_a_pilot_for_teams_of_any_size(pilot: Workspace, team: int) -> None:
    found = of_team(pilot, team=team, assessors=3)
    assert (found.pilot.judgements, found.pilot.with_time, found.pilot.cited) == (40, 40, 0.0)
    assert found.forecast.judgements == found.forecast.pairs * team


def test_a_coefficient_that_does_not_exist_is_named(pilot: Workspace) -> None:
    with pytest.raises(InputError, match="--coefficient"):
        design(pilot, queries=None, assessors=None, per_method=None, coefficient="kapa")
