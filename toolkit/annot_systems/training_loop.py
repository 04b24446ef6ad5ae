"""Training of encoders: losses, optimiser, looks at the dev examples, and a state to go on from."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from annot.base.errors import InputError
from annot.base.libraries import torch
from annot.base.records import Advance, Paper
from annot.base.stats.arrays import Integers, Matrix
from annot.base.stats.inference import generator
from annot.ranking.systems import encoders

from annot_systems.sentences import plans
from annot_systems.training_examples import Distance, Example, Examples, Recipe, RecipeSettings, Side

# ----------------------------------------------------------------------------------------------------------------------
# Losses of batches of examples, in torch, which every function here imports when it is called.
#
# A batch is read by the encoder that is trained, compared, and each example has its negative.
#
# Distances between papers are those that the systems rank with, but for transport. As Aspire was trained with
# GeomLoss, its distance in training is the whole minimum, min <D, P> + eps KL(P | x y), and is differentiated by all
# that it depends on: by D, whose gradient is the plan, and by the masses x and y, whose gradients are the dual
# potentials. The masses are softmaxes of the smallest distances, and the gradient flows on through them. Plan and
# potentials come from `annot_systems.sentences.plans`; at the minimum they need no gradient of their own.
# ----------------------------------------------------------------------------------------------------------------------


AlignedSentences = tuple[int, int]
"""The sentences of the query and of the other paper that another encoder aligned."""


def triplet(positive: Any, negative: Any, *, margin: float) -> Any:
    """The mean of max(d+ - d- + margin, 0). positive, negative: tensors of distances, shape (examples,)."""
    return (positive - negative + margin).relu().mean()


def softmax(queries: Any, positives: Any) -> Any:
    """The mean cross entropy of each query's positive among all, by dot products. Both: (examples, dimensions)."""
    return torch.nn.functional.cross_entropy(queries @ positives.T, torch.arange(len(queries), device=queries.device))


def l2(left: Any, right: Any) -> Any:
    """The distance of rows of the same place: shape (examples,)."""
    return torch.linalg.vector_norm(left - right, dim=1)


def between(left: Any, right: Any) -> Any:
    """The distance of every sentence of one paper to every one of another: shape (left's, right's)."""
    return torch.cdist(left, right, compute_mode="donot_use_mm_for_euclid_dist")


def single(distances: Any, temperature: float, eps: float) -> Any:
    """The smallest distance."""
    return distances.min()


def transport(distances: Any, temperature: float, eps: float) -> Any:
    """The minimum of <D, P> + eps KL(P | x y) over plans P of the masses x and y, which follow from D.

    temperature: of the masses; eps: the weight of the entropy, 1 / lambda.
    """
    x, y = (torch.softmax(-distances.min(dim=dim).values.double() / temperature, dim=0) for dim in (1, 0))
    solution = plans(*(values.detach().double().cpu().numpy()[None] for values in (distances, x, y)), eps=eps)
    plan, by_x, by_y = (torch.from_numpy(values[0]).to(x) for values in (solution.plans, solution.by_x, solution.by_y))
    # The first term is zero, and has the plan as its gradient.
    return (((distances - distances.detach()) * plan).sum() + (x * by_x).sum() + (y * by_y).sum()).to(distances)


def attention(distances: Any, temperature: float, eps: float) -> Any:
    """<D, A>, A the softmax of -D / temperature over all pairs."""
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
    towers: tuple[encoders.LoadedModel, ...]
    align: encoders.TextEncoder | None

    def of(self, batch: Sequence[Example], random: np.random.Generator | None) -> BatchLoss | None:
        """The loss of a batch; None if no example of it counts.

        random: draws the negatives within the batch; None is for dev examples, which have theirs, and which are
        measured with the distance that the system ranks with.
        """
        queries = self._read(self.towers[0], [example.query for example in batch])
        positives = self._read(self.towers[-1], [example.positive for example in batch])
        settings = self.recipe.settings
        if settings.loss == "softmax":
            return _loss_among_all(queries, positives)
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

    def _read(self, tower: encoders.LoadedModel, sides: Sequence[Side]) -> list[Any]:
        """Tensors of shape (vectors, dimensions), one for each side; a side that is read as a whole has one vector."""
        if self.recipe.reads == "context":
            return encoders.sentence_means(tower, [encoders.tokens_in_context(tower, _paper(side)) for side in sides])
        texts = [side if isinstance(side, str) else encoders.document_text(tower, side) for side in sides]
        return [row[None] for row in encoders.pooled(tower, encoders.text_tokens(tower, texts), "cls")]

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


