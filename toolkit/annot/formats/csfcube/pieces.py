"""The JSON and CSV files of a CSFCube release, each by itself."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from annot.formats.csfcube.readable import RatedPair
from annot.formats.faults import Faults, json_problem
from annot.formats.json_lines import in_words
from annot.formats.spreadsheet import unguarded

_RATING_PREFIX = "relevance_ann"
_QUERY_COLUMNS = ("pid", "facet", "year", "title", "paper type")

T = TypeVar("T")
QueryKey = tuple[str, str]
"""A query paper and a facet."""


def _unrepeated(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is there twice")
    return names


_Text = Annotated[str, Strict(), Field(min_length=1)]
_Ids = Annotated[list[_Text], AfterValidator(_unrepeated)]
_Grade = Annotated[int, Strict(), Field(ge=0, le=3)]
_Rating = Annotated[int, Strict(), Field(ge=-1, le=3)]


class _RatedQuery(BaseModel):
    """The pairs of a query; besides these fields, the lists of two assessors, their largest and smallest ratings."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[_Rating]]

    cands: _Ids
    relevance_adju: list[_Grade]

    @property
    def ratings(self) -> dict[str, list[int]]:
        return {
            "a" + name.removeprefix(_RATING_PREFIX): values
            for name, values in sorted(self.__pydantic_extra__.items())
            if name.startswith(_RATING_PREFIX)
        }

    @model_validator(mode="after")
    def _columns_fit(self) -> _RatedQuery:
        columns = {"relevance_adju": self.relevance_adju, **self.__pydantic_extra__}
        _same_length(self.cands, columns)
        if len(self.ratings) != 2:
            raise ValueError(f"{len(self.ratings)} lists of ratings ({_RATING_PREFIX}...), expected 2")
        for row, doc_id in enumerate(self.cands):
            given = [values[row] for values in self.ratings.values()]
            for name, computed in (("relevance_max", max(given)), ("relevance_min", min(given))):
                if name in columns and columns[name][row] != computed:
                    raise ValueError(f"candidate {doc_id}: {name} is {columns[name][row]}, the ratings are {given}")
        return self

    def pairs(self) -> tuple[RatedPair, ...]:
        columns = [[None if rating == -1 else rating for rating in ratings] for ratings in self.ratings.values()]
        return tuple(
            RatedPair(doc_id, grade, dict(zip(self.ratings, given, strict=True)))
            for doc_id, grade, given in zip(self.cands, self.relevance_adju, zip(*columns, strict=True), strict=True)
        )


class _ReleasedPool(BaseModel):
    cands: _Ids
    cand_source: list[Annotated[tuple[_Text, ...], Field(min_length=1)]]

    @model_validator(mode="after")
    def _columns_fit(self) -> _ReleasedPool:
        _same_length(self.cands, {"cand_source": self.cand_source})
        return self


def _smallest_first(rows: list[tuple[str, float]]) -> list[tuple[str, float]]:
    _unrepeated([doc_id for doc_id, _ in rows])
    for (_, nearer), (doc_id, farther) in pairwise(rows):
        if farther < nearer:
            raise ValueError(f"candidate {doc_id}: distance {farther} after {nearer}, expected smallest first")
    return rows


_Distance = Annotated[float, Strict(), AllowInfNan(False)]
_SplitQuery = Annotated[str, Field(pattern="_")]
_RATINGS = TypeAdapter(dict[str, _RatedQuery])
_POOLS = TypeAdapter(dict[str, _ReleasedPool])
_RANKED = TypeAdapter(dict[str, Annotated[list[tuple[_Text, _Distance]], AfterValidator(_smallest_first)]])
_SPLITS = TypeAdapter(dict[str, dict[str, Annotated[list[_SplitQuery], AfterValidator(_unrepeated)]]])


def read_ratings(content: bytes, faults: Faults) -> dict[str, tuple[RatedPair, ...]]:
    """`test-pid2anns-csfcube-<facet>.json`: by query paper, its pairs in the file's order.

    Assessor `aX` is the one of `relevance_annX`. A rating of -1 is one that was never given: it becomes None.
    """
    return {query: rated.pairs() for query, rated in (_parsed(_RATINGS, content, faults) or {}).items()}


def read_pools(content: bytes, faults: Faults) -> dict[str, dict[str, tuple[str, ...]]]:
    """`test-pid2pool-csfcube.json`: by query paper, its candidates in the order drawn, each with the methods that had
    it; the first one drew it."""
    pools = _parsed(_POOLS, content, faults) or {}
    return {query: dict(zip(pool.cands, pool.cand_source, strict=True)) for query, pool in pools.items()}


def read_ranked_pools(content: bytes, faults: Faults) -> dict[str, list[tuple[str, float]]]:
    """`...-ranked.json`: by query paper, (candidate, distance), smallest distance first, in the file's order."""
    return _parsed(_RANKED, content, faults) or {}


def read_splits(content: bytes, faults: Faults) -> dict[str, dict[str, tuple[QueryKey, ...]]]:
    """`evaluation_splits.json`: by facet (or `all`) and fold, the (query paper, facet) of each `<query>_<facet>`."""
    return {
        facet: {
            fold: tuple((query, of_facet) for query, _, of_facet in (name.rpartition("_") for name in names))
            for fold, names in folds.items()
        }
        for facet, folds in (_parsed(_SPLITS, content, faults) or {}).items()
    }


def read_query_list(content: bytes, faults: Faults) -> dict[QueryKey, str]:
    """`queries-release.csv`: `pid,facet,year,title,paper type`, line ends CRLF or LF; the paper type of each query."""
    rows = csv.DictReader(io.StringIO(_decoded(content, faults) or ",".join(_QUERY_COLUMNS), newline=""))
    missing = [column for column in _QUERY_COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        faults.add(f"no column {', '.join(missing)}, expected {','.join(_QUERY_COLUMNS)}", line=1)
        return {}
    queries: dict[QueryKey, str] = {}
    for row in rows:
        if None in row or None in row.values():
            faults.add(f"expected {len(_QUERY_COLUMNS)} columns", line=rows.line_num)
            continue
        key = (unguarded(row["pid"]), unguarded(row["facet"]))
        if key in queries:
            faults.add(f"query {key[0]} with facet {key[1]} is there twice", line=rows.line_num)
        queries[key] = unguarded(row["paper type"])
    return queries


def _same_length(candidates: Sequence[str], columns: dict[str, Any]) -> None:
    for name, values in columns.items():
        if len(values) != len(candidates):
            raise ValueError(f"{name} has {len(values)} values for {len(candidates)} candidates")


def _parsed(adapter: TypeAdapter[T], content: bytes, faults: Faults) -> T | None:
    """The content of a JSON file as its model has it; None when it has faults, which are added to `faults`."""

    def unrepeated(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) != len(members):
            names = [name for name, _ in members]
            for name in sorted({name for name in names if names.count(name) > 1}):
                faults.add(f"{name!r} is there twice in one object")
        return dict(members)

    text = _decoded(content, faults)
    if text is None:
        return None
    try:
        return adapter.validate_python(json.loads(text, object_pairs_hook=unrepeated))
    except ValidationError as error:
        for fault in in_words(error):
            faults.add(fault)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error), line=error.lineno if isinstance(error, json.JSONDecodeError) else None)
    return None


def _decoded(content: bytes, faults: Faults) -> str | None:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        faults.add(f"not UTF-8: {error.reason}", line=content.count(b"\n", 0, error.start) + 1)
        return None
