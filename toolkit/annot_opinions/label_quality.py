"""Worth of one opinion on one study: every figure, and one sentence that sums them up.

The first sentence whose rule holds is taken:

does not judge
    More than half of the answers cannot be read or say that the pair cannot be judged; or at least 99 of 100 readable
    answers are one grade and people's final grades of these pairs are more varied; or the interval of Spearman's rho
    with the final grades is not above 0 (without an interval, its value).
favours X
    A run gains more than the opinion's errors explain (`annot_opinions.self_preference`). All such runs
    are named, the one that gains most first. A run that loses without another's gain is named at the end of the other
    sentences.
noisy
    Its agreement with the assessors is shown to be lower than theirs with each other (the interval of the difference of
    the two ordinal alphas is below 0; without an interval, its value), and it is not known whether it favours a run.
too few topics to tell
    So few topics would not have shown a favour of the tolerated size, or a run is suspected: that no run is named is
    no evidence then. Without runs it is not known whether it favours one.
agrees as people do
    The alternative annotator test says that it may replace one person (`standing_in`),
    and its agreement is not shown to be lower.
fair, agreement not known
    That test cannot be run, and its agreement is not shown to be lower: too little is known of people to say more.
noisy but fair
    All other cases.

Until 30 pairs have both an opinion and a final grade, nothing else is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median_low
from typing import TYPE_CHECKING, Any

import numpy as np
from annot.base.libraries import special
from annot.base.names import plural_of
from annot.base.records import grouped
from annot.base.stats.arrays import Array, Mask
from annot.base.stats.inference import FEWEST_QUERIES, clusters_of, jackknife_interval, variance_of
from annot.base.stats.values import Estimate, Interval, Undefined, Value, rounding
from annot.base.templating import render
from annot.measuring.agreement import estimates
from annot.measuring.agreement.coefficients import NOT_JUDGED_TWICE, ends_of
from annot.measuring.agreement.estimates import TOGETHER

from annot_opinions.self_preference import Favour, FavourRule, OpinedPair, favour

if TYPE_CHECKING:
    from pandas import DataFrame

# ----------------------------------------------------------------------------------------------------------------------
# Agreement of an opinion with each assessor, with the final grades and with itself, next to the agreement of people.
#
# Every figure is over all pairs together. Its interval is the jackknife over whole topics
# (`annot.measuring.agreement.estimates`). A pair that one side did not grade is left out. In a sampled study each pair
# counts 1 / pi, so that figures describe the whole pools.
#
# The people's own figure next to it is that between the assessors of a pair, on the pairs that also have an opinion.
# The opinion's counterpart is `EACH`: the opinion with every assessor of these same pairs, taken together. The
# difference of the two (`behind_people`) has an interval of its own, which is narrower than either, as both share the
# pairs.
# ----------------------------------------------------------------------------------------------------------------------


Pair = tuple[str, str]

FINAL, EACH, PEOPLE = "final grades", "each assessor", "people with each other"
"""Names of rows that are not an assessor's pseudonym."""
ON_ALL_GRADES = ("percent", "kappa", "alpha_ordinal", "kappa_linear")
ON_TWO = ("percent", "kappa", "alpha_ordinal")
"""Coefficients on two grades, where weighted kappa is kappa."""
COMPARED_BY = "alpha_ordinal"
"""Coefficient by which the opinion is compared with people; it allows for missing grades and for distances."""


@dataclass(frozen=True, slots=True)
class OpinionAgreement:
    """Row of the table: an opinion with a person or the final grades, or people with each other."""

    whom: str
    """Pseudonym of an assessor, or one of `FINAL`, `EACH` and `PEOPLE`."""
    facet: str
    binarised_at: int | None
    """Grade from which pairs count as 1, or None for all grades."""
    between: estimates.AgreementOfGradings


@dataclass(frozen=True, slots=True)
class Scale:
    """Settings of figures of agreement."""

    grades: tuple[int, ...]
    relevant_from: int
    level: float
    topics: Mapping[str, str] | None
    """Topic of each query; None takes the queries as independent."""


