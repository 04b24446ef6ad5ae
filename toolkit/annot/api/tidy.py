"""One tidy table of what a command found: a figure or an event a row. The library's `to_frame` and `--csv` share it.

Each function takes what `--json` carries under `data`. Figures are not rounded here. A figure without a value has an
empty cell, and the reason stands under `undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from annot.api.agreement_tables import agreement, agreement_by_query
from annot.api.rows import Row, figure, figure_rows, frame, interval_of, kept, value_of
from annot.api.story import story

AGREEMENT = ("kappa", "alpha")
PRECISION = "%.6g"
"""Of the cells of `--csv`: more than any paper prints, less than what another processor may compute otherwise."""


def csv_text(command: str, data: Any) -> str:
    """The table of `command`, a name in `TABLES`, as CSV with a header."""
    return TABLES[command](data).to_csv(index=False, float_format=PRECISION, lineterminator="\n")


def evaluation(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each convention, facet, run and measure; fractions, 0..1. What one assessor reaches stands last."""
    return frame(
        {
            **kept(line, "convention", "facet"),
            "run": line["run"] + (": trained on what it is tested on" if line["demonstration"] else ""),
            "measure": measure,
            "value": value,
            **interval_of(line["intervals"][measure]),
            **kept(line, "queries", "average"),
        }
        for line in (*data["lines"], *data["ceiling"])
        for measure, value in line["values"].items()
    )


def comparisons(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each two runs of a facet: how much better the first is, and whether that holds."""
    return frame(
        {
            **kept(pair, "convention", "facet"),
            "run": pair["run_a"],
            "against": pair["run_b"],
            "measure": pair["measure"],
            "value": pair["difference"],
            **interval_of(pair["interval"]),
            **kept(pair, "p_value", "p_corrected", "p_holm", "p_tukey"),
            "p_t": value_of(pair["p_t"])["value"],
            "effect": value_of(pair["effect"])["value"],
            "holds": pair["holds"],
        }
        for pair in data["comparison"]["pairs"]
    )


def evaluation_and_comparisons(data: Mapping[str, Any]) -> pd.DataFrame:
    """The measures, and below them the differences between two runs, which have a name under `against`."""
    return pd.concat([evaluation(data), comparisons(data)], ignore_index=True)


def evaluation_by_query(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each convention, run, query and measure; values are fractions, 0..1."""
    return frame(
        {
            "convention": convention,
            "run": run,
            "query_id": query_id,
            "measure": measure,
            "value": value,
            **kept(query, "submitted", "relevant", "unjudged", "judged_at_20"),
        }
        for run, by_convention in data["queries"].items()
        for convention, queries in by_convention.items()
        for query_id, query in queries.items()
        for measure, value in query["values"].items()
    )


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
    return records(
        [
            {
                "query_paper": pool["paper_id"],
                "queries": len(pool["queries"]),
                "added": len(pool["added"]),
                "size": pool["size"],
                "documents": pool["added"],
            }
            for pool in data["pools"]
        ]
    )


def depths(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each depth of pools, with the hours and the cost without their intervals."""
    return frame(
        {**one, **{name: value_of(one[name]["value"])["value"] for name in ("hours", "cost")}} for one in data["depths"]
    )


def figures(data: Mapping[str, Any]) -> pd.DataFrame:
    """Every figure in the lists of records in `data`: of whom, against whom, which, its value and its interval."""
    return frame(figure_rows(data))


def assessors(data: Mapping[str, Any]) -> pd.DataFrame:
    """Every figure of the assessors, one by one and two by two, and of the model of their errors."""
    model = data["diagnosed"]["dawid_skene"]
    return figures({**data, "dawid_skene": [{name: value for name, value in model.items() if name != "departures"}]})


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


TABLES: dict[str, Callable[[Any], pd.DataFrame]] = {
    "agreement": agreement,
    "agreement --per-query": agreement_by_query,
    "agreement assessors": assessors,
    "assessor list": people,
    "answers list": records,
    "assessor list --silent": records,
    "comments": records,
    "compare": comparisons,
    "evaluate": evaluation_and_comparisons,
    "evaluate --against": lambda data: records(data["figures"]),
    "evaluate --per-query": evaluation_by_query,
    "forecast": lambda data: figures({"study": [data["forecast"]], "assessors": data["forecast"]["assessors"]}),
    "forecast --design": lambda data: figures({"design": [data["forecast"]]}),
    "forecast --pools": depths,
    "pool": lambda data: records(data["pools"]),
    "pool add": grown_pools,
    "pool topup": grown_pools,
    "pool show": pool,
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
