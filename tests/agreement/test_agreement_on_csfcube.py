"""CSFCube's own agreement figures, from its release: Mysore et al. 2021, Table 2, at four decimals."""

import json
from pathlib import Path

import pytest
from annot.base.records import Decision, Judgement
from annot.measuring.agreement.estimates import AgreementTable, GroupAgreement, agreement_table

FACETS = ("background", "method")

# Spearman's rho, ordinal alpha, Cohen's kappa, percent; the median over the facet's queries, -1 counted as grade 0.
# The paper prints two decimals of these (and cuts 0.4553 to 0.45).
TABLE_2 = {
    ("background", "before"): (0.4553, 0.4288, 0.2814, 57.0672),
    ("method", "before"): (0.3086, 0.2557, 0.2029, 69.6000),
    ("background", "after"): (0.7310, 0.7201, 0.6214, 77.6813),
    ("method", "after"): (0.6258, 0.6107, 0.5371, 84.4660),
}


@pytest.fixture(scope="module")
def tables(shared: Path) -> dict[str, AgreementTable]:
    judgements: list[Judgement] = []
    decisions: list[Decision] = []
    facets: dict[str, str] = {}
    for facet in FACETS:
        release = json.loads((shared / "csfcube" / f"test-pid2anns-csfcube-{facet}.json").read_text(encoding="utf-8"))
        for paper_id, lists in release.items():
            query_id = f"{paper_id}-{facet}"
            facets[query_id] = facet
            for key in lists:
                if key.startswith("relevance_ann"):
                    judgements += [
                        Judgement(query_id, doc_id, key.removeprefix("relevance_"), None if grade == -1 else grade)
                        for doc_id, grade in zip(lists["cands"], lists[key], strict=True)
                    ]
            decisions += [
                Decision(query_id, doc_id, grade, "adjudicated")
                for doc_id, grade in zip(lists["cands"], lists["relevance_adju"], strict=True)
            ]
    return {
        missing: agreement_table(
            judgements,
            decisions,
            facets,
            grades=(0, 1, 2, 3),
            missing=missing,
            binarised_at=None,
            level=None,
            topics=None,
        )
        for missing in ("zero", "drop")
    }


def group(table: AgreementTable, name: str) -> GroupAgreement:
    return next(one for one in table.groups if one.name == name)


@pytest.mark.parametrize(("facet", "when"), TABLE_2)
def test_table_2_to_four_decimals(tables: dict[str, AgreementTable], facet: str, when: str) -> None:
    summaries = getattr(group(tables["zero"], facet), when)
    found = [summaries[name].median for name in ("spearman_rho", "alpha_ordinal", "kappa", "percent")]
    assert [round(value, 4) for value in found] == list(TABLE_2[facet, when])


@pytest.mark.parametrize(("facet", "needing", "overruled"), [("background", 40.97, 3.44), ("method", 33.35, 2.40)])
def test_shares_that_adjudication_met(
    tables: dict[str, AgreementTable], facet: str, needing: float, overruled: float
) -> None:
    found = group(tables["zero"], facet)
    assert isinstance(found.disputed.pooled.value, float)
    assert isinstance(found.overruled.mean, float)
    assert round(100 * found.disputed.pooled.value, 2) == needing
    assert round(100 * found.overruled.mean, 2) == overruled


def test_counts_of_the_two_facets(tables: dict[str, AgreementTable]) -> None:
    assert [(one.n_queries, one.n_pairs) for one in tables["zero"].groups] == [(16, 1877), (17, 2174), (33, 4051)]
    assert group(tables["zero"], "together").n_missing == 11


def test_dropping_the_missing_ratings_gives_other_figures_and_says_so(tables: dict[str, AgreementTable]) -> None:
    dropped = group(tables["drop"], "together")
    assert tables["drop"].missing == "drop"
    assert dropped.n_pairs == 4051 - 11
    assert dropped.before["percent"].pooled != group(tables["zero"], "together").before["percent"].pooled
