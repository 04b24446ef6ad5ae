"""What tasks show, in versions: the scale, the facets, guidelines, screens and texts, and the display of each task.

A display says with the hashes of its parts what one task shows. Versions are recorded before anything is sent, so the
display of a task that a killed push did not note down follows from those that were in force.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from sqlalchemy import bindparam, select
from sqlmodel import Session

from annot.base.records import Asked
from annot.store.judging_models import (
    PROJECT_TABLE,
    TASK_TABLE,
)
from annot.store.models import (
    QUERY_TABLE,
    TOPIC_TABLE,
    check,
    column,
    columns_of,
    in_chunks,
    insert_records,
    insert_rows,
    made,
    to,
)

History = tuple[tuple[str, str], ...]
"""Moments (ISO 8601, UTC), each with the SHA-256 of what is in force from then on, the oldest first."""
Display = Mapping[str, Any]
"""What one task shows: under `scale`, `facet`, `guidelines`, `screen`, `topic` and `document` the hashes of contents,
and which sentences are marked."""
Texts = tuple[str | None, str | None]
"""The SHA-256 of the topic and of the document that are shown."""
SCREENS = {"adjudicate": "adjudicate", "substudy-full": "full-text", "train-feedback": "feedback"}
"""The kind of the screen of those rounds that do not have that of judging."""


Part = Literal["scale", "facet", "guidelines", "screen", "topic", "text"]
"""What has versions. `topic` is a topic that is a text, and `text` a paper: a topic and a paper may share an id."""
IMPORTED = "imported"
"""The subject of the scale with which grades were imported: no person was shown it."""


class ShownVersion(NamedTuple):
    """One version of a thing that tasks show, from one moment on."""

    part: Part
    subject: str
    """Which of its kind: the facet of `facet` and `guidelines`, the kind of `screen`, the id of `topic` and `text`; of
    the scale, empty or `IMPORTED`."""
    since: str
    """ISO 8601, UTC."""
    sha256: str
    """Of `body`."""
    why: str | None
    """Why it was changed, in the lead's words; None for the first, and if no reason is asked for."""
    program: str | None
    """The version of the program that made it, of screens."""
    body: str
    """The content: Markdown of guidelines, JSON of everything else."""


SHOWN_CONTENT_TABLE = made("shown_content", [column("sha256", str, key=True), column("body", str)])
"""Each content once, by the SHA-256 of its UTF-8 bytes. Triggers refuse every change."""
SHOWN_VERSION_TABLE = made(
    "shown_version",
    columns_of(ShownVersion, key=["part", "subject", "since"], without=["body"]),
    to(sha256="shown_content.sha256"),
    check("part", "part IN ('scale', 'facet', 'guidelines', 'screen', 'topic', 'text')"),
    check("why", "why IS NULL OR why <> ''"),
)
"""From when each content was in force. Triggers refuse every change."""
OF_SETTINGS: tuple[Part, ...] = ("scale", "facet", "guidelines", "screen")
"""The parts of which there are few; texts are many."""
KEYS = {"shown_content": ("sha256",), "shown_version": ("part", "subject", "since")}
"""The keys of the tables that only grow."""


def hash_of_text(body: str) -> str:
    """The SHA-256 by which a content is known."""
    return hashlib.sha256(body.encode()).hexdigest()


class SentGuidelines(NamedTuple):
    """The guidelines of one facet from one moment on."""

    facet: str
    sent_at: str
    """ISO 8601, UTC."""
    sha256: str
    """Of `text`."""
    text: str
    """The page of the facet and the general one, Markdown."""
    why: str | None
    """Why they were changed, in the lead's words; None for the first."""


