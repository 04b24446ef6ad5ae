"""Training an encoder: from weights and examples to a folder of weights that `annot run` reads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.records import Advance
from annot.base.storage import held_alone
from annot.formats.spreadsheet import csv_of
from annot.publishing.report.figures import learning_curve
from annot.ranking.encoding import weights_folder
from annot.ranking.systems import systems_of
from annot.ranking.systems.encoders import open_text_encoder
from annot.ranking.systems.reading import load
from annot.ranking.systems.training.examples import DEV, TRAIN, Examples
from annot.ranking.systems.training.loop import Length, Point, Tell, Training, TrainingState, length_of
from annot.ranking.systems.training.recipes import Recipe
from annot.ranking.systems.weights import Reading, digest_of
from annot.study.workspace import Workspace, sha256_of, write_file

RECORD, CURVE, DRAWING = "training.json", "curve.csv", "curve.svg"
"""The files next to the weights: what they depend on, and how the loss went."""
ALIGN_BY = "cosentbert"
"""Aspire's encoder of sentences (section 3.2.2)."""


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """A training, done or planned."""

    system: str
    path: Path
    """Where the weights are, or will be."""
    examples: int
    dev_examples: int
    length: Length
    settings: Mapping[str, Any]
    curve: tuple[Point, ...]
    """Empty for a dry run."""
    best: Point | None
    done_before: bool
    """Whether the weights were there already, trained so."""
    notes: tuple[str, ...]


def make(
    ws: Workspace | None,
    recipe: Recipe,
    *,
    data: Path,
    start: str | None,
    align: str | None,
    out: Path | None,
    device: str | None,
    dry_run: bool,
    advance: Advance,
    tell: Tell,
) -> EncoderTraining:
    """Train, or go on where a training of the same was interrupted.

    start, align: a folder of weights or the name of a system; None stands for those of the paper. out: None is
    `weights/SYSTEM` of the study. Raises InputError if `out` is there and was not trained so.
    """
    if out is None:
        if ws is None:
            raise InputError("found no study here and no --out, expected a folder for the weights")
        out = weights_folder(ws) / recipe.system
    train_on, dev = Examples(data / TRAIN), Examples(data / DEV)
    train_on.check(recipe, dev=False)
    dev.check(recipe, dev=True)
    length = length_of(len(train_on), recipe.settings)
    planned = EncoderTraining(
        *(recipe.system, out, len(train_on), len(dev), length, asdict(recipe.settings)),
        curve=(),
        best=None,
        done_before=False,
        notes=_notes(length),
    )
    start_folder, _ = _weights(start or recipe.start, ws)
    aligner = _weights(align or ALIGN_BY, ws) if recipe.aligned else None
    if dry_run:
        return planned
    facts = {
        "system": recipe.system,
        "settings": asdict(recipe.settings),
        "train_sha256": sha256_of(train_on.path),
        "dev_sha256": sha256_of(dev.path),
        "start_sha256": digest_of(start_folder),
        "align_sha256": digest_of(aligner[0]) if aligner else None,
    }
    before = _record(out, facts)
    if before is not None:
        return replace(planned, curve=tuple(before.curve), best=before.best, done_before=True)
    loaded = load(start_folder, device)
    if loaded.mix is not None:
        raise InputError(f"{start_folder}: found weights with a mix of layers, expected weights without one")
    work = out.with_name(f"{out.name}.training")
    with held_alone(
        work / "lock", busy=f"{work}: another process trains there", hint="wait until it ends, or choose another --out"
    ):
        aligned_by = open_text_encoder(*aligner, device=device) if aligner else None
        training = Training(recipe, loaded, train_on, dev, align=aligned_by, work=work)
        progress = training.run(facts, advance=advance, tell=tell)
        _write(out, work / "made", loaded, facts, progress)
        shutil.rmtree(work)
    return replace(planned, curve=tuple(progress.curve), best=progress.best)


def line(point: Point, steps: int) -> str:
    """One look at the dev examples, for whoever watches."""
    loss = "" if point.train_loss is None else f"loss {point.train_loss:.4f}, "
    dev = f"dev loss {point.dev_loss:.4f}, dev accuracy {100 * point.dev_accuracy:.1f}%"
    return f"step {point.step:,} of {steps:,}: {loss}{dev}"


def _notes(length: Length) -> tuple[str, ...]:
    if length.warm_up < length.steps:
        return ()
    return (f"the warm-up takes {length.warm_up:,} of {length.steps:,} steps; --set warm_up=0.1 takes a tenth of them",)


def _weights(name: str, ws: Workspace | None) -> tuple[Path, Reading]:
    """A folder of weights, or those of a system, and how they are read. Raises MissingInput if there are none."""
    if Path(name).is_dir():
        return Path(name), "own" if (Path(name) / "modules.json").is_file() else "cls"
    (system,) = systems_of([name], vectors=None, weights=None)
    if system.weights is None:
        raise InputError(f"{name}: a system without weights, expected a folder of weights or a system with an encoder")
    folder = Path("weights") if ws is None else weights_folder(ws)
    return system.weights.find(folder), system.weights.reading


def _record(out: Path, facts: Mapping[str, Any]) -> TrainingState | None:
    """The training that made the weights at `out`; None if there are none yet."""
    if not out.exists():
        return None
    path = out / RECORD
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"facts": None}
    if stored["facts"] != json.loads(json.dumps(facts)):
        raise InputError(
            f"{out}: weights of another training are there", hint="choose another --out, or remove the folder"
        )
    curve = [Point(**one) for one in stored["curve"]]
    return TrainingState(curve[-1].step, curve, Point(**stored["best"]))


def _write(out: Path, made: Path, loaded: Any, facts: Mapping[str, Any], progress: TrainingState) -> None:
    """Weights, tokeniser, record and curve: the folder is there whole, or not at all."""
    shutil.rmtree(made, ignore_errors=True)
    loaded.model.save_pretrained(made)
    loaded.tokenizer.save_pretrained(made)
    assert progress.best is not None, "a training looks at the dev examples"
    record = {"facts": facts, "curve": [asdict(one) for one in progress.curve], "best": asdict(progress.best)}
    write_file(made / RECORD, json.dumps(record, indent=2, sort_keys=True) + "\n")
    write_file(made / CURVE, csv_of([[one.name for one in fields(Point)], *map(astuple, progress.curve)]))
    losses = {
        "training": [(one.step, one.train_loss) for one in progress.curve if one.train_loss is not None],
        "dev": [(one.step, one.dev_loss) for one in progress.curve],
    }
    write_file(made / DRAWING, learning_curve(losses, unit="loss").wide)
    out.parent.mkdir(parents=True, exist_ok=True)
    made.rename(out)
