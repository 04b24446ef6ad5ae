"""Made collections whose topics have few relevant documents, as the questions of most projects have.

There are no texts: each document has a hidden likeness to its question, and each run a score for it. Relevant documents
are more like their question, other documents of their neighbourhood are, too, and runs share part of their errors. So
the runs that made the pools agree with each other as the methods of one program do.
"""

from __future__ import annotations

import numpy as np
from annot.base.stats.inference import generator
from annot.pools.pooling import FUSION
from judged_whole import JudgedWhole

CORPUS = 1500
POOLING = ("m1", "m2", "m3", "m4")
SKILLS = {"m1": 1.0, "m2": 0.8, "m3": 0.6, "m4": 0.9, "strong": 1.8, "like m1": 1.0, "weak": 0.4, "poor": 0.1}
"""By run, how much it knows besides what all know."""


def few_relevant(
    *, topics: int, pool: int, relevant: tuple[int, int] = (1, 4), highest: int = 1, seed: int = 0
) -> JudgedWhole:
    """Questions with a number of relevant documents in their pool from the first to the second of `relevant`.

    pool: documents of each pool, the best of the fusion of POOLING. highest: the highest grade; relevant is 1 or more.
    """
    grades: dict[str, dict[str, int]] = {}
    rankings: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in SKILLS}
    at = 0
    while len(grades) < topics:
        rng = generator(seed, "question", str(at))
        query_id, at = f"q{at:04}", at + 1
        fewest, most = np.log(relevant[0]), np.log(relevant[1] + 1)
        count = int(np.exp(rng.uniform(fewest, most)))
        like = rng.normal(size=CORPUS)
        like[:count] += rng.normal(2.2, 0.8, count)
        shared = like + rng.normal(0, 0.7, CORPUS)
        scores = {name: shared + skill * like + rng.normal(0, 1.0, CORPUS) for name, skill in SKILLS.items()}
        scores["like m1"] = scores["m1"] + rng.normal(0, 0.15, CORPUS)
        ranks = {name: np.argsort(np.argsort(-of)) for name, of in scores.items()}
        fused = sum(1 / (FUSION + 1 + ranks[name]) for name in POOLING)
        chosen = np.argsort(-fused)[:pool]
        ids = [f"d{number:04}" for number in rng.permutation(CORPUS)]
        graded = {ids[doc]: int(rng.integers(1, highest + 1)) if doc < count else 0 for doc in chosen.tolist()}
        if not any(graded.values()):
            continue
        grades[query_id] = dict(sorted(graded.items()))
        for name, of in ranks.items():
            order = np.argsort(of)[: 2 * pool]
            rankings[name][query_id] = tuple(ids[doc] for doc in order.tolist())
    return JudgedWhole(
        name=f"Few {pool}",
        grades=grades,
        topics={query_id: query_id for query_id in grades},
        cited={},
        rankings=rankings,
        methods=POOLING,
        relevant_from=1,
        measures=tuple(("trec", name) for name in ("nDCG", "AP", "P@20", "R@20")),
    )
