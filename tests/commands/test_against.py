"""Published tables beside our own figures: CSFCube's SPECTER to the last digit, and the tables held to each other."""

from pathlib import Path

import pytest
from command_line import annot_done
from csfcube_study import csfcube_study


@pytest.fixture(scope="module")
def imported(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return csfcube_study(shared, tmp_path_factory.mktemp("against") / "study").root


@pytest.mark.parametrize(("name", "figures"), [("csfcube", 10), ("aspire", 4)])
def test_specters_shipped_pools_give_every_printed_figure(imported: Path, name: str, figures: int) -> None:
    told = annot_done("evaluate", "--against", name, folder=imported)
    assert f"specter {figures} of {figures}." in told.stdout.splitlines()[0]
    data = annot_done("evaluate", "--against", name, "--json", folder=imported).data
    assert {(one["facet"], one["run"]) for one in data["figures"]} == {("background", "specter"), ("method", "specter")}
    # The paper's third facet is not in this study: what is over all facets cannot be held against it.
    assert data["left_out"]


def test_an_imported_run_goes_by_its_system(imported: Path, shared: Path) -> None:
    pools = sorted((shared / "csfcube" / "eval_scripts" / "sample_ranked_pools").glob("*.json"))
    annot_done("run", "import", *pools, "--tag", "again", "--system", "SPECTER", folder=imported)
    found = annot_done("evaluate", "--against", "csfcube", "--json", folder=imported).data["figures"]
    assert {(one["run"], one["same"]) for one in found} == {("specter", True), ("SPECTER", True)}
