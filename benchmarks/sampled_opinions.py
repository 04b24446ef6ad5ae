"""Let a model's opinion predict in samples of collections that were judged whole: does it bias, what does it bring?

    python benchmarks/sampled_opinions.py CRANFIELD CSFCUBE [--redraws 60] [--share 0.33] [--judges good]

The judges are those of `opinion_judges.py`, on its two collections, and one more: `good`, the biased one without its
favour. Each time topics are drawn with replacement (40 of Cranfield's questions, CSFCube's 28 papers), pairs are
sampled, the judge gives its opinion again, and predictions are fitted again, as `annot` does with `cheap_label`. All
judges meet the same topics and pairs. A line for each judge, on the measure by which runs are compared:

- `level`, `apart`: the largest bias of a system's mean, and of a difference between two systems.
- `means`, `diffs`: how many of 100 whole intervals (Student's t over topics) held the truth; next to it how many of
  full judging's own, on the same topics.
- `wider`: by how much the intervals of differences are wider than under full judging, in percent.
- `than ranks`: by how much they are wider than with the rankings alone, in percent; below 0 they are narrower.
- `draw`: the same of the part of the scatter that the draw of the pairs adds.
- `misses`: which bars it misses. L: levels within .03. A: differences within .015. M, D: 92 to 98 of 100 intervals.

Measured with 60 redraws (seeds 0 to 59):

                               level  apart   means / full   diffs / full  wider  than ranks   draw  misses
    Cranfield rankings alone   0.017  0.005    94.8 / 95.3    92.9 / 93.4     17         0.0      0  -
    Cranfield good             0.017  0.006    94.7 / 95.3    93.0 / 93.4     17        -0.0      1  -
    Cranfield people's final   0.000  0.001    95.1 / 95.3    93.3 / 93.4     -0       -14.8    -90  -
    Cranfield always 1         0.018  0.006    94.6 / 95.3    92.7 / 93.4     17        -0.1      0  -
    Cranfield favours          0.016  0.005    94.9 / 95.3    92.8 / 93.4     17        -0.3      1  -
    Cranfield noisy            0.017  0.006    94.6 / 95.3    92.8 / 93.4     17        -0.1      0  -
    Cranfield lenient          0.017  0.006    94.6 / 95.3    92.8 / 93.4     17        -0.1      0  -
    Cranfield by topic         0.017  0.006    94.7 / 95.3    92.8 / 93.4     17        -0.1      0  -
    Cranfield by likeness      0.010  0.005    94.0 / 95.3    92.3 / 93.4     15        -1.6      7  -
    Cranfield by length        0.017  0.006    94.8 / 95.3    92.8 / 93.4     17        -0.1      0  -
    Cranfield by shortness     0.017  0.006    94.7 / 95.3    92.8 / 93.4     17        -0.1      0  -
    Cranfield finer            0.015  0.005    94.2 / 95.3    92.5 / 93.4     16        -1.1      3  -
    Cranfield one of them      0.004  0.002    96.0 / 95.3    93.5 / 93.4      3       -12.4    -53  -
    CSFCube   rankings alone   0.006  0.007    95.6 / 96.3    94.4 / 92.8     31         0.0      0  -
    CSFCube   good             0.003  0.006    96.8 / 96.3    94.6 / 92.8     21        -8.1    -21  -
    CSFCube   people's final   0.000  0.000    96.5 / 96.3    93.0 / 92.8      0       -23.8    -94  -
    CSFCube   always 1         0.006  0.007    95.8 / 96.3    94.5 / 92.8     32         0.1     -1  -
    CSFCube   favours          0.006  0.007    94.2 / 96.3    93.8 / 92.8     23        -6.5    -17  -
    CSFCube   noisy            0.005  0.007    95.9 / 96.3    94.2 / 92.8     28        -2.2     -4  -
    CSFCube   lenient          0.006  0.008    96.8 / 96.3    94.3 / 92.8     26        -3.8     -9  -
    CSFCube   by topic         0.006  0.008    95.9 / 96.3    94.8 / 92.8     28        -2.4     -6  -
    CSFCube   by likeness      0.007  0.008    96.5 / 96.3    94.1 / 92.8     22        -7.1    -17  -
    CSFCube   by length        0.005  0.007    96.1 / 96.3    94.5 / 92.8     28        -2.5     -5  -
    CSFCube   by shortness     0.006  0.007    95.5 / 96.3    93.9 / 92.8     28        -2.7     -7  -
    CSFCube   finer            0.007  0.006    95.9 / 96.3    94.4 / 92.8     24        -5.7    -16  -
    CSFCube   one of them      0.006  0.008    96.5 / 96.3    94.0 / 92.8     18       -10.0    -25  -
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from annot.base.stats.inference import generator
from annot.measuring.sampled.estimates import pools_of
from annot.measuring.sampled.grades import PoolGrades, predicted, tuned, with_opinions
from annot.pools.pooling import drawn, probabilities
from opinion_judges import KINDS, Judge, Planted, good, planted_on
from sampled_designs import HIGHEST, RULE, Collection, Topics
from sampled_judging import BARS, Redraw, redraw

JUDGES: dict[str, Judge] = {"good": good, **{name: judge for name, (judge, _) in KINDS.items()}}
ALONE = "rankings alone"
EVERY = 10**6
"""Questions of Cranfield to take, which has 217 with a relevant document."""
Row = tuple[float, ...]


class Sampled:
    """One redraw of topics and pairs, for all judges."""

    def __init__(self, collection: Collection, topics: Topics, share: float, seed: int) -> None:
        self.collection, whole = collection, collection.whole
        frozen = {name: collection.frozen[query] for name, query in topics.query.items()}
        self.pi = probabilities(frozen, share=share, rule=RULE)
        self.judged = {
            name: {doc_id: whole.grades[topics.query[name]][doc_id] for doc_id in of}
            for name, of in drawn(self.pi, seed=seed).items()
        }
        self.known = {name: collection.features[query] for name, query in topics.query.items()}
        self.topics, self.of = topics, {name: whole.topics[query] for name, query in topics.query.items()}
        self.alone = predicted(self.judged, self.known, self.of, highest=HIGHEST)

    def grades(self, said: dict[str, dict[str, Row]]) -> dict[str, PoolGrades]:
        """The pools as the rankings and what was said of each query predict them."""
        f = self.alone
        if said:
            by_name = {name: said[query] for name, query in self.topics.query.items()}
            f = with_opinions(f, self.judged, self.known, by_name, self.of, highest=HIGHEST)
        weights = tuned(
            self.pi, self.judged, f, self.of, relevant_from=self.collection.whole.relevant_from, highest=HIGHEST
        )
        return pools_of(self.pi, self.judged, f, highest=HIGHEST, weights=weights)


def redraws(
    planted: Planted, collection: Collection, share: float, count: int, judges: Sequence[str]
) -> dict[str, list[Redraw]]:
    """By judge, what each redraw gave; first with the rankings alone."""
    found: dict[str, list[Redraw]] = {}
    for seed in range(count):
        for name, one in redrawn(planted, collection, share, seed, judges):
            found.setdefault(name, []).append(one)
    return found


def redrawn(
    planted: Planted, collection: Collection, share: float, seed: int, judges: Sequence[str]
) -> Iterator[tuple[str, Redraw]]:
    """One redraw, for each judge."""
    once: list[Sampled] = []
    asked = {*collection.drawn_topics(seed).query.values()}
    for name, judge in {ALONE: None, **{name: JUDGES[name] for name in judges}}.items():
        said: dict[str, dict[str, Row]] = {}
        opinion = () if judge is None else judge(planted, generator(seed, name)).tolist()
        for (query_id, doc_id), grade in zip(planted.pairs, opinion, strict=judge is not None):
            if query_id in asked:
                said.setdefault(query_id, {})[doc_id] = tuple(float(grade >= at) for at in range(1, HIGHEST + 1))
        yield name, redraw(collection, partial(_drawn, once=once, said=said), share, seed)


def _drawn(collection: Collection, topics: Topics, share: float, seed: int, *, once: list[Sampled], said) -> dict:
    if not once:
        once.append(Sampled(collection, topics, share, seed))
    return once[0].grades(said)


def lines(collection: Collection, found: dict[str, list[Redraw]], share: float) -> Iterator[str]:
    """A line for each judge."""
    s = len(collection.systems)
    half, design = (np.mean([getattr(one, part)[0] for one in found[ALONE]]) for part in ("half", "design"))
    for name, of in found.items():
        bias = np.mean([one.error[0] for one in of], axis=0)
        held, of_full = (100 * np.mean([getattr(one, part)[0] for one in of], axis=0) for part in ("held", "held_full"))
        means, differences, level, apart = held[:s].mean(), held[s:].mean(), abs(bias).max(), np.ptp(bias)
        own, full, draw = (np.mean([getattr(one, part)[0] for one in of]) for part in ("half", "half_full", "design"))
        bars = {
            "L": level <= BARS.get(share, 0.03),
            "A": apart <= 0.015,
            "M": 92 <= means <= 98,
            "D": 92 <= differences <= 98,
        }
        yield (
            f"{collection.whole.name:<10}{name:<15}{level:7.3f}{apart:7.3f}{means:8.1f} /{of_full[:s].mean():5.1f}"
            f"{differences:8.1f} /{of_full[s:].mean():5.1f}"
            f"{100 * (own / full - 1):7.0f}{100 * (own / half - 1):12.1f}{100 * (draw / design - 1):7.0f}"
            f"  {''.join(bar for bar, met in bars.items() if not met) or '-'}"
        )


HEAD = f"{'':<25}  level  apart   means / full   diffs / full  wider  than ranks   draw  misses"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cranfield", type=Path)
    parser.add_argument("csfcube", type=Path)
    parser.add_argument("--redraws", type=int, default=60)
    parser.add_argument("--share", type=float, default=0.33)
    parser.add_argument("--only", choices=("Cranfield", "CSFCube"))
    parser.add_argument("--judges", nargs="+", choices=[*JUDGES], default=[*JUDGES])
    given = parser.parse_args()
    print(HEAD, flush=True)
    for name in (given.only,) if given.only else ("Cranfield", "CSFCube"):
        planted = planted_on(name, given.csfcube if name == "CSFCube" else given.cranfield, questions=EVERY)
        collection = Collection(replace(planted.whole, measures=planted.whole.measures[:1]))
        found = redraws(planted, collection, given.share, given.redraws, given.judges)
        for line in lines(collection, found, given.share):
            print(line, flush=True)


if __name__ == "__main__":
    main()
