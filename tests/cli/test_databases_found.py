"""A study's database: gone, of an earlier version, without its folders, and private."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from command_line import annot, annot_done, difference, snapshot

Study = Callable[[str], Path]


OF_A_STUDY = ("status", "check files", "plan", "corpus", "guidelines method")
FROZEN = Path(__file__).resolve().parents[1] / "store" / "frozen"


def older(folder: Path) -> Path:
    """A study whose database is of the first version."""
    (folder / "annot.db").unlink()
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.executescript((FROZEN / "version-1.sqlite.sql").read_text(encoding="utf-8"))
    return folder


def test_a_database_that_is_gone_from_beside_its_study_is_told_with_the_newest_backup(study: Study) -> None:
    folder = study("planned")
    for name in ("older", "newer"):
        annot_done("backup", folder / "backups" / f"{name}.tar.gz", folder=folder)
    os.utime(folder / "backups" / "older.tar.gz", (1_700_000_000, 1_700_000_000))
    (folder / "annot.db").unlink()
    for command in OF_A_STUDY:
        told = annot(*command.split(), folder=folder)
        assert "annot.db: no database there, but corpus/ and pools/ and 2 backup(s) of a study" in told.message()
        assert "annot restore backups/newer.tar.gz --replace" in told.message()
        assert "make the study with" not in told.message()
        assert not (folder / "annot.db").exists()
    made = annot_done("init", folder=folder)
    assert "annot restore backups/newer.tar.gz --replace" in made.stderr
    annot_done("restore", "backups/newer.tar.gz", "--replace", folder=folder)
    for command in OF_A_STUDY:
        assert "annot restore" not in annot_done(*command.split(), folder=folder).stderr


@pytest.mark.postgres
def test_in_a_second_folder_on_the_same_server_the_folders_to_share_are_named(
    study: Study, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, second = study("planned"), tmp_path / "second"
    annot_done("backup", tmp_path / "study.tar.gz", folder=folder)
    monkeypatch.setenv("ANNOT_DATABASE", postgres_url)
    annot_done("restore", tmp_path / "study.tar.gz", tmp_path / "first", folder=tmp_path)
    annot_done("init", second, "--name", "annot-demo", folder=tmp_path)
    for command in ("pool", "corpus", "run fabs_tfidf"):
        told = annot(*command.split(), folder=second)
        assert "holds a study whose corpus/ and pools/ are not in this folder" in told.message()
        assert "share it with everyone who leads the study" in told.message()
        assert "corpus add" not in told.message()
        assert told.exit_code == 2
    status = annot_done("status", folder=second)
    assert "whose corpus/ and pools/ are not in this folder" in status.stderr
    assert annot_done("status", folder=tmp_path / "first").stderr == ""


def test_an_older_database_is_left_alone_by_every_command_but_one(study: Study, tmp_path: Path) -> None:
    folder = older(study("made"))
    before = snapshot(folder)
    for words in ("status", "agreement", "pool", "plan", "init .", "push --dry-run", "check", "backup ../b.tar.gz"):
        refused = annot(*words.split(), folder=folder)
        assert refused.exit_code == 2, words
        assert "version 1 of an earlier annot" in refused.stderr
        assert "`annot migrate`" in refused.stderr
        assert not difference(before, snapshot(folder)), words
    annot_done("migrate", "--dry-run", folder=folder)
    assert not difference(before, snapshot(folder))
    done = annot_done("migrate", "--json", folder=folder).data
    backup = folder / done["backup"]
    assert (done["before"], backup.parent) == (1, folder / "backups")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [one["judged"] for one in annot_done("status", "--json", folder=folder).data["assessors"]] == [4, 2]
    annot_done("migrate", folder=folder)
    assert [path.name for path in (folder / "backups").iterdir()] == [backup.name]

    # And back with the annot that it was taken with; this one refuses it.
    before = snapshot(folder)
    refused = annot("restore", backup, "--replace", folder=folder)
    assert "holds a database of version 1, expected " in refused.stderr
    assert not difference(before, snapshot(folder))


def test_the_database_and_what_lies_beside_it_are_private(tmp_path: Path) -> None:
    annot_done("init", "study", folder=tmp_path)
    folder = tmp_path / "study"
    assert (folder / "annot.db").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        connection.execute("CREATE TEMP TABLE x (y)")
        connection.execute("UPDATE annot_schema SET version = version")
        beside = {path.name: path.stat().st_mode & 0o777 for path in folder.glob("annot.db-*")}
    assert beside
    assert set(beside.values()) == {0o600}
    ignored = (folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/annot.db*", "/.annot/", "/backups/"} <= set(ignored)
    (folder / ".gitignore").write_text("# mine\n")
    annot_done("init", folder=folder)
    assert (folder / ".gitignore").read_text() == "# mine\n"
