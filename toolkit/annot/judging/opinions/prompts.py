"""The prompt: the study's guidelines, and the pair as the assessor sees it, behind a mark that no text can fake.

Texts of papers and topics are not trusted: they may contain orders. Each of their lines begins with `QUOTE`, and none
contains a line end, so a text cannot leave its place. The prompt of a facet is first written without any pair. Then the
quoted texts are put in, in one pass, so that nothing in a text is read as a part of the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from annot.base.errors import InputError
from annot.base.records import Asked
from annot.base.templating import render
from annot.judging.exchange.displays import Hashes, contents_of, hashes_of, shown_around, shown_of_pair
from annot.judging.exchange.outgoing import TaskMaterial, material_of, tasks_of
from annot.labelstudio.columns import cleaned
from annot.labelstudio.controls import CANNOT_JUDGE
from annot.store.shown import Display, as_json
from annot.store.trials import Gold
from annot.study import guidelines
from annot.study.adjudication import Pair
from annot.study.workspace import Workspace

QUOTE, MARKED = "| ", "| >> "
"""How each quoted line begins; a sentence that the screen marks begins with the second."""
TOPIC, DOCUMENT = "[the topic]", "[the document]"
"""In a prompt without a pair, they are in its place."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of one opinion."""

    ws: Workspace
    material: TaskMaterial
    frames: Mapping[str, str]
    """By facet, the prompt without any text of a paper or topic."""
    examples: Mapping[str, Sequence[str]]
    """By facet, the quoted gold pairs that its prompt shows."""
    around: Mapping[str, Display]
    """By facet, what each prompt shows around its pair: its own text, and those of scale, facet and guidelines that it
    contains."""
    contents: Mapping[tuple[str, str], str]
    """All that the prompts show, by part and subject."""
    sha256s: Hashes
    """Of the contents."""

    def of(self, pair: Pair) -> str:
        """The whole prompt that asks for an opinion of this pair."""
        facet = self.material.queries[pair[0]].facet
        quoted = dict(zip((TOPIC, DOCUMENT), _seen(self.ws, self.material, pair), strict=True))
        quoted |= {_example(number): text for number, text in enumerate(self.examples[facet], start=1)}
        places = re.compile("|".join(map(re.escape, quoted)))
        return places.sub(lambda place: quoted[place[0]], self.frames[facet])

    def display_of(self, pair: Pair) -> Display:
        """What this prompt shows, by its parts."""
        around = self.around[self.material.queries[pair[0]].facet]
        return {**around, **shown_of_pair(self.ws, self.material, pair, self.sha256s)}


def _seen(ws: Workspace, material: TaskMaterial, pair: Pair) -> tuple[str, str]:
    asked = Asked(*pair)
    return as_seen(tasks_of(ws, material, [asked])[asked]["data"]["pair_html"])


def prompts_of(
    ws: Workspace, pairs: Iterable[Pair], *, template: str, gold: Iterable[Gold], recorded: Mapping[str, str]
) -> Prompts:
    """The prompts for these pairs, with these gold pairs as examples of their facets.

    recorded: by facet, the content `prompt` of a display on record; its examples keep the texts that they had.
    Raises InputError for a template that leaves out the topic, the document or an example.
    """
    gold = list(gold)
    material = material_of(ws, {*pairs, *(one.pair for one in gold)})
    examples: dict[str, list[Gold]] = {}
    for one in gold:
        examples.setdefault(material.queries[one.query_id].facet, []).append(one)
    frames = {facet: _frame(ws, facet, template, examples.get(facet, [])) for facet in material.guidelines}
    quoted = {
        facet: json.loads(recorded[facet])["examples"]
        if facet in recorded
        else ["\n\n".join(_seen(ws, material, one.pair)) for one in examples.get(facet, ())]
        for facet in frames
    }
    contents: dict[tuple[str, str], str] = dict(contents_of(ws, material).items())
    for facet, frame in frames.items():
        contents["prompt", facet] = as_json({"frame": frame, "examples": quoted[facet]})
    sha256s = hashes_of(contents)
    around = {facet: _shown_in(ws, frame, facet, sha256s) for facet, frame in frames.items()}
    return Prompts(ws, material, frames, quoted, around, contents, sha256s)


