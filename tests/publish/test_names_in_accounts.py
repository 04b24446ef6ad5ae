"""What of an account must not be published: its address, the name in it, ids and addresses of the server."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Assessor
from annot.labelstudio.accounts import LocalSecrets
from annot.publishing.release import leaks
from annot.publishing.release.leaks import secrets_of, telling_pseudonyms


def project(**changes: Any) -> Any:
    return SimpleNamespace(**{"url": "http://studio.example", "remote_id": 3, "account_id": None} | changes)


def found(
    *accounts: str | None,
    projects: tuple[Any, ...] = (),
    payloads: tuple[Mapping[str, Any], ...] = (),
    environ: Mapping[str, str] | None = None,
    allowed: tuple[str, ...] = (),
    creators: tuple[str, ...] = (),
    database: str = "sqlite:///x.db",
    topics: tuple[str, ...] = (),
) -> dict[str, set[str]]:
    """The secrets by kind."""
    study: Any = SimpleNamespace(
        texts=dict.fromkeys(topics),
        ws=SimpleNamespace(
            database_url=database,
            has_corpus=False,
            settings=SimpleNamespace(collection=SimpleNamespace(creators=creators), plugins=SimpleNamespace(names=())),
        ),
        people=[Assessor(f"a{at}", account, False) for at, account in enumerate(accounts)],
        projects=projects,
    )
    server: Any = SimpleNamespace(task_ids=frozenset({41}) if projects else frozenset(), payloads=payloads)
    by_kind: dict[str, set[str]] = {}
    for kind, value in secrets_of(study, server, environ=environ or {}, allowed=allowed):
        by_kind.setdefault(kind, set()).add(value)
    return by_kind


@pytest.fixture(autouse=True)
def no_local_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "studio_folders", lambda ws: ())


@pytest.mark.parametrize(
    ("account", "name"),
    [
        ("ada.planter@judges.example", "ada planter"),
        ("ada_planter7@judges.example", "ada planter"),
        ("Ada B. Planter", "Ada B Planter"),
        ("a.planter@judges.example", None),
        ("planter@judges.example", None),
        ("Planter", None),
    ],
)
def test_a_name_is_two_whole_words(account: str, name: str | None) -> None:
    assert found(account).get("name", set()) == ({name} if name else set())
    assert found(account).get("e-mail", set()) == ({account} if "@" in account else set())


def test_without_accounts_and_servers_there_are_no_secrets() -> None:
    assert found(None, None) == {}


def test_what_is_public_in_any_way_of_writing_is_no_secret() -> None:
    accounts = ("ada.planter@judges.example", "jo.settler@judges.example", "kim@judges.example")
    left = found(*accounts, allowed=("JO.SETTLER@judges.example", "Jo Settler"), creators=("\u00c5da  Planter",))
    assert left == {"e-mail": {"ada.planter@judges.example", "kim@judges.example"}}


@pytest.mark.parametrize(("password", "kept"), [("1234567", False), ("12345678", True), ("a%40b%40c%40d%40", True)])
def test_passwords_of_eight_characters_are_looked_for(password: str, kept: bool) -> None:
    plain = password.replace("%40", "@")
    assert found(database=f"postgresql://annot:{password}@host/db") == ({"token": {plain}} if kept else {})
    assert found(environ={"LABEL_STUDIO_API_KEY": plain}) == ({"token": {plain}} if kept else {})
    assert found(database="postgresql://[broken/db") == {}


def test_ids_come_from_projects_tasks_and_what_was_pulled() -> None:
    payloads = (
        {"id": 5, "task": 6, "project": None, "completed_by": {"id": 7, "email": "x@y.example"}, "ground_truth": 99},
        {"unique_id": "abc", "parent_annotation": True, "prediction": {}, "updated_by": ""},
    )
    secrets = found(projects=(project(account_id=8), project(remote_id=None)), payloads=payloads)
    assert secrets["studio id"] == {"3", "8", "41", "5", "6", "7", "abc"}
    assert secrets["studio address"] == {"http://studio.example"}
    assert secrets["e-mail"] == {"x@y.example"}


def test_an_id_of_a_topic_is_public_although_the_server_has_a_task_of_that_number() -> None:
    assert found(projects=(project(),), topics=("41",))["studio id"] == {"3"}


def test_people_come_from_lines_and_from_objects() -> None:
    payloads = (
        {"created_username": " Chris Reader chris@judges.example, 8", "annotator": "dee@judges.example, 12"},
        {"updated_by": {"first_name": "Dora", "last_name": "Oak", "username": "dora", "email": None}},
        {"created_by": {"first_name": "Solo", "last_name": None}, "completed_by": 17},
    )
    secrets = found(payloads=payloads)
    assert secrets["name"] == {"Chris Reader", "Dora Oak"}
    assert secrets["e-mail"] == {"chris@judges.example", "dee@judges.example"}
    assert secrets["studio id"] == {"17"}


def test_a_local_server_keeps_addresses_names_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = LocalSecrets(frozenset({"lead@x.example"}), frozenset({"Berta Quill"}), frozenset({"t" * 40, "short"}))
    monkeypatch.setattr(leaks, "studio_folders", lambda ws: ("folder",))
    monkeypatch.setattr(leaks, "local_secrets", lambda *folders: kept)
    assert found() == {"e-mail": {"lead@x.example"}, "name": {"Berta Quill"}, "token": {"t" * 40}}


@pytest.mark.parametrize(
    ("pseudonym", "account", "tells"),
    [
        *(("ada", "Ada.Planter@judges.example", True), ("planter", "a.planter@judges.example", True)),
        *(("al", "al.planter@judges.example", False), ("ada", "adam.planter@judges.example", False)),
        *(("judges", "ada@judges.example", False), ("ada1", "ada@judges.example", True), ("ada", None, False)),
        ("zo\u00eb", "zoe@judges.example", True),
    ],
)
def test_a_pseudonym_of_three_letters_or_more_from_the_account_gives_it_away(
    pseudonym: str, account: str | None, tells: bool
) -> None:
    person = Assessor(pseudonym, account, False)
    assert telling_pseudonyms([person], allowed=()) == ((pseudonym,) if tells else ())
    assert telling_pseudonyms([person], allowed=(pseudonym,)) == ()
