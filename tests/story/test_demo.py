"""The demonstration, whole, on a server of its own: killed half-way and run again it leaves the frozen files.

A further run changes nothing, neither the files nor what is on the server.
"""

from __future__ import annotations

import itertools
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from annot.demo import whole_way as demo
from annot.judging.exchange.servers import studio_folder
from annot.labelstudio import server
from annot.store import judgements
from annot.store import projects as tasks
from annot.store.database import open_store
from annot.study.workspace import Workspace
from command_line import annot_done
from fixtures_studio import Studio, template_folder

pytestmark = pytest.mark.studio

CHECKOUT = Path(__file__).resolve().parents[2]
SECRET_LOOKING = re.compile(r"[0-9a-f]{40}(?![0-9a-f])(?<![0-9a-f]{41})|eyJ[A-Za-z0-9_-]{10,}")
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
SERVERS_OWN = re.compile(r'"(lead_time|completed_by|annotation|task|project|account)(_id)?"\s*:')
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@dataclass(frozen=True)
class Demonstration:
    """The demonstration after a run."""

    folder: Path
    printed: str
    told: str

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.folder)


@pytest.fixture(scope="module")
def demonstration(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demonstration]:
    """`annot demo` where nothing stands but a Label Studio whose empty database is made already.

    It is killed while the simulated people judge, and run again.
    """
    folder = tmp_path_factory.mktemp("demonstration") / "demo-workspace"
    studio_data = folder / ".annot" / "studio"
    shutil.copytree(template_folder(), studio_data)
    try:
        kill_demo(folder, in_step="8/12", after=6.0)
        own = server.status(studio_data)
        assert own is not None
        Studio(own.url, server.credentials(studio_data).token, studio_data).end_what_was_abandoned()
        yield run_demo(folder)
    finally:
        server.down(studio_data)


def run_demo(folder: Path) -> Demonstration:
    done = subprocess.run(command(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Demonstration(folder, done.stdout, done.stderr)


def kill_demo(folder: Path, *, in_step: str, after: float) -> None:
    """Start the demonstration, and kill it so many seconds after it has begun the step."""
    with subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = list(itertools.takewhile(lambda line: not line.startswith(in_step), process.stderr))
        assert process.poll() is None, "".join(told)
        time.sleep(after)
        process.kill()
    assert process.returncode == -signal.SIGKILL


def command(folder: Path) -> list[str]:
    return [sys.executable, "-c", "from annot.cli.main import run; run()", "demo", str(folder)]


def frozen(kind: str) -> dict[str, bytes]:
    """The demonstration's files as the repository holds them."""
    return files_of(CHECKOUT / kind / "demo")


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "__init__.py" and path.suffix != ".pyc"
    }


@pytest.mark.parametrize("kind", ["pools", "exports"])
def test_the_demonstration_writes_the_frozen_files_byte_for_byte(demonstration: Demonstration, kind: str) -> None:
    written, expected = files_of(demonstration.folder / kind), frozen(kind)
    assert written.keys() == expected.keys()
    assert [name for name in expected if written[name] != expected[name]] == []


def test_rankings_trained_just_now_are_close_to_the_frozen_ones(demonstration: Demonstration) -> None:
    ws = demonstration.workspace
    fresh, _ = demo.pool.fresh_rankings(ws, advance=lambda done, total: None)
    held = {name.removesuffix(".run"): text for name, text in demo.packaged.frozen("rankings").items()}
    for method, by_paper in fresh.items():
        expected = demo.read_run(held[method].splitlines(), name=method).rankings
        assert by_paper.keys() == expected.keys()
        shares = []
        for paper_id, ranking in by_paper.items():
            first = [doc.doc_id for doc in ranking[: demo.CLOSE]]
            other = [doc.doc_id for doc in expected[paper_id][: demo.CLOSE]]
            shares.append(len(set(first) & set(other)) / len(other))
            if method in ("title_tfidf", "abs_tfidf"):
                assert first == other
        assert sum(shares) / len(shares) >= demo.TOLERANCE, method


def test_no_file_that_may_leave_names_a_person_a_secret_or_a_server(demonstration: Demonstration) -> None:
    ws = demonstration.workspace
    folder = studio_folder(ws)
    admin = server.credentials(folder)
    passwords = [line.split("\t") for line in (folder / "passwords.tsv").read_text(encoding="utf-8").splitlines()]
    secrets = {admin.token, admin.password, admin.email, *(part for line in passwords for part in line[1:])}
    for kind in ("pools", "exports"):
        for name, content in files_of(demonstration.folder / kind).items():
            text = content.decode("utf-8")
            assert not any(secret in text for secret in secrets), name
            assert ADDRESS.search(text) is None, name
            assert SECRET_LOOKING.search(text) is None, name
            assert "127.0.0.1" not in text, name
            assert str(demonstration.folder) not in text, name
            assert SERVERS_OWN.search(text) is None, name
            assert MOMENT.search(text) is None, name


def test_the_demonstration_says_where_to_look_and_what_is_simulated(demonstration: Demonstration) -> None:
    report, address = demonstration.folder / "exports" / "report.html", studio_of(demonstration.workspace).url
    assert str(report) in demonstration.printed
    assert address in demonstration.printed
    assert "simulated" in demonstration.printed
    assert "fictional" in demonstration.printed
    steps = [line.split("/")[0] for line in demonstration.told.splitlines() if re.match(r"\d+/12 ", line)]
    assert steps == [str(number) for number in range(1, 13)]


def test_a_second_run_changes_neither_the_server_nor_a_file(demonstration: Demonstration) -> None:
    ws = demonstration.workspace
    files, counts, rows = files_of(demonstration.folder / "pools"), on_the_server(ws), in_the_store(ws)
    exports = files_of(demonstration.folder / "exports")
    assert sum(annotations for _, annotations in counts.values()) >= 904
    again = run_demo(demonstration.folder)
    assert again.printed == demonstration.printed
    assert on_the_server(ws) == counts
    assert in_the_store(ws) == rows
    assert files_of(demonstration.folder / "pools") == files
    assert files_of(demonstration.folder / "exports") == exports


LOOKING = (
    *("studio status", "status", "query list", "pool show", "pool show fic0407-result", "assessor list"),
    *("push --dry-run", "guidelines method", "status --adjudication", "trace fic0407-result fic0808"),
    *("agreement", "agreement --by assessor", "evaluate", "evaluate --csv", "assessor-effect", "report --table grades"),
)


def test_commands_that_only_look_change_nothing_of_the_demonstration(demonstration: Demonstration) -> None:
    ws = demonstration.workspace
    before = {folder: files_of(folder) for folder in (ws.exports, ws.root / "pools")}
    for command in LOOKING:
        annot_done(*command.split(), folder=demonstration.folder)
    assert {folder: files_of(folder) for folder in before} == before


def studio_of(ws: Workspace) -> server.Server:
    running = server.status(studio_folder(ws))
    assert running is not None
    return running


def on_the_server(ws: Workspace) -> dict[int, tuple[int, int]]:
    """How many tasks and annotations each of the study's projects has."""
    folder = studio_folder(ws)
    with open_store(ws.database_url) as store, store.read() as session:
        projects = [one.remote_id for one in tasks.read_projects(session)]
    with Studio(studio_of(ws).url, server.credentials(folder).token, folder).gateway() as gateway:
        return {project: gateway.counts(project) for project in projects if project is not None}


def in_the_store(ws: Workspace) -> tuple[object, ...]:
    with open_store(ws.database_url) as store, store.read() as session:
        return judgements.read_sourced(session)
