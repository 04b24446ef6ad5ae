"""Does it matter who judged? The ranking of all runs under each assessor's grades, the final ones, and mixtures.

Voorhees 1998 and 2000, Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness: where each
pair's grade comes from one of its assessors, taken at random, how far does the ranking of runs move from the one under
the final grades (Kendall's tau-b), and is there a pair of runs whose order is significant under one grading and
reversed under the other? All gradings cover the same pairs: those with a final grade and a grade of an assessor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.agreement.bootstrap import Bootstrap, draw, intervals
from annot.agreement.ratings import QueryRatings, ratings_of
from annot.agreement.results import Intervals, Undefined, Value
from annot.errors import InputError
from annot.ordering import ranked
from annot.records import Decision, Judgement, Qrel, Ranking
from annot.regrading import FINAL, Cell, Graded, Grades, Grading, check_measure, gradings_of, mixtures, regraded
from annot.significance import PairedTest, randomisation_tests, tau_b_of_rows

Array = npt.NDArray[np.float64]

FIGURES = 12
"""Digits after the point at which two runs' means tie: what lies beyond is rounding."""


@dataclass(frozen=True, slots=True)
class Mattering:
    """What a figure depends on besides the data."""

    dialect: str
    measure: str
    """A measure of the dialect, as `annot.measures.MEASURES` names them."""
    relevant_from: int
    mixtures: int
    alpha: float
    """At this p or below a difference is significant. Uncorrected for the number of pairs: that finds most swaps."""
    exact_up_to: int
    permutations: int
    """Of the paired randomisation test (`annot.significance.randomisation_test`)."""
    bootstrap: Bootstrap


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
    """Pairs to which this grading gives no grade; they count as not relevant, as unjudged ones do."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Two runs in one order under one grading and in the other under the other, significantly so in at least one."""

    better: str
    worse: str
    """By the first grading."""
    first: PairedTest
    second: PairedTest
    significant_in: tuple[str, ...]
    """Of the two gradings."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two gradings' rankings of the runs, over the queries that both have."""

    first: str
    second: str
    n_queries: int
    n_run_pairs: int
    tau: Value
    intervals: Intervals
    """Of tau, by resampling whole queries. A resample ranks the runs on fewer distinct queries, so it leans low."""
    reversed_pairs: int
    significant: dict[str, int]
    """By grading, the pairs of runs whose difference is significant."""
    swaps: tuple[Swap, ...]


@dataclass(frozen=True, slots=True)
class MixtureSwap:
    """Two runs that change places in some mixtures, significantly so in the final grading or in the mixture."""

    better: str
    worse: str
    """By the final grades."""
    final: PairedTest
    n_reversed: int
    n_significant: int
    """Mixtures in which they change places; of these, those in which one order or the other is significant."""


@dataclass(frozen=True, slots=True)
class Mixtures:
    """The rankings under random mixtures of the assessors, each against the ranking under the final grades."""

    n: int
    tau: Value
    """The mean over the mixtures."""
    tau_range: tuple[float, float] | Undefined
    """The middle `level` share of the mixtures: how far chance in who judged moves tau on these queries."""
    tau_min: Value
    intervals: Intervals
    """Of the mean tau, by resampling whole queries."""
    same_order: int
    """Mixtures that rank the runs exactly as the final grades do."""
    undefined: int
    """Mixtures under which tau has no value, because all runs tie."""
    means: dict[str, tuple[float, float]]
    """By run, the middle `level` share of its means over the mixtures."""
    with_swap: int
    """Mixtures with at least one significant swap."""
    swaps: tuple[MixtureSwap, ...]


@dataclass(frozen=True, slots=True)
class DoesItMatter:
    """The answer, with everything it rests on."""

    settings: Mattering
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    n_pairs: int
    rankings: tuple[GradingRanking, ...]
    comparisons: tuple[Comparison, ...]
    mixtures: Mixtures
    notes: tuple[str, ...]
    """What was left out and why, in sentences."""


