"""A small study, written into the store as the steps would have: no ranking, no Label Studio, no clock."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from annot.base.records import (
    Adjudication,
    Assessor,
    Assignment,
    Draw,
    Judgement,
    PairKey,
    Paper,
    Pool,
    PoolEntry,
    Query,
    ScoredDoc,
)
from annot.base.stats.inference import generator
from annot.corpus.corpus_facts import write_corpus_manifest
from annot.formats.trec import write_run
from annot.judging.plan_on_record import plan_sha256, write_plan
from annot.pools.drawn_pools import write_pools
from annot.steps.setup import init
from annot.store import facet_labels, people, pools, projects
from annot.store import pools as stored_queries
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.models import Plan, Project, StoredRound
from annot.store.papers import PaperWriter
from annot.study.workspace import SETTINGS_FILE, Workspace, write_file
from study_answers import Answers
from study_stages import Recipe, advance, kept

NOW = datetime(2031, 3, 14, 18, 0, tzinfo=UTC)


def query_of(paper_id: str) -> Query:
    return Query(f"{paper_id}-method", paper_id, "method", (1,))


QUERIES = tuple(query_of(f"p{at}") for at in range(1, 5))
DOCUMENTS = tuple(f"d{at:02}" for at in range(10))
LABELS = ("background", "method", "result")
RECORDED = "2031-03-14T18:00:00+00:00"


@dataclass(frozen=True)
class FirstPairs:
    """The first so many pairs of each assessor's forty are judged, one query in each of the last days.

    They differ by one grade on the last two documents of each query; j1 has settled those of the first query.
    """

    pairs: int

    def judged(self, ws: Workspace) -> None:
        with ws.writing() as session:
            plan = people.read_assignments(session)
            given = [judgement(one) for one in plan if one.position <= self.pairs]
            JUDGEMENTS.record(session, sourced(given), recorded_at=RECORDED)

    def settled(self, ws: Workspace) -> None:
        settled = [
            Adjudication(
                QUERIES[0].query_id, doc_id, "j1", 3, "shown", ("a2", "a1"), reason="the facet was misread",
                judged_at="2031-03-14T12:00:00+00:00", lead_time=90.0,
            )
            for doc_id in DOCUMENTS[-2:]
            if self.pairs >= 10
        ]  # fmt: skip
        decided = [SourcedAdjudication(one, "label-studio", "7", {}) for one in settled]
        with ws.writing() as session:
            ADJUDICATIONS.record(session, decided, recorded_at=RECORDED)


@dataclass(frozen=True)
class Small(Recipe):
    """Queries of ten documents for a1 and a2, who judge one query a day, 30 and 60 seconds a pair."""

    queries: Sequence[tuple[str, Sequence[str]]] = tuple((query.topic_id, ("method",)) for query in QUERIES)
    people: Sequence[tuple[str, str]] = (
        ("a1", "ann@example.org"),
        ("a2", "bob@example.org"),
        ("j1", "joe@example.org"),
    )
    answers: Answers = FirstPairs(0)

    USED_FROM: ClassVar[Mapping[str, str]] = {**Recipe.USED_FROM, "queries": "labelled"}
    """Its corpus is the papers of its queries and their documents."""

    @property
    def asked(self) -> list[Query]:
        return [query_of(paper_id) for paper_id, _ in self.queries]

    def made(self, folder: Path) -> None:
        init(folder, name="small", dry_run=False)

    def labelled(self, ws: Workspace) -> None:
        ids = [*(query.topic_id for query in self.asked), *DOCUMENTS, "d99"]
        with PaperWriter(ws.corpus) as writer:
            for name in ids:
                text = (f"Why {name}.", f"How {name}.", f"What {name}.")
                writer.add(Paper(name, f"Title of {name}", text, 2001, LABELS))
        write_corpus_manifest(ws)
        with ws.writing() as session:
            facet_labels.replace_labels(session, [facet_labels.FacetLabels(name, LABELS, "carried") for name in ids])

    def queried(self, ws: Workspace) -> None:
        with ws.writing() as session:
            stored_queries.put_queries(session, self.asked)

    def pooled(self, ws: Workspace) -> None:
        drawn = [pool_of(query.topic_id) for query in self.asked]
        with ws.writing() as session:
            pools.replace_pools(session, drawn, rankings_sha256={pool.topic_id: "abc" for pool in drawn})
        write_pools(ws, drawn)

    def planned(self, ws: Workspace) -> None:
        plan = self.plan()
        with ws.writing() as session:
            people.put_assessors(session, [Assessor(name, account, name == "j1") for name, account in self.people])
            people.replace_plan(session, plan, plan=Plan(plan_sha256(plan), 13, RECORDED, 2))
        write_plan(ws, plan)

    def plan(self) -> list[Assignment]:
        return [
            Assignment(query.query_id, doc_id, who, 10 * at + place)
            for who in ("a1", "a2")
            for at, query in enumerate(self.asked)
            for place, doc_id in enumerate(DOCUMENTS, start=1)
        ]


def build(ws: Workspace, *, judged: int) -> None:
    """Four queries in a new study, whose first so many pairs are judged; its settings stay as they are."""
    recipe = Small(answers=FirstPairs(judged))
    if ws.database_url.startswith("sqlite"):
        without = shutil.ignore_patterns(SETTINGS_FILE)
        shutil.copytree(kept(recipe, "settled"), ws.root, ignore=without, dirs_exist_ok=True)
    else:
        init(ws.root, name=None, dry_run=False)
        advance(recipe, ws.root, after="made", to="settled")


def judgement(one: Assignment) -> Judgement:
    """Grades 0 to 3 in turn; a2 is one grade above a1 on the last two documents of a query, where a1 gives 0 and 1."""
    at = int(one.doc_id[1:])
    query = int(one.query_id[1])
    grade = (at + query) % 4 if at < 8 else at - 8 + (one.assessor == "a2")
    moment = NOW - timedelta(days=4 - query, hours=6, minutes=-at)
    rng = generator(1, one.query_id, one.doc_id, one.assessor)
    seconds = (30 if one.assessor == "a1" else 60) * float(rng.uniform(0.8, 1.2))
    return Judgement(
        one.query_id, one.doc_id, one.assessor, grade, judged_at=moment.isoformat(), lead_time=round(seconds, 1)
    )


def sourced(given: Iterable[Judgement]) -> list[SourcedJudgement]:
    return [
        SourcedJudgement(one, "label-studio", f"{one.assessor[1]}{one.doc_id[1:]}", json.loads("{}")) for one in given
    ]


def pool_of(paper_id: str) -> Pool:
    """The even documents by title_tfidf, the odd by abs_tfidf, which also has every even one a rank further down."""
    entries = []
    for at, doc_id in enumerate(DOCUMENTS):
        method = ("title_tfidf", "abs_tfidf")[at % 2]
        drawn = Draw(method, at // 2 + 1, 0.9 - at / 100, at + 1)
        also = () if at % 2 else (Draw("abs_tfidf", at + 2, 0.5 - at / 100, None),)
        entries.append(PoolEntry(doc_id, drawn, also))
    return Pool(paper_id, "round-robin", 5, 50, 13, ("title_tfidf", "abs_tfidf"), (), (), None, tuple(entries))


def write_runs(ws: Workspace) -> None:
    """A run that ranks the documents in their order, and one that leaves out d03; behind the pools, one with d99."""
    ranking = [ScoredDoc(doc_id, 1 - at / 10) for at, doc_id in enumerate(DOCUMENTS)]
    rankings = {query.query_id: ranking for query in QUERIES}
    write_file(ws.runs / "forward.run", write_run(rankings, tag="forward"))
    without = {name: [one for one in ranking if one.doc_id != "d03"] for name in rankings}
    write_file(ws.runs / "gappy.run", write_run(without, tag="gappy"))
    behind = {query.topic_id: [*ranking, ScoredDoc("d99", 0.01)] for query in QUERIES}
    write_file(ws.rankings / "title_tfidf.run", write_run(behind, tag="title_tfidf"))


def sent_to(
    ws: Workspace,
    name: str,
    *asked: PairKey,
    round: StoredRound = "judge",
    server: str = "here",
    url: str = "http://s",
    account: int | None = 1,
    remote: int | None = 7,
    created: str | None = None,
) -> Project:
    """The person's project as a push would have noted it down; what was asked is its tasks 1, 2, ..."""
    with ws.writing() as session:
        made = projects.open_project(
            session, round=round, assessor=name, server=server, url=url, version="1.23.2", account_id=account
        )
        if remote is not None:
            projects.set_remote_project(session, made.project, remote, created=created)
        projects.record_tasks(session, made.project, {one: at for at, one in enumerate(asked, start=1)})
        return next(one for one in projects.read_projects(session) if one.project == made.project)
