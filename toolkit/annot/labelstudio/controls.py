"""The names on the labelling screens: what tasks are built with, screens render, and annotations are read by."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import ascii_lowercase
from typing import Literal, NamedTuple

Screen = Literal["judge", "adjudicate", "full-text", "feedback", "facets"]

TEXT = "pair"
"""The one text region of a screen: query and candidate side by side."""

RATING = "rating"
REASON = "cannot_judge"
COMMENT = "comment"
SENTENCE_LABEL = "sentence_label"
SETTLED_BY = "settled_by"
"""Adjudication only: why the two differ, in one key."""

REASON_NEEDED, CAUSE_NEEDED, CAUSE_MISSING = "reason_needed", "cause_needed", "cause_missing"
"""Adjudication only, seen by nobody: the first two are filled in on a task whose grades are far apart, and the second
is gone while the adjudicator cannot judge. The third is required until a cause is given. Each has its name as its only
choice: equal values on one screen uncheck each other."""
NEEDED_COMMENT = "needed_comment"
"""The adjudicator's comment where it has to be given: Label Studio requires one box always, or never."""

PUBLISHED = "published without your name"
"""What the screens say of what is written on them, where it goes into a release."""

CANNOT_JUDGE = "cannot judge"
"""The value of `RATING` that is no grade; it opens the reasons."""

CANNOT_JUDGE_KEY = "c"

COLUMN_KEYS = {"query": "q", "cand": "c", "narrative": "n", "rest": "m", "criteria": "g"}
"""With Alt (Alt+Shift in Firefox, Ctrl+Option on a Mac), the browser's own way to a place on a page: the two columns,
what is folded in them, and what the grades mean."""


class Keyed(NamedTuple):
    """A value as it is stored, and the key that gives it; no key is one of Label Studio's own."""

    value: str
    key: str

    @property
    def html(self) -> str:
        """What the screen shows: the value and its key."""
        return f"{escape(self.value)} <kbd>{escape(self.key)}</kbd>"


def reasons(language: str) -> tuple[Keyed, ...]:
    """Why a pair may not be judged; `language` is the collection's (BCP 47)."""
    english = language.replace("_", "-").split("-")[0].lower() == "en"
    return (
        Keyed("text missing or broken", "t"),
        Keyed("not in English" if english else "not in the language of the collection", "e"),
        Keyed("outside my field", "f"),
        Keyed("other, see comment", "n"),
    )


KNOWN_REASONS = frozenset(reason.value for language in ("en", "") for reason in reasons(language))
"""Those of every language: what was answered stands when the setting is changed."""

DIFFERENCES = (
    Keyed("another aspect of the facet", "k"),
    Keyed("facet label wrong", "w"),
    Keyed("context needed", "d"),
    Keyed("slip", "s"),
    Keyed("guideline gap", "g"),
    Keyed("none of these", "z"),
)
"""Why two assessors differ; the last, as grades far apart need a cause. In CSFCube they had most often seen another
aspect of the facet. No key is a letter by which an assessor is called on the screen."""
DIFFERENCES_OF_WHOLES = (
    Keyed("topic read differently", "k"),
    Keyed("document unclear", "d"),
    Keyed("slip", "s"),
    Keyed("guideline gap", "g"),
    Keyed("none of these", "z"),
)
"""The same where no facet is judged."""

_LABEL_STUDIO_KEYS = "u"
"""The letters that Label Studio 1.23.2 takes for itself."""


def label_keys(labels: Sequence[str]) -> tuple[Keyed, ...]:
    """The sentence `labels` in their order, each with a key that no other control has: at most 16 labels.

    `other` has x. Every other label has its first letter where that is free, else the next free letter of its name,
    else of the alphabet. Of two with the same first letter the earlier has it. The five of the default have b, o, m,
    r, x.
    """
    taken = {CANNOT_JUDGE_KEY, *_LABEL_STUDIO_KEYS, *(keyed.key for keyed in (*reasons("en"), *DIFFERENCES))}
    keys: dict[str, str] = {}
    wishes = [{label: "x" if label == "other" else label[0] for label in labels}]
    wishes.append({label: label + ascii_lowercase for label in labels})
    for wish in wishes:
        for label in labels:
            free = [letter for letter in wish[label].lower() if letter in ascii_lowercase and letter not in taken]
            if label not in keys and free:
                keys[label] = free[0]
                taken.add(free[0])
    # The alphabet is enough for 14 labels.
    spare = iter(ascii_lowercase)
    return tuple(Keyed(label, keys.get(label) or f"shift+{next(spare)}") for label in labels)
