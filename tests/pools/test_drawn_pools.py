"""Pools drawn by their designs, that grow, or were judged elsewhere; their files, and differences from the database."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.names import sha256_of
from annot.base.records import (
    CITED,
    MANUAL,
    Addition,
    Assessor,
    Draw,
    Judgement,
    PairKey,
    Paper,
    Pool,
    PoolEntry,
    Query,
    Ranking,
    ScoredDoc,
)
from annot.base.settings import Settings
from annot.formats.input_files import ByColumn
from annot.formats.trec import rankings_sha256, run_lines
from annot.pools.admission import FILE, Admission, write_admissions
from annot.pools.drawn_pools import (
    admitted_to,
    changed_documents,
    draw_pools,
    drawn_rankings,
    passed_over,
    put_judged_pools,
    queries_of,
    recorded_pools,
    refuse_growth,
    replay,
    topics_named,
    unrecorded_differences,
    with_additions,
    write_pools,
)
from annot.pools.frozen_rankings import lines_of, refuse_other_corpus, write_rankings
from annot.pools.pool_design import PoolDesign
from annot.steps import pool as step
from annot.store import pools
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.citations import MANIFEST as CITATIONS
from annot.store.papers import PaperWriter
from annot.store.people import put_assessors
from annot.store.pools import put_queries, read_pools, read_rankings_sha256, replace_pools
from annot.store.projects import open_project, record_tasks
from annot.study.workspace import Workspace


def ranking(doc_ids: str) -> Ranking:
    return tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids))


def quietly(_done: int, _total: int | None) -> None:
    pass


DESIGN = PoolDesign("blocks", 2, 50, 1, (CITED, "bm25"), ())
PLAIN = replace(DESIGN, methods=("bm25",))
RANKINGS = {"bm25": {"p1": ranking("abcd"), "p2": ranking("xyz")}, "late": {"p1": ranking("ceb")}}
ADMITTED = {
    "p1": Admission(("d",), ("o1", "o2"), None, {1: {"a": "b"}, 2: {"e": "c"}}),
    "p2": Admission(("d",), ("o1",), None, {}),
}
LATE = Addition(2, "late", 2, (), None, None, None)


def documents(pool: Pool) -> list[str]:
    return [entry.doc_id for entry in pool.entries]


def drawn(current: dict[str, Pool] | None = None) -> dict[str, Pool]:
    found = draw_pools(RANKINGS, {"p1": DESIGN, "p2": PLAIN}, ADMITTED, current=current or {})
    return {pool.topic_id: pool for pool in found}


def test_a_pool_is_drawn_with_what_holds_for_its_paper() -> None:
    one, other = drawn().values()
    assert (documents(one), one.cited_outside, one.methods) == (["d", "b", "c"], 2, (CITED, "bm25"))
    assert (documents(other), other.cited_outside, other.methods) == (["x", "y"], None, ("bm25",))


def test_what_was_added_to_a_pool_is_added_again_and_barred_by_its_own_version() -> None:
    before = replace(drawn()["p1"], additions=(LATE,))
    again = drawn({"p1": before})
    # late ranks c, e and b; e may not enter with version 2.
    assert documents(again["p1"]) == ["d", "b", "c"]
    assert documents(with_additions(drawn()["p1"], [LATE], RANKINGS, barred={1: {}})) == ["d", "b", "c", "e"]
    with pytest.raises(InputError, match="query paper p1: bm25 was added after the draw") as error:
        drawn({"p1": replace(before, additions=(replace(LATE, method="bm25"),))})
    assert error.value.hint == "leave it out with --without bm25"


def test_what_is_on_record_of_an_admission_is_taken_for_the_papers_asked_for(stored: Workspace) -> None:
    write_admissions(stored, ADMITTED)
    assert admitted_to(stored, {"p2"}, RANKINGS, {}, proved=False, advance=quietly) == {"p2": ADMITTED["p2"]}
    with pytest.raises(MissingInput):
        admitted_to(stored, {"p3"}, RANKINGS, {}, proved=False, advance=quietly)


def test_what_is_not_on_record_of_an_admission_is_what_holds_now_and_nothing_is_kept(stored: Workspace) -> None:
    with PaperWriter(stored.corpus, name="a.parquet") as writer:
        for paper_id, cited in {"p3": ("c", "elsewhere"), "c": ()}.items():
            writer.add(Paper(paper_id, paper_id, (f"Of {paper_id}.",), citations=cited))
    found = admitted_to(stored, {"p3"}, {}, {}, proved=False, advance=quietly)["p3"]
    assert (found.cited, found.cited_outside) == (("c",), ("elsewhere",))
    assert not stored.cache.exists()


def recorded(ws: Workspace, *more: Pool, methods: dict[str, Any] | None = None) -> dict[str, Pool]:
    """The two drawn pools and others, in files and in the database, with their rankings."""
    write_admissions(ws, ADMITTED)
    facts = {"corpus_sha256": "1" * 64, "ranking_depth": 50, "topics": ["p1", "p2"], "methods": methods or {}}
    write_rankings(ws, lines_of({"bm25": RANKINGS["bm25"]}), facts=facts)
    pools = [*drawn().values(), *more]
    hashes = {pool.topic_id: _sha256(pool.topic_id) if pool.topic_id in ("p1", "p2") else "unknown" for pool in pools}
    with ws.writing() as session:
        replace_pools(session, pools, rankings_sha256=hashes)
    write_pools(ws, [pool for pool in pools if pool.per_method or pool.additions])
    return {pool.topic_id: pool for pool in pools}


def _sha256(paper_id: str) -> str:
    """SHA-256 of the ranking's lines in TREC's format, written out here."""
    import hashlib

    docs = {"p1": "abcd", "p2": "xyz"}[paper_id]
    lines = [f"{paper_id} Q0 {doc} {at + 1} {-at} bm25\n" for at, doc in enumerate(docs)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


IMPORTED = Pool(
    "p9", "blocks", None, None, None, ("judged",), (), (), None, (PoolEntry("m", Draw("judged", None, None, None)),)
)


def unlike(ws: Workspace) -> list[tuple[str, str]]:
    with ws.reading() as session:
        return list(unrecorded_differences(ws, session))


def test_files_of_pools_are_held_against_the_database(stored: Workspace) -> None:
    recorded(stored, IMPORTED)
    assert unlike(stored) == []
    one, other = stored.query_pools / "p1.jsonl", stored.query_pools / "p2.jsonl"
    one.write_text(one.read_text() + "{}\n")
    other.unlink()
    assert unlike(stored) == [
        ("p1", "pools/queries/p1.jsonl: differs from the pool in the database"),
        ("p2", "pools/queries/p2.jsonl: missing, but the database has this pool"),
    ]


def test_an_imported_pool_has_a_file_once_something_was_added(stored: Workspace) -> None:
    added = replace(IMPORTED, additions=(Addition(2, MANUAL, None, ("m",), "why", None, None),))
    recorded(stored, added)
    assert unlike(stored) == []
    (stored.query_pools / "p9.jsonl").unlink()
    assert unlike(stored) == [("p9", "pools/queries/p9.jsonl: missing, but the database has this pool")]


def test_a_pool_follows_from_the_rankings_on_disk_as_far_as_they_are_there(stored: Workspace) -> None:
    recorded(stored)
    path = stored.rankings / "bm25.run"
    path.write_text(path.read_text().replace("p1 Q0 d 4 -3", "p1 Q0 e 4 -3"))
    assert unlike(stored) == [("p1", "p1: this pool does not follow from the rankings in pools/rankings/")]
    path.unlink()
    assert unlike(stored) == []


def test_pools_are_drawn_again_as_they_were(stored: Workspace) -> None:
    pools = recorded(stored)
    found = replay(stored, advance=quietly)
    assert (found.pools, found.documents, found.added_to, found.imported) == (2, 5, 0, 0)
    assert (found.cited_since, found.cited_gone, found.differences) == (0, 0, {})
    rankings = drawn_rankings(stored, pools)
    assert rankings == {"bm25": RANKINGS["bm25"]}
    # In p1, a was passed over for b.
    assert passed_over(stored, pools, rankings, advance=quietly) == 1
    assert passed_over(stored, pools, {}, advance=quietly) is None
    assert drawn_rankings(stored, {"p9": IMPORTED}) == {}


def test_what_is_drawn_otherwise_is_told_of_its_pool(stored: Workspace) -> None:
    pools = recorded(stored)
    with stored.writing() as session:
        hashes = read_rankings_sha256(session)
        other = replace(pools["p2"], entries=pools["p2"].entries[:1])
        replace_pools(session, [pools["p1"], other], rankings_sha256=hashes)
    write_pools(stored, [pools["p1"], other])
    assert replay(stored, advance=quietly).differences == {"p2": "1 documents on record, 2 drawn"}


def test_an_imported_pool_with_an_addition_is_replayed_from_what_it_was(stored: Workspace) -> None:
    added = replace(
        IMPORTED,
        topic_id="p3",
        methods=("judged", MANUAL),
        entries=(*IMPORTED.entries, PoolEntry("h", Draw(MANUAL, None, None, 2))),
        additions=(Addition(2, MANUAL, None, ("h",), "why", None, None),),
    )
    recorded(stored, added, IMPORTED)
    write_admissions(stored, {**ADMITTED, "p3": Admission((), (), None, {})})
    write_pools(stored, [*drawn().values(), added])
    found = replay(stored, advance=quietly)
    assert (found.pools, found.documents, found.added_to, found.imported) == (2, 5, 1, 2)
    assert found.differences == {}


def test_citations_that_came_and_went_are_counted_for_pools_that_draw_them(stored: Workspace) -> None:
    """p1 was drawn with a citation of d; p2 draws none."""
    recorded(stored)
    with PaperWriter(stored.corpus, name="a.parquet") as writer:
        for paper_id, cited in {"p1": ("n", "elsewhere"), "p2": ("m", "n"), "m": (), "n": ()}.items():
            writer.add(Paper(paper_id, paper_id, ("One.",), citations=cited))
    found = replay(stored, advance=quietly)
    assert (found.cited_since, found.cited_gone) == (1, 1)


def test_citations_that_changed_by_hand_stop_a_replay_and_no_report(stored: Workspace) -> None:
    pools = recorded(stored)
    rankings = drawn_rankings(stored, pools)
    path = stored.pools / FILE
    path.write_text(path.read_text().replace("\n", " \n"))
    assert passed_over(stored, pools, rankings, advance=quietly) == 1
    with pytest.raises(InputError, match="SHA-256"):
        replay(stored, advance=quietly)


def test_without_pools_there_is_nothing_to_draw_again(stored: Workspace) -> None:
    with pytest.raises(MissingInput, match="no pools"):
        recorded_pools(stored)


def test_rankings_of_another_corpus_do_not_stay_beside_new_ones(stored: Workspace) -> None:
    refuse_other_corpus(stored, {"corpus_sha256": "2" * 64}, corrected_only=False)
    recorded(stored)
    refuse_other_corpus(stored, {"corpus_sha256": "1" * 64}, corrected_only=False)
    with pytest.raises(InputError, match=r"\(SHA-256 222222222222, expected 111111111111\)"):
        refuse_other_corpus(stored, {"corpus_sha256": "2" * 64}, corrected_only=False)


def rows_of(*pairs: tuple[str, str]) -> ByColumn:
    return {"query": [query for query, _ in pairs], "document": [document for _, document in pairs]}


QUERIES = {"q1": Query("p1-method", "p1", "method", (0,)), "q7": Query("p7-method", "p7", "method", (0,))}


def test_what_was_judged_elsewhere_becomes_a_pool_in_the_order_of_the_file(stored: Workspace) -> None:
    rows = rows_of(("q7", "b"), ("q7", "a"), ("q7", "b"), ("q1", "x"))
    with stored.writing() as session:
        put_queries(session, QUERIES.values())
        assert put_judged_pools(session, rows, QUERIES, with_text={"p7"}) == 0
        assert list(read_pools(session)) == ["p7"]
        assert put_judged_pools(session, rows_of(("q7", "c"), ("q7", "a")), QUERIES, with_text={"p7"}) == 0
        made = read_pools(session)["p7"]
        assert read_rankings_sha256(session) == {"p7": "judged"}
    assert documents(made) == ["b", "a", "c"]
    assert (made.mode, made.per_method, made.methods, made.additions) == ("blocks", None, ("judged",), ())
    assert {entry.drawn for entry in made.entries} == {Draw("judged", None, None, None)}


def test_a_drawn_pool_stays_and_what_is_not_in_it_is_counted(stored: Workspace) -> None:
    pools = recorded(stored)
    rows = rows_of(("q1", "b"), ("q1", "n1"), ("q1", "n2"))
    with stored.writing() as session:
        put_queries(session, QUERIES.values())
        assert put_judged_pools(session, rows, QUERIES, with_text={"p1"}) == 2
        assert read_pools(session) == pools


@pytest.fixture
def bare(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, Settings())


def small_pool(paper_id: str, per_method: int) -> Pool:
    entry = PoolEntry("d", Draw("bm25", 1, 0.5, 1))
    return Pool(paper_id, "blocks", per_method, 50, 7, ("bm25",), (), (), None, (entry,))


def manifest(bare: Workspace) -> dict[str, Any]:
    return dict(json.loads((bare.pools / "manifest.json").read_text()))


def test_each_pool_has_a_file_and_those_of_other_pools_go(bare: Workspace) -> None:
    write_pools(bare, [small_pool("p1", 2), small_pool("10.1/x", 2)])
    assert sorted(path.name for path in bare.query_pools.iterdir()) == ["10.1%2Fx.jsonl", "p1.jsonl"]
    write_pools(bare, [small_pool("p1", 2)])
    assert [path.name for path in bare.query_pools.iterdir()] == ["p1.jsonl"]
    written = manifest(bare)
    assert written["files"] == {"queries/p1.jsonl": sha256_of(bare.query_pools / "p1.jsonl")}
    assert written["inputs"] == {}


def test_what_all_pools_have_in_common_is_said_once(bare: Workspace) -> None:
    write_pools(bare, [small_pool("p1", 2), small_pool("p2", 3), small_pool("p3", 2)])
    facts = manifest(bare)
    assert (facts["mode"], facts["ranking_depth"], facts["seed"]) == ("blocks", 50, 7)
    assert facts["per_method"] == [2, 3]


@pytest.mark.parametrize(
    ("recorded", "named"), [(["now"], "now"), (["now", "older"], "older"), (["b", "now", "a"], "a"), ([None], None)]
)
def test_pools_from_before_citations_were_added_name_the_older_manifest(
    bare: Workspace, recorded: list[str | None], named: str | None
) -> None:
    path = bare.corpus / CITATIONS
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    now = sha256_of(path)
    told = [now if one == "now" else one for one in recorded]
    write_admissions(bare, {f"p{at}": Admission((), (), one, {1: {}}) for at, one in enumerate(told)})
    write_pools(bare, [small_pool("p0", 2)])
    expected = now if named == "now" else named
    assert manifest(bare)["inputs"] == ({f"corpus/{CITATIONS}": expected} if expected else {})
    assert "admission.jsonl" in manifest(bare)["files"]


THREE_QUERIES = (
    Query("p1-method", "p1", "method", (0,)),
    Query("p1-result", "p1", "result", (1,)),
    Query("p2-method", "p2", "method", (0,)),
)


def pool(paper_id: str, doc_ids: str, *methods: str) -> Pool:
    entries = tuple(PoolEntry(doc, Draw("bm25", rank, 1.0, rank)) for rank, doc in enumerate(doc_ids, 1))
    return Pool(paper_id, "blocks", 2, 50, 1, methods or ("bm25",), (), (), None, entries)


def added(before: Pool, version: int, doc_id: str) -> Pool:
    addition = Addition(version, MANUAL, None, (doc_id,), "why", "ada", "2031")
    entry = PoolEntry(doc_id, Draw(MANUAL, None, None, len(before.entries) + 1))
    return replace(before, entries=(*before.entries, entry), additions=(*before.additions, addition))


def test_a_query_paper_is_named_by_itself_or_by_its_queries() -> None:
    assert topics_named(THREE_QUERIES, ["p1-result", "p2"]) == {"p1", "p2"}
    with pytest.raises(InputError, match="query 'p3': not in this study"):
        topics_named(THREE_QUERIES, ["p3"])
    # A query may have the name of another query's paper: the query is meant.
    assert topics_named([*THREE_QUERIES, Query("p1", "p9", "method", (0,))], ["p1"]) == {"p9"}


def test_a_change_is_what_comes_and_what_goes() -> None:
    assert changed_documents(pool("p1", "abc"), pool("p1", "dcb")) == (("d",), ("a",))
    assert changed_documents(None, pool("p2", "x")) == (("x",), ())
    assert queries_of(THREE_QUERIES, "p1") == ("p1-method", "p1-result")


@pytest.fixture
def study(stored: Workspace) -> Workspace:
    with stored.writing() as session:
        put_queries(session, THREE_QUERIES)
        put_assessors(session, [Assessor("a1", None, False)])
        pools.replace_pools(session, [pool("p1", "ab"), pool("p2", "c")], rankings_sha256={"p1": "old1", "p2": "old2"})
    return stored


def sent(ws: Workspace) -> None:
    with ws.writing() as session:
        made = open_project(session, round="judge", assessor="a1", server="s", url="u", version="1", account_id=1)
        record_tasks(session, made.project, {PairKey("p1-method", "a"): 1})


def judged(ws: Workspace) -> None:
    with ws.writing() as session:
        said = SourcedJudgement(Judgement("p1-method", "a", "a1", 1), "file", "", {})
        JUDGEMENTS.record(session, [said], recorded_at="2031")


def test_a_study_that_was_sent_or_judged_grows_only_if_asked(study: Workspace) -> None:
    more = {"p1-result": 2, "p1-method": 1, "p2-method": 0}
    with study.reading() as session:
        refuse_growth(session, more, grow=False, judged=True)
    judged(study)
    with study.reading() as session:
        refuse_growth(session, more, grow=False)
        with pytest.raises(InputError, match="3 pairs would be added to a study that was judged"):
            refuse_growth(session, more, grow=False, judged=True)
    sent(study)
    with study.reading() as session:
        with pytest.raises(InputError, match="3 pairs would be added to a study that was sent") as error:
            refuse_growth(session, more, grow=False)
        assert error.value.faults == ("p1-method: 1 more", "p1-result: 2 more")
        refuse_growth(session, more, grow=True)
        refuse_growth(session, {"p1-method": 0}, grow=False)


def test_a_new_version_is_put_on_record_with_what_it_follows_from(study: Workspace) -> None:
    with study.reading() as session:
        current = pools.read_pools(session)
    rankings = {"bm25": {"p1": (ScoredDoc("a", 1.0), ScoredDoc("b", 0.5))}}
    after = {
        "p1": replace(added(current["p1"], 2, "x"), methods=(CITED, "bm25", MANUAL)),
        "p2": added(current["p2"], 2, "y"),
    }
    step._write(study, step._Drawn(after, True, rankings, {}, {}, None), whole=False, grow=False)
    with study.reading() as session:
        assert [entry.doc_id for entry in pools.read_pool(session, "p1").entries] == ["a", "b", "x"]
        hashes = pools.read_rankings_sha256(session)
    # Of p2 no ranking is known: its hash stays.
    assert hashes["p2"] == "old2"
    assert hashes["p1"] == rankings_sha256({"bm25": run_lines(rankings["bm25"], tag="bm25")}, "p1")
    assert sorted(path.name for path in study.query_pools.iterdir()) == ["p1.jsonl", "p2.jsonl"]
    sent(study)
    more = step._Drawn({"p2": added(after["p2"], 3, "z")}, True, {}, {}, {}, None)
    with pytest.raises(InputError, match="1 pair would be added to a study that was sent"):
        step._write(study, more, whole=False, grow=False)
