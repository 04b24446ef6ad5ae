"""The real release through the command line: what Mysore et al. (2021) printed comes out of three commands."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from annot.store.papers import read_papers
from command_line import Result, annot, annot_done, difference, snapshot

COEFFICIENTS = ("spearman_rho", "alpha_ordinal", "kappa", "percent")

# Table 2 at four decimals, medians over queries; the paper prints two of them (and cuts 0.4553 to 0.45).
AGREEMENT = {
    ("background", "before"): (0.4553, 0.4288, 0.2814, 57.0672),
    ("method", "before"): (0.3086, 0.2557, 0.2029, 69.6000),
    ("background", "after"): (0.7310, 0.7201, 0.6214, 77.6813),
    ("method", "after"): (0.6258, 0.6107, 0.5371, 84.4660),
}
# SPECTER's rows of Tables 3 and 4, and MAP of Aspire's Table 1; test = mean of the two folds' means.
CSFCUBE = ("RP@last", "P@20", "R@20", "NDCG%100", "NDCG%20", "AP")
TREC = ("Rprec", "P@20", "R@20", "nDCG", "AP")
SPECTER = {
    ("csfcube", "background"): (24.81, 35.31, 57.45, 82.24, 66.70, 43.95),
    ("csfcube", "method"): (11.72, 13.58, 40.81, 62.77, 37.41, 22.44),
    ("trec", "background"): (40.31, 35.31, 56.93, 83.61, 43.64),
    ("trec", "method"): (17.44, 13.58, 40.81, 65.93, 22.44),
}
NAMES = {"csfcube": CSFCUBE, "trec": TREC}


@pytest.fixture(scope="module")
def imported(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The whole release in a workspace, and what the import said. Nobody writes into it."""
    folder = tmp_path_factory.mktemp("csfcube") / "study"
    annot_done("init", folder, folder=folder.parent)
    return folder, annot_done("import", "--as", "csfcube", shared / "csfcube", "--json", folder=folder)


@pytest.fixture
def study(imported: tuple[Path, Result], tmp_path: Path) -> Path:
    return Path(shutil.copytree(imported[0], tmp_path / "study"))


def groups(result: Result) -> dict[str, Any]:
    return {one["name"]: one for one in result.data["groups"]}


def medians(group: dict[str, Any], when: str) -> tuple[float, ...]:
    return tuple(round(group[when][name]["median"], 4) for name in COEFFICIENTS)


def test_the_whole_release_comes_in(imported: tuple[Path, Result]) -> None:
    counts = imported[1].data["counts"]
    assert (counts["papers"], counts["query papers"], counts["queries"]) == (3368, 28, 33)
    assert (counts["pairs"], counts["judgements"], counts["missing judgements"]) == (4051, 8102, 11)
    assert 'missing = "zero"' in (imported[0] / "annot.toml").read_text(encoding="utf-8")
    assert "-1" in imported[1].stderr


def test_agreement_gives_the_papers_table(study: Path) -> None:
    told = annot_done("agreement", "--json", folder=study)
    assert told.data["missing"] == "zero"
    found = {(name, when): medians(groups(told)[name], when) for name, when in AGREEMENT}
    assert found == AGREEMENT
    assert round(100 * groups(told)["background"]["disputed"]["pooled"]["value"], 2) == 40.97
    assert round(100 * groups(told)["method"]["disputed"]["pooled"]["value"], 2) == 33.35
    assert round(100 * groups(told)["background"]["overruled"]["mean"], 2) == 3.44
    assert round(100 * groups(told)["method"]["overruled"]["mean"], 2) == 2.40


def rounded(shown: str, published: float) -> bool:
    """Whether a printed figure is the published one to the digits that it has."""
    digits = len(shown.partition(".")[2])
    return abs(float(shown) - published) <= 0.501 * 10**-digits


def test_agreement_in_text_names_the_policy_and_shows_the_figures(study: Path) -> None:
    shown = annot_done("agreement", folder=study).stdout
    assert "Missing judgements (zero)" in shown
    for (facet, when), figures in AGREEMENT.items():
        (line,) = [line for line in shown.splitlines() if line.split()[:2] == [facet, when]]
        found = re.findall(r"(\d+\.?\d*) \[", line)
        assert len(found) == len(figures)
        assert all(map(rounded, found, figures))


def test_no_figure_in_text_has_more_digits_than_its_interval_bears(study: Path) -> None:
    shown = annot_done("agreement", "--all", folder=study).stdout
    found = re.findall(r"(-?\d+\.?\d*)%? \[(-?\d+\.?\d*), (-?\d+\.?\d*)\]", shown)
    assert len(found) > 20
    assert all(len({len(figure.partition(".")[2]) for figure in figures}) == 1 for figures in found)
    assert not re.search(r"\d\.\d{4}", shown)


def test_agreement_without_the_missing_judgements_gives_other_figures_and_says_so(study: Path) -> None:
    written = annot_done("agreement", "--json", folder=study).stdout
    before = snapshot(study)
    dropped = annot_done("agreement", "--missing", "drop", "--json", folder=study)
    assert dropped.data["missing"] == "drop"
    assert dropped.stdout != written
    # Three background pairs and eight method pairs of the release have a rating of -1.
    assert [groups(dropped)[name]["n_pairs"] for name in ("background", "method")] == [1877 - 3, 2174 - 8]
    assert medians(groups(dropped)["method"], "after") != AGREEMENT["method", "after"]
    assert "Missing judgements (drop)" in annot_done("agreement", "--missing", "drop", folder=study).stdout
    # What lies in exports/ is the study's own policy.
    assert not difference(before, snapshot(study))


