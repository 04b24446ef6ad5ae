"""Time `annot push` and `annot pull` of a large study against the bare import and export of the same tasks.

    python benchmarks/sync.py FOLDER [--queries 50] [--documents 125] [--people 8]

Makes a study of made-up abstracts in FOLDER with a local Label Studio: every pair for two of the assessors. Bare
import: the tasks of all projects, in batches of 1,000, into one project. Bare export: the JSON export of every project,
parsed. All are timed on one server, in turns, as it grows slower with what it holds; the second pull goes into the
database as it was before the first. Answers are tasks imported with an annotation, in place of the first copies. Prints
for each step its seconds, processor seconds of this process and of the server, and the number of requests.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import httpx
from annot.base.records import Draw, Pool, PoolEntry
from annot.judging.exchange.outgoing import OutgoingProject
from annot.judging.exchange.servers import studio_folder
from annot.judging.rounds import judging
from annot.labelstudio import server
from annot.labelstudio.studio_records import write_result
from annot.steps import corpus, exchange, facets, people, plan, query, setup
from annot.steps.setup import init
from annot.store.database import open_store
from annot.store.pools import replace_pools
from annot.store.projects import read_projects
from annot.study.workspace import Workspace
from command import Command

PEOPLE = tuple(f"a{number}" for number in range(1, 9))
LABELS = ("background", "objective", "method", "method", "result", "result", "other")
WORDS = ("query", "document", "grade", "corpus", "measure", "people", "often", "rather", "because", "every", "small")
TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Seconds of a step, processor seconds of this process and of the server, and requests."""

    wall: float
    ours: float
    server: float
    requests: int


COMMAND = Command(
    __doc__,
    paths=("folder",),
    options={"queries": 50, "documents": 125, "people": 8},
    smallest="FOLDER --queries 2 --documents 4 --people 2",
    seconds=lambda options: 40 + 0.12 * options.queries * options.documents,
)


def main() -> None:
    options = COMMAND.read()
    ws = planned(options.folder, options.queries, options.documents, PEOPLE[: options.people])
    database, before = options.folder / "annot.db", options.folder / "before-pull.db"
    parcels = judging.outgoing_of(ws)
    screen, tasks = parcels[0].form.label_config, [task for parcel in parcels for task in parcel.tasks.values()]
    meter = Meter(ws)
    meter.time("bare import", lambda: bare_import(ws, screen, tasks))
    meter.time("push", lambda: exchange.push(ws, round="judging", dry_run=False, advance=quietly))
    meter.time("bare import", lambda: bare_import(ws, screen, tasks))
    meter.time("push, all there", lambda: exchange.push(ws, round="judging", dry_run=False, advance=quietly))
    answer(ws, parcels)
    with closing(sqlite3.connect(database)) as now, closing(sqlite3.connect(before)) as copy:
        now.backup(copy)
    for _ in range(2):
        meter.time("bare export", lambda: bare_export(ws))
        with closing(sqlite3.connect(database)) as now, closing(sqlite3.connect(before)) as copy:
            copy.backup(now)
        meter.time("pull", lambda: exchange.pull(ws, round="judging", advance=quietly))
    meter.time("pull, none new", lambda: exchange.pull(ws, round="judging", advance=quietly))
    setup.down(ws)
    print(f"{len(tasks)} tasks")
    for one, two in (("push", "bare import"), ("push, all there", "bare import"), ("pull", "bare export")):
        print(f"{one}: {meter.ratio(one, two)} the {two}")


class Meter:
    """Times steps and prints what they took."""

    def __init__(self, ws: Workspace) -> None:
        running = server.status(studio_folder(ws))
        assert running is not None
        self._pid, self._costs = running.pid, defaultdict[str, list[Cost]](list)
        self._requests = itertools.count()
        log = logging.getLogger("httpx")
        log.setLevel(logging.INFO)
        log.addFilter(lambda record: next(self._requests) < 0)
        print(f"{'':16} {'s':>7} {'ours':>7} {'server':>7} requests")

    def time(self, name: str, step: Callable[[], object]) -> None:
        """Do it."""
        before = self._now()
        step()
        now = self._now()
        cost = Cost(
            now.wall - before.wall, now.ours - before.ours, now.server - before.server, now.requests - before.requests
        )
        self._costs[name].append(cost)
        print(f"{name:16} {cost.wall:7.1f} {cost.ours:7.1f} {cost.server:7.1f} {cost.requests - 1:8}", flush=True)

    def ratio(self, one: str, two: str) -> str:
        """In seconds, and in processor seconds: what else the machine does changes those less."""
        walls = (fmean(cost.wall for cost in self._costs[name]) for name in (one, two))
        used = (fmean(cost.ours + cost.server for cost in self._costs[name]) for name in (one, two))
        return (
            f"{next(walls) / next(walls):.2f} times the time and {next(used) / next(used):.2f} times the processor of"
        )

    def _now(self) -> Cost:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / TICKS
        return Cost(time.perf_counter(), time.process_time(), used, next(self._requests))


