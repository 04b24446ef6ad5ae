"""Which runs are measured, in which conventions, when the result is kept, and what is the paper's to the last digit."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.settings import Settings
from annot.formats.trec import write_run
from annot.measuring.evaluation.evaluated import PLAIN, TEST, TEST_FOLD
from annot.measuring.evaluation.measures import CONVENTIONS
from annot.measuring.evaluation.other_figures import ComparedFigure
from annot.steps import evaluate, qrels
from annot.store.models import StoredRun
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file
from small_study import QUERIES, FirstPairs, Small, write_runs
from study_stages import copied

FACETS: Any = SimpleNamespace(settings=Settings())


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The first query is graded; the runs `forward` and `gappy` rank all four."""
    ws = copied(Small(answers=FirstPairs(10)), "settled", tmp_path_factory.mktemp("evaluated") / "study")
    write_runs(ws)
    qrels.write(ws, partial=True)
    return ws


@pytest.mark.parametrize(
    ("convention", "measures", "found"),
    [
        (None, (), ("csfcube", "trec")),
        ("trec", (), ("trec",)),
        (None, ("NDCG%20",), ("csfcube",)),
        (None, ("nDCG@10",), ("trec",)),
        (None, ("P@10", "nDCG@10"), ("csfcube", "trec")),
        ("trec", ("P@10",), ("trec",)),
    ],
)
def test_conventions_are_the_named_one_or_those_that_know_the_measure(
    convention: str | None, measures: tuple[str, ...], found: tuple[str, ...]
) -> None:
    assert sorted(evaluate.chosen(FACETS, convention, measures)) == sorted(found)
    assert sorted(CONVENTIONS) == ["csfcube", "trec"]


def test_an_unknown_convention_is_refused() -> None:
    with pytest.raises(InputError, match="convention"):
        evaluate.chosen(FACETS, "treck", ())


def named(ws: Workspace, *names: str) -> list[str]:
    known = [
        StoredRun("forward", "baseline", {"system": "sorted"}, "x"),
        StoredRun("gappy", "baseline", {"system": "sorted"}, "x"),
    ]
    return sorted(evaluate._named(replace(read_snapshot(ws), runs=tuple(known)), names))


def run_file(folder: Path, tag: str) -> str:
    path = folder / f"file-of-{tag}.run"
    write_file(path, write_run({QUERIES[0].query_id: ()}, tag=tag) or f"{QUERIES[0].query_id} Q0 d00 1 1 {tag}\n")
    return str(path)


def test_runs_are_named_by_file_by_tag_or_by_system(ws: Workspace, tmp_path: Path) -> None:
    mine, forward = run_file(tmp_path, "mine"), run_file(tmp_path, "forward")
    assert named(ws) == ["forward", "gappy"]
    assert named(ws, "gappy") == ["gappy"]
    assert named(ws, "sorted") == ["forward", "gappy"]
    assert named(ws, mine) == ["mine"]
    assert named(ws, mine, "gappy") == ["gappy", "mine"]
    with pytest.raises(InputError, match="forward: a run of this study and a run in"):
        named(ws, forward, "forward")
    with pytest.raises(InputError, match="gapy: no such file, and no run has this tag or system"):
        named(ws, "gapy")


def evaluated(ws: Workspace, **changed: Any) -> Any:
    usual: dict[str, Any] = {
        "runs": (),
        "convention": None,
        "measures": (),
        "ties": "order",
        "average": "test",
        "at_least_two": False,
    }
    return evaluate.evaluate(ws, **{**usual, **changed}, tell=lambda _: None)


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, True),
        ({"runs": ("gappy",)}, False),
        ({"convention": "trec"}, False),
        ({"measures": ("P@5",)}, False),
        ({"ties": "expected"}, False),
    ],
)
def test_the_result_is_kept_only_if_nothing_is_asked_of_it(ws: Workspace, changed: dict[str, Any], kept: bool) -> None:
    file = ws.exports / "evaluation.json"
    file.unlink(missing_ok=True)
    evaluated(ws, **changed)
    assert file.is_file() == kept


def test_two_runs_at_least_are_compared(ws: Workspace) -> None:
    with pytest.raises(InputError, match="gappy: expected at least 2 runs"):
        evaluated(ws, runs=("gappy",), at_least_two=True)
    assert {line.run for line in evaluated(ws, runs=("gappy", "forward"), at_least_two=True).lines} >= {
        "forward",
        "gappy",
    }


