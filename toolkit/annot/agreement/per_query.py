"""Agreement on one query: its coefficients before and after adjudication, and what adjudication had to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.agreement.coefficients import COEFFICIENTS, UndefinedBetween, binarise, prevalence
from annot.agreement.missing import POLICIES
from annot.agreement.ratings import QueryRatings
from annot.agreement.results import QueryAgreement, Share
from annot.errors import UndefinedStatistic
from annot.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

NOT_JUDGED_TWICE = "no pair was judged by two assessors"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query after the policy for missing judgements: what the coefficients see, and the shares on the full scale."""

    query_id: str
    facet: str
    assessors: tuple[str, ...]
    ratings: Array
    """Shape (M, N)."""
    final: Array
    """Shape (N,)."""
    n_pairs: int
    n_missing: int
    unsettled: int
    """Pairs with two or more grades that have no final grade."""
    disputed: Share
    overruled: Share


def prepare(found: QueryRatings, *, missing: str, binarised_at: int | None) -> Prepared:
    """Apply the policy `missing`, count the shares, then binarise where asked."""
    ratings, final = POLICIES[missing](found.ratings, found.asked), found.final
    graded = ~np.isnan(ratings)
    twice = graded.sum(axis=0) >= 2
    asked_twice = found.asked.sum(axis=0) >= 2
    lowest = np.where(graded, ratings, np.inf).min(axis=0)
    highest = np.where(graded, ratings, -np.inf).max(axis=0)
    disputed = asked_twice & ((lowest != highest) | (found.asked & ~graded).any(axis=0))
    unsettled = int(np.count_nonzero(twice & np.isnan(final)))
    overruled = _share(twice & ~np.isnan(final) & ~(ratings == final).any(axis=0), twice)
    if unsettled:
        overruled = Share(overruled.count, overruled.of, Undefined(_unsettled(unsettled, overruled.of)))
    return Prepared(
        query_id=found.query_id,
        facet=found.facet,
        assessors=found.assessors,
        ratings=ratings if binarised_at is None else binarise(ratings, at=binarised_at),
        final=final if binarised_at is None else binarise(final, at=binarised_at),
        n_pairs=int(np.count_nonzero(twice)),
        n_missing=int(np.count_nonzero(found.asked & np.isnan(found.ratings))),
        unsettled=unsettled,
        disputed=_share(disputed, asked_twice),
        overruled=overruled,
    )


def query_agreement(one: Prepared, scale: Sequence[int]) -> QueryAgreement:
    """All figures of one query on `scale`."""
    blocked = (
        NOT_JUDGED_TWICE if one.n_pairs == 0 else _unsettled(one.unsettled, one.n_pairs) if one.unsettled else None
    )
    against = against_final(one)
    return QueryAgreement(
        query_id=one.query_id,
        facet=one.facet,
        assessors=one.assessors,
        n_pairs=one.n_pairs,
        n_missing=one.n_missing,
        prevalence=prevalence(one.ratings, scale),
        before={name: value_between(name, one.ratings, scale, one.assessors) for name in COEFFICIENTS},
        after={
            name: value_after(name, against, scale, one.assessors) if blocked is None else Undefined(blocked)
            for name in COEFFICIENTS
        },
        disputed=one.disputed,
        overruled=one.overruled,
    )


def value_between(name: str, ratings: Array, scale: Sequence[int], assessors: Sequence[str]) -> Value:
    """The coefficient `name` between the assessors (rows of `ratings`), or why there is none."""
    try:
        return COEFFICIENTS[name](ratings, scale)
    except UndefinedBetween as between:
        return Undefined(f"{assessors[between.first]} and {assessors[between.second]}: {between.reason}")
    except UndefinedStatistic as undefined:
        return Undefined(str(undefined))


def value_after(name: str, against: Sequence[Array], scale: Sequence[int], assessors: Sequence[str]) -> Value:
    """The mean over the assessors of the coefficient between each and the final grades, or why there is none.

    against: as `against_final` gives it; an assessor without any pair is left out.
    """
    values: list[float] = []
    for assessor, both in zip(assessors, against, strict=True):
        if both.shape[1] == 0:
            continue
        value = value_between(name, both, scale, (assessor, "final"))
        if isinstance(value, Undefined):
            return Undefined(f"{assessor} and the final grades: {value.reason}")
        values.append(value)
    return float(np.mean(values)) if values else Undefined("no pair with a final grade was judged")


def against_final(one: Prepared) -> list[Array]:
    """For each assessor the grades of the pairs that also have a final grade, above these: shape (2, n)."""
    matrices = [np.stack([row, one.final]) for row in one.ratings]
    return [both[:, ~np.isnan(both).any(axis=0)] for both in matrices]


def _share(hits: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> Share:
    n_hits, n_of = int(np.count_nonzero(hits)), int(np.count_nonzero(of))
    return Share(n_hits, n_of, n_hits / n_of if n_of else Undefined(NOT_JUDGED_TWICE))


def _unsettled(unsettled: int, of: int) -> str:
    return f"{unsettled} of {of} pairs have no final grade yet"
