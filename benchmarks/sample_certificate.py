"""How close what a sampled study says of its own sample comes to the truth, on simulated studies.

    python benchmarks/sample_certificate.py [--studies 20] [--redraws 40] [--topics 20] [--share 0.3333] [--nothing 0]

The truth comes from the complete grades, whose pairs are drawn again `--redraws` times. The study itself sees one draw,
and says by how much its sample widens intervals: of a run's mean (level) and of a difference between two runs.

- `truth`: the factor 1 + widening, the median over studies. `says`: the median over studies of the factor over the true
  factor of the same study. `holds`: in how many of the studies the range of 90% holds the true factor.
- `bias`: how far a run's mean is off, in points of 100, and what the study says of it, both the median over studies.

--nothing is the share of questions that have no relevant document: the first ones lose theirs.
"""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import numpy as np
from annot.base.stats.inference import generator
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.evaluation.measures import family_of
from annot.measuring.forecast.sample import Certainty, JudgedQueries, MeasuredDesign, certainty
from annot.pools.pooling import probabilities
from command import Command
from judged_whole import JudgedWhole
from sampled_collections import RULE_OF_STUDIES, Collection, few_relevant

DESIGNS = ((25, (1, 4), 1), (25, (3, 12), 3), (130, (1, 4), 1), (130, (10, 40), 3))
"""Pairs of a pool, relevant documents from and to, the highest grade."""
MEASURES = ("nDCG", "AP")
REDRAWS = 20
"""Of a study itself."""


def judged_whole(whole: JudgedWhole, collection: Collection) -> JudgedQueries:
    """The collection as what is known of queries that were judged whole."""
    lists = {
        query_id: [[(doc_id,) for doc_id in rankings[query_id]] for rankings in whole.rankings.values()]
        for query_id in whole.grades
    }
    certain = {query_id: dict.fromkeys(grades, 1.0) for query_id, grades in whole.grades.items()}
    return JudgedQueries(whole.grades, lists, collection.features, whole.topics, certain)


def drawn_once(judged: JudgedQueries, pi: dict[str, dict[str, float]], seed: int) -> JudgedQueries:
    """What a study knows that drew its pairs with these probabilities."""
    grades = {}
    for query_id, known in judged.grades.items():
        chance = generator(seed, "the study", query_id).random(len(known))
        grades[query_id] = {
            doc: known[doc] for doc, of in zip(sorted(known), chance, strict=True) if of < pi[query_id][doc]
        }
    return replace(judged, grades=grades, drawn_with=pi)


def factor(wider: Estimate) -> float:
    assert not isinstance(wider.value, Undefined), wider.value
    return 1 + wider.value


def held(said: Estimate, truth: float) -> bool:
    return isinstance(said.interval, Interval) and said.interval.low <= truth - 1 <= said.interval.high


def lines_of(pairs: int, relevant: tuple[int, int], highest: int, options: Namespace) -> Iterator[str]:
    found: dict[str, list[tuple[Certainty, Certainty]]] = {}
    for seed in range(options.studies):
        whole = few_relevant(topics=options.topics, pool=pairs, relevant=relevant, highest=highest, seed=seed)
        for query_id in [*whole.grades][: round(options.nothing * options.topics)]:
            whole.grades[query_id] = dict.fromkeys(whole.grades[query_id], 0)
        collection = Collection(whole)
        judged = judged_whole(whole, collection)
        pi = probabilities(collection.frozen, share=options.share, rule=RULE_OF_STUDIES)
        part = drawn_once(judged, pi, seed)
        for name in MEASURES:
            family = family_of("trec", name)
            assert family is not None
            of_study = MeasuredDesign(
                *family, relevant_from=1, highest=highest, predict=True, topics=options.topics, level=0.95,
                redraws=REDRAWS, seed=seed,
            )  # fmt: skip
            truth = certainty(judged, pi, replace(of_study, redraws=options.redraws))
            found.setdefault(name, []).append((truth, certainty(part, pi, of_study)))
    for name, both in found.items():
        cells = []
        for part_of in ("level", "difference"):
            true = [factor(getattr(truth, part_of)) for truth, _ in both]
            said = [getattr(one, part_of) for _, one in both]
            ratio = median(factor(one) / of for one, of in zip(said, true, strict=True))
            share = np.mean([held(one, of) for one, of in zip(said, true, strict=True)])
            cells.append(f"{median(true):8.2f}{ratio:7.2f}{100 * share:6.0f}")
        biases = [100 * median(study[at].bias or 0.0 for study in both) for at in range(2)]
        cells.append("".join(f"{bias:+8.1f}" for bias in biases))
        yield f"{pairs:5} {relevant[0]:3}-{relevant[1]:<3}{highest:3} {name:5}{''.join(cells)}"


COMMAND = Command(
    __doc__,
    options={"studies": 20, "redraws": 40, "topics": 20, "share": 0.3333, "nothing": 0.0},
    smallest="--studies 1 --redraws 2 --topics 4",
    seconds=lambda options: 1 + 0.0135 * options.studies * options.topics * (options.redraws + 20),
)


def main() -> None:
    options = COMMAND.read()
    print("                            level                difference           bias")
    print("pairs relevant  G          truth   says holds   truth   says holds   truth    says")
    for design in DESIGNS:
        for line in lines_of(*design, options):
            print(line, flush=True)


if __name__ == "__main__":
    main()
