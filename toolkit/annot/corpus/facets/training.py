"""Abstracts with labelled sentences as JSON Lines: CSAbstruct's (`sentences`) and our own (`abstract`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pydantic import AliasChoices, BaseModel, Field, model_validator

from annot.base.names import near
from annot.formats.faults import Faults
from annot.formats.json_lines import read_models


class LabelledAbstract(BaseModel):
    """One abstract to learn from or to be scored on: its sentences, and the label of each."""

    sentences: tuple[str, ...] = Field(min_length=1, validation_alias=AliasChoices("sentences", "abstract"))
    labels: tuple[str, ...]
    confidences: tuple[float, ...] | None = Field(default=None, validation_alias="confs")
    """How sure people were of each label, from 0 to 1, where the file says so."""

    @model_validator(mode="after")
    def _one_label_a_sentence(self) -> LabelledAbstract:
        if len(self.sentences) != len(self.labels):
            raise ValueError(f"found {len(self.labels)} label(s) for {len(self.sentences)} sentence(s)")
        if self.confidences is not None and len(self.confidences) != len(self.labels):
            raise ValueError(f"found {len(self.confidences)} confidence(s) for {len(self.labels)} label(s)")
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
    if not abstracts and not faults.found:
        faults.add("no abstracts found")
    faults.raise_if_any(
        hint='expected one JSON object a line, {"abstract": ["...", "..."], "labels": ["background", "method"]}; '
        "remove lines without labels"
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
