"""Which Label Studio is whose, and a connection to it: one for all, or in mode `server` one for each person.

A server elsewhere is known by its address and a token. Both lie in a file that only its owner can read, in a folder
that no backup, release or repository takes.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.base.names import counted
from annot.labelstudio import server
from annot.labelstudio.accounts import make_accounts
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import LABELS_SHOWN, TaskKeys
from annot.store import people, projects, trials
from annot.store.projects import keep_secret, read_secret
from annot.store.queries import read_queries
from annot.study.doors import allow
from annot.study.workspace import Workspace

SECRET_BYTES = 32
HINT = (
    "start one here with `annot studio up --per-assessor`, or name one with "
    "`annot assessor change {person} --server ADDRESS`"
)


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """A server and how to talk to it."""

    url: str
    token: str
    here: bool
    """Whether this study has started it, on this machine."""


class Unreachable(NamedTuple):
    """A person whose server could not be asked, or not to the end."""

    assessor: str
    why: str
    left: bool
    """Whether they have left the study: then nobody waits for their server."""


def isolated(ws: Workspace) -> bool:
    """Whether each person has a server of their own."""
    return ws.settings.judging.isolation == "server"


def studio_folder(ws: Workspace, person: str | None = None) -> Path:
    """Where a server of this study's own keeps its data: that of a person, or the one for all."""
    return ws.cache / "studio" if person is None else ws.cache / "studios" / person


def studio_folders(ws: Workspace) -> tuple[Path, ...]:
    """Every such folder that there is, of either mode."""
    everyone = (studio_folder(ws, person) for person in people_with_servers(ws))
    return tuple(folder for folder in (studio_folder(ws), *everyone) if folder.is_dir())


def people_with_servers(ws: Workspace) -> tuple[str, ...]:
    """Who has a server of their own, here or elsewhere, by the folders that are there."""
    return tuple(sorted(folder.name for folder in (ws.cache / "studios").glob("*") if folder.is_dir()))


def passwords_file(ws: Workspace, person: str | None = None) -> Path:
    """The accounts of a server of this study's own with their passwords; only its owner can read it."""
    return studio_folder(ws, person) / "passwords.tsv"


def address_file(ws: Workspace, person: str) -> Path:
    """Where address and token of a person's server elsewhere are kept."""
    return studio_folder(ws, person) / "elsewhere.json"


def keep_address(ws: Workspace, person: str, *, url: str, token: str) -> None:
    """Remember where a person's server is, in the place of what was known before; the lead has named it."""
    allow(ws.root, url)
    path = address_file(ws, person)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_suffix(".new")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump({"url": url, "token": token}, file)
    aside.replace(path)


def is_elsewhere(ws: Workspace, person: str) -> bool:
    """Whether the person's server is not one that this study starts."""
    return address_file(ws, person).is_file()


def place_of(ws: Workspace, person: str | None) -> Place:
    """The server of this person, or the one for all, that this study knows. Raises StudioError if it knows none."""
    if person is not None and is_elsewhere(ws, person):
        path = address_file(ws, person)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            return Place(str(kept["url"]), str(kept["token"]), here=False)
        except (ValueError, KeyError, TypeError):
            raise StudioError(
                f"{path}: cannot be read",
                hint=f"set the server again with `annot assessor change {person} --server ADDRESS`",
            ) from None
    folder = studio_folder(ws, person)
    running = server.status(folder)
    if running is not None:
        return Place(running.url, server.credentials(folder).token, here=True)
    if person is None:
        raise StudioError(
            "no Label Studio is running here, and no address of one is set",
            hint="`annot studio up`, or set LABEL_STUDIO_URL",
        )
    what = "the server of {person} is not running" if folder.is_dir() else "no server is known for {person}"
    raise StudioError(what.format(person=person), hint=HINT.format(person=person))


def owners_of(ws: Workspace, url: str, names: Iterable[str]) -> list[str]:
    """Those of these people whose server is known to have this address."""
    return [person for person in names if _address(ws, person) == url.rstrip("/")]


def people_at(ws: Workspace, url: str, names: Iterable[str]) -> list[str]:
    """Those of these people whose server has this address. Raises InputError if it is nobody's.

    In mode `server` nothing goes to an address that is not known as one person's: everything would go there.
    """
    everyone = [*dict.fromkeys((*names, *people_with_servers(ws)))]
    owners = owners_of(ws, url, everyone)
    if not owners:
        raise InputError(
            f"{url} does not belong to anyone in this study; each person has their own server",
            hint="leave out --url and LABEL_STUDIO_URL, or set the right one with `annot assessor change NAME --server "
            "ADDRESS`",
        )
    return [person for person in owners if person in names]


def _address(ws: Workspace, person: str) -> str | None:
    try:
        return place_of(ws, person).url
    except StudioError:
        return None


