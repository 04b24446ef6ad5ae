"""Judgements of each query as a matrix, and the agreement on one query.

The policy for missing judgements comes first; then the coefficients before and after adjudication, caveats for values
that say less than they seem to, and the work of adjudication.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annot.base.judged import first_judgements
from annot.base.records import Decision, Judgement, grouped, nested
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.values import Undefined, Value
from annot.measuring.agreement.coefficients import NOT_JUDGED_TWICE, mean_of_tables, rests_on_most, value_between
from annot.measuring.agreement.contingency import Counts, count, tables_between, tables_with
from annot.measuring.agreement.summaries import LEAST_EFFECTIVE, TOO_THIN, PairShare, QueryAgreement, SampledShare

Ratings = Array
Policy = Callable[[Ratings, Mask], Ratings]


@dataclass(frozen=True, slots=True)
class QueryRatings:
    """Grades of one query: M assessors by pseudonym, N documents by id."""

    query_id: str
    facet: str
    assessors: tuple[str, ...]
    doc_ids: tuple[str, ...]
    ratings: Array
    """Shape (M, N), nan where there is no grade."""
    asked: Mask
    """Shape (M, N), true where there is a judgement, with a grade or without."""
    final: Array
    """Shape (N,), the final grade, nan where there is none."""
    ended: Mask
    """Shape (N,), true if the pair is unjudgeable: it gets no final grade."""
    weights: Array | None = None
    """Shape (N,), number of pairs of the pool that each represents; None is 1 each."""


def ratings_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    grades: Sequence[int] | None = None,
    unjudgeable: Collection[tuple[str, str]] = (),
    weights: Mapping[tuple[str, str], float] | None = None,
) -> tuple[QueryRatings, ...]:
    """Build one matrix per query, by `query_id`, of the judgements that count; hidden repeats are not among them.

    facets: the facet of each `query_id`. grades: the scale; None takes any grade. unjudgeable: the pairs (query,
    document) that are unjudgeable. weights: of each pair, 1 / pi if a sample was drawn. Raises InputError for a double
    judgement, a query without facet, or a grade outside the scale.
    """
    decisions = tuple(decisions)
    judged = first_judgements(judgements, decisions, facets, grades=grades)
    by_query = grouped((judgement.query_id, judgement) for judgement in judged)
    final = nested((*decision.pair, decision.grade) for decision in decisions)
    matrices = []
    for query_id, judgements_of_query in sorted(by_query.items()):
        assessors = tuple(sorted({judgement.assessor for judgement in judgements_of_query}))
        doc_ids = tuple(sorted({judgement.doc_id for judgement in judgements_of_query}))
        row, column = ({name: position for position, name in enumerate(names)} for names in (assessors, doc_ids))
        ratings = np.full((len(assessors), len(doc_ids)), np.nan)
        asked = np.zeros(ratings.shape, dtype=np.bool_)
        for judgement in judgements_of_query:
            cell = row[judgement.assessor], column[judgement.doc_id]
            asked[cell] = True
            if judgement.grade is not None:
                ratings[cell] = judgement.grade
        decided = final.get(query_id, {})
        matrices.append(
            QueryRatings(
                query_id=query_id,
                facet=facets[query_id],
                assessors=assessors,
                doc_ids=doc_ids,
                ratings=ratings,
                asked=asked,
                final=np.array([decided.get(doc_id, np.nan) for doc_id in doc_ids], dtype=np.float64),
                ended=np.array([(query_id, doc_id) in unjudgeable for doc_id in doc_ids], dtype=np.bool_),
                weights=None
                if weights is None
                else np.array([weights[query_id, doc_id] for doc_id in doc_ids], dtype=np.float64),
            )
        )
    return tuple(matrices)


def drop(ratings: Ratings, asked: Mask) -> Ratings:
    """Leave a missing judgement out: coefficients use the judgements there are.

    ratings: shape (M, N), nan where there is no grade. asked: shape (M, N), true where the assessor was given the pair.
    """
    return ratings


def zero(ratings: Ratings, asked: Mask) -> Ratings:
    """Count a judgement that was asked for and not given as grade 0, as in CSFCube's published figures.

    A pair that an assessor was never given stays without a grade.
    """
    return np.where(asked & np.isnan(ratings), 0.0, ratings)


def binarise(ratings: Ratings, *, at: int) -> Ratings:
    """Recode grades: 1 if the grade is `at` or higher, 0 if it is lower, nan if there is none."""
    return np.where(np.isnan(ratings), np.nan, (ratings >= at).astype(np.float64))


POLICIES: dict[str, Policy] = {"drop": drop, "zero": zero}

IN_WORDS: dict[str, str] = {
    "drop": "A missing judgement is left out; its pair keeps the other grades. Only pairs with at least two grades are "
    "compared. Rho and tau are computed for every two assessors on the pairs that both graded; the other "
    "coefficients use all grades of a pair. The chance term of AC1 and AC2 also counts pairs "
    "with a single grade, as Gwet defines it.",
    "zero": "A judgement that was requested but is missing counts as grade 0. A pair that an assessor was never given "
    "stays without that assessor's grade.",
}
"""Effect of each policy, in sentences for a reader of the figures."""


def in_words(missing: str, *, binary: bool) -> str:
    """Describe the policy. binary: on two grades, where rank correlations are phi and AC2 is AC1."""
    description = IN_WORDS[missing]
    return description.replace("Rho and tau are", "Phi is").replace("AC1 and AC2", "AC1") if binary else description


NOT_SETTLED = "disputed pairs are not settled yet"


@dataclass(frozen=True, slots=True)
class CountedQuery:
    """Counts of the grades of one query as the coefficients see them. M are the assessors of the query."""

    counts: Counts
    """Counts between the assessors."""
    met: Integers
    """Shape (P, 2): every two assessors who met."""
    between: Array
    """Shape (P, K, K): table of each two."""
    with_final: Array
    """Shape (M, K, K): table of each assessor and the final grades, on the pairs with two or more grades."""
    n_without_final: int
    """Pairs with two or more grades and no final one, which may still get one."""


def query_agreement(
    query: QueryRatings, scale: Sequence[int], *, missing: str, binarised_at: int | None, coefficients: Sequence[str]
) -> tuple[QueryAgreement, CountedQuery]:
    """Compute all figures of one query on `scale`, and the counts that the coefficients see.

    The policy `missing` comes first, then the shares on the full scale, then the binarised scale if there is one.
    """
    ratings, final = POLICIES[missing](query.ratings, query.asked), query.final
    graded = ~np.isnan(ratings)
    twice = graded.sum(axis=0) >= 2
    asked_twice = query.asked.sum(axis=0) >= 2
    lowest = np.where(graded, ratings, np.inf).min(axis=0)
    highest = np.where(graded, ratings, -np.inf).max(axis=0)
    disputed = asked_twice & ((lowest != highest) | (query.asked & ~graded).any(axis=0))
    absent = query.asked & np.isnan(query.ratings)
    weights = query.weights
    overruled = _share(twice & ~np.isnan(final) & ~(ratings == final).any(axis=0), twice & ~query.ended, weights)
    if binarised_at is not None:
        ratings, final = binarise(ratings, at=binarised_at), binarise(final, at=binarised_at)
    # The final grade of a pair with one grade is that grade, and agrees with nobody.
    compared = twice & ~np.isnan(final)
    met, between = tables_between(ratings, scale, weights)
    counted_query = CountedQuery(
        counts=count(ratings, scale, weights),
        met=met,
        between=between,
        with_final=tables_with(
            ratings[:, compared], final[compared], scale, None if weights is None else weights[compared]
        ),
        n_without_final=int(np.count_nonzero(twice & np.isnan(final) & ~query.ended)),
    )
    thin = None if weights is None else too_thin(weights[twice])
    before = {name: thin or value_between(name, counted_query.counts, between, scale) for name in coefficients}
    disputed_share, n_pairs = _share(disputed, asked_twice, weights), int(np.count_nonzero(twice))
    n_open = int(np.count_nonzero(disputed & np.isnan(final) & ~query.ended))
    unsettled = _not_settled(n_open, disputed_share.count, counted_query.n_without_final, n_pairs)
    blocked = (unsettled if n_pairs else Undefined(NOT_JUDGED_TWICE)) or thin
    after = {name: blocked or mean_of_tables(name, counted_query.with_final, scale) for name in coefficients}
    agreement = QueryAgreement(
        query_id=query.query_id,
        facet=query.facet,
        assessors=query.assessors,
        n_pairs=n_pairs,
        n_missing=int(np.count_nonzero(absent)),
        prevalence={grade: int(np.count_nonzero(ratings == grade)) for grade in scale},
        before=before,
        after=after,
        caveats_before=caveats(between, before, averaged=False),
        caveats_after=caveats(counted_query.with_final, after, averaged=True),
        disputed=disputed_share,
        overruled=replace(overruled, value=unsettled) if unsettled else overruled,
        n_open=n_open,
        n_unjudgeable=int(np.count_nonzero(query.ended)),
        agreed_by_policy=int(np.count_nonzero(asked_twice & ~disputed & absent.any(axis=0))),
    )
    return agreement, counted_query


def effective_pairs(weights: Array) -> float:
    """Number of pairs of equal weight with the same information (Kish 1965, Survey Sampling, section 11.7)."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


