"""Tidy tables, made of the declared ones: a figure a row. The library's `to_frame` and `--csv` share them.

Figures are not rounded here. A figure without a value has an empty cell, and the reason is in the column `undefined`.
pandas is imported where a table is made: most commands that can make one print their figures instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from annot.base.libraries import evaluator_of
from annot.base.stats.values import Interval, Undefined
from annot.formats.input_files import guarded
from annot.publishing.report import commands
from annot.publishing.report.cells import Number
from annot.publishing.report.sections import agreement as sections
from annot.publishing.report.sections import runs
from annot.publishing.report.tables import Column, Columns

if TYPE_CHECKING:
    import pandas as pd

    from annot.base.names import StudyVocabulary
    from annot.base.records import Pool, Ranking
    from annot.measuring.agreement.estimates import AgreementTable
    from annot.measuring.evaluation.evaluated import EvaluatedRuns
    from annot.publishing.report.tables import Table

INTEGERS = ("rank", "turn", "grade", "queries", "pairs", "n", "year", "revision", "occasion", "cited_outside")
"""Columns of whole numbers, some of whose cells may be empty."""
COUNTS, YES_OR_NO = ("assigned", "judged", "relevance"), ("counts", "left")
FLOATS = ("value", "low", "high", "score", "lead_time")
INTERVAL = ("value", "low", "high", "interval")
ALL = (*INTERVAL, "undefined")
PRECISION = "%.6g"
"""Digits of the cells of `--csv`: more than any paper prints, fewer than another processor may compute differently."""

Row = dict[str, Any]
Listed = TypeVar("Listed")


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV with a header; its texts are guarded as those of a rating sheet are, numbers stay numbers."""
    import pandas as pd

    safe = pd.DataFrame({guarded(str(name)): _guarded(column) for name, column in table.items()})
    return safe.to_csv(index=False, float_format=PRECISION, lineterminator="\n")


def _guarded(column: pd.Series) -> pd.Series:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column
    cells = [guarded(cell) if isinstance(cell, str) else cell for cell in column]
    return pd.Series(cells, column.index, dtype=object)


def frame(
    tables: Iterable[Table], *, figure: str = "figure", parts: Sequence[str] = ALL, named: bool = False
) -> pd.DataFrame:
    """The rows of the tables below each other; the reasons are the last column.

    figure: the column that says which figure a row has. parts: what of a figure there is. named: the first column is
    the table's name.
    """
    import pandas as pd

    rows = (
        ({"table": table.name} if named else {}) | row
        for table in tables
        for record in table.records
        for row in _rows(record, figure, parts, table.words)
    )
    table = pd.DataFrame(list(rows))
    types = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(FLOATS, "float64")
    table = table.astype({name: kind for name, kind in types.items() if name in table})
    if "undefined" in table:
        table["undefined"] = table.pop("undefined")
    return table


def listed(columns: Columns[Listed], rows: Iterable[Listed]) -> pd.DataFrame:
    """A row for each record, as `--csv` has it; without records, an empty table with the same columns and types."""
    table = frame([columns.of(rows)])
    return empty_table(columns.fields) if table.empty else table


def empty_table(columns: Iterable[str]) -> pd.DataFrame:
    """A table with these columns and no row; each column has the type that it has in a table with rows."""
    import pandas as pd

    types = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(FLOATS, "float64")
    types |= dict.fromkeys(COUNTS, "int64") | dict.fromkeys(YES_OR_NO, "bool")
    table = pd.DataFrame(columns=[*columns], dtype=str)
    return table.astype({name: kind for name, kind in types.items() if name in table})


def _rows(record: Mapping[str, object], figure: str, parts: Sequence[str], words: StudyVocabulary) -> Iterator[Row]:
    """A row for each figure of a record; its other cells are in each, those before the first figure first.

    A record whose main figure is called `value` is one row, and its other figures are cells of it; so is one without.
    """
    figures = {field: cell for field, cell in record.items() if isinstance(cell, Number)}
    if not figures or "value" in figures:
        row: Row = {}
        for field, cell in record.items():
            values = _parts(cell, words) if isinstance(cell, Number) else {"value": cell}
            row |= {part: values[part] for part in parts} if field == "value" else {field: values["value"]}
        yield row
        return
    plain = {field: cell for field, cell in record.items() if field not in figures}
    first_cells = dict(takewhile(lambda cell: cell[0] in plain, record.items()))
    for field, number in figures.items():
        chosen = {part: cell for part, cell in _parts(number, words).items() if part in parts}
        yield {**first_cells, figure: field, **chosen, **dict(number.rests_on), **plain}


