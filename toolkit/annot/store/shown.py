"""Content of tasks, in versions: the scale, the facets, guidelines, screens and texts, and the display of each task.

A display describes the content of one task by the hashes of its parts. Versions are recorded before anything is sent,
so a display that a killed push did not record follows from the versions in force.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import bindparam, select

from annot.base.records import PairKey, grouped
from annot.base.words import ENGLISH_CODE
from annot.store import models
from annot.store.models import Session
from annot.store.projects import read_tasks

T = TypeVar("T")
History = tuple[tuple[str, str], ...]
"""Moments (ISO 8601, UTC), each with the SHA-256 of the content in force from then on, the oldest first."""
Display = Mapping[str, Any]
"""Content of one task: under `scale`, `facet`, `guidelines`, `screen`, `topic` and `document` the hashes of contents,
and the positions of the marked sentences."""
Texts = tuple[str | None, str | None]
"""The SHA-256 of the topic and of the document that are shown."""
SCREENS = {"adjudicate": "adjudicate", "substudy-full": "full-text", "train-feedback": "feedback"}
"""The kind of the screen of those rounds that do not have that of judging."""


Part = Literal["scale", "facet", "guidelines", "screen", "words", "topic", "text"]
"""Kinds of content that have versions. `topic` is a topic that is a text, and `text` a paper: both may have one id."""
IMPORTED = "imported"
"""The subject of the scale with which grades were imported: no person was shown it."""


class ShownVersion(NamedTuple):
    """One version of a thing that tasks show, from one moment on."""

    part: Part
    subject: str
    """Subject within its kind: the facet of `facet` and `guidelines`, the kind of `screen`, the language of `words`,
    the id of `topic` and `text`; of the scale, empty or `IMPORTED`. Guidelines and screens that are not in English have
    the language behind a slash."""
    since: str
    """ISO 8601, UTC."""
    sha256: str
    """SHA-256 of `body`."""
    why: str | None
    """Reason for the change, in the lead's words; None for the first, and if no reason is asked for."""
    program: str | None
    """The version of the program that made it, of screens."""
    body: str
    """The content: Markdown of guidelines, JSON of everything else."""


SHOWN_CONTENT_TABLE = models.define_table(
    "shown_content", [models.column("sha256", str, key=True), models.column("body", str)]
)
"""Each content once, by the SHA-256 of its UTF-8 bytes. Triggers refuse every change."""
SHOWN_VERSION_TABLE = models.define_table(
    "shown_version",
    models.columns_of(ShownVersion, key=["part", "subject", "since"], without=["body"]),
    models.to(sha256="shown_content.sha256"),
    models.check("part", "part IN ('scale', 'facet', 'guidelines', 'screen', 'words', 'topic', 'text')"),
    models.check("why", "why IS NULL OR why <> ''"),
)
"""Moments from which contents were in force. Triggers refuse every change."""
OF_SETTINGS: tuple[Part, ...] = ("scale", "facet", "guidelines", "screen", "words")
"""Parts with few subjects; texts are many."""
KEYS = {"shown_content": ("sha256",), "shown_version": ("part", "subject", "since")}
"""The keys of the tables that only grow."""


def in_language(subject: str, language: str | None) -> str:
    """Subject of guidelines or a screen in a language.

    >>> in_language("method", "en"), in_language("method", "de")
    ('method', 'method/de')
    """
    return subject if language in (None, ENGLISH_CODE) else f"{subject}/{language}"


def subject_and_language(subject: str) -> tuple[str, str]:
    """The facet or the kind of screen, and the language, of a subject that `in_language` made."""
    name, _, language = subject.partition("/")
    return name, language or ENGLISH_CODE


def subjects_of(facet: str, screen: str) -> dict[str, tuple[Part, str]]:
    """Part and subject of the contents that all tasks about a facet have on a screen, by their names in a display.

    screen: the subject of the screen, whose language the guidelines and the words have.
    """
    language = subject_and_language(screen)[1]
    return {
        "scale": ("scale", ""),
        "facet": ("facet", facet),
        "guidelines": ("guidelines", in_language(facet, language)),
        "screen": ("screen", screen),
        "words": ("words", language),
    }


