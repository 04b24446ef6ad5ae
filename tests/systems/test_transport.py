"""Transport and best pairs against a brute-force computation and closed forms, up to the size of a collection."""

import math
import time

import numpy as np
import pytest
from annot.ranking.systems.system import PooledQuery, SentenceVectors
from annot_systems import sentences
from annot_systems.sentences import TOLERANCE, align_by, best_pair, by_attention, by_transport, plans

EPS = 1 / 20


def drawn(sizes: list[int], *, seed: int, dimensions: int = 6) -> SentenceVectors:
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes])
    matrix = rng.normal(size=(starts[-1], dimensions)).astype(np.float32)
    return SentenceVectors(tuple(f"p{at}" for at in range(len(sizes))), starts, matrix, {})


def sinkhorn(distances: np.ndarray, x: np.ndarray, y: np.ndarray, *, eps: float) -> np.ndarray:
    """Cuturi's iterations in logarithms, one pair, until nothing moves."""
    f, g = np.zeros(len(x)), np.zeros(len(y))
    for _ in range(200_000):
        f = eps * (np.log(x) - np.logaddexp.reduce((g - distances) / eps, axis=1))
        g = eps * (np.log(y) - np.logaddexp.reduce((f[:, None] - distances) / eps, axis=0))
        plan = np.exp((f[:, None] + g - distances) / eps)
        if np.abs(plan.sum(axis=1) - x).max() < 1e-12:
            break
    return plan


@pytest.mark.parametrize("seed", range(2))
def test_plans_are_those_of_sinkhorns_iterations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distances = rng.uniform(0, 2, size=(9, 3, 5))
    x, y = rng.dirichlet(np.ones(3), size=9), rng.dirichlet(np.ones(5), size=9)
    found = plans(distances, x, y, eps=EPS)
    assert found.exact.all()
    for at in range(9):
        np.testing.assert_allclose(found.plans[at], sinkhorn(distances[at], x[at], y[at], eps=EPS), atol=1e-7)


def test_a_plan_moves_all_mass_and_nothing_that_is_not_there() -> None:
    vectors = drawn([4, 1, 3, 7, 2], seed=1)
    parts = [sentences.similarities(vectors.of("p0"), vectors.of(f"p{at}"), "l2") for at in range(1, 5)]
    found = by_transport(parts, temperature=0.5, eps=EPS)
    assert found.unconverged == 0
    for part, plan, score in zip(parts, found.weights, found.scores, strict=True):
        assert plan.shape == part.shape
        near = np.exp(part.max(axis=1) / 0.5)
        np.testing.assert_allclose(plan.sum(axis=1), near / near.sum(), atol=2 * TOLERANCE)
        near = np.exp(part.max(axis=0) / 0.5)
        np.testing.assert_allclose(plan.sum(axis=0), near / near.sum(), atol=2 * TOLERANCE)
        assert score == pytest.approx((plan * part).sum())


def test_attention_is_a_softmax_over_all_pairs() -> None:
    vectors = drawn([3, 4, 2], seed=3)
    parts = [sentences.similarities(vectors.of("p0"), vectors.of(name), "l2") for name in ("p1", "p2")]
    found = by_attention(parts, temperature=0.5)
    for part, score in zip(parts, found.scores, strict=True):
        shares = np.exp(part / 0.5) / np.exp(part / 0.5).sum()
        assert score == pytest.approx((shares * part).sum())


def test_a_collection_is_scored_in_seconds() -> None:
    """10 pools, 1,250 pairs, 8 sentences a paper, 768 numbers: a fifth of a collection."""
    vectors = drawn([8] * 1000, seed=7, dimensions=768)
    topics = [
        PooledQuery(
            f"q{at}",
            f"p{at}",
            "method",
            tuple(range(8)),
            whole=False,
            doc_ids=tuple(f"p{(at * 17 + 50 + k) % 1000}" for k in range(125)),
        )
        for at in range(10)
    ]
    align = align_by("transport", temperature=0.5, whole_temperature=5000, eps=EPS)
    started = time.process_time()
    found = sentences.rank(topics, vectors, kind="l2", align=align, facts={})
    assert time.process_time() - started < 6
    assert sum(map(len, found.rankings.values())) == 1250
    assert found.given_up == 0


@pytest.mark.parametrize(("distance", "eps"), [(0.0, 0.3), (0.7, 1.0), (3.0, 0.05)])
def test_two_pairs_that_mirror_each_other_share_their_mass_by_the_kernel(distance: float, eps: float) -> None:
    """D = [[0, d], [d, 0]] with equal masses: the plan is the kernel exp(-D / eps), scaled to the sum 1."""
    far = math.exp(-distance / eps)
    expected = np.array([[1, far], [far, 1]]) / (2 * (1 + far))
    half = np.full((1, 2), 0.5)
    found = plans(np.array([[[0, distance], [distance, 0]]]), half, half, eps=eps)
    assert found.exact.tolist() == [True]
    np.testing.assert_allclose(found.plans[0], expected, atol=1e-9)
    minimum = distance * far / (1 + far) + eps * (expected * np.log(expected / 0.25)).sum()
    assert (half * found.by_x).sum() + (half * found.by_y).sum() == pytest.approx(minimum, abs=1e-8)


