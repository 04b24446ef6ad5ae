"""The people of a simulated study at work on its server: they judge, settle, change their minds, and wait when it is
down. Whatever they say is in their own log before it is on the server."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
from annot.base.errors import StudioError
from annot.base.records import PairKey, Query
from annot.base.stats.inference import generator
from annot.judging.exchange.servers import connect, open_accounts
from annot.labelstudio import studio_records
from annot.labelstudio.studio_records import write_result
from annot.labelstudio.tasks import split_key
from annot.store.database import open_store
from annot.store.models import StoredRound
from annot.store.projects import read_projects
from annot.study.workspace import Workspace
from annot_demo.simulated_people import ADJUDICATOR, SimulatedAnswer, SimulatedAssessor, demo_relevance, work
from simulated_log import Key, Log, Pair, Said

USUAL, HASTY = (0.5, 1.5, 2.5), (0.6, 1.6, 2.4)
ASSESSORS = (
    SimulatedAssessor("a1", 0.0, 0.4, USUAL, 0.02, 34.0),
    SimulatedAssessor("a2", 0.2, 0.45, USUAL, 0.03, 41.0),
    SimulatedAssessor("a3", -0.2, 0.5, USUAL, 0.02, 27.0),
    SimulatedAssessor("a4", 0.1, 0.65, HASTY, 0.04, 22.0),
    SimulatedAssessor("a5", 0.3, 0.35, USUAL, 0.01, 52.0),
    SimulatedAssessor("a6", -0.3, 0.55, USUAL, 0.03, 30.0),
    SimulatedAssessor("a7", 0.0, 0.6, HASTY, 0.02, 25.0),
    SimulatedAssessor("a8", 0.15, 0.4, USUAL, 0.05, 38.0),
)
NEWCOMER = SimulatedAssessor("a9", -0.1, 0.45, USUAL, 0.02, 33.0)
ADJUDICATORS = (replace(ADJUDICATOR, name="j1"), replace(ADJUDICATOR, name="j2", noise=0.45))
CANNOT_SETTLE, CANNOT_EITHER = 0.06, 0.5
"""How often an adjudicator cannot judge: a pair, and one that another adjudicator could not judge."""
CHANGED = 0.02
"""The share of a person's answers that change in an evening, at least two; every third of them changes twice."""
REASONS = tuple(reason.value for reason in studio_records.reasons("en"))
SAID = (studio_records.RATING, studio_records.REASON, studio_records.COMMENT, studio_records.SETTLED_BY)
WAITS = 20
"""How often people come back to a server that went away."""


