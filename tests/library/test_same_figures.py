"""The library gives what others publish and compute, and what the command line gives."""

import json
from pathlib import Path

import annot
import krippendorff
import numpy as np
import pandas as pd
import pytest
from command_line import annot_done
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

N = np.nan


@settings(deadline=None, max_examples=40)
@given(
    arrays.arrays(
        np.float64, st.tuples(st.integers(2, 20), st.integers(2, 4)), elements=st.sampled_from([0, 1, 2, 3, N])
    )
)
def test_alpha_is_what_the_krippendorff_package_says(ratings: np.ndarray) -> None:
    for level in ("ordinal", "nominal", "interval"):
        try:
            found = annot.alpha(ratings, level=level)
        except annot.UndefinedStatistic:
            continue
        except annot.InputError:
            assert np.isnan(ratings).all()
            continue
        assert found == pytest.approx(krippendorff.alpha(reliability_data=ratings.T, level_of_measurement=level))


def test_intervals_of_items_are_those_of_whole_queries_of_one_item() -> None:
    """A long table in which every item is a query of its own says the same as the matrix."""
    ratings = np.random.default_rng(5).integers(0, 4, size=(40, 3))
    rows = [(f"q{at}", "d", f"a{who}", grade) for at, row in enumerate(ratings) for who, grade in enumerate(row)]
    of_items, of_queries = (
        annot.measure_agreement(given, coefficients=["alpha_ordinal"]).to_frame().query("statistic == 'pooled'")
        for given in (ratings, rows)
    )
    assert of_items["value"].item() == pytest.approx(
        of_queries["value"][of_queries["coefficient"] == "alpha_ordinal"].item()
    )
    assert of_items["low"].item() == pytest.approx(of_queries["low"].iloc[0])
    assert of_items["high"].item() == pytest.approx(of_queries["high"].iloc[0])


def test_a_grade_that_nobody_gave_counts_in_gwets_coefficient() -> None:
    """By hand: three of four agree; shares 5/8 and 3/8; pe = 2 (5/8)(3/8) / (q - 1) on a scale of q grades."""
    grades = [[0, 0], [1, 1], [0, 1], [0, 0]]
    for scale, chance in (((0, 1), 15 / 32), ((0, 1, 2, 3), 5 / 32)):
        frame = annot.measure_agreement(grades, scale=scale, coefficients=["ac1"], level=None).to_frame()
        assert frame["value"].item() == pytest.approx((3 / 4 - chance) / (1 - chance))


def test_figures_of_the_csfcube_study_are_those_of_the_command(csfcube: annot.OpenStudy, csfcube_study: Path) -> None:
    told = annot_done("agreement", "--json", folder=csfcube_study).data
    figures = csfcube.agreement.set_index(["facet", "adjudication", "coefficient", "statistic"])
    for group in told["groups"]:
        for stage in ("before", "after"):
            for name, summary in group[stage].items():
                for statistic in ("median", "mean", "pooled"):
                    row = figures.loc[(group["name"], stage, name, statistic)]
                    interval = summary["intervals"][statistic]
                    assert row["value"] == summary[statistic]
                    assert [row["low"], row["high"]] == [interval["low"], interval["high"]]
    # Mysore et al. 2021, Table 2.
    assert figures.loc[("background", "before", "percent", "median"), "value"] == pytest.approx(57.07, abs=0.005)
    assert figures.loc[("method", "after", "spearman_rho", "median"), "value"] == pytest.approx(0.63, abs=0.005)


def test_agreement_of_the_tables_of_a_study_is_the_studys(csfcube: annot.OpenStudy, shared: Path) -> None:
    release = json.loads((shared / "csfcube" / "test-pid2pool-csfcube.json").read_text())
    # Two ids without text stand in every pool and were never rated.
    pooled = sum(len(set(pool["cands"]) - {"5111924", "41022419"}) for pool in release.values())
    assert (len(csfcube.judgements), len(csfcube.qrels), len(csfcube.pool)) == (8102, 4051, pooled)
    measured = annot.measure_agreement(csfcube.judgements, final=csfcube.qrels, scale=range(4), missing="zero")
    pd.testing.assert_frame_equal(measured.to_frame(), csfcube.agreement)


def test_evaluation_of_the_tables_of_a_study_gives_the_papers_figures(csfcube: annot.OpenStudy, shared: Path) -> None:
    """SPECTER in CSFCube's Tables 3 and 4: the mean of two folds' means."""
    evaluated = annot.evaluate(csfcube.path / "exports" / "runs" / "specter.run", csfcube.qrels)
    of_query = evaluated.per_query().set_index(["convention", "query_id", "measure"])["value"]
    folds = json.loads((shared / "csfcube" / "evaluation_splits.json").read_text())
    for facet, ap, rp in (("background", 43.95, 24.81), ("method", 22.44, 11.72)):
        for measure, published in (("AP", ap), ("RP@last", rp)):
            means = [
                np.mean([of_query["csfcube", query.replace("_", "-"), measure] for query in folds[facet][fold]])
                for fold in ("fold1_test", "fold2_test")
            ]
            assert 100 * np.mean(means) == pytest.approx(published, abs=0.005)
    assert evaluated.notes == (
        "query papers are the sampling units: 33 queries on 28 papers, by the column 'query_paper'",
        "specter: leaves out 1 judged document",
    )


def test_a_pool_by_hand() -> None:
    """d1 is cited and first; then turn by turn. q is the query itself, d9 is excluded."""
    rankings = {"m1": {"q": {"d1": 9, "d2": 8, "d3": 7, "q": 6, "d9": 5}}, "m2": {"q": {"d2": 3, "d1": 2, "d4": 1}}}
    pool = annot.draw_pool(rankings, per_method=5, cited={"q": ["d1"]}, excluded={"q": ["d9"]}, seed=1).to_frame()
    assert pool["doc_id"].tolist()[0] == "d1"
    assert set(pool["doc_id"]) == {"d1", "d2", "d3", "d4"}
    drawn = pool.set_index("doc_id")
    assert drawn.loc["d1", ["method", "rank"]].tolist() == ["cited", 1]
    assert drawn.loc["d1", "also_had_by"] in ("m1:1 m2:2", "m2:2 m1:1")
    assert drawn.loc["d4", ["method", "rank", "score"]].tolist() == ["m2", 3, 1.0]
