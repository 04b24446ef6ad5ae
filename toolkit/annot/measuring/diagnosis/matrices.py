"""Assessors against each other, against the final grade and against themselves: matrices, bias, severity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import FEWEST_QUERIES, clusters_of, jackknife_interval, mean_by_queries, share, too_few
from annot.base.stats.values import Estimate, Interval, Share, Undefined, Value
from annot.measuring.agreement.coefficients import value_of
from annot.measuring.diagnosis import contrasts
from annot.measuring.diagnosis.panel import Panel, SharedPairs

FEWEST = 5
"""Two assessors with fewer common pairs are left out: among many people there are many, and they show nothing."""
COEFFICIENT = "kappa_quadratic"
"""What is computed between every two."""


@dataclass(frozen=True, slots=True)
class AssessorPair:
    """One cell of the matrix between assessors."""

    first: str
    second: str
    same: Share
    """Pairs that both judged and gave the same grade."""
    coefficient: Value
    coefficient_interval: Interval | Undefined
    difference: Estimate
    """Mean grade of the first less that of the second."""
    table: tuple[tuple[int, ...], ...]
    """How often the first gave the row's grade and the second the column's."""
    distance: float
    """How many grades apart the two are on average."""
    parts: dict[str, float]
    """What the distance is made of, exactly. noise: at a threshold, differences one way and the other that cancel.
    severity: what is left, as far as all thresholds point the same way, which is the size of `difference`. threshold:
    what is left beyond that."""


@dataclass(frozen=True, slots=True)
class AgainstFinal:
    """One assessor against the final grades; nothing of it has a value while disputes about their grades are open.

    Until then only undisputed pairs have a final grade, and all assessors agree with it.
    """

    assessor: str
    table: tuple[tuple[int, ...], ...] | Undefined
    """How often the final grade was the row's and the assessor gave the column's."""
    same: Share
    bias: Estimate
    """Mean of the assessor's grade less the final one; below 0 for the strict. The final grade is partly their own."""
    by_grade: dict[int, Share]
    """Of the pairs with this final grade, those to which the assessor gave it."""
    upheld: Share
    """Of the pairs that a person settled, those settled as the assessor had judged."""


@dataclass(frozen=True, slots=True)
class Severity:
    """How much lower the assessor grades than the others do on the same pairs, in grades: the mean over queries."""

    assessor: str
    severity: Estimate
    """Above 0 for the strict."""
    n: int
    """Judgements of theirs that it rests on."""
    partners: tuple[str, ...]


def pairwise_matrix(panel: Panel, *, level: float) -> tuple[AssessorPair, ...]:
    """Every two assessors with `FEWEST` pairs in common, by name."""
    return tuple(_between(panel, first, second, level) for first, second in _meetings(panel))


def _meetings(panel: Panel) -> Iterator[tuple[Integers, Integers]]:
    """For every two assessors who met, the places of their judgements of the common pairs in the panel."""
    found = []
    for apart in range(1, int(panel.n_judged.max(initial=0))):
        first = np.flatnonzero(panel.pair[apart:] == panel.pair[:-apart])
        found.append((first, first + apart))
    if not found:
        return
    first, second = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((first, panel.who[second], panel.who[first]))
    first, second = first[order], second[order]
    couple = panel.who[first] * len(panel.assessors) + panel.who[second]
    starts = np.flatnonzero(np.diff(couple)) + 1
    for one, other in zip(np.split(first, starts), np.split(second, starts), strict=True):
        if len(one) >= FEWEST:
            yield one, other


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
    """Each assessor against the final grades, by name.

    Pairs without a final grade are left out, and so are pairs that no other person judged or settled: their final grade
    is the assessor's own.
    """
    by_name = zip(panel.assessors, panel.in_order, strict=True)
    return tuple(_against_final(panel, name, mine, level) for name, mine in by_name)


