"""Count how often the intervals of agreement hold the truth, where a study asks one to three facets of a paper.

    python benchmarks/interval_coverage.py [--studies 2000] [--papers 4 6 10 25 50] [--facets 1 2 3]

Papers differ in how similar their documents are and in how hard they are to judge, and their facets less so. People are
stricter on one paper than on another and carry this from facet to facet. Grades are four; of the papers one in four has
a facet less than the others, where there are several. A study is so many of 3,000 such papers, whose own figure is the
truth. Three people judge `all` pairs; or two of six each `pair`; or a `team` of two of six each paper. Prints a line a
figure: of 100 intervals at 95% those that held the truth, and in brackets how many of 100 studies had one, if not all.

All studies of a cell are computed at once; the first of them are compared with what the library says of each.

Measured with 2,000 studies, the lowest and the highest of five coefficients (of shares one) and of the three designs:

                                  4           6          10          25          50
    1 a paper  median             -   94.6-96.0   93.8-96.5   94.2-96.2   94.3-97.9
    2 a paper  median             -   96.2-98.5   94.8-96.7   93.5-97.4   94.3-98.4
    3 a paper  median             -   96.3-97.9   94.2-97.2   94.7-98.2   93.8-99.2
    1 a paper  mean       93.8-96.4   94.4-96.2   93.8-95.7   94.2-95.5   94.0-95.9
    2 a paper  mean       93.3-95.7   92.7-95.7   94.0-95.5   93.9-95.3   94.2-95.5
    3 a paper  mean       93.7-94.9   93.5-96.4   93.7-95.4   94.0-96.2   94.4-96.2
    1 a paper  pooled     92.8-95.8   92.7-96.2   93.0-96.4   93.8-96.1   94.0-95.7
    2 a paper  pooled     92.7-95.8   92.2-96.5   93.2-96.9   93.7-96.8   94.2-96.9
    3 a paper  pooled     92.5-95.7   93.2-96.5   93.3-96.4   94.0-97.1   93.7-96.5
    1 a paper  share      95.1-97.1   95.0-96.2   95.0-95.4   94.5-95.3   94.7-95.3
    2 a paper  share      93.8-96.0   92.8-95.0   93.8-95.0   94.2-95.2   94.5-94.9
    3 a paper  share      94.2-94.8   94.1-95.7   93.7-94.7   93.8-95.5   95.0-96.0
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from annot.base.stats.inference import FEWEST_QUERIES, TIE, clusters_of, mean_interval, median_interval, share_of_counts
from annot.base.stats.values import Interval, Undefined, Value
from annot.measuring.agreement.coefficients import (
    OF_COUNTS,
    OF_TABLES,
    Counts,
    count,
    of_tables,
    tables_between,
    value_between,
)
from annot.measuring.agreement.estimates import PooledPairs, ends_of, interval_of
from scipy.special import stdtrit

GRADES = (0, 1, 2, 3)
THRESHOLDS = np.array([-0.2, 0.8, 1.8])
PAPERS = 3_000
PAIRS = 40
"""Of a query."""
FEWER = 0.25
"""Papers with a facet less than the others."""
LEVEL = 0.95
FEWEST_FOR_MEDIAN = 6
COEFFICIENTS = ("spearman_rho", "alpha_ordinal", "kappa", "ac2", "percent")
DESIGNS = {"all": 3, "pair": 6, "team": 6}
"""The people of each design."""
DIGITS = 9
"""Of a query's value: equal ones are equal."""
COMPARED = 20
"""Studies of a cell that the library computes, too."""
AT_ONCE = 100
"""Studies whose tables are held at once."""
Held = tuple[np.ndarray, np.ndarray]
"""Of each study whether the interval held the truth, and whether there was one."""


