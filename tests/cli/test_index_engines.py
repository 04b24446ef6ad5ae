"""The index and what is drawn from it, byte by byte: here, in processes, on a Dask cluster whose workers see the study
or are told of it through a URL, and after a kill."""

import hashlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import numpy
import pytest
import study_stages
import tomlkit
from annot.base.array_files import strings_of
from annot.base.parallel import Engine
from annot.pools import admission
from annot.ranking import index
from annot.ranking.index import open_index
from annot.ranking.methods import LSA
from annot.ranking.vectors import Vectors
from annot.store import papers
from annot.store.papers import RowGroups, paper_ids
from annot.study.workspace import Workspace, allow
from command_line import annot, annot_done
from indexed import write_vectors
from local_cluster import local_cluster
from test_index import in_small_groups

SMALL = 20
"""Papers of a full shard in these tests."""
OF_EACH_KIND = ("title_tfidf", "abs_bm25lucene", "abs_tfidfcbow200", "title_ppmi200", LSA)
"""Methods for each kind of part that an index has; a set of vectors, `drawn`, draws beside them."""


@pytest.fixture(scope="module", autouse=True)
def small_shards() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "PAPERS", SMALL)
        yield


def made_ready(folder: Path) -> Path:
    """A study with queries and a set of vectors, whose corpus falls into eight shards or more."""
    study_stages.copied(study_stages.DEMO, "queried", folder)
    in_small_groups(folder, rows=SMALL)
    ids = paper_ids(folder / "corpus")
    matrix = numpy.random.default_rng(5).normal(size=(len(ids), 12)).astype(numpy.float16)
    write_vectors(Vectors(strings_of(ids), matrix, "drawn", "drawn-1", "cosine", {}), folder / "corpus/vectors/drawn")
    with_methods(folder, *OF_EACH_KIND, "drawn")
    return folder


@pytest.fixture
def queried(tmp_path: Path) -> Path:
    return made_ready(tmp_path / "study")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one process makes of the study."""
    folder = made_ready(tmp_path_factory.mktemp("expected") / "study")
    found = made(on(folder, processes=1))
    assert len(list((folder / ".annot/index/shards").iterdir())) >= 8
    assert sum(name.endswith(".run") for name in found) == len(OF_EACH_KIND) + 1
    return found


def of_index(found: dict[str, str]) -> dict[str, str]:
    return {name: sha256 for name, sha256 in found.items() if name.startswith(".annot/index/")}


def with_methods(folder: Path, *methods: str) -> None:
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text("utf-8"))
    settings.setdefault("pool", tomlkit.table())["methods"] = [*methods]
    path.write_text(tomlkit.dumps(settings), "utf-8")


def on(folder: Path, **machine: object) -> Path:
    """The study, whose settings name this machine."""
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text("utf-8"))
    settings["machine"] = machine
    path.write_text(tomlkit.dumps(settings), "utf-8")
    for address in machine.values():
        allow(folder, str(address))
    return folder


def digests(folder: Path, *names: str) -> dict[str, str]:
    """The SHA-256 of every file below these folders, those being written among them."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name in names
        for path in (folder / name).rglob("*")
        if path.is_file()
    }


def differing(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def made(folder: Path) -> dict[str, str]:
    annot_done("index", folder=folder)
    annot_done("pool", folder=folder)
    return digests(folder, ".annot/index", ".annot/near-duplicates", "pools")


def forget(folder: Path) -> None:
    shutil.rmtree(folder / ".annot")
    shutil.rmtree(folder / "pools", ignore_errors=True)


def put(far: Path) -> dict[str, int]:
    """What lies at the URL, and when it was written."""
    return {path.name: path.stat().st_mtime_ns for path in far.iterdir()}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("node")


@pytest.fixture(scope="module")
def object_store() -> Iterator[str]:
    """The address of an S3 server of this machine, which keeps all in memory; this process and its children use it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        # Neither somebody's own settings nor those of a machine in a cloud.
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def cluster(node: Path, object_store: str) -> Iterator[Engine]:
    """Workers that stand in a folder of their own, which is their temporary folder, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(node))
        patch.chdir(node)
        with local_cluster() as engine:
            yield engine


