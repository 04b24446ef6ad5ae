"""The network of SciSearch and its two losses, in torch; everything here imports it when it is called.

Two fully connected layers with tanh over the vector of the query and over that of the candidate, their dot product, and
a linear layer from it to a logit for each grade (section 5.2 of the paper). Losses: the negative log likelihood, and
the Kullback-Leibler divergence between a Gaussian around the grade and the Gaussian fitted to the probabilities
(section 5.3); the paper does not state its width, which is 1 here, and probabilities are fitted by their moments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers, Matrix

Loss = Literal["nll", "kl"]
WIDTH = 1.0
LEAST_VARIANCE = 1e-3
BATCH, LEARNING_RATE, PATIENCE, MOST_EPOCHS = 16, 0.01, 4, 60
NEIGHBOURS = 5


class Pairs(NamedTuple):
    """Pairs to learn from: vectors of query and candidate, shape (pairs, dimensions), and grades, shape (pairs,)."""

    queries: Matrix
    candidates: Matrix
    grades: Integers


Score = Callable[[Matrix, Matrix], Array]
"""The expected grade of pairs of vectors: continuous, so that ties are rare; the usual rule breaks them."""


class Learning(NamedTuple):
    """Settings of the training of a network."""

    loss: Loss
    grades: int
    """Number of grades."""
    seed: int
    """Seed of weights and batches."""


def train(pairs: Pairs, held_out: Pairs, learning: Learning) -> Score:
    """Train until the loss on `held_out` has not fallen for `PATIENCE` epochs; the weights of the best epoch score.

    pairs: already balanced (`balanced`).
    """
    import torch

    loss, grades, seed = learning
    generator = torch.Generator().manual_seed(seed)
    model = _network(pairs.queries.shape[1], grades, generator)
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    left, right = (torch.from_numpy(np.ascontiguousarray(side)) for side in pairs[:2])
    target = torch.from_numpy(pairs.grades)
    watched = tuple(torch.from_numpy(np.ascontiguousarray(part)) for part in held_out)
    best, epochs_since_best, best_weights = float("inf"), 0, {}
    for _ in range(MOST_EPOCHS):
        for batch in torch.randperm(len(target), generator=generator).split(BATCH):
            optimiser.zero_grad()
            LOSSES[loss](_logits(model, left[batch], right[batch]), target[batch]).backward()
            optimiser.step()
        with torch.no_grad():
            held_out_loss = float(LOSSES[loss](_logits(model, *watched[:2]), watched[2]))
        if held_out_loss < best:
            best, epochs_since_best = held_out_loss, 0
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            epochs_since_best += 1
            if epochs_since_best >= PATIENCE:
                break
    if best_weights:
        model.load_state_dict(best_weights)

    def score(queries: Matrix, candidates: Matrix) -> Array:
        with torch.no_grad():
            logits = _logits(model, *(torch.from_numpy(np.ascontiguousarray(part)) for part in (queries, candidates)))
            expected = torch.softmax(logits, dim=1) @ torch.arange(grades, dtype=torch.float32)
        return np.asarray(expected.numpy(), dtype=np.float64)

    return score


def balanced(pairs: Pairs, *, seed: int) -> Pairs:
    """Pairs in equal numbers for every grade, as many as the commonest has, by SMOTE over query and candidate together.

    A grade with a single pair has no neighbour and is repeated.
    """
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    joined, grades = np.hstack([pairs.queries, pairs.candidates]), pairs.grades
    counts = np.unique(grades, return_counts=True)[1]
    if len(counts) > 1:
        neighbours = min(NEIGHBOURS, int(counts.min()) - 1)
        sampler = (
            SMOTE(random_state=seed, k_neighbors=neighbours) if neighbours else RandomOverSampler(random_state=seed)
        )
        joined, grades = sampler.fit_resample(joined, grades)
    width = pairs.queries.shape[1]
    return Pairs(joined[:, :width].astype(np.float32), joined[:, width:].astype(np.float32), grades.astype(np.int64))


def nll(logits: Any, grades: Any) -> Any:
    """The mean negative log likelihood of the grades."""
    import torch

    return torch.nn.functional.cross_entropy(logits, grades)


def kl(logits: Any, grades: Any) -> Any:
    """The mean of KL(N(grade, WIDTH^2) || N(mean, variance)), the latter the moments of the probabilities."""
    import torch

    shares = torch.softmax(logits, dim=1)
    scale = torch.arange(logits.shape[1], dtype=shares.dtype)
    mean = shares @ scale
    variance = (shares * (scale - mean[:, None]) ** 2).sum(dim=1).clamp(min=LEAST_VARIANCE)
    return (0.5 * (torch.log(variance / WIDTH**2) + (WIDTH**2 + (grades - mean) ** 2) / variance - 1)).mean()


LOSSES: dict[Loss, Callable[[Any, Any], Any]] = {"nll": nll, "kl": kl}


def _network(width: int, grades: int, generator: Any) -> Any:
    import torch

    def linear(inputs: int, outputs: int) -> Any:
        layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
        bound = inputs**-0.5
        with torch.no_grad():
            for values in layer.parameters():
                values.uniform_(-bound, bound, generator=generator)
        return layer

    tuning = torch.nn.Sequential(linear(width, width), torch.nn.Tanh(), linear(width, width), torch.nn.Tanh())
    return torch.nn.ModuleDict({"tuning": tuning, "relevance": linear(1, grades)})


def _logits(model: Any, queries: Any, candidates: Any) -> Any:
    product = (model["tuning"](queries) * model["tuning"](candidates)).sum(dim=1, keepdim=True)
    return model["relevance"](product)
