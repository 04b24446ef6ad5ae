"""What predictions do to estimates from a sample, where relevant documents are few, pools small, or topics few.

    python benchmarks/sampled_predictions.py CRANFIELD CSFCUBE [--redraws 300] [--share 0.33] [--only "Few 100"]

Collections: Cranfield and CSFCube (`judged_whole.py`, 17 systems), and made ones (`few_relevant.py`, 8 systems):
`Few N` has 1 to 4 relevant documents in pools of N, `Mixed N` 1 to 40. Each time, 12 or 25 topics are drawn with
replacement, and their pairs are sampled as `annot plan --sample` does. Then `tuned` is what `annot` does with
predictions, `full` gives them full weight, `none` goes without. A line for each number of topics and measure:

- `whole`: how many of 100 intervals (Student's t over topics) hold the truth with full judging of the same topics, of
  means and of differences between two systems.
- `means`, `diffs`: the same of each way to predict.
- `level, rms`: the mean bias of a system's mean, then the root mean square error of a mean and of a difference, against
  full judging of the same topics.
- `wider`: by how much intervals of a mean, and of a difference, are wider in percent: without predictions than with
  full judging, and `tuned` than without predictions.
- `misses`: bars that `tuned` misses. W: intervals at most 5% wider than without predictions with 12 topics, 3% with
  more. M, D: means and differences hold in 93 of 100, or in at most 1.5 fewer than with full judging.

Measured at a third with 25 topics and 150 redraws (seeds 0 to 149). "Earlier" is before a query in which nothing
relevant is drawn was taken to have one relevant document at most: then its predicted value was too high where queries
have very different numbers of relevant documents. Nothing relevant is drawn in 45, 33, 27 and 20 of 100 queries of
`Few 25`, `50`, `100` and `200`, in 24, 14, 10 and 7 of `Mixed 25`, `50`, `100` and `200`, and in 4 of the others.

The range guard (`--unguarded`, 40 redraws, earlier) moved a level of nDCG or AP by at most .003 on CSFCube, Cranfield,
`Few 100` and `Mixed 200`, and by .02 towards the truth in `Mixed 25`.

                              whole       none      tuned    level, rms none   level, rms tuned   wider   tuned   misses
    CSFCube   25 NDCG%20  95.9 94.0  91.9 94.3  93.4 94.5 +0.015 0.025 0.022 +0.009 0.020 0.019  14  44  -0  -6   -
    CSFCube   25 AP       95.6 93.7  95.2 94.4  94.5 94.4 +0.012 0.023 0.020 +0.006 0.020 0.020  14  41  -2  -2   -
    Cranfield 25 nDCG     96.0 95.6  94.5 95.1  95.6 95.1 +0.018 0.026 0.018 +0.013 0.022 0.018   7  17  -1  -2   -
    Cranfield 25 AP       94.5 95.3  95.0 95.8  95.5 95.8 +0.018 0.026 0.016 +0.012 0.023 0.016  10  16  -0  -2   -
    Few 25    25 nDCG     96.2 94.9  59.7 81.5  86.9 82.4 -0.142 0.161 0.067 -0.021 0.058 0.056  24 -17 -29   3   WMD
    Few 25    25 AP       96.1 94.5  59.8 80.5  83.7 80.9 -0.126 0.143 0.069 -0.032 0.064 0.062  -1 -19 -14   7   WMD
    Few 50    25 nDCG     93.1 95.4  88.9 92.0  92.2 90.9 -0.051 0.069 0.039 -0.002 0.037 0.037  24  -5 -19   2   D
    Few 50    25 AP       92.5 94.7  90.0 92.5  91.8 90.2 -0.030 0.049 0.036 -0.003 0.036 0.038   8  -4  -7   1   D
    Few 100   25 nDCG     94.0 93.4  94.2 93.4  93.8 91.7 -0.011 0.031 0.022 +0.011 0.027 0.024  21  11 -11  -3   D
    Few 100   25 AP       92.8 93.0  93.8 93.7  94.2 92.3 +0.011 0.026 0.022 +0.015 0.028 0.024  12  10  -2  -1   -
    Few 200   25 nDCG     93.3 93.6  93.2 93.9  93.2 93.3 -0.009 0.023 0.014 +0.001 0.017 0.015  15   7  -7  -1   -
    Few 200   25 AP       92.2 93.2  93.4 93.9  93.7 93.4 +0.009 0.022 0.014 +0.009 0.022 0.014   8   7  -1  -1   -
    Mixed 25  25 nDCG     93.3 94.3  91.2 91.3  94.2 92.3 -0.051 0.076 0.049 -0.000 0.042 0.046  40  13 -26   4   WD
    Mixed 25  25 AP       94.3 94.3  87.6 91.9  91.4 92.0 -0.048 0.073 0.054 -0.013 0.051 0.052  25  14 -13   2   MD
    Mixed 50  25 nDCG     95.7 94.6  96.2 93.6  94.6 92.9 -0.002 0.039 0.035 +0.013 0.032 0.034  27  17 -16   0   D
    Mixed 50  25 AP       94.3 93.8  95.7 93.6  94.8 92.7 +0.004 0.037 0.038 +0.008 0.036 0.038  20  20  -6   0   -
    Mixed 100 25 nDCG     94.7 94.7  95.1 94.6  93.9 93.9 +0.004 0.022 0.021 +0.011 0.021 0.021  15  15 -10  -2   -
    Mixed 100 25 AP       93.8 93.9  93.6 94.1  94.2 93.8 +0.013 0.027 0.023 +0.009 0.026 0.023  12  17  -3  -1   -
    Mixed 200 25 nDCG     95.9 95.9  95.2 96.2  94.9 96.0 +0.007 0.019 0.015 +0.009 0.017 0.015  10  12  -6  -1   -
    Mixed 200 25 AP       94.2 96.3  94.3 96.4  94.5 96.4 +0.016 0.026 0.017 +0.011 0.024 0.017  10  13  -1  -1   -

    With 300 redraws (seeds 0 to 299)
    CSFCube   12 NDCG%20  92.7 93.5  93.1 94.4  93.5 94.5 +0.014 0.032 0.032 +0.008 0.028 0.028  14  45   0  -6   -
    CSFCube   12 AP       91.6 93.3  93.0 94.5  92.3 94.4 +0.013 0.030 0.029 +0.006 0.028 0.029  13  38  -2  -3   -
    CSFCube   12 P@20     90.7 93.0  91.3 94.2  91.4 94.1 +0.001 0.019 0.022 +0.000 0.019 0.021   9  42   0  -0   -
    Cranfield 12 nDCG     93.9 95.2  93.5 95.3  94.3 95.2 +0.021 0.034 0.027 +0.015 0.031 0.027   7  18  -1  -2   -
    Cranfield 12 AP       92.1 95.2  93.2 96.0  92.8 95.9 +0.020 0.035 0.024 +0.015 0.033 0.023  11  17  -0  -2   -
    Cranfield 12 P@20     92.2 94.0  91.5 93.7  91.5 93.7 +0.000 0.008 0.010 +0.000 0.008 0.010   3  15   0   0   -
    Few 25    12 nDCG     93.4 96.0  76.4 86.2  84.6 85.7 -0.144 0.177 0.084 -0.025 0.080 0.076  25 -20 -30   5   WMD
    Few 25    12 AP       92.6 95.1  71.0 84.3  80.4 83.8 -0.126 0.156 0.086 -0.037 0.086 0.081  -2 -21 -15   8   WMD
    Few 25    12 P@20     94.3 92.4  91.5 80.5  91.6 82.2 -0.001 0.016 0.013 -0.001 0.016 0.013  83  58  -0   1   MD
    Few 50    12 nDCG     93.3 96.2  91.0 93.8  91.8 92.0 -0.051 0.086 0.053 -0.004 0.054 0.053  25  -4 -20   1   D
    Few 50    12 AP       91.3 95.4  88.5 92.9  89.1 91.0 -0.030 0.066 0.052 -0.005 0.053 0.054   8  -4  -8   1   MD
    Few 50    12 P@20     94.9 93.3  93.2 88.5  93.2 88.6 -0.000 0.012 0.013 -0.000 0.012 0.013  48  54  -0   0   D
    Few 100   12 nDCG     92.5 94.9  93.2 94.6  93.0 93.4 -0.012 0.044 0.033 +0.009 0.035 0.034  22   9 -12  -3   -
    Few 100   12 AP       90.2 93.5  92.0 93.6  91.7 92.6 +0.011 0.039 0.032 +0.015 0.040 0.033  13   9  -3  -2   -
    Few 100   12 P@20     93.9 92.8  91.9 91.5  91.8 91.5 +0.000 0.009 0.010 +0.000 0.009 0.011  22  36  -0  -0   M
    Few 200   12 nDCG     91.5 93.2  93.1 93.4  92.5 92.7 -0.009 0.031 0.021 +0.003 0.025 0.021  15   8  -8  -2   -
    Few 200   12 AP       88.9 91.9  89.9 92.4  89.6 92.0 +0.010 0.029 0.021 +0.009 0.029 0.021   8   8  -1  -1   -
    Few 200   12 P@20     93.7 92.7  93.2 92.1  93.2 92.1 +0.000 0.005 0.006 +0.000 0.005 0.006   7  15   0   0   -
    Mixed 25  12 nDCG     95.6 94.9  94.6 93.4  94.7 92.9 -0.048 0.097 0.068 +0.001 0.063 0.066  42   9 -26   5   D
    Mixed 25  12 AP       95.5 95.4  91.5 93.6  92.0 93.1 -0.040 0.092 0.075 -0.007 0.075 0.074  27  14 -14   2   M
    Mixed 25  12 P@20     92.4 93.6  92.2 91.5  92.2 92.5 +0.002 0.032 0.026 +0.002 0.031 0.026  21  77  -1   0   -
    Mixed 50  12 nDCG     95.7 95.4  94.7 94.8  95.5 94.3 -0.000 0.056 0.048 +0.015 0.046 0.048  28  17 -16   0   -
    Mixed 50  12 AP       95.0 95.4  94.8 94.8  94.4 94.5 +0.009 0.057 0.054 +0.012 0.056 0.055  22  22  -6  -0   -
    Mixed 50  12 P@20     93.2 93.8  92.1 92.6  91.8 93.1 +0.003 0.027 0.027 +0.003 0.026 0.026  15  68  -0   0   -
    Mixed 100 12 nDCG     95.2 95.9  94.1 95.8  94.1 95.2 +0.009 0.033 0.030 +0.014 0.030 0.030  14  18 -10  -2   -
    Mixed 100 12 AP       95.2 95.9  95.8 95.8  95.3 95.5 +0.017 0.039 0.034 +0.013 0.038 0.034  14  20  -3  -2   -
    Mixed 100 12 P@20     95.2 95.1  95.0 93.9  94.9 93.8 +0.002 0.018 0.020 +0.002 0.018 0.021   6  46  -0   0   -
    Mixed 200 12 nDCG     96.8 95.6  96.2 96.0  96.4 95.9 +0.007 0.025 0.020 +0.008 0.022 0.020   9  13  -6  -1   -
    Mixed 200 12 AP       94.5 95.7  94.9 95.8  94.4 95.7 +0.015 0.032 0.023 +0.010 0.030 0.023   9  14  -1  -1   -
    Mixed 200 12 P@20     92.6 93.4  92.9 94.1  92.8 94.1 +0.000 0.009 0.011 +0.000 0.009 0.011   1  17  -0   0   -

    15%, earlier, 100 redraws
    CSFCube   25 NDCG%20  96.3 94.0  90.3 93.0  90.2 93.7 +0.035 0.058 0.049 +0.035 0.054 0.042  69 148  -4  -8   M
    CSFCube   25 AP       95.1 93.7  92.6 93.2  93.1 92.3 +0.000 0.041 0.039 +0.025 0.046 0.039  42  91 -10  -2   -
    CSFCube   25 R@20     94.1 93.3  94.4 91.4  91.3 90.6 -0.006 0.074 0.061 +0.046 0.081 0.063  78  60  -9   1   MD
    Cranfield 25 nDCG     95.9 94.5  85.4 94.1  85.6 93.5 +0.049 0.062 0.035 +0.045 0.056 0.034  29  44 -11  -2   M
    Cranfield 25 AP       94.4 94.6  93.9 94.9  93.2 94.8 +0.037 0.054 0.035 +0.031 0.048 0.034  30  42  -6  -2   -
    Cranfield 25 R@20     96.4 94.7  92.4 93.0  84.8 92.7 +0.048 0.084 0.058 +0.073 0.098 0.060  38  34  -7   2   MD

    50%, earlier, 100 redraws
    CSFCube   25 NDCG%20  96.3 94.0  95.4 94.4  95.3 94.3 +0.006 0.013 0.011 +0.002 0.011 0.011   4  14  -0  -2   -
    CSFCube   25 AP       95.1 93.7  95.2 94.2  94.1 94.1 +0.006 0.013 0.013 +0.001 0.012 0.013   2  15  -0  -2   -
    CSFCube   25 R@20     94.1 93.3  94.8 93.4  95.6 93.2 +0.028 0.045 0.031 +0.018 0.040 0.030  27  22   0  -0   -
    Cranfield 25 nDCG     95.9 94.5  95.0 94.8  95.8 94.7 +0.010 0.017 0.013 +0.005 0.014 0.012   3   9  -0  -1   -
    Cranfield 25 AP       94.4 94.6  95.6 95.2  95.8 95.1 +0.011 0.018 0.011 +0.006 0.016 0.011   6   8   0  -1   -
    Cranfield 25 R@20     96.4 94.7  94.7 94.7  95.3 94.7 +0.024 0.037 0.021 +0.016 0.033 0.021   9   8   1  -0   -

    33%, earlier, 100 redraws
    CSFCube   25 R@20     94.1 93.3  94.0 93.9  93.6 93.9 +0.036 0.062 0.044 +0.036 0.060 0.044  49  47  -2   1   -
    Cranfield 25 R@20     96.4 94.7  92.6 94.3  94.1 94.4 +0.040 0.060 0.036 +0.033 0.055 0.035  18  17   1   1   -
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from annot.base.stats.inference import generator
from annot.measuring.sampled import estimates
from annot.measuring.sampled.grades import KINDS, Predicted, Weights, pool_grades, predicted, tuned
from annot.pools.pooling import drawn, probabilities
from few_relevant import few_relevant
from judged_whole import JudgedWhole, of_cranfield, of_csfcube
from sampled_designs import HIGHEST, RULE, Collection, Topics
from sampled_judging import half_widths

WAYS = ("none", "tuned", "full")
POOLS = (25, 50, 100, 200)
MADE = {
    f"{name} {pool}": (pool, relevant) for name, relevant in (("Few", (1, 4)), ("Mixed", (1, 40))) for pool in POOLS
}
TOPICS = (12, 25)
DRAWS = 16
"""Of each query. A redraw takes one of them for each time that it draws the query."""
MEASURES = ("", "AP", "P@20")
"""The empty one stands for NDCG%20 or nDCG, by which runs are compared."""


def of_name(name: str, cranfield: Path, csfcube: Path) -> JudgedWhole:
    """The collection."""
    if name in MADE:
        pool, relevant = MADE[name]
        return few_relevant(topics=150, pool=pool, relevant=relevant)
    return of_csfcube(csfcube) if name == "CSFCube" else of_cranfield(cranfield)


class Draws:
    """Pairs drawn DRAWS times from each query, and what is measured on them without predictions or with none used."""

    def __init__(self, collection: Collection, share: float) -> None:
        self.collection, whole = collection, collection.whole
        self.pi = probabilities(collection.frozen, share=share, rule=RULE)
        self.judged: dict[tuple[str, int], dict[str, int]] = {}
        for at in range(DRAWS):
            for query_id, doc_ids in drawn(self.pi, seed=at).items():
                self.judged[query_id, at] = {doc_id: whole.grades[query_id][doc_id] for doc_id in doc_ids}
        self._none: dict[tuple[str, int], np.ndarray] = {}
        self._unused: dict[tuple[str, int], np.ndarray] = {}

    def measured(self, topics: Topics, seed: int, ways: Sequence[str]) -> dict[str, np.ndarray]:
        """By way to predict, the measures of each system on each query, shape (M, S, queries)."""
        rng, whole = generator(seed, "draws"), self.collection.whole
        keys = {name: (topics.query[name], int(rng.integers(DRAWS))) for name in topics.names}
        judged = {name: self.judged[key] for name, key in keys.items()}
        pi = {name: self.pi[query_id] for name, query_id in topics.query.items()}
        known = {name: self.collection.features[query_id] for name, query_id in topics.query.items()}
        # Two copies of a topic are one topic here: neither may predict the other.
        topic_of = {name: whole.topics[query_id] for name, query_id in topics.query.items()}
        f = predicted(judged, known, topic_of, highest=HIGHEST)
        weights = {
            "none": dict.fromkeys(topics.names, dict.fromkeys(KINDS, 0.0)),
            "tuned": tuned(pi, judged, f, topic_of, relevant_from=whole.relevant_from, highest=HIGHEST),
            "full": dict.fromkeys(topics.names, dict.fromkeys(KINDS, 1.0)),
        }
        return {
            way: np.stack([self._of(keys[name], f[name], weights[way][name], way) for name in topics.names], axis=-1)
            for way in ways
        }

    def _of(self, key: tuple[str, int], f: Predicted, weights: Weights, way: str) -> np.ndarray:
        plain = max(self.judged[key].values(), default=0) >= self.collection.whole.relevant_from
        if way == "none":
            return self._kept(self._none, key, None, None)
        if plain and not any(weights.values()):
            return self._kept(self._unused, key, f, weights)
        return self._measured(key, f, weights)

    def _kept(self, kept, key: tuple[str, int], f: Predicted | None, weights: Weights | None) -> np.ndarray:
        if key not in kept:
            kept[key] = self._measured(key, f, weights)
        return kept[key]

    def _measured(self, key: tuple[str, int], f: Predicted | None, weights: Weights | None) -> np.ndarray:
        query_id = key[0]
        grades = pool_grades(
            self.pi[query_id], self.judged[key], f, highest=HIGHEST, query_id=query_id, weights=weights
        )
        return self.collection.measured(query_id, grades)[0]


def lines_of(name: str, draws: Draws, topics: int, redraws: int, ways: Sequence[str]) -> Iterator[str]:
    """A line for each measure."""
    collection = draws.collection
    first, second = np.triu_indices(len(collection.systems), 1)
    truth = _with_differences(collection.full.mean(axis=-1)[..., None], first, second)[..., 0]
    means, halves = ({way: [] for way in ("whole", *ways)} for _ in range(2))
    for seed in range(redraws):
        chosen = collection.drawn_topics(seed, topics)
        at = [collection.queries.index(chosen.query[query]) for query in chosen.names]
        measured = {"whole": collection.full[:, :, at], **draws.measured(chosen, seed, ways)}
        for way, values in measured.items():
            both = _with_differences(values, first, second)
            means[way].append(both.mean(axis=-1))
            halves[way].append(half_widths(both, chosen.cluster))
    mean, half = ({way: np.array(rows) for way, rows in of.items()} for of in (means, halves))
    parts = slice(len(collection.systems)), slice(len(collection.systems), None)
    for row, (_, measure) in enumerate(collection.whole.measures):
        holds = {way: abs(mean[way][:, row] - truth[row]) <= half[way][:, row] + 1e-12 for way in mean}
        held = {way: [100 * float(holds[way][:, part].mean()) for part in parts] for way in mean}
        off = {way: mean[way][:, row] - mean["whole"][:, row] for way in ways}
        width = {way: half[way][:, row].mean(axis=0) for way in mean}
        wider = {
            way: [100 * float(np.median(width[way][part] / width[to][part]) - 1) for part in parts]
            for way, to in (("none", "whole"), ("tuned", "none"))
        }
        bars = {
            "W": max(wider["tuned"]) <= (5 if topics <= 12 else 3),
            "M": held["tuned"][0] >= min(93, held["whole"][0] - 1.5),
            "D": held["tuned"][1] >= min(93, held["whole"][1] - 1.5),
        }
        figures = [*(f"{means:6.1f}{differences:5.1f}" for means, differences in held.values())]
        for way in ways:
            rms = [float(np.sqrt((off[way][:, part] ** 2).mean())) for part in parts]
            figures.append(f"{off[way][:, parts[0]].mean():+7.3f}{rms[0]:6.3f}{rms[1]:6.3f}")
        figures += [f"{means:4.0f}{differences:4.0f}" for means, differences in wider.values()]
        missed = "".join(bar for bar, met in bars.items() if not met) or "-"
        yield f"{name:<10}{topics:>2} {measure:<7}{''.join(figures)}   {missed}"


def _shown(whole: JudgedWhole) -> Callable[[str], tuple[str, str]]:
    convention, primary = whole.measures[0]
    return lambda name: (convention, name or primary)


def _with_differences(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.concatenate([values, values[:, first] - values[:, second]], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cranfield", type=Path)
    parser.add_argument("csfcube", type=Path)
    parser.add_argument("--redraws", type=int, default=300)
    parser.add_argument("--share", type=float, default=0.33)
    parser.add_argument("--topics", type=int, nargs="+", default=TOPICS)
    parser.add_argument("--unguarded", action="store_true", help="let ratios leave the range from 0 to 1")
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS[:2])
    parser.add_argument("--only", nargs="+", choices=("CSFCube", "Cranfield", *MADE))
    options = parser.parse_args()
    if options.unguarded:
        estimates._within = np.asarray
    of_each = "".join(f"{f'level, rms {way}':>19}" for way in options.ways)
    held = "".join(f"{way:>11}" for way in ("whole", *options.ways))
    print(f"{'':<20}{held}{of_each}{'wider':>8}{'tuned':>8}   misses", flush=True)
    for name in options.only or ("CSFCube", "Cranfield", *MADE):
        whole = of_name(name, options.cranfield, options.csfcube)
        draws = Draws(Collection(replace(whole, measures=tuple(map(_shown(whole), options.measures)))), options.share)
        for topics in options.topics:
            for line in lines_of(name, draws, topics, options.redraws, options.ways):
                print(line, flush=True)


if __name__ == "__main__":
    main()
