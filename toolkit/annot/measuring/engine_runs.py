"""Import of the run of another engine as the ranking of a pooling method."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name
from annot.base.records import CITED, MANUAL, Ranking
from annot.ranking import submission
from annot.ranking.methods import known_methods
from annot.ranking.submission import by_query_paper, imported_methods, keep_imported, ranking_file, topics_of_papers
from annot.store import papers, pools
from annot.store.pools import read_queries
from annot.study.workspace import Workspace

METHOD = re.compile(r"\w[\w.+-]{0,99}")
"""Names that `pool.methods` of annot.toml takes."""
REMEDIES = {
    "foreign queries": "--foreign drop (leave them out)",
    "foreign documents": "--foreign drop (leave them out)",
    "duplicates": "--duplicates best (the better score counts)",
}


@dataclass(frozen=True, slots=True)
class ImportedRanking:
    """Imported run, and the findings about it."""

    method: str
    query_papers: int
    of_query_papers: int
    several: tuple[str, ...]
    """Query papers with several topics, of which the best rank counts."""
    documents: int
    shortest: int
    longest: int
    """Largest number of documents of a query paper."""
    findings: tuple[submission.SubmissionFinding, ...]
    replaced: bool
    path: Path
    metadata: dict[str, Any]


def import_engine_run(
    ws: Workspace,
    file: Path,
    *,
    method: str,
    meta: Path | None,
    foreign: str | None,
    duplicates: str | None,
    distances: bool,
    dry_run: bool,
) -> tuple[dict[str, Ranking], ImportedRanking]:
    """Store the run in `file` as the ranking of `method`; the same file again changes nothing.

    meta: its metadata, else what the head of the file says. foreign: `drop` leaves out topics that are no query and
    documents that are not in the corpus. duplicates: `best` lets the better score count. distances: scores are
    distances, smaller is better. Raises FindingError if the run has any of these and nothing is said of it,
    InputError if the name is another method's, or if pools hold another ranking of this name.
    """
    for option, value, choices in (("foreign", foreign, ("drop",)), ("duplicates", duplicates, ("best",))):
        if value is not None:
            check_name(value, choices, what=f"--{option}")
    _check_method(ws, method)
    with ws.reading() as session:
        queries = read_queries(session)
        pooled = any(method in pool.methods for pool in pools.read_pools(session).values())
    if not queries:
        raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
    run, sha256 = submission.read_run_file(file, distances=distances)
    rankings, found = by_query_paper(run.documents, queries, frozenset(papers.paper_ids(ws.corpus)))
    several = tuple(name for name, names in topics_of_papers(run.documents, queries).items() if len(names) > 1)
    rules = submission.SubmissionRules(foreign, duplicates, "out")
    submission.refuse_findings(found, rules, file, REMEDIES)
    if not any(rankings.values()):
        raise InputError(
            f"{file}: no query of this study has a document of this corpus",
            faults=[
                f"found {', '.join(sorted(run.documents)[:3])}",
                f"expected query papers or queries, such as {queries[0].topic_id} or {queries[0].query_id}",
            ],
        )
    earlier = imported_methods(ws).get(method)
    metadata = submission.read_metadata_file(meta) or run.metadata
    about = {
        "source": {"name": file.name, "sha256": sha256},
        "topics": len(run.documents),
        "several_topics": list(several),
        "rules": {"foreign": foreign, "duplicates": duplicates, "distances": distances},
        "found": {finding.what: finding.count for finding in found},
        "metadata": metadata,
    }
    replaced = earlier is not None and earlier["source"]["sha256"] != sha256
    if replaced and pooled:
        raise InputError(
            f"--method {method}: the pools were drawn from another ranking of this name", hint="choose another name"
        )
    if not dry_run:
        keep_imported(ws, method, rankings, about=about)
    lengths = [len(ranking) for ranking in rankings.values()]
    summary = ImportedRanking(
        method=method,
        query_papers=len(lengths),
        of_query_papers=len({query.topic_id for query in queries}),
        several=several,
        documents=sum(lengths),
        shortest=min(lengths),
        longest=max(lengths),
        findings=found,
        replaced=replaced,
        path=ranking_file(ws, method),
        metadata=metadata,
    )
    return rankings, summary


def _check_method(ws: Workspace, method: str) -> None:
    if not METHOD.fullmatch(method):
        raise InputError(f"--method {method!r}: expected letters, digits and . _ + -, with a letter or digit first")
    if method in (*known_methods(ws.settings.plugins.names), CITED, MANUAL) or (ws.vectors / method).is_dir():
        raise InputError(f"--method {method!r}: is the name of a built-in method", hint="choose another name")