def too_thin(weights: Array) -> Undefined | None:
    """Reason why a sampled query has no figure of its own. weights: of its pairs with two or more grades."""
    pairs = effective_pairs(weights)
    if pairs >= LEAST_EFFECTIVE or not len(weights) or (weights == 1).all():
        return None
    return Undefined(
        f"its {len(weights)} sampled pairs are worth {pairs:.0f} with equal weights; a figure of one query needs "
        f"{LEAST_EFFECTIVE}",
        TOO_THIN,
    )


def not_settled(queries: Iterable[tuple[QueryAgreement, CountedQuery]]) -> Undefined | None:
    """Reason why the queries together have no figure after adjudication; None if every pair is settled.

    Undisputed pairs are settled first: alone they would show perfect agreement.
    """
    numbers = [(query.n_open, query.disputed.count, counts.n_without_final, query.n_pairs) for query, counts in queries]
    return _not_settled(*np.sum(numbers, axis=0).tolist())


def _not_settled(still_open: int, disputed: int, without: int, judged: int) -> Undefined | None:
    if still_open:
        verb = "is" if still_open == 1 else "are"
        return Undefined(f"{still_open} of {disputed} disputed pairs {verb} not settled yet", NOT_SETTLED)
    return Undefined(f"{without} of {judged} pairs have no final grade yet", NOT_SETTLED) if without else None


