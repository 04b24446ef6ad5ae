"""Why a figure has no value or no interval, and which one says less than it seems to: each reason told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.per_query import NOT_SETTLED
from annot.measuring.agreement.summaries import AgreementTable, GroupAgreement, Summary

STAGES: tuple[Literal["before", "after"], ...] = ("before", "after")
STATISTICS = ("median", "mean", "pooled")
NO_VALUE, NO_INTERVAL, WITH_CARE = "no value", "no interval", "with care"
ORDER = (NO_VALUE, NO_INTERVAL, WITH_CARE)
SHOWN_PLACES = 3
EVERYTHING_AFTER = "every summary of the facet, and the share overruled"


class Reason(NamedTuple):
    """One reason with everything that it holds for, in words."""

    about: str
    stage: str
    """`before`, `after`, or both."""
    figures: str
    places: str
    """Queries or facets: how many and which."""
    why: str


class _Case(NamedTuple):
    """One figure without a value, without an interval, or with a caveat."""

    about: str
    why: str
    """In general, so that many are one."""
    stage: str
    figure: str
    statistic: str
    """"" of a query's own value."""
    place: str
    """A query or a facet."""


def reasons(table: AgreementTable, *, names: Sequence[str], statistics: Sequence[str] = STATISTICS) -> list[Reason]:
    """All reasons for the coefficients `names` and those `statistics` of them that are shown."""
    exactly: dict[_Case, str] = {}
    for case, text in _cases(table, names, statistics):
        exactly.setdefault(case, text)
    rows: list[_Row] = [(case, {name: (value,) for name, value in case._asdict().items()}) for case in exactly]
    for dimension in ("place", "statistic", "figure", "stage"):
        rows = _joined(rows, dimension)
    titles = tuple(table.titles[name] for name in names)
    found = [
        Reason(
            first.about,
            " and ".join(one["stage"]),
            _figures(one["figure"], titles) + _statistics(one["statistic"]),
            _places(one["place"]),
            _why(first, exactly[first], alone=len(one["place"]) == 1),
        )
        for first, one in rows
    ]
    return sorted(found, key=lambda one: ORDER.index(one.about))


class Summarised(NamedTuple):
    """The coefficients of a group at one stage of adjudication, by name."""

    group: GroupAgreement
    stage: Literal["before", "after"]
    of: Mapping[str, Summary]


def summaries_of(groups: Iterable[GroupAgreement]) -> Iterator[Summarised]:
    """The summaries of each group, before and after."""
    for group in groups:
        for stage in STAGES:
            yield Summarised(group, stage, group.before if stage == "before" else group.after)


def _cases(table: AgreementTable, names: Sequence[str], statistics: Sequence[str]) -> Iterator[tuple[_Case, str]]:
    """Each case, with its reason in this data's own counts."""
    for group in table.groups:
        if group.not_settled is not None:
            why = group.not_settled.reason
            yield _Case(NO_VALUE, why, "after", EVERYTHING_AFTER, "", group.name), why
    for query in table.queries:
        for when in STAGES:
            values, caveats = getattr(query, when), getattr(query, f"caveats_{when}")
            for name in names:
                title, value = table.titles[name], values[name]
                if isinstance(value, Undefined) and value.kind != NOT_SETTLED:
                    yield _Case(NO_VALUE, value.kind, when, title, "", query.query_id), value.reason
                for text in caveats.get(name, ()):
                    yield _Case(WITH_CARE, text, when, title, "", query.query_id), text
    for group, when, summaries in summaries_of(table.groups):
        if when == "after" and group.not_settled is not None:
            continue
        for name in names:
            summary, title = summaries[name], table.titles[name]
            for statistic in statistics:
                value = getattr(summary, statistic)
                # Where no query has a value, each says why itself.
                if isinstance(value, Undefined) and (statistic == "pooled" or summary.n_queries):
                    yield _Case(NO_VALUE, value.kind, when, title, statistic, group.name), value.reason
                elif isinstance(value, float):
                    of = (summary.intervals or {}).get(statistic)
                    yield from _of_interval(of, when, title, statistic, group.name)
    for group in table.groups:
        for title, share in (("disputed", group.disputed), ("overruled", group.overruled)):
            if isinstance(share.pooled.value, float):
                of_share = (share.intervals or {}).get("pooled")
                yield from _of_interval(of_share, "–", f"share {title}", "", group.name)
            elif group.not_settled is None:
                why = "no pair was judged by two assessors"
                yield _Case(NO_VALUE, why, "–", f"share {title}", "", group.name), why


def _of_interval(
    found: Interval | Undefined | None, stage: str, figure: str, statistic: str, place: str
) -> Iterator[tuple[_Case, str]]:
    if isinstance(found, Undefined):
        yield _Case(NO_INTERVAL, found.kind, stage, figure, statistic, place), found.reason


_Row = tuple[_Case, dict[str, tuple[str, ...]]]


def _joined(rows: Sequence[_Row], dimension: str) -> list[_Row]:
    """Rows that differ in one dimension alone become one row, under the first case of theirs."""
    found: dict[tuple[tuple[str, ...], ...], _Row] = {}
    for case, row in rows:
        key = tuple(value for name, value in row.items() if name != dimension)
        first, standing = found.get(key, (case, {**row, dimension: ()}))
        found[key] = first, {**standing, dimension: (*standing[dimension], *row[dimension])}
    return list(found.values())


def _figures(figures: Sequence[str], titles: Sequence[str]) -> str:
    """By name; all coefficients, or all but a few, as that."""
    others = [title for title in titles if title not in figures]
    if set(titles) - set(others) != set(figures) or len(others) >= len(figures):
        return ", ".join(figures)
    return f"all coefficients but {', '.join(others)}" if others else "all coefficients"


def _statistics(statistics: Sequence[str]) -> str:
    told = [statistic for statistic in statistics if statistic]
    return f": {', '.join(told)}" if told else ""


def _places(places: Sequence[str]) -> str:
    shown, more = places[:SHOWN_PLACES], len(places) - SHOWN_PLACES
    told = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    return f"{len(places)}: {told}" if len(places) > 1 else told


def _why(case: _Case, exactly: str, *, alone: bool) -> str:
    """Of a single place with its counts; of several in general, and with the counts of the first."""
    if alone or exactly == case.why:
        return exactly
    return f"{case.why}. On {case.place}: {exactly}"
