"""Agreement on one query: its coefficients before and after adjudication, and what adjudication had to do."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annot.agreement.coefficients import (
    COEFFICIENTS,
    NOT_JUDGED_TWICE,
    NoValue,
    UndefinedBetween,
    binarise,
    prevalence,
)
from annot.agreement.ratings import POLICIES, QueryRatings
from annot.agreement.summaries import PairShare, QueryAgreement
from annot.errors import UndefinedStatistic
from annot.stats.values import Undefined, Value

Array = npt.NDArray[np.float64]

NOT_SETTLED = "disputed pairs are not settled yet"


def query_agreement(
    query: QueryRatings, scale: Sequence[int], *, missing: str, binarised_at: int | None, coefficients: Sequence[str]
) -> tuple[QueryAgreement, QueryRatings]:
    """All figures of one query on `scale`, and the ratings that the coefficients see.

    The policy `missing` comes first, then the shares on the full scale, then the scale in two where that is asked.
    """
    ratings, final = POLICIES[missing](query.ratings, query.asked), query.final
    graded = ~np.isnan(ratings)
    twice = graded.sum(axis=0) >= 2
    asked_twice = query.asked.sum(axis=0) >= 2
    lowest = np.where(graded, ratings, np.inf).min(axis=0)
    highest = np.where(graded, ratings, -np.inf).max(axis=0)
    disputed = asked_twice & ((lowest != highest) | (query.asked & ~graded).any(axis=0))
    absent = query.asked & np.isnan(query.ratings)
    overruled = _share(twice & ~np.isnan(final) & ~(ratings == final).any(axis=0), twice)
    seen = replace(query, ratings=ratings)
    if binarised_at is not None:
        seen = replace(query, ratings=binarise(ratings, at=binarised_at), final=binarise(final, at=binarised_at))
    against = against_final(seen)
    before = {name: value_between(name, seen.ratings, scale, query.assessors) for name in coefficients}
    found = QueryAgreement(
        query_id=query.query_id,
        facet=query.facet,
        assessors=query.assessors,
        n_pairs=int(np.count_nonzero(twice)),
        n_missing=int(np.count_nonzero(absent)),
        prevalence=prevalence(seen.ratings, scale),
        before=before,
        after={},
        caveats_before=caveats(_of_two(seen.ratings), before, averaged=False),
        caveats_after={},
        disputed=_share(disputed, asked_twice),
        overruled=overruled,
        n_open=int(np.count_nonzero(disputed & np.isnan(final))),
        agreed_by_policy=int(np.count_nonzero(asked_twice & ~disputed & absent.any(axis=0))),
    )
    unsettled = not_settled([found], [seen])
    blocked = unsettled if found.n_pairs else Undefined(NOT_JUDGED_TWICE)
    after = {name: blocked or value_after(name, against, scale, query.assessors) for name in coefficients}
    if unsettled:
        overruled = replace(overruled, value=unsettled)
    caveats_after = caveats(against, after, averaged=True)
    return replace(found, after=after, caveats_after=caveats_after, overruled=overruled), seen


def not_settled(queries: Iterable[QueryAgreement], seen: Iterable[QueryRatings]) -> Undefined | None:
    """Why the queries together have no figure after adjudication; None where every pair is settled.

    The pairs that are settled first are those that nobody disputed: alone they would show perfect agreement.
    """
    queries = tuple(queries)
    still_open, disputed = sum(query.n_open for query in queries), sum(query.disputed.count for query in queries)
    if still_open:
        verb = "is" if still_open == 1 else "are"
        return Undefined(f"{still_open} of {disputed} disputed pairs {verb} not settled yet", NOT_SETTLED)
    without = sum(int((_twice(query.ratings) & np.isnan(query.final)).sum()) for query in seen)
    if without:
        judged = sum(query.n_pairs for query in queries)
        return Undefined(f"{without} of {judged} pairs have no final grade yet", NOT_SETTLED)
    return None


def value_between(name: str, ratings: Array, scale: Sequence[int], assessors: Sequence[str]) -> Value:
    """The coefficient `name` between the assessors (rows of `ratings`), or why there is none."""
    try:
        return COEFFICIENTS[name](ratings, scale)
    except UndefinedBetween as between:
        names = f"{assessors[between.first]} and {assessors[between.second]}"
        return Undefined(f"{names}: {between.reason}", f"two of the assessors: {between.in_general}")
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
            general = f"an assessor and the final grades: {value.kind}"
            return Undefined(f"{assessor} and the final grades: {value.reason}", general)
        values.append(value)
    return float(np.mean(values)) if values else Undefined("no pair with a final grade was judged")


def against_final(query: QueryRatings) -> list[Array]:
    """For each assessor the grades of the pairs that also have a final grade, above these: shape (2, n).

    Only pairs with two or more grades: the final grade of a pair with one is that grade, and agrees with nobody.
    """
    matrices = [np.stack([row, query.final]) for row in query.ratings]
    return [both[:, _twice(query.ratings) & ~np.isnan(both).any(axis=0)] for both in matrices]


def _twice(ratings: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(np.count_nonzero(~np.isnan(ratings), axis=0) >= 2)


def _of_two(ratings: Array) -> list[Array]:
    """The grades of every two assessors on the pairs that both have graded."""
    couples = [ratings[list(two)] for two in itertools.combinations(range(len(ratings)), 2)]
    return [both[:, ~np.isnan(both).any(axis=0)] for both in couples]


def _share(hits: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> PairShare:
    n_hits, n_of = int(np.count_nonzero(hits)), int(np.count_nonzero(of))
    return PairShare(n_hits, n_of, n_hits / n_of if n_of else Undefined(NOT_JUDGED_TWICE))


ONE_SIDED = (
    "one of the two assessors gave the same grade to every pair: "
    "kappa is then 0, and alpha about 0 or below, whatever the other gave"
)
TWO_PAIRS = "it rests on two pairs: one different grade would change it completely"
ONE_GRADE = "every judgement is the same grade: it is then 1 by definition, as nothing else is expected by chance"


def caveats(comparisons: Sequence[Array], values: Mapping[str, Value], *, averaged: bool) -> dict[str, tuple[str, ...]]:
    """The caveats of each coefficient that has a value and needs one.

    comparisons: every two rows that are compared, on the pairs that both have, shape (2, n). values: by coefficient.
    averaged: alpha and Gwet's are the mean over the comparisons, as the kappas always are, and not of all at once.

    A kappa against a constant is 0 by its definition (Cohen 1960): what is observed is then what is expected.
    """
    met = [both for both in comparisons if both.shape[1]]
    if not met:
        return {}
    one_sided = any((both == both[:, :1]).all(axis=1).any() for both in met)
    few = min(both.shape[1] for both in met) == 2
    one_grade = len(np.unique(np.concatenate(met, axis=1))) == 1
    found: dict[str, tuple[str, ...]] = {}
    for name, value in values.items():
        if isinstance(value, Undefined) or not name.startswith(("alpha", "kappa", "ac")):
            continue
        alone = averaged or len(met) == 1 or name.startswith("kappa")
        told = {
            ONE_SIDED: one_sided and alone and not name.startswith("ac"),
            TWO_PAIRS: few and alone,
            ONE_GRADE: one_grade and name.startswith("ac"),
        }
        if any(told.values()):
            found[name] = tuple(text for text, holds in told.items() if holds)
    return found