class Population(NamedTuple):
    """Queries by paper; shape (PAPERS, F, ...), nan or 0 where a paper has no such facet."""

    there: np.ndarray
    counts: Counts
    tables: np.ndarray
    """Shape (PAPERS, F, twos, K, K), of every two people."""
    values: dict[str, np.ndarray]
    """Of each coefficient the value on each query, nan where it has none."""
    disputed: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--papers", type=int, nargs="+", default=[4, 6, 10, 25, 50])
    parser.add_argument("--facets", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS))
    options = parser.parse_args()
    print(f"{'':38}" + "".join(f"{papers:>11}" for papers in options.papers))
    for design in options.designs:
        for facets in options.facets:
            rng = np.random.default_rng(facets)
            population = drawn(design, facets, rng)
            columns = [measured(population, papers, options.studies, rng) for papers in options.papers]
            for title in columns[0]:
                line = "".join(f"{cell(*column[title]):>11}" for column in columns)
                print(f"{design:<5} {facets} a paper  {title:<22}{line}", flush=True)


def cell(held: np.ndarray, made: np.ndarray) -> str:
    if not made.any():
        return "-"
    share = made.mean()
    return f"{100 * held[made].mean():.1f}" + ("" if share > 0.995 else f" ({100 * share:.0f})")


def drawn(design: str, facets: int, rng: np.random.Generator) -> Population:
    """All papers of a design, with what is known of each query."""
    people = DESIGNS[design]
    places = {two: at for at, two in enumerate(zip(*np.triu_indices(people, k=1), strict=True))}
    shape = (PAPERS, facets)
    there = np.ones(shape, dtype=bool)
    k = len(GRADES)
    counts = Counts(*[np.zeros((*shape, *of)) for of in ((k, k), (k, k), (k,), (people, k))])
    tables = np.zeros((*shape, len(places), k, k))
    values = {name: np.full(shape, np.nan) for name in COEFFICIENTS}
    disputed = np.zeros(shape)
    for paper in range(PAPERS):
        there[paper, facets - 1] = facets == 1 or rng.random() >= FEWER
        level, noise = rng.normal(-0.3, 0.6), rng.normal(-0.5, 0.3)
        strict = rng.normal(0, 0.5, people)
        team = rng.permutation(people)[:2]
        for at in np.ndindex(shape[1:]):
            if not there[paper, *at]:
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
            for whole, part in zip(counts.parts(), found.parts(), strict=True):
                whole[paper, *at] = part
            tables[paper, *at, [places[row, column] for row, column in met.tolist()]] = of_two
            for name, of in values.items():
                of[paper, *at] = round(_number(value_between(name, found, of_two, GRADES)), DIGITS)
            disputed[paper, *at] = np.count_nonzero(np.nanmax(ratings, axis=0) > np.nanmin(ratings, axis=0))
    if design == "pair":
        # Two of six by pair hardly share five pairs of a query.
        del values["spearman_rho"]
    return Population(there, counts, tables, values, disputed)


def measured(population: Population, papers: int, studies: int, rng: np.random.Generator) -> dict[str, Held]:
    """Of each figure whether the interval held the truth, by study."""
    chosen = rng.integers(0, PAPERS, (studies, papers))
    by_paper = Counts(*[part.sum(axis=1)[chosen] for part in population.counts.parts()])
    whole = Counts(*[part.sum(axis=(0, 1)) for part in population.counts.parts()])
    found: dict[str, Held] = {}
    truths: dict[str, float] = {}
    for name, of_query in population.values.items():
        values, known = of_query[chosen], of_query[~np.isnan(of_query)]
        ends = ends_of(name)
        truths[f"{name} median"], truths[f"{name} mean"] = round(float(np.median(known)), DIGITS), float(known.mean())
        of_all = population.tables.sum(axis=(0, 1))
        truths[f"{name} pooled"] = truth = _number(value_between(name, whole, of_all, GRADES))
        found[f"{name} median"] = medians_hold(values, truths[f"{name} median"])
        sums, sizes = np.nansum(values, axis=-1), (~np.isnan(values)).sum(axis=-1)
        total, n = sums.sum(axis=1), sizes.sum(axis=1)
        without = (total[:, None] - sums) / np.maximum(1, n[:, None] - sizes)
        found[f"{name} mean"] = jackknives_hold(total / n, without, sizes > 0, ends, truths[f"{name} mean"])
        if name in OF_TABLES:
            value, without = pooled_tables(population.tables.sum(axis=1), chosen, name)
        else:
            sums_of = Counts(*[part.sum(axis=1) for part in by_paper.parts()])
            left = Counts(*[np.round(part.sum(axis=1)[:, None] - part, 9) for part in by_paper.parts()])
            value, without = OF_COUNTS[name](sums_of, GRADES), OF_COUNTS[name](left, GRADES)
        everywhere = np.ones(without.shape, dtype=bool)
        found[f"{name} pooled"] = jackknives_hold(value, without, everywhere, ends, truth)
    sizes = PAIRS * population.there.sum(axis=1)
    truths["share disputed"] = float(population.disputed.sum() / sizes.sum())
    found["share disputed"] = shares_hold(
        population.disputed.sum(axis=1)[chosen], sizes[chosen], truths["share disputed"]
    )
    compare(population, chosen[:COMPARED], truths, found)
    return found


