"""The effect of the assessor on the order of the runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Decision, Judgement, Qrel, Ranking, as_trec_eval, grouped
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import generator, max_t_tests, parts_of_mean, randomisation_tests, tau_b_of_rows
from annot.base.stats.values import Undefined, Value, rounding
from annot.measuring.agreement.estimates import QueryRatings, ratings_of
from annot.measuring.evaluation.measures import GradedList, measured
from annot.measuring.sampled.estimates import DrawnPairs

# ----------------------------------------------------------------------------------------------------------------------
# Rankings of the runs by grading, the changes between them, and the effect of one assessor of each topic, chosen at
# random.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EffectSettings:
    """Settings of the figures."""

    convention: str
    measure: str
    """Measure of the convention, as `annot.measuring.evaluation.measures.MEASURES` names them."""
    relevant_from: int
    n_random: int
    """Number of random choices of one assessor for each topic."""
    alpha: float
    """Largest p of a significant difference, corrected for the number of pairs of runs."""
    permutations: int
    """Largest number of permutations of the test of all pairs (`annot.base.stats.inference`); its units are
    topics.
    """
    level: float
    """Middle share of the random assessors that a range shows."""
    seed: int


@dataclass(frozen=True, slots=True)
class GradingRanking:
    """Ranking of the runs under one grading."""

    name: str
    """Name of the grading: `final`, `A`, `B`, or an assessor."""
    means: dict[str, float]
    """Measure by run, a fraction; best first, equal ones by tag."""
    queries: tuple[str, ...]
    n_pairs: int
    n_ungraded: int
    """Pairs of these queries that came back without a grade; they count as not relevant, as unjudged ones do."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Lead of one run over another under one grading."""

    mean: float
    p_corrected: float
    """p by the step-down maximum of t over all pairs of runs."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs in one order under one grading and in the other under the other, significantly so in at least one."""

    better: str
    worse: str
    """Run that is worse by the first grading."""
    first: Difference
    second: Difference
    significant_in: tuple[str, ...]
    """Gradings, of the two, under which the difference is significant."""


@dataclass(frozen=True, slots=True)
class GradingComparison:
    """Comparison of two gradings' rankings of the runs, over the queries that both have."""

    first: str
    second: str
    n_queries: int
    means: dict[str, dict[str, float]]
    """Measure by grading, then run over these queries, which tau compares. Best first, equal ones by tag."""
    n_run_pairs: int
    tau: Value
    reversed_pairs: int
    significant: dict[str, int]
    """Number of pairs of runs whose difference is significant, by grading."""
    swaps: tuple[Swap, ...]


@dataclass(frozen=True, slots=True)
class RandomAssessorSwap:
    """Two runs that change places in some choices, significantly so under the final grades or under the choice."""

    better: str
    worse: str
    """Run that is worse by the final grades."""
    final: Difference
    n_reversed: int
    n_significant: int
    """Choices in which they change places; of these, those in which one order or the other is significant."""


@dataclass(frozen=True, slots=True)
class RandomAssessors:
    """Rankings if one assessor of each topic is chosen at random, each against that under the final grades."""

    n: int
    tau: Value
    """Mean over the choices."""
    tau_range: tuple[float, float] | Undefined
    """Middle `level` share of the choices: the effect of chance in who judged on tau on these queries."""
    tau_min: Value
    same_order: int
    """Choices that rank the runs exactly as the final grades do."""
    undefined: int
    """Choices under which tau has no value, because all runs tie."""
    best_places: tuple[int, int]
    """Range of places of the best run by the final grades, in the middle `level` share of the choices."""
    means: dict[str, tuple[float, float]]
    """Middle `level` share of a run's means over the choices, by run."""
    with_swap: int
    """Choices with at least one significant swap."""
    swaps: tuple[RandomAssessorSwap, ...]


