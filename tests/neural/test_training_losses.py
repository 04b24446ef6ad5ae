"""Losses of training against plain sums in NumPy, against torch, sentence-transformers and POT."""

from pathlib import Path

import numpy as np
import ot
import pytest
import tiny_models
import torch
from annot.base.records import Paper
from annot.ranking.systems.encoders import encode_in_context, load, open_paper_encoder, open_text_encoder
from annot_systems import training_loop
from annot_systems.training_examples import RECIPES, Example, recipe_of
from annot_systems.training_loop import Losses
from sentence_transformers import SentenceTransformer, util
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

TEMPERATURE, EPS = 0.5, 1 / 20
RNG = np.random.default_rng(4)


def paper(name: str, *sentences: str) -> Paper:
    return Paper(name, f"the model of {name}", sentences)


PAPERS = [
    paper("p0", "we learn graphs .", "it helps with data and words ."),
    paper("p1", "the results show better text", "we parse data", "words of a model before data"),
    paper("p2", "better than before", "a model parses text"),
    paper("p3", "data helps", "we show words", "it learns", "results before text"),
]
CONTEXTS = [("we learn better graphs", "data helps"), ("the model parses text",)]
BATCH = [
    Example(PAPERS[0], PAPERS[1], None, ("p0", "p1"), CONTEXTS[0]),
    Example(PAPERS[2], PAPERS[3], None, ("p2", "p3"), CONTEXTS[1]),
]
"""Each gives the negative of the other."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "bert", positions=80)


def quietly(_done: int, _total: int | None) -> None:
    pass


def test_triplet_and_softmax_are_those_of_the_libraries(folder: Path, tmp_path: Path) -> None:
    queries, positives, negatives = (torch.tensor(RNG.normal(size=(6, 5))) for _ in range(3))
    ours = training_loop.triplet(training_loop.l2(queries, positives), training_loop.l2(queries, negatives), margin=1.0)
    torch.testing.assert_close(ours, torch.nn.TripletMarginLoss(margin=1, eps=0)(queries, positives, negatives))
    model = SentenceTransformer(str(tiny_models.sentence_transformer(tmp_path / "st")), device="cpu")
    theirs = MultipleNegativesRankingLoss(model, scale=1.0, similarity_fct=util.dot_score)
    torch.testing.assert_close(
        training_loop.softmax(queries, positives), theirs.compute_loss_from_embeddings([queries, positives], None)
    )


def distances(rows: int, columns: int) -> torch.Tensor:
    return torch.tensor(np.abs(RNG.normal(1.5, 0.4, size=(rows, columns))), requires_grad=True)


def plan_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """POT's plan, over masses that follow from the nearest sentences."""
    x, y = (np.exp(-values.min(axis=axis) / TEMPERATURE) for axis in (1, 0))
    x, y = x / x.sum(), y / y.sum()
    given = {"method": "sinkhorn_log", "stopThr": 1e-12, "numItermax": 1_000_000, "warn": False}
    return ot.sinkhorn(x, y, values, EPS, **given), x, y


def whole_distance(values: np.ndarray) -> float:
    """What GeomLoss gives for these distances: masses, plan and entropy."""
    plan, x, y = plan_of(values)
    return float((plan * values).sum() + EPS * (plan * np.log(plan / np.outer(x, y))).sum())


@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (6, 2)])
def test_transport_is_that_of_pot_and_its_gradient_that_of_the_whole_distance(shape: tuple[int, int]) -> None:
    """By finite differences that change the masses, too."""
    matrix = distances(*shape)
    loss = training_loop.transport(matrix, TEMPERATURE, EPS)
    loss.backward()
    values = matrix.detach().numpy()
    assert float(loss.detach()) == pytest.approx(whole_distance(values), abs=1e-8)
    step = 1e-4
    for at in np.ndindex(values.shape):
        up, down = values.copy(), values.copy()
        up[at], down[at] = up[at] + step, down[at] - step
        assert matrix.grad is not None
        found = (whole_distance(up) - whole_distance(down)) / (2 * step)
        assert float(matrix.grad[at]) == pytest.approx(found, abs=1e-5)


def test_gradients_reach_the_sentences_as_they_do_where_every_step_of_sinkhorn_is_differentiated() -> None:
    left, right = (torch.tensor(RNG.normal(size=(size, 20)) / 4, requires_grad=True) for size in (4, 5))
    training_loop.transport(training_loop.between(left, right), TEMPERATURE, EPS).backward()
    theirs = [side.detach().clone().requires_grad_() for side in (left, right)]
    cost = torch.cdist(*theirs)
    x, y = (torch.softmax(-cost.min(dim=dim).values / TEMPERATURE, dim=0) for dim in (1, 0))
    f, g = torch.zeros_like(x), torch.zeros_like(y)
    for _ in range(3000):
        f = -EPS * torch.logsumexp((g - cost) / EPS + torch.log(y), dim=1)
        g = -EPS * torch.logsumexp((f[:, None] - cost) / EPS + torch.log(x)[:, None], dim=0)
    ((x * f).sum() + (y * g).sum()).backward()
    for side, other in zip((left, right), theirs, strict=True):
        torch.testing.assert_close(side.grad, other.grad, atol=1e-7, rtol=1e-6)


