"""Small pools drawn, added to and counted by hand, and the designs that they follow from."""

from dataclasses import replace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import CITED, MANUAL, Addition, Draw, Pool, PoolEntry, Ranking, ScoredDoc
from annot.base.settings import Settings
from annot.pools.drawn_pools import facts_of, first_difference
from annot.pools.pool_design import (
    DesignOverrides,
    PoolDesign,
    apply_overrides,
    design_differences,
    design_of_settings,
    leave_out,
    recorded_designs,
)
from annot.pools.pooling import MethodShare, draw, extend, method_order, pool_in_version, shares, versions_by_document


def listed(doc_ids: str) -> Ranking:
    return tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids))


def drawn(mode: str, *rankings: str, per_method: int = 2, ranking_depth: int = 50, cited: str = "") -> Pool:
    """The first ranking is that of the method that draws first."""
    names = method_order([f"m{at}" for at in range(len(rankings))], seed=3, topic_id="q")
    return draw(
        dict(zip(names, map(listed, rankings), strict=True)),
        topic_id="q", cited=cited or None, cited_outside=4, mode=mode, per_method=per_method,
        ranking_depth=ranking_depth, seed=3, without=(), excluded=("x",),
    )  # fmt: skip


def told(pool: Pool) -> list[tuple[str, int, int | None, int | None]]:
    """Place of the method in the order, rank and turn of each document."""
    order = {name: at for at, name in enumerate(pool.methods)}
    return [(one.doc_id, order[one.drawn.method], one.drawn.rank, one.drawn.turn) for one in pool.entries]


@pytest.mark.parametrize(
    ("mode", "rankings", "expected"),
    [
        ("depth", ("ab", "bcd"), [("a", 0, 1, 1), ("b", 1, 1, 2), ("c", 1, 2, 3)]),
        ("depth", ("xa", "xbcd"), [("a", 0, 2, 1), ("b", 1, 2, 2), ("c", 1, 3, 3)]),
        ("round-robin", ("abc", "acd"), [("a", 0, 1, 1), ("c", 1, 2, 2), ("b", 0, 2, 3), ("d", 1, 3, 4)]),
        ("round-robin", ("a", "bcd"), [("a", 0, 1, 1), ("b", 1, 1, 2), ("c", 1, 2, 3)]),
        ("blocks", ("abc", "acd"), [("a", 0, 1, 1), ("b", 0, 2, 2), ("c", 1, 2, 3), ("d", 1, 3, 4)]),
    ],
)
def test_a_pool_is_drawn_as_by_hand(
    mode: str, rankings: tuple[str, ...], expected: list[tuple[str, int, int, int]]
) -> None:
    assert told(drawn(mode, *rankings)) == expected


@pytest.mark.parametrize(
    ("mode", "rankings", "dry"),
    [
        ("depth", ("ab", "a"), [1]),
        ("depth", ("ab", "ax"), [1]),
        ("round-robin", ("ab", "ac"), [1]),
        ("round-robin", ("ab", "cd"), []),
        ("blocks", ("ab", "abc"), [1]),
        ("blocks", ("ab", "cd"), []),
        ("blocks", ("", "ab"), [0]),
    ],
)
def test_a_method_is_dry_that_has_too_few_new_documents(mode: str, rankings: tuple[str, ...], dry: list[int]) -> None:
    pool = drawn(mode, *rankings)
    assert pool.dry == tuple(pool.methods[at] for at in dry)


def test_cited_papers_come_first_and_only_the_depth_is_looked_at() -> None:
    pool = drawn("blocks", "abcd", cited="dbx", ranking_depth=3)
    assert told(pool) == [("b", 0, 1, 1), ("d", 0, 2, 2), ("a", 1, 1, 3), ("c", 1, 3, 4)]
    assert pool.entries[0].also == (Draw("m0", 2, -1.0, None),)
    assert (pool.entries[1].also, pool.cited_outside) == ((), 4)
    assert shares(pool) == (MethodShare(CITED, 2, 0, 2, False), MethodShare("m0", 2, 1, 3, False))


