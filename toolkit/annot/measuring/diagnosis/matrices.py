"""Assessors compared with each other, with the final grades and with themselves, and all of it at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.inference import (
    FEWEST_QUERIES,
    clusters_of,
    jackknife_interval,
    mean_by_queries,
    share,
    too_few,
)
from annot.base.stats.values import Estimate, Interval, Share, Undefined, Value
from annot.measuring.agreement.coefficients import value_of
from annot.measuring.diagnosis import panel as contrasts
from annot.measuring.diagnosis.findings import Diagnosis, Drift, Pace, Streak
from annot.measuring.diagnosis.panel import Panel, SharedPairs

# ----------------------------------------------------------------------------------------------------------------------
# Comparisons of assessors with each other, with the final grade and with themselves: matrices, bias, severity.
# ----------------------------------------------------------------------------------------------------------------------


FEWEST = 5
"""Least number of common pairs of two assessors in the matrix: with fewer, of which many people have many, a figure
shows nothing.
"""
COEFFICIENT = "kappa_quadratic"
"""Coefficient that is computed between every two."""


@dataclass(frozen=True, slots=True)
class AssessorPair:
    """Cell of the matrix between assessors."""

    first: str
    second: str
    same: Share
    """Pairs that both judged and gave the same grade."""
    coefficient: Value
    coefficient_interval: Interval | Undefined
    difference: Estimate
    """Mean grade of the first less that of the second."""
    table: tuple[tuple[int, ...], ...]
    """Number of pairs with the row's grade by the first and the column's by the second."""
    distance: float
    """Mean distance between their grades."""
    parts: dict[str, float]
    """Parts of the distance, exactly. noise: at a threshold, differences one way and the other that cancel. severity:
    the rest, as far as all thresholds point the same way, which is the size of `difference`. threshold: the rest beyond
    that.
    """


@dataclass(frozen=True, slots=True)
class AgainstFinal:
    """Comparison of one assessor with the final grades; without values while disputes about their grades are open.

    Until then only undisputed pairs have a final grade, and all assessors agree with it.
    """

    assessor: str
    table: tuple[tuple[int, ...], ...] | Undefined
    """Number of pairs with the row's final grade and the column's grade by the assessor."""
    same: Share
    bias: Estimate
    """Mean of the assessor's grade less the final one; below 0 for the strict. The final grade is partly their own."""
    by_grade: dict[int, Share]
    """Share of the pairs with this final grade to which the assessor gave it."""
    upheld: Share
    """Share of the pairs that a person settled that were settled as the assessor had judged."""


@dataclass(frozen=True, slots=True)
class Severity:
    """Severity of an assessor against the others on the same pairs, in grades: the mean over queries."""

    assessor: str
    severity: Estimate
    """Mean distance below the others' grades, above 0 for the strict."""
    n: int
    """Judgements of theirs behind it."""
    partners: tuple[str, ...]


def pairwise_matrix(panel: Panel, *, level: float) -> tuple[AssessorPair, ...]:
    """Compare every two assessors with `FEWEST` pairs in common, by name."""
    return tuple(_between(panel, first, second, level) for first, second in _meetings(panel))


def _meetings(panel: Panel) -> Iterator[tuple[Integers, Integers]]:
    """Places in the panel of the judgements of the common pairs, for every two assessors who met."""
    meetings = []
    for apart in range(1, int(panel.n_judged.max(initial=0))):
        first = np.flatnonzero(panel.pair[apart:] == panel.pair[:-apart])
        meetings.append((first, first + apart))
    if not meetings:
        return
    first, second = (np.concatenate(side) for side in zip(*meetings, strict=True))
    order = np.lexsort((first, panel.who[second], panel.who[first]))
    first, second = first[order], second[order]
    couple = panel.who[first] * len(panel.assessors) + panel.who[second]
    starts = np.flatnonzero(np.diff(couple)) + 1
    for places, other_places in zip(np.split(first, starts), np.split(second, starts), strict=True):
        if len(places) >= FEWEST:
            yield places, other_places


