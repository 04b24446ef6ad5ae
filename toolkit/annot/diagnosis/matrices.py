"""Assessors against each other and against the final grade: matrices, bias, severity, agreement grade by grade."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.diagnosis.panel import Panel, partners
from annot.errors import UndefinedStatistic
from annot.stats.clustered import clustered_interval, jackknife_interval, mean_by_queries, no_share, share
from annot.stats.values import Estimate, Interval, Share, Undefined, Value

Array = npt.NDArray[np.float64]
Coefficient = Callable[[Array, Sequence[int]], float]
"""Takes grades, shape (2, N), and the scale; raises UndefinedStatistic with the reason where it has no value."""


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


@dataclass(frozen=True, slots=True)
class AgainstFinal:
    """One assessor against the final grades; nothing of it has a value while disputes about their grades are open.

    Until then only what was agreed has a final grade, and there everybody is right.
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
    """How much lower the assessor grades than the others would grade the same pairs, in grades."""

    assessor: str
    severity: Estimate
    """Above 0 for the strict. It is relative: over assessors who can be compared it sums to 0."""
    n: int
    """Judgements of theirs that it rests on."""
    partners: tuple[str, ...]


def pairwise_matrix(panel: Panel, *, coefficient: Coefficient, level: float) -> tuple[AssessorPair, ...]:
    """Every two assessors, by name; those without a common pair too, with the reason in place of figures."""
    found = []
    for first, second in itertools.combinations(range(len(panel.assessors)), 2):
        at = np.flatnonzero(panel.judged[:, [first, second]].all(axis=1))
        both = np.array(panel.scale, dtype=np.float64)[panel.grades[at][:, [first, second]].T]
        queries = np.array(panel.query_ids)[at]
        found.append(
            AssessorPair(
                first=panel.assessors[first],
                second=panel.assessors[second],
                same=share(both[0] == both[1], queries, level=level),
                coefficient=(kappa := _value(coefficient, both, panel.scale)),
                coefficient_interval=_interval(kappa, coefficient, both, panel.scale, queries, level),
                difference=mean_by_queries(both[0] - both[1], queries, level=level, most=panel.widest),
                table=_table(panel, panel.grades[at, first], panel.grades[at, second]),
            )
        )
    return tuple(found)


def against_final(panel: Panel, *, level: float) -> tuple[AgainstFinal, ...]:
    """Each assessor against the final grades, by name.

    Left out are pairs without a final grade, and pairs that nobody else judged or settled: there the final grade is the
    assessor's own.
    """
    return tuple(_against_final(panel, a, level) for a in range(len(panel.assessors)))


def _against_final(panel: Panel, a: int, level: float) -> AgainstFinal:
    name = panel.assessors[a]
    mine = panel.judged[:, a]
    waiting = int((mine & panel.open).sum())
    at = np.flatnonzero(mine & panel.independent)
    if waiting or not len(at):
        why = Undefined(
            f"{waiting} of {int(mine.sum())} pairs that {name} judged are disputed and not settled; until then only "
            "undisputed pairs have a final grade"
            if waiting
            else f"no pair that {name} judged has a final grade that rests on anyone else"
        )
        nothing = no_share(why.reason)
        return AgainstFinal(name, why, nothing, Estimate(why, why), dict.fromkeys(panel.scale, nothing), nothing)
    given, final = panel.grades[at, a], panel.final[at]
    queries = np.array(panel.query_ids)[at]
    right = given == final
    scale = np.array(panel.scale, dtype=np.float64)
    settled = panel.adjudicated[at]
    return AgainstFinal(
        assessor=name,
        table=_table(panel, final, given),
        same=share(right, queries, level=level),
        bias=mean_by_queries(scale[given] - scale[final], queries, level=level, most=panel.widest),
        by_grade={
            grade: share(right[final == row], queries[final == row], level=level)
            for row, grade in enumerate(panel.scale)
        },
        upheld=share(right[settled], queries[settled], level=level),
    )


