"""What one opinion is worth on one study: every figure, and one sentence that sums them up.

The sentence is one of four. The first whose rule holds is taken:

does not judge
    More than half of the answers cannot be read or say that the pair cannot be judged; or at least 99 of 100 readable
    answers are one grade and people's final grades of these pairs are more varied; or the interval of Spearman's rho
    with the final grades is not above 0 (without an interval, its value).
favours X
    A run gains more than the opinion's errors explain (`annot.measuring.opinions.favour`). All such runs are named,
    the one that gains most first. A run that loses without another's gain is named at the end of the last two.
agrees as people do
    The alternative annotator test says that it may replace one person (`annot.measuring.opinions.standing_in`),
    and its agreement with the assessors is not shown to be lower than theirs with each other: the interval of the
    difference of the two ordinal alphas is not below 0 (without an interval, its value).
fair, agreement not known
    That test cannot be run, and its agreement is not shown to be lower: too little is known of people to say more.
noisy but fair
    All other cases. If the runs are not known, it is called noisy, and the sentence says why fairness is not known.

Until 30 pairs have both an opinion and a final grade, nothing else is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median_low

import numpy as np

from annot.base.names import counted, verb
from annot.base.stats.values import Estimate, Interval, Undefined, Value, rounding
from annot.measuring.agreement.per_query import QueryRatings
from annot.measuring.agreement.pooled import Between
from annot.measuring.opinions.agreeing import (
    COMPARED_BY,
    EACH,
    FINAL,
    PEOPLE,
    OpinionAgreement,
    Pair,
    Scale,
    agreements,
    behind_people,
    confusion,
    rank_correlation,
    with_itself,
)
from annot.measuring.opinions.favour import Favour, FavourRule, OpinedPair, favour
from annot.measuring.opinions.standing_in import FEWEST_PAIRS, StandingIn, standing_in

MOST_WITHOUT_GRADE = 0.5
ALWAYS_THE_SAME = 0.99


class OpinionVerdict(StrEnum):
    """The four sentences, one for too few people on each pair, and one for too little to say anything yet."""

    DOES_NOT_JUDGE = "does not judge"
    FAVOURS = "favours"
    AS_PEOPLE = "agrees as people do"
    NOISY = "noisy but fair"
    FAIR = "fair, agreement not known"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Worth:
    """One opinion compared with people."""

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
    """How often it gave each grade."""
    agreement: tuple[OpinionAgreement, ...]
    rho: Estimate
    """Spearman's, with the final grades."""
    ahead: Estimate
    """By how much its ordinal alpha with the assessors is above theirs with each other."""
    itself: Between | None
    """Over repeats; None if each pair was asked about once."""
    grades: tuple[int, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Pairs by final grade (rows) and by its grade (columns), the last column for answers that cannot be read."""
    standing_in: StandingIn
    favour: Favour | Undefined
    related: tuple[str, ...]
    """Runs of systems of the model's own family, as the lead declares."""
    other_versions: OtherVersions | None = None
    """None if people judged all of its pairs by what its prompt contains."""


@dataclass(frozen=True, slots=True)
class OtherVersions:
    """Pairs of an opinion that people judged by other guidelines, grades or facets than the model was given."""

    what: tuple[str, ...]
    """The things of which they had another version, in words."""
    n_pairs: int
    """Pairs with an opinion and a final grade that people judged by another version."""
    n_same: int
    """Those that they judged by the same."""
    within: Worth | None
    """The comparison on these alone; None if there are too few."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What people said, and the runs that are measured by it."""

    queries: Sequence[QueryRatings]
    runs: Mapping[str, Mapping[str, Sequence[str]]]
    """By tag and query, the documents best first."""
    lengths: Mapping[str, int]
    """Of each document."""
    scale: Scale
    rule: FavourRule
    epsilon: float


@rounding
def worth(
    name: str,
    model: str,
    answers: Mapping[Pair, Sequence[int | None]],
    judged: Judged,
    *,
    declined: Collection[Pair] = (),
    related: Collection[str] = (),
) -> Worth:
    """Compare an opinion with people.

    answers: by pair, one grade for each repeat, None if the answer has none. The middle grade counts, and of two in the
    middle the lower. declined: pairs without a grade that the model says it cannot judge. related: runs of systems
    that the lead declares to be of the model's family.
    """
    readable = {pair: [one for one in given if one is not None] for pair, given in answers.items()}
    opinion = {pair: median_low(given) for pair, given in sorted(readable.items()) if given}
    queries, scale = judged.queries, judged.scale
    final = {
        (query.query_id, doc_id): int(grade)
        for query in queries
        for doc_id, grade in zip(query.doc_ids, query.final.tolist(), strict=True)
        if not np.isnan(grade)
    }
    weights = {
        (query.query_id, doc_id): weight
        for query in queries
        if query.weights is not None
        for doc_id, weight in zip(query.doc_ids, query.weights.tolist(), strict=True)
    }
    pairs = [
        OpinedPair(*pair, final[pair], grade, weights.get(pair, 1.0), judged.lengths.get(pair[1], 0))
        for pair, grade in opinion.items()
        if pair in final
    ]
    found = _Found(
        unreadable=(len(answers) - len(opinion) - len(declined)) / max(1, len(answers)),
        declined=len(declined) / max(1, len(answers)),
        given=Counter(opinion.values()),
        final=Counter(one.final for one in pairs),
        rho=rank_correlation(queries, opinion, scale),
        ahead=behind_people(queries, opinion, scale),
        standing_in=standing_in(queries, opinion, epsilon=judged.epsilon, level=scale.level, topics=scale.topics),
        favour=favour(pairs, judged.runs, judged.rule, topics=scale.topics),
    )
    agreement = agreements(queries, opinion, scale)
    verdict = verdict_of(found)
    return Worth(
        name=name,
        model=model,
        verdict=verdict,
        sentence=f"{name} {sentence_of(verdict, found, agreement)}.",
        n_pairs=len(answers),
        n_unreadable=len(answers) - len(opinion) - len(declined),
        n_declined=len(declined),
        n_compared=len(pairs),
        given={grade: found.given[grade] for grade in scale.grades},
        agreement=agreement,
        rho=found.rho,
        ahead=found.ahead,
        itself=with_itself(readable, scale) if any(len(given) > 1 for given in answers.values()) else None,
        grades=scale.grades,
        confusion=confusion(final, opinion, [pair for pair in answers if pair not in declined], scale.grades),
        standing_in=found.standing_in,
        favour=found.favour,
        related=tuple(sorted({*related} & judged.runs.keys())),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """The figures behind the sentence."""

    unreadable: float
    declined: float
    given: Counter[int]
    final: Counter[int]
    """The final grades of the pairs with both."""
    rho: Estimate
    ahead: Estimate
    standing_in: StandingIn
    favour: Favour | Undefined

    @property
    def same(self) -> int | None:
        """The grade that it gives to nearly everything, unless people do too."""
        ((grade, times),) = self.given.most_common(1) or ((0, 0),)
        whole = self.given.total()
        if not whole or times < ALWAYS_THE_SAME * whole:
            return None
        of_people = max(self.final.values()) / self.final.total()
        return grade if of_people < times / whole else None


def verdict_of(found: _Found) -> OpinionVerdict:
    """The first of the four whose rule holds."""
    if found.unreadable + found.declined > MOST_WITHOUT_GRADE:
        return OpinionVerdict.DOES_NOT_JUDGE
    if found.final.total() < FEWEST_PAIRS:
        return OpinionVerdict.UNKNOWN
    if found.same is not None or not _above(found.rho):
        return OpinionVerdict.DOES_NOT_JUDGE
    if isinstance(found.favour, Favour) and found.favour.gaining:
        return OpinionVerdict.FAVOURS
    if found.standing_in.may and not _below(found.ahead):
        return OpinionVerdict.AS_PEOPLE
    if found.standing_in.may is None and not _below(found.ahead):
        return OpinionVerdict.FAIR
    return OpinionVerdict.NOISY


def _above(one: Estimate) -> bool:
    """Whether it is shown to be above 0; without an interval, whether its value is."""
    low = one.interval.low if isinstance(one.interval, Interval) else one.value
    return not isinstance(low, Undefined) and low > 0


def _below(one: Estimate) -> bool:
    high = one.interval.high if isinstance(one.interval, Interval) else one.value
    return not isinstance(high, Undefined) and high < 0


def sentence_of(verdict: OpinionVerdict, found: _Found, agreement: Sequence[OpinionAgreement]) -> str:
    """What follows the opinion's name."""
    if verdict is OpinionVerdict.UNKNOWN:
        pairs = counted(found.final.total(), "pair") if found.final else "no pair"
        return (
            f"is not measured yet: {pairs} {verb(found.final.total() or 1, 'has', 'have')} both an opinion and a final "
            f"grade, and {FEWEST_PAIRS} are needed"
        )
    if verdict is OpinionVerdict.DOES_NOT_JUDGE:
        return f"does not judge: {_why_not(found)}"
    if verdict is OpinionVerdict.FAVOURS:
        assert isinstance(found.favour, Favour)
        return _favoured(found.favour)
    if isinstance(found.favour, Undefined):
        runs = f"; whether it favours a run is not known: {found.favour.reason}"
    else:
        runs = ", and no run gains more under its grades than its errors explain"
        if found.favour.losing:
            runs += f"; but {_and(found.favour.losing)} {verb(len(found.favour.losing), 'loses', 'lose')} more"
    if verdict is OpinionVerdict.AS_PEOPLE:
        wins = sum(one.wins for one in found.standing_in.against)
        people = counted(len(found.standing_in.against), "assessor")
        return f"agrees as people do: it may replace one, having won against {wins} of {people}{runs}"
    alphas = {
        one.whom: one.between.figures[COMPARED_BY].value
        for one in agreement
        if one.binarised_at is None and one.facet == agreement[-1].facet
    }
    noisy = "is noisy" if isinstance(found.favour, Undefined) else "is noisy but fair"
    if verdict is OpinionVerdict.FAIR:
        assert isinstance(found.standing_in.omega, Undefined)
        fair = "cannot be judged yet" if isinstance(found.favour, Undefined) else "is fair"
        return (
            f"{fair}: its ordinal alpha with the final grades is {_shown(alphas.get(FINAL))}; whether it agrees as "
            f"people do is not known: {found.standing_in.omega.reason}{runs}"
        )
    return (
        f"{noisy}: its ordinal alpha with the assessors is {_shown(alphas.get(EACH))}, theirs with each other "
        f"{_shown(alphas.get(PEOPLE))}{runs}"
    )


def _why_not(found: _Found) -> str:
    if found.unreadable + found.declined > MOST_WITHOUT_GRADE:
        shares = (found.unreadable, "cannot be read"), (found.declined, "say that the pair cannot be judged")
        told = " and ".join(f"{100 * share:.0f}% {what}" for share, what in shares if share)
        return (
            f"of its answers, {told}"
            if found.declined
            else f"{100 * found.unreadable:.0f}% of its answers cannot be read"
        )
    if found.same is not None:
        share = found.given[found.same] / found.given.total()
        return f"it gives grade {found.same} to {'every pair' if share == 1 else f'{100 * share:.1f}% of the pairs'}"
    return f"its grades do not rise with people's (Spearman's rho {_shown(found.rho.value)})"


def _favoured(found: Favour) -> str:
    beyond = {one.run: one.beyond for one in found.runs}
    first = found.gaining[0]
    return (
        f"favours {_and(found.gaining)}: {first} gains {beyond[first]:.3f} in {found.measure} more than the other runs "
        "do and its errors explain"
    )


def _shown(value: Value | None) -> str:
    return "not known" if value is None or isinstance(value, Undefined) else f"{value:.2f}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
