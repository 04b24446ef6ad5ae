"""What a local Label Studio keeps that must never be published: addresses, names, passwords, tokens."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import StudioError
from annot.labelstudio.accounts import read_passwords


class LocalSecrets(NamedTuple):
    """What was found; sets are empty where there is no local server."""

    addresses: frozenset[str]
    """E-mail addresses of accounts, the administrator's included."""
    names: frozenset[str]
    tokens: frozenset[str]
    """Tokens and passwords."""

    @classmethod
    def union(cls, found: Iterable[LocalSecrets]) -> LocalSecrets:
        """What several servers keep."""
        together = zip(*(cls(frozenset(), frozenset(), frozenset()), *found), strict=True)
        return cls(*(frozenset().union(*kind) for kind in together))


def local_secrets(folder: Path) -> LocalSecrets:
    """The secrets in the folder of a server: its own files, its passwords file and database, a token for elsewhere.

    Raises StudioError when one of the files is there and cannot be read: what cannot be read cannot be kept out.
    """
    addresses: set[str] = set()
    names: set[str] = set()
    tokens: set[str] = set()
    administrator, passwords, elsewhere = folder / "admin.json", folder / "passwords.tsv", folder / "elsewhere.json"
    environment, database = folder / "data" / ".env", folder / "data" / "label_studio.sqlite3"
    path = administrator
    try:
        if administrator.is_file():
            found = json.loads(administrator.read_text(encoding="utf-8"))
            addresses.add(found["email"])
            tokens.update((found["password"], found["token"]))
        path = passwords
        if passwords.is_file():
            known = read_passwords(passwords)
            addresses.update(known)
            tokens.update(known.values())
        path = elsewhere
        if elsewhere.is_file():
            tokens.add(json.loads(elsewhere.read_text(encoding="utf-8"))["token"])
        path = environment
        if environment.is_file():
            lines = (line.partition("=") for line in environment.read_text(encoding="utf-8").splitlines())
            tokens.update(value.strip() for _, _, value in lines)
        path = database
        if database.is_file():
            with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as connection:
                for table, column in (("authtoken_token", "key"), ("token_blacklist_outstandingtoken", "token")):
                    tokens.update(token for (token,) in connection.execute(f"SELECT {column} FROM {table}"))
                for address, *name in connection.execute("SELECT email, first_name, last_name FROM htx_user"):
                    addresses.add(address)
                    names.add(" ".join(name).strip())
    except (OSError, ValueError, KeyError, TypeError, sqlite3.Error) as error:
        raise StudioError(f"{path}: cannot be read: {error}", hint="repair or remove it: it holds secrets") from None
    return LocalSecrets(frozenset(addresses - {""}), frozenset(names - {""}), frozenset(tokens - {""}))
