"""Runs of other engines and submissions: their findings, rules and refusals, and what is kept."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import FindingError, InputError, MissingInput
from annot.base.records import Query, Ranking, ScoredDoc
from annot.measuring.engine_runs import ImportedRanking, import_engine_run
from annot.ranking import submission
from annot.ranking.submission import (
    SubmissionFinding,
    SubmissionRules,
    by_query_paper,
    find_findings,
    imported_methods,
    refuse_findings,
    settle,
    topics_of_papers,
)
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
    assert caught.value.faults == ("found x1, x2, x3", "expected query papers or queries, such as p1 or p1-method")


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


WANTED = {"q": ("d1", "d2", "d3", "d4")}


def rules(**given: str | None) -> SubmissionRules:
    return SubmissionRules(**{"foreign": "drop", "duplicates": "best", "missing": "last", **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 3.5e6, 2e17, 1e300])
@pytest.mark.parametrize("sign", [1, -1])
def test_documents_that_are_missing_come_below_all_others_at_any_scale(scale: float, sign: int) -> None:
    run = {
        "q": [
            ScoredDoc("d3", sign * scale * (1 if sign > 0 else 2)),
            ScoredDoc("d2", sign * scale * (2 if sign > 0 else 1)),
        ]
    }
    (ranking,) = settle(run, WANTED, rules()).values()
    assert [doc.doc_id for doc in ranking[:2]] == ["d2", "d3"]
    assert {doc.doc_id for doc in ranking[2:]} == {"d1", "d4"}
    below = {doc.score for doc in ranking[2:]}
    assert len(below) == 1
    assert max(below) < ranking[1].score
    assert all(math.isfinite(doc.score) for doc in ranking)


def test_of_a_document_that_is_there_twice_the_better_score_counts_and_strangers_go_or_stay() -> None:
    run = {"q": [ScoredDoc("d1", 0.5), ScoredDoc("x", 9.0), ScoredDoc("d2", 0.7), ScoredDoc("d1", 0.9)]}
    (ranking,) = settle(run, WANTED, rules(missing="out")).values()
    assert list(ranking) == [ScoredDoc("d1", 0.9), ScoredDoc("d2", 0.7)]
    (ranking,) = settle(run, WANTED, rules(missing="out", foreign="keep")).values()
    assert [doc.doc_id for doc in ranking] == ["x", "d1", "d2"]
    found = {one.what: one.count for one in find_findings(run, WANTED)}
    assert found == {"missing candidates": 2, "foreign candidates": 1, "duplicates": 1}


def test_each_kind_of_finding_is_counted_with_its_queries_and_three_examples() -> None:
    run = {
        "q": [ScoredDoc("d1", 1.0), ScoredDoc("d2", 1.00000001), ScoredDoc("d3", 2.0), ScoredDoc("d3", 2.0)],
        "r": [ScoredDoc("x", 3.0), ScoredDoc("d1", 1.0)],
        "s": [ScoredDoc("d1", 1.0)],
    }
    wanted = {"q": [f"d{at}" for at in range(1, 7)], "r": ["d1", "d7", "d8"], "t": ["d1"]}
    assert find_findings(run, wanted) == (
        SubmissionFinding("missing queries", 1, 1, ("t",)),
        SubmissionFinding("foreign queries", 1, 1, ("s",)),
        SubmissionFinding("missing candidates", 5, 2, ("q d4", "q d5", "q d6")),
        SubmissionFinding("foreign candidates", 1, 1, ("r x",)),
        SubmissionFinding("duplicates", 1, 1, ("q d3",)),
        SubmissionFinding("ties", 2, 1, ("q d1", "q d2")),
    )
    assert settle(run, wanted, rules(missing="out")).keys() == {"q", "r"}
    assert find_findings({"q": [ScoredDoc("d1", 1.0)]}, {"q": ["d1"]}) == ()


def test_a_run_is_refused_where_the_rules_have_no_answer() -> None:
    found = [SubmissionFinding(what, 1, 2, ("q d",)) for what in ("foreign queries", "duplicates", "ties")]
    remedies = {"foreign queries": "--foreign drop", "duplicates": "--duplicates best"}
    refuse_findings(found, rules(), Path("r.run"), remedies)
    with pytest.raises(FindingError) as caught:
        refuse_findings(found, rules(duplicates=None), Path("r.run"), remedies)
    assert caught.value.faults == ("duplicates: 1 in 2 queries: q d",)
    with pytest.raises(FindingError) as caught:
        refuse_findings(found, rules(foreign=None, duplicates=None), Path("r.run"), remedies)
    assert caught.value.faults == ("foreign queries: 1 in 2 queries: q d", "duplicates: 1 in 2 queries: q d")
    assert caught.value.hint == "correct the file, or add --foreign drop and --duplicates best"


def test_a_run_of_which_nothing_is_known_ranks_all_documents_alike_below_zero() -> None:
    (ranking,) = settle({"q": [ScoredDoc("x", 9.0)]}, WANTED, rules()).values()
    assert [doc.doc_id for doc in ranking] == ["d1", "d2", "d3", "d4"]
    assert all(doc.score < 0 for doc in ranking)


def test_a_topic_counts_for_its_query_paper_and_of_several_the_best_rank_does() -> None:
    queries = [Query(f"{paper}-{facet}", paper, facet, ()) for paper, facet in ("px", "py", "sx")]
    run = {
        "p-x": [ScoredDoc("a", 3.0), ScoredDoc("b", 2.0), ScoredDoc("out", 1.0)],
        "p-y": [ScoredDoc("c", 9.0), ScoredDoc("a", 8.0), ScoredDoc("b", 7.0)],
        "z": [ScoredDoc("a", 1.0)],
    }
    rankings, findings = by_query_paper(run, queries, {"a", "b", "c"})
    assert {doc.doc_id for doc in rankings["p"][:2]} == {"a", "c"}
    assert rankings["p"][2].doc_id == "b"
    assert topics_of_papers(run, queries) == {"p": ["p-x", "p-y"]}
    assert [(one.what, one.count, one.examples) for one in findings] == [
        ("missing query papers", 1, ("s",)),
        ("foreign queries", 1, ("z",)),
        ("foreign documents", 1, ("p-x out",)),
    ]
    alone, _ = by_query_paper({"s": [ScoredDoc("a", 1.0), ScoredDoc("a", 2.0)]}, queries, {"a"})
    assert alone["s"] == (ScoredDoc("a", 2.0),)


def test_of_several_rankings_each_document_has_its_best_rank_as_one_over_it() -> None:
    one, other = (tuple(ScoredDoc(doc_id, 9.0 - at) for at, doc_id in enumerate(ids)) for ids in ("abd", "bcad"))
    assert submission._merged([one]) == one
    assert submission._merged([one, other]) == (
        *(ScoredDoc("a", 1.0), ScoredDoc("b", 1.0), ScoredDoc("c", 0.5)),
        ScoredDoc("d", 0.333333),
    )
