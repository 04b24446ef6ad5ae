"""Studies that released versions wrote, opened by this one: `tests/frozen/MAJOR.MINOR/`, made by `make.py`."""

import hashlib
import json
import lzma
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import annot as library
import psycopg
import pytest
from annot.base.settings import read_settings
from annot.store import schema
from annot.store.answers import JUDGEMENTS, unsound_revisions
from annot.store.database import connect_store
from annot.store.shown import content, display_parts
from annot.study.workspace import Workspace
from command_line import annot_done
from fixtures_studio import Studio
from postgres import PostgresServer
from story import keys_of_json
from studies import Study, renamed

HERE = Path(__file__).resolve().parent
RELEASES = sorted(path.name for path in HERE.iterdir() if path.name[:1].isdigit())
KINDS = ("facets", "questions")
OPEN = 5
DATABASES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgres))


class Frozen(NamedTuple):
    """What a release left behind, and a folder of the test's own with its study."""

    left: Path
    folder: Path

    def export(self, name: str) -> bytes:
        return (self.left / "folder" / "exports" / name).read_bytes()


@pytest.fixture(params=DATABASES)
def new_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str | None]:
    """Name an empty database of this kind in the environment, and return its URL; none for the file of SQLite."""

    def made() -> str | None:
        if request.param == "sqlite":
            return None
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.new_database()
        monkeypatch.setenv("ANNOT_DATABASE", url)
        return url

    return made


@pytest.fixture(params=[(release, kind) for release in RELEASES for kind in KINDS], ids="-".join)
def frozen(request: pytest.FixtureRequest, new_database: Callable[[], str | None], tmp_path: Path) -> Frozen:
    """A frozen study in a folder of the test's own, on SQLite and on PostgreSQL."""
    left = HERE.joinpath(*request.param)
    return Frozen(left, copied(left, tmp_path / "study", new_database()))


def copied(left: Path, folder: Path, url: str | None = None) -> Path:
    """A copy of the study. url: the PostgreSQL database that gets its tables."""
    shutil.copytree(left / "folder", folder)
    if url is None:
        (folder / "annot.db").write_bytes(lzma.decompress((left / "annot.db.xz").read_bytes()))
        return folder
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute(lzma.decompress((left / "tables.sql.xz").read_bytes()))
    return folder


def test_a_frozen_study_gives_the_same_results(frozen: Frozen) -> None:
    annot_done("status", folder=frozen.folder)
    annot_done("check", folder=frozen.folder)
    before = json.loads(frozen.export("agreement.json"))
    annot_done("agreement", folder=frozen.folder)
    assert_keeps(before, json.loads((frozen.folder / "exports" / "agreement.json").read_bytes()))
    annot_done("qrels", "--partial", folder=frozen.folder)
    for name in ("qrels.txt", "decisions.jsonl"):
        assert (frozen.folder / "exports" / name).read_bytes() == frozen.export(name)


def assert_keeps(before: Any, now: Any) -> None:
    """Every value on record is what it was; a later release may add others."""
    if isinstance(before, dict):
        assert before.keys() <= now.keys()
        for key, value in before.items():
            if key != "annot":
                assert_keeps(value, now[key])
    elif isinstance(before, list):
        assert len(before) == len(now)
        for value, value_now in zip(before, now, strict=True):
            assert_keeps(value, value_now)
    else:
        assert now == (pytest.approx(before) if isinstance(before, float) else before)


def test_a_frozen_study_is_brought_to_the_present_version(frozen: Frozen) -> None:
    """A command that reads leaves it as it is; the first that changes it makes a backup of its earlier version."""
    annot_done("status", folder=frozen.folder)
    assert versions(frozen.folder) == [1]
    told = annot_done("backup", "whole.tar.gz", folder=frozen.folder)
    assert f"before-version-{len(schema.MIGRATIONS)}" in told.stderr
    assert versions(frozen.folder) == [1, len(schema.MIGRATIONS)]
    assert "before-version" not in annot_done("backup", "again.tar.gz", folder=frozen.folder).stderr
    annot_done("check", folder=frozen.folder)
    annot_done("qrels", "--partial", folder=frozen.folder)
    assert (frozen.folder / "exports" / "qrels.txt").read_bytes() == frozen.export("qrels.txt")


def versions(folder: Path) -> list[int]:
    """Versions that the database has been through since it was made."""
    with connect_store(Workspace.open(folder).database_url, create=False) as store, store.read() as session:
        rows = session.connection().exec_driver_sql(f"SELECT version FROM {schema.VERSION_TABLE} ORDER BY version")
        return [*rows.scalars()]


