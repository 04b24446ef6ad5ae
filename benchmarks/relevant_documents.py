"""How often the interval of a query's number of relevant documents holds it, and how good the estimates are.

    python benchmarks/relevant_documents.py CSFCUBE [--redraws 200] [--share 0.3333]

Collections: made ones of 60 questions, with 1 to 4 or 1 to 40 relevant documents in pools of so many, and CSFCube.

- `true`: relevant documents of a query, on average; `off`: by how much the mean estimate differs.
- `holds`: how many of 100 intervals of 95% hold the number of their query; `width`: of the interval, in documents.
  First what annot prints, then 1.96 standard errors from the variance of the draw on both sides.
- `share`: how many of 100 intervals over 25 topics, drawn with replacement, hold the share of relevant documents.
"""

import numpy as np
from annot.base.stats.inference import generator
from annot.base.stats.values import Interval
from annot.measuring.sampled.grades import counts_of, pool_grades, share_of
from annot.pools.pooling import drawn, probabilities
from command import Command
from judged_whole import JudgedWhole
from sampled_collections import HIGHEST, MADE, RULE_OF_STUDIES, Collection, named

TOPICS = 25
NAMES = [name for name in MADE if not name.endswith(" 50")] + ["CSFCube"]


def line(name: str, whole: JudgedWhole, share: float, redraws: int) -> str:
    """The figures of one collection."""
    pi = probabilities(Collection(whole).frozen, share=share, rule=RULE_OF_STUDIES)
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


COMMAND = Command(
    __doc__,
    paths=("csfcube",),
    options={"redraws": 200, "share": 0.3333, "only": NAMES},
    choices={"only": NAMES},
    smallest="CSFCUBE --redraws 1 --only CSFCube",
    seconds=lambda options: 20 + 0.2 * options.redraws * len(options.only),
)


def main() -> None:
    options = COMMAND.read()
    print(f"{'':10}{'true':>7}{'off':>7}{'holds':>8}{'width':>8}{'by var.':>8}{'width':>8}{'share':>8}")
    for name in options.only:
        print(line(name, named(name, options, topics=60), options.share, options.redraws), flush=True)


if __name__ == "__main__":
    main()
