"""Verdicts by rules, and notices where something in the study is not true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from annot.base.names import called
from annot.base.stats.values import Interval, Undefined
from annot.judging.states import SHOWN, THINGS, StateFinding, remembered_findings
from annot.measuring.assessor_effect import FINAL as FINAL_GRADES
from annot.measuring.assessor_effect import FIRST, SECOND, AssessorEffect
from annot.measuring.evaluation.comparisons import FEWEST_PAPERS, Verdict
from annot.measuring.evaluation.evaluated import CHANCE, TOGETHER, EvaluatedRuns, RunMeasures
from annot.publishing.report.cells import DETECTABLE, MEASURE, TAU, Number
from annot.publishing.report.tables import sentence
from annot.study.provenance import States
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# What a page says at a place that rests on something of the study that is not true.
# ----------------------------------------------------------------------------------------------------------------------


ASKED = frozenset({"corpus", "rankings", "pools", "index"})
"""What was put before people, and how it was found."""
JUDGED = frozenset({"judgements", "plan", "guidelines", "blindness"})
FINAL = frozenset({"judgements", "plan", "guidelines", "qrels"})
EVALUATED = frozenset({"judgements", "qrels", "runs", "rankings", "pools", "index"})
RESTS_ON: dict[str, frozenset[str]] = {
    # The questions of the report's first screen.
    "what": ASKED | {"count"},
    "trust": JUDGED,
    "best": EVALUATED,
    "next": frozenset(),
    # Its chapters, by anchor.
    "queries": frozenset({"count", "corpus", "facets"}),
    **dict.fromkeys(("examples", "examples-by-id"), frozenset({"corpus"})),
    "pools": ASKED,
    **dict.fromkeys(("agreement", "coefficients", "binarised", "guidelines", "agreement-queries"), JUDGED),
    **dict.fromkeys(("adjudication", "assessors", "judgements", "training", "substudy"), JUDGED),
    **dict.fromkeys(("grades", "final-grades"), FINAL | {"names"}),
    **dict.fromkeys(("opinions", "opinions-all"), FINAL),
    **dict.fromkeys(("runs", "measures", "analyses", "effect", "orders"), EVALUATED),
    **dict.fromkeys(("rules", "versions"), frozenset()),
    # Pages.
    "status": frozenset({"plan", "judgements", "names", "facets"}),
    "browse": FINAL | EVALUATED | ASKED | {"names", "facets"},
    "card": FINAL | EVALUATED | ASKED | {"count", "names", "facets"},
    # The questions of the datasheet that the records answer.
    "composition.count": ASKED | FINAL | {"count"},
    "composition.content": frozenset({"corpus"}),
    "composition.label": FINAL | {"names", "facets"},
    "composition.errors": JUDGED,
    "collection.mechanisms": ASKED | {"plan", "guidelines", "sent"},
    "collection.involved": frozenset({"plan", "judgements"}),
}
"""What of `annot.judging.states.THINGS` each place of a page rests on: it says nothing true without."""


def notices(
    findings: Iterable[StateFinding], rests_on: Collection[str], *, shown: int | None = SHOWN
) -> tuple[str, ...]:
    """A sentence for each state in which something that the place rests on is untrue.

    rests_on: of `annot.judging.states.THINGS`. shown: how many papers a sentence names; None for all.
    """
    return tuple(
        sentence(
            f"states.{finding.state.notice}",
            finding=finding,
            things=[words for thing, words in THINGS.items() if thing in finding.state.untrue & {*rests_on}],
            shown=shown,
        )
        for finding in findings
        if finding.state.untrue & {*rests_on}
    )


def by_place(findings: Iterable[StateFinding]) -> dict[str, tuple[str, ...]]:
    """The sentences of every place that has any; the datasheet's count of papers names all that are left out."""
    found = tuple(findings)
    shown = {place: None if place == "composition.count" else SHOWN for place in RESTS_ON}
    told = {place: notices(found, rests_on, shown=shown[place]) for place, rests_on in RESTS_ON.items()}
    return {place: sentences for place, sentences in told.items() if sentences}


