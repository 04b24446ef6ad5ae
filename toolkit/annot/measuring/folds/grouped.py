"""Folds of queries, grouped by query paper: a paper's facets are never on both sides, nor are near-copies of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Query

DEVELOP, TEST = "dev", "test"


def grouped_folds(
    queries: Sequence[Query], *, copies: Iterable[tuple[str, str]], count: int, seed: int
) -> tuple[tuple[str, ...], ...]:
    """The query ids of each fold, sorted; they do not depend on the order of `queries`.

    copies: query papers that are near-copies of each other, and count as one
    (`annot.measuring.folds.leaks.near_copies`). Papers come in a drawn order, those with the most queries first, each
    into the fold that has the fewest queries of its facets so far. Raises InputError for fewer papers than folds.
    """
    first = {query.paper_id: query.paper_id for query in queries}
    for one, two in sorted(copies):
        kept, gone = sorted((first[one], first[two]))
        first = {paper_id: kept if of == gone else of for paper_id, of in first.items()}
    by_paper: dict[str, list[Query]] = {}
    for query in sorted(queries, key=lambda one: one.query_id):
        by_paper.setdefault(first[query.paper_id], []).append(query)
    if count < 2 or len(by_paper) < count:
        raise InputError(
            f"{count} folds: expected 2 or more, and at most {len(by_paper)}, one for each query paper; near-copies "
            "count as one"
        )
    papers = list(by_paper)
    np.random.default_rng(seed).shuffle(papers)
    papers.sort(key=lambda paper_id: -len(by_paper[paper_id]))
    held: list[Counter[str]] = [Counter() for _ in range(count)]
    fold_of: dict[str, int] = {}
    for paper_id in papers:
        facets = [query.facet for query in by_paper[paper_id]]
        fold = min(range(count), key=lambda at: (sum(held[at][facet] for facet in facets), held[at].total(), at))
        held[fold].update(facets)
        fold_of |= {query.query_id: fold for query in by_paper[paper_id]}
    return tuple(tuple(sorted(name for name, fold in fold_of.items() if fold == at)) for at in range(count))


def as_splits(queries: Sequence[Query], folds: Sequence[Sequence[str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The folds as CSFCube names them: a split for each facet and `all`; `fold1_test` is tested on, `fold1_dev` is
    the rest of the queries, which may be learned from."""
    facets = {query.query_id: query.facet for query in queries}
    splits: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in (*sorted({*facets.values()}), "all"):
        every = sorted(query_id for query_id, facet in facets.items() if name in (facet, "all"))
        splits[name] = {}
        for at, fold in enumerate(folds, start=1):
            tested = tuple(one for one in fold if name in (facets[one], "all"))
            rest = tuple(one for one in every if one not in tested)
            splits[name] |= {f"fold{at}_{DEVELOP}": rest, f"fold{at}_{TEST}": tested}
    return splits


def test_folds(split: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The query ids of each fold of a split that is tested on; none where its folds have other names."""
    return tuple(split[name] for name in sorted(split) if re.fullmatch(rf"fold\d+_{TEST}", name))
