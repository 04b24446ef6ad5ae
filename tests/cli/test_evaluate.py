"""`annot evaluate`: the verdict first, the same p-values and the same marks in every format."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pandas as pd
from command_line import annot_done


def with_the_grades_as_a_run(folder: Path) -> None:
    """A run that ranks by the final grades: nothing can be better."""
    lines = (folder / "exports" / "qrels.txt").read_text().splitlines()
    rows = [(query, doc, int(grade)) for query, _, doc, grade in map(str.split, lines)]
    (folder / "best.run").write_text("".join(f"{query} Q0 {doc} 1 {grade} x\n" for query, doc, grade in rows))
    annot_done("run", "import", "best.run", "--tag", "best", folder=folder)


def test_verdict_marks_and_p_values_are_the_same_everywhere(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    with_the_grades_as_a_run(folder)
    told = annot_done("evaluate", "--out", "paper", folder=folder)
    first = told.stdout.splitlines()[0]
    assert first == "best is best: every other run is significantly worse (NDCG%20, 18 queries of 9 query papers)."
    pairs = json.loads((folder / "paper" / "comparison.json").read_text())["pairs"]
    evaluated = annot_done("evaluate", "--json", folder=folder).data["comparison"]["pairs"]
    assert pairs == evaluated
    assert first in annot_done("evaluate", folder=folder).stdout.splitlines()[0]
    table = pd.read_csv(folder / "paper" / "comparison.csv")
    # The scores of the runs come first, and then their differences.
    assert set(table["run"]) >= {"best", "chance", "one assessor"}
    table = table[table["against"].notna()].reset_index(drop=True)
    assert list(table["p_corrected"]) == [float(f"{pair['p_corrected']:.6g}") for pair in pairs]
    printed = pd.read_csv(StringIO(annot_done("evaluate", "--csv", folder=folder).stdout))
    printed = printed[printed["against"].notna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(table, printed[list(table)], check_dtype=False)
    beaten = {
        pair["run_b"] for pair in pairs if pair["facet"] == "together" and pair["run_a"] == "best" and pair["holds"]
    }
    row = next(line for line in told.stdout.splitlines() if line.split()[:2] == ["best", "a"])
    assert len(beaten) == sum(row.split()[-1 - at] in ("b", "c") for at in range(len(beaten))) == 2
    assert row.endswith("b c")
    for ending in ("md", "tex"):
        text = (folder / "paper" / f"comparison.{ending}").read_text()
        assert {"md": "| best | a |", "tex": "best & a &"}[ending] in text
        assert first in text.replace("\\%", "%").replace("\\_", "_")
    drawing = ET.parse(folder / "paper" / "comparison.svg").getroot()
    assert drawing.tag.endswith("svg")
