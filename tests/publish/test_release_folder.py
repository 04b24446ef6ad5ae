"""The folder of a release under kills: the old release or the new one, never a part of one."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.publishing.release import released_files
from annot.publishing.release.released_files import restore_folder, write_folder
from study_stages import files_of

OLD = {"a.txt": b"old", "sub/b.txt": b"old"}
NEW = {"a.txt": b"new", "c/d/e.txt": b"new"}


def test_the_new_release_takes_the_place_of_the_old_one_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write_folder(tmp_path / "r", OLD)
    write_folder(tmp_path / "r", NEW)
    assert files_of(tmp_path) == {f"r/{path}": content for path, content in NEW.items()}
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


@pytest.mark.parametrize("there", [True, False])
def test_an_interruption_while_writing_leaves_what_was(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there:
        write_folder(tmp_path / "r", OLD)
    before = files_of(tmp_path)
    written: list[Path] = []

    def interrupted(path: Path, content: bytes) -> None:
        if written:
            raise KeyboardInterrupt
        path.write_bytes(content)
        written.append(path)

    monkeypatch.setattr(released_files, "write_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "r", NEW)
    assert written
    assert files_of(tmp_path) == before


def test_an_interruption_between_the_two_moves_brings_the_old_release_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "r", OLD)
    rename = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        if path.name.endswith("annot-new"):
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "r", NEW)
    assert files_of(tmp_path) == {f"r/{path}": content for path, content in OLD.items()}


def test_what_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    """Killed while writing: a part beside. Killed between the moves: the old release beside. Killed after: both."""
    (tmp_path / ".r.annot-new" / "half").mkdir(parents=True)
    (tmp_path / ".r.annot-new" / "half" / "a.txt").write_bytes(b"ha")
    (tmp_path / ".r.annot-old").mkdir()
    (tmp_path / ".r.annot-old" / "a.txt").write_bytes(b"old")
    restore_folder(tmp_path / "r")
    assert (tmp_path / "r" / "a.txt").read_bytes() == b"old"
    write_folder(tmp_path / "r", NEW)
    assert files_of(tmp_path) == {f"r/{path}": content for path, content in NEW.items()}
    (tmp_path / ".r.annot-old").mkdir()
    restore_folder(tmp_path / "r")
    write_folder(tmp_path / "r", OLD)
    assert files_of(tmp_path) == {f"r/{path}": content for path, content in OLD.items()}
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_two_writers_of_one_folder_refuse_each_other(tmp_path: Path) -> None:
    aside = tmp_path / ".r.annot-new"
    aside.mkdir()
    handle = os.open(aside, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process"):
            write_folder(tmp_path / "r", NEW)
        assert not (tmp_path / "r").exists()
    finally:
        os.close(handle)
    write_folder(tmp_path / "r", NEW)
    assert files_of(tmp_path / "r") == NEW
