"""Judge a third of collections that were judged whole, again and again, and compare with the whole.

    python benchmarks/sampled_judging.py CRANFIELD CSFCUBE [--redraws 200] [--shares 0.15 0.33 0.5] [--only Cranfield]

Both have 17 systems of five families (`judged_whole.py`). Each time topics are drawn with replacement (40 of
Cranfield's questions, CSFCube's 28 papers), pairs are sampled again, and predictions are fitted again. Truth for a bias
is full judging of the same topics, for an interval the mean over all topics. A line for each design and share:

- `level`: the largest bias of a system's mean. `apart`: the largest bias of a difference between two systems.
- `draw`: how many of 100 intervals of a difference over draws alone (1.96 design standard errors) held full judging.
- `means`, `diffs`: how many of 100 whole intervals (Student's t over topics) held the truth; next to it how many of
  full judging's own, on the same topics.
- `wider`: by how much the intervals of differences are wider than under full judging, in percent.
- `1.96s`: the half width of an interval of a difference over draws alone, on average.
- `same`: of the differences that full judging of the same topics finds, how many of 100 have the same sign; `kept`: how
  many the sample finds, too. `rev.`: of those that full judging of all topics finds, the largest number of 100 redraws
  in which one is found the other way round.
- `floor`: of 100 queries, those whose ideal was raised to what was found.
- `misses`: which bars the design misses. L: levels within .03 (at half .015). A: differences within .015. M, D: 92 to
  98 of 100 intervals of means and of differences hold. R: 1 reversal in 100.

`sampled_designs.py` has the designs. `best first` and `bandit` have to miss bars where `sample` misses none.

Then each family is left out of pool, order and model: the error of its systems less the mean error of all, and how many
places the best of it falls. Then agreement, of CSFCube's two assessors: by how much the pooled figure, the mean and the
median over queries are off on average over draws, and in brackets their standard deviation.

Measured before the weights of predictions were tuned, so `sample` has them at full weight; `sampled_predictions.py`
has figures of tuned weights. With 200 redraws (15%, f = 0, the true ideal and the others at half with 100). A measure
with a star is divided by the ideal of full judging, which a sample does not know:

                                       level  apart  draw  means / full  diffs / full wider  1.96s  rev.  misses
    Cranfield sample      0.15 nDCG    0.043  0.027    92    88.9 / 95.6    94.3 / 94.0    88  0.067   2.0  LAMR
    Cranfield sample      0.15 AP      0.039  0.025    87    93.0 / 96.2    94.5 / 94.0    61  0.050   2.0  LAR
    Cranfield sample      0.33 nDCG    0.015  0.010    85    95.2 / 95.5    94.2 / 94.4    21  0.024   0.5  -
    Cranfield sample      0.33 nDCG@10 0.013  0.008    82    95.2 / 95.5    94.0 / 93.7    13  0.020   0.5  -
    Cranfield sample      0.33 P@20    0.000  0.001    92    96.6 / 96.6    94.8 / 95.3    16  0.010   1.0  -
    Cranfield sample      0.33 R@20    0.035  0.022    81    91.9 / 95.2    94.5 / 95.2    25  0.041   1.5  LAMR
    Cranfield sample      0.33 AP      0.015  0.010    73    95.0 / 95.2    94.0 / 94.2    14  0.016   1.0  -
    Cranfield sample      0.50 nDCG    0.008  0.005    83    95.1 / 95.5    94.0 / 94.4     9  0.014   1.0  -
    Cranfield sample      0.50 R@20    0.016  0.008    78    94.4 / 95.2    94.5 / 95.2     9  0.021   0.5  L
    Cranfield sample      0.50 AP      0.008  0.005    71    95.4 / 95.2    94.3 / 94.2     6  0.009   1.0  -
    Cranfield sample      0.15 nDCG*   0.004  0.007    94    96.5 / 95.6    94.6 / 94.0    59  0.057   2.0  R
    Cranfield sample      0.33 nDCG*   0.005  0.005    94    95.7 / 95.6    93.4 / 94.0    21  0.030   1.0  -
    Cranfield sample      0.50 nDCG*   0.003  0.003    94    95.7 / 95.6    93.5 / 94.0     9  0.019   1.0  -
    Cranfield f = 0       0.33 nDCG    0.023  0.010    76    93.6 / 95.6    93.0 / 94.0    19  0.017   1.0  -
    Cranfield best first  0.33 nDCG    0.053  0.046     0    81.3 / 95.5    88.3 / 94.4     8  0.000   4.0  LAMDR
    Cranfield bandit      0.33 nDCG    0.036  0.026     0    90.7 / 95.5    93.3 / 94.4    10  0.000   1.0  LAM
    Cranfield best first  0.50 nDCG    0.034  0.031     0    91.4 / 95.6    91.3 / 94.0     5  0.000   1.0  LAMD
    Cranfield bandit      0.50 nDCG    0.025  0.019     0    94.1 / 95.6    93.7 / 94.0     6  0.000   1.0  LA
    CSFCube   sample      0.15 NDCG%20 0.047  0.018    98    91.9 / 96.5    93.7 / 93.9   146  0.100   0.0  LAM
    CSFCube   sample      0.15 AP      0.046  0.035    95    94.5 / 95.9    94.2 / 93.9   208  0.113   0.0  LA
    CSFCube   sample      0.33 NDCG%20 0.012  0.006    96    94.4 / 94.9    94.1 / 94.3    36  0.033   0.0  -
    CSFCube   sample      0.33 P@20    0.002  0.002    95    94.0 / 94.1    94.9 / 93.3    35  0.024   0.5  -
    CSFCube   sample      0.33 R@20    0.036  0.026    93    95.6 / 94.9    95.0 / 93.3    78  0.090   0.5  LA
    CSFCube   sample      0.33 AP      0.010  0.012    90    95.2 / 95.1    94.9 / 93.9    47  0.032   0.0  -
    CSFCube   sample      0.50 NDCG%20 0.005  0.002    94    95.1 / 94.9    94.0 / 94.3    11  0.017   0.0  -
    CSFCube   sample      0.50 R@20    0.022  0.020    88    95.3 / 94.9    94.3 / 93.3    28  0.045   0.0  LA
    CSFCube   sample      0.50 AP      0.006  0.006    86    95.4 / 95.1    94.5 / 93.9    17  0.015   0.0  -
    CSFCube   sample      0.15 NDCG%20* 0.010  0.007   93    94.1 / 96.5    92.8 / 93.9    90  0.059   0.0  -
    CSFCube   sample      0.33 NDCG%20* 0.003  0.006   95    95.0 / 96.5    94.7 / 93.9    29  0.030   0.0  -
    CSFCube   sample      0.50 NDCG%20* 0.001  0.001   94    95.6 / 96.5    94.1 / 93.9     9  0.016   0.0  -
    CSFCube   f = 0       0.33 NDCG%20 0.011  0.007    95    96.5 / 96.5    94.9 / 93.9    42  0.035   1.0  -
    CSFCube   best first  0.33 NDCG%20 0.092  0.095     0    37.2 / 94.9    69.0 / 94.3    23  0.000   0.5  LAMD
    CSFCube   bandit      0.33 NDCG%20 0.091  0.102     0    44.8 / 94.9    69.5 / 94.3    35  0.000   0.5  LAMD
    CSFCube   best first  0.50 NDCG%20 0.035  0.028     0    87.2 / 96.5    90.5 / 93.9     8  0.000   0.0  LAMD
    CSFCube   bandit      0.50 NDCG%20 0.033  0.028     0    90.2 / 96.5    90.4 / 93.9    10  0.000   0.0  LAMD

Recall does not meet the bars at any share: it divides by the number of relevant documents, whose estimate scatters by
half or more where a query has fewer than eleven, and the mean of 1 / n is not 1 / the mean of n. At a third (15
redraws), R@20 is off by -.14 on CSFCube's queries with one or two relevant documents, by +.05 with three to five, +.03
with six to ten and +.01 with more; on Cranfield by -.02, +.04, +.03, 0. The correction by replicates takes off what is
left of it elsewhere: NDCG's ideal grows ever more slowly with n, and AP's values are half as large. To put predicted
numbers in the place of estimated ones makes it worse (-.10 and -.13).

The best half or third of Cranfield gives P@20 as well as a sample does: few relevant documents are ranked lower. Over
draws alone, intervals of AP are too short where queries have few relevant documents.

    CSFCube, 33%                     pooled            mean          median
    weighted alpha_ordinal   +0.001 (0.023)  -0.013 (0.025)  -0.010 (0.037)
    weighted kappa           +0.001 (0.020)  -0.004 (0.019)  +0.008 (0.029)
    weighted percent         +0.000 (0.013)  -0.002 (0.014)  -0.011 (0.021)
    weighted spearman_rho    -0.001 (0.023)  +0.001 (0.024)  +0.011 (0.035)
    plain    alpha_ordinal   +0.020 (0.016)  +0.001 (0.017)  +0.019 (0.028)
    plain    kappa           -0.034 (0.013)  -0.025 (0.014)  -0.008 (0.020)
    plain    percent         -0.078 (0.009)  -0.078 (0.010)  -0.102 (0.016)

    left out, 33%, 12 to 15 redraws
    Cranfield best first  -0.031 to +0.012   falls by up to 1 of 17 places
    Cranfield bandit      -0.022 to +0.007   falls by up to 1 of 17 places
    Cranfield uniform     -0.009 to +0.016   falls by up to 2 of 17 places
    Cranfield sample      -0.007 to +0.003   falls by up to 0 of 17 places
    CSFCube   best first  -0.105 to +0.023   falls by up to 10 of 17 places
    CSFCube   bandit      -0.109 to +0.029   falls by up to 10 of 17 places
    CSFCube   uniform     -0.011 to +0.009   falls by up to 2 of 17 places
    CSFCube   sample      -0.003 to +0.007   falls by up to 1 of 17 places

`same` and `kept` at 33% (60 redraws; CSFCube's sample and uniform 200): Cranfield best first 100 and 83, bandit 100 and
87, uniform 96 and 42, sample 100 and 75; CSFCube 98 and 77, 97 and 74, 92 and 26, 99 and 61.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from annot.base.records import Judgement
from annot.measuring.agreement.estimates import agreement_table
from annot.pools.pooling import drawn, probabilities
from judged_whole import FAMILIES, JudgedWhole, of_cranfield, of_csfcube
from sampled_designs import DESIGNS, HIGHEST, RULE, TOPICS, Collection, Draw
from scipy.special import stdtrit

BARS = {0.33: 0.03, 0.5: 0.015}


class Redraw(NamedTuple):
    """Of one redraw, M measures, S systems and P pairs of them."""

    error: np.ndarray
    """Shape (M, S): the mean less that of full judging of the same topics."""
    held: np.ndarray
    """Shape (M, S) and, joined to it, (M, P): whether whole intervals held the truth."""
    held_full: np.ndarray
    """The same of full judging's own intervals."""
    drawn: np.ndarray
    """Shape (M, P): whether the interval over draws alone held full judging's difference."""
    half: np.ndarray
    """Shape (M, P): half the whole interval of a difference."""
    half_full: np.ndarray
    design: np.ndarray
    """Shape (M, P): the design standard error of a difference."""
    way: np.ndarray
    """Shape (M, P): 1 or -1, whichever of the two has the higher mean."""
    sign: np.ndarray
    """Shape (M, P): 1 or -1 where the interval excludes 0."""
    sign_full: np.ndarray
    floored: float


