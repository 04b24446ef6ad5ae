"""The contents of all that tasks show, as annot.toml, guidelines and corpus have them now: each is the text that is
hashed.

`annot.store.shown` keeps their versions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annot.base.records import Paper, Topic
from annot.store.shown import as_json
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.labelstudio.controls import Screen


def scale_content(ws: Workspace) -> str:
    """The names of the grades, from grade 0 upward."""
    return as_json(list(ws.settings.scale.names))


def facet_content(ws: Workspace, facet: str) -> str:
    """The sentence labels of a facet."""
    return as_json(labels_asked(ws, facet))


def labels_asked(ws: Workspace, facet: str) -> list[str]:
    """The sentence labels of a facet, in the order of the study's; none if the whole is judged."""
    return [label for label in ws.settings.labels.names if label in ws.settings.facets.get(facet, ())]


def text_content(paper: Paper) -> str:
    """A paper as people read it: its labels are marks of a task, and no text."""
    return as_json({"title": paper.title, "sentences": list(paper.sentences)})


def with_text(paper: Paper, content: str, labels: Sequence[str] | None = None) -> Paper:
    """The paper with a text as `text_content` has it. labels: of its sentences."""
    text = json.loads(content)
    own_labels = None if labels is None else tuple(labels)
    return replace(paper, title=text["title"], sentences=tuple(text["sentences"]), labels=own_labels)


def topic_content(topic: Topic) -> str:
    """A topic that is a text."""
    shown = {"title": topic.title, "description": topic.description, "narrative": topic.narrative}
    return as_json(shown | {"fields": dict(topic.fields)})


def screen_content(kind: Screen, config: str, inputs: dict[str, Any]) -> str:
    """Configuration of a screen, and its inputs (`annot.study.guidelines.screen_inputs`)."""
    return as_json({"config": config, "kind": kind, "inputs": inputs})
