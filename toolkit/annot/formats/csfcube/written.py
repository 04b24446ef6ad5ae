"""Writing a collection as a CSFCube release folder, the way `annot.formats.csfcube` reads it.

Mysore, O'Gorman, McCallum, Zamani: CSFCube, NeurIPS 2021 Datasets and Benchmarks, https://github.com/iesl/CSFCube.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annot.formats.csfcube.contents import PAPERS_FILE, POOLS_FILE, QUERIES_FILE, SPLITS_FILE, ratings_name
from annot.formats.faults import Faults
from annot.formats.spreadsheet import guarded
from annot.records import Decision, Judgement, Paper, Pool, PoolEntry, Query

HIGHEST_GRADE = 3
MISSING = -1
_ASSESSOR = re.compile(r"a[0-9A-Za-z]+")
_FACET = re.compile(r"[^-_/\s]+")


@dataclass(frozen=True, slots=True)
class Material:
    """What a release is made of. `judgements` are those that count, one for each pair and assessor."""

    papers: tuple[Paper, ...]
    queries: tuple[Query, ...]
    paper_types: Mapping[str, str]
    """By query id; a query that has none gets an empty cell."""
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
    as -1. Candidates stand in the order drawn, where that is known. Where a query was made of other sentences than
    those of its facet's labels, the query list gets a column `sentences` (positions from 0, separated by spaces), which
    CSFCube's own does not have.

    with_text: False leaves out the file of abstracts and the titles in the query list.
    Raises InputError with everything that the format cannot say: see `misfits`.
    """
    faults = Faults("CSFCube release")
    for misfit in misfits(material):
        faults.add(misfit)
    faults.raise_if_any(hint="the other formats of the release hold it all")
    papers = {paper.paper_id: paper for paper in material.papers}
    files = {POOLS_FILE: _json({pool.paper_id: _pool(pool) for pool in sorted(material.pools, key=_paper_id)})}
    files |= {ratings_name(facet): _json(_ratings(facet, material)) for facet in _facets(material)}
    files[QUERIES_FILE] = _query_list(material, papers, with_text)
    if material.splits:
        names = {query.query_id: f"{query.paper_id}_{query.facet}" for query in material.queries}
        files[SPLITS_FILE] = _json(
            {
                facet: {fold: [names[query_id] for query_id in query_ids] for fold, query_ids in folds.items()}
                for facet, folds in material.splits.items()
            }
        )
    if with_text:
        lines = (json.dumps(_paper(papers[paper_id]), ensure_ascii=False) for paper_id in sorted(papers))
        files[PAPERS_FILE] = "".join(line + "\n" for line in lines)
    return {folder + path: text.encode("utf-8") for path, text in sorted(files.items())}