def pooled_tables(tables: np.ndarray, chosen: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The mean over every two people of all papers of a study, and without each. tables: shape (PAPERS, twos, K, K)."""
    values, without = [], []
    for start in range(0, len(chosen), AT_ONCE):
        own = tables[chosen[start : start + AT_ONCE]]
        whole = own.sum(axis=1)
        for target, of in ((values, whole), (without, whole[:, None] - own)):
            figures, used = of_tables(name, of, GRADES, many=True)
            weight, shared = used.sum(axis=-1), of.sum(axis=(-1, -2, -3))
            mean = np.full(weight.shape, np.nan)
            np.divide((figures * used).sum(axis=-1), weight, out=mean, where=2 * weight > shared)
            target.append(mean)
    return np.concatenate(values), np.concatenate(without)


def jackknives_hold(
    value: np.ndarray, without: np.ndarray, there: np.ndarray, ends: tuple[float, float], truth: float
) -> Held:
    """As `annot.base.stats.inference.jackknife_interval`. there: shape (studies, papers), the units of each study."""
    middle, width = sum(ends) / 2, (ends[1] - ends[0]) / 2
    n = there.sum(axis=1)
    scaled, of_others = (value - middle) / width, np.where(there, (without - middle) / width, 0.0)
    made = (n >= FEWEST_QUERIES) & (np.abs(scaled) < 1) & (np.abs(of_others) < 1).all(axis=1)
    with np.errstate(all="ignore"):
        z, left = np.arctanh(scaled), np.where(there, np.arctanh(of_others), 0.0)
        mean = left.sum(axis=1) / n
        error = np.sqrt((n - 1) / n * (np.where(there, left - mean[:, None], 0.0) ** 2).sum(axis=1))
        half = stdtrit(n - 1, 0.5 + LEVEL / 2) * error
        low, high = middle + width * np.tanh(z - half), middle + width * np.tanh(z + half)
    made &= error > TIE
    return made & (low <= truth) & (truth <= high), made


def shares_hold(hits: np.ndarray, sizes: np.ndarray, truth: float) -> Held:
    """As `annot.base.stats.inference.share_of_counts` has it."""
    n, units = sizes.sum(axis=1), sizes.shape[1]
    p = hits.sum(axis=1) / n
    variance = (((hits - p[:, None] * sizes) / n[:, None]) ** 2).sum(axis=1) * units / (units - 1)
    worth = np.minimum(n, 1 + p * (1 - p) / variance)
    t = float(stdtrit(units - 1, 0.5 + LEVEL / 2))
    middle = (p + t * t / (2 * worth)) / (1 + t * t / worth)
    half = t / (1 + t * t / worth) * np.sqrt(p * (1 - p) / worth + t * t / (4 * worth**2))
    return (middle - half <= truth) & (truth <= middle + half), np.ones(len(p), dtype=bool)


def medians_hold(values: np.ndarray, truth: float) -> Held:
    """As `annot.base.stats.inference.median_interval`. values: shape (studies, papers, F), nan where there is none."""
    if values.shape[2] == 1:
        found = [median_interval(of[~np.isnan(of)], level=LEVEL) for of in values[..., 0]]
        made = np.array([isinstance(one, Interval) for one in found])
        return np.array([isinstance(one, Interval) and one.low <= truth <= one.high for one in found]), made
    made = (~np.isnan(values)).any(axis=2).sum(axis=1) >= FEWEST_FOR_MEDIAN
    return made & reached(values, truth) & reached(-values, -truth), made


def reached(values: np.ndarray, truth: float) -> np.ndarray:
    """Whether the lower end lies at or below the truth, by the gap between values in which the truth is."""
    missed = (1 - LEVEL) / 2
    known = ~np.isnan(values)
    n, below = known.sum(axis=(1, 2)), (known & (values < truth)).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.max(np.where(known & (values < truth), values, -np.inf), axis=(1, 2))
        right = np.min(np.where(known & (values >= truth), values, np.inf), axis=(1, 2))
        here = chances(np.where(known, np.where(values >= truth, 1, -1), 0).sum(axis=2))
        outer = chances(np.where(known, np.where(values >= left[:, None, None], 1, -1), 0).sum(axis=2))
        part = (missed - outer) / (here - outer)
        inwards = (n - below) * part / (below + (n - 2 * below) * part)
        alone = (values == left[:, None, None]).sum(axis=(1, 2)) == 1
        low = np.where((outer <= missed) & alone, (1 - inwards) * left + inwards * right, left)
    beyond = chances(np.where(known, np.where(values > truth, 1, -1), 0).sum(axis=2))
    tied = (values == truth).sum(axis=(1, 2)) > 1
    middle = np.nanmedian(values.reshape(len(values), -1), axis=1)
    return ((here > missed) & ((low <= truth) | ~np.isfinite(right))) | (tied & (beyond > missed)) | (middle <= truth)


def chances(totals: np.ndarray) -> np.ndarray:
    """How often the sum of each row, each member with its sign drawn, is as large as it is, or larger."""
    most = int(np.abs(totals).sum(axis=1).max())
    angles = 2 * np.pi / (2 * most + 1) * np.arange(most + 1)
    waves = np.ones((len(totals), most + 1))
    for size in range(1, int(np.abs(totals).max()) + 1):
        waves *= np.cos(size * angles) ** (np.abs(totals) == size).sum(axis=1)[:, None]
    of_sums = np.fft.fftshift(np.fft.irfft(waves, 2 * most + 1, axis=1), axes=1)
    from_above = of_sums[:, ::-1].cumsum(axis=1)[:, ::-1]
    return from_above[np.arange(len(totals)), totals.sum(axis=1) + most]


def compare(population: Population, chosen: np.ndarray, truths: dict[str, float], found: dict[str, Held]) -> None:
    """Stop where the library says otherwise of a study."""
    for study, papers in enumerate(chosen):
        paper_of = [place for place, paper in enumerate(papers) for _ in range(population.there[paper].sum())]
        rows = np.repeat(papers, population.there[papers].sum(axis=1)), np.nonzero(population.there[papers])[1]
        tables = population.tables[rows]
        query, two = np.nonzero(tables.any(axis=(-1, -2)))
        twos = np.unique(two, return_inverse=True)[1]
        clusters = clusters_of(range(len(paper_of)), paper_of)
        counts = Counts(*[part[rows] for part in population.counts.parts()])
        pooled = PooledPairs(clusters, query, twos, tables[query, two], counts)
        intervals: dict[str, Interval | Undefined] = {}
        for name, of_query in population.values.items():
            least, most = ends_of(name)
            values = of_query[rows]
            there = ~np.isnan(values)
            of_values = np.array(paper_of)[there].tolist()
            intervals[f"{name} median"] = median_interval(values[there], level=LEVEL, topics=of_values)
            intervals[f"{name} mean"] = mean_interval(
                values[there], level=LEVEL, least=least, most=most, topics=of_values
            )
            intervals[f"{name} pooled"] = interval_of(pooled, pooled.value(name, GRADES), name, GRADES, level=LEVEL)
        sizes = np.full(len(paper_of), PAIRS)
        intervals["share disputed"] = share_of_counts(
            population.disputed[rows], sizes, level=LEVEL, topics=paper_of
        ).interval
        for title, interval in intervals.items():
            made = isinstance(interval, Interval)
            held = made and interval.low <= truths[title] <= interval.high
            held_here, made_here = (bool(of[study]) for of in found[title])
            if (held, made) != (held_here, made_here):
                raise SystemExit(f"{title}, study {study}: the library has {interval}, the truth is {truths[title]}")


def _number(value: Value) -> float:
    return float("nan") if isinstance(value, Undefined) else value


if __name__ == "__main__":
    main()
