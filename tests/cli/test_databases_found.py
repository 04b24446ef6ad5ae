"""A study's database: gone, of an earlier version, without its folders, and private."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from annot import __version__
from annot.store import schema
from command_line import annot, annot_done, difference, snapshot
from later_release import RELEASE, plant
from sqlalchemy import Connection, text
from study_stages import set_in

Study = Callable[[str], Path]


OF_A_STUDY = ("status", "check files", "plan", "corpus show", "guidelines method")


def test_a_database_that_is_gone_from_beside_its_study_is_told_with_the_newest_backup(study: Study) -> None:
    folder = study("planned")
    for name in ("older", "newer"):
        annot_done("backup", folder / "backups" / f"{name}.tar.gz", folder=folder)
    os.utime(folder / "backups" / "older.tar.gz", (1_700_000_000, 1_700_000_000))
    (folder / "annot.db").unlink()
    for command in OF_A_STUDY:
        told = annot(*command.split(), folder=folder)
        assert "annot.db: found corpus/ and pools/ and 2 backups of a study, but no database" in told.message()
        assert "annot restore backups/newer.tar.gz --replace" in told.message()
        assert "make the study with" not in told.message()
        assert not (folder / "annot.db").exists()
    before = snapshot(folder)
    for words in (("init",), ("init", "--dry-run"), ("init", folder)):
        refused = annot(*words, folder=folder)
        assert refused.exit_code == 2
        assert "annot restore backups/newer.tar.gz --replace" in refused.message()
        assert "to begin another study, use another folder" in refused.message()
    assert not difference(before, snapshot(folder))
    # The settings are gone, too: what is in backups/ says that there was a study.
    (folder / "annot.toml").unlink()
    assert "annot restore backups/newer.tar.gz" in annot("init", folder=folder).message()
    annot_done("restore", "backups/newer.tar.gz", "--replace", folder=folder)
    for command in OF_A_STUDY:
        assert "annot restore" not in annot_done(*command.split(), folder=folder).stderr


def add_a_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE query ADD COLUMN note TEXT"))


def test_a_database_of_an_earlier_version_is_brought_up_by_a_command_that_writes(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study("planned")
    with monkeypatch.context() as patch:
        plant(patch, add_a_column)
        later = brought_up(folder)
    refused = annot("restore", later, tmp_path / "other", folder=folder)
    assert refused.exit_code == 2
    assert f"made by annot {__version__}" in refused.stderr
    assert "update annot" in refused.message()
    # A setting that only the later one knows is no fault of the file: the release is named first.
    for words in ("status", "plan", "status -C ."):
        set_in(folder, {"pool": {"new_in_release": 1}} if "-C" in words else {})
        refused = annot(*words.split(), folder=folder)
        assert refused.exit_code == 2
        assert f"the study needs annot {RELEASE} or later, this is {__version__}" in refused.stderr


def brought_up(folder: Path) -> Path:
    """Bring the study to a later version, and back and forth by its backups; a backup of the later version."""
    before = snapshot(folder)
    for words in ("status", "check plan", "plan --dry-run"):
        annot(*words.split(), folder=folder)
        assert not difference(before, snapshot(folder)), words
    done = annot_done("plan", folder=folder)
    (backup,) = (folder / "backups").iterdir()
    assert f"the backup from before is {Path('backups') / backup.name}" in done.stderr
    assert backup.stat().st_mode & 0o777 == 0o600
    for words in ("status", "plan", "check plan"):
        annot_done(*words.split(), folder=folder)
    assert [path.name for path in (folder / "backups").iterdir()] == [backup.name]
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        assert connection.execute("SELECT MAX(version) FROM annot_schema").fetchone() == (len(schema.MIGRATIONS),)
        assert connection.execute("SELECT COUNT(note) FROM query").fetchone() == (0,)

    later = folder / "later.tar.gz"
    annot_done("backup", later, folder=folder)
    annot_done("restore", backup, "--replace", folder=folder)
    annot_done("check", "plan", folder=folder)
    with closing(sqlite3.connect(folder / "annot.db")) as connection:
        assert connection.execute("SELECT MAX(version) FROM annot_schema").fetchone() == (len(schema.MIGRATIONS),)
        assert connection.execute("SELECT COUNT(note) FROM query").fetchone() == (0,)
    return later


def test_a_database_of_an_unreleased_state_is_refused_with_what_to_do(study: Study) -> None:
    folder = study("made")
    with closing(sqlite3.connect(folder / "annot.db")) as connection, connection:
        connection.execute("UPDATE annot_schema SET schema_sha256 = 'another'")
    before = snapshot(folder)
    for words in ("status", "agreement", "pool", "plan", "init .", "push --dry-run", "check", "backup ../b.tar.gz"):
        refused = annot(*words.split(), folder=folder)
        assert refused.exit_code == 2, words
        assert "the database was made by an unreleased version of annot" in refused.message()
        assert "restore it with this one in a new folder" in refused.message()
        assert not difference(before, snapshot(folder)), words


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
