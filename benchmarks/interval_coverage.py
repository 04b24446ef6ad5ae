"""Count how often the intervals of agreement hold the truth, where a study asks one to three facets of a paper.

    python benchmarks/interval_coverage.py [--studies 2000] [--papers 4 6 10 25 50] [--facets 1 2 3]

Papers differ in how similar their documents are and in how hard they are to judge, and their facets less so. People are
stricter on one paper than on another and carry this from facet to facet. Grades are four; of the papers one in four has
a facet less than the others, where there are several. A study is so many of 3,000 such papers, whose own figure is the
truth. Three people judge `all` pairs; or two of six each `pair`; or a `team` of two of six each paper. Prints a line a
figure: of 100 intervals at 95% those that held the truth, and in brackets how many of 100 studies had one, if not all.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import clusters_of, mean_interval, median_interval, share_of_counts
from annot.base.stats.values import Interval, Undefined, Value
from annot.measuring.agreement.coefficients import (
    Counts,
    PooledPairs,
    count,
    ends_of,
    interval_of,
    tables_between,
    value_between,
)
from command import Command

GRADES = (0, 1, 2, 3)
THRESHOLDS = np.array([-0.2, 0.8, 1.8])
PAIRS = 40
"""Of a query."""
FEWER = 0.25
"""Papers with a facet less than the others."""
LEVEL = 0.95
COEFFICIENTS = ("spearman_rho", "alpha_ordinal", "kappa", "ac2", "percent")
DESIGNS = {"all": 3, "pair": 6, "team": 6}
"""The people of each design."""
DIGITS = 9
"""Of a query's value: equal ones are equal."""
Held = tuple[Array, Array]
"""Of each study whether the interval held the truth, and whether there was one."""


class Population(NamedTuple):
    """Queries by paper; shape (papers, F, ...), nan or 0 where a paper has no such facet."""

    present: Array
    counts: Counts
    tables: Array
    """Shape (papers, F, twos, K, K), of every two people."""
    values: Mapping[str, Array]
    """Of each coefficient the value on each query, nan where it has none."""
    disputed: Array


COMMAND = Command(
    __doc__,
    options={
        "studies": 2000,
        "papers": [4, 6, 10, 25, 50],
        "facets": [1, 2, 3],
        "designs": [*DESIGNS],
        "population": 3000,
    },
    choices={"designs": [*DESIGNS]},
    smallest="--studies 2 --papers 6 --facets 2 --designs pair --population 60",
    seconds=lambda options: (
        len(options.designs)
        * sum(options.facets)
        * (0.00045 * options.population + 0.002 * options.studies * len(options.papers))
    ),
)


def main() -> None:
    options = COMMAND.read()
    print(f"{'':38}" + "".join(f"{papers:>11}" for papers in options.papers))
    for design in options.designs:
        for facets in options.facets:
            rng = np.random.default_rng(facets)
            population = drawn(design, facets, options.population, rng)
            columns = [measured(population, papers, options.studies, rng) for papers in options.papers]
            for title in columns[0]:
                line = "".join(f"{cell(*column[title]):>11}" for column in columns)
                print(f"{design:<5} {facets} a paper  {title:<22}{line}", flush=True)


def cell(held: Array, made: Array) -> str:
    if not made.any():
        return "-"
    share = made.mean()
    return f"{100 * held[made].mean():.1f}" + ("" if share > 0.995 else f" ({100 * share:.0f})")


