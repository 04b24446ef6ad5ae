"""Prompts to a model, and its answers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.records import Gold, PairKey, grouped
from annot.base.templating import render
from annot.base.words import ENGLISH
from annot.judging.exchange import outgoing
from annot.labelstudio.studio_records import CANNOT_JUDGE
from annot.labelstudio.tasks import cleaned
from annot.store.shown import Display, as_json
from annot.study import guidelines
from annot.study.outcome import Pair
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# The prompt: the study's guidelines, and the pair as the assessor sees it, behind a mark that no text can fake.
#
# Texts of papers and topics are not trusted: they may contain orders. Each of their lines begins with `QUOTE`, and
# none contains a line end, so a text cannot leave its place. The prompt of a facet is first written without any pair.
# Then the quoted texts are put in, in one pass, so that nothing in a text is read as a part of the prompt.
# ----------------------------------------------------------------------------------------------------------------------


QUOTE, MARKED = "| ", "| >> "
"""Beginnings of quoted lines; a sentence that the screen marks has the second."""
TOPIC, DOCUMENT = "[the topic]", "[the document]"
"""Words in place of the texts in a prompt without a pair."""


class Prompts:
    """The prompts of one opinion of these pairs, with gold pairs as examples of their facets.

    recorded: by facet, the content `prompt` of a display on record; its examples keep the texts that they had.
    Raises InputError for a template that leaves out the topic, the document or an example.
    """

    def __init__(
        self, ws: Workspace, pairs: Iterable[Pair], *, template: str, gold: Sequence[Gold], recorded: Mapping[str, str]
    ) -> None:
        self.ws, self.material = ws, outgoing.TaskMaterial(ws, {*pairs, *(example.pair for example in gold)})
        golden = grouped((self.material.queries[example.query_id].facet, example) for example in gold)
        self.frames = {facet: _frame(ws, facet, template, golden.get(facet, [])) for facet in self.material.guidelines}
        """Prompts without any text of a paper or topic, by facet."""
        self.examples: dict[str, Sequence[str]] = {
            facet: json.loads(recorded[facet])["examples"]
            if facet in recorded
            else ["\n\n".join(_seen(ws, self.material, example.pair)) for example in golden.get(facet, ())]
            for facet in self.frames
        }
        """Quoted gold pairs that the prompts show, by facet."""
        self.contents: dict[tuple[str, str], str] = dict(outgoing.contents_of(ws, self.material, ENGLISH).items())
        """All that the prompts show, by part and subject."""
        for facet, frame in self.frames.items():
            self.contents["prompt", facet] = as_json({"frame": frame, "examples": self.examples[facet]})
        self.sha256s = outgoing.hashes_of(self.contents)
        self.around = {facet: _shown_in(ws, frame, facet, self.sha256s) for facet, frame in self.frames.items()}
        """Displays of the prompts around their pair, by facet: the prompt's own text, and the texts of scale, facet and
        guidelines that it contains."""

    def of(self, pair: Pair) -> str:
        """The whole prompt that asks for an opinion of this pair."""
        facet = self.material.queries[pair[0]].facet
        quoted = dict(zip((TOPIC, DOCUMENT), _seen(self.ws, self.material, pair), strict=True))
        quoted |= {_example(number): text for number, text in enumerate(self.examples[facet], start=1)}
        places = re.compile("|".join(map(re.escape, quoted)))
        return places.sub(lambda place: quoted[place[0]], self.frames[facet])

    def display_of(self, pair: Pair) -> Display:
        """Display of this prompt, by its parts."""
        around = self.around[self.material.queries[pair[0]].facet]
        return {**around, **outgoing.shown_of_pair(self.ws, self.material, pair, self.sha256s)}


def _seen(ws: Workspace, material: outgoing.TaskMaterial, pair: Pair) -> tuple[str, str]:
    question = PairKey(*pair)
    return as_seen(outgoing.tasks_of(ws, material, [question], words=ENGLISH)[question]["data"]["pair_html"])


def _shown_in(ws: Workspace, frame: str, facet: str, sha256s: outgoing.Hashes) -> Display:
    """Display of a prompt around its pair. A template may leave out the names of the grades and the guidelines."""
    around = {**outgoing.shown_around(facet, sha256s, "judge"), "prompt": sha256s["prompt", facet]}
    if not all(name in frame for name in ws.settings.scale.names):
        del around["scale"]
    if guidelines.shown(ws, facet).strip() not in frame:
        del around["guidelines"]
    return around


def _frame(ws: Workspace, facet: str, template: str, examples: Sequence[Gold]) -> str:
    names = ws.settings.scale.names
    shown = guidelines.shown(ws, facet)
    numbered = list(enumerate(examples, start=1))
    values: dict[str, Any] = {
        "facet": facet,
        "definition": guidelines.definition_of(shown),
        "guidelines": shown.strip(),
        "grades": [{"grade": grade, "name": name} for grade, name in enumerate(names)],
        "highest": len(names) - 1,
        "cannot_judge": CANNOT_JUDGE if ENGLISH("screen.cannot_judge").lower() in shown.lower() else "",
        "marks": bool(ws.settings.facets.get(facet)),
        "quote": QUOTE.strip(),
        "marked": MARKED.strip(),
        "topic": TOPIC,
        "document": DOCUMENT,
        "examples": [
            {"pair": _example(number), "grade": example.grade, "why": cleaned(example.why)}
            for number, example in numbered
        ],
    }
    text = render(template, values, overrides=ws.root / "templates")
    names_needed = [TOPIC, DOCUMENT, *(_example(number) for number, _ in numbered)]
    if absent := [place for place in names_needed if place not in text]:
        raise InputError(
            f"templates/{template}: the prompt leaves out {', '.join(absent)}",
            hint="the template has to contain {{ topic }}, {{ document }} and the pair of each of its examples",
        )
    return text


def _example(number: int) -> str:
    return f"[the pair of example {number}]"


def as_seen(pair_html: str) -> tuple[str, str]:
    """The two columns of a task as quoted lines: the title, then the sentences with their marks.

    >>> html = '<div class="a-pair"><div class="a-side a-query"><h2><span>Query</span> On bees</h2>'
    >>> html += '<div class="a-text"><p class="a-s a-hit">Bees &amp; hives.</p></div></div>'
    >>> html += '<div class="a-side a-cand"><h2><span>Candidate</span> On ants</h2></div></div>'
    >>> print(as_seen(html)[0])
    | Query: On bees
    | >> Bees & hives.
    """
    topic, document = map(_lines_of_side, pair_html.split('<div class="a-side ')[1:])
    return topic, document


_SHOWN = re.compile(
    r'<h2[^>]*>(?P<title>.*?)</h2>|<p class="a-s(?P<mark> a-hit)?"[^>]*>(?P<sentence>.*?)</p>'
    r'|<summary[^>]*>(?P<label>Narrative)</summary>|<div class="a-none"[^>]*>(?P<none>.*?)</div>',
    re.DOTALL,
)
"""Texts of a column that `annot.labelstudio.tasks` writes, in which no text of a paper can have a tag."""


def _lines_of_side(side_html: str) -> str:
    lines: list[str] = []
    note = ""
    for part in _SHOWN.finditer(side_html):
        markup = re.sub("</?mark>", "**", part[part.lastgroup or 0]).replace("</span>", ":")
        text = html.unescape(re.sub("<[^>]*>", "", markup))
        if part["none"] is not None:
            note = QUOTE + text
        else:
            lines.append(cleaned((MARKED if part["mark"] else QUOTE) + text + ":" * bool(part["label"])))
    # The screen shows it if no sentence is marked.
    if note and not any(line.startswith(MARKED) for line in lines):
        lines.insert(1, note)
    return "\n".join(lines)


# ----------------------------------------------------------------------------------------------------------------------
# What a model answered: a grade of the scale or "cannot judge", with a reason. Nothing is guessed from other texts.
# ----------------------------------------------------------------------------------------------------------------------


LONGEST_REASON = 2_000
"""Characters that are kept of a reason."""
MOST_OBJECTS = 100
"""Largest number of places in an answer at which a JSON object is looked for."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
"""Pattern of the thoughts that some models write before they answer."""


