"""Backups that nobody asked for: when they are taken, what is in them, which are kept, and how one comes back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.study.backups import keep_backup
from annot.study.workspace import Workspace
from command_line import annot, annot_done, difference, snapshot

Study = Callable[[str], Path]


def taken(folder: Path) -> list[str]:
    """Why each was taken, the oldest first."""
    return [path.name.split("-", 2)[2].removesuffix(".tar.gz") for path in kept(folder)]


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "backups").glob("auto-*.tar.gz"))


def test_one_is_taken_before_whatever_deletes_and_none_where_nothing_is_deleted(study: Study) -> None:
    folder = study("planned")
    assert annot("query", "remove", "fic0407-background", folder=folder).exit_code == 2
    annot_done("plan", "--withdraw", "--dry-run", folder=folder)
    assert taken(folder) == []
    annot_done("plan", "--withdraw", folder=folder)
    annot_done("query", "remove", "fic0407-background", "--dry-run", folder=folder)
    annot_done("query", "remove", "fic0407-background", folder=folder)
    annot_done("pool", folder=folder)
    annot_done("pool", "--redraw", folder=folder)
    assert taken(folder) == ["before-plan-withdraw", "before-query-remove", "before-pool-redraw"]
    annot_done("assessor", "add", "a9", "--account", "a9@example.org", folder=folder)
    annot_done("restore", kept(folder)[0], "--replace", folder=folder)
    assert "fic0407-background" in annot_done("query", "list", folder=folder).stdout
    annot_done("check", "plan", folder=folder)
    assert taken(folder)[3:] == ["before-restore"]


def test_a_lost_database_comes_back_with_its_plan_and_nothing_else_changes(study: Study) -> None:
    folder = study("settled")
    before = snapshot(folder)
    path = keep_backup(Workspace.open(folder), "after pull")
    assert path is not None
    for lost in (*folder.glob("annot.db*"), folder / "pools" / "plan.jsonl"):
        lost.unlink()
    told = annot("status", folder=folder)
    assert f"`annot restore backups/{path.name}` restores the database" in told.message()
    annot_done("restore", path, "--dry-run", folder=folder)
    done = annot_done("restore", path, "--json", folder=folder)
    assert done.data["replaced"] is None
    after = snapshot(folder)
    rows = before.pop("annot.db").read()[1], after.pop("annot.db").read()[1]
    assert {name: sorted(map(repr, of)) for name, of in rows[0].items()} == {
        name: sorted(map(repr, of)) for name, of in rows[1].items()
    }
    assert [name for name in difference(before, after) if not name.startswith("backups") and "lock" not in name] == []
    annot_done("check", "files", folder=folder)


def test_a_link_in_the_place_of_the_folder_is_not_followed_unasked(study: Study, tmp_path: Path) -> None:
    folder = study("planned")
    (tmp_path / "elsewhere").mkdir()
    (folder / "backups").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(InputError, match="backups, a link, asks for"):
        keep_backup(Workspace.open(folder), "after push")
    assert list((tmp_path / "elsewhere").iterdir()) == []
