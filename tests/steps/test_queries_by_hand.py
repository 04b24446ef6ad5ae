"""Queries by hand and from samples: adding, listing, removing, test folds, and papers that cannot be drawn."""

from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Paper, Query
from annot.steps import query
from annot.store import facet_labels, pools, runs
from annot.store.papers import PaperWriter
from annot.store.pools import read_queries
from annot.study.workspace import Workspace
from small_study import LABELS, QUERIES, Small
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Queries for the facet method of p1 to p4, each with a pool."""
    return copied(Small(), "pooled", tmp_path / "study")


def stored(ws: Workspace) -> dict[str, Query]:
    with ws.reading() as session:
        return {one.query_id: one for one in read_queries(session)}


# -- adding and removing -----------------------------------------------------------------------------------------------


def test_a_query_has_the_sentences_of_its_facet_or_those_chosen(ws: Workspace) -> None:
    usual = query.add(ws, "d00", facet="method", sentences=None, dry_run=False)
    assert (usual.query_id, usual.sentences) == ("d00-method", (LABELS.index("method"),))
    assert query.add(ws, "d01", facet="method", sentences="1,3", dry_run=True).sentences == (0, 2)
    assert stored(ws).keys() == {*(one.query_id for one in QUERIES), "d00-method"}


def test_queries_of_a_file_are_added_all_or_none(ws: Workspace) -> None:
    file = ws.root / "queries.csv"
    file.write_text("paper_id,facet,sentences\nd00,method,\nd01,result,3\n", encoding="utf-8")
    assert [one.query_id for one in query.add_file(ws, file, dry_run=False)] == ["d00-method", "d01-result"]
    before = stored(ws)
    file.write_text("paper_id,facet\nd02,method\nd02,method\nnowhere,method\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        query.add_file(ws, file, dry_run=False)
    assert [fault.partition("csv:")[2] for fault in error.value.faults] == [
        "3: query d02-method is listed twice",
        "4: paper 'nowhere': not in the corpus",
    ]
    assert stored(ws) == before


def test_the_pool_goes_with_the_last_query_of_its_paper(ws: Workspace) -> None:
    query.add(ws, "p1", facet="result", sentences=None, dry_run=False)
    first = query.remove(ws, "p1-method", sent=False, dry_run=False)
    assert (first.topic_id, first.with_pool, first.queries) == ("p1", False, 4)
    last = query.remove(ws, "p1-result", sent=False, dry_run=False)
    assert (last.with_pool, last.queries) == (True, 3)
    with ws.reading() as session:
        assert pools.read_pools(session).keys() == {"p2", "p3", "p4"}


# -- folds -------------------------------------------------------------------------------------------------------------


def drawn(ws: Workspace, *, n: int = 2, seed: int | None = None, redraw: bool = False) -> query.Folds:
    return query.draw(ws.replaced(seed=seed), n=n, redraw=redraw, dry_run=False)


def test_every_query_is_in_one_test_fold(ws: Workspace) -> None:
    found = drawn(ws)
    assert (found.seed, found.facets) == (ws.settings.seed, ("method",))
    assert [one.fold for one in found.rows] == [1, 2]
    assert (sum(one.topics for one in found.rows), sum(one.queries[0] for one in found.rows)) == (4, 4)


def test_the_same_folds_again_are_no_change_and_others_need_redraw(ws: Workspace) -> None:
    first = drawn(ws, seed=5)
    assert first.seed == 5
    with ws.reading() as session:
        known = runs.read_splits(session)
    assert {len(ids) for folds in known.values() for ids in folds.values()} == {2}
    assert drawn(ws, seed=5) == first
    with pytest.raises(InputError, match="already has other folds"):
        drawn(ws, n=4)
    drawn(ws, n=4, redraw=True)
    with ws.reading() as session:
        assert runs.read_splits(session) != known


def test_what_two_folds_share_is_noted() -> None:
    queries = [replace(one, topic_id=f"q{at}", query_id=f"q{at}-method") for at, one in enumerate(QUERIES[:3])]
    pools_of = {"q0-method": ["x", "y", "q1"], "q1-method": ["x", "y", "q0"], "q2-method": ["z"]}
    texts = {f"q{at}": Paper(f"q{at}", f"Title {at}", (f"Something about {at * 7}.",)) for at in range(3)}
    found = list(query._shared(texts, queries, [["q0-method"], ["q1-method", "q2-method"]], pools_of))
    assert found[0].startswith("fold 1: ")
    assert found[1].startswith("fold 2: ")
    assert found[2:] == ["q0 and q1 are in different folds, although each is a candidate of the other"]


# -- samples -----------------------------------------------------------------------------------------------------------


def test_papers_without_labels_are_not_drawn_if_others_have_some(ws: Workspace) -> None:
    assert query._unlabelled(ws) == frozenset()
    with PaperWriter(ws.corpus) as writer:
        writer.add(Paper("bare", "Without labels", ("One.",), 2001))
        writer.add(Paper("timeless", "Without a year", ("One.",), None))
    assert query._unlabelled(ws) == {"bare", "timeless"}
    sampled, _ = query._drawn(ws)
    ids = {name for period in sampled.periods for name in period.paper_ids}
    assert ids
    assert not ids & {"bare", "timeless"}
    assert sampled.undated == 0
    with ws.writing() as session:
        facet_labels.replace_labels(session, [facet_labels.FacetLabels("bare", ("method",), "carried")])
    assert "p1" in query._unlabelled(ws)
    with ws.writing() as session:
        facet_labels.replace_labels(session, [])
    assert query._unlabelled(ws) == frozenset()


def test_a_chosen_query_is_new_unless_the_study_has_it(ws: Workspace) -> None:
    chosen = query.choose_unrated(ws, 5, dry_run=False)
    known = {one.query_id for one in QUERIES}
    assert {one.query_id for one in chosen.chosen if not one.new} == known & {one.query_id for one in chosen.chosen}
    assert chosen.queries_before == len(known)
    assert chosen.added == len(stored(ws)) - len(known)
    again = query.choose_unrated(ws, 5, dry_run=True)
    assert (again.added, {one.new for one in again.chosen}) == (0, {False})
