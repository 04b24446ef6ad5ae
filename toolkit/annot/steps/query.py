"""The queries by hand: adding one or many, removing, listing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import check_name, known_query
from annot.base.records import Paper, Query
from annot.corpus.corpus_facts import labels_of, papers_of
from annot.corpus.facets.query_sentences import check_facet, make_query, sentence_numbers
from annot.formats.faults import Faults
from annot.formats.spreadsheet import read_columns
from annot.store import papers, pools
from annot.store.database import open_store
from annot.store.queries import put_queries, read_queries, remove_query
from annot.study.backups import keep_backup
from annot.study.workspace import Workspace, given_bytes

QUERY_COLUMNS = ("paper_id", "facet")
SENTENCES = "sentences"


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """One query as the list shows it; sentences count from 1."""

    query_id: str
    paper_id: str
    facet: str
    year: int | None
    title: str
    sentences: tuple[int, ...]
    paper_type: str | None


@dataclass(frozen=True, slots=True)
class RemovedQuery:
    """A query that is gone."""

    query_id: str
    paper_id: str
    with_pool: bool
    """Whether the pool of its paper went, too: no other query needs it."""
    queries: int
    """How many queries the study has now."""


def add(ws: Workspace, paper_id: str, *, facet: str, sentences: str | None, dry_run: bool) -> Query:
    """Add one query: the facet's sentences of the paper, or the chosen ones (`2,3`, counted from 1)."""
    check_facet(facet, facets=ws.settings.facets)
    paper = _paper(ws, paper_id)
    chosen = None if sentences is None else sentence_numbers(sentences)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            labels = labels_of(session, [paper_id])[paper_id]
        query = make_query(paper, labels, facet, sentences=chosen, facets=ws.settings.facets)
        if not dry_run:
            with store.begin() as session:
                put_queries(session, [query])
    return query


def add_file(ws: Workspace, file: Path, *, dry_run: bool) -> tuple[Query, ...]:
    """Add the queries of a CSV file with the columns paper_id and facet; all, or none.

    A column `sentences` may name those of a query; where it is empty or not there, they are all of the facet.

    Raises InputError with the line of every fault.
    """
    faults = Faults(str(file))
    data = given_bytes(file, expected=f"CSV with the columns {', '.join(QUERY_COLUMNS)}")
    rows = read_columns(data, faults, columns=QUERY_COLUMNS, optional=(SENTENCES,))
    ids = sorted({row["paper_id"] for _, row in rows})
    there = papers.find_papers(ws.corpus, ids)
    made: dict[str, Query] = {}
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            labels = labels_of(session, sorted(there)) if there else {}
        for line, row in rows:
            paper_id, facet = row["paper_id"], row["facet"]
            try:
                check_facet(facet, facets=ws.settings.facets)
                if paper_id not in there:
                    raise InputError(f"paper {paper_id!r}: not in the corpus")
                chosen = sentence_numbers(row[SENTENCES]) if row[SENTENCES] else None
                query = make_query(
                    there[paper_id], labels[paper_id], facet, facets=ws.settings.facets, sentences=chosen
                )
            except InputError as error:
                for fault in error.faults or (error.message,):
                    faults.add(fault, line=line)
                continue
            if query.query_id in made:
                faults.add(f"query {query.query_id} is there twice", line=line)
            made[query.query_id] = query
        if not rows and not faults.found:
            faults.add("found no query")
        faults.raise_if_any(hint="nothing was added")
        if not dry_run:
            with store.begin() as session:
                put_queries(session, made.values())
    return tuple(made.values())


def remove(ws: Workspace, name: str, *, dry_run: bool) -> RemovedQuery:
    """Take a query out of the study, and the pool of its paper with the paper's last query.

    Raises InputError, with the remedy, where pairs of it were judged, sent or planned.
    """
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        known = {query.query_id: query for query in read_queries(session)}
        query = known_query(known, name)
        remove_query(session, query.query_id)
        last = not any(one.paper_id == query.paper_id for one in known.values() if one != query)
        pooled = last and bool(pools.read_pools(session, [query.paper_id]))
        if pooled:
            pools.remove_pool(session, query.paper_id)
        if dry_run:
            session.rollback()
        else:
            keep_backup(ws, "before query remove")
    return RemovedQuery(query.query_id, query.paper_id, pooled, len(known) - 1)


def listing(ws: Workspace) -> tuple[ListedQuery, ...]:
    """All queries with the titles of their papers."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        queries = read_queries(session)
    # A query without sentences came with a file of judgements: its paper need not be here.
    found = papers_of(ws, [query.paper_id for query in queries if query.sentences])
    if ws.has_corpus:
        found |= papers.find_papers(ws.corpus, [query.paper_id for query in queries])
    listed = []
    for query in queries:
        paper = found.get(query.paper_id)
        year, title = (None, "") if paper is None else (paper.year, paper.title)
        places = tuple(place + 1 for place in query.sentences)
        listed.append(ListedQuery(query.query_id, query.paper_id, query.facet, year, title, places, query.paper_type))
    return tuple(listed)


def _paper(ws: Workspace, paper_id: str) -> Paper:
    found = papers.find_papers(ws.corpus, [paper_id])
    if paper_id not in found:
        check_name(paper_id, papers.paper_ids(ws.corpus), what="paper")
    return found[paper_id]
