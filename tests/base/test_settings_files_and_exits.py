"""A settings file that does not fit is told key by key; the exit codes of errors; the one template environment."""

import subprocess
import sys
from pathlib import Path

import pytest
from annot.base import settings
from annot.base.array_files import _runs
from annot.base.errors import (
    SHOWN_IN_PYTHON,
    AnnotError,
    BusyError,
    FindingError,
    InputError,
    LeakError,
    MissingInput,
    SettingsError,
    StoreError,
    StudioError,
)
from annot.base.settings import Settings, read_settings
from annot.base.templating import environment
from pydantic import ValidationError


def faults_of(folder: Path, text: str) -> tuple[str, ...]:
    path = folder / "annot.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_settings(path)
    return caught.value.faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("sed = 1", "sed: unknown key; did you mean 'seed'?"),
        ("[pool]\nper_metod = 1", "pool.per_metod: unknown key; did you mean 'per_method'?"),
        ("seed = -1", "seed: Input should be greater than or equal to 0, found -1"),
        ("pool = 1", "pool: Input should be a valid dictionary or instance of PoolSettings, found 1"),
        ('[facets]\na = ["method"]\nb = ["method"]', "the file: facets.b: label 'method' already belongs to 'a'"),
        ("seed = 2_000_000_000", "seed: found 2e+09, expected at most 1000000000"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    assert faults_of(tmp_path, text) == (fault,)


def test_a_renamed_setting_is_read_under_its_old_name_with_the_new_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(settings, "RENAMED", {"pool.depth": "pool.ranking_depth", "screens.fold": "screen.fold_after"})
    path = tmp_path / "annot.toml"
    path.write_text("[pool]\ndepth = 70\n[screens]\nfold = 99\n", encoding="utf-8")
    for _ in range(2):
        read = read_settings(path)
        assert (read.pool.ranking_depth, read.screen.fold_after) == (70, 99)
    depth, fold = (record.getMessage() for record in caplog.records if record.name == "annot")
    assert "pool.depth" in depth
    assert "`ranking_depth = 70` in [pool]" in depth
    assert "`fold_after = 99` in [screen]" in fold
    path.write_text("[pool]\ndepth = 70\nranking_depth = 80\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"found pool\.depth and pool\.ranking_depth"):
        read_settings(path)


def test_every_fault_of_a_settings_file_is_told(tmp_path: Path) -> None:
    assert len(faults_of(tmp_path, "sed = 1\nseed = -1\n[pool]\nper_method = 0")) == 3


def test_a_settings_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        read_settings(tmp_path / "annot.toml")
    assert faults_of(tmp_path, "seed = ") == ()


@pytest.mark.parametrize(
    ("section", "key", "longest"),
    [("labels", "names", 30), ("queries", "types", 60)],
)
def test_a_name_is_taken_up_to_its_longest(section: str, key: str, longest: int) -> None:
    names = ["y" * longest, "z"]
    given = {"facets": {"all": []}, section: {key: names}}
    assert Settings.model_validate(given)
    with pytest.raises(ValidationError, match=f"at most {longest} char"):
        Settings.model_validate(given | {section: {key: ["y" * (longest + 1), "z"]}})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        *((known, 2) for known in (AnnotError, InputError, SettingsError, MissingInput, LeakError, StoreError)),
        *((known, 1) for known in (FindingError, BusyError)),
        (StudioError, 3),
    ],
)
def test_the_exit_code_of_each_error(error: type[AnnotError], code: int) -> None:
    assert error("m").exit_code == code


def test_an_error_that_nobody_catches_shows_twenty_faults() -> None:
    error = InputError("m", faults=[f"fault {at}" for at in range(25)])
    assert SHOWN_IN_PYTHON == 20
    assert error.__notes__ == [f"  fault {at}" for at in range(20)]
    assert len(error.faults) == 25


def test_a_studys_template_wins_and_its_blocks_leave_no_lines(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("  {% if value %}\n{{ value }}\n  {% endif %}\nend\n")
    (tmp_path / "mine.html").write_text("{{ value }}")
    made = environment(overrides=tmp_path)
    assert made.get_template("mine.txt").render(value="![a](http://b) <i>") == "![a](http://b) <i>\nend\n"
    assert made.get_template("mine.html").render(value="<i>") == "&lt;i&gt;"
    assert made.from_string("{{ value }}").render(value="<i>") == "<i>"
    harmless = environment(overrides=tmp_path, markdown=True)
    assert harmless.get_template("mine.txt").render(value="![a](http://b) <i>") == "!\\[a](http://b) &lt;i>\nend\n"


def test_asking_whether_a_process_runs_leaves_it_running() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert _runs(process.pid)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
        process.communicate(b"\n")
        assert process.returncode == 0
    assert not _runs(process.pid)
