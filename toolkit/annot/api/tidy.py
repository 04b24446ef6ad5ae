"""One tidy table of what a command found: a figure or an event a row. The library's `to_frame` and `--csv` share it.

A table comes from the declared columns of its records (`OF_RECORDS`), or from what `--json` carries under `data`.
Figures are not rounded here. A figure without a value has an empty cell, and the reason stands under `undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from annot.base.stats.values import to_json
from annot.publishing.report import commands
from annot.publishing.report.cells import Number
from annot.publishing.report.sections import agreement as sections
from annot.publishing.report.sections import runs
from annot.publishing.report.tables import table

if TYPE_CHECKING:
    from annot.base.records import Pool
    from annot.judging.substudy import SubstudyReport
    from annot.judging.trial_answers import Probed, TrainedAssessor
    from annot.measuring.agreement.summaries import AgreementTable
    from annot.measuring.evaluation.evaluated import Evaluated
    from annot.measuring.measured import ByGuidelines
    from annot.pools.growth import Grown
    from annot.publishing.report.document import Table
    from annot.publishing.report.tables import Columns

INTEGERS = ("rank", "turn", "grade", "queries", "pairs", "n", "year", "revision", "occasion", "cited_outside")
"""Columns of whole numbers, some of whose cells may be empty."""
FLOATS = ("value", "low", "high", "score")
AGREEMENT = ("kappa", "alpha")
INTERVAL = ("value", "low", "high", "interval")
ALL = (*INTERVAL, "undefined")
PRECISION = "%.6g"
"""Of the cells of `--csv`: more than any paper prints, less than what another processor may compute otherwise."""

Row = dict[str, Any]
Of = TypeVar("Of")


def csv_text(command: str, data: Any) -> str:
    """The table of `command`, a name in `TABLES`, as CSV with a header. data: what the command found."""
    made = OF_RECORDS[command](data) if command in OF_RECORDS else OF_JSON[command](to_json(data))
    return made.to_csv(index=False, float_format=PRECISION, lineterminator="\n")


def evaluation(evaluated: Evaluated) -> pd.DataFrame:
    """A row for each convention, facet, run and measure; fractions, 0..1. What one assessor reaches stands last."""
    tables = [
        runs.of_lines(evaluated, convention, list(lines))
        for part in (evaluated.lines, evaluated.ceiling)
        for convention, lines in groupby(part, key=lambda line: line.convention)
    ]
    return frame(row for one in tables for row in melted(one, "measure", INTERVAL))


def comparisons(evaluated: Evaluated) -> pd.DataFrame:
    """A row for each two runs of a facet: how much better the first is, and whether that holds."""
    return frame(_flat(record) for one in runs.pairs(evaluated) for record in one.records)


def evaluation_and_comparisons(evaluated: Evaluated) -> pd.DataFrame:
    """The measures, and below them the differences between two runs, which have a name under `against`."""
    return pd.concat([evaluation(evaluated), comparisons(evaluated)], ignore_index=True)


def evaluation_by_query(evaluated: Evaluated) -> pd.DataFrame:
    """A row for each convention, run, query and measure; values are fractions, 0..1."""
    tables = [
        runs.of_queries(evaluated, convention, [tag])
        for tag, by_convention in evaluated.evaluations.items()
        for convention in by_convention
    ]
    return frame(row for one in tables for row in melted(one, "measure", ("value",)))


def agreement(found: AgreementTable) -> pd.DataFrame:
    """A row for each facet, stage, coefficient and statistic; the shares of pairs adjudicated come last."""
    return frame(_agreement_rows(found))


def agreement_by_guidelines(versions: Sequence[ByGuidelines]) -> pd.DataFrame:
    """The table of `agreement` for each version of the guidelines by which pairs were judged."""
    return frame(
        {"guidelines": version.number, "sent_at": version.sent_at, **row}
        for version in versions
        if version.table is not None
        for row in _agreement_rows(version.table)
        if row["facet"] != "together"
    )


def agreement_by_query(found: AgreementTable) -> pd.DataFrame:
    """A row for each query, stage and coefficient."""
    return frame(melted(sections.by_query(found), "coefficient", ("value", "undefined")))


def agreement_of_items(figures: Mapping[str, Number], *, pairs: int) -> pd.DataFrame:
    """The table of `agreement` for items that belong to no query. figures: by name of the coefficient."""
    return frame(
        {
            **{"facet": "together", "adjudication": "before", "coefficient": name, "statistic": "pooled"},
            **_parts(found),
            **{"queries": None, "pairs": pairs},
        }
        for name, found in figures.items()
    )


def _agreement_rows(found: AgreementTable) -> Iterator[Row]:
    yield from melted(sections.all_coefficients(found, found.groups), "statistic")
    for row in melted(sections.adjudicated(found, found.groups), "statistic", keep=("facet",)):
        name, statistic = row.pop("statistic").split()
        first = {"facet": row.pop("facet"), "adjudication": "", "coefficient": name, "statistic": statistic}
        yield first | row


def melted(found: Table, name: str, parts: Sequence[str] = ALL, keep: Collection[str] | None = None) -> Iterator[Row]:
    """A row for each figure of a table. name: the column that says which figure it is.

    parts: what of the figure is told. keep: the columns beside it; all where not given. Those that come before the
    figures in the table come before them here.
    """
    for record in found.records:
        plain = {field: cell for field, cell in record.items() if not isinstance(cell, Number)}
        figures = {field: cell for field, cell in record.items() if isinstance(cell, Number)}
        kept = {field: cell for field, cell in plain.items() if keep is None or field in keep}
        fields = list(record)
        first = min((fields.index(field) for field in figures), default=0)
        before = {field: cell for field, cell in kept.items() if fields.index(field) < first}
        for field, number in figures.items():
            told = {part: cell for part, cell in _parts(number).items() if part in parts}
            yield {**before, name: field, **told, **dict(number.rests_on), **kept}


def _flat(record: Mapping[str, object]) -> Row:
    """A row of a table as it is; the figure that is called `value` with its interval."""
    row: Row = {}
    for field, cell in record.items():
        told = _parts(cell) if isinstance(cell, Number) else {"value": cell}
        row |= {part: told[part] for part in INTERVAL} if field == "value" else {field: told["value"]}
    return row


def _parts(found: Number) -> Row:
    return figure(to_json(found.raw), to_json(found.interval))


def pool(found: Pool) -> pd.DataFrame:
    """A row for each document of a pool, in the order drawn."""
    documents = _declared(commands.documents({}), found.entries)
    return frame({"query_paper": found.paper_id, **record} for record in documents.records)


def grown_pools(found: Grown) -> pd.DataFrame:
    """A row for each pool that was added to."""
    return frame(_declared(commands.ADDED, found.pools).records)


def depths(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each depth of pools, with the hours and the cost without their intervals."""
    return frame(
        {**one, **{name: value_of(one[name]["value"])["value"] for name in ("hours", "cost")}} for one in data["depths"]
    )


