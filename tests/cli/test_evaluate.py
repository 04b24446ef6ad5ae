"""`annot evaluate`: the verdict first, the same p-values and the same marks in every format."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pandas as pd
from command_line import annot, annot_done


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
    assert list(table["p_corrected"]) == [float(f"{pair['p_corrected']:.6g}") for pair in pairs]
    printed = pd.read_csv(StringIO(annot_done("evaluate", "--csv", folder=folder).stdout))
    printed = printed[printed["against"].notna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(table, printed[list(table)], check_dtype=False)
    beaten = {
        pair["run_b"] for pair in pairs if pair["facet"] == "together" and pair["run_a"] == "best" and pair["holds"]
    }
    row = next(line for line in told.stdout.splitlines() if line.startswith("best (a)"))
    assert len(beaten) == sum(row.split()[-1 - at] in ("b", "c") for at in range(len(beaten))) == 2
    assert row.endswith("b c")
    for ending in ("md", "tex"):
        text = (folder / "paper" / f"comparison.{ending}").read_text()
        assert "best (a)" in text
        assert first in text.replace("\\%", "%").replace("\\_", "_")
    drawing = ET.parse(folder / "paper" / "comparison.svg").getroot()
    assert drawing.tag.endswith("svg")


def test_chosen_runs_alone_make_the_family_that_is_corrected_for(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    with_the_grades_as_a_run(folder)
    two = annot_done("evaluate", "fabs_bm25", "fabs_tfidf", "--json", folder=folder).data["comparison"]
    assert {pair["p_value"] == pair["p_corrected"] for pair in two["pairs"]} == {True}
    three = annot_done("evaluate", "--json", folder=folder).data["comparison"]
    same = {(pair["facet"], pair["run_a"], pair["run_b"]): pair["p_value"] for pair in three["pairs"]}
    for pair in two["pairs"]:
        assert same[pair["facet"], pair["run_a"], pair["run_b"]] == pair["p_value"]


def test_report_and_qrels_compare_name_what_holds_and_what_is_not_better_than_chance(study) -> None:
    """A run that ranks the other way round than the final grades, next to one that ranks by them."""
    folder = study("measured")
    with_the_grades_as_a_run(folder)
    lines = [line.split() for line in (folder / "best.run").read_text().splitlines()]
    turned = [f"{query} Q0 {doc} 1 {-float(score)} x\n" for query, _, doc, _, score, _ in lines]
    (folder / "turned.run").write_text("".join(turned))
    annot_done("run", "import", "turned.run", "--tag", "turned", folder=folder)
    printed = annot_done("evaluate", folder=folder).stdout
    assert printed.splitlines()[0].endswith("Not better than chance: turned.")
    assert re.search(r"^turned \(d\).*°$", printed, re.MULTILINE)
    annot_done("report", folder=folder)
    report = (folder / "exports" / "report.md").read_text()
    assert "differences between runs are significant: best is better than fabs_tfidf, fabs_bm25 and turned; " in report
    assert report.count("Not better than chance: turned.") == 2
    (folder / "other.txt").write_text((folder / "exports" / "qrels.txt").read_text())
    of_two = annot_done("qrels", "compare", "exports/qrels.txt", "other.txt", folder=folder)
    assert re.search(r"^turned .*° .*°$", of_two.stdout, re.MULTILINE)
    assert "°: not shown to be better" in of_two.stdout


BINARY = """\
q1 0 d1 1
q1 0 d2 1
q2 0 d3 1
q2 0 d4 1
"""
RUN = """\
q1 Q0 d1 1 3 {tag}
q1 Q0 d3 2 2 {tag}
q1 Q0 d2 3 1 {tag}
q2 Q0 d4 1 3 {tag}
q2 Q0 d1 2 2 {tag}
"""


def test_grades_of_which_none_is_relevant_are_told_once_before_any_figure(tmp_path: Path) -> None:
    """A collection made elsewhere that lists relevant documents only, on a scale of four with `relevant_from = 2`."""
    folder = tmp_path / "study"
    annot_done("init", folder, "--kind", "topics", folder=tmp_path)
    of_four = (folder / "annot.toml").read_text().replace("relevant_from = 1", "relevant_from = 2")
    (folder / "annot.toml").write_text(of_four)
    documents = "".join(f'd{at},Title {at},"Text of {at} here. Two words more. Three of them."\n' for at in range(1, 7))
    (folder / "docs.csv").write_text(f"id,title,text\n{documents}")
    (folder / "binary.txt").write_text(BINARY)
    annot_done("corpus", "add", "docs.csv", folder=folder)
    for query in ("q1", "q2"):
        annot_done("query", "add", "--id", query, "--text", f"words of {query}", folder=folder)
    annot_done("import", "binary.txt", "--as", "grades", folder=folder)
    annot_done("qrels", folder=folder)
    for tag in ("one", "two"):
        (folder / f"{tag}.run").write_text(RUN.format(tag=tag))
        annot_done("run", "import", f"{tag}.run", "--tag", tag, "--foreign", "keep", folder=folder)
    for options in ((), ("--json",), ("--csv",)):
        told = annot_done("evaluate", *options, folder=folder).stderr
        assert told.count("set `relevant_from = 1`") == 1
        assert told.splitlines()[0].startswith("warning: no judged document has grade 2 or higher")
        assert "no document is relevant for" not in told
    annot_done("report", folder=folder)
    report = (folder / "exports/report.md").read_text()
    assert report.index("relevant_from = 1") < report.index("in nDCG (")
    (folder / "annot.toml").write_text(of_four.replace("relevant_from = 2", "relevant_from = 1"))
    assert "relevant_from" not in annot_done("evaluate", folder=folder).stderr


def test_another_measure_decides_by_its_ir_measures_name(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    found = annot_done("evaluate", "--measure", "nDCG@10", "--json", folder=folder).data["comparison"]
    assert (found["convention"], found["measure"]) == ("trec", "nDCG@10")
    refused = annot("evaluate", "--measure", "nDCG@10", "--convention", "csfcube", folder=folder)
    assert "not known in convention csfcube" in refused.message()


def test_folds_are_drawn_once_and_change_how_the_figures_are_averaged(study: Callable[[str], Path]) -> None:
    folder = study("measured")
    before = annot_done("evaluate", "--json", folder=folder).data["lines"]
    annot_done("query", "folds", folder=folder)
    assert "already has other folds" in annot("query", "folds", "--folds", "3", folder=folder).message()
    after = annot_done("evaluate", "--json", folder=folder).data["lines"]
    plain = annot_done("evaluate", "--average", "plain", "--json", folder=folder).data["lines"]
    assert {line["average"] for line in after} == {"mean of fold means"}
    assert plain == before
    dev = annot_done("evaluate", "--average", "dev", "--json", folder=folder).data["lines"]
    assert {line["average"] for line in dev} == {"mean over the development fold"}
