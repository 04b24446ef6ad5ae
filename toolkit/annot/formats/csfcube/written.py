"""Writing a collection as a CSFCube release folder, the way `annot.formats.csfcube` reads it.

Mysore, O'Gorman, McCallum, Zamani: CSFCube, NeurIPS 2021 Datasets and Benchmarks, https://github.com/iesl/CSFCube.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from annot.base.names import counted
from annot.base.records import Decision, Judgement, Paper, Pool, PoolEntry, Query
from annot.formats.csfcube.contents import PAPERS_FILE, POOLS_FILE, QUERIES_FILE, SPLITS_FILE, ratings_name
from annot.formats.json_lines import json_lines
from annot.formats.spreadsheet import csv_of

HIGHEST_GRADE = 3
MISSING = -1
_ASSESSOR = re.compile(r"a[0-9A-Za-z]+")
_FACET = re.compile(r"[^-_/\s]+")


@dataclass(frozen=True, slots=True)
class Material:
    """What a release is made of. `judgements` are those that count, one for each pair and assessor."""

    papers: tuple[Paper, ...]
    queries: tuple[Query, ...]
    """In the order of the query list; one whose paper has no type gets an empty cell there."""
    pools: tuple[Pool, ...]
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...]
    splits: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By facet (or `all`) and fold: query ids."""
    facet_labels: Mapping[str, tuple[str, ...]]
    """The sentence labels that make each facet."""


def write_csfcube(material: Material, *, folder: str, with_text: bool) -> dict[str, bytes]:
    """The files of the release by path; `folder` is `""` or ends with `/`.

    Pairs without a decision are left out of the ratings and stay in the pools. A judgement without a grade is written
    as -1. Candidates are in the order drawn, if that is known. Where a query was made of other sentences than
    those of its facet's labels, the query list gets a column `sentences` (positions from 0, separated by spaces), which
    CSFCube's own does not have.

    with_text: False leaves out the file of abstracts and the titles in the query list. The material has no `misfits`.
    """
    papers = {paper.paper_id: paper for paper in material.papers}
    pools = sorted(material.pools, key=lambda pool: pool.topic_id)
    files = {POOLS_FILE: json_lines([{pool.topic_id: _pool(pool) for pool in pools}])}
    for facet in {query.facet for query in material.queries}:
        files[ratings_name(facet)] = json_lines([_ratings(facet, material)])
    files[QUERIES_FILE] = _query_list(material, papers, with_text)
    if material.splits:
        names = {query.query_id: f"{query.topic_id}_{query.facet}" for query in material.queries}
        splits = {
            facet: {fold: [names[query_id] for query_id in query_ids] for fold, query_ids in folds.items()}
            for facet, folds in material.splits.items()
        }
        files[SPLITS_FILE] = json_lines([splits])
    if with_text:
        files[PAPERS_FILE] = json_lines(_paper(paper) for _, paper in sorted(papers.items()))
    return {folder + path: text.encode("utf-8") for path, text in sorted(files.items())}


def misfits(material: Material) -> tuple[str, ...]:
    """What the format has no place for, in words; empty when the material fits.

    The format has two assessors a query, named `a` and something, grades 0 to 3, and facets without `-`, `_` and `/`.
    """
    grades = [(judgement.query_id, judgement.grade) for judgement in material.judgements]
    grades += [(decision.query_id, decision.grade) for decision in material.decisions]
    found = [
        f"query {query_id}: grade {grade}, expected 0 to {HIGHEST_GRADE}"
        for query_id, grade in grades
        if grade is not None and not 0 <= grade <= HIGHEST_GRADE
    ]
    found += [
        f"facet {facet!r}: expected a name without '-', '_', '/' and white space"
        for facet in sorted({query.facet for query in material.queries})
        if not _FACET.fullmatch(facet)
    ]
    pooled = {pool.topic_id: {entry.doc_id for entry in pool.entries} for pool in material.pools}
    decided: dict[str, set[str]] = defaultdict(set)
    for decision in material.decisions:
        decided[decision.query_id].add(decision.doc_id)
    assessors: dict[str, set[str]] = defaultdict(set)
    for judgement in material.judgements:
        if judgement.doc_id in decided[judgement.query_id]:
            assessors[judgement.query_id].add(judgement.assessor)
    for query in material.queries:
        name, team = f"query {query.query_id}", assessors[query.query_id]
        if query.topic_id not in pooled:
            found.append(f"{name}: its paper has no pool")
            continue
        if not decided[query.query_id]:
            found.append(f"{name}: no pair is settled")
        elif len(team) != 2:
            found.append(f"{name}: {counted(len(team), 'assessor')}, expected two per query")
        found += [
            f"{name}: assessor {assessor!r}, expected a name that begins with 'a'"
            for assessor in sorted(team)
            if not _ASSESSOR.fullmatch(assessor)
        ]
        outside = sorted(decided[query.query_id] - pooled[query.topic_id])
        found += [f"{name}: {doc_id} is judged but not in the pool" for doc_id in outside]
    return tuple(dict.fromkeys(found))


