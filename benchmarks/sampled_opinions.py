"""Let a model's opinion predict in samples of collections that were judged whole: does it bias, what does it bring?

    python benchmarks/sampled_opinions.py CRANFIELD CSFCUBE [--redraws 60] [--share 0.33] [--only CSFCube]

The judges are those of `opinion_judges.py`, on its two collections, and one more: `good`, the biased one without its
favour. Each time topics are drawn with replacement (40 of Cranfield's 50 questions, CSFCube's 28 papers), pairs are
sampled, the judge gives its opinion again, and predictions are fitted again, as `annot` does with `cheap_label`. All
judges meet the same topics and pairs. A line for each judge, on the measure by which runs are compared:

- `level`, `apart`: the largest bias of a system's mean, and of a difference between two systems.
- `means`, `diffs`: how many of 100 whole intervals (Student's t over topics) held the truth; next to it how many of
  full judging's own, on the same topics.
- `wider`: by how much the intervals of differences are wider than under full judging, in percent.
- `than ranks`: by how much they are wider than with the rankings alone, in percent; below 0 they are narrower.
- `draw`: the same of the part of the scatter that the draw of the pairs adds.
- `misses`: which bars it misses. L: levels within .03. A: differences within .015. M, D: 92 to 98 of 100 intervals.

Measured with 60 redraws on Cranfield and 20 on CSFCube:

                               level  apart   means   diffs  wider  than ranks   draw  misses
    Cranfield rankings alone   0.021  0.009    91.2    90.8     24         0.0      0  MD
    Cranfield good             0.018  0.011    90.8    91.5     20        -3.1      0  MD
    Cranfield people's final   0.003  0.002    91.1    89.8      1       -18.3    -84  MD
    Cranfield always 1         0.025  0.011    91.6    90.1     19        -4.0    -26  MD
    Cranfield favours          0.014  0.010    90.8    90.4     22        -1.2      1  MD
    Cranfield noisy            0.023  0.012    91.9    90.3     19        -3.9    -21  MD
    Cranfield lenient          0.022  0.010    91.0    89.4     18        -5.1    -20  MD
    Cranfield by topic         0.024  0.011    91.5    90.2     19        -4.0    -18  MD
    Cranfield by likeness      0.013  0.010    90.9    90.2     15        -7.0    -15  MD
    Cranfield by length        0.022  0.012    91.6    89.6     19        -3.6    -19  MD
    Cranfield by shortness     0.021  0.008    92.3    90.1     18        -5.0    -22  D
    Cranfield finer            0.021  0.010    91.8    89.7     14        -8.0    -31  MD
    Cranfield one of them      0.007  0.003    92.0    89.9      4       -16.1    -64  MD
                               level  apart   means / full   diffs / full  wider  than ranks   draw  misses
    CSFCube   rankings alone   0.015  0.015    87.6 / 92.9    92.3 / 90.5     35         0.0      0  AM
    CSFCube   good             0.012  0.011    90.6 / 92.9    92.0 / 90.5     20       -10.8    -26  M
    CSFCube   people's final   0.001  0.001    92.9 / 92.9    90.6 / 90.5     -0       -26.0    -95  D
    CSFCube   always 1         0.016  0.016    88.2 / 92.9    92.7 / 90.5     34        -0.9     -2  AM
    CSFCube   favours          0.017  0.013    88.5 / 92.9    91.7 / 90.5     25        -7.2    -20  MD
    CSFCube   noisy            0.014  0.013    87.4 / 92.9    92.8 / 90.5     30        -3.4     -7  M
    CSFCube   lenient          0.016  0.014    90.9 / 92.9    93.1 / 90.5     29        -4.4    -10  M
    CSFCube   by topic         0.018  0.014    90.9 / 92.9    92.5 / 90.5     29        -4.2    -10  M
    CSFCube   by likeness      0.016  0.012    86.2 / 92.9    92.3 / 90.5     24        -8.3    -19  M
    CSFCube   by length        0.012  0.013    88.2 / 92.9    93.2 / 90.5     31        -3.1     -7  M
    CSFCube   by shortness     0.015  0.014    89.1 / 92.9    91.9 / 90.5     32        -2.5     -8  MD
    CSFCube   finer            0.013  0.011    88.8 / 92.9    92.5 / 90.5     24        -8.0    -18  M
    CSFCube   one of them      0.010  0.008    88.5 / 92.9    92.3 / 90.5     20       -11.1    -27  M

On these 50 questions of Cranfield, the intervals of full judging hold the truth in 91 (means) and 90 (differences) of
100, so that M and D are missed there with any prediction.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from annot.base.stats.seeding import generator
from annot.measuring.sampled.grades import PoolGrades, pool_grades
from annot.measuring.sampled.predicting import predicted, with_opinions
from annot.pools.pair_sample import drawn, probabilities
from opinion_judges import KINDS, Judge, Planted, good, planted_on
from sampled_designs import HIGHEST, RULE, Collection, Topics
from sampled_judging import BARS, Redraw, redraw

JUDGES: dict[str, Judge] = {"good": good, **{name: judge for name, (judge, _) in KINDS.items()}}
ALONE = "rankings alone"
Row = tuple[float, ...]


class Sampled:
    """One redraw of topics and pairs, for all judges."""

    def __init__(self, collection: Collection, topics: Topics, share: float, seed: int) -> None:
        whole = collection.whole
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
        return {
            name: pool_grades(self.pi[name], self.judged[name], f[name], highest=HIGHEST, query_id=name)
            for name in self.topics.names
        }


def redraws(planted: Planted, collection: Collection, share: float, count: int) -> dict[str, list[Redraw]]:
    """By judge, what each redraw gave; first with the rankings alone."""
    found: dict[str, list[Redraw]] = {}
    for seed in range(count):
        for name, one in redrawn(planted, collection, share, seed):
            found.setdefault(name, []).append(one)
    return found


def redrawn(planted: Planted, collection: Collection, share: float, seed: int) -> Iterator[tuple[str, Redraw]]:
    """One redraw, for each judge."""
    once: list[Sampled] = []
    for name, judge in {ALONE: None, **JUDGES}.items():
        said: dict[str, dict[str, Row]] = {}
        opinion = () if judge is None else judge(planted, generator(seed, name)).tolist()
        for (query_id, doc_id), grade in zip(planted.pairs, opinion, strict=judge is not None):
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
    given = parser.parse_args()
    print(HEAD, flush=True)
    for name in (given.only,) if given.only else ("Cranfield", "CSFCube"):
        planted = planted_on(name, given.csfcube if name == "CSFCube" else given.cranfield)
        collection = Collection(replace(planted.whole, measures=planted.whole.measures[:1]))
        for line in lines(collection, redraws(planted, collection, given.share, given.redraws), given.share):
            print(line, flush=True)


if __name__ == "__main__":
    main()
