"""Losses of batches of examples, in torch, which every function here imports when it is called.

A batch is read by the encoder that is trained, compared, and each example has its negative.

Distances between papers are those that the systems rank with, but for transport. As Aspire was trained with GeomLoss,
its distance in training is the whole minimum, min <D, P> + eps KL(P | x y), and is differentiated by all that it
depends on: by D, whose gradient is the plan, and by the masses x and y, whose gradients are the dual potentials. The
masses are softmaxes of the smallest distances, and the gradient flows on through them. Plan and potentials come from
`matching.plans`; at the minimum they need no gradient of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from annot.base.records import Paper
from annot.base.stats.arrays import Matrix
from annot.ranking.systems.encoders import TextEncoder
from annot.ranking.systems.matching import plans
from annot.ranking.systems.reading import Loaded, document_text, pooled, sentence_means, text_tokens, tokens_in_context
from annot.ranking.systems.training.examples import Example, Side
from annot.ranking.systems.training.recipes import Distance, Recipe

AlignedSentences = tuple[int, int]
"""The sentences of the query and of the other paper that another encoder aligned."""


def triplet(positive: Any, negative: Any, *, margin: float) -> Any:
    """The mean of max(d+ - d- + margin, 0). positive, negative: tensors of distances, shape (examples,)."""
    return (positive - negative + margin).relu().mean()


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


def single(distances: Any, temperature: float, eps: float) -> Any:
    """The smallest distance."""
    return distances.min()


def transport(distances: Any, temperature: float, eps: float) -> Any:
    """The minimum of <D, P> + eps KL(P | x y) over plans P of the masses x and y, which follow from D.

    temperature: of the masses; eps: the weight of the entropy, 1 / lambda.
    """
    import torch

    x, y = (torch.softmax(-distances.min(dim=dim).values.double() / temperature, dim=0) for dim in (1, 0))
    solution = plans(*(values.detach().double().cpu().numpy()[None] for values in (distances, x, y)), eps=eps)
    plan, by_x, by_y = (torch.from_numpy(values[0]).to(x) for values in (solution.plans, solution.by_x, solution.by_y))
    # The first term is zero, and has the plan as its gradient.
    return (((distances - distances.detach()) * plan).sum() + (x * by_x).sum() + (y * by_y).sum()).to(distances)


def attention(distances: Any, temperature: float, eps: float) -> Any:
    """<D, A>, A the softmax of -D / temperature over all pairs."""
    import torch

    return (distances * torch.softmax(-distances.flatten() / temperature, dim=0).view_as(distances)).sum()


DISTANCES: dict[Distance, Callable[[Any, float, float], Any]] = {
    "single": single,
    "transport": transport,
    "attention": attention,
}
"""Distance of two papers, from a matrix of distances between their sentences. If another encoder aligned two sentences,
it is the distance of these."""


def by_contexts(query: Any, other: Any, query_contexts: Any, other_contexts: Any) -> AlignedSentences:
    """The sentence of each paper that is most like one of the contexts that cite it (Aspire, equation 3).

    All: arrays of vectors, shape (sentences or contexts, dimensions); likeness is their product.
    """
    return by_themselves(query, query_contexts)[0], by_themselves(other, other_contexts)[0]


def by_themselves(query: Any, other: Any) -> AlignedSentences:
    """The two sentences most like each other (Aspire's ablation A1)."""
    products = np.asarray(query) @ np.asarray(other).T
    row, column = np.unravel_index(int(products.argmax()), products.shape)
    return int(row), int(column)


def negatives_within(papers: Sequence[Sequence[str]], random: np.random.Generator) -> list[int | None]:
    """Place of a drawn example that shares no paper, for each example of a batch; None if there is none."""
    places: list[int | None] = []
    for paper_ids in papers:
        candidates = [place for place, other_ids in enumerate(papers) if not set(paper_ids) & set(other_ids)]
        places.append(candidates[int(random.integers(len(candidates)))] if candidates else None)
    return places


class BatchLoss(NamedTuple):
    """The mean loss of the examples that count, how many do, and how many have the positive before the negative."""

    loss: Any
    examples: int
    right: int


@dataclass(frozen=True)
class Losses:
    """Turns examples into the loss of a recipe.

    towers: the encoder, and that of the positives if they have their own. align: vectors of sentences by the encoder
    that recipes with an alignment need.
    """

    recipe: Recipe
    towers: tuple[Loaded, ...]
    align: TextEncoder | None

    def of(self, batch: Sequence[Example], random: np.random.Generator | None) -> BatchLoss | None:
        """The loss of a batch; None if no example of it counts.

        random: draws the negatives within the batch; None is for dev examples, which have theirs, and which are
        measured with the distance that the system ranks with.
        """
        import torch

        queries = self._read(self.towers[0], [example.query for example in batch])
        positives = self._read(self.towers[-1], [example.positive for example in batch])
        settings = self.recipe.settings
        if settings.loss == "softmax":
            return _among_all(queries, positives)
        negatives, owners = self._negatives(batch, positives, random)
        counted = [
            place
            for place, negative in enumerate(negatives)
            if negative is not None and all(map(len, (queries[place], positives[place], negative)))
        ]
        if not counted:
            return None
        vectors = self._vectors_to_align_by(batch) if random is not None and self.recipe.aligned else {}
        distances = self.recipe.distances if random is not None else (self.recipe.ranks_by,)
        losses, right = [], 0
        for distance in distances:
            near, far = [], []
            for place in counted:
                example, owner = batch[place], owners[place]
                shared = {"query": queries[place], "vectors": vectors, "distance": distance}
                near.append(self._distance(example, example, other=positives[place], **shared))
                far.append(self._distance(example, owner, other=negatives[place], **shared))
            ahead, behind = torch.stack(near), torch.stack(far)
            losses.append(triplet(ahead, behind, margin=settings.margin))
            right = int((ahead < behind).sum())
        return BatchLoss(sum(losses), len(counted), right)

    def _read(self, tower: Loaded, sides: Sequence[Side]) -> list[Any]:
        """Tensors of shape (vectors, dimensions), one for each side; a side that is read as a whole has one vector."""
        if self.recipe.reads == "context":
            return sentence_means(tower, [tokens_in_context(tower, _paper(side)) for side in sides])
        texts = [side if isinstance(side, str) else document_text(tower, side) for side in sides]
        return [row[None] for row in pooled(tower, text_tokens(tower, texts), "cls")]

    def _negatives(
        self, batch: Sequence[Example], positives: Sequence[Any], random: np.random.Generator | None
    ) -> tuple[list[Any], list[Example | None]]:
        """Vectors of each example's negative, and the example whose positive it is; None for a negative of its own."""
        negatives_of_examples = [example.negative for example in batch if example.negative is not None]
        if len(negatives_of_examples) == len(batch):
            return self._read(self.towers[-1], negatives_of_examples), [None] * len(batch)
        assert random is not None, "dev examples were checked: each has a negative"
        places = negatives_within([example.papers for example in batch], random)
        return (
            [None if place is None else positives[place] for place in places],
            [None if place is None else batch[place] for place in places],
        )

    def _distance(
        self,
        example: Example,
        owner: Example | None,
        *,
        query: Any,
        other: Any,
        vectors: dict[str, Matrix],
        distance: Distance,
    ) -> Any:
        if distance == "vector":
            return l2(query, other)[0]
        matrix = between(query, other)
        if distance in DISTANCES:
            return DISTANCES[distance](matrix, self.recipe.settings.temperature, 1 / self.recipe.settings.entropy)
        assert owner is not None, "examples that are aligned were checked: none has a negative of its own"
        left, right = _sentences(example.query, len(query), vectors), _sentences(owner.positive, len(other), vectors)
        if distance == "abstract aligned":
            return matrix[by_themselves(left, right)]
        contexts = (np.stack([vectors[text] for text in side.contexts]) for side in (example, owner))
        return matrix[by_contexts(left, right, *contexts)]

    def _vectors_to_align_by(self, batch: Sequence[Example]) -> dict[str, Matrix]:
        """The vector of every sentence and context of the batch, by its text."""
        assert self.align is not None, "a recipe that aligns is given what it aligns by"
        sides = [_paper(side) for example in batch for side in (example.query, example.positive)]
        texts = dict.fromkeys(
            [sentence for paper in sides for sentence in paper.sentences]
            + [context for example in batch for context in example.contexts]
        )
        return dict(zip(texts, self.align(list(texts), lambda _done, _total: None), strict=True))


def _among_all(queries: Sequence[Any], positives: Sequence[Any]) -> BatchLoss:
    import torch

    left, right = torch.cat(list(queries)), torch.cat(list(positives))
    nearest = (left @ right.T).argmax(dim=1)
    correct = int((nearest == torch.arange(len(left), device=left.device)).sum())
    return BatchLoss(softmax(left, right), len(left), correct)


def _paper(side: Side) -> Paper:
    assert isinstance(side, Paper), "the examples were read as papers"
    return side


def _sentences(side: Side, read: int, vectors: dict[str, Matrix]) -> Matrix:
    """The vectors of the sentences of a paper that the encoder has read."""
    return np.stack([vectors[sentence] for sentence in _paper(side).sentences[:read]])
