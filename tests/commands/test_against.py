"""Published tables beside our own figures: CSFCube's SPECTER to the last digit, and the tables held to each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.plugins import parts
from annot.measuring.evaluation.evaluated import TEST, RunMeasures
from annot.measuring.evaluation.other_figures import (
    beside,
    comparable,
)
from annot.measuring.evaluation.other_figures import (
    read_published_named as table,
)
from command_line import annot, annot_done
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


def test_a_table_of_ones_own_is_read_and_its_faults_are_told(imported: Path) -> None:
    own = 'title = "Mine"\nsource = "A paper"\nconvention = "trec"\nfacets = []\nmeasures = ["nDCG"]\n'
    (imported / "mine.toml").write_text(own + "[figures.background]\nspecter = [80.00]\n")
    told = annot_done("evaluate", "--against", "mine.toml", folder=imported).stdout
    assert "specter 0 of 1." in told.splitlines()[0]
    assert "83.61  80.00       +3.61  differs" in told
    for wrong, says in (
        (own.replace("trec", "treck"), "convention 'treck'"),
        (own.replace("nDCG", "ndgc"), "measure 'ndgc'"),
        (own + "[figures.background]\nspecter = [1, 2]\n", "2 figures, expected 1"),
        (own.replace("title", "titel"), "title"),
        ("[", "not valid TOML"),
    ):
        text = wrong if "figures" in wrong else wrong + "[figures]\n"
        (imported / "wrong.toml").write_text(text)
        refused = annot("evaluate", "--against", "wrong.toml", folder=imported)
        assert refused.exit_code == 2
        assert says in refused.message()
    assert "did you mean 'csfcube'?" in annot("evaluate", "--against", "csfcub", folder=imported).message()


def test_figures_of_the_same_collection_that_differ_are_a_finding(imported: Path) -> None:
    published = table("csfcube")
    own = 'title = "Mine"\nsource = "A paper"\nconvention = "trec"\nfacets = []\nmeasures = ["nDCG"]\n'
    named = "".join(f"{facet} = {list(ids)}\n" for facet, ids in published.queries.items())
    figure = "[figures.background]\nspecter = [80.00]\n"

    def found(text: str) -> tuple[int, str]:
        (imported / "mine.toml").write_text(text)
        told = annot("evaluate", "--against", "mine.toml", folder=imported)
        return told.exit_code, told.stdout.splitlines()[0]

    assert found(f"{own}[queries]\n{named}{figure}")[0] == 1
    assert found(f"{own}[queries]\n{named}{figure.replace('80.00', '83.61')}")[0] == 0
    # The same queries, of which other pairs are judged; other queries; and a table that names none.
    code, first = found(f"{own}[queries]\n{named}[pairs]\nbackground = 1876\n{figure}")
    assert (code, first.partition(":")[0]) == (0, "This is not the collection of Mine")
    code, first = found(f"{own}[queries]\n{named.replace('10014168', '1')}{figure}")
    assert (code, first.partition(":")[0]) == (0, "This is not the collection of Mine")
    code, first = found(own + figure)
    assert (code, first.partition(":")[0]) == (0, "It is not known whether this is the collection of Mine")


@pytest.mark.parametrize("name", parts("published_figures"))
def test_a_shipped_table_holds_percentages(name: str) -> None:
    figures = [figure for rows in table(name).figures.values() for row in rows.values() for figure in row]
    assert len(figures) >= 30
    assert all(0 < figure <= 100 for figure in figures)
    known = {
        f"{facet} {system} {measure}"
        for facet, rows in table(name).figures.items()
        for system in rows
        for measure in table(name).measures
    }
    assert set(table(name).misprints) <= known


def test_the_papers_agree_where_one_repeats_the_other_but_for_the_misprints() -> None:
    """Aspire prints CSFCube's NDCG%20 again; in its result column seven systems have their aggregate instead."""
    first, second = table("csfcube"), table("aspire")
    differing = set()
    for facet, rows in second.figures.items():
        for system in first.figures[facet].keys() & rows.keys():
            if first.figures[facet][system][-1] != rows[system][-1]:
                differing.add((facet, system))
    repeated = {
        system for system, row in second.figures["result"].items() if row[1] == second.figures["together"][system][1]
    }
    assert differing == {("result", name) for name in ("sentbert-pp", "sentbert-nli", "unsimcse", "susimcse")}
    assert {f"result {system} NDCG%20" for system in repeated} == set(second.misprints)


def test_what_is_over_all_facets_is_compared_where_the_facets_are_the_papers() -> None:
    measures = table("csfcube").measures
    values = dict(zip(measures, (row / 100 for row in table("csfcube").figures["together"]["specter"]), strict=True))
    lines = [
        RunMeasures("csfcube", facet, "specter", TEST, 10, 10, values, {})
        for facet in ("background", "method", "result", "together")
    ]
    assert comparable(table("csfcube"), lines)
    of_all = [one for one in beside(table("csfcube"), lines) if one.facet == "together"]
    assert [one.same for one in of_all] == [True] * 5
    assert not comparable(table("csfcube"), lines[:2])
    with pytest.raises(InputError, match="no run has the name of one of its systems"):
        beside(table("csfcube"), [RunMeasures("csfcube", "background", "nobody", TEST, 10, 10, values, {})])
