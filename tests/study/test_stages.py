"""Stages: the work of a command is inside `.annot/`, and is removed when the command ends or is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.study.workspace import CACHE, remove_dead_stages, stage
from command_line import annot_done

WAITS = """
import sys, time
from pathlib import Path
from annot.study.workspace import stage
with stage(Path(sys.argv[1])) as folder:
    (folder / "addresses").write_text("ada@example.org")
    print(folder, flush=True)
    time.sleep(60)
"""


def test_a_stage_is_private_in_no_repository_and_gone_at_the_end(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with stage(tmp_path) as folder:
        assert folder.parent == tmp_path / CACHE
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "addresses").write_text("ada@example.org")
        changed = ["git", "status", "--porcelain"]
        assert subprocess.run(changed, cwd=tmp_path, capture_output=True, check=True).stdout == b""
    assert [path.name for path in tmp_path.iterdir()] == [".git"]


def test_a_stage_goes_after_an_error_and_what_else_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / CACHE).mkdir()
    (tmp_path / CACHE / "mine").write_text("kept")
    with pytest.raises(ValueError, match="no"), stage(tmp_path):
        raise ValueError("no")
    assert [path.name for path in (tmp_path / CACHE).iterdir()] == ["mine"]


def test_any_command_removes_what_a_killed_one_left_and_nothing_of_a_living_one(tmp_path: Path) -> None:
    root = tmp_path / "study"
    annot_done("init", root, folder=tmp_path)
    (root / ".annot" / "stage-x").mkdir(parents=True)  # as a killed command left it
    working = subprocess.Popen([sys.executable, "-c", WAITS, str(root)], stdout=subprocess.PIPE, text=True)
    assert working.stdout is not None
    with working:
        folder = Path(working.stdout.readline().strip())
        annot_done("assessor", "list", folder=root)
        assert not (root / ".annot" / "stage-x").exists()
        assert (folder / "addresses").is_file()
        with stage(root) as second:
            assert (folder / "addresses").is_file()
            remove_dead_stages(root)
            assert second.is_dir()
        os.kill(working.pid, signal.SIGKILL)
        working.wait()
        assert (folder / "addresses").is_file()
    begun = time.monotonic()
    annot_done("assessor", "list", folder=root)
    assert not folder.exists()
    assert time.monotonic() - begun < 30


def test_a_folder_for_stages_that_leads_elsewhere_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / CACHE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="outside this study"), stage(tmp_path / "study"):
        pass
    assert not list((tmp_path / "elsewhere").iterdir())
