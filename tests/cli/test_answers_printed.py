"""How an answer is printed: as text, as one JSON object, or as a CSV table, with the notes on stderr."""

import io
import json
import time
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from annot import __version__
from annot.base.errors import InputError
from annot.cli import output, prepare
from annot.cli.output import Output, SignOfLife, emit, progress, say
from annot.publishing.report.tables import Column, Columns


@dataclass(frozen=True)
class Row:
    name: str
    count: int


ROWS = Columns[Row]([Column("name", lambda one: one.name)], [Column("count", lambda one: one.count)])
Captured = pytest.CaptureFixture[str]


def test_json_is_one_object_that_can_be_read_with_what_a_terminal_would_obey_as_numbers(capsys: Captured) -> None:
    emit("status", Output(["Müller", "\x1b["], "text"), as_json=True)
    out = capsys.readouterr().out
    assert json.loads(out) == {"annot": 1, "version": __version__, "command": "status", "data": ["Müller", "\x1b["]}
    assert "Müller" in out
    assert "\x1b" not in out
    assert out.splitlines()[1] == '  "annot": 1,'
    emit("status", Output([], "", name="status --page"), as_json=True)
    assert json.loads(capsys.readouterr().out)["command"] == "status --page"


def test_csv_names_the_table_only_if_there_are_several(capsys: Captured) -> None:
    made = ROWS.of([Row("a", 1), Row("b", 2)], "first")
    emit("status", Output([], "text", tables=[made]), as_json=False, as_csv=True)
    assert capsys.readouterr().out == "name,count\na,1\nb,2\n"
    emit("status", Output([], "text", tables=[made, made]), as_json=False, as_csv=True)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split(",") == ["table", "name", "count"]
    assert [line.split(",")[0] for line in lines] == ["first"] * 4


def test_without_a_terminal_there_is_no_progress_and_one_line_is_on_stderr(capsys: Captured) -> None:
    with progress("reading") as advance:
        advance(1, 2)
    say("a\x07b")
    assert capsys.readouterr() == ("", "a\\u0007b\n")


def test_long_work_says_in_a_log_how_far_it_is_once_a_minute(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: now))
    with progress("asking", forecast=True) as advance:
        for done in range(1001):
            advance(done, 1000)
            now += 14.5
    lines = capsys.readouterr().err.splitlines()
    # Every fifth answer is the first that came a minute or more after the last line.
    assert len(lines) == 200
    assert lines[0] == "asking: 5 of 1,000 after 1 min, about 4.0 h left"
    assert lines[-2] == "asking: 995 of 1,000 after 4.0 h, about 1 min left"
    assert lines[-1] == "asking: 1,000 of 1,000 after 4.0 h, about 0 s left"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_silence_is_broken_on_a_terminal_after_a_while_and_the_line_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (output.PATIENCE, output.STEP) == (1.5, 0.5)  # not at once, and not long after two seconds
    monkeypatch.setattr(output, "PATIENCE", 0.05)
    monkeypatch.setattr(output, "STEP", 0.01)
    seen = Terminal()
    monkeypatch.setattr(output.sys, "stderr", seen)
    sign = SignOfLife()
    sign.command, sign.far = "annot pull", "reading answers: 186 of 186"
    sign.quiet()
    assert seen.getvalue() == ""
    with sign:
        sign.quiet()
        assert seen.getvalue() == ""
        until = time.monotonic() + 5
        while "working" not in seen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
        assert seen.getvalue().startswith("\r\x1b[Kannot pull: working, 0 s (reading answers: 186 of 186)")
    assert seen.getvalue().endswith("\r\x1b[K")
    whole = seen.getvalue()
    sign.quiet()
    assert seen.getvalue() == whole


def test_a_line_that_stays_is_cut_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Terminal()
    monkeypatch.setattr(output.sys, "stderr", seen)
    monkeypatch.setenv("COLUMNS", "10")
    sign = SignOfLife()
    sign.stay("x" * 20)
    assert seen.getvalue() == f"\r\x1b[K{'x' * 9}"
    sign.quiet()
    assert seen.getvalue() == f"\r\x1b[K{'x' * 9}\r\x1b[K"


def test_options_of_one_kind_of_import_are_refused_with_another() -> None:
    prepare._check_options("grades", {"--format", "--facet"})
    with pytest.raises(InputError, match="--as: found 'grade', expected one of"):
        prepare._check_options("grade", set())
    with pytest.raises(InputError, match="--rating can only be used with --as labelstudio, found --as grades"):
        prepare._check_options("grades", {"--rating"})


@pytest.mark.parametrize("missing", ["rating", "query", "document"])
def test_an_export_needs_the_places_of_three_fields(missing: str) -> None:
    places = {"rating": "rel", "query": "topic", "document": "paper"}
    assert prepare._places(**places, comment="note") == {
        **{"grade": "rel", "query": "topic", "document": "paper", "comment": "note"}
    }
    with pytest.raises(InputError, match="--as labelstudio needs --rating, --query and --document"):
        prepare._places(**{**places, missing: None}, comment=None)  # type: ignore[arg-type]