def _shown_in(ws: Workspace, frame: str, facet: str, sha256s: Hashes) -> Display:
    """What a prompt shows around its pair. A template may leave out the names of the grades and the guidelines."""
    around = {**shown_around(facet, sha256s), "prompt": sha256s["prompt", facet]}
    if not all(name in frame for name in ws.settings.scale.names):
        del around["scale"]
    if guidelines.shown(ws, facet).text.strip() not in frame:
        del around["guidelines"]
    return around


def _frame(ws: Workspace, facet: str, template: str, examples: Sequence[Gold]) -> str:
    names = ws.settings.scale.names
    shown = guidelines.shown(ws, facet)
    numbered = list(enumerate(examples, start=1))
    values: dict[str, Any] = {
        "facet": facet,
        "definition": shown.definition,
        "guidelines": shown.text.strip(),
        "grades": [{"grade": grade, "name": name} for grade, name in enumerate(names)],
        "highest": len(names) - 1,
        "cannot_judge": CANNOT_JUDGE if CANNOT_JUDGE in shown.text.lower() else "",
        "marks": bool(ws.settings.facets.get(facet)),
        "quote": QUOTE.strip(),
        "marked": MARKED.strip(),
        "topic": TOPIC,
        "document": DOCUMENT,
        "examples": [
            {"pair": _example(number), "grade": one.grade, "why": cleaned(one.why)} for number, one in numbered
        ],
    }
    text = render(template, values, overrides=ws.root / "templates")
    wanted = [TOPIC, DOCUMENT, *(_example(number) for number, _ in numbered)]
    if absent := [place for place in wanted if place not in text]:
        raise InputError(
            f"templates/{template}: the prompt leaves out {', '.join(absent)}",
            hint="the template has to contain {{ topic }}, {{ document }} and the pair of each of its examples",
        )
    return text


def _example(number: int) -> str:
    return f"[the pair of example {number}]"


def sha256_of(prompt: str) -> str:
    """The hash by which a prompt is on record."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def as_seen(pair_html: str) -> tuple[str, str]:
    """The two columns of a task as quoted lines: the title, then the sentences with their marks.

    >>> html = '<div class="a-pair"><div class="a-side a-query"><h2><span>Query</span> On bees</h2>'
    >>> html += '<div class="a-text"><p class="a-s a-hit">Bees &amp; hives.</p></div></div>'
    >>> html += '<div class="a-side a-cand"><h2><span>Candidate</span> On ants</h2></div></div>'
    >>> print(as_seen(html)[0])
    | Query: On bees
    | >> Bees & hives.
    """
    reader = _Columns()
    reader.feed(pair_html)
    reader.close()
    topic, document = ("\n".join(side) for side in reader.sides)
    return topic, document


class _Columns(HTMLParser):
    """Reads what `annot.labelstudio.columns` writes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sides: list[list[str]] = []
        self._begins, self._text, self._none = QUOTE, "", ""
        self._in_none = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = (dict(attrs).get("class") or "").split()
        if "a-side" in names:
            self.sides.append([])
            self._none = ""
        elif tag in ("h2", "p", "summary") or "a-none" in names:
            self._begins, self._text = MARKED if "a-hit" in names else QUOTE, ""
            self._in_none = "a-none" in names
        elif tag == "mark":
            self._text += "**"

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "mark":
            self._text += "**"
        elif tag == "span":
            self._text += ":"
        elif tag in ("h2", "p"):
            self._put(self._begins + self._text)
        elif tag == "summary" and self._text == "Narrative":
            self._put(f"{QUOTE}{self._text}:")
        elif tag == "div" and self._in_none:
            self._none, self._in_none = QUOTE + self._text, False
        elif tag == "div" and self._none:
            # The screen shows it where no sentence is marked.
            if not any(line.startswith(MARKED) for line in self.sides[-1]):
                self.sides[-1].insert(1, self._none)
            self._none = ""

    def _put(self, line: str) -> None:
        self.sides[-1].append(cleaned(line))
