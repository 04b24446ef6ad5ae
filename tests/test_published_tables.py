"""Our figures beside those of a paper: by names that are alike, and only over the same facets."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel, Query
from annot.measuring.evaluation.evaluated import TOGETHER
from annot.measuring.evaluation.other_figures import PublishedTable, beside, comparable, read_published, same_collection


def published(**changes: Any) -> PublishedTable:
    usual: dict[str, Any] = {
        "title": "A paper",
        "source": "Table 2",
        "convention": "trec",
        "facets": ("aim", "way"),
        "measures": ("AP", "P@20"),
        "figures": {"aim": {"SPECTER-ID": (12.34, 50.0)}, TOGETHER: {"SPECTER-ID": (10.0, 20.0)}},
    }
    return PublishedTable(**{**usual, **changes})


def line(facet: str, ap: float, run: str = "specter_id", convention: str = "trec") -> Any:
    return SimpleNamespace(facet=facet, run=run, convention=convention, values={"AP": ap, "P@20": 0.5})


BOTH = (line("aim", 0.1234), line("way", 0.2), line(TOGETHER, 0.1))


@pytest.mark.parametrize(
    ("ours", "same"), [(12.34, True), (12.345, True), (12.335, True), (12.346, False), (12.334, False)]
)
def test_a_figure_is_the_same_if_it_rounds_to_the_printed_one(ours: float, same: bool) -> None:
    found = beside(published(), [line("aim", ours / 100)])
    assert [(one.measure, one.theirs, one.same) for one in found] == [("AP", 12.34, same), ("P@20", 50.0, True)]
    assert found[0].ours == pytest.approx(ours)


def test_together_is_compared_over_the_same_facets_only() -> None:
    assert [one.facet for one in beside(published(), BOTH)] == ["aim", "aim", TOGETHER, TOGETHER]
    assert [one.facet for one in beside(published(), BOTH[::2])] == ["aim", "aim"]
    assert comparable(published(), BOTH)
    assert not comparable(published(), BOTH[:1])


@pytest.mark.parametrize(("facets", "same"), [(("aim",), True), (("aim", "way"), False)])
def test_a_paper_without_facets_is_compared_with_a_study_of_one(facets: tuple[str, ...], same: bool) -> None:
    table = published(facets=(), figures={TOGETHER: {"SPECTER-ID": (12.34, 50.0)}})
    lines = [line(facet, 0.1234) for facet in facets]
    assert comparable(table, lines) == same
    if same:
        found = beside(table, lines)
        assert [(one.facet, one.same) for one in found] == [("aim", True), ("aim", True)]


def test_misprints_are_marked_and_other_conventions_and_systems_passed_over() -> None:
    table = published(misprints=("aim SPECTER-ID AP",))
    others = (line("aim", 0.5, run="bm25"), line("aim", 0.5, convention="csfcube"))
    found = beside(table, [*BOTH, *others])
    assert [one.misprint for one in found] == [True, False, False, False]
    with pytest.raises(InputError) as caught:
        beside(table, others)
    assert list(caught.value.faults) == ["found bm25", "expected SPECTER-ID"]


QUERIES = [Query("p1-aim", "p1", "aim", ()), Query("p2-aim", "p2", "aim", ()), Query("p1-end", "p1", "end", ())]
QRELS = [Qrel("p1-aim", "d1", 0), Qrel("p2-aim", "d1", 1), Qrel("p1-end", "d1", 1)]


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, None),
        ({"queries": {"aim": ("p2", "p1")}}, True),
        ({"queries": {"aim": ("p1", "p2"), "way": ("p9",)}, "pairs": {"aim": 2}}, True),
        ({"queries": {"aim": ("p1", "p2")}, "pairs": {"aim": 3}}, False),
        ({"queries": {"aim": ("p1", "p3")}}, False),
        ({"queries": {"way": ("p1", "p2")}}, False),
    ],
)
def test_the_collection_is_the_same_by_query_papers_and_pairs(changes: dict[str, Any], same: bool | None) -> None:
    assert same_collection(published(**changes), QUERIES, [qrel.query_id for qrel in QRELS]) is same


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('convention = "trek"', "convention 'trek'"),
        ('measures = ["NDCG%20"]', "measure 'NDCG%20': not known in convention trec"),
        ("[figures.aim]\nx = [1.0]", "1 figures, expected 2, one for each measure"),
        ("nothing = 1", "nothing"),
    ],
)
def test_faults_of_a_table_are_named(text: str, fault: str) -> None:
    whole = {
        "title": '"T"',
        "source": '"S"',
        "convention": '"trec"',
        "facets": "[]",
        "measures": '["AP", "P@20"]',
        "figures": "{}",
    }
    changed = text.split(" = ")[0] if not text.startswith("[") else "figures"
    kept = "\n".join(f"{name} = {value}" for name, value in whole.items() if name != changed)
    with pytest.raises(InputError) as caught:
        read_published(f"{kept}\n{text}", name="t.toml")
    assert fault in " ".join(caught.value.faults)
    with pytest.raises(InputError, match=r"t\.toml: not valid TOML"):
        read_published("=", name="t.toml")