def _between(panel: Panel, first: Integers, second: Integers, level: float) -> AssessorPair:
    rows, columns = panel.grade[first], panel.grade[second]
    both = np.array(panel.scale, dtype=np.float64)[np.stack([rows, columns])]
    queries, topics = panel.query[panel.pair[first]], panel.paper[panel.pair[first]]
    difference = both[0] - both[1]
    kappa = value_of(COEFFICIENT, both, panel.scale)
    net = float(difference.mean())
    shares = [((rows >= place).mean() - (columns >= place).mean()) for place in range(1, len(panel.scale))]
    one_way = float(np.diff(panel.scale) @ np.abs(shares))
    distance = float(np.abs(difference).mean())
    return AssessorPair(
        first=panel.assessors[panel.who[first[0]]],
        second=panel.assessors[panel.who[second[0]]],
        same=share(rows == columns, queries, level=level, topics=topics),
        coefficient=kappa,
        coefficient_interval=_interval(kappa, both, panel, first, level),
        difference=mean_by_queries(difference, queries, level=level, most=panel.widest, topics=topics),
        table=_table(panel, rows, columns),
        distance=distance,
        parts={"severity": abs(net), "threshold": one_way - abs(net), "noise": distance - one_way},
    )


def against_final(panel: Panel, *, level: float) -> tuple[AgainstFinal, ...]:
    """Compare each assessor with the final grades, by name.

    Pairs without a final grade are left out, and so are pairs that no other person judged or settled: their final grade
    is the assessor's own.
    """
    by_name = zip(panel.assessors, panel.in_order, strict=True)
    return tuple(_against_final(panel, name, places, level) for name, places in by_name)


def _against_final(panel: Panel, name: str, places: Integers, level: float) -> AgainstFinal:
    waiting = int(panel.open[panel.pair[places]].sum())
    compared = places[panel.independent[panel.pair[places]]]
    if waiting or not len(compared):
        why = Undefined(
            f"{waiting} of {len(places)} pairs that {name} judged are in dispute; until they are settled, only "
            "undisputed pairs have a final grade"
            if waiting
            else f"no other person judged or settled a pair that {name} judged"
        )
        nothing = Share(0, 0, why, why)
        return AgainstFinal(name, why, nothing, Estimate(why, why), dict.fromkeys(panel.scale, nothing), nothing)
    grades, final = panel.grade[compared], panel.final[panel.pair[compared]]
    queries, topics = panel.query[panel.pair[compared]], panel.paper[panel.pair[compared]]
    right = grades == final
    scale = np.array(panel.scale, dtype=np.float64)
    settled = panel.adjudicated[panel.pair[compared]]
    return AgainstFinal(
        assessor=name,
        table=_table(panel, final, grades),
        same=share(right, queries, level=level, topics=topics),
        bias=mean_by_queries(scale[grades] - scale[final], queries, level=level, most=panel.widest, topics=topics),
        by_grade={
            grade: share(right[final == row], queries[final == row], level=level, topics=topics[final == row])
            for row, grade in enumerate(panel.scale)
        },
        upheld=share(right[settled], queries[settled], level=level, topics=topics[settled]),
    )


def severities(panel: Panel, *, level: float) -> tuple[Severity, ...]:
    """Severity of each assessor, by name: the mean over queries, with whole topics as the units of chance."""
    compared = SharedPairs(panel, without=())
    lenience = contrasts.severity(compared)
    n = np.bincount(compared.who, minlength=len(panel.assessors))
    return tuple(
        Severity(name, lenience.estimate(row, level=level, most=panel.widest, sign=-1.0), int(n[row]), partners)
        for row, (name, partners) in enumerate(zip(panel.assessors, compared.partners, strict=True))
    )


def _interval(value: Value, both: Array, panel: Panel, first: Integers, level: float) -> Interval | Undefined:
    if isinstance(value, Undefined):
        return value
    pairs = panel.pair[first]
    clusters = clusters_of(panel.query[pairs], panel.paper[pairs])
    if clusters.n < FEWEST_QUERIES:
        return too_few(clusters.n, unit=clusters.unit)
    names = panel.query_ids if clusters.unit == "query" else panel.papers
    without = []
    for unit in range(clusters.n):
        left = value_of(COEFFICIENT, both[:, clusters.of != unit], panel.scale)
        if isinstance(left, Undefined):
            name = names[pairs[int((clusters.of == unit).argmax())]]
            return Undefined(f"kappa has no value without {clusters.unit} {name}: {left.reason}")
        without.append(left)
    return jackknife_interval(value, np.array(without), level=level, unit=clusters.unit)