def addition(version: int, method: str, depth: int | None, documents: str = "") -> Addition:
    return Addition(version, method, depth, tuple(documents), "why" if method == MANUAL else None, "ada", "2031")


RANKINGS = {"m0": listed("abcd"), "late": listed("badef")}


def test_the_best_of_a_later_method_come_behind() -> None:
    pool = drawn("blocks", "abcd", ranking_depth=4)
    deeper = extend(pool, addition(2, "late", 3), RANKINGS, excluded=("x",))
    assert [one.doc_id for one in deeper.entries] == ["a", "b", "d"]
    assert deeper.entries[0].also == (Draw("late", 2, -1.0, None),)
    assert deeper.entries[2] == PoolEntry("d", Draw("late", 3, -2.0, 3), (Draw("m0", 4, -3.0, None),))
    assert (deeper.methods, deeper.dry, deeper.additions[0].documents) == (("m0", "late"), (), ("d",))
    # Only four are looked at, and f is the fifth; e comes, and the method brought d before.
    again = extend(deeper, addition(3, "late", 5), RANKINGS, excluded=("x",))
    assert [one.doc_id for one in again.entries[3:]] == ["e"]
    assert again.entries[3] == PoolEntry("e", Draw("late", 4, -3.0, 4), ())
    assert (again.methods, again.dry) == (("m0", "late"), ("late",))
    assert versions_by_document(again) == {"d": 2, "e": 3}
    barred = extend(pool, addition(2, "late", 3), RANKINGS, excluded=("b",))
    assert [one.doc_id for one in barred.entries] == ["a", "b", "d", "e"]


def test_what_a_person_found_comes_behind_with_who_else_had_it() -> None:
    pool = drawn("blocks", "abcd")
    found = extend(pool, addition(2, MANUAL, None, "czx"), RANKINGS, excluded=("x",))
    assert found.entries[2:] == (
        PoolEntry("c", Draw(MANUAL, None, None, 3), (Draw("m0", 3, -2.0, None),)),
        PoolEntry("z", Draw(MANUAL, None, None, 4), ()),
    )
    assert (found.methods, found.dry, found.additions[0].documents) == (("m0", MANUAL), (), ("c", "z"))
    # What the addition names and the pool has by now stays named.
    again = extend(pool, addition(2, MANUAL, None, "az"), RANKINGS, excluded=())
    assert (again.additions[0].documents, again.entries[0].also) == (("a", "z"), (Draw(MANUAL, None, None, None),))


# -- designs

DESIGN = PoolDesign("blocks", 2, 50, 3, ("bm25", CITED, "dense"), ("old",))


def test_what_the_settings_leave_out_does_not_take_part() -> None:
    settings = Settings()
    plain = design_of_settings(settings)
    assert (plain.methods, plain.without) == (tuple(settings.pool.methods), ())
    one, *others = settings.pool.methods
    less = settings.model_copy(update={"pool": settings.pool.model_copy(update={"without": [one]})})
    assert design_of_settings(less) == replace(plain, methods=tuple(others), without=(one,))
    wrong = settings.model_copy(update={"pool": settings.pool.model_copy(update={"without": ["none"]})})
    with pytest.raises(InputError, match="none"):
        design_of_settings(wrong)


def test_methods_that_are_left_out_are_on_record_so() -> None:
    assert DESIGN.ranked_methods == ("bm25", "dense")
    assert leave_out(DESIGN, ["dense", "never"]) == replace(DESIGN, methods=("bm25", CITED), without=("dense", "old"))


def test_a_recorded_design_is_that_of_the_draw_and_an_imported_pool_has_none() -> None:
    pool = extend(drawn("blocks", "abcd"), addition(2, "late", 1), RANKINGS, excluded=())
    assert recorded_designs([pool]) == {"q": PoolDesign("blocks", 2, 50, 3, ("m0",), ())}
    for name in ("per_method", "ranking_depth", "seed"):
        assert recorded_designs([replace(pool, **{name: None})]) == {}


