"""Worth of one opinion on one study: every figure, and one sentence that sums them up.

The first sentence whose rule holds is taken:

does not judge
    More than half of the answers cannot be read or say that the pair cannot be judged; or at least 99 of 100 readable
    answers are one grade and people's final grades of these pairs are more varied; or the interval of Spearman's rho
    with the final grades is not above 0 (without an interval, its value).
favours X
    A run gains more than the opinion's errors explain (`annot.measuring.opinions.self_preference`). All such runs
    are named, the one that gains most first. A run that loses without another's gain is named at the end of the other
    sentences.
noisy
    Its agreement with the assessors is shown to be lower than theirs with each other (the interval of the difference of
    the two ordinal alphas is below 0; without an interval, its value), and it is not known whether it favours a run.
too few topics to tell
    So few topics would not have shown a favour of the tolerated size, or a run is suspected: that no run is named is
    no evidence then. Without runs it is not known whether it favours one.
agrees as people do
    The alternative annotator test says that it may replace one person (`annot.measuring.opinions.agreement`),
    and its agreement is not shown to be lower.
fair, agreement not known
    That test cannot be run, and its agreement is not shown to be lower: too little is known of people to say more.
noisy but fair
    All other cases.

Until 30 pairs have both an opinion and a final grade, nothing else is said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median_low

import numpy as np

from annot.base.names import counted, verb
from annot.base.stats.values import Estimate, Interval, Undefined, Value, rounding
from annot.measuring.agreement.estimates import AgreementOfGradings, QueryRatings
from annot.measuring.opinions.agreement import (
    COMPARED_BY,
    EACH,
    FEWEST_PAIRS,
    FINAL,
    PEOPLE,
    OpinionAgreement,
    Pair,
    Scale,
    StandingIn,
    agreements,
    behind_people,
    confusion,
    rank_correlation,
    standing_in,
    with_itself,
)
from annot.measuring.opinions.self_preference import Favour, FavourRule, OpinedPair, favour

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
    itself: AgreementOfGradings | None
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

    queries: Sequence[QueryRatings]
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
    verdict = verdict_of(measured)
    return replace(measured, verdict=verdict, sentence=f"{name} {sentence_of(verdict, measured)}.")


def verdict_of(figures: Worth) -> OpinionVerdict:
    """First verdict whose rule holds."""
    if figures.n_unreadable + figures.n_declined > MOST_WITHOUT_GRADE * figures.n_pairs:
        return OpinionVerdict.DOES_NOT_JUDGE
    if figures.n_compared < FEWEST_PAIRS:
        return OpinionVerdict.UNKNOWN
    if _same_grade(figures) is not None or not _above(figures.rho):
        return OpinionVerdict.DOES_NOT_JUDGE
    if isinstance(figures.favour, Favour) and figures.favour.gaining:
        return OpinionVerdict.FAVOURS
    behind = _below(figures.ahead)
    if isinstance(figures.favour, Undefined) or not figures.favour.none:
        without_runs = OpinionVerdict.UNKNOWN if isinstance(figures.favour, Undefined) else OpinionVerdict.TOO_FEW
        return OpinionVerdict.NOISY if behind else without_runs
    if figures.standing_in.may is False or behind:
        return OpinionVerdict.NOISY_BUT_FAIR
    return OpinionVerdict.AS_PEOPLE if figures.standing_in.may else OpinionVerdict.FAIR


def _above(estimate: Estimate) -> bool:
    """True if it is shown to be above 0; without an interval, if its value is."""
    low = estimate.interval.low if isinstance(estimate.interval, Interval) else estimate.value
    return not isinstance(low, Undefined) and low > 0


def _below(estimate: Estimate) -> bool:
    high = estimate.interval.high if isinstance(estimate.interval, Interval) else estimate.value
    return not isinstance(high, Undefined) and high < 0


def _same_grade(figures: Worth) -> int | None:
    """Grade that it gives to nearly everything, unless people do too."""
    grade, times = max(figures.given.items(), key=lambda item: item[1])
    total = sum(figures.given.values())
    if not total or times < ALWAYS_THE_SAME * total:
        return None
    share_of_people = max(sum(row[:-1]) for row in figures.confusion) / figures.n_compared
    return grade if share_of_people < times / total else None


def sentence_of(verdict: OpinionVerdict, figures: Worth) -> str:
    """Clause that follows the opinion's name."""
    if figures.n_compared < FEWEST_PAIRS and verdict is OpinionVerdict.UNKNOWN:
        pairs = counted(figures.n_compared, "pair") if figures.n_compared else "no pair"
        return (
            f"is not measured yet: {pairs} {verb(figures.n_compared or 1, 'has', 'have')} both an opinion and a "
            f"final grade, and {FEWEST_PAIRS} are needed"
        )
    if verdict is OpinionVerdict.DOES_NOT_JUDGE:
        return f"does not judge: {_why_not(figures)}"
    if verdict is OpinionVerdict.FAVOURS:
        assert isinstance(figures.favour, Favour)
        return _favoured(figures.favour)
    alphas = {
        row.whom: row.between.figures[COMPARED_BY].value
        for row in figures.agreement
        if row.binarised_at is None and row.facet == figures.agreement[-1].facet
    }
    with_people = (
        f"its ordinal alpha with the assessors is {_shown(alphas.get(EACH))}, theirs with each other "
        f"{_shown(alphas.get(PEOPLE))}"
    )
    runs = _of_runs(figures.favour)
    if verdict is OpinionVerdict.AS_PEOPLE:
        return f"agrees as people do: {_won(figures.standing_in)}{runs}"
    if verdict is OpinionVerdict.FAIR:
        assert isinstance(figures.standing_in.omega, Undefined)
        return (
            f"is fair: its ordinal alpha with the final grades is {_shown(alphas.get(FINAL))}; whether it agrees as "
            f"people do is not known: {figures.standing_in.omega.reason}{runs}"
        )
    if verdict in (OpinionVerdict.NOISY, OpinionVerdict.NOISY_BUT_FAIR):
        return f"is {verdict}: {with_people}{runs}"
    so_far = _won(figures.standing_in) if figures.standing_in.may else with_people
    if verdict is OpinionVerdict.TOO_FEW:
        return (
            f"cannot be judged yet: there are too few topics to show whether it favours a run{runs}. So far, {so_far}"
        )
    return f"cannot be judged yet{runs}. So far, {so_far}"


