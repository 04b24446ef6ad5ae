"""One tidy table of what a command found: a figure or an event a row. The library's `to_frame` and `--csv` share it.

Agreement and measures come from the tables of the report; each other function takes what `--json` carries under `data`.
Figures are not rounded here. A figure without a value has an empty cell, and the reason stands under `undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd

from annot.api.rows import Row, figure, figure_rows, frame, kept, value_of
from annot.base.stats.values import to_json
from annot.publishing.report.cells import Number
from annot.publishing.report.sections import agreement as sections
from annot.publishing.report.sections import runs

if TYPE_CHECKING:
    from annot.measuring.agreement.summaries import AgreementTable
    from annot.measuring.evaluation.evaluated import Evaluated
    from annot.measuring.measured import ByGuidelines
    from annot.publishing.report.document import Table

AGREEMENT = ("kappa", "alpha")
INTERVAL = ("value", "low", "high", "interval")
ALL = (*INTERVAL, "undefined")
PRECISION = "%.6g"
"""Of the cells of `--csv`: more than any paper prints, less than what another processor may compute otherwise."""


def csv_text(command: str, data: Any) -> str:
    """The table of `command`, a name in `TABLES`, as CSV with a header. data: what the command found."""
    made = TABLES[command]
    return made(data if made in FROM_RECORDS else to_json(data)).to_csv(
        index=False, float_format=PRECISION, lineterminator="\n"
    )


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


def melted(table: Table, name: str, parts: Sequence[str] = ALL, keep: Collection[str] | None = None) -> Iterator[Row]:
    """A row for each figure of a table. name: the column that says which figure it is.

    parts: what of the figure is told. keep: the columns beside it; all where not given. Those that come before the
    figures in the table come before them here.
    """
    for record in table.records:
        plain = {field: cell for field, cell in record.items() if not isinstance(cell, Number)}
        figures = {field: cell for field, cell in record.items() if isinstance(cell, Number)}
        kept = {field: cell for field, cell in plain.items() if keep is None or field in keep}
        fields = list(record)
        first = min((fields.index(field) for field in figures), default=0)
        before = {field: cell for field, cell in kept.items() if fields.index(field) < first}
        for field, found in figures.items():
            told = {part: cell for part, cell in _parts(found).items() if part in parts}
            yield {**before, name: field, **told, **dict(found.rests_on), **kept}


def _flat(record: Mapping[str, object]) -> Row:
    """A row of a table as it is; the figure that is called `value` with its interval."""
    row: Row = {}
    for field, cell in record.items():
        told = _parts(cell) if isinstance(cell, Number) else {"value": cell}
        row |= {part: told[part] for part in INTERVAL} if field == "value" else {field: told["value"]}
    return row


def _parts(found: Number) -> Row:
    return figure(to_json(found.raw), to_json(found.interval))


def pool(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each document of a pool, in the order drawn."""
    return frame(
        {
            "query_paper": data["paper_id"],
            "doc_id": entry["doc_id"],
            **kept(entry["drawn"], "turn", "method", "rank", "score"),
            "also_had_by": " ".join(
                draw["method"] if draw["rank"] is None else f"{draw['method']}:{draw['rank']}" for draw in entry["also"]
            ),
        }
        for entry in data["entries"]
    )


