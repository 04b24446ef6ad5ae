"""A study from a stranger: no command opens, connects to or starts anything that its files name outside it."""

import json
import select
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import annot as package
import pytest
import tomlkit
import usual
from annot.base import parallel
from annot.base.errors import StudioError
from annot.labelstudio import server
from annot.study import workspace
from command_line import Result, annot, annot_done, calls, snapshot
from watching import Watch, outside

TYPED = {name: one.typed for name, one in usual.USUAL.items()} | {
    "invite": "--out invitations",
    "studio up": "",
    "demo": "../demo",
}
"""What is typed after each command; nothing after those that are not in here."""


FILES = (
    *(usual.release_folder, usual.edges_file, usual.judgements_file, usual.export_file, usual.a_run, usual.engine_run),
    *(usual.vectors_file, usual.words_file, usual.labelled_file, usual.sheet, usual.answers, usual.full_texts),
    *(usual.matches, usual.backup),
)


def test_the_watch_sees_what_is_opened_connected_and_started(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watch.looking() as seen:
        (tmp_path / "a").write_text("x")
        closing(sqlite3.connect(tmp_path / "b"))
        with socket.socket() as one:
            one.connect_ex(("127.0.0.1", 9))
        subprocess.run(["true"], check=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    expected = ["open", "sqlite3.connect", "socket.connect", "subprocess.Popen"]
    assert [one.event for one in outside(seen, tmp_path / "study")] == expected


class Case(NamedTuple):
    """A hostile study beside the folder of somebody else."""

    study: Path
    foreign: Path
    listener: socket.socket
    """Where every address leads. A connection that a library makes by itself is seen here, if not by the hook."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def was_called(self) -> bool:
        return bool(select.select([self.listener], [], [], 0)[0])

    def set(self, section: str, **values: Any) -> None:
        path = self.study / "annot.toml"
        settings = tomlkit.parse(path.read_text("utf-8"))
        settings.setdefault(section, tomlkit.table()).update(values)
        path.write_text(tomlkit.dumps(settings), "utf-8")


@pytest.fixture(scope="session")
def prepared(stages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that has come the whole way, with a file for every command that takes one."""
    folder = tmp_path_factory.mktemp("prepared") / "study"
    shutil.copytree(stages["measured"], folder)
    for prepare in FILES:
        prepare(folder)
    return folder


@pytest.fixture
def case(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name in ("key", "key.run", "key.md"):
        (foreign / name).write_text("not yours\n")
    shutil.copy(prepared / "annot.db", foreign / "other.db")
    shutil.copytree(prepared, tmp_path / "study")
    shutil.copy(prepared.parent / "backup.tar.gz", tmp_path / "backup.tar.gz")
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ANNOT_ALLOW", "")

    def refuse(*_: Any, **__: Any) -> Path:
        raise StudioError("the owner of this machine starts no server today")

    # These two are told by the owner to install and start a server of their own.
    monkeypatch.setattr("annot.labelstudio.server.ensure_installed", refuse)
    monkeypatch.setattr(server, "ensure_installed", refuse)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Case(tmp_path / "study", foreign, listener)


def in_every_record(case: Case) -> None:
    """Names that lead out of the folder, in every record that names files, and in the database."""
    away = "../../../foreign/key"
    for path in [*case.study.rglob("manifest.json"), *case.study.rglob("*.manifest.json")]:
        record = json.loads(path.read_text("utf-8"))
        if isinstance(record.get("files"), dict):
            record["files"] |= {away: "0" * 64, str(case.foreign / "key"): "0" * 64}
            record.setdefault("inputs", {}).update({away: "0" * 64, str(case.foreign / "key"): "0" * 64})
            path.write_text(json.dumps(record), "utf-8")
    with closing(sqlite3.connect(case.study / "annot.db")) as connection:
        connection.execute("UPDATE run SET tag = ? WHERE tag = 'fabs_bm25'", (away,))
        connection.commit()


def addresses(case: Case) -> None:
    case.set("machine", cluster=f"tcp://{case.host}", shards="s3://stranger/bucket", processes=1)


def a_persons_server(case: Case) -> None:
    case.set("judging", isolation="server")
    for name in ("a1", "a2", "a3", "a4", "j1"):
        place = case.study / ".annot" / "studios" / name
        place.mkdir(parents=True)
        (place / "elsewhere.json").write_text(json.dumps({"url": f"http://{case.host}", "token": "theirs"}))


def another_database(case: Case) -> None:
    case.set("store", database=str(case.foreign / "other.db"))


def a_database_above(case: Case) -> None:
    case.set("store", database="../foreign/other.db")


def a_linked_database(case: Case) -> None:
    (case.study / "annot.db").unlink()
    (case.study / "annot.db").symlink_to(case.foreign / "other.db")


def a_database_server(case: Case) -> None:
    case.set("store", database=f"postgresql://me:secret@{case.host}/theirs?password=secret")


def a_linked_lock(case: Case) -> None:
    (case.study / "annot.db-lock").unlink(missing_ok=True)
    (case.study / "annot.db-lock").symlink_to(case.foreign / "key")


def a_linked_log(case: Case) -> None:
    (case.study / "annot.db-wal").symlink_to(case.foreign / "key")


def a_link_at(name: str) -> Callable[[Case], None]:
    def make(case: Case) -> None:
        path = case.study / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(case.foreign / "key")

    return make


def a_linked_cache(case: Case) -> None:
    (case.study / ".annot" / "task-keys").unlink(missing_ok=True)
    (case.study / ".annot" / "task-keys").symlink_to(case.foreign / "key")


def a_linked_folder_of_pages(case: Case) -> None:
    """The pages in it that a pull finds no reason for would be removed."""
    (case.study / ".annot" / "people").mkdir(parents=True)
    (case.study / ".annot" / "people" / "a1").symlink_to(case.foreign)


DOORS: dict[str, tuple[Callable[[Case], None], str, str]] = {
    # What the study has, what is shown of the address, and a command that would go there.
    "a cluster": (addresses, "tcp://{host}", "corpus add papers.jsonl"),
    "another study's database": (another_database, "{foreign}/other.db", "status"),
    "a database above": (a_database_above, "{foreign}/other.db", "status"),
    "a database behind a link": (a_linked_database, "{foreign}/other.db", "status"),
    "a database server": (a_database_server, "postgresql://me@{host}/theirs?password=***", "status"),
    "a person's server": (a_persons_server, "http://{host}", "push"),
    "a person's pages": (a_linked_folder_of_pages, "{foreign}", "status"),
    "a link beside": (a_linked_cache, "{foreign}/key", "status"),
}


LINKS = (*("templates/report.md.j2", "guidelines/method.md", "pools/queries/x.jsonl", "exports/x.json", "annot.toml"),)


OF_ROWS = ("status", "plan", "pull", "agreement", "qrels", "report", "check", "assessor list", "backup ../mine.tar.gz")
"""Commands that read or write rows: all open the database through `Workspace.database_url`."""


def every_command(case: Case) -> Iterator[tuple[str, Result]]:
    for name in calls(TYPED):
        yield name, annot(*name.split(), *TYPED.get(name, "").split(), folder=case.study)


def test_no_command_goes_where_a_hostile_study_leads(case: Case, watch: Watch) -> None:
    """Everything that lets commands go their way: addresses, names in records, servers of persons."""
    for make in (addresses, a_persons_server, in_every_record):
        make(case)
    with watch.looking() as seen:
        results = dict(every_command(case))
    own = [case.study, case.study.parent / "restored", case.study.parent / "demo", case.study.parent / "backup.tar.gz"]
    assert not outside(seen, *own)
    assert not case.was_called()
    assert not [name for name, result in results.items() if "not yours" in result.stdout + result.stderr]
    assert {result.exit_code for result in results.values()} <= {0, 1, 2, 3}
    refused = {name for name, result in results.items() if "asks for" in result.stderr}
    assert {"corpus add", "facets", "index", "pool", "assessor change"} <= refused
    # A study of others can still be looked at.
    assert results["status"].exit_code == results["report"].exit_code == results["agreement"].exit_code == 0


def test_a_release_names_no_file_elsewhere(case: Case, watch: Watch) -> None:
    (case.study / "out").mkdir()
    away = ("../../foreign/key.run", str(case.foreign / "key.run"))
    (case.study / "out" / "SHA256SUMS").write_text("".join(f"{'0' * 64}  {name}\n" for name in away), "utf-8")
    with watch.looking() as seen:
        found = annot("check", "files", "--release", "out", folder=case.study)
    assert found.exit_code == 1
    assert all(f"{name}: missing" in found.stdout for name in away)
    assert not outside(seen, case.study)


@pytest.mark.parametrize("name", DOORS)
def test_every_command_asks_before_it_goes_through_a_door(name: str, case: Case, watch: Watch) -> None:
    make, shown, typed = DOORS[name]
    make(case)
    address = shown.format(foreign=case.foreign, host=case.host)
    before = snapshot(case.foreign)
    with watch.looking() as seen:
        refused = annot(*typed.split(), folder=case.study)
    assert not outside(seen, case.study)
    assert not case.was_called()
    assert refused.exit_code == 2
    message, hint = [line for line in refused.stderr.splitlines() if not line.startswith("dry run")]
    assert f" asks for {address}, which is outside this study" in message
    assert "ANNOT_ALLOW=" in hint
    assert str(workspace.allowed_file()) in hint
    assert "secret" not in refused.stderr
    assert snapshot(case.foreign) == before


def test_no_command_opens_a_database_elsewhere(case: Case, watch: Watch) -> None:
    a_linked_database(case)
    before = snapshot(case.foreign)
    with watch.looking() as seen:
        results = {words: annot(*words.split(), folder=case.study) for words in OF_ROWS}
    assert not outside(seen, *(case.study.parent / at for at in ("study", "restored", "demo", "backup.tar.gz")))
    assert not case.was_called()
    assert snapshot(case.foreign) == before
    assert not [name for name, one in results.items() if "@demo.example.org" in one.stdout + one.stderr]


def test_what_the_owner_allows_is_remembered_for_this_study_alone(
    case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    another_database(case)
    address = str(case.foreign / "other.db")
    with monkeypatch.context() as once:
        once.setenv("ANNOT_ALLOW", f"tcp://login:8786 {address}")
        annot_done("status", folder=case.study)
    annot_done("status", folder=case.study)
    assert tomlkit.parse(workspace.allowed_file().read_text("utf-8")).unwrap() == {str(case.study): [address]}
    shutil.copytree(case.study, tmp_path / "copy")
    assert "asks for" in annot("status", folder=tmp_path / "copy").stderr
    a_database_server(case)
    assert "asks for postgresql://me@" in annot("status", folder=case.study).stderr
    workspace.allowed_file().write_text("[not")
    assert "cannot be read" in annot("status", folder=case.study).stderr


def test_an_address_on_the_command_line_needs_no_other_word(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "CLUSTER_SECONDS", 1)
    answer = annot("facets", "--cluster", "tcp://127.0.0.1:1", folder=case.study)
    assert "asks annot" not in answer.stderr
    assert "tcp://127.0.0.1:1" in answer.stderr


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_refused_where_pages_and_releases_are_made_of(name: str, case: Case, watch: Watch) -> None:
    a_link_at(name)(case)
    for typed in ("report", "backup ../mine.tar.gz"):
        with watch.looking() as seen:
            refused = annot(*typed.split(), folder=case.study)
        assert refused.exit_code == 2
        assert f"{name}: a link to {case.foreign / 'key'}" in refused.stderr
        assert not outside(seen, case.study)


@pytest.mark.parametrize("make", [a_linked_lock, a_linked_log])
def test_a_link_beside_the_database_is_not_followed(make: Callable[[Case], None], case: Case, watch: Watch) -> None:
    make(case)
    with watch.looking() as seen:
        refused = annot("plan", folder=case.study)
    assert refused.exit_code == 2
    assert (case.foreign / "key").read_text() == "not yours\n"
    assert not outside([one for one in seen if not one.what.endswith("-lock")], case.study)


def test_corpora_and_weights_may_be_links(case: Case, tmp_path: Path) -> None:
    shutil.move(case.study / "corpus", tmp_path / "large")
    (case.study / "corpus").symlink_to(tmp_path / "large")
    (case.study / "weights").symlink_to(tmp_path)
    annot_done("status", folder=case.study)
    assert "corpus: left out, a link" in annot_done("backup", tmp_path / "mine.tar.gz", folder=case.study).stderr


def test_one_place_decides_on_what_the_settings_name_outside() -> None:
    """`Workspace.database_url` and `Workspace.machine` look at the door; nobody else reads these settings."""
    read = ("settings.store", "settings.machine")
    found = {
        f"{path.name}: {line.strip()}"
        for path in sorted(Path(package.__path__[0]).rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if any(name in line for name in read) and path.name != "workspace.py"
    }
    assert found == {
        'commands.py: processes = arguments["ws"].settings.machine.processes if arguments.get("ws") else None',
        'backup.py: f"{SETTINGS_FILE} in the backup: found the database {ws.settings.store.database!r}, expected a '
        'file in the "',
    }


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@db.example/x", "postgresql://me@db.example/x"),
        ("postgresql://db.example/x?user=me&password=secret&host=other", None),
        ("postgresql://me:p@evil.example/x?y=@db.example/x", "postgresql://me@evil.example/x?y=@db.example/x"),
        ("tcp://me:8786/x@login:8786", "tcp://me:8786/x@login:8786"),
        ("s3://bucket/study", "s3://bucket/study"),
    ],
)
def test_no_address_is_shown_as_another(address: str, shown: str | None) -> None:
    """A password is hidden; the host that is really meant is not."""
    expected = shown or address.replace("secret", "***")
    assert workspace.without_password(address) == expected
