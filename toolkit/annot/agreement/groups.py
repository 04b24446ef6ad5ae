"""Agreement on the queries of a group: each coefficient summarised, with intervals by resampling whole queries."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.agreement.contingency import Counts, count
from annot.agreement.per_query import Prepared, against_final, not_settled, value_after, value_between
from annot.agreement.pooled import PooledResamples, of_pooled, resample
from annot.agreement.results import GroupAgreement, QueryAgreement, Share, ShareSummary, Summary
from annot.stats.bootstrap import Bootstrap, of_queries, of_ratio
from annot.stats.intervals import Intervals
from annot.stats.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

IN_NONE = Undefined("it has a value in none of the queries")
SHOWN_NAMES = 3
"""Queries named in a reason; the records name all."""


@dataclass(frozen=True, slots=True)
class Group:
    """The queries of one facet, or all."""

    name: str
    queries: Sequence[QueryAgreement]
    prepared: Sequence[Prepared]
    scale: Sequence[int]
    coefficients: Sequence[str]

    def agreement(self, bootstrap: Bootstrap | None) -> GroupAgreement:
        assessors = sorted({assessor for one in self.queries for assessor in one.assessors})
        unsettled = self._not_settled()
        settled = [] if unsettled else self.prepared
        # What is pooled: all pairs side by side for the figure, the queries' counts for its interval.
        everyone = np.concatenate([_rows(one, assessors) for one in self.prepared], axis=1)
        against = _pooled_against_final(settled, assessors)
        before_drawn = after_drawn = None
        if bootstrap is not None:
            # The group's name is the key: all its figures see the same resamples and can be compared.
            counts = _counts_before(self.prepared, assessors, self.scale)
            before_drawn = resample(counts, plan=bootstrap, key=self.name)
            if settled:
                counts = _counts_after(settled, assessors, self.scale)
                after_drawn = resample(counts, plan=bootstrap, key=self.name)
        before: dict[str, Summary] = {}
        after: dict[str, Summary] = {}
        for name in self.coefficients:
            before[name] = self._summary(
                name,
                [one.before[name] for one in self.queries],
                of_all=value_between(name, everyone, self.scale, assessors),
                pooled_from=self.prepared,
                drawn=before_drawn,
                bootstrap=bootstrap,
            )
            values = [one.after[name] for one in self.queries]
            if unsettled is not None:
                after[name] = _without_summary(unsettled, self.queries, values)
                continue
            after[name] = self._summary(
                name,
                values,
                of_all=value_after(name, against, self.scale, assessors),
                pooled_from=settled,
                drawn=after_drawn,
                bootstrap=bootstrap,
            )
        return GroupAgreement(
            name=self.name,
            n_queries=len(self.queries),
            n_pairs=sum(one.n_pairs for one in self.queries),
            n_missing=sum(one.n_missing for one in self.queries),
            prevalence={grade: sum(one.prevalence[grade] for one in self.queries) for grade in self.scale},
            before=before,
            after=after,
            disputed=self._shares([one.disputed for one in self.queries], bootstrap),
            overruled=self._shares([one.overruled for one in self.queries], bootstrap, unsettled=unsettled),
            not_settled=unsettled,
            agreed_by_policy=sum(one.agreed_by_policy for one in self.queries),
        )

    def _not_settled(self) -> Undefined | None:
        """The reason of `not_settled` with the queries that it comes from."""
        why = not_settled(self.prepared)
        if why is None:
            return None
        names = [one.query_id for one in self.prepared if not_settled([one])]
        return Undefined(f"{why.reason}, on {some_of(names)}", why.in_general)

    def _shares(
        self, shares: Sequence[Share], bootstrap: Bootstrap | None, *, unsettled: Undefined | None = None
    ) -> ShareSummary:
        defined = [one.value for one in shares if isinstance(one.value, float)]
        hits, of = sum(one.count for one in shares), sum(one.of for one in shares)
        why = unsettled or IN_NONE
        found: dict[str, Intervals] | None = None
        if bootstrap is not None and unsettled is None:
            wholes = np.array([one.of for one in shares], dtype=np.float64)
            parts = np.array([one.count for one in shares], dtype=np.float64)
            numbers = np.array([np.nan if isinstance(one.value, Undefined) else one.value for one in shares])
            found = {
                "pooled": of_ratio(parts, wholes, plan=bootstrap, key=self.name),
                "mean": of_queries(numbers, statistic="mean", plan=bootstrap, key=self.name),
            }
        elif bootstrap is not None:
            found = {statistic: Intervals(why, why) for statistic in ("pooled", "mean")}
        return ShareSummary(
            pooled=Share(hits, of, hits / of if of and unsettled is None else why),
            mean=float(np.mean(defined)) if defined and unsettled is None else why,
            n_queries=0 if unsettled else len(defined),
            undefined={
                query.query_id: one.value.reason
                for query, one in zip(self.queries, shares, strict=True)
                if isinstance(one.value, Undefined)
            },
            intervals=found,
        )

    def _summary(
        self,
        name: str,
        values: Sequence[Value],
        *,
        of_all: Value,
        pooled_from: Sequence[Prepared],
        drawn: PooledResamples | None,
        bootstrap: Bootstrap | None,
    ) -> Summary:
        numbers = np.array([np.nan if isinstance(value, Undefined) else value for value in values])
        defined = numbers[~np.isnan(numbers)]
        found: dict[str, Intervals] | None = None
        if bootstrap is not None:
            found = {
                statistic: of_queries(numbers, statistic=statistic, plan=bootstrap, key=self.name)
                for statistic in ("median", "mean")
            }
            if isinstance(of_all, Undefined) or drawn is None:
                reason = of_all if isinstance(of_all, Undefined) else IN_NONE
                found["pooled"] = Intervals(reason, reason)
            else:
                found["pooled"] = of_pooled(drawn, self.scale, name=name, plan=bootstrap)
        quartiles = [float(one) for one in np.quantile(defined, [0.25, 0.5, 0.75])] if len(defined) else None
        return Summary(
            median=quartiles[1] if quartiles else IN_NONE,
            mean=float(defined.mean()) if len(defined) else IN_NONE,
            q1=quartiles[0] if quartiles else IN_NONE,
            q3=quartiles[2] if quartiles else IN_NONE,
            pooled=of_all,
            n_queries=len(defined),
            n_undefined=len(values) - len(defined),
            n_pairs=sum(one.n_pairs for one, at in zip(self.queries, numbers, strict=True) if not np.isnan(at)),
            n_pairs_pooled=sum(one.n_pairs for one in pooled_from),
            undefined=_reasons(self.queries, values),
            intervals=found,
        )


def some_of(names: Sequence[str]) -> str:
    """The first few, and how many more."""
    shown, more = names[:SHOWN_NAMES], len(names) - SHOWN_NAMES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _reasons(queries: Sequence[QueryAgreement], values: Sequence[Value]) -> dict[str, str]:
    return {
        one.query_id: value.reason for one, value in zip(queries, values, strict=True) if isinstance(value, Undefined)
    }


def _without_summary(why: Undefined, queries: Sequence[QueryAgreement], values: Sequence[Value]) -> Summary:
    """No figure of the group, whatever its queries have."""
    return Summary(
        median=why,
        mean=why,
        q1=why,
        q3=why,
        pooled=why,
        n_queries=0,
        n_undefined=len(queries),
        n_pairs=0,
        n_pairs_pooled=0,
        undefined=_reasons(queries, values),
        intervals=None,
    )


def _rows(one: Prepared, assessors: Sequence[str]) -> Array:
    """The query's grades with a row for each of the group's assessors, shape (len(assessors), N)."""
    everyone = np.full((len(assessors), one.ratings.shape[1]), np.nan)
    everyone[[assessors.index(name) for name in one.assessors]] = one.ratings
    return everyone


def _counts_before(prepared: Sequence[Prepared], assessors: Sequence[str], scale: Sequence[int]) -> Counts:
    """Counts with axes (queries, 1, ...): one comparison, among all assessors."""
    everyone = [_rows(one, assessors) for one in prepared]
    # Only pairs of assessors that have met: their number, not the square of all, decides the size of the tables.
    met = [
        (first, second)
        for first, second in itertools.combinations(range(len(assessors)), 2)
        if any((~np.isnan(rows[[first, second]])).all(axis=0).any() for rows in everyone)
    ]
    return Counts.stack([Counts.stack([count(rows, scale, assessor_pairs=met)]) for rows in everyone])


def _counts_after(settled: Sequence[Prepared], assessors: Sequence[str], scale: Sequence[int]) -> Counts:
    """Counts with axes (queries, assessors, ...): each assessor compared with the final grades."""
    return Counts.stack(
        [Counts.stack([count(both, scale) for both in _against_final_by_name(one, assessors)]) for one in settled]
    )


def _pooled_against_final(settled: Sequence[Prepared], assessors: Sequence[str]) -> list[Array]:
    by_query = [_against_final_by_name(one, assessors) for one in settled]
    return [np.concatenate([np.empty((2, 0)), *of_one], axis=1) for of_one in zip(*by_query, strict=True)] or [
        np.empty((2, 0)) for _ in assessors
    ]


def _against_final_by_name(one: Prepared, assessors: Sequence[str]) -> list[Array]:
    of = dict(zip(one.assessors, against_final(one), strict=True))
    return [of.get(name, np.empty((2, 0))) for name in assessors]