def redraw(collection: Collection, draw: Draw, share: float, seed: int) -> Redraw:
    """Topics and pairs drawn once."""
    topics = collection.drawn_topics(seed)
    at = [collection.queries.index(topics.query[name]) for name in topics.names]
    first, second = np.triu_indices(len(collection.systems), 1)
    grades = draw(collection, topics, share, seed)
    found = [collection.measured(topics.query[name], grades[name]) for name in topics.names]
    values, full = np.stack([one[0] for one in found], axis=-1), collection.full[:, :, at]
    n, truth = len(at), collection.full.mean(axis=-1)
    variance = np.zeros((len(values), len(first)))
    for _, effects, _ in found:
        for row, of in enumerate(effects):
            square, inner = (of**2).sum(axis=1), of @ of.T
            # Two lists with the same effects differ by rounding.
            variance[row] += np.maximum(0.0, square[first] + square[second] - 2 * inner[first, second]) / n**2
    both, both_full = (np.concatenate([of, of[:, first] - of[:, second]], axis=1) for of in (values, full))
    true = np.concatenate([truth, truth[:, first] - truth[:, second]], axis=1)
    half, half_full = (half_widths(of, topics.cluster) for of in (both, both_full))
    mean, mean_full, s = both.mean(axis=-1), both_full.mean(axis=-1), len(collection.systems)
    return Redraw(
        error=(mean - mean_full)[:, :s],
        held=abs(mean - true) <= half,
        held_full=abs(mean_full - true) <= half_full,
        drawn=abs(mean - mean_full)[:, s:] <= 1.96 * np.sqrt(variance) + 1e-12,
        half=half[:, s:],
        half_full=half_full[:, s:],
        design=np.sqrt(variance),
        way=np.sign(mean[:, s:]),
        sign=_signs(mean, half)[:, s:],
        sign_full=_signs(mean_full, half_full)[:, s:],
        floored=float(np.mean([one[2] for one in found])),
    )


