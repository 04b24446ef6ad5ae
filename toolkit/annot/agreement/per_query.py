"""Agreement on one query: its coefficients before and after adjudication, and what adjudication had to do."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.agreement.caveats import caveats
from annot.agreement.coefficients import (
    COEFFICIENTS,
    NOT_JUDGED_TWICE,
    NoValue,
    UndefinedBetween,
    binarise,
    prevalence,
)
from annot.agreement.missing import POLICIES
from annot.agreement.ratings import QueryRatings
from annot.agreement.results import QueryAgreement, Share
from annot.errors import UndefinedStatistic
from annot.stats.undefined import Undefined, Value

Array = npt.NDArray[np.float64]

NOT_SETTLED = "disputed pairs are not settled yet"


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
    n_open: int
    """Disputed pairs that have no final grade."""
    n_without_final: int
    """Pairs with two or more grades that have no final grade, disputed or not."""
    disputed: Share
    overruled: Share
    agreed_by_policy: int
    """Pairs with a missing judgement that are not disputed, as the policy gives them equal grades."""


def prepare(found: QueryRatings, *, missing: str, binarised_at: int | None) -> Prepared:
    """Apply the policy `missing`, count the shares, then binarise where asked."""
    ratings, final = POLICIES[missing](found.ratings, found.asked), found.final
    graded = ~np.isnan(ratings)
    twice = graded.sum(axis=0) >= 2
    asked_twice = found.asked.sum(axis=0) >= 2
    lowest = np.where(graded, ratings, np.inf).min(axis=0)
    highest = np.where(graded, ratings, -np.inf).max(axis=0)
    disputed = asked_twice & ((lowest != highest) | (found.asked & ~graded).any(axis=0))
    by_policy = asked_twice & ~disputed & (found.asked & np.isnan(found.ratings)).any(axis=0)
    return Prepared(
        query_id=found.query_id,
        facet=found.facet,
        assessors=found.assessors,
        ratings=ratings if binarised_at is None else binarise(ratings, at=binarised_at),
        final=final if binarised_at is None else binarise(final, at=binarised_at),
        n_pairs=int(np.count_nonzero(twice)),
        n_missing=int(np.count_nonzero(found.asked & np.isnan(found.ratings))),
        n_open=int(np.count_nonzero(disputed & np.isnan(final))),
        n_without_final=int(np.count_nonzero(twice & np.isnan(final))),
        disputed=_share(disputed, asked_twice),
        overruled=_share(twice & ~np.isnan(final) & ~(ratings == final).any(axis=0), twice),
        agreed_by_policy=int(np.count_nonzero(by_policy)),
    )


def not_settled(queries: Iterable[Prepared]) -> Undefined | None:
    """Why the queries together have no figure after adjudication; None where every pair is settled.

    The pairs that are settled first are those that nobody disputed: alone they would show perfect agreement.
    """
    queries = tuple(queries)
    still_open, disputed = sum(one.n_open for one in queries), sum(one.disputed.count for one in queries)
    if still_open:
        verb = "is" if still_open == 1 else "are"
        return Undefined(f"{still_open} of {disputed} disputed pairs {verb} not settled yet", NOT_SETTLED)
    without, judged = sum(one.n_without_final for one in queries), sum(one.n_pairs for one in queries)
    if without:
        return Undefined(f"{without} of {judged} pairs have no final grade yet", NOT_SETTLED)
    return None


def query_agreement(one: Prepared, scale: Sequence[int], *, coefficients: Sequence[str]) -> QueryAgreement:
    """All figures of one query on `scale`."""
    unsettled = not_settled([one])
    blocked = Undefined(NOT_JUDGED_TWICE) if one.n_pairs == 0 else unsettled
    against = against_final(one)
    before = {name: value_between(name, one.ratings, scale, one.assessors) for name in coefficients}
    after = {
        name: value_after(name, against, scale, one.assessors) if blocked is None else blocked for name in coefficients
    }
    return QueryAgreement(
        query_id=one.query_id,
        facet=one.facet,
        assessors=one.assessors,
        n_pairs=one.n_pairs,
        n_missing=one.n_missing,
        prevalence=prevalence(one.ratings, scale),
        before=before,
        after=after,
        caveats_before=caveats(_of_two(one.ratings), before, averaged=False),
        caveats_after=caveats(against, after, averaged=True),
        disputed=one.disputed,
        overruled=one.overruled if unsettled is None else Share(one.overruled.count, one.overruled.of, unsettled),
        n_open=one.n_open,
        agreed_by_policy=one.agreed_by_policy,
    )


def value_between(name: str, ratings: Array, scale: Sequence[int], assessors: Sequence[str]) -> Value:
    """The coefficient `name` between the assessors (rows of `ratings`), or why there is none."""
    try:
        return COEFFICIENTS[name](ratings, scale)
    except UndefinedBetween as between:
        names = f"{assessors[between.first]} and {assessors[between.second]}"
        return Undefined(f"{names}: {between.reason}", f"of two of the assessors: {between.in_general}")
    except NoValue as undefined:
        return Undefined(str(undefined), undefined.in_general)
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
            general = f"of an assessor and the final grades: {value.kind}"
            return Undefined(f"{assessor} and the final grades: {value.reason}", general)
        values.append(value)
    return float(np.mean(values)) if values else Undefined("no pair with a final grade was judged")


def against_final(one: Prepared) -> list[Array]:
    """For each assessor the grades of the pairs that also have a final grade, above these: shape (2, n).

    Only pairs with two or more grades: the final grade of a pair with one is that grade, and agrees with nobody.
    """
    twice = np.count_nonzero(~np.isnan(one.ratings), axis=0) >= 2
    matrices = [np.stack([row, one.final]) for row in one.ratings]
    return [both[:, twice & ~np.isnan(both).any(axis=0)] for both in matrices]


def _of_two(ratings: Array) -> list[Array]:
    """The grades of every two assessors on the pairs that both have graded."""
    both = [ratings[list(two)] for two in itertools.combinations(range(len(ratings)), 2)]
    return [one[:, ~np.isnan(one).any(axis=0)] for one in both]


def _share(hits: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> Share:
    n_hits, n_of = int(np.count_nonzero(hits)), int(np.count_nonzero(of))
    return Share(n_hits, n_of, n_hits / n_of if n_of else Undefined(NOT_JUDGED_TWICE))