@pytest.fixture
def unseen(queried: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study, whose paths lead workers nowhere.

    A command's paths are relative to its folder, but for those of the papers; workers stand elsewhere, and cannot go
    to that folder.
    """

    def hidden(corpus: Path, url: str, last: str | None = None) -> list[RowGroups]:
        groups = groups_for(corpus, url, last)
        return [group._replace(path=Path("/nowhere") / group.path.name) for group in groups] if url else groups

    groups_for = papers.groups_for
    monkeypatch.setattr(papers, "groups_for", hidden)
    monkeypatch.setattr(admission, "groups_for", hidden)
    monkeypatch.setattr(Path, "cwd", lambda: Path("/nowhere"))
    return queried


def test_index_rankings_and_pools_are_the_same_bytes_from_every_engine(
    queried: Path, cluster: Engine, expected: dict[str, str]
) -> None:
    for machine in ({"processes": 3}, {"cluster": cluster.cluster}):
        assert not differing(made(on(queried, **machine)), expected), machine
        forget(queried)


def test_through_a_url_they_are_those_of_one_process(
    unseen: Path, cluster: Engine, expected: dict[str, str], tmp_path: Path
) -> None:
    on(unseen, cluster=cluster.cluster, shards=f"file://{tmp_path}/far")
    assert not differing(made(unseen), expected)
    sent = put(tmp_path / "far")
    searched = digests(unseen, ".annot/index", "corpus").items()
    assert {f"{sha256}.npy" for name, sha256 in searched if name.endswith("vectors.npy")} < sent.keys()
    forget(unseen)
    assert not differing(made(unseen), expected)
    assert put(tmp_path / "far") == sent, "sent again"


def test_an_object_store_gives_the_files_of_one_process(
    unseen: Path, cluster: Engine, object_store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Few shards and few methods: each file costs several requests.
    monkeypatch.setattr(index, "PAPERS", 8 * SMALL)
    with_methods(unseen, "abs_tfidf", LSA, "drawn")
    expected = made(on(unseen, processes=1))
    forget(unseen)
    # With the papers there, the command lists the place, puts nothing, and then fetches what workers put.
    papers.groups_for(unseen / "corpus", "s3://bucket/study")
    on(unseen, cluster=cluster.cluster, shards="s3://bucket/study")
    assert not differing(made(unseen), expected)
    listed = httpx.get(f"{object_store}/bucket?list-type=2&prefix=study/").text
    kept = set(re.findall(r"<Key>study/([^<]*)</Key>", listed))
    assert {f"{sha256}.npy" for name, sha256 in expected.items() if "shards/" in name and name.endswith(".npy")} <= kept
    assert all(re.fullmatch(r"[0-9a-f]{64}\.\w+", name) for name in kept), "unfinished files"


def test_a_worker_killed_half_way_leaves_the_same_index(
    unseen: Path, cluster: Engine, expected: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(unseen)
    ws = Workspace.open(Path())
    killed: list[int] = []

    def kill_one(done: int, total: int | None) -> None:
        if done == 2 and total and total >= 8:
            with distributed.Client(cluster.cluster, set_as_default=False) as client:
                killed.extend(client.run(os.getpid).values())
            with suppress(ProcessLookupError):
                os.kill(killed[-1], signal.SIGKILL)

    machine = {"cluster": cluster.cluster, "shards": f"file://{tmp_path}/far"}
    open_index(ws.replaced("machine", **machine), methods=OF_EACH_KIND, advance=kill_one)
    assert len(killed) >= 4, "neither shards nor averages were disturbed"
    assert not differing(digests(unseen, ".annot/index"), of_index(expected))


def test_what_was_changed_at_the_url_is_refused(unseen: Path, cluster: Engine, node: Path, tmp_path: Path) -> None:
    far = tmp_path / "far"
    on(unseen, cluster=cluster.cluster, shards=f"file://{far}")
    annot_done("index", folder=unseen)
    before = digests(unseen, ".annot/index")
    for path in far.glob("*.npy"):
        path.write_bytes(path.read_bytes()[:-1])
    shutil.rmtree(node / f"annot-fetched-{os.getuid()}")
    told = annot("pool", folder=unseen)
    assert told.exit_code == 2
    assert "its bytes do not have the hash in its name" in told.message()
    assert "delete it there" in told.message()
    assert not differing(digests(unseen, ".annot/index"), before)


KILLED = """
import signal, sys
from annot.cli.main import run
from annot.base import array_files
from annot.ranking import index
index.PAPERS = int(sys.argv.pop(1))
part, finished = sys.argv.pop(1), int(sys.argv.pop(1))
save = array_files.save_array
def save_and_wait(path, array):
    save(path, array)
    folder = path.parent.parent
    if part in str(path) and sum(not one.name.startswith('.') for one in folder.iterdir()) == finished:
        print('half-way', flush=True)
        signal.pause()
array_files.save_array = save_and_wait
run()
"""


@pytest.mark.parametrize(("part", "finished"), [("shards/", 3), ("unfinished-ppmi", 3)])
def test_a_build_that_is_killed_ends_in_the_bytes_of_one_that_was_not(
    queried: Path, expected: dict[str, str], part: str, finished: int
) -> None:
    on(queried, processes=1)
    command = [sys.executable, "-c", KILLED, str(SMALL), part, str(finished), "index", "-C", str(queried)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half-way\n"
        process.kill()
    left = digests(queried, ".annot/index")
    assert left.keys() - expected.keys(), "nothing was left half-written"
    annot_done("index", folder=queried)
    assert not differing(digests(queried, ".annot/index"), of_index(expected))
