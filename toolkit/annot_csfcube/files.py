"""A CSFCube release folder as one record, its files compared with each other; and a collection written as such a
folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annot.base.errors import Faults
from annot.base.names import counted, near
from annot.base.records import CITED, Decision, Draw, Judgement, Paper, Pool, PoolEntry, Query, Ranking, grouped, nested
from annot.formats.cleaning import CleanedPaper
from annot.formats.input_files import csv_of, json_lines

from annot_csfcube import contents

# ----------------------------------------------------------------------------------------------------------------------
# Writing a collection as a CSFCube release folder, the way `read_release` reads it.
#
# Mysore, O'Gorman, McCallum, Zamani: CSFCube, NeurIPS 2021 Datasets and Benchmarks, https://github.com/iesl/CSFCube.
# ----------------------------------------------------------------------------------------------------------------------


HIGHEST_GRADE = 3
MISSING = -1
_ASSESSOR = re.compile(r"a[0-9A-Za-z]+")
_FACET = re.compile(r"[^-_/\s]+")


@dataclass(frozen=True, slots=True)
class Material:
    """Records that a release is made from. `judgements` are those that count, one for each pair and assessor."""

    papers: tuple[Paper, ...]
    queries: tuple[Query, ...]
    """Queries in the order of the query list; one whose paper has no type gets an empty cell there."""
    pools: tuple[Pool, ...]
    judgements: tuple[Judgement, ...]
    decisions: tuple[Decision, ...]
    splits: Mapping[str, Mapping[str, tuple[str, ...]]]
    """Query ids by facet (or `all`) and fold."""
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
    files = {contents.POOLS_FILE: json_lines([{pool.topic_id: _written_pool(pool) for pool in pools}])}
    for facet in {query.facet for query in material.queries}:
        files[contents.ratings_name(facet)] = json_lines([_written_ratings(facet, material)])
    files[contents.QUERIES_FILE] = _query_list(material, papers, with_text)
    if material.splits:
        names = {query.query_id: f"{query.topic_id}_{query.facet}" for query in material.queries}
        splits = {
            facet: {fold: [names[query_id] for query_id in query_ids] for fold, query_ids in folds.items()}
            for facet, folds in material.splits.items()
        }
        files[contents.SPLITS_FILE] = json_lines([splits])
    if with_text:
        files[contents.PAPERS_FILE] = json_lines(_paper(paper) for _, paper in sorted(papers.items()))
    return {folder + path: text.encode("utf-8") for path, text in sorted(files.items())}


def misfits(material: Material) -> tuple[str, ...]:
    """Parts of the material that the format has no place for, in words; empty when the material fits.

    The format has two assessors a query, named `a` and something, grades 0 to 3, and facets without `-`, `_` and `/`.
    """
    grades = [(judgement.query_id, judgement.grade) for judgement in material.judgements]
    grades += [(decision.query_id, decision.grade) for decision in material.decisions]
    faults = [
        f"query {query_id}: grade {grade}, expected 0 to {HIGHEST_GRADE}"
        for query_id, grade in grades
        if grade is not None and not 0 <= grade <= HIGHEST_GRADE
    ]
    faults += [
        f"facet {facet!r}: expected a name without '-', '_', '/' and white space"
        for facet in sorted({query.facet for query in material.queries})
        if not _FACET.fullmatch(facet)
    ]
    pooled = {pool.topic_id: {entry.doc_id for entry in pool.entries} for pool in material.pools}
    decided = nested((*decision.pair, decision.grade) for decision in material.decisions)
    judged = grouped((judgement.query_id, judgement) for judgement in material.judgements)
    for query in material.queries:
        name, settled = f"query {query.query_id}", decided.get(query.query_id, {}).keys()
        if query.topic_id not in pooled:
            faults.append(f"{name}: its paper has no pool")
            continue
        team = {judgement.assessor for judgement in judged.get(query.query_id, ()) if judgement.doc_id in settled}
        faults += _misfits_of_team(name, team, settled=bool(settled))
        outside = sorted(settled - pooled[query.topic_id])
        faults += [f"{name}: {doc_id} is judged but not in the pool" for doc_id in outside]
    return tuple(dict.fromkeys(faults))


def _misfits_of_team(name: str, team: Collection[str], *, settled: bool) -> Iterator[str]:
    """Faults of a query's assessors. settled: False if no pair of the query has a final grade."""
    if not settled:
        yield f"{name}: no pair is settled"
    elif len(team) != 2:
        yield f"{name}: {counted(len(team), 'assessor')}, expected two per query"
    for assessor in sorted(team):
        if not _ASSESSOR.fullmatch(assessor):
            yield f"{name}: assessor {assessor!r}, expected a name that begins with 'a'"


