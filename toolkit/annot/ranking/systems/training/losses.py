"""Losses of training, in torch, which everything here imports when it is called.

Distances between papers are those that the systems rank with, but for transport. As Aspire was trained with GeomLoss,
its distance in training is the whole minimum, min <D, P> + eps KL(P | x y), and is differentiated by all that it
depends on: by D, of which the gradient is the plan, and by the masses x and y, of which the gradients are the dual
potentials. The masses are softmaxes of the smallest distances, and the gradient flows on through them. Plan and
potentials come from `transport.plans`; at the minimum they need no gradient of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from annot.ranking.systems.training.recipes import Distance
from annot.ranking.systems.matching import plans

Aligned = tuple[int, int]
"""The sentences of the query and of the other paper that another encoder aligned."""


class Heat(NamedTuple):
    """Of transport and attention: the temperature of the masses, and the weight of the entropy, 1 / lambda."""

    temperature: float
    eps: float


def triplet(positive: Any, negative: Any, *, margin: float) -> Any:
    """The mean of max(d+ - d- + margin, 0). positive, negative: tensors of distances, shape (examples,)."""
    import torch

    return torch.relu(positive - negative + margin).mean()


def softmax(queries: Any, positives: Any) -> Any:
    """The mean cross entropy of each query's positive among all, by dot products. Both: (examples, dimensions)."""
    import torch

    return torch.nn.functional.cross_entropy(queries @ positives.T, torch.arange(len(queries), device=queries.device))


def l2(left: Any, right: Any) -> Any:
    """The distance of rows of the same place: shape (examples,)."""
    import torch

    return torch.linalg.vector_norm(left - right, dim=1)


def between(left: Any, right: Any) -> Any:
    """The distance of every sentence of one paper to every one of another: shape (left's, right's)."""
    import torch

    return torch.cdist(left, right, compute_mode="donot_use_mm_for_euclid_dist")


def single(distances: Any, heat: Heat, aligned: Aligned | None) -> Any:
    """The smallest one."""
    return distances.min()


def chosen(distances: Any, heat: Heat, aligned: Aligned | None) -> Any:
    """That of the sentences that were aligned before."""
    assert aligned is not None, "whoever asks has aligned"
    return distances[aligned]


def transport(distances: Any, heat: Heat, aligned: Aligned | None) -> Any:
    """The minimum of <D, P> + eps KL(P | x y) over plans P of the masses x and y, that follow from D."""
    import torch

    x, y = (torch.softmax(-distances.min(dim=dim).values.double() / heat.temperature, dim=0) for dim in (1, 0))
    found = plans(*(of.detach().double().cpu().numpy()[None] for of in (distances, x, y)), eps=heat.eps)
    plan, by_x, by_y = (torch.from_numpy(of[0]).to(x) for of in (found.plans, found.by_x, found.by_y))
    # The first term is zero, and has the plan as its gradient.
    return (((distances - distances.detach()) * plan).sum() + (x * by_x).sum() + (y * by_y).sum()).to(distances)


def attention(distances: Any, heat: Heat, aligned: Aligned | None) -> Any:
    """<D, A>, A the softmax of -D / temperature over all pairs."""
    import torch

    return (distances * torch.softmax(-distances.flatten() / heat.temperature, dim=0).view_as(distances)).sum()


DISTANCES: dict[Distance, Callable[[Any, Heat, Aligned | None], Any]] = {
    "context aligned": chosen,
    "abstract aligned": chosen,
    "single": single,
    "transport": transport,
    "attention": attention,
}
"""From a matrix of distances between sentences to the distance of two papers."""


def by_contexts(query: Any, other: Any, query_contexts: Any, other_contexts: Any) -> Aligned:
    """The sentence of each paper that is most like one of the contexts that cite it (Aspire, equation 3).

    All: arrays of vectors, shape (sentences or contexts, dimensions); likeness is their product.
    """
    return _likest(query, query_contexts)[0], _likest(other, other_contexts)[0]


def by_themselves(query: Any, other: Any) -> Aligned:
    """The two sentences most like each other (Aspire's ablation A1)."""
    return _likest(query, other)


def _likest(left: Any, right: Any) -> Aligned:
    products = np.asarray(left) @ np.asarray(right).T
    row, column = np.unravel_index(int(products.argmax()), products.shape)
    return int(row), int(column)


def negatives_within(papers: Sequence[Sequence[str]], random: np.random.Generator) -> list[int | None]:
    """For each example of a batch the place of one that shares no paper with it, drawn; None where there is none."""
    found: list[int | None] = []
    for own in papers:
        others = [at for at, theirs in enumerate(papers) if not set(own) & set(theirs)]
        found.append(others[int(random.integers(len(others)))] if others else None)
    return found
