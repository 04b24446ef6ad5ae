"""How often the interval of a query's number of relevant documents holds it, and how good the estimates are.

    python benchmarks/relevant_documents.py CSFCUBE [--redraws 200] [--share 0.3333]

Pairs of all queries are drawn `--redraws` times, with the seeds 0, 1, 2, ... Collections: `few_relevant.py` (60
questions each, with 1 to 4 or 1 to 40 relevant documents in pools of so many), and CSFCube. Columns:

- `true`: relevant documents of a query, on average; `off`: by how much the mean estimate differs.
- `holds`: how many of 100 intervals of 95% hold the number of their query; `width`: of the interval, in documents.
  First what annot prints (`counts.py`), then 1.96 standard errors from the variance of the draw on both sides.
- `share`: how many of 100 intervals over topics hold the share of relevant documents in the pools: of 25 topics that
  are drawn with replacement each time, with the share in all topics as the truth.

Measured with 200 redraws at a third:

                 true    off   holds   width by var.   width   share
    Few 25       1.50  -0.00    99.5     8.3    53.2     4.0    98.5
    Few 100      1.55  -0.01    97.3    12.9    63.1     2.6    99.5
    Few 200      1.68  -0.02    98.2    15.0    67.4     2.2    98.5
    Mixed 25     4.30  +0.01    99.1     9.9    66.6     8.1    93.0
    Mixed 100    5.98  +0.03    98.4    16.0    71.5     7.6    93.0
    Mixed 200    7.33  +0.02    97.8    18.8    69.0     8.1    93.5
    CSFCube     10.15  -0.00    98.8    19.7    74.8    12.5    92.0
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from annot.base.stats.inference import generator
from annot.base.stats.values import Interval
from annot.measuring.sampled.grades import counts_of, pool_grades, share_of
from annot.pools.pooling import SampleRule, drawn, probabilities
from few_relevant import few_relevant
from judged_whole import JudgedWhole, of_csfcube
from sampled_designs import HIGHEST, Collection

RULE = SampleRule(seed=0, across="query", floor=0.05, unranked=1.0)
"""As annot.toml has it."""
TOPICS = 25
MADE = {
    f"{name} {pool}": (pool, relevant)
    for name, relevant in (("Few", (1, 4)), ("Mixed", (1, 40)))
    for pool in (25, 100, 200)
}


def collections(csfcube: Path) -> Iterator[tuple[str, JudgedWhole]]:
    """By name."""
    for name, (pool, relevant) in MADE.items():
        yield name, few_relevant(topics=60, pool=pool, relevant=relevant)
    yield "CSFCube", of_csfcube(csfcube)


def line(name: str, whole: JudgedWhole, share: float, redraws: int) -> str:
    """The figures of one collection."""
    pi = probabilities(Collection(whole).frozen, share=share, rule=RULE)
    least, names = whole.relevant_from, [*whole.grades]
    true = np.array([sum(grade >= least for grade in whole.grades[query].values()) for query in names])
    share_in_all = true.sum() / sum(map(len, whole.grades.values()))
    topics = sorted({*whole.topics.values()})
    found = []
    for seed in range(redraws):
        pools = {}
        for query_id, doc_ids in drawn(pi, seed=seed).items():
            judged = {doc_id: whole.grades[query_id][doc_id] for doc_id in doc_ids}
            pools[query_id] = pool_grades(pi[query_id], judged, None, highest=HIGHEST, query_id=query_id)
        counts = {query_id: counts_of(pool) for query_id, pool in pools.items()}
        chosen = generator(seed, "topics").integers(0, len(topics), TOPICS)
        copies = [
            (at, query) for at, topic in enumerate(chosen) for query in names if whole.topics[query] == topics[topic]
        ]
        over_topics = share_of(
            [counts[query] for _, query in copies],
            range(least, HIGHEST + 1),
            level=0.95,
            topics=[str(at) for at, _ in copies],
        ).interval
        assert isinstance(over_topics, Interval)
        for number, query_id in zip(true, names, strict=True):
            ends = counts[query_id].number(least, level=0.95).interval
            assert isinstance(ends, Interval)
            half = 1.96 * float(np.sqrt((pools[query_id].relevant(least).moves ** 2).sum()))
            estimate = float(counts[query_id].estimated[least - 1])
            found.append(
                (
                    estimate - number,
                    100 * (ends.low - 1e-9 <= number <= ends.high + 1e-9),
                    ends.high - ends.low,
                    100 * (abs(estimate - number) <= half + 1e-9),
                    2 * half,
                    100 * (over_topics.low <= share_in_all <= over_topics.high),
                )
            )
    off, *others = np.mean(found, axis=0)
    return f"{name:10}{true.mean():7.2f}{off:+7.2f}" + "".join(f"{figure:8.1f}" for figure in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csfcube", type=Path)
    parser.add_argument("--redraws", type=int, default=200)
    parser.add_argument("--share", type=float, default=0.3333)
    options = parser.parse_args()
    print(f"{'':10}{'true':>7}{'off':>7}{'holds':>8}{'width':>8}{'by var.':>8}{'width':>8}{'share':>8}")
    for name, whole in collections(options.csfcube):
        print(line(name, whole, options.share, options.redraws), flush=True)


if __name__ == "__main__":
    main()