def test_only_what_differs_is_told() -> None:
    settings = replace(DESIGN, methods=("dense", "bm25", CITED, "old"), without=())
    assert design_differences(DESIGN, settings) == ()
    other = replace(settings, per_method=3, methods=("bm25", "new", "old"))
    assert design_differences(DESIGN, other) == (
        ("per_method", "2", "3"),
        ("methods", "bm25, cited, dense", "bm25, new"),
    )


def test_the_command_line_wins_and_names_only_what_there_is() -> None:
    assert apply_overrides(DESIGN, DesignOverrides(seed=9, mode="depth")) == replace(DESIGN, seed=9, mode="depth")
    named = apply_overrides(DESIGN, DesignOverrides(methods=("old", "bm25", "old")))
    assert (named.methods, named.without) == (("old", "bm25"), ())
    left = apply_overrides(DESIGN, DesignOverrides(without=("bm25",)))
    assert (left.methods, left.without) == ((CITED, "dense", "old"), ("bm25",))
    with pytest.raises(InputError, match="never"):
        apply_overrides(DESIGN, DesignOverrides(without=("never",)))
    with pytest.raises(InputError, match="no method is left to draw with"):
        apply_overrides(DESIGN, DesignOverrides(without=("bm25", CITED, "dense", "old")))
    with pytest.raises(InputError, match="mode 'none': expected one of"):
        apply_overrides(DESIGN, DesignOverrides(mode="none"))


def drew(method: str, rank: int | None, turn: int | None = None) -> Draw:
    return Draw(method, rank, None, turn)


def counted_pool(paper_id: str, *entries: PoolEntry, **changed: Any) -> Pool:
    given: dict[str, Any] = {"methods": ("bm25", "dense"), "dry": (), "additions": ()}
    return Pool(paper_id, "blocks", 2, 50, 1, without=(), cited_outside=None, entries=entries, **(given | changed))


P1 = counted_pool(
    "p1",
    PoolEntry("a", drew("bm25", 1), (drew("dense", 2),)),
    PoolEntry("b", drew("dense", 1)),
    PoolEntry("c", drew("bm25", 3), (drew("dense", 3),)),
)


def test_a_document_is_of_one_method_alone_where_no_other_came_down_to_it() -> None:
    bm25, dense = facts_of({"p1": P1}).methods
    # dense came to rank 2, its quota, and so to a, but not to c.
    assert (bm25.method, bm25.pools, bm25.drawn, bm25.alone, bm25.deepest, bm25.dry) == ("bm25", 1, 2, 1, 3, 0)
    assert (dense.method, dense.pools, dense.drawn, dense.alone, dense.deepest, dense.dry) == ("dense", 1, 1, 1, 1, 0)


def test_a_method_that_ran_dry_came_to_all_that_it_ranks() -> None:
    facts = facts_of({"p1": replace(P1, dry=("dense",))})
    assert [(one.method, one.alone, one.dry) for one in facts.methods] == [("bm25", 0, 0), ("dense", 1, 1)]
    assert facts.drought == {"dense": ("p1",)}


def test_a_method_that_was_added_came_down_to_its_depth() -> None:
    added = Addition(2, "dense", 3, (), "why", "lead", "2031")
    assert facts_of({"p1": replace(P1, additions=(added,))}).methods[0].alone == 0
    shallow = replace(added, depth=1)
    assert facts_of({"p1": replace(P1, additions=(shallow,))}).methods[0].alone == 1


def test_documents_of_a_later_version_count_by_their_rank_among_the_new_ones() -> None:
    new = PoolEntry("e", Draw("dense", 40, None, 4, new_rank=1), (Draw("bm25", 30, None, None, new_rank=2),))
    bm25, dense = facts_of({"p1": replace(P1, entries=(*P1.entries, new))}).methods
    # bm25 would have drawn e as its second new document; that dense met e at place 40 does not bring it down to c.
    assert (bm25.alone, dense.drawn, dense.alone) == (1, 2, 1)


