"""Runs that were made elsewhere: their faults, the rankings that stated rules leave, and those that pool.

A run that is a pooling method is kept next to our own, exactly as it was imported. A topic of such a run is a query
paper, or a query: then it counts for the query's paper, since all facets of a paper share its pool. If a paper has
several topics, a document has the best rank in any of them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import FindingError, InputError
from annot.base.names import counted, sha256_of
from annot.base.records import Query, Ranking, ScoredDoc, grouped, in_order, ranked, single_precision
from annot.formats.input_files import content_of
from annot.formats.trec import SubmittedRun, higher_is_better, read_metadata, read_run, read_submitted, write_run
from annot.study.workspace import Workspace, given_text, read_manifest, text_of, write_file, write_manifest

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class SubmissionFinding:
    """One kind of fault in a run of these pools."""

    what: str
    """`missing queries`, `missing candidates`, `foreign queries`, `foreign candidates`, `duplicates` or `ties`; of the
    ranking of a pooling method also `missing query papers` and `foreign documents`."""
    count: int
    queries: int
    examples: tuple[str, ...]


class SubmissionRules(NamedTuple):
    """Rules for the findings of a run."""

    foreign: str | None
    """`drop` or `keep` (unjudged candidates: not relevant); None: the run is refused."""
    duplicates: str | None
    """`best`: the better score counts; None: the run is refused."""
    missing: str
    """`out`: left out, as in both conventions; `last`: ranked below all others, by id."""


def find_findings(
    documents: Mapping[str, Sequence[ScoredDoc]], candidates: Mapping[str, Collection[str]]
) -> tuple[SubmissionFinding, ...]:
    """Findings about the run. candidates: by query, the documents to rank.

    Ties are of scores as trec_eval reads them, in single precision.
    """
    candidates_of = {query_id: set(candidates[query_id]) for query_id in sorted(documents.keys() & candidates.keys())}
    return _findings(
        {
            "missing queries": _queries_alone(candidates.keys() - documents.keys()),
            "foreign queries": _queries_alone(documents.keys() - candidates.keys()),
            "missing candidates": {
                query_id: expected.difference([doc_id for doc_id, _ in documents[query_id]])
                for query_id, expected in candidates_of.items()
            },
            **_faults_of_documents(documents, candidates_of, foreign="foreign candidates"),
        }
    )


Places = Mapping[str, Collection[str]]
"""Documents by query; a document is empty if none is meant."""


def _queries_alone(queries: Collection[str]) -> Places:
    return dict.fromkeys(sorted(queries), ("",))


def _faults_of_documents(
    documents: Mapping[str, Sequence[ScoredDoc]], known_documents: Mapping[str, Collection[str]], *, foreign: str
) -> Mapping[str, Places]:
    """Documents of the queries that are not known for them, are listed twice, or share a score."""
    places: dict[str, dict[str, Collection[str]]] = {foreign: {}, "duplicates": {}, "ties": {}}
    for query_id, expected in known_documents.items():
        doc_ids = [doc_id for doc_id, _ in documents[query_id]]
        distinct = {*doc_ids}
        places[foreign][query_id] = {doc_id for doc_id in distinct if doc_id not in expected}
        if len(distinct) < len(doc_ids):
            places["duplicates"][query_id] = {doc_id for doc_id, count in Counter(doc_ids).items() if count > 1}
        places["ties"][query_id] = _ties(documents[query_id])
    return places


def _ties(docs: Sequence[ScoredDoc]) -> list[str]:
    """The documents that have a score in common, score by score."""
    scores = single_precision([score for _, score in docs])
    if len({*scores}) == len(scores):
        return []
    by_score = grouped(zip(scores, (doc_id for doc_id, _ in docs), strict=True))
    return [doc_id for tied in by_score.values() if len({*tied}) > 1 for doc_id in sorted({*tied})]


def _ranking_by_best_score(docs: Sequence[ScoredDoc], allowed: Collection[str] | None) -> Ranking:
    """The documents in order, each once with its best score; allowed: only these documents, None all."""
    scores = dict(docs)
    for doc_id, score in docs if len(scores) < len(docs) else ():
        scores[doc_id] = max(score, scores[doc_id])
    return in_order(item for item in scores.items() if allowed is None or item[0] in allowed)


def _findings(places_by_kind: Mapping[str, Places]) -> tuple[SubmissionFinding, ...]:
    """Findings by kind, with examples: the documents of a set by id."""
    findings = []
    for kind, places in places_by_kind.items():
        if number := sum(map(len, places.values())):
            in_order_of = (sorted(docs) if isinstance(docs, set) else docs for docs in places.values())
            pairs = ((query_id, doc) for query_id, docs in zip(places, in_order_of, strict=True) for doc in docs)
            examples = tuple(" ".join(pair).strip() for pair in islice(pairs, EXAMPLES))
            findings.append(SubmissionFinding(kind, number, sum(map(bool, places.values())), examples))
    return tuple(findings)


def settle(
    documents: Mapping[str, Sequence[ScoredDoc]], candidates: Mapping[str, Collection[str]], rules: SubmissionRules
) -> dict[str, Ranking]:
    """The rankings that the rules leave, of the queries that are known."""
    return {
        query_id: _settled(documents[query_id], candidates[query_id], rules)
        for query_id in sorted(documents.keys() & candidates.keys())
    }


def _settled(docs: Sequence[ScoredDoc], candidates: Collection[str], rules: SubmissionRules) -> Ranking:
    ranking = _ranking_by_best_score(docs, None if rules.foreign == "keep" else candidates)
    if rules.missing != "last":
        return ranking
    last = min((doc.score for doc in ranking), default=0.0)
    # Just far enough below that single precision can tell it apart.
    below = last - max(1.0, abs(last))
    missing = set(candidates) - {doc.doc_id for doc in ranking}
    return in_order([*ranking, *(ScoredDoc(doc_id, below) for doc_id in missing)])


def read_run_file(path: Path, *, distances: bool) -> tuple[SubmittedRun, str]:
    """The run in the file, and the file's SHA-256. distances: its scores are distances.

    Raises InputError if the file is not a run.
    """
    data = content_of(path, expected="a TREC run, or CSFCube's ranked pools")
    run = higher_is_better(read_submitted(data, name=str(path)), name=str(path), distances=distances)
    return run, hashlib.sha256(data).hexdigest()


def read_metadata_file(path: Path | None) -> dict[str, Any]:
    """The metadata in the file; empty if no file is named. Raises InputError if it is not metadata."""
    if path is None:
        return {}
    return read_metadata(given_text(path, expected="metadata in YAML or JSON"), name=str(path))


def refuse_findings(
    findings: Sequence[SubmissionFinding], rules: SubmissionRules, path: Path, remedies: Mapping[str, str]
) -> None:
    """Raise FindingError with the findings for which the rules have no answer. remedies: the option for each kind."""
    rule_of = {"foreign": rules.foreign, "duplicates": rules.duplicates}
    refused = [finding for finding in findings if rule_of.get(finding.what.split()[0], "kept") is None]
    if refused:
        raise FindingError(
            f"{path}: not imported",
            faults=[
                f"{finding.what}: {finding.count} in {counted(finding.queries, 'query')}: {', '.join(finding.examples)}"
                for finding in refused
            ],
            hint="correct the file, or add "
            + " and ".join(dict.fromkeys(remedies[finding.what] for finding in refused)),
        )


MANIFEST = "manifest.json"
HINT = "import it again with `annot pool import`"


def topics_of_papers(topics: Collection[str], queries: Sequence[Query]) -> dict[str, list[str]]:
    """The topics of a run by query paper, whose id or query they are. Others are left out."""
    paper_of = {query.topic_id: query.topic_id for query in queries}
    paper_of |= {query.query_id: query.topic_id for query in queries}
    return grouped((paper_of[topic], topic) for topic in sorted(paper_of.keys() & topics))


def by_query_paper(
    documents: Mapping[str, Sequence[ScoredDoc]], queries: Sequence[Query], in_corpus: Collection[str]
) -> tuple[dict[str, Ranking], tuple[SubmissionFinding, ...]]:
    """Rankings of a run by query paper, and its findings. documents: by topic; if a document is listed twice, the
    better score counts, and if a paper has several topics, the best rank.

    Left out are topics that are no query of the study, and documents that are not in the corpus.
    """
    topics = topics_of_papers(documents, queries)
    rankings = {
        paper_id: _merged([_ranking_by_best_score(documents[topic], in_corpus) for topic in topics_of_paper])
        for paper_id, topics_of_paper in topics.items()
    }
    listed = sorted(topic for topics_of_paper in topics.values() for topic in topics_of_paper)
    findings = {
        "missing query papers": _queries_alone({query.topic_id for query in queries} - topics.keys()),
        "foreign queries": _queries_alone(documents.keys() - {*listed}),
        **_faults_of_documents(documents, dict.fromkeys(listed, in_corpus), foreign="foreign documents"),
    }
    return rankings, _findings(findings)


def imported_methods(ws: Workspace) -> dict[str, Any]:
    """Record of each imported ranking, by the name of its method."""
    path = ws.imported_rankings / MANIFEST
    methods: dict[str, Any] = read_manifest(path, hint=HINT).get("methods", {}) if path.is_file() else {}
    return methods


def ranking_file(ws: Workspace, method: str) -> Path:
    """The file of the ranking of this method."""
    return ws.imported_rankings / f"{method}.run"


def read_imported(ws: Workspace, method: str) -> dict[str, Ranking]:
    """Rankings of an imported run by query paper. Raises InputError if the file is not the one that was imported, or is
    missing."""
    path, manifest_path = ranking_file(ws, method), ws.imported_rankings / MANIFEST
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected the imported ranking", hint=HINT)
    text = text_of(path, read_manifest(manifest_path, hint=HINT), told_by=manifest_path, hint=HINT)
    return read_run(text.splitlines(), name=str(path))


def keep_imported(ws: Workspace, method: str, rankings: Mapping[str, Ranking], *, about: Mapping[str, Any]) -> None:
    """Keep the ranking, with its record. Raises InputError if another one was changed: the manifest that is written now
    would vouch for it."""
    path, manifest = ranking_file(ws, method), ws.imported_rankings / MANIFEST
    methods = imported_methods(ws)
    for name in methods:
        if name != method:
            read_imported(ws, name)
    write_file(path, write_run(rankings, tag=method))
    methods[method] = {"sha256": sha256_of(path), **about}
    write_manifest(manifest, files=(ranking_file(ws, name) for name in methods), inputs={}, facts={"methods": methods})


def _merged(rankings: Sequence[Ranking]) -> Ranking:
    """A single ranking unchanged; the best rank of each document in several, as one over the rank."""
    if len(rankings) == 1:
        return rankings[0]
    best: dict[str, int] = {}
    for ranking in rankings:
        for rank, doc in enumerate(ranking, start=1):
            best[doc.doc_id] = min(rank, best.get(doc.doc_id, rank))
    return ranked(ScoredDoc(doc_id, 1 / rank) for doc_id, rank in best.items())