def _won(standing: StandingIn) -> str:
    wins = sum(person.wins for person in standing.against)
    return f"it may replace one, having won against {wins} of {counted(len(standing.against), 'assessor')}"


def _of_runs(favour: Favour | Undefined) -> str:
    """Clause about the runs of an opinion that is not shown to favour one."""
    if isinstance(favour, Undefined):
        return f"; whether it favours a run is not known: {favour.reason}"
    losing = f"; but {_and(favour.losing)} {verb(len(favour.losing), 'loses', 'lose')} more" if favour.losing else ""
    if favour.none:
        assert favour.visible is not None
        return (
            f", and no run gains more under its grades than its errors explain ({counted(favour.n_topics, 'topic')} "
            f"show a favour of {_points(favour.visible)} or more with 80% power){losing}"
        )
    needed = "no number of topics" if favour.topics_needed is None else f"about {favour.topics_needed} topics"
    if favour.suspected:
        beyond = {run.run: run.beyond for run in favour.runs}
        names = _and([f"{name} ({_points(beyond[name])})" for name in favour.suspected])
        return f"; {names} may gain more under its grades than its errors explain; {needed} would show it{losing}"
    return (
        f"; with {counted(favour.n_topics, 'topic')}, a favour of {_points(favour.tolerance)} of {favour.measure} for "
        f"one run would be found in fewer than 80 of 100 studies; {needed} would do{losing}"
    )


def _points(value: float) -> str:
    return f"{100 * value:.1f} points"


def _why_not(figures: Worth) -> str:
    if figures.n_unreadable + figures.n_declined > MOST_WITHOUT_GRADE * figures.n_pairs:
        unreadable, declined = figures.n_unreadable / figures.n_pairs, figures.n_declined / figures.n_pairs
        if not declined:
            return f"{100 * unreadable:.0f}% of its answers cannot be read"
        shares = (unreadable, "cannot be read"), (declined, "say that the pair cannot be judged")
        return "of its answers, " + " and ".join(f"{100 * share:.0f}% {reason}" for share, reason in shares if share)
    if (grade := _same_grade(figures)) is not None:
        share = figures.given[grade] / sum(figures.given.values())
        return f"it gives grade {grade} to {'every pair' if share == 1 else f'{100 * share:.1f}% of the pairs'}"
    return f"its grades do not rise with people's (Spearman's rho {_shown(figures.rho.value)})"


def _favoured(favour: Favour) -> str:
    beyond = {run.run: run.beyond for run in favour.runs}
    first = favour.gaining[0]
    return (
        f"favours {_and(favour.gaining)}: {first} gains {beyond[first]:.3f} in {favour.measure} more than the other "
        "runs do and its errors explain"
    )


def _shown(value: Value | None) -> str:
    return "not known" if value is None or isinstance(value, Undefined) else f"{value:.2f}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
