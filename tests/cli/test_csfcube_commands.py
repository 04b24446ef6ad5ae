"""The real release through the command line: what Mysore et al. (2021) printed comes out of three commands."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Result, annot_done, difference, snapshot

COEFFICIENTS = ("spearman_rho", "alpha_ordinal", "kappa", "percent")

# Table 2 at four decimals, medians over queries; the paper prints two of them (and cuts 0.4553 to 0.45).
AGREEMENT = {
    ("background", "before"): (0.4553, 0.4288, 0.2814, 57.0672),
    ("method", "before"): (0.3086, 0.2557, 0.2029, 69.6000),
    ("background", "after"): (0.7310, 0.7201, 0.6214, 77.6813),
    ("method", "after"): (0.6258, 0.6107, 0.5371, 84.4660),
}


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