@dataclass(frozen=True, slots=True)
class AssessorEffect:
    """Effect of the choice of assessors on the ranking of the runs, with all figures behind it."""

    settings: EffectSettings
    missing: str
    """Policy for missing judgements: `zero`, whatever the policy for the study's agreement."""
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    n_pairs: int
    rankings: tuple[GradingRanking, ...]
    comparisons: tuple[GradingComparison, ...]
    random_assessors: RandomAssessors
    notes: tuple[str, ...]
    """Parts that were left out and why, in sentences."""


FIGURES = 12
"""Digits after the point at which two runs' means tie; a smaller difference is rounding."""
MARGIN = 2
"""Factor of alpha beyond the chance in a p whose signs are drawn."""


def means_of(values: Array) -> Array:
    """Mean over queries, the last axis."""
    return np.asarray(np.round(values.mean(axis=-1), FIGURES))


Differences = tuple[Array, Array]
"""Mean difference of each pair of runs, above 0 if the first is better, and its p corrected for the number of pairs,
shape (pairs,) each.
"""


def ways_of(differences: Differences) -> Integers:
    """Sign of each difference: 1 if the first of two runs is better, -1 if the second is, 0 if they tie."""
    return np.sign(differences[0]).astype(np.int64)


def seen(differences: Differences, position: int, way: int) -> Difference:
    """Difference of one pair, as seen from the run that is better according to `way`."""
    means, p_values = differences
    return Difference(way * float(means[position]), float(p_values[position]))


def differences_between(
    values: Array, topics: Sequence[str], pairs: Sequence[tuple[int, int]], settings: EffectSettings
) -> Differences:
    """Test each pair of runs as `annot evaluate` does, over all pairs. values: shape (runs, queries). topics: of each
    query.

    Topics are the units, as their facets share a pool and change sides together.
    """
    if not pairs:
        return np.zeros(0), np.ones(0)
    parts = parts_of_mean(np.stack([values[a] - values[b] for a, b in pairs]), topics)
    tests = max_t_tests(parts, alpha=settings.alpha, permutations=settings.permutations, seed=settings.seed)
    return np.round(parts.mean(axis=1), FIGURES), tests.p_values


def may_hold(differences: Array, topics: Sequence[str], settings: EffectSettings) -> Mask:
    """Differences that may hold, for which the test of all pairs is worth its time: it gives no p below that of the
    difference alone, here drawn.

    differences: shape (K, queries).
    """
    parts = parts_of_mean(differences, topics)
    p_values = randomisation_tests(parts, exact_up_to=0, permutations=settings.permutations, seed=settings.seed)
    return np.asarray(p_values <= MARGIN * settings.alpha)


def no_tau(n_runs: int) -> Undefined:
    """Reason why Kendall's tau has no value."""
    if n_runs < 2:
        return Undefined(f"{counted(n_runs, 'run')}; a ranking needs at least two")
    return Undefined(f"all {n_runs} runs tie under one of the gradings")


def random_assessor_rankings(
    values: Array, final: Array, topics: Sequence[str], tags: Sequence[str], settings: EffectSettings
) -> RandomAssessors:
    """Rankings under random choices. values: shape (runs, choices, queries); final: shape (runs, queries); topics: of
    each query.
    """
    n, level = settings.n_random, settings.level
    tails = [(1 - level) / 2, (1 + level) / 2]
    means, final_means = means_of(values).T, means_of(final)[None, :]
    taus = tau_b_of_rows(means, final_means)
    taus = taus[~np.isnan(taus)]
    why = no_tau(len(tags))
    low, high = map(float, np.quantile(taus, tails)) if len(taus) else (np.nan, np.nan)
    spread = np.quantile(means, tails, axis=0).T.tolist()
    swaps, swapped = _swaps(values, final, topics, tags, settings)
    return RandomAssessors(
        n=n,
        tau=float(taus.mean()) if len(taus) else why,
        tau_range=(low, high) if len(taus) else why,
        tau_min=float(taus.min()) if len(taus) else why,
        same_order=int((_order(means) == _order(final_means)).all(axis=1).sum()),
        undefined=n - len(taus),
        best_places=_places_of_best(means, final_means[0], tails),
        means={tag: (least, most) for tag, (least, most) in zip(tags, spread, strict=True)},
        with_swap=int(swapped.sum()),
        swaps=swaps,
    )


