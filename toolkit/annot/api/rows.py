"""The rows of a tidy table: records, values with their intervals, and the frame that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

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