ReadAnswer = tuple[int | None, str]
"""Grade and reason in an answer; no grade if the model answers that it cannot judge the pair."""


class Completion(NamedTuple):
    """A server's answer: the model's text and facts about it; None for facts that the server does not give."""

    text: str | None
    model: str | None
    version: str | None
    tokens_in: int | None
    tokens_out: int | None
    finish_reason: str | None = None
    """Reason why the model stopped; `length` if it was cut off."""
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
    message = _value_at(answer, "choices", 0, "message")
    text = message.get("content") or "" if isinstance(message, dict) else None
    return Completion(
        text if isinstance(text, str) else None,
        _name(_value_at(answer, "model")),
        _name(_value_at(answer, "system_fingerprint")),
        _count(_value_at(answer, "usage", "prompt_tokens")),
        _count(_value_at(answer, "usage", "completion_tokens")),
        _name(_value_at(answer, "choices", 0, "finish_reason")),
        _name(_value_at(message, "refusal")),
    )


def _value_at(parsed: Any, *path: str | int) -> Any:
    """The value at this path in parsed JSON; None if there is none."""
    for key in path:
        try:
            parsed = parsed[key]
        except (LookupError, TypeError):
            return None
    return parsed


def read_answer(text: str | None, grades: Collection[int]) -> ReadAnswer | None:
    """The grade and the reason in a model's text; None if it is not one object with a grade or "cannot judge".

    Words before and after the object are allowed. A second object with a grade is not: it may be the one that is meant.

    >>> read_answer('I think: {"grade": 2, "reason": "Both use bees."} Done.', range(4))
    (2, 'Both use bees.')
    >>> read_answer('{"grade": 7, "reason": "Very good."}', range(4)), read_answer("Grade 2.", range(4))
    (None, None)
    """
    answer = _parsed(text or "", grades)
    return None if isinstance(answer, str) else answer


