"""Rankings of other engines as pooling methods: kept beside our own, each exactly as it was brought in.

A topic of such a run is a query paper, or a query: then it counts for the query's paper, since all facets of a paper
share its pool. Where a paper has several topics, a document stands at the best rank that any of them gives it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.records import Query, Ranking, ScoredDoc, ranked
from annot.formats.trec import read_run, write_run
from annot.ranking.submission import SubmissionFinding, by_best_score, duplicates_in, findings_of, ties_in
from annot.study.workspace import Workspace, read_manifest, sha256_of, text_of, write_file, write_manifest

MANIFEST = "manifest.json"

HINT = "bring it in again with `annot pool import`"


class OfPapers(NamedTuple):
    """The rankings of a run by query paper, and what was found in it."""

    rankings: dict[str, Ranking]
    several: tuple[str, ...]
    """Query papers with several topics."""
    findings: tuple[SubmissionFinding, ...]


def by_query_paper(
    documents: Mapping[str, Sequence[ScoredDoc]], queries: Sequence[Query], in_corpus: Collection[str]
) -> OfPapers:
    """What a run says of each query paper. documents: by topic; of one that occurs twice the better score counts.

    Left out are topics that are no query of the study, and documents that are not in the corpus.
    """
    paper_of = {query.paper_id: query.paper_id for query in queries}
    paper_of |= {query.query_id: query.paper_id for query in queries}
    topics: dict[str, list[str]] = {}
    for topic in sorted(documents.keys() & paper_of.keys()):
        topics.setdefault(paper_of[topic], []).append(topic)
    rankings = {
        paper_id: _merged([by_best_score(documents[topic], in_corpus) for topic in own])
        for paper_id, own in topics.items()
    }
    found = {
        "missing query papers": [(name, "") for name in sorted(set(paper_of.values()) - topics.keys())],
        "foreign queries": [(name, "") for name in sorted(documents.keys() - paper_of.keys())],
        "foreign documents": [],
        "duplicates": [],
        "ties": [],
    }
    for topic in sorted(documents.keys() & paper_of.keys()):
        docs = documents[topic]
        outside = sorted({doc.doc_id for doc in docs if doc.doc_id not in in_corpus})
        found["foreign documents"] += [(topic, doc_id) for doc_id in outside]
        found["duplicates"] += [(topic, doc_id) for doc_id in duplicates_in(docs)]
        found["ties"] += [(topic, doc_id) for doc_id in ties_in(docs)]
    return OfPapers(rankings, tuple(name for name, own in topics.items() if len(own) > 1), findings_of(found))


def imported_methods(ws: Workspace) -> dict[str, Any]:
    """What is on record of each ranking that was brought in, by the name of its method."""
    path = ws.imported_rankings / MANIFEST
    found: dict[str, Any] = read_manifest(path, hint=HINT).get("methods", {}) if path.is_file() else {}
    return found


def ranking_file(ws: Workspace, method: str) -> Path:
    """Where the ranking of this method lies."""
    return ws.imported_rankings / f"{method}.run"


def read_imported(ws: Workspace, method: str) -> dict[str, Ranking]:
    """By query paper. Raises InputError where the file is not the one that was brought in, or is gone."""
    path, told_by = ranking_file(ws, method), ws.imported_rankings / MANIFEST
    if not path.is_file():
        raise InputError(f"{path}: gone, expected the ranking that was brought in", hint=HINT)
    text = text_of(path, read_manifest(told_by, hint=HINT), told_by=told_by, hint=HINT)
    return read_run(text.splitlines(), name=str(path)).rankings


def keep_imported(ws: Workspace, method: str, rankings: Mapping[str, Ranking], *, about: Mapping[str, Any]) -> None:
    """Keep the ranking, with what is to be known of it. Raises InputError where another one was changed: the manifest
    that is written now would vouch for it."""
    path, manifest = ranking_file(ws, method), ws.imported_rankings / MANIFEST
    known = imported_methods(ws)
    for name in known:
        if name != method:
            read_imported(ws, name)
    write_file(path, write_run(rankings, tag=method))
    known[method] = {"sha256": sha256_of(path), **about}
    write_manifest(manifest, files=(ranking_file(ws, name) for name in known), inputs={}, facts={"methods": known})


def _merged(rankings: Sequence[Ranking]) -> Ranking:
    """One ranking as it is; of several the best rank of each document, as one over the rank."""
    if len(rankings) == 1:
        return rankings[0]
    best: dict[str, int] = {}
    for ranking in rankings:
        for rank, doc in enumerate(ranking, start=1):
            best[doc.doc_id] = min(rank, best.get(doc.doc_id, rank))
    return ranked(ScoredDoc(doc_id, 1 / rank) for doc_id, rank in best.items())
