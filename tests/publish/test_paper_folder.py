"""The folder for a paper, and drawings as files: what is in them, that pages come of them, and the second day."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from annot.publishing import paper
from annot.steps import publish, qrels
from annot.study.workspace import Workspace
from needs import unavailable
from small_study import QUERIES, FirstPairs, Small, write_runs
from study_stages import copied


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Four queries that two people judged on four days, and two runs."""
    ws = copied(Small(answers=FirstPairs(40)), "settled", tmp_path_factory.mktemp("paper") / "study")
    write_runs(ws)
    qrels.write(ws, partial=True)
    publish.write_paper(ws)
    return ws


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_pages_come_of_the_draft_without_a_warning(study: Workspace, engine: str, tmp_path: Path) -> None:
    if shutil.which(engine) is None:
        unavailable(f"no {engine}; on Debian: apt-get install texlive-latex-recommended texlive-luatex lmodern")
    shutil.copytree(study.exports / "paper", tmp_path / "paper")
    for _ in range(2):
        made = subprocess.run([engine, "-interaction=nonstopmode", "paper.tex"], cwd=tmp_path / "paper", check=False)
        assert made.returncode == 0
    log = (tmp_path / "paper" / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert not re.findall(r".*(?:Warning|Overfull|Underfull|Missing character).*", log)
    assert "[U+" not in log


def test_it_has_scores_plain_names_and_all_that_the_draft_includes(study: Workspace) -> None:
    folder = study.exports / "paper"
    scores = pd.read_csv(folder / "scores.csv")
    assert {"forward", "gappy", "chance"} <= set(scores["run"])
    assert scores["value"].between(0, 1).all()
    assert set(pd.read_csv(folder / "scores-by-query.csv")["query_id"]) == {query.query_id for query in QUERIES}
    rows = [line.split(" & ")[0] for line in (folder / "tables.tex").read_text().splitlines() if " & " in line]
    assert {"forward", "gappy"} <= set(rows)
    for name in re.findall(r"\\(?:input|includegraphics\[[^]]*\])\{([^}]+)\}", (folder / "figures.tex").read_text()):
        assert (folder / name).is_file()
    told = (folder / "methods.md").read_text()
    for figure in ("4 queries", "40 pairs", "2 assessors", "Label Studio", "annot "):
        assert figure in told


def test_the_draft_is_written_once_and_the_rest_is_renewed(study: Workspace) -> None:
    folder = study.exports / "paper"
    (folder / "paper.tex").write_text("mine", encoding="utf-8")
    (folder / "methods.tex").write_text("old", encoding="utf-8")
    publish.write_paper(study)
    assert (folder / "paper.tex").read_text() == "mine"
    assert "4 queries" in (folder / "methods.tex").read_text()


def test_files_that_are_not_made_any_more_are_removed_unless_they_were_changed(tmp_path: Path) -> None:
    paper.write_folder(tmp_path, {"a.csv": b"1", "b.csv": b"2", "c.csv": b"3"}, inputs={})
    (tmp_path / "b.csv").write_bytes(b"of a person")
    (tmp_path / "notes.txt").write_bytes(b"mine")
    paper.write_folder(tmp_path, {"c.csv": b"4"}, inputs={})
    assert {path.name for path in tmp_path.iterdir()} == {"b.csv", "c.csv", "notes.txt", "manifest.json"}
    assert list(json.loads((tmp_path / "manifest.json").read_text())["files"]) == ["c.csv"]


def test_marks_of_a_drawing_in_a_file_lead_to_browse(study: Workspace) -> None:
    publish.write_figures(study, purpose="screen")
    drawn = (study.exports / "figures" / "screen" / "queries-forward-gappy.svg").read_text()
    to_browse = {name for name, _ in re.findall(r'<a href="([^"#]*)#([^"]*)"', drawn)}
    assert to_browse == {"../../browse.html"}
    assert {query.query_id for query in QUERIES} <= set(re.findall(r"query=([^&]+)&amp;system", drawn))
    data = pd.read_csv(study.exports / "figures" / "screen" / "time.csv")
    # Twenty answers a day, by two people.
    assert data[data["series"] == "judgements"]["answers"].tolist() == [0, 20, 40, 60, 80]