def unreadable_answer(reply: Completion, grades: Collection[int]) -> str:
    """An answer that `read_answer` cannot read, with the reason and what the lead can change."""
    answer = _parsed(reply.text or "", grades)
    why = answer if isinstance(answer, str) else ""
    remedy = "look at the prompt with --dry-run; a template that shows the form, or a larger model, may help"
    if reply.finish_reason == "length":
        why = "it was cut off at the longest answer that the model may write (finish_reason length)"
        remedy = "raise longest_answer; a model that thinks before it answers may need thousands of tokens"
    elif reply.refusal or reply.finish_reason in ("content_filter", "refusal"):
        refusal = f": {reply.refusal}" if reply.refusal else ""
        why = f"the model or its server refuses to answer (finish_reason {reply.finish_reason or 'not given'}){refusal}"
        remedy = "ask a model that answers such questions, or change the prompt"
    elif reply.finish_reason not in (None, "stop"):
        why += f" (finish_reason {reply.finish_reason})"
    return f"{' '.join((reply.text or '').split())[:200] or 'no text'}; {why}; {remedy}"


def _parsed(text: str, grades: Collection[int]) -> ReadAnswer | str:
    """The answer in a model's text, or why it cannot be read, in words."""
    objects = list(_objects(_THOUGHT.sub("", text, count=1)))
    if len(objects) != 1:
        return "it has several objects with a grade" if objects else "it has no JSON object with a grade"
    grade, reason = objects[0].get("grade"), objects[0].get("reason")
    if not isinstance(reason, str):
        return "its object has no reason"
    words = cleaned(reason)[:LONGEST_REASON]
    if isinstance(grade, str) and grade.strip().lower() == CANNOT_JUDGE:
        return None, words
    if isinstance(grade, bool) or not isinstance(grade, int) or grade not in grades:
        return f"its grade is {json.dumps(grade)[:40]}, expected a whole number from {min(grades)} to {max(grades)}"
    return grade, words


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The outermost JSON objects in a text that have a grade."""
    decoder = json.JSONDecoder(object_pairs_hook=_once)
    start, looked_at = text.find("{"), 0
    while start >= 0 and looked_at < MOST_OBJECTS:
        looked_at += 1
        try:
            parsed, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if "grade" in parsed:
                yield parsed
        start = text.find("{", end)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key is given twice")
    return values


def _name(value: object) -> str | None:
    return cleaned(value)[:200] if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None
