"""Labelled abstracts as JSON Lines, CSAbstruct's (`sentences`) and our own (`abstract`), and scores on them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pydantic import AliasChoices, BaseModel, Field, model_validator

from annot.base.errors import Faults
from annot.base.names import counted, near
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