def _swaps(
    values: Array, final: Array, topics: Sequence[str], tags: Sequence[str], settings: EffectSettings
) -> tuple[tuple[RandomAssessorSwap, ...], Mask]:
    """Swaps by pair of runs, and a mask of the choices that have one: shape (choices,)."""
    pairs = list(itertools.combinations(range(len(tags)), 2))
    under_final = differences_between(final, topics, pairs, settings)
    final_ways, p_values = ways_of(under_final), under_final[1]
    means = means_of(values)
    ways = np.sign(np.array([means[a] - means[b] for a, b in pairs])).reshape(len(pairs), values.shape[1])
    reversed_in = ways * final_ways[:, None] < 0
    significant = reversed_in & (p_values <= settings.alpha)[:, None]
    # What is significant under the final grades is a swap wherever it is reversed; the rest depends on the choice.
    open_in = reversed_in & ~significant
    for position, (a, b) in enumerate(pairs):
        where = np.flatnonzero(open_in[position])
        if len(where):
            open_in[position, where] = may_hold(values[a, where] - values[b, where], topics, settings)
    for choice in np.flatnonzero(open_in.any(axis=0)):
        _, p_values = differences_between(values[:, choice], topics, pairs, settings)
        significant[:, choice] |= reversed_in[:, choice] & (p_values <= settings.alpha)
    swaps = []
    for position in np.flatnonzero(significant.any(axis=1)).tolist():
        way = int(final_ways[position])
        better, worse = (tags[run] for run in pairs[position][::way])
        counts = int(reversed_in[position].sum()), int(significant[position].sum())
        swaps.append(RandomAssessorSwap(better, worse, seen(under_final, position, way), *counts))
    return (
        tuple(sorted(swaps, key=lambda swap: (-swap.n_significant, swap.better, swap.worse))),
        significant.any(axis=0),
    )


def _places_of_best(means: Array, final_means: Array, tails: Sequence[float]) -> tuple[int, int]:
    """Places of the best run. means: shape (choices, runs). Equal runs share the better place; without runs there is
    none.
    """
    if not len(final_means):
        return 0, 0
    best = means[:, [int(final_means.argmax())]]
    low, high = np.quantile(1 + (means > best).sum(axis=1), tails, method="inverted_cdf").tolist()
    return low, high


def _order(means: Array) -> Array:
    """Sign of the difference of every two, shape (B, pairs): equal rows are equal rankings, ties included."""
    left, right = np.triu_indices(means.shape[1], k=1)
    return np.asarray(np.sign(means[:, left] - means[:, right]))


# ----------------------------------------------------------------------------------------------------------------------
# Runs of a collection under every grading of the same pool: the final one, each assessor's, and random choices among
# theirs.
# ----------------------------------------------------------------------------------------------------------------------


Grades = npt.NDArray[np.int8]

FINAL = "final"
FIRST = "A"
SECOND = "B"


@dataclass(frozen=True, slots=True)
class Grading:
    """Grade for each pair of each query, 0 if it has none; `queries` are the positions of those it covers."""

    name: str
    grades: tuple[Grades, ...]
    queries: Integers
    """Positions of queries of which the assessor was given every pair."""
    partly: Integers
    """Positions of queries of which the assessor was given some pairs and not others: they are left out."""
    n_ungraded: int


def gradings_of(cells: Sequence[QueryRatings]) -> list[Grading]:
    """Gradings of the queries: `final`; `A` and `B`, the first and the second assessor of each pair in the order of
    their pseudonyms; then the assessors by name.

    One rule for all: a grading covers the queries of which its assessor was given every pair, and an answer without a
    grade is 0 there. A grading that covers no query is in the list all the same.
    """
    nothing: Integers = np.zeros(0, dtype=np.int64)
    gradings = [Grading(FINAL, tuple(cell.final.astype(np.int8) for cell in cells), np.arange(len(cells)), nothing, 0)]
    for name, place in ((FIRST, 1), (SECOND, 2)):
        chosen = [cell.asked & (cell.asked.cumsum(axis=0) == place) for cell in cells]
        gradings.append(_grading(name, cells, chosen))
    for assessor in sorted({name for cell in cells for name in cell.assessors}):
        chosen = [cell.asked & (np.array(cell.assessors) == assessor)[:, None] for cell in cells]
        gradings.append(_grading(assessor, cells, chosen))
    return gradings


