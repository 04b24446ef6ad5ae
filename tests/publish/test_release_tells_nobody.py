"""The release never tells who judged or where the server is: all of it is planted, and looked for."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from annot.publishing.release.leaks import secrets_of
from annot.store import papers, runs
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS
from annot.store.database import open_store
from annot.store.papers import PaperWriter
from annot.study.snapshot import read_for_release
from annot.study.workspace import Workspace
from study_answers import ACCOUNTS, SERVER
from study_stages import answered

PASSWORD = "Kp3-vq9_TnbW0x8yLm2Z"
TOKEN = "8f14e45fceea167a5a36dedd4bea2543fc3f5f0c"


@pytest.fixture(scope="module")
def undrawn() -> None:
    """A name can be in a figure, too: here they are drawn."""


def local_server(ws: Workspace) -> None:
    """What a local Label Studio leaves in the workspace."""
    folder = ws.cache / "studio"
    (folder / "data").mkdir(parents=True)
    administrator = {"email": "lead@annot.example", "password": "administrators-password", "token": "0" * 40}
    (folder / "admin.json").write_text(json.dumps(administrator), encoding="utf-8")
    (folder / "passwords.tsv").write_text(f"a2\t{ACCOUNTS['a2']}\t{PASSWORD}\n", encoding="utf-8")
    (folder / "data" / ".env").write_text("SECRET_KEY=key-of-the-sessions\n", encoding="utf-8")
    with closing(sqlite3.connect(folder / "data" / "label_studio.sqlite3")) as connection:
        connection.execute("CREATE TABLE authtoken_token (key TEXT, user_id INTEGER)")
        connection.execute("CREATE TABLE token_blacklist_outstandingtoken (token TEXT)")
        connection.execute("CREATE TABLE htx_user (email TEXT, first_name TEXT, last_name TEXT)")
        connection.execute("INSERT INTO authtoken_token VALUES (?, 7)", [TOKEN])
        connection.execute("INSERT INTO htx_user VALUES (?, 'Berta', 'Quill')", [ACCOUNTS["a2"]])
        connection.commit()


def first_judgement(ws: Workspace, comment: str) -> str:
    """A comment that an assessor wrote; returns what its line is known by."""
    with open_store(ws.database_url) as store, store.begin() as session:
        one = JUDGEMENTS.read(session)[0]
        changed = one._replace(record=replace(one.record, comment=comment))
        JUDGEMENTS.record(session, [changed], recorded_at="2030-02-01")
    return "judgements.jsonl:1"


def first_decision(ws: Workspace, comment: str) -> str:
    with open_store(ws.database_url) as store, store.begin() as session:
        one = ADJUDICATIONS.read(session)[0]
        changed = one._replace(record=replace(one.record, comment=comment))
        ADJUDICATIONS.record(session, [changed], recorded_at="2030-02-01")
    return "decisions.jsonl:"


def unpooled_title(ws: Workspace, title: str) -> str:
    (part,) = ws.corpus.glob("*.parquet")
    found = list(papers.read_papers(ws.corpus))
    assert found[-1].paper_id == "fic1510"
    with PaperWriter(ws.corpus, name=part.name) as writer:
        for paper in (*found[:-1], replace(found[-1], title=title)):
            writer.add(paper)
    return "beir/corpus.jsonl:150"


def settings_of_a_run(ws: Workspace, text: str) -> str:
    with open_store(ws.database_url) as store, store.begin() as session:
        run = runs.read_runs(session)[0]
        runs.put_runs(session, [run._replace(facts={**run.facts, "made_by": text})])
    return f"runs/{run.tag}.json:"


def description(ws: Workspace, text: str) -> str:
    settings: Any = tomlkit.parse(ws.settings_file.read_text(encoding="utf-8"))
    settings["collection"]["description"] = text
    ws.settings_file.write_text(tomlkit.dumps(settings), encoding="utf-8")
    return "README.md:"


def answer(ws: Workspace, text: str) -> str:
    (ws.root / "datasheet.toml").write_text(answered(collection__involved=text), encoding="utf-8")
    return "DATASHEET.md:"


PLANTED: tuple[tuple[Callable[[Workspace, str], str], str, str], ...] = (
    (first_judgement, "as Planter, Ada said", "a known name"),
    (first_decision, 'see {"task": 17}', "a known studio id"),
    (unpooled_title, f"On the letters of {ACCOUNTS['a2'].upper()}", "a known e-mail"),
    (settings_of_a_run, f"curl -H {TOKEN}", "a known token"),
    (description, f"Judged at {SERVER.removeprefix('http://')}/projects/3.", "a known studio address"),
    (answer, f"Four students; the first one had {PASSWORD}.", "a known token"),
)


def test_whatever_is_planted_is_found_where_it_is_and_nothing_is_written(
    ws: Workspace, annot: Callable, tmp_path: Path
) -> None:
    local_server(ws)
    places = [plant(ws, text) for plant, text, _ in PLANTED]
    ran = annot("release", tmp_path / "release")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "nothing written" in ran.stderr
    for place, (_, _, what) in zip(places, PLANTED, strict=True):
        assert any(place in line and what in line for line in ran.stderr.splitlines()), (place, what, ran.stderr)
    for secret in (*ACCOUNTS.values(), TOKEN, PASSWORD, SERVER, "Ada Planter", "Planter, Ada"):
        assert secret.lower() not in ran.stderr.lower()
    assert list(tmp_path.glob("*release*")) == []


def test_secrets_come_from_accounts_payloads_the_local_server_and_the_environment(ws: Workspace) -> None:
    local_server(ws)
    found = secrets_of(
        *read_for_release(ws, None),
        environ={"LABEL_STUDIO_API_KEY": "key-of-the-environment", "LABEL_STUDIO_URL": "https://other.example"},
        allowed=("Berta Quill",),
    )
    by_kind: dict[str, set[str]] = {}
    for kind, value in found:
        by_kind.setdefault(kind, set()).add(value)
    assert by_kind["e-mail"] == {*ACCOUNTS.values(), "lead@annot.example"}
    assert by_kind["name"] == {"ada planter", "jo settler"}
    assert by_kind["token"] == {
        *("administrators-password", "0" * 40, PASSWORD, TOKEN, "key-of-the-sessions", "key-of-the-environment")
    }
    assert by_kind["studio address"] == {SERVER, "https://other.example"}
    assert {"1", "5", "17", "00000000-0000-0000-0000-000000000011"} <= by_kind["studio id"]
