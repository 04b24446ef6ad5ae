"""Agreement per query, then per facet and together: before adjudication, after it, and what adjudication had to do."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.agreement.bootstrap import Bootstrap, PooledResamples, of_pooled, of_queries, resample
from annot.agreement.coefficients import COEFFICIENTS, TITLES
from annot.agreement.contingency import Counts, count
from annot.agreement.missing import POLICIES
from annot.agreement.per_query import Prepared, against_final, prepare, query_agreement, value_after, value_between
from annot.agreement.ratings import QueryRatings, ratings_of
from annot.agreement.results import (
    AgreementTable,
    GroupAgreement,
    Intervals,
    QueryAgreement,
    Share,
    ShareSummary,
    Summary,
)
from annot.errors import InputError
from annot.records import Decision, Judgement
from annot.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

TOGETHER = "together"
IN_NONE = Undefined("it has a value in none of the queries")


def agreement_table(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    grades: Sequence[int],
    missing: str,
    binarised_at: int | None,
    bootstrap: Bootstrap | None,
) -> AgreementTable:
    """All agreement figures.

    facets: the facet of each `query_id`. grades: the scale, consecutive integers. missing: a name in
    `missing.POLICIES`. binarised_at: compute the coefficients on "this grade or higher" instead; None for the scale as
    it is. bootstrap: None for no intervals.

    Per query: before adjudication the coefficient between the assessors, after it the mean of (each assessor, final
    grade). After adjudication a query has values only when every pair judged twice has its final grade: the pairs
    already settled are the easy ones. Raises InputError for an unknown policy, a grade outside the scale, a query
    without facet, or a double judgement.
    """
    if missing not in POLICIES:
        raise InputError(f"missing = {missing!r}: no such policy", hint=f"one of {', '.join(POLICIES)}")
    if binarised_at is not None and binarised_at not in grades[1:]:
        raise InputError(f"binarised at {binarised_at}: expected one of {', '.join(map(str, grades[1:]))}")
    scale = tuple(grades) if binarised_at is None else (0, 1)
    found = ratings_of(judgements, decisions, facets)
    _check_grades(found, grades)
    prepared = [prepare(one, missing=missing, binarised_at=binarised_at) for one in found]
    queries = [query_agreement(one, scale) for one in prepared]
    groups: list[GroupAgreement] = []
    for name in [*sorted({one.facet for one in queries}), TOGETHER]:
        members = [at for at, one in enumerate(queries) if name in (one.facet, TOGETHER)]
        if members:
            group = _Group(name, [queries[at] for at in members], [prepared[at] for at in members], scale)
            groups.append(group.agreement(bootstrap))
    return AgreementTable(
        missing=missing,
        grades=scale,
        binarised_at=binarised_at,
        titles=dict(TITLES),
        queries=tuple(queries),
        groups=tuple(groups),
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """The queries of one facet, or all."""

    name: str
    queries: Sequence[QueryAgreement]
    prepared: Sequence[Prepared]
    scale: Sequence[int]

    def agreement(self, bootstrap: Bootstrap | None) -> GroupAgreement:
        assessors = sorted({assessor for one in self.queries for assessor in one.assessors})
        settled = [one for one in self.prepared if one.n_pairs and not one.unsettled]
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
        for name in COEFFICIENTS:
            before[name] = self._summary(
                name,
                [one.before[name] for one in self.queries],
                of_all=value_between(name, everyone, self.scale, assessors),
                pooled_from=self.prepared,
                drawn=before_drawn,
                bootstrap=bootstrap,
            )
            after[name] = self._summary(
                name,
                [one.after[name] for one in self.queries],
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
            disputed=_share_summary({one.query_id: one.disputed for one in self.queries}),
            overruled=_share_summary({one.query_id: one.overruled for one in self.queries}),
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
            n_pairs=sum(one.n_pairs for one, at in zip(self.queries, numbers, strict=True) if not np.isnan(at)),
            n_pairs_pooled=sum(one.n_pairs for one in pooled_from),
            undefined={
                one.query_id: value.reason
                for one, value in zip(self.queries, values, strict=True)
                if isinstance(value, Undefined)
            },
            intervals=found,
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


def _share_summary(shares: Mapping[str, Share]) -> ShareSummary:
    defined = [(share.count, share.of, share.value) for share in shares.values() if isinstance(share.value, float)]
    hits, of = sum(count for count, _, _ in defined), sum(of for _, of, _ in defined)
    return ShareSummary(
        pooled=Share(hits, of, hits / of if of else IN_NONE),
        mean=float(np.mean([value for _, _, value in defined])) if defined else IN_NONE,
        n_queries=len(defined),
        undefined={
            query_id: share.value.reason for query_id, share in shares.items() if isinstance(share.value, Undefined)
        },
    )


def _check_grades(found: Sequence[QueryRatings], grades: Sequence[int]) -> None:
    faults = [
        f"{one.query_id} {doc_id}: {who} has grade {grade:g}, expected one of {', '.join(map(str, grades))}"
        for one in found
        for who, row in [*zip(one.assessors, one.ratings, strict=True), ("the final decision", one.final)]
        for doc_id, grade in zip(one.doc_ids, row, strict=True)
        if not np.isnan(grade) and grade not in grades
    ]
    if faults:
        raise InputError(f"{len(faults)} grade(s) outside the scale", faults=faults)
