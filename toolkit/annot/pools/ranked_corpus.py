"""The corpus ranked for query papers: by our own methods, and by the engines whose rankings were brought in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from annot.base.records import Ranking
from annot.corpus.corpus_state import current_sha256
from annot.formats.trec import write_run
from annot.pools.frozen_rankings import Rankings
from annot.ranking.imported_rankings import imported_methods, ranking_file, read_imported
from annot.ranking.index import Advance, open_index
from annot.ranking.methods import method_named, rank_all
from annot.study.workspace import Workspace


def rank_corpus(
    ws: Workspace,
    *,
    methods: Sequence[str],
    query_papers: Sequence[str],
    excluded: Callable[[], Mapping[str, Collection[str]]],
    ranking_depth: int,
    keep: bool,
    advance: Advance,
    given: Mapping[str, Mapping[str, Ranking]] = MappingProxyType({}),
) -> tuple[Rankings, dict[str, Any]]:
    """The best `ranking_depth` papers for each query paper by every method, and the facts of `write_rankings`.

    excluded: by query paper, the papers that must not rank for it, besides itself; asked once all is there to rank by.
    keep: what an index lacks is made and kept. given: by method, rankings that are being brought in and need not be
    kept yet. Raises MissingInput for a method that is neither ours nor brought in.
    """
    brought = {name: str(about["sha256"]) for name, about in imported_methods(ws).items() if name in methods}
    for name, of in given.items():
        brought[name] = hashlib.sha256(write_run(of, tag=name).encode()).hexdigest()
    own = [name for name in methods if name not in brought]
    found = {name: given[name] if name in given else read_imported(ws, name) for name in brought}
    rankings: Rankings = {}
    facts: dict[str, Any] = {}
    if own:
        done = count(1)
        with TemporaryDirectory(prefix="annot-") as scratch:
            index = open_index(ws, methods=own, advance=advance, scratch=None if keep else Path(scratch))
            out = excluded()
            rankings = rank_all(
                index.inputs,
                methods=own,
                paper_ids=query_papers,
                excluded=out,
                ranking_depth=ranking_depth,
                after_method=lambda _name: advance(next(done), len(own)),
            )
            facts = {method: method_named(method).settings(index.inputs) for method in own}
            digest = index.corpus_sha256
    else:
        digest, out = current_sha256(ws, keep=False), excluded()
    for method, sha256 in brought.items():
        rankings[method] = {
            paper_id: tuple(
                doc for doc in found[method].get(paper_id, ()) if doc.doc_id not in {paper_id, *out.get(paper_id, ())}
            )[:ranking_depth]
            for paper_id in query_papers
        }
        facts[method] = {"imported": sha256}
    inputs = {ranking_file(ws, method).relative_to(ws.root).as_posix(): sha256 for method, sha256 in brought.items()}
    return {method: rankings[method] for method in methods}, {
        "corpus_sha256": digest,
        "ranking_depth": ranking_depth,
        "query_papers": list(query_papers),
        "methods": facts,
        **({"inputs": inputs} if inputs else {}),
    }
