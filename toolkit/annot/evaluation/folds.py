"""Test folds of the queries, whole papers each: two facets of one paper share its pool, so no fold may part them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from annot.errors import InputError
from annot.records import Query
from annot.stats.seeding import generator

ALL = "all"
Splits = dict[str, dict[str, tuple[str, ...]]]
"""By facet and `all`, then fold: `fold1_test`, `fold1_dev`, ... as CSFCube names them."""


def draw_folds(queries: Iterable[Query], *, n: int, seed: int) -> Splits:
    """n folds, as even in every facet as whole papers let them be; the development part of a fold is what is not in it.

    The papers with most facets go first, in an order of chance, each to the fold that has fewest queries of its facets.
    Raises InputError with fewer papers than folds.
    """
    by_paper: dict[str, list[Query]] = {}
    for query in sorted(queries, key=lambda query: query.query_id):
        by_paper.setdefault(query.paper_id, []).append(query)
    if len(by_paper) < n:
        raise InputError(f"{len(by_paper)} query paper(s), expected at least {n}, one for each fold")
    chance = {paper_id: float(generator(seed, "folds", paper_id).random()) for paper_id in by_paper}
    counts = [Counter[str]() for _ in range(n)]
    folds: list[list[Query]] = [[] for _ in range(n)]
    for paper_id in sorted(by_paper, key=lambda paper_id: (-len(by_paper[paper_id]), chance[paper_id])):
        facets = [query.facet for query in by_paper[paper_id]]
        at = min(range(n), key=lambda at: (sum(counts[at][facet] for facet in facets), counts[at].total(), at))
        counts[at].update(facets)
        folds[at] += by_paper[paper_id]
    names = sorted({query.facet for of in by_paper.values() for query in of})
    return {name: _of(name, folds) for name in (*names, *([ALL] if len(names) > 1 else []))}


def _of(name: str, folds: list[list[Query]]) -> dict[str, tuple[str, ...]]:
    tests = [tuple(sorted(query.query_id for query in fold if name in (query.facet, ALL))) for fold in folds]
    everything = {query_id for test in tests for query_id in test}
    found = {}
    for at, test in enumerate(tests, start=1):
        found[f"fold{at}_test"] = test
        found[f"fold{at}_dev"] = tuple(sorted(everything - set(test)))
    return found
