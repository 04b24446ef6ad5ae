"""Time of a backup that the program takes by itself: `python benchmarks/backups.py [--pairs 6244]`.

The study is made of rows alone: 104 pairs a query, each judged by two people of six, and a tenth adjudicated.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from annot.base.records import Adjudication, Assessor, Assignment, Draw, Judgement, PairKey, Pool, PoolEntry, Query
from annot.judging.plan_on_record import record_plan, write_plan
from annot.labelstudio.studio_records import write_result
from annot.steps.setup import init
from annot.store import people, pools, projects
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.database import open_store
from annot.study.backups import keep_backup
from annot.study.workspace import Workspace
from command import Command

PEOPLE = tuple(f"a{at}" for at in range(1, 7))
PER_QUERY = 104
URL = "http://127.0.0.1:8080"
NOW = "2031-03-14T10:00:00+00:00"


def make(ws: Workspace, pairs: int) -> None:
    """Fill the study."""
    papers = [f"p{at}" for at in range(pairs // PER_QUERY)]
    pairs_of = {paper: [f"d{at}-{paper}" for at in range(PER_QUERY)] for paper in papers}
    with open_store(ws.database_url) as store, store.begin() as session:
        pools.put_queries(session, [Query(f"{paper}-method", paper, "method", (2, 3)) for paper in papers])
        people.put_assessors(session, [Assessor(name, f"{name}@example.org", False) for name in (*PEOPLE, "j1")])
        made = [
            Pool(
                paper, "round-robin", 13, 500, 13, ("m", "n"), (), (), 0,
                tuple(PoolEntry(doc, Draw("m", at, 1 / at, at), (Draw("n", at, 0.5, None),)) for at, doc in
                      enumerate(pairs_of[paper], 1)),
            )
            for paper in papers
        ]  # fmt: skip
        pools.replace_pools(session, made, rankings_sha256=dict.fromkeys(papers, "0" * 64))
        asked = [
            (f"{paper}-method", doc, PEOPLE[(at + more) % len(PEOPLE)])
            for at, paper in enumerate(papers)
            for doc in pairs_of[paper]
            for more in (0, 1)
        ]
        positions = dict.fromkeys(PEOPLE, 0)
        plan = []
        for query_id, doc_id, name in asked:
            positions[name] += 1
            plan.append(Assignment(query_id, doc_id, name, positions[name]))
        record_plan(ws, session, plan, per_pair=2)
        for name in PEOPLE:
            project = projects.open_project(
                session, round="judge", assessor=name, server="one", url=URL, version="1.23.2", account_id=None
            )
            projects.set_remote_project(session, project.project, 100 + PEOPLE.index(name), created=NOW)
            own = [PairKey(one.query_id, one.doc_id) for one in plan if one.assessor == name]
            projects.record_tasks(session, project.project, {one: at for at, one in enumerate(own, 1)})
        judged = [
            SourcedJudgement(
                Judgement(one.query_id, one.doc_id, one.assessor, at % 4, judged_at=NOW, lead_time=21.5),
                "label-studio",
                str(at),
                {
                    **{"id": at, "completed_by": 7, "created_at": NOW, "updated_at": NOW, "lead_time": 21.5},
                    **{"was_cancelled": False, "ground_truth": False, "project": 101, "task": at, "last_action": None},
                    "result": write_result({}, grade=at % 4),
                },
                server="one",
                account=7,
                changed_at=NOW,
            )
            for at, one in enumerate(plan, 1)
        ]
        JUDGEMENTS.record(session, judged, recorded_at=NOW)
        settled = [
            SourcedAdjudication(
                Adjudication(*one.pair, "j1", 1, "shown", ("a1", "a2"), judged_at=NOW), "label-studio", str(at), {}
            )
            for at, one in enumerate(plan[::20])
        ]
        ADJUDICATIONS.record(session, settled, recorded_at=NOW)
    write_plan(ws, plan)


COMMAND = Command(
    __doc__, options={"pairs": 6244}, smallest="--pairs 208", seconds=lambda options: 1 + 0.0006 * options.pairs
)


def main() -> None:
    pairs = COMMAND.read().pairs
    with tempfile.TemporaryDirectory() as folder:
        init(Path(folder), name="large", dry_run=False)
        ws = Workspace.open(Path(folder))
        make(ws, pairs)
        for what in ("the first", "the same again"):
            began = time.monotonic()
            path = keep_backup(ws, "after push")
            seconds = time.monotonic() - began
            size = f"{path.stat().st_size / 1e6:.1f} MB" if path else "nothing written"
            print(f"{pairs} pairs, {what}: {seconds:.1f} s, {size}")


if __name__ == "__main__":
    main()
