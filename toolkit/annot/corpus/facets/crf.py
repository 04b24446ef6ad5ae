"""Labels of sentences: abstracts to learn from, a linear-chain conditional random field, and its scores.

Abstracts come as JSON Lines, CSAbstruct's (`sentences`) and our own (`abstract`). The model family is that of Lafferty,
McCallum and Pereira (ICML 2001), as CRFsuite implements it. The library is imported when a model is trained or first
used.
"""

from __future__ import annotations

import hashlib
import lzma
import math
import struct
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BaseModel, Field, model_validator

from annot.base.errors import Faults, InputError
from annot.base.names import counted, near
from annot.corpus.facets.attributes import FEATURE_SET, AttributeReader, Ints, features
from annot.formats.input_files import without_xz
from annot.formats.json_lines import read_models


class LabelledAbstract(BaseModel):
    """One abstract to learn from or to be scored on: its sentences, and the label of each."""

    sentences: tuple[str, ...] = Field(min_length=1, validation_alias=AliasChoices("sentences", "abstract"))
    labels: tuple[str, ...]

    @model_validator(mode="after")
    def _one_label_a_sentence(self) -> LabelledAbstract:
        if len(self.sentences) != len(self.labels):
            raise ValueError(
                f"found {counted(len(self.labels), 'label')} for {counted(len(self.sentences), 'sentence')}"
            )
        return self


def read_labelled(lines: Iterable[str], *, name: str, known: Collection[str] | None) -> tuple[LabelledAbstract, ...]:
    """The abstracts in `lines`, one JSON object a line: `labels`, and `sentences` or `abstract`; other keys are free.

    `known` are the labels that there are; None takes those that the file has.
    Empty lines are passed over. Raises InputError with the line of every fault; `name` is the file in the messages.
    """
    faults = Faults(name)
    abstracts = []
    for line, abstract in read_models(lines, faults, LabelledAbstract):
        abstracts.append(abstract)
        unknown = [] if known is None else sorted({*abstract.labels}.difference(known))
        if known is not None and unknown:
            faults.add("; ".join(f"unknown label {label!r}, {near(label, known)}" for label in unknown), line=line)
    faults.raise_if_any(
        hint='expected one JSON object per line, {"abstract": ["...", "..."], "labels": ["background", "method"]}; '
        "remove lines without labels",
        found=abstracts,
        nothing="no abstracts found",
    )
    return tuple(abstracts)


def without_held_out(
    abstracts: Sequence[LabelledAbstract], held_out: Sequence[LabelledAbstract]
) -> tuple[LabelledAbstract, ...]:
    """The abstracts that share no sentence with those held out; case and spacing make no difference."""
    kept_back = {_plain(sentence) for abstract in held_out for sentence in abstract.sentences}
    return tuple(one for one in abstracts if kept_back.isdisjoint(map(_plain, one.sentences)))


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().split())


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label's figures, fractions from 0 to 1; None if undefined."""

    precision: float | None
    """None if no sentence was given the label."""
    recall: float | None
    """None if no sentence has the label in truth."""
    f1: float | None
    """2 tp / (2 tp + fp + fn); None if the label occurs on neither side."""
    support: int
    """How many sentences have the label in truth."""


@dataclass(frozen=True, slots=True)
class LabelScores:
    """The figures over all sentences, and per label."""

    sentences: int
    micro_f1: float
    """With one label a sentence it equals the accuracy."""
    macro_f1: float
    """Mean of the labels' F1, over those where it is defined."""
    per_label: dict[str, LabelScore]
    """In the order of the labels given."""
    confusion: dict[str, dict[str, int]]
    """`confusion[truth][predicted]`: number of sentences; labels in the order given."""


