"""Open tasks with a text that was corrected since: taken back from everyone, before anyone gets the corrected text."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlmodel import Session

from annot.base.records import Asked
from annot.judging.exchange.outgoing import Outgoing
from annot.judging.text_decisions import corrected_texts
from annot.labelstudio.annotations import Reading
from annot.labelstudio.columns import reads, same_texts
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import TEXT_FIELD, Payload, PulledTask, StudioTask
from annot.labelstudio.tasks import pair_key
from annot.store import projects
from annot.store.judgements import count_corrected_texts, read_judgements
from annot.store.shown import Display, ShownTasks, content, display_parts, read_shown, texts_in
from annot.study.judged_texts import Pair, corrected_versions, judged_texts, paper_topics, tasks_on_other_texts
from annot.study.workspace import Workspace


def has_earlier_text(task: StudioTask, wanted: Payload) -> bool:
    """Whether a task on the server shows other texts than it is to show. wanted: the task as it is sent."""
    return not same_texts(str(task.data.get(TEXT_FIELD, "")), wanted["data"].get(TEXT_FIELD, ""))


def withdraw_earlier_texts(ws: Workspace, gateway: Gateway, outgoing: Sequence[Outgoing]) -> set[Pair]:
    """Delete, on this server, the unanswered tasks of the round whose texts are not those that are to be sent.

    Nobody is sent a corrected text while another can still answer the pair on the earlier one. Returns the pairs that
    were answered on it meanwhile: these answers are not on record yet.
    """
    if not outgoing:
        return set()
    server = gateway.identity()
    with ws.reading() as session:
        if not corrected_texts(session):
            return set()
        known = projects.read_projects(session, round=outgoing[0].part.stored)
        recorded = {(one.assessor, one.asked) for one in read_judgements(session) if one.counts}
    answered: set[Pair] = set()
    wanted = {one.assessor: {pair_key(*asked): (asked, task) for asked, task in one.tasks.items()} for one in outgoing}
    for project in known:
        own = wanted.get(project.assessor, {})
        if project.server != server or project.remote_id is None or not own:
            continue
        listed = [task for task in gateway.tasks_of(project.remote_id) if task.key in own]
        earlier = [task for task in listed if has_earlier_text(task, own[task.key or ""][1])]
        # The last stays until others are sent: a server on SQLite gives its number again.
        last = max((task.task_id for task in earlier), default=0)
        bare = [task.task_id for task in earlier if not task.annotations and task.task_id != last]
        gateway.delete_unanswered(project.remote_id, bare)
        there = {task.task_id: task for task in gateway.tasks_of(project.remote_id)} if earlier else {}
        for task in earlier:
            asked = own[task.key or ""][0]
            found = there.get(task.task_id)
            if found is not None and found.annotations and (project.assessor, asked) not in recorded:
                answered.add(asked.pair)
    return answered


def open_elsewhere(ws: Workspace, people: Collection[str]) -> set[Pair]:
    """The pairs that these people may still answer on a text before its correction: their server cannot be asked."""
    if not people:
        return set()
    with ws.reading() as session:
        tasks = tasks_on_other_texts(session, "judge", judged_texts(session))
        recorded = {(one.assessor, one.asked) for one in read_judgements(session) if one.counts}
    return {
        asked.pair for name, own in tasks.items() if name in people for asked in own if (name, asked) not in recorded
    }


UNKNOWN_TEXT = (
    "its task shows a text that is not on record; add this text with `annot corpus add --corrected`, or delete the "
    "task in Label Studio, and `annot push` sends it again"
)
TEXTS = ("topic", "document")
MARKS = ("topic_labels", "document_labels", "query_sentences")


def as_displayed(
    session: Session,
    project: int,
    displays: Mapping[Asked, Display],
    tasks: Mapping[Asked, Payload],
    untouched: Iterable[StudioTask],
) -> dict[Asked, Display]:
    """The displays of tasks after a push, with the texts and marks that those have that a push left as they were.

    displays, tasks: as they are sent. untouched: tasks that were on the server before and stayed there.
    """
    found = dict(displays)
    keys = {pair_key(*asked): asked for asked in displays}
    noted = {asked: history[-1][1] for asked, history in read_shown(session, project).by_task.items() if history}
    earlier = display_parts(session, noted.values())
    for task in untouched:
        asked = keys.get(task.key or "")
        if asked is None or (before := earlier.get(noted.get(asked, ""))) is None:
            continue
        # Marks are predictions, which stay; a text stays on what was answered.
        parts = (*TEXTS, *MARKS) if has_earlier_text(task, tasks[asked]) else MARKS
        found[asked] = {**displays[asked], **{name: before[name] for name in parts if name in before}}
    return found


def with_texts_on_server(
    session: Session,
    shown: ShownTasks,
    readings: Sequence[Reading],
    tasks: Mapping[Asked, PulledTask],
    counting: Collection[tuple[Asked, str]],
) -> list[Reading]:
    """The readings with the versions of the texts that their tasks show on the server, as far as they are on record.

    An answered task is never changed, so this tells more than what was noted: a push may have been killed before it
    noted anything, a backup may be older than the push, and the clocks of two machines differ. An answer on a text that
    is not on record does not count. counting: the answers on record that count, by what was asked and the annotation.
    """
    corrected = corrected_versions(session) if count_corrected_texts(session) else {}
    looked_at = [one for one in readings if corrected or (one.asked, one.annotation) not in counting]
    if not looked_at:
        return list(readings)
    topics = paper_topics(session)
    displays = shown.displays(session, [one.shown_sha256 for one in looked_at])
    bodies = content(session, {sha256 for display in displays.values() for sha256 in texts_in(display) if sha256})

    def of_server(one: Reading) -> Reading:
        display = displays.get(one.shown_sha256 or "", {})
        pair_html = str(tasks[one.asked].data.get(TEXT_FIELD, ""))
        sides = (("topic", "query", topics.get(one.asked.query_id)), ("document", "cand", one.asked.doc_id))
        found, unknown = dict[str, str](), False
        for part, side, text_id in sides:
            versions = {version.sha256: version.body for version in corrected.get(text_id or "", ())}
            if text_id is not None and display.get(part) in bodies:
                versions[display[part]] = bodies[display[part]]
            matches = [sha256 for sha256, body in versions.items() if reads(pair_html, side, **json.loads(body))]
            if matches:
                found[part] = display[part] if display.get(part) in matches else matches[-1]
            elif versions:
                unknown = True
        changed = {part: sha256 for part, sha256 in found.items() if display.get(part) != sha256}
        if changed:
            one = replace(one, shown_sha256=shown.add({**display, **changed}))
        is_new = (one.asked, one.annotation) not in counting
        return replace(one, flags=(*one.flags, UNKNOWN_TEXT)) if unknown and is_new and not one.flags else one

    wanted = {(one.asked, one.annotation) for one in looked_at}
    return [of_server(one) if (one.asked, one.annotation) in wanted else one for one in readings]


def without_pairs(outgoing: Outgoing, pairs: Collection[Pair]) -> Outgoing:
    """The same without the tasks of these pairs."""
    return replace(outgoing, tasks={asked: task for asked, task in outgoing.tasks.items() if asked.pair not in pairs})