def random_grades(cell: QueryRatings, *, n: int, seed: int, topic: str) -> tuple[Grades, Integers]:
    """Gradings in which all pairs of the query's topic have the first judgement, or all the second, and so on, shape
    (D, N), and the one that each of n random choices takes, shape (n,); the first choices do not change with n.

    A choice is a number between 0 and 1 for the topic: of k who were given a pair, it takes one of k equal parts, in
    the order of their pseudonyms. So of two who were given all pairs, one or the other gives all grades; an answer
    without a grade is 0, as in the other gradings.
    """
    givers = cell.asked.sum(axis=0)
    chosen = generator(seed, "mixture", topic).random(n)
    sizes, size_of = np.unique(givers, return_inverse=True)
    places, taken = np.unique(np.floor(chosen[:, None] * sizes).astype(np.int64), axis=0, return_inverse=True)
    # Those who were given the pair come first in each column, in their order.
    order, pairs = np.argsort(~cell.asked, axis=0, kind="stable"), np.arange(len(givers))
    grades = np.nan_to_num(cell.ratings).astype(np.int8)
    return grades[order[places[:, size_of], pairs], pairs], taken.reshape(n)


def _grading(name: str, cells: Sequence[QueryRatings], chosen: Sequence[Mask]) -> Grading:
    """Grading from the answers in `chosen`: of each query shape (M, N) with one true a column at most."""
    answered = [mask.any(axis=0) for mask in chosen]
    whole = np.array([pairs.all() for pairs in answered], dtype=np.bool_)
    begun = np.array([pairs.any() for pairs in answered], dtype=np.bool_)
    complete, partly = np.flatnonzero(whole), np.flatnonzero(begun & ~whole)
    rows = [np.where(mask, cell.ratings, 0.0).sum(axis=0) for cell, mask in zip(cells, chosen, strict=True)]
    ungraded = sum(int(np.isnan(rows[position]).sum()) for position in complete)
    return Grading(name, tuple(np.nan_to_num(row).astype(np.int8) for row in rows), complete, partly, ungraded)


Runs = Mapping[str, Mapping[str, Ranking]]

MISSING = "zero"


