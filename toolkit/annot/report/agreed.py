"""Agreement figures as cells and rows, the same in the terminal and in the report: each with its interval and its n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from annot.agreement import (
    HEADLINE,
    PERCENTAGES,
    AgreementTable,
    GroupAgreement,
    Interval,
    Intervals,
    ShareSummary,
    Summary,
    Undefined,
    Value,
)

STAGES: tuple[Literal["before", "after"], ...] = ("before", "after")

KEY = "In parentheses: queries in which it has a value, of all queries; then the pairs with two or more grades in them."
EVERY_HEADINGS = (
    "Facet",
    "Adjudication",
    "Coefficient",
    "Median",
    "Mean",
    "Q1",
    "Q3",
    "Queries",
    "Pairs",
    "Pooled",
    "Of pairs",
)


def intervals_in_words(table: AgreementTable) -> str:
    """What the brackets hold: method, level, number of resamples, and what was resampled."""
    if table.level is None or table.resamples is None:
        return "No intervals were asked for."
    return (
        f"In brackets: {100 * table.level:g}% bootstrap intervals (BCa; † percentile, where BCa has none), from "
        f"{table.resamples:,} resamples of whole queries."
    )


def value(name: str, figure: Value) -> str:
    """A figure of the coefficient `name`: a percentage to two decimals, any other to four, or the word for having none.

    CSFCube's Table 2 prints percentages so; of the coefficients it prints two decimals, cut or rounded. Zero has no
    sign.
    """
    if isinstance(figure, Undefined):
        return "undefined"
    return f"{figure:z.2f}" if name in PERCENTAGES else f"{figure:z.4f}"


def interval(found: Intervals | None, *, percent: bool = False) -> str:
    """BCa, else percentile with its mark, else that there is none. percent: of a fraction, printed in percent."""
    if found is None:
        return ""
    scale = 100 if percent else 1
    for one, mark in ((found.bca, ""), (found.percentile, "†")):
        if isinstance(one, Interval):
            return f"[{scale * one.low:z.2f}, {scale * one.high:z.2f}]{mark}"
    return "[none]"


def figure(name: str, summary: Summary, statistic: str) -> str:
    """The median, mean or pooled figure with its interval."""
    one: Value = getattr(summary, statistic)
    if isinstance(one, Undefined) or summary.intervals is None:
        return value(name, one)
    return f"{value(name, one)} {interval(summary.intervals[statistic])}"


def behind(summary: Summary) -> str:
    """Queries with a value, of all queries of the group."""
    return f"{summary.n_queries}/{summary.n_queries + summary.n_undefined}"


def headline_rows(table: AgreementTable, *, first: Sequence[object] = ()) -> list[list[object]]:
    """Median of the headline coefficients, a row a facet, before and after; each cell with interval and n."""
    return [
        [*first, group.name, when, *(_with_n(name, summaries[name]) for name in HEADLINE)]
        for group, when, summaries in summaries_of(table)
    ]


def every_rows(table: AgreementTable) -> list[list[object]]:
    """Under `EVERY_HEADINGS`: every statistic of every coefficient, a row each."""
    return [
        [
            group.name,
            when,
            table.titles[name],
            figure(name, summary, "median"),
            figure(name, summary, "mean"),
            value(name, summary.q1),
            value(name, summary.q3),
            behind(summary),
            summary.n_pairs,
            figure(name, summary, "pooled"),
            summary.n_pairs_pooled,
        ]
        for group, when, summaries in summaries_of(table)
        for name, summary in summaries.items()
    ]


def query_rows(table: AgreementTable) -> list[list[object]]:
    """The headline coefficients of each query, before and after."""
    return [
        [one.query_id, when, *(value(name, values[name]) for name in HEADLINE), one.n_pairs]
        for one in table.queries
        for when, values in (("before", one.before), ("after", one.after))
    ]


def share(found: ShareSummary, statistic: Literal["pooled", "mean"], *, digits: int) -> str:
    """A share in percent with its interval."""
    one = found.pooled.value if statistic == "pooled" else found.mean
    if isinstance(one, Undefined):
        return "undefined"
    return f"{100 * one:.{digits}f}% {interval((found.intervals or {}).get(statistic), percent=True)}".strip()


def summaries_of(
    table: AgreementTable,
) -> Iterator[tuple[GroupAgreement, Literal["before", "after"], dict[str, Summary]]]:
    """The summaries of each group, before and after."""
    for group in table.groups:
        for when in STAGES:
            yield group, when, group.before if when == "before" else group.after


def policy_in_words(table: AgreementTable) -> str:
    """Why a person settled more pairs than are counted as in need of it; of all facets together."""
    n = table.groups[-1].agreed_by_policy if table.groups else 0
    if not n:
        return ""
    pairs, have, are = ("pair", "lacks", "is") if n == 1 else ("pairs", "lack", "are")
    return (
        f"{n} {pairs} {have} an assessor's grade that counts as 0 here and then equals the other: a person settles "
        f"them all the same, and they {are} not counted as in need of adjudication."
    )


def _with_n(name: str, summary: Summary) -> str:
    return f"{figure(name, summary, 'median')} ({behind(summary)}; {summary.n_pairs})"