def planned(folder: Path, queries: int, documents: int, names: Sequence[str]) -> Workspace:
    """A study ready to be sent."""
    init(folder, name="sync", dry_run=False)
    ws = Workspace.open(folder)
    rng = random.Random(1)
    papers = folder / "papers.jsonl"
    papers.write_text("".join(json.dumps(paper(f"p{at}", rng)) + "\n" for at in range(queries + 4 * documents)))
    corpus.add(ws, [str(papers)], form=None, dry_run=False, advance=quietly)
    facets.label(ws, model=None, dry_run=False, advance=quietly)
    drawn = []
    for at in range(queries):
        query.add(ws, f"p{at}", facet="method", sentences=None, dry_run=False)
        chosen = rng.sample(range(queries, queries + 4 * documents), documents)
        entries = tuple(
            PoolEntry(f"p{doc}", Draw("abs_tfidf", rank, 1 / rank, rank), ()) for rank, doc in enumerate(chosen, 1)
        )
        drawn.append(Pool(f"p{at}", "blocks", documents, documents, 1, ("abs_tfidf",), (), (), None, entries))
    with open_store(ws.database_url) as store, store.begin() as session:
        replace_pools(session, drawn, rankings_sha256={pool.topic_id: "made up" for pool in drawn})
    setup.up(ws, port=None, tell=print)
    for name in names:
        address = f"{name}@example.org"
        people.add(ws, name, account=address, adjudicator=False, dry_run=False)
    plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)
    return ws


def paper(paper_id: str, rng: random.Random) -> dict[str, object]:
    sentences = [" ".join(rng.choice(WORDS) for _ in range(26)).capitalize() + "." for _ in LABELS]
    title = " ".join(rng.choice(WORDS) for _ in range(10))
    return {"paper_id": paper_id, "title": title, "abstract": sentences, "labels": LABELS, "year": 2020}


def bare_import(ws: Workspace, screen: str, tasks: list[dict[str, Any]]) -> None:
    with client(ws) as http:
        project = http.post("/api/projects/", json={"title": "bare", "label_config": screen}).json()["id"]
        send(http, project, tasks)


def send(http: httpx.Client, project: int, tasks: list[dict[str, Any]]) -> None:
    for start in range(0, len(tasks), 1000):
        http.post(f"/api/projects/{project}/import", json=tasks[start : start + 1000]).raise_for_status()


def bare_export(ws: Workspace) -> None:
    with client(ws) as http:
        for project in projects(ws):
            json.loads(http.get(f"/api/projects/{project}/export", params={"exportType": "JSON"}).content)


def answer(ws: Workspace, parcels: Sequence[OutgoingProject]) -> None:
    sent = {parcel.assessor: [*parcel.tasks.values()] for parcel in parcels}
    with client(ws) as http:
        accounts = {user["email"]: user["id"] for user in http.get("/api/users").json()}
        for project, name in zip(projects(ws), sent, strict=True):
            listed = http.get("/api/tasks", params={"project": project, "page_size": 100_000}).json()
            account = accounts[f"{name}@example.org"]
            answers = []
            for number, task in enumerate(sent[name]):
                given = {"result": write_result(task, grade=number % 4), "completed_by": account, "lead_time": 9.0}
                answers.append({**task, "annotations": [{**given, "ground_truth": False}]})
            send(http, project, answers)
            first = {"all": False, "included": [task["id"] for task in listed["tasks"]]}
            http.post(
                "/api/dm/actions", params={"id": "delete_tasks", "project": project}, json={"selectedItems": first}
            ).raise_for_status()


def projects(ws: Workspace) -> list[int]:
    with open_store(ws.database_url) as store, store.read() as session:
        return [project.remote_id for project in read_projects(session) if project.remote_id is not None]


@contextmanager
def client(ws: Workspace) -> Iterator[httpx.Client]:
    folder = studio_folder(ws)
    running = server.status(folder)
    assert running is not None
    headers = {"Authorization": f"Token {server.credentials(folder).token}"}
    with httpx.Client(base_url=running.url, headers=headers, timeout=600, trust_env=False) as http:
        yield http


def quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""


if __name__ == "__main__":
    main()