@rounding
def assessor_effect_on_runs(
    runs: Runs,
    judgements: Iterable[Judgement],
    qrels: Iterable[Qrel],
    settings: EffectSettings,
    *,
    topics: Mapping[str, str],
    sampled: DrawnPairs | None = None,
) -> AssessorEffect:
    """Rank the runs under every grading and compare the rankings.

    Gradings: `final` (the qrels); `A` and `B`, the first and the second assessor of each pair in the order of their
    pseudonyms, so one fixed person a query if teams are fixed; each assessor by name; and `settings.n_random` random
    ones, in which all pairs of a topic have the first or all have the second judgement, drawn for each topic from the
    seed (`random_grades`). A grading covers the queries of which its assessor was given every pair; the notes name
    those of which only a part was given. A pair that came back without a grade counts as not relevant. Judgements that
    carry flags do not count.

    A run that has no ranking for a query scores 0 there, as in `annot.measuring.evaluation.measures`. settings: its
    convention and measure are of `annot.measuring.evaluation.measures`. topics: the topic of each query. sampled:
    estimates of the whole pools under each grading, if a sample of the pools was judged. Raises InputError if no pair
    has both a final grade and an assessor's.
    """
    judged, notes = _judged_queries(judgements, tuple(qrels))
    if sampled is not None:
        judged = [query for query in judged if query.query_id in sampled.pi]
    tags = tuple(sorted(runs))
    gradings = gradings_of(judged)
    notes += [*_notes_on_runs(runs, judged), *_notes_on_gradings(gradings, judged)]
    named = [grading for grading in gradings if len(grading.queries)]
    # All gradings of a query are measured in one go: the named ones, then the random ones.
    values = np.zeros((len(tags), len(named) + settings.n_random, len(judged)))
    for column, query in enumerate(judged):
        drawn, taken = random_grades(query, n=settings.n_random, seed=settings.seed, topic=topics[query.query_id])
        grades = np.concatenate([np.stack([grading.grades[column] for grading in named]), drawn])
        grading_of = np.concatenate([np.arange(len(named)), len(named) + taken])
        rankings = [runs[tag].get(query.query_id, ()) for tag in tags]
        if sampled is None:
            for row, ranking in enumerate(rankings):
                values[row, :, column] = _measured(ranking, query, grades, settings)[grading_of]
            continue
        estimates = sampled.measured(
            rankings,
            query.query_id,
            query.doc_ids,
            grades,
            convention=settings.convention,
            measure=settings.measure,
            relevant_from=settings.relevant_from,
        )
        values[:, :, column] = estimates[:, grading_of]
    by_name = {grading.name: values[:, row, :] for row, grading in enumerate(named)}
    final, *others = named
    first_two = [grading for grading in others if grading.name in (FIRST, SECOND)]
    couples = [*itertools.combinations(first_two, 2), *((grading, final) for grading in others)]
    papers_of = [topics[query.query_id] for query in judged]
    return AssessorEffect(
        settings=settings,
        missing=MISSING,
        runs=tags,
        queries=tuple(query.query_id for query in judged),
        n_pairs=sum(len(query.final) for query in judged),
        rankings=tuple(
            GradingRanking(
                name=grading.name,
                means=_best_first(by_name[grading.name][:, grading.queries], tags),
                queries=tuple(judged[position].query_id for position in grading.queries),
                n_pairs=sum(len(judged[position].final) for position in grading.queries),
                n_ungraded=grading.n_ungraded,
            )
            for grading in named
        ),
        comparisons=tuple(_compare(first, second, by_name, papers_of, tags, settings) for first, second in couples),
        random_assessors=random_assessor_rankings(
            values[:, len(named) :, :], by_name[FINAL], papers_of, tags, settings
        ),
        notes=tuple(notes),
    )


def _judged_queries(judgements: Iterable[Judgement], qrels: Sequence[Qrel]) -> tuple[list[QueryRatings], list[str]]:
    """Pairs with a final grade and an assessor's, by query, and a note on each that has only one of them."""
    decisions = [Decision(query_id, doc_id, relevance, "adjudicated") for query_id, doc_id, relevance in qrels]
    judgements = tuple(judgements)
    queries = ratings_of(judgements, decisions, {judgement.query_id: "" for judgement in judgements})
    judged = [query for query in map(_pairs_in_both, queries) if len(query.final)]
    in_both = {(query.query_id, doc_id) for query in judged for doc_id in query.doc_ids}
    graded = {
        (query.query_id, doc_id)
        for query in queries
        for doc_id, grades in zip(query.doc_ids, query.ratings.T, strict=True)
        if not np.isnan(grades).all()
    }
    final = {(query_id, doc_id) for query_id, doc_id, _ in qrels}
    if not judged:
        raise InputError(
            f"no pair has both grades: found {counted(len(final), 'pair')} with a final grade and "
            f"{counted(len(graded), 'pair')} with an assessor's grade",
            hint="write the qrels of these judgements with `annot qrels`",
        )
    third = sum(int((query.asked.sum(axis=0) > 2).sum()) for query in judged)
    notes = {
        "in the qrels without an assessor's grade: left out": len(final - in_both),
        "judged and not in the qrels: left out": len(graded - in_both),
        "with more than two assessors: A and B are the first two, random choices are among all": third,
    }
    return judged, [f"{counted(n, 'pair')} {note}" for note, n in notes.items() if n]