def as_json(value: Any) -> str:
    """The one way in which a value is written to be hashed."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def version(
    part: Part, subject: str, body: str, *, since: str, why: str | None = None, program: str | None = None
) -> ShownVersion:
    """A version with the hash of its content."""
    return ShownVersion(part, subject, since, hash_of_text(body), why, program, body)


def keep_contents(session: Session, bodies: Iterable[str]) -> None:
    """Keep these contents, each of them once."""
    wanted = {hash_of_text(body): body for body in bodies}
    for chunk in in_chunks(wanted):
        known = set(session.connection().execute(_sha256_in(chunk)).scalars())
        insert_rows(
            session, SHOWN_CONTENT_TABLE, [{"sha256": key, "body": wanted[key]} for key in chunk if key not in known]
        )


def record_versions(session: Session, versions: Iterable[ShownVersion]) -> None:
    """Note down that these are in force from their moments on; earlier ones stay on record."""
    new = list(versions)
    keep_contents(session, (one.body for one in new))
    insert_records(session, SHOWN_VERSION_TABLE, new)


def read_versions(session: Session, *parts: Part) -> dict[tuple[Part, str], tuple[ShownVersion, ...]]:
    """The versions of each thing, of these parts or of all, by part and subject, the oldest first."""
    rows = SHOWN_VERSION_TABLE
    columns = [rows.c[name] for name in ShownVersion._fields[:-1]]
    wanted = select(*columns, SHOWN_CONTENT_TABLE.c.body).join(
        SHOWN_CONTENT_TABLE, SHOWN_CONTENT_TABLE.c.sha256 == rows.c.sha256
    )
    found: dict[tuple[Part, str], tuple[ShownVersion, ...]] = {}
    every = session.connection().execute(wanted.where(rows.c.part.in_(parts)) if parts else wanted)
    for row in sorted(map(ShownVersion._make, every), key=attrgetter("part", "subject", "since")):
        found[row.part, row.subject] = (*found.get((row.part, row.subject), ()), row)
    return found


def read_histories(session: Session) -> dict[tuple[str, str], History]:
    """As `read_versions`, of all parts and without contents."""
    rows = SHOWN_VERSION_TABLE.c
    wanted = select(rows.part, rows.subject, rows.since, rows.sha256).order_by(rows.part, rows.subject, rows.since)
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for part, subject, since, sha256 in session.connection().execute(wanted):
        found.setdefault((part, subject), []).append((since, sha256))
    return {key: tuple(history) for key, history in found.items()}


def read_guidelines(session: Session) -> dict[str, tuple[SentGuidelines, ...]]:
    """The versions of each facet's guidelines, the oldest first."""
    return {
        facet: tuple(SentGuidelines(facet, one.since, one.sha256, one.body, one.why) for one in versions)
        for (_, facet), versions in read_versions(session, "guidelines").items()
    }


def keep_imported_scale(session: Session, names: Sequence[str], *, since: str) -> None:
    """Note down the names of the grades with which the first grades were imported, if no scale is on record."""
    if not read_versions(session, "scale"):
        record_versions(session, [version("scale", IMPORTED, as_json([*names]), since=since)])