def _table(panel: Panel, rows: Integers, columns: Integers) -> tuple[tuple[int, ...], ...]:
    g = len(panel.scale)
    counts = np.bincount(rows * g + columns, minlength=g * g).reshape(g, g)
    return tuple(tuple(map(int, row)) for row in counts)


class Repeat(NamedTuple):
    """Pair that one assessor judged twice, without knowing that it was a repeat."""

    assessor: str
    query_id: str
    doc_id: str
    first: int
    second: int
    """Grade that was given later."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Consistency of one assessor, or of all together, over repeats."""

    assessor: str | None
    """Pseudonym; None for all together."""
    same: Share
    within_one: Share
    change: Estimate
    """Mean of the later grade less the earlier one: below 0 for assessors who become stricter."""
    changed: tuple[Repeat, ...]
    """Repeats with another grade, largest change first."""


def self_consistency(
    repeats: Iterable[Repeat], *, widest: float, level: float, topics: Mapping[str, str] | None = None
) -> tuple[SelfConsistency, ...]:
    """Consistency of each assessor by name, then of all together. Empty if there are no repeats.

    Two grades of one person that agree by this share bound the agreement that two people can reach (Scholer, Turpin and
    Sanderson 2011, SIGIR, 1063-1072). widest: the largest difference between two grades. topics: the topic of each
    query; None takes the queries as independent.
    """
    repeats = sorted(repeats)
    consistencies = []
    for name in [*sorted({repeat.assessor for repeat in repeats}), *([None] if repeats else [])]:
        repeats_of_assessor = [repeat for repeat in repeats if name in (repeat.assessor, None)]
        change = np.array([repeat.second - repeat.first for repeat in repeats_of_assessor], dtype=np.float64)
        queries = [repeat.query_id for repeat in repeats_of_assessor]
        topics_of_repeats = [topics[query_id] for query_id in queries] if topics else None
        changed = [repeat for repeat in repeats_of_assessor if repeat.first != repeat.second]
        consistencies.append(
            SelfConsistency(
                assessor=name,
                same=share(change == 0, queries, level=level, topics=topics_of_repeats),
                within_one=share(np.abs(change) <= 1, queries, level=level, topics=topics_of_repeats),
                change=mean_by_queries(change, queries, level=level, most=widest, topics=topics_of_repeats),
                changed=tuple(sorted(changed, key=lambda repeat: (-abs(repeat.second - repeat.first), repeat))),
            )
        )
    return tuple(consistencies)


# ----------------------------------------------------------------------------------------------------------------------
# Overview of the assessors for the report and `annot agreement --by assessor`.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JudgementCount:
    """Number of judgements that one assessor was asked for, and number of those that have a grade that counts."""

    assessor: str
    asked: int
    graded: int


@dataclass(frozen=True, slots=True)
class AssessorComparison:
    """Assessors compared with each other and the final grades, and reasons why they disagree."""

    scale: tuple[int, ...]
    level: float
    """Level of all intervals."""
    policy: str
    """Policy for missing judgements of annot.toml. It is for coefficients: a grade that was not given shows nothing
    about an assessor, and is left out here.
    """
    missing: tuple[JudgementCount, ...]
    matrix: tuple[AssessorPair, ...]
    against_final: tuple[AgainstFinal, ...]
    severities: tuple[Severity, ...]
    diagnosis: Diagnosis | Undefined
    self_consistency: tuple[SelfConsistency, ...]
    """Consistency of assessors with themselves; empty if nothing was asked twice."""


@dataclass(frozen=True, slots=True)
class AssessorAnalysis:
    """Analysis of the assessors: how they judge, and how they work."""

    diagnosed: AssessorComparison
    order: str
    """Order of judging that streaks and drifts follow, in words."""
    reading_limit: float
    """Seconds in which nobody can read a pair."""
    fence: float
    """Robust widths of the log times from their median beyond which a time is idling."""
    power: float
    """Probability with which a drift of the detectable size would have been found."""
    paces: tuple[Pace, ...]
    streaks: tuple[Streak, ...]
    drifts: tuple[Drift, ...]
