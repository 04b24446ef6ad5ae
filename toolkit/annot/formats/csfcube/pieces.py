"""The JSON and CSV files of a CSFCube release, each by itself."""

from __future__ import annotations

import csv
import io
import json
import math
from itertools import pairwise
from typing import Any, NamedTuple

from annot.formats.csfcube.readable import RatedPair
from annot.formats.faults import Faults, json_problem
from annot.formats.spreadsheet import unguarded

_RATING_PREFIX = "relevance_ann"
_QUERY_COLUMNS = ("pid", "facet", "year", "title", "paper type")


class ListedQuery(NamedTuple):
    """One row of `queries-release.csv`."""

    paper_id: str
    facet: str
    title: str
    paper_type: str


class ReleasedDraw(NamedTuple):
    """One candidate of a pool, in the order drawn, with the methods that had it; the first one drew it."""

    doc_id: str
    sources: tuple[str, ...]


def read_ratings(content: bytes, faults: Faults) -> dict[str, tuple[RatedPair, ...]]:
    """`test-pid2anns-csfcube-<facet>.json`: by query paper, its pairs in the file's order.

    Assessor `aX` is the one of `relevance_annX`. A rating of -1 is one that was never given: it becomes None.
    """
    return {
        query: pairs
        for query, entry in _entries(content, faults).items()
        if (pairs := _pairs(query, entry, faults)) is not None
    }


def _pairs(query: str, entry: dict[str, Any], faults: Faults) -> tuple[RatedPair, ...] | None:
    place = f"query {query}"
    before = len(faults.found)
    candidates = _ids(entry.get("cands"), place, faults)
    rated = sorted(key for key in entry if key.startswith(_RATING_PREFIX))
    if len(rated) != 2:
        faults.add(f"{len(rated)} lists of ratings ({_RATING_PREFIX}...), expected 2", place=place)
    columns: dict[str, list[int]] = {}
    for key in ("relevance_adju", *rated, *(k for k in ("relevance_max", "relevance_min") if k in entry)):
        values = entry.get(key)
        lowest = 0 if key == "relevance_adju" else -1
        if not isinstance(values, list):
            faults.add(f"no list {key!r}", place=place)
        elif len(values) != len(candidates):
            faults.add(f"{key} has {len(values)} values for {len(candidates)} candidates", place=place)
        elif wrong := [v for v in values if type(v) is not int or not lowest <= v <= 3]:
            faults.add(f"{key}: found {wrong[0]!r}, expected an integer from {lowest} to 3", place=place)
        else:
            columns[key] = values
    if len(faults.found) > before:
        return None
    pairs = []
    for row, doc_id in enumerate(candidates):
        given = [columns[key][row] for key in rated]
        for key, computed in (("relevance_max", max(given)), ("relevance_min", min(given))):
            if key in columns and columns[key][row] != computed:
                faults.add(f"candidate {doc_id}: {key} is {columns[key][row]}, the ratings are {given}", place=place)
        ratings = {
            "a" + key.removeprefix(_RATING_PREFIX): None if value == -1 else value
            for key, value in zip(rated, given, strict=True)
        }
        pairs.append(RatedPair(doc_id, columns["relevance_adju"][row], ratings))
    return tuple(pairs)


def read_pools(content: bytes, faults: Faults) -> dict[str, tuple[ReleasedDraw, ...]]:
    """`test-pid2pool-csfcube.json`: by query paper, its candidates in the order drawn."""
    pools = {}
    for query, entry in _entries(content, faults).items():
        place = f"query {query}"
        candidates = _ids(entry.get("cands"), place, faults)
        sources = entry.get("cand_source")
        if not isinstance(sources, list):
            faults.add("no list 'cand_source'", place=place)
        elif len(sources) != len(candidates):
            faults.add(f"cand_source has {len(sources)} values for {len(candidates)} candidates", place=place)
        elif wrong := [
            s for s in sources if not isinstance(s, list) or not s or not all(isinstance(m, str) for m in s)
        ]:
            faults.add(f"cand_source: found {wrong[0]!r}, expected a list of method names", place=place)
        else:
            pools[query] = tuple(ReleasedDraw(c, tuple(s)) for c, s in zip(candidates, sources, strict=True))
    return pools


