"""What the tasks of a push show: the content of each part, what of it is new since the last push, and each task's
display."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlmodel import Session

from annot import __version__
from annot.base.records import Asked, Paper, Topic
from annot.store.shown import Display, Part, ShownVersion, hash_of_text, read_histories, version
from annot.study import guidelines
from annot.study.shown_contents import (
    facet_content,
    labels_asked,
    scale_content,
    screen_content,
    text_content,
    topic_content,
)
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.judging.exchange.outgoing import Outgoing, TaskMaterial
    from annot.judging.exchange.rounds import RoundPart

Contents = Mapping[tuple[Part, str], str]
"""What is shown, by part and subject."""


def contents_of(ws: Workspace, part: RoundPart, label_config: str, material: TaskMaterial) -> Contents:
    """All that the tasks of a part show, as it is now."""
    contents: dict[tuple[Part, str], str] = {("scale", ""): scale_content(ws)}
    for facet in material.guidelines:
        contents["facet", facet] = facet_content(ws, facet)
        contents["guidelines", facet] = guidelines.shown(ws, facet).text
    inputs = guidelines.screen_inputs(ws, part.screen)
    contents["screen", part.screen] = screen_content(part.screen, label_config, inputs)
    for query_id in material.asked:
        topic = material.topic_of(query_id)
        if isinstance(topic, Topic):
            contents["topic", topic.topic_id] = topic_content(topic)
    return contents | {("text", paper_id): text_content(paper) for paper_id, paper in material.papers.items()}


def new_versions(session: Session, contents: Contents) -> list[ShownVersion]:
    """Of these contents those that are not in force, but for guidelines (`annot.study.guidelines.to_send`)."""
    histories = read_histories(session)
    since = datetime.now(UTC).isoformat(timespec="milliseconds")
    return [
        version(part, subject, body, since=since, program=__version__ if part == "screen" else None)
        for (part, subject), body in contents.items()
        if part != "guidelines"
        and ((part, subject) not in histories or histories[part, subject][-1][1] != hash_of_text(body))
    ]


def displays_of(ws: Workspace, outgoing: Outgoing) -> dict[Asked, Display]:
    """What each of these tasks shows; nothing if no pair is asked."""
    form, material = outgoing.form, outgoing.form.material
    if material is None:
        return {}
    sha256s = {key: hash_of_text(body) for key, body in form.contents.items()}
    displays: dict[Asked, Display] = {}
    for one in outgoing.tasks:
        query, topic, document = material.shown(one.pair)
        by_text = isinstance(topic, Topic)
        texts = {
            "topic": sha256s["topic" if by_text else "text", query.topic_id],
            "document": sha256s["text", one.doc_id],
        }
        if one.pair in material.earlier and isinstance(topic, Paper):
            texts = {"topic": hash_of_text(text_content(topic)), "document": hash_of_text(text_content(document))}
        elif one.pair in material.earlier:
            texts["document"] = hash_of_text(text_content(document))
        display: dict[str, object] = {
            "scale": sha256s["scale", ""],
            "facet": sha256s["facet", query.facet],
            "guidelines": sha256s["guidelines", query.facet],
            "screen": sha256s["screen", form.part.screen],
            **texts,
        }
        if not isinstance(topic, Topic) and labels_asked(ws, query.facet):
            display["topic_labels"] = list(topic.labels or ())
            display["document_labels"] = list(document.labels or ())
            display["query_sentences"] = list(query.sentences)
        displays[one] = display
    return displays