def scale_that_counts(session: Session, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the grades that were sent; before that, `names`, if they fit those of the first imported grades."""
    versions = read_versions(session, "scale")
    if sent := versions.get(("scale", "")):
        return tuple(json.loads(sent[-1].body))
    imported = versions.get(("scale", IMPORTED))
    recorded = json.loads(imported[-1].body) if imported else [*names]
    fits = len(recorded) == len(names) and not moved_names(recorded, names)
    return (*names,) if fits else tuple(recorded)


def moved_names(recorded: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names on record that are those of another grade by now."""
    return [name for grade, name in enumerate(recorded) if name in names and names.index(name) != grade]


def facets_that_count(session: Session) -> dict[str, tuple[str, ...]]:
    """The labels of each facet that was sent; of one that was removed since, the last ones, while it has queries."""
    asked = set(session.connection().execute(select(QUERY_TABLE.c.facet).distinct()).scalars())
    found = {}
    for (_, facet), versions in read_versions(session, "facet").items():
        bodies = [json.loads(one.body) for one in versions]
        labels = [labels for labels in bodies if labels is not None]
        if labels and (bodies[-1] is not None or facet in asked):
            found[facet] = tuple(labels[-1])
    return found


def content(session: Session, sha256s: Iterable[str]) -> dict[str, str]:
    """The contents with these hashes, by hash; those that are not on record are left out."""
    found: dict[str, str] = {}
    for chunk in in_chunks(dict.fromkeys(sha256s)):
        rows = session.connection().execute(_sha256_in(chunk).add_columns(SHOWN_CONTENT_TABLE.c.body))
        found |= {row.sha256: row.body for row in rows}
    return found


def display_parts(session: Session, sha256s: Iterable[str | None]) -> dict[str, Display]:
    """The displays with these hashes; those that are not on record are left out."""
    bodies = content(session, (sha256 for sha256 in sha256s if sha256 is not None))
    return {sha256: json.loads(body) for sha256, body in bodies.items()}


def texts_in(display: Display | None) -> Texts:
    """The hashes of topic and document in a display; None for what is not on record."""
    shown = display or {}
    return shown.get("topic"), shown.get("document")


def in_force(history: History, moment: str | None) -> str | None:
    """The hash that holds at a moment (ISO 8601); before all of them, and without a moment, the first."""
    if moment is None or not history:
        return history[0][1] if history else None
    now = datetime.fromisoformat(moment)
    begun = [sha256 for since, sha256 in history if datetime.fromisoformat(since) <= now]
    return begun[-1] if begun else history[0][1]


class ShownTasks:
    """What the tasks of one project showed, and when."""

    def __init__(self, by_task: Mapping[Asked, History], sources: _Sources, screen: str) -> None:
        self.by_task = by_task
        """What is noted; empty for a task that a killed push did not note down."""
        self._sources, self._screen = sources, screen
        self._composed: dict[str, str] = {}

    def at(self, asked: Asked, moment: str | None) -> str | None:
        """The hash of what the task displayed at this moment; None if nothing is on record.

        A display that was noted down with no task is composed of what was in force; `keep_composed` records it.
        """
        return in_force(self.by_task.get(asked) or self.composed(asked), moment)

    def composed(self, asked: Asked) -> History:
        """The displays of a task by all versions on record, without its marks."""
        parts = self._sources.of(asked, self._screen)
        moments = sorted({since for history in parts.values() for since, _ in history}, key=datetime.fromisoformat)
        history: list[tuple[str, str]] = []
        for moment in moments:
            body = as_json({name: in_force(one, moment) for name, one in parts.items()})
            self._composed[sha256 := hash_of_text(body)] = body
            if not history or history[-1][1] != sha256:
                history.append((moment, sha256))
        return tuple(history)

    def add(self, display: Display) -> str:
        """The hash of a display that is known otherwise; `keep_composed` records it, too."""
        body = as_json(display)
        self._composed[sha256 := hash_of_text(body)] = body
        return sha256

    def bodies(self, sha256s: Iterable[str | None]) -> list[str]:
        """The displays among these that were composed here."""
        return [self._composed[sha256] for sha256 in sha256s if sha256 in self._composed]

    def displays(self, session: Session, sha256s: Collection[str | None]) -> dict[str, Display]:
        """The displays with these hashes, on record or composed here."""
        return display_parts(session, sha256s) | {hash_of_text(body): json.loads(body) for body in self.bodies(sha256s)}


class _Sources(NamedTuple):
    """What displays are composed of."""

    histories: Mapping[tuple[str, str], History]
    queries: Mapping[str, tuple[str, str]]
    """The topic and the facet of each query."""
    topics: frozenset[str]
    """Those that are texts."""

    def of(self, asked: Asked, screen: str) -> dict[str, History]:
        """The history of each part of a display, of those that have one."""
        topic_id, facet = self.queries.get(asked.query_id, ("", ""))
        keys = {
            "scale": ("scale", ""),
            "facet": ("facet", facet),
            "guidelines": ("guidelines", facet),
            "screen": ("screen", screen),
            "topic": ("topic" if topic_id in self.topics else "text", topic_id),
            "document": ("text", asked.doc_id),
        }
        return {name: self.histories[key] for name, key in keys.items() if key in self.histories}


NOTHING_SHOWN = ShownTasks({}, _Sources({}, {}, frozenset()), "judge")


def read_sources(session: Session) -> _Sources:
    """What the displays of any project are composed of; for those who read of many projects."""
    queries = session.connection().execute(select(QUERY_TABLE.c.query_id, QUERY_TABLE.c.topic_id, QUERY_TABLE.c.facet))
    topics = session.connection().execute(select(TOPIC_TABLE.c.topic_id)).scalars()
    return _Sources(
        read_histories(session), {query_id: (topic, facet) for query_id, topic, facet in queries}, frozenset(topics)
    )


def read_shown(session: Session, project: int, sources: _Sources | None = None) -> ShownTasks:
    """What each task of a project displayed. sources: as read before, for another project."""
    tasks, connection = TASK_TABLE, session.connection()
    columns = tasks.c.query_id, tasks.c.doc_id, tasks.c.occasion, tasks.c.shown
    rows = connection.execute(select(*columns).where(tasks.c.project_id == project))
    by_task = {Asked(*key): tuple(map(tuple, history)) for *key, history in rows}
    of_project = select(PROJECT_TABLE.c.round).where(PROJECT_TABLE.c.id == project)
    stored = connection.execute(of_project).scalar_one_or_none() or "judge"
    return ShownTasks(by_task, sources or read_sources(session), SCREENS.get(stored, "judge"))


def note_shown(
    session: Session, project: int, displays: Mapping[Asked, Display], *, since: str, fresh: Collection[Asked] = ()
) -> None:
    """Note down what these tasks of a project show from now on, each where it is not what it showed before.

    fresh: tasks that were just made, so that they never showed anything else, whatever the server's clock says. Any
    other task of which nothing is noted yet, as after a restored backup, showed what was in force.
    """
    shown = read_shown(session, project)
    remote_ids = _remote_ids(session, project)
    new: dict[int, History] = {}
    bodies: set[str] = set()
    for asked, noted in shown.by_task.items():
        history = noted or (() if asked in fresh else shown.composed(asked))
        display = displays.get(asked)
        if display is not None:
            body = as_json(display)
            history = _continued(history, noted, display, body, shown, since=since)
            bodies.add(body)
        if history != noted:
            new[remote_ids[asked]] = history
            bodies.update(shown.bodies(sha256 for _, sha256 in history))
    keep_contents(session, bodies)
    of_task = (TASK_TABLE.c.project_id == project) & (TASK_TABLE.c.remote_id == bindparam("task"))
    rows = [{"task": task, "history": history} for task, history in new.items()]
    if rows:
        session.connection().execute(TASK_TABLE.update().where(of_task).values(shown=bindparam("history")), rows)


def keep_composed(session: Session, shown: ShownTasks, sha256s: Iterable[str | None]) -> None:
    """Keep the displays among these that were composed and are on record nowhere."""
    keep_contents(session, shown.bodies(sha256s))


def _continued(
    history: History, noted: History, display: Display, body: str, shown: ShownTasks, *, since: str
) -> History:
    """The history of a task with the display that it has now."""
    sha256 = hash_of_text(body)
    if history and history[-1][1] == sha256:
        return history
    composed = shown.bodies([history[-1][1]]) if history and not noted else []
    if composed and all(display.get(name) == value for name, value in json.loads(composed[0]).items()):
        # The same but for the marks, of which versions do not tell.
        return (*history[:-1], (history[-1][0], sha256))
    return (*history, (since, sha256))


def _remote_ids(session: Session, project: int) -> dict[Asked, int]:
    rows = TASK_TABLE.c
    wanted = select(rows.query_id, rows.doc_id, rows.occasion, rows.remote_id).where(rows.project_id == project)
    return {Asked(*key): remote_id for *key, remote_id in session.connection().execute(wanted)}


def _sha256_in(sha256s: Iterator[str] | list[str]) -> Any:
    return select(SHOWN_CONTENT_TABLE.c.sha256).where(SHOWN_CONTENT_TABLE.c.sha256.in_(list(sha256s)))
