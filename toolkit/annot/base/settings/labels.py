"""The section `[labels]` of `annot.toml`: the labels of sentences, and the headings of abstracts that give them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from annot.base.names import near
from annot.base.settings.sections import Section

LabelName = Annotated[str, Field(pattern=r"^\w[\w-]*$", max_length=30)]
"""A sentence label: letters, digits, `_` and `-`; it stands in the screen's style sheet and in lists with commas."""
MOST_LABELS = 16
"""The letters that no other control of the labelling screen has as its key."""


def plain_heading(heading: str) -> str:
    """What of the heading of a section counts.

    >>> plain_heading("Materials  and methods:")
    'MATERIALS AND METHODS'
    """
    return " ".join(heading.split()).rstrip(": ").upper()


class LabelSettings(Section):
    """The labels of sentences. The packaged model knows only the five defaults. For others, train a model
    with `annot facets train`.
    """

    names: tuple[LabelName, ...] = ("background", "objective", "method", "result", "other")
    """All sentence labels; each gets a key on the screen. The defaults are those of CSAbstruct (Cohan et al., EMNLP
    2019)."""
    sections: dict[str, tuple[str, ...]] = {}
    """Headings of structured abstracts, for each label: the sentences of a section have its label. The default labels
    have the usual ones, such as `METHODS`; a line adds further ones."""

    @model_validator(mode="after")
    def _one_label_a_heading(self) -> LabelSettings:
        owner: dict[str, str] = {}
        for label, headings in self.sections.items():
            if label not in self.names:
                raise ValueError(f"sections: unknown label {label!r}; {near(label, self.names)}")
            for heading in headings:
                if owner.setdefault(plain_heading(heading), label) != label:
                    raise ValueError(
                        f"sections.{label}: {heading!r} already belongs to {owner[plain_heading(heading)]!r}"
                    )
        return self

    @field_validator("names")
    @classmethod
    def _told_apart(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not 2 <= len(names) <= MOST_LABELS:
            raise ValueError(f"a study has 2 to {MOST_LABELS} labels (one letter key each)")
        for position, name in enumerate(names):
            for other in names[:position] + names[position + 1 :]:
                if name.lower().endswith(other.lower()):
                    raise ValueError(f"label {name!r} is or ends with label {other!r}: the screen would confuse them")
        return names
