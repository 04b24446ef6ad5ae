"""Make the grid of simulated studies from which `annot forecast --sample` reads before anything is judged.

    python benchmarks/sample_shares.py [--grid FILE] [--queries 800] [--redraws 10] [--pairs 25 50 100 200] [--docs]

Pairs of made studies (8 runs, of which four make the pools) are drawn again from the complete grades with the
probabilities of each share. Each figure is from so many drawn queries in all, of studies with the seeds 0, 1, 2, ...
FILE is `toolkit/annot/measuring/forecast/sample-grid.tsv`. `--docs` prints the tables of docs/explanation/sampling.md
from the grid that is there, and simulates nothing.
"""

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from annot.base.stats.values import Undefined, Value
from annot.measuring.evaluation.measures import family_of
from annot.measuring.forecast.sample import (
    FIGURES,
    SHARES,
    MeasuredDesign,
    assumed,
    certainty,
    grid,
    half_width,
)
from annot.pools.pooling import probabilities
from command import Command
from sample_certificate import judged_whole
from sampled_collections import RULE_OF_STUDIES, Collection, few_relevant

PAIRS = {
    25: ((1, 4), (4, 12)),
    50: ((1, 4), (4, 12)),
    100: ((1, 4), (4, 12), (15, 45)),
    200: ((1, 4), (4, 12), (15, 45)),
}
"""The relevant documents of a query, from and to, by the pairs of its pool. Some of them do not get into the pool."""
Row = tuple[object, ...]
TOPICS = (10, 40)
HIGHEST = (1, 3)
MEASURES = (("trec", "nDCG"), ("csfcube", "NDCG%20"), ("trec", "AP"))


def number(value: Value) -> float:
    assert not isinstance(value, Undefined), value
    return value


def rows_of(highest: int, topics: int, pairs: int, relevant: tuple[int, int], options: Namespace) -> Iterator[Row]:
    """The rows of a design."""
    studies = [
        few_relevant(topics=topics, pool=pairs, relevant=relevant, highest=highest, seed=seed)
        for seed in range(max(1, options.queries // (topics * options.redraws)))
    ]
    mean = np.mean(
        [sum(grade > 0 for grade in grades.values()) for whole in studies for grades in whole.grades.values()]
    )
    pairs_of = zip(studies, map(Collection, studies), strict=True)
    ready = [(collection, judged_whole(whole, collection)) for whole, collection in pairs_of]
    for convention, name in MEASURES:
        family = family_of(convention, name)
        assert family is not None
        for share in SHARES[:-1]:
            found = []
            for seed, (collection, judged) in enumerate(ready):
                measured = MeasuredDesign(
                    *family, relevant_from=1, highest=highest, predict=True, topics=topics, level=0.95,
                    redraws=options.redraws, seed=seed,
                )  # fmt: skip
                certain = certainty(
                    judged, probabilities(collection.frozen, share=share, rule=RULE_OF_STUDIES), measured
                )
                level = number(certain.level.value)
                half = number(certain.half_width) / (1 + level) / number(half_width(1.0, topics, 0.95, 0.0))
                figures = level, number(certain.difference.value), certain.bias, half, certain.empty
                found.append(np.array(figures, dtype=float))
            rounded: list[float] = np.array(found).mean(axis=0).round(4).tolist()
            yield name, highest, topics, pairs, round(float(mean), 1), share, *rounded


def tables() -> Iterator[str]:
    """nDCG with 40 topics, in Markdown: by how much the interval of a difference, and of a mean, is wider in percent.

    After it, why the share is not advised.
    """
    yield "| Pairs | Relevant | Grades | 15% | 25% | 33% | 50% | 75% |"
    yield "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
    rows = grid().query("measure == 'nDCG' and topics == @TOPICS[-1]")
    for (pairs, relevant, highest), of_design in rows.groupby(["pairs", "relevant", "highest"]):
        of_shares: Iterator[Any] = of_design.itertuples()
        cells = [
            f"{100 * row.difference:.0f} ({100 * row.level:.0f})"
            + _faults(row.share, highest=highest, pairs=pairs, relevant=relevant)
            for row in of_shares
        ]
        yield f"| {pairs} | {relevant:.1f} | 0 to {highest} | {' | '.join(cells)} |"


def _faults(share: float, **design: Any) -> str:
    certain = assumed(share, measure="nDCG", topics=TOPICS[-1], level=0.95, **design)
    faults = {"empty": certain.too_empty, "small": certain.too_small, "wide": certain.too_wide}
    return "".join(f", {name}" for name, found in faults.items() if found)


COMMAND = Command(
    __doc__,
    options={"grid": None, "queries": 800, "redraws": 10, "pairs": [*PAIRS], "docs": False},
    smallest="--docs",
    seconds=lambda options: 2 if options.docs else 8 + 0.8 * options.queries * len(options.pairs),
)


def main() -> None:
    options = COMMAND.read()
    if options.docs:
        print("\n".join(tables()))
        return
    lines = ["\t".join(["measure", "highest", "topics", "pairs", "relevant", "share", *FIGURES])]
    for highest in HIGHEST:
        for topics in TOPICS:
            for pairs in options.pairs:
                for relevant in PAIRS[pairs]:
                    for row in rows_of(highest, topics, pairs, relevant, options):
                        lines.append("\t".join(map(str, row)))
                        print(lines[-1], flush=True)
    if options.grid:
        options.grid.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
