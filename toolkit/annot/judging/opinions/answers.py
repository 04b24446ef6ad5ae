"""What a model answered: one grade of the scale with a reason, or nothing that can be read. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from annot.labelstudio.columns import cleaned

LONGEST_REASON = 2_000
"""Characters that are kept of a reason."""
MOST_OBJECTS = 100
"""At most so many beginnings of objects are looked at in one answer."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
"""What some models write before they answer."""


class ReadAnswer(NamedTuple):
    """An answer that could be read."""

    grade: int
    reason: str


class Completion(NamedTuple):
    """What a server's answer says besides the model's text; None for what it does not say."""

    text: str | None
    model: str | None
    version: str | None
    tokens_in: int | None
    tokens_out: int | None


def completion_of(body: str) -> Completion:
    """The parts of an answer of OpenAI's chat completions; https://platform.openai.com/docs/api-reference/chat.

    An answer of another form has no text; one in which the model said nothing has an empty text.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    whole = answer if isinstance(answer, dict) else {}
    usage = whole.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    choices = whole.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = first.get("message")
    text = message.get("content") or "" if isinstance(message, dict) else None
    return Completion(
        text if isinstance(text, str) else None,
        _name(whole.get("model")),
        _name(whole.get("system_fingerprint")),
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
    )


def read_answer(text: str | None, grades: Collection[int]) -> ReadAnswer | None:
    """The grade and the reason in a model's text; None if it is not one object with a grade of the scale.

    Words before and after the object are allowed. A second object with a grade is not: it may be the one that is meant.

    >>> read_answer('I think: {"grade": 2, "reason": "Both use bees."} Done.', range(4))
    ReadAnswer(grade=2, reason='Both use bees.')
    >>> read_answer('{"grade": 7, "reason": "Very good."}', range(4)), read_answer("Grade 2.", range(4))
    (None, None)
    """
    found = list(_objects(_THOUGHT.sub("", text or "", count=1)))
    if len(found) != 1:
        return None
    grade, reason = found[0].get("grade"), found[0].get("reason")
    if isinstance(grade, bool) or not isinstance(grade, int) or grade not in grades or not isinstance(reason, str):
        return None
    return ReadAnswer(grade, cleaned(reason)[:LONGEST_REASON])


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The outermost JSON objects in a text that have a grade."""
    decoder = json.JSONDecoder(object_pairs_hook=_once)
    at, looked_at = text.find("{"), 0
    while at >= 0 and looked_at < MOST_OBJECTS:
        looked_at += 1
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if "grade" in found:
                yield found
        at = text.find("{", end)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _name(value: object) -> str | None:
    return cleaned(value)[:200] if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None
