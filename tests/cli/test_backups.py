"""Back-ups are whole or none, and so is a restore."""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from annot.steps import backup as restore
from command_line import annot, annot_done, difference, snapshot


def study_files(folder: Path) -> dict[str, object]:
    """A snapshot without what the program keeps beside the study, and without empty folders."""
    made_again = ("backups", ".annot/corpus.json", ".annot/states.json", ".annot/near-duplicates")
    found = {name: there for name, there in snapshot(folder).items() if not name.startswith(made_again)}
    _, tables = found.pop("annot.db").read()
    rows = {name: sorted(rows, key=repr) for name, rows in tables.items()}
    return {**{name: there for name, there in found.items() if there is not None}, "annot.db": rows}


@pytest.fixture(scope="module")
def taken(stages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a backup and its study, which tests copy."""
    place = tmp_path_factory.mktemp("taken")
    folder = Path(shutil.copytree(stages["settled"], place / "study"))
    (folder / "notes").mkdir()
    (folder / "notes" / "meeting.txt").write_text("what we agreed on", encoding="utf-8")
    annot_done("backup", place / "kept.tar.gz", folder=folder)
    return place


@pytest.fixture
def backup(taken: Path, tmp_path: Path) -> Path:
    """A backup of a study that is settled, with a file of the lead's own; the study is there still."""
    shutil.copytree(taken, tmp_path, dirs_exist_ok=True)
    return tmp_path / "kept.tar.gz"


def test_what_is_restored_is_what_was_there(backup: Path, tmp_path: Path) -> None:
    annot_done("restore", backup, tmp_path / "again", folder=tmp_path)
    assert not difference(study_files(tmp_path / "study"), study_files(tmp_path / "again"))
    assert (tmp_path / "again" / "annot.db").stat().st_mode & 0o777 == 0o600
    assert (
        annot_done("status", "--json", folder=tmp_path / "again").data
        == annot_done("status", "--json", folder=tmp_path / "study").data
    )


def test_a_study_is_not_restored_over_another_unasked(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / "annot.toml").write_text('[collection]\nname = "changed-since"\n', encoding="utf-8")
    before = snapshot(folder)
    refused = annot("restore", backup, folder=folder)
    assert refused.exit_code == 2
    assert "not empty, found " in refused.stderr
    assert "--replace" in refused.stderr
    assert not difference(before, snapshot(folder))
    done = annot_done("restore", backup, "--replace", "--json", folder=folder)
    annot_done("status", folder=folder)
    assert "changed-since" not in (folder / "annot.toml").read_text(encoding="utf-8")
    aside = Path(folder / done.data["replaced"])
    assert "changed-since" in (aside / "annot.toml").read_text(encoding="utf-8")
    assert (aside / "annot.db").is_file()
    annot_done("restore", backup, tmp_path / "fresh", folder=tmp_path)
    assert not difference(study_files(tmp_path / "fresh"), study_files(folder))


def damaged(backup: Path, how: str) -> None:
    content = backup.read_bytes()
    if how == "cut off":
        backup.write_bytes(content[: len(content) // 2])
    elif how == "a byte is another":
        middle = len(content) // 2
        backup.write_bytes(content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :])
    elif how == "no archive":
        backup.write_text("my notes\n")
    else:
        repacked(backup, how)


def repacked(backup: Path, how: str) -> None:
    """Somebody unpacked it, changed something, and packed it again."""
    folder = backup.parent / "unpacked"
    with tarfile.open(backup) as tar:
        tar.extractall(folder, filter="data")
        names = tar.getnames()
    if how == "a grade is another":
        path = folder / "database" / "judgement.jsonl"
        path.write_text(path.read_text("utf-8").replace('"grade": 1', '"grade": 3', 1), encoding="utf-8")
    elif how == "a file is gone":
        names.remove("files/notes/meeting.txt")
    elif how == "a file is new":
        (folder / "files" / "new.txt").write_text("new")
        names.insert(1, "files/new.txt")
    elif how == "no manifest":
        names.remove("annot-backup.json")
    with tarfile.open(backup, "w:gz") as tar:
        for name in names:
            tar.add(folder / name, arcname=f"../{name}" if how == "out of the folder" else name)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut off", "not a complete backup"),
        ("a byte is another", "backup"),
        ("no archive", "not a complete backup"),
        ("a grade is another", "database/judgement.jsonl: found SHA-256"),
        ("a file is gone", "files/notes/meeting.txt: missing"),
        ("a file is new", "'files/new.txt': not in its manifest"),
        ("no manifest", "it does not begin with annot-backup.json"),
        ("out of the folder", "it does not begin with annot-backup.json"),
    ],
)
def test_a_damaged_backup_is_refused_and_leaves_nothing(how: str, words: str, backup: Path, tmp_path: Path) -> None:
    damaged(backup, how)
    target = tmp_path / "target"
    for arguments in (["--dry-run"], []):
        refused = annot("restore", backup, target, *arguments, folder=tmp_path)
        assert refused.exit_code == 2
        assert words in refused.message()
        assert not target.exists()
    before = snapshot(tmp_path / "study")
    assert annot("restore", backup, "--replace", folder=tmp_path / "study").exit_code == 2
    assert not difference(before, snapshot(tmp_path / "study"))