def language_of(display: Display | None, versions: Mapping[tuple[Part, str], Sequence[ShownVersion]]) -> str:
    """Language of the words of a display. versions: those of words at least."""
    words = (display or {}).get("words")
    return next((row.subject for rows in versions.values() for row in rows if row.sha256 == words), ENGLISH_CODE)


def hash_of_text(body: str) -> str:
    """SHA-256 that identifies a content."""
    return hashlib.sha256(body.encode()).hexdigest()


def as_json(value: Any) -> str:
    """The value as JSON in a canonical form, to be hashed."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def version(
    part: Part, subject: str, body: str, *, since: str, why: str | None = None, program: str | None = None
) -> ShownVersion:
    """A version with the hash of its content."""
    return ShownVersion(part, subject, since, hash_of_text(body), why, program, body)


def keep_contents(session: Session, bodies: Iterable[str]) -> None:
    """Keep these contents, each of them once."""
    body_of = {hash_of_text(body): body for body in bodies}
    for chunk in models.in_chunks(body_of):
        on_record = set(session.connection().execute(_sha256_in(chunk)).scalars())
        new = [{"sha256": sha256, "body": body_of[sha256]} for sha256 in chunk if sha256 not in on_record]
        models.insert_rows(session, SHOWN_CONTENT_TABLE, new)


def record_versions(session: Session, versions: Iterable[ShownVersion]) -> None:
    """Record that these are in force from their moments on; earlier ones stay on record."""
    new = list(versions)
    keep_contents(session, (version.body for version in new))
    models.insert_records(session, SHOWN_VERSION_TABLE, new)


def read_versions(session: Session, *parts: Part) -> dict[tuple[Part, str], tuple[ShownVersion, ...]]:
    """The versions of each thing, of these parts or of all, by part and subject, the oldest first."""
    rows = SHOWN_VERSION_TABLE
    columns = [rows.c[name] for name in ShownVersion._fields[:-1]]
    statement = select(*columns, SHOWN_CONTENT_TABLE.c.body).join(
        SHOWN_CONTENT_TABLE, SHOWN_CONTENT_TABLE.c.sha256 == rows.c.sha256
    )
    rows_found = session.connection().execute(statement.where(rows.c.part.in_(parts)) if parts else statement)
    versions = sorted(map(ShownVersion._make, rows_found), key=attrgetter("part", "subject", "since"))
    by_thing = grouped(((version.part, version.subject), version) for version in versions)
    return {subject: tuple(several) for subject, several in by_thing.items()}


def read_histories(session: Session) -> dict[tuple[str, str], History]:
    """Histories of all parts, as `read_versions` orders them, without contents."""
    rows = SHOWN_VERSION_TABLE.c
    statement = select(rows.part, rows.subject, rows.since, rows.sha256).order_by(rows.part, rows.subject, rows.since)
    moments = session.connection().execute(statement)
    histories = grouped(((part, subject), (since, sha256)) for part, subject, since, sha256 in moments)
    return {thing: tuple(history) for thing, history in histories.items()}


def keep_imported_scale(session: Session, names: Sequence[str], *, since: str) -> None:
    """Record the names of the grades with which the first grades were imported, if no scale is on record."""
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
    """Names on record that belong to another grade now."""
    return [name for grade, name in enumerate(recorded) if name in names and names.index(name) != grade]


def facets_that_count(session: Session) -> dict[str, tuple[str, ...]]:
    """The labels of each facet that was sent; if a facet was removed since, its last labels while it has queries."""
    facets_of_queries = set(session.connection().execute(select(models.QUERY_TABLE.c.facet).distinct()).scalars())
    labels_of = {}
    for (_, facet), versions in read_versions(session, "facet").items():
        bodies = [json.loads(version.body) for version in versions]
        labels = [labels for labels in bodies if labels is not None]
        if labels and (bodies[-1] is not None or facet in facets_of_queries):
            labels_of[facet] = tuple(labels[-1])
    return labels_of


def content(session: Session, sha256s: Iterable[str]) -> dict[str, str]:
    """The contents with these hashes, by hash; those that are not on record are left out."""
    bodies: dict[str, str] = {}
    for chunk in models.in_chunks(dict.fromkeys(sha256s)):
        rows = session.connection().execute(_sha256_in(chunk).add_columns(SHOWN_CONTENT_TABLE.c.body))
        bodies |= {row.sha256: row.body for row in rows}
    return bodies


def changed_contents(session: Session) -> Iterator[str]:
    """Faults of the contents on record, in words: those without their hash, and those that are missing."""
    connection, rows = session.connection(), SHOWN_VERSION_TABLE.c
    versions = {row.sha256: row for row in connection.execute(select(rows.sha256, rows.part, rows.subject, rows.since))}
    bodies = select(SHOWN_CONTENT_TABLE.c.sha256, SHOWN_CONTENT_TABLE.c.body).execution_options(yield_per=1_000)
    hashes_found = set()
    for sha256, body in connection.execute(bodies):
        hashes_found.add(sha256)
        if hash_of_text(body) != sha256:
            yield f"{_named(versions.get(sha256), sha256)}: the stored content has changed"
    displays = [table.c.shown_sha256 for table in models.TABLES.sorted_tables if "shown_sha256" in table.c]
    shown = {sha256 for column in displays for sha256 in connection.execute(select(column).distinct()).scalars()}
    for sha256 in sorted((versions.keys() | shown) - hashes_found - {None}):
        yield f"{_named(versions.get(sha256), sha256)}: the stored content is missing"


def _named(version_row: Any, sha256: str) -> str:
    """Description of a content by its version."""
    if version_row is None:
        return f"what a task or a prompt showed ({sha256[:12]})"
    part, subject = version_row.part, version_row.subject
    named = {"scale": "the names of the grades", "guidelines": f"the guidelines of {subject}"}
    return f"{named.get(part, f'{part} {subject}')} sent on {version_row.since[:10]}"


def display_parts(session: Session, sha256s: Iterable[str | None]) -> dict[str, Display]:
    """The displays with these hashes; those that are not on record are left out."""
    bodies = content(session, (sha256 for sha256 in sha256s if sha256 is not None))
    return {sha256: json.loads(body) for sha256, body in bodies.items()}


def texts_in(display: Display | None) -> Texts:
    """Hashes of topic and document in a display; None if not on record."""
    shown = display or {}
    return shown.get("topic"), shown.get("document")


def in_force(history: Sequence[tuple[str, T]], moment: str | None) -> T | None:
    """Hash, or other value, in force at a moment (ISO 8601); the first one if the moment is earlier or unknown."""
    if moment is None or not history:
        return history[0][1] if history else None
    time = datetime.fromisoformat(moment)
    begun = [value for since, value in history if datetime.fromisoformat(since) <= time]
    return begun[-1] if begun else history[0][1]


class ShownTasks:
    """Displays of the tasks of one project over time."""

    def __init__(
        self, by_task: Mapping[PairKey, History], sources: Sources, screen: str, language: str | None = None
    ) -> None:
        self.by_task = by_task
        """Recorded displays by task; empty for a task that a killed push did not record."""
        self._sources, self._screen = sources, in_language(screen, language)
        self._composed: dict[str, str] = {}

    def at(self, pair_key: PairKey, moment: str | None) -> str | None:
        """Hash of the display of the task at this moment; None if nothing is on record.

        If the task has no recorded display, one is composed of the versions in force; `bodies` has it.
        """
        return in_force(self.by_task.get(pair_key) or self.composed(pair_key), moment)

    def composed(self, pair_key: PairKey) -> History:
        """The displays of a task by all versions on record, without its marks."""
        parts = self._sources(pair_key, self._screen)
        moments = sorted({since for history in parts.values() for since, _ in history}, key=datetime.fromisoformat)
        history: list[tuple[str, str]] = []
        for moment in moments:
            body = as_json({name: in_force(history_of_part, moment) for name, history_of_part in parts.items()})
            self._composed[sha256 := hash_of_text(body)] = body
            if not history or history[-1][1] != sha256:
                history.append((moment, sha256))
        return tuple(history)

    def add(self, display: Display) -> str:
        """Hash of a display from another source, which is added to `bodies`."""
        body = as_json(display)
        self._composed[sha256 := hash_of_text(body)] = body
        return sha256

    def bodies(self, sha256s: Iterable[str | None]) -> list[str]:
        """The displays among these that were composed here, to be kept with `keep_contents`."""
        return [self._composed[sha256] for sha256 in sha256s if sha256 in self._composed]

    def displays(self, session: Session, sha256s: Collection[str | None]) -> dict[str, Display]:
        """The displays with these hashes, on record or composed here."""
        return display_parts(session, sha256s) | {hash_of_text(body): json.loads(body) for body in self.bodies(sha256s)}


Sources = Callable[[PairKey, str], dict[str, History]]
"""Returns, of a task on a screen, the history of each part of its display, of those that have one."""
NOTHING_SHOWN = ShownTasks({}, lambda _key, _screen: {}, "judge")


def read_sources(session: Session) -> Sources:
    """Sources of the displays of any project; read once for several projects. Screens are in their language."""
    rows, connection, histories = models.QUERY_TABLE.c, session.connection(), read_histories(session)
    queries = {row.query_id: row for row in connection.execute(select(rows.query_id, rows.topic_id, rows.facet))}
    texts = {*connection.execute(select(models.TOPIC_TABLE.c.topic_id)).scalars()}

    def of_task(pair_key: PairKey, screen: str) -> dict[str, History]:
        query = queries.get(pair_key.query_id)
        topic_id, facet = ("", "") if query is None else (query.topic_id, query.facet)
        keys: dict[str, tuple[str, str]] = {**subjects_of(facet, screen), "document": ("text", pair_key.doc_id)}
        keys["topic"] = ("topic" if topic_id in texts else "text", topic_id)
        return {name: histories[key] for name, key in keys.items() if key in histories}

    return of_task


def read_shown(session: Session, project: int, sources: Sources | None = None) -> ShownTasks:
    """Displays of each task of a project. sources: as read before, for another project."""
    tasks, connection = models.TASK_TABLE, session.connection()
    columns = tasks.c.query_id, tasks.c.doc_id, tasks.c.occasion, tasks.c.shown
    rows = connection.execute(select(*columns).where(tasks.c.project_id == project))
    by_task = {PairKey(*key): history for *key, history in rows}
    projects = models.PROJECT_TABLE.c
    of_project = select(projects.round, projects.language).where(projects.id == project)
    stored, language = connection.execute(of_project).one_or_none() or ("judge", None)
    return ShownTasks(by_task, sources or read_sources(session), SCREENS.get(stored, "judge"), language)


def note_shown(
    session: Session, project: int, displays: Mapping[PairKey, Display], *, since: str, fresh: Collection[PairKey] = ()
) -> None:
    """Record the displays of these tasks from now on, if they differ from the last ones.

    fresh: tasks that were just made, so that they never showed another one, whichever time the server's clock has. Any
    other task without a recorded display, as after a restored backup, showed the versions in force.
    """
    shown = read_shown(session, project)
    remote_ids = read_tasks(session, project)
    new: dict[int, History] = {}
    bodies: set[str] = set()
    for key, noted in shown.by_task.items():
        history = noted or (() if key in fresh else shown.composed(key))
        display = displays.get(key)
        if display is not None:
            body = as_json(display)
            history = _continued(history, noted, display, body, shown, since=since)
            bodies.add(body)
        if history != noted:
            new[remote_ids[key]] = history
            bodies.update(shown.bodies(sha256 for _, sha256 in history))
    keep_contents(session, bodies)
    of_task = (models.TASK_TABLE.c.project_id == project) & (models.TASK_TABLE.c.remote_id == bindparam("task"))
    rows = [{"task": task, "history": history} for task, history in new.items()]
    if rows:
        session.connection().execute(models.TASK_TABLE.update().where(of_task).values(shown=bindparam("history")), rows)


def _continued(
    history: History, noted: History, display: Display, body: str, shown: ShownTasks, *, since: str
) -> History:
    """The history of a task, with its current display added."""
    sha256 = hash_of_text(body)
    if history and history[-1][1] == sha256:
        return history
    composed = shown.bodies([history[-1][1]]) if history and not noted else []
    if composed and all(display.get(name) == value for name, value in json.loads(composed[0]).items()):
        # The same but for the marks, of which versions do not tell.
        return (*history[:-1], (history[-1][0], sha256))
    return (*history, (since, sha256))


def _sha256_in(sha256s: Iterator[str] | list[str]) -> Any:
    return select(SHOWN_CONTENT_TABLE.c.sha256).where(SHOWN_CONTENT_TABLE.c.sha256.in_(list(sha256s)))
