"""Facts about pools, counted by hand on pools of a few documents."""

from dataclasses import replace
from typing import Any

import pytest
from annot.base.records import Addition, Draw, Pool, PoolEntry
from annot.pools.drawn_pools import facts_of, first_difference
from annot.pools.pooling import pool_in_version


def drew(method: str, rank: int | None, turn: int | None = None) -> Draw:
    return Draw(method, rank, None, turn)


def pool(paper_id: str, *entries: PoolEntry, **changed: Any) -> Pool:
    given: dict[str, Any] = {"methods": ("bm25", "dense"), "dry": (), "additions": ()}
    return Pool(paper_id, "blocks", 2, 50, 1, without=(), cited_outside=None, entries=entries, **(given | changed))


P1 = pool(
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
    return pool(paper_id, *(PoolEntry(doc_id, drew("bm25", rank)) for rank, doc_id in enumerate(doc_ids, 1)))


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


@pytest.mark.parametrize("depths", [(1, 3), (3, 1)])
def test_a_version_has_the_greatest_depth_of_its_pools(depths: tuple[int, int]) -> None:
    pools = {
        str(at): replace(P1, additions=(Addition(2, "bm25", depth, ("a",) * depth, "why", "lead", "2031"),))
        for at, depth in enumerate(depths)
    }
    (version,) = facts_of(pools).versions
    assert version[:5] == (2, "bm25", 3, 2, 4)


def test_what_a_hand_found_is_of_the_version_that_names_the_document() -> None:
    """Both a and b were found by hand as well, a with the second version and b with the third."""
    by_hand = (drew("manual", None),)
    of = pool(
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
