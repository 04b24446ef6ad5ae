"""A study lost and restored on an empty machine goes on as if nothing had been: nothing is sent or taken twice."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from command_line import annot, annot_done
from memory_studio import StudioOfMemory
from postgres import PostgresServer
from studies import Pair, Study, make_study

pytestmark = pytest.mark.postgres


def history(url: str, pairs: list[Pair]) -> list[Any]:
    """Every revision of every judgement."""
    with open_store(url, create=False) as store, store.read() as session:
        return [one for pair in sorted(pairs) for one in JUDGEMENTS.history(session, *pair)]


def files_of(folder: Path) -> dict[str, bytes]:
    """The study's files, without its server, database and backups, and without the note of what was made when."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.relative_to(folder).parts[0] not in (".annot", "backups", "made.json")
        and "annot.db" not in path.name
    }


def projects_in(backup: Path) -> dict[str, dict[str, Any]]:
    with tarfile.open(backup) as tar:
        return {
            name: json.load(content)
            for name in tar.getnames()
            if name.startswith("server/") and (content := tar.extractfile(name))
        }


def test_a_restored_study_changes_nothing_that_is_not_new(
    memory: StudioOfMemory,
    postgres_server: PostgresServer,
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = make_study(tmp_path / "study", memory, name="backed-up", per_method=4)
    ws, pairs = study.workspace, study.planned()["a1"]
    annot_done("push", folder=study.folder)
    study.judge("a1", dict.fromkeys(pairs[:4], 2))
    study.judge("a2", {pairs[0]: 2, pairs[1]: None})
    annot_done("pull", folder=study.folder)
    study.judge("a2", {pairs[2]: 1}, comment="not pulled when the backup was taken")
    sqlite = ws.database_url
    before, kept, tasks = history(sqlite, pairs), files_of(study.folder), study.in_store("a1")
    backup = tmp_path / "study.tar.gz"

    taken = annot_done("backup", backup, "--json", folder=study.folder)
    (told,) = taken.stderr.splitlines()
    assert told.startswith("a2: 1 answer not pulled; run `annot pull`")
    assert (taken.data["projects"], taken.data["rows"]["judgement"]) == (2, 6)
    assert backup.stat().st_mode & 0o777 == 0o600
    copies = projects_in(backup)
    on_server = {name: study.on_server(name) for name in ("a1", "a2")}
    assert sorted(copies) == [f"server/judge-{name}-{study.projects()[name][0]}.json" for name in ("a1", "a2")]
    for copy in copies.values():
        name = "a1" if "for a1 alone" in copy["project"]["description"].lower() else "a2"
        expected = {task["id"]: [one["result"] for one in task["annotations"]] for task in on_server[name]}
        assert {task["id"]: [one["result"] for one in task["annotations"]] for task in copy["tasks"]} == expected
        assert "label_config" in copy["project"]

    people = study.copy(tmp_path / "people", study.name)
    shutil.rmtree(study.folder)
    people.judge("a1", {pairs[5]: 3})
    monkeypatch.setenv("LABEL_STUDIO_URL", memory.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", memory.token)
    for kind, url in (("sqlite", None), ("postgres", postgres_url)):
        if url is not None:
            monkeypatch.setenv("ANNOT_DATABASE", url)
        folder = tmp_path / "machines" / kind / "study"
        restored = Study(folder, memory)
        annot_done("restore", backup, folder, folder=tmp_path)
        url = restored.workspace.database_url
        assert (folder / "annot.db").exists() == (kind == "sqlite")
        assert files_of(folder) == kept
        assert history(url, pairs) == before
        annot_done("check", "files", folder=folder)

        pushed = annot_done("push", "--json", folder=folder).data["projects"]
        assert [(one["there"], one["sent"]) for one in pushed] == [(len(pairs), 0), (len(pairs), 0)]
        pulled = annot_done("pull", "--json", folder=folder).data["assessors"]
        # One was not pulled before the backup, one came after it.
        assert [(one["assessor"], one["new"], one["changed"]) for one in pulled] == [("a1", 1, 0), ("a2", 1, 0)]
        again = annot_done("pull", "--json", folder=folder).data["assessors"]
        assert [(one["new"], one["changed"]) for one in again] == [(0, 0), (0, 0)]
        assert len(history(url, pairs)) == len(before) + 2
        assert restored.in_store("a1") == tasks
        assert {name: len(ids) for name, ids in restored.projects().items()} == {"a1": 1, "a2": 1}
    assert {name: len(people.on_server(name)) for name in ("a1", "a2")} == {"a1": len(pairs), "a2": len(pairs)}

    # From PostgreSQL back to SQLite, and without a server: told, and everything else is there.
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")
    second = tmp_path / "second.tar.gz"
    lacking = annot_done("backup", second, "--json", folder=folder)
    assert "no copies of 2 projects on Label Studio: no server answers" in lacking.stderr
    assert lacking.data["projects"] == 0
    now = history(url, pairs)
    monkeypatch.delenv("ANNOT_DATABASE")
    back = tmp_path / "back"
    annot_done("restore", second, back, folder=tmp_path)
    assert history(Study(back, memory).workspace.database_url, pairs) == now
    assert annot("restore", second, back, folder=tmp_path).exit_code == 2
