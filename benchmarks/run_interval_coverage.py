"""Count how often intervals of runs hold the truth where topics have few relevant documents, and where they have many.

    python benchmarks/run_interval_coverage.py [--studies 2000] [--topics 4 6 10 25 50] [--population 20000] [--seed 1]
        [--part means|differences|effects|papers|printed] [--cranfield FOLDER] [--csfcube FOLDER]

A study draws its topics from a population whose means are known (`made_collections`), or from a judged collection. A
cell is how many of 100 intervals at 95% held the truth, the lowest and the highest of the measures, each over all runs
or pairs; in brackets the worst; then their width as a share of the first method's, and that of near copies. Of effects
(Cohen's d), the last number is how large |d| is in place of the truth. `papers` draws a quarter of the studies, of
papers with one to three queries: means, then differences, by the library. `printed` draws a twentieth and makes the
intervals of AP as `annot evaluate` does: of 100, those changed because they spoke against the test, those that still
do, significant ones with an interval of d that contains 0, and those that hold, unchanged and changed.
"""

import itertools
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import (
    TIE,
    Reach,
    differing_share,
    ends_of_mean,
    half_of_difference,
    interval_of_difference,
    interval_of_mean,
)
from annot.base.stats.values import Interval
from annot.measuring.evaluation.comparisons import ComparedTopics, compare_runs
from annot.publishing.report.cells import WIDEST
from command import Command
from made_collections import DESIGNS, Collection, beta_like, judged, made
from scipy.special import nctdtrinc, stdtrit

LEVEL = 0.95
JUDGED = {"cranfield": None, "csfcube": None}
PARTS = ("means", "differences", "effects", "papers", "printed")
SECONDS = ((0, 0.002), (0, 0.003), (18, 0.002), (0, 0.006), (0, 0.018))
"""Time that each part takes for a number of topics, and for each study."""
FEWEST_STUDIES = 50
"""In which a pair is significant, if its intervals are to be counted."""
FACETS = 3
"""Queries of a paper, at most."""
Drawn = Array
"""Shape (..., studies, topics): values of topics."""


class Limits(NamedTuple):
    """What limits a measure in each study."""

    highest: Array
    """Shape (studies,): the highest value of the best order on any topic."""
    weight: Array
    """Shape (studies,): topics that are added at each end."""


class Cell(NamedTuple):
    """Of one measure and number of topics."""

    held: float
    worst: float
    width: float
    copies: float = np.nan
    """The width of near copies."""


COMMAND = Command(
    __doc__,
    options={"studies": 2000, "population": 20_000, "seed": 1, "topics": [4, 6, 10, 25, 50], **JUDGED, "part": None},
    choices={"part": PARTS},
    smallest="--studies 60 --topics 10 --population 60 --part differences",
    seconds=lambda options: sum(
        0.001 * options.population + len(options.topics) * (at_once + each * options.studies)
        for part, (at_once, each) in zip(PARTS, SECONDS, strict=True)
        if options.part in (None, part)
    ),
)


