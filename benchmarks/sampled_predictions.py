"""What predictions do to estimates from a sample, if relevant documents are few, pools small, or topics few.

    python benchmarks/sampled_predictions.py CRANFIELD CSFCUBE [--redraws 300] [--share 0.33] [--only "Few 100"]

Collections: Cranfield and CSFCube (17 systems), and made ones (8 systems): `Few N` has 1 to 4 relevant documents in
pools of N, `Mixed N` 1 to 40. `Every` is Cranfield with the questions in whose pool nothing is relevant. Each time, 12
or 25 topics are drawn with replacement, and their pairs are sampled as `annot plan --sample` does. `tuned` is what
`annot` does with predictions, `full` gives them full weight, `none` goes without. A line for each number of topics and
measure:

- `whole`: how many of 100 intervals (Student's t over topics) of means and of differences between two systems hold the
  truth with full judging of the same topics; next to it the same of each way to predict.
- `level, rms`: mean bias of a system's mean, root mean square error of a mean and of a difference.
- `wider`: by how many percent intervals of a mean, and of a difference, are wider: without predictions than with full
  judging, and `tuned` than without predictions.
- `misses`: bars that `tuned` misses. W: intervals at most 5% wider than without predictions with 12 topics, 3% with
  more. M, D: means and differences hold in 93 of 100, or in at most 1.5 fewer than with full judging.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import generator
from annot.measuring.sampled.grades import KINDS, Predicted, Weights, pool_grades, predicted, tuned
from annot.pools.pooling import drawn, probabilities
from command import Command
from sampled_collections import EVERY_QUESTION, HIGHEST, MADE, RULE, Collection, Topics, half_widths, named

NAMES = ("CSFCube", "Cranfield", EVERY_QUESTION, *MADE)
WAYS = ("none", "tuned", "full")
TOPICS = (12, 25)
Key = tuple[str, int]
"""A query, and the number of a draw of its pairs."""
DRAWS = 16
"""Of each query. A redraw takes one of them for each time that it draws the query."""
MEASURES = ("", "AP", "P@20")
"""The empty one stands for NDCG%20 or nDCG, by which runs are compared."""


class Draws:
    """Pairs drawn DRAWS times from each query, and what is measured on them without predictions or with none used."""

    def __init__(self, collection: Collection, share: float) -> None:
        self.collection, whole = collection, collection.whole
        self.pi = probabilities(collection.frozen, share=share, rule=RULE)
        self.judged: dict[tuple[str, int], dict[str, int]] = {}
        for at in range(DRAWS):
            for query_id, doc_ids in drawn(self.pi, seed=at).items():
                self.judged[query_id, at] = {doc_id: whole.grades[query_id][doc_id] for doc_id in doc_ids}
        self._kept: dict[tuple[Key, bool], Array] = {}

    def measured(self, topics: Topics, seed: int, ways: Sequence[str]) -> dict[str, Array]:
        """By way to predict, the measures of each system on each query, shape (M, S, queries)."""
        rng, whole = generator(seed, "draws"), self.collection.whole
        keys = {name: (topics.query[name], int(rng.integers(DRAWS))) for name in topics.names}
        judged = {name: self.judged[key] for name, key in keys.items()}
        pi = {name: self.pi[query_id] for name, query_id in topics.query.items()}
        known = {name: self.collection.features[query_id] for name, query_id in topics.query.items()}
        # Two copies of a topic are one topic here: neither may predict the other.
        topic_of = {name: whole.topics[query_id] for name, query_id in topics.query.items()}
        f = predicted(judged, known, topic_of, highest=HIGHEST)
        weights: dict[str, Mapping[str, Weights]] = {
            "none": dict.fromkeys(topics.names, dict.fromkeys(KINDS, 0.0)),
            "tuned": tuned(pi, judged, f, topic_of, relevant_from=whole.relevant_from, highest=HIGHEST),
            "full": dict.fromkeys(topics.names, dict.fromkeys(KINDS, 1.0)),
        }
        return {
            way: np.stack([self._of(keys[name], f[name], weights[way][name], way) for name in topics.names], axis=-1)
            for way in ways
        }

    def _of(self, key: Key, f: Predicted, weights: Weights, way: str) -> Array:
        plain = max(self.judged[key].values(), default=0) >= self.collection.whole.relevant_from
        if way != "none" and (not plain or any(weights.values())):
            return self._measured(key, f, weights)
        if (key, way == "none") not in self._kept:
            self._kept[key, way == "none"] = self._measured(key, *((None, None) if way == "none" else (f, weights)))
        return self._kept[key, way == "none"]

    def _measured(self, key: Key, f: Predicted | None, weights: Weights | None) -> Array:
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
    means: dict[str, list[Array]] = {way: [] for way in ("whole", *ways)}
    halves: dict[str, list[Array]] = {way: [] for way in ("whole", *ways)}
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


def _with_differences(values: Array, first: Array, second: Array) -> Array:
    return np.concatenate([values, values[:, first] - values[:, second]], axis=1)


COMMAND = Command(
    __doc__,
    paths=("cranfield", "csfcube"),
    options={"redraws": 300, "share": 0.33, "topics": TOPICS, "measures": MEASURES, "ways": WAYS[:2], "only": NAMES},
    choices={"ways": WAYS, "only": NAMES},
    smallest="CRANFIELD CSFCUBE --redraws 1 --topics 12 --only CSFCube --measures AP",
    seconds=lambda options: 35 + 0.015 * options.redraws * sum(options.topics) * len(options.only),
)


def main() -> None:
    options = COMMAND.read()
    of_each = "".join(f"{f'level, rms {way}':>19}" for way in options.ways)
    held = "".join(f"{way:>11}" for way in ("whole", *options.ways))
    print(f"{'':<20}{held}{of_each}{'wider':>8}{'tuned':>8}   misses", flush=True)
    for name in options.only:
        whole = named(name, options)
        convention, primary = whole.measures[0]
        measures = tuple((convention, measure or primary) for measure in options.measures)
        draws = Draws(Collection(replace(whole, measures=measures)), options.share)
        for topics in options.topics:
            for line in lines_of(name, draws, topics, options.redraws, options.ways):
                print(line, flush=True)


if __name__ == "__main__":
    main()