def score(
    truths: Iterable[Sequence[str]], predictions: Iterable[Sequence[str]], *, labels: Sequence[str]
) -> LabelScores:
    """The scores of `predictions` against `truths`: for each abstract, in the same order, its labels in order.

    `labels` are all that there are. There is at least one sentence. Raises ValueError when the two do not match
    sentence by sentence.
    """
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    pairs = [pair for both in zip(truths, predictions, strict=True) for pair in zip(*both, strict=True)]
    truth, predicted = zip(*pairs, strict=True)
    figures = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=math.nan)
    per_label = {
        label: LabelScore(_defined(precision), _defined(recall), _defined(f1), int(support))
        for label, precision, recall, f1, support in zip(labels, *figures, strict=True)
    }
    defined = [entry.f1 for entry in per_label.values() if entry.f1 is not None]
    confusion = confusion_matrix(truth, predicted, labels=labels).tolist()
    return LabelScores(
        sentences=len(pairs),
        micro_f1=sum(one == other for one, other in pairs) / len(pairs),
        macro_f1=sum(defined) / len(defined),
        per_label=per_label,
        confusion={label: dict(zip(labels, row, strict=True)) for label, row in zip(labels, confusion, strict=True)},
    )


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else float(figure)


_MAGIC = b"lCRF"
_HEADER = struct.Struct("<4sI4sIIIIIIIII")
_FEATURES_HEADER = struct.Struct("<4sII")
_FEATURE = [("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")]
_STATE, _TRANSITION = 0, 1
_NAMES_HEADER = struct.Struct("<4sIIIII")
_NAME = struct.Struct("<II")


class Weights(NamedTuple):
    """What a linear-chain conditional random field has learnt; L labels, A attributes."""

    labels: tuple[str, ...]
    attributes: dict[str, int]
    """The number of each attribute, from 0."""
    state: NDArray[np.float64]
    """Array, shape (L, A): the weight of a label where the attribute is seen; 0 where none was learnt."""
    transition: NDArray[np.float64]
    """Array, shape (L, L): the weight of a label (second) after another (first)."""


def read_weights(raw: bytes, *, name: str) -> Weights:
    """The weights in the bytes of an uncompressed model file; `name` stands in messages.

    Raises InputError when it is not a whole model.
    """
    if not raw.startswith(_MAGIC):
        raise InputError(f"{name}: not a CRFsuite model: found {raw[:4]!r} at the start, expected {_MAGIC!r}")
    stated = int.from_bytes(raw[4:8], "little")
    if stated != len(raw):
        raise InputError(f"{name}: the model is cut short: found {len(raw)} bytes, expected {stated}")
    try:
        header = _HEADER.unpack_from(raw)
        features_at, labels_at, attributes_at = header[7:10]
        labels = _names(raw, labels_at)
        attributes = _names(raw, attributes_at)
        _chunk, _size, count = _FEATURES_HEADER.unpack_from(raw, features_at)
        learnt = np.frombuffer(raw, _FEATURE, count, features_at + _FEATURES_HEADER.size)
        state = np.zeros((len(labels), len(attributes)))
        transition = np.zeros((len(labels), len(labels)))
        seen, follows = learnt[learnt["kind"] == _STATE], learnt[learnt["kind"] == _TRANSITION]
        state[seen["target"], seen["source"]] = seen["weight"]
        transition[follows["source"], follows["target"]] = follows["weight"]
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(f"{name}: not a CRFsuite model: {error}") from None
    return Weights(tuple(labels), {attribute: number for number, attribute in enumerate(attributes)}, state, transition)


def _names(raw: bytes, start: int) -> list[str]:
    """The strings of a constant database that begins at `start`, in the order of their numbers."""
    *_, count, list_at = _NAMES_HEADER.unpack_from(raw, start)
    names = []
    for offset in np.frombuffer(raw, "<u4", count, start + list_at).tolist():
        _number, size = _NAME.unpack_from(raw, start + offset)
        begin = start + offset + _NAME.size
        names.append(raw[begin : begin + size - 1].decode())
    return names


SHIPPED_MODEL = "csabstruct.crfsuite.xz"
"""The model in this package; `MODEL.md` beside it says where it comes from."""

AT_ONCE = 1_000
"""Abstracts that are labelled together: enough for whole arrays, and few enough for the processor's cache."""

SETTINGS = {"c2": 16.0}
"""What decides a training besides the data and CRFsuite's own settings: the weight of the L2 penalty. The shipped model
was trained so."""


