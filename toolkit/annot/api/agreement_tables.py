"""The tidy tables of agreement: a figure a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from annot.api.rows import Row, figure, frame, kept, value_of

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
