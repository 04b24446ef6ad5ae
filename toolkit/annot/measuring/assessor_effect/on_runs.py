"""Runs of a collection under every grading of the same pool: the final one, each assessor's, and random choices among
theirs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Decision, Judgement, Qrel, Ranking, grouped
from annot.base.scored import as_trec_eval
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.seeding import generator
from annot.base.stats.significance import tau_b_of_rows
from annot.base.stats.values import rounding
from annot.measuring.agreement.per_query import QueryRatings, ratings_of
from annot.measuring.assessor_effect.rankings import (
    AssessorEffect,
    Differences,
    EffectSettings,
    GradingComparison,
    GradingRanking,
    Swap,
    differences_between,
    means_of,
    no_tau,
    with_random_assessors,
)
from annot.measuring.evaluation.gradings import Graded, measured
from annot.measuring.sampled.gradings import SampledGradings

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
    nowhere: Integers = np.zeros(0, dtype=np.int64)
    gradings = [Grading(FINAL, tuple(cell.final.astype(np.int8) for cell in cells), np.arange(len(cells)), nowhere, 0)]
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

    A choice is a number between 0 and 1 for the topic: of k who graded a pair, it takes one of k equal parts, in the
    order of their pseudonyms. So of two who graded all pairs, one or the other gives all grades.
    """
    graded = ~np.isnan(cell.ratings)
    givers = graded.sum(axis=0)
    chosen = generator(seed, "mixture", topic).random(n)
    sizes, size_of = np.unique(givers, return_inverse=True)
    places, taken = np.unique(np.floor(chosen[:, None] * sizes).astype(np.int64), axis=0, return_inverse=True)
    # Those who graded the pair come first in each column, in their order.
    order, pairs = np.argsort(~graded, axis=0, kind="stable"), np.arange(len(givers))
    return np.asarray(cell.ratings[order[places[:, size_of], pairs], pairs].astype(np.int8)), taken.reshape(n)


def _grading(name: str, cells: Sequence[QueryRatings], chosen: Sequence[Mask]) -> Grading:
    """Grading from the answers in `chosen`: of each query shape (M, N) with one true a column at most."""
    answered = [mask.any(axis=0) for mask in chosen]
    some, every = (np.array([test(pairs) for pairs in answered], dtype=np.bool_) for test in (np.any, np.all))
    complete, partly = np.flatnonzero(every), np.flatnonzero(some & ~every)
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
    sampled: SampledGradings | None = None,
) -> AssessorEffect:
    """Rank the runs under every grading and compare the rankings.

    Gradings: `final` (the qrels); `A` and `B`, the first and the second assessor of each pair in the order of their
    pseudonyms, so one fixed person a query if teams are fixed; each assessor by name; and `settings.n_random` random
    ones, in which all pairs of a topic have the first or all have the second judgement, drawn for each topic from the
    seed (`random_grades`). A grading covers the queries of which its assessor was given every pair; the notes name
    those of which only a part was given. A pair that came back without a grade counts as not relevant. Judgements that
    carry flags do not count.

    A run that has no ranking for a query scores 0 there, as in `annot.measuring.evaluation.measures`. settings: its
    convention and measure are of `annot.measuring.evaluation.gradings`. topics: the topic of each query. sampled:
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
        if sampled is not None:
            estimates = _estimated([runs[tag] for tag in tags], query, grades, settings, sampled)
            values[:, :, column] = estimates[:, grading_of]
            continue
        for row, tag in enumerate(tags):
            values[row, :, column] = _measured(runs[tag], query, grades, settings)[grading_of]
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
        rankings=tuple(_ranking(grading, by_name[grading.name], tags, judged) for grading in named),
        comparisons=tuple(_compare(first, second, by_name, papers_of, tags, settings) for first, second in couples),
        random_assessors=with_random_assessors(values[:, len(named) :, :], by_name[FINAL], papers_of, tags, settings),
        notes=tuple(notes),
    )


def _judged_queries(judgements: Iterable[Judgement], qrels: Sequence[Qrel]) -> tuple[list[QueryRatings], list[str]]:
    """Pairs with a final grade and an assessor's, by query, and a note on each that has only one of them."""
    decisions = [Decision(query_id, doc_id, relevance, "adjudicated") for query_id, doc_id, relevance in qrels]
    judgements = tuple(judgements)
    queries = ratings_of(judgements, decisions, {judgement.query_id: "" for judgement in judgements})
    judged = [query for query in map(_in_both, queries) if len(query.final)]
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
        "judged without a final grade: left out": len(graded - in_both),
        "with more than two assessors: A and B are the first two, random choices are among all": third,
    }
    return judged, [f"{counted(n, 'pair')} {note}" for note, n in notes.items() if n]