def train(abstracts: Iterable[LabelledAbstract]) -> bytes:
    """A model file (xz) trained on `abstracts`; the same abstracts in the same order give the same bytes.

    CRFsuite writes a model to a path only, so a private temporary file stands in between.
    Raises InputError when there is nothing to learn from.
    """
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(SETTINGS)
    seen: set[str] = set()
    for abstract in abstracts:
        trainer.append(features(abstract.sentences), abstract.labels)
        seen.update(abstract.labels)
    if len(seen) < 2:
        raise InputError(
            f"nothing to learn from: {counted(len(seen), 'label')} in the training abstracts, expected 2 or more"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        trainer.train(str(path))
        return lzma.compress(path.read_bytes(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=9)


class Labeller:
    """Labels the sentences of abstracts with one model, many abstracts at once."""

    sha256: str
    """SHA-256 of the model file's bytes, in hexadecimal."""
    labels: tuple[str, ...]
    """The labels that it gives: those of the abstracts it was trained on."""

    def __init__(self, model: bytes, *, name: str) -> None:
        """The labeller of the model file `model` (as `train` gives it, or as CRFsuite wrote it, uncompressed).

        `name` stands in messages. Raises InputError when it is not a model, or not one of these features.
        """
        self.name = name
        self.sha256 = hashlib.sha256(model).hexdigest()
        content = without_xz(model, name=name, expected="a model made by `annot facets train`")
        self._weights = read_weights(content, name=name)
        if FEATURE_SET not in self._weights.attributes:
            raise InputError(
                f"{name}: trained on other features than {FEATURE_SET!r}",
                hint="train it again with `annot facets train FILE`",
            )
        self.labels = self._weights.labels
        self._reader = AttributeReader(self._weights.attributes)

    @classmethod
    def load(cls) -> Labeller:
        """The labeller of the model shipped with the package."""
        return cls(shipped_model(), name=SHIPPED_MODEL)

    def label(self, sentences: Sequence[str]) -> tuple[str, ...]:
        """The most probable sequence of labels: one for each sentence of one whole abstract, in order."""
        found = self.label_all(sentences, np.array([len(sentences)]))
        return tuple(self.labels[code] for code in found)

    def label_all(self, sentences: Sequence[str], counts: Ints) -> Ints:
        """The most probable sequence of labels of each abstract, as CRFsuite's tagger finds it.

        sentences: those of all abstracts, one after the other.
        counts: array, shape (abstracts,): how many sentences each abstract has.
        Returns an array, shape (sentences,): positions in `labels`.
        """
        counts = counts[counts > 0]
        ends = np.cumsum(counts)
        found: list[Ints] = [np.zeros(0, np.int64)]
        for first in range(0, len(counts), AT_ONCE):
            some = counts[first : first + AT_ONCE]
            end = int(ends[first + len(some) - 1])
            found.append(self._label_some(sentences[end - int(some.sum()) : end], some))
        return np.concatenate(found)

    def _label_some(self, sentences: Sequence[str], counts: Ints) -> Ints:
        seen = self._reader.read(sentences, counts)
        # bincount adds in the order of the attributes, as CRFsuite does: ties and near-ties come out alike.
        state = np.array(
            [
                np.bincount(seen.sentences, weights[seen.attributes], minlength=len(sentences))
                for weights in self._weights.state
            ]
        )
        return viterbi(state.T, self._weights.transition, counts)


def shipped_model() -> bytes:
    """The model file that comes with the package."""
    return files("annot.corpus.facets").joinpath(SHIPPED_MODEL).read_bytes()


def viterbi(state: NDArray[np.float64], transition: NDArray[np.float64], counts: Ints) -> Ints:
    """The best path through the labels of each sequence (Viterbi 1967); of equal ones, the first label.

    state: array, shape (items, L): the score of each label for each item of all sequences, one after the other.
    transition: array, shape (L, L): the score of a label (second) after another (first).
    counts: array, shape (sequences,): how many items each sequence has; at least 1.
    Returns an array, shape (items,): a label for each item.
    """
    first = np.cumsum(counts) - counts
    best = state[first]
    came_from = np.zeros(state.shape, int)
    for at in range(1, int(counts.max())):
        here = np.flatnonzero(counts > at)
        items = first[here] + at
        through = best[here][:, :, None] + transition
        came_from[items] = through.argmax(axis=1)
        best[here] = through.max(axis=1) + state[items]
    path = np.zeros(len(state), int)
    path[first + counts - 1] = best.argmax(axis=1)
    for at in range(int(counts.max()) - 1, 0, -1):
        items = first[counts > at] + at
        path[items - 1] = came_from[items, path[items]]
    return path
