"""The people of the study: pseudonyms everywhere, accounts in the database alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.base.records import Assessor
from annot.judging.exchange.servers import (
    connect,
    is_elsewhere,
    isolated,
    keep_address,
    open_accounts,
    owners_of,
    passwords_file,
    place_of,
    refuse_shared,
    studio_folder,
)
from annot.labelstudio import server
from annot.labelstudio.columns import is_link as is_web_address
from annot.labelstudio.gateway import Gateway
from annot.publishing.report.tables import Column, Columns
from annot.store import adjudications, judgements, people
from annot.study.outcome import answered_of
from annot.study.workspace import Workspace

PSEUDONYM = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,19}")
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


class ChangedPerson(NamedTuple):
    """What was done for one person, and what the lead should know."""

    text: str
    notes: tuple[str, ...] = ()
    url: str = ""
    """Of the person's own server, where that was asked for."""


@dataclass(frozen=True, slots=True)
class ListedAssessor:
    """One person, as the lead sees them: the account is for the terminal and never for a file."""

    assessor: str
    adjudicator: bool
    assigned: int
    answered: int
    share: float
    """The hours they have, relative to others."""
    left_on: str | None
    account: str | None


PEOPLE = Columns[ListedAssessor](
    [
        Column("name", lambda one: one.assessor),
        Column("role", lambda one: "adjudicator" if one.adjudicator else "assessor"),
        Column("account", lambda one: one.account or "none", ""),
        Column("left on", lambda one: (one.left_on or "")[:10]),
    ],
    [
        Column("pairs assigned", lambda one: one.assigned),
        Column("answered", lambda one: one.answered),
        Column("share of hours", lambda one: f"{one.share:g}", ""),
        Column("", lambda one: one.share, "share"),
    ],
)


def add(ws: Workspace, pseudonym: str, *, account: str, adjudicator: bool, dry_run: bool) -> ChangedPerson:
    """Remember a person. On the local server the account is made; on another one the person signs up.

    The password of a local account goes once to a file that only its owner can read.
    """
    person = Assessor(pseudonym, account, adjudicator)
    _check(person)
    with ws.reading() as session:
        everyone = people.read_assessors(session)
        has_answered = _has_answered(session, pseudonym)
    known = next((other for other in everyone if other.assessor == pseudonym), None)
    _refuse_shared(everyone, person)
    for other in everyone:
        if other.assessor != pseudonym and other.assessor.lower() == pseudonym.lower():
            raise InputError(
                f"{pseudonym}: differs from {other.assessor} only in case",
                hint=f"if this is the same person, use {other.assessor}; if not, choose another name",
            )
    if known is not None and known.account and has_answered and not _same_account(known.account, account):
        raise InputError(
            f"{pseudonym} has another account, and answers from it are on record",
            hint=f"to change the account, use `annot assessor change {pseudonym} --account NEW`; to add another "
            "person, choose another name",
        )
    if dry_run:
        return ChangedPerson(f"{pseudonym}: would be added")
    notes = _note_on_account(ws, person)
    with ws.writing() as session:
        people.put_assessors(session, [person])
        people.set_left(session, pseudonym, None)
    verb = "added"
    if known is not None:
        same = (known.account, known.adjudicator) == (account, adjudicator)
        verb = "already in the study" if same else "changed"
    if known is not None and known.left_on is not None:
        verb = "is back"
        notes = (*notes, f"{pseudonym} gets new pairs with the next `annot plan`")
    role = "adjudicator" if adjudicator else "assessor"
    return ChangedPerson(f"{pseudonym}: {role}, {verb}", notes)


def change_account(ws: Workspace, pseudonym: str, *, account: str, dry_run: bool) -> ChangedPerson:
    """Give a person another account; the answers of the earlier one stay theirs.

    On the local server the account is made; on another one the person signs up.
    """
    with ws.reading() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
    check_name(pseudonym, tuple(everyone), what="assessor")
    person = replace(everyone[pseudonym], account=account)
    _check(person)
    _refuse_shared(everyone.values(), person)
    if _same_account(everyone[pseudonym].account, account):
        return ChangedPerson(f"{pseudonym}: already has this account")
    if dry_run:
        return ChangedPerson(f"{pseudonym}: would change the account")
    notes = _note_on_account(ws, person)
    with ws.writing() as session:
        people.put_assessors(session, [person])
    return ChangedPerson(
        f"{pseudonym}: account changed", (*notes, "`annot push` checks whether the server has the account")
    )


