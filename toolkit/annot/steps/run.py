"""Baselines: rankings of the pools, written as TREC runs with their metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.errors import MissingInput
from annot.formats.trec import write_run
from annot.names import check_name
from annot.ranking.methods import BASELINES, METHODS, rank_pool, settings_of
from annot.records import Ranking, Source
from annot.store import runs
from annot.store.database import open_store
from annot.store.pools import documents_by_query
from annot.store.queries import read_queries
from annot.study.index import Advance, open_index
from annot.study.workspace import Workspace, write_file


@dataclass(frozen=True, slots=True)
class MadeRun:
    """One run that was made."""

    tag: str
    queries: int
    documents: int
    path: Path


def make(ws: Workspace, *, methods: tuple[str, ...], advance: Advance) -> tuple[MadeRun, ...]:
    """Rank the pool of every query by each baseline; all baselines when none is named."""
    for name in methods:
        check_name(name, tuple(BASELINES), what="baseline")
    chosen = methods or tuple(BASELINES)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            queries = {query.query_id: query for query in read_queries(session)}
            documents = documents_by_query(session)
        if not documents:
            raise MissingInput("no pools to rank", hint="draw them with `annot pool`")
        # A baseline needs no vectors of its own: the word vectors of the corpus serve all that average.
        needed = [method for method in METHODS if "cbow" in method] if any("cbow" in name for name in chosen) else []
        index = open_index(ws, methods=needed, advance=advance)
        made = []
        for done, name in enumerate(chosen, start=1):
            rankings = {
                query_id: rank_pool(
                    index.bench,
                    baseline=name,
                    paper_id=queries[query_id].paper_id,
                    sentences=queries[query_id].sentences,
                    doc_ids=[doc_id for doc_id in doc_ids if doc_id in index.bench.corpus.rows],
                )
                for query_id, doc_ids in documents.items()
            }
            facts = {"corpus_sha256": index.corpus_sha256, **settings_of(index.bench, name)}
            with store.begin() as session:
                runs.put_runs(session, [write(ws, name, rankings, facts=facts)])
            made.append(MadeRun(name, len(rankings), sum(map(len, rankings.values())), ws.run_file(name)))
            advance(done, len(chosen))
    return tuple(made)


def adopt(ws: Workspace, tag: str, rankings: Mapping[str, Ranking], *, facts: Mapping[str, Any]) -> None:
    """Write a run that was made before, and remember it."""
    stored = write(ws, tag, rankings, facts=facts)
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        runs.put_runs(session, [stored])


def write(ws: Workspace, tag: str, rankings: Mapping[str, Ranking], *, facts: Mapping[str, Any]) -> runs.StoredRun:
    """Write the run and its metadata; returns what the store is to remember of it."""
    text = write_run(rankings, tag=tag)
    digest = hashlib.sha256(text.encode()).hexdigest()
    write_file(ws.run_file(tag), text)
    record = {"tag": tag, "kind": Source.BASELINE, "sha256": digest, "settings": dict(facts)}
    write_file(ws.runs / f"{tag}.json", json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return runs.StoredRun(tag, Source.BASELINE, dict(facts), digest)