def agreements(
    queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int], scale: Scale
) -> tuple[OpinionAgreement, ...]:
    """Compute all rows.

    They are for every facet and all together, on all grades and on two, with each assessor, with the final grades, with
    each assessor of a pair together, and people with each other.
    """
    facets = [*sorted({query.facet for query in queries})]
    names = facets if len(facets) == 1 else [*facets, TOGETHER]
    binarisations = [None] if len(scale.grades) == 2 else [None, scale.relevant_from]
    rows_by_facet = {
        facet: _rows([query for query in queries if facet in (query.facet, TOGETHER)], opinion) for facet in names
    }
    return tuple(
        OpinionAgreement(whom, facet, binarised_at, _agreement_of_rows(ratings, scale, binarised_at))
        for facet in names
        for binarised_at in binarisations
        for whom, ratings in rows_by_facet[facet].items()
    )


def behind_people(queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int], scale: Scale) -> Estimate:
    """The opinion's agreement with the assessors of a pair, minus theirs with each other; below 0 if it is worse.

    On the pairs with two assessors and an opinion. The interval is the jackknife's over whole topics.
    """
    rows = _rows(queries, opinion)
    model, people = (estimates.pooled_pairs(rows[whom], scale.grades, scale.topics) for whom in (EACH, PEOPLE))
    if model is None or people is None:
        nothing = Undefined(NOT_JUDGED_TWICE)
        return Estimate(nothing, nothing)
    values = [pooled.value(COMPARED_BY, scale.grades) for pooled in (model, people)]
    for value in values:
        if isinstance(value, Undefined):
            return Estimate(value, value)
    lead = float(values[0]) - float(values[1])  # type: ignore[arg-type]
    without = model.left_out(COMPARED_BY, scale.grades) - people.left_out(COMPARED_BY, scale.grades)
    most = 2 * ends_of(COMPARED_BY)[1]
    return Estimate(
        lead, jackknife_interval(lead, without, level=scale.level, least=-most, most=most, unit=model.clusters.unit)
    )


def with_itself(repeats: Mapping[Pair, Sequence[int]], scale: Scale) -> estimates.AgreementOfGradings:
    """Agreement of the repeats of an opinion. repeats: the readable grades of each pair; one alone does not count."""
    by_query = grouped((query_id, grades) for (query_id, _), grades in sorted(repeats.items()) if len(grades) > 1)
    most = max((len(grades) for repeats_of_query in by_query.values() for grades in repeats_of_query), default=0)
    ratings = []
    for query_id, repeats_of_query in by_query.items():
        rows = [[*grades, *[np.nan] * (most - len(grades))] for grades in repeats_of_query]
        ratings.append(estimates.RatedPairs(query_id, np.array(rows, dtype=np.float64).T, np.ones(len(rows))))
    return _agreement_of_rows(ratings, scale, None)


def confusion(
    final: Mapping[Pair, int], opinion: Mapping[Pair, int], asked: Sequence[Pair], grades: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """Number of pairs by final grade (rows) and by the opinion's (columns), the last column for answers that cannot be
    read.
    """
    times = Counter((final[pair], opinion.get(pair)) for pair in asked if pair in final)
    return tuple(tuple(times[grade, column] for column in (*grades, None)) for grade in grades)


def _rows(
    queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int]
) -> dict[str, list[estimates.RatedPairs]]:
    """Grades behind each row of the table, by query. The rows of a matrix are the two or more who are compared."""
    assessors = sorted({name for query in queries for name in query.assessors})
    rows: dict[str, list[estimates.RatedPairs]] = {name: [] for name in (FINAL, *assessors, EACH, PEOPLE)}
    for query in queries:
        opinions = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids], dtype=float)
        has_opinion = ~np.isnan(opinions)
        for whom, grades in [(FINAL, query.final), *zip(query.assessors, query.ratings, strict=True)]:
            both = has_opinion & ~np.isnan(grades)
            rows[whom].append(
                estimates.RatedPairs(query.query_id, np.stack([grades, opinions])[:, both], query.weights[both])
            )
        shared = has_opinion & ((~np.isnan(query.ratings)).sum(axis=0) >= 2)
        weights = query.weights[shared]
        people = np.full((len(assessors), int(shared.sum())), np.nan)
        people[[assessors.index(name) for name in query.assessors]] = query.ratings[:, shared]
        rows[PEOPLE].append(estimates.RatedPairs(query.query_id, people, weights))
        twos = np.concatenate([np.stack([grades, opinions])[:, shared] for grades in query.ratings], axis=1)
        both = ~np.isnan(twos[0])
        weights_of_twos = np.tile(weights, len(query.ratings))
        rows[EACH].append(estimates.RatedPairs(query.query_id, twos[:, both], weights_of_twos[both]))
    return {whom: [ratings for ratings in by_query if ratings.ratings.shape[1]] for whom, by_query in rows.items()}