def _in_both(query: QueryRatings) -> QueryRatings:
    """Pairs of the query that have a final grade and one of an assessor's."""
    in_both = ~np.isnan(query.final) & ~np.isnan(query.ratings).all(axis=0)
    return replace(
        query,
        doc_ids=tuple(itertools.compress(query.doc_ids, in_both)),
        ratings=query.ratings[:, in_both],
        asked=query.asked[:, in_both],
        final=query.final[in_both],
        ended=query.ended[in_both],
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


def _measured(run: Mapping[str, Ranking], query: QueryRatings, grades: Grades, settings: EffectSettings) -> Array:
    """Measure of a run on a query under each row of `grades`, shape (gradings, N): shape (gradings,)."""
    docs = run.get(query.query_id, ())
    if settings.convention == "trec":
        docs = as_trec_eval(docs)
    # One column more, of grade 0, for documents that are not among the pairs.
    column_of = {doc_id: column for column, doc_id in enumerate(query.doc_ids)}
    columns = [column_of.get(doc.doc_id, grades.shape[1]) for doc in docs]
    submitted = np.pad(grades, ((0, 0), (0, 1)))[:, columns]
    return measured(settings.convention, settings.measure, Graded(submitted, grades, settings.relevant_from))


def _estimated(
    runs: Sequence[Mapping[str, Ranking]],
    query: QueryRatings,
    grades: Grades,
    settings: EffectSettings,
    sampled: SampledGradings,
) -> Array:
    """Measure of several runs, estimated: shape (runs, gradings)."""
    return sampled.measured(
        [run.get(query.query_id, ()) for run in runs],
        query.query_id,
        query.doc_ids,
        grades,
        convention=settings.convention,
        measure=settings.measure,
        relevant_from=settings.relevant_from,
    )


def _ranking(grading: Grading, values: Array, tags: Sequence[str], judged: Sequence[QueryRatings]) -> GradingRanking:
    return GradingRanking(
        name=grading.name,
        means=_best_first(values[:, grading.queries], tags),
        queries=tuple(judged[position].query_id for position in grading.queries),
        n_pairs=sum(len(judged[position].final) for position in grading.queries),
        n_ungraded=grading.n_ungraded,
    )


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
    under = {first.name: by_first, second.name: by_second}
    swaps = [
        _swap(position, (tags[a], tags[b]), under, settings)
        for position, (a, b) in enumerate(pairs)
        if by_first.ways[position] * by_second.ways[position] < 0
    ]
    tau = tau_b_of_rows(*(means_of(values)[None, :] for values in both))[0]
    return GradingComparison(
        first=first.name,
        second=second.name,
        n_queries=len(queries),
        means={name: _best_first(values, tags) for name, values in zip(under, both, strict=True)},
        n_run_pairs=len(pairs),
        tau=no_tau(len(tags)) if np.isnan(tau) else float(tau),
        reversed_pairs=len(swaps),
        significant={name: int((differences.p_values <= settings.alpha).sum()) for name, differences in under.items()},
        swaps=tuple(swap for swap in swaps if swap.significant_in),
    )


def _swap(position: int, runs: tuple[str, str], under: Mapping[str, Differences], settings: EffectSettings) -> Swap:
    """Swap of the pair of runs at `position`, which two gradings put in opposite orders."""
    first, second = under.values()
    way = int(first.ways[position])
    significant = tuple(name for name, differences in under.items() if differences.p_values[position] <= settings.alpha)
    better, worse = runs if way > 0 else runs[::-1]
    return Swap(better, worse, first.seen(position, way), second.seen(position, way), significant)