def severities(panel: Panel, *, level: float) -> tuple[Severity, ...]:
    """Each assessor's severity against all partners at once, by name.

    Least squares of grade = pair + assessor (two-way layout, unbalanced: Searle 1971, Linear Models, chapter 7), so
    that an assessor is compared on the same pairs only and the severity of the partners is taken out. The interval is
    clustered by query.
    """
    shifts, influence, (rows, columns) = severity_fit(panel)
    groups = partners(panel)
    query_ids = np.array(panel.query_ids)
    found = []
    for a, name in enumerate(panel.assessors):
        others = tuple(panel.assessors[other] for other in sorted(groups[a] - {a}))
        if not others:
            alone = Undefined("no pair was judged by anyone else too")
            found.append(Severity(name, Estimate(alone, alone), 0, others))
            continue
        used = np.isin(query_ids[rows], query_ids[panel.judged[:, a]])
        value, queries = -float(shifts[a]), query_ids[rows][used]
        interval = clustered_interval(value, influence[used, a], queries, level=level, most=panel.widest)
        found.append(Severity(name, Estimate(value, interval), int((columns == a).sum()), others))
    return tuple(found)


def severity_fit(panel: Panel) -> tuple[Array, Array, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """The assessors' shifts, shape (M,), above 0 for the lenient; what each judgement adds to their error, shape
    (judgements, M); and the row and column of each judgement used (pairs with two or more)."""
    judged = panel.judged & (panel.judged.sum(axis=1) >= 2)[:, None]
    rows, columns = np.nonzero(judged)
    m = len(panel.assessors)
    if not len(rows):
        return np.zeros(m), np.zeros((0, m)), (rows, columns)
    grade = np.array(panel.scale, dtype=np.float64)[panel.grades[rows, columns]]
    who = np.zeros((len(rows), m))
    who[np.arange(len(rows)), columns] = 1.0
    count = np.bincount(rows, minlength=len(panel.query_ids))
    mean_grade = np.bincount(rows, weights=grade, minlength=len(count))[rows] / count[rows]
    mean_who = np.stack([np.bincount(rows, weights=who[:, a], minlength=len(count)) for a in range(m)], axis=1)
    who -= mean_who[rows] / count[rows][:, None]
    # The minimum-norm solution: in every group of assessors who can be compared the shifts sum to 0.
    inverse = np.linalg.pinv(who.T @ who, rcond=1e-10)
    shifts = inverse @ (who.T @ (grade - mean_grade))
    residual = grade - mean_grade - who @ shifts
    return shifts, (who * residual[:, None]) @ inverse, (rows, columns)


def _value(coefficient: Coefficient, both: Array, scale: Sequence[int]) -> Value:
    if not both.shape[1]:
        return Undefined("they have judged no pair in common")
    try:
        return float(coefficient(both, scale))
    except UndefinedStatistic as error:
        return Undefined(str(error))


def _interval(
    value: Value,
    coefficient: Coefficient,
    both: Array,
    scale: Sequence[int],
    queries: npt.NDArray[np.str_],
    level: float,
) -> Interval | Undefined:
    if isinstance(value, Undefined):
        return value
    without = []
    for query_id in np.unique(queries):
        left = _value(coefficient, both[:, queries != query_id], scale)
        if isinstance(left, Undefined):
            return Undefined(f"without query {query_id} it has no value: {left.reason}")
        without.append(left)
    return jackknife_interval(value, np.array(without), level=level)


def _table(panel: Panel, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
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


def self_consistency(repeats: Iterable[Repeat], *, widest: float, level: float) -> tuple[SelfConsistency, ...]:
    """Each assessor by name, then all together. Empty when there are no repeats.

    Two grades of one person that agree by this share bound what two people can reach (Scholer, Turpin and Sanderson
    2011, SIGIR, 1063-1072). widest: the largest difference between two grades.
    """
    repeats = sorted(repeats)
    found = []
    for name in [*sorted({repeat.assessor for repeat in repeats}), *([None] if repeats else [])]:
        given = [repeat for repeat in repeats if name in (repeat.assessor, None)]
        change = np.array([repeat.second - repeat.first for repeat in given], dtype=np.float64)
        queries = [repeat.query_id for repeat in given]
        changed = [repeat for repeat in given if repeat.first != repeat.second]
        found.append(
            SelfConsistency(
                assessor=name,
                same=share(change == 0, queries, level=level),
                within_one=share(np.abs(change) <= 1, queries, level=level),
                change=mean_by_queries(change, queries, level=level, most=widest),
                changed=tuple(sorted(changed, key=lambda repeat: (-abs(repeat.second - repeat.first), repeat))),
            )
        )
    return tuple(found)
