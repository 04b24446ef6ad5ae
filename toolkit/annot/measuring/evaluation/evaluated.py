"""Runs measured by facet and together, averaged over folds or queries, with caveats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.libraries import evaluator_of
from annot.base.names import OF_PAPERS, StudyVocabulary, counted, verb
from annot.base.records import CHANCE, Ranking, grouped
from annot.base.stats.arrays import Array
from annot.base.stats.inference import Reach, interval_of_mean, jackknife_interval, leaving_out
from annot.base.stats.values import Estimate, Interval, Undefined, rounding
from annot.measuring.evaluation.comparisons import (
    ALPHA,
    ComparedTopics,
    RunComparison,
    RunsBeforeTopups,
    Verdict,
    compare_runs,
)
from annot.measuring.evaluation.measures import (
    Evaluation,
    MeasureSelection,
    QueryMeasures,
    SampleCost,
    family_of,
    mean_over_folds,
    ranked_by_any,
)
from annot.measuring.folds import test_folds
from annot.measuring.sampled.estimates import GradedPools

# ----------------------------------------------------------------------------------------------------------------------
# Averages over the queries of runs: by the test folds, over a development fold, or over all queries.
# ----------------------------------------------------------------------------------------------------------------------


TOGETHER = "together"
TEST = "mean of fold means"
TEST_FOLD = "mean over the test fold"
DEV = "mean over the development fold"
PLAIN = "mean over queries"
AVERAGES = ("test", "dev", "plain")
"""Averages over the test folds if there are any; over the first development fold, as in CSFCube's release; over all
queries.
"""
DEV_FOLD = "fold1_dev"


class Average(NamedTuple):
    """Queries of one facet, and how they are averaged."""

    facet: str
    folds: tuple[tuple[str, ...], ...]
    kind: str
    topics: Mapping[str, str] | None
    """Topic of each query; None if queries are independent."""
    topic: str
    """Noun for a topic."""

    @property
    def unit(self) -> str:
        """Name of the sampling units."""
        return "query" if self.topics is None else self.topic

    @property
    def members(self) -> list[str]:
        """Queries of all folds."""
        return [query_id for fold in self.folds for query_id in fold]

    def sizes(self) -> Array:
        """Number of queries that each topic has in each fold: shape (P, S)."""
        return self.sums(dict.fromkeys(self.members, 1.0))

    def sums(self, values: Mapping[str, float]) -> Array:
        """Sum over the queries of each topic in each fold: shape (P, S)."""
        topics, row = np.unique([(self.topics or {}).get(name, name) for name in self.members], return_inverse=True)
        sums = np.zeros((len(topics), len(self.folds)))
        fold = np.repeat(np.arange(len(self.folds)), [len(members) for members in self.folds])
        np.add.at(sums, (row, fold), [values[name] for name in self.members])
        return sums

    def reach(self, best: Mapping[str, QueryMeasures] | None, name: str) -> Reach | None:
        """Limits of the measure on these queries. best: the best order of each query; None if it is not known."""
        if best is None:
            return None
        best_orders = [best[query_id] for query_id in self.members]
        highest = max(query.values[name] for query in best_orders)
        return Reach(highest, float(np.mean([1 / max(1, query.relevant) for query in best_orders])))


def mean_of_all(values: Mapping[str, float], splits: Mapping[str, Mapping[str, tuple[str, ...]]]) -> float:
    """Mean over all queries as `evaluate_runs` takes it with `test`. values: by `query_id`."""
    folds = splits.get("all", {})
    average = average_of(in_test_folds({*values}, folds), TOGETHER, folds, None, "test")
    return mean_over_folds({query_id: {TOGETHER: value} for query_id, value in values.items()}, average.folds)[TOGETHER]


def in_test_folds(members: set[str], folds: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Queries of the test folds if all others are for development; all queries if one is in no fold."""
    tested = {query_id for fold in test_folds(folds) for query_id in fold}
    return tested if tested and members == {query_id for fold in folds.values() for query_id in fold} else members


