"""The rows of the tables that users of the library pass; every fault is named with its row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annot.base.errors import Faults, InputError
from annot.base.names import Called, counted
from annot.formats.judgements_file import NAMES
from annot.formats.spreadsheet import plain
from annot.formats.trec import QUERY_PAPERS_FILE, QUERY_TOPICS_FILE, TOPIC_COLUMNS, read_query_topics
from annot.study.workspace import given_text

PAPER_COLUMN, TOPIC_COLUMN = TOPIC_COLUMNS[QUERY_PAPERS_FILE], TOPIC_COLUMNS[QUERY_TOPICS_FILE]
COLUMNS = {
    **{field: NAMES[field] for field in ("document", "assessor", "grade", "occasion")},
    "query": tuple(name for name in NAMES["query"] if name != TOPIC_COLUMN),
    "facet": ("facet",),
    "query paper": (PAPER_COLUMN,),
    "topic": (),
    "flags": ("flags",),
    "score": ("score",),
    "run": ("run", "tag", "method"),
}
"""The names under which a column is found; case, and hyphen or blank for `_`, do not matter."""
SECOND_CHOICE = {"query": (TOPIC_COLUMN,), "topic": (TOPIC_COLUMN,)}
"""Names of a field where none of the others is there: a topic is its own query unless queries have a column."""
TOPIC_FIELDS = ("query paper", "topic")
"""The unit of chance: whichever a table has."""
LONG = ("query", "document", "assessor", "grade")


def as_frame(given: Any, name: str, columns: Sequence[str] = LONG) -> pd.DataFrame:
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, np.ndarray):
        if given.ndim != 2:
            raise InputError(f"{name}: an array of {counted(given.ndim, 'dimension')}, expected items x assessors")
        return pd.DataFrame(given)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise InputError(f"{name}: found {type(given).__name__}, expected a DataFrame, an array or rows")
    rows = list(given)
    if not rows or all(isinstance(row, Mapping) for row in rows):
        return pd.DataFrame(rows)
    faults = Faults(name)
    for place, row in enumerate(rows):
        if not isinstance(row, Sequence | np.ndarray) or isinstance(row, str | bytes):
            faults.add(f"found {type(row).__name__}, expected a row of values", place=f"row {place}")
    faults.raise_if_any()
    long = len(columns) < len(LONG) or any(isinstance(value, str) for row in rows for value in row[:3])
    width = len(columns) if long else len(rows[0])
    for place, row in enumerate(rows):
        if len(row) != width:
            expected = f"{width} ({', '.join(columns)})" if long else f"{width} as in the first row"
            faults.add(f"{len(row)} values, expected {expected}", place=f"row {place}")
    faults.raise_if_any()
    # Cells keep their own types: a column of whole numbers and a gap would become one of fractions.
    return pd.DataFrame(rows, columns=list(columns) if long else None, dtype=object)


def rows_of(
    frame: pd.DataFrame,
    required: Sequence[str],
    optional: Sequence[str],
    faults: Faults,
    *,
    papers: str | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row's label, and its cells by the fields that there are. papers: the column of the query paper, if named."""
    names: dict[str, tuple[str, ...]] = COLUMNS
    if papers is not None:
        names, required = {**COLUMNS, "query paper": (plain(papers),)}, (*required, "query paper")
        optional = [field for field in optional if field not in TOPIC_FIELDS]
    columns: dict[str, list[Any]] = {}
    taken = set[Any]()
    for field in (*required, *optional):
        named = called(frame, names[field]) or [
            column for column in called(frame, SECOND_CHOICE.get(field, ())) if column not in taken
        ]
        if len(named) > 1:
            faults.add(f"columns {' and '.join(map(repr, named))} could both be the {field}")
        elif named:
            columns[field] = frame.iloc[:, list(frame.columns).index(named[0])].tolist()
            taken.add(named[0])
        elif field in required:
            there = ", ".join(map(str, frame.columns)) or "no column"
            faults.add(f"no column for the {field}; found {there}, expected one named {names[field][0]}")
    faults.raise_if_any()
    for label, *cells in zip(frame.index, *columns.values(), strict=True):
        yield f"row {label}", dict(zip(columns, cells, strict=True))


def topic_in(row: Mapping[str, Any]) -> str | None:
    """The field that has the topic of a row's query, if there is one."""
    return next((field for field in TOPIC_FIELDS if field in row), None)


