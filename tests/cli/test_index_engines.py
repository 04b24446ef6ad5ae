"""The index and what is drawn from it, byte by byte: here, in processes, on a Dask cluster, and after a kill."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tomlkit
from annot.base.parallel import Engine
from annot.ranking import index
from annot.ranking.methods import LSA
from annot.study.workspace import allow
from command_line import annot_done
from test_index import in_small_groups

Study = Callable[[str], Path]
SMALL = 20
"""Papers of a full shard in these tests."""
OF_EACH_KIND = ("title_tfidf", "abs_bm25lucene", "abs_tfidfcbow200", "title_ppmi200", LSA)
"""Methods for each kind of part that an index has."""


@pytest.fixture
def queried(study: Study, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with queries, whose corpus falls into eight shards or more."""
    monkeypatch.setattr(index, "PAPERS", SMALL)
    folder = study("queried")
    in_small_groups(folder, rows=SMALL)
    with_methods(folder, *OF_EACH_KIND)
    return folder


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


def test_index_rankings_and_pools_are_the_same_bytes_from_every_engine(queried: Path, cluster: Engine) -> None:
    expected = made(on(queried, processes=1))
    assert len(list((queried / ".annot/index/shards").iterdir())) >= 8
    assert sum(name.endswith(".run") for name in expected) == len(OF_EACH_KIND)
    for machine in ({"processes": 3}, {"cluster": cluster.cluster}):
        shutil.rmtree(queried / ".annot")
        shutil.rmtree(queried / "pools")
        assert not differing(made(on(queried, **machine)), expected), machine


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


@pytest.mark.parametrize(("part", "finished"), [("shards/", 3), ("abstract-weighted/", 2), ("unfinished-ppmi", 3)])
def test_a_build_that_is_killed_ends_in_the_bytes_of_one_that_was_not(queried: Path, part: str, finished: int) -> None:
    annot_done("index", folder=on(queried, processes=1))
    expected = digests(queried, ".annot/index")
    shutil.rmtree(queried / ".annot/index")
    command = [sys.executable, "-c", KILLED, str(SMALL), part, str(finished), "index", "-C", str(queried)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half-way\n"
        process.kill()
    left = digests(queried, ".annot/index")
    assert left.keys() - expected.keys(), "nothing was left half-written"
    annot_done("index", folder=queried)
    assert not differing(digests(queried, ".annot/index"), expected)
