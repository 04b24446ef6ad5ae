"""Count how often intervals of runs hold the truth where topics have few relevant documents, and where they have many.

    python benchmarks/run_interval_coverage.py [--studies 2000] [--topics 4 6 10 25 50] [--population 20000] [--seed 1]
        [--part means|differences|effects|papers|printed] [--cranfield FOLDER] [--csfcube FOLDER]

A study draws its topics from a population whose means are known (`made_collections`), or from a judged collection. A
line is a collection and a method. A cell is how many of 100 intervals at 95% held the truth, the lowest and the highest
of the measures, each over all runs or pairs; in brackets the worst run or pair; then how wide they are, as a share of
the first method's. Of differences, the last number is the width of near copies. Of effects (Cohen's d), the last number
is how large |d| is in place of the truth. `papers` draws a quarter of the studies, of papers with one to three queries,
and asks the library: means, then differences. `printed` draws a twentieth of the studies and makes the intervals of
average precision as `annot evaluate` does: how many of 100 were changed because they spoke against the test, how many
still do, how many of the significant ones have an interval of d that contains 0, and how many hold, unchanged and
changed.

Measured with 2,000 studies and seed 1. Intervals of means are .79 to 1.01 as wide as the jackknife's at 10 topics and
.90 to 1.00 at 25; those of differences at most 1.10 and 1.04 times as wide as Student's t, and of near copies 1.09 and
1.02 (averages of the measures).

    means                                                     6               10               25               50
    1-4 relevant                jackknife        85.6-99.1 (70)   89.3-98.1 (75)   92.8-97.3 (83)   94.4-96.6 (90)
    1-4 relevant                pseudo-topics    97.8-99.1 (96)   96.3-97.7 (94)   94.9-96.4 (94)   95.2-95.8 (94)
    1-4 relevant, weaker runs   jackknife        79.8-99.0 (63)   85.3-98.4 (68)   90.7-97.6 (78)   93.2-96.7 (85)
    1-4 relevant, weaker runs   pseudo-topics    97.9-99.6 (96)   96.7-98.2 (94)   94.1-96.4 (93)   94.3-95.8 (93)
    1-4 relevant, strong runs   jackknife        94.5-98.8 (86)   94.7-98.4 (88)   95.3-96.8 (92)   95.0-96.1 (94)
    1-4 relevant, strong runs   pseudo-topics    96.8-98.7 (95)   96.3-97.7 (94)   95.5-96.2 (94)   95.0-95.6 (94)
    1-4 relevant, pools of 400  jackknife        87.9-99.0 (74)   90.6-98.6 (79)   93.3-97.0 (88)   94.2-96.6 (91)
    1-4 relevant, pools of 400  pseudo-topics    97.6-98.8 (96)   96.9-97.9 (94)   95.0-96.1 (94)   94.8-95.8 (93)
    bursts of near-duplicates   jackknife        85.3-98.4 (73)   88.1-97.7 (74)   91.6-97.0 (85)   93.4-96.2 (86)
    bursts of near-duplicates   pseudo-topics    98.0-99.0 (95)   95.7-97.5 (93)   94.4-95.9 (92)   93.8-95.3 (91)
    a run from outside the pool jackknife        90.1-99.4 (81)   92.2-98.4 (86)   94.3-97.4 (91)   94.7-96.3 (94)
    a run from outside the pool pseudo-topics    97.8-99.0 (97)   96.3-98.0 (95)   95.1-96.3 (93)   95.0-95.7 (94)
    5-15 relevant               jackknife        94.6-96.9 (93)   95.2-96.4 (94)   94.7-95.3 (94)   94.9-95.7 (94)
    5-15 relevant               pseudo-topics    96.2-97.4 (95)   95.6-96.8 (95)   94.9-95.3 (94)   95.2-95.6 (94)
    10-60 relevant              jackknife        93.8-95.9 (92)   94.1-96.5 (93)   94.2-95.4 (93)   94.2-95.4 (94)
    10-60 relevant              pseudo-topics    94.1-97.3 (92)   94.6-95.9 (94)   94.1-95.0 (93)   94.2-95.4 (94)
    Cranfield                   jackknife        94.9-97.5 (93)   95.5-97.1 (94)   95.1-95.9 (94)   94.9-95.4 (94)
    Cranfield                   pseudo-topics    97.3-98.4 (96)   96.7-96.9 (96)   95.2-96.3 (94)   94.9-95.6 (94)
    CSFCube                     jackknife        93.8-95.6 (90)   94.9-95.3 (93)   94.6-95.6 (94)   95.1-95.8 (94)
    CSFCube                     pseudo-topics    96.2-97.0 (93)   95.5-96.1 (93)   94.9-95.7 (94)   95.1-95.9 (94)

    differences                                               6               10               25               50
    1-4 relevant                Student's t      89.1-98.1 (79)   91.9-95.1 (82)   93.9-95.2 (91)   94.7-95.3 (93)
    1-4 relevant                pseudo-topics    93.7-99.7 (87)   94.0-97.7 (89)   94.7-95.9 (93)   95.1-95.6 (93)
    1-4 relevant, weaker runs   Student's t      83.7-99.3 (71)   88.5-95.9 (76)   92.4-94.8 (88)   94.1-95.2 (91)
    1-4 relevant, weaker runs   pseudo-topics    90.5-99.9 (81)   92.0-98.9 (86)   93.5-95.9 (89)   94.5-95.6 (92)
    1-4 relevant, strong runs   Student's t      94.2-95.6 (91)   94.7-94.9 (91)   94.8-95.4 (93)   95.1-95.2 (93)
    1-4 relevant, strong runs   pseudo-topics    95.6-97.1 (92)   95.1-95.9 (92)   95.1-95.7 (93)   95.2-95.4 (94)
    1-4 relevant, pools of 400  Student's t      90.3-95.7 (79)   92.6-94.9 (85)   94.3-95.2 (91)   94.8-95.3 (94)
    1-4 relevant, pools of 400  pseudo-topics    94.4-98.3 (87)   94.5-96.7 (90)   95.1-95.7 (93)   95.0-95.6 (94)
    bursts of near-duplicates   Student's t      85.4-92.2 (71)   86.2-93.1 (74)   91.7-95.1 (84)   93.5-95.0 (91)
    bursts of near-duplicates   pseudo-topics    92.8-97.6 (86)   93.4-95.1 (88)   94.0-95.3 (90)   94.3-95.1 (92)
    a run from outside the pool Student's t      92.7-97.1 (86)   93.8-95.5 (89)   95.1-95.5 (93)   95.2-95.5 (94)
    a run from outside the pool pseudo-topics    96.0-98.7 (92)   95.6-97.1 (93)   95.4-96.1 (94)   95.3-95.8 (94)
    5-15 relevant               Student's t      94.7-95.6 (93)   94.8-95.2 (93)   94.7-95.2 (94)   94.7-95.2 (94)
    5-15 relevant               pseudo-topics    95.3-96.8 (93)   95.2-95.8 (94)   94.8-95.3 (94)   94.8-95.3 (94)
    10-60 relevant              Student's t      93.1-95.2 (88)   93.7-94.9 (91)   94.3-94.8 (92)   94.5-95.2 (94)
    10-60 relevant              pseudo-topics    93.4-95.9 (88)   93.8-95.2 (91)   94.4-94.9 (93)   94.5-95.2 (94)
    Cranfield                   Student's t      95.5-96.1 (90)   94.9-95.3 (87)   94.6-95.2 (89)   94.7-95.0 (92)
    Cranfield                   pseudo-topics    96.3-97.9 (92)   95.2-96.5 (89)   94.9-95.4 (89)   94.7-95.1 (92)
    CSFCube                     Student's t      93.5-95.5 (76)   93.7-94.7 (81)   93.5-94.5 (64)   94.1-94.7 (78)
    CSFCube                     pseudo-topics    94.2-97.5 (79)   94.1-96.0 (81)   93.5-94.8 (64)   94.1-94.9 (78)

    effects                                                   6               10               25               50
    1-4 relevant                of all pairs     97.7-99.3 (96)   97.3-98.3 (95)   96.9-97.5 (95)   96.6-97.6 (95)
    1-4 relevant, weaker runs   of all pairs     97.9-99.6 (95)   97.7-98.8 (95)   97.3-97.9 (95)   97.1-97.9 (95)
    1-4 relevant, strong runs   of all pairs     96.9-98.1 (93)   96.7-97.8 (93)   96.3-97.9 (93)   96.1-98.0 (93)
    1-4 relevant, pools of 400  of all pairs     97.2-98.5 (96)   97.2-98.0 (93)   96.9-98.0 (95)   96.6-97.7 (95)
    bursts of near-duplicates   of all pairs     98.1-99.2 (96)   97.6-98.6 (96)   97.3-98.0 (95)   97.1-97.7 (94)
    a run from outside the pool of all pairs     97.2-98.4 (95)   96.8-97.9 (94)   96.1-97.3 (95)   95.6-97.0 (94)
    5-15 relevant               of all pairs     95.5-97.2 (89)   95.1-97.7 (91)   95.1-97.6 (89)   95.0-97.5 (88)
    10-60 relevant              of all pairs     95.9-98.6 (92)   95.6-98.7 (92)   95.3-98.9 (91)   95.2-98.6 (91)
    Cranfield                   of all pairs     95.9-98.0 (94)   95.6-97.1 (94)   95.5-96.2 (92)   95.2-96.1 (90)
    CSFCube                     of all pairs     94.6-96.6 (90)   94.9-96.0 (89)   94.7-95.7 (89)   95.0-95.9 (87)

    papers with one to three queries (500 studies)
    means, differences                         6                     10                     25                     50
    1-4 relevant   AP        99.0 (99) 98.4 (97)    98.3 (96) 97.6 (96)    96.8 (95) 95.7 (94)    95.8 (95) 95.2 (93)
    1-4 relevant   P@20      97.4 (96) 98.3 (96)    97.8 (97) 97.8 (96)    96.0 (94) 96.4 (95)    96.3 (95) 95.8 (94)
    1-4 relevant   nDCG      98.9 (98) 95.2 (91)    97.8 (95) 95.3 (92)    96.2 (95) 95.1 (92)    96.0 (95) 95.0 (93)
    5-15 relevant  AP        95.5 (93) 96.4 (94)    94.9 (94) 95.2 (93)    93.9 (93) 95.4 (93)    96.2 (94) 95.1 (94)
    5-15 relevant  P@20      95.5 (95) 96.1 (94)    96.8 (96) 95.9 (93)    94.9 (94) 95.7 (94)    95.8 (95) 95.2 (92)
    5-15 relevant  nDCG      97.5 (95) 94.7 (92)    96.0 (93) 94.8 (93)    95.1 (93) 95.0 (92)    96.1 (95) 94.8 (93)
    10-60 relevant AP        94.9 (93) 94.2 (90)    94.9 (94) 94.6 (93)    92.3 (91) 94.1 (92)    96.7 (96) 95.3 (93)
    10-60 relevant P@20      95.1 (94) 94.6 (91)    96.1 (96) 94.6 (91)    94.9 (93) 94.7 (92)    95.6 (95) 94.9 (94)
    10-60 relevant nDCG      97.1 (93) 93.8 (91)    97.2 (95) 94.4 (92)    93.9 (93) 93.9 (92)    95.6 (94) 94.7 (93)

    printed, AP (100 studies)                                 6                       10                       25
    1-4 relevant                   20.7 0.0 0.0 97.1 97.0   20.3 0.0 0.0 96.4 96.2    4.6 0.0 0.0 94.4 94.2
    1-4 relevant, weaker runs      21.8 0.0 0.0 96.2 96.1   28.1 0.0 0.0 94.7 94.5    8.2 0.0 0.0 91.9 91.8
    1-4 relevant, strong runs      16.2 0.0 0.0 96.4 96.4    3.9 0.0 0.0 96.2 96.1    0.5 0.0 0.0 96.2 96.2
    1-4 relevant, pools of 400     27.3 0.0 0.0 96.1 96.1   17.0 0.0 0.0 95.9 95.8    2.6 0.0 0.0 94.7 94.6
    bursts of near-duplicates      20.5 0.0 0.0 94.9 94.8   22.2 0.0 0.0 93.3 93.2    4.1 0.0 0.0 94.4 94.3
    a run from outside the pool    15.5 0.0 0.0 98.2 97.8   13.1 0.0 0.0 96.9 96.6    3.4 0.0 0.0 95.2 95.2
    5-15 relevant                   8.9 0.0 0.0 95.2 95.2    1.1 0.0 0.0 95.8 95.8    0.1 0.0 0.0 93.9 93.9
    10-60 relevant                  6.8 0.0 0.0 93.2 93.1    1.3 0.0 0.0 95.0 95.0    0.2 0.0 0.0 95.2 95.2
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
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
from made_collections import DESIGNS, Collection, beta_like, judged, made
from scipy.special import nctdtrinc, stdtrit

LEVEL = 0.95
FEWEST_STUDIES = 50
"""In which a pair is significant, if its intervals are to be counted."""
FACETS = 3
"""Queries of a paper, at most."""
Drawn = np.ndarray
"""Shape (..., studies, topics): values of topics."""


class Limits(NamedTuple):
    """What limits a measure in each study."""

    highest: np.ndarray
    """Shape (studies,): the highest value of the best order on any topic."""
    weight: np.ndarray
    """Shape (studies,): topics that are added at each end."""


class Cell(NamedTuple):
    """Of one measure and number of topics."""

    held: float
    worst: float
    width: float
    copies: float = np.nan
    """The width of near copies."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("studies", 2000), ("population", 20_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--topics", type=int, nargs="+", default=[4, 6, 10, 25, 50])
    parser.add_argument("--part", choices=["means", "differences", "effects", "papers", "printed"])
    for name in ("cranfield", "csfcube"):
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
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