def tell_untrue(ws: Workspace, states: States, place: str, *, tell: Callable[[str], None]) -> None:
    """Tell what is not true of what a command prints. states: of the study that it read."""
    rests_on = RESTS_ON[place]
    for notice in notices(remembered_findings(ws, states, on=rests_on), rests_on):
        tell(notice)


def unknown(findings: Iterable[StateFinding], rests_on: Collection[str]) -> str:
    """The verdict where what it would follow from is untrue; empty if it all holds."""
    says = [one.state.says for one in findings if one.state.refused and one.state.untrue & {*rests_on}]
    return sentence("states.verdict", says=says) if says else ""


# ----------------------------------------------------------------------------------------------------------------------
# What follows from the figures: every verdict of the first screen, by rules with all their thresholds in this place.
#
# A rule looks at the interval, never at the figure alone. The rules are printed in the report's appendix.
# ----------------------------------------------------------------------------------------------------------------------


TENTATIVE, RELIABLE = 0.667, 0.8
"""Krippendorff's alpha from which on conclusions are tentative, and from which on data are reliable (Krippendorff 2004,
Content Analysis, second edition, page 241)."""
SAME_ORDER = 0.9
"""Kendall's tau from which on two rankings of the same runs count as the same (Voorhees 2001, Evaluation by Highly
Relevant Documents, SIGIR, page 77)."""
MOST_REVERSED = 0.05
"""The share of random choices of an assessor for each topic in which a significant difference may turn round."""
LOWEST_PLACE = 2
"""The lowest place to which the best run may fall where it does not matter who judges."""
Reliability = Literal["reliable", "tentative", "uncertain", "unreliable", "unknown"]
Robustness = Literal["robust", "order", "fragile", "untried", "unknown"]
"""Whether results stay whoever judges: all of them, the significant differences but not the order of the runs, or not
even those."""


@dataclass(frozen=True, slots=True)
class Best:
    """The run with the highest figure, and how certain that is."""

    verdict: Verdict
    """Which runs it beats; without any run, pair or query paper if there is nothing to compare with."""
    convention: str
    measure: str
    figure: Number
    queries: int
    average: str
    """How the queries were averaged."""
    chance: Number
    runs: int
    too_few: bool
    """Whether there are too few topics for any difference, between runs or from a random order, to hold."""
    topics: int
    above_chance: bool
    """Whether its difference from a random order is shown to be positive."""
    like_chance: tuple[str, ...]
    """Runs, it among them, whose difference from a random order is not shown to be positive; none if too few topics."""
    detectable: Number
    """The difference that this collection would have found, in points of 100."""

    fewest: int = FEWEST_PAPERS
    """Query papers from which on a difference can hold."""

    @property
    def facet(self) -> str:
        """The facet that it is about; "" for all queries."""
        return "" if self.verdict.facet == TOGETHER or not called().faceted else self.verdict.facet

    @property
    def certain(self) -> bool:
        """Whether its lead on every other run holds."""
        return not self.verdict.behind and not self.verdict.as_good


def reliability(alpha: Number) -> Reliability:
    """What the grades of one assessor are good for, by the interval of alpha before adjudication."""
    if alpha.ends is None or alpha.lacking:
        return "unknown"
    low, high = alpha.ends
    if low >= RELIABLE:
        return "reliable"
    if low >= TENTATIVE:
        return "tentative"
    return "unreliable" if high < TENTATIVE else "uncertain"


def robustness(
    effect: AssessorEffect | Undefined, evaluated: EvaluatedRuns | Undefined, *, judged_twice: int
) -> Robustness:
    """Whether the comparison of runs would come out the same with other assessors; `judged_twice` counts pairs.

    Untried: no difference between runs holds under the final grades, so there is no result that could turn round.
    """
    if isinstance(effect, Undefined) or isinstance(evaluated, Undefined) or not judged_twice:
        return "unknown"
    if not any(comparison.holds for comparison in evaluated.comparisons):
        return "untried"
    changes = order_changes(effect)
    if changes.reversals or effect.random_assessors.with_swap > MOST_REVERSED * effect.random_assessors.n:
        return "fragile"
    return "robust" if changes.lowest_tau >= SAME_ORDER and changes.lowest_place <= LOWEST_PLACE else "order"


