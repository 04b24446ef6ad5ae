"""The index on a cluster whose workers do not see the study: through a URL, the same bytes as in one process."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import numpy
import pytest
from annot.base.array_files import strings_of
from annot.base.parallel import Engine
from annot.pools import admission
from annot.ranking import index
from annot.ranking.index import open_index
from annot.ranking.methods import LSA
from annot.ranking.vectors import Vectors
from annot.store import papers
from annot.store.papers import RowGroups, paper_ids
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from indexed import write_vectors
from local_cluster import local_cluster
from test_index import in_small_groups
from test_index_engines import OF_EACH_KIND, SMALL, differing, digests, made, on, with_methods

Study = Callable[[str], Path]


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
def unseen(study: Study, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of eight shards or more with a set of vectors, whose paths lead workers nowhere.

    A command's paths are relative to its folder, but for those of the papers; workers stand elsewhere, and cannot go
    to that folder.
    """
    monkeypatch.setattr(index, "PAPERS", SMALL)
    folder = study("queried")
    in_small_groups(folder, rows=SMALL)
    add_vectors(folder)

    def hidden(corpus: Path, url: str, last: str | None = None) -> list[RowGroups]:
        groups = groups_for(corpus, url, last)
        return [group._replace(path=Path("/nowhere") / group.path.name) for group in groups] if url else groups

    groups_for = papers.groups_for
    monkeypatch.setattr(papers, "groups_for", hidden)
    monkeypatch.setattr(admission, "groups_for", hidden)
    monkeypatch.setattr(Path, "cwd", lambda: Path("/nowhere"))
    return folder


def add_vectors(folder: Path) -> None:
    """A set of vectors, which draws beside the other methods."""
    ids = paper_ids(folder / "corpus")
    matrix = numpy.random.default_rng(5).normal(size=(len(ids), 12)).astype(numpy.float16)
    write_vectors(Vectors(strings_of(ids), matrix, "drawn", "drawn-1", "cosine", {}), folder / "corpus/vectors/drawn")
    with_methods(folder, *OF_EACH_KIND, "drawn")


def forget(folder: Path) -> None:
    shutil.rmtree(folder / ".annot")
    shutil.rmtree(folder / "pools", ignore_errors=True)


def put(far: Path) -> dict[str, int]:
    """What lies at the URL, and when it was written."""
    return {path.name: path.stat().st_mtime_ns for path in far.iterdir()}


def test_index_rankings_and_pools_are_those_of_one_process(unseen: Path, cluster: Engine, tmp_path: Path) -> None:
    expected = made(on(unseen, processes=1))
    assert sum(name.endswith(".run") for name in expected) == len(OF_EACH_KIND) + 1
    forget(unseen)
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
    unseen: Path, cluster: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    methods = OF_EACH_KIND
    monkeypatch.chdir(unseen)
    ws = Workspace.open(Path())
    open_index(ws, methods=methods, advance=lambda *_: None)
    expected = digests(unseen, ".annot/index")
    shutil.rmtree(unseen / ".annot/index")
    killed: list[int] = []

    def kill_one(done: int, total: int | None) -> None:
        if done == 2 and total and total >= 8:
            with distributed.Client(cluster.cluster, set_as_default=False) as client:
                killed.extend(client.run(os.getpid).values())
            with suppress(ProcessLookupError):
                os.kill(killed[-1], signal.SIGKILL)

    machine = {"cluster": cluster.cluster, "shards": f"file://{tmp_path}/far"}
    open_index(ws.replaced("machine", **machine), methods=methods, advance=kill_one)
    assert len(killed) >= 4, "neither shards nor averages were disturbed"
    assert not differing(digests(unseen, ".annot/index"), expected)


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