def _pairs_in_both(query: QueryRatings) -> QueryRatings:
    """Pairs of the query that have a final grade and one of an assessor's."""
    in_both = ~np.isnan(query.final) & ~np.isnan(query.ratings).all(axis=0)
    return replace(
        query,
        doc_ids=tuple(itertools.compress(query.doc_ids, in_both)),
        ratings=query.ratings[:, in_both],
        asked=query.asked[:, in_both],
        final=query.final[in_both],
        ended=query.ended[in_both],
        weights=query.weights[in_both],
    )


def _notes_on_runs(runs: Runs, judged: Sequence[QueryRatings]) -> Iterator[str]:
    lacking = grouped(
        (tuple(query.query_id for query in judged if not runs[tag].get(query.query_id)), tag) for tag in sorted(runs)
    )
    for without, tags in lacking.items():
        if without:
            yield f"{', '.join(tags)}: no documents ranked for {', '.join(without)}, so a score of 0 there"


def _notes_on_gradings(gradings: Sequence[Grading], judged: Sequence[QueryRatings]) -> Iterator[str]:
    partly = grouped(
        ((tuple(grading.partly.tolist()), grading.name in (FIRST, SECOND)), grading.name) for grading in gradings
    )
    for (places, by_pair), names in partly.items():
        if places:
            left_out = ", ".join(judged[position].query_id for position in places)
            lacks = "has as many assessors" if by_pair else "was given to this assessor"
            yield f"{', '.join(names)}: {left_out} left out, because not every pair {lacks}"
    for name in (grading.name for grading in gradings if not len(grading.queries) and not len(grading.partly)):
        yield f"{name}: no query has a second assessor"


def _measured(docs: Ranking, query: QueryRatings, grades: Grades, settings: EffectSettings) -> Array:
    """Measure of a ranking for a query under each row of `grades`, shape (gradings, N): shape (gradings,)."""
    if settings.convention == "trec":
        docs = as_trec_eval(docs)
    # One column more, of grade 0, for documents that are not among the pairs.
    column_of = {doc_id: column for column, doc_id in enumerate(query.doc_ids)}
    columns = [column_of.get(doc.doc_id, grades.shape[1]) for doc in docs]
    submitted = np.pad(grades, ((0, 0), (0, 1)))[:, columns]
    return measured(settings.convention, settings.measure, GradedList(submitted, grades, settings.relevant_from))


def _best_first(values: Array, tags: Sequence[str]) -> dict[str, float]:
    means = zip(tags, means_of(values).tolist(), strict=True)
    return dict(sorted(means, key=lambda mean: (-mean[1], mean[0])))


def _compare(
    first: Grading,
    second: Grading,
    by_name: Mapping[str, Array],
    topics: Sequence[str],
    tags: Sequence[str],
    settings: EffectSettings,
) -> GradingComparison:
    queries = np.intersect1d(first.queries, second.queries)
    both = [by_name[grading.name][:, queries] for grading in (first, second)]
    pairs = list(itertools.combinations(range(len(tags)), 2))
    topic_ids = [topics[position] for position in queries]
    by_first, by_second = (differences_between(values, topic_ids, pairs, settings) for values in both)
    by_grading = {first.name: by_first, second.name: by_second}
    swaps = []
    ways = ways_of(by_first)
    for position in np.flatnonzero(ways * ways_of(by_second) < 0).tolist():
        way = int(ways[position])
        significant = tuple(name for name, (_, p_values) in by_grading.items() if p_values[position] <= settings.alpha)
        better, worse = (tags[run] for run in pairs[position][::way])
        swaps.append(Swap(better, worse, seen(by_first, position, way), seen(by_second, position, way), significant))
    tau = tau_b_of_rows(*(means_of(values)[None, :] for values in both))[0]
    return GradingComparison(
        first=first.name,
        second=second.name,
        n_queries=len(queries),
        means={name: _best_first(values, tags) for name, values in zip(by_grading, both, strict=True)},
        n_run_pairs=len(pairs),
        tau=no_tau(len(tags)) if np.isnan(tau) else float(tau),
        reversed_pairs=len(swaps),
        significant={name: int((p_values <= settings.alpha).sum()) for name, (_, p_values) in by_grading.items()},
        swaps=tuple(swap for swap in swaps if swap.significant_in),
    )