def _parts(number: Number, words: StudyVocabulary) -> Row:
    """A figure with its interval, or why there is none."""
    raw, ends = number.raw, number.interval
    reason = words.said(raw.reason) if isinstance(raw, Undefined) else ""
    value = {"value": None if isinstance(raw, Undefined) else raw, "undefined": reason}
    if not isinstance(ends, Interval):
        return {**value, "low": None, "high": None, "interval": ""}
    return {**value, "low": ends.low, "high": ends.high, "interval": words.said(ends.method)}


def evaluation(evaluated: EvaluatedRuns) -> pd.DataFrame:
    """A row for each convention, facet, run and measure; fractions, 0..1. What one assessor reaches comes last."""
    tables = [
        runs.table_of_lines(evaluated, convention, list(lines))
        for part in (evaluated.lines, evaluated.ceiling)
        for convention, lines in groupby(part, key=lambda line: line.convention)
    ]
    return _table_of_corpus(evaluated, frame(tables, figure="measure", parts=INTERVAL))


def comparisons(evaluated: EvaluatedRuns) -> pd.DataFrame:
    """A row for each two runs of a facet: how much better the first is, and whether that holds."""
    return _table_of_corpus(evaluated, frame(runs.pairs(evaluated), parts=INTERVAL))


def evaluation_and_comparisons(evaluated: EvaluatedRuns) -> pd.DataFrame:
    """The measures, and below them the differences between two runs, which have a name under `against`."""
    import pandas as pd

    return pd.concat([evaluation(evaluated), comparisons(evaluated)], ignore_index=True)


def evaluation_by_query(evaluated: EvaluatedRuns) -> pd.DataFrame:
    """A row for each convention, run, query and measure; values are fractions, 0..1."""
    tables = [
        runs.table_of_queries(evaluated, convention, [tag])
        for tag, by_convention in evaluated.evaluations.items()
        for convention in by_convention
    ]
    return _table_of_corpus(evaluated, frame(tables, figure="measure", parts=("value",)))


def _table_of_corpus(evaluated: EvaluatedRuns, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the version of the corpus, if it has several, and the programs that measured."""
    if evaluated.corpus is None or table.empty:
        return table
    return table.assign(corpus=evaluated.corpus, evaluator=table["convention"].map(evaluator_of))


def agreement(table: AgreementTable, words: StudyVocabulary) -> pd.DataFrame:
    """A row for each facet, stage, coefficient and statistic; the shares of pairs adjudicated come last."""
    return frame(
        [sections.all_coefficients(table, words, table.groups), sections.shares(table, words)], figure="statistic"
    )


def agreement_by_query(table: AgreementTable, words: StudyVocabulary) -> pd.DataFrame:
    """A row for each query, stage and coefficient."""
    return frame([sections.by_query(table, words)], figure="coefficient", parts=("value", "undefined"))


def agreement_of_items(figures: Mapping[str, Number], *, pairs: int) -> pd.DataFrame:
    """The table of `agreement` for items that belong to no query. figures: by name of the coefficient."""
    columns = Columns[tuple[str, Number]](
        [
            Column("facet", lambda row: "together"),
            Column("adjudication", lambda row: "before"),
            Column("coefficient", lambda row: row[0]),
        ],
        [Column("pooled", lambda row: row[1]), Column("queries", lambda row: None), Column("pairs", lambda row: pairs)],
    )
    return frame([columns.of(figures.items())], figure="statistic")


def rankings(runs: Mapping[str, Mapping[str, Ranking]]) -> pd.DataFrame:
    """A row for each run, query and document, best first. runs: by tag, then by query."""
    import pandas as pd

    rows = [
        (query_id, doc.doc_id, rank, doc.score, tag)
        for tag, by_query in runs.items()
        for query_id, ranking in by_query.items()
        for rank, doc in enumerate(ranking, start=1)
    ]
    columns = ["query_id", "doc_id", "rank", "score", "run"]
    return pd.DataFrame(rows, columns=columns) if rows else empty_table(columns)


def pool(drawn_pool: Pool) -> pd.DataFrame:
    """A row for each document of a pool, in the order drawn."""
    return frame([commands.documents(drawn_pool, {}).of(drawn_pool.entries)])
