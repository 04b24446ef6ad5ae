"""Losses of training, in torch, which everything here imports when it is called.

Distances between papers are those that the systems rank with. The plan of transport comes from `transport.plans` and is
constant in the backward pass: at fixed masses the gradient of min <D, P> - eps h(P) in D is the plan itself, which is
how GeomLoss, that Aspire was trained with, differentiates, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from annot.systems.training.recipes import Distance
from annot.systems.transport import by_transport

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
    """<D, P> over the plan of entropic transport."""
    import torch

    parts = [-distances.detach().double().cpu().numpy()]
    (plan,) = by_transport(parts, temperature=heat.temperature, eps=heat.eps).weights
    return (distances * torch.from_numpy(plan).to(distances)).sum()


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
