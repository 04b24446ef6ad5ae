"""What the tests share: the folder of real data, and a folder and an environment of its own for each test."""

import gc
import itertools
import os
import re
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import postgres
import pytest
import study_stages
from annot.base.parallel import Engine as MachineEngine
from annot.labelstudio import http_client as door
from annot.publishing.report import figures
from annot.store import database
from free_ports import FreePorts, held_ports
from label_studio_sdk.core import http_client
from local_cluster import local_cluster
from needs import unavailable
from sqlalchemy import URL, Engine, create_engine

pytest_plugins = ["fixtures_studio"]

# How long an example takes says how busy the machine is, not whether the program is right.
hypothesis.settings.register_profile(
    "annot", deadline=None, max_examples=50, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("annot")
# The same of a server: that it is waited for would stand among the words that tests compare.
door.WARN_AFTER = 3600.0
# The client waits a second and then two before it asks a server again that is not there.
http_client.INITIAL_RETRY_DELAY_SECONDS = 0.01
# A command's process compiles each statement once; tests open hundreds of studies in one process.
_made: list[Engine] = []


def _engine_that_knows_statements(url: URL, **options: Any) -> Engine:
    """An engine with the dialect, and so with the compiled statements, of the first one of a file."""
    engine = create_engine(url, **options)
    if url.get_backend_name() == "sqlite":
        first, *_ = _made or [engine]
        _made[:] = [first]
        engine.dialect, engine._compiled_cache = first.dialect, first._compiled_cache
    return engine


database.create_engine = _engine_that_knows_statements  # type: ignore[assignment]
# Whoever starts the tests in the background may have Ctrl-C ignored in all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What the tests allow their studies is remembered apart from what the developer allows theirs.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="annot-tests-")
os.environ["ANNOT_ALLOW"] = ""
# Many tests start `annot`: where Python may not write what it compiled, each of them compiles the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

CHECKOUT = Path(__file__).resolve().parent.parent


collect_ignore = [] if find_spec("torch") and find_spec("ot") else ["neural"]
"""Tests of encoders are a group of their own, `make test-neural`; without its libraries they are not looked at."""

SLOWEST = ("story", "labelstudio")
"""Folders of tests that wait for a server most of the time."""


# Python looks through all thousands of tests again and again for what nobody needs, a quarter of a short test's time:
# not while they are collected, and afterwards only through what is younger than they are.
gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slowest first: what two workers do then ends at about the same time."""
    items.sort(key=lambda item: not set(SLOWEST) & set(item.path.parts))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data (`csfcube/`, `csabstruct/`), from `ANNOT_SHARED` or beside the checkout."""
    folder = Path(os.environ.get("ANNOT_SHARED", CHECKOUT / ".." / "shared")).resolve()
    if not (folder / "csfcube").is_dir():
        unavailable(f"no csfcube/ in {folder}; set ANNOT_SHARED to the folder that holds it")
    return folder


@pytest.fixture(scope="session", autouse=True)
def studies(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where studies are made once for all tests, and for all workers that run them."""
    folder = tmp_path_factory.getbasetemp()
    study_stages.keep_in((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "studies")


FOLDERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder of the test's own. To find a free name, pytest's own fixture lists the folders of all tests
    before: half a minute in each worker."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}-{next(FOLDERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's own machine reaches a test."""
    for name in (*study_stages.ENVIRONMENT, "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Pages have empty figures: drawing takes most of the time of a report, and of a release. Tests that look at
    figures have a fixture of this name that does nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures.Drawing, "on_page", '<svg viewBox="0 0 1 1"></svg>')
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[MachineEngine]:
    """A Dask cluster of two workers that see this machine's files; one that a test kills is started again."""
    with local_cluster() as engine:
        yield engine


@pytest.fixture
def free_ports() -> Iterator[FreePorts]:
    """Ports of this machine that nobody else takes during the test."""
    with held_ports() as ports:
        yield ports


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.PostgresServer]:
    """A PostgreSQL server that the tests start; a test that uses it has the marker `postgres`."""
    binaries = postgres.programs()
    if binaries is None:
        unavailable("no PostgreSQL (initdb); on Debian: apt-get install postgresql")
    with postgres.running(binaries) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: postgres.PostgresServer) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    url = postgres_server.new_database()
    yield url
    postgres_server.give_back(url)
