"""Of what each product of the study was made: a note by which `annot status` tells what is old."""

from __future__ import annotations

import errno
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from sqlmodel import Session

from annot.base.errors import AnnotError
from annot.store.hashes import read_states, state
from annot.store.projects import Project
from annot.study.workspace import Workspace, sha256_of, write_file

MADE_FILE = "made.json"
ANSWERS_FILE = "datasheet.toml"
"""Where people answer the questions of the datasheet."""

MEASURED = ("queries", "planned", "judged", "measuring")
EVALUATED = (*MEASURED, "evaluating", "pools", "runs", "splits")
TOLD = (
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
    "report": (*TOLD, "opinions"),
    "browse": TOLD,
    "datasheet": (*TOLD, "opinions", "answers", "audit"),
    "release": (*TOLD, "opinions", "answers", "audit"),
    "backup": (*TOLD, "opinions", "answers", "audit", "drawing", "pages"),
}
"""What each product follows from."""
SCREENS = ("collection", "scale", "facets", "labels", "adjudication", "screen")
"""The sections of annot.toml that screens and tasks are made from."""
States = dict[str, str]
"""A hash of each part of the study."""
Made = dict[str, dict[str, Any]]
"""What is noted of each product."""


def states_of(ws: Workspace, session: Session | None = None) -> States:
    """The study as it is now; what is made from here on is noted with it, so that a later change makes it old."""
    if session is None:
        with ws.reading() as own:
            return states_of(ws, own)
    settings = ws.settings
    measuring = ("scale", "facets", "judging", "agreement", "adjudication", "seed")
    dumped = {name: _plain(getattr(settings, name)) for name in type(settings).model_fields}
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
        "pages": state([dumped["facets"], dumped["scale"], _pages(ws)]),
        "corpus": _corpus(ws),
        "answers": _answers(ws),
        "audit": _file(ws, "exports/audit.json"),
        "errors": _errors(ws),
    }


def read_made(ws: Workspace) -> Made:
    """What is noted; nothing if the file is missing or holds something else: all is made again then."""
    try:
        found = json.loads((ws.root / MADE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: own for name, own in found.items() if isinstance(own, dict)} if isinstance(found, dict) else {}


def is_current(made: Made, what: str, states: States) -> bool:
    """Whether the product was made of the study as it is."""
    return made.get(what, {}).get("of") == _of(what, states)


def note(ws: Workspace, what: str, states: States, **facts: Any) -> None:
    """Note down that the product was made of these states, with further `facts`; not where the study is read only."""
    made = read_made(ws)
    made[what] = {"of": _of(what, states), **facts}
    _write(ws, made)


def note_letters(ws: Workspace, letters: Mapping[tuple[str, str], Project | None]) -> None:
    """Note down the project that each letter links to, by role and person; None if it has none."""
    made = read_made(ws)
    new = {f"{role}/{name}": _link(project) for (role, name), project in letters.items()}
    made["invite"] = {**made.get("invite", {}), **new}
    _write(ws, made)


def has_letter(made: Made, role: str, name: str, project: Project | None) -> bool:
    """Whether a letter was written to the person in this role, with the link to their project if they have one."""
    known = made.get("invite", {}).get(f"{role}/{name}")
    return known is not None if project is None else known == _link(project)


def _write(ws: Workspace, made: Made) -> None:
    try:
        write_file(ws.root / MADE_FILE, json.dumps(made, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise


def _link(project: Project | None) -> str:
    return "" if project is None else state([project.server, project.remote_id])


def _of(what: str, states: States) -> str:
    return state([states[part] for part in MADE_OF[what.partition("/")[0]]])


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def _pages(ws: Workspace) -> dict[str, str]:
    """The study's own pages of guidelines."""
    return {path.name: sha256_of(path) for path in (ws.root / "guidelines").glob("*.md")}


def _file(ws: Workspace, name: str) -> str:
    path = ws.root / name
    return sha256_of(path) if path.is_file() else ""


def _corpus(ws: Workspace) -> str:
    try:
        return str(json.loads((ws.corpus / "manifest.json").read_text(encoding="utf-8"))["content_sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _answers(ws: Workspace) -> str:
    """What was answered; questions that are only asked change nothing."""
    try:
        sections = tomllib.loads((ws.root / ANSWERS_FILE).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return _file(ws, ANSWERS_FILE)
    given = {name: {key: text for key, text in own.items() if text} for name, own in sections.items() if own}
    return state({name: own for name, own in given.items() if own}) if given else ""


def _errors(ws: Workspace) -> str:
    """The kinds that were entered in the sheet of errors."""
    if not (ws.root / "errors.csv").is_file():
        return ""
    from annot.study.exports import read_kinds

    try:
        return state(sorted(map(list, read_kinds(ws).items())))
    except AnnotError:
        return _file(ws, "errors.csv")