def test_evaluation_of_the_shipped_pools_gives_the_papers_tables(study: Path) -> None:
    told = annot_done("evaluate", "--json", folder=study)
    lines = {(one["convention"], one["facet"]): one for one in told.data["lines"] if one["run"] == "specter"}
    for (convention, facet), figures in SPECTER.items():
        line = lines[convention, facet]
        assert line["average"] == "mean of fold means"
        assert tuple(round(100 * line["values"][name], 2) for name in NAMES[convention]) == figures
    assert "leaves out 1 judged document" in told.stderr


def method_alone(source: Path, folder: Path) -> None:
    """One facet, and no file of abstracts: papers come from the readable files."""
    (folder / "readable_annotations").mkdir(parents=True)
    for name in ("test-pid2anns-csfcube-method.json", "test-pid2pool-csfcube.json", "evaluation_splits.json"):
        shutil.copy(source / name, folder)
    for path in (source / "readable_annotations").glob("*-method-*.txt"):
        shutil.copy(path, folder / "readable_annotations")
    ranked = Path("eval_scripts/sample_ranked_pools/test-pid2pool-csfcube-specter-method-ranked.json")
    (folder / ranked).parent.mkdir(parents=True)
    shutil.copy(source / ranked, folder / ranked)


def test_one_facet_without_the_abstracts_is_enough(shared: Path, tmp_path: Path) -> None:
    method_alone(shared / "csfcube", tmp_path / "release")
    folder = tmp_path / "study"
    annot_done("init", folder, folder=folder.parent)
    told = annot_done("import", "--as", "csfcube", tmp_path / "release", "--json", folder=folder)
    assert told.data["counts"]["queries"] == 17
    assert "readable_annotations" in told.stderr
    agreed = groups(annot_done("agreement", "--json", folder=folder))
    assert medians(agreed["method"], "before") == AGREEMENT["method", "before"]
    assert medians(agreed["method"], "after") == AGREEMENT["method", "after"]
    evaluated = annot_done("evaluate", "--json", folder=folder).data["lines"]
    (line,) = [one for one in evaluated if (one["convention"], one["run"]) == ("csfcube", "specter")]
    assert tuple(round(100 * line["values"][name], 2) for name in CSFCUBE) == SPECTER["csfcube", "method"]


def test_a_release_goes_into_an_empty_workspace_alone(shared: Path, study: Path, tmp_path: Path) -> None:
    method_alone(shared / "csfcube", tmp_path / "release")
    before = snapshot(study)
    refused = annot("import", "--as", "csfcube", tmp_path / "release", folder=study)
    assert refused.exit_code == 2
    assert "found another study, expected an empty one" in refused.stderr
    assert not difference(before, snapshot(study))


def test_texts_that_differ_from_the_release_are_counted_and_shown(imported: tuple[Path, Result], shared: Path) -> None:
    folder, told = imported
    raw = (shared / "csfcube/abstracts-csfcube-preds.jsonl").read_text(encoding="utf-8").splitlines()
    by_id = {str(paper["paper_id"]): paper for paper in map(json.loads, raw)}
    cleaned = told.data["cleaned"]
    counts = cleaned["counts"]
    assert (counts["papers"], counts["abstracts"], counts["titles"], counts["other_number"]) == (115, 111, 4, 50)
    assert "50 of them have a different number of sentences from the source" in told.stderr
    lines = [json.loads(line) for line in (folder / cleaned["file"]).read_text(encoding="utf-8").splitlines()]
    now = {paper.paper_id: paper for paper in read_papers(folder / "corpus")}
    differing = {
        paper_id
        for paper_id, paper in now.items()
        if (paper.title, list(paper.sentences)) != (by_id[paper_id]["title"], by_id[paper_id]["abstract"])
    }
    assert {line["paper_id"] for line in lines} == differing
    for line in lines:
        paper, source = now[line["paper_id"]], by_id[line["paper_id"]]
        for name, value in (("title", paper.title), ("abstract", list(paper.sentences))):
            if name in line["before"]:
                assert (line["before"][name], line["after"][name]) == (source[name], value)


def test_adding_the_papers_of_the_release_tells_what_was_cleaned_once(shared: Path, tmp_path: Path) -> None:
    annot_done("init", "study", folder=tmp_path)
    folder = tmp_path / "study"
    source = shared / "csfcube" / "abstracts-csfcube-preds.jsonl"
    dry = annot_done("corpus", "add", source, "--dry-run", "--json", folder=folder).data["cleaned"]
    first = annot_done("corpus", "add", source, folder=folder).stdout
    # One of the 115 papers has too few sentences once its heading is gone.
    assert "the text of 114 papers was cleaned and differs from the source (110 abstracts, 4 titles): tags in " in first
    assert dry["counts"]["papers"] == 114
    assert dry["file"] is None
    (file,) = (folder / "corpus").glob("cleaned-*.jsonl")
    content = file.read_bytes()
    assert len(content.splitlines()) == 114
    assert "cleaned" not in annot_done("corpus", "add", source, folder=folder).stdout
    assert file.read_bytes() == content
