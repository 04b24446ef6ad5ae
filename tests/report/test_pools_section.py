"""What the report says of the pools."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import CITED, Draw, Pool, PoolEntry, Query
from annot.pools.drawn_pools import PoolOrigins
from annot.publishing.report import figures
from annot.publishing.report.sections.collection import _pools, _queries
from annot.publishing.report.tables import Chapter


@pytest.fixture(scope="module")
def undrawn() -> None:
    """Figures are looked at here."""


NOTHING = PoolOrigins(alike=0, groups=0, passed_over=None, citations=(), earlier=0, few_abstracts=())


def pool(paper_id: str, *ranks: int) -> Pool:
    """A pool of one method's documents, drawn at these ranks."""
    entries = tuple(
        PoolEntry(f"{paper_id}-{rank}", Draw("abs_tfidf", rank, 1 / rank, turn), ())
        for turn, rank in enumerate(ranks, 1)
    )
    return Pool(paper_id, "blocks", len(ranks), 500, 1, ("abs_tfidf", "specter"), ("specter",), (), None, entries)


def test_the_deepest_rank_of_a_method_is_the_deepest_of_all_pools() -> None:
    drawn = {"p1": pool("p1", 1, 4), "p2": pool("p2", 2, 9), "p3": pool("p3", 3, 5)}
    (table,) = chapter(*drawn.values()).tables
    assert {row[0]: (row[1], row[-1]) for row in table.rows} == {"abs_tfidf": (6, 9), "specter": (0, None)}


def test_each_of_many_methods_has_a_look_of_its_own() -> None:
    methods = [f"m{at}" for at in range(11)]
    drawing = figures.stacked_bars({"p": dict.fromkeys(methods, 1)}, order=methods, unit="documents")
    _, legend = drawing.on_page.split('id="legend', 1)
    looks = re.findall(r'style="fill: ((?:#|url)[^;]*);', legend)
    assert len(looks) == len(set(looks)) == len(methods)


def cited(paper_id: str, methods: list[str], mode: str = "blocks", quota: int | None = 3) -> Any:
    entries = tuple(PoolEntry(f"d{at}", Draw(name, at + 1, None, at), ()) for at, name in enumerate(methods))
    return Pool(paper_id, mode, quota, 500, 1, (*dict.fromkeys(methods),), (), (), None, entries)


def chapter(*pools: Any) -> Chapter:
    drawn = {one.topic_id: one for one in pools}
    study: Any = SimpleNamespace(words=OF_PAPERS, pools=drawn, pooled=True, origins=NOTHING)
    return _pools(study)


def test_citations_stand_first_and_shares_are_of_all_documents() -> None:
    (table,) = chapter(cited("p1", ["bm25", CITED, "abs"]), cited("p2", ["bm25"])).tables
    shown = [(*row[:2], str(row[2])) for row in table.rows]
    assert shown == [(CITED, 1, "25%"), ("abs", 1, "25%"), ("bm25", 2, "50%")]


def test_a_single_pool_is_not_drawn_and_two_are() -> None:
    one, two = pool("p1", 1, 2), pool("p2", 1)
    assert [len(chapter(*given).blocks) for given in ((one,), (one, two))] == [1, 2]


def test_pools_without_a_document_have_no_share() -> None:
    (table,) = chapter(pool("p1")).tables
    assert {str(row[2]) for row in table.rows} == {"–"}


def studied(facets: dict[str, tuple[str, ...]], *queries: Query) -> Any:
    return SimpleNamespace(words=OF_PAPERS, queries=queries, settings=SimpleNamespace(facets=facets), pools={})


def test_queries_are_counted_by_facet_and_a_facet_without_one_has_no_row() -> None:
    facets = {"aim": ("objective", "background"), "way": ("method",), "end": ()}
    table = _queries(
        studied(facets, Query("q1", "p1", "way", (0,)), Query("q2", "p1", "aim", ()), Query("q3", "p2", "aim", ()))
    )
    assert table.headings == ("Facet", "Sentence labels", "Queries")
    assert table.rows == (("aim", "objective, background", 2), ("way", "method", 1))
    assert table.numeric_from == 2