def grown_pools(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each pool that was added to."""
    return frame(
        {
            "query_paper": pool["paper_id"],
            "queries": len(pool["queries"]),
            "added": len(pool["added"]),
            "size": pool["size"],
            "documents": " ".join(pool["added"]),
        }
        for pool in data["pools"]
    )


def depths(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each depth of pools, with the hours and the cost without their intervals."""
    return frame(
        {**one, **{name: value_of(one[name]["value"])["value"] for name in ("hours", "cost")}} for one in data["depths"]
    )


def figures(data: Mapping[str, Any]) -> pd.DataFrame:
    """Every figure in the lists of records in `data`: of whom, against whom, which, its value and its interval."""
    return frame(figure_rows(data))


def training(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each coefficient of each assessor's grades with gold grades, then with those of hidden gold."""
    return frame(
        {
            "assessor": one["assessor"],
            "gold": kind,
            "given": one[given],
            "answered": one["answered"],
            "verdict": one.get("verdict", ""),
            **row,
        }
        for kind, persons, given in (("open", data["assessors"], "gold"), ("hidden", data["hidden"], "hidden"))
        for one in persons
        for row in _between(one["agreement"])
    )


def substudy(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each coefficient of each two gradings, then for the median time in each view."""
    agreed = [{**kept(one, "first", "second"), **row} for one in data["compared"] for row in _between(one["agreement"])]
    times = [
        {
            "first": one["view"],
            "second": "",
            "figure": "median_seconds",
            **figure(**one["seconds"]),
            "queries": None,
            "pairs": one["timed"],
        }
        for one in data["views"]
    ]
    return frame([*agreed, *times])


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
    persons = [(person["assessor"], kept(person, "assigned", "judged")) for person in data["assessors"]]
    return frame(
        {"count": name, "assessor": assessor, "n": n}
        for assessor, counts in [("", whole), *persons]
        for name, n in counts.items()
    )


def grades(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each query and grade: how many pairs have it."""
    return frame(
        {"query_id": query_id, "grade": grade, "pairs": pairs}
        for query_id, counts in data["grades"].items()
        for grade, pairs in zip(data["scale"], counts, strict=True)
    )


def _between(agreement: Mapping[str, Any]) -> Iterator[Row]:
    for name, found in agreement["figures"].items():
        yield {"figure": name, **figure(**found), "queries": agreement["n_queries"], "pairs": agreement["n_pairs"]}


def story(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each thing that happened to one pair, in the order of the work."""
    return frame(
        {"step": "", "by": "", "rank": None, "score": None, "grade": None, "revision": None, "at": None, "note": None}
        | event
        for event in _events(data)
    )


def _events(data: Mapping[str, Any]) -> Iterator[Row]:
    pooled = data["pool"]
    if pooled is not None:
        added = pooled["added"] or {"reason": None, "made_at": None}
        drawn = {"step": "drawn", "by": pooled["drawn"]["method"], **kept(pooled["drawn"], "rank", "score")}
        yield {**drawn, "at": added["made_at"], "note": added["reason"]}
    for draw in pooled["also"] if pooled is not None else data["had_by"]:
        yield {"step": "ranked", "by": draw["method"], **kept(draw, "rank", "score")}
    for assessor, position, occasion in data["given_to"]:
        yield {
            "step": "given",
            "by": assessor,
            "note": f"pair {position} in their order" + ", a repeat" * (occasion > 1),
        }
    for person, round_ in data["sent_to"]:
        yield {"step": "sent", "by": person, "note": round_}
    for said in data["said"]:
        yield {
            "step": "judged" if said["role"] == "assessor" else "adjudicated",
            "by": said["person"],
            **kept(said, "grade", "revision"),
            "at": said["judged_at"],
            "note": "; ".join(
                part for part in (*said["flags"], said["cannot_judge"], said["reason"], said["comment"]) if part
            ),
        }
    yield {"step": "decided", "by": data["adjudicator"] or "", "grade": data["grade"], "note": data["standing"]}
    yield {"step": "in the qrels", "grade": data["qrel"]}
    for run in data["runs"]:
        yield {"step": "retrieved", "by": run["tag"], **kept(run, "rank", "score")}


TABLES: dict[str, Callable[[Any], pd.DataFrame]] = {
    "agreement": agreement,
    "agreement --per-query": agreement_by_query,
    "agreement --by assessor": figures,
    "agreement --by guidelines": agreement_by_guidelines,
    "assessor list": people,
    "answers list": records,
    "assessor list --silent": records,
    "comments": records,
    "evaluate": evaluation_and_comparisons,
    "evaluate --out": comparisons,
    "evaluate --against": lambda data: records(data["figures"]),
    "evaluate --per-query": evaluation_by_query,
    "forecast": lambda data: figures({"study": [data["forecast"]], "assessors": data["forecast"]["assessors"]}),
    "forecast --design": lambda data: figures({"design": [data["forecast"]]}),
    "forecast --pools": depths,
    "pool": lambda data: records(data["pools"]),
    "pool add": grown_pools,
    "pool show": pool,
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
    "substudy report": substudy,
    "train report": training,
    "trace": story,
}
"""The table of each command that has one, by its name."""
FROM_RECORDS = frozenset(
    (
        *(agreement, agreement_by_guidelines, agreement_by_query),
        *(comparisons, evaluation_and_comparisons, evaluation_by_query),
    )
)
"""Those that take records and not their JSON."""
