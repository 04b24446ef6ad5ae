"""The doctor finds every planted fault, says how to mend it, and finds nothing where nothing is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from annot.labelstudio import server
from annot.labelstudio.gateway import Gateway
from annot.steps import check
from annot.store.database import open_store
from command_line import annot, annot_done
from fixtures_studio import Studio
from sqlalchemy import text

Study = Callable[[str], Path]


@pytest.fixture
def asked(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABEL_STUDIO_URL", studio.url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", studio.token)


@pytest.fixture(autouse=True)
def room_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of it others take at the moment."""
    monkeypatch.setattr(check, "FREE_BYTES", 0)


def findings(folder: Path) -> dict[str, str]:
    """What is found, and the mend of each; the exit code has to fit."""
    result = annot("doctor", "--json", folder=folder)
    found = {one["what"]: one["mend"] for one in result.data["findings"]}
    assert result.exit_code == (1 if found else 0), result.stderr
    assert all(found.values())
    return found


@pytest.mark.studio
@pytest.mark.usefixtures("asked")
def test_nothing_is_found_where_all_is_well(study: Study) -> None:
    folder = study("planned")
    sound = annot_done("doctor", folder=folder).stdout
    assert sound.startswith("no problems found")
    assert f"Label Studio {server.VERSION}" in sound


@pytest.mark.studio
@pytest.mark.usefixtures("asked")
def test_a_server_of_another_version_is_found(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gateway, "version", lambda self: "1.8.1")
    (what,) = findings(study("planned"))
    assert what.startswith("Label Studio 1.8.1, expected")


def test_what_others_can_read_is_found_with_the_command_that_mends_it(study: Study) -> None:
    folder = study("planned")
    (folder / ".annot" / "studio").mkdir(parents=True, exist_ok=True)
    passwords = folder / ".annot" / "studio" / "passwords.tsv"
    passwords.write_text("a1\tsecret\n")
    (folder / "annot.db").chmod(0o644)
    passwords.chmod(0o604)
    found = findings(folder)
    assert len(found) == 2
    for mend in found.values():
        subprocess.run(mend, shell=True, check=True, cwd=folder)
    assert not findings(folder)


def test_a_repository_that_would_take_the_database_is_found(study: Study) -> None:
    folder = study("planned")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    assert not findings(folder)
    (folder / ".gitignore").unlink()
    (what,) = findings(folder)
    assert "does not list annot.db" in what
    annot_done("init", folder=folder)
    assert not findings(folder)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    staged = subprocess.run(["git", "ls-files"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "annot.toml" in staged
    assert "annot.db" not in staged


def test_a_study_that_cannot_be_worked_on_is_found(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = study("planned")
    with open_store(f"sqlite:///{folder / 'annot.db'}") as store, store.begin() as session:
        session.connection().execute(text("UPDATE annot_schema SET version = 17"))
    monkeypatch.setattr(check, "FREE_BYTES", 10**18)
    monkeypatch.setattr(check, "SDK", "9.")
    mounts = folder / "mounts"
    mounts.write_text(f"proc / ext4 rw 0 0\nserver:/home {folder.resolve().parent} nfs4 rw 0 0\n")
    monkeypatch.setattr(check, "MOUNTS", mounts)
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "token")
    found = findings(folder)
    for words in (
        "expected 1 or less",
        "GB of disk",
        "label-studio-sdk",
        "nfs4",
        "no server answers",
    ):
        assert [what for what in found if words in what], words
    assert len(found) == 5


def test_an_address_without_https_is_found() -> None:
    (finding,) = check._of_server("http://studio.example.org", server.VERSION)
    assert "https" in finding.mend
    assert not list(check._of_server("http://127.0.0.1:8090", server.VERSION))
    assert not list(check._of_server("https://studio.example.org", server.VERSION))


def test_outside_a_study_the_machine_is_looked_at(tmp_path: Path) -> None:
    looked = annot_done("doctor", folder=tmp_path)
    assert "no study here" in looked.stderr