def _agreement_of_rows(
    rows: Sequence[estimates.RatedPairs], scale: Scale, binarised_at: int | None
) -> estimates.AgreementOfGradings:
    names = ON_TWO if binarised_at is not None or len(scale.grades) == 2 else ON_ALL_GRADES
    grades: Sequence[int] = scale.grades
    if binarised_at is not None:
        rows = [row._replace(ratings=estimates.binarise(row.ratings, at=binarised_at)) for row in rows]
        grades = (0, 1)
    return estimates.agreement_of_pairs(rows, grades, level=scale.level, coefficients=names, topics=scale.topics)


def rank_correlation(queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int], scale: Scale) -> Estimate:
    """Spearman's rho of the opinion with the final grades, over all pairs."""
    pooled = estimates.pooled_pairs(_rows(queries, opinion)[FINAL], scale.grades, scale.topics)
    if pooled is None:
        return Estimate(estimates.NOTHING, estimates.NOTHING)
    return pooled.estimate("spearman_rho", scale.grades, level=scale.level)


# ----------------------------------------------------------------------------------------------------------------------
# Alternative annotator test: may a model replace one of the people of a study?
#
# Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
# Replacing Human Annotators with LLMs, ACL, 16051-16081 (https://aclanthology.org/2025.acl-long.782). Each person is
# left out in turn. On each pair the model and this person are held against the other people who judged it: the score
# is the root of the mean squared distance to their grades; smaller is better. W_model is 1 if the model is at least
# as near as the person, W_person is 1 if the person is at least as near as the model. The model wins against this
# person if the mean of W_person - W_model is shown to be below epsilon: a handicap, because people are slower and
# cost more. The paper advises 0.2 against experts, 0.15 against skilled and 0.1 against crowd workers. The p-values
# are corrected by Benjamini and Yekutieli 2001 (Annals of Statistics 29, 1165-1188). The winning rate omega is the
# share of people it wins against; at 0.5 or more it may replace one.
#
# The paper's t test assumes that pairs are independent. Pairs of one topic are not, so here whole topics are the
# sampling units. In a sampled study each pair counts 1 / pi.
# ----------------------------------------------------------------------------------------------------------------------


ENOUGH = 0.5
"""Winning rate from which a model may replace one person."""
FEWEST_PAIRS = 30
"""Pairs that a person must share with others: the paper's bound for its t test."""
ALONE = Undefined(
    "no pair with an opinion has two assessors, and the test compares the model with the others of a pair"
)


@dataclass(frozen=True, slots=True)
class AgainstOne:
    """Comparison of a model with one person."""

    assessor: str
    n_pairs: int
    n_units: int
    """Topics, the sampling units; in the published test, pairs."""
    behind: float
    """Share of pairs on which the person is nearer, less that on which the model is. Below epsilon it wins."""
    model_as_near: float
    """Share of pairs on which the model is at least as near: the paper's advantage probability rho."""
    p: float
    """p-value of the hypothesis that the model is behind by epsilon or more."""
    wins: bool
    """True if the model wins, after correction for the number of people."""


