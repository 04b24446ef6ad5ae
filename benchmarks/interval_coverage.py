"""Count how often the intervals of agreement hold the truth, where a study asks one to three facets of a paper.

    python benchmarks/interval_coverage.py [--studies 2000] [--papers 4 6 10 12 25 50] [--facets 1 2 3]

Papers differ in how similar their documents are and in how hard they are to judge, and their facets less so. People are
stricter on one paper than on another and carry this from facet to facet. Grades are four; of the papers one in four has
a facet less than the others, where there are several. A study is so many of 3,000 such papers, whose own figure is the
truth. Three people judge `all` pairs; or two of six each `pair`; or a `team` of two of six each paper. Prints a line a
number of papers: intervals of 100 at 95% that held the truth; a dash where there is none. `--by query` takes queries
for the units of chance, as if they were independent.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from annot.agreement.coefficients import value_between
from annot.agreement.contingency import Counts, count, tables_between
from annot.agreement.pooled import Pooled, PooledTables, ends_of, interval_of
from annot.stats.clustered import clusters_of_queries, mean_interval, share_of_counts
from annot.stats.medians import median_interval
from annot.stats.values import Interval, Undefined, Value

GRADES = (0, 1, 2, 3)
THRESHOLDS = np.array([-0.2, 0.8, 1.8])
PAPERS = 3_000
PAIRS = 40
"""Of a query."""
FEWER = 0.25
"""Papers with a facet less than the others."""
LEVEL = 0.95
COEFFICIENTS = ("spearman_rho", "alpha_ordinal", "kappa", "ac2", "percent")
DESIGNS = {"all": 3, "pair": 6, "team": 6}
"""The people of each design."""


class Population(NamedTuple):
    """Queries, by paper."""

    starts: np.ndarray
    """Shape (PAPERS + 1,): the first query of each paper."""
    counts: Counts
    tables: np.ndarray
    """Shape (queries, twos, K, K), of every two people."""
    values: dict[str, np.ndarray]
    """Of each coefficient the value on each query, nan where it has none."""
    disputed: np.ndarray

    def drawn(self, papers: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """The queries of these papers, and the place of the paper of each; a paper drawn twice is two."""
        rows = [np.arange(self.starts[paper], self.starts[paper + 1]) for paper in papers]
        return np.concatenate(rows), np.repeat(np.arange(len(papers)), [len(row) for row in rows]).tolist()

    def pooled(self, rows: np.ndarray, papers: list[int] | None) -> Pooled:
        """All pairs of these queries."""
        met = self.tables[rows].any(axis=(-1, -2))
        query, two = np.nonzero(met)
        _, two = np.unique(two, return_inverse=True)
        counts = Counts(*[part[rows] for part in self.counts.parts()])
        return Pooled(counts, PooledTables(clusters_of_queries(papers, len(rows)), query, two, self.tables[rows][met]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--papers", type=int, nargs="+", default=[4, 6, 10, 12, 25, 50])
    parser.add_argument("--facets", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS))
    parser.add_argument("--by", choices=("paper", "query"), default="paper")
    options = parser.parse_args()
    print(f"{'':38}" + "".join(f"{papers:>6}" for papers in options.papers))
    for design in options.designs:
        for facets in options.facets:
            rng = np.random.default_rng(facets)
            population = drawn(design, facets, rng)
            columns = [measured(population, design, n, options.studies, options.by, rng) for n in options.papers]
            for title in columns[0]:
                cells = [f"{100 * np.mean(column[title]):.1f}" if column[title] else "-" for column in columns]
                line = f"{design:<5} {facets} a paper  {title:<22}" + "".join(f"{cell:>6}" for cell in cells)
                print(line, flush=True)


def drawn(design: str, facets: int, rng: np.random.Generator) -> Population:
    """All queries of a design, with what is known of each."""
    people = DESIGNS[design]
    first, second = np.triu_indices(people, k=1)
    place = {two: at for at, two in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    sizes, counts, tables, disputed = [], [], [], []
    for _ in range(PAPERS):
        sizes.append(facets - (facets > 1 and rng.random() < FEWER))
        level, noise = rng.normal(-0.3, 0.6), rng.normal(-0.5, 0.3)
        strict = rng.normal(0, 0.5, people)
        team = rng.permutation(people)[:2]
        for _ in range(sizes[-1]):
            similarity = rng.normal(level + rng.normal(0, 0.5), 1.0, PAIRS)
            of_query = np.exp(noise + rng.normal(0, 0.2))
            harsh = strict + rng.normal(0, 0.15, people)
            seen = similarity + harsh[:, None] + of_query * rng.normal(size=(people, PAIRS))
            ratings = (seen[..., None] > THRESHOLDS).sum(axis=-1).astype(float)
            if design == "team":
                ratings[np.setdiff1d(np.arange(people), team)] = np.nan
            elif design == "pair":
                ratings[rng.permuted(np.tile(np.arange(people), (PAIRS, 1)), axis=1).T > 1] = np.nan
            counts.append(count(ratings, GRADES))
            met, of_two = tables_between(ratings, GRADES)
            every = np.zeros((len(first), len(GRADES), len(GRADES)))
            every[[place[row, column] for row, column in met.tolist()]] = of_two
            tables.append(every)
            disputed.append(np.count_nonzero(np.nanmax(ratings, axis=0) > np.nanmin(ratings, axis=0)))
    values = {
        name: np.array([_number(value_between(name, one, of, GRADES)) for one, of in zip(counts, tables, strict=True)])
        for name in names_of(design)
    }
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Population(starts, Counts.stack(counts), np.stack(tables), values, np.array(disputed))


def names_of(design: str) -> tuple[str, ...]:
    """Of two people by pair hardly any share five pairs of a query: no rank correlation."""
    return COEFFICIENTS[1:] if design == "pair" else COEFFICIENTS


def measured(
    population: Population, design: str, papers: int, studies: int, by: str, rng: np.random.Generator
) -> dict[str, list[bool]]:
    """Of each figure whether the interval held the truth, by study."""
    names = names_of(design)
    whole = population.pooled(np.arange(population.starts[-1]), None)
    truths = {}
    for name in names:
        of_query = population.values[name][~np.isnan(population.values[name])]
        truths[f"{name} median"] = float(np.median(of_query))
        truths[f"{name} mean"] = float(of_query.mean())
        truths[f"{name} pooled"] = _number(whole.value(name, GRADES))
    truths["share disputed"] = float(population.disputed.mean()) / PAIRS
    held: dict[str, list[bool]] = {title: [] for title in truths}
    for _ in range(studies):
        rows, paper_of = population.drawn(rng.integers(0, PAPERS, papers))
        known = paper_of if by == "paper" else None
        pooled = population.pooled(rows, known)
        found: dict[str, Interval | Undefined] = {}
        for name in names:
            least, most = ends_of(name)
            values = population.values[name][rows]
            there = ~np.isnan(values)
            of_values = None if known is None else np.array(known)[there].tolist()
            found[f"{name} median"] = median_interval(values[there], level=LEVEL, papers=of_values)
            found[f"{name} mean"] = mean_interval(values[there], level=LEVEL, least=least, most=most, papers=of_values)
            found[f"{name} pooled"] = interval_of(pooled, pooled.value(name, GRADES), name, GRADES, level=LEVEL)
        sizes = np.full(len(rows), PAIRS)
        share = share_of_counts(population.disputed[rows], sizes, level=LEVEL, papers=known)
        found["share disputed"] = share.interval
        for title, interval in found.items():
            if isinstance(interval, Interval):
                held[title].append(interval.low <= truths[title] <= interval.high)
    return held


def _number(value: Value) -> float:
    return float("nan") if isinstance(value, Undefined) else value


if __name__ == "__main__":
    main()