def average_of(
    members: set[str],
    facet: str,
    splits: Mapping[str, tuple[str, ...]],
    topics: Mapping[str, str] | None,
    average: str,
    words: StudyVocabulary = OF_PAPERS,
) -> Average:
    """Average over the test folds (`fold1_test`, `fold2_test`, ...) if they contain exactly these queries, else
    the plain mean over queries.
    """
    folds, query_ids = test_folds(splits), tuple(sorted(members))
    if average == "test" and folds and sorted(query_id for fold in folds for query_id in fold) == list(query_ids):
        return Average(facet, folds, TEST if len(folds) > 1 else TEST_FOLD, topics, words.topic)
    return Average(facet, (query_ids,), DEV if average == "dev" else PLAIN, topics, words.topic)


def folds_of(splits: Mapping[str, Mapping[str, tuple[str, ...]]], facet: str) -> Mapping[str, tuple[str, ...]]:
    """Folds of the facet, or of all queries."""
    return splits.get("all" if facet == TOGETHER else facet, {})


def averages_of_facets(
    facets: Mapping[str, str],
    topics: Mapping[str, str] | None,
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    average: str,
    words: StudyVocabulary,
) -> tuple[list[Average], list[str]]:
    """Averages over each facet, then together, and a note for each that leaves queries out.

    Raises InputError if one has no queries in a development fold.
    """
    averages, notes = [], []
    names = sorted({*facets.values()})
    for facet in [*names, *([TOGETHER] if len(names) > 1 else [])]:
        folds, label = folds_of(splits, facet), f"{facet}: " if words.faceted else ""
        members = {query_id for query_id in facets if facet in (facets[query_id], TOGETHER)}
        if average == "dev":
            members &= set(folds.get(DEV_FOLD, ()))
            if not members:
                hint = "use `--average plain`" if splits else "draw folds with `annot query folds`"
                raise InputError(f"{label}no query is in a development fold on record", hint=hint)
        if average == "test" and (untested := members - in_test_folds(members, folds)):
            members -= untested
            left = counted(len(untested), "query")
            notes.append(f"{label}leaves out {left} outside the test folds; `--average plain` takes all")
        averages.append(average_of(members, facet, folds, topics, average, words))
    return averages, notes


# ----------------------------------------------------------------------------------------------------------------------
# Sentences that a reader of the figures of runs needs; queries are named once for all runs that share them.
# ----------------------------------------------------------------------------------------------------------------------


MOST_NAMED = 5
"""Largest number of queries that are named within a sentence."""


def warn_nothing_relevant(highest: int, relevant_from: int) -> str:
    """Warning that no grade counts as relevant, with the setting to change; "" if one does.

    highest: the highest grade of a judged document.
    """
    if highest >= relevant_from:
        return ""
    if highest < 1:
        return f"no judged document is relevant, because the highest grade is {highest}: P, R, AP and their like are 0"
    return (
        f"no judged document has grade {relevant_from} or higher, so none counts as relevant, and P, R, AP and their "
        f"like are 0; the highest grade is {highest}, so set `relevant_from = {highest}` ([evaluation] in annot.toml, "
        "or an argument of `annot.evaluate`)"
    )


def caveats(
    evaluations: Mapping[str, Evaluation],
    *,
    unknown: Mapping[str, int],
    unable: Mapping[str, Sequence[str]],
    complete: bool,
    some_relevant: bool,
) -> Iterator[str]:
    """Sentences about runs, by tag.

    unknown: number of queries of the run that are not in the study. unable: the queries that its system cannot rank
    for. complete: True if all of the pools was judged; a pair that was not drawn is not unjudged. some_relevant: True
    if a judged document is relevant.
    """
    for tag, evaluation in evaluations.items():
        missing = sum(len(query.missing) for query in evaluation.queries)
        unjudged = sum(query.unjudged for query in evaluation.queries)
        if missing:
            left = counted(missing, "judged document") if complete else f"{counted(missing, 'document')} of the pools"
            yield f"{tag}: leaves out {left}"
        if unjudged and complete:
            yield f"{tag}: ranks {counted(unjudged, 'unjudged document')}; unjudged counts as not relevant"
        elif unjudged:
            yield f"{tag}: ranks {counted(unjudged, 'document')} of no pool; they count as not relevant"
    for queries, tags in _sharing({tag: run.not_submitted for tag, run in evaluations.items()}):
        score = verb(len(tags), "so its score there is 0", "so their scores there are 0")
        ranks = verb(len(tags), "ranks", "rank")
        yield f"{', '.join(tags)}: {ranks} no documents for {_named(queries, f', {score}')}"
    yield from _cut_to_nothing(evaluations)
    if some_relevant:
        none = "no document is relevant" if complete else "no drawn document is relevant"
        for queries, tags in _sharing({tag: run.without_relevant for tag, run in evaluations.items()}):
            owners = "" if len(tags) == len(evaluations) else f"{', '.join(tags)}: "
            yield f"{owners}{none} for {_named(queries)}"
    for tag, count in unknown.items():
        if count:
            yield f"{tag}: {counted(count, 'query')} of the run {verb(count, 'is', 'are')} not in this study"
    for queries, tags in _sharing(unable):
        owners = verb(len(tags), "its system", "their systems")
        yield f"{', '.join(tags)}: not compared where {', '.join(queries)} count, which {owners} cannot rank for"


