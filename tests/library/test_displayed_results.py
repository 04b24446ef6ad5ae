"""What results show of themselves: a few lines as text, the report's table in a notebook, and its drawing."""

import re
from typing import Any

import annot
import pandas as pd
import pytest

# Two of three grades of each query are equal; the final grades are those of a1.
RATINGS = [(f"q{at // 3}", f"d{at}", f"a{who}", (at + who * (at % 3 == 2)) % 4) for who in (0, 1) for at in range(12)]
FINAL = {f"q{at // 3}": {f"d{one}": one % 4 for one in range(at, at + 3)} for at in range(0, 12, 3)}
QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 2}, "q2": {"d1": 0, "d2": 2}}
GOOD = {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
BAD = {"q1": {"d2": 3.0, "d3": 2.0, "d1": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
HOSTILE = "<script>alert(1)</script>`<b>`"


def cells(html: str) -> list[list[str]]:
    """The rows of the table, without tags."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in rows]


def test_agreement_says_its_sizes_and_its_alpha_before_and_after() -> None:
    first, second = repr(annot.measure_agreement(RATINGS, final=FINAL)).splitlines()
    assert first == (
        "Agreement on 4 queries and 12 pairs with at least two grades. Grades 0 to 3; a missing judgement is left out."
    )
    assert re.fullmatch(
        r"Krippendorff's alpha \(ordinal\), median over queries: 0\.\d+ before adjudication, 0\.\d+ after it\.", second
    )
    assert "adjudication" not in repr(annot.measure_agreement(RATINGS))
    assert repr(annot.measure_agreement([[1, 1], [0, 1]], coefficients=["percent"], missing="zero")) == (
        "Agreement on 2 items with at least two grades. Grades 0 to 1; a missing judgement counts as grade 0.\n"
        "Agreement, %: 50."
    )


def test_the_headline_of_agreement_has_the_four_coefficients_that_are_reported() -> None:
    found = annot.measure_agreement(RATINGS, final=FINAL)
    heads, before, after = cells(found.headline._repr_html_())
    assert heads[-4:] == [
        "Spearman&#39;s rho",
        "Krippendorff&#39;s alpha (ordinal)",
        "Cohen&#39;s kappa",
        "Agreement, %",
    ]
    # Two of three are equal on every query; the mean of a1, who gave the final grades, and a2 is 5 of 6.
    assert (before[1], before[-1], after[1], after[-1]) == ("before", "67", "after", "83")
    frame = found.headline.to_frame()
    assert frame["coefficient"].tolist() == 2 * ["spearman_rho", "alpha_ordinal", "kappa", "percent"]
    assert set(frame["statistic"]) == {"median"}
    assert [*frame.columns] == [*found.to_frame().columns]
    assert [*frame.index] == [*range(8)]
    assert "before adjudication," not in found._repr_html_(), "the table says it"
    assert len(cells(annot.measure_agreement(RATINGS).headline._repr_html_())) == 2
    assert "adjudication  queries  pairs" in re.sub(" +", "  ", str(found.headline).lower())


def test_runs_are_shown_best_first_with_chance_last() -> None:
    found = annot.evaluate({"bad": BAD, "good": GOOD}, QRELS, measure=["AP", "P@1"], convention="trec")
    assert repr(found).splitlines()[0] == "2 runs measured on 2 queries. Grades from 2 count as relevant."
    assert repr(found).splitlines()[1].startswith("good has the highest AP: 100.0%. Its lead is not certain.")
    rows = cells(found._repr_html_())
    assert [row[0].split(" (")[0] for row in rows] == ["Run", "good", "bad", "chance"]
    frame = found.headline.to_frame()
    assert dict(zip(frame["run"], frame["value"].round(4), strict=True))["good"] == 1
    assert set(frame["measure"]) == {"AP"}
    assert [*frame.index] == [0, 1, 2]
    assert [*frame.columns] == [*found.to_frame().columns]
    assert {"AP", "P@1", "nDCG"} <= set(found.to_frame()["measure"])
    for note in found.notes:
        assert note.partition("`")[0] in found._repr_html_()


def pools(queries: int) -> annot.DrawnPools:
    ranking = {f"q{at:02}": {f"d{one}": float(-one) for one in range(at % 3 + 1)} for at in range(queries)}
    return annot.draw_pool({"bm25": ranking, "lsa": ranking}, per_method=2, seed=1)


def test_pools_say_how_large_they_are_and_who_added_what() -> None:
    found = pools(3)
    assert len(repr(found)) < 300
    first, second = repr(found).splitlines()
    assert (
        first == "3 pools with 1 to 3 documents, 6 documents in total. Mode round-robin, 2 documents from each method."
    )
    assert second.startswith("Added by ")
    heads, together, *rows = cells(found._repr_html_())
    assert heads == ["Query", "Documents", "bm25", "lsa"]
    assert together[:2] == ["together", "6"]
    assert [row[:2] for row in rows] == [["q00", "1"], ["q01", "2"], ["q02", "3"]]
    frame = found.headline.to_frame()
    assert [*frame.columns] == ["query_id", "documents", "bm25", "lsa"]
    assert frame["documents"].tolist() == [1, 2, 3]
    assert [*frame.index] == [0, 1, 2]
    assert (frame["bm25"] + frame["lsa"]).tolist() == [1, 2, 3]


def test_what_people_wrote_is_text_in_a_notebook() -> None:
    names = ("query", "document", "assessor", "grade", "facet")
    rows = [dict(zip(names, (HOSTILE, *rest, HOSTILE), strict=True)) for query, *rest in RATINGS if query == "q0"]
    ranking = {HOSTILE: {HOSTILE + "d": 1.0}, "q1": {HOSTILE: 1.0}}
    shown: list[Any] = [
        annot.measure_agreement([*rows, *({**row, "query": "q", "facet": "<i>"} for row in rows)]),
        annot.evaluate({HOSTILE: GOOD, "<img src=x>": BAD}, QRELS),
        annot.draw_pool({HOSTILE: ranking}),
    ]
    for one in shown:
        for html in (one._repr_html_(), one.headline._repr_html_()):
            body = html.split("</style>")[1]
            assert "<script" not in body
            assert "<b>" not in body
            assert "<i>" not in body
            assert "<img" not in body
            assert "&lt;script&gt;" in body


@pytest.mark.parametrize(
    ("ratings", "options", "why"),
    [
        ([[1, 1], [0, 1]], {}, "a matrix has only items"),
        (RATINGS, {"coefficients": ["kappa"]}, "alpha_ordinal, which is not among the coefficients"),
        ([("q", "d", "a", 1), ("q", "d", "b", 1)], {}, "alpha has a value on fewer than two queries"),
    ],
)
def test_what_cannot_be_drawn_says_why(ratings: Any, options: dict[str, Any], why: str) -> None:
    with pytest.raises(annot.UndefinedStatistic, match=why):
        annot.measure_agreement(ratings, **options).plot()


def test_of_several_measures_the_first_compares_and_all_are_measured() -> None:
    found = annot.evaluate({"bad": BAD, "good": GOOD}, QRELS, measure=["nDCG@2", "NDCG@1", "P@1"])
    frame = found.to_frame()
    measured = set(zip(frame["convention"], frame["measure"], strict=True))
    assert {("trec", "nDCG@2"), ("csfcube", "NDCG@1"), ("trec", "P@1"), ("csfcube", "P@1")} <= measured
    assert set(found.comparisons()["measure"]) == {"nDCG@2"}
    assert repr(found).splitlines()[1].startswith("good has the highest nDCG@2: 100.0%.")
    pd.testing.assert_frame_equal(*(annot.evaluate(GOOD, QRELS, measure=given).to_frame() for given in ("AP", ["AP"])))
    with pytest.raises(annot.InputError, match="measure 'nDGC@2': not known"):
        annot.evaluate(GOOD, QRELS, measure=["AP", "nDGC@2"])
