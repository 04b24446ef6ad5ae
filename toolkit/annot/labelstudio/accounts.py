"""Accounts of assessors on a server, and its secrets."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from annot.base.errors import StudioError
from annot.labelstudio.server import DATABASE

if TYPE_CHECKING:
    import httpx

# ----------------------------------------------------------------------------------------------------------------------
# Accounts for assessors on the local server, by invitation sign-up over HTTP, and what of them stays secret.
#
# The server's own call for making users gives accounts without a password, which cannot be used; and no call lets an
# administrator read another account's token. So each account is signed up as its owner would, in a session of its
# own, which also gives its token.
#
# A password is written to the file before the account is made: a call that is killed leaves a password too many,
# never an account that cannot be opened.
# ----------------------------------------------------------------------------------------------------------------------


PASSWORD_BYTES = 15


def make_accounts(
    url: str, accounts: Mapping[str, str], *, invitation: Callable[[], str], passwords: Path
) -> tuple[str, ...]:
    """An account for each person, made where it is missing; safe to repeat. Returns the token of each.

    accounts: the address of each pseudonym. `invitation` gives the path of the invitation link (`Gateway.invitation`);
    it is asked only when needed. `passwords` is a file that only its owner can read: a pseudonym, its address and the
    password a line. Raises StudioError if an account exists whose password is not in the file.
    """
    import httpx

    from annot.labelstudio.http_client import LIMITED, asking

    tokens = []
    for pseudonym, email in accounts.items():
        password = read_passwords(passwords).get(email)
        if password is None:
            password = secrets.token_urlsafe(PASSWORD_BYTES)
            _append_password(passwords, pseudonym, email, password)
        with (
            asking(url, f"opening the account of {email}"),
            httpx.Client(base_url=url, timeout=60.0, trust_env=False, **LIMITED) as session,
        ):
            if not can_sign_in(session, email, password):
                answer = _submit(session, invitation(), email, password)
                if "already exists" in answer.text:
                    raise StudioError(
                        f"{email} already has an account at {url}, and its password is not in the passwords file",
                        hint="use another address, or add the person with the existing account: `annot assessor add`",
                    )
                if not answer.is_redirect:
                    raise StudioError(f"{url} refuses to sign up {email} ({answer.status_code})")
            # A personal token where legacy tokens are off.
            tokens.append(str(_ask(session, "GET", "/api/current-user/token").json()["token"]))
    return tuple(tokens)


def can_sign_in(session: httpx.Client, email: str, password: str) -> bool:
    """True if the server lets this account in; the session is its own then."""
    return _submit(session, "/user/login/", email, password).is_redirect


def can_sign_up(session: httpx.Client) -> bool:
    """True if the server would make an account for anyone. The form that is sent is empty, so that it makes none."""
    import httpx

    try:
        _submit(session, "/user/signup/", "", "")
    except httpx.HTTPStatusError as error:
        if error.response.status_code == httpx.codes.FORBIDDEN:
            return False
        raise
    return True


def _submit(session: httpx.Client, path: str, email: str, password: str) -> httpx.Response:
    """The answer to a form of the site; a redirection means that it was accepted."""
    # The token of the site's forms comes as a cookie with the first page.
    if "csrftoken" not in session.cookies:
        _ask(session, "GET", path)
    form = {"email": email, "password": password, "csrfmiddlewaretoken": session.cookies.get("csrftoken", "")}
    return _ask(session, "POST", path, data=form, headers={"Referer": str(session.base_url.join(path))})


def _ask(session: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
    answer = session.request(method, path, **more)
    # A server behind https has cookies for https alone; from this machine it is asked without.
    for cookie in session.cookies.jar:
        cookie.secure = False
    if answer.is_error:
        answer.raise_for_status()
    return answer


def read_passwords(path: Path) -> dict[str, str]:
    """The password of each address; a line that a kill cut off has none. Empty if there is no file."""
    if not path.exists():
        return {}
    lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {fields[1]: fields[2] for fields in lines if len(fields) == 3}


def _append_password(path: Path, pseudonym: str, email: str, password: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(f"{pseudonym}\t{email}\t{password}\n")
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o600)


PASSWORDS = "passwords.tsv"
SECRET_KEYS = {"admin.json": ("password", "token"), DATABASE: ("POSTGRE_PASSWORD",), "elsewhere.json": ("token",)}
"""Entries that are secret, by file in the folder of a server."""


class LocalSecrets(NamedTuple):
    """Secrets of a local server; sets are empty if there is none."""

    addresses: frozenset[str]
    """E-mail addresses of accounts, the administrator's included."""
    names: frozenset[str]
    tokens: frozenset[str]
    """Tokens and passwords."""


def local_secrets(*folders: Path) -> LocalSecrets:
    """Secrets in the folders of servers: their own files, passwords and databases, and tokens for elsewhere.

    Raises StudioError when one of the files cannot be read: secrets that are unknown cannot be kept out.
    """
    addresses: set[str] = set()
    names: set[str] = set()
    tokens: set[str] = set()

    def read(path: Path) -> None:
        if path.name == PASSWORDS:
            password_of = read_passwords(path)
            addresses.update(password_of)
            tokens.update(password_of.values())
        elif path.suffix == ".json":
            record = json.loads(path.read_text(encoding="utf-8"))
            tokens.update(record[name] for name in SECRET_KEYS[path.name])
            addresses.add(record.get("email", ""))
        elif path.name == ".env":
            lines = (line.partition("=") for line in path.read_text(encoding="utf-8").splitlines())
            tokens.update(value.strip() for _, _, value in lines)
        else:
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
                for table, column in (("authtoken_token", "key"), ("token_blacklist_outstandingtoken", "token")):
                    tokens.update(token for (token,) in connection.execute(f"SELECT {column} FROM {table}"))
                for address, *name in connection.execute("SELECT email, first_name, last_name FROM htx_user"):
                    addresses.add(address)
                    names.add(" ".join(name).strip())

    names_of_files = (*SECRET_KEYS, PASSWORDS, "data/.env", "data/label_studio.sqlite3")
    for path in filter(Path.is_file, (folder / name for folder in folders for name in names_of_files)):
        try:
            read(path)
        except (OSError, ValueError, KeyError, TypeError, sqlite3.Error) as error:
            raise StudioError(
                f"{path}: cannot be read: {error}", hint="repair or remove this file: it contains secrets"
            ) from None
    return LocalSecrets(frozenset(addresses - {""}), frozenset(names - {""}), frozenset(tokens - {""}))
