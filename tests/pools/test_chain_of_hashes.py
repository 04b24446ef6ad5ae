"""Chain from the corpus to the exports: each broken link gives one sentence, and a complete chain gives none."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from annot.base.records import CITED, Draw, Paper, Pool, PoolEntry, ScoredDoc
from annot.pools.admission import (
    Admission,
    drawn_citations,
    near_duplicates,
    passed_over_in,
    shingles_of,
    write_admissions,
)
from annot.pools.chain import broken_links
from annot.pools.drawn_pools import origins_of, write_pools
from annot.pools.frozen_rankings import join_rankings, rank_corpus
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


@pytest.mark.parametrize(("deepest", "count"), [(2, 1), (3, 2), (None, 0)])
def test_what_was_passed_over_is_above_the_last_draw(deepest: int | None, count: int) -> None:
    of = Pool("p", "blocks", 2, 50, 1, ("bm25",), (), (), None, (PoolEntry("d", Draw("bm25", deepest, 1.0, 1)),))
    rankings = {"bm25": {"p": tuple(ScoredDoc(doc, 0.0) for doc in "abc")}}
    admitted = {"p": Admission((), (), None, {1: {"a": "d", "c": "d"}})}
    expected = {2: 1, 3: 2, None: 0}[deepest]
    assert passed_over_in([of], rankings, admitted) == count == expected


def test_only_the_methods_that_were_asked_for_are_ranked(stored: Workspace, tmp_path: Path) -> None:
    corpus(stored, Paper("p1", "A title", ("One.",)), Paper("p2", "A title", ("Two words.",)))
    write_pools(stored, [])
    given = {"mine": {"p1": (ScoredDoc("p2", 1.0),)}}
    counted: list[tuple[int, int | None]] = []
    rankings, told = rank_corpus(
        stored, methods=["title_tfidf", "mine"], topics=["p1"], excluded=dict, ranking_depth=5, keep=False,
        advance=lambda done, total: counted.append((done, total)), imports=given,
    )  # fmt: skip
    assert list(rankings) == ["title_tfidf", "mine"]
    assert [doc.doc_id for doc in rankings["title_tfidf"]["p1"]] == ["p2"]
    assert rankings["mine"] == given["mine"]
    assert set(told["methods"]) == {"title_tfidf", "mine"}
    assert counted[-1] == (1, 1)
    facts = {"corpus_sha256": "1", "ranking_depth": 1, "topics": ["p1"], "methods": {}}
    write_manifest(stored.rankings / "manifest.json", files=[], inputs={}, facts={"topics": []})
    assert join_rankings(stored, {}, facts=facts)[1]["ranking_depth"] == 1
