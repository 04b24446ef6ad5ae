"""A message for each person: where to sign in, how to begin, whom to ask."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.errors import InputError, MissingInput
from annot.exchange.connection import connect
from annot.exchange.whose_server import is_elsewhere, isolated, studio_folder
from annot.labelstudio import server
from annot.labelstudio.studio_records import labelling_url
from annot.names import check_name
from annot.records import Assessor
from annot.store import people, projects
from annot.store.database import open_store
from annot.store.projects import Round
from annot.study.made import note_letters
from annot.study.workspace import Workspace, write_file
from annot.templating import render

TEMPLATE = "invitation.txt.j2"
OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Invitation:
    """One person's message. It names the account: it is for the lead and the person alone."""

    assessor: str
    link: str | None
    """Of their project, once something was sent."""
    contact: str
    """Whom the person asks; empty where the message names nobody."""
    text: str
    path: Path | None
    """The file that it was written to."""


@dataclass(frozen=True, slots=True)
class _Server:
    """What the server told."""

    url: str
    accounts: frozenset[str]
    sign_up: str | None
    """Where an account is made; None on the local server, where the lead makes it."""


def invite(ws: Workspace, names: tuple[str, ...], *, contact: str | None, out: Path | None) -> tuple[Invitation, ...]:
    """Write the messages of these people, or of everyone who has not left.

    Raises InputError for people who have left or have no account, MissingInput when there is nobody.
    """
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
        found = {(one.assessor, one.round): one for one in projects.read_projects(session) if one.remote_id is not None}
    chosen = _chosen(everyone, names)
    own: list[str | None] = [person.assessor if isolated(ws) else None for person in chosen]
    lacking = {at for at, one in zip(own, chosen, strict=True) if (one.assessor, _round(one)) not in found}
    servers = {
        at: _server(ws, at)
        for at in dict.fromkeys(own)
        if at in lacking or ws.studio_url is not None or server.status(studio_folder(ws, at)) is not None
    }
    made = []
    for person, at in zip(chosen, own, strict=True):
        known = servers.get(at)
        project = found.get((person.assessor, _round(person)))
        address = known.url if known is not None else project.url if project is not None else ""
        link = None if project is None or project.remote_id is None else labelling_url(address, project.remote_id)
        asked = contact if contact is not None else ws.settings.collection.contact
        values = _values(person, known) | {
            "title": ws.settings.collection.title,
            "server": address,
            "link": link,
            "contact": asked,
        }
        text = render(TEMPLATE, values, overrides=ws.root / "templates")
        path = None
        if out is not None:
            path = (out if out.is_absolute() else ws.root / out) / f"{person.assessor}.txt"
            write_file(path, text)
            path.chmod(OWNER_ONLY)
        made.append(Invitation(person.assessor, link, asked, text, path))
    note_letters(ws, {person.assessor: found.get((person.assessor, _round(person))) for person in chosen})
    return tuple(made)


def describe(made: tuple[Invitation, ...]) -> str:
    """The messages, or the files they were written to."""
    if all(one.path is not None for one in made):
        return "\n".join(str(one.path) for one in made)
    rule = "-" * 72
    return f"\n{rule}\n".join(one.text.rstrip("\n") for one in made)


def notes(made: tuple[Invitation, ...]) -> tuple[str, ...]:
    """Who has no project yet, and that nobody is named who answers questions."""
    said = []
    if waiting := [one.assessor for one in made if one.link is None]:
        said.append(f"no link yet for {', '.join(waiting)}: nothing was sent to them; write again after `annot push`")
    if not all(one.contact for one in made):
        said.append("no message says whom to ask: set `contact` under `[collection]` in annot.toml, or give --contact")
    return tuple(said)


def _chosen(everyone: dict[str, Assessor], names: tuple[str, ...]) -> list[Assessor]:
    for name in names:
        check_name(name, tuple(everyone), what="assessor")
    chosen = [everyone[name] for name in names] or [one for one in everyone.values() if one.left_on is None]
    if not chosen:
        raise MissingInput("nobody to invite", hint="add people with `annot assessor add`")
    faults = [f"{one.assessor}: has left" for one in chosen if one.left_on is not None]
    faults += [
        f"{one.assessor}: has no account; give one with `annot assessor add {one.assessor} --account EMAIL`"
        for one in chosen
        if one.account is None
    ]
    if faults:
        raise InputError(f"{len(faults)} person(s) cannot be invited", faults=faults)
    return chosen


def _round(person: Assessor) -> Round:
    return "adjudicate" if person.adjudicator else "judge"


def _server(ws: Workspace, person: str | None) -> _Server:
    """The server of this person, or the one for all."""
    here = ws.studio_url is None if person is None else not is_elsewhere(ws, person)
    with connect(ws, person=person) as gateway:
        sign_up = None if here else f"{gateway.url}{gateway.invitation()}"
        return _Server(gateway.url, frozenset(gateway.user_ids()), sign_up)


def _values(person: Assessor, known: _Server | None) -> dict[str, str | bool | None]:
    has_account = known is None or (person.account or "").lower() in known.accounts
    return {
        "assessor": person.assessor,
        "account": person.account,
        "adjudicator": person.adjudicator,
        "sign_up": None if has_account or known is None else known.sign_up,
    }
