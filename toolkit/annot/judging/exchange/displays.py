"""What the tasks of a push show: the content of each part, what of it is new since the last push, and each task's
display."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from annot import __version__
from annot.base.records import Asked, Paper, Topic
from annot.store.shown import (
    OF_SETTINGS,
    Display,
    Part,
    ShownVersion,
    as_json,
    hash_of_text,
    read_histories,
    read_versions,
    version,
)
from annot.study import guidelines
from annot.study.shown_changes import ShownChange, Versions, changes_of
from annot.study.shown_contents import (
    facet_content,
    labels_asked,
    scale_content,
    screen_content,
    text_content,
    topic_content,
)
from annot.study.shown_versions import SCREENS
from annot.study.workspace import Workspace

if TYPE_CHECKING:
    from annot.judging.exchange.outgoing import Outgoing, TaskForm, TaskMaterial
    from annot.labelstudio.controls import Screen

Contents = Mapping[tuple[Part, str], str]
"""What is shown, by part and subject."""
Hashes = Mapping[tuple[str, str], str]
"""The SHA-256 of each content, by part and subject."""


def contents_of(ws: Workspace, material: TaskMaterial) -> Contents:
    """All that is shown of these pairs, on a screen or in a prompt, as it is now."""
    contents: dict[tuple[Part, str], str] = {("scale", ""): scale_content(ws)}
    for facet in material.guidelines:
        contents["facet", facet] = facet_content(ws, facet)
        contents["guidelines", facet] = guidelines.shown(ws, facet).text
    for query_id in material.asked:
        topic = material.topic_of(query_id)
        if isinstance(topic, Topic):
            contents["topic", topic.topic_id] = topic_content(topic)
    return contents | {("text", paper_id): text_content(paper) for paper_id, paper in material.papers.items()}


def with_sent_screens(ws: Workspace, outgoing: Sequence[Outgoing], versions: Versions, *, new: bool) -> list[Outgoing]:
    """The same with the screen that was sent last, where no setting and no template of the study has changed since.

    A screen of another version of the program is none that the lead has asked for. new: it is.
    """
    if new:
        return list(outgoing)
    kept: dict[Screen, tuple[str, str]] = {}
    for kind in {one.part.screen for one in outgoing}:
        sent = versions.get(("screen", kind))
        if sent and (recorded := json.loads(sent[-1].body))["inputs"] == guidelines.screen_inputs(ws, kind):
            kept[kind] = (recorded["config"], sent[-1].body)

    def form_with(form: TaskForm) -> TaskForm:
        if form.part.screen not in kept:
            return form
        config, body = kept[form.part.screen]
        return form._replace(label_config=config, contents={**form.contents, ("screen", form.part.screen): body})

    forms = {id(one.form): form_with(one.form) for one in outgoing}
    return [replace(one, form=forms[id(one.form)]) for one in outgoing]


def next_versions(
    ws: Workspace, session: Session, outgoing: Sequence[Outgoing], *, why: str | None, new_screen: bool
) -> tuple[list[Outgoing], list[ShownVersion], list[str]]:
    """What a push sends with the screens that it keeps, the versions that it puts on record, and notes.

    A change is put on record whole, also where these tasks do not show it: the lead gives a reason once.
    Texts are not compared here (`annot.judging.exchange.outgoing.check_outgoing`). why: the reason for all that has
    changed.
    """
    why, versions, changes = (why or "").strip() or None, read_versions(session, *OF_SETTINGS), changes_of(ws, session)
    kept = with_sent_screens(ws, outgoing, versions, new=new_screen)
    # A facet that was removed is on record as such, although the tasks that were planned go on.
    gone = {("facet", facet) for facet in ws.settings.facets.keys() - ws.in_file.facets.keys()}
    contents = {key: body for one in kept for key, body in one.form.contents.items() if key not in gone}
    contents |= {(change.part, change.subject): _content_now(ws, change) for change in changes}
    histories = read_histories(session)
    new = {
        key: body
        for key, body in contents.items()
        if key not in histories or histories[key][-1][1] != hash_of_text(body)
    }
    since = datetime.now(UTC).isoformat(timespec="milliseconds")
    notes = [f"put on record, with the reason: {change.name}" for change in changes]
    notes += _notes_on_screens(outgoing, kept, new, asked_for=new_screen)
    if why and not changes and why not in {one.why for several in versions.values() for one in several}:
        notes = ["nothing has changed since it was sent: the reason is not on record"]
    return kept, [_version(key, body, versions, since=since, why=why) for key, body in new.items()], notes


def _notes_on_screens(
    outgoing: Sequence[Outgoing],
    kept: Sequence[Outgoing],
    new: Mapping[tuple[Part, str], str],
    *,
    asked_for: bool,
) -> Iterator[str]:
    """What becomes of the screens of this version of the program. outgoing: with these; kept: with those sent.

    new: what is put on record. asked_for: whether the lead wants the program's own.
    """
    differing = {
        current.part.screen
        for current, sent in zip(outgoing, kept, strict=True)
        if current.form.label_config != sent.form.label_config
    }
    for kind, push in sorted({(one.part.screen, one.part.push) for one in outgoing}):
        name = SCREENS.get(kind, kind)
        if asked_for and ("screen", kind) in new:
            yield f"put on record: {name}, as annot {__version__} makes it"
        elif asked_for:
            yield f"{name} is already that of annot {__version__}"
        elif kind in differing:
            yield f"{name} stays as it was sent; `{push} --new-screen` sends that of annot {__version__}"


def _content_now(ws: Workspace, change: ShownChange) -> str:
    """What is to be in force after a change; of a facet that was removed, null."""
    if change.part == "scale":
        return scale_content(ws)
    if change.part == "guidelines":
        return guidelines.shown(ws, change.subject).text
    if change.part == "facet":
        return facet_content(ws, change.subject) if change.subject in ws.in_file.facets else as_json(None)
    kind: Any = change.subject
    return screen_content(kind, guidelines.screen(ws, kind), guidelines.screen_inputs(ws, kind))


def scale_version(ws: Workspace, session: Session) -> list[ShownVersion]:
    """The names of the grades, if none are on record as sent: of rounds that do not make the collection."""
    if ("scale", "") in read_versions(session, "scale"):
        return []
    return [version("scale", "", scale_content(ws), since=datetime.now(UTC).isoformat(timespec="milliseconds"))]


def _version(key: tuple[Part, str], body: str, versions: Versions, *, since: str, why: str | None) -> ShownVersion:
    part, subject = key
    if part != "screen":
        return version(part, subject, body, since=since, why=why if key in versions else None)
    reason = None
    if key in versions:
        before, now = json.loads(versions[key][-1].body), json.loads(body)
        reason = f"the screen of annot {__version__}" if before["inputs"] == now["inputs"] else why
    return version(part, subject, body, since=since, why=reason, program=__version__)


def displays_of(ws: Workspace, outgoing: Outgoing) -> dict[Asked, Display]:
    """What each of these tasks shows; nothing if no pair is asked."""
    form, material = outgoing.form, outgoing.form.material
    if material is None:
        return {}
    sha256s = hashes_of(form.contents)
    return {
        asked: {
            **shown_around(material.queries[asked.query_id].facet, sha256s),
            "screen": sha256s["screen", form.part.screen],
            **shown_of_pair(ws, material, asked.pair, sha256s),
        }
        for asked in outgoing.tasks
    }


def hashes_of(contents: Mapping[Any, str]) -> Hashes:
    """The hash of each content."""
    return {key: hash_of_text(body) for key, body in contents.items()}


def shown_around(facet: str, sha256s: Hashes) -> dict[str, str]:
    """The parts of a display that all pairs of a facet share."""
    return {"scale": sha256s["scale", ""], "facet": sha256s["facet", facet], "guidelines": sha256s["guidelines", facet]}


def shown_of_pair(ws: Workspace, material: TaskMaterial, pair: tuple[str, str], sha256s: Hashes) -> dict[str, object]:
    """The parts of a display that are the pair's own: its two texts and their marks."""
    query, topic, document = material.shown(pair)

    def hash_of(text: Paper | Topic) -> str:
        if isinstance(text, Topic):
            return sha256s["topic", text.topic_id]
        return hash_of_text(text_content(text)) if pair in material.earlier else sha256s["text", text.paper_id]

    shown: dict[str, object] = {"topic": hash_of(topic), "document": hash_of(document)}
    if isinstance(topic, Paper) and labels_asked(ws, query.facet):
        shown["topic_labels"] = list(topic.labels or ())
        shown["document_labels"] = list(document.labels or ())
        shown["query_sentences"] = list(query.sentences)
    return shown
