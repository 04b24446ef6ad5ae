"""The rankings of the runs by grading, and what changes between them."""

from __future__ import annotations

from dataclasses import dataclass

from annot.base.stats.values import Undefined, Value


@dataclass(frozen=True, slots=True)
class EffectSettings:
    """What a figure depends on besides the data."""

    convention: str
    measure: str
    """A measure of the convention, as `annot.measuring.evaluation.gradings.MEASURES` names them."""
    relevant_from: int
    n_random: int
    """So often one assessor of each pair is chosen at random."""
    alpha: float
    """At this p or below a difference is significant, corrected for the number of pairs of runs."""
    permutations: int
    """Of the test of all pairs (`annot.base.stats.max_t`), at most; its units are query papers."""
    level: float
    """The middle share of the random assessors that a range shows."""
    seed: int


@dataclass(frozen=True, slots=True)
class GradingRanking:
    """The runs ranked under one grading."""

    name: str
    """`final`, `A`, `B`, or an assessor."""
    means: dict[str, float]
    """The measure by run, a fraction; best first, equal ones by tag."""
    queries: tuple[str, ...]
    n_pairs: int
    n_ungraded: int
    """Pairs of these queries that came back without a grade; they count as not relevant, as unjudged ones do."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one run is ahead of another under one grading."""

    mean: float
    p_corrected: float
    """By the step-down maximum of t over all pairs of runs."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs in one order under one grading and in the other under the other, significantly so in at least one."""

    better: str
    worse: str
    """By the first grading."""
    first: Difference
    second: Difference
    significant_in: tuple[str, ...]
    """Of the two gradings."""


@dataclass(frozen=True, slots=True)
class GradingComparison:
    """Two gradings' rankings of the runs, over the queries that both have."""

    first: str
    second: str
    n_queries: int
    means: dict[str, dict[str, float]]
    """By grading, the measure by run over these queries: what tau compares. Best first, equal ones by tag."""
    n_run_pairs: int
    tau: Value
    reversed_pairs: int
    significant: dict[str, int]
    """By grading, the pairs of runs whose difference is significant."""
    swaps: tuple[Swap, ...]


@dataclass(frozen=True, slots=True)
class RandomAssessorSwap:
    """Two runs that change places in some choices, significantly so under the final grades or under the choice."""

    better: str
    worse: str
    """By the final grades."""
    final: Difference
    n_reversed: int
    n_significant: int
    """Choices in which they change places; of these, those in which one order or the other is significant."""


@dataclass(frozen=True, slots=True)
class RandomAssessors:
    """The rankings where one assessor of each pair is chosen at random, each against that under the final grades."""

    n: int
    tau: Value
    """The mean over the choices."""
    tau_range: tuple[float, float] | Undefined
    """The middle `level` share of the choices: how far chance in who judged moves tau on these queries."""
    tau_min: Value
    same_order: int
    """Choices that rank the runs exactly as the final grades do."""
    undefined: int
    """Choices under which tau has no value, because all runs tie."""
    means: dict[str, tuple[float, float]]
    """By run, the middle `level` share of its means over the choices."""
    with_swap: int
    """Choices with at least one significant swap."""
    swaps: tuple[RandomAssessorSwap, ...]


@dataclass(frozen=True, slots=True)
class AssessorEffect:
    """How far the ranking of the runs depends on who judged, with everything that rests on."""

    settings: EffectSettings
    missing: str
    """The policy for missing judgements: `zero`, whatever the agreement of the study counts them as."""
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    n_pairs: int
    rankings: tuple[GradingRanking, ...]
    comparisons: tuple[GradingComparison, ...]
    random_assessors: RandomAssessors
    notes: tuple[str, ...]
    """What was left out and why, in sentences."""
