"""A backup from a stranger brings rows and files of a study, into the folder that was named, and does nothing else."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import tomlkit
from annot.study import backups
from command_line import annot, annot_done, difference, snapshot
from hostile_backups import HOSTILE, TOML, Backup, database

Study = Callable[[str], Path]


@pytest.fixture(scope="session")
def taken(stages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a study with pools and a plan; nobody writes to it."""
    path = tmp_path_factory.mktemp("taken") / "taken.tar.gz"
    annot_done("backup", path, folder=stages["planned"])
    return path


class Place(NamedTuple):
    """Where a backup arrives."""

    backup: Path
    foreign: Path
    """The folder of somebody else's files."""


@pytest.fixture
def place(taken: Path, tmp_path: Path) -> Place:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "key").write_text("not yours")
    return Place(Path(shutil.copy(taken, tmp_path / "theirs.tar.gz")), foreign)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_backup_is_refused_in_a_sentence_and_does_nothing(name: str, place: Place, tmp_path: Path) -> None:
    backup = Backup.read(place.backup)
    HOSTILE[name].change(backup, place.foreign)
    backup.write(place.backup)
    before = snapshot(tmp_path)
    for arguments in (["--dry-run"], ["--replace"]):
        refused = annot("restore", place.backup, tmp_path / "new", *arguments, folder=tmp_path)
        assert refused.exit_code == 2, refused.stdout
        assert HOSTILE[name].words in refused.message()
        assert len(refused.stderr.splitlines()) <= 5, "a sentence, what is wrong, and a hint"
        assert not difference(before, snapshot(tmp_path))


@pytest.fixture(scope="session")
def judged(stages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a study with judgements and final grades; nobody writes to it."""
    path = tmp_path_factory.mktemp("judged") / "judged.tar.gz"
    annot_done("backup", path, folder=stages["settled"])
    return path


def shorter_scale(backup: Backup) -> None:
    """The rows are as they were made; the settings say that there are two grades."""
    settings = tomlkit.parse(backup.files[TOML].decode())
    settings["scale"] = {"names": ["No", "Yes"]}
    settings["evaluation"] = {"relevant_from": 1}
    backup.put(TOML, tomlkit.dumps(settings))


def lost_row(backup: Backup) -> None:
    """The last judgement is gone, and the manifest counts without it."""
    rows = backup.files["database/judgement.jsonl"].decode().splitlines(keepends=True)
    backup.put("database/judgement.jsonl", "".join(rows[:-1]))
    backup.manifest["database"]["rows"]["judgement"] -= 1


FORGED: dict[str, tuple[Callable[[Backup], None], str]] = {
    "a grade off the scale": (lambda b: b.rows("judgement", lambda row: row.update(grade=9)), "grade 9, expected one"),
    "a grade without its hash": (
        lambda b: b.rows("judgement", lambda row: row.update(grade=(row["grade"] or 0) ^ 1)),
        "its content has changed since it was recorded",
    ),
    "a final grade without its hash": (
        lambda b: b.rows("adjudication", lambda row: row.update(reason="Because.")),
        "its content has changed since it was recorded",
    ),
    "a row of another person": (
        lambda b: b.rows("judgement", lambda row: row.update(account=77)),
        "it has changed, or the row before it",
    ),
    "a row that is gone": (lost_row, "were recorded"),
    "a scale with fewer grades": (shorter_scale, "expected one of 0, 1"),
}


@pytest.mark.parametrize("name", FORGED)
def test_rows_that_are_not_as_they_were_recorded_are_refused_and_the_study_stays(
    name: str, judged: Path, stages: dict[str, Path], tmp_path: Path
) -> None:
    forged, folder = tmp_path / "forged.tar.gz", tmp_path / "study"
    backup = Backup.read(judged)
    FORGED[name][0](backup)
    backup.write(forged)
    shutil.copytree(stages["settled"], folder)
    before = snapshot(folder)
    for arguments in ([folder, "--replace"], [tmp_path / "new"], [tmp_path / "new", "--dry-run"]):
        refused = annot("restore", forged, *arguments, folder=tmp_path)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert FORGED[name][1] in refused.message()
        assert "judgement" in refused.message() or "adjudication" in refused.message()
    changed = [path for path in difference(before, snapshot(folder)) if not path.startswith("backups")]
    assert not changed
    assert not (tmp_path / "new").exists()


def test_what_is_packed_again_as_it_was_comes_back(place: Place, tmp_path: Path) -> None:
    """The cases above are refused for what was changed, not for how they were packed."""
    Backup.read(place.backup).write(place.backup)
    annot_done("restore", place.backup, tmp_path / "new", folder=tmp_path)


def test_what_does_not_fit_on_the_disk_is_refused_before_the_first_byte(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(len(content) for content in Backup.read(place.backup).files.values())
    opened: list[object] = []
    monkeypatch.setattr(backups, "_unpacked", lambda *given: opened.append(given) or iter(()))
    monkeypatch.setattr(backups.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 0, size - 1))  # type: ignore[attr-defined]
    refused = annot("restore", place.backup, tmp_path / "new", folder=tmp_path)
    assert f"needs {size} bytes, found {size - 1} free on the disk" in refused.stderr
    assert not opened


def test_a_database_is_elsewhere_only_if_the_environment_names_it(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = Backup.read(place.backup)
    database("{}/key")(backup, place.foreign)
    backup.write(place.backup)
    monkeypatch.setenv("ANNOT_DATABASE", str(place.foreign / "mine.db"))
    annot_done("restore", place.backup, tmp_path / "new", folder=tmp_path)
    assert (place.foreign / "mine.db").is_file()
    assert (place.foreign / "key").read_text() == "not yours"
    # What is in the way there is named by its whole path.
    again = annot("restore", place.backup, tmp_path / "second", folder=tmp_path)
    assert f"not empty, found {place.foreign / 'mine.db'}" in again.stderr


def test_a_backup_holds_nothing_of_git(study: Study, tmp_path: Path) -> None:
    folder = study("planned")
    (folder / "notes" / "deep" / ".git").mkdir(parents=True)
    (folder / "notes" / "deep" / ".git" / "config").write_text("x")
    (folder / "notes" / ".git").write_text("gitdir: x")
    (folder / "notes" / "mine.txt").write_text("x")
    annot_done("backup", tmp_path / "kept.tar.gz", folder=folder)
    names = Backup.read(tmp_path / "kept.tar.gz").files
    assert [name for name in names if name.startswith("files/notes")] == ["files/notes/mine.txt"]
    annot_done("restore", tmp_path / "kept.tar.gz", tmp_path / "new", folder=tmp_path)


def test_a_backup_that_could_not_be_restored_is_not_written(study: Study, tmp_path: Path) -> None:
    folder = study("made")
    (folder / "zeros").write_bytes(bytes(64 << 20))
    refused = annot("backup", tmp_path / "kept.tar.gz", folder=folder)
    assert refused.exit_code == 2
    assert "expected at most 100 times as many" in refused.stderr
    assert not (tmp_path / "kept.tar.gz").exists()
