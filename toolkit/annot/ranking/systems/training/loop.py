"""The training itself: Adam, a warm-up and a linear decay, looks at the dev examples, and a state to go on from.

Every step draws from generators that follow from the seed and its number alone, so a training that was killed and goes
on from its last state ends in the weights of one that was not (on one device; GPUs may round otherwise each time).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annot.base.errors import InputError
from annot.base.records import Advance
from annot.base.stats.seeding import generator
from annot.ranking.systems.encoders import Encode
from annot.ranking.systems.reading import Loaded
from annot.ranking.systems.training.examples import Examples
from annot.ranking.systems.training.losses import Losses
from annot.ranking.systems.training.recipes import Recipe, TrainingSettings

STATE, BEST = "state.pt", "best.pt"
LOOKS = 10
"""At the dev examples in an epoch, where the settings name no number of steps."""


@dataclass(frozen=True, slots=True)
class Point:
    """One look at the dev examples."""

    step: int
    epoch: float
    learning_rate: float
    """Of the step just taken."""
    train_loss: float | None
    """The mean since the look before; None where no example counted, and before the first step."""
    dev_loss: float
    dev_accuracy: float
    """The share of dev examples whose positive comes before the negative, or before all of its batch."""


Tell = Callable[[Point, int], None]
"""Called at each look, with the number of all steps."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long a training is at most."""

    steps: int
    per_epoch: int
    warm_up: int
    check_every: int


@dataclass
class TrainingState:
    """How far it is: what the state on disk holds beside weights and optimiser."""

    step: int = 0
    curve: list[Point] = field(default_factory=list)
    best: Point | None = None
    since: int = 0
    """Looks since the best one."""


def length_of(examples: int, settings: TrainingSettings) -> Length:
    """The steps of a training on so many examples."""
    per_epoch = math.ceil(examples / settings.batch)
    steps = per_epoch * settings.epochs
    warm_up = round(settings.warm_up * steps) if settings.warm_up < 1 else round(settings.warm_up)
    return Length(steps, per_epoch, warm_up, settings.check_every or max(1, math.ceil(per_epoch / LOOKS)))


def train(
    recipe: Recipe,
    loaded: Loaded,
    train_on: Examples,
    dev: Examples,
    *,
    align: Encode | None,
    work: Path,
    facts: Mapping[str, Any],
    advance: Advance,
    tell: Tell,
) -> TrainingState:
    """Train until the dev loss stops falling or all epochs are done; the model then has the weights of the best look.

    work: the folder of the state; a state that is there is gone on from. facts: what the training depends on; they are
    kept with the state. Raises InputError where a state has other facts, or the loss is no number.
    """
    import torch
    from transformers import get_linear_schedule_with_warmup

    settings = recipe.settings
    length = length_of(len(train_on), settings)
    second = (loaded._replace(model=copy.deepcopy(loaded.model)),) if recipe.two_towers else ()
    losses = Losses(recipe, (loaded, *second), align)
    models = torch.nn.ModuleList(tower.model for tower in losses.towers)
    optimiser = torch.optim.Adam(models.parameters(), lr=settings.learning_rate)
    schedule = get_linear_schedule_with_warmup(optimiser, length.warm_up, length.steps)
    parts = {"models": models, "optimiser": optimiser, "schedule": schedule}
    progress = _resumed(work, parts, facts) or TrainingState()
    if not progress.curve:
        _look(progress, losses, dev, None, 0.0, length, work, loaded)
        tell(progress.curve[-1], length.steps)
    total, counted = 0.0, 0
    while progress.step < length.steps and progress.since < settings.patience:
        rate = float(schedule.get_last_lr()[0])
        with _seeded(settings.seed, progress.step, loaded):
            added, examples = _step(progress.step, losses, train_on, models, length)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        total, counted = total + added, counted + examples
        progress.step += 1
        advance(progress.step, length.steps)
        if progress.step % length.check_every == 0 or progress.step == length.steps:
            mean = total / counted if counted else None
            if mean is not None and not math.isfinite(mean):
                raise InputError(f"step {progress.step}: the loss is {mean}", hint="try a lower --learning-rate")
            total, counted = 0.0, 0
            _look(progress, losses, dev, mean, rate, length, work, loaded)
            _save(work / STATE, {**_states(parts), "progress": _plain(progress), "facts": dict(facts)})
            tell(progress.curve[-1], length.steps)
    loaded.model.load_state_dict(torch.load(work / BEST, map_location=loaded.device, weights_only=True))
    loaded.model.eval()
    return progress


