"""Settings and their limits, a settings file that does not fit, exit codes of errors, and the template environment."""

from pathlib import Path
from typing import Any

import pytest
from annot.base import settings
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
from annot.base.settings import MOST, MOST_LETTERS, AdjudicationSettings, MachineSettings, Settings, read_settings
from annot.base.templating import environment
from pydantic import ValidationError


def faults_of(**given: Any) -> list[str]:
    try:
        Settings.model_validate(given)
    except ValidationError as error:
        return [fault["msg"] for fault in error.errors()]
    return []


@pytest.mark.parametrize(
    ("section", "key", "fits", "too_many"),
    [
        ("scale", "names", [list("ab"), list("abcdefghij")], [["a"], list("abcdefghijk"), ["a", "a"]]),
        (
            "labels",
            "names",
            [["ab", "cd"], [f"x{at:02}" for at in range(16)]],
            [["ab"], [f"x{at:02}" for at in range(17)]],
        ),
        ("queries", "types", [["a"]], [[], ["Survey", "survey"]]),
        ("word_vectors", "epochs", [1, "auto"], [0, True, "all", 1.5]),
        ("word_vectors", "workers", [1, "all"], [0, True, "auto"]),
        ("store", "database", ["annot.db", "x/annot.db", "postgresql://"], ["", "..", "x/.."]),
        ("word_vectors", "seed", [MOST, -MOST], [MOST + 1, -MOST - 1]),
        (
            "collection",
            "title",
            ["x" * MOST_LETTERS, "tab\tand\nline"],
            ["x" * (MOST_LETTERS + 1), "a\0b", "a\u202eb", "a\x7f"],
        ),
    ],
)
def test_a_setting_is_taken_up_to_its_limits(section: str, key: str, fits: list[Any], too_many: list[Any]) -> None:
    own: dict[str, Any] = {"facets": {"all": []}} if section == "labels" else {}
    for value in fits:
        assert faults_of(**own, **{section: {key: value}}) == []
    for value in too_many:
        assert len(faults_of(**own, **{section: {key: value}})) == 1


@pytest.mark.parametrize("names", [["method", "Method"], ["method", "my-method"], ["my-method", "method"]])
def test_no_label_ends_with_another(names: list[str]) -> None:
    (fault,) = faults_of(facets={"all": []}, labels={"names": names})
    assert "the screen would confuse them" in fault


def test_a_label_belongs_to_one_facet() -> None:
    assert faults_of(facets={"a": ["method"], "b": ["result"], "c": []}) == []
    (twice,) = faults_of(facets={"a": ["method"], "b": ["method"]})
    assert twice.endswith("facets.b: label 'method' already belongs to 'a'")
    (unknown,) = faults_of(facets={"a": ["methods"]})
    assert unknown.endswith("facets.a: unknown label 'methods'; did you mean 'method'?")
    assert Settings().facet_of("objective") == "background"
    assert Settings().facet_of("other") is None


def test_the_highest_grade_may_be_the_only_relevant_one() -> None:
    assert faults_of(evaluation={"relevant_from": 3}) == []
    assert faults_of(evaluation={"relevant_from": 4}) != []


@pytest.mark.parametrize(("grades", "lowest"), [(2, 1), (3, 2), (5, 2)])
def test_the_lowest_relevant_grade_is_of_the_scale_if_it_is_not_set(grades: int, lowest: int) -> None:
    scale = {"names": [f"g{grade}" for grade in range(grades)]}
    for given in ({}, {"tolerated_loss": 0.1}):
        found = Settings.model_validate({"scale": scale, "evaluation": given}).evaluation
        assert found.relevant_from == lowest
        assert found.tolerated_loss == given.get("tolerated_loss", 0.05)
    assert Settings.model_validate({"kind": "questions", "scale": scale}).evaluation.relevant_from == lowest
    assert Settings.model_validate({"scale": scale, "evaluation": {"relevant_from": 1}}).evaluation.relevant_from == 1


def test_a_relevant_grade_that_is_set_above_the_scale_is_refused_with_the_remedy() -> None:
    (fault,) = faults_of(scale={"names": ["No", "Yes"]}, evaluation={"relevant_from": 2})
    assert "evaluation.relevant_from: found 2, expected at most 1, the highest grade of scale.names" in fault
    assert fault.endswith("correct the line, or delete it")


def test_who_is_asked_and_where_work_is_done_follow_from_other_settings() -> None:
    assert AdjudicationSettings().asked == 1
    assert AdjudicationSettings(cannot_judge="second").asked == 2
    assert MachineSettings(shards="s3://x").url == ""
    assert MachineSettings(shards="s3://x", cluster="tcp://y").url == "s3://x"


def faults_of_file(folder: Path, text: str) -> tuple[str, ...]:
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
    assert faults_of_file(tmp_path, text) == (fault,)


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


def test_a_settings_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        read_settings(tmp_path / "annot.toml")
    assert faults_of_file(tmp_path, "seed = ") == ()


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
