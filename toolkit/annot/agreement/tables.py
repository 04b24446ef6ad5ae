"""Agreement per query, then per facet and together: before adjudication, after it, and what adjudication had to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from annot.agreement.coefficients import COEFFICIENTS, TITLES
from annot.agreement.groups import Group
from annot.agreement.missing import POLICIES
from annot.agreement.per_query import prepare, query_agreement
from annot.agreement.ratings import QueryRatings, ratings_of
from annot.agreement.results import AgreementTable, GroupAgreement
from annot.errors import InputError
from annot.records import Decision, Judgement
from annot.stats.bootstrap import Bootstrap
from annot.stats.rounding import rounding

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
    bootstrap: Bootstrap | None,
    coefficients: Sequence[str] = tuple(COEFFICIENTS),
) -> AgreementTable:
    """All agreement figures.

    facets: the facet of each `query_id`. grades: the scale, consecutive integers. missing: a name in
    `missing.POLICIES`. binarised_at: compute the coefficients on "this grade or higher" instead; None for the scale as
    it is. bootstrap: None for no intervals. coefficients: names in `COEFFICIENTS`, of those that are wanted.

    Per query: before adjudication the coefficient between the assessors, after it the mean of (each assessor, final
    grade), both on the pairs with two or more grades. After adjudication a query, and a group of queries, has values
    only when none of its disputes is open: the pairs already settled are the easy ones. Raises InputError for an
    unknown policy, a grade outside the scale, a query without facet, or a double judgement.
    """
    if missing not in POLICIES:
        raise InputError(f"missing = {missing!r}: no such policy", hint=f"one of {', '.join(POLICIES)}")
    if binarised_at is not None and binarised_at not in grades[1:]:
        raise InputError(f"binarised at {binarised_at}: expected one of {', '.join(map(str, grades[1:]))}")
    scale = tuple(grades) if binarised_at is None else (0, 1)
    found = ratings_of(judgements, decisions, facets)
    _check_grades(found, grades)
    prepared = [prepare(one, missing=missing, binarised_at=binarised_at) for one in found]
    queries = [query_agreement(one, scale, coefficients=coefficients) for one in prepared]
    groups: list[GroupAgreement] = []
    for name in dict.fromkeys([*sorted({one.facet for one in queries}), TOGETHER]):
        members = [at for at, one in enumerate(queries) if name in (one.facet, TOGETHER)]
        if members:
            of_name = [queries[at] for at in members], [prepared[at] for at in members]
            group = Group(name, *of_name, scale, coefficients)
            groups.append(group.agreement(bootstrap))
    return AgreementTable(
        missing=missing,
        grades=scale,
        binarised_at=binarised_at,
        titles={name: TITLES[name] for name in coefficients},
        level=bootstrap.level if bootstrap else None,
        resamples=bootstrap.resamples if bootstrap else None,
        queries=tuple(queries),
        groups=tuple(groups),
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
