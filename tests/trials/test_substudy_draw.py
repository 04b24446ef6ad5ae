"""Which pairs a sub-study gets: on CSFCube's own grades, and on small studies."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Query
from annot.judging.trial_draws import Pair, draw_substudy, plan_lines, query_by_query

FACETS = ("background", "method")
PERCENT, KAPPA = 0.73, 0.63
"""What CSFCube's appendix B found between abstracts and full texts, on 45 pairs; the pairs are not in its release."""


@pytest.fixture(scope="module")
def csfcube(shared: Path) -> tuple[list[Query], dict[Pair, int]]:
    """Its queries with their types, and the adjudicated grades."""
    with (shared / "csfcube" / "queries-release.csv").open(encoding="utf-8") as file:
        types = {row["pid"]: row["paper type"] for row in csv.DictReader(file)}
    queries, final = [], {}
    for facet in FACETS:
        release = json.loads((shared / "csfcube" / f"test-pid2anns-csfcube-{facet}.json").read_text(encoding="utf-8"))
        for paper_id, lists in release.items():
            query = Query(f"{paper_id}-{facet}", paper_id, facet, (), types[paper_id])
            queries.append(query)
            graded = zip(lists["cands"], lists["relevance_adju"], strict=True)
            final |= {(query.query_id, doc_id): grade for doc_id, grade in graded}
    return queries, final


def chance(grades: list[int]) -> float:
    """How often two who give these grades blindly agree."""
    return sum((count / len(grades)) ** 2 for count in Counter(grades).values())


@pytest.mark.parametrize("seed", range(4))
def test_a_draw_from_csfcube_is_like_its_appendix_b(csfcube: tuple[list[Query], dict[Pair, int]], seed: int) -> None:
    """Three queries a facet, five candidates each; and grades as even as the published figures imply.

    73% agreement (33 of 45) with a kappa of 0.63 leaves 28% to chance, when four even grades have 25%, and the whole
    collection 52%.
    """
    queries, final = csfcube
    found = draw_substudy(queries, final, per_facet=3, per_query=5, seed=seed)
    facet_of = {query.query_id: query.facet for query in queries}
    paper_of = {query.query_id: query.topic_id for query in queries}
    by_query = Counter(query_id for query_id, _ in found)
    assert len(found) == len(set(found)) == 30
    assert set(by_query.values()) == {5}
    assert Counter(facet_of[query_id] for query_id in by_query) == dict.fromkeys(FACETS, 3)
    assert len({paper_of[query_id] for query_id in by_query}) == 6
    assert all(doc_id != paper_of[query_id] for query_id, doc_id in found)
    # A query without a grade has none to give.
    for query_id in by_query:
        there = {grade for (name, _), grade in final.items() if name == query_id}
        assert {final[pair] for pair in found if pair[0] == query_id} == there
    implied = (PERCENT - KAPPA) / (1 - KAPPA)
    assert chance([final[pair] for pair in found]) == pytest.approx(implied, abs=0.03)
    assert chance(list(final.values())) == pytest.approx(0.52, abs=0.005)
    assert draw_substudy(reversed(queries), final, per_facet=3, per_query=5, seed=seed) == found


def test_queries_with_too_few_settled_candidates_are_not_drawn_and_too_few_queries_are_refused() -> None:
    queries = [Query(f"p{at}-method", f"p{at}", "method", ()) for at in range(3)]
    final = {(query.query_id, f"d{at}"): at % 4 for query in queries[:2] for at in range(5)}
    final |= {("p2-method", f"d{at}"): 1 for at in range(4)} | {("p2-method", "p2"): 3}
    assert {pair[0] for pair in draw_substudy(queries, final, per_facet=2, per_query=5, seed=1)} == {
        "p0-method",
        "p1-method",
    }
    assert len(draw_substudy(queries, final, per_facet=2, per_query=4, seed=1)) == 8
    with pytest.raises(InputError, match="cannot be drawn") as refused:
        draw_substudy(queries, final, per_facet=3, per_query=5, seed=1)
    assert refused.value.faults == ("method: queries with 5 or more settled pairs: found 2, expected 3",)
    with pytest.raises(InputError, match="cannot be drawn"):
        draw_substudy([], {}, per_facet=3, per_query=5, seed=1)


def test_both_views_ask_the_same_pairs_query_by_query_in_orders_of_their_own() -> None:
    pairs = [(f"q{query}", f"d{doc}") for query in range(6) for doc in range(5)]
    first, second = (query_by_query(pairs, view, seed=3) for view in ("abstract", "full"))
    assert sorted(first) == sorted(second) == pairs
    assert first != second
    for sequence in (first, second):
        starts = [at for at, pair in enumerate(sequence) if at == 0 or sequence[at - 1][0] != pair[0]]
        assert starts == [0, 5, 10, 15, 20, 25]
    # A pair more, of another query, leaves the order within the queries as it is.
    grown = query_by_query([*pairs, ("q9", "d1")], "full", seed=3)
    assert [pair for pair in grown if pair[0] == "q2"] == [pair for pair in second if pair[0] == "q2"]


def test_the_plan_of_a_substudy_counts_the_places_of_each_view_from_one() -> None:
    lines = plan_lines({"abstract": [("q1", "d1"), ("q1", "d2")], "full": [("q1", "d2")]}).splitlines()
    assert [tuple(json.loads(line).values()) for line in lines] == [
        ("abstract", 1, "q1", "d1"),
        ("abstract", 2, "q1", "d2"),
        ("full", 1, "q1", "d2"),
    ]
