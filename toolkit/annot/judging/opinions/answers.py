"""What a model answered: a grade of the scale or "cannot judge", with a reason. Nothing is guessed from other texts."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from annot.labelstudio.columns import cleaned
from annot.labelstudio.controls import CANNOT_JUDGE

LONGEST_REASON = 2_000
"""Characters that are kept of a reason."""
MOST_OBJECTS = 100
"""At most so many beginnings of objects are looked at in one answer."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
"""What some models write before they answer."""


class ReadAnswer(NamedTuple):
    """An answer that could be read."""

    grade: int | None
    """None if the model answers that it cannot judge the pair."""
    reason: str


class UnreadableAnswer(NamedTuple):
    """An answer that could not be read."""

    text: str
    why: str
    remedy: str


class Completion(NamedTuple):
    """A server's answer: the model's text, and the facts around it; None for what the server does not say."""

    text: str | None
    model: str | None
    version: str | None
    tokens_in: int | None
    tokens_out: int | None
    finish_reason: str | None = None
    """Why the model stopped; `length` if it was cut off."""
    refusal: str | None = None
    """The model's words if it refuses to answer."""


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
        _name(first.get("finish_reason")),
        _name(message.get("refusal")) if isinstance(message, dict) else None,
    )


def why_no_completion(body: str) -> str:
    """What a body is that should have been an answer of OpenAI's chat completions, in words.

    >>> why_no_completion(""), why_no_completion('{"choices": ')
    ('an empty body', 'broken JSON: {"choices":')
    """
    shown = " ".join(body.split())[:200]
    if not shown:
        return "an empty body"
    if shown.startswith("<"):
        return f"a web page instead of JSON: {shown}"
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return f"broken JSON: {shown}"
    if isinstance(answer, dict) and answer.get("error"):
        return f"an error instead of an answer: {shown}"
    return f"JSON without an answer of a model: {shown}"


def read_answer(text: str | None, grades: Collection[int]) -> ReadAnswer | None:
    """The grade and the reason in a model's text; None if it is not one object with a grade or "cannot judge".

    Words before and after the object are allowed. A second object with a grade is not: it may be the one that is meant.

    >>> read_answer('I think: {"grade": 2, "reason": "Both use bees."} Done.', range(4))
    ReadAnswer(grade=2, reason='Both use bees.')
    >>> read_answer('{"grade": 7, "reason": "Very good."}', range(4)), read_answer("Grade 2.", range(4))
    (None, None)
    """
    answer = _parsed(text or "", grades)
    return None if isinstance(answer, str) else answer


def unreadable_answer(said: Completion, grades: Collection[int]) -> UnreadableAnswer:
    """An answer that `read_answer` cannot read, with the reason and what the lead can change."""
    answer = _parsed(said.text or "", grades)
    why = answer if isinstance(answer, str) else ""
    remedy = "look at the prompt with --dry-run; a template that shows the form, or a larger model, may help"
    if said.finish_reason == "length":
        why = "it was cut off at the longest answer that the model may write (finish_reason length)"
        remedy = "raise longest_answer; a model that thinks before it answers may need thousands of tokens"
    elif said.refusal or said.finish_reason in ("content_filter", "refusal"):
        told = f": {said.refusal}" if said.refusal else ""
        why = f"the model or its server refuses to answer (finish_reason {said.finish_reason or 'not given'}){told}"
        remedy = "ask a model that answers such questions, or change the prompt"
    elif said.finish_reason not in (None, "stop"):
        why += f" (finish_reason {said.finish_reason})"
    return UnreadableAnswer(" ".join((said.text or "").split())[:200], why, remedy)


def _parsed(text: str, grades: Collection[int]) -> ReadAnswer | str:
    """The answer in a model's text, or why it cannot be read, in words."""
    objects = list(_objects(_THOUGHT.sub("", text, count=1)))
    if len(objects) != 1:
        return "it has several objects with a grade" if objects else "it has no JSON object with a grade"
    grade, reason = objects[0].get("grade"), objects[0].get("reason")
    if not isinstance(reason, str):
        return "its object has no reason"
    kept = cleaned(reason)[:LONGEST_REASON]
    if isinstance(grade, str) and grade.strip().lower() == CANNOT_JUDGE:
        return ReadAnswer(None, kept)
    if isinstance(grade, bool) or not isinstance(grade, int) or grade not in grades:
        return f"its grade is {json.dumps(grade)[:40]}, expected a whole number from {min(grades)} to {max(grades)}"
    return ReadAnswer(grade, kept)


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
