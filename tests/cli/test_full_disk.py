"""A disk without room: the message says so, says where, and what to do; then the same command does its work."""

import errno
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.cli.main import refusal
from annot.store.database import in_words
from annot.study import backups
from annot.study.workspace import write_file
from command_line import annot, annot_done
from sqlalchemy.exc import OperationalError

LEFT = "no file was left half-written"


def resized(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 KB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(folder)], capture_output=True)
    if made.returncode:
        pytest.skip("only root may mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_on_a_full_disk_a_command_says_so_and_works_once_there_is_room(tiny: Path, tmp_path: Path) -> None:
    study = tiny / "study"
    for size in ("8k", "200k"):
        resized(tiny, size)
        refused = annot("init", study, folder=tmp_path)
        assert refused.exit_code == 2
        assert "the disk is full" in refused.stderr
        assert str(tiny) in refused.stderr
        assert LEFT in refused.stderr
        assert "next:" not in refused.stderr
    resized(tiny, "1m")
    annot_done("init", study, folder=tmp_path)
    (tiny / "filler").write_bytes(b"x" * shutil.disk_usage(tiny).free)
    refused = annot("assessor", "add", "a1", "--account", "a1@example.org", "-C", study, folder=tmp_path)
    assert (refused.exit_code, f"{study}: the disk is full (0 kB are free)" in refused.stderr) == (2, True)
    (tiny / "filler").unlink()
    assert annot_done("assessor", "list", "--json", folder=study).data == []
    annot_done("assessor", "add", "a1", "--account", "a1@example.org", folder=study)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_the_system_names_no_file_and_the_program_does(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(number, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        write_file(tmp_path / "page.html", "text")
    said = refusal(caught.value)
    assert said.message.startswith(f"{tmp_path / 'page.html'}: the disk is full (")
    assert LEFT in (said.hint or "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("detail", "free", "words"),
    [
        ("database or disk is full", 1 << 40, "the disk is full"),
        ("disk I/O error", 0, "the disk is full (0 kB are free)"),
        ("disk I/O error", 1 << 40, "cannot be read or written: disk I/O error"),
    ],
)
def test_what_sqlite_says_of_a_full_disk_is_told_apart_from_one_that_fails(
    detail: str, free: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1 << 41, 1 << 40, free))  # type: ignore[attr-defined]
    error = OperationalError("SELECT 1", {}, sqlite3.OperationalError(detail))
    said = in_words(error, str(tmp_path / "annot.db"), None)
    assert words in said.message
    assert said.message.startswith(str(tmp_path))
    assert said.hint


def test_a_backup_that_finds_no_room_when_it_is_unpacked_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "study"
    annot_done("init", study, folder=tmp_path)
    annot_done("backup", tmp_path / "kept.tar.gz", folder=study)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(backups.shutil, "copyfileobj", full)
    refused = annot("restore", tmp_path / "kept.tar.gz", tmp_path / "new", folder=tmp_path)
    assert refused.exit_code == 2
    assert "the disk is full" in refused.stderr
    assert "not a complete backup" not in refused.stderr
    assert not (tmp_path / "new").exists()