@dataclass(frozen=True, slots=True)
class StandingIn:
    """Result of the test against all people."""

    epsilon: float
    against: tuple[AgainstOne, ...]
    left_out: dict[str, str]
    """Reason why a person could not be compared, by pseudonym."""
    omega: Value
    """Winning rate, or why the test cannot be run."""
    rho: Value
    """Mean of the advantage probabilities."""

    @property
    def may(self) -> bool | None:
        """True if the model may replace one person; None if that is not known."""
        return None if isinstance(self.omega, Undefined) else self.omega >= ENOUGH


def standing_in(
    queries: Sequence[estimates.QueryRatings],
    opinion: Mapping[Pair, int],
    *,
    epsilon: float,
    level: float,
    topics: Mapping[str, str] | None,
) -> StandingIn:
    """Run the test with whole topics as the sampling units. level: .95 keeps the false discovery rate at .05.

    topics: the topic of each query; None takes the queries as independent. If each pair is a query of its own, and
    there are no weights, this is the published test.
    """
    from scipy.stats import false_discovery_control

    compared = _compared(queries, opinion)
    if compared.empty:
        return StandingIn(epsilon, (), {}, ALONE, ALONE)
    left_out: dict[str, str] = {}
    against: list[AgainstOne] = []
    for name, person in compared.groupby("assessor"):
        assessor, query_ids, weights = str(name), person["query_id"], person["weight"].to_numpy()
        clusters = clusters_of(query_ids, None if topics is None else query_ids.map(topics))
        n_pairs = len(person)
        if n_pairs < FEWEST_PAIRS:
            left_out[assessor] = f"{n_pairs} pairs shared with others, expected {FEWEST_PAIRS} or more"
        elif clusters.n < FEWEST_QUERIES:
            left_out[assessor] = f"{clusters.n} {plural_of(clusters.unit)}, expected {FEWEST_QUERIES} or more"
        else:
            behind, as_near = (float(np.average(person[side], weights=weights)) for side in ("behind", "as_near"))
            parts = clusters.summed(weights * (person["behind"].to_numpy() - behind)) / weights.sum()
            p = _p_below(behind - epsilon, variance_of(parts), clusters.n)
            against.append(AgainstOne(assessor, n_pairs, clusters.n, behind, as_near, p, wins=False))
    if not against:
        why = Undefined(f"no assessor can be compared: {next(iter(left_out.values()))}")
        return StandingIn(epsilon, (), left_out, why, why)
    corrected = false_discovery_control([person.p for person in against], method="by")
    against = [replace(person, wins=p <= 1 - level + 1e-12) for person, p in zip(against, corrected, strict=True)]
    omega = float(np.mean([person.wins for person in against]))
    rho = float(np.mean([person.model_as_near for person in against]))
    return StandingIn(epsilon, tuple(against), left_out, omega, rho)


def _compared(queries: Sequence[estimates.QueryRatings], opinion: Mapping[Pair, int]) -> DataFrame:
    """Pairs of each person that another person judged too and on which the model has an opinion, one a row.

    `behind` is the difference W_person - W_model: 1, 0 or -1.
    """
    from pandas import DataFrame

    rows: list[tuple[Any, ...]] = []
    for query in queries:
        opinions = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids])
        graded = ~np.isnan(query.ratings)
        for row, assessor in enumerate(query.assessors):
            others = graded.copy()
            others[row] = False
            comparable = graded[row] & others.any(axis=0) & ~np.isnan(opinions)
            model = _distances_to_others(opinions, query.ratings, others)[comparable]
            person = _distances_to_others(query.ratings[row], query.ratings, others)[comparable]
            nearer, as_near = person <= model + _TOLERANCE, model <= person + _TOLERANCE
            columns = nearer.astype(np.float64) - as_near, as_near, query.weights[comparable]
            rows += [(assessor, query.query_id, *values) for values in zip(*columns, strict=True)]
    return DataFrame(rows, columns=["assessor", "query_id", "behind", "as_near", "weight"])


_TOLERANCE = 1e-9


def _distances_to_others(grades: Array, ratings: Array, others: Mask) -> Array:
    """Root of the mean squared distance of each grade to those of the others, shape (N,)."""
    square = np.where(others, (ratings - grades) ** 2, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(square / np.maximum(1, others.sum(axis=0))))


