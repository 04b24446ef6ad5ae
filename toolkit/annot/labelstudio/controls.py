"""The names on the labelling screens: what tasks are built with, screens render, and annotations are read by."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import ascii_lowercase
from typing import NamedTuple

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

COLUMN_KEYS = {"query": "q", "cand": "c"}
"""With Alt (Alt+Shift in Firefox, Ctrl+Option on a Mac), the browser's own way to a place on a page."""


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

_LABEL_STUDIO_KEYS = "u"
"""The letters that Label Studio 1.23.2 takes for itself."""


def label_keys(labels: Sequence[str]) -> tuple[Keyed, ...]:
    """The sentence `labels` in their order, each with a letter that no other control has: at most 16 labels.

    `other` has x. Every other label has its first letter where that is free, else the next free letter of its name,
    else of the alphabet. Of two with the same first letter the earlier has it. The five of the default have b, o, m,
    r, x.
    """
    taken = {CANNOT_JUDGE_KEY, *_LABEL_STUDIO_KEYS, *(keyed.key for keyed in (*REASONS, *GROUNDS))}
    keys: dict[str, str] = {}
    wishes = [{label: "x" if label == "other" else label[0] for label in labels}]
    wishes.append({label: label + ascii_lowercase for label in labels})
    for wish in wishes:
        for label in labels:
            free = [letter for letter in wish[label].lower() if letter in ascii_lowercase and letter not in taken]
            if label not in keys and free:
                keys[label] = free[0]
                taken.add(free[0])
    return tuple(Keyed(label, keys[label]) for label in labels)
