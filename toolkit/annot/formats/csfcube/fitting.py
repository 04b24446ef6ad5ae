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
    QueryKey,
    ranked_name,
    ratings_name,
    readable_name,
)
from annot.formats.csfcube.pieces import ReleasedDraw
from annot.formats.csfcube.readable import RatedPair, ReadableFile
from annot.formats.faults import Faults
from annot.records import Paper


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
    pools: dict[str, dict[int, ReleasedDraw]] = field(default_factory=dict)
    """Candidates by their place in the released pool, from 1; in the readable files' case by id."""
    draw_order: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The drawing method of each candidate of the released pool, dropped ones included; only where it is known."""
    splits: dict[str, dict[str, tuple[QueryKey, ...]]] = field(default_factory=dict)
    pools_in_order: bool = True
    runs: dict[str, dict[QueryKey, tuple[tuple[str, float], ...]]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    unrated: int = 0
    corrected: set[str] = field(default_factory=set)
    text_differs: set[str] = field(default_factory=set)
    labels_differ: set[str] = field(default_factory=set)
    left_out: set[QueryKey] = field(default_factory=set)
    unranked: list[tuple[str, QueryKey, str]] = field(default_factory=list)


def fit(files: Files, *, name: str) -> Folder:
    """The content of `files` as one. Raises InputError with everything in which they contradict each other."""
    faults = Faults(name)
    folder = Folder(pools_in_order=files.pools is not None)
    _fit_ratings(folder, files, faults)
    _fit_papers(folder, files, faults)
    _fit_pools(folder, files, faults)
    _fit_splits(folder, files, faults)
    _fit_runs(folder, files, faults)
    faults.raise_if_any(hint="the files of the release do not fit each other: get it anew, or mend them")
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
    order = sorted(rated, key=lambda key: (key[1], key[0]))
    if files.queries is not None:
        listed = {(row.paper_id, row.facet): row.paper_type for row in files.queries}
        for key in listed:
            if key[1] not in folder.facets:
                folder.left_out.add(key)
            elif key not in rated:
                faults.add(f"query {key[0]} is listed with facet {key[1]}, which has no ratings", place=QUERIES_FILE)
        for key in rated:
            if key not in listed:
                faults.add(f"query {key[0]} is rated for facet {key[1]} and not listed", place=QUERIES_FILE)
        order = [key for key in listed if key in rated]
        folder.paper_types = {key: listed[key] for key in order}
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
        by_id: dict[str, Paper] = {}
        for file in readable.values():
            by_id[file.query.paper_id] = file.query
        for file in readable.values():
            for paper in file.papers.values():
                by_id.setdefault(paper.paper_id, paper)
        folder.papers = dict(sorted(by_id.items(), key=lambda item: (len(item[0]), item[0])))
    corrected: dict[str, tuple[QueryKey, Paper]] = {}
    for key, file in readable.items():
        for paper in file.papers.values():
            _compare_text(folder, paper, is_query=paper.paper_id == key[0])
        earlier_key, earlier = corrected.setdefault(key[0], (key, file.query))
        if earlier.labels != file.query.labels:
            faults.add(f"labels of the query other than in {readable_name(earlier_key)}", place=readable_name(key))
    for paper_id, (_, query) in corrected.items():
        known = folder.papers.get(paper_id)
        if known is not None and known.sentences == query.sentences and known.labels != query.labels:
            folder.papers[paper_id] = replace(known, labels=query.labels)
            folder.corrected.add(paper_id)
    for key, pairs in folder.ratings.items():
        for paper_id in (key[0], *(pair.doc_id for pair in pairs)):
            if paper_id not in folder.papers:
                faults.add(f"no paper {paper_id}, which is rated in {'-'.join(key)}", place=folder.papers_from)


def _compare_text(folder: Folder, paper: Paper, *, is_query: bool) -> None:
    known = folder.papers.get(paper.paper_id)
    if known is None:
        return
    if (known.title, known.sentences, known.year) != (paper.title, paper.sentences, paper.year):
        folder.text_differs.add(paper.paper_id)
    elif known.labels != paper.labels and not is_query:
        folder.labels_differ.add(paper.paper_id)


def _fit_pools(folder: Folder, files: Files, faults: Faults) -> None:
    """Pools of the rated queries; a candidate without rating and without text is dropped."""
    rated: dict[str, set[str]] = {}
    for (query, _), pairs in folder.ratings.items():
        rated.setdefault(query, set()).update(pair.doc_id for pair in pairs)
    sources: dict[str, dict[str, tuple[str, ...]]] = {}
    for key, file in files.readable.items():
        if key in folder.ratings:
            sources.setdefault(key[0], {}).update(file.sources)
    for query, doc_ids in rated.items():
        if files.pools is None:
            drawn = [ReleasedDraw(doc_id, tuple(names)) for doc_id, names in sorted(sources.get(query, {}).items())]
        elif query not in files.pools:
            faults.add(f"no pool of query {query}", place=POOLS_FILE)
            continue
        else:
            drawn = list(files.pools[query])
            folder.draw_order[query] = tuple(candidate.sources[0] for candidate in drawn)
        pool = {}
        for position, candidate in enumerate(drawn, 1):
            told = sources.get(query, {}).get(candidate.doc_id, candidate.sources)
            if told != candidate.sources:
                faults.add(
                    f"query {query}, candidate {candidate.doc_id}: sources {' - '.join(candidate.sources)}, "
                    f"{READABLE_FOLDER} has {' - '.join(told)}",
                    place=POOLS_FILE,
                )
            if candidate.doc_id not in doc_ids and candidate.doc_id not in folder.papers:
                folder.dropped[candidate.doc_id] += 1
                continue
            folder.unrated += candidate.doc_id not in doc_ids
            pool[position] = candidate
        missing = doc_ids - {candidate.doc_id for candidate in pool.values()}
        if files.pools is not None:
            for doc_id in sorted(missing):
                faults.add(f"query {query}: candidate {doc_id} is rated and not in the pool", place=POOLS_FILE)
        if not missing:
            folder.pools[query] = pool


def _fit_splits(folder: Folder, files: Files, faults: Faults) -> None:
    for facet, folds in (files.splits or {}).items():
        cut = {
            fold: _known_queries(folder, keys, f"{SPLITS_FILE}: {facet}, {fold}", faults)
            for fold, keys in folds.items()
        }
        if any(cut.values()):
            folder.splits[facet] = cut


def _fit_runs(folder: Folder, files: Files, faults: Faults) -> None:
    for (tag, facet), queries in files.runs.items():
        place = ranked_name(tag, facet)
        for key in _known_queries(folder, [(query, facet) for query in queries], place, faults):
            rows = queries[key[0]]
            rated = {pair.doc_id: None for pair in folder.ratings[key]}
            for doc_id, _ in rows:
                if doc_id not in rated:
                    faults.add(f"query {key[0]}: candidate {doc_id} is not in its pool", place=place)
            ranked = {doc_id for doc_id, _ in rows}
            folder.unranked += [(tag, key, doc_id) for doc_id in rated if doc_id not in ranked]
            folder.runs.setdefault(tag, {})[key] = rows


def _known_queries(folder: Folder, keys: Iterable[QueryKey], place: str, faults: Faults) -> tuple[QueryKey, ...]:
    known = []
    for key in keys:
        if key in folder.ratings:
            known.append(key)
        elif key[1] in folder.facets:
            faults.add(f"query {key[0]} has no ratings for facet {key[1]}", place=place)
        else:
            folder.left_out.add(key)
    return tuple(known)