class Crew:
    """Assessors and adjudicators with accounts of their own. serving: set while the server is up."""

    def __init__(self, folder: Path, log: Log, *, seed: int, serving: threading.Event) -> None:
        self.answered = 0
        self.progress = threading.Condition()
        """Notified with every answer, and whenever somebody is interrupted."""
        self.interrupted = 0
        self._held_at: int | None = None
        self._folder, self._log, self._seed, self._serving = folder, log, seed, serving
        self._cast = {person.name: person for person in (*ASSESSORS, NEWCOMER)}
        self._truth = demo_relevance()
        self._rng = random.Random(seed)

    def judge(
        self,
        queries: Mapping[str, Query],
        names: Iterable[str],
        *,
        round: StoredRound = "judge",
        today: Collection[tuple[str, PairKey]] | None = None,
    ) -> None:
        """Everybody judges what is open for them, or what of it is up `today`."""

        def judged(name: str, asked: PairKey) -> tuple[SimulatedAnswer, str | None] | None:
            if today is not None and (name, asked) not in today:
                return None
            relevance = self._truth(queries[asked.query_id], asked.doc_id)
            answer = self._cast[name].judge(*asked, relevance=relevance, seed=self._seed, reasons=REASONS)
            self._give(Key(round, name, asked), answer, None)
            return answer, None

        self._session(round, {name: partial(judged, name) for name in names})

    def settle(self, queries: Mapping[str, Query], given: Mapping[Pair, list[int | None]], *, share: float) -> None:
        """The adjudicators settle this share of what is open. given: the grades of each pair."""
        passed_on = {key.pair_key for key, said in self._log.now("adjudicate").items() if said.grade is None}

        def settled(name: str, asked: PairKey) -> tuple[SimulatedAnswer, str | None] | None:
            rng = generator(self._seed, "settles", name, *asked.pair)
            if rng.random() >= share:
                return None
            why = studio_records.DIFFERENCES[int(rng.integers(len(studio_records.DIFFERENCES) - 1))].value
            person = next(one for one in ADJUDICATORS if one.name == name)
            relevance = self._truth(queries[asked.query_id], asked.doc_id)
            answer = person.settle(*asked.pair, relevance=relevance, grades=given[asked.pair], seed=self._seed)
            if rng.random() < (CANNOT_EITHER if asked in passed_on else CANNOT_SETTLE):
                answer = answer._replace(grade=None, cannot_judge=REASONS[0])
            self._give(Key("adjudicate", name, asked), answer, why)
            return answer, why

        self._session("adjudicate", {one.name: partial(settled, one.name) for one in ADJUDICATORS})

    def hold(self, at: int) -> None:
        """From so many answers on, everybody has the next one ready and waits with it."""
        with self.progress:
            self._held_at = at

    def wait_for(self, answers: int, working: Future[None]) -> None:
        """Wait until there are so many answers, or no more will come."""
        working.add_done_callback(lambda _: self._notify())
        with self.progress:
            self.progress.wait_for(lambda: working.done() or self.answered >= answers)

    def meet_nobody(self) -> None:
        """Everybody who waits goes on, at a server that is down; returns when somebody has found it so."""
        with self.progress:
            before, self._held_at = self.interrupted, None
            self.progress.notify_all()
            self.progress.wait_for(lambda: self.interrupted > before, timeout=600)

    def change_minds(self, round: StoredRound, may_change: Callable[[Key], bool]) -> int:
        """Some of the answers that may change do; returns how many changes there were."""
        by_person: dict[str, list[Key]] = {}
        for key in sorted(filter(may_change, self._log.now(round))):
            by_person.setdefault(key.person, []).append(key)
        changes = 0
        for keys in by_person.values():
            wanted = self._rng.sample(keys, min(len(keys), max(2, round_to(CHANGED * len(keys)))))
            changes += self.change([*wanted, *wanted[::3]])
        return changes

    def change(self, keys: Iterable[Key]) -> int:
        """These answers of one person become others, one after the other; returns how many there were."""
        keys = list(keys)
        ws = Workspace.open(self._folder)
        round, name, _ = keys[0]
        with open_store(ws.database_url) as store, store.read() as session:
            (project,) = [one for one in read_projects(session) if (one.round, one.assessor) == (round, name)]
        assert project.remote_id is not None
        with connect(ws) as gateway:
            (token,) = open_accounts(ws, gateway, {name: address_of(name)})
            pulled = gateway.pull(project.remote_id)
        there = {split_key(task.key): task.annotations for task in pulled if task.key is not None}
        headers = {"Authorization": f"Token {token}"}
        with httpx.Client(base_url=project.url, headers=headers, timeout=120.0, trust_env=False) as http:
            for key in keys:
                (annotation,) = there[key.pair_key]
                before = self._log.lines[key].states[-1]
                after = _another(before, cannot=self._rng.random() < 0.2)
                kept = [item for item in annotation["result"] if item["from_name"] not in SAID]
                grade, cannot_judge, comment, why = after
                said = write_result({}, grade=grade, cannot_judge=cannot_judge, comment=comment, settled_by=why)
                http.patch(f"/api/annotations/{annotation['id']}/", json={"result": [*kept, *said]}).raise_for_status()
                self._log.change(key, after)
        return len(keys)

    def _session(
        self, round: StoredRound, responders: Mapping[str, partial[tuple[SimulatedAnswer, str | None] | None]]
    ) -> None:
        """Everybody at once; where the server goes away, they come back when it does."""
        for _ in range(WAITS):
            try:
                work(Workspace.open(self._folder), round, responders, lambda done, total: None)
                return
            except StudioError:
                with self.progress:
                    self.interrupted += 1
                    self.progress.notify_all()
                self._serving.wait(timeout=600)
        raise AssertionError(f"{round}: the server went away {WAITS} times")

    def _notify(self) -> None:
        with self.progress:
            self.progress.notify_all()

    def _give(self, key: Key, answer: SimulatedAnswer, why: str | None) -> None:
        self._log.give(key, Said(answer.grade, answer.cannot_judge, answer.comment, why))
        with self.progress:
            self.answered += 1
            self.progress.notify_all()
            self.progress.wait_for(lambda: self._held_at is None or self.answered < self._held_at)


def address_of(name: str) -> str:
    """The account of a person."""
    return f"{name}@whole-study.example.org"


def round_to(value: float) -> int:
    """The nearest whole number."""
    return int(value + 0.5)


def _another(before: Said, *, cannot: bool) -> Said:
    """What somebody says on second thoughts."""
    if cannot and before.grade is not None:
        return Said(None, REASONS[1], None, before.reason)
    return Said(((before.grade or 0) + 1) % 4, None, "On second thoughts.", before.reason)
