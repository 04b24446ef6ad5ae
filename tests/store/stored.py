"""Records that the tests of the store write: queries, people, a pool, a judgement and a plan."""

from annot.base.records import Assessor, Draw, Judgement, Pool, PoolEntry, Query
from annot.store import pools
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import Store
from annot.store.models import Plan

NOW = "2024-05-01T12:00:00Z"
PLAN = Plan("abc", 13, NOW)
QUERIES = (
    Query("p1-background", "p1", "background", (0, 1)),
    Query("p1-method", "p1", "method", (2,)),
    Query("p2-method", "p2", "method", (1, 3)),
)
PEOPLE = (
    Assessor("a1", "one@example.org", False),
    Assessor("a2", "two@example.org", False),
    Assessor("z1", None, True),
)


def pool(paper_id: str, *doc_ids: str) -> Pool:
    entries = tuple(
        PoolEntry(
            doc_id,
            Draw("cited" if turn == 1 else "abs_tfidf", turn, None if turn == 1 else 0.1 / turn, turn),
            (Draw("title_tfidf", 7, 0.333333, None), Draw("abs_cbow200", 12, -1.5, None)),
        )
        for turn, doc_id in enumerate(doc_ids, 1)
    )
    return Pool(
        topic_id=paper_id,
        mode="round-robin",
        per_method=3,
        ranking_depth=500,
        seed=2**40,
        methods=("cited", "abs_tfidf"),
        without=("specter",),
        dry=("abs_tfidf",),
        cited_outside=4,
        entries=entries,
    )


def write_pools(store: Store, *drawn: Pool, sha256: str = "r1") -> None:
    with store.begin() as session:
        pools.replace_pools(session, drawn, rankings_sha256={one.topic_id: sha256 for one in drawn})


def judge(store: Store, query_id: str, doc_id: str, assessor: str = "a1") -> None:
    with store.begin() as session:
        one = SourcedJudgement(Judgement(query_id, doc_id, assessor, 1), "label-studio", "1", {})
        JUDGEMENTS.record(session, [one], recorded_at=NOW)