def _p_below(off: float, variance: float, n: int) -> float:
    """Probability of a mean so far below its bound, by Student's t with n - 1 degrees of freedom; without variation 0
    or 1.
    """
    if variance <= 0:
        return float(off >= 0)
    return float(special.stdtr(n - 1, off / math.sqrt(variance)))


# ----------------------------------------------------------------------------------------------------------------------
# Worth of an opinion: all figures, and the verdict in one sentence.
# ----------------------------------------------------------------------------------------------------------------------


MOST_WITHOUT_GRADE = 0.5
ALWAYS_THE_SAME = 0.99


class OpinionVerdict(StrEnum):
    """Verdict of the first sentence."""

    DOES_NOT_JUDGE = "does not judge"
    FAVOURS = "favours"
    AS_PEOPLE = "agrees as people do"
    NOISY = "noisy"
    TOO_FEW = "too few topics to tell"
    NOISY_BUT_FAIR = "noisy but fair"
    FAIR = "fair, agreement not known"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Worth:
    """Comparison of one opinion with people."""

    name: str
    model: str
    verdict: OpinionVerdict
    sentence: str
    n_pairs: int
    """Pairs with an answer, with or without a grade."""
    n_unreadable: int
    """Pairs none of whose answers could be read."""
    n_declined: int
    """Pairs that the model says it cannot judge: they count as not answered."""
    n_compared: int
    """Pairs with an opinion and a final grade."""
    given: dict[int, int]
    """Number of times that it gave each grade."""
    agreement: tuple[OpinionAgreement, ...]
    rho: Estimate
    """Spearman's rho with the final grades."""
    ahead: Estimate
    """Lead of its ordinal alpha with the assessors over theirs with each other."""
    itself: estimates.AgreementOfGradings | None
    """Agreement over repeats; None if each pair was asked about once."""
    grades: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Pairs by final grade (rows) and by its grade (columns), the last column for answers that cannot be read."""
    standing_in: StandingIn
    favour: Favour | Undefined
    related: tuple[str, ...]
    """Runs of systems of the model's own family, as the lead declares."""
    other_versions: OtherVersions | None = None
    """Pairs judged by other versions; None if people judged all of its pairs by the contents of its prompt."""

    @property
    def alphas(self) -> dict[str, Estimate]:
        """Ordinal alpha of all facets together, by whom the grades are compared with."""
        rows = [row for row in self.agreement if row.binarised_at is None and row.facet == self.agreement[-1].facet]
        return {row.whom: row.between.figures[COMPARED_BY] for row in rows}

    @property
    def without_grade(self) -> bool:
        """True if too few answers have a grade."""
        return self.n_unreadable + self.n_declined > MOST_WITHOUT_GRADE * self.n_pairs

    @property
    def same_grade(self) -> int | None:
        """Grade that it gives to nearly everything, unless people do too."""
        grade, times = max(self.given.items(), key=lambda item: item[1])
        total = sum(self.given.values())
        if not total or times < ALWAYS_THE_SAME * total:
            return None
        share_of_people = max(sum(row[:-1]) for row in self.confusion) / self.n_compared
        return grade if share_of_people < times / total else None


@dataclass(frozen=True, slots=True)
class OtherVersions:
    """Pairs of an opinion that people judged by other guidelines, grades or facets than the model was given."""

    what: tuple[str, ...]
    """Things of which they had another version, in words."""
    n_pairs: int
    """Pairs with an opinion and a final grade that people judged by another version."""
    n_same: int
    """Pairs that they judged by the same."""
    within: Worth | None
    """Comparison on these alone; None if there are too few."""


@dataclass(frozen=True, slots=True)
class JudgedRuns:
    """Grades of people, and the runs that are measured by them."""

    queries: Sequence[estimates.QueryRatings]
    runs: Mapping[str, Mapping[str, Sequence[str]]]
    """Documents by tag and query, best first."""
    lengths: Mapping[str, int]
    """Length of each document."""
    scale: Scale
    rule: FavourRule
    epsilon: float