def misfits(material: Material) -> tuple[str, ...]:
    """What the format has no place for, in words; empty when the material fits.

    The format has two assessors a query, named `a` and something, grades 0 to 3, and facets without `-`, `_` and `/`.
    """
    found = []
    graders: dict[str, dict[str, set[str]]] = {}
    for judgement in material.judgements:
        graders.setdefault(judgement.query_id, {}).setdefault(judgement.doc_id, set()).add(judgement.assessor)
        if judgement.grade is not None and not 0 <= judgement.grade <= HIGHEST_GRADE:
            found.append(f"query {judgement.query_id}: grade {judgement.grade}, the format has 0 to {HIGHEST_GRADE}")
    decided: dict[str, list[str]] = {}
    for decision in material.decisions:
        decided.setdefault(decision.query_id, []).append(decision.doc_id)
        if not 0 <= decision.grade <= HIGHEST_GRADE:
            found.append(f"query {decision.query_id}: grade {decision.grade}, the format has 0 to {HIGHEST_GRADE}")
    names = {query.query_id for query in material.queries}
    found += [
        f"split {facet}, {fold}: {query_id} is not a query"
        for facet, folds in material.splits.items()
        for fold, query_ids in folds.items()
        for query_id in query_ids
        if query_id not in names
    ]
    found += [f"facet {facet!r}: no '-', '_', '/' or white space fits" for facet in _bad_facets(material)]
    pools = {pool.paper_id: pool for pool in material.pools}
    known = {paper.paper_id for paper in material.papers}
    for query in material.queries:
        name = f"query {query.query_id}"
        if query.paper_id not in known:
            found.append(f"{name}: its paper is not in the corpus")
        if query.paper_id not in pools:
            found.append(f"{name}: its paper has no pool")
            continue
        by_pair = graders.get(query.query_id, {})
        assessors = set[str]().union(*(by_pair.get(doc_id, set()) for doc_id in decided.get(query.query_id, ())))
        if query.query_id not in decided:
            found.append(f"{name}: no pair is settled")
        elif len(assessors) != 2:
            found.append(f"{name}: {len(assessors)} assessors, the format has two a query")
        found += [
            f"{name}: assessor {one!r}, the format has names that begin with 'a'"
            for one in sorted(assessors)
            if not _ASSESSOR.fullmatch(one)
        ]
        pooled = {entry.doc_id for entry in pools[query.paper_id].entries}
        found += [
            f"{name}: {doc_id} is judged and not in the pool"
            for doc_id in sorted(set(decided.get(query.query_id, ())) - pooled)
        ]
    return tuple(dict.fromkeys(found))


def _bad_facets(material: Material) -> list[str]:
    return [facet for facet in _facets(material) if not _FACET.fullmatch(facet)]


def _facets(material: Material) -> list[str]:
    return sorted({query.facet for query in material.queries})


def _paper_id(pool: Pool) -> str:
    return pool.paper_id


def _ratings(facet: str, material: Material) -> dict[str, dict[str, list[Any]]]:
    given: dict[str, dict[str, dict[str, int | None]]] = {}
    for one in material.judgements:
        given.setdefault(one.query_id, {}).setdefault(one.assessor, {})[one.doc_id] = one.grade
    final = {(one.query_id, one.doc_id): one.grade for one in material.decisions}
    pools = {pool.paper_id: pool for pool in material.pools}
    entries: dict[str, dict[str, list[Any]]] = {}
    for query in sorted(material.queries, key=lambda query: query.query_id):
        if query.facet != facet:
            continue
        candidates = [entry.doc_id for entry in _drawn(pools[query.paper_id])]
        candidates = [doc_id for doc_id in candidates if (query.query_id, doc_id) in final]
        # A grade may be missing as a row, or as a row without a grade: both are -1 here.
        columns = {
            assessor: [MISSING if (grade := grades.get(doc_id)) is None else grade for doc_id in candidates]
            for assessor, grades in sorted(given[query.query_id].items())
            if not grades.keys().isdisjoint(candidates)
        }
        rows = list(zip(*columns.values(), strict=True))
        entries[query.paper_id] = {
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
    chosen = any(query.sentences != _by_label(query, papers, material.facet_labels) for query in material.queries)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(["pid", "facet", "year", "title", "paper type", *(["sentences"] if chosen else [])])
    for query in material.queries:
        paper = papers[query.paper_id]
        title = paper.title if with_text else ""
        row = [
            guarded(query.paper_id),
            query.facet,
            paper.year,
            guarded(title),
            material.paper_types.get(query.query_id, ""),
        ]
        writer.writerow([*row, *([" ".join(map(str, query.sentences))] if chosen else [])])
    return buffer.getvalue()


def _by_label(
    query: Query, papers: Mapping[str, Paper], facet_labels: Mapping[str, tuple[str, ...]]
) -> tuple[int, ...]:
    labels = papers[query.paper_id].labels or ()
    return tuple(at for at, label in enumerate(labels) if label in facet_labels.get(query.facet, ()))


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


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