def test_where_ranks_are_not_known_a_second_method_is_enough() -> None:
    entry = PoolEntry("a", drew("bm25", None), (drew("dense", None),))
    imported = replace(P1, per_method=None, entries=(entry,))
    bm25, dense = facts_of({"p1": imported}).methods
    assert (bm25.drawn, bm25.alone, bm25.deepest) == (1, 0, None)
    assert (dense.drawn, dense.alone, dense.deepest) == (0, 0, None)


def of_documents(paper_id: str, doc_ids: str) -> Pool:
    return counted_pool(paper_id, *(PoolEntry(doc_id, drew("bm25", rank)) for rank, doc_id in enumerate(doc_ids, 1)))


def test_a_hub_is_in_at_least_half_of_three_pools_or_more() -> None:
    pools = {name: of_documents(name, docs) for name, docs in {"p": "abc", "q": "ab", "r": "a", "s": "d"}.items()}
    facts = facts_of(pools)
    assert facts.sizes == (1, 1, 2, 3)
    assert facts.documents == 4
    assert facts.hubs == ("a", "b")
    assert facts_of({name: pools[name] for name in "pqr"}).hubs == ("a", "b")
    assert facts_of({name: pools[name] for name in "pq"}).hubs == ()
    assert facts_of({}).sizes == ()


def test_the_first_difference_is_told_with_its_document() -> None:
    assert first_difference(P1, P1) is None
    scored = replace(P1, entries=(replace(P1.entries[0], drawn=Draw("bm25", 1, 0.5, None)), *P1.entries[1:]))
    assert first_difference(P1, scored) is None
    assert first_difference(P1, replace(P1, entries=P1.entries[:2])) == "3 documents on record, 2 drawn"
    turned = replace(P1, entries=(P1.entries[0], *P1.entries[:0:-1]))
    assert first_difference(P1, turned) == "document 2 is b (dense) on record, c (bm25) drawn"
    other_rank = replace(P1, entries=(replace(P1.entries[0], drawn=drew("bm25", 2)), *P1.entries[1:]))
    assert first_difference(P1, other_rank) == "document 1 is a (bm25) on record, a (bm25) drawn"


def test_a_difference_in_what_was_added_names_the_version() -> None:
    def added(doc_id: str) -> Pool:
        addition = Addition(2, "late", 1, (doc_id,), None, None, None)
        entries = (*P1.entries, PoolEntry(doc_id, drew("late", 1)))
        return replace(P1, methods=(*P1.methods, "late"), entries=entries, additions=(addition,))

    assert first_difference(added("d"), added("d")) is None
    assert first_difference(added("d"), added("e")) == "version 2: document 4 is d (late) on record, e (late) drawn"
    other = replace(added("d"), entries=added("d").entries[1:])
    assert first_difference(added("d"), other) == "version 1: document 1 is a (bm25) on record, b (dense) drawn"


def test_what_a_hand_found_is_of_the_version_that_names_the_document() -> None:
    """Both a and b were found by hand as well, a with the second version and b with the third."""
    by_hand = (drew("manual", None),)
    of = counted_pool(
        "p1",
        PoolEntry("a", drew("bm25", 1), by_hand),
        PoolEntry("b", drew("bm25", 2), by_hand),
        PoolEntry("z", drew("late", 1)),
        methods=("bm25", "manual", "late"),
        additions=(
            Addition(2, "manual", None, ("a",), "why", "lead", "2031"),
            Addition(3, "manual", None, ("b",), "why", "lead", "2031"),
            Addition(4, "late", 1, ("z",), "why", "lead", "2031"),
        ),
    )
    also = {
        version: {entry.doc_id: len(entry.also) for entry in pool_in_version(of, version).entries}
        for version in (1, 2, 3, 4)
    }
    assert also == {
        1: {"a": 0, "b": 0}, 2: {"a": 1, "b": 0}, 3: {"a": 1, "b": 1}, 4: {"a": 1, "b": 1, "z": 0},
    }  # fmt: skip
