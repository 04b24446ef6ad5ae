"""Which sentences of a query and of a document a run matched."""

from __future__ import annotations

from dataclasses import dataclass

from annot.base.errors import InputError, MissingInput
from annot.base.names import known_query
from annot.measuring.matched import matches_file, matches_of
from annot.store.database import open_store
from annot.store.papers import find_papers
from annot.store.queries import read_queries
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Matched:
    """Two sentences, their places from 0, and what the one weighs for the other."""

    query_sentence: int
    query_text: str
    doc_sentence: int
    doc_text: str
    weight: float
    similarity: float | None


def show(ws: Workspace, tag: str, *, query_id: str, doc_id: str) -> tuple[Matched, ...]:
    """The matched sentences of a pair, heaviest first. Raises InputError for a run, query or document without any."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        query = known_query({one.query_id: one for one in read_queries(session)}, query_id)
    every, path = matches_of(ws, tag), matches_file(ws, tag)
    if not every:
        raise MissingInput(f"{path}: not there", hint="`annot run list` shows the systems that compare sentences")
    if (query_id, doc_id) not in every:
        raise InputError(
            f"{path}: no matches of {query_id} and {doc_id}", hint="`annot pool show QUERY` lists documents"
        )
    papers = find_papers(ws.corpus, (query.paper_id, doc_id))
    ours, theirs = papers[query.paper_id].sentences, papers[doc_id].sentences
    return tuple(
        Matched(i, ours[i], j, theirs[j], weight, similarity) for i, j, weight, similarity in every[query_id, doc_id]
    )