def _step(step: int, losses: Losses, train_on: Examples, models: Any, length: Length) -> tuple[float, int]:
    """Gradients of one batch, read in parts; returns the sum of its losses and the number of its examples."""
    settings = losses.recipe.settings
    epoch, place = divmod(step, length.per_epoch)
    batch = _order(settings.seed, epoch, len(train_on))[place * settings.batch : (place + 1) * settings.batch]
    random = generator(settings.seed, "negatives", str(step))
    models.train()
    total, counted = 0.0, 0
    for rows in _parts(batch, settings.at_once):
        found = losses.of(train_on.read(rows), random)
        if found is not None:
            (found.loss * (found.examples / len(batch))).backward()
            total += float(found.loss.detach()) * found.examples
            counted += found.examples
    return total, counted


@lru_cache(maxsize=1)
def _order(seed: int, epoch: int, examples: int) -> NDArray[np.int64]:
    """The order of the examples in an epoch."""
    return generator(seed, "epoch", str(epoch)).permutation(examples)


def _look(
    progress: TrainingState,
    losses: Losses,
    dev: Examples,
    train_loss: float | None,
    rate: float,
    length: Length,
    work: Path,
    loaded: Loaded,
) -> None:
    """Measure the dev examples, note it down, and keep the weights where they are the best so far."""
    import torch

    total, right, counted = 0.0, 0, 0
    for tower in losses.towers:
        tower.model.eval()
    with torch.inference_mode():
        for rows in _parts(range(len(dev)), losses.recipe.settings.at_once):
            found = losses.of(dev.read(rows), None)
            if found is not None:
                total += float(found.loss.detach()) * found.examples
                right, counted = right + found.right, counted + found.examples
    if not counted:
        raise InputError(f"{dev.path}: no example that could be measured")
    epoch = progress.step / length.per_epoch
    point = Point(progress.step, epoch, rate, train_loss, total / counted, right / counted)
    progress.curve.append(point)
    if progress.best is None or point.dev_loss < progress.best.dev_loss:
        progress.best, progress.since = point, 0
        _save(work / BEST, loaded.model.state_dict())
    else:
        progress.since += 1


def _resumed(work: Path, parts: Mapping[str, Any], facts: Mapping[str, Any]) -> TrainingState | None:
    """How far the state in `work` is, loaded into the parts; None where there is none."""
    import torch

    if not (work / STATE).is_file():
        return None
    stored = torch.load(work / STATE, map_location="cpu", weights_only=True)
    other = sorted(name for name in {*stored["facts"], *facts} if stored["facts"].get(name) != facts.get(name))
    if other:
        raise InputError(f"{work}: begun with another {', '.join(other)}", hint=f"use the same, or remove {work}")
    for name, part in parts.items():
        part.load_state_dict(stored[name])
    step, curve, best, since = stored["progress"]
    return TrainingState(step, [Point(*one) for one in curve], Point(*best), since)


def _plain(progress: TrainingState) -> list[Any]:
    assert progress.best is not None, "a state is kept after a look"
    return [progress.step, [astuple(point) for point in progress.curve], astuple(progress.best), progress.since]


def _states(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part.state_dict() for name, part in parts.items()}


def _save(path: Path, content: Any) -> None:
    """Write a state whole or not at all."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    torch.save(content, temporary)
    temporary.replace(path)


def _parts(places: Sequence[int] | Any, size: int) -> Iterator[Any]:
    for start in range(0, len(places), size):
        yield places[start : start + size]


def _seeded(seed: int, step: int, loaded: Loaded) -> Any:
    """A context in which torch draws what follows from the seed and the step, and after which it is as before."""
    from contextlib import ExitStack

    import torch

    stack = ExitStack()
    stack.enter_context(torch.random.fork_rng([loaded.device] if loaded.device.type == "cuda" else []))
    torch.manual_seed(int(generator(seed, "dropout", str(step)).integers(2**62)))
    return stack