def _written_ratings(facet: str, material: Material) -> dict[str, dict[str, list[Any]]]:
    of_each = nested(
        ((judgement.query_id, judgement.assessor), judgement.doc_id, judgement.grade)
        for judgement in material.judgements
    )
    grades_by_assessor = nested((query_id, assessor, grades) for (query_id, assessor), grades in of_each.items())
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
            for assessor, grades in sorted(grades_by_assessor[query.query_id].items())
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


def _written_pool(pool: Pool) -> dict[str, list[Any]]:
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
    return tuple(position for position, label in enumerate(paper.labels or ()) if label in labels)


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


# ----------------------------------------------------------------------------------------------------------------------
# Holding the files of a CSFCube release against each other, and cutting them down to the facets that are rated.
# ----------------------------------------------------------------------------------------------------------------------


Ratings = Mapping[str, tuple[contents.RatedPair, ...]]
"""Rated pairs by query id. Queries are in the query list's order, else by facet and id; pairs in the file's order, by
document id if they come from a readable file."""


@dataclass(frozen=True, slots=True)
class CsfcubeFacts:
    """Counts and ids; queries as `<paper_id>-<facet>`."""

    papers_from: str
    """`abstracts-csfcube-preds.jsonl`, or `readable_annotations` where that file is missing."""
    missing_ratings: int
    """Ratings of -1, imported as missing."""
    dropped_candidates: dict[str, int]
    """Number of pools of each candidate that was left out because it has no rating and no text, by id."""
    self_candidates: tuple[str, ...]
    """Query papers that are candidates of their own pools."""
    pools_in_order: bool
    """True if the order of drawing is known; the readable files do not have it."""
    corrected_queries: tuple[str, ...]
    """Query papers whose labels in the readable files replaced those of the papers file."""
    differing_papers: tuple[str, ...]
    """Papers whose text or (candidates) labels are not the same in both; those of the papers file stay."""
    left_out: tuple[str, ...]
    """Queries of the list, the splits or the runs whose facet has no ratings in this folder."""
    unranked: tuple[tuple[str, str, str], ...]
    """(tag, query, candidate) where a run leaves out a rated candidate."""


@dataclass(frozen=True, slots=True)
class Release(Material):
    """Everything in a release folder, whole or partial, in our records.

    Papers are in the papers file's order, else by number. A query paper has the cited papers of its pool as citations
    where the file gives none: those are the ones the release knows of. Queries are in the query list's order, else by
    facet and id; the types of their papers are in the release's own words, and without a list there are none.

    Pools are without ranks, scores and seeds, which the release does not tell. `turn` is the place in the released
    pool, from 1, with gaps where a candidate was dropped; None if the order is not known. `per_method` counts
    dropped candidates; it is None if it is not the same for all methods, or not known. `also` is empty for cited
    papers, which share one list per pool.
    """

    facets: tuple[str, ...]
    runs: Mapping[str, dict[str, Ranking]]
    """Each engine's rankings of the pools by its tag, with the negated distances as scores."""
    changed: tuple[CleanedPaper, ...]
    """The papers whose text is not that of the release, since it was cleaned."""
    facts: CsfcubeFacts