def _loss_among_all(queries: Sequence[Any], positives: Sequence[Any]) -> BatchLoss:
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


# ----------------------------------------------------------------------------------------------------------------------
# The training itself: Adam, a warm-up and a linear decay, looks at the dev examples, and a state from which it
# continues.
#
# Every step draws from generators that follow from the seed and its number alone, so a training that was killed and
# continues from its last state ends in the weights of one that was not (on one device; GPUs may round otherwise each
# time).
# ----------------------------------------------------------------------------------------------------------------------


STATE, BEST = "state.pt", "best.pt"
LOOKS = 10
"""Looks at the dev examples in an epoch, if the settings name no number of steps."""


@dataclass(frozen=True, slots=True)
class Point:
    """Evaluation on the dev examples."""

    step: int
    epoch: float
    learning_rate: float
    """Learning rate of the step just taken."""
    train_loss: float | None
    """The mean since the look before; None if no example counted, and before the first step."""
    dev_loss: float
    dev_accuracy: float
    """Share of dev examples whose positive comes before the negative, or before all of its batch."""


Tell = Callable[[Point, int], None]
"""Called at each look, with the number of all steps."""


@dataclass(frozen=True, slots=True)
class Length:
    """Number of steps of a training, at most."""

    steps: int
    per_epoch: int
    warm_up: int
    check_every: int


@dataclass
class TrainingState:
    """Progress of a training: the state on disk has this, the weights and the optimiser."""

    step: int = 0
    curve: list[Point] = field(default_factory=list)
    best: Point | None = None
    since: int = 0
    """Looks since the best one."""


def length_of(examples: int, settings: RecipeSettings) -> Length:
    """Number of steps of a training on this many examples."""
    per_epoch = math.ceil(examples / settings.batch)
    steps = per_epoch * settings.epochs
    warm_up = round(settings.warm_up * steps) if settings.warm_up < 1 else round(settings.warm_up)
    return Length(steps, per_epoch, warm_up, settings.check_every or max(1, math.ceil(per_epoch / LOOKS)))