def test_one_sentence_takes_the_masses_of_the_other_side() -> None:
    y = np.array([[0.2, 0.5, 0.3]])
    found = plans(np.array([[[3.0, 1.0, 2.0]]]), np.array([[1.0]]), y, eps=0.05)
    np.testing.assert_allclose(found.plans[0], y, atol=1e-12)
    turned = plans(np.array([[[3.0], [1.0], [2.0]]]), y, np.array([[1.0]]), eps=0.05)
    np.testing.assert_allclose(turned.plans[0][:, 0], y[0], atol=1e-9)


def test_gradients_by_the_masses_are_those_of_the_minimum() -> None:
    rng = np.random.default_rng(3)
    distances = rng.uniform(0, 2, size=(1, 3, 2))
    x, y = rng.dirichlet(np.ones(3), size=1), rng.dirichlet(np.ones(2), size=1)

    def minimum(x: np.ndarray, y: np.ndarray) -> float:
        plan = plans(distances, x, y, eps=0.2).plans
        mass = x[:, :, None] * y[:, None, :]
        return float((distances * plan).sum() + 0.2 * (plan * np.log(plan / mass)).sum())

    found = plans(distances, x, y, eps=0.2)
    step = 1e-5
    for gradient, move in (
        (found.by_x, lambda by: (x + by * np.array([[1, -1, 0]]), y)),
        (found.by_y, lambda by: (x, y + by * np.array([[1, -1]]))),
    ):
        slope = (minimum(*move(step)) - minimum(*move(-step))) / (2 * step)
        assert gradient[0, 0] - gradient[0, 1] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("x", [[0.0, 1.0], [1e-30, 1.0], [1.0, 0.0]])
def test_a_sentence_without_mass_moves_none(x: list[float]) -> None:
    y = np.array([[0.6, 0.4]])
    found = plans(np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([x]), y, eps=0.05)
    assert found.exact.all()
    np.testing.assert_allclose(found.plans[0].sum(axis=1), x, atol=1e-9)
    np.testing.assert_allclose(found.plans[0].sum(axis=0), y[0], atol=1e-9)


def test_pairs_of_other_widths_are_aligned_together_and_none_gets_a_column_of_another() -> None:
    narrow, wide = np.array([[-1.0], [-3.0]]), np.array([[-1.0, -2.0, -0.5], [-0.5, -1.0, -2.0]])
    together = by_transport([narrow, wide], temperature=0.5, eps=0.05)
    assert together.unconverged == 0
    for at, part in enumerate((narrow, wide)):
        alone = by_transport([part], temperature=0.5, eps=0.05)
        assert together.weights[at].shape == part.shape
        np.testing.assert_allclose(together.weights[at], alone.weights[0], atol=1e-8)
        assert together.scores[at] == pytest.approx(alone.scores[0])
    # A single sentence takes all mass; that of the query's is a softmax of -1 / 0.5 and -3 / 0.5.
    near = math.exp(-2) / (math.exp(-2) + math.exp(-6))
    assert together.scores[0] == pytest.approx(-(near + 3 * (1 - near)))


def test_what_is_not_exact_after_all_steps_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "STEPS", 1)
    parts = [np.array([[-1.0, -9.0], [-8.0, -0.1], [-3.0, -4.0]]), np.array([[-1.0], [-1.0], [-1.0]])]
    # The second is exact before the first step: its three sentences are equally near.
    assert by_transport(parts, temperature=1.0, eps=10.0).unconverged == 1


@pytest.mark.parametrize("seed", [1])
def test_steps_reach_the_plan_where_newtons_own_would_not_climb(seed: int) -> None:
    """Masses that differ by many powers of ten, and distances far larger than eps."""
    rng = np.random.default_rng(seed)
    parts = [-rng.uniform(0, 40, size=(5, 4)) for _ in range(8)]
    found = by_transport(parts, temperature=1.0, eps=0.05)
    assert found.unconverged == 0
    for part, plan in zip(parts, found.weights, strict=True):
        for axis in (0, 1):
            near = np.exp(part.max(axis=1 - axis) - part.max())
            np.testing.assert_allclose(plan.sum(axis=1 - axis), near / near.sum(), atol=3e-9)
        # With so little entropy no two plans are as cheap but by what entropy may add.
        from scipy.optimize import linprog

        rows, columns = part.shape
        sums = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
        best = linprog(-part.ravel(), A_eq=np.vstack(sums), b_eq=np.concatenate([plan.sum(axis=1), plan.sum(axis=0)]))
        assert best.fun - 1e-9 <= -(plan * part).sum() <= best.fun + 0.05 * math.log(rows * columns)


def test_the_best_pair_has_all_the_weight() -> None:
    parts = [np.array([[0.1, 0.9], [0.3, 0.2]]), np.array([[-2.0], [-1.0]])]
    found = best_pair(parts)
    assert found.scores.tolist() == [0.9, -1.0]
    assert [weights.tolist() for weights in found.weights] == [[[0, 1], [0, 0]], [[0], [1]]]
    assert found.unconverged == 0