def does_it_matter(
    runs: Mapping[str, Mapping[str, Ranking]],
    judgements: Iterable[Judgement],
    qrels: Iterable[Qrel],
    settings: Mattering,
) -> DoesItMatter:
    """Rank the runs under every grading and hold the rankings against each other.

    Gradings: `final` (the qrels); `A` and `B`, the first and the second assessor of each pair in the order of their
    pseudonyms, so one fixed person a query where teams are fixed; each assessor by name, on the queries of which they
    graded every pair; and `settings.mixtures` mixtures, in which each pair has the grade of one of those who graded
    it, drawn for each query from the seed. Judgements that carry flags do not count.

    A run that has no ranking for a query scores 0 there, as in `annot.measures`.
    Raises InputError for an unknown dialect or measure, and when no pair has both a final grade and an assessor's.
    """
    check_measure(settings.dialect, settings.measure)
    cells, notes = _cells(judgements, tuple(qrels))
    tags = tuple(sorted(runs))
    notes += _notes_on_runs(runs, cells)
    mixed = [mixtures(cell, n=settings.mixtures, seed=settings.bootstrap.seed) for cell in cells]
    named = gradings_of(cells)
    # All gradings of a query are measured in one go: the named ones, then the mixtures.
    values = np.stack(
        [
            np.stack([_measured(runs[tag], cell, np.concatenate([given, drawn]), settings) for tag in tags])
            if tags
            else np.zeros((0, len(given) + len(drawn)))
            for cell, given, drawn in zip(
                cells, (np.stack([one.grades[at] for one in named]) for at in range(len(cells))), mixed, strict=True
            )
        ],
        axis=-1,
    )  # (runs, gradings, queries)
    by_name = {one.name: values[:, at, :] for at, one in enumerate(named)}
    queries = tuple(cell.query_id for cell in cells)
    comparisons = [
        _compare(one, other, by_name, tags, settings)
        for one, other in [(named[1], named[2]), *((one, named[0]) for one in named[1:])]
    ]
    return DoesItMatter(
        settings=settings,
        runs=tags,
        queries=queries,
        n_pairs=sum(len(cell.final) for cell in cells),
        rankings=tuple(_ranking(one, by_name[one.name], tags, cells) for one in named),
        comparisons=tuple(comparisons),
        mixtures=_of_mixtures(values[:, len(named) :, :], by_name[FINAL], tags, settings),
        notes=tuple(notes),
    )


def _cells(judgements: Iterable[Judgement], qrels: Sequence[Qrel]) -> tuple[list[Cell], list[str]]:
    """The pairs with a final grade and an assessor's, by query, and a note on each that has only one of them."""
    decisions = [Decision(one.query_id, one.doc_id, one.relevance, "adjudicated") for one in qrels]
    given = tuple(judgements)
    found = ratings_of(given, decisions, {one.query_id: "" for one in given})
    cells = [cell for cell in map(_cell, found) if len(cell.final)]
    kept = {(cell.query_id, doc_id) for cell in cells for doc_id in cell.doc_ids}
    graded = {
        (one.query_id, doc_id)
        for one in found
        for doc_id, column in zip(one.doc_ids, one.ratings.T, strict=True)
        if not np.isnan(column).all()
    }
    final = {(one.query_id, one.doc_id) for one in qrels}
    if not cells:
        raise InputError(
            f"{len(final)} pair(s) have a final grade and {len(graded)} one of an assessor, but none has both",
            hint="write the qrels of these judgements with `annot qrels`",
        )
    notes = []
    if final - kept:
        notes.append(f"{len(final - kept)} pair(s) of the qrels have no assessor's grade and are left out")
    if graded - kept:
        notes.append(f"{len(graded - kept)} judged pair(s) have no final grade and are left out")
    third = sum(int((cell.asked.sum(axis=0) > 2).sum()) for cell in cells)
    if third:
        notes.append(f"{third} pair(s) have more than two assessors; those after the second are in the mixtures only")
    return cells, notes


def _cell(one: QueryRatings) -> Cell:
    kept = ~np.isnan(one.final) & ~np.isnan(one.ratings).all(axis=0)
    return Cell(
        query_id=one.query_id,
        assessors=one.assessors,
        doc_ids=tuple(doc_id for doc_id, keep in zip(one.doc_ids, kept, strict=True) if keep),
        ratings=one.ratings[:, kept],
        asked=one.asked[:, kept],
        final=one.final[kept].astype(np.int8),
    )


def _notes_on_runs(runs: Mapping[str, Mapping[str, Ranking]], cells: Sequence[Cell]) -> list[str]:
    notes = []
    for tag in sorted(runs):
        without = [cell.query_id for cell in cells if not runs[tag].get(cell.query_id)]
        if without:
            notes.append(f"{tag}: no documents for {', '.join(without)}; it scores 0 there")
    return notes


