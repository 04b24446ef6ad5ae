"""`--csv`: the figures behind a command as one table, the same as in its JSON, and nothing else on stdout."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from annot import evaluate, open_study
from annot.publishing.report import tidy
from command_line import annot, annot_done, commands
from usual import USUAL

WITH_A_TABLE = sorted(command.name for command in commands() if "--csv" in command.options)


def table(name: str, folder: Path, *options: str) -> pd.DataFrame:
    usual = USUAL[name]
    usual.prepare(folder)
    printed = annot_done(*name.split(), *usual.typed.split(), *options, "--csv", folder=folder).stdout
    return pd.read_csv(io.StringIO(printed), keep_default_na=False)


def told(name: str, folder: Path) -> Any:
    typed = USUAL[name.partition(" --")[0]].typed
    return annot_done(*name.split(), *typed.split(), "--json", folder=folder).data


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


def test_agreement_has_the_figures_of_its_json(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    found = table("agreement", folder).set_index(["facet", "adjudication", "coefficient", "statistic"])
    for group in told("agreement", folder)["groups"]:
        for name, summary in group["before"].items():
            row = found.loc[(group["name"], "before", name, "median")]
            assert float(row["value"]) == pytest.approx(summary["median"], rel=1e-5)
            assert int(row["queries"]) == summary["n_queries"]


def test_a_figure_without_a_value_has_an_empty_cell_and_the_reason(study: Callable[[str], Path]) -> None:
    found = table("agreement", study("judged"))
    after = found[(found["adjudication"] == "after") & (found["facet"] == "together")]
    assert set(after["value"]) == {""}
    assert after["undefined"].str.contains("not settled").all()


def test_per_query_is_a_table_of_the_queries(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    of_agreement, of_runs = table("agreement", folder, "--per-query"), table("evaluate", folder, "--per-query")
    queries = {query["query_id"] for query in told("agreement", folder)["queries"]}
    assert set(of_agreement["query_id"]) == set(of_runs["query_id"]) == queries


def test_evaluation_has_the_figures_of_its_json(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    found = table("evaluate", folder)
    found = found[found["against"] == ""].set_index(["convention", "facet", "run", "measure"])["value"]
    data = told("evaluate", folder)
    lines = [*data["lines"], *data["ceiling"]]
    expected = {
        (line["convention"], line["facet"], line["run"], measure): value
        for line in lines
        for measure, value in line["values"].items()
    }
    assert found.to_dict() == pytest.approx(expected, rel=1e-5)


def test_runs_are_measured_and_compared_in_python_as_by_the_command(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    opened = open_study(folder)
    runs = sorted((folder / "exports" / "runs").glob("*.run"))
    measured = evaluate(runs, opened.qrels, judgements=opened.judgements)
    data = told("evaluate", folder)
    values = [value for line in (*data["lines"], *data["ceiling"]) for value in line["values"].values()]
    assert measured.to_frame()["value"].tolist() == values
    assert measured.comparisons()["value"].tolist() == [pair["difference"] for pair in data["comparison"]["pairs"]]
    assert {"chance", "one assessor"} < set(measured.to_frame()["run"])
    assert set(measured.comparisons()["facet"]) == {"background", "method", "result", "together"}
    printed = table("evaluate", folder)
    assert (printed["against"] != "").sum() == len(measured.comparisons())


def test_the_table_of_a_pool_is_the_pool(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    found = table("pool show", folder)
    entries = told("pool show", folder)["entries"]
    assert found["doc_id"].tolist() == [entry["doc_id"] for entry in entries]
    assert found["method"].tolist() == [entry["drawn"]["method"] for entry in entries]
    assert sum(len(cell.split()) for cell in found["also_had_by"]) == sum(len(entry["also"]) for entry in entries)


def test_counts_add_up_to_those_of_the_study(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    grades = table("qrels", folder)
    counts, by_query = told("status", folder), table("status", folder, "--adjudication")
    assert grades.set_index("query_id").sum(axis=None) == by_query["pairs"].sum() == told("qrels", folder)["pairs"]
    assert grades.set_index("query_id").T.to_dict("list") == {
        query: list(pairs) for query, pairs in told("qrels", folder)["grades"].items()
    }
    for name in ("incomplete", "waiting", "agreed", "disputed", "settled", "unjudgeable", "open"):
        assert by_query[name].sum() == counts[name]
    people = table("status", folder)
    assert people[["assessor", "assigned", "judged"]].to_dict("records") == [
        {name: person[name] for name in ("assessor", "assigned", "judged")} for person in counts["assessors"]
    ]


def test_figures_of_assessors_are_those_of_the_json(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    found = table("agreement", folder, "--by", "assessor")
    data = told("agreement --by assessor", folder)["diagnosed"]
    between = found[found["table"] == "between"].set_index(["assessor", "compared_with", "figure"])
    assert len(between) == 3 * len(data["matrix"])
    for pair in data["matrix"]:
        row = between.loc[(pair["first"], pair["second"], "equal_grades")]
        assert float(row["value"]) == pytest.approx(pair["same"]["value"], rel=1e-5)
        assert float(row["low"]) == pytest.approx(pair["same"]["interval"]["low"], rel=1e-5)
        assert float(row["pairs"]) == pair["same"]["of"]
    severity = (
        found[(found["table"] == "against-final") & (found["figure"] == "severity")]
        .set_index("assessor")["value"]
        .astype(float)
    )
    assert severity[severity.notna()].to_dict() == pytest.approx(
        {one["assessor"]: one["severity"]["value"] for one in data["severities"]}, rel=1e-5
    )


def test_figures_of_a_forecast_are_those_of_its_json(study: Callable[[str], Path]) -> None:
    folder = study("judged")
    found, data = table("forecast", folder), told("forecast", folder)
    whole = found[found["table"] == "forecast"].set_index("figure")["value"]
    assert float(whole["hours_left"]) == pytest.approx(data["forecast"]["hours_left"]["value"], rel=1e-5)
    people = found[(found["table"] == "people") & (found["figure"] == "pairs_per_day")].set_index("assessor")
    for person in data["forecast"]["assessors"]:
        row, expected = people.loc[person["assessor"]], person["pairs_per_day"]
        if isinstance(expected, float):
            assert float(row["value"]) == pytest.approx(expected, rel=1e-5)
        else:
            assert (row["value"], row["undefined"]) == ("", expected["undefined"])
    design = table("forecast", folder, "--design").set_index("figure")
    simulated = told("forecast --design", folder)["forecast"]
    assert {"hours_judging", "hours", "coefficient", "width"} <= {*design.index}
    for name in ("hours_judging", "hours_adjudicating", "disputed"):
        row, expected = design.loc[name], simulated[name]["value"]
        if isinstance(expected, float):
            assert float(row["value"]) == pytest.approx(expected, rel=1e-5)
        else:
            assert (row["value"], row["undefined"]) == ("", expected["undefined"])


def test_the_effect_of_the_assessor_has_the_figures_of_its_json(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    found, data = table("assessor-effect", folder), told("assessor-effect", folder)
    means = found[(found["table"] == "ranges") & (found["figure"] == "final")].set_index("run")
    assert means["value"].astype(float).to_dict() == pytest.approx(data["rankings"][0]["means"], rel=1e-5)
    for run, (low, high) in data["random_assessors"]["means"].items():
        assert means.loc[run, ["random_low", "random_high"]].astype(float).tolist() == pytest.approx([low, high], 1e-5)
    taus = found[found["table"] == "tau"].set_index(["grades_of", "compared_with"])
    for one in data["comparisons"]:
        row = taus.loc[(one["first"], one["second"])]
        assert float(row["reversed_pairs"]) == one["reversed_pairs"]
        if isinstance(one["tau"], float):
            assert float(row["value"]) == pytest.approx(one["tau"], rel=1e-5)


def test_json_and_csv_together_are_refused_before_anything_is_done(study: Callable[[str], Path]) -> None:
    folder = study("settled")
    for arguments in (("qrels", "--json", "--csv"), ("agreement", "--csv", "assessors", "--json")):
        refused = annot(*arguments, folder=folder)
        assert refused.exit_code == 2
        assert "found --json and --csv, expected one of them" in refused.message()
    assert not (folder / "exports" / "qrels.txt").exists()


def test_an_option_of_the_group_holds_for_its_verb(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    query = USUAL["pool show"].typed
    before = annot_done("pool", "--csv", "show", query, folder=folder).stdout
    assert before == annot_done("pool", "show", query, "--csv", folder=folder).stdout
