"""The JSON and CSV files of a CSFCube release, each by itself."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
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

from annot.base.ordering import ranked
from annot.base.records import Ranking, ScoredDoc
from annot.formats.csfcube.readable import RatedPair
from annot.formats.faults import Faults, json_problem
from annot.formats.json_lines import in_words
from annot.formats.spreadsheet import unguarded

_RATING_PREFIX = "relevance_ann"
_QUERY_COLUMNS = ("pid", "facet", "year", "title", "paper type")

T = TypeVar("T")


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

    @model_validator(mode="after")
    def _columns_fit(self) -> _RatedQuery:
        columns = {"relevance_adju": self.relevance_adju, **self.__pydantic_extra__}
        _same_length(self.cands, columns)
        given = [values for name, values in columns.items() if name.startswith(_RATING_PREFIX)]
        if len(given) != 2:
            raise ValueError(f"{len(given)} lists of ratings ({_RATING_PREFIX}...), expected 2")
        for name, compute in (("relevance_max", max), ("relevance_min", min)):
            for doc_id, told, ratings in zip(self.cands, columns.get(name, ()), zip(*given, strict=True), strict=False):
                if told != compute(ratings):
                    raise ValueError(f"candidate {doc_id}: {name} is {told}, the ratings are {list(ratings)}")
        return self

    def pairs(self) -> tuple[RatedPair, ...]:
        columns = {
            "a" + name.removeprefix(_RATING_PREFIX): [None if rating == -1 else rating for rating in ratings]
            for name, ratings in sorted(self.__pydantic_extra__.items())
            if name.startswith(_RATING_PREFIX)
        }
        return tuple(
            RatedPair(doc_id, grade, dict(zip(columns, given, strict=True)))
            for doc_id, grade, *given in zip(self.cands, self.relevance_adju, *columns.values(), strict=True)
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


def read_ratings(text: str, faults: Faults) -> dict[str, tuple[RatedPair, ...]]:
    """`test-pid2anns-csfcube-<facet>.json`: by query paper, its pairs in the file's order.

    Assessor `aX` is the one of `relevance_annX`. A rating of -1 is one that was never given: it becomes None.
    """
    return {query: rated.pairs() for query, rated in (_parsed(_RATINGS, text, faults) or {}).items()}


def read_pools(text: str, faults: Faults) -> dict[str, dict[str, tuple[str, ...]]]:
    """`test-pid2pool-csfcube.json`: by query paper, its candidates in the order drawn, each with the methods that had
    it; the first one drew it."""
    pools = _parsed(_POOLS, text, faults) or {}
    return {query: dict(zip(pool.cands, pool.cand_source, strict=True)) for query, pool in pools.items()}


def read_ranked(text: str, faults: Faults) -> dict[str, Ranking]:
    """`...-ranked.json`: by query paper, its candidates, smallest distance first; the score is the negated distance."""
    return {
        query: ranked(ScoredDoc(doc_id, -distance) for doc_id, distance in rows)
        for query, rows in (_parsed(_RANKED, text, faults) or {}).items()
    }


def read_splits(text: str, faults: Faults) -> dict[str, dict[str, tuple[str, ...]]]:
    """`evaluation_splits.json`: by facet (or `all`) and fold, the query id of each `<query paper>_<facet>`."""
    return {
        facet: {fold: tuple("-".join(name.rsplit("_", 1)) for name in names) for fold, names in folds.items()}
        for facet, folds in (_parsed(_SPLITS, text, faults) or {}).items()
    }


def read_paper_types(text: str, faults: Faults) -> dict[str, str]:
    """`queries-release.csv`: `pid,facet,year,title,paper type`, line ends CRLF or LF; the paper type by query id."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [column for column in _QUERY_COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        faults.add(f"no column {', '.join(missing)}, expected {','.join(_QUERY_COLUMNS)}", line=1)
        return {}
    types: dict[str, str] = {}
    for row in rows:
        if None in row or None in row.values():
            faults.add(f"expected {len(_QUERY_COLUMNS)} columns", line=rows.line_num)
            continue
        query_id = f"{unguarded(row['pid'])}-{unguarded(row['facet'])}"
        if query_id in types:
            faults.add(f"query {query_id} is there twice", line=rows.line_num)
        types[query_id] = unguarded(row["paper type"])
    return types


def _same_length(candidates: Sequence[str], columns: dict[str, Any]) -> None:
    for name, values in columns.items():
        if len(values) != len(candidates):
            raise ValueError(f"{name} has {len(values)} values for {len(candidates)} candidates")


def _parsed(adapter: TypeAdapter[T], text: str, faults: Faults) -> T | None:
    """The content of a JSON file as its model has it; None when it has faults, which are added to `faults`."""

    def unrepeated(members: list[tuple[str, Any]]) -> dict[str, Any]:
        for name, count in Counter(name for name, _ in members).items():
            if count > 1:
                faults.add(f"{name!r} is there twice in one object")
        return dict(members)

    try:
        return adapter.validate_python(json.loads(text, object_pairs_hook=unrepeated))
    except ValidationError as error:
        for fault in in_words(error):
            faults.add(fault)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error), line=error.lineno if isinstance(error, json.JSONDecodeError) else None)
    return None
