"""From a batch of examples to its loss: read by the encoder that is trained, compared, and each with its negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from annot.base.records import Paper
from annot.ranking.systems.encoders import Encode
from annot.ranking.systems.reading import Loaded, document_text, pooled, sentence_means, text_tokens, tokens_in_context
from annot.ranking.systems.sentence_vectors import Matrix
from annot.ranking.systems.training.examples import Example, Side
from annot.ranking.systems.training.losses import (
    DISTANCES,
    Aligned,
    Heat,
    between,
    by_contexts,
    by_themselves,
    l2,
    negatives_within,
    softmax,
    triplet,
)
from annot.ranking.systems.training.recipes import Distance, Recipe


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
    align: Encode | None

    def of(self, batch: Sequence[Example], random: np.random.Generator | None) -> BatchLoss | None:
        """The loss of a batch; None where no example of it counts.

        random: draws the negatives within the batch; None is for dev examples, which have theirs, and which are
        measured with the distance that the system ranks with.
        """
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
            ahead, behind = _stack(near), _stack(far)
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
        heat = Heat(self.recipe.settings.temperature, 1 / self.recipe.settings.entropy)
        aligned: Aligned | None = None
        if distance in ("context aligned", "abstract aligned"):
            assert owner is not None, "examples that are aligned were checked: none has a negative of its own"
            left, right = _sentences(mine.query, len(query), vectors), _sentences(owner.positive, len(other), vectors)
            if distance == "abstract aligned":
                aligned = by_themselves(left, right)
            else:
                contexts = [np.stack([vectors[text] for text in one.contexts]) for one in (mine, owner)]
                aligned = by_contexts(left, right, *contexts)
        return DISTANCES[distance](between(query, other), heat, aligned)

    def _vectors_to_align_by(self, batch: Sequence[Example]) -> dict[str, Matrix]:
        """The vector of every sentence and context of the batch, by its text."""
        assert self.align is not None, "a recipe that aligns is given what it aligns by"
        sides = [_paper(side) for example in batch for side in (example.query, example.positive)]
        texts = dict.fromkeys(
            [sentence for paper in sides for sentence in paper.sentences]
            + [context for example in batch for context in example.contexts]
        )
        return dict(zip(texts, self.align(list(texts)), strict=True))


def _among_all(queries: Sequence[Any], positives: Sequence[Any]) -> BatchLoss:
    import torch

    left, right = torch.cat(list(queries)), torch.cat(list(positives))
    found = (left @ right.T).argmax(dim=1)
    correct = int((found == torch.arange(len(left), device=left.device)).sum())
    return BatchLoss(softmax(left, right), len(left), correct)


def _stack(values: Sequence[Any]) -> Any:
    import torch

    return torch.stack(list(values))


def _paper(side: Side) -> Paper:
    assert isinstance(side, Paper), "the examples were read as papers"
    return side


def _sentences(side: Side, read: int, vectors: dict[str, Matrix]) -> Matrix:
    """The vectors of the sentences of a paper that the encoder has read."""
    return np.stack([vectors[sentence] for sentence in _paper(side).sentences[:read]])