def read_release(
    files: Mapping[str, bytes], *, name: str, known_labels: Collection[str], facet_labels: Mapping[str, tuple[str, ...]]
) -> Release:
    """The release in `files`: contents by path relative to its folder, with `/`. `name` is the folder in messages.

    Whole or partial: the facets are those with ratings, in `test-pid2anns-csfcube-<facet>.json` or, where that is
    missing, in `readable_annotations/`. Papers come from `abstracts-csfcube-preds.jsonl`, else from the readable
    files, and so do pools, then without the order of drawing. What both have is compared: grades, ratings and sources
    that differ are faults; text and labels that differ are counted, and a query's labels are taken from its readable
    file, where they were corrected by hand. Query list, splits and runs may be absent.

    `known_labels`: the labels that sentences may have; `facet_labels`: those that make each facet. Titles and
    sentences are cleaned, as `paper_records.paper_of` does. Assessor `a3` is the one of `relevance_ann3`. A rating
    of -1 has grade None.
    Raises MissingInput when the folder has no ratings, else InputError with every fault, by file and place.
    """
    read = contents.read_files(files, name=name, known_labels=known_labels)
    faults = Faults(name)
    ratings = _fitting_ratings(read, faults)
    papers, corrected, differing = _papers(read, ratings, faults)
    pools, dropped = _fitted_pools(read, ratings, papers, faults)
    splits = _splits(read, ratings, faults)
    runs, unranked = _runs(read, ratings, faults)
    faults.raise_if_any(hint="the files of the release contradict each other: download it again, or correct them")
    queries = _queries(read, ratings, papers, facet_labels, faults)
    faults.raise_if_any()
    rated = [(query_id, pair) for query_id, pairs in ratings.items() for pair in pairs]
    return Release(
        facets=read.facets,
        facet_labels=facet_labels,
        papers=tuple(_with_citations(paper, pools.get(paper.paper_id)) for paper in papers.values()),
        queries=queries,
        pools=tuple(pools.values()),
        judgements=tuple(
            Judgement(query_id, pair.doc_id, assessor, grade)
            for query_id, pair in rated
            for assessor, grade in pair.ratings.items()
        ),
        decisions=tuple(
            Decision(
                query_id,
                pair.doc_id,
                pair.grade,
                "agreed" if {*pair.ratings.values()} == {pair.grade} else "adjudicated",
            )
            for query_id, pair in rated
        ),
        splits=splits,
        runs=runs,
        changed=tuple(read.changed[paper_id] for paper_id in papers if paper_id in read.changed),
        facts=CsfcubeFacts(
            papers_from=read.papers_from,
            missing_ratings=sum(grade is None for _, pair in rated for grade in pair.ratings.values()),
            dropped_candidates=dict(sorted(dropped.items())),
            self_candidates=tuple(
                paper_id for paper_id, pool in pools.items() if paper_id in {entry.doc_id for entry in pool.entries}
            ),
            pools_in_order=read.pools is not None,
            corrected_queries=tuple(sorted(corrected)),
            differing_papers=tuple(sorted(differing)),
            left_out=tuple(
                sorted(query_id for query_id in read.listed if contents.facet_of(query_id) not in read.facets)
            ),
            unranked=unranked,
        ),
    )


def _fitting_ratings(read: contents.Files, faults: Faults) -> Ratings:
    """Ratings from JSON, else from the readable files; where both are there they must agree."""
    rated = {f"{query}-{facet}": pairs for facet, queries in read.ratings.items() for query, pairs in queries.items()}
    for query_id, readable in read.readable.items():
        paper_id, facet = contents.paper_and_facet(query_id)
        if paper_id != readable.query.paper_id:
            faults.add(
                f"its query is {readable.query.paper_id}, expected {paper_id}", place=contents.readable_name(query_id)
            )
        if facet not in read.ratings:
            rated[query_id] = tuple(sorted(readable.pairs.values()))
        elif query_id not in rated:
            faults.add(f"not a query of {contents.ratings_name(facet)}", place=contents.readable_name(query_id))
        else:
            _compare_ratings(query_id, rated[query_id], readable, faults)
    order: Iterable[str] = sorted(rated, key=lambda query_id: contents.paper_and_facet(query_id)[::-1])
    if read.paper_types is not None:
        for query_id in sorted(rated.keys() - read.paper_types.keys()):
            paper_id, facet = contents.paper_and_facet(query_id)
            faults.add(f"query {paper_id} is rated for facet {facet} but not listed", place=contents.QUERIES_FILE)
        order = _rated(read.paper_types, rated, read, faults, place=contents.QUERIES_FILE)
    return {query_id: rated[query_id] for query_id in order}


def _compare_ratings(
    query_id: str, pairs: Iterable[contents.RatedPair], readable: contents.ReadableFile, faults: Faults
) -> None:
    rated = {pair.doc_id: pair for pair in pairs}
    for doc_id in dict.fromkeys([*rated, *readable.pairs]):
        in_ratings, other = rated.get(doc_id), readable.pairs.get(doc_id)
        if in_ratings != other:
            name = contents.ratings_name(contents.facet_of(query_id))
            problem = f"candidate {doc_id}: {_in_words(other)}, {name} has {_in_words(in_ratings)}"
            faults.add(problem, place=contents.readable_name(query_id))