def _measured(run: Mapping[str, Ranking], cell: Cell, grades: Grades, settings: Mattering) -> Array:
    """The measure of a run on a query under each row of `grades`, shape (gradings, N): shape (gradings,)."""
    docs = run.get(cell.query_id, ())
    if settings.dialect == "trec":
        docs = ranked(docs)
    # One column more, of grade 0, for documents that are not among the pairs.
    place = {doc_id: at for at, doc_id in enumerate(cell.doc_ids)}
    columns = [place.get(doc.doc_id, grades.shape[1]) for doc in docs]
    submitted = np.pad(grades, ((0, 0), (0, 1)))[:, columns]
    graded = Graded(submitted, grades, settings.relevant_from)
    return regraded(graded, dialect=settings.dialect, measure=settings.measure)


def _means(values: Array) -> Array:
    return np.asarray(np.round(values.mean(axis=-1), FIGURES))


def _ranking(grading: Grading, values: Array, tags: Sequence[str], cells: Sequence[Cell]) -> GradingRanking:
    means = dict(zip(tags, _means(values[:, grading.queries]).tolist(), strict=True))
    return GradingRanking(
        name=grading.name,
        means=dict(sorted(means.items(), key=lambda one: (-one[1], one[0]))),
        queries=tuple(cells[at].query_id for at in grading.queries),
        n_pairs=sum(len(cells[at].final) for at in grading.queries),
        n_ungraded=grading.n_ungraded,
    )


def _compare(
    first: Grading, second: Grading, by_name: Mapping[str, Array], tags: Sequence[str], settings: Mattering
) -> Comparison:
    queries = np.intersect1d(first.queries, second.queries)
    one, other = by_name[first.name][:, queries], by_name[second.name][:, queries]
    pairs = list(itertools.combinations(range(len(tags)), 2))
    tests = [_tests(values, pairs, settings) for values in (one, other)]
    turned = [at for at, (a, b) in enumerate(zip(*tests, strict=True)) if _reversed(a, b)]
    swaps = [
        _swap(tags[pairs[at][0]], tags[pairs[at][1]], tests[0][at], tests[1][at], (first.name, second.name), settings)
        for at in turned
    ]
    tau = tau_b_of_rows(_means(one)[None, :], _means(other)[None, :])
    key = f"{first.name} {second.name}"
    return Comparison(
        first=first.name,
        second=second.name,
        n_queries=len(queries),
        n_run_pairs=len(pairs),
        tau=_value(tau[0], len(tags)),
        intervals=_intervals(one[:, None, :], other, key=key, settings=settings),
        reversed_pairs=len(turned),
        significant={
            name: sum(test.p_value <= settings.alpha for test in of)
            for name, of in zip((first.name, second.name), tests, strict=True)
        },
        swaps=tuple(swap for swap in swaps if swap.significant_in),
    )


def _of_mixtures(values: Array, final: Array, tags: Sequence[str], settings: Mattering) -> Mixtures:
    """values: shape (runs, mixtures, queries); final: shape (runs, queries)."""
    n, level = settings.mixtures, settings.bootstrap.level
    means, final_means = _means(values).T, _means(final)[None, :]
    taus = tau_b_of_rows(means, final_means) if n else np.zeros(0)
    defined = taus[~np.isnan(taus)]
    why = _value(np.nan, len(tags)) if n else Undefined("no mixture was drawn")
    tails = [(1 - level) / 2, (1 + level) / 2]
    swaps, touched = _mixture_swaps(values, final, tags, settings)
    spread = np.quantile(means, tails, axis=0).T if n else np.zeros((0, 2))
    same = (_order(means) == _order(final_means)).all(axis=1)
    low, high = np.quantile(defined, tails) if len(defined) else (0.0, 0.0)
    return Mixtures(
        n=n,
        tau=float(defined.mean()) if len(defined) else why,
        tau_range=(float(low), float(high)) if len(defined) else Undefined(_reason(why)),
        tau_min=float(defined.min()) if len(defined) else why,
        intervals=_intervals(values, final, key="mixtures", settings=settings),
        same_order=int(same.sum()),
        undefined=n - len(defined),
        means={tag: (float(low), float(high)) for tag, (low, high) in zip(tags, spread, strict=False)},
        with_swap=int(touched.sum()),
        swaps=swaps,
    )


