"""Agreement per query, then per facet and together: before adjudication, after it, and what adjudication had to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from annot.base.errors import InputError
from annot.base.records import Decision, Judgement
from annot.base.stats.rounding import rounding
from annot.measuring.agreement.coefficients import COEFFICIENTS, TITLES
from annot.measuring.agreement.groups import group_agreement
from annot.measuring.agreement.per_query import query_agreement
from annot.measuring.agreement.ratings import POLICIES, ratings_of
from annot.measuring.agreement.summaries import AgreementTable, GroupAgreement

TOGETHER = "together"


@rounding
def agreement_table(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    grades: Sequence[int],
    missing: str,
    binarised_at: int | None,
    level: float | None,
    papers: Mapping[str, str] | None,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
    unjudgeable: Collection[tuple[str, str]] = (),
) -> AgreementTable:
    """All agreement figures.

    facets: the facet of each `query_id`. grades: the scale, consecutive integers. missing: a name in
    `ratings.POLICIES`. binarised_at: compute the coefficients on "this grade or higher" instead; None for the scale as
    it is. level: of the intervals, 0..1; None for no intervals. papers: the paper of each `query_id`; intervals take
    papers for the units of chance, and queries where this is None. coefficients: names in `COEFFICIENTS`, those wanted.
    unjudgeable: the pairs (query, document) that have ended because nobody can judge them.

    Per query: before adjudication the coefficient between the assessors, after it the mean of (each assessor, final
    grade), both on the pairs with two or more grades. After adjudication a query, and a group of queries, has values
    only when none of its disputes is open: pairs settled early are easier, so partial figures would be too high.
    Raises InputError for an unknown policy, a grade outside the scale, a query without facet, or a double judgement.
    """
    if missing not in POLICIES:
        raise InputError(f"missing = {missing!r}: no such policy", hint=f"one of {', '.join(POLICIES)}")
    if binarised_at is not None and binarised_at not in grades[1:]:
        raise InputError(f"binarised at {binarised_at}: expected one of {', '.join(map(str, grades[1:]))}")
    scale = tuple(grades) if binarised_at is None else (0, 1)
    query_ratings = ratings_of(judgements, decisions, facets, grades=grades, unjudgeable=unjudgeable)
    figures = [
        query_agreement(query, scale, missing=missing, binarised_at=binarised_at, coefficients=coefficients)
        for query in query_ratings
    ]
    groups: list[GroupAgreement] = []
    for name in dict.fromkeys([*sorted({query.facet for query, _ in figures}), TOGETHER]) if figures else ():
        members = [(query, seen) for query, seen in figures if name in (query.facet, TOGETHER)]
        queries, seen = zip(*members, strict=True)
        groups.append(
            group_agreement(name, queries, seen, scale, coefficients=coefficients, level=level, papers=papers)
        )
    return AgreementTable(
        missing=missing,
        grades=scale,
        binarised_at=binarised_at,
        titles={name: TITLES[name] for name in coefficients},
        level=level,
        queries=tuple(query for query, _ in figures),
        groups=tuple(groups),
    )
