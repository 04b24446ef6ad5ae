"""Holding the files of a CSFCube release against each other, and cutting them down to the facets that are rated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from annot.formats.csfcube.contents import (
    PAPERS_FILE,
    POOLS_FILE,
    QUERIES_FILE,
    READABLE_FOLDER,
    SPLITS_FILE,
    Files,
    ranked_name,
    ratings_name,
    readable_name,
)
from annot.formats.csfcube.pieces import QueryKey
from annot.formats.csfcube.readable import RatedPair, ReadableFile
from annot.formats.faults import Faults
from annot.records import Paper

CITED = "cited"


@dataclass(slots=True)
class Folder:
    """The release's content, consistent, with what was counted on the way."""

    facets: tuple[str, ...] = ()
    papers: dict[str, Paper] = field(default_factory=dict)
    papers_from: str = PAPERS_FILE
    ratings: dict[QueryKey, tuple[RatedPair, ...]] = field(default_factory=dict)
    """In the query list's order; the pairs in the file's order, by id where they come from a readable file."""
    ratings_from: dict[str, str] = field(default_factory=dict)
    paper_types: dict[QueryKey, str] = field(default_factory=dict)
    pools: dict[str, dict[int, tuple[str, tuple[str, ...]]]] = field(default_factory=dict)
    """By query paper and place in the released pool, from 1 (by id where only readable files tell): a candidate and
    the methods that had it; the first one drew it."""
    quotas: dict[str, int | None] = field(default_factory=dict)
    """What each method drew, dropped candidates included; None when that is not the same for all, or not known."""
    pools_in_order: bool = True
    splits: dict[str, dict[str, tuple[QueryKey, ...]]] = field(default_factory=dict)
    runs: dict[str, dict[QueryKey, list[tuple[str, float]]]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    corrected: set[str] = field(default_factory=set)
    differing: set[str] = field(default_factory=set)
    left_out: set[QueryKey] = field(default_factory=set)
    unranked: list[tuple[str, QueryKey, str]] = field(default_factory=list)


def fit(files: Files, *, name: str) -> Folder:
    """The content of `files` as one. Raises InputError with everything in which they contradict each other."""
    faults = Faults(name)
    folder = Folder(pools_in_order=files.pools is not None)
    for fit_part in (_fit_ratings, _fit_papers, _fit_pools, _fit_splits, _fit_runs):
        fit_part(folder, files, faults)
    faults.raise_if_any(hint="the files of the release do not fit each other: download it again, or correct them")
    return folder


def _fit_ratings(folder: Folder, files: Files, faults: Faults) -> None:
    """Ratings from JSON, else from the readable files; where both are there they must agree."""
    rated = {(query, facet): pairs for facet, queries in files.ratings.items() for query, pairs in queries.items()}
    folder.ratings_from = {facet: ratings_name(facet) for facet in files.ratings}
    for key, readable in files.readable.items():
        if key[0] != readable.query.paper_id:
            faults.add(f"its query is {readable.query.paper_id}, expected {key[0]}", place=readable_name(key))
        if key[1] not in files.ratings:
            rated[key] = tuple(sorted(readable.pairs))
            folder.ratings_from[key[1]] = READABLE_FOLDER
        elif key not in rated:
            faults.add(f"not a query of {ratings_name(key[1])}", place=readable_name(key))
        else:
            _compare_ratings(key, rated[key], readable, faults)
    folder.facets = tuple(sorted(folder.ratings_from))
    order: Iterable[QueryKey] = sorted(rated, key=lambda key: (key[1], key[0]))
    if files.queries is not None:
        for query, facet in _known_queries(folder, rated, files.queries, QUERIES_FILE, faults):
            folder.paper_types[query, facet] = files.queries[query, facet]
        for query, facet in sorted(rated.keys() - files.queries.keys()):
            faults.add(f"query {query} is rated for facet {facet} and not listed", place=QUERIES_FILE)
        order = folder.paper_types
    folder.ratings = {key: rated[key] for key in order}


def _compare_ratings(key: QueryKey, pairs: Iterable[RatedPair], readable: ReadableFile, faults: Faults) -> None:
    other = {pair.doc_id: pair for pair in readable.pairs}
    for pair in pairs:
        told = other.pop(pair.doc_id, None)
        if told is None:
            faults.add(f"no candidate {pair.doc_id}, which {ratings_name(key[1])} has", place=readable_name(key))
        elif told != pair:
            faults.add(
                f"candidate {pair.doc_id}: grade {told.grade} and ratings {told.ratings}, "
                f"{ratings_name(key[1])} has {pair.grade} and {pair.ratings}",
                place=readable_name(key),
            )
    for doc_id in other:
        faults.add(f"candidate {doc_id} is not in {ratings_name(key[1])}", place=readable_name(key))


def _fit_papers(folder: Folder, files: Files, faults: Faults) -> None:
    """Papers from their file, else from the readable ones; query labels as corrected in the readable files."""
    readable = {key: files.readable[key] for key in sorted(files.readable) if key[1] in folder.facets}
    if files.papers is not None:
        folder.papers = dict(files.papers)
    else:
        folder.papers_from = READABLE_FOLDER
        told = {paper.paper_id: paper for file in readable.values() for paper in file.papers.values()}
        told |= {file.query.paper_id: file.query for file in readable.values()}
        folder.papers = dict(sorted(told.items(), key=lambda item: (len(item[0]), item[0])))
    corrected: dict[str, tuple[QueryKey, Paper]] = {}
    for key, file in readable.items():
        for paper in file.papers.values():
            known = folder.papers.get(paper.paper_id, paper)
            if replace(known, citations=(), labels=paper.labels) != paper or (
                known.labels != paper.labels and paper.paper_id != key[0]
            ):
                folder.differing.add(paper.paper_id)
        earlier_key, earlier = corrected.setdefault(key[0], (key, file.query))
        if earlier.labels != file.query.labels:
            faults.add(f"labels of the query other than in {readable_name(earlier_key)}", place=readable_name(key))
    for paper_id, (_, query) in corrected.items():
        known = folder.papers.get(paper_id, query)
        if known.sentences == query.sentences and known.labels != query.labels:
            folder.papers[paper_id] = replace(known, labels=query.labels)
            folder.corrected.add(paper_id)
    for key, pairs in folder.ratings.items():
        for paper_id in (key[0], *(pair.doc_id for pair in pairs)):
            if paper_id not in folder.papers:
                faults.add(f"no paper {paper_id}, which is rated in {'-'.join(key)}", place=folder.papers_from)


def _fit_pools(folder: Folder, files: Files, faults: Faults) -> None:
    """Pools of the rated queries; a candidate without rating and without text is dropped."""
    rated: dict[str, set[str]] = {}
    sources: dict[str, dict[str, tuple[str, ...]]] = {}
    for key, pairs in folder.ratings.items():
        rated.setdefault(key[0], set()).update(pair.doc_id for pair in pairs)
        if key in files.readable:
            sources.setdefault(key[0], {}).update(files.readable[key].sources)
    for query, doc_ids in rated.items():
        readable = sources.get(query, {})
        drawn = dict(sorted(readable.items())) if files.pools is None else files.pools.get(query)
        if drawn is None:
            faults.add(f"no pool of query {query}", place=POOLS_FILE)
            continue
        counts = Counter(methods[0] for methods in drawn.values() if methods[0] != CITED)
        same_for_all = files.pools is not None and len(set(counts.values())) == 1
        folder.quotas[query] = max(counts.values()) if same_for_all else None
        pool = {}
        for position, (doc_id, methods) in enumerate(drawn.items(), 1):
            told = readable.get(doc_id, methods)
            if told != methods:
                faults.add(
                    f"query {query}, candidate {doc_id}: sources {' - '.join(methods)}, "
                    f"{READABLE_FOLDER} has {' - '.join(told)}",
                    place=POOLS_FILE,
                )
            if doc_id in doc_ids or doc_id in folder.papers:
                pool[position] = (doc_id, methods)
            else:
                folder.dropped[doc_id] += 1
        missing = sorted(doc_ids - drawn.keys())
        if not missing:
            folder.pools[query] = pool
        elif files.pools is not None:
            for doc_id in missing:
                faults.add(f"query {query}: candidate {doc_id} is rated and not in the pool", place=POOLS_FILE)


def _fit_splits(folder: Folder, files: Files, faults: Faults) -> None:
    for facet, folds in files.splits.items():
        cut = {
            fold: _known_queries(folder, folder.ratings, keys, f"{SPLITS_FILE}: {facet}, {fold}", faults)
            for fold, keys in folds.items()
        }
        if any(cut.values()):
            folder.splits[facet] = cut


def _fit_runs(folder: Folder, files: Files, faults: Faults) -> None:
    for (tag, facet), queries in files.runs.items():
        place = ranked_name(tag, facet)
        for key in _known_queries(folder, folder.ratings, [(query, facet) for query in queries], place, faults):
            rows = queries[key[0]]
            rated = [pair.doc_id for pair in folder.ratings[key]]
            ranked = [doc_id for doc_id, _ in rows]
            for doc_id in ranked:
                if doc_id not in rated:
                    faults.add(f"query {key[0]}: candidate {doc_id} is not in its pool", place=place)
            folder.unranked += [(tag, key, doc_id) for doc_id in rated if doc_id not in ranked]
            folder.runs.setdefault(tag, {})[key] = rows


def _known_queries(
    folder: Folder, rated: Iterable[QueryKey], keys: Iterable[QueryKey], place: str, faults: Faults
) -> tuple[QueryKey, ...]:
    """Those of `keys` that are rated; queries of a facet without any ratings are left out."""
    known = []
    for key in keys:
        if key in rated:
            known.append(key)
        elif key[1] in folder.facets:
            faults.add(f"query {key[0]} has no ratings for facet {key[1]}", place=place)
        else:
            folder.left_out.add(key)
    return tuple(known)