def _mixture_swaps(
    values: Array, final: Array, tags: Sequence[str], settings: Mattering
) -> tuple[tuple[MixtureSwap, ...], npt.NDArray[np.bool_]]:
    """The swaps by pair of runs, and which mixtures have one: shape (mixtures,)."""
    pairs = list(itertools.combinations(range(len(tags)), 2))
    touched = np.zeros(values.shape[1], dtype=np.bool_)
    means = _means(values)
    swaps = []
    for (a, b), test in zip(pairs, _tests(final, pairs, settings), strict=True):
        way = _way(test)
        turned = np.flatnonzero(np.sign(means[a] - means[b]) == -way) if way else np.zeros(0, dtype=np.int64)
        if not len(turned):
            continue
        # Only what changed places is tested: the rest cannot be a swap.
        tests = _tested(values[a, turned] - values[b, turned], settings)
        significant = np.array([test.p_value <= settings.alpha or one.p_value <= settings.alpha for one in tests])
        touched[turned[significant]] = True
        if significant.any():
            better, worse = (tags[a], tags[b]) if way > 0 else (tags[b], tags[a])
            swaps.append(MixtureSwap(better, worse, _turned(test, way), len(turned), int(significant.sum())))
    swaps.sort(key=lambda one: (-one.n_significant, one.better, one.worse))
    return tuple(swaps), touched


def _intervals(values: Array, other: Array, *, key: str, settings: Mattering) -> Intervals:
    """Intervals of the mean tau between gradings, by resampling queries.

    values: shape (runs, gradings, queries); other: shape (runs, queries).
    """
    n_runs, n_gradings, n_queries = values.shape
    if n_runs < 2 or n_gradings == 0:
        reason = Undefined(_reason(_value(np.nan, n_runs)) if n_gradings else "no mixture was drawn")
        return Intervals(reason, reason)
    if n_queries < 2:
        reason = Undefined(f"{n_queries} query: nothing to resample")
        return Intervals(reason, reason)
    drawn = draw(n_queries, plan=settings.bootstrap, key=key)
    times = np.stack([np.bincount(row, minlength=n_queries) for row in drawn]) / n_queries
    left_out = (1 - np.eye(n_queries)) / (n_queries - 1)
    whole = np.full((1, n_queries), 1 / n_queries)
    found = [_mean_tau(values, other, weights) for weights in (whole, times, left_out)]
    return intervals(
        estimate=float(found[0][0]), replicates=found[1], left_out=found[2], level=settings.bootstrap.level
    )


def _mean_tau(values: Array, other: Array, weights: Array) -> Array:
    """The mean tau over the gradings under each weighting of the queries, shape (B,); nan where none has a value."""
    fixed = np.round(weights @ other.T, FIGURES)
    total, n = np.zeros(len(weights)), np.zeros(len(weights))
    for at in range(values.shape[1]):
        taus = tau_b_of_rows(np.round(weights @ values[:, at].T, FIGURES), fixed)
        there = ~np.isnan(taus)
        total[there] += taus[there]
        n += there
    result = np.full(len(weights), np.nan)
    np.divide(total, n, out=result, where=n > 0)
    return result


def _tests(values: Array, pairs: Sequence[tuple[int, int]], settings: Mattering) -> tuple[PairedTest, ...]:
    if not pairs:
        return ()
    return _tested(np.stack([values[a] - values[b] for a, b in pairs]), settings)


def _tested(differences: Array, settings: Mattering) -> tuple[PairedTest, ...]:
    return randomisation_tests(
        differences,
        exact_up_to=settings.exact_up_to,
        permutations=settings.permutations,
        seed=settings.bootstrap.seed,
    )


def _way(test: PairedTest) -> int:
    """1 where the first of two runs is better, -1 where the second is, 0 where they tie."""
    return int(np.sign(round(test.mean_difference, FIGURES)))


def _reversed(one: PairedTest, other: PairedTest) -> bool:
    return _way(one) * _way(other) < 0


def _turned(test: PairedTest, way: int) -> PairedTest:
    """The test as seen from the better run."""
    return PairedTest(
        test.n, test.n_different, way * test.mean_difference, test.p_value, test.method, test.permutations
    )


def _swap(a: str, b: str, one: PairedTest, other: PairedTest, names: tuple[str, str], settings: Mattering) -> Swap:
    way = _way(one)
    significant = tuple(name for name, test in zip(names, (one, other), strict=True) if test.p_value <= settings.alpha)
    better, worse = (a, b) if way > 0 else (b, a)
    return Swap(better, worse, _turned(one, way), _turned(other, way), significant)


def _order(means: Array) -> Array:
    """Who is above whom, shape (B, pairs): equal rows are equal rankings, ties included."""
    left, right = np.triu_indices(means.shape[1], k=1)
    return np.asarray(np.sign(means[:, left] - means[:, right]))


def _value(tau: float, n_runs: int) -> Value:
    if not np.isnan(tau):
        return float(tau)
    if n_runs < 2:
        return Undefined(f"{n_runs} run(s): a ranking needs at least two")
    return Undefined(f"one of the gradings ties all {n_runs} runs")


def _reason(value: Value) -> str:
    return value.reason if isinstance(value, Undefined) else ""
