"""What the report says of the pools."""

from __future__ import annotations

import re
from types import SimpleNamespace

from annot.base.records import Draw, Pool, PoolEntry
from annot.pools.pool_facts import PoolOrigins
from annot.publishing.report import figures
from annot.publishing.report.sections.collection import _pools

NOTHING = PoolOrigins(alike=0, groups=0, passed_over=None, citations=(), earlier=0, few_abstracts=None)


def pool(paper_id: str, *ranks: int) -> Pool:
    """A pool of one method's documents, drawn at these ranks."""
    entries = tuple(
        PoolEntry(f"{paper_id}-{rank}", Draw("abs_tfidf", rank, 1 / rank, turn), ())
        for turn, rank in enumerate(ranks, 1)
    )
    return Pool(paper_id, "blocks", len(ranks), 500, 1, ("abs_tfidf", "specter"), ("specter",), (), None, entries)


def test_the_deepest_rank_of_a_method_is_the_deepest_of_all_pools() -> None:
    drawn = {"p1": pool("p1", 1, 4), "p2": pool("p2", 2, 9), "p3": pool("p3", 3, 5)}
    (table,) = _pools(SimpleNamespace(pools=drawn, pooled=True, origins=NOTHING)).tables
    assert {row[0]: (row[1], row[-1]) for row in table.rows} == {"abs_tfidf": (6, 9), "specter": (0, None)}


def test_each_of_many_methods_has_a_look_of_its_own() -> None:
    methods = [f"m{at}" for at in range(11)]
    drawing = figures.stacked_bars({"p": dict.fromkeys(methods, 1)}, order=methods, unit="documents")
    for picture in drawing:
        _, legend = picture.split('id="legend', 1)
        looks = re.findall(r'style="fill: ((?:#|url)[^;]*);', legend)
        assert len(looks) == len(set(looks)) == len(methods)