class EncoderTrainer:
    """A model in training, with its losses and optimiser.

    work: the folder of the state; a training continues from a state that is there.
    """

    def __init__(
        self,
        recipe: Recipe,
        loaded: encoders.LoadedModel,
        train_on: Examples,
        dev: Examples,
        *,
        align: encoders.TextEncoder | None,
        work: Path,
    ) -> None:
        from transformers import get_linear_schedule_with_warmup

        self.settings, self.loaded, self.train_on, self.dev, self.work = recipe.settings, loaded, train_on, dev, work
        self.length = length_of(len(train_on), recipe.settings)
        second_tower = (loaded._replace(model=copy.deepcopy(loaded.model)),) if recipe.two_towers else ()
        self.losses = Losses(recipe, (loaded, *second_tower), align)
        self.models = torch.nn.ModuleList(tower.model for tower in self.losses.towers)
        self.optimiser = torch.optim.Adam(self.models.parameters(), lr=recipe.settings.learning_rate)
        self.schedule = get_linear_schedule_with_warmup(self.optimiser, self.length.warm_up, self.length.steps)
        self.parts = {"models": self.models, "optimiser": self.optimiser, "schedule": self.schedule}

    def run(self, facts: Mapping[str, Any], *, advance: Advance, tell: Tell) -> TrainingState:
        """Train until the dev loss stops falling or all epochs are done; the model then has the weights of the best
        look.

        facts: the inputs that the training depends on; they are kept with the state. Raises InputError when a state has
        other facts, or the loss is no number.
        """
        settings, length, state = self.settings, self.length, self.resumed(facts)
        if not state.curve:
            self.look(state, None, 0.0)
            tell(state.curve[-1], length.steps)
        total, counted = 0.0, 0
        while state.step < length.steps and state.since < settings.patience:
            rate = float(self.schedule.get_last_lr()[0])
            with _seeded(settings.seed, state.step, self.loaded):
                added, examples = self.step(state.step)
            total, counted = total + added, counted + examples
            state.step += 1
            advance(state.step, length.steps)
            if state.step % length.check_every == 0 or state.step == length.steps:
                mean = total / counted if counted else None
                if mean is not None and not math.isfinite(mean):
                    raise InputError(
                        f"step {state.step}: the loss is {mean}",
                        hint="lower the learning rate: --set learning_rate=NUMBER",
                    )
                total, counted = 0.0, 0
                self.look(state, mean, rate)
                self.save(state, facts)
                tell(state.curve[-1], length.steps)
        best = torch.load(self.work / BEST, map_location=self.loaded.device, weights_only=True)
        self.loaded.model.load_state_dict(best)
        self.loaded.model.eval()
        return state

    def step(self, step: int) -> tuple[float, int]:
        """Learn from one batch, read in parts; returns the sum of its losses and the number of its examples."""
        size, seed = self.settings.batch, self.settings.seed
        epoch, place = divmod(step, self.length.per_epoch)
        batch = _order(seed, epoch, len(self.train_on))[place * size : (place + 1) * size]
        random = generator(seed, "negatives", str(step))
        self.models.train()
        total, counted = 0.0, 0
        for rows in self._read_at_once(batch):
            loss = self.losses.of(self.train_on.read(rows), random)
            if loss is not None:
                (loss.loss * (loss.examples / len(batch))).backward()
                total += float(loss.loss.detach()) * loss.examples
                counted += loss.examples
        self.optimiser.step()
        self.schedule.step()
        self.optimiser.zero_grad()
        return total, counted

    def look(self, state: TrainingState, train_loss: float | None, rate: float) -> None:
        """Measure the dev examples, record the result, and keep the weights if they are the best so far."""
        total, right, counted = 0.0, 0, 0
        self.models.eval()
        with torch.inference_mode():
            for rows in self._read_at_once(range(len(self.dev))):
                loss = self.losses.of(self.dev.read(rows), None)
                if loss is not None:
                    total += float(loss.loss.detach()) * loss.examples
                    right, counted = right + loss.right, counted + loss.examples
        if not counted:
            raise InputError(f"{self.dev.path}: no example could be measured, expected at least one")
        epoch = state.step / self.length.per_epoch
        point = Point(state.step, epoch, rate, train_loss, total / counted, right / counted)
        state.curve.append(point)
        if state.best is None or point.dev_loss < state.best.dev_loss:
            state.best, state.since = point, 0
            _save(self.work / BEST, self.loaded.model.state_dict())
        else:
            state.since += 1

    def resumed(self, facts: Mapping[str, Any]) -> TrainingState:
        """Progress of the state on disk, which is loaded into the parts; the beginning if there is none."""
        path = self.work / STATE
        if not path.is_file():
            return TrainingState()
        stored = torch.load(path, map_location="cpu", weights_only=True)
        differing = sorted(name for name in {*stored["facts"], *facts} if stored["facts"].get(name) != facts.get(name))
        if differing:
            raise InputError(
                f"{self.work}: this training began with another {', '.join(differing)}",
                hint=f"use the same as then, or remove {self.work} to begin again",
            )
        for name, part in self.parts.items():
            part.load_state_dict(stored[name])
        step, curve, best, looks_since_best = stored["progress"]
        return TrainingState(step, [Point(*values) for values in curve], Point(*best), looks_since_best)

    def save(self, state: TrainingState, facts: Mapping[str, Any]) -> None:
        """Save the state, from which a training continues."""
        assert state.best is not None, "a state is kept after a look"
        progress = [state.step, [astuple(point) for point in state.curve], astuple(state.best), state.since]
        parts = {name: part.state_dict() for name, part in self.parts.items()}
        _save(self.work / STATE, {**parts, "progress": progress, "facts": dict(facts)})

    def _read_at_once(self, places: Sequence[int] | Any) -> Iterator[Any]:
        for start in range(0, len(places), self.settings.at_once):
            yield places[start : start + self.settings.at_once]


@lru_cache(maxsize=1)
def _order(seed: int, epoch: int, examples: int) -> Integers:
    """The order of the examples in an epoch."""
    return generator(seed, "epoch", str(epoch)).permutation(examples)


def _save(path: Path, content: Any) -> None:
    """Write a state whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    torch.save(content, temporary)
    temporary.replace(path)


@contextmanager
def _seeded(seed: int, step: int, loaded: encoders.LoadedModel) -> Iterator[None]:
    """Make torch draw from the seed and the step inside the context, and restore its state after it."""
    with torch.random.fork_rng([loaded.device] if loaded.device.type == "cuda" else []):
        torch.manual_seed(int(generator(seed, "dropout", str(step)).integers(2**62)))
        yield
