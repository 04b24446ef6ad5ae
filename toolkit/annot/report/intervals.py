"""Intervals as the report prints them, shares with theirs, and in words how they were drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from annot.agreement import Bootstrap, Interval, Intervals
from annot.stats.clusters import of_clusters


class Part(NamedTuple):
    """`part` of a query's `of` pairs."""

    part: int
    of: int


def interval_text(intervals: Intervals, *, scale: float = 1.0) -> str:
    """The BCa interval, else the percentile one with a dagger, times `scale`; empty where there is none.

    One of no width is none: where all resamples give the same figure, they do not show how sure it is.
    """
    for one, mark in ((intervals.bca, ""), (intervals.percentile, "†")):
        if isinstance(one, Interval):
            return f"[{scale * one.low:z.2f}, {scale * one.high:z.2f}]{mark}" if one.low < one.high else ""
    return ""


def ratio_text(parts: Mapping[str, Part], *, plan: Bootstrap, key: str) -> str:
    """A mean over the queries, `part` a query, with its interval by resampling whole queries."""
    total, of = sum(one.part for one in parts.values()), sum(one.of for one in parts.values())
    return f"{total / of:.2f} {_interval(parts, plan, key, 1)}".strip() if of else "–"


def share_text(parts: Mapping[str, Part], *, plan: Bootstrap, key: str) -> str:
    """The share of all pairs, in percent, with its interval by resampling whole queries; an en dash of no pairs.

    parts: by query.
    """
    count, of = sum(one.part for one in parts.values()), sum(one.of for one in parts.values())
    return f"{100 * count / of:.1f}% {_interval(parts, plan, key, 100)}".strip() if of else "–"


def split_interval(cell: str) -> tuple[str, str]:
    """A cell as figure, and interval with what follows it, for where the two stand one below the other; no interval is
    empty.

    >>> split_interval("24.81 [18.20, 31.50]")
    ('24.81', '[18.20, 31.50]')
    """
    found = re.fullmatch(r"(.*\S) (\[-?[\d.]+, -?[\d.]+\].*)", cell)
    return (found[1], found[2]) if found else (cell, "")


def how_drawn(plan: Bootstrap, *, over: str) -> str:
    """How the intervals of a section were drawn, in a sentence. over: what was resampled, in the plural."""
    return (
        f"In brackets: {100 * plan.level:g}% bootstrap intervals (BCa; † percentile, where BCa has none), from "
        f"{plan.resamples:,} resamples of whole {over}. A figure that is the same in all resamples has none."
    )


def _interval(parts: Mapping[str, Part], plan: Bootstrap, key: str, scale: float) -> str:
    there = np.array([parts[query_id] for query_id in sorted(parts)], dtype=np.float64)
    return interval_text(of_clusters(there[:, :1], there[:, 1:], cluster="query", plan=plan, key=key), scale=scale)
