"""A letter for each person: how much there is to do, where to sign in, what is published, whom to ask."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name
from annot.base.records import Assessor
from annot.base.templating import render
from annot.judging.exchange.rounds import PARTS
from annot.judging.exchange.servers import connect, is_elsewhere, isolated, passwords_file, studio_folder
from annot.judging.letters import Addressee, Role, addressees
from annot.labelstudio import server
from annot.labelstudio.accounts import read_passwords
from annot.labelstudio.studio_records import labelling_url
from annot.publishing.report.words import listed
from annot.store import people
from annot.store.database import open_store
from annot.store.people import Kind, Told, note_told
from annot.store.projects import Project
from annot.study.made import note_letters
from annot.study.workspace import Workspace, write_file

TEMPLATES = {"judge": "letter.txt.j2", "adjudicate": "letter-adjudicator.txt.j2"}
THEIR_WORDS: dict[Role, str] = {"judge": "the comments that you write", "adjudicate": "the reasons that you write"}
OWNER_ONLY = 0o600
SENDER = "the person who sent you this letter"


@dataclass(frozen=True, slots=True)
class Letter:
    """One person's letter in one role. It names the account: it is for the lead and the person alone."""

    assessor: str
    role: Role
    link: str | None
    """Of their project, once something was sent."""
    contact: str
    """Whom the person asks; empty where the letter names nobody."""
    text: str
    path: Path | None
    """The file that it was written to."""
    password: Path | None
    """The file that holds the password, where the account is on a server of the study's own."""
    counted: bool
    """Whether it says how much there is to do."""


@dataclass(frozen=True, slots=True)
class _Server:
    """What the server told."""

    url: str
    accounts: frozenset[str]
    sign_up: str | None
    """Where an account is made; None on the local server, where the lead makes it."""


def invite(
    ws: Workspace, names: tuple[str, ...], *, contact: str | None, until: date | None, out: Path | None
) -> tuple[Letter, ...]:
    """Write the letters of these people, or of everyone who has not left and has an account.

    until: the day by which the pairs are wanted. Raises InputError for people who have left or have no account,
    MissingInput when there is nobody.
    """
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
        found = _chosen(everyone, names, addressees(session, ws))
    own = {one.person.assessor: one.person.assessor if isolated(ws) else None for one in found}
    lacking = {own[one.person.assessor] for one in found if one.project is None}
    servers = {
        at: _server(ws, at)
        for at in dict.fromkeys(own.values())
        if at in lacking or ws.studio_url is not None or server.status(studio_folder(ws, at)) is not None
    }
    asked = contact if contact is not None else ws.settings.collection.contact
    made = []
    for one in found:
        name = one.person.assessor
        known = servers.get(own[name])
        values = _values(ws, one, known) | {"whom": asked or SENDER, "until": until and f"{until.day} {until:%B %Y}"}
        text = render(TEMPLATES[one.role], values, overrides=ws.root / "templates")
        path = None
        if out is not None:
            twice = sum(other.person == one.person for other in found) > 1
            file = f"{name}-{PARTS[one.role].title}.txt" if twice else f"{name}.txt"
            path = (out if out.is_absolute() else ws.root / out) / file
            write_file(path, text)
            path.chmod(OWNER_ONLY)
        here = passwords_file(ws, own[name])
        password = here if values["account"] in read_passwords(here) else None
        made.append(Letter(name, one.role, values["link"], asked, text, path, password, one.work is not None))
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        note_told(session, (_told(ws, one) for one in made))
    note_letters(ws, {(one.role, one.person.assessor): one.project for one in found})
    return tuple(made)


def describe(made: tuple[Letter, ...]) -> str:
    """The letters, or the files they were written to."""
    if all(one.path is not None for one in made):
        return "\n".join(str(one.path) for one in made)
    rule = "-" * 72
    return f"\n{rule}\n".join(one.text.rstrip("\n") for one in made)


