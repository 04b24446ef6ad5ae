"""`--csv`: the figures behind a command as one table, the same as in its JSON, and nothing else on stdout."""

import ast
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from annot.publishing.report import tidy
from command_line import annot, annot_done, commands
from usual import USUAL

WITH_A_TABLE = sorted(command.name for command in commands() if "--csv" in command.options)


def table(name: str, folder: Path, *options: str) -> pd.DataFrame:
    usual = USUAL[name]
    usual.prepare(folder)
    printed = annot_done(*name.split(), *usual.typed.split(), *options, "--csv", folder=folder).stdout
    return pd.read_csv(io.StringIO(printed), keep_default_na=False)


def is_a_table(found: pd.DataFrame) -> None:
    assert not found.duplicated().any()
    assert all(column and column == column.lower() and " " not in column for column in found)


HOSTILE, GUARDED = "=cmd|'x'\x1b]52;c;eA==\x07", "'=cmd|'x'\\u001b]52;c;eA==\\u0007"


@pytest.mark.parametrize("name", WITH_A_TABLE)
def test_one_table_of_equal_rows_in_which_nothing_is_an_order_to_a_spreadsheet_or_a_terminal(
    name: str, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_record = tidy._rows
    monkeypatch.setattr(tidy, "_rows", lambda *given: [{HOSTILE: HOSTILE} | row for row in of_record(*given)])
    found = table(name, study(USUAL[name].stage))
    assert {*found.pop(GUARDED)} == {GUARDED}
    assert len(found)
    is_a_table(found)


WRITERS = {"writer", "DictWriter", "to_csv", "write_csv"}


def test_csv_is_written_where_it_is_guarded_and_nowhere_else() -> None:
    package = Path(tidy.__file__).parents[2]
    places = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS
    }
    assert places == {"formats/input_files.py", "publishing/report/tidy.py"}


def test_numbers_stay_numbers_and_texts_that_look_like_formulas_do_not() -> None:
    made = pd.DataFrame({"value": [-0.5, 2.0], "rank": [-1, 3], "mixed": [-7, "-7"], "text": ["-x", None]})
    assert tidy.csv_text(made) == "value,rank,mixed,text\n-0.5,-1,-7,'-x\n2,3,'-7,\n"


def test_without_a_row_nothing_is_on_stdout_and_the_reason_on_stderr(study: Callable[[str], Path]) -> None:
    done = annot_done("agreement", "--by", "guidelines", "--csv", folder=study("measured"))
    assert (done.stdout, done.stderr.strip()) == ("", "no guidelines were changed after they were sent")


def test_json_and_csv_together_are_refused_before_anything_is_done(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    for arguments in (("qrels", "--json", "--csv"), ("agreement", "--csv", "assessors", "--json")):
        refused = annot(*arguments, folder=folder)
        assert refused.exit_code == 2
        assert "found --json and --csv, expected one of them" in refused.message()
    assert not (folder / "exports" / "qrels.txt").exists()