def test_a_frozen_backup_is_restored(frozen: Frozen, new_database: Callable[[], str | None], tmp_path: Path) -> None:
    new_database()
    annot_done("restore", frozen.left / "backup.tar.gz", tmp_path / "restored", folder=tmp_path)
    annot_done("check", folder=tmp_path / "restored")
    annot_done("qrels", "--partial", folder=tmp_path / "restored")
    assert (tmp_path / "restored" / "exports" / "qrels.txt").read_bytes() == frozen.export("qrels.txt")


@pytest.mark.parametrize("commit", ["9f7ad6c6", "4792b415"])
def test_backups_from_before_the_first_release_are_brought_over_and_their_chains_go_on(
    commit: str, new_database: Callable[[], str | None], tmp_path: Path
) -> None:
    """The first has a table of guidelines, whose hashes its links are made of."""
    new_database()
    folder = tmp_path / "restored"
    annot_done("restore", HERE / "before_1" / f"{commit}.tar.gz", folder, folder=tmp_path)
    qrels = (folder / "exports" / "qrels.txt").read_bytes()
    annot_done("check", "files", folder=folder)
    annot_done("qrels", "--partial", folder=folder)
    assert (folder / "exports" / "qrels.txt").read_bytes() == qrels
    with Workspace.open(folder).writing() as session:
        first = JUDGEMENTS.read(session)[0]
        assert first.shown_sha256 is not None
        guidelines = display_parts(session, [first.shown_sha256])[first.shown_sha256]["guidelines"]
        assert content(session, [guidelines])[guidelines].startswith("#")
        again = first._replace(annotation="later", shown_sha256=None)
        assert JUDGEMENTS.record(session, [again], recorded_at="2031-01-01T00:00:00+00:00").added == 1
        assert not [*unsound_revisions(session)]
    with Workspace.open(folder).writing() as session:
        connection = session.connection()
        schema._drop_triggers(connection)
        connection.exec_driver_sql("UPDATE judgement SET shown_sha256 = NULL WHERE id = 2")
        assert [fault for fault in unsound_revisions(session) if "judgement 2 " in fault]
        schema.make_triggers(connection)


@pytest.mark.parametrize("release", RELEASES)
def test_a_frozen_release_is_read(release: str) -> None:
    for kind in KINDS:
        folder = HERE / release / kind / "release"
        sums = [line.split(maxsplit=1) for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()]
        assert len(sums) > 10
        for sha256, name in sums:
            assert hashlib.sha256((folder / name.strip("*")).read_bytes()).hexdigest() == sha256
        assert len(library.read_qrels(folder / "qrels.txt"))


@pytest.mark.parametrize("release", RELEASES)
def test_every_setting_of_a_release_is_read(release: str) -> None:
    path = HERE / release / "settings.toml"
    assert_keeps(tomllib.loads(path.read_text(encoding="utf-8")), read_settings(path).model_dump(mode="json"))


@pytest.mark.parametrize("release", RELEASES)
def test_the_keys_of_json_stay(release: str, tmp_path: Path) -> None:
    keys = json.loads((HERE / release / "keys.json").read_text(encoding="utf-8"))
    now = keys_of_json(copied(HERE / release / "facets", tmp_path / "study"))
    assert [f"{words}: {key}" for words, several in keys.items() for key in several if key not in now[words]] == []


@pytest.mark.studio
@pytest.mark.parametrize("release", RELEASES)
def test_the_open_tasks_of_a_frozen_study_are_sent_to_a_server_and_pulled(
    release: str, studio: Studio, tmp_path: Path
) -> None:
    folder = copied(HERE / release / "facets", tmp_path / "study")
    (folder / ".annot").mkdir()
    (folder / ".annot" / "studio").symlink_to(studio.folder)
    study = Study(renamed(Workspace.open(folder), f"frozen-{release.replace('.', '-')}").root, studio)
    for name in ("a1", "a3", "j1"):
        with study.as_person(name):
            pass
    annot_done("push", folder=folder)
    sent = [task["data"]["pair_id"] for task in study.on_server("a3") if not task["annotations"]]
    assert len(sent) == OPEN
    study.judge("a3", {tuple(key.split("/")): 1 for key in sent})
    annot_done("pull", folder=folder)
    progress = {
        one["assessor"]: one["judged"] for one in annot_done("status", "--json", folder=folder).data["assessors"]
    }
    assert progress["a3"] == 7
