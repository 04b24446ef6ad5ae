"""How pools are drawn when some are there already: the usual design, what the command line changes, joined rankings."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Draw, Pool, PoolEntry, ScoredDoc
from annot.pools.drawn_pools import facts_of
from annot.pools.frozen_rankings import join_rankings, lines_of, rankings_manifest, write_rankings
from annot.pools.pool_design import DesignOverrides, PoolDesign, apply_overrides
from annot.steps.setup import init
from annot.study.workspace import Workspace, read_manifest

COMMON = PoolDesign("round-robin", 5, 50, 13, ("abs_tfidf", "title_tfidf"), ("specter",))
OTHER = PoolDesign("blocks", 9, 90, 7, ("abs_tfidf",), ())


def test_methods_that_are_named_leave_out_on_record_what_was_left_out() -> None:
    named = apply_overrides(COMMON, DesignOverrides(methods=("cited",)))
    assert (named.methods, named.without) == (("cited",), ("specter",))
    again = apply_overrides(COMMON, DesignOverrides(methods=("specter", "cited")))
    assert (again.methods, again.without) == (("specter", "cited"), ())
    assert apply_overrides(COMMON, DesignOverrides()) == COMMON


def test_what_is_to_be_left_out_now_is_all_that_is_left_out() -> None:
    now = apply_overrides(COMMON, DesignOverrides(without=("abs_tfidf",)))
    assert (now.methods, now.without) == (("title_tfidf", "specter"), ("abs_tfidf",))
    with pytest.raises(InputError, match="no method is left"):
        apply_overrides(OTHER, DesignOverrides(without=("abs_tfidf",)))
    with pytest.raises(InputError, match="expected one of"):
        apply_overrides(COMMON, DesignOverrides(mode="triangles"))


@pytest.mark.parametrize(("before", "after"), [(50, 20), (20, 50)])
def test_joined_rankings_are_as_deep_as_the_deeper_of_the_two(tmp_path: Path, before: int, after: int) -> None:
    init(tmp_path, name="joined", dry_run=False)
    ws = Workspace.open(tmp_path)

    def facts(paper: str, depth: int) -> dict[str, object]:
        return {"corpus_sha256": "abc", "ranking_depth": depth, "topics": [paper], "methods": {"abs_tfidf": {}}}

    def lines(paper: str) -> dict[str, dict[str, str]]:
        return lines_of({"abs_tfidf": {paper: (ScoredDoc("d1", 1.0),)}})

    write_rankings(ws, lines("p1"), facts=facts("p1", before))
    together, told = join_rankings(ws, lines("p2"), facts=facts("p2", after))
    write_rankings(ws, together, facts=told)
    manifest = read_manifest(rankings_manifest(ws), hint="")
    assert (manifest["ranking_depth"], manifest["topics"]) == (50, ["p1", "p2"])
    assert sorted(together["abs_tfidf"]) == ["p1", "p2"]


@pytest.mark.parametrize(
    ("pools", "hubs"), [(1, ()), (2, ()), (3, ("everywhere", "twice")), (4, ("everywhere", "twice"))]
)
def test_a_document_of_half_the_pools_is_a_hub_from_three_pools_on(pools: int, hubs: tuple[str, ...]) -> None:
    def pool(at: int) -> Pool:
        documents = ["everywhere", f"alone{at}", *(["twice"] if at < 2 else [])]
        drawn = tuple(
            PoolEntry(one, Draw("abs_tfidf", place, 1 / place, place)) for place, one in enumerate(documents, 1)
        )
        return Pool(f"p{at}", "round-robin", 5, 50, 13, ("abs_tfidf",), (), (), None, drawn)

    assert facts_of({f"p{at}": pool(at) for at in range(pools)}).hubs == hubs
