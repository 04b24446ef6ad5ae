"""Small studies on the tests' Label Studio: made of the demonstration's papers, copied, killed and read back.

What is on the server is read here over plain HTTP, not through the program's own gateway.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from annot.judging.exchange.servers import task_keys
from annot.labelstudio.accounts import make_accounts
from annot.labelstudio.gateway import deliver
from annot.labelstudio.studio_records import write_result
from annot.pools.pool_design import DesignOverrides
from annot.steps import people as assessors
from annot.steps import pool
from annot.store import projects as tasks_of_store
from annot.store.database import open_store
from annot.store.models import StoredRound
from annot.study.workspace import Workspace
from fixtures_studio import GUARD, PersonGateway, Studio
from study_answers import ByPlace
from study_stages import Recipe, copied, quietly

Pair = tuple[str, ...]

SETTINGS = """
[collection]
name = "story"
title = "A study of the tests"

[pool]
methods = ["title_tfidf", "abs_tfidf", "cited"]
{more}"""
QUERIES = (("fic0802", "background"), ("fic0903", "method"))
TOKENS: dict[tuple[Path, str], str] = {}
"""By server (its folder) and person: logging in costs the server half a second each time."""

PEOPLE = (("a1", False), ("a2", False), ("j1", True))


@dataclass(frozen=True)
class Study:
    """A workspace whose local server is the tests' one."""

    folder: Path
    studio: Studio

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.folder)

    @property
    def name(self) -> str:
        return self.workspace.settings.collection.name

    def copy(self, folder: Path, name: str) -> Study:
        """The same study as it is now, under another name: on the server it has nothing in common with this one."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Study(renamed(Workspace.open(folder), name).root, self.studio)

    def planned(self) -> dict[str, list[Pair]]:
        """The pairs of each assessor in their order, from the plan's file."""
        found: dict[str, list[Pair]] = {}
        for line in (self.folder / "pools" / "plan.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            found.setdefault(one["assessor"], []).append((one["query_id"], one["doc_id"]))
        return found

    def projects(self, round: StoredRound = "judge") -> dict[str, list[int]]:
        """The ids of each person's projects on the server, found by the marker in their description."""
        listed = self._get("/api/projects/", page_size="1000", include="id,description")["results"]
        sign = re.compile(rf"\[annot:{re.escape(self.name)}/{round}/([^]/]+)\]")
        found: dict[str, list[int]] = {}
        for project in listed:
            if mark := sign.search(project["description"] or ""):
                found.setdefault(mark[1], []).append(project["id"])
        return found

    def listed_projects(self) -> list[dict[str, Any]]:
        """Every project on the server, also those of other studies."""
        found: list[dict[str, Any]] = self._get("/api/projects/", page_size="1000")["results"]
        return found

    def on_server(self, name: str, round: StoredRound = "judge") -> list[dict[str, Any]]:
        """Every task of a person's project with its annotations, as the server exports them, by id, its key opened."""
        keys = task_keys(self.workspace)
        (project,) = self.projects(round)[name]
        tasks = self.as_exported(name, round)
        for task in tasks:
            task["data"]["pair_id"] = keys.opened(project, task["data"]["pair_id"])
        return tasks

    def as_exported(self, name: str, round: StoredRound = "judge") -> list[dict[str, Any]]:
        """Every task of a person's project with its annotations, as anybody with an account can export them, by id."""
        (project,) = self.projects(round)[name]
        tasks = self._get(f"/api/projects/{project}/export", exportType="JSON", download_all_tasks="true")
        return sorted(tasks, key=lambda task: int(task["id"]))

    def in_store(self, name: str, round: StoredRound = "judge") -> dict[str, int]:
        """The server's task of each pair as the store has it, by the key on the server."""
        with open_store(self.workspace.database_url) as store, store.read() as session:
            (project,) = [one for one in tasks_of_store.read_projects(session, round=round) if one.assessor == name]
            tasks = tasks_of_store.read_tasks(session, project.project)
        return {"/".join(asked.pair): task_id for asked, task_id in tasks.items()}

    def as_person(self, name: str) -> PersonGateway:
        """A gateway with the token of that person's own account."""
        key = (self.studio.folder, name)
        if key not in TOKENS:
            with self.studio.gateway() as gateway:
                (TOKENS[key],) = make_accounts(
                    self.studio.url,
                    {name: address_of(name)},
                    invitation=gateway.invitation,
                    passwords=self.studio.passwords,
                )
        return PersonGateway(self.studio.url, TOKENS[key])

    def judge(
        self,
        name: str,
        grades: Mapping[Pair, int | None],
        round: StoredRound = "judge",
        *,
        comment: str | None = None,
        settled_by: str | None = None,
    ) -> dict[Pair, int]:
        """The person gives these grades (None: cannot judge) on the server; the annotations' ids."""
        there = {task["data"]["pair_id"]: task["id"] for task in self.on_server(name, round)}

        def answer(pair: Pair, grade: int | None) -> int:
            reason = "outside my field" if grade is None else None
            result = write_result({}, grade=grade, cannot_judge=reason, comment=comment, settled_by=settled_by)
            return person.annotate(there["/".join(pair)], result, lead_time=4.0)

        with self.as_person(name) as person, ThreadPoolExecutor(max_workers=2) as pool:
            return dict(zip(grades, pool.map(answer, grades.keys(), grades.values()), strict=True))

    def answer(self, name: str, task_id: int, grade: int) -> int:
        """The person gives this grade on this task; the annotation's id."""
        with self.as_person(name) as person:
            return person.annotate(task_id, write_result({}, grade=grade), lead_time=4.0)

    def _get(self, path: str, **query: str) -> Any:
        headers = {"Authorization": f"Token {self.studio.token}"}
        with httpx.Client(base_url=self.studio.url, headers=headers, timeout=GUARD, trust_env=False) as http:
            answer = http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def address_of(name: str) -> str:
    return f"{name}@story.example.org"


def make_study(
    folder: Path, studio: Studio, *, name: str, per_method: int, more_settings: str = "", stage: str = "planned"
) -> Study:
    """Two queries of the demonstration's papers, pooled by tf-idf, planned for two assessors, nothing sent.

    stage: `settled` for answers that never were on the server (`study_answers.ByPlace`).
    """
    ws = ready(folder, name=name, per_method=per_method, more_settings=more_settings, stage=stage)
    ws.cache.mkdir(exist_ok=True)
    (ws.cache / "studio").symlink_to(studio.folder)
    # They are in the study; on the server they are not.
    add_people(ws, PEOPLE)
    return Study(folder, studio)


def ready(folder: Path, *, name: str, per_method: int, more_settings: str, stage: str = "planned") -> Workspace:
    """The same without a server."""
    recipe = Recipe(
        file=SETTINGS.format(more=more_settings),
        settings={},
        queries=[(paper_id, (facet,)) for paper_id, facet in QUERIES],
        frozen=False,
        per_method=per_method,
        people=[(name, address_of(name)) for name, _ in PEOPLE],
        answers=ByPlace(),
    )
    return renamed(copied(recipe, stage, folder), name)


def renamed(ws: Workspace, name: str) -> Workspace:
    """What is on a server under the old name is not this study's any more."""
    text = ws.settings_file.read_text(encoding="utf-8")
    was = f'name = "{ws.settings.collection.name}"'
    ws.settings_file.write_text(text.replace(was, f'name = "{name}"'), encoding="utf-8")
    return Workspace.open(ws.root)


def draw_pools(ws: Workspace, *, per_method: int, mode: str | None = None, grow: bool = False) -> pool.BuiltPools:
    overrides = DesignOverrides(mode=mode, per_method=per_method)
    return pool.build(ws, overrides=overrides, redraw=False, frozen=False, grow=grow, dry_run=False, advance=quietly)


def add_people(ws: Workspace, named: Iterable[tuple[str, bool]]) -> None:
    for name, adjudicator in named:
        assessors.add(ws, name, account=address_of(name), adjudicator=adjudicator, dry_run=False)


# -- commands in a process of their own, which can be killed -----------------------------------------------------------

WARM = ("annot.cli.main", "annot.steps.exchange", "annot.steps.exchange", "label_studio_sdk")
"""Loaded once; each command's process is forked from there, so that a kill falls into the work and not the start."""


def command(arguments: Sequence[str], *, batch_size: int, kill_after: float | None) -> tuple[float, int]:
    """Run `annot ARGUMENTS` in a process of its own, killed with SIGKILL after so many seconds of work.

    Returns the seconds it ran and its exit code (-9 where it was killed). Tasks are sent `batch_size` at a time.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(WARM))
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(list(arguments), batch_size, theirs))
    process.start()
    theirs.close()
    ours.recv()
    began = time.monotonic()
    process.join(kill_after)
    if kill_after is not None:
        process.kill()
    process.join()
    ours.close()
    assert process.exitcode is not None
    return time.monotonic() - began, process.exitcode


def _run(arguments: list[str], batch_size: int, ready: Any) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    import label_studio_sdk  # noqa: F401  # the command would load it late
    from annot.cli.main import run

    defaults = deliver.__kwdefaults__
    assert defaults is not None
    defaults["batch_size"] = batch_size
    sys.argv = ["annot", *arguments]
    ready.send(os.getpid())
    run()


KILLED = -signal.SIGKILL