def own_server(ws: Workspace, pseudonym: str, *, url: str | None, dry_run: bool) -> ChangedPerson:
    """Where a person's own server is; with `url` it is that one from now on, once it is known to be theirs alone.

    Address and token, which is that of `ws`, go to a file that only its owner can read. Without a token the one of the
    person's local server is taken, for one that is reached by another address. Raises InputError if all share one
    server.
    """
    ws, api_key = replace(ws, studio_url=None, studio_token=None), ws.studio_token
    if not isolated(ws):
        raise InputError(
            '--server needs isolation = "server" in annot.toml, found "project": everyone shares one server',
            hint="set it under [judging]; to change the account, use --account",
        )
    with ws.reading() as session:
        everyone = {person.assessor: person for person in people.read_assessors(session)}
    check_name(pseudonym, tuple(everyone), what="assessor")
    if url is None:
        place = place_of(ws, pseudonym)
        return ChangedPerson(f"{pseudonym}: {place.url}", url=place.url)
    address = url.rstrip("/")
    if not is_web_address(address):
        raise InputError(f"--server {address}: expected an address such as https://a1.studio.example.org")
    if others := [name for name in owners_of(ws, address, everyone) if name != pseudonym]:
        raise InputError(f"{address} is the server of {others[0]}, expected one that only {pseudonym} uses")
    if dry_run:
        return ChangedPerson(f"{pseudonym}: would be at {address}", url=address)
    local = studio_folder(ws, pseudonym)
    token = api_key or (server.credentials(local).token if (local / "admin.json").is_file() else "")
    with Gateway(address, token) as gateway:
        gateway.whoami()
        refuse_shared(ws, gateway, pseudonym, {})
    keep_address(ws, pseudonym, url=address, token=token)
    notes = _note_on_account(ws, everyone[pseudonym])
    return ChangedPerson(f"{pseudonym}: now at {address}", notes, address)


def listing(ws: Workspace) -> tuple[ListedAssessor, ...]:
    """Everyone, those who left among them, with how much they were given and have answered."""
    with ws.reading() as session:
        everyone = people.read_assessors(session)
        plan = people.read_assignments(session)
        answered = answered_of(session)
    assigned = Counter(one.assessor for one in plan)
    done = Counter(one.assessor for one in plan if (one.assessor, one.asked) in answered)
    return tuple(
        ListedAssessor(
            person.assessor,
            person.adjudicator,
            assigned[person.assessor],
            done[person.assessor],
            1.0 if person.share is None else person.share,
            person.left_on,
            person.account,
        )
        for person in everyone
    )


def _check(person: Assessor) -> None:
    faults = []
    if not PSEUDONYM.fullmatch(person.assessor):
        faults.append(
            f"name: found {person.assessor!r}, expected a pseudonym such as a1 (a letter, then letters, digits, - or _)"
        )
    if person.account is None or not ADDRESS.fullmatch(person.account):
        # The text may be an identity: it is not repeated.
        faults.append("--account: expected an e-mail address")
    if faults:
        raise InputError("the person cannot be added", faults=faults)


def _refuse_shared(everyone: Iterable[Assessor], person: Assessor) -> None:
    for other in everyone:
        if other.assessor != person.assessor and _same_account(other.account, person.account):
            raise InputError(
                f"the account of {person.assessor} already belongs to {other.assessor}",
                hint="each person needs their own account",
            )


def _same_account(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one.lower() == other.lower()


def _has_answered(session: Session, pseudonym: str) -> bool:
    judged = (one.assessor for one in judgements.read_judgements(session))
    settled = (one.adjudicator for one in adjudications.read_adjudications(session))
    return pseudonym in {*judged, *settled}


def _note_on_account(ws: Workspace, person: Assessor) -> tuple[str, ...]:
    """Make the account on the local server; on another one look whether it is there. Nothing if there is none."""
    who, account = person.assessor, person.account or ""
    own = who if isolated(ws) else None
    elsewhere = ws.studio_url is not None if own is None else is_elsewhere(ws, own)
    if not elsewhere and server.status(studio_folder(ws, own)) is None:
        return ()
    with connect(ws, person=own) as gateway:
        if not elsewhere:
            open_accounts(ws, gateway, {who: account}, person=own)
            return (f"{who}: the password is in {passwords_file(ws, own)}; `annot invite {who}` writes the letter",)
        if account.lower() in gateway.user_ids():
            return ()
        return (
            f"the server does not have this account yet; the person signs up at {gateway.url}{gateway.invitation()}; "
            f"`annot invite {who}` writes a letter with the link",
        )
