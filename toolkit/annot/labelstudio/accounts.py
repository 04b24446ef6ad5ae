"""Accounts for assessors on the local server, by invitation sign-up over HTTP.

The server's own call for making users gives accounts without a password that nobody can use; and no call lets an
administrator read another account's token. So each account is signed up as its owner would, in a session of its own,
which also gives its token.

A password is written to the file before the account is made: a call that is killed leaves a password too many, never
an account that nobody can open.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from annot.errors import StudioError
from annot.labelstudio import refusals

PASSWORD_BYTES = 15


class Account(NamedTuple):
    """An account on the server. `token` opens the interface as that account; keep it out of logs and exports."""

    email: str
    user_id: int
    token: str

    def __repr__(self) -> str:
        return f"Account(user_id={self.user_id})"


def make_accounts(
    url: str,
    emails: Sequence[str],
    *,
    invitation: Callable[[], str],
    passwords: Path,
    transport: httpx.BaseTransport | None = None,
) -> tuple[Account, ...]:
    """An account for each address, made where it is missing; safe to repeat.

    `invitation` gives the path of the invitation link (`Gateway.invitation`); it is asked only when needed. `passwords`
    is a file that only its owner can read: an address and its password a line. Raises StudioError where an account
    exists whose password is not in the file.
    """
    accounts = []
    for email in emails:
        password = _read_passwords(passwords).get(email)
        if password is None:
            password = secrets.token_urlsafe(PASSWORD_BYTES)
            _append_password(passwords, email, password)
        with _Session(url, transport) as session:
            if not session.log_in(email, password):
                session.sign_up(email, password, invitation())
            accounts.append(session.account(email))
    return tuple(accounts)


class _Session:
    """One browser-like session: cookies, the forms' CSRF token, no account's token."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None) -> None:
        self._url = url.rstrip("/")
        self._http = httpx.Client(base_url=self._url, timeout=60.0, transport=transport, trust_env=False)

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def log_in(self, email: str, password: str) -> bool:
        """Whether the server knows this address with this password."""
        return self._submit("/user/login/", email, password).is_redirect

    def sign_up(self, email: str, password: str, invitation: str) -> None:
        answer = self._submit(invitation, email, password)
        if answer.is_redirect:
            return
        if "already exists" in answer.text:
            raise StudioError(
                f"{email} has an account at {self._url} already, with a password that is not in the passwords file",
                hint="use another address, or `annot assessor add` with the account as it is",
            )
        raise StudioError(f"{self._url} refuses to sign up {email} ({answer.status_code})")

    def account(self, email: str) -> Account:
        """The account of this session, with its token; a personal one where legacy tokens are off."""
        doing = f"reading the account of {email}"
        user = self._get_json("/api/current-user/whoami", doing)
        try:
            token = self._get_json("/api/current-user/token", doing)["token"]
            return Account(email, int(user["id"]), str(token))
        except (KeyError, TypeError, ValueError) as error:
            raise refusals.unlike(error, url=self._url, doing=doing) from None

    def _submit(self, path: str, email: str, password: str) -> httpx.Response:
        doing = f"opening the account of {email}"
        # The form's token comes as a cookie with the page.
        self._ask("GET", path, doing)
        form = {"email": email, "password": password, "csrfmiddlewaretoken": self._http.cookies.get("csrftoken", "")}
        return self._ask("POST", path, doing, data=form, headers={"Referer": f"{self._url}{path}"})

    def _get_json(self, path: str, doing: str) -> Any:
        answer = self._ask("GET", path, doing)
        try:
            return answer.json()
        except ValueError as error:
            raise refusals.unlike(error, url=self._url, doing=doing) from None

    def _ask(self, method: str, path: str, doing: str, **more: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **more)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise refusals.unanswered(error, url=self._url, doing=doing) from None
        if answer.status_code >= 400:
            raise refusals.refused(answer.status_code, answer.text, url=self._url, doing=doing)
        return answer


def _read_passwords(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    lines = (line.partition("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {email: password for email, _, password in lines if password}


def _append_password(path: Path, email: str, password: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(f"{email}\t{password}\n")
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o600)
