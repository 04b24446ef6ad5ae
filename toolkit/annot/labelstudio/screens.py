"""The labelling configurations of the screens and their instructions, rendered and checked without a server."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annot.base.errors import InputError
from annot.base.markdown_html import converter
from annot.base.names import counted
from annot.base.templating import render
from annot.labelstudio import controls
from annot.labelstudio.controls import Screen
from annot.labelstudio.studio_records import KEY, Payload


def screen_of(
    kind: Screen,
    *,
    scale_names: Sequence[str],
    labels: Sequence[str],
    language: str,
    overrides: Path | None,
    opinions: int = 0,
    published: bool = False,
    criteria: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The configuration of the screen of a kind. `overrides` is the study's `templates/`.

    `labels` are those that a sentence may be given, none if no facet is judged; `language` is the collection's
    (BCP 47); `opinions`: how many others' an adjudicator is shown (0 where the policy hides them), and 0 on the other
    screens.
    published: whether what is written goes into a release. criteria: by facet, what each grade means in a few words.
    Raises InputError (template, line, cause) if a template does not render or does not hold.
    """
    from label_studio_sdk.label_interface import LabelInterface

    values: dict[str, Any] = {
        "controls": controls,
        "reasons": controls.reasons(language),
        "label_keys": controls.label_keys(labels),
        "differences": controls.DIFFERENCES if labels else controls.DIFFERENCES_OF_WHOLES,
        "grades": [
            {"value": str(grade), "key": str(grade), "html": _grade_html(grade, name, criteria or {})}
            for grade, name in enumerate(scale_names)
        ],
        "criteria": sorted(criteria or {}),
        "opinions": list("abcdefghij"[:opinions]),
        "published": published,
    }
    template = f"{kind}.xml.j2"
    xml = render(template, values, overrides=overrides)
    try:
        LabelInterface(xml).validate()
    except Exception as error:  # the library raises many kinds, its own and lxml's
        raise InputError(
            f"{template}: not a valid labelling configuration: {error}", hint="correct the template"
        ) from None
    # Feedback shows grades, and asks for none.
    grades = None if kind in ("feedback", "facets") else [grade["value"] for grade in values["grades"]]
    faults = _faults(xml, grades=grades, labelled=bool(labels))
    if faults:
        raise InputError(f"{template}: the screen cannot be used", faults=faults, hint="correct the template")
    return xml


def _grade_html(grade: int, name: str, criteria: Mapping[str, Sequence[str]]) -> str:
    """The button of a grade: its number and name, and its meaning in each facet, of which the screen shows one."""
    meanings = (f'<i class="a-in-{facet}">{html.escape(words[grade])}</i>' for facet, words in sorted(criteria.items()))
    return f"<b>{grade}</b> {html.escape(name)}{''.join(meanings)}"


def check_predictions(xml: str, tasks: Sequence[Payload]) -> None:
    """Check the predictions of `tasks` against the screen: the server stores any. Raises InputError.

    `lint_tasks` has proved the form of every region. What it cannot know is whether the screen has that control with
    that label; of the regions that are alike in this, the first is checked.
    """
    from label_studio_sdk.label_interface import LabelInterface

    first: dict[tuple[Any, ...], tuple[str, Payload]] = {}
    for task in tasks:
        for region in (one for prediction in task["predictions"] for one in prediction["result"]):
            chosen = region["value"].get("labels") or region["value"]["choices"]
            like = (region["from_name"], region["to_name"], region["type"], *chosen)
            first.setdefault(like, (task["data"][KEY], region))
    interface: Any = LabelInterface(xml)
    faults = [
        f"{key}: {fault}"
        for key, region in first.values()
        for fault in interface.validate_prediction({"result": [region]}, True)
    ]
    if faults:
        raise InputError(f"{counted(len(faults), 'fault')} in the predictions", faults=faults)


def _faults(xml: str, *, grades: Sequence[str] | None, labelled: bool) -> list[str]:
    """What a valid screen lacks to be judged on: the controls that are read back, every grade, keys of their own."""
    root = ET.fromstring(xml)
    named = {element.get("name"): element for element in root.iter() if element.get("name")}
    needed = [controls.TEXT] + [controls.SENTENCE_LABEL] * labelled + [controls.RATING] * (grades is not None)
    faults = [f"found no control named {name!r}" for name in needed if name not in named]
    if grades is not None and controls.RATING in named:
        values = [choice.get("value", "") for choice in named[controls.RATING].iter("Choice")]
        faults += [
            f"{controls.RATING}: found no choice {grade!r}, a grade of the scale"
            for grade in grades
            if grade not in values
        ]
        faults += [
            f"{controls.RATING}: the choice {value!r} is not a grade of the scale"
            for value in values
            if value not in (*grades, controls.CANNOT_JUDGE)
        ]
        if controls.CANNOT_JUDGE in values and controls.REASON not in named:
            faults.append(f"found no control named {controls.REASON!r} for {controls.CANNOT_JUDGE!r}")
    keys = Counter(element.get("hotkey") for element in root.iter() if element.get("hotkey"))
    return faults + [
        f"the key {key!r} is used for {count} choices, expected one" for key, count in keys.items() if count > 1
    ]


def instructions_html(
    pages: Sequence[str],
    *,
    scale_names: Sequence[str],
    labels: Sequence[str],
    language: str,
    screen: Screen,
    fold_after: int | None = None,
) -> str:
    """The guideline `pages` (Markdown, the task first) with a short table of the keys of that screen behind them.

    labels: of sentences, none if no facet is judged. fold_after: the words of a document after which it is folded,
    if any pair is judged whole. HTML inside the Markdown is shown as text, and a picture as a link to it.
    """
    values = {
        "scale_names": scale_names,
        "screen": screen,
        "controls": controls,
        "reasons": controls.reasons(language),
        "label_keys": controls.label_keys(labels),
        "differences": controls.DIFFERENCES if labels else controls.DIFFERENCES_OF_WHOLES,
        "fold_after": fold_after,
    }
    return _in_text("\n".join([*_read(pages), render("keys.html.j2", values, overrides=None).strip()]))


def _read(pages: Sequence[str]) -> list[str]:
    """Markdown as HTML. Label Studio takes every picture out that is not on a server, so none can be embedded."""
    reader = converter(extensions=["tables", "sane_lists"], output_format="html")
    return [reader.reset().convert(page) for page in pages]


_BLOCK = re.compile(r"<(/?)(ol|ul|li|p|table|blockquote|h[1-6])>((?<=<li>)\s*<p>)?")
_GAP = '<br class="a-gap">'


def _in_text(page: str) -> str:
    """The HTML `page` with its numbers, bullets and gaps in the text itself.

    Label Studio's own style takes them from every page until the screen behind it is there with ours, and on a project
    without open tasks.
    """
    lists: list[int | None] = []
    depth = 0

    def marked(found: re.Match[str]) -> str:
        nonlocal depth
        closing, tag, paragraph = found[1], found[2], found[3] or ""
        # A paragraph right behind the tag of an item is one of its matches.
        depth += bool(paragraph)
        if tag == "li":
            if closing or not lists:
                return found[0]
            number = lists[-1]
            if number is not None:
                lists[-1] = number = number + 1
            return f"{found[0]}{'• ' if number is None else f'{number}. '}"
        depth += -1 if closing else 1
        if tag in ("ol", "ul"):
            if closing:
                lists.pop()
            else:
                lists.append(0 if tag == "ol" else None)
        return found[0] + (_GAP if closing and depth == 0 else "")

    return _BLOCK.sub(marked, page)
