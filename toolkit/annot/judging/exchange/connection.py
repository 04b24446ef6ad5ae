"""A connection to the Label Studio of the study, or of each person in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from annot.base.errors import FindingError, InputError, MissingInput, StudioError
from annot.judging.exchange.task_keys import task_keys
from annot.judging.exchange.whose_server import Place, address_file, isolated, passwords_file, people_at, place_of
from annot.labelstudio.accounts import make_accounts
from annot.labelstudio.gateway import Gateway
from annot.store import people, projects
from annot.store.database import Store
from annot.study.workspace import Workspace


class Away(NamedTuple):
    """A person whose server could not be asked, or not to the end."""

    assessor: str
    why: str
    left: bool
    """Whether they have left the study: then nobody waits for their server."""


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
        raise StudioError(f"no token for {place.url}", hint="set LABEL_STUDIO_API_KEY to one of your account there")
    with Gateway(place.url, place.token, keys=partial(task_keys, ws)) as gateway:
        gateway.whoami()
        yield gateway


def on_servers(
    ws: Workspace, store: Store, names: Sequence[str], work: Callable[[Gateway, Sequence[str]], None]
) -> tuple[Away, ...]:
    """Do `work` on the one server, for all these people; or in mode `server` on that of each, for this person.

    There a server that is away or refuses keeps nobody else waiting: it is named in what is returned. Raises
    StudioError when none could be asked. Where a server is named, only that one is asked.
    """
    if not isolated(ws):
        with connect(ws) as gateway:
            work(gateway, names)
        return ()
    asked = list(names) if ws.studio_url is None else people_at(ws, ws.studio_url, names)
    with store.read() as session:
        left = {person.assessor for person in people.read_assessors(session) if person.left_on is not None}
    owners: dict[str, str] = {}
    away = []
    for person in asked:
        try:
            with connect(ws, person=person) as gateway:
                refuse_shared(store, gateway, person, owners)
                work(gateway, [person])
        except (StudioError, MissingInput) as error:
            away.append(Away(person, f"{error.message}; {error.hint}" if error.hint else error.message, person in left))
    waited_for = [one for one in away if not one.left]
    if waited_for and len(away) == len(asked):
        raise StudioError(f"none of {len(asked)} server(s) could be asked", faults=_told(waited_for))
    return tuple(away)


def away_finding(away: Sequence[Away], command: str) -> FindingError | None:
    """What ends a command that some servers kept from going the whole way."""
    waited_for = [one for one in away if not one.left]
    if not waited_for:
        return None
    return FindingError(
        f"{len(waited_for)} server(s) could not be asked; the others were",
        faults=_told(waited_for),
        hint=f"nothing is lost: run `{command}` again when they answer",
    )


def away_notes(away: Sequence[Away]) -> tuple[str, ...]:
    """The servers that nobody waits for."""
    return tuple(f"{one.assessor} has left, and their server was not asked: {one.why}" for one in away if one.left)


def open_accounts(
    ws: Workspace, gateway: Gateway, accounts: Mapping[str, str], *, person: str | None = None
) -> tuple[str, ...]:
    """Accounts on a server of the study's own, made where they are missing; the token of each.

    accounts: the address of each pseudonym.
    """
    return make_accounts(gateway.url, accounts, invitation=gateway.invitation, passwords=passwords_file(ws, person))


def refuse_shared(store: Store, gateway: Gateway, person: str, owners: dict[str, str]) -> None:
    """Raise StudioError where this is the server of somebody else, too. owners: who was met where, by server."""
    server = gateway.identity()
    with store.read() as session:
        others = {project.assessor for project in projects.read_projects(session) if project.server == server}
    others |= {owners.setdefault(server, person)}
    if others - {person}:
        raise StudioError(
            f"{gateway.url} is also the server of {', '.join(sorted(others - {person}))}, expected one of {person} "
            "alone",
            hint=f"name another with `annot assessor change {person} --server ADDRESS`; a copy of a server's data "
            "counts as the same server",
        )


def _told(away: Sequence[Away]) -> list[str]:
    return [f"{one.assessor}: {one.why}" for one in away]