@rounding
def worth(
    name: str,
    model: str,
    answers: Mapping[Pair, Sequence[int | None]],
    judged: JudgedRuns,
    *,
    declined: Collection[Pair] = (),
    related: Collection[str] = (),
) -> Worth:
    """Compare an opinion with people.

    answers: by pair, one grade for each repeat, None if the answer has none. The middle grade counts, and of two in the
    middle the lower. declined: pairs without a grade that the model says it cannot judge. related: runs of systems
    that the lead declares to be of the model's family.
    """
    readable = {pair: [answer for answer in grades if answer is not None] for pair, grades in answers.items()}
    opinion = {pair: median_low(grades) for pair, grades in sorted(readable.items()) if grades}
    queries, scale = judged.queries, judged.scale
    final: dict[Pair, int] = {}
    pairs = []
    for query in queries:
        for doc_id, grade, weight in zip(query.doc_ids, query.final.tolist(), query.weights.tolist(), strict=True):
            pair = query.query_id, doc_id
            if not np.isnan(grade):
                final[pair] = int(grade)
                if pair in opinion:
                    length = judged.lengths.get(doc_id, 0)
                    pairs.append(OpinedPair(*pair, int(grade), opinion[pair], weight, length))
    measured = Worth(
        name=name,
        model=model,
        verdict=OpinionVerdict.UNKNOWN,
        sentence="",
        n_pairs=len(answers),
        n_unreadable=len(answers) - len(opinion) - len(declined),
        n_declined=len(declined),
        n_compared=len(pairs),
        given={grade: list(opinion.values()).count(grade) for grade in scale.grades},
        agreement=agreements(queries, opinion, scale),
        rho=rank_correlation(queries, opinion, scale),
        ahead=behind_people(queries, opinion, scale),
        itself=with_itself(readable, scale) if any(len(grades) > 1 for grades in answers.values()) else None,
        grades=scale.grades,
        confusion=confusion(final, opinion, [pair for pair in answers if pair not in declined], scale.grades),
        standing_in=standing_in(queries, opinion, epsilon=judged.epsilon, level=scale.level, topics=scale.topics),
        favour=favour(pairs, judged.runs, judged.rule, topics=scale.topics),
        related=tuple(sorted({*related} & judged.runs.keys())),
    )
    measured = replace(measured, verdict=verdict_of(measured))
    verdict_text = render("opinion-verdict.txt.j2", {"worth": measured, "fewest": FEWEST_PAIRS}, overrides=None)
    return replace(measured, sentence=" ".join(verdict_text.split()))


def verdict_of(figures: Worth) -> OpinionVerdict:
    """First verdict whose rule applies."""
    favour, standing, behind = figures.favour, figures.standing_in, _below(figures.ahead)
    if figures.without_grade:
        return OpinionVerdict.DOES_NOT_JUDGE
    if figures.n_compared < FEWEST_PAIRS:
        return OpinionVerdict.UNKNOWN
    if figures.same_grade is not None or not _above(figures.rho):
        return OpinionVerdict.DOES_NOT_JUDGE
    if isinstance(favour, Favour) and favour.gaining:
        return OpinionVerdict.FAVOURS
    if isinstance(favour, Undefined) or not favour.none:
        if behind:
            return OpinionVerdict.NOISY
        return OpinionVerdict.UNKNOWN if isinstance(favour, Undefined) else OpinionVerdict.TOO_FEW
    if standing.may is False or behind:
        return OpinionVerdict.NOISY_BUT_FAIR
    return OpinionVerdict.AS_PEOPLE if standing.may else OpinionVerdict.FAIR


def _above(estimate: Estimate) -> bool:
    """True if the interval is above 0; without an interval, if the value is."""
    low = estimate.interval.low if isinstance(estimate.interval, Interval) else estimate.value
    return not isinstance(low, Undefined) and low > 0


def _below(estimate: Estimate) -> bool:
    high = estimate.interval.high if isinstance(estimate.interval, Interval) else estimate.value
    return not isinstance(high, Undefined) and high < 0
