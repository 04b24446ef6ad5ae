"""Choosing the queries: sampling papers, choosing from the rated sheet, adding by hand, listing."""

from __future__ import annotations

from dataclasses import dataclass

from annot.errors import InputError, MissingInput
from annot.facets.mapping import known_facet
from annot.records import Paper, Query
from annot.selection import make_query, parse_sentences
from annot.steps.names import check_name
from annot.store import facet_labels, papers
from annot.store.database import open_store
from annot.store.queries import put_queries, read_queries
from annot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Listed:
    """One query as the list shows it; sentences count from 1."""

    query_id: str
    paper_id: str
    facet: str
    year: int | None
    title: str
    sentences: tuple[int, ...]


def add(ws: Workspace, paper_id: str, *, facet: str, sentences: str | None, dry_run: bool) -> Query:
    """Add one query: the facet's sentences of the paper, or the chosen ones (`2,3`, counted from 1)."""
    known_facet(facet, facets=ws.settings.facets)
    paper = _paper(ws, paper_id)
    chosen = None if sentences is None else parse_sentences(sentences)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            labels = {one.paper_id: one.labels for one in facet_labels.read_labels(session, [paper_id])}
        if paper_id not in labels:
            raise MissingInput(f"{paper_id}: its sentences have no labels", hint="label them with `annot facets`")
        query = make_query(paper, labels[paper_id], facet, sentences=chosen, facets=ws.settings.facets)
        if not dry_run:
            with store.begin() as session:
                put_queries(session, [query])
    return query


def listing(ws: Workspace) -> tuple[Listed, ...]:
    """All queries with the titles of their papers."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        queries = read_queries(session)
    found = papers.find_papers(ws.corpus, [query.paper_id for query in queries]) if queries else {}
    return tuple(_listed(query, found[query.paper_id]) for query in queries)


def _listed(query: Query, paper: Paper) -> Listed:
    places = tuple(place + 1 for place in query.sentences)
    return Listed(query.query_id, query.paper_id, query.facet, paper.year, paper.title, places)


def _paper(ws: Workspace, paper_id: str) -> Paper:
    found = papers.find_papers(ws.corpus, [paper_id])
    if paper_id not in found:
        check_name(paper_id, papers.paper_ids(ws.corpus)[:100_000], what="paper")
        raise InputError(f"paper {paper_id!r}: not in the corpus")
    return found[paper_id]
