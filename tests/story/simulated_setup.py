"""What a simulated study is made of: the demonstration's papers, queries with pools of a wanted size, people, gold."""

import csv
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from annot.base.records import Query
from annot.steps import corpus, facets, query
from annot.steps.setup import init
from annot.store.database import open_store
from annot.store.pools import documents_by_query, read_queries
from annot.study.workspace import Workspace, write_file
from annot_demo import simulated_people
from annot_demo.simulated_people import demo_relevance
from simulated_crew import ADJUDICATORS, ASSESSORS, USUAL, address_of
from simulated_lead import Lead

METHODS = ("title_tfidfcbow200", "abs_tfidf", "title_cbow200", "abs_cbow200", "abs_tfidfcbow200")
"""Each draws as many of the candidates."""
FACETS = ("background", "method", "result")
SETTINGS = """
[collection]
name = "whole-study"
title = "A whole study"

[pool]
methods = {methods}
per_method = {per_method}

[judging]
repeats = 0.05

[adjudication]
cannot_judge = "second"
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a study."""

    query_facets: int
    candidates: int
    assessors: int
    gold: int
    """Training pairs of each facet."""
    kills: int
    restarts: int
    seed: int

    @property
    def facets(self) -> tuple[str, ...]:
        """Those of the queries; each paper has a query of each, but in a study of few."""
        return FACETS[: 3 if self.query_facets > 8 else 1]

    @property
    def names(self) -> list[str]:
        """The assessors at the beginning."""
        return [person.name for person in ASSESSORS[: self.assessors]]


def make_study(folder: Path, size: Size, lead: Lead) -> dict[str, Query]:
    """Corpus, queries, pools, server, people and plan; the queries by id."""
    per_method, methods = size.candidates // len(METHODS), json.dumps(METHODS)
    write_file(folder / "annot.toml", SETTINGS.format(methods=methods, per_method=per_method))
    init(folder, name=None, dry_run=False)
    ws = Workspace.open(folder)
    source = folder / "papers.jsonl"
    write_file(source, simulated_people.corpus_text())
    corpus.add(ws, [str(source)], form=None, dry_run=False, advance=_quietly)
    facets.label(ws, model=None, dry_run=False, advance=_quietly)
    for paper_id, facet in islice(_possible_queries(ws, size.facets), size.query_facets):
        query.add(ws, paper_id, facet=facet, sentences=None, dry_run=False)
    lead.done("pool")
    lead.start()
    for name in size.names:
        lead.done("assessor", "add", name, "--account", address_of(name))
    for one in ADJUDICATORS:
        lead.done("assessor", "add", one.name, "--account", address_of(one.name), "--adjudicator")
    planned = lead.done("plan")["pairs"]
    if planned != size.query_facets * size.candidates:
        raise SystemExit(f"{planned} pairs were planned, expected {size}")
    with open_store(ws.database_url) as store, store.read() as session:
        return {one.query_id: one for one in read_queries(session)}


def gold_rows(folder: Path, size: Size, rng: random.Random) -> Iterator[tuple[str, str, int, str]]:
    """Pairs that are in no pool, with the grade that is true of them."""
    with open_store(Workspace.open(folder).database_url) as store, store.read() as session:
        queries, pooled = read_queries(session), documents_by_query(session)
    truth = demo_relevance()
    for facet in size.facets:
        free = [
            (one, paper["paper_id"])
            for one in queries
            for paper in _papers()
            if one.facet == facet and paper["paper_id"] not in {one.topic_id, *pooled[one.query_id]}
        ]
        for one, doc_id in rng.sample(free, size.gold):
            grade = sum(truth(one, doc_id) >= threshold for threshold in USUAL)
            yield one.query_id, doc_id, grade, "so the two papers were made"


def write_rows(file: Path, rows: Iterable[Iterable[object]]) -> None:
    """A CSV file."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(rows)


def _possible_queries(ws: Workspace, wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Papers with sentences of every facet that is used."""
    for paper in _papers():
        if {ws.settings.facet_of(label) for label in paper["labels"]}.issuperset(wanted):
            yield from ((paper["paper_id"], facet) for facet in wanted)


def _papers() -> Iterator[dict[str, Any]]:
    return map(json.loads, simulated_people.corpus_text().splitlines())


def _quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""