@pytest.mark.parametrize("changed", [{"ties": "dice"}, {"average": "harmonic"}])
def test_a_way_to_treat_ties_or_to_average_that_there_is_not_is_refused(ws: Workspace, changed: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"--{next(iter(changed))}"):
        evaluated(ws, **changed)


def figure(run: str, *, same: bool, misprint: bool = False, ours: float = 50.0) -> ComparedFigure:
    return ComparedFigure("aim", run, "AP", ours, 50.0, same, misprint)


def against(*figures: ComparedFigure, averages: Sequence[str] = (TEST,), **more: Any) -> evaluate.PublishedComparison:
    usual: dict[str, Any] = {"left_out": False, "same_collection": None}
    return evaluate.PublishedComparison("A paper", "Table 2", "trec", "", figures, tuple(averages), **{**usual, **more})


def test_figures_are_counted_by_run_and_misprints_do_not_differ() -> None:
    found = against(
        figure("x", same=True), figure("x", same=False), figure("x", same=False, misprint=True), figure("y", same=True)
    )
    assert found.by_run == {"x": (1, 3), "y": (1, 1)}
    assert found.differing == 1


@pytest.mark.parametrize(
    ("averages", "by_fold"),
    [((TEST,), True), ((TEST_FOLD,), True), ((TEST, TEST_FOLD), True), ((PLAIN,), False), ((TEST, PLAIN), False)],
)
def test_means_of_test_folds_are_told_from_others(averages: tuple[str, ...], by_fold: bool) -> None:
    assert against(averages=averages).by_fold is by_fold


def test_each_figure_is_beside_the_papers_with_the_difference() -> None:
    found = against(
        figure("x", same=True, ours=50.004), figure("y", same=False, ours=48.5), figure("z", same=False, misprint=True)
    )
    rows = evaluate.beside_paper(found).rows
    assert [row[1:] for row in rows] == [
        ("x", "AP", "50.00", "50.00", "", "equal"),
        ("y", "AP", "48.50", "50.00", "-1.50", "differs"),
        ("z", "AP", "50.00", "50.00", "+0.00", "misprint in the paper"),
    ]


TABLE = """
title = "A paper"
source = "Table 2"
convention = "csfcube"
facets = [{facets}]
measures = ["P@20"]
[figures.method]
forward = [50.0]
{more}
"""


@pytest.mark.parametrize(
    ("facets", "more", "left_out"),
    [
        ('"method"', "", False),
        ('"method"', "[figures.together]\nforward = [50.0]", False),
        ('"method", "result"', "[figures.together]\nforward = [50.0]", True),
        ('"method", "result"', "", False),
    ],
)
def test_figures_on_all_facets_are_left_out_if_the_facets_are_others(
    ws: Workspace, tmp_path: Path, facets: str, more: str, left_out: bool
) -> None:
    path = tmp_path / "table.toml"
    path.write_text(TABLE.format(facets=facets, more=more), encoding="utf-8")
    found = evaluate.against(ws, str(path), runs=())
    assert found.left_out is left_out
    assert found.averages == (PLAIN,)
    assert {one.run for one in found.figures} == {"forward"}
    beside = evaluate.beside_paper(found)
    told = evaluate.describe_against(found, beside)
    assert beside.notes[0] == "Table 2.", "the verdict is above the table"
    assert told.startswith("It is not known whether this is the collection of A paper")


def test_a_table_is_one_that_comes_with_annot_or_a_file(tmp_path: Path) -> None:
    assert evaluate._published("csfcube", ()).title
    for name, found in ((str(tmp_path), "a folder"), ("csfcubes", "no such file")):
        with pytest.raises(InputError, match=f"{found}, and no table has this name"):
            evaluate._published(name, ())


def test_the_earliest_version_of_runs_is_that_which_came_first(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = SimpleNamespace(corpora=("v9", "v10", "v11"))
    monkeypatch.setattr(evaluate, "_named", lambda *_: {"old": {}, "new": {}})
    monkeypatch.setattr(evaluate, "_versions_of_runs", lambda *_: {"old": "v9", "new": "v10"})
    with pytest.raises(InputError, match="expected version v11 for all") as refused:
        evaluate._measured_runs(whole, whole, (), None, None, print)
    assert "`annot evaluate --corpus v9`" in (refused.value.hint or "")
