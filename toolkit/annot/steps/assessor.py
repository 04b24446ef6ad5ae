"""The people of the study: pseudonyms everywhere, accounts in the database alone."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from annot.errors import InputError
from annot.exchange.connection import connect, open_accounts, passwords_file, studio_folder
from annot.labelstudio import server
from annot.records import Assessor
from annot.store import people
from annot.store.database import open_store
from annot.study.workspace import Workspace

PSEUDONYM = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,19}")
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


class Added(NamedTuple):
    """What `annot assessor add` did, and what a person should know."""

    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedAssessor:
    """One person, without the account."""

    assessor: str
    adjudicator: bool
    assigned: int


def add(
    ws: Workspace,
    pseudonym: str,
    *,
    account: str,
    adjudicator: bool,
    url: str | None,
    api_key: str | None,
    dry_run: bool,
) -> Added:
    """Remember a person. On the local server the account is made; on another one the person signs up.

    The password of a local account goes once to a file that only its owner can read.
    """
    person = Assessor(pseudonym, account, adjudicator)
    _check(person)
    notes: tuple[str, ...] = ()
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            everyone = people.read_assessors(session)
        for other in everyone:
            same = other.account is not None and other.account.lower() == account.lower()
            if other.assessor != pseudonym and same:
                raise InputError(
                    f"the account of {pseudonym} belongs to {other.assessor} already",
                    hint="one account is one person: the audit could not tell them apart",
                )
        if dry_run:
            return Added(f"{pseudonym}: would be added", ())
        if url is not None or server.status(studio_folder(ws)) is not None:
            notes = _note_on_account(ws, account, url=url, api_key=api_key)
        with store.begin() as session:
            people.put_assessors(session, [person])
    standing = next((other for other in everyone if other.assessor == pseudonym), None)
    verb = "added" if standing is None else "changed" if standing != person else "stands already"
    role = "adjudicator" if adjudicator else "assessor"
    return Added(f"{pseudonym}: {role}, {verb}", notes)


def listing(ws: Workspace) -> tuple[ListedAssessor, ...]:
    """Everyone, with how many pairs they were given."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        everyone = people.read_assessors(session)
        assigned = Counter(assignment.assessor for assignment in people.read_assignments(session))
    return tuple(ListedAssessor(one.assessor, one.adjudicator, assigned[one.assessor]) for one in everyone)


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


def _note_on_account(ws: Workspace, account: str, *, url: str | None, api_key: str | None) -> tuple[str, ...]:
    """Make the account on the local server; on another one look whether it is there."""
    with connect(ws, url=url, api_key=api_key) as gateway:
        if url is None:
            open_accounts(ws, gateway, [account])
            return (f"the passwords of local accounts are in {passwords_file(ws)}",)
        if account.lower() in gateway.user_ids():
            return ()
        return (f"the server has no such account yet; the person signs up at {url}{gateway.invitation()}",)