def _ratings(facet: str, material: Material) -> dict[str, dict[str, list[Any]]]:
    given: dict[str, dict[str, dict[str, int | None]]] = {}
    for judgement in material.judgements:
        given.setdefault(judgement.query_id, {}).setdefault(judgement.assessor, {})[judgement.doc_id] = judgement.grade
    final = {decision.pair: decision.grade for decision in material.decisions}
    pools = {pool.topic_id: pool for pool in material.pools}
    entries: dict[str, dict[str, list[Any]]] = {}
    for query in sorted(material.queries, key=lambda query: query.query_id):
        if query.facet != facet:
            continue
        drawn = (entry.doc_id for entry in _drawn(pools[query.topic_id]))
        candidates = [doc_id for doc_id in drawn if (query.query_id, doc_id) in final]
        # A grade may be missing as a row, or as a row without a grade: both are -1 here.
        columns = {
            assessor: [MISSING if (grade := grades.get(doc_id)) is None else grade for doc_id in candidates]
            for assessor, grades in sorted(given[query.query_id].items())
            if not grades.keys().isdisjoint(candidates)
        }
        rows = list(zip(*columns.values(), strict=True))
        entries[query.topic_id] = {
            "cands": candidates,
            "relevance_adju": [final[query.query_id, doc_id] for doc_id in candidates],
            **{f"relevance_ann{assessor[1:]}": column for assessor, column in columns.items()},
            "relevance_max": [max(row) for row in rows],
            "relevance_min": [min(row) for row in rows],
        }
    return entries


def _pool(pool: Pool) -> dict[str, list[Any]]:
    entries = _drawn(pool)
    return {
        "cands": [entry.doc_id for entry in entries],
        "cand_source": [[entry.drawn.method, *(draw.method for draw in entry.also)] for entry in entries],
    }


def _drawn(pool: Pool) -> list[PoolEntry]:
    """The entries in the order drawn; in the order they have where a turn is not known."""
    if any(entry.drawn.turn is None for entry in pool.entries):
        return list(pool.entries)
    return sorted(pool.entries, key=lambda entry: entry.drawn.turn or 0)


def _query_list(material: Material, papers: Mapping[str, Paper], with_text: bool) -> str:
    chosen = any(
        query.sentences != positions_of(papers[query.topic_id], material.facet_labels.get(query.facet, ()))
        for query in material.queries
    )
    rows: list[list[object]] = [["pid", "facet", "year", "title", "paper type", *(["sentences"] if chosen else [])]]
    for query in material.queries:
        paper = papers[query.topic_id]
        title = paper.title if with_text else ""
        row = [query.topic_id, query.facet, paper.year, title, query.paper_type or ""]
        rows.append([*row, *([" ".join(map(str, query.sentences))] if chosen else [])])
    return csv_of(rows)


def positions_of(paper: Paper, labels: Collection[str]) -> tuple[int, ...]:
    """The positions of the sentences that have one of the labels."""
    return tuple(at for at, label in enumerate(paper.labels or ()) if label in labels)


def _paper(paper: Paper) -> dict[str, Any]:
    record: dict[str, Any] = {
        "paper_id": paper.paper_id,
        "metadata": {"authors": [], "year": paper.year, "venue": None, "doi": None},
        "title": paper.title,
        "abstract": list(paper.sentences),
        "pred_labels_truncated": False,
    }
    if paper.labels is not None:
        record["pred_labels"] = [f"{label}_label" for label in paper.labels]
    if paper.citations:
        record["outbound_citations"] = list(paper.citations)
    return record
