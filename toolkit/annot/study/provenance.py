"""Provenance of each product of the study: a note by which `annot status` recognises outdated ones."""

from __future__ import annotations

import errno
import hashlib
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select

from annot.base.errors import AnnotError
from annot.base.names import sha256_of
from annot.base.records import Source
from annot.store import models
from annot.store.answers import chain_ends
from annot.store.facet_labels import count_by_origin
from annot.store.models import Project, Session
from annot.study.workspace import Workspace, read_kinds, write_file

MADE_FILE = "made.json"
ANSWERS_FILE = "datasheet.toml"
"""File in which people answer the questions of the datasheet."""

MEASURED = ("queries", "planned", "judged", "measuring")
EVALUATED = (*MEASURED, "evaluating", "pools", "runs", "splits")
REPORTED = (
    *EVALUATED,
    "people",
    "hidden",
    "trials",
    "shown",
    "texts",
    "imports",
    "labels",
    "corpus",
    "publishing",
    "errors",
)
MADE_OF: dict[str, tuple[str, ...]] = {
    "facets": ("corpus", "labelling"),
    "pool": ("drawing",),
    "guidelines": ("pages",),
    "push": ("queries", "planned", "hidden", "people", "screens", "texts"),
    "push adjudication": ("queries", "planned", "judged", "people", "screens", "texts"),
    "run": ("queries", "pools", "corpus"),
    "agreement": MEASURED,
    "evaluate": EVALUATED,
    "report": (*REPORTED, "opinions"),
    "browse": REPORTED,
    "datasheet": (*REPORTED, "opinions", "answers", "audit"),
    "release": (*REPORTED, "opinions", "answers", "audit"),
    "backup": (*REPORTED, "opinions", "answers", "audit", "drawing", "pages"),
}
"""Parts of the study that each product follows from."""
PARTS = {
    "queries": ("query", "topic"),
    "pools": ("pool", "pool_addition"),
    "people": ("assessor",),
    "planned": ("plan", "returned", "sample"),
    "judged": ("accepted",),
    "hidden": ("trial_assignment",),
    "trials": ("trial", "gold"),
    "shown": ("shown_version",),
    "runs": ("run",),
    "splits": ("split",),
    "imports": ("imported",),
}
"""The tables of each part of a study."""
LATER = {"planned": ("withdrawn_document",), "pools": ("withdrawn_document",)}
"""Further tables of a part, which change no hash while they are empty."""
CHAINS = {"judged": ("judgement", "adjudication"), "trials": ("trial_judgement",)}
"""Append-only tables; the last link of each represents all rows."""
SCREENS = ("collection", "scale", "facets", "labels", "adjudication", "screen")
"""The sections of annot.toml that screens and tasks are made from."""
States = dict[str, str]
"""A hash of each part of the study."""
Made = dict[str, dict[str, Any]]
"""Notes by product."""


def states_of(ws: Workspace, session: Session | None = None) -> States:
    """Fingerprints of the current study; a product made now is noted with them, so that a later change makes it
    outdated."""
    if session is None:
        with ws.reading() as new_session:
            return states_of(ws, new_session)
    settings = ws.settings
    measuring = ("scale", "facets", "judging", "agreement", "adjudication", "seed")
    dumped = settings.model_dump(mode="json")
    folder = ws.root / "guidelines"
    own_pages = {path.relative_to(folder).as_posix(): sha256_of(path) for path in folder.rglob("*.md")}
    # The labels of sections are given as papers are added, and kept with them.
    dumped["labels"].pop("sections")
    return {
        **read_states(session),
        "measuring": state([dumped[name] for name in measuring]),
        "evaluating": state(dumped["evaluation"]),
        "publishing": state(dumped["collection"]),
        "drawing": state([dumped["pool"], dumped["seed"]]),
        "labelling": state(dumped["labels"]),
        "screens": state([dumped[name] for name in SCREENS]),
        "pages": state([dumped["facets"], dumped["scale"], own_pages]),
        "corpus": _corpus(ws),
        "answers": _answers(ws),
        "audit": _file(ws, "exports/audit.json"),
        "errors": _errors(ws),
    }


