"""Time `annot push` and `annot pull` of a large study against the bare import and export of the same tasks.

    python benchmarks/sync.py FOLDER [--queries 50] [--documents 125]

Makes a study of made-up abstracts in FOLDER, with a local Label Studio of its own: every pair for two of eight
assessors. Bare import: the tasks of all projects, in batches of 1,000, each batch one `POST import` into one project.
Bare export: the JSON export of every project, parsed. Both are timed in the same run and on the same server, the bare
import first and last, as the server grows slower with what it holds. Prints seconds and ratios.

Answers are given as people give them, one request each, by eight accounts at once; at 6,250 pairs that takes minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
from annot.exchange.connection import connect, open_accounts, studio_folder
from annot.labelstudio import server
from annot.labelstudio.annotations import write_result
from annot.labelstudio.gateway import Gateway
from annot.records import Draw, Pool, PoolEntry
from annot.steps import assessor, corpus, facets, plan, pull, push, query, studio
from annot.steps.init import init
from annot.store.database import open_store
from annot.store.pools import replace_pools
from annot.store.projects import read_projects
from annot.study.workspace import Workspace

PEOPLE = tuple(f"a{number}" for number in range(1, 9))
LABELS = ("background", "objective", "method", "method", "result", "result", "other")
WORDS = ("query", "document", "grade", "corpus", "measure", "people", "often", "rather", "because", "every", "small")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--documents", type=int, default=125)
    options = parser.parse_args()
    ws = planned(options.folder, options.queries, options.documents)
    tasks = [task for parcel in parcels(ws) for task in parcel]
    with connect(ws, url=None, api_key=None) as gateway:
        bare = [timed(lambda: bare_import(ws, gateway.url, tasks))]
        pushed = timed(lambda: push.push(ws, url=None, api_key=None, dry_run=False, advance=quietly))
        bare.append(timed(lambda: bare_import(ws, gateway.url, tasks)))
        again = timed(lambda: push.push(ws, url=None, api_key=None, dry_run=False, advance=quietly))
        answer(ws, gateway)
        pulled = timed(lambda: pull.pull(ws, url=None, api_key=None, advance=quietly))
        exported = timed(lambda: bare_export(ws, gateway.url))
        nothing_new = timed(lambda: pull.pull(ws, url=None, api_key=None, advance=quietly))
    studio.down(ws)
    least = min(bare)
    print(f"{len(tasks)} tasks")
    print(f"bare import      {bare[0]:7.1f} s, then {bare[1]:.1f} s")
    print(f"push             {pushed:7.1f} s = {pushed / least:.2f} of the bare import")
    print(f"push, all there  {again:7.1f} s = {again / least:.2f}")
    print(f"bare export      {exported:7.1f} s")
    print(f"pull, all new    {pulled:7.1f} s = {pulled / exported:.2f} of the bare export")
    print(f"pull, none new   {nothing_new:7.1f} s = {nothing_new / exported:.2f}")


def planned(folder: Path, queries: int, documents: int) -> Workspace:
    """A study ready to be sent."""
    init(folder, name="sync", dry_run=False)
    ws = Workspace.open(folder)
    rng = random.Random(1)
    papers = folder / "papers.jsonl"
    papers.write_text("".join(json.dumps(paper(f"p{at}", rng)) + "\n" for at in range(queries + 4 * documents)))
    corpus.add(ws, [papers], dry_run=False, advance=quietly)
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
        replace_pools(session, drawn, rankings_sha256={pool.paper_id: "made up" for pool in drawn})
    studio.up(ws, port=None, tell=print)
    for name in PEOPLE:
        address = f"{name}@example.org"
        assessor.add(ws, name, account=address, adjudicator=False, url=None, api_key=None, dry_run=False)
    plan.make(ws, queries=(), dry_run=False)
    return ws


def paper(paper_id: str, rng: random.Random) -> dict[str, object]:
    sentences = [" ".join(rng.choice(WORDS) for _ in range(26)).capitalize() + "." for _ in LABELS]
    title = " ".join(rng.choice(WORDS) for _ in range(10))
    return {"paper_id": paper_id, "title": title, "abstract": sentences, "labels": LABELS, "year": 2020}


def parcels(ws: Workspace) -> Iterator[list[dict]]:
    with open_store(ws.database_url) as store:
        for parcel in push.parcels_of(ws, store):
            yield list(parcel.tasks.values())


def bare_import(ws: Workspace, url: str, tasks: list[dict]) -> None:
    with client(ws, url) as http:
        project = http.post("/api/projects/", json={"title": "bare", "label_config": screen(ws)}).json()["id"]
        for start in range(0, len(tasks), 1000):
            http.post(f"/api/projects/{project}/import", json=tasks[start : start + 1000]).raise_for_status()


def bare_export(ws: Workspace, url: str) -> None:
    with client(ws, url) as http:
        for project in projects(ws):
            json.loads(http.get(f"/api/projects/{project}/export", params={"exportType": "JSON"}).content)


def answer(ws: Workspace, gateway: Gateway) -> None:
    tokens = open_accounts(ws, gateway, [f"{name}@example.org" for name in PEOPLE])

    def one_person(project: int, token: str) -> None:
        with Gateway(gateway.url, token) as own:
            for task in own.tasks_of(project):
                own.annotate(task.task_id, write_result({}, grade=task.task_id % 4), lead_time=9.0)

    with ThreadPoolExecutor() as pool:
        list(pool.map(one_person, projects(ws), tokens))


def projects(ws: Workspace) -> list[int]:
    with open_store(ws.database_url) as store, store.read() as session:
        return [project.remote_id for project in read_projects(session) if project.remote_id is not None]


def screen(ws: Workspace) -> str:
    with open_store(ws.database_url) as store:
        return push.parcels_of(ws, store)[0].label_config


@contextmanager
def client(ws: Workspace, url: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Token {server.credentials(studio_folder(ws)).token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=300, trust_env=False) as http:
        yield http


def timed(what: Callable[[], object]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""


if __name__ == "__main__":
    main()
