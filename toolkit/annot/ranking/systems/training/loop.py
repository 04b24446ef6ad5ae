"""The training itself: Adam, a warm-up and a linear decay, looks at the dev examples, and a state from which it
continues.

Every step draws from generators that follow from the seed and its number alone, so a training that was killed and
continues from its last state ends in the weights of one that was not (on one device; GPUs may round otherwise each
time).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.records import Advance
from annot.base.stats.arrays import Integers
from annot.base.stats.seeding import generator
from annot.ranking.systems.encoders import TextEncoder
from annot.ranking.systems.reading import Loaded
from annot.ranking.systems.training.examples import Examples
from annot.ranking.systems.training.losses import Losses
from annot.ranking.systems.training.recipes import Recipe, RecipeSettings

STATE, BEST = "state.pt", "best.pt"
LOOKS = 10
"""Looks at the dev examples in an epoch, if the settings name no number of steps."""


@dataclass(frozen=True, slots=True)
class Point:
    """One look at the dev examples."""

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
    """Most steps of a training."""

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
    """Number of steps of a training on so many examples."""
    per_epoch = math.ceil(examples / settings.batch)
    steps = per_epoch * settings.epochs
    warm_up = round(settings.warm_up * steps) if settings.warm_up < 1 else round(settings.warm_up)
    return Length(steps, per_epoch, warm_up, settings.check_every or max(1, math.ceil(per_epoch / LOOKS)))


class Training:
    """A model in training, with its losses and optimiser.

    work: the folder of the state; a training continues from a state that is there.
    """

    def __init__(
        self,
        recipe: Recipe,
        loaded: Loaded,
        train_on: Examples,
        dev: Examples,
        *,
        align: TextEncoder | None,
        work: Path,
    ) -> None:
        import torch
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
        import torch

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
        import torch

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
        import torch

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
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    torch.save(content, temporary)
    temporary.replace(path)


@contextmanager
def _seeded(seed: int, step: int, loaded: Loaded) -> Iterator[None]:
    """Make torch draw from the seed and the step inside the context, and restore its state after it."""
    import torch

    with torch.random.fork_rng([loaded.device] if loaded.device.type == "cuda" else []):
        torch.manual_seed(int(generator(seed, "dropout", str(step)).integers(2**62)))
        yield
