"""Run of another engine as the ranking of a pooling method: counts, refusals, and the file that is kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import FindingError, InputError, MissingInput
from annot.base.records import Ranking
from annot.measuring.engine_runs import ImportedRanking, import_engine_run
from annot.ranking.submission import imported_methods
from annot.store import pools
from annot.study.workspace import Workspace
from small_study import Small, pool_of
from study_stages import copied

BEST_FIRST = {"p1": ["d01", "d02", "d03"], "p2-method": ["d04"]}


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "queried", tmp_path / "study")


def run_file(folder: Path, topics: dict[str, Sequence[str]], *, ascending: bool = False) -> Path:
    lines = [
        f"{topic} Q0 {doc_id} {rank} {rank if ascending else -rank} engine"
        for topic, documents in topics.items()
        for rank, doc_id in enumerate(documents, start=1)
    ]
    file = folder / "engine.run"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def taken(ws: Workspace, file: Path, **given: Any) -> tuple[dict[str, Ranking], ImportedRanking]:
    usual = {
        "method": "engine",
        "meta": None,
        "foreign": None,
        "duplicates": None,
        "distances": False,
        "dry_run": False,
    }
    return import_engine_run(ws, file, **(usual | given))


def test_what_is_taken_in_is_counted(ws: Workspace, tmp_path: Path) -> None:
    rankings, told = taken(ws, run_file(tmp_path, BEST_FIRST))
    assert [[doc.doc_id for doc in rankings[paper]] for paper in ("p1", "p2")] == [["d01", "d02", "d03"], ["d04"]]
    assert isinstance(told, ImportedRanking)
    assert (told.method, told.query_papers, told.of_query_papers, told.documents) == ("engine", 2, 4, 4)
    assert (told.shortest, told.longest, told.replaced, told.several) == (1, 3, False, ())
    assert told.path.is_file()
    on_record = imported_methods(ws)["engine"]
    assert on_record["topics"] == 2
    assert on_record["rules"] == {"foreign": None, "duplicates": None, "distances": False}


def test_a_dry_run_keeps_nothing(ws: Workspace, tmp_path: Path) -> None:
    told = taken(ws, run_file(tmp_path, BEST_FIRST), dry_run=True)[1]
    assert not told.path.exists()
    assert imported_methods(ws) == {}


def test_distances_are_best_where_they_are_small(ws: Workspace, tmp_path: Path) -> None:
    rankings, _ = taken(ws, run_file(tmp_path, BEST_FIRST, ascending=True), distances=True)
    assert [doc.doc_id for doc in rankings["p1"]] == ["d01", "d02", "d03"]


def test_another_file_replaces_the_ranking_until_pools_hold_it(ws: Workspace, tmp_path: Path) -> None:
    first = run_file(tmp_path, BEST_FIRST)
    taken(ws, first)
    assert not taken(ws, first)[1].replaced
    assert taken(ws, run_file(tmp_path, {"p1": ["d05"]}))[1].replaced
    pool = pool_of("p1")
    held = type(pool)(**{name: getattr(pool, name) for name in pool.__slots__} | {"methods": ("engine", "lsa")})
    with ws.writing() as session:
        pools.replace_pools(session, [held], rankings_sha256={"p1": "abc"})
    assert not taken(ws, tmp_path / "engine.run")[1].replaced
    with pytest.raises(InputError, match="the pools were drawn from another ranking of this name"):
        taken(ws, run_file(tmp_path, BEST_FIRST))


def test_topics_and_documents_from_elsewhere_are_left_out_if_that_is_said(ws: Workspace, tmp_path: Path) -> None:
    file = run_file(tmp_path, {"p1": ["d01", "nowhere"], "p9": ["d01"]})
    with pytest.raises(FindingError) as caught:
        taken(ws, file)
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["foreign queries", "foreign documents"]
    _, imported = taken(ws, file, foreign="drop")
    assert (imported.documents, imported.query_papers) == (1, 1)
    assert imported_methods(ws)["engine"]["found"] == {
        "missing query papers": 3,
        "foreign queries": 1,
        "foreign documents": 1,
    }


def test_a_document_that_is_there_twice_has_its_better_score_if_that_is_said(ws: Workspace, tmp_path: Path) -> None:
    file = run_file(tmp_path, {"p1": ["d01", "d02", "d01"]})
    with pytest.raises(FindingError, match="not imported"):
        taken(ws, file)
    assert taken(ws, file, duplicates="best")[1].documents == 2


@pytest.mark.parametrize(("option", "value"), [("foreign", "keep"), ("duplicates", "last")])
def test_other_rules_are_refused(ws: Workspace, tmp_path: Path, option: str, value: str) -> None:
    with pytest.raises(InputError, match=f"--{option}"):
        taken(ws, run_file(tmp_path, BEST_FIRST), **{option: value})


def test_a_run_of_nothing_in_this_study_is_refused_with_three_of_its_topics(ws: Workspace, tmp_path: Path) -> None:
    file = run_file(tmp_path, {f"x{at}": ["d01"] for at in range(1, 6)})
    with pytest.raises(InputError) as caught:
        taken(ws, file, foreign="drop")
    assert caught.value.faults == (
        "found x1, x2, x3",
        "expected query papers or queries, such as p1 or p1-method",
    )


def test_a_study_without_queries_takes_nothing_in(tmp_path: Path) -> None:
    empty = copied(Small(), "labelled", tmp_path / "study")
    with pytest.raises(MissingInput, match="no queries"):
        taken(empty, run_file(tmp_path, BEST_FIRST))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("title_tfidf", "is the name of a built-in method"),
        ("cited", "is the name of a built-in method"),
        ("manual", "is the name of a built-in method"),
        ("own", "is the name of a built-in method"),
        ("-x", "expected letters, digits"),
        ("x" * 101, "expected letters, digits"),
    ],
)
def test_a_name_that_is_taken_or_no_name_is_refused(ws: Workspace, tmp_path: Path, name: str, said: str) -> None:
    (ws.vectors / "own").mkdir(parents=True)
    with pytest.raises(InputError, match=said):
        taken(ws, run_file(tmp_path, BEST_FIRST), method=name)