def read_ranked_pools(content: bytes, faults: Faults) -> dict[str, tuple[tuple[str, float], ...]]:
    """`...-ranked.json`: by query paper, (candidate, distance), smallest distance first, in the file's order."""
    ranked = {}
    for query, entry in _object(content, faults).items():
        place = f"query {query}"
        if not isinstance(entry, list) or not all(
            isinstance(row, list)
            and len(row) == 2
            and isinstance(row[0], str)
            and isinstance(row[1], (int, float))
            and math.isfinite(row[1])
            for row in entry
        ):
            faults.add("expected a list of [candidate, distance], the distances finite", place=place)
            continue
        _ids([row[0] for row in entry], place, faults)
        for (_, nearer), (doc_id, farther) in pairwise(entry):
            if farther < nearer:
                faults.add(
                    f"candidate {doc_id}: distance {farther} after {nearer}, expected smallest first", place=place
                )
        ranked[query] = tuple((row[0], float(row[1])) for row in entry)
    return ranked


def read_splits(content: bytes, faults: Faults) -> dict[str, dict[str, tuple[tuple[str, str], ...]]]:
    """`evaluation_splits.json`: by facet (or `all`) and fold, the (query paper, facet) of each `<query>_<facet>`."""
    splits: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {}
    for facet, folds in _entries(content, faults).items():
        splits[facet] = {}
        for fold, names in folds.items():
            if not isinstance(names, list) or not all(isinstance(n, str) and "_" in n for n in names):
                faults.add("expected a list of '<query>_<facet>'", place=f"{facet}, {fold}")
                continue
            parts = [name.rpartition("_") for name in names]
            splits[facet][fold] = tuple((query, of_facet) for query, _, of_facet in parts)
            if len(set(names)) != len(names):
                faults.add("a query is there twice", place=f"{facet}, {fold}")
    return splits


def read_query_list(content: bytes, faults: Faults) -> tuple[ListedQuery, ...]:
    """`queries-release.csv`: `pid,facet,year,title,paper type`, line ends CRLF or LF."""
    text = _decoded(content, faults)
    if text is None:
        return ()
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [column for column in _QUERY_COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        faults.add(f"no column {', '.join(missing)}, expected {','.join(_QUERY_COLUMNS)}", line=1)
        return ()
    queries: dict[tuple[str, str], ListedQuery] = {}
    for row in rows:
        if None in row or None in row.values():
            faults.add(f"expected {len(_QUERY_COLUMNS)} columns", line=rows.line_num)
            continue
        query = ListedQuery(*(unguarded(row[column]) for column in ("pid", "facet", "title", "paper type")))
        if (query.paper_id, query.facet) in queries:
            faults.add(f"query {query.paper_id} with facet {query.facet} is there twice", line=rows.line_num)
        queries[query.paper_id, query.facet] = query
    return tuple(queries.values())


def _entries(content: bytes, faults: Faults) -> dict[str, dict[str, Any]]:
    """The members of a JSON object of objects."""
    entries = {}
    for key, value in _object(content, faults).items():
        if isinstance(value, dict):
            entries[key] = value
        else:
            faults.add("expected an object", place=key)
    return entries


def _object(content: bytes, faults: Faults) -> dict[str, Any]:
    text = _decoded(content, faults)
    if text is None:
        return {}

    def unrepeated(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) != len(members):
            names = [name for name, _ in members]
            for name in sorted({name for name in names if names.count(name) > 1}):
                faults.add(f"{name!r} is there twice in one object")
        return found

    try:
        value = json.loads(text, object_pairs_hook=unrepeated)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error), line=error.lineno if isinstance(error, json.JSONDecodeError) else None)
        return {}
    if not isinstance(value, dict):
        faults.add("expected one JSON object")
        return {}
    return value


def _decoded(content: bytes, faults: Faults) -> str | None:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        faults.add(f"not UTF-8: {error.reason}", line=content.count(b"\n", 0, error.start) + 1)
        return None


def _ids(value: Any, place: str, faults: Faults) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(doc_id, str) and doc_id for doc_id in value):
        faults.add("no list 'cands' of ids as strings", place=place)
        return []
    for doc_id in dict.fromkeys(doc_id for doc_id in value if value.count(doc_id) > 1):
        faults.add(f"candidate {doc_id} is there twice", place=place)
    return value
