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

RESULTS
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from annot.base.stats.seeding import generator
from annot.measuring.sampled import lists
from annot.measuring.sampled.grades import KINDS, Predicted, Weights, pool_grades
from annot.measuring.sampled.predicting import predicted
from annot.measuring.sampled.weights import tuned
from annot.pools.pair_sample import drawn, probabilities
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
        lists._within = np.asarray
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
