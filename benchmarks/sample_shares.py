"""By how much a share of the pools widens intervals, and biases levels, on two collections that were judged whole.

    python benchmarks/sample_shares.py CRANFIELD CSFCUBE [--redraws 10 40]

The figures that `annot forecast --sample` assumes before anything is judged (`measuring/forecast/sample_shares.py`) are
the larger ones of both; of the deviation over topics the smaller one. NDCG of the 17 systems of `judged_whole.py`.

    collection share measure     level difference     bias  deviation
    Cranfield   0.15 nDCG       0.4764     0.6438   0.0354      0.221
    Cranfield   0.25 nDCG       0.0916     0.1813   0.0177      0.221
    Cranfield   0.33 nDCG       0.0430     0.1009   0.0123      0.221
    Cranfield   0.50 nDCG       0.0171     0.0416   0.0083      0.221
    Cranfield   0.75 nDCG       0.0043     0.0095   0.0033      0.221
    CSFCube     0.15 NDCG%20    1.2504     2.3087   0.0409      0.161
    CSFCube     0.25 NDCG%20    0.2443     0.6485   0.0143      0.161
    CSFCube     0.33 NDCG%20    0.1053     0.3378   0.0089      0.161
    CSFCube     0.50 NDCG%20    0.0261     0.0921   0.0050      0.161
    CSFCube     0.75 NDCG%20    0.0036     0.0067   0.0021      0.161
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

from annot.base.stats.values import Undefined, Value
from annot.measuring.evaluation.gradings import family_of
from annot.measuring.forecast.sample_certainty import JudgedQueries, Measured, certainty, half_width
from annot.measuring.forecast.sample_shares import SHARES
from annot.pools.pair_sample import probabilities
from judged_whole import JudgedWhole, of_cranfield, of_csfcube
from sampled_designs import HIGHEST, RULE, Collection

FLOOR = 0.05
"""As annot.toml has it."""


def _number(value: Value) -> float:
    return math.nan if isinstance(value, Undefined) else value


def lines_of(whole: JudgedWhole, redraws: int) -> None:
    """Print a line for each share."""
    collection = Collection(whole)
    lists = {
        query_id: [[(doc_id,) for doc_id in of[query_id]] for of in whole.rankings.values()]
        for query_id in whole.grades
    }
    judged = JudgedQueries(whole.grades, lists, collection.features, whole.topics)
    convention, name = whole.measures[0]
    family = family_of(convention, name)
    assert family is not None
    topics = len(set(whole.topics.values()))
    measured = Measured(
        *family,
        relevant_from=whole.relevant_from,
        highest=HIGHEST,
        predict=True,
        topics=topics,
        level=0.95,
        redraws=redraws,
        seed=1,
    )
    for share in SHARES:
        pi = probabilities(collection.frozen, share=share, rule=replace(RULE, floor=FLOOR))
        found = certainty(judged, pi, measured)
        deviation = _number(found.half_width) / (1 + _number(found.level)) / _number(half_width(1.0, topics, 0.95))
        print(
            f"{whole.name:10} {share:5.2f} {name:8} {_number(found.level):8.4f} {_number(found.difference):10.4f} "
            f"{found.bias:8.4f} {deviation:10.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cranfield", type=Path)
    parser.add_argument("csfcube", type=Path)
    parser.add_argument("--redraws", type=int, nargs=2, default=(10, 40), help="of each collection")
    given = parser.parse_args()
    print("collection share measure     level difference     bias  deviation")
    for whole, redraws in zip((of_cranfield(given.cranfield), of_csfcube(given.csfcube)), given.redraws, strict=True):
        lines_of(whole, redraws)


if __name__ == "__main__":
    main()
