"""How well sentence labels agree with those of people: F1, confusion, and accuracy where people were sure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annot.corpus.facets.training import LabelledAbstract


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label's figures, fractions from 0 to 1; None where undefined."""

    precision: float | None
    """None where no sentence was given the label."""
    recall: float | None
    """None where no sentence has the label in truth."""
    f1: float | None
    """2 tp / (2 tp + fp + fn); None where the label occurs on neither side."""
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


CONFIDENCES = (0.0, 0.4, 0.6, 0.8)
"""The least confidence of each row of the table by confidence."""


@dataclass(frozen=True, slots=True)
class ConfidentScore:
    """Accuracy on the labels that people were sure of; fractions from 0 to 1, None where there is no such label."""

    least: float
    """The least confidence; 0 takes every sentence."""
    sentences: int
    accuracy: float | None
    of_facets: float | None
    """Accuracy where labels of one facet are one label."""


def by_confidence(
    abstracts: Iterable[LabelledAbstract], predictions: Iterable[Sequence[str]], *, facets: Mapping[str, Sequence[str]]
) -> tuple[ConfidentScore, ...]:
    """Accuracy by the least confidence of the labels; `facets` are the labels of each facet.

    A file without confidences is sure of every label.
    """
    import pandas as pd

    merged = {label: facet for facet, labels in facets.items() for label in labels}
    rows = [
        (confidence, truth == found, merged.get(truth, truth) == merged.get(found, found))
        for abstract, predicted in zip(abstracts, predictions, strict=True)
        for truth, found, confidence in zip(
            abstract.labels, predicted, abstract.confidences or [1.0] * len(abstract.labels), strict=True
        )
    ]
    frame = pd.DataFrame(rows, columns=["confidence", "right", "facet"])
    found = []
    for least in CONFIDENCES:
        sure = frame[frame.confidence >= least]
        accuracy, of_facets = (float(sure[name].mean()) if len(sure) else None for name in ("right", "facet"))
        found.append(ConfidentScore(least, len(sure), accuracy, of_facets))
    return tuple(found)


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else float(figure)
