"""Runs that are made here: what a system is given to rank, what is kept of it, and whose name it may not take."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Draw, Pool, PoolEntry, Query, ScoredDoc, Source
from annot.formats.trec import write_run
from annot.ranking.methods import BASELINES
from annot.ranking.submission import SubmissionRules
from annot.ranking.systems import USUAL, USUAL_OF_TEXTS
from annot.ranking.systems.system import PooledQuery, RankedPools
from annot.steps import run
from annot.steps.run import ImportedRun, import_files
from annot.store import pools, runs
from annot.store.models import StoredRun
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, Small, pool_of
from study_stages import copied, quietly
from topic_study import TOPICS, OfTopics


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Pools for the queries of p1 to p4; p1 has one for its whole abstract, too."""
    ws = copied(Small(), "pooled", tmp_path / "study")
    with ws.writing() as session:
        pools.put_queries(session, [Query("p1-result", "p1", "result", (0, 1, 2))])
    return ws


class Systems:
    """Two systems that turn the documents around, and what they were given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.given: dict[str, tuple[PooledQuery, ...]] = {}
        self.asked: list[tuple[str, ...]] = []
        patch.setattr("annot.measuring.study_analyses.StudyInputs", self._inputs)
        patch.setattr("annot.ranking.systems.systems_of", self._systems)

    def _inputs(self, _ws: Workspace, systems: object, topics: tuple[PooledQuery, ...], *_: object) -> Any:
        return SimpleNamespace(systems=systems, topics=topics, corpus_sha256="abc")

    def _systems(self, names: tuple[str, ...], **_: object) -> list[Any]:
        self.asked.append(names)
        rest: Any = {"rank": self._ranked, "topics": lambda inputs: inputs.topics, "of_texts": ""}
        return [SimpleNamespace(name=name, **rest) for name in ("ours", "other")]

    def _ranked(self, inputs: Any) -> RankedPools:
        self.given = {one.query_id: one for one in inputs.topics}
        ranking = {
            one.query_id: tuple(ScoredDoc(doc, float(-at)) for at, doc in enumerate(reversed(one.doc_ids)))
            for one in inputs.topics
        }
        return RankedPools(ranking, {"zeta": "ü", "alpha": 1}, given_up=3)


def made(ws: Workspace, *names: str, **of: Any) -> list[run.MadeRun]:
    return list(run.make(ws, systems=names, advance=quietly, **of))


def test_each_system_ranks_the_pool_of_every_query_that_has_one(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    systems = Systems(monkeypatch)
    with ws.writing() as session:
        pools.put_queries(session, [Query("d99-method", "d99", "method", (1,))])
    told: list[tuple[int, int | None]] = []
    found = run.make(ws, systems=("ours",), advance=lambda done, total: told.append((done, total)))
    assert set(systems.given) == {*(one.query_id for one in QUERIES), "p1-result"}, "d99 has no pool"
    assert {name: one.whole for name, one in systems.given.items() if one.topic_id == "p1"} == {
        "p1-method": False, "p1-result": True,
    }  # fmt: skip
    assert {one.doc_ids for one in systems.given.values()} == {DOCUMENTS}
    assert [(one.tag, one.queries, one.documents) for one in found] == [("ours", 5, 50), ("other", 5, 50)]
    assert told == [(1, 2), (2, 2)]


def test_a_text_is_asked_whole_by_its_title_and_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    systems = Systems(monkeypatch)
    made(copied(OfTopics(mixed=True), "pooled", tmp_path / "mixed"))
    assert systems.asked == [USUAL]
    assert {name: (one.text, one.whole, one.sentences) for name, one in systems.given.items()} == {
        "T1": (f"{TOPICS[0].title} {TOPICS[0].description}", True, ()),
        "T2": (f"{TOPICS[1].title} {TOPICS[1].description}", True, ()),
        "T3": (TOPICS[2].title, True, ()),
        "p4-method": (None, False, (1,)),
    }
    made(copied(OfTopics(), "pooled", tmp_path / "texts"))
    assert systems.asked[1:] == [USUAL_OF_TEXTS]


def test_documents_without_a_text_are_not_ranked(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    systems = Systems(monkeypatch)
    pool = pool_of("p2")
    gone = PoolEntry("gone", Draw("abs_tfidf", 9, 0.1, 11))
    with ws.writing() as session:
        current: list[Pool] = [replace(pool, entries=(*pool.entries, gone)), *(pool_of(f"p{at}") for at in (1, 3, 4))]
        hashes = pools.read_rankings_sha256(session)
        pools.replace_pools(session, current, rankings_sha256=hashes)
    made(ws)
    assert systems.given["p2-method"].doc_ids == DOCUMENTS
    assert systems.asked == [USUAL]


def test_a_run_is_kept_with_what_it_follows_from(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    Systems(monkeypatch)
    made(ws, "ours")
    text = ws.run_file("ours").with_suffix(".json").read_text(encoding="utf-8")
    record = json.loads(text)
    assert record["settings"] == {"alpha": 1, "zeta": "ü", "corpus_sha256": "abc"}
    assert (record["tag"], record["kind"]) == ("ours", "baseline")
    assert text == json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert list(record) == sorted(record)
    first, *_ = ws.run_file("ours").read_text(encoding="utf-8").splitlines()
    assert first.split()[1:] == ["Q0", "d09", "1", "0", "ours"]
    with ws.reading() as session:
        assert {(one.tag, one.kind, one.sha256) for one in runs.read_runs(session)} >= {
            ("ours", "baseline", record["sha256"])
        }


def test_the_name_of_an_imported_run_is_not_taken_unasked(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    Systems(monkeypatch)
    with ws.writing() as session:
        runs.put_runs(session, [StoredRun("other", Source.IMPORTED, {}, "x"), StoredRun("ours", "baseline", {}, "x")])
    with pytest.raises(InputError, match=r"imported runs have these names: other$"):
        made(ws)
    assert [one.tag for one in made(ws, replace=True)] == ["ours", "other"]


def test_without_pools_there_is_nothing_to_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Systems(monkeypatch)
    with pytest.raises(MissingInput, match="no pools to rank"):
        made(copied(Small(), "queried", tmp_path / "study"))


def test_a_run_of_other_queries_is_refused_with_three_of_each(ws: Workspace) -> None:
    file = ws.root / "strange.run"
    ranking = (ScoredDoc("d00", 1.0),)
    file.write_text(write_run({f"x{at}": ranking for at in range(4)}, tag="x"), encoding="utf-8")
    with pytest.raises(InputError, match="none of its queries is in this study") as error:
        run.import_files(
            ws, [file], tag="mine", meta=None, facet=None, system=None, seed=None,
            rules=SubmissionRules(None, None, None), distances=False, replace=False, dry_run=False,
        )  # fmt: skip
    assert list(error.value.faults) == ["found x0, x1, x2", "expected p1-method, p1-result, p2-method"]


# -- under which name a run may be imported, and which two runs may be of one system -----------------------------------


@pytest.fixture
def planned(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


def imported(planned: Workspace, tag: str, *, first: int = 0, replace: bool = False, **of: object) -> ImportedRun:
    """A run that begins with the document at `first`."""
    order = [*DOCUMENTS[first:], *DOCUMENTS[:first]]
    ranking = [ScoredDoc(doc_id, 1 - at / 10) for at, doc_id in enumerate(order)]
    file = planned.root / f"{first}.txt"
    file.write_text(write_run({query.query_id: ranking for query in QUERIES}, tag="x"), encoding="utf-8")
    rules = SubmissionRules(None, None, "out")
    wanted: Any = {"system": None, "seed": None, **of}
    return import_files(
        planned, [file], tag=tag, meta=None, facet=None, rules=rules, distances=False, replace=replace,
        dry_run=False, **wanted,
    )  # fmt: skip


def test_the_name_of_a_run_made_here_is_taken_only_if_it_is_to_be_replaced(planned: Workspace) -> None:
    baseline = min(BASELINES)
    with pytest.raises(InputError, match="a run made here"):
        imported(planned, baseline)
    imported(planned, "own")
    imported(planned, "own", first=1)
    with planned.writing() as session:
        (known,) = runs.read_runs(session)
        runs.put_runs(session, [known._replace(kind="ranking")])
    with pytest.raises(InputError, match="a run made here"):
        imported(planned, "own", first=2)
    imported(planned, "own", first=2, replace=True)


def test_two_runs_of_one_system_have_different_seeds_and_files(planned: Workspace) -> None:
    imported(planned, "s-1", system="s", seed=1)
    imported(planned, "s-1", system="s", seed=1)
    with pytest.raises(InputError, match="already has this run, or one with the same seed: s-1"):
        imported(planned, "s-2", first=1, system="s", seed=1)
    with pytest.raises(InputError, match="already has this run"):
        imported(planned, "s-2", system="s", seed=2)
    imported(planned, "s-2", first=1, system="s", seed=2)
    imported(planned, "t-1", system="t", seed=1)
    with planned.reading() as session:
        assert {(run.tag, run.system, run.seed) for run in runs.read_runs(session)} == {
            ("s-1", "s", 1),
            ("s-2", "s", 2),
            ("t-1", "t", 1),
        }
