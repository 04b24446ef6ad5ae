"""The commands that talk to Label Studio, against one in memory: the usual way, and what it refuses."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import annot, difference, snapshot
from fixtures_studio import Studio
from memory_studio import studio_of_memory

WRONG_TOKEN = "0123456789abcdef0123456789abcdef01234567"
TALKING = ("push", "pull adjudication", "pull --watch", "assessor add a9 --account a9@example.org")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with studio_of_memory(tmp_path_factory.mktemp("studio")) as made:
        yield made


@pytest.fixture
def named(
    study: Callable[[str], Path], studio: Studio, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[[str], Path]:
    """A study of the test's own name, and the environment of a lead who has an account on the server."""

    def make(stage: str) -> Path:
        folder = study(stage)
        settings = folder / "annot.toml"
        text = settings.read_text(encoding="utf-8").replace('"annot-demo"', f'"{request.node.name}"')
        settings.write_text(text, encoding="utf-8")
        return folder

    monkeypatch.setenv("LABEL_STUDIO_URL", studio.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", studio.token)
    return make


@pytest.fixture
def folder(named: Callable[[str], Path]) -> Path:
    return named("planned")


@pytest.mark.parametrize("command", TALKING)
def test_a_wrong_token_is_told_and_changes_nothing(
    command: str, study: Callable[[str], Path], studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = study("judged")
    monkeypatch.setenv("LABEL_STUDIO_URL", studio.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", WRONG_TOKEN)
    before = snapshot(made)
    refused = annot(*command.split(), folder=made)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert refused.stderr.startswith(f"annot: {studio.url} refuses checking the token (401)")
    assert "LABEL_STUDIO_API_KEY" in refused.stderr
    assert WRONG_TOKEN not in refused.stderr
    assert not difference(before, snapshot(made))


def test_a_page_that_is_no_label_studio_is_told(folder: Path, studio: Studio) -> None:
    before = snapshot(folder)
    refused = annot("push", "--url", f"{studio.url}/projects", folder=folder)
    assert refused.exit_code == 3
    assert f"{studio.url}/projects" in refused.stderr
    assert "LABEL_STUDIO_URL" in refused.stderr or "check that the address" in refused.stderr
    assert not difference(before, snapshot(folder))


def test_people_without_an_account_are_named_together_and_nothing_is_sent(folder: Path, studio: Studio) -> None:
    with studio.gateway() as gateway:
        projects = len(list(gateway._client.projects.list()))
    before = snapshot(folder)
    refused = annot("push", folder=folder)
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"annot: 4 people without access to {studio.url}\n")
    assert all(f"  {name}: has not signed up on the server yet" in refused.stderr for name in ("a1", "a2", "a3", "a4"))
    assert "@" not in refused.stderr
    assert not difference(before, snapshot(folder))
    with studio.gateway() as gateway:
        assert len(list(gateway._client.projects.list())) == projects