def collections(options: argparse.Namespace) -> Iterator[Collection]:
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


def drawn_topics(collection: Collection, name: str, topics: int, studies: int) -> tuple[np.ndarray, Limits]:
    """Which topics each study has, shape (studies, topics), and what limits the measure there."""
    rows = np.random.default_rng(topics).integers(0, len(collection.relevant), (studies, topics))
    per_relevant = (1 / np.maximum(1, collection.relevant))[rows].mean(axis=1)
    weight = np.array([Reach(1.0, float(of_study)).weight for of_study in per_relevant])
    return rows, Limits(collection.best[name][rows].max(axis=1), weight)


def jackknife(values: Drawn, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
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


def tenth(values: Drawn, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """Student's t with a tenth of a topic at each end of what can be reached."""
    n, whole = values.shape[-1], values.shape[-1] + 0.2
    mean = (values.sum(axis=-1) + 0.1 * limits.highest) / whole
    squares = ((values - mean[..., None]) ** 2).sum(axis=-1) + 0.1 * (mean**2 + (limits.highest - mean) ** 2)
    half = stdtrit(n - 1, 0.5 + LEVEL / 2) * np.sqrt(squares / (whole - 1) / whole)
    return np.maximum(0, mean - half), np.minimum(1, mean + half)


def of_evaluate(values: Drawn, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """Those that `annot evaluate` prints."""
    return ends_of_mean(values, *limits, level=LEVEL)


def on_pages(values: Drawn, limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    """The same without those that pages do not print, because they are wide."""
    low, high = of_evaluate(values, limits)
    shown = high - low <= WIDEST
    return np.where(shown, low, np.nan), np.where(shown, high, np.nan)


MEANS: dict[str, Callable[[Drawn, Limits], tuple[np.ndarray, np.ndarray]]] = {
    "jackknife": jackknife,
    "t and a tenth": tenth,
    "pseudo-topics": of_evaluate,
    "on pages": on_pages,
}


def students_t(a: Drawn, b: Drawn, limits: Limits) -> np.ndarray:
    """Half the widths. Near 0 the jackknife on Fisher's z is the same."""
    return half_of_difference(a - b, np.zeros(len(a)), *limits, level=LEVEL)


def fiftieth(a: Drawn, b: Drawn, limits: Limits) -> np.ndarray:
    """Half the widths, with a fiftieth of a topic at -1 and at 1."""
    whole = np.ones(len(a))
    return half_of_difference(a - b, whole, whole, whole / 50, level=LEVEL)


def by_share(a: Drawn, b: Drawn, limits: Limits) -> np.ndarray:
    """Half the widths of those that `annot evaluate` prints, before they are held against the test."""
    return half_of_difference(a - b, differing_share(a, b), *limits, level=LEVEL)


DIFFERENCES: dict[str, Callable[[Drawn, Drawn, Limits], np.ndarray]] = {
    "Student's t": students_t,
    "a fiftieth": fiftieth,
    "pseudo-topics": by_share,
}


if __name__ == "__main__":
    main()