def _cut_to_nothing(evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    """Sentences on queries of which a measure takes a share of the list that is less than one document."""
    for name in dict.fromkeys(name for evaluation in evaluations.values() for name in evaluation.mean):
        family, k = family_of("csfcube", name) or (None, 0)
        if family is None or not family.percent:
            continue
        short = {
            tag: [query.query_id for query in run.queries if query.submitted and not family.cut(query.submitted, k)]
            for tag, run in evaluations.items()
        }
        for queries, tags in _sharing(short):
            owners = "" if len(tags) == len(evaluations) else f"{', '.join(tags)}: "
            yield f"{owners}{name} is 0 for {_named(queries, f', where {k}% of the list is less than one document')}"


def _sharing(queries: Mapping[str, Sequence[str]]) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    """Queries, and the tags of the runs that have exactly these; runs without queries are left out."""
    return grouped((tuple(of_run), tag) for tag, of_run in queries.items() if of_run).items()


def _named(query_ids: Sequence[str], then: str = "") -> str:
    """Names of the queries and the clause about them; a long list starts with its number, so that a note can be cut
    short.
    """
    names = ", ".join(query_ids)
    return f"{names}{then}" if len(query_ids) <= MOST_NAMED else f"{counted(len(query_ids), 'query')}{then}: {names}"


# ----------------------------------------------------------------------------------------------------------------------
# Runs measured by facet and together, in both conventions, and compared: with each other, chance, and one assessor.
# ----------------------------------------------------------------------------------------------------------------------


Values = Mapping[str, Mapping[str, float]]
"""Value by query, then measure."""

ONE_ASSESSOR = "one assessor"
PRIMARY = {"csfcube": "NDCG%20", "trec": "nDCG"}
"""Measure on which runs are compared, by convention. It is one, named beforehand: each further one is another chance to
find a difference that is not real. CSFCube's leaderboard is ordered by NDCG%20.
"""


@dataclass(frozen=True, slots=True)
class RunMeasures:
    """Measures of one run on one facet in one convention; fractions, 0..1."""

    convention: str
    facet: str
    run: str
    """Tag of the run, or name of its system if that has several runs."""
    average: str
    """Kind of average over the queries: plain, or the mean of the folds' means."""
    queries: int
    topics: int
    """Topics of these queries: the sampling units."""
    values: dict[str, float]
    intervals: dict[str, Interval | Undefined]
    """Interval of each measure, over whole topics: two facets of a topic share its pool."""
    runs: int = 1
    """Number of runs of the system; the values of a query are their means."""
    spread: dict[str, float] = field(default_factory=dict)
    """Standard deviation of each measure over the runs; empty for one run."""
    over_chance: Interval | Undefined | None = None
    """Interval of the difference from a random order on the same queries, on the measure by which the convention
    compares; of this difference alone, not corrected for the other runs.
    """
    p_over_chance: float | None = None
    """p of this difference, by the step-down maximum of t over all runs of the facet. It decides."""
    above_chance: bool = False
    """True if the difference is positive and its p at most `ALPHA`."""


@dataclass(frozen=True, slots=True)
class VersionScore:
    """Score of one run on one facet of one version of the corpus, and its difference from an earlier version."""

    facet: str
    run: str
    corpus: str
    queries: int
    value: float
    """Fraction, 0..1, as are the differences."""
    interval: Interval | Undefined
    since: str | None = None
    """Last version before with a score of the run; None if there is none, and then there are no differences."""
    difference: Estimate | None = None
    by_documents: Estimate | None = None
    """Part of it that documents make: the difference on the queries that both versions have."""
    by_queries: Estimate | None = None
    """Part of it that queries make which only one of the two versions has; the two parts add up to the difference."""


@dataclass(frozen=True, slots=True)
class EvaluatedRuns:
    """Lines of all runs, the evaluations behind them, how the runs compare, and caveats for the reader."""

    relevant_from: int
    level: float
    """Level of the intervals."""
    lines: tuple[RunMeasures, ...]
    """Lines of the runs, and of a random order that is as long as the longest of them."""
    ceiling: tuple[RunMeasures, ...]
    """Measures of a ranking by one assessor's grades. The final grades rest on them, so they are on the generous side.
    """
    convention: str
    """Convention in which runs are compared."""
    measure: str
    """Measure on which they are compared."""
    comparisons: tuple[RunComparison, ...]
    """Comparisons of all pairs of runs on each facet, then together; the better runs first."""
    verdicts: tuple[Verdict, ...]
    """Verdict on each facet with at least two runs, then together."""
    evaluations: dict[str, dict[str, Evaluation]]
    """Evaluation by run, then convention."""
    notes: tuple[str, ...]
    warning: str = ""
    """Warning that comes before any figure: no grade counts as relevant."""
    sampled: SampleCost | None = None
    """Cost of judging a sample of the pools, if that was done. All figures are then estimates for the whole pools."""
    words: StudyVocabulary = OF_PAPERS
    """Vocabulary of the study."""
    restated: RunsBeforeTopups | None = None
    """Scores before each time that the pools were topped up, and now."""
    averages: tuple[Average, ...] = ()
    """Queries of each facet, and then together, as they are averaged."""
    corpus: str | None = None
    """Version of the corpus, if it has several."""
    by_version: tuple[VersionScore, ...] = ()
    """Scores on each version of the corpus up to this one, if it has several."""

    def evaluator(self, convention: str) -> str:
        """Programs that computed the measures of a convention."""
        return evaluator_of(convention)

    @property
    def several(self) -> bool:
        """True if a system has several runs."""
        return any(line.spread for line in self.lines)


@rounding
def evaluate_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    graded: GradedPools,
    *,
    facets: Mapping[str, str],
    topics: Mapping[str, str] | None,
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    systems: Mapping[str, str],
    left_out: Mapping[str, Collection[str]],
    conventions: tuple[str, ...],
    measures: tuple[str, ...],
    ties: str,
    average: str,
    relevant_from: int,
    level: float,
    seed: int,
    words: StudyVocabulary = OF_PAPERS,
) -> EvaluatedRuns:
    """Evaluate runs by facet and together. A run that covers only some facets is measured and compared on those.

    graded: the pools by whose grades runs are measured. facets, topics: the facet and the topic of each query; topics
    None takes the queries as independent. systems: the system of each run; a run without one is its own system, and
    several runs of a system are one line and one side of a comparison. left_out: by run, the queries that its system
    cannot rank for; it is not measured on their facets, nor together.
    measures: shown besides the conventions' own; runs are compared on the first of them, in the first of `conventions`
    (without one, on that of `PRIMARY`). ties: one of `annot.measuring.evaluation.measures.TIES`. average: one of
    AVERAGES. seed: of the tests between runs. words: names of topics in texts.
    """
    evaluations: dict[str, dict[str, Evaluation]] = {}
    for tag, rankings in runs.items():
        queries = _queries_of(tag, rankings, graded, facets, left_out.get(tag, ()))
        lists = {query_id: ranking for query_id, ranking in rankings.items() if query_id in facets}
        evaluations[tag] = {
            convention: graded.measured(
                lists, queries, MeasureSelection(convention, measures, relevant_from), ties=ties
            )
            for convention in conventions
        }
    notes = list(
        caveats(
            {tag: by_convention[conventions[0]] for tag, by_convention in evaluations.items()},
            unknown={tag: len(run.keys() - facets.keys()) for tag, run in runs.items()},
            unable={tag: sorted({*graded.query_ids}.intersection(left_out.get(tag, ()))) for tag in runs},
            complete=graded.whole,
            some_relevant=graded.highest >= relevant_from,
        )
    )
    if any(len({len(run[name]) for run in runs.values() if run.get(name)}) > 1 for name in graded.query_ids):
        notes.append(f"{CHANCE}: as long as the longest run; each run is compared with one of its own length")
    averages, left_out_of_folds = averages_of_facets(
        {name: facets[name] for name in graded.query_ids}, topics, splits, average, words
    )
    notes += left_out_of_folds
    primary = measures[0] if measures else PRIMARY[conventions[0]]
    lines: list[RunMeasures] = []
    ceiling: list[RunMeasures] = []
    comparisons: list[RunComparison] = []
    verdicts: list[Verdict] = []
    documents = ranked_by_any(runs.values())
    for convention in conventions:
        selection = MeasureSelection(convention, graded.columns(convention, measures), relevant_from)
        one_assessor = graded.one_assessor(selection)
        figures = _Figures(runs, documents, evaluations, graded, selection, systems, level=level, seed=seed)
        beyond_chance = next((name for name in measures if name in selection.names), PRIMARY[convention])
        for averaged in averages:
            lines += figures.lines(averaged, beyond_chance)
            judged = one_assessor.keys() & set(averaged.members)
            if judged:
                of_judged = average_of(judged, averaged.facet, folds_of(splits, averaged.facet), topics, average, words)
                ceiling.append(figures.line(ONE_ASSESSOR, [one_assessor], of_judged))
            if convention == conventions[0] and len(figures.tags_on(averaged)) > 1:
                pairs, verdict = figures.comparisons(averaged, primary)
                comparisons += pairs
                verdicts.append(verdict)
    return EvaluatedRuns(
        relevant_from=relevant_from,
        level=level,
        lines=tuple(lines),
        ceiling=tuple(ceiling),
        convention=conventions[0],
        measure=primary,
        comparisons=tuple(comparisons),
        verdicts=tuple(verdicts),
        evaluations=evaluations,
        notes=tuple(notes),
        warning=warn_nothing_relevant(graded.highest, relevant_from),
        words=words,
        averages=tuple(averages),
    )


