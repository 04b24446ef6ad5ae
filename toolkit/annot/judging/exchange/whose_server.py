"""Which Label Studio is whose: one for all, or in mode `server` one for each person, on this machine or elsewhere.

A server elsewhere is known by its address and a token. Both lie in a file that only its owner can read, in a folder
that no backup, release or repository takes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError, StudioError
from annot.labelstudio import server
from annot.study.doors import allow
from annot.study.workspace import Workspace

HINT = (
    "`annot studio up --per-assessor` starts one here, `annot assessor change {person} --server ADDRESS` names another"
)


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """A server and how to talk to it."""

    url: str
    token: str
    here: bool
    """Whether this study has started it, on this machine."""


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
    """The server of this person, or the one for all, that this study knows. Raises StudioError where it knows none."""
    if person is not None and is_elsewhere(ws, person):
        path = address_file(ws, person)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            return Place(str(kept["url"]), str(kept["token"]), here=False)
        except (ValueError, KeyError, TypeError):
            raise StudioError(
                f"{path}: cannot be read", hint=f"`annot assessor change {person} --server URL`"
            ) from None
    folder = studio_folder(ws, person)
    running = server.status(folder)
    if running is not None:
        return Place(running.url, server.credentials(folder).token, here=True)
    if person is None:
        raise StudioError("no Label Studio is named or runs here", hint="`annot studio up`, or set LABEL_STUDIO_URL")
    what = "the server of {person} does not run" if folder.is_dir() else "no server of {person} is known here"
    raise StudioError(what.format(person=person), hint=HINT.format(person=person))


def owners_of(ws: Workspace, url: str, names: Iterable[str]) -> list[str]:
    """Those of these people whose server is known to have this address."""
    return [person for person in names if _address(ws, person) == url.rstrip("/")]


def people_at(ws: Workspace, url: str, names: Iterable[str]) -> list[str]:
    """Those of these people whose server has this address. Raises InputError where it is nobody's.

    In mode `server` nothing goes to an address that is not known as one person's: everything would go there.
    """
    everyone = [*dict.fromkeys((*names, *people_with_servers(ws)))]
    owners = owners_of(ws, url, everyone)
    if not owners:
        raise InputError(
            f"{url} is the server of nobody in this study, where each person has their own",
            hint="leave out --url and LABEL_STUDIO_URL to go to each person's; `annot assessor change NAME --server "
            "ADDRESS` names one",
        )
    return [person for person in owners if person in names]


def _address(ws: Workspace, person: str) -> str | None:
    try:
        return place_of(ws, person).url
    except StudioError:
        return None