def _signs(mean: np.ndarray, half: np.ndarray) -> np.ndarray:
    return np.sign(mean) * (abs(mean) > half)


def half_widths(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Half the t interval of the mean over queries whose topics are the units of chance."""
    off = values - values.mean(axis=-1, keepdims=True)
    units = np.zeros((*values.shape[:2], int(cluster.max()) + 1))
    np.add.at(units, (slice(None), slice(None), cluster), off)
    c, n = units.shape[-1], values.shape[-1]
    return stdtrit(c - 1, 0.975) * np.sqrt(c / (c - 1) * (units**2).sum(axis=-1)) / n


def found_by_full_judging(collection: Collection) -> np.ndarray:
    """Of each pair of systems, 1 or -1 where full judging of all topics finds a difference: shape (M, P)."""
    first, second = np.triu_indices(len(collection.systems), 1)
    _, cluster = np.unique([collection.whole.topics[one] for one in collection.queries], return_inverse=True)
    differences = collection.full[:, first] - collection.full[:, second]
    return _signs(differences.mean(axis=-1), half_widths(differences, cluster))


def lines(collection: Collection, design: str, share: float, redraws: int) -> Iterator[str]:
    """What the redraws of one design and share show, a line a measure."""
    found = [redraw(collection, DESIGNS[design], share, seed) for seed in range(redraws)]
    s, sure = len(collection.systems), found_by_full_judging(collection)
    bias = np.mean([one.error for one in found], axis=0)
    floor = 100 * np.mean([one.floored for one in found])
    first, second = np.triu_indices(s, 1)
    names = [name for _, name in collection.whole.measures]
    for row, name in enumerate(names):
        apart = abs(bias[row, first] - bias[row, second]).max()
        held, full = (
            100 * np.mean([getattr(one, part)[row] for one in found], axis=0) for part in ("held", "held_full")
        )
        half, before = (np.mean([getattr(one, part)[row] for one in found]) for part in ("half", "half_full"))
        signs, of_full = (np.stack([getattr(one, part)[row] for one in found]) for part in ("sign", "sign_full"))
        reversed_ = 100 * (signs * sure[row] < 0).mean(axis=0).max()
        way = np.stack([one.way[row] for one in found])
        same, kept = (100 * (of == of_full)[of_full != 0].mean() for of in (way, signs))
        means, differences = held[:s].mean(), held[s:].mean()
        level = abs(bias[row]).max()
        bars = {
            "L": level <= BARS.get(share, 0.03),
            "A": apart <= 0.015,
            "M": 92 <= means <= 98,
            "D": 92 <= differences <= 98,
            "R": reversed_ <= 1,
        }
        missed = "".join(bar for bar, met in bars.items() if not met)
        on_draws = 100 * np.mean([one.drawn[row] for one in found])
        yield (
            f"{collection.whole.name:<10}{design:<11}{share:5.2f} {name:<9}"
            f"{level:7.3f}{apart:7.3f}{on_draws:6.0f}"
            f"{means:8.1f} /{full[:s].mean():5.1f}{differences:8.1f} /{full[s:].mean():5.1f}"
            f"{100 * (half / before - 1):6.0f}{1.96 * np.mean([one.design[row] for one in found]):7.3f}"
            f"{same:6.0f}{kept:6.0f}{reversed_:6.1f}{floor:6.1f}  {missed or '-'}"
        )


def left_out_lines(whole: JudgedWhole, share: float, redraws: int) -> Iterator[str]:
    """Each family left out of pool, order and model: what its systems then get too little, by design."""
    errors: dict[str, list[float]] = {}
    falls: dict[str, list[int]] = {}
    for systems in FAMILIES.values():
        methods = tuple(name for name in whole.methods if name not in systems)
        pools = {
            query_id: {doc_id for name in methods for doc_id in whole.rankings[name][query_id]} & of.keys()
            for query_id, of in whole.grades.items()
        }
        grades = {query_id: {doc_id: of[doc_id] for doc_id in pools[query_id]} for query_id, of in whole.grades.items()}
        collection = Collection(replace(whole, methods=methods, grades=grades))
        own = [collection.systems.index(name) for name in systems]
        best = max(own, key=lambda at: collection.full[0, at].mean())
        for design, draw in DESIGNS.items():
            found = [redraw(collection, draw, share, seed) for seed in range(redraws)]
            error = np.mean([one.error[0] for one in found], axis=0)
            errors.setdefault(design, []).extend((error[own] - error.mean()).tolist())
            truth = collection.full[0].mean(axis=-1)
            before, after = (int((of > of[best]).sum()) for of in (truth, truth + error))
            falls.setdefault(design, []).append(after - before)
    for design, of in errors.items():
        yield (
            f"{whole.name:<10}{design:<11}{share:5.2f} {min(of):+7.3f} to {max(of):+.3f}"
            f"   falls by up to {max(falls[design])} of {len(whole.rankings)} places"
        )


AGREEMENT = ("alpha_ordinal", "kappa", "percent", "spearman_rho")


def agreement_lines(collection: Collection, share: float, draws: int) -> Iterator[str]:
    """How far agreement from a sample is off that of the whole pool, over draws: weighted by 1 / pi, and plain."""
    whole = collection.whole
    facets = {one: one for one in collection.queries}
    pi = probabilities(collection.frozen, share=share, rule=RULE)
    truth = _agreement(whole.judgements, facets, None)
    found: dict[str, list[np.ndarray]] = {"weighted": [], "plain": []}
    for seed in range(draws):
        there = {(query_id, doc_id) for query_id, of in drawn(pi, seed=seed).items() for doc_id in of}
        judged = [one for one in whole.judgements if one.pair in there]
        weights = {(query_id, doc_id): 1 / pi[query_id][doc_id] for query_id, doc_id in there}
        found["weighted"].append(_agreement(judged, facets, weights) - truth)
        found["plain"].append(_agreement(judged, facets, None) - truth)
    for name, errors in found.items():
        bias, spread = np.mean(errors, axis=0), np.std(errors, axis=0)
        for row, coefficient in enumerate(AGREEMENT):
            parts = " ".join(f"{b:+8.3f} ({e:.3f})" for b, e in zip(bias[row], spread[row], strict=True))
            yield f"{whole.name:<10}{name:<11}{share:5.2f} {coefficient:<14}{parts}"


def _agreement(judgements: Sequence[Judgement], facets: dict[str, str], weights) -> np.ndarray:
    """Shape (coefficients, 3): pooled, mean and median over queries; percentages as shares."""
    table = agreement_table(
        judgements, (), facets, grades=range(HIGHEST + 1), missing="drop", binarised_at=None, level=None, topics=None,
        coefficients=AGREEMENT, weights=weights,
    )  # fmt: skip
    of = table.groups[-1].before
    return np.array(
        [
            [value / (100 if name == "percent" else 1) for value in (of[name].pooled, of[name].mean, of[name].median)]
            for name in AGREEMENT
        ]
    )


HEAD = (
    f"{'':<10}{'design':<11}share {'measure':<9}  level  apart  draw  means / full  diffs / full wider  1.96s"
    "  same  kept  rev. floor  misses"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cranfield", type=Path)
    parser.add_argument("csfcube", type=Path)
    parser.add_argument("--redraws", type=int, default=200)
    parser.add_argument("--left-out", type=int, default=20, help="redraws with each family left out; 0 for none")
    parser.add_argument("--draws", type=int, default=200, help="draws for agreement; 0 for none")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.15, 0.33, 0.5])
    parser.add_argument("--designs", nargs="+", default=[*DESIGNS])
    parser.add_argument("--only", choices=TOPICS)
    options = parser.parse_args()
    print(HEAD, flush=True)
    for name, read, folder in (
        ("Cranfield", of_cranfield, options.cranfield),
        ("CSFCube", of_csfcube, options.csfcube),
    ):
        if options.only in (None, name):
            collection = Collection(read(folder))
            for design in options.designs:
                for share in options.shares:
                    for line in lines(collection, design, share, options.redraws):
                        print(line, flush=True)
            for share in options.shares if options.left_out else ():
                for line in left_out_lines(collection.whole, share, options.left_out):
                    print(line, flush=True)
            for share in options.shares if options.draws and collection.whole.judgements else ():
                for line in agreement_lines(collection, share, options.draws):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