def test_a_restore_that_fails_half_way_leaves_the_study_as_it_was(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    (folder / "notes" / "later.txt").write_text("later")
    before = snapshot(folder)
    move = restore._move
    steps = 0

    def fails(undo: ExitStack, source: Path, target: Path) -> None:
        nonlocal steps
        steps += 1
        if steps == last:
            raise OSError(28, "No space left on device", str(target))
        move(undo, source, target)

    monkeypatch.setattr(restore, "_move", fails)
    for last in (2, 14):
        steps = 0
        failed = annot("restore", backup, "--replace", folder=folder)
        assert failed.exit_code == 2
        assert "the disk is full" in failed.stderr
        shutil.rmtree(folder / "backups", ignore_errors=True)
        assert not difference(before, snapshot(folder)), last


DIES = """
import os, signal, sys
from annot.steps import backup
from annot.store.database import open_store
from annot.store.answers import JUDGEMENTS
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
move, left = backup._move, int(sys.argv.pop(1))
def dies(undo, source, target):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    move(undo, source, target)
backup._move = dies
from annot.cli.main import run
run()
"""


def test_a_restore_killed_half_way_is_no_study_and_then_a_whole_one(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    before, status = study_files(folder), annot_done("status", "--json", folder=folder).data
    words = [sys.executable, "-c", DIES, "5", "restore", str(backup), "--replace"]
    killed = subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert killed.returncode == -signal.SIGKILL
    assert "not a study (no annot.toml)" in annot("status", "--json", folder=folder).stderr
    annot_done("restore", backup, "--replace", folder=folder)
    assert annot_done("status", "--json", folder=folder).data == status
    assert set(study_files(folder)) == set(before)


@pytest.mark.postgres
def test_a_study_on_postgres_is_replaced_whole_or_not_at_all(
    backup: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOT_DATABASE", postgres_url)
    folder = tmp_path / "shared"
    annot_done("restore", backup, folder, folder=tmp_path)
    status = annot_done("status", "--json", folder=folder).data
    annot_done("assessor", "add", "a9", "--account", "a9@example.org", folder=folder)
    assert "a study in its database" in annot("restore", backup, tmp_path / "other", folder=tmp_path).stderr
    assert not (tmp_path / "other").exists()

    def people() -> int:
        return len(annot_done("assessor", "list", "--json", folder=folder).data)

    move = restore._move

    def fails(undo: ExitStack, source: Path, target: Path) -> None:
        if source.name == "pools" and ".annot/stage-" in str(source):
            raise OSError(28, "No space left on device", str(target))
        move(undo, source, target)

    with monkeypatch.context() as patch:
        patch.setattr(restore, "_move", fails)
        assert annot("restore", backup, "--replace", folder=folder).exit_code == 2
    assert people() == 6
    annot_done("check", "files", folder=folder)
    aside = annot_done("restore", backup, "--replace", "--json", folder=folder).data["replaced"]
    assert people() == 5
    assert annot_done("status", "--json", folder=folder).data == status
    # What was replaced comes back, too: the database by itself.
    assert (folder / aside / "annot.toml").is_file()
    kept = max((folder / "backups").glob("auto-*-before-restore.tar.gz"))
    annot_done("restore", kept, "--replace", folder=folder)
    assert people() == 6
    annot_done("check", "files", folder=folder)
