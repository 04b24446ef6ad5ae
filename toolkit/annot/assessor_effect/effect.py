"""Ranking the runs under every grading of one collection."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from annot.agreement.ratings import QueryRatings, ratings_of
from annot.assessor_effect.orders import (
    means_of,
    seen_from,
    tau_intervals,
    tau_value,
    tests_between,
    turned_round,
    way_of,
)
from annot.assessor_effect.random_assessors import of_mixtures
from annot.assessor_effect.regrading import (
    FINAL,
    FIRST,
    SECOND,
    Cell,
    Graded,
    Grades,
    Grading,
    check_measure,
    gradings_of,
    mixtures,
    regraded,
)
from annot.assessor_effect.results import Comparison, DoesItMatter, GradingRanking, Mattering, Swap
from annot.errors import InputError
from annot.ordering import ranked
from annot.records import Decision, Judgement, Qrel, Ranking
from annot.stats.rounding import rounding
from annot.stats.significance import PairedTest, tau_b_of_rows

Array = npt.NDArray[np.float64]

MISSING = "zero"


@rounding
def does_it_matter(
    runs: Mapping[str, Mapping[str, Ranking]],
    judgements: Iterable[Judgement],
    qrels: Iterable[Qrel],
    settings: Mattering,
) -> DoesItMatter:
    """Rank the runs under every grading and hold the rankings against each other.

    Gradings: `final` (the qrels); `A` and `B`, the first and the second assessor of each pair in the order of their
    pseudonyms, so one fixed person a query where teams are fixed; each assessor by name; and `settings.mixtures`
    mixtures, in which each pair has the grade of one of those who graded it, drawn for each query from the seed.
    A grading stands on the queries of which whom it names was given every pair; those of which they were given a part
    are told in the notes. A pair that came back without a grade counts as not relevant. Judgements that carry flags do
    not count.

    A run that has no ranking for a query scores 0 there, as in `annot.evaluation.measures`.
    Raises InputError for an unknown dialect or measure, and when no pair has both a final grade and an assessor's.
    """
    check_measure(settings.dialect, settings.measure)
    cells, notes = _cells(judgements, tuple(qrels))
    tags = tuple(sorted(runs))
    notes += _notes_on_runs(runs, cells)
    mixed = [mixtures(cell, n=settings.mixtures, seed=settings.bootstrap.seed) for cell in cells]
    everyone = gradings_of(cells)
    notes += _notes_on_gradings(everyone, cells)
    named = [one for one in everyone if len(one.queries)]
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
    final, *others = named
    first_two = [one for one in others if one.name in (FIRST, SECOND)]
    comparisons = [
        _compare(one, other, by_name, tags, settings)
        for one, other in [*itertools.combinations(first_two, 2), *((one, final) for one in others)]
    ]
    return DoesItMatter(
        settings=settings,
        missing=MISSING,
        runs=tags,
        queries=queries,
        n_pairs=sum(len(cell.final) for cell in cells),
        rankings=tuple(_ranking(one, by_name[one.name], tags, cells) for one in named),
        comparisons=tuple(comparisons),
        mixtures=of_mixtures(values[:, len(named) :, :], by_name[FINAL], tags, settings),
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


def _notes_on_gradings(gradings: Sequence[Grading], cells: Sequence[Cell]) -> list[str]:
    notes = []
    for one in gradings:
        names = ", ".join(cells[at].query_id for at in one.partly)
        if one.name in (FIRST, SECOND) and len(one.partly):
            notes.append(f"{one.name}: without {names}, where some pairs were given to fewer assessors than others")
        elif len(one.partly):
            notes.append(f"{one.name}: without {names}, of which they were given only some pairs")
        elif not len(one.queries):
            notes.append(f"{one.name}: no query has a second assessor")
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


def _ranking(grading: Grading, values: Array, tags: Sequence[str], cells: Sequence[Cell]) -> GradingRanking:
    return GradingRanking(
        name=grading.name,
        means=_best_first(values[:, grading.queries], tags),
        queries=tuple(cells[at].query_id for at in grading.queries),
        n_pairs=sum(len(cells[at].final) for at in grading.queries),
        n_ungraded=grading.n_ungraded,
    )


def _best_first(values: Array, tags: Sequence[str]) -> dict[str, float]:
    means = zip(tags, means_of(values).tolist(), strict=True)
    return dict(sorted(means, key=lambda one: (-one[1], one[0])))


def _compare(
    first: Grading, second: Grading, by_name: Mapping[str, Array], tags: Sequence[str], settings: Mattering
) -> Comparison:
    queries = np.intersect1d(first.queries, second.queries)
    one, other = by_name[first.name][:, queries], by_name[second.name][:, queries]
    pairs = list(itertools.combinations(range(len(tags)), 2))
    tests = [tests_between(values, pairs, settings) for values in (one, other)]
    turned = [at for at, (a, b) in enumerate(zip(*tests, strict=True)) if turned_round(a, b)]
    swaps = [
        _swap(tags[pairs[at][0]], tags[pairs[at][1]], tests[0][at], tests[1][at], (first.name, second.name), settings)
        for at in turned
    ]
    tau = tau_b_of_rows(means_of(one)[None, :], means_of(other)[None, :])
    key = f"{first.name} {second.name}"
    return Comparison(
        first=first.name,
        second=second.name,
        n_queries=len(queries),
        means={first.name: _best_first(one, tags), second.name: _best_first(other, tags)},
        n_run_pairs=len(pairs),
        tau=tau_value(tau[0], len(tags)),
        intervals=tau_intervals(one[:, None, :], other, key=key, settings=settings),
        reversed_pairs=len(turned),
        significant={
            name: sum(test.p_value <= settings.alpha for test in of)
            for name, of in zip((first.name, second.name), tests, strict=True)
        },
        swaps=tuple(swap for swap in swaps if swap.significant_in),
    )


def _swap(a: str, b: str, one: PairedTest, other: PairedTest, names: tuple[str, str], settings: Mattering) -> Swap:
    way = way_of(one)
    significant = tuple(name for name, test in zip(names, (one, other), strict=True) if test.p_value <= settings.alpha)
    better, worse = (a, b) if way > 0 else (b, a)
    return Swap(better, worse, seen_from(one, way), seen_from(other, way), significant)
