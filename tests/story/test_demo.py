"""The demonstration, whole, on a server of its own, as `make demo` runs it: it leaves the frozen files.

Killed half-way and run again: `test_demo_again.py`, on a server in memory.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from annot.judging.exchange.servers import studio_folder
from annot.labelstudio import server
from annot.study.workspace import Workspace
from command_line import annot_done
from fixtures_studio import Studio, template_folder
from studies import Study
from study_stages import NEW, six

pytestmark = [pytest.mark.studio, pytest.mark.long]

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
    """`annot demo` where there is nothing but a Label Studio whose empty database is made already."""
    folder = tmp_path_factory.mktemp("demonstration") / "demo-workspace"
    studio_data = folder / ".annot" / "studio"
    shutil.copytree(template_folder(), studio_data)
    try:
        yield run_demo(folder)
    finally:
        server.down(studio_data)


def run_demo(folder: Path) -> Demonstration:
    command = [sys.executable, "-c", "from annot.cli.main import run; run()", "demo", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Demonstration(folder, done.stdout, done.stderr)


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


def test_six_papers_that_come_later_end_with_their_pairs_alone_on_the_server(demonstration: Demonstration) -> None:
    """The lead types the first command, and then what `next:` names. It changes the study: no test comes after it."""
    ws = demonstration.workspace
    studio = Studio(studio_of(ws).url, server.credentials(studio_folder(ws)).token, studio_folder(ws))
    study = Study(ws.root, studio)
    before, answered = study.planned(), {name: study.on_server(name) for name in study.planned()}
    assert all(task["annotations"] for tasks in answered.values() for task in tasks)
    said = annot_done("corpus", "add", six(ws), "--version", "2", "--reason", "papers of May", folder=ws.root)
    typed = []
    for _ in range(4):
        typed.append(said.next)
        said = annot_done(*typed[-1], folder=ws.root)
    assert [words[0] for words in typed] == ["facets", "pool", "plan", "push"]
    assert said.next[0] == "pull"
    planned = study.planned()
    for name, tasks in answered.items():
        now = {task["data"]["pair_id"]: task["annotations"] for task in study.on_server(name)}
        old = {task["data"]["pair_id"]: task["annotations"] for task in tasks}
        assert old.items() <= now.items()
        new = {tuple(key.split("/")) for key in now.keys() - old.keys()}
        assert new == {*planned[name]} - {*before[name]}
        assert {doc_id for _, doc_id in new} <= {*NEW}
        assert not any(now["/".join(pair)] for pair in new)
    pairs = {pair for of_one in planned.values() for pair in of_one} - {pair for of in before.values() for pair in of}
    queries = {query_id for of in before.values() for query_id, _ in of}
    assert pairs == {(query_id, doc_id) for query_id in queries for doc_id in NEW}


def studio_of(ws: Workspace) -> server.Server:
    running = server.status(studio_folder(ws))
    assert running is not None
    return running
