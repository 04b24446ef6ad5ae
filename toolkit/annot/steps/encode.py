"""Vectors for all papers of the corpus by an encoder, as a pooling method and a system of its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.names import check_name, near
from annot.base.shards import Engine
from annot.base.templating import counted
from annot.ranking.dense import Metric
from annot.ranking.encoding import Encoding, weights_folder
from annot.ranking.index import Advance
from annot.ranking.paper_vectors import check_replaceable, check_set_name
from annot.ranking.systems.abstracts import SYSTEMS
from annot.ranking.systems.encoders import PaperReading, metric_of, open_paper_encoder, reading_of
from annot.ranking.systems.weights import EncoderWeights, digest_of
from annot.ranking.vectors import Precision
from annot.study.workspace import Workspace

KNOWN = {system.name: system.weights for system in SYSTEMS if system.weights is not None}


@dataclass(frozen=True, slots=True)
class EncodedPapers:
    """A set of vectors that an encoder made."""

    name: str
    model: str
    space: str
    metric: Metric
    precision: Precision
    device: str
    papers: int
    encoded: int
    """Papers encoded now, or in a dry run to be encoded; the others had been before."""
    path: Path


class Model(NamedTuple):
    """Weights, and how they are read."""

    folder: Path
    reading: PaperReading
    name: str
    space: str


def encode(
    ws: Workspace,
    name: str,
    *,
    model: str | None,
    metric: str | None,
    half: bool,
    device: str | None,
    batch: int,
    dry_run: bool,
    advance: Advance,
) -> EncodedPapers:
    """Encode every paper that has no vector yet by this encoder; a killed run goes on.

    model: a folder of weights, or a model in the hub's cache; None is the system of the set's name. half: keep half
    precision, and on a GPU compute in it. device: as torch names it; None is a GPU where there is one.
    """
    check_set_name(name)
    if metric is not None:
        check_name(metric, ("l2", "cosine"), what="--metric")
    found = _model(ws, name, model)
    check_replaceable(ws, name, found.space, encoded=True)
    kind = _device(device, found.folder)
    on_gpu = not kind.startswith("cpu")
    precision: Precision = "float16" if half else "float32"
    facts: dict[str, Any] = {
        "encoder": found.name, "weights_sha256": digest_of(found.folder), "reading": found.reading,
        "device": kind.partition(":")[0], "batch": batch, "computed_in": "float16" if half and on_gpu else "float32",
    }  # fmt: skip
    compared: Metric = metric_of(found.folder, found.reading) if metric is None else _metric(metric)
    encoding = Encoding(ws, name, facts=facts, precision=precision)
    if dry_run:
        kept, papers = encoding.count()
        encoded = papers - kept
    else:
        papers, encoded = encoding.run(
            partial(
                open_paper_encoder,
                found.folder.resolve(),
                found.reading,
                device=kind,
                half=half and on_gpu,
                batch=batch,
            ),
            engine=Engine.of(ws.machine),
            about={"model": found.name, "space": found.space, "metric": compared},
            advance=advance,
        )
    return EncodedPapers(name, found.name, found.space, compared, precision, kind, papers, encoded, ws.vectors / name)


def _metric(name: str) -> Metric:
    return "cosine" if name == "cosine" else "l2"


def _device(asked: str | None, folder: Path) -> str:
    # The libraries load for seconds: only here, once all else is known to be right.
    from annot.ranking.systems.reading import prepare_libraries, usable_device

    prepare_libraries(folder)
    return str(usable_device(asked))


def _model(ws: Workspace, name: str, asked: str | None) -> Model:
    """Which weights are meant. Raises MissingInput where they are not there, InputError where the name says nothing."""
    if asked is not None and Path(asked).is_dir():
        folder = Path(asked)
        return Model(folder, reading_of(folder), folder.resolve().name, f"weights {digest_of(folder)[:12]}")
    if asked is not None:
        if asked.count("/") != 1:
            raise InputError(f"--model {asked}: no such folder")
        if name in KNOWN and asked != KNOWN[name].hub:
            raise InputError(f"--model {asked}: {name} is {KNOWN[name].hub}", hint="give the set another name")
        folder = EncoderWeights(name, asked, "own").find(weights_folder(ws))
        return Model(folder, reading_of(folder), asked, asked)
    if name in KNOWN:
        weights = KNOWN[name]
        return Model(weights.find(weights_folder(ws)), "document", weights.hub or name, weights.hub or name)
    own = weights_folder(ws) / name
    if own.is_dir():
        return Model(own, reading_of(own), name, f"weights {digest_of(own)[:12]}")
    raise InputError(f"{name}: no encoder of this name; {near(name, KNOWN)}", hint="name a folder of weights: --model")


def describe(encoded: EncodedPapers, *, dry_run: bool) -> str:
    """Where the vectors are, and how many were made."""
    made = "to encode" if dry_run else "encoded now"
    return f"{encoded.path}: {counted(encoded.papers, 'paper')}, {encoded.encoded} {made}"
