"""A small study of which a sample is judged: pools of sixty documents, grades that follow from them, and two runs."""

from collections.abc import Callable
from pathlib import Path

from annot.base.records import Draw, Judgement, Pool, PoolEntry, Qrel, ScoredDoc
from annot.base.stats.inference import generator
from annot.formats.trec import write_run
from annot.steps import plan, qrels
from annot.store import people, pools
from annot.store.answers import JUDGEMENTS
from annot.study.workspace import Workspace, write_file
from small_study import QUERIES, RECORDED, Small, sourced
from study_stages import copied

N = 60
DOCUMENTS = tuple(f"d{at:02}" for at in range(N))


def pool_of(topic_id: str) -> Pool:
    """Sixty documents that two methods ranked, in opposite orders from the tenth on."""
    entries = [
        PoolEntry(
            doc_id,
            Draw("abs_tfidf", at + 1, 1.0 / (at + 1), at + 1),
            (Draw("title_tfidf", at + 1 if at < 10 else N - at + 10, 0.5, None),),
        )
        for at, doc_id in enumerate(DOCUMENTS)
    ]
    return Pool(topic_id, "round-robin", 30, 60, 1, ("abs_tfidf", "title_tfidf"), (), (), None, tuple(entries))


def grade_of(query_id: str, doc_id: str) -> int:
    """What everybody says of the pair: higher grades are more frequent at the top, and every grade is everywhere."""
    at = int(doc_id[1:])
    return int(generator(7, query_id, doc_id).binomial(3, 0.75 if at < 10 else 0.3))


WHOLE = tuple(
    Qrel(query.query_id, doc_id, grade_of(query.query_id, doc_id)) for query in QUERIES for doc_id in DOCUMENTS
)
"""What the judging of all pairs would find."""


def rankings() -> dict[str, dict[str, tuple[ScoredDoc, ...]]]:
    """`forward` has the documents in their order, `backward` in the other."""
    orders = {"forward": DOCUMENTS, "backward": DOCUMENTS[::-1]}
    return {
        tag: {query.query_id: tuple(ScoredDoc(doc, float(-at)) for at, doc in enumerate(order)) for query in QUERIES}
        for tag, order in orders.items()
    }


class Pooled(Small):
    """The small study with these pools, in which nothing is planned."""

    def planned(self, ws: Workspace) -> None:
        super().planned(ws)
        plan.withdraw(ws, queries=(), sent=False, dry_run=False)
        with ws.writing() as session:
            drawn = [pool_of(query.topic_id) for query in QUERIES]
            pools.replace_pools(session, drawn, rankings_sha256={pool.topic_id: "abc" for pool in drawn})


def pooled(folder: Path) -> Workspace:
    """Nothing is planned; there are the people a1 and a2."""
    return copied(Pooled(), "planned", folder / "study").replaced("judging", repeats=0.0)


def alike(assessor: str, query_id: str, doc_id: str) -> int:
    """What an assessor says, where all say the same."""
    return grade_of(query_id, doc_id)


def judged(
    ws: Workspace,
    *,
    share: float | None,
    leave: int = 0,
    says: Callable[[str, str, str], int] = alike,
    only_new: bool = False,
) -> Workspace:
    """Of the pairs that are drawn all but the last `leave` are judged by both, alike; qrels and runs are written.

    share, only_new: as of `annot plan`, where None is no sample. says: what an assessor says of a pair.
    """
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False, sample=share, only_new=only_new)
    with ws.writing() as session:
        given = people.read_assignments(session)
        pairs = sorted({one.pair for one in given})
        asked = [one for one in given if one.pair in set(pairs[: len(pairs) - leave])]
        said = [
            Judgement(*one.pair, one.assessor, says(one.assessor, *one.pair), judged_at=RECORDED, lead_time=30.0)
            for one in asked
        ]
        JUDGEMENTS.record(session, sourced(said), recorded_at=RECORDED)
    qrels.write(ws, partial=bool(leave) or says is not alike)
    for tag, run in rankings().items():
        write_file(ws.runs / f"{tag}.run", write_run(run, tag=tag))
    return ws
