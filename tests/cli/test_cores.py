"""`[machine] processes` limits whatever works: processes, our own threads, and those that the libraries start."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest
import tomlkit
from annot.base.parallel import VARIABLES, limited

Study = Callable[[str], Path]

PROGRAM = """
import json, os, sys, threading
from multiprocessing.popen_spawn_posix import Popen

most = {"threads of ours": 0, "threads of training": 0, "processes": 0}
start, spawn = threading.Thread.start, Popen.__init__

of_one_pass = {}

def counted(thread):
    if "_worker_loop" in thread.name:
        # Those of one pass share a queue; the first may be at its end before the second begins.
        queue = thread._args[-1]
        of_one_pass.setdefault(queue, []).append(thread)
        most["threads of training"] = max(most["threads of training"], len(of_one_pass[queue]))
    start(thread)
    ours = sum("ThreadPoolExecutor" in one.name for one in threading.enumerate())
    most["threads of ours"] = max(most["threads of ours"], ours)

def counted_process(made, process):
    most["processes"] += 1
    spawn(made, process)

threading.Thread.start, Popen.__init__ = counted, counted_process
from contextlib import contextmanager
from annot.base import parallel
from annot.cli.main import run

limited = parallel.limited

@contextmanager
def limited_with_small_shards(processes):
    with limited(processes):
        # Not before: it loads the libraries.
        assert "numpy" not in sys.modules
        from annot.ranking import index
        index.PAPERS, index.LEAST = 20, 3
        yield

parallel.limited = limited_with_small_shards
try:
    run()
except SystemExit as end:
    assert not end.code, end.code
import numpy, pyarrow
from threadpoolctl import threadpool_info
for library in threadpool_info():
    name = library["internal_api"]
    most[name] = max(most.get(name, 0), library["num_threads"])
print(json.dumps(most | {"arrow": pyarrow.cpu_count()}), file=sys.stderr)
"""


def at_work(folder: Path, *, processes: int) -> dict[str, int]:
    """The most that were at work at once, of each kind, while an index was made and pools were drawn."""
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text("utf-8"))
    settings["machine"] = {"processes": processes}
    settings["word_vectors"] |= {"workers": "all", "epochs": 2}
    settings["pool"]["methods"] = ["abs_bm25", "abs_tfidfcbow200"]
    path.write_text(tomlkit.dumps(settings), "utf-8")
    shutil.rmtree(folder / ".annot", ignore_errors=True)
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "index"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core leaves nothing to limit")
def test_one_setting_limits_all_that_works(study: Study) -> None:
    folder = study("queried")
    (corpus,) = (folder / "corpus").glob("*.parquet")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(corpus), corpus, row_group_size=7)
    one, two, three = (at_work(folder, processes=number) for number in (1, 2, 3))
    assert [of.pop("processes") for of in (one, two)] == [0, 0]
    assert three["processes"] >= 2, "more than two are processes"
    assert one.keys() == two.keys() >= {"openblas", "arrow"}
    assert set(one.values()) == {1}, one
    assert set(two.values()) == {2}, two


def test_the_limit_ends_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[0], "7")
    monkeypatch.delenv(VARIABLES[1], raising=False)
    with limited(1):
        assert [os.environ[name] for name in VARIABLES] == ["1", "1"]
    assert [os.environ.get(name) for name in VARIABLES] == ["7", None]
    with limited(None):
        assert [os.environ.get(name) for name in VARIABLES] == ["7", None]