def _against_final(panel: Panel, name: str, mine: Integers, level: float) -> AgainstFinal:
    waiting = int(panel.open[panel.pair[mine]].sum())
    at = mine[panel.independent[panel.pair[mine]]]
    if waiting or not len(at):
        why = Undefined(
            f"{waiting} of {len(mine)} pairs that {name} judged are in dispute; until they are settled, only "
            "undisputed pairs have a final grade"
            if waiting
            else f"no other person judged or settled a pair that {name} judged"
        )
        nothing = Share(0, 0, why, why)
        return AgainstFinal(name, why, nothing, Estimate(why, why), dict.fromkeys(panel.scale, nothing), nothing)
    given, final = panel.grade[at], panel.final[panel.pair[at]]
    queries, topics = panel.query[panel.pair[at]], panel.paper[panel.pair[at]]
    right = given == final
    scale = np.array(panel.scale, dtype=np.float64)
    settled = panel.adjudicated[panel.pair[at]]
    return AgainstFinal(
        assessor=name,
        table=_table(panel, final, given),
        same=share(right, queries, level=level, topics=topics),
        bias=mean_by_queries(scale[given] - scale[final], queries, level=level, most=panel.widest, topics=topics),
        by_grade={
            grade: share(right[final == row], queries[final == row], level=level, topics=topics[final == row])
            for row, grade in enumerate(panel.scale)
        },
        upheld=share(right[settled], queries[settled], level=level, topics=topics[settled]),
    )


def severities(panel: Panel, *, level: float) -> tuple[Severity, ...]:
    """Each assessor's severity, by name: the mean over queries, with whole topics as the units of chance."""
    compared = SharedPairs(panel, without=())
    lenience = contrasts.severity(compared)
    n = np.bincount(compared.who, minlength=len(panel.assessors))
    return tuple(
        Severity(name, lenience.estimate(a, level=level, most=panel.widest, sign=-1.0), int(n[a]), compared.partners[a])
        for a, name in enumerate(panel.assessors)
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
    """A pair that one assessor judged twice, without knowing that it was a repeat."""

    assessor: str
    query_id: str
    doc_id: str
    first: int
    second: int
    """The grade given later."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """How far one assessor, or all together, repeat themselves."""

    assessor: str | None
    """None for all together."""
    same: Share
    within_one: Share
    change: Estimate
    """Mean of the later grade less the earlier one: below 0 for those who become stricter."""
    changed: tuple[Repeat, ...]
    """The repeats with another grade, largest change first."""


def self_consistency(
    repeats: Iterable[Repeat], *, widest: float, level: float, topics: Mapping[str, str] | None = None
) -> tuple[SelfConsistency, ...]:
    """Each assessor by name, then all together. Empty when there are no repeats.

    Two grades of one person that agree by this share bound what two people can reach (Scholer, Turpin and Sanderson
    2011, SIGIR, 1063-1072). widest: the largest difference between two grades. topics: the topic of each query; None
    takes the queries as independent.
    """
    repeats = sorted(repeats)
    found = []
    for name in [*sorted({repeat.assessor for repeat in repeats}), *([None] if repeats else [])]:
        given = [repeat for repeat in repeats if name in (repeat.assessor, None)]
        change = np.array([repeat.second - repeat.first for repeat in given], dtype=np.float64)
        queries = [repeat.query_id for repeat in given]
        of = [topics[query_id] for query_id in queries] if topics else None
        changed = [repeat for repeat in given if repeat.first != repeat.second]
        found.append(
            SelfConsistency(
                assessor=name,
                same=share(change == 0, queries, level=level, topics=of),
                within_one=share(np.abs(change) <= 1, queries, level=level, topics=of),
                change=mean_by_queries(change, queries, level=level, most=widest, topics=of),
                changed=tuple(sorted(changed, key=lambda repeat: (-abs(repeat.second - repeat.first), repeat))),
            )
        )
    return tuple(found)
