"""What a sample costs: by how much it widens intervals, and when that cannot be told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from annot.base.records import ScoredDoc
from annot.measuring.evaluation.graded_pools import SampleCost
from annot.measuring.sampled.cost import cost_of, notes_of, wider
from annot.measuring.sampled.estimates import estimates, pools_of

TOPICS = {f"q{at}": f"t{at // 2}" for at in range(8)}


def test_an_interval_is_wider_by_what_the_draw_adds_to_the_scatter_of_topics() -> None:
    values = dict(zip(TOPICS, (0.1, 0.3, 0.2, 0.2, 0.9, 0.5, 0.6, 0.8), strict=True))
    # Four topics of two queries each: the variance of their mean is that of the topics' means over four.
    whole = np.var([0.2, 0.2, 0.7, 0.7], ddof=1) / 4
    assert wider(values, 0.0, TOPICS) == 0
    assert wider(values, 0.75 * whole, TOPICS) == pytest.approx(1.0)
    assert wider(values, whole, TOPICS) == math.inf
    assert wider(values, 0.0, dict.fromkeys(TOPICS, "t")) is None


def cost(share: float) -> SampleCost:
    """Three runs on eight pools of thirty documents, of which the first tenth of each is not certain."""
    rng = np.random.default_rng(3)
    ids = [f"d{at:02}" for at in range(30)]
    runs = {
        tag: {
            query_id: tuple(ScoredDoc(doc, -float(at)) for at, doc in enumerate(rng.permutation(ids)))
            for query_id in TOPICS
        }
        for tag in ("one", "two", "three")
    }
    drawn = {query_id: [doc for doc in ids if rng.random() < share] for query_id in TOPICS}
    judged = {query_id: {doc: int(rng.integers(4)) for doc in of} for query_id, of in drawn.items()}
    pi = {query_id: dict.fromkeys(ids, share) for query_id in TOPICS}
    found = estimates(runs, pools_of(pi, judged, None, highest=3), convention="trec", relevant_from=2, ties="order")
    pairs = sum(map(len, judged.values()))
    return cost_of(found, "nDCG", TOPICS, drawn=pairs, pairs=240, share=share, so_far=None)


def test_where_most_of_the_scatter_is_the_draws_no_widening_is_printed() -> None:
    # Topics are alike here, so nearly all that estimates scatter by is the draw.
    little = cost(0.35)
    assert (little.level, little.difference) == (None, None)
    told = list(notes_of(little, "nDCG"))
    assert "too few topics or pairs were judged to tell by how much the sample widens intervals" in told
    assert any(one.startswith("a true difference of") for one in told)
    much = cost(0.95)
    assert much.level is not None
    assert much.difference is not None
    assert any(
        one.startswith("the sample widens intervals: that of a difference between two")
        for one in notes_of(much, "nDCG")
    )