def notes(made: tuple[Letter, ...]) -> tuple[str, ...]:
    """Where the passwords are, what these letters cannot tell yet, and when to write again."""
    said = []
    for path in dict.fromkeys(one.password for one in made if one.password is not None):
        said.append(f"the passwords are in {path}, a person a line; send each person theirs, apart from the letter")
    if waiting := _named(made, "judge"):
        said.append(f"no link yet for {waiting}: write again after `annot push`")
    if uncounted := [one.assessor for one in made if not one.counted and one.role == "judge"]:
        said.append(f"no number of pairs yet for {listed(uncounted)}: it follows from the pools, or from the plan")
    if waiting := _named(made, "adjudicate"):
        said.append(f"{waiting} can sign in now; write again after `annot push adjudication`, when there are disputes")
    if not all(one.contact for one in made):
        said.append("no letter says whom to ask: set `contact` under `[collection]` in annot.toml, or give --contact")
    return tuple(said)


def _named(made: tuple[Letter, ...], role: Role) -> str:
    names = [one.assessor for one in made if one.link is None and one.role == role]
    return listed(names) if names else ""


def _chosen(everyone: dict[str, Assessor], names: tuple[str, ...], possible: list[Addressee]) -> list[Addressee]:
    for name in names:
        check_name(name, tuple(everyone), what="assessor")
    found = [one for one in possible if not names or one.person.assessor in names]
    faults = [f"{name}: has left" for name in names if everyone[name].left_on is not None]
    faults += [
        f"{name}: has no account; give one with `annot assessor add {name} --account EMAIL`"
        for name in dict.fromkeys(one.person.assessor for one in found if one.person.account is None)
    ]
    if faults:
        raise InputError(f"{len(faults)} person(s) cannot be invited", faults=faults)
    if not found:
        imported = ": the others have left, or their answers were imported" if everyone else ""
        raise MissingInput(f"nobody to invite{imported}", hint="add people with `annot assessor add`")
    return found


def _told(ws: Workspace, letter: Letter) -> Told:
    """What the letter says of publication, by its text: a study may have a letter of its own."""
    kind, decided = _words(ws, letter.role)
    says = decided != "left out" and THEIR_WORDS[letter.role] in letter.text
    return Told(letter.assessor, kind, "letter", datetime.now(UTC).isoformat(timespec="milliseconds"), says)


def _words(ws: Workspace, role: Role) -> tuple[Kind, str | None]:
    """What a person in this role writes, and whether it is published."""
    release = ws.settings.release
    return ("comments", release.comments) if role == "judge" else ("reasons", release.reasons)


def _server(ws: Workspace, person: str | None) -> _Server:
    """The server of this person, or the one for all."""
    here = ws.studio_url is None if person is None else not is_elsewhere(ws, person)
    with connect(ws, person=person) as gateway:
        sign_up = None if here else f"{gateway.url}{gateway.invitation()}"
        return _Server(gateway.url, frozenset(gateway.user_ids()), sign_up)


def _values(ws: Workspace, one: Addressee, known: _Server | None) -> dict[str, Any]:
    account, settings = one.person.account or "", ws.settings
    has_account = known is None or account.lower() in known.accounts
    address = known.url if known is not None else one.project.url if one.project is not None else ""

    def link_to(project: Project | None) -> str | None:
        return None if project is None or project.remote_id is None else labelling_url(address, project.remote_id)

    return {
        "title": settings.collection.title,
        "assessor": one.person.assessor,
        "account": account,
        "server": address,
        "sign_up": None if has_account or known is None else known.sign_up,
        "link": link_to(one.project),
        "work": one.work,
        "last": one.work.pairs if one.work is not None and one.work.exact else "N",
        "training": one.training,
        "training_link": link_to(one.training_project),
        "published": _words(ws, one.role)[1] != "left out",
        "their_words": THEIR_WORDS[one.role],
        "shown": settings.adjudication.ratings == "shown",
        "shared": not isolated(ws),
    }
