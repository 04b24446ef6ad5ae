"""Drawing pools from rankings that stand: those on disk, exactly as their manifest has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from annot.corpus_filters import normalised_title
from annot.errors import InputError, MissingInput
from annot.formats.trec import read_run
from annot.pooling import CITED, draw
from annot.records import Paper, Pool, Ranking
from annot.store.paper_columns import ids_by_title, known_ids
from annot.study.pool_design import PoolDesign
from annot.study.workspace import Workspace, read_manifest, sha256_of

MANIFEST = "manifest.json"

Rankings = dict[str, dict[str, Ranking]]
"""By method, then by query paper."""


def rankings_manifest(ws: Workspace) -> Path:
    """Where the manifest of the rankings lies."""
    return ws.rankings / MANIFEST


def draw_pools(
    ws: Workspace,
    rankings: Rankings,
    designs: Mapping[str, PoolDesign],
    query_papers: Mapping[str, Paper],
    *,
    twins: Mapping[str, tuple[str, ...]],
) -> list[Pool]:
    """The pool of every query paper, drawn as its design says. twins: `twins_of`."""
    with_cited = {paper_id for paper_id, one in designs.items() if CITED in one.methods}
    in_corpus = _cited_in_corpus(ws, query_papers) if with_cited else frozenset()
    return [
        draw(
            {method: rankings[method][paper_id] for method in designs[paper_id].ranked_methods},
            paper_id=paper_id,
            cited=in_corpus.intersection(paper.citations) if paper_id in with_cited else None,
            cited_outside=len(set(paper.citations) - in_corpus) if paper_id in with_cited else None,
            mode=designs[paper_id].mode,
            per_method=designs[paper_id].per_method,
            ranking_depth=designs[paper_id].ranking_depth,
            seed=designs[paper_id].seed,
            without=designs[paper_id].without,
            excluded=twins[paper_id],
        )
        for paper_id, paper in query_papers.items()
    ]


def twins_of(ws: Workspace, query_papers: Mapping[str, Paper]) -> dict[str, tuple[str, ...]]:
    """For each query paper the other papers of its normalised title: they never enter its pool."""
    titles = {paper_id: normalised_title(paper.title) for paper_id, paper in query_papers.items()}
    named = ids_by_title(ws.corpus, set(titles.values()) - {""})
    return {
        paper_id: tuple(twin for twin in named.get(title, ()) if twin != paper_id) for paper_id, title in titles.items()
    }


def read_rankings(ws: Workspace, methods: Iterable[str], query_papers: Iterable[str]) -> Rankings:
    """The rankings on disk. Raises MissingInput for what is not there, InputError for a file that is not what its
    manifest says: pools drawn from it could never be drawn again."""
    hint = "make new rankings with `annot pool`, without --frozen"
    manifest = read_manifest(rankings_manifest(ws), hint=hint)
    ranked = manifest.get("query_papers")
    if not isinstance(ranked, list):
        raise InputError(f"{rankings_manifest(ws)}: found no list `query_papers`", hint=hint)
    absent = [paper_id for paper_id in query_papers if paper_id not in ranked]
    if absent:
        raise MissingInput(f"{ws.rankings}: no rankings for query paper(s) {', '.join(absent)}", hint=hint)
    rankings: Rankings = {}
    for method in methods:
        path = ws.rankings / f"{method}.run"
        if not path.is_file():
            raise MissingInput(f"{path}: no rankings to draw from", hint=hint)
        written = manifest.get("files", {}).get(path.name)
        if (found_hash := sha256_of(path)) != written:
            raise InputError(
                f"{path}: its SHA-256 is {found_hash[:12]}, expected {str(written)[:12]} as in {rankings_manifest(ws)}",
                hint=f"take the file from a backup, or {hint}",
            )
        found = read_run(path.read_text(encoding="utf-8").splitlines(), name=str(path)).rankings
        # A query paper without a usable token has an empty ranking, and so no line in the file.
        rankings[method] = {paper_id: found.get(paper_id, ()) for paper_id in query_papers}
    return rankings


def _cited_in_corpus(ws: Workspace, query_papers: Mapping[str, Paper]) -> frozenset[str]:
    cited = {doc_id for paper in query_papers.values() for doc_id in paper.citations}
    return known_ids(ws.corpus, cited)