def main() -> None:
    options = COMMAND.read()
    for part, cells_of in (("means", of_means), ("differences", of_differences), ("effects", of_effects)):
        if options.part in (None, part):
            print(f"{part:<44}" + "".join(f"{topics:>26}" for topics in options.topics))
            for collection in collections(options):
                for line in lines(collection, cells_of, options.topics, options.studies):
                    print(line, flush=True)
    if options.part in (None, "papers"):
        print(f"{'means and differences, one to three queries':<44}" + "".join(f"{of:>26}" for of in options.topics))
        for design in (DESIGNS[0], DESIGNS[6], DESIGNS[7]):
            queries = options.population // FACETS * FACETS
            collection = made(design, topics=queries, seed=options.seed, facets=FACETS)
            for name in ("AP", "P@20", "nDCG"):
                cells = [of_papers(collection, name, papers, options.studies // 4) for papers in options.topics]
                print(f"{design.name:<30}{name:<14}" + "".join(f"{cell:>26}" for cell in cells), flush=True)
    if options.part in (None, "printed"):
        print(f"{'printed, AP':<44}" + "".join(f"{topics:>26}" for topics in options.topics))
        for design in DESIGNS:
            collection = made(design, topics=options.population, seed=options.seed)
            cells = [printed(collection, topics, options.studies // 20) for topics in options.topics]
            print(f"{collection.name:<44}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


def collections(options: Namespace) -> Iterator[Collection]:
    """All collections."""
    for design in DESIGNS:
        yield made(design, topics=options.population, seed=options.seed)
    yield from beta_like(topics=options.population, seed=options.seed)
    yield from judged(options.cranfield, options.csfcube)


CellsOf = Callable[[Collection, str, int, int], Mapping[str, Cell]]


def lines(collection: Collection, cells_of: CellsOf, sizes: list[int], studies: int) -> Iterator[str]:
    """A line for each method."""
    if cells_of is not of_means and len(next(iter(collection.values.values()))) == 1:
        return
    table = [[cells_of(collection, name, topics, studies) for name in collection.values] for topics in sizes]
    for method in table[0][0]:
        shown = ""
        for of_size in table:
            cells = [of_measure[method] for of_measure in of_size if method in of_measure]
            held = f"{100 * min(cell.held for cell in cells):.1f}-{100 * max(cell.held for cell in cells):.1f}"
            copies = np.mean([cell.copies for cell in cells])
            shown += f"{held:>13} ({100 * min(cell.worst for cell in cells):.0f})"
            shown += f" {np.mean([cell.width for cell in cells]):.2f}" + (
                "     " if np.isnan(copies) else f" {copies:.2f}"
            )
        yield f"{collection.name:<30}{method:<14}{shown}"


def of_means(collection: Collection, name: str, topics: int, studies: int) -> dict[str, Cell]:
    """By method. Widths are of the studies in which the jackknife has an interval."""
    values = collection.values[name]
    rows, limits = drawn_topics(collection, name, topics, studies)
    truth, cells, common, narrow = values.mean(axis=1)[:, None], {}, None, 1.0
    for method, ends_of in MEANS.items():
        low, high = ends_of(values[:, rows], limits)
        known = np.isfinite(low)
        if common is None:
            common, narrow = known, float((high - low)[known].mean())
        held = [
            float(np.mean(of_run[has])) for of_run, has in zip((low <= truth) & (truth <= high), known, strict=True)
        ]
        cells[method] = Cell(float(np.mean(held)), min(held), float(np.nanmean((high - low)[common])) / narrow)
    return cells


def of_differences(collection: Collection, name: str, topics: int, studies: int) -> dict[str, Cell]:
    """By method, over the studies in which the two runs differ at all."""
    values = collection.values[name]
    rows, limits = drawn_topics(collection, name, topics, studies)
    held: dict[str, list[float]] = {method: [] for method in DIFFERENCES}
    widths: dict[str, dict[bool, list[float]]] = {method: {True: [], False: []} for method in DIFFERENCES}
    for a, b in itertools.combinations(range(len(values)), 2):
        of_a, of_b, truth = values[a][rows], values[b][rows], values[a].mean() - values[b].mean()
        differ = (of_a != of_b).any(axis=1)
        for method, half_of in DIFFERENCES.items() if differ.any() else ():
            half, error = half_of(of_a, of_b, limits)[differ], ((of_a - of_b).mean(axis=1) - truth)[differ]
            held[method].append(float(np.mean(np.abs(error) <= half)))
            widths[method][(a, b) in collection.copies].append(float(half.mean()))
    first = next(iter(DIFFERENCES))
    return {
        method: Cell(
            float(np.mean(held[method])),
            min(held[method]),
            sum(widths[method][False]) / sum(widths[first][False]),
            sum(widths[method][True]) / sum(widths[first][True]) if collection.copies else np.nan,
        )
        for method in DIFFERENCES
    }


def of_effects(collection: Collection, name: str, topics: int, studies: int) -> dict[str, Cell]:
    """Intervals of Cohen's d by the noncentral t, and how large |d| is in place of the truth: of all pairs of runs, and
    in the studies in which a t test of the pair alone finds a difference.
    """
    values, root = collection.values[name], np.sqrt(topics)
    rows, _ = drawn_topics(collection, name, topics, studies)
    grid = np.linspace(-100, 100, 8001)
    upper, lower = (nctdtrinc(topics - 1, tail, grid) / root for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    critical = stdtrit(topics - 1, 0.5 + LEVEL / 2)
    held: dict[str, list[float]] = {"of all pairs": [], "if significant": []}
    sizes = {method: np.zeros(2) for method in held}
    for a, b in itertools.combinations(range(len(values)), 2):
        gaps = values[a] - values[b]
        truth, drawn = gaps.mean() / gaps.std(), gaps[rows]
        varies = (spread := drawn.std(axis=1, ddof=1)) > TIE
        effect = drawn.mean(axis=1)[varies] / spread[varies]
        t = np.clip(root * effect, -100, 100)
        holds = (np.interp(t, grid, lower) <= truth) & (truth <= np.interp(t, grid, upper))
        for method, counts in zip(held, (np.ones(len(t), dtype=bool), np.abs(t) > critical), strict=True):
            if counts.sum() >= FEWEST_STUDIES:
                held[method].append(float(holds[counts].mean()))
                sizes[method] += np.abs(effect[counts]).mean(), abs(truth)
    return {
        method: Cell(float(np.mean(of_pairs)), min(of_pairs), sizes[method][0] / sizes[method][1])
        for method, of_pairs in held.items()
        if of_pairs
    }


def printed(collection: Collection, topics: int, studies: int) -> str:
    """Intervals of differences beside the verdicts of the test, as `annot evaluate` has them."""
    values = collection.values["AP"]
    changed, against, alone, held, of_effect = [], [], [], [], []
    rows, limits = drawn_topics(collection, "AP", topics, studies)
    for row, highest, weight in zip(rows, *limits, strict=True):
        pairs, _ = compare_runs(
            "all",
            {f"{run}": values[run][row][:, None] for run in range(len(values))},
            ComparedTopics(
                np.ones((topics, 1)),
                Reach(float(highest), float(weight) / Reach(1.0, 1.0).weight),
                unit="query",
                level=LEVEL,
                seed=1,
            ),
            convention="trec",
            measure="AP",
        )
        for pair in pairs:
            if isinstance(pair.interval, Interval):
                a, b = int(pair.run_a), int(pair.run_b)
                low, high = pair.interval.low, pair.interval.high
                limit = Limits(np.array([highest]), np.array([weight]))
                half = float(by_share(values[a][row][None], values[b][row][None], limit)[0])
                changed.append(abs(high - low - 2 * half) > 1e-9 and abs(pair.difference) + half < 1)
                against.append(pair.holds and low <= 0 <= high)
                truth = values[a].mean() - values[b].mean()
                alone.append(abs(pair.difference - truth) <= half)
                held.append(low <= truth <= high)
                if pair.holds and isinstance(pair.effect_interval, Interval):
                    of_effect.append(pair.effect_interval.low <= 0 <= pair.effect_interval.high)
    return " ".join(
        f"{100 * np.mean(share):.1f}" if share else "-" for share in (changed, against, of_effect, alone, held)
    )


def of_papers(collection: Collection, name: str, papers: int, studies: int) -> str:
    """Means and differences by the library where a paper has one to three queries, each with the worst run, or pair."""
    rng = np.random.default_rng(papers)
    sizes = rng.integers(1, FACETS + 1, len(collection.relevant) // FACETS)
    asked = np.arange(FACETS) < sizes[:, None]
    values = collection.values[name].reshape(-1, *asked.shape) * asked
    best, inverse = (of.reshape(asked.shape) * asked for of in (collection.best[name], 1 / collection.relevant))
    truths = values.sum(axis=(1, 2)) / sizes.sum()
    pairs = list(itertools.combinations(range(len(values)), 2))
    means, differences = np.zeros(len(values)), np.full((studies, len(pairs)), np.nan)
    for study in range(len(differences)):
        rows = rng.integers(0, len(sizes), papers)
        n = sizes[rows][:, None].astype(float)
        reach = Reach(float(best[rows].max()), float(inverse[rows].sum() / n.sum()))
        sums = values[:, rows].sum(axis=2)[..., None]
        for run, truth in enumerate(truths):
            interval = interval_of_mean(sums[run], n, reach, level=LEVEL, unit="query paper")
            means[run] += isinstance(interval, Interval) and interval.low <= truth <= interval.high
        for place, (a, b) in enumerate(pairs):
            interval = interval_of_difference(sums[a], sums[b], n, reach, level=LEVEL, unit="query paper")
            if isinstance(interval, Interval):
                differences[study, place] = interval.low <= truths[a] - truths[b] <= interval.high
    of_runs, of_pairs = 100 * means / len(differences), 100 * np.nanmean(differences, axis=0)
    return f"{of_runs.mean():.1f} ({of_runs.min():.0f}) {of_pairs.mean():.1f} ({of_pairs.min():.0f})"


def drawn_topics(collection: Collection, name: str, topics: int, studies: int) -> tuple[Array, Limits]:
    """Which topics each study has, shape (studies, topics), and what limits the measure there."""
    rows = np.random.default_rng(topics).integers(0, len(collection.relevant), (studies, topics))
    per_relevant = (1 / np.maximum(1, collection.relevant))[rows].mean(axis=1)
    weight = np.array([Reach(1.0, float(of_study)).weight for of_study in per_relevant])
    return rows, Limits(collection.best[name][rows].max(axis=1), weight)


def jackknife(values: Drawn, limits: Limits) -> tuple[Array, Array]:
    """`annot.base.stats.inference.mean_interval` of many studies: on Fisher's z."""
    n, mean = values.shape[-1], values.mean(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.arctanh(2 * mean - 1)
        left_out = np.arctanh(2 * (values.sum(axis=-1, keepdims=True) - values) / (n - 1) - 1)
        spread = ((left_out - left_out.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
        half = stdtrit(n - 1, 0.5 + LEVEL / 2) * np.sqrt((n - 1) / n * spread)
        low, high = ((1 + np.tanh(z + side * half)) / 2 for side in (-1, 1))
    known = np.isfinite(half) & (half > 0)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def of_evaluate(values: Drawn, limits: Limits) -> tuple[Array, Array]:
    """Those that `annot evaluate` prints."""
    return ends_of_mean(values, *limits, level=LEVEL)


def on_pages(values: Drawn, limits: Limits) -> tuple[Array, Array]:
    """The same without those that pages replace by "too few papers", because they are wide."""
    low, high = of_evaluate(values, limits)
    shown = high - low <= WIDEST
    return np.where(shown, low, np.nan), np.where(shown, high, np.nan)


MEANS: dict[str, Callable[[Drawn, Limits], tuple[Array, Array]]] = {
    "jackknife": jackknife,
    "pseudo-topics": of_evaluate,
    "on pages": on_pages,
}


def students_t(a: Drawn, b: Drawn, limits: Limits) -> Array:
    """Half the widths. Near 0 the jackknife on Fisher's z is the same."""
    return half_of_difference(a - b, np.zeros(len(a)), *limits, level=LEVEL)


def by_share(a: Drawn, b: Drawn, limits: Limits) -> Array:
    """Half the widths of those that `annot evaluate` prints, before they are held against the test."""
    return half_of_difference(a - b, differing_share(a, b), *limits, level=LEVEL)


DIFFERENCES: dict[str, Callable[[Drawn, Drawn, Limits], Array]] = {"Student's t": students_t, "pseudo-topics": by_share}


if __name__ == "__main__":
    main()
