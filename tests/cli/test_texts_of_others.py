"""Texts from outside reach the terminal as text, and numbers and names have bounds."""

from pathlib import Path

import pytest
from annot.base.errors import InputError, SettingsError
from annot.base.settings import read_settings
from annot.cli.main import report
from annot.cli.output import Output, emit, say
from annot.publishing.report.tables import Column, Columns
from command_line import annot

HOSTILE = "a\x1b]0;owned\x07 b\x9b31m c\rd \u202egnp.exe\u2028 e\x7f"
OBEYED = set("\x1b\x07\x9b\r\u202e\u2028\x7f")


def test_what_a_terminal_would_obey_is_shown_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    emit("comments", Output([{"comment": HOSTILE}], f"{HOSTILE}\nnext\tline"), as_json=False)
    say(HOSTILE)
    report(InputError(HOSTILE, faults=[HOSTILE], hint=HOSTILE))
    out, err = capsys.readouterr()
    assert out == "a\\u001b]0;owned\\u0007 b\\u009b31m c\\u000dd \\u202egnp.exe\\u2028 e\\u007f\nnext\tline\n"
    assert not OBEYED & set(out + err)


def test_json_carries_the_same_text_and_csv_what_neither_terminal_nor_spreadsheet_obeys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [{"query_id": "q", "doc_id": "d", "assessor": "a1", "grade": 1, "comment": HOSTILE, "judged_at": "2031"}]
    emit("comments", Output(rows, ""), as_json=True)
    out = capsys.readouterr().out
    assert not OBEYED & set(out)
    import json

    assert json.loads(out)["data"] == rows
    columns = Columns[dict[str, str]]([Column("comment", lambda one: one["comment"])])
    hostile = [{"comment": HOSTILE}, {"comment": "=cmd|'/C calc'!A0"}]
    emit("comments", Output(rows, "", tables=[columns.of(hostile)]), as_json=False, as_csv=True)
    assert capsys.readouterr().out.splitlines()[1:] == [
        '"a\\u001b]0;owned\\u0007 b\\u009b31m c',
        'd \\u202egnp.exe\\u2028 e\\u007f"',
        "'=cmd|'/C calc'!A0",
    ]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    assert annot("init", str(folder), folder=tmp_path).exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('[collection]\ntitle = "a\\u001b[2Jb"', "collection.title: found the control character U+001B"),
        ('[collection]\ncreators = ["ok", "a\\u202eb"]', "collection.creators: found the control character U+202E"),
        ('[store]\ndatabase = "\\u0000x"', "store.database: found the control character U+0000"),
        ('[store]\ndatabase = "x/.."', "store.database: does not name a file"),
        ("[pool]\nper_method = 99999999999999999999", "pool.per_method: found 1e+20, expected at most"),
    ],
)
def test_settings_that_no_person_writes_are_named(tmp_path: Path, line: str, fault: str) -> None:
    (tmp_path / "annot.toml").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        read_settings(tmp_path / "annot.toml")
    assert any(found.startswith(fault) for found in refused.value.faults), refused.value.faults


def test_a_password_in_an_address_is_never_repeated(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("push", "pull", "check"):
        found = annot(command, "--url", "http://lead:hunter2@127.0.0.1:9", folder=study)
        assert (found.exit_code, "hunter2" in found.stdout + found.stderr) == (2, False)
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://lead:hunter2@127.0.0.1:9")
    found = annot("push", folder=study)
    assert (found.exit_code, "hunter2" in found.stdout + found.stderr) == (2, False)
