"""A real Label Studio and a real browser for the tests: started once, with accounts of the tests' own.

`ANNOT_STUDIO_VENV` names an environment with Label Studio in it; without it, it is installed once into the cache. An
empty migrated database is kept there too: a copy of it starts in seconds instead of a minute.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from annot.base.errors import StudioError
from annot.labelstudio import server
from annot.labelstudio.accounts import make_accounts, read_passwords
from annot.labelstudio.gateway import Gateway, deliver
from annot.labelstudio.studio_records import Payload, ProjectSpec
from needs import unavailable

CLOSE_WAIT = "08"
"""As Linux writes the state of a connection that only the other side has closed."""
GUARD = 600.0
"""Seconds after which a test gives up what a server or a page does not do."""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class PersonGateway(Gateway):
    """A gateway that also does what people do in Label Studio's own pages, and the program never does."""

    def change_annotation(self, annotation_id: int, result: list[Payload]) -> None:
        self._client.annotations.update(annotation_id, result=result)

    def delete_annotation(self, annotation_id: int) -> None:
        self._client.annotations.delete(annotation_id)

    def delete_project(self, project_id: int) -> None:
        self._client.projects.delete(project_id)

    def skip(self, task_id: int, result: list[Payload]) -> None:
        self._client.annotations.create(task_id, result=result, was_cancelled=True)

    def counts(self, project_id: int) -> tuple[int, int]:
        """The server's own counts of tasks and annotations."""
        project = self._client.projects.get(project_id)
        return project.task_number, project.total_annotations_number


class Account(NamedTuple):
    """An account on the tests' server."""

    email: str
    user_id: int
    token: str


@dataclass
class Studio:
    """The tests' server. Projects made through it are the test's own: titles and markers count up."""

    url: str
    token: str
    folder: Path
    _made: int = field(default=0)

    def __post_init__(self) -> None:
        # The studies of the tests are at servers of other folders: the owner of this machine allows them to.
        os.environ["ANNOT_ALLOW"] = f"{os.environ.get('ANNOT_ALLOW', '')} {self.folder.resolve()}"

    @contextmanager
    def gateway(self, token: str | None = None) -> Iterator[PersonGateway]:
        """A gateway as the administrator, or as the account of `token`."""
        with PersonGateway(self.url, token or self.token) as gateway:
            yield gateway

    @property
    def passwords(self) -> Path:
        return self.folder / "passwords.tsv"

    def account(self, name: str) -> Account:
        """The account `<name>@example.org`, made on the first call."""
        with self.gateway() as gateway:
            address = f"{name}@example.org"
            (token,) = make_accounts(self.url, {name: address}, invitation=gateway.invitation, passwords=self.passwords)
        with self.gateway(token) as gateway:
            return Account(address, gateway.whoami(), token)

    def password(self, name: str) -> str:
        """The password of `account(name)`."""
        return read_passwords(self.passwords)[f"{name}@example.org"]

    def end_what_was_abandoned(self) -> None:
        """Wait until the server has done what clients asked for that were killed: it goes on with it without them."""
        while _abandoned(int(self.url.rpartition(":")[2])):
            time.sleep(0.05)

    def project(
        self,
        gateway: Gateway,
        label_config: str,
        tasks: list[Payload],
        *,
        instructions: str = "",
        may_be_empty: bool = False,
    ) -> int:
        """A new project with these tasks; its id."""
        self._made += 1
        spec = ProjectSpec(
            marker=f"tests/{self._made}",
            title=f"Test project {self._made}",
            description="Made by a test.",
            label_config=label_config,
            instructions=instructions,
            color="#617ADA",
            may_be_empty=may_be_empty,
        )
        made = gateway.create_project(spec)
        deliver(gateway, made, tasks)
        return made


class Chromium:
    """A browser whose windows wait as long as a busy machine takes."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def new_context(self, **options: Any) -> Any:
        """A window of its own, as playwright's."""
        context = self._browser.new_context(**options)
        context.set_default_timeout(1000 * GUARD)
        return context


@contextmanager
def written(page: Any) -> Iterator[None]:
    """Wait until the server has written the answer that is submitted within: the page turns to the next task before."""

    def answered(response: Any) -> bool:
        return response.request.method == "POST" and response.url.split("?")[0].rstrip("/").endswith("/annotations")

    with page.expect_response(answered) as taken:
        yield
    assert taken.value.status == 201


@pytest.fixture(scope="session")
def studio() -> Iterator[Studio]:
    """A real Label Studio; a test that uses it has the marker `studio`."""
    try:
        program = server.ensure_installed(os.environ, say=print)
    except StudioError as error:
        unavailable(f"no Label Studio: {error}")
    # Not pytest's own folder: it keeps the last three, and each of these is large.
    folder = Path(tempfile.mkdtemp(prefix="annot-studio-"))
    template = template_folder()
    if template.is_dir():
        shutil.copytree(template, folder, dirs_exist_ok=True)
    environment = {**os.environ, server.ENVIRONMENT_VARIABLE: str(program.parent.parent)}
    try:
        running = server.up(folder, environ=environment, port=None, say=print)
        if not template.is_dir():
            _keep_template(folder, template)
        yield Studio(running.url, server.credentials(folder).token, folder)
    finally:
        server.down(folder)
        shutil.rmtree(folder, ignore_errors=True)


def chromium_program() -> str:
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        unavailable("no Chromium; on Debian: apt-get install chromium")
    return program


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    """Playwright, which a process starts once; a test that uses it has the marker `browser`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A headless Chromium that playwright drives; a test that uses it has the marker `browser`."""
    program = chromium_program()
    playwright = request.getfixturevalue("playwright")
    browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_ARGUMENTS, timeout=1000 * GUARD)
    yield Chromium(browser)
    browser.close()


def _abandoned(port: int) -> bool:
    """Whether a connection to the port stands that its client has closed and the server has not."""
    table = Path("/proc/net/tcp")
    lines = table.read_text(encoding="ascii").splitlines()[1:] if table.exists() else []
    found = ((line.split()[1], line.split()[3]) for line in lines)
    return any(state == CLOSE_WAIT and int(local.partition(":")[2], 16) == port for local, state in found)


def template_folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "annot" / f"studio-for-tests-{server.VERSION}"


def _keep_template(folder: Path, template: Path) -> None:
    """Keep the empty database of a server that has just become healthy, whole or not at all."""
    template.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=template.parent, prefix=".template-"))
    shutil.copy2(folder / "admin.json", aside)
    shutil.copytree(folder / "data", aside / "data", ignore=shutil.ignore_patterns("*.sqlite3*"))
    for database in folder.glob("data/*.sqlite3"):
        with (
            closing(sqlite3.connect(database)) as source,
            closing(sqlite3.connect(aside / "data" / database.name)) as target,
        ):
            source.backup(target)
    try:
        aside.rename(template)
    except OSError:  # another run was first
        shutil.rmtree(aside, ignore_errors=True)