@rounding
def version_scores(evaluated: Mapping[str, EvaluatedRuns], systems: Mapping[str, str]) -> tuple[VersionScore, ...]:
    """Scores of all runs on each version of the corpus, the run that is best on the newest first.

    evaluated: by version, the oldest first, on one measure. systems: the system of each run, as for `evaluate_runs`.

    The difference is S(new) - S(old), each the mean over the queries of its version. Its part by documents is
    M(new) - M(old), where M is the mean over the queries that both versions have: on these only the documents and
    their grades differ. The rest is (S(new) - M(new)) - (S(old) - M(old)), which is 0 if both have the same queries.
    Intervals are the jackknife's over the topics of these queries: a topic leaves all of the means at once.
    """
    newest = list(evaluated.values())[-1]
    last: dict[tuple[str, str], tuple[VersionScore, _Weighed]] = {}
    scores = []
    for corpus, of_version in evaluated.items():
        values = {
            tag: {query.query_id: query.values for query in by_convention[newest.convention].queries}
            for tag, by_convention in of_version.evaluations.items()
        }
        tags_of = grouped((systems.get(tag, tag), tag) for tag in values)
        averages = {average.facet: average for average in of_version.averages}
        for line in of_version.lines:
            if line.convention == newest.convention and line.run != CHANCE:
                average, key = averages[line.facet], (line.facet, line.run)
                covering = [values[tag] for tag in tags_of[line.run] if values[tag].keys() >= {*average.members}]
                figures = line.values[newest.measure], line.intervals[newest.measure]
                now = _Weighed(average, _means(covering, average, newest.measure))
                score = VersionScore(*key, corpus, line.queries, *figures)
                scores.append(_since(score, now, *last[key], level=newest.level) if key in last else score)
                last[key] = score, now
    facets = [average.facet for average in newest.averages]
    return tuple(sorted(scores, key=lambda row: (facets.index(row.facet), -last[row.facet, row.run][0].value, row.run)))


