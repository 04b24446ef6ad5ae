"""A study back from its backup: what is in the way, what is moved, and where its database may be."""

import errno
import shutil
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.steps import backup
from annot.study.backups import BACKUPS, keep_backup
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace
from small_study import FirstPairs, Small
from study_stages import copied, files_of, quietly


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path_factory.mktemp("restore") / "study")


@pytest.fixture(scope="module")
def kept(ws: Workspace) -> Path:
    path = ws.root.parent / "study.zip"
    backup.backup(ws, path, dry_run=False, advance=quietly)
    return path


def restored(path: Path, root: Path, *, replaced: bool = False, dry_run: bool = False) -> backup.RestoredStudy:
    return backup.restore(path, root, replace=replaced, wait_seconds=1, dry_run=dry_run)


def rows(found: backup.RestoredStudy) -> tuple[int, int]:
    return found.rows["judgement"], found.rows["adjudication"]


def test_a_dry_backup_counts_what_a_real_one_holds(ws: Workspace, kept: Path, tmp_path: Path) -> None:
    dry = backup.backup(ws, tmp_path / "dry.zip", dry_run=True, advance=quietly)
    assert (dry.size, dry.projects, dry.rows["judgement"]) == (None, 0, 20)
    assert not dry.path.exists()
    with pytest.raises(InputError, match="already exists"):
        backup.backup(ws, kept, dry_run=True, advance=quietly)


def test_a_study_comes_back_into_a_new_folder_below_others(ws: Workspace, kept: Path, tmp_path: Path) -> None:
    root = tmp_path / "some" / "where"
    found = restored(kept, root)
    assert (rows(found), found.replaced, found.projects) == ((20, 2), None, 0)
    assert (root / SETTINGS_FILE).read_bytes() == ws.settings_file.read_bytes()
    assert not (root / CACHE).exists()


def test_a_dry_run_leaves_no_trace(kept: Path, tmp_path: Path) -> None:
    assert rows(restored(kept, tmp_path / "new", dry_run=True)) == (20, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_backup_that_is_damaged_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"nothing")
    with pytest.raises(InputError):
        restored(tmp_path / "bad.zip", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.zip"]


def test_five_of_the_files_in_the_way_are_named(kept: Path, tmp_path: Path) -> None:
    root = tmp_path / "full"
    root.mkdir()
    names = [f"file{at}" for at in range(6)]
    for name in names:
        (root / name).write_text("mine", encoding="utf-8")
    before = files_of(root)
    with pytest.raises(InputError) as error:
        restored(kept, root)
    assert error.value.message == f"{root}: not empty, found {', '.join(names[:5])}"
    assert files_of(root) == before
    found = restored(kept, root, replaced=True)
    assert found.replaced is not None
    assert found.replaced.parent == root / BACKUPS
    assert files_of(found.replaced).keys() == set(names)


def test_part_of_a_study_goes_into_its_folder(ws: Workspace, tmp_path: Path) -> None:
    """A backup that a command takes by itself has no corpus: files that are the same stay where they are."""
    root = tmp_path / "study"
    shutil.copytree(ws.root, root)
    own = Workspace.open(root)
    (root / "pools").mkdir(exist_ok=True)
    path = keep_backup(own, "before a test")
    assert path is not None
    settings = root / SETTINGS_FILE
    found = restored(path, root, replaced=True)
    assert rows(found) == (20, 2)
    moved = files_of(found.replaced) if found.replaced else {}
    assert SETTINGS_FILE not in moved
    settings.write_text(settings.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    found = restored(path, root, replaced=True)
    assert found.replaced is not None
    assert SETTINGS_FILE in files_of(found.replaced)
    assert "# changed" not in settings.read_text(encoding="utf-8")


# -- moves -------------------------------------------------------------------------------------------------------------


def test_what_was_moved_goes_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    (tmp_path / "b").write_text("b", encoding="utf-8")
    with ExitStack() as undo:
        backup._move(undo, tmp_path / "a", tmp_path / "new" / "deep" / "a")
        backup._move(undo, tmp_path / "b", tmp_path / "new" / "deep" / "b")
        backup._move(undo, tmp_path / "new" / "deep" / "b", tmp_path / "c")
        with pytest.raises(FileExistsError):
            backup._move(undo, tmp_path / "c", tmp_path / "new" / "deep" / "a")
    assert files_of(tmp_path) == {"a": b"a", "b": b"b"}


def test_a_move_to_another_disk_copies_and_any_other_error_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = errno.EXDEV

    def rename(_path: Path, _target: Path) -> Path:
        raise OSError(number, "no")

    monkeypatch.setattr(Path, "rename", rename)
    copies: list[tuple[str, str]] = []
    monkeypatch.setattr(shutil, "move", lambda source, target: copies.append((source.name, target.name)))
    undo = ExitStack()
    backup._move(undo, tmp_path / "a", tmp_path / "b")
    assert copies == [("a", "b")]
    number = errno.EACCES
    with pytest.raises(PermissionError):
        backup._move(undo, tmp_path / "a", tmp_path / "b")


def test_the_settings_move_in_last(tmp_path: Path) -> None:
    for name in ("old/annot.toml", "old/notes", "elsewhere/annot.db", "new/annot.toml", "new/notes"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    old, new, aside = tmp_path / "old", tmp_path / "new", tmp_path / "aside"
    outgoing = [old / "annot.toml", old / "notes", old / "annot.toml", tmp_path / "elsewhere" / "annot.db"]
    study: Any = SimpleNamespace(root=new)
    backup._exchange(ExitStack(), outgoing, [new / "annot.toml", new / "notes"], aside, study, old)
    assert {name: path.decode() for name, path in files_of(tmp_path).items()} == {
        "old/notes": "new/notes",
        "new/annot.toml": "new/annot.toml",
        "aside/annot.toml": "old/annot.toml",
        "aside/notes": "old/notes",
        "aside/annot.db": "elsewhere/annot.db",
    }


# -- the database ------------------------------------------------------------------------------------------------------


def holding(*files: str) -> Any:
    return SimpleNamespace(files=[PurePosixPath(name) for name in files])


def test_the_database_is_a_file_of_the_study_and_not_in_the_backup(ws: Workspace) -> None:
    backup._check_database(ws, holding("annot.toml"))
    with pytest.raises(InputError, match=r"annot\.db in the backup: found a file"):
        backup._check_database(ws, holding("annot.db", "annot.toml"))
    inside = ws.replaced("store", database=f"{BACKUPS}/annot.db")
    with pytest.raises(InputError, match="expected a file in the folder of the study"):
        backup._check_database(inside, holding())


def test_a_database_that_the_environment_names_may_be_anywhere(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOT_DATABASE", "elsewhere.db")
    backup._check_database(ws, holding("annot.db"))


def test_a_database_on_a_server_is_no_file(ws: Workspace) -> None:
    away: Any = SimpleNamespace(root=ws.root, database_file=None, settings=ws.settings)
    backup._check_database(away, holding("annot.db"))
    outside: Any = SimpleNamespace(root=ws.root, database_file=ws.root.parent / "o.db", settings=ws.settings)
    backup._check_database(outside, holding("annot.db"))
