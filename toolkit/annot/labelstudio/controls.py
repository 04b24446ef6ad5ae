"""The names on the labelling screens: what tasks are built with, screens render, and annotations are read by."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from annot.records import LABELS

TEXT = "pair"
"""The one text region of a screen: query and candidate side by side."""

RATING = "rating"
REASON = "cannot_judge"
COMMENT = "comment"
SENTENCE_LABEL = "sentence_label"
SETTLED_BY = "settled_by"
"""Adjudication only: the ground of the decision, in one key."""

CANNOT_JUDGE = "cannot judge"
"""The value of `RATING` that is no grade; it opens the reasons."""

CANNOT_JUDGE_KEY = "c"


class Keyed(NamedTuple):
    """A value as it is stored, and the key that gives it; no key is one of Label Studio's own."""

    value: str
    key: str

    @property
    def html(self) -> str:
        """What the screen shows: the value and its key."""
        return f"{escape(self.value)} <kbd>{escape(self.key)}</kbd>"


REASONS = (
    Keyed("text missing or broken", "t"),
    Keyed("not in English", "e"),
    Keyed("outside my field", "f"),
    Keyed("other, see comment", "n"),
)

GROUNDS = (
    Keyed("one overlooked a passage", "p"),
    Keyed("one judged another facet", "j"),
    Keyed("between two grades", "w"),
    Keyed("the guidelines are unclear", "g"),
)

LABEL_KEYS = tuple(Keyed(label, {"other": "x"}.get(label, label[0])) for label in LABELS)
"""`background` b, `objective` o, `method` m, `result` r, `other` x."""