class _Weighed(NamedTuple):
    """Values of a run by query, and how they are averaged."""

    average: Average
    values: Mapping[str, float]

    def leave_one_out(self, queries: Collection[str]) -> tuple[float, dict[str, float]]:
        """Mean of the folds' means over these queries, and the same without each topic."""
        folds = (tuple(name for name in fold if name in queries) for fold in self.average.folds)
        part = self.average._replace(folds=tuple(filter(None, folds)))
        topics = sorted({(part.topics or {}).get(name, name) for name in part.members})
        mean, without = leaving_out(part.sums(self.values), part.sizes()) if topics else (0.0, ())
        return mean, dict(zip(topics, map(float, without), strict=True))


def _since(score: VersionScore, new: _Weighed, before: VersionScore, old: _Weighed, *, level: float) -> VersionScore:
    """The score with its difference from the one before, and the parts of it."""
    members, members_before = {*new.average.members}, {*old.average.members}
    both = members & members_before

    def sum_of(*terms: tuple[int, _Weighed, Collection[str]]) -> Estimate:
        means = [(sign, *weighed.leave_one_out(queries)) for sign, weighed, queries in terms]
        topics = sorted({topic for _, _, without in means for topic in without})
        without = [sum(sign * left.get(topic, mean) for sign, mean, left in means) for topic in topics]
        value = sum(sign * mean for sign, mean, _ in means)
        return Estimate(value, jackknife_interval(value, np.array(without), level=level, unit=new.average.unit))

    none = Undefined("the two versions have the same queries" if both else "the two versions have no query in common")
    whole, nothing = sum_of((1, new, members), (-1, old, members_before)), Estimate(0.0, none)
    parts = (whole, nothing) if both == members == members_before else (nothing, whole)
    if both and parts[0] is nothing:
        documents = (1, new, both), (-1, old, both)
        rest = (1, new, members), (-1, new, both), (-1, old, members_before), (1, old, both)
        parts = sum_of(*documents), sum_of(*rest)
    return replace(score, since=before.corpus, difference=whole, by_documents=parts[0], by_queries=parts[1])