@dataclass(frozen=True, slots=True)
class OrderChanges:
    """How far the order of the runs moves by other grades than the final ones: those of random assessors, and those of
    the first and of the second assessor of each pair (`A` and `B`), if these cover all queries."""

    best: str
    """The best run by the final grades."""
    taus: tuple[tuple[str, float], ...]
    """(`A` or `B`, Kendall's tau with the final order)."""
    lowest_tau: float
    """Of these, and of the middle share of random choices; -1 if none is known."""
    places: tuple[tuple[str, int], ...]
    """(`A` or `B`, the place of the best run), if it is not the first."""
    lowest_place: int
    """Of the best run; of the middle share of random choices, too."""
    reversals: tuple[tuple[str, int], ...]
    """(`A` or `B`, significant differences that are reversed), if there are any."""


def order_changes(effect: AssessorEffect) -> OrderChanges:
    """How far the order of the runs moves, at most."""
    whole = {
        one.first: one
        for one in effect.comparisons
        if one.first in (FIRST, SECOND) and one.second == FINAL_GRADES and one.n_queries == len(effect.queries)
    }
    best, random = next(iter(effect.rankings[0].means)), effect.random_assessors
    taus = [(name, one.tau) for name, one in whole.items() if not isinstance(one.tau, Undefined)]
    means = {name: one.means[name] for name, one in whole.items()}
    places = [(name, 1 + sum(mean > given[best] for mean in given.values())) for name, given in means.items()]
    middle = [] if isinstance(random.tau_range, Undefined) else [random.tau_range[0]]
    return OrderChanges(
        best=best,
        taus=tuple(taus),
        lowest_tau=min([*middle, *(value for _, value in taus)], default=-1.0),
        places=tuple((name, place) for name, place in places if place > 1),
        lowest_place=max([random.best_places[1], *(place for _, place in places)]),
        reversals=tuple((name, len(one.swaps)) for name, one in whole.items() if one.swaps),
    )


def tau(effect: AssessorEffect) -> Number:
    """Tau with the final ranking if an assessor is chosen at random for each topic: the mean and the middle share."""
    mixed = effect.random_assessors
    middle = mixed.tau_range
    found = None if isinstance(middle, Undefined) else Interval(*middle, effect.settings.level, "random assessors")
    return Number(mixed.tau, TAU, found)


def best(evaluated: EvaluatedRuns | Undefined) -> Best | None:
    """The best run on all queries; None if there is none."""
    if isinstance(evaluated, Undefined) or all(line.run == CHANCE for line in evaluated.lines):
        return None
    lines, chance = of_all(evaluated)
    first = min(lines, key=lambda line: (-line.values[evaluated.measure], line.run))
    alone = Verdict(
        first.facet, first.run, (), (), (), papers=0, pairs=0, smallest_p=0.0, critical=None, detectable=None
    )
    verdict = next((one for one in evaluated.verdicts if one.facet == first.facet), alone)
    too_few = first.topics < FEWEST_PAPERS
    return Best(
        verdict=verdict,
        convention=evaluated.convention,
        measure=evaluated.measure,
        figure=figure(first, evaluated.measure),
        queries=first.queries,
        average=first.average,
        chance=figure(chance, evaluated.measure),
        runs=len(lines),
        too_few=too_few,
        topics=first.topics,
        above_chance=first.above_chance,
        like_chance=tuple(line.run for line in lines if not line.above_chance and not too_few),
        detectable=Number(verdict.detectable, DETECTABLE),
    )


def of_all(evaluated: EvaluatedRuns) -> tuple[list[RunMeasures], RunMeasures]:
    """The runs on all queries together, by the convention in which they are compared, and chance on the same.

    Where no run covers all facets, those of the last facet that has one.
    """
    lines = [line for line in evaluated.lines if line.convention == evaluated.convention]
    facet = [line.facet for line in lines if line.run != CHANCE][-1]
    there = {line.run: line for line in lines if line.facet == facet}
    chance = there.pop(CHANCE)
    return list(there.values()), chance


def figure(line: RunMeasures, measure: str) -> Number:
    """A measure of a run, in percent, with its interval; of a system with several runs, with their spread."""
    spread = f"± {100 * line.spread[measure]:.1f}" if line.spread else ""
    return Number(line.values[measure], MEASURE, line.intervals[measure], after=spread)
