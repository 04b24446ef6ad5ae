"""Backups that are taken by themselves, on a study with nothing in it but its database."""

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from annot.base.errors import MissingInput, StoreError
from annot.base.records import Draw, Pool, PoolEntry
from annot.base.settings import Settings
from annot.store import facet_labels, pools, schema
from annot.store.database import open_store
from annot.study import backups
from annot.study.backups import (
    bring_up,
    database_files,
    files_of,
    keep_backup,
    manifest_of,
    missing_part,
    top_level,
    write_backup,
)
from annot.study.workspace import Workspace
from later_release import plant

NOW = datetime(2021, 3, 14, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, for copying."""
    path = tmp_path_factory.mktemp("empty") / "annot.db"
    with open_store(f"sqlite:///{path}"):
        return path


@pytest.fixture
def ws(empty: Path, tmp_path: Path) -> Workspace:
    """A study with its settings and an empty database."""
    made = Workspace(tmp_path / "study", Settings())
    made.root.mkdir()
    made.settings_file.write_text("# settings\n")
    shutil.copy(empty, made.root)
    return made


def changed(ws: Workspace, text: str) -> None:
    ws.settings_file.write_text(f"# {text}\n")


def taken(ws: Workspace, *ages: timedelta) -> list[Path]:
    """Files with the names of backups of these ages."""
    (ws.root / "backups").mkdir(exist_ok=True)
    found = []
    for age in ages:
        path = ws.root / "backups" / f"auto-{(NOW - age).strftime(backups.MOMENT)}-push.tar.gz"
        path.write_bytes(b"")
        found.append(path)
    return found


def names(ws: Workspace) -> set[str]:
    return {path.name for path in (ws.root / "backups").iterdir()}


def test_one_holds_the_database_and_settings_and_is_private(ws: Workspace) -> None:
    (ws.root / "notes.txt").write_text("not among them")
    path = keep_backup(ws, "after push")
    assert path is not None
    assert path.name.endswith("-after-push.tar.gz")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    contents = manifest_of(path)
    assert [one.as_posix() for one in contents.files] == ["annot.toml"]
    assert (contents.whole, contents.projects, contents.notes) == (False, 0, ())
    assert contents.database.version == len(schema.MIGRATIONS)


def test_the_newest_is_compared_and_nothing_is_taken_while_it_holds_the_same(ws: Workspace) -> None:
    assert keep_backup(ws, "push") is not None
    assert keep_backup(ws, "push") is None
    changed(ws, "later")
    assert keep_backup(ws, "push") is not None
    assert keep_backup(ws, "push") is None
    changed(ws, "settings")
    (ws.root / "annot.toml").write_text("# settings\n")
    assert keep_backup(ws, "push") is not None, "the oldest holds the same, and does not count"
    assert len(names(ws)) == 3


def test_one_that_cannot_be_read_does_not_keep_another_from_being_taken(ws: Workspace) -> None:
    (broken,) = taken(ws, timedelta(0))
    assert backups._readable_manifest(broken) is None
    assert keep_backup(ws, "push") is not None


def test_the_last_ten_are_kept_and_the_last_of_each_day_for_thirty_days(ws: Workspace) -> None:
    (ws.root / "backups").mkdir()
    (ws.root / "backups" / "auto-mine.tar.gz").write_bytes(b"")
    of_today = taken(ws, *(timedelta(hours=1, minutes=at) for at in range(12)))
    of_a_day = taken(ws, *(timedelta(days=29, hours=at) for at in range(3)))
    taken(ws, timedelta(days=30), timedelta(days=31))
    backups._drop_old(ws, NOW)
    kept = [*of_today[:10], of_a_day[0]]
    assert names(ws) == {"auto-mine.tar.gz", *(path.name for path in kept)}


def test_an_older_database_is_kept_before_it_is_brought_up(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bring_up(ws) is None
    plant(monkeypatch, lambda connection: None)
    number = len(schema.MIGRATIONS)
    path = bring_up(ws)
    assert path is not None
    assert path.name.endswith(f"-before-version-{number}.tar.gz")
    with open_store(ws.database_url, create=False) as store:
        assert store.version() == number
    monkeypatch.undo()
    assert manifest_of(path).database.version == number - 1


def test_what_cannot_be_written_is_said_of_the_folder(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "write_backup", full)
    with pytest.raises(StoreError, match="a backup cannot be written: No space left on device"):
        keep_backup(ws, "push")


def test_a_backup_has_the_projects_of_the_server_if_they_are_given(ws: Workspace, tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "7.json").write_text("{}")
    with open_store(ws.database_url) as store:
        made = write_backup(
            ws, store, tmp_path / "x.tar.gz", files=[ws.settings_file], whole=True, snapshots=tmp_path / "server"
        )
    assert made is not None
    assert (made.projects, made.whole) == (1, True)
    assert backups._readable_manifest(tmp_path / "x.tar.gz") == made


def test_the_files_of_a_study_are_all_but_its_database_backups_and_links(ws: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "big.parquet").write_text("x")
    for name in ("corpus", "notes/deep", "backups", ".annot"):
        (ws.root / name).mkdir(parents=True)
        (ws.root / name / "one.txt").write_text("1")
    (ws.root / "corpus" / "big.parquet").symlink_to(outside / "big.parquet")
    (ws.root / "notes" / "big.parquet").symlink_to(outside / "big.parquet")
    (ws.root / "corpus" / "folder").symlink_to(outside, target_is_directory=True)
    kept = keep_backup(ws, "push")
    assert kept is not None
    kept.rename(ws.root / "mine.tar.gz")
    assert [path.name for path in top_level(ws)] == ["annot.toml", "corpus", "notes"]
    notes: list[str] = []
    found = [path.relative_to(ws.root).as_posix() for path in files_of(ws, notes)]
    assert found == ["annot.toml", "corpus/big.parquet", "corpus/one.txt", "notes/deep/one.txt"]
    assert notes == [
        f"corpus/folder: left out, a link to {outside}",
        f"notes/big.parquet: left out, a link to {outside / 'big.parquet'}",
    ]


def lost(ws: Workspace) -> str:
    """Message about the study once its database is missing."""
    for path in database_files(ws):
        path.unlink(missing_ok=True)
    error = missing_part(ws)
    return "" if error is None else f"{error.message}; {error.hint}".replace(str(ws.root), "ROOT")


def test_a_lost_database_is_said_with_the_way_back(ws: Workspace) -> None:
    assert missing_part(ws) is None
    ws.corpus.mkdir()
    (ws.corpus / "manifest.json").write_text("{}")
    ws.pools.mkdir()
    found = "ROOT/annot.db: found {} of a study, but no database; "
    assert lost(ws) == found.format("corpus/") + "`annot restore FILE --replace` restores the study from a backup"
    (ws.pools / "manifest.json").write_text("{}")
    assert lost(ws).startswith(found.format("corpus/ and pools/"))
    ws.exports.mkdir()
    (ws.exports / "judgements.jsonl").write_text("{}")
    assert lost(ws).startswith(found.format("corpus/ and pools/ and exports/"))
    (ws.root / "renamed.db").touch()
    assert 'set database = "renamed.db" in [store]' in lost(ws)


@pytest.mark.parametrize("whole", [True, False])
def test_the_newest_backup_is_named(ws: Workspace, whole: bool) -> None:
    with open_store(ws.database_url) as store:
        for name, day in (("old", 1), ("new", 2)):
            path = ws.root / f"{name}.tar.gz"
            write_backup(ws, store, path, files=[ws.settings_file], whole=whole is (name == "new"))
            at = datetime(2031, 1, day, 10, 30, tzinfo=UTC).timestamp()
            os.utime(path, (at, at))
    said = lost(ws)
    assert "found 2 backups of a study" in said
    if whole:
        assert said.endswith("new.tar.gz --replace` restores the study from the newest backup")
    else:
        assert "new.tar.gz` restores the database; then run" in said


def labelled(ws: Workspace) -> None:
    with ws.writing() as session:
        facet_labels.replace_labels(session, [facet_labels.FacetLabels("p1", ("method",), "carried")])


def drawn(ws: Workspace, per_method: int | None = 3) -> None:
    entry = PoolEntry("d1", Draw("bm25", 1, 1.0, 1))
    pool = Pool("p1", "blocks", per_method, 50, 1, ("bm25",), (), (), None, (entry,))
    with ws.writing() as session:
        pools.replace_pools(session, [pool], rankings_sha256={"p1": "x"})


@pytest.mark.parametrize(
    ("make", "there", "absent"),
    [
        ([], (), ""),
        ([labelled], (), "corpus/"),
        ([drawn], (), "pools/"),
        ([lambda ws: drawn(ws, None)], (), ""),
        ([labelled, drawn], (), "corpus/ and pools/"),
        ([labelled, drawn], ("corpus",), "pools/"),
        ([labelled, drawn], ("pools",), "corpus/"),
        ([labelled, drawn], ("corpus", "pools"), ""),
    ],
)
def test_folders_that_a_database_on_a_server_knows_are_missed(
    ws: Workspace, make: list[Callable[[Workspace], None]], there: tuple[str, ...], absent: str
) -> None:
    for step in make:
        step(ws)
    for name in there:
        (ws.root / name).mkdir()
        (ws.root / name / "manifest.json").write_text("{}")
    found = backups._folders_elsewhere(ws)
    if not absent:
        assert found is None
    else:
        assert isinstance(found, MissingInput)
        assert f"its study has {absent}, but this folder does not" in found.message


def test_an_empty_server_is_not_made_a_study_by_looking(ws: Workspace) -> None:
    for path in database_files(ws):
        path.unlink(missing_ok=True)
    assert backups._folders_elsewhere(ws) is None
    assert not (ws.root / "annot.db").exists()