def read_states(session: Session) -> dict[str, str]:
    """A hash of each part; accounts are in none."""
    ends = chain_ends(session)
    hashes = {
        part: state(
            [
                *(_rows(session, name) for name in names),
                [ends.get(name) for name in CHAINS.get(part, ())],
                *filter(None, (_rows(session, name) for name in LATER.get(part, ()))),
            ]
        )
        for part, names in PARTS.items()
    }
    corrected = models.FACET_LABELS_TABLE.c
    statement = select(corrected.paper_id, corrected.labels).where(corrected.origin == Source.CORRECTED)
    rows = sorted(map(tuple, session.connection().execute(statement)))
    answers = models.OPINION_CALL_TABLE.c
    keys = answers.name, answers.state
    counts = select(*keys, func.count(), func.max(answers.sent_at)).group_by(*keys).order_by(*keys)
    opinions = [*_rows(session, "opinion"), *map(list, session.connection().execute(counts))]
    # Only corrections: first versions follow from what is sent.
    versions = [row for row in _rows(session, "shown_version") if row[0] == "text" and row[4] is not None]
    texts = [*versions, *_rows(session, "text_ruling")]
    labels = [sorted(count_by_origin(session).items()), rows]
    return hashes | {"texts": state(texts), "labels": state(labels), "opinions": state(opinions)}


def written_mark(session: Session) -> str:
    """A mark that changes with every row that is written or deleted in a PostgreSQL database; empty on SQLite."""
    connection = session.connection()
    if connection.dialect.name != "postgresql":
        return ""
    # xmin is the transaction that wrote the row: no content is read, so this costs a few milliseconds.
    rows = (
        f"SELECT '{table.name}', count(*), coalesce(sum(xmin::text::bigint), 0) FROM \"{table.name}\""
        for table in models.TABLES.sorted_tables
    )
    return state([[str(value) for value in row] for row in connection.exec_driver_sql(" UNION ALL ".join(rows))])


def state(value: Any) -> str:
    """The hash of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _rows(session: Session, name: str) -> list[list[Any]]:
    rows = models.TABLES.tables[name]
    columns = [column for column in rows.c if column.name != "account"]
    rows_found = session.connection().execute(select(*columns).order_by(*rows.primary_key.columns))
    later = [number for number, column in enumerate(columns) if column.name == "corpus"]
    # A study without versions of the corpus has the hashes that it had before there were any.
    return [[value for at, value in enumerate(row) if value is not None or at not in later] for row in rows_found]


def read_made(ws: Workspace) -> Made:
    """Notes on record; empty if the file is missing or holds something else: all is made again then."""
    try:
        notes = json.loads((ws.root / MADE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: facts for name, facts in notes.items() if isinstance(facts, dict)} if isinstance(notes, dict) else {}


def is_current(notes: Made, what: str, states: States) -> bool:
    """True if the product was made of the current study."""
    return notes.get(what, {}).get("of") == _state_of(what, states)


def note(ws: Workspace, what: str, states: States, **facts: Any) -> None:
    """Record that the product was made of these states, and these `facts`; nothing is written to a read-only
    study."""
    notes = read_made(ws)
    notes[what] = {"of": _state_of(what, states), **facts}
    _write(ws, notes)


def note_letters(ws: Workspace, letters: Mapping[tuple[str, str], Project | None]) -> None:
    """Record the project that each letter links to, by role and person; None if it has none."""
    notes = read_made(ws)
    new = {f"{role}/{name}": _link(project) for (role, name), project in letters.items()}
    notes["invite"] = {**notes.get("invite", {}), **new}
    _write(ws, notes)


def has_letter(notes: Made, role: str, name: str, project: Project | None) -> bool:
    """True if a letter was written to the person in this role, with the link to their project if they have one."""
    link = notes.get("invite", {}).get(f"{role}/{name}")
    return link is not None if project is None else link == _link(project)


def _write(ws: Workspace, notes: Made) -> None:
    try:
        write_file(ws.root / MADE_FILE, json.dumps(notes, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise


def _link(project: Project | None) -> str:
    return "" if project is None else state([project.server, project.remote_id])


def _state_of(product: str, states: States) -> str:
    return state([states[part] for part in MADE_OF[product.partition("/")[0]]])


def _file(ws: Workspace, name: str) -> str:
    path = ws.root / name
    return sha256_of(path) if path.is_file() else ""


def _corpus(ws: Workspace) -> str:
    try:
        return str(json.loads((ws.corpus / "manifest.json").read_text(encoding="utf-8"))["content_sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _answers(ws: Workspace) -> str:
    """Hash of the answers; unanswered questions change nothing."""
    try:
        sections = tomllib.loads((ws.root / ANSWERS_FILE).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return _file(ws, ANSWERS_FILE)
    answers = {name: {key: text for key, text in texts.items() if text} for name, texts in sections.items() if texts}
    return state({name: texts for name, texts in answers.items() if texts}) if answers else ""


def _errors(ws: Workspace) -> str:
    """The kinds that were entered in the sheet of errors."""
    if not (ws.root / "errors.csv").is_file():
        return ""
    try:
        return state(sorted(map(list, read_kinds(ws).items())))
    except AnnotError:
        return _file(ws, "errors.csv")
