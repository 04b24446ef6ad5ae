"""Tables and records that users of the library pass, checked, with every fault named."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from annot.base.errors import Faults, InputError
from annot.base.names import StudyVocabulary, counted
from annot.base.records import Judgement, Qrel, Ranking, in_order, nested
from annot.formats import input_files, judgements_file, trec
from annot.study.workspace import given_text

# ----------------------------------------------------------------------------------------------------------------------
# The rows of the tables that users of the library pass; every fault is named with its row.
# ----------------------------------------------------------------------------------------------------------------------


PAPER_COLUMN, TOPIC_COLUMN = trec.TOPIC_COLUMNS[trec.QUERY_PAPERS_FILE], trec.TOPIC_COLUMNS[trec.QUERY_TOPICS_FILE]
COLUMNS = {
    **{field: judgements_file.NAMES[field] for field in ("document", "assessor", "grade", "occasion")},
    "query": tuple(name for name in judgements_file.NAMES["query"] if name != TOPIC_COLUMN),
    "facet": ("facet",),
    "query paper": (PAPER_COLUMN,),
    "topic": (),
    "flags": ("flags",),
    "score": ("score",),
    "run": ("run", "tag", "method"),
}
"""The names under which a column is found; case, and hyphen or space for `_`, do not matter."""
SECOND_CHOICE = {"query": (TOPIC_COLUMN,), "topic": (TOPIC_COLUMN,)}
"""Names of a field where none of the others is there: a topic is its own query unless queries have a column."""
TOPIC_FIELDS = ("query paper", "topic")
"""The sampling unit: whichever a table has."""
LONG = ("query", "document", "assessor", "grade")


def as_frame(table: Any, name: str, columns: Sequence[str] = LONG) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise InputError(f"{name}: an array of {counted(table.ndim, 'dimension')}, expected items x assessors")
        return pd.DataFrame(table)
    if not isinstance(table, Iterable) or isinstance(table, str | bytes | Mapping):
        raise InputError(f"{name}: found {type(table).__name__}, expected a DataFrame, an array or rows")
    rows = list(table)
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
        names, required = {**COLUMNS, "query paper": (input_files.plain(papers),)}, (*required, "query paper")
        optional = [field for field in optional if field not in TOPIC_FIELDS]
    columns: dict[str, list[Any]] = {}
    used = set[Any]()
    for field in (*required, *optional):
        named = called(frame, names[field]) or [
            column for column in called(frame, SECOND_CHOICE.get(field, ())) if column not in used
        ]
        if len(named) > 1:
            faults.add(f"columns {' and '.join(map(repr, named))} could both be the {field}")
        elif named:
            columns[field] = frame.iloc[:, list(frame.columns).index(named[0])].tolist()
            used.add(named[0])
        elif field in required:
            present = ", ".join(map(str, frame.columns)) or "no column"
            faults.add(f"no column for the {field}; found {present}, expected one named {names[field][0]}")
    faults.raise_if_any()
    for label, *cells in zip(frame.index, *columns.values(), strict=True):
        yield f"row {label}", dict(zip(columns, cells, strict=True))


def topic_in(row: Mapping[str, Any]) -> str | None:
    """The field that has the topic of a row's query, if there is one."""
    return next((field for field in TOPIC_FIELDS if field in row), None)


def called(frame: pd.DataFrame, names: Sequence[str]) -> list[Any]:
    return [column for column in frame.columns if input_files.plain(str(column)) in names]


def id_in(value: Any, field: str, label: str, faults: Faults) -> str:
    text = value.strip() if isinstance(value, str) else str(value)
    if text and isinstance(value, str | int | np.integer) and not isinstance(value, bool):
        return text
    faults.add(f"{field} {value!r}, expected text or a whole number", place=label)
    return text