def called(frame: pd.DataFrame, names: Sequence[str]) -> list[Any]:
    return [column for column in frame.columns if plain(str(column)) in names]


def id_in(value: Any, field: str, label: str, faults: Faults) -> str:
    text = value.strip() if isinstance(value, str) else str(value)
    if text and isinstance(value, str | int | np.integer) and not isinstance(value, bool):
        return text
    faults.add(f"{field} {value!r}, expected text or a whole number", place=label)
    return text


def items_of(given: Any, name: str, expected: str = "{query: {document: number}}") -> Iterable[tuple[Any, Any]]:
    if not isinstance(given, Mapping):
        raise InputError(f"{name}: found {type(given).__name__}, expected {expected}")
    return given.items()


SOURCE = "query_papers"
"""Where a table remembers which file its topics are from, in `attrs`."""
OF_A_SAMPLE = "sample"
"""The same of a table of final grades of a study of which a sample of the pools is judged."""
SAMPLED = (
    "a sample of the pools was judged, and these are measures on what was judged; `annot.open_study(...).evaluation` "
    "has estimates of the whole pools"
)


class GivenTopics(NamedTuple):
    """The topic of each query, and where that comes from."""

    of: dict[str, str]
    source: str
    column: str = PAPER_COLUMN
    """As which they are known: as papers, unless the column is that of topics."""

    @property
    def called(self) -> Called:
        """What texts call the topics."""
        return Called("topic", "document") if self.column == TOPIC_COLUMN else Called()

    def note(self, queries: Collection[str]) -> str:
        """What the figures of these queries rest on."""
        of_texts = self.column == TOPIC_COLUMN
        topics = counted(len({self.of[query] for query in queries}), "topic" if of_texts else "paper")
        units = "topics" if of_texts else "query papers"
        return f"{units} are the sampling units: {counted(len(queries), 'query')} on {topics}, by {self.source}"


INDEPENDENT = (
    "queries are taken as independent, because their papers are not known: if several are on facets of one paper, "
    f"intervals are too narrow; name the column of the paper with `clusters`, or put {QUERY_PAPERS_FILE} "
    "next to the qrels"
)


class SamplingUnits(NamedTuple):
    """The topic of each query, None if they are not known; a note of it, and what texts call topics."""

    topics: dict[str, str] | None
    note: str
    called: Called


def topics_of(queries: Collection[str], *given: GivenTopics | None) -> SamplingUnits:
    """The topic of each of these queries by the first source that knows all of them."""
    for known in given:
        if known is not None and known.of.keys() >= set(queries):
            return SamplingUnits({query: known.of[query] for query in queries}, known.note(queries), known.called)
    return SamplingUnits(None, INDEPENDENT, Called())


def topics_beside(path: Path, queries: Collection[str]) -> GivenTopics | None:
    """What `query_papers.tsv` or `query_topics.tsv` beside a file of qrels says; None if there is neither.

    Raises InputError if it does not have all of these queries.
    """
    file = next((file for file in TOPIC_COLUMNS if (path.parent / file).is_file()), None)
    if file is None:
        return None
    beside, what = path.parent / file, "paper" if file == QUERY_PAPERS_FILE else "topic"
    lines = given_text(beside, expected=f"the {what} of each query").splitlines()
    topics = read_query_topics(lines, file=file, name=str(beside))
    unknown = sorted(set(queries) - topics.keys())
    if unknown:
        raise InputError(
            f"{beside}: {counted(len(unknown), 'query')} of {path.name} missing",
            faults=[f"{query}: no line, expected its {what}" for query in unknown],
            hint="add them, or move the file away if it belongs to another collection",
        )
    return GivenTopics(topics, str(beside), TOPIC_COLUMNS[file])


def by_column(topics: dict[str, str], column: str | None, frame: pd.DataFrame) -> GivenTopics | None:
    """What a column of a table says, `query_paper` or `topic_id` if none is named; None if there is neither."""
    if not topics:
        return None
    named = None if column else frame.attrs.get(SOURCE)
    found = column or (PAPER_COLUMN if called(frame, (PAPER_COLUMN,)) else TOPIC_COLUMN)
    return GivenTopics(topics, named or f"the column {found!r}", found)