def test_the_other_distances_are_plain_sums() -> None:
    matrix = distances(3, 5)
    values = matrix.detach().numpy()
    weights = np.exp(-values / TEMPERATURE)
    assert float(training_loop.single(matrix, TEMPERATURE, EPS).detach()) == values.min()
    expected = (values * weights / weights.sum()).sum()
    assert float(training_loop.attention(matrix, TEMPERATURE, EPS).detach()) == pytest.approx(expected)
    left, right = torch.tensor(RNG.normal(size=(2, 7))), torch.tensor(RNG.normal(size=(3, 7)))
    plain = np.linalg.norm(left.numpy()[:, None] - right.numpy()[None], axis=2)
    np.testing.assert_allclose(training_loop.between(left, right).numpy(), plain, atol=1e-12)


def test_sentences_are_aligned_by_the_context_that_is_most_like_one() -> None:
    """Equation 3 of Aspire, by trying all."""
    query, other, contexts = RNG.normal(size=(4, 6)), RNG.normal(size=(3, 6)), RNG.normal(size=(2, 6))
    best = [max(range(len(side)), key=lambda at: max(side[at] @ one for one in contexts)) for side in (query, other)]
    assert training_loop.by_contexts(query, other, contexts, contexts) == tuple(best)
    pairs = [(i, j) for i in range(4) for j in range(3)]
    assert training_loop.by_themselves(query, other) == max(pairs, key=lambda pair: query[pair[0]] @ other[pair[1]])


def test_a_negative_within_a_batch_shares_no_paper() -> None:
    papers = [("a", "b"), ("b", "c"), ("d", "e"), ("a", "f")]
    seen: dict[int, set[int | None]] = {at: set() for at in range(4)}
    for seed in range(60):
        for at, found in enumerate(training_loop.negatives_within(papers, np.random.default_rng(seed))):
            seen[at].add(found)
    assert seen == {0: {2}, 1: {2, 3}, 2: {0, 1, 3}, 3: {1, 2}}
    assert training_loop.negatives_within([("a",), ("a", "b")], np.random.default_rng(0)) == [None, None]


def distance_of(name: str, left: np.ndarray, right: np.ndarray, aligned: tuple[int, int] | None) -> float:
    values = np.linalg.norm(left[:, None] - right[None], axis=2)
    if aligned is not None:
        return float(values[aligned])
    if name == "max-aspire":
        return float(values.min())
    if name == "att-aspire":
        weights = np.exp(-values / 0.5)
        return float((values * weights / weights.sum()).sum())
    return whole_distance(values.astype(np.float64))


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.reads == "context"])
def test_the_loss_of_a_batch_is_that_of_its_papers_read_by_what_runs_them(name: str, folder: Path) -> None:
    """Brute force over the vectors that `annot run` ranks with, for each of Aspire's systems."""
    recipe = recipe_of(name, margin=0.7)
    align = open_text_encoder(folder, "cls", device="cpu")
    batch = Losses(recipe, (load(folder, "cpu"),), align)
    found = batch.of(BATCH, np.random.default_rng(0))
    assert found is not None
    vectors = encode_in_context(folder, PAPERS, advance=quietly)
    own, said = ([align(texts, quietly) for texts in of] for of in ([one.sentences for one in PAPERS], CONTEXTS))

    def best(paper_at: int, context: int) -> int:
        return int((own[paper_at] @ said[context].T).max(axis=1).argmax())

    def aligned(query: int, other: int) -> tuple[int, int]:
        if name == "abs-aspire":
            place = np.unravel_index((own[query] @ own[other].T).argmax(), (len(own[query]), len(own[other])))
            return int(place[0]), int(place[1])
        return best(query, query // 2), best(other, other // 2)

    kinds = {"ts-aspire": [True], "abs-aspire": [True], "ts+ot-aspire": [True, False]}.get(name, [False])
    expected = 0.0
    for by_alignment in kinds:
        terms = []
        for query, positive, negative in ((0, 1, 3), (2, 3, 1)):
            near, far = (
                distance_of(name, vectors[query], vectors[one], aligned(query, one) if by_alignment else None)
                for one in (positive, negative)
            )
            terms.append(max(near - far + 0.7, 0))
        expected += float(np.mean(terms))
    assert expected > 0
    assert float(found.loss.detach()) == pytest.approx(expected, abs=1e-5)


def test_an_abstract_is_trained_on_the_vector_that_it_is_ranked_by(folder: Path) -> None:
    found = Losses(recipe_of("specter-cocite"), (load(folder, "cpu"),), None).of(BATCH, np.random.default_rng(0))
    vectors = open_paper_encoder(folder, "document", device=None, half=False, batch=32)(PAPERS, quietly)
    gaps = [
        np.linalg.norm(vectors[query] - vectors[positive]) - np.linalg.norm(vectors[query] - vectors[negative])
        for query, positive, negative in ((0, 1, 3), (2, 3, 1))
    ]
    assert found is not None
    assert float(found.loss.detach()) == pytest.approx(np.mean([max(gap + 1, 0) for gap in gaps]), abs=1e-5)
    assert found.right == sum(gap < 0 for gap in gaps)
