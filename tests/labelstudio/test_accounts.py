"""Accounts on a server in memory: made once, with a password that only the owner of the study can read."""

import json
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.accounts import LocalSecrets, local_secrets, make_accounts, read_passwords
from annot.labelstudio.gateway import Gateway
from studio_in_memory import StudioInMemory

PEOPLE = {"a1": "ann@example.org", "a2": "bob@example.org"}


@pytest.fixture
def served() -> Iterator[StudioInMemory]:
    with StudioInMemory().served() as studio:
        yield studio


def made(studio: StudioInMemory, passwords: Path) -> tuple[str, ...]:
    with Gateway(studio.url, studio.token) as gateway:
        return make_accounts(studio.url, PEOPLE, invitation=gateway.invitation, passwords=passwords)


def test_each_person_gets_an_account_once_and_its_token(served: StudioInMemory, tmp_path: Path) -> None:
    passwords = tmp_path / "new" / "folder" / "passwords.tsv"
    tokens = made(served, passwords)
    assert tokens == tuple(served.account(email)["token"] for email in PEOPLE.values())
    assert stat.S_IMODE(passwords.stat().st_mode) == 0o600
    kept = passwords.read_text(encoding="utf-8")
    assert [line.split("\t")[:2] for line in kept.splitlines()] == [[name, email] for name, email in PEOPLE.items()]
    assert made(served, passwords) == tokens
    assert passwords.read_text(encoding="utf-8") == kept
    assert len(served.users) == 3


def test_a_password_has_fifteen_random_bytes(served: StudioInMemory, tmp_path: Path) -> None:
    made(served, tmp_path / "passwords.tsv")
    known = read_passwords(tmp_path / "passwords.tsv")
    assert {len(password) for password in known.values()} == {20}, "15 bytes are 20 letters in base 64"
    assert len(set(known.values())) == 2


def test_a_password_that_was_kept_before_a_kill_is_used(served: StudioInMemory, tmp_path: Path) -> None:
    passwords = tmp_path / "passwords.tsv"
    passwords.write_text("a1\tann@example.org\tthe-kept-one\na2\tbob@exa", encoding="utf-8")
    passwords.write_text(passwords.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    made(served, passwords)
    assert served.account("ann@example.org")["password"] == "the-kept-one"
    assert read_passwords(passwords).keys() == set(PEOPLE.values())


def test_an_account_whose_password_is_unknown_is_not_taken_over(served: StudioInMemory, tmp_path: Path) -> None:
    served.sign_up("ann@example.org", "her own")
    with pytest.raises(StudioError, match="already has an account"):
        made(served, tmp_path / "passwords.tsv")
    assert served.account("ann@example.org")["password"] == "her own"


def test_a_sign_up_that_is_refused_is_told_with_its_status(served: StudioInMemory, tmp_path: Path) -> None:
    def refuses(request: httpx.Request) -> httpx.Response | None:
        signs_up = request.method == "POST" and request.url.path.startswith("/user/signup")
        return httpx.Response(200, html="<html>Not today</html>") if signs_up else None

    served.faults.append(refuses)
    with pytest.raises(StudioError, match=r"refuses to sign up ann@example.org \(200\)"):
        made(served, tmp_path / "passwords.tsv")


def test_a_page_that_fails_is_told(served: StudioInMemory, tmp_path: Path) -> None:
    served.faults.append(lambda request: httpx.Response(503) if request.url.path == "/user/login/" else None)
    with pytest.raises(StudioError, match=r"failed \(503\) while opening the account of ann@example.org"):
        made(served, tmp_path / "passwords.tsv")


def test_of_lines_with_three_fields_the_third_is_the_password(tmp_path: Path) -> None:
    path = tmp_path / "passwords.tsv"
    assert read_passwords(path) == {}
    path.write_text("a1\tann@x\tone\na2\tbob@x\na3\tcyd@x\tthree\tmore\n\na4\tdee@x\tfour\n", encoding="utf-8")
    assert read_passwords(path) == {"ann@x": "one", "dee@x": "four"}


def test_the_secrets_of_a_server_are_in_all_of_its_files(tmp_path: Path) -> None:
    assert local_secrets(tmp_path) == LocalSecrets(frozenset(), frozenset(), frozenset())
    administrator = {"email": "lead@annot.example", "password": "p-lead", "token": "t-lead"}
    (tmp_path / "admin.json").write_text(json.dumps(administrator), encoding="utf-8")
    (tmp_path / "passwords.tsv").write_text("a1\tann@x\tp-ann\n", encoding="utf-8")
    (tmp_path / "elsewhere.json").write_text(json.dumps({"url": "u", "token": "t-else"}), encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ".env").write_text("SECRET_KEY=s-env\nEMPTY=\n", encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "data" / "label_studio.sqlite3")) as database, database:
        database.execute("CREATE TABLE authtoken_token (key TEXT)")
        database.execute("CREATE TABLE token_blacklist_outstandingtoken (token TEXT)")
        database.execute("CREATE TABLE htx_user (email TEXT, first_name TEXT, last_name TEXT)")
        database.execute("INSERT INTO authtoken_token VALUES ('t-db')")
        database.execute("INSERT INTO token_blacklist_outstandingtoken VALUES ('t-old')")
        database.execute("INSERT INTO htx_user VALUES ('bob@x', 'Bob', 'Builder'), ('c@x', '', '')")
    found = local_secrets(tmp_path)
    assert found.addresses == {"lead@annot.example", "ann@x", "bob@x", "c@x"}
    assert found.names == {"Bob Builder"}
    assert found.tokens == {"p-lead", "t-lead", "p-ann", "t-else", "s-env", "t-db", "t-old"}
    more = tmp_path / "more"
    more.mkdir()
    (more / "passwords.tsv").write_text("a2\tnew@x\tp-new\n", encoding="utf-8")
    assert local_secrets(tmp_path, more).addresses == found.addresses | {"new@x"}
    (tmp_path / "elsewhere.json").write_text("{", encoding="utf-8")
    with pytest.raises(StudioError, match=r"elsewhere\.json: cannot be read"):
        local_secrets(tmp_path)