def drawn(design: str, facets: int, papers: int, rng: np.random.Generator) -> Population:
    """All papers of a design, with what is known of each query."""
    people = DESIGNS[design]
    places = {two: at for at, two in enumerate(zip(*np.triu_indices(people, k=1), strict=True))}
    shape = (papers, facets)
    present = np.ones(shape, dtype=bool)
    k = len(GRADES)
    counts = Counts(*[np.zeros((*shape, *of)) for of in ((k, k), (k, k), (k,), (people, k))])
    tables = np.zeros((*shape, len(places), k, k))
    values = {name: np.full(shape, np.nan) for name in COEFFICIENTS}
    disputed = np.zeros(shape)
    for paper in range(papers):
        present[paper, facets - 1] = facets == 1 or rng.random() >= FEWER
        level, noise = rng.normal(-0.3, 0.6), rng.normal(-0.5, 0.3)
        strict = rng.normal(0, 0.5, people)
        team = rng.permutation(people)[:2]
        for at in np.ndindex(shape[1:]):
            if not present[paper, *at]:
                continue
            similarity = rng.normal(level + rng.normal(0, 0.5), 1.0, PAIRS)
            of_query = np.exp(noise + rng.normal(0, 0.2))
            harsh = strict + rng.normal(0, 0.15, people)
            seen = similarity + harsh[:, None] + of_query * rng.normal(size=(people, PAIRS))
            ratings = (seen[..., None] > THRESHOLDS).sum(axis=-1).astype(float)
            if design == "team":
                ratings[np.setdiff1d(np.arange(people), team)] = np.nan
            elif design == "pair":
                ratings[rng.permuted(np.tile(np.arange(people), (PAIRS, 1)), axis=1).T > 1] = np.nan
            found, (met, of_two) = count(ratings, GRADES), tables_between(ratings, GRADES)
            for whole, part in zip(counts, found, strict=True):
                whole[paper, *at] = part
            for (row, column), table in zip(met.tolist(), of_two, strict=True):
                tables[paper, *at, places[row, column]] = table
            for name, of in values.items():
                of[paper, *at] = round(_number(value_between(name, found, of_two, GRADES)), DIGITS)
            disputed[paper, *at] = np.count_nonzero(np.nanmax(ratings, axis=0) > np.nanmin(ratings, axis=0))
    if design == "pair":
        # Two of six by pair hardly share five pairs of a query.
        del values["spearman_rho"]
    return Population(present, counts, tables, values, disputed)


def measured(population: Population, papers: int, studies: int, rng: np.random.Generator) -> dict[str, Held]:
    """Whether the interval of each figure held the truth, by study."""
    truths = truths_of(population)
    found: dict[str, Held] = {title: (np.zeros(studies, bool), np.zeros(studies, bool)) for title in truths}
    for study, chosen in enumerate(rng.integers(0, len(population.present), (studies, papers))):
        for title, interval in intervals_of(population, chosen).items():
            if isinstance(interval, Interval):
                held, made = found[title]
                held[study], made[study] = interval.low <= truths[title] <= interval.high, True
    return found


def truths_of(population: Population) -> dict[str, float]:
    """Figures of all papers."""
    whole = Counts(*[part.sum(axis=(0, 1)) for part in population.counts])
    tables = population.tables.sum(axis=(0, 1))
    truths: dict[str, float] = {}
    for name, of_query in population.values.items():
        known = of_query[~np.isnan(of_query)]
        truths[f"{name} median"], truths[f"{name} mean"] = round(float(np.median(known)), DIGITS), float(known.mean())
        truths[f"{name} pooled"] = _number(value_between(name, whole, tables, GRADES))
    return truths | {"share disputed": float(population.disputed.sum() / (PAIRS * population.present.sum()))}


def intervals_of(population: Population, papers: Array) -> dict[str, Interval | Undefined]:
    """Intervals of a study of these papers, as the library has them."""
    paper_of = [place for place, paper in enumerate(papers) for _ in range(population.present[paper].sum())]
    rows = np.repeat(papers, population.present[papers].sum(axis=1)), np.nonzero(population.present[papers])[1]
    tables = population.tables[rows]
    query, two = np.nonzero(tables.any(axis=(-1, -2)))
    twos = np.unique(two, return_inverse=True)[1]
    clusters = clusters_of(range(len(paper_of)), paper_of)
    counts = Counts(*[part[rows] for part in population.counts])
    pooled = PooledPairs(clusters, query, twos, tables[query, two], counts)
    intervals: dict[str, Interval | Undefined] = {}
    for name, of_query in population.values.items():
        least, most = ends_of(name)
        known = ~np.isnan(of_query[rows])
        values, topics = of_query[rows][known], np.array(paper_of)[known].tolist()
        intervals[f"{name} median"] = median_interval(values, level=LEVEL, topics=topics)
        intervals[f"{name} mean"] = mean_interval(values, level=LEVEL, least=least, most=most, topics=topics)
        intervals[f"{name} pooled"] = interval_of(pooled, pooled.value(name, GRADES), name, GRADES, level=LEVEL)
    sizes = np.full(len(paper_of), PAIRS)
    shares = share_of_counts(population.disputed[rows], sizes, level=LEVEL, topics=[*map(str, paper_of)])
    return intervals | {"share disputed": shares.interval}


def _number(value: Value) -> float:
    return float("nan") if isinstance(value, Undefined) else value


if __name__ == "__main__":
    main()