def figures(data: Mapping[str, Any]) -> pd.DataFrame:
    """Every figure in the lists of records in `data`: of whom, against whom, which, its value and its interval."""
    return frame(figure_rows(data))


def training(assessors: Iterable[TrainedAssessor], hidden: Iterable[Probed]) -> pd.DataFrame:
    """A row for each coefficient of each assessor's grades with gold grades, then with those of hidden gold."""
    by_gold = {"open": _declared(commands.TRAINING, assessors), "hidden": _declared(commands.PROBED, hidden)}
    rows = ((gold, row) for gold, one in by_gold.items() for row in melted(one, "figure"))
    return frame({"assessor": row.pop("assessor"), "gold": gold, **row} for gold, row in rows)


def substudy(found: SubstudyReport) -> pd.DataFrame:
    """A row for each coefficient of each two gradings, then for the median time in each view."""
    tables = _declared(commands.COMPARED_VIEWS, found.compared), _declared(commands.VIEWS, found.views)
    return frame(row for one in tables for row in melted(one, "figure"))


def _declared(columns: Columns[Of], rows: Iterable[Of]) -> Table:
    return table("", rows, columns.names, columns.numbers)


def records(data: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each record of a flat list."""
    return frame(
        {name: " ".join(map(str, cell)) if isinstance(cell, list) else cell for name, cell in record.items()}
        for record in data
    )


def people(data: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each person, without the account: a table becomes a file, and a file travels."""
    return records([{name: value for name, value in person.items() if name != "account"} for person in data])


def status(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each count, of the study or of one assessor."""
    whole = {name: n for name, n in data.items() if isinstance(n, int)}
    counts = [
        *(("", name, n) for name, n in whole.items()),
        *((person["assessor"], name, person[name]) for person in data["assessors"] for name in ("assigned", "judged")),
    ]
    return frame({"count": name, "assessor": assessor, "n": n} for assessor, name, n in counts)


def grades(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each query and grade: how many pairs have it."""
    return frame(
        {"query_id": query_id, "grade": grade, "pairs": pairs}
        for query_id, counts in data["grades"].items()
        for grade, pairs in zip(data["scale"], counts, strict=True)
    )


def figure_rows(data: Mapping[str, Any]) -> Iterator[Row]:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from figure_rows(value)
        elif isinstance(value, list) and value and all(isinstance(record, Mapping) for record in value):
            for record in value:
                yield from _figures_of(record, name)


def _figures_of(record: Mapping[str, Any], about: str) -> Iterator[Row]:
    names = {name: value for name, value in record.items() if isinstance(value, str)}
    subject = next((names[key] for key in ("assessor", "first", "better", "name", "query_id") if key in names), "")
    other = next((names[key] for key in ("second", "worse", "doc_id") if key in names), "")
    kind = " ".join(names[key] for key in ("kind", "measure") if key in names)
    for path, row in _numbers(record, ""):
        yield {"about": about, "subject": subject, "other": other, "figure": f"{kind} {path}".strip(), **row}


def _numbers(value: Any, path: str, interval: Any = None) -> Iterator[tuple[str, Row]]:
    """Each number below `value`, by its path."""
    if isinstance(value, Mapping) and "value" in value:
        yield path, {**figure(value["value"], value.get("interval")), "n": value.get("n", value.get("of"))}
    elif isinstance(value, Mapping) and "undefined" not in value:
        for name, below in value.items():
            beside = value.get(f"{name}_interval")
            if not name.endswith(("interval", "intervals")):
                yield from _numbers(below, f"{path} {name}".strip(), beside)
    elif isinstance(value, list):
        for place, below in enumerate(value):
            yield from _numbers(below, f"{path} {place}")
    elif isinstance(value, int | float | Mapping):
        yield path, {**figure(value, interval), "n": None}


def figure(value: Any, interval: Mapping[str, Any] | None) -> Row:
    found = interval if interval and "low" in interval else {"low": None, "high": None, "method": ""}
    return {**value_of(value), "low": found["low"], "high": found["high"], "interval": found["method"]}


def value_of(value: Any) -> Row:
    """A figure, or why there is none."""
    if isinstance(value, Mapping):
        return {"value": None, "undefined": value["undefined"]}
    return {"value": value, "undefined": ""}


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """The rows as a table; the reasons stand last."""
    made = pd.DataFrame(list(rows))
    types = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(FLOATS, "float64")
    made = made.astype({name: kind for name, kind in types.items() if name in made})
    if "undefined" in made:
        made["undefined"] = made.pop("undefined")
    return made


OF_RECORDS: dict[str, Callable[[Any], pd.DataFrame]] = {
    "agreement": agreement,
    "agreement --per-query": agreement_by_query,
    "agreement --by guidelines": agreement_by_guidelines,
    "evaluate": evaluation_and_comparisons,
    "evaluate --out": comparisons,
    "evaluate --per-query": evaluation_by_query,
    "pool add": grown_pools,
    "pool show": pool,
    "substudy report": substudy,
    "train report": lambda found: training(found.assessors, found.hidden),
}
"""The table of a command by its name, made from the records by the columns that are declared of them."""
OF_JSON: dict[str, Callable[[Any], pd.DataFrame]] = {
    "agreement --by assessor": figures,
    "assessor list": people,
    "answers list": records,
    "assessor list --silent": records,
    "comments": records,
    "evaluate --against": lambda data: records(data["figures"]),
    "forecast": lambda data: figures({"study": [data["forecast"]], "assessors": data["forecast"]["assessors"]}),
    "forecast --design": lambda data: figures({"design": [data["forecast"]]}),
    "forecast --pools": depths,
    "pool": lambda data: records(data["pools"]),
    "pool show --all": lambda data: records(data["methods"]),
    "qrels": grades,
    "qrels compare": lambda data: records(
        [
            {name: value for name, value in topic.items() if name not in AGREEMENT}
            | {name: value_of(topic[name])["value"] for name in AGREEMENT}
            for topic in data["found"]["topics"]
        ]
    ),
    "query list": records,
    "assessor-effect": lambda data: figures({**data, "random_assessors": [data["random_assessors"]]}),
    "status": status,
    "status --adjudication": records,
    "status --returned": records,
}
"""The same of those whose table is made from what `--json` carries under `data`."""
TABLES = OF_RECORDS | OF_JSON