def _in_words(pair: contents.RatedPair | None) -> str:
    return "no such candidate" if pair is None else f"grade {pair.grade} and ratings {pair.ratings}"


def _papers(read: contents.Files, ratings: Ratings, faults: Faults) -> tuple[dict[str, Paper], set[str], set[str]]:
    """Papers from their file, else from the readable ones; those whose labels as queries were corrected in the
    readable files, with these labels; and those that differ there."""
    readable = {paper.paper_id: paper for file in read.readable.values() for paper in file.papers.values()}
    readable |= {file.query.paper_id: file.query for file in read.readable.values()}
    papers = dict(
        sorted(readable.items(), key=lambda item: (len(item[0]), item[0])) if read.papers is None else read.papers
    )
    differing: set[str] = set()
    corrected: dict[str, tuple[str, Paper]] = {}
    for query_id, file in read.readable.items():
        paper_id, _ = contents.paper_and_facet(query_id)
        for paper in file.papers.values():
            first_paper = papers.get(paper.paper_id, paper)
            if replace(first_paper, citations=(), labels=paper.labels) != paper or (
                first_paper.labels != paper.labels and paper.paper_id != paper_id
            ):
                differing.add(paper.paper_id)
        earlier_id, earlier = corrected.setdefault(paper_id, (query_id, file.query))
        if earlier.labels != file.query.labels:
            faults.add(
                f"the labels of the query differ from those in {contents.readable_name(earlier_id)}",
                place=contents.readable_name(query_id),
            )
    changed = {
        paper_id: replace(first_paper, labels=query.labels)
        for paper_id, (_, query) in corrected.items()
        if (first_paper := papers.get(paper_id, query)).sentences == query.sentences
        and first_paper.labels != query.labels
    }
    papers |= changed
    for query_id, pairs in ratings.items():
        for paper_id in (contents.paper_and_facet(query_id)[0], *(pair.doc_id for pair in pairs)):
            if paper_id not in papers:
                faults.add(f"no paper {paper_id}, which is rated in {query_id}", place=read.papers_from)
    return papers, set(changed), differing


def _queries(
    read: contents.Files,
    ratings: Ratings,
    papers: Mapping[str, Paper],
    facet_labels: Mapping[str, tuple[str, ...]],
    faults: Faults,
) -> tuple[Query, ...]:
    for facet in read.facets:
        if facet not in facet_labels:
            place = contents.ratings_name(facet) if facet in read.ratings else contents.READABLE_FOLDER
            faults.add(f"facet {facet!r}: {near(facet, facet_labels)}", place=place)
    queries = []
    for query_id in ratings:
        paper_id, facet = contents.paper_and_facet(query_id)
        labels = facet_labels.get(facet, ())
        sentences = positions_of(papers[paper_id], labels)
        if labels and not sentences:
            faults.add(f"query {paper_id} has no sentence of its facet {facet}", place=read.papers_from)
        queries.append(Query(query_id, paper_id, facet, sentences, (read.paper_types or {}).get(query_id) or None))
    return tuple(queries)


def _fitted_pools(
    read: contents.Files, ratings: Ratings, papers: Mapping[str, Paper], faults: Faults
) -> tuple[dict[str, Pool], Counter[str]]:
    """Pools of the rated queries; and how often a candidate without rating and without text was dropped."""
    rated: dict[str, set[str]] = {}
    sources: dict[str, dict[str, tuple[str, ...]]] = {}
    for query_id, pairs in ratings.items():
        paper_id, _ = contents.paper_and_facet(query_id)
        rated.setdefault(paper_id, set()).update(pair.doc_id for pair in pairs)
        if query_id in read.readable:
            sources.setdefault(paper_id, {}).update(read.readable[query_id].sources)
    pools: dict[str, Pool] = {}
    dropped = Counter[str]()
    for paper_id, doc_ids in rated.items():
        readable = sources.get(paper_id, {})
        drawn = dict(sorted(readable.items())) if read.pools is None else read.pools.get(paper_id)
        if drawn is None:
            faults.add(f"no pool of query {paper_id}", place=contents.POOLS_FILE)
            continue
        for doc_id, methods in drawn.items():
            if (also := readable.get(doc_id, methods)) != methods:
                faults.add(
                    f"query {paper_id}, candidate {doc_id}: sources {' - '.join(methods)}, "
                    f"{contents.READABLE_FOLDER} has {' - '.join(also)}",
                    place=contents.POOLS_FILE,
                )
        missing = sorted(doc_ids - drawn.keys())
        if not missing:
            used_ids = doc_ids | papers.keys()
            dropped.update(drawn.keys() - used_ids)
            pools[paper_id] = _fitting_pool(paper_id, drawn, used_ids, in_order=read.pools is not None)
        elif read.pools is not None:
            for doc_id in missing:
                faults.add(
                    f"query {paper_id}: candidate {doc_id} is rated but not in the pool", place=contents.POOLS_FILE
                )
    return pools, dropped


