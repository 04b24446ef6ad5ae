"""Runs: the pools ranked by systems, written as TREC runs with their metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.records import Ranking, Source
from annot.formats.trec import write_run
from annot.measuring.matched import write_matches
from annot.measuring.system_inputs import GIVEN_UP, RankedPools, systems_of
from annot.publishing.report.words import sentences
from annot.ranking.index import Advance
from annot.ranking.small_corpora import trained_on_few
from annot.ranking.systems.registry import SYSTEMS, USUAL
from annot.ranking.systems.system import System, Topic
from annot.store import runs
from annot.store.database import open_store
from annot.store.papers import find_papers
from annot.store.pools import documents_by_query
from annot.store.queries import read_queries
from annot.study.made import note, states_of
from annot.study.workspace import Workspace, write_file


@dataclass(frozen=True, slots=True)
class MadeRun:
    """One run that was made."""

    tag: str
    queries: int
    documents: int
    path: Path
    given_up: int
    """Documents whose transport was given up before it was exact."""


def known(ws: Workspace | None) -> tuple[System, ...]:
    """Every system that has a name of its own."""
    return tuple(SYSTEMS.values())


def make(ws: Workspace, *, systems: tuple[str, ...], replace: bool = False, advance: Advance) -> tuple[MadeRun, ...]:
    """Rank the pool of every query by each system; by the usual ones when none is named.

    Raises InputError where a run of a system's name was imported, unless it is to be replaced.
    """
    chosen, states = systems_of(ws, systems or USUAL), states_of(ws)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            queries = {query.query_id: query for query in read_queries(session)}
            documents = documents_by_query(session)
            imported = {run.tag for run in runs.read_runs(session) if run.kind == Source.IMPORTED}
        theirs = [system.name for system in chosen if system.name in imported]
        if theirs and not replace:
            raise InputError(
                f"{len(theirs)} run(s) of that name were imported: {', '.join(theirs)}",
                hint="--replace writes over them; to keep both, import the file again under another --tag first",
            )
        if not documents:
            raise MissingInput("no pools to rank", hint="draw them with `annot pool`")
        wanted = {doc_id for doc_ids in documents.values() for doc_id in doc_ids}
        papers = find_papers(ws.corpus, wanted | {queries[query_id].paper_id for query_id in documents})
        topics = tuple(
            Topic(
                query_id,
                query.paper_id,
                query.facet,
                query.sentences,
                whole=set(query.sentences) == set(range(len(papers[query.paper_id].sentences))),
                doc_ids=tuple(doc_id for doc_id in documents[query_id] if doc_id in papers),
            )
            for query_id, query in queries.items()
            if query_id in documents
        )
        pools = RankedPools(ws, chosen, topics, papers, advance=advance)
        made = []
        for done, system in enumerate(chosen, start=1):
            found = pools.rank(system)
            stored = write(ws, system.name, found.rankings, facts={"corpus_sha256": pools.corpus_sha256, **found.facts})
            write_matches(ws, system.name, found.matches)
            with store.begin() as session:
                runs.put_runs(session, [stored])
            note(ws, f"run/{stored.tag}", states)
            sizes = map(len, found.rankings.values())
            given_up = int(found.facts.get(GIVEN_UP, 0))
            made.append(MadeRun(system.name, len(found.rankings), sum(sizes), ws.run_file(system.name), given_up))
            advance(done, len(chosen))
    return tuple(made)


def warnings(ws: Workspace, made: Sequence[MadeRun]) -> tuple[str, ...]:
    """What a reader of these runs must know."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        facts = {run.tag: run.facts for run in runs.read_runs(session)}
    return sentences("commands.few_abstracts", few=trained_on_few({one.tag: facts[one.tag] for one in made}))


def adopt(ws: Workspace, tag: str, rankings: Mapping[str, Ranking], *, facts: Mapping[str, Any]) -> None:
    """Write a run that was made before, and remember it."""
    stored = write(ws, tag, rankings, facts=facts)
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        runs.put_runs(session, [stored])
    note(ws, f"run/{tag}", states_of(ws))


def write(ws: Workspace, tag: str, rankings: Mapping[str, Ranking], *, facts: Mapping[str, Any]) -> runs.StoredRun:
    """Write the run and its metadata; returns what the store is to remember of it."""
    text = write_run(rankings, tag=tag)
    digest = hashlib.sha256(text.encode()).hexdigest()
    write_file(ws.run_file(tag), text)
    record = {"tag": tag, "kind": Source.BASELINE, "sha256": digest, "settings": dict(facts)}
    write_file(ws.runs / f"{tag}.json", json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return runs.StoredRun(tag, Source.BASELINE, dict(facts), digest)
