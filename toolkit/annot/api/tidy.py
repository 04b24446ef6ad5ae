"""One tidy table of what a command found: a figure or an event a row. The library's `to_frame` and `--csv` share it.

Each function takes what `--json` carries under `data`. Figures are not rounded here. A figure without a value has an
empty cell, and the reason stands under `undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

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


INTEGERS = ("rank", "turn", "grade", "queries", "pairs", "n", "year", "revision", "occasion", "cited_outside")
"""Columns of whole numbers, some of whose cells may be empty."""
FLOATS = ("value", "low", "high", "score")

Row = dict[str, Any]


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
    kind = " ".join(names[key] for key in ("kind", "manner", "measure", "axis") if key in names)
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


def kept(record: Mapping[str, Any], *names: str) -> Row:
    """These fields as they are."""
    return {name: record[name] for name in names}


def figure(value: Any, interval: Mapping[str, Any] | None) -> Row:
    return {**value_of(value), **interval_of(interval)}


def value_of(value: Any) -> Row:
    """A figure, or why there is none."""
    if isinstance(value, Mapping):
        return {"value": None, "undefined": value["undefined"]}
    return {"value": value, "undefined": ""}


def interval_of(found: Mapping[str, Any] | None) -> Row:
    if found is not None and "low" in found:
        return {"low": found["low"], "high": found["high"], "interval": found["method"]}
    return {"low": None, "high": None, "interval": ""}


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """The rows as a table; the reasons stand last."""
    table = pd.DataFrame(list(rows))
    types = dict.fromkeys(INTEGERS, "Int64") | dict.fromkeys(FLOATS, "float64")
    table = table.astype({name: kind for name, kind in types.items() if name in table})
    if "undefined" in table:
        table["undefined"] = table.pop("undefined")
    return table


STATISTICS = ("median", "mean", "q1", "q3", "pooled")


def agreement(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each facet, stage, coefficient and statistic; the shares of pairs adjudicated come last."""
    return frame(_agreement_rows(data))


def pooled(coefficients: Mapping[str, tuple[Any, Any]], *, pairs: int) -> pd.DataFrame:
    """The same table for items that belong to no query. coefficients: value and interval of each, by name."""
    return frame(
        _agreement_row("together", "before", name, "pooled", value, interval, None, pairs)
        for name, (value, interval) in coefficients.items()
    )


def agreement_by_query(data: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each query, stage and coefficient."""
    return frame(
        {
            **kept(query, "facet", "query_id"),
            "adjudication": stage,
            "coefficient": name,
            **value_of(value),
            "pairs": query["n_pairs"],
        }
        for query in data["queries"]
        for stage in ("before", "after")
        for name, value in query[stage].items()
    )


def agreement_by_guidelines(data: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table of `agreement` for each version of the guidelines by which pairs were judged."""
    return frame(
        {"guidelines": version["number"], "sent_at": version["sent_at"], **row}
        for version in data
        if version["table"]
        for row in _agreement_rows(version["table"])
        if row["facet"] != "together"
    )


def _agreement_rows(data: Mapping[str, Any]) -> Iterator[Row]:
    for group in data["groups"]:
        for stage in ("before", "after"):
            for name, summary in group[stage].items():
                for statistic in STATISTICS:
                    interval = (summary["intervals"] or {}).get(statistic)
                    of_all = statistic == "pooled"
                    queries = group["n_queries"] if of_all else summary["n_queries"]
                    pairs = summary["n_pairs_pooled"] if of_all else summary["n_pairs"]
                    found = (summary[statistic], interval, queries, pairs)
                    yield _agreement_row(group["name"], stage, name, statistic, *found)
    for group in data["groups"]:
        for name in ("disputed", "overruled"):
            share = group[name]
            for statistic, value in (("pooled", share["pooled"]["value"]), ("mean", share["mean"])):
                interval = (share["intervals"] or {}).get(statistic)
                found = (value, interval, share["n_queries"], share["pooled"]["of"])
                yield _agreement_row(group["name"], "", f"{name}_share", statistic, *found)


def _agreement_row(
    facet: str, stage: str, name: str, statistic: str, value: Any, interval: Any, queries: int | None, pairs: int
) -> Row:
    return {
        "facet": facet,
        "adjudication": stage,
        "coefficient": name,
        "statistic": statistic,
        **figure(value, interval),
        "queries": queries,
        "pairs": pairs,
    }


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
        yield {"step": "given", "by": assessor, "note": f"pair {position} of theirs" + ", a repeat" * (occasion > 1)}
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
    "agreement --by assessor": assessors,
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
    "pool show --against": records,
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