def _fitting_pool(
    paper_id: str, drawn: Mapping[str, tuple[str, ...]], used_ids: Collection[str], *, in_order: bool
) -> Pool:
    entries = tuple(
        PoolEntry(
            doc_id,
            Draw(methods[0], None, None, turn if in_order else None),
            tuple(Draw(method, None, None, None) for method in methods[1:] if methods[0] != CITED),
        )
        for turn, (doc_id, methods) in enumerate(drawn.items(), 1)
        if doc_id in used_ids
    )
    counts = Counter(methods[0] for methods in drawn.values() if methods[0] != CITED)
    quotas = {*counts.values()}
    drawing = list(dict.fromkeys(entry.drawn.method for entry in entries))
    if not in_order:
        drawing.sort(key=lambda method: (method != CITED, method))
    return Pool(
        topic_id=paper_id,
        mode="blocks",
        per_method=quotas.pop() if in_order and len(quotas) == 1 else None,
        ranking_depth=None,
        seed=None,
        methods=tuple(drawing),
        without=(),
        dry=(),
        cited_outside=None,
        entries=entries,
    )


def _with_citations(paper: Paper, pool: Pool | None) -> Paper:
    if pool is None or paper.citations:
        return paper
    cited = (entry.doc_id for entry in pool.entries if entry.drawn.method == CITED)
    return replace(paper, citations=tuple(sorted(doc_id for doc_id in cited if doc_id != paper.paper_id)))


def _splits(read: contents.Files, ratings: Ratings, faults: Faults) -> dict[str, dict[str, tuple[str, ...]]]:
    splits = {
        facet: {
            fold: _rated(query_ids, ratings, read, faults, place=f"{contents.SPLITS_FILE}: {facet}, {fold}")
            for fold, query_ids in folds.items()
        }
        for facet, folds in read.splits.items()
    }
    return {facet: folds for facet, folds in splits.items() if any(folds.values())}


def _runs(
    read: contents.Files, ratings: Ratings, faults: Faults
) -> tuple[dict[str, dict[str, Ranking]], tuple[tuple[str, str, str], ...]]:
    """The runs by tag, and (tag, query, candidate) of each rated candidate that one leaves out."""
    runs: dict[str, dict[str, Ranking]] = {}
    unranked = []
    for (tag, facet), rankings in read.runs.items():
        place = contents.ranked_name(tag, facet)
        by_id = {f"{query}-{facet}": ranking for query, ranking in rankings.items()}
        for query_id in _rated(by_id, ratings, read, faults, place=place):
            rated = [pair.doc_id for pair in ratings[query_id]]
            ranked = [doc_id for doc_id, _ in by_id[query_id]]
            for doc_id in ranked:
                if doc_id not in rated:
                    query = contents.paper_and_facet(query_id)[0]
                    faults.add(f"query {query}: candidate {doc_id} is not in its pool", place=place)
            unranked += [(tag, query_id, doc_id) for doc_id in rated if doc_id not in ranked]
            runs.setdefault(tag, {})[query_id] = by_id[query_id]
    return runs, tuple(unranked)


def _rated(
    query_ids: Iterable[str], rated: Collection[str], read: contents.Files, faults: Faults, *, place: str
) -> tuple[str, ...]:
    """Rated queries, in their order; queries of a facet without any ratings are left out."""
    for query_id in query_ids:
        paper_id, facet = contents.paper_and_facet(query_id)
        if query_id not in rated and facet in read.facets:
            faults.add(f"query {paper_id} has no ratings for facet {facet}", place=place)
    return tuple(query_id for query_id in query_ids if query_id in rated)
