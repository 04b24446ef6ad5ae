"""From a batch of examples to its loss, in torch, which everything here imports when it is called.

A batch is read by the encoder that is trained, compared, and each example has its negative.

Distances between papers are those that the systems rank with, but for transport. As Aspire was trained with GeomLoss,
its distance in training is the whole minimum, min <D, P> + eps KL(P | x y), and is differentiated by all that it
depends on: by D, of which the gradient is the plan, and by the masses x and y, of which the gradients are the dual
potentials. The masses are softmaxes of the smallest distances, and the gradient flows on through them. Plan and
potentials come from `transport.plans`; at the minimum they need no gradient of their own.
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


class Heat(NamedTuple):
    """Of transport and attention: the temperature of the masses, and the weight of the entropy, 1 / lambda."""

    temperature: float
    eps: float


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


def single(distances: Any, heat: Heat) -> Any:
    """The smallest one."""
    return distances.min()


def transport(distances: Any, heat: Heat) -> Any:
    """The minimum of <D, P> + eps KL(P | x y) over plans P of the masses x and y, that follow from D."""
    import torch

    x, y = (torch.softmax(-distances.min(dim=dim).values.double() / heat.temperature, dim=0) for dim in (1, 0))
    found = plans(*(of.detach().double().cpu().numpy()[None] for of in (distances, x, y)), eps=heat.eps)
    plan, by_x, by_y = (torch.from_numpy(of[0]).to(x) for of in (found.plans, found.by_x, found.by_y))
    # The first term is zero, and has the plan as its gradient.
    return (((distances - distances.detach()) * plan).sum() + (x * by_x).sum() + (y * by_y).sum()).to(distances)


def attention(distances: Any, heat: Heat) -> Any:
    """<D, A>, A the softmax of -D / temperature over all pairs."""
    import torch

    return (distances * torch.softmax(-distances.flatten() / heat.temperature, dim=0).view_as(distances)).sum()


DISTANCES: dict[Distance, Callable[[Any, Heat], Any]] = {
    "single": single,
    "transport": transport,
    "attention": attention,
}
"""From a matrix of distances between sentences to the distance of two papers; where another encoder aligned two
sentences, it is theirs."""


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
    """For each example of a batch the place of one that shares no paper with it, drawn; None if there is none."""
    found: list[int | None] = []
    for own in papers:
        others = [at for at, theirs in enumerate(papers) if not set(own) & set(theirs)]
        found.append(others[int(random.integers(len(others)))] if others else None)
    return found


class BatchLoss(NamedTuple):
    """The mean loss of the examples that count, how many do, and how many have the positive before the negative."""

    loss: Any
    examples: int
    right: int


@dataclass(frozen=True)
class Losses:
    """How a recipe turns examples into a loss.

    towers: the encoder, and that of the positives where they have one of their own. align: vectors of sentences by the
    encoder that recipes with an alignment need.
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
            at
            for at, negative in enumerate(negatives)
            if negative is not None and all(map(len, (queries[at], positives[at], negative)))
        ]
        if not counted:
            return None
        vectors = self._vectors_to_align_by(batch) if random is not None and self.recipe.aligned else {}
        distances = self.recipe.distances if random is not None else (self.recipe.ranks_by,)
        losses, right = [], 0
        for distance in distances:
            near, far = [], []
            for at in counted:
                mine, owner = batch[at], owners[at]
                kept = {"query": queries[at], "vectors": vectors, "distance": distance}
                near.append(self._distance(mine, mine, other=positives[at], **kept))
                far.append(self._distance(mine, owner, other=negatives[at], **kept))
            ahead, behind = torch.stack(near), torch.stack(far)
            losses.append(triplet(ahead, behind, margin=settings.margin))
            right = int((ahead < behind).sum())
        return BatchLoss(sum(losses), len(counted), right)

    def _read(self, tower: Loaded, sides: Sequence[Side]) -> list[Any]:
        """For each side a tensor, shape (vectors, dimensions), of one vector where it is read as a whole."""
        if self.recipe.reads == "context":
            return sentence_means(tower, [tokens_in_context(tower, _paper(side)) for side in sides])
        texts = [side if isinstance(side, str) else document_text(tower, side) for side in sides]
        return [row[None] for row in pooled(tower, text_tokens(tower, texts), "cls")]

    def _negatives(
        self, batch: Sequence[Example], positives: Sequence[Any], random: np.random.Generator | None
    ) -> tuple[list[Any], list[Example | None]]:
        """The vectors of each example's negative, and the example whose positive that is, where it is one's."""
        own = [example.negative for example in batch if example.negative is not None]
        if len(own) == len(batch):
            return self._read(self.towers[-1], own), [None] * len(batch)
        assert random is not None, "dev examples were checked: each has a negative"
        drawn = negatives_within([example.papers for example in batch], random)
        return (
            [None if at is None else positives[at] for at in drawn],
            [None if at is None else batch[at] for at in drawn],
        )

    def _distance(
        self,
        mine: Example,
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
            return DISTANCES[distance](matrix, Heat(self.recipe.settings.temperature, 1 / self.recipe.settings.entropy))
        assert owner is not None, "examples that are aligned were checked: none has a negative of its own"
        left, right = _sentences(mine.query, len(query), vectors), _sentences(owner.positive, len(other), vectors)
        if distance == "abstract aligned":
            return matrix[by_themselves(left, right)]
        contexts = (np.stack([vectors[text] for text in one.contexts]) for one in (mine, owner))
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
    found = (left @ right.T).argmax(dim=1)
    correct = int((found == torch.arange(len(left), device=left.device)).sum())
    return BatchLoss(softmax(left, right), len(left), correct)


def _paper(side: Side) -> Paper:
    assert isinstance(side, Paper), "the examples were read as papers"
    return side


def _sentences(side: Side, read: int, vectors: dict[str, Matrix]) -> Matrix:
    """The vectors of the sentences of a paper that the encoder has read."""
    return np.stack([vectors[sentence] for sentence in _paper(side).sentences[:read]])
