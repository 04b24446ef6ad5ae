"""What is added to a drawn pool: nothing that was there changes, and every version can be had again."""

from itertools import pairwise
from typing import Any

from annot.base.records import MANUAL, Addition, Pool, Ranking, ScoredDoc
from annot.pools.pooling import draw, extend, pool_in_version, versions_by_document
from hypothesis import given
from hypothesis import strategies as st

DOCS = [f"d{at:02}" for at in range(24)]
EXCLUDED = ("d00",)
LATE = ("late", "later")
"""Methods that come after the draw."""
orders = st.permutations(DOCS).map(lambda docs: listed(*docs[:18]))
additions = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(LATE), st.integers(1, 12)),
        st.tuples(st.just(MANUAL), st.lists(st.sampled_from(DOCS[1:]), min_size=1, max_size=4, unique=True)),
    ),
    max_size=5,
)


def listed(*doc_ids: str) -> Ranking:
    return tuple(ScoredDoc(doc_id, -float(place)) for place, doc_id in enumerate(doc_ids))


def drawn(rankings: dict[str, Ranking], *, per_method: int = 3, cited: list[str] | None = None) -> Pool:
    return draw(
        {name: ranking for name, ranking in rankings.items() if name not in LATE},
        topic_id="q", cited=cited, cited_outside=None, mode="round-robin", per_method=per_method, ranking_depth=15,
        seed=5, without=(), excluded=EXCLUDED,
    )  # fmt: skip


def addition(version: int, method: str, what: Any) -> Addition:
    found = tuple(what) if method == MANUAL else ()
    reason = "seen in a survey" if method == MANUAL else None
    return Addition(version, method, None if method == MANUAL else what, found, reason, "ada", "2031-01-01T00:00:00Z")


def versions(pool: Pool, asked: list[tuple[str, Any]], rankings: dict[str, Ranking]) -> list[Pool]:
    """The pool with each addition after the other; by hand comes only what is not there."""
    found = [pool]
    for method, what in asked:
        if method == MANUAL:
            what = [doc_id for doc_id in what if doc_id not in {entry.doc_id for entry in found[-1].entries}]
        if what:
            found.append(extend(found[-1], addition(len(found) + 1, method, what), rankings, excluded=EXCLUDED))
    return found


@given(st.fixed_dictionaries(dict.fromkeys(("one", "two", *LATE), orders)), additions)
def test_what_is_added_changes_no_old_pair_and_every_version_can_be_had_again(
    rankings: dict[str, Ranking], given_additions: list[tuple[str, Any]]
) -> None:
    made = versions(drawn(rankings), given_additions, rankings)
    final = made[-1]
    for old, new in pairwise(made):
        added = new.additions[-1]
        before = [(entry.doc_id, entry.drawn) for entry in old.entries]
        assert [(entry.doc_id, entry.drawn) for entry in new.entries][: len(before)] == before
        for entry, was in zip(new.entries, old.entries, strict=False):
            assert entry.also[: len(was.also)] == was.also
        ids = [entry.doc_id for entry in new.entries]
        assert len(set(ids)) == len(ids)
        assert not set(ids) & {"q", *EXCLUDED}
        best = [doc.doc_id for doc in rankings.get(added.method, ())[:15]]
        wanted = [doc_id for doc_id in best if doc_id not in EXCLUDED][: added.depth or 0]
        assert set(ids) == {entry.doc_id for entry in old.entries} | {*(wanted or added.documents)}
        assert added.documents == tuple(ids[len(before) :])
        for entry in new.entries[len(before) :]:
            assert entry.drawn.method == added.method
            assert entry.drawn.rank == (None if added.method == MANUAL else best.index(entry.doc_id) + 1)
            assert {other.method for other in entry.also} == {
                name
                for name in {*old.methods} - {MANUAL, added.method}
                if entry.doc_id in [doc.doc_id for doc in rankings[name][:15]]
            }
    assert [entry.drawn.turn for entry in final.entries] == list(range(1, len(final.entries) + 1))
    for version, old in enumerate(made, start=1):
        again = pool_in_version(final, version)
        assert (again.entries, again.methods, again.additions) == (old.entries, old.methods, old.additions)
    # Drawn again from the rankings, with what is on record of the additions: the same pool.
    pool = drawn(rankings)
    for one in final.additions:
        pool = extend(pool, one, rankings, excluded=EXCLUDED)
    assert pool == final
    told = versions_by_document(final)
    assert told.keys() == {entry.doc_id for entry in final.entries[len(made[0].entries) :]}
    for doc_id, version in told.items():
        sizes = [doc_id in {entry.doc_id for entry in old.entries} for old in made]
        assert sizes.index(True) + 1 == version


@given(st.fixed_dictionaries(dict.fromkeys(("one", "two", *LATE), orders)), additions)
def test_a_deeper_draw_beneath_the_additions_loses_nothing_and_forgets_no_version(
    rankings: dict[str, Ranking], given_additions: list[tuple[str, Any]]
) -> None:
    """What an addition brought, and a deeper draw would have brought too, still came in with the addition."""
    final = versions(drawn(rankings), given_additions, rankings)[-1]
    deeper = drawn(rankings, per_method=5)
    for one in final.additions:
        deeper = extend(deeper, one, rankings, excluded=EXCLUDED)
    assert {entry.doc_id for entry in final.entries} <= {entry.doc_id for entry in deeper.entries}
    assert versions_by_document(final).items() <= versions_by_document(deeper).items()
    # A hand's find that the draw brings now is still told as a hand's find.
    by_hand = {doc_id for one in final.additions if one.method == MANUAL for doc_id in one.documents}
    for entry in deeper.entries:
        if entry.doc_id in by_hand:
            assert MANUAL in {made.method for made in (entry.drawn, *entry.also)}
