"""Weight of predicted grades in estimates: as much as they help on other topics, or none.

Power tuning as in prediction-powered inference (Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered
Inference, section 4): a weight from 0 to 1 multiplies the predictions, and the weight with the smallest estimated
design variance is used. The variance of a sum of u y over a pool, with the predictions m of y at weight w, is estimated
from the drawn pairs by the sum of u^2 (1 - pi) / pi^2 (y - w m)^2. So the best weight is sum(a y m) / sum(a m^2) with a
= u^2 (1 - pi) / pi^2, and it leaves 1 - sum(a y m)^2 / (sum(a m^2) sum(a y^2)) of the variance without predictions.

Each topic has the weight of all other topics: its own draw has no effect on its own estimate. No run contributes to it,
so a run has the same figures whichever others it is evaluated with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from annot.base.stats.arrays import Array
from annot.measuring.sampled.grades import KINDS, Predicted, Weights

WORTH_IT = 0.2
"""Smallest part of the variance that predictions must promise to take off to be used."""
TOP = 20
"""Ranks by which the predictions of P@k are weighed, whatever its k."""


def tuned(
    pi: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, Mapping[str, int]],
    predicted: Mapping[str, Predicted],
    topics: Mapping[str, str],
    *,
    relevant_from: int,
    highest: int,
) -> dict[str, Weights]:
    """Weights of each query of `pi`, for `pools_of`. The arguments are those of `pools_of` and `predicting`.

    relevant_from: the smallest grade that counts in P@k, R@k and AP. NDCG takes the grade itself.
    """
    sums = {
        query_id: _sums(pi[query_id], judged.get(query_id, {}), predicted[query_id], relevant_from, highest)
        for query_id in sorted(pi)
    }
    names = sorted({topics[query_id] for query_id in sums})
    by_topic = {name: np.zeros((len(KINDS), 3)) for name in names}
    for query_id, of_query in sums.items():
        by_topic[topics[query_id]] += of_query
    everything = np.sum([by_topic[name] for name in names], axis=0)
    weights = {name: _weights(everything - by_topic[name]) for name in names}
    return {query_id: weights[topics[query_id]] for query_id in sums}


def _weights(sums: Array) -> Weights:
    """Weights from sum(a y^2), sum(a y m) and sum(a m^2) of each kind of measure, in rows."""
    weights = {}
    for kind, (plain, both, square) in zip(KINDS, sums.tolist(), strict=True):
        helps = both > 0 and both**2 >= WORTH_IT * plain * square
        weights[kind] = round(min(1.0, both / square), 6) if helps else 0.0
    return weights


def _sums(
    pi: Mapping[str, float], judged: Mapping[str, int], predicted: Predicted, relevant_from: int, highest: int
) -> Array:
    """Sums of one pool, shape (kinds, 3).

    u is the weight of a document's rank in the measure, if the pool is ranked by the probabilities of the draw, which
    fall with the rank in the fusion. Ratios divide by the number of relevant documents, or by the gain of all, as far
    as known and predicted: an error weighs more if less is relevant.
    """
    doc_ids = sorted(pi, key=lambda doc_id: (-pi[doc_id], doc_id))
    chance = np.array([pi[doc_id] for doc_id in doc_ids])
    known = np.array([doc_id in judged for doc_id in doc_ids])
    grade = np.array([judged.get(doc_id, 0) for doc_id in doc_ids])
    chances = np.array([predicted[doc_id] for doc_id in doc_ids]).reshape(len(doc_ids), highest + 1)
    hits = np.where(known, grade >= relevant_from, 0.0), chances[:, relevant_from:].sum(axis=1)
    gains = np.where(known, grade, 0.0), chances @ np.arange(highest + 1)
    ranks = np.arange(1, len(doc_ids) + 1)
    discounts, spread = 1 / np.log2(1 + ranks), known * (1 - chance) / chance**2
    rows = []
    for kind in KINDS:
        y, m = gains if kind == "NDCG" else hits
        if kind == "P":
            a = spread * (ranks <= TOP)
        else:
            a = spread * discounts**2 / max(1.0, float(np.where(known, y, m).sum())) ** 2
        rows.append([(a * y * y).sum(), (a * y * m).sum(), (a * m * m).sum()])
    return np.array(rows)
