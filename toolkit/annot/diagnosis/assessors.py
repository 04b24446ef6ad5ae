"""Assessors against each other and against the final grade: matrices, bias, severity, agreement grade by grade."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis.panel import NO_GRADE, Panel, partners
from annot.diagnosis.results import Estimate, Share, clustered_interval, mean_by_queries, share
from annot.errors import UndefinedStatistic
from annot.undefined import Undefined, Value

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
    difference: Estimate
    """Mean grade of the first less that of the second."""
    table: tuple[tuple[int, ...], ...]
    """How often the first gave the row's grade and the second the column's."""


@dataclass(frozen=True, slots=True)
class AgainstFinal:
    """One assessor against the final grades."""

    assessor: str
    table: tuple[tuple[int, ...], ...]
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
    partners: tuple[str, ...]


def pairwise_matrix(panel: Panel, *, coefficient: Coefficient, level: float) -> tuple[AssessorPair, ...]:
    """Every two assessors, by name; those without a common pair too, with the reason in place of figures."""
    found = []
    for first, second in itertools.combinations(range(len(panel.assessors)), 2):
        at = np.flatnonzero(panel.judged[:, [first, second]].all(axis=1))
        both = np.array(panel.scale, dtype=np.float64)[panel.grades[at][:, [first, second]].T]
        if len(at):
            try:
                value: Value = float(coefficient(both, panel.scale))
            except UndefinedStatistic as error:
                value = Undefined(str(error))
        else:
            value = Undefined("they have judged no pair in common")
        found.append(
            AssessorPair(
                first=panel.assessors[first],
                second=panel.assessors[second],
                same=share(int((both[0] == both[1]).sum()), len(at), level=level),
                coefficient=value,
                difference=mean_by_queries(both[0] - both[1], [panel.query_ids[i] for i in at], level=level),
                table=_table(panel, panel.grades[at, first], panel.grades[at, second]),
            )
        )
    return tuple(found)


def against_final(panel: Panel, *, level: float) -> tuple[AgainstFinal, ...]:
    """Each assessor against the final grades, by name. Pairs without a final grade are left out."""
    found = []
    for a, name in enumerate(panel.assessors):
        at = np.flatnonzero(panel.judged[:, a] & (panel.final != NO_GRADE))
        given, final = panel.grades[at, a], panel.final[at]
        scale = np.array(panel.scale, dtype=np.float64)
        table = _table(panel, final, given)
        settled = panel.adjudicated[at]
        found.append(
            AgainstFinal(
                assessor=name,
                table=table,
                same=share(int((given == final).sum()), len(at), level=level),
                bias=mean_by_queries(scale[given] - scale[final], [panel.query_ids[i] for i in at], level=level),
                by_grade={
                    grade: share(table[row][row], sum(table[row]), level=level) for row, grade in enumerate(panel.scale)
                },
                upheld=share(int((given == final)[settled].sum()), int(settled.sum()), level=level),
            )
        )
    return tuple(found)


def severities(panel: Panel, *, level: float) -> tuple[Severity, ...]:
    """Each assessor's severity against all partners at once, by name.

    Least squares of grade = pair + assessor (two-way layout, unbalanced: Searle 1971, Linear Models, chapter 7), so
    that an assessor is compared on the same pairs only and the severity of the partners is taken out. The interval is
    clustered by query.
    """
    shifts, influence, at = severity_fit(panel)
    groups = partners(panel)
    found = []
    for a, name in enumerate(panel.assessors):
        others = tuple(panel.assessors[other] for other in sorted(groups[a] - {a}))
        n = int((at[1] == a).sum())
        if not others:
            reason = Undefined("no pair was judged by anyone else too")
            found.append(Severity(name, Estimate(reason, 0, reason), others))
            continue
        mine = np.flatnonzero(panel.judged[:, a])
        queries = {panel.query_ids[i] for i in mine}
        used = np.array([panel.query_ids[i] in queries for i in at[0]])
        value = -float(shifts[a])
        interval = clustered_interval(value, influence[used, a], [panel.query_ids[i] for i in at[0][used]], level=level)
        found.append(Severity(name, Estimate(value, n, interval), others))
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


def _table(panel: Panel, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    g = len(panel.scale)
    counts = np.bincount(rows * g + columns, minlength=g * g).reshape(g, g)
    return tuple(tuple(int(one) for one in row) for row in counts)