def _queries_of(
    tag: str,
    rankings: Mapping[str, Ranking],
    graded: GradedPools,
    facets: Mapping[str, str],
    unable: Collection[str],
) -> set[str]:
    """Graded queries of the facets that the run covers. Raises InputError if it covers none."""
    covered = {facets[query_id] for query_id in rankings if query_id in facets}
    queries = {name for name in graded.query_ids if facets[name] in covered and name not in unable}
    if not queries:
        raise InputError(
            f"run {tag}: the qrels have none of its queries",
            faults=[f"found {', '.join(sorted(rankings)[:3])}", f"expected {', '.join(sorted(facets)[:3])}"],
        )
    return queries


class _Figures:
    """Values of all runs in one convention, by query, and the yardsticks for them."""

    def __init__(
        self,
        runs: Mapping[str, Mapping[str, Ranking]],
        documents: Mapping[str, Collection[str]],
        evaluations: Mapping[str, Mapping[str, Evaluation]],
        graded: GradedPools,
        selection: MeasureSelection,
        systems: Mapping[str, str],
        *,
        level: float,
        seed: int,
    ) -> None:
        """Look up the values of the runs in `evaluations`, and measure random orders of `documents` and the best."""
        self.selection, self.level, self.seed = selection, level, seed
        self.tags_of = grouped((systems.get(tag, tag), tag) for tag in runs)
        """Runs of each system."""
        self.values: dict[str, Values] = {
            tag: {query.query_id: query.values for query in by_convention[selection.convention].queries}
            for tag, by_convention in evaluations.items()
        }
        """Values by run, then query."""
        best = graded.best_order(selection)
        self.best = None if best is None else {query.query_id: query for query in best.queries}
        """Best order of each query; None if it is not known."""
        lengths = {tag: {name: len(run.get(name, ())) for name in graded.query_ids} for tag, run in runs.items()}
        longest = {name: max((of_run[name] for of_run in lengths.values()), default=0) for name in graded.query_ids}
        cuts = {cut for of_run in (longest, *lengths.values()) for cut in of_run.items()}
        values = graded.chance(documents, cuts, selection)
        self.chance: dict[str, Values] = {
            tag: {name: values[name, length] for name, length in of_run.items()} for tag, of_run in lengths.items()
        }
        """Values of a random order of all that the runs rank, by run, cut at its length."""
        self.longest: Values = {name: values[name, length] for name, length in longest.items()}
        """Values of a random order that is cut at the length of the longest run."""

    def tags_on(self, average: Average) -> dict[str, list[str]]:
        """Systems with runs that cover all of these queries, and those runs."""
        tags = {
            system: [tag for tag in tags if self.values[tag].keys() >= {*average.members}]
            for system, tags in self.tags_of.items()
        }
        return {system: covering for system, covering in tags.items() if covering}

    def line(self, run: str, runs: Sequence[Values], average: Average) -> RunMeasures:
        """Line of a system with these runs."""
        mean = {name: _means(runs, average, name) for name in self.selection.names}
        by_query = {query_id: {name: mean[name][query_id] for name in mean} for query_id in average.members}
        means_of_runs = [mean_over_folds(values, average.folds) for values in runs]
        sizes = average.sizes()
        return RunMeasures(
            convention=self.selection.convention,
            facet=average.facet,
            run=run,
            average=average.kind,
            queries=len(average.members),
            topics=len(sizes),
            values=mean_over_folds(by_query, average.folds),
            intervals={
                name: interval_of_mean(
                    average.sums(values), sizes, average.reach(self.best, name), level=self.level, unit=average.unit
                )
                for name, values in mean.items()
            },
            runs=len(runs),
            spread={
                name: float(np.std([means[name] for means in means_of_runs], ddof=1))
                for name in self.selection.names
                if len(runs) > 1
            },
        )

    def lines(self, average: Average, measure: str) -> list[RunMeasures]:
        """Lines of all systems, with their differences from a random order on `measure`, and that of a random order."""
        tags_on, topics = self.tags_on(average), self._topics(average, measure)
        sums, chance = (
            {system: self._sums(values, tags, average, measure) for system, tags in tags_on.items()}
            for values in (self.values, self.chance)
        )
        differences = {system: sums[system] - chance[system] for system in tags_on}
        p_values = topics.p_over_chance(differences)
        lines = []
        for system, tags in tags_on.items():
            p = p_values[system]
            (alone,) = topics.p_over_chance({system: differences[system]}).values()
            interval = topics.interval_beside_test(sums[system], chance[system], p_value=alone, holds=p <= ALPHA)
            above = p <= ALPHA and float(topics.shares(differences[system]).sum()) > 0
            line = self.line(system, [self.values[tag] for tag in tags], average)
            lines.append(replace(line, over_chance=interval, p_over_chance=p, above_chance=above))
        return [*lines, self.line(CHANCE, [self.longest], average)]

    def comparisons(self, average: Average, measure: str) -> tuple[tuple[RunComparison, ...], Verdict]:
        """Comparison of all systems on `measure`."""
        return compare_runs(
            average.facet,
            {system: self._sums(self.values, tags, average, measure) for system, tags in self.tags_on(average).items()},
            self._topics(average, measure),
            convention=self.selection.convention,
            measure=measure,
        )

    def _topics(self, average: Average, measure: str) -> ComparedTopics:
        reach = average.reach(self.best, measure)
        return ComparedTopics(average.sizes(), reach, average.unit, self.level, self.seed)

    def _sums(self, values: Mapping[str, Values], tags: Sequence[str], average: Average, measure: str) -> Array:
        return average.sums(_means([values[tag] for tag in tags], average, measure))


def _means(runs: Sequence[Values], average: Average, name: str) -> dict[str, float]:
    """Value of each query, the mean over the runs of a system."""
    if len(runs) == 1:
        return {query_id: runs[0][query_id][name] for query_id in average.members}
    return {query_id: float(np.mean([values[query_id][name] for values in runs])) for query_id in average.members}