@contextmanager
def connect(ws: Workspace, *, person: str | None = None) -> Iterator[Gateway]:
    """A gateway to the server, its token checked, for as long as the context lasts.

    Where no server is named with the workspace, the local one is taken. In mode `server` it is the server of `person`,
    and one that is named must be theirs. Raises StudioError when there is none, or it refuses.
    """
    if isolated(ws):
        assert person is not None
        if ws.studio_url is not None and person not in people_at(ws, ws.studio_url, [person]):
            raise InputError(f"{ws.studio_url}: not the server of {person}", hint="leave out --url or LABEL_STUDIO_URL")
        place = place_of(ws, person)
        if not place.here:
            ws.check_door(place.url, f"{address_file(ws, person).relative_to(ws.root)}")
    elif ws.studio_url is None:
        # A key in the environment is for the server named there, not for the local one.
        place = place_of(ws, None)
    else:
        place = Place(ws.studio_url, ws.studio_token or "", here=False)
    if not place.token:
        raise StudioError(
            f"no token for {place.url}", hint="set LABEL_STUDIO_API_KEY to a token of your account on that server"
        )
    with Gateway(place.url, place.token, keys=partial(task_keys, ws)) as gateway:
        gateway.whoami()
        yield gateway


def on_servers(
    ws: Workspace, names: Sequence[str], work: Callable[[Gateway, Sequence[str]], None]
) -> tuple[Unreachable, ...]:
    """Do `work` on the one server, for all these people; or in mode `server` on that of each, for this person.

    There a server that is away or refuses keeps nobody else waiting: it is named in what is returned. Raises
    StudioError when none could be asked. Where a server is named, only that one is asked.
    """
    if not isolated(ws):
        with connect(ws) as gateway:
            work(gateway, names)
        return ()
    asked = list(names) if ws.studio_url is None else people_at(ws, ws.studio_url, names)
    with ws.reading() as session:
        left = people.who_left(session)
    owners: dict[str, str] = {}
    unreachable = []
    for person in asked:
        try:
            with connect(ws, person=person) as gateway:
                refuse_shared(ws, gateway, person, owners)
                work(gateway, [person])
        except (StudioError, MissingInput) as error:
            unreachable.append(
                Unreachable(person, f"{error.message}; {error.hint}" if error.hint else error.message, person in left)
            )
    waited_for = [one for one in unreachable if not one.left]
    if waited_for and len(unreachable) == len(asked):
        raise StudioError(f"none of {counted(len(asked), 'server')} could be reached", faults=_faults(waited_for))
    return tuple(unreachable)


def unreachable_finding(unreachable: Sequence[Unreachable], command: str) -> FindingError | None:
    """What ends a command that some servers kept from going the whole way."""
    waited_for = [one for one in unreachable if not one.left]
    if not waited_for:
        return None
    return FindingError(
        f"could not reach {counted(len(waited_for), 'server')}; the work on the others is done",
        faults=_faults(waited_for),
        hint=f"nothing is lost: run `{command}` again later",
    )


def unreachable_notes(unreachable: Sequence[Unreachable]) -> tuple[str, ...]:
    """The servers that nobody waits for."""
    return tuple(
        f"{one.assessor} has left, and their server could not be reached: {one.why}" for one in unreachable if one.left
    )


def open_accounts(
    ws: Workspace, gateway: Gateway, accounts: Mapping[str, str], *, person: str | None = None
) -> tuple[str, ...]:
    """Accounts on a server of the study's own, made where they are missing; the token of each.

    accounts: the address of each pseudonym.
    """
    return make_accounts(gateway.url, accounts, invitation=gateway.invitation, passwords=passwords_file(ws, person))


def refuse_shared(ws: Workspace, gateway: Gateway, person: str, owners: dict[str, str]) -> None:
    """Raise StudioError if this is the server of somebody else, too. owners: who was met where, by server."""
    identity = gateway.identity()
    with ws.reading() as session:
        others = {project.assessor for project in projects.read_projects(session) if project.server == identity}
    others |= {owners.setdefault(identity, person)}
    if others - {person}:
        raise StudioError(
            f"{gateway.url} is also the server of {', '.join(sorted(others - {person}))}, expected one that "
            f"only {person} uses",
            hint=f"name another with `annot assessor change {person} --server ADDRESS`; a copy of a server's data "
            "counts as the same server",
        )


def _faults(unreachable: Sequence[Unreachable]) -> list[str]:
    return [f"{one.assessor}: {one.why}" for one in unreachable]


def task_keys(ws: Workspace) -> TaskKeys:
    """The keys of the tasks of this study. The secret is made at the first use, and kept in the database.

    A copy lies in the folder of the study, for the day on which the database is made anew.
    """
    with ws.reading() as session:
        secret = read_secret(session)
        pairs = {assignment.pair for assignment in people.read_assignments(session)}
        pairs |= trials.read_pairs(session)
        pairs |= {(query.topic_id, LABELS_SHOWN) for query in read_queries(session)}
        pairs |= {asked.pair for _, asked in projects.read_asked(session)}
    if secret is None:
        with ws.writing() as session:
            secret = keep_secret(session, secrets.token_hex(SECRET_BYTES))
    return TaskKeys(_all_secrets(ws, secret), sorted(pairs))


def _all_secrets(ws: Workspace, secret: str) -> list[str]:
    """The secret of the database, and those of databases before it."""
    path = ws.cache / "task-keys"
    before = path.read_text(encoding="ascii").split() if path.is_file() else []
    if secret not in before:
        path.parent.mkdir(exist_ok=True)
        path.touch(mode=0o600)
        with path.open("a", encoding="ascii") as file:
            file.write(f"{secret}\n")
    return list(dict.fromkeys([secret, *before]))
