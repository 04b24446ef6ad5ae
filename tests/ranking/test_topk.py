"""Candidates of passing blocks always include the best under the tie rule."""

import numpy as np
import pytest
from annot.base.array_files import strings_of
from annot.base.records import ScoredDoc, ranked
from annot.ranking.search import ROUNDING_STEP, TopK, best
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("size", [1e-9, 0.123456, 9.99999, 1.0, 5e7])
@pytest.mark.parametrize("sign", [1, -1])
@given(seed=st.integers(0, 10_000), depth=st.integers(1, 30), block=st.integers(1, 100))
def test_scores_that_round_to_the_same_digits_are_told_apart_by_id(
    size: float, sign: int, seed: int, depth: int, block: int
) -> None:
    rng = np.random.default_rng(seed)
    # Within three rounding steps of each other, so that many tie with the last place once rounded.
    scores = sign * size * (1 + 3e-6 * rng.random((2, 100)))
    scores[0, rng.random(100) < 0.1] = -np.inf
    ids = [str(number) for number in rng.permutation(100)]
    none = np.zeros(2)
    depths = np.array([depth, 5])
    top, joined, informed = (TopK(depths, relative=ROUNDING_STEP) for _ in range(3))
    for start in range(0, 100, block):
        top.push(start, scores[:, start : start + block], error=none)
        for whole, least in ((joined, None), (informed, informed.least(error=none))):
            part = TopK(depths, relative=ROUNDING_STEP, least=least)
            part.push(start, scores[:, start : start + block], error=none)
            whole.join(part.candidates(error=none), error=none)
    for query, wanted in enumerate((depth, 5)):
        expected = ranked(
            ScoredDoc(doc_id, score)
            for doc_id, score in zip(ids, scores[query].tolist(), strict=True)
            if score > -np.inf
        )
        for kept in (top, joined, informed):
            assert best(strings_of(ids), *kept.candidates(error=none)[query], depth=wanted) == expected[:wanted]


@given(seed=st.integers(0, 10_000), depth=st.integers(1, 30), block=st.integers(1, 60))
def test_scores_with_an_error_keep_whatever_might_be_among_the_best(seed: int, depth: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.random(200)
    # The error grows from block to block, as that of longer and longer vectors does.
    largest = np.repeat(0.1 * np.linspace(0.1, 1, -(-200 // block)), block)[:200]
    seen = true + largest * rng.choice([-1, 1], 200)
    top, informed = (TopK(np.array([depth]), relative=ROUNDING_STEP) for _ in range(2))
    before = np.zeros(1)
    for start in range(0, 200, block):
        error = np.array([2 * largest[start]])
        top.push(start, seen[None, start : start + block], error=error)
        # Other rows, whose scores have an error of their own, are searched with what is known by then.
        part = TopK(np.array([depth]), relative=ROUNDING_STEP, least=informed.least(error=before))
        part.push(start, seen[None, start : start + block], error=error)
        informed.join(part.candidates(error=error), error=error)
        before = error
    for whole in (top, informed):
        (kept,) = whole.candidates(error=np.array([2 * largest[-1]]))
        assert set(np.argsort(-true)[:depth]) <= set(kept[0].tolist())


def test_a_score_exactly_as_far_below_as_two_may_be_tied_stays_and_one_further_below_goes() -> None:
    top = TopK(np.array([1]), relative=0.25)
    top.push(0, np.array([[8.0, 6.0, 5.75, 8.0]]), error=np.zeros(1))
    ((rows, scores),) = top.candidates(error=np.zeros(1))
    assert (rows.tolist(), scores.tolist()) == ([0, 1, 3], [8, 6, 8])
    ((rows, _),) = top.candidates(error=np.array([0.25]))
    assert rows.tolist() == [0, 1, 3], "what has gone does not come back"