def _share(hits: Mask, members: Mask, weights: Array | None) -> PairShare:
    n_hits, n_members = int(np.count_nonzero(hits)), int(np.count_nonzero(members))
    if weights is None or (weights == 1).all():
        return PairShare(n_hits, n_members, n_hits / n_members if n_members else Undefined(NOT_JUDGED_TWICE))
    weight_of_hits, weight = float(weights[hits].sum()), float(weights[members].sum())
    value = weight_of_hits / weight if n_members else Undefined(NOT_JUDGED_TWICE)
    return SampledShare(n_hits, n_members, value, weight_of_hits, weight, float((weights[members] ** 2).sum()))


ONE_SIDED = (
    "one of the two assessors gave the same grade to every pair: "
    "kappa is then 0, and alpha about 0 or below, whatever the other gave"
)
TWO_PAIRS = "it rests on two pairs: one other grade would change it completely"
ONE_GRADE = "every judgement is the same grade: it is then 1 by definition, as nothing else is expected by chance"


def caveats(tables: Array, values: Mapping[str, Value], *, averaged: bool) -> dict[str, tuple[str, ...]]:
    """Caveats of each coefficient that has a value and needs one.

    tables: of every two that are compared, shape (P, K, K). values: by coefficient. averaged: they are the mean over
    the tables, and not of all assessors at once; a caveat then holds where most pairs lie in tables that it holds for.

    A kappa against a constant is 0 by its definition (Cohen 1960): what is observed is then what is expected.
    """
    sizes = tables.sum(axis=(-1, -2))
    one_sided = two_pairs = False
    if sizes.any() and (averaged or np.count_nonzero(sizes) == 1):
        constant = np.any([np.count_nonzero(tables.sum(axis=axis), axis=-1) == 1 for axis in (-1, -2)], axis=0)
        one_sided = not rests_on_most(sizes[~constant].sum(), sizes.sum())
        two_pairs = rests_on_most(sizes[sizes == 2].sum(), sizes.sum())
    one_grade = np.count_nonzero(tables.sum(axis=(0, 1)) + tables.sum(axis=(0, 2))) == 1
    caveats_by_name = {}
    for name, value in values.items():
        if isinstance(value, float) and name.startswith(("alpha", "kappa", "ac")):
            of_gwet = name.startswith("ac")
            applicable = {ONE_SIDED: one_sided and not of_gwet, TWO_PAIRS: two_pairs, ONE_GRADE: one_grade and of_gwet}
            if any(applicable.values()):
                caveats_by_name[name] = tuple(text for text, applies in applicable.items() if applies)
    return caveats_by_name
