"""Chain from the corpus to the exports, near-duplicates and citations, and admission to pools besides rankings."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import CITED, Addition, Draw, Paper, Pool, PoolEntry, ScoredDoc
from annot.base.settings import Settings
from annot.pools.admission import (
    Admission,
    NearDuplicates,
    admissions,
    as_recorded,
    drawn_citations,
    near_duplicates,
    passed_over_in,
    recorded_admissions,
    shingles_of,
    write_admissions,
)
from annot.pools.chain import broken_links
from annot.pools.drawn_pools import origins_of
from annot.ranking.word_vectors import WordVectors, save, sha256_of
from annot.store.citations import FOLDER, MANIFEST
from annot.store.models import ImportedSource, Plan, StoredRun
from annot.store.papers import PaperWriter, corpus_sha256, groups_of
from annot.store.people import replace_plan
from annot.store.runs import put_import, put_runs
from annot.store.shown import SHOWN_CONTENT_TABLE, record_versions, version
from annot.study.workspace import Workspace, write_file, write_manifest


def broken(ws: Workspace) -> list[str]:
    with ws.reading() as session:
        return list(broken_links(ws, session))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def quietly(_done: int, _total: int | None) -> None:
    pass


def corpus(ws: Workspace, *papers: Paper) -> None:
    with PaperWriter(ws.corpus, name="a.parquet") as writer:
        for paper in papers:
            writer.add(paper)


def test_a_study_that_has_nothing_yet_misses_nothing(stored: Workspace) -> None:
    assert broken(stored) == []


def test_a_file_and_an_input_that_changed_or_went_are_told(stored: Workspace) -> None:
    root = stored.root
    for name in ("exports/qrels.txt", "exports/kept.txt", "pools/plan.manifest.json", "exports/beside.txt"):
        write_file(root / name, "{}" if name.endswith("json") else "")
    inputs = {"pools/plan.manifest.json": sha("{}"), "beside.txt": sha(""), "gone.txt": "1" * 64}
    manifest = root / "exports" / "qrels.manifest.json"
    files = [root / "exports" / "qrels.txt", root / "exports" / "kept.txt"]
    write_manifest(manifest, files=files, inputs=inputs, facts={})
    assert broken(stored) == ["exports/qrels.manifest.json: its input gone.txt is missing"]
    write_file(root / "exports" / "kept.txt", "more")
    write_file(root / "exports" / "beside.txt", "more")
    (root / "gone.txt").write_text("")
    expected = (
        f"exports/kept.txt: changed; exports/qrels.manifest.json says SHA-256 {sha('')[:12]}, found {sha('more')[:12]}"
    )
    assert broken(stored) == [
        expected,
        "exports/qrels.manifest.json: its input beside.txt has changed since; run `annot qrels` again",
        "exports/qrels.manifest.json: its input gone.txt has changed since; run `annot qrels` again",
    ]
    (root / "exports" / "kept.txt").unlink()
    assert broken(stored)[0] == f"exports/kept.txt: missing; exports/qrels.manifest.json says SHA-256 {sha('')[:12]}"
    outside = {"files": {"../../x": "2" * 64}, "inputs": {"../x": "2" * 64}}
    manifest.write_text(json.dumps(outside))
    assert broken(stored) == [
        f"{root / 'exports' / '../../x'}: not checked, because it is outside the study; "
        f"exports/qrels.manifest.json says SHA-256 {'2' * 12}",
        "exports/qrels.manifest.json: its input ../x is missing",
    ]
    manifest.write_text("[")
    assert [one.partition(": ")[2][:14] for one in broken(stored)] == ["not a manifest"]


def test_another_corpus_is_told_by_its_hash(stored: Workspace) -> None:
    manifest = stored.rankings / "manifest.json"
    write_manifest(manifest, files=[], inputs={"corpus": "1" * 64}, facts={"topics": []})
    told = "pools/rankings/manifest.json: made from another corpus (111111111111, found {})"
    assert broken(stored) == [told.format("no corpus")]
    corpus(stored, Paper("p1", "Title", ("One.",)))
    assert broken(stored) == [told.format(corpus_sha256(stored.corpus)[:12])]
    write_manifest(manifest, files=[], inputs={"corpus": corpus_sha256(stored.corpus)}, facts={"topics": []})
    assert broken(stored) == []


def test_vectors_are_held_against_what_they_were_written_as(stored: Workspace) -> None:
    write_file(stored.vectors / "mine" / "vectors.json", json.dumps({"files": {"one.npy": sha("x")}}))
    write_file(stored.vectors / "mine" / "one.npy", "x")
    matrix = np.ones((2, 3), np.float32)
    save(WordVectors(["a", "b"], matrix, {"sha256": sha256_of(["a", "b"], matrix)}), stored.word_vectors)
    assert broken(stored) == []
    write_file(stored.vectors / "mine" / "one.npy", "y")
    save(WordVectors(["a", "c"], matrix, {"sha256": sha256_of(["a", "b"], matrix)}), stored.word_vectors)
    assert [one.partition(";")[0] for one in broken(stored)] == [
        "corpus/vectors/mine/one.npy: changed",
        "corpus/word-vectors: changed",
    ]


def test_what_the_database_says_of_guidelines_plan_and_runs_is_checked(stored: Workspace) -> None:
    with stored.writing() as session:
        good = version("guidelines", "method", "text", since="2031-01-02T03:04:05")
        session.connection().execute(SHOWN_CONTENT_TABLE.insert().values(sha256="0" * 64, body="text"))
        record_versions(session, [good, good._replace(since="2031-01-03T03:04:05", sha256="0" * 64)])
        put_runs(session, [StoredRun("mine", "term", {}, sha("run"))])
        replace_plan(session, [], plan=Plan(sha("plan"), 1, "2031"))
    write_file(stored.run_file("mine"), "run")
    write_file(stored.pools / "plan.jsonl", "plan")
    changed = "the guidelines of method sent on 2031-01-03: the stored content has changed"
    assert broken(stored) == [changed]
    (stored.pools / "plan.jsonl").unlink()
    write_file(stored.run_file("mine"), "other")
    plan = f"pools/plan.jsonl: missing; the database says SHA-256 {sha('plan')[:12]}"
    run = "exports/runs/mine.run: changed; the database says SHA-256"
    assert [one[: len(run)] if "runs" in one else one for one in broken(stored)] == [changed, plan, run]
    for what, missed in (("runs", True), ("csfcube", False)):
        with stored.writing() as session:
            put_import(session, ImportedSource(what, "1" * 64, {}))
        assert (plan in broken(stored)) is missed


def test_kept_runs_of_an_earlier_version_are_compared_with_their_records(stored: Workspace) -> None:
    for name in ("gone", "other", "same", "torn"):
        record = {"tag": name, "kind": "term", "sha256": sha("run"), "settings": {"corpus": "2031"}}
        text = "{" if name == "torn" else json.dumps(record)
        write_file(stored.run_file(f"2031/{name}").with_suffix(".json"), text)
        if name != "gone":
            write_file(stored.run_file(f"2031/{name}"), "changed" if name == "other" else "run")
    faults = broken(stored)
    assert [fault.partition(":")[0].rpartition("2031/")[2] for fault in faults] == [
        "gone.run",
        "other.run",
        "torn.json",
    ]
    assert "annot run gone --corpus 2031" in faults[0]
    assert f"other.json says SHA-256 {sha('run')[:12]}, found {sha('changed')[:12]}" in faults[1]


def test_qrels_follow_from_the_judgements_on_record(stored: Workspace) -> None:
    write_file(stored.qrels, "")
    assert broken(stored) == []
    write_file(stored.qrels, "q1 0 d1 1\n")
    said = "exports/qrels.txt: does not follow from the judgements on record; run `annot qrels` again"
    assert broken(stored) == [said]


# -- near-duplicates and citations


ALIKE = tuple(f"Sentence {at} has words of its own, such as word{at} and term{at}." for at in range(9))


def test_papers_that_are_alike_are_found_once_and_kept_if_asked(stored: Workspace) -> None:
    corpus(
        stored,
        Paper("p1", "One", ALIKE),
        Paper("p2", "Two", ("Quite another text about something else altogether.",)),
        Paper("p3", "Three", ALIKE),
        Paper("p4", "TWO", ("A third text with words that no other has in it.",)),
    )
    counted: list[tuple[int, int | None]] = []
    found = near_duplicates(stored, keep=False, advance=lambda done, total: counted.append((done, total)))
    assert (found.texts, found.titles) == ((("p1", "p3"),), (("p2", "p4"),))
    assert counted == [(1, 1)]
    assert not (stored.cache / "near-duplicates").exists()
    assert near_duplicates(stored, keep=True, advance=quietly) == found
    (kept,) = (stored.cache / "near-duplicates").iterdir()
    assert kept.name == f"{corpus_sha256(stored.corpus)[:16]}.json"
    record = json.loads(kept.read_text())
    kept.write_text(json.dumps({**record, "texts": []}))
    assert near_duplicates(stored, keep=False, advance=quietly).texts == ()
    kept.write_text(json.dumps({**record, "texts": [], "settings": "others"}))
    assert near_duplicates(stored, keep=False, advance=quietly) == found
    assert found.of_same_title(["p2", "p1"]) == {"p2": ("p4",), "p1": ()}
    (group,) = groups_of(stored.corpus)
    one, other, third = shingles_of((group, np.array([0, 1, 2])))
    assert one.tolist() == third.tolist()
    assert not set(one.tolist()) & set(other.tolist())
    # Three words each: seven words make five shingles.
    assert len(other) == 5


def pool(paper_id: str, *methods: str) -> Pool:
    entry = PoolEntry("d", Draw(methods[-1], 2, 1.0, 1))
    return Pool(paper_id, "blocks", 2, 50, 1, methods, (), (), None, (entry,))


def test_a_report_tells_how_pools_came_about(stored: Workspace) -> None:
    corpus(stored, Paper("p1", "One", ALIKE), Paper("p2", "Two", ("Other.",)), Paper("p3", "Three", ALIKE))
    about = {"file": "dblp.csv", "sha256": "3" * 64, "kept": 5}
    write_file(stored.corpus / FOLDER / "33" / "about.json", json.dumps(about))
    write_file(stored.corpus / MANIFEST, "{}")
    now = sha("{}")
    admitted = {"p1": now, "p2": "4" * 64, "p3": "4" * 64, "p4": "4" * 64, "p5": "4" * 64}
    write_admissions(stored, {name: Admission((), (), one, {}) for name, one in admitted.items()})
    vectors = {"word_vectors": {"abstracts": 3}}
    manifest = stored.rankings / "manifest.json"
    methods = {"cbow": vectors, "unused": vectors}
    write_manifest(manifest, files=[], inputs={}, facts={"topics": [], "methods": methods})
    pools = {name: pool(name, CITED, "cbow") for name in ("p1", "p2", "p3")} | {"p4": pool("p4", "cbow")}
    found = origins_of(stored, pools)
    assert (found.alike, found.groups, found.passed_over) == (2, 1, None)
    assert [(one.name, one.kept) for one in found.citations] == [("dblp.csv", 5)]
    # p1 was drawn with the citations of now, p4 draws no cited papers, and p5 has no pool.
    assert found.earlier == 2
    assert [few.names for few in found.few_abstracts] == [("cbow",)]
    assert not stored.cache.exists()
    without = origins_of(stored, {})
    assert (without.alike, without.citations, without.earlier, without.few_abstracts) == (0, (), 0, ())


def test_citations_are_those_of_the_draw_in_the_order_of_the_corpus(stored: Workspace) -> None:
    papers = {"p1": Paper("p1", "", (), citations=("c", "a", "new")), "p2": Paper("p2", "", (), citations=("z", "y"))}
    write_admissions(stored, {"p1": Admission(("a", "b"), ("c",), None, {})})
    assert drawn_citations(stored, papers) == {"p1": ("c", "a", "b"), "p2": ("z", "y")}


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


FOUND = {
    "p2": Admission(("c",), ("o",), "1" * 64, {1: {"x": "y", "t": None}, 2: {}}),
    "p1": Admission((), (), None, {1: {}}),
}


def test_what_was_written_down_is_read_back(ws: Workspace) -> None:
    assert recorded_admissions(ws) == {}
    write_admissions(ws, FOUND)
    assert recorded_admissions(ws) == FOUND
    lines = (ws.pools / "admission.jsonl").read_text().splitlines()
    assert [line[:17] for line in lines] == ['{"topic_id": "p1"', '{"topic_id": "p2"']


def test_a_file_that_the_manifest_does_not_name_is_refused_where_it_has_to_be_proved(ws: Workspace) -> None:
    write_admissions(ws, FOUND)
    path, manifest = ws.pools / "admission.jsonl", ws.pools / "manifest.json"
    assert recorded_admissions(ws, proved=True) == FOUND
    write_manifest(manifest, files=[path], inputs={}, facts={})
    assert recorded_admissions(ws, proved=True) == FOUND
    write_admissions(ws, {})
    assert recorded_admissions(ws) == {}
    with pytest.raises(InputError, match=r"its SHA-256 is e3b0c44298fc, expected \w{12} as in"):
        recorded_admissions(ws, proved=True)
    path.unlink()
    with pytest.raises(InputError, match=r"its SHA-256 is none, expected \w{12} as in"):
        recorded_admissions(ws, proved=True)
    path.write_text('{"topic_id": "p1"}\n')
    with pytest.raises(InputError, match="not what `annot pool` writes"):
        recorded_admissions(ws)


def bm25_pool(*doc_ids: str, additions: tuple[Addition, ...] = ()) -> Pool:
    entries = tuple(PoolEntry(doc_id, Draw("bm25", rank, None, rank)) for rank, doc_id in enumerate(doc_ids, 1))
    return Pool("p", "blocks", 2, 50, 1, ("bm25",), (), (), None, entries, additions)


def held(ws: Workspace, current: dict[str, Pool], coming: int | None = None, cited: str = "") -> Admission:
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "abctxz")}}
    duplicates = NearDuplicates((("a", "b", "c"), ("p", "x"), ("y", "w")), (("p", "t"), ("s", "z")))
    return admissions(ws, {"p": tuple(cited)}, rankings, duplicates=duplicates, current=current, coming=coming)["p"]


def test_of_near_duplicates_one_may_enter_and_of_the_query_papers_title_none(ws: Workspace) -> None:
    one = held(ws, {})
    assert (one.cited, one.cited_outside, one.citations_sha256) == ((), (), None)
    assert one.barred == {1: {"b": "a", "c": "a", "t": None, "x": "p"}}
    assert held(ws, {"p": bm25_pool("b")}).barred == {1: {"a": "b", "c": "b", "t": None, "x": "p"}}


def test_no_rule_about_papers_holds_for_a_text_not_even_where_a_paper_has_its_id(ws: Workspace) -> None:
    duplicates = NearDuplicates((("x", "p"),), (("p", "t"),))
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "tx")}}

    def barred(citations: tuple[str, ...] | None) -> Mapping[str, str | None]:
        return admissions(ws, {"p": citations}, rankings, duplicates=duplicates, current={})["p"].barred[1]

    assert barred(()) == {"t": None, "x": "p"}
    assert barred(None) == {}


def test_every_version_that_a_ranking_made_bars_on_its_own(ws: Workspace) -> None:
    additions = (
        Addition(2, "dense", 1, ("b",), None, None, None),
        Addition(3, "manual", None, ("m",), None, None, None),
    )
    entries = (PoolEntry("q", Draw("bm25", 1, None, 1)), PoolEntry("b", Draw("dense", 1, None, 2)))
    current = {"p": Pool("p", "blocks", 2, 50, 1, ("bm25", "dense"), (), (), None, entries, additions)}
    found = held(ws, current, coming=4).barred
    assert sorted(found) == [1, 2, 4]
    # b came with the second version, so that none of its group was in the first.
    assert found[1] == {"a": "b", "b": "b", "c": "b", "t": None, "x": "p"}
    assert found[2] == found[4] == {"a": "b", "c": "b", "t": None, "x": "p"}


def test_what_is_on_record_wins_over_what_holds_now() -> None:
    now = {"p": Admission(("new",), (), "2", {1: {"a": "b"}, 2: {"a": "b"}}), "q": FOUND["p1"]}
    recorded = {"p": Admission(("old",), (), "1", {1: {"a": "c", "x": "y"}}), "z": FOUND["p1"]}
    assert as_recorded(now, recorded) == {
        "p": Admission(("old",), (), "1", {1: {"a": "c", "x": "y"}, 2: {"a": "b"}}),
        "q": FOUND["p1"],
    }


@pytest.mark.parametrize(
    ("drawn", "barred", "count"),
    [
        # The draws came down to rank 3 of a, b, c, d.
        ((("a", 1), ("c", 3)), {1: {"b": "a", "d": "a", "t": None}}, 1),
        ((("a", 1), ("d", 4)), {1: {"b": "a"}, 2: {"c": "a", "d": "a"}}, 2),
        ((("a", 1),), {1: {"b": "a"}}, 0),
        ((("b", 2),), {1: {"a": "b", "b": "a"}}, 1),
    ],
)
def test_near_duplicates_above_the_last_draw_were_passed_over(
    drawn: tuple[tuple[str, int], ...], barred: dict[int, Any], count: int
) -> None:
    entries = tuple(PoolEntry(doc_id, Draw("bm25", rank, None, None)) for doc_id, rank in drawn)
    of = Pool("p", "blocks", 2, 50, 1, ("bm25", "other"), (), (), None, entries)
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "abcd")}}
    assert passed_over_in([of], rankings, {"p": Admission((), (), None, barred)}) == count
