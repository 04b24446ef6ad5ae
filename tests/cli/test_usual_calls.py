"""Every command where all is well: data on stdout, talk on stderr; a dry run and a second run change nothing."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, annot, annot_done, command_of, commands, difference, snapshot
from study_stages import set_in
from usual import USUAL, WITH_A_SERVER

COMMANDS = {command.name: command for command in commands()}
DRY = [name for name in USUAL if "--dry-run" in COMMANDS[command_of(name)].options]


def refuse_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def test_every_command_is_called_in_these_tests() -> None:
    assert set(COMMANDS) == {*map(command_of, USUAL), *WITH_A_SERVER}


def test_a_row_that_changed_is_seen_and_the_same_rows_in_another_file_are_no_difference(
    study: Callable[[str], Path],
) -> None:
    folder = study("planned")
    before = snapshot(folder)
    file = (folder / "annot.db").read_bytes()
    with closing(sqlite3.connect(folder / "annot.db")) as database:
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert (folder / "annot.db").read_bytes() != file
        assert not difference(before, snapshot(folder))
        with database:
            database.execute("UPDATE assessor SET adjudicator = 1 WHERE assessor = 'a1'")
        # The change is in the log.
        assert difference(before, snapshot(folder)) == ["annot.db"]
    assert difference(before, snapshot(folder)) == ["annot.db"]


@pytest.mark.parametrize("name", USUAL)
def test_one_json_object_on_stdout_and_a_second_run_changes_nothing(name: str, study: Callable[[str], Path]) -> None:
    usual = USUAL[name]
    folder = study(usual.stage)
    usual.prepare(folder)
    if name in DRY and name != "init":
        dry_run_touches_nothing(name, folder)
    first = annot_done(*name.split(), *usual.typed.split(), "--json", folder=folder)
    record = json.loads(first.stdout, parse_constant=refuse_constant)
    assert list(record) == ["annot", "version", "command", "data"]
    assert (record["annot"], record["command"]) == (1, command_of(name))
    assert record["data"] is not None
    assert "\x1b" not in first.stdout + first.stderr
    assert not re.search(r"[━╸╺█▏]|\d+/\d+ ", first.stderr), "a progress bar without a terminal"
    before = snapshot(folder)
    second = annot(*name.split(), *usual.typed.split(), folder=folder)
    assert second.exit_code == usual.again, second.stderr
    assert not difference(before, snapshot(folder))
    if usual.again == 0:
        assert second.stdout.strip()
        assert not second.stdout.startswith("{")
        assert "\x1b" not in second.stdout + second.stderr


def test_a_dry_run_of_init_says_what_would_be_made_and_makes_nothing(study: Callable[[str], Path]) -> None:
    folder = study(USUAL["init"].stage)
    (folder / "annot.toml").unlink()
    (folder / "annot.db").unlink()
    dry_run_touches_nothing("init", folder)


def dry_run_touches_nothing(name: str, folder: Path) -> None:
    """A dry run says what would be done, and leaves the study as it was."""
    before = snapshot(folder)
    arguments = [*name.split(), *USUAL[name].typed.replace("--dry-run", "").split()]
    dry = annot_done(*arguments, "--dry-run", folder=folder)
    assert not difference(before, snapshot(folder))
    assert dry.stderr.startswith("dry run: ")
    assert dry.stdout.strip()


def test_a_dry_run_of_a_first_step_promises_what_the_step_then_does(study: Callable[[str], Path]) -> None:
    folder = study("made")
    for arguments in (("corpus", "add", "papers.jsonl"), ("facets",), ("query", "add", "fic0802", "-f", "method")):
        promised = annot_done(*arguments, "--dry-run", "--json", folder=folder).data
        done = annot_done(*arguments, "--json", folder=folder).data
        promised.pop("sha256", None), done.pop("sha256", None)
        assert promised == done


def options_without_help(command: Command) -> list[str]:
    return [parameter.opts[0] for parameter in command.click.params if not (parameter.help or "").strip()]


def test_every_command_and_every_option_has_help(tmp_path: Path) -> None:
    without = {name: options_without_help(command) for name, command in COMMANDS.items()}
    assert not {name: options for name, options in without.items() if options or not COMMANDS[name].click.help}
    shown = annot_done("pool", "--help", folder=tmp_path)
    assert "Usage: annot" in shown.stdout
    assert shown.stderr == ""
    assert not [option for option in COMMANDS["pool"].options if option[:2] == "--" and option not in shown.stdout]


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if "--api-key" in command.options])
def test_help_never_shows_a_secret(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "s3cret-of-a-person")
    monkeypatch.setenv("LABEL_STUDIO_URL", "https://studio.of-a-person.example")
    shown = annot_done(*name.split(), "--help", folder=tmp_path).stdout
    assert "LABEL_STUDIO_API_KEY" in shown
    assert "s3cret" not in shown
    assert "of-a-person" not in shown


@pytest.mark.parametrize("position", ["before", "after"])
def test_options_hold_before_and_after_the_verb(
    position: str, study: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study("pooled")
    monkeypatch.setenv("ANNOT_WORKSPACE", str(tmp_path / "another"))
    options = ["-C", folder, "--json"]
    words = ["pool", *options, "show"] if position == "before" else ["pool", "show", *options]
    assert annot_done(*words, "fic0407-background", folder=tmp_path).data["topic_id"] == "fic0407"


def test_an_option_that_the_verb_does_not_have_is_refused_before_it(study: Callable[[str], Path]) -> None:
    folder = study("made")
    before = snapshot(folder)
    for words in (["facets", "--dry-run", "train", "x.jsonl", "-o", "y.xz"], ["pool", "--mode", "blocks", "show", "q"]):
        refused = annot(*words, folder=folder)
        assert refused.exit_code == 2
        assert f"`{words[2] if words[0] == 'facets' else words[3]}` has no such option" in refused.message()
    assert not difference(before, snapshot(folder))


def test_the_workspace_comes_from_the_environment(
    study: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOT_WORKSPACE", str(study("queried")))
    assert len(annot_done("query", "list", "--json", folder=tmp_path).data) == 18


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("evaluate --convention trec", "exports/evaluation.json"), ("agreement --missing zero", "exports/agreement.json")],
)
def test_a_look_from_another_side_leaves_what_is_exported(typed: str, kept: str, study: Callable[[str], Path]) -> None:
    folder = study("measured")
    before = snapshot(folder)
    assert kept in before
    annot_done(*typed.split(), folder=folder)
    assert not difference(before, snapshot(folder))


def test_the_workspace_may_be_named_before_the_command(
    study: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study("queried")
    monkeypatch.setenv("ANNOT_WORKSPACE", str(tmp_path / "another"))
    assert annot_done("-C", folder, "status", "--json", folder=tmp_path).data["queries"] == 18
    assert len(annot_done("--workspace", folder, "query", "list", "--json", folder=tmp_path).data) == 18
    assert (
        annot_done("-C", tmp_path / "another", "status", "-C", folder, "--json", folder=tmp_path).data["queries"] == 18
    )
    refused = annot("-C", folder, "init", "new", folder=tmp_path)
    assert refused.exit_code == 2
    assert "`init` has no such option" in refused.message()
    assert not (tmp_path / "new").exists()


def test_ids_of_any_length_and_name_have_a_pool_file_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    annot_done("init", folder, folder=tmp_path)
    set_in(folder, {"pool": {"methods": ["abs_tfidf"]}})
    words = ("shape", "size", "colour", "weight")
    long = "x" * 300
    ids = ["plan", "manifest", "a/b", f"{long}1", f"{long}2", "é" * 60]
    papers = [
        {
            "paper_id": paper_id,
            "title": f"Title {at}",
            "abstract": [f"We study the {word} of {at} things with {at} cares." for word in words],
            "labels": ["method"] * len(words),
        }
        for at, paper_id in enumerate(ids)
    ]
    (folder / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
    annot_done("corpus", "add", "papers.jsonl", folder=folder)
    annot_done("facets", folder=folder)
    for paper_id in ids:
        annot_done("query", "add", paper_id, "--facet", "method", folder=folder)
    annot_done("pool", folder=folder)
    for name in ("a1", "a2"):
        annot_done("assessor", "add", name, "--account", f"{name}@example.org", folder=folder)
    annot_done("plan", folder=folder)
    annot_done("pool", folder=folder)
    listed = json.loads((folder / "pools" / "manifest.json").read_text(encoding="utf-8"))["files"]
    pools = [(folder / "pools" / name).read_text(encoding="utf-8") for name in listed if name.startswith("queries/")]
    assert sorted(json.loads(text.splitlines()[0])["topic_id"] for text in pools) == sorted(ids)
    plan = (folder / "pools" / "plan.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["assessor"] for line in plan} == {"a1", "a2"}


@pytest.mark.parametrize("stage", ["made", "pooled", "judged"])
def test_no_page_and_no_command_names_what_a_younger_study_lacks(stage: str, study: Callable[[str], Path]) -> None:
    """Templates have strict undefined names."""
    folder = study(stage)
    for typed in (
        "report",
        "datasheet",
        "browse --partial",
        "status",
        "forecast",
        "agreement --all",
        "evaluate",
        "qrels",
    ):
        result = annot(*typed.split(), folder=folder)
        assert "correct the template" not in result.stderr, result.message()