def items_of(value: Any, name: str, expected: str = "{query: {document: number}}") -> Iterable[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: found {type(value).__name__}, expected {expected}")
    return value.items()


SOURCE = "query_papers"
"""Key in `attrs` under which a table keeps the file that its topics are from."""
OF_A_SAMPLE = "sample"
"""Key in `attrs` of a table of final grades, set where a sample of the pools is judged."""
SAMPLED = (
    "a sample of the pools was judged, and these are measures on what was judged; `annot.open_study(...).evaluation` "
    "has estimates of the whole pools"
)


class GivenTopics(NamedTuple):
    """The topic of each query, and where that comes from."""

    of: dict[str, str]
    source: str
    column: str = PAPER_COLUMN
    """Name of the column; it makes the topics papers unless it is that of topics."""

    @property
    def words(self) -> StudyVocabulary:
        """Vocabulary of the topics in texts."""
        return StudyVocabulary("topic", "document") if self.column == TOPIC_COLUMN else StudyVocabulary()

    @property
    def note(self) -> str:
        """Sentence on the sampling units of the figures of the queries."""
        if not self.of:
            return INDEPENDENT
        of_texts = self.column == TOPIC_COLUMN
        topics = counted(len({*self.of.values()}), "topic" if of_texts else "paper")
        units = "topics" if of_texts else "query papers"
        return f"{units} are the sampling units: {counted(len(self.of), 'query')} on {topics}, by {self.source}"


INDEPENDENT = (
    "queries are taken as independent, because their papers are not known: if several are on facets of one paper, "
    f"intervals are too narrow; name the column of the paper with `clusters`, or put {trec.QUERY_PAPERS_FILE} "
    "next to the qrels"
)


def topics_of(queries: Collection[str], *groupings: GivenTopics | None) -> GivenTopics:
    """The topic of each of these queries by the first source that knows all of them; no topic if there is none."""
    for grouping in groupings:
        if grouping is not None and grouping.of.keys() >= set(queries):
            return grouping._replace(of={query: grouping.of[query] for query in queries})
    return GivenTopics({}, "")


def topics_beside(path: Path, queries: Collection[str]) -> GivenTopics | None:
    """Topics from `query_papers.tsv` or `query_topics.tsv` next to a file of qrels; None if there is neither.

    Raises InputError if it does not have all of these queries.
    """
    file = next((file for file in trec.TOPIC_COLUMNS if (path.parent / file).is_file()), None)
    if file is None:
        return None
    topics_path, noun = path.parent / file, "paper" if file == trec.QUERY_PAPERS_FILE else "topic"
    lines = given_text(topics_path, expected=f"the {noun} of each query").splitlines()
    topics = trec.read_query_topics(lines, file=file, name=str(topics_path))
    unknown = sorted(set(queries) - topics.keys())
    if unknown:
        raise InputError(
            f"{topics_path}: {counted(len(unknown), 'query')} of {path.name} missing",
            faults=[f"{query}: no line, expected its {noun}" for query in unknown],
            hint="add them, or move the file away if it belongs to another collection",
        )
    return GivenTopics(topics, str(topics_path), trec.TOPIC_COLUMNS[file])


def by_column(topics: dict[str, str], column: str | None, frame: pd.DataFrame) -> GivenTopics | None:
    """Topics from a column of a table, `query_paper` or `topic_id` if none is named; None if there is neither."""
    if not topics:
        return None
    named = None if column else frame.attrs.get(SOURCE)
    name_of_column = column or (PAPER_COLUMN if called(frame, (PAPER_COLUMN,)) else TOPIC_COLUMN)
    return GivenTopics(topics, named or f"the column {name_of_column!r}", name_of_column)


# ----------------------------------------------------------------------------------------------------------------------
# Arguments of users of the library, as the records that the rooms compute with; every fault is named with its row.
# ----------------------------------------------------------------------------------------------------------------------


EVERYTHING = "together"
"""The facet of queries that have none."""
UNNAMED = "run"
"""The tag of a run that has none."""
TREC = "one of TREC's files"
FORMS = "{query: {document: score}} or {query: [documents, best first]}"
WIDEST_SCALE = 100
"""A coefficient makes tables of grades by grades: a scale wider than this is a column that holds something else."""

RunsByTag = dict[str, dict[str, Ranking]]


Row = TypeVar("Row", Judgement, Qrel)


@dataclass(frozen=True, slots=True)
class GivenRows(Generic[Row]):
    """Judgements or final grades, with the facet of each query, and its topic where that is known."""

    rows: tuple[Row, ...]
    facets: dict[str, str]
    topics: GivenTopics | None
    by_query: bool = True
    """False for a matrix of items: each item is then a query of its own."""


def ratings_in(table: Any, *, name: str, clusters: str | None = None) -> GivenRows[Judgement]:
    """The judgements in a long table (a row a judgement) or in a matrix (a row an item, a column an assessor).

    Rows of lists are judgements where one of their first three values is text. clusters: the column of the query paper.
    Raises InputError with every fault.
    """
    frame = as_frame(table, name)
    if not len(frame):
        raise InputError(f"{name}: contains no judgement")
    if any(called(frame, COLUMNS[field]) for field in LONG):
        return _long_ratings(frame, name, clusters)
    if clusters is not None:
        raise InputError(
            f"clusters={clusters!r}: {name} is a matrix of items, which has no queries and no such column",
            hint="pass a long table with the columns query, document, assessor, grade and the one you named",
        )
    return _matrix_ratings(frame, name)


def scale_of(judgements: Iterable[Judgement], scale: Sequence[int] | None) -> tuple[int, ...]:
    """The grades from the lowest to the highest: of `scale`, or of the judgements where it is None."""
    if scale is not None:
        grades = tuple(scale)
        if len(grades) < 2 or grades != tuple(range(grades[0], grades[0] + len(grades))):
            raise InputError(f"scale {list(grades)}: expected two or more consecutive whole numbers, lowest first")
        return grades
    used_grades = {judgement.grade for judgement in judgements if judgement.grade is not None}
    if not used_grades:
        raise InputError("ratings: no judgement has a grade")
    low, high = min(used_grades), max(used_grades)
    if high - low > WIDEST_SCALE:
        raise InputError(f"ratings: grades from {low} to {high}, expected a scale of at most {WIDEST_SCALE} steps")
    return tuple(range(low, max(high, low + 1) + 1))


def check_level(level: float) -> None:
    """Raise InputError unless the confidence level is between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"level {level}: expected a number between 0 and 1")


def qrels_in(table: Any, *, clusters: str | None = None) -> GivenRows[Qrel]:
    """The final grades in a TREC file, in a table (query, document, grade) or in `{query: {document: grade}}`.

    clusters: the column of the query paper; else it is `query_paper` or `topic_id`, or in the file beside a TREC file.
    """
    name = "qrels"
    if clusters is not None and isinstance(table, str | os.PathLike | Mapping):
        raise InputError(
            f"clusters={clusters!r}: expected {name} in a table with this column, found {type(table).__name__}",
            hint=f"read a file with `annot.read_qrels` and add the column, or put {trec.QUERY_PAPERS_FILE} next to it",
        )
    if isinstance(table, str | os.PathLike):
        path = Path(table)
        qrels = trec.read_qrels(given_text(path, expected=TREC).splitlines(), name=str(path))
        facet_of = dict.fromkeys((query for query, _, _ in qrels), EVERYTHING)
        return GivenRows(qrels, facet_of, topics_beside(path, facet_of))
    if isinstance(table, Mapping):
        rows = [
            (query, document, grade)
            for query, grades in items_of(table, name)
            for document, grade in items_of(grades, name)
        ]
        table = pd.DataFrame(rows, columns=["query", "document", "grade"])
    frame = as_frame(table, name, ("query", "document", "grade"))
    if plain := _plain_qrels(frame, clusters):
        return plain
    faults = Faults(name)
    by_pair: dict[tuple[str, str], Qrel] = {}
    facets: dict[str, str] = {}
    topics: dict[str, str] = {}
    for label, row in rows_of(frame, ("query", "document", "grade"), ("facet", *TOPIC_FIELDS), faults, papers=clusters):
        pair = id_in(row["query"], "query", label, faults), id_in(row["document"], "document", label, faults)
        grade = _grade(row["grade"], label, faults)
        if grade is None:
            faults.add("no grade; leave out the rows of pairs that are not judged", place=label)
        if pair in by_pair:
            faults.add(f"{' '.join(pair)} is listed twice, expected one final grade", place=label)
        by_pair[pair] = Qrel(*pair, grade or 0)
        _record_value(facets, pair[0], row.get("facet", EVERYTHING), "facet", label, faults)
        if topic := topic_in(row):
            _record_value(topics, pair[0], row[topic], topic, label, faults)
    if not by_pair and not faults.found:
        faults.add("contains no final grade")
    faults.raise_if_any()
    return GivenRows(tuple(by_pair.values()), facets, by_column(topics, clusters, frame))


def _plain_columns(frame: pd.DataFrame, fields: Sequence[str], others: Sequence[str]) -> list[list[Any]]:
    """The columns of these fields if every id is text without spaces around it; else, or if the table has columns of
    `others`, none: each row has to be looked at."""
    named = [called(frame, COLUMNS[field]) for field in fields]
    in_rows = any(called(frame, (*COLUMNS[field], *SECOND_CHOICE.get(field, ()))) for field in others)
    if in_rows or any(len(columns) != 1 for columns in named):
        return []
    columns = [frame.iloc[:, list(frame.columns).index(names[0])].tolist() for names in named]
    for field, values in zip(fields, columns, strict=True):
        if field in LONG[:2] and not (
            {*map(type, values)} == {str} and all(text.strip() == text for text in {*values})
        ):
            return []
    return columns if all("" not in values for values in columns[:2]) else []


def _plain_qrels(frame: pd.DataFrame, clusters: str | None) -> GivenRows[Qrel] | None:
    """The final grades if nothing is wrong and no column has facets or topics; None if each row has to be looked at."""
    columns = [] if clusters else _plain_columns(frame, ("query", "document", "grade"), ("facet", *TOPIC_FIELDS))
    if not columns or {*map(type, columns[2])} != {int}:
        return None
    qrels = tuple(map(Qrel, *columns))
    if len({*zip(columns[0], columns[1], strict=True)}) < len(qrels):
        return None
    return GivenRows(qrels, dict.fromkeys(columns[0], EVERYTHING), None)


def runs_in(source: Any, *, name: str) -> RunsByTag:
    """The rankings of each run, by tag, then by query, best first.

    source: a TREC file; a table (query, document, score, with or without run); `{query: {document: score}}` or
    `{query: [documents, best first]}`; a list of these; or `{tag: any of these}`. Raises InputError with every fault.
    """
    if isinstance(source, str | os.PathLike):
        return dict([trec.read_tagged_run(given_text(Path(source), expected=TREC).splitlines(), name=str(source))])
    if isinstance(source, pd.DataFrame):
        return _runs_of_frame(source, name)
    if isinstance(source, Mapping):
        return _runs_of_mapping(list(items_of(source, name)), name)
    if isinstance(source, Sequence):
        runs: RunsByTag = {}
        for place, run in enumerate(source, start=1):
            for tag, rankings in runs_in(run, name=f"{name} no. {place}").items():
                if tag in runs:
                    raise InputError(f"{name}: two runs with the tag {tag!r}", hint="name them: {'tag': run, ...}")
                runs[tag] = rankings
        if runs:
            return runs
        raise InputError(f"{name}: contains no run")
    raise InputError(f"{name}: found {type(source).__name__}, expected a TREC file, a DataFrame or a dict")


def _runs_of_mapping(items: Sequence[tuple[Any, Any]], name: str) -> RunsByTag:
    """The runs by tag, or the one run whose queries these are."""
    if items and all(_is_run(value) for _, value in items):
        return {str(tag): _single(runs_in(value, name=f"{name} {tag}"), f"{name} {tag}") for tag, value in items}
    listed = [query for query, documents in items if _is_list(documents)]
    if listed and len(listed) == len(items):
        return {UNNAMED: _in_order(items, name)}
    if listed:
        query, documents = next(item for item in items if not _is_list(item[1]))
        raise InputError(
            f"{name}: {listed[0]!r} has a list, and {query!r} a {type(documents).__name__}",
            hint="give each query {document: score}, or each a list of documents, best first",
        )
    rows = [(query, document, score) for query, scores in items for document, score in items_of(scores, name, FORMS)]
    return _runs_of_frame(pd.DataFrame(rows, columns=["query", "document", "score"]), name)


def _is_run(value: Any) -> bool:
    """A whole run, not the documents of one query."""
    if isinstance(value, str | os.PathLike | pd.DataFrame):
        return True
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(of_query, Mapping) or _is_list(of_query) for of_query in value.values())
    )


def _is_list(value: Any) -> bool:
    """Documents in their order."""
    return isinstance(value, Sequence | np.ndarray | pd.Series | pd.Index) and not isinstance(value, str | bytes)


def _in_order(items: Iterable[tuple[Any, Any]], name: str) -> dict[str, Ranking]:
    """The documents of each query as they are listed, best first; as scores, the places counted from the end."""
    faults = Faults(name)
    by_query: dict[str, Ranking] = {}
    for query, documents in items:
        place = f"query {query}"
        query_id = id_in(query, "query", place, faults)
        first: dict[str, int] = {}
        for rank, document in enumerate(documents, start=1):
            doc_id = id_in(document, "document", f"{place}, rank {rank}", faults)
            if first.setdefault(doc_id, rank) != rank:
                faults.add(f"document {doc_id!r} is listed twice, first at rank {first[doc_id]}", place=place)
        if query_id in by_query:
            faults.add(f"{query_id!r} is listed twice", place=place)
        if first:
            by_query[query_id] = in_order((doc_id, float(len(first) - place)) for place, doc_id in enumerate(first))
    if not by_query and not faults.found:
        faults.add("contains no document")
    faults.raise_if_any(hint=f"a ranking is {FORMS}")
    return by_query


def _single(runs: RunsByTag, name: str) -> dict[str, Ranking]:
    if len(runs) != 1:
        raise InputError(f"{name}: {len(runs)} runs ({', '.join(runs)}), expected one")
    return next(iter(runs.values()))


def _runs_of_frame(frame: pd.DataFrame, name: str) -> RunsByTag:
    if plain := _plain_run(frame):
        return {UNNAMED: plain}
    faults = Faults(name)
    scored: dict[str, dict[str, dict[str, float]]] = {}
    for label, row in rows_of(frame, ("query", "document", "score"), ("run",), faults):
        query, document = id_in(row["query"], "query", label, faults), id_in(row["document"], "document", label, faults)
        of_query = scored.setdefault(str(row.get("run", UNNAMED)), {}).setdefault(query, {})
        score = row["score"]
        if isinstance(score, bool) or not isinstance(score, int | float | np.number) or not math.isfinite(score):
            faults.add(f"score {score!r}, expected a finite number, higher is better", place=label)
        elif document in of_query:
            faults.add(f"document {document!r} is listed twice for query {query!r}", place=label)
        else:
            of_query[document] = float(score)
    if not scored and not faults.found:
        faults.add("contains no document")
    faults.raise_if_any()
    return {
        tag: {query: in_order(scores.items()) for query, scores in queries.items()} for tag, queries in scored.items()
    }


def _plain_run(frame: pd.DataFrame) -> dict[str, Ranking] | None:
    """The rankings of one run without a name if nothing is wrong; None if each row has to be looked at."""
    columns = _plain_columns(frame, ("query", "document", "score"), ("run",))
    if not columns or {*map(type, columns[2])} != {float} or not all(map(math.isfinite, columns[2])):
        return None
    by_query: dict[str, dict[str, float]] = nested(zip(*columns, strict=True))
    if sum(map(len, by_query.values())) < len(frame):
        return None
    return {query: in_order(scores.items()) for query, scores in by_query.items()}


def _long_ratings(frame: pd.DataFrame, name: str, clusters: str | None) -> GivenRows[Judgement]:
    faults = Faults(name)
    by_key: dict[tuple[str, str, str], Judgement] = {}
    first: dict[tuple[str, str, str], str] = {}
    facets: dict[str, str] = {}
    topics: dict[str, str] = {}
    optional = ("facet", "occasion", "flags", *TOPIC_FIELDS)
    for label, row in rows_of(frame, LONG, optional, faults, papers=clusters):
        query, document, assessor = (id_in(row[field], field, label, faults) for field in LONG[:3])
        grade = _grade(row["grade"], label, faults)
        _record_value(facets, query, row.get("facet", EVERYTHING), "facet", label, faults)
        if topic := topic_in(row):
            _record_value(topics, query, row[topic], topic, label, faults)
        repeated, flags = (_grade(row.get("occasion"), label, faults) or 1) > 1, row.get("flags")
        # Judgements of annot's own files carry the reasons for which they do not count.
        if repeated or (isinstance(flags, str | Sequence) and len(flags) > 0):
            continue
        if (query, document, assessor) in by_key:
            problem = f"{assessor} already has a grade for {query} {document} in {first[query, document, assessor]}"
            faults.add(f"{problem}, expected one", place=label)
        first.setdefault((query, document, assessor), label)
        by_key[query, document, assessor] = Judgement(query, document, assessor, grade)
    if not by_key and not faults.found:
        faults.add("contains no judgement that counts")
    faults.raise_if_any()
    return GivenRows(tuple(by_key.values()), facets, by_column(topics, clusters, frame))


def _matrix_ratings(frame: pd.DataFrame, name: str) -> GivenRows[Judgement]:
    faults = Faults(name)
    items, assessors = [str(item) for item in frame.index], [str(column) for column in frame.columns]
    for noun, labels in (("item", items), ("assessor", assessors)):
        for label, times in Counter(labels).items():
            if times > 1:
                faults.add(f"{noun} {label!r} is listed {times} times, expected once")
    judgements = [
        Judgement(item, item, assessor, _grade(value, f"item {item}, assessor {assessor}", faults))
        for item, row in zip(items, frame.itertuples(index=False, name=None), strict=True)
        for assessor, value in zip(assessors, row, strict=True)
    ]
    faults.raise_if_any(hint="a table of judgements has the columns query, document, assessor and grade")
    return GivenRows(tuple(judgements), dict.fromkeys(items, EVERYTHING), None, by_query=False)


def _grade(value: Any, label: str, faults: Faults) -> int | None:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int | float | np.number | np.bool_) and float(value).is_integer():
        return int(value)
    faults.add(f"grade {value!r}, expected a whole number, or nan if there is none", place=label)
    return None


def _record_value(values: dict[str, str], query: str, value: Any, field: str, label: str, faults: Faults) -> None:
    """Note the facet or topic of a query; a fault if an earlier row has another."""
    text = id_in(value, field, label, faults)
    if values.setdefault(query, text) != text:
        faults.add(f"{field} {text!r} of query {query}, expected {values[query]!r} as in its other rows", place=label)
