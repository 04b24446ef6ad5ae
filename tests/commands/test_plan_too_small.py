"""`annot plan` says what the study is too small to show, before anybody judges."""

from __future__ import annotations

import small_study
from annot.base.records import Pool, Query
from annot.steps import plan
from annot.store import people, pools
from annot.store.database import open_store
from annot.study.workspace import Workspace


def planned(ws: Workspace, **shares: float) -> tuple[str, ...]:
    return plan.make(ws, queries=(), shares=shares, seed=None, grow=True, dry_run=True).notes


def test_a_small_plan_says_what_it_cannot_show_and_how_many_papers_would(ws: Workspace) -> None:
    small_study.build(ws, judged=0)
    assert planned(ws) == (
        "the study is too small to show that an assessor is stricter or more lenient than the others: each "
        "person needs at least 10 query papers shared with others and has 4",
        "the study is too small for some intervals of agreement: each facet needs 6 query papers for "
        "medians and 4 for means, but method has 4",
        "no difference between two runs can be shown with 4 query papers: at least 6 are needed",
    )


def test_a_plan_that_is_large_enough_says_nothing_of_it(ws: Workspace) -> None:
    small_study.build(ws, judged=0)
    with open_store(ws.database_url) as store, store.begin() as session:
        added = [Query(f"p{at}-method", f"p{at}", "method", (1,)) for at in range(5, 11)]
        pools.put_queries(session, (*small_study.QUERIES, *added))
        known = pools.read_pools(session)
        drawn: list[Pool] = [*known.values(), *(small_study.pool_of(query.topic_id) for query in added)]
        pools.replace_pools(session, drawn, rankings_sha256={pool.topic_id: "abc" for pool in drawn})
        assert len(people.read_assessors(session)) == 3
    notes = planned(ws)
    assert not any("too small" in note for note in notes)
    # G*Power 3.1, two dependent means, two tails, 10 pairs: power 0.8 at an effect of 0.9997.
    assert any("10 query papers show a difference between two runs of 1.00 standard deviations" in one for one in notes)
