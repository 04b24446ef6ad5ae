"""A small study and a Label Studio in memory: whole rounds without a network, a fraction of a second each."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annot.base.records import Assignment
from annot.judging.exchange.collecting import NO_OPTIONS, PullCursor, PullResult, RoundOptions
from annot.judging.exchange.sending import PushResult
from annot.judging.exchange.servers import task_keys
from annot.labelstudio.studio_records import write_result
from annot.labelstudio.tasks import pair_key, split_key
from annot.steps import exchange
from annot.store.database import open_store
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, Small
from studio_in_memory import StudioInMemory
from study_stages import copied, quietly

Pair = tuple[str, str]
PEOPLE = dict(Small().people)
QUERY = QUERIES[0].query_id


@dataclass
class World:
    """One study and its server."""

    folder: Path
    studio: StudioInMemory

    @property
    def ws(self) -> Workspace:
        return replace(Workspace.open(self.folder), studio_url=self.studio.url, studio_token=self.studio.token)

    @property
    def pairs(self) -> list[Pair]:
        """What a1 and a2 both judge, in its order."""
        return [(query.query_id, doc_id) for query in QUERIES[:1] for doc_id in DOCUMENTS]

    @property
    def outcome(self) -> Outcome:
        with open_store(self.ws.database_url) as store, store.read() as session:
            return outcome_of(session, self.ws.settings)

    def push(self, round: str = "judging", **options: Any) -> PushResult:
        return exchange.push(self.ws, round=round, dry_run=False, advance=quietly, options=RoundOptions(**options))

    def pull(self, round: str = "judging", seen: dict[int, PullCursor] | None = None, **options: Any) -> PullResult:
        given = RoundOptions(**options) if options else NO_OPTIONS
        return exchange.pull(self.ws, round=round, advance=quietly, options=given, cursors=seen)

    def project(self, name: str, round: str = "judge") -> int:
        """The person's project; of several the one with tasks."""
        found = self.studio.projects_of(f"[annot:{self.ws.settings.collection.name}/{round}/{name}]")
        return max(found, key=lambda number: len(self.studio.tasks_of(number)))

    def tasks(self, name: str, round: str = "judge") -> dict[str, int]:
        """The server's task of each key, opened, in the order of the tasks."""
        project, keys = self.project(name, round), task_keys(self.ws)
        return {keys.opened(project, one["data"]["pair_id"]): one["id"] for one in self.studio.tasks_of(project)}

    def judge(
        self, name: str, grades: Mapping[Pair, int | None], round: str = "judge", *, occasion: int = 1
    ) -> dict[Pair, int]:
        """The person gives these grades (None: cannot judge); the annotations' ids."""
        there = self.tasks(name, round)
        return {
            pair: self.studio.annotate(there[pair_key(*pair, occasion)], result(grade), email=PEOPLE[name])
            for pair, grade in grades.items()
        }

    @property
    def disputed(self) -> list[Pair]:
        """The first two pairs: on these they differ, once all is judged."""
        return self.pairs[:2]

    def judge_all(self) -> None:
        """All that was sent is judged and pulled."""
        self.judge("a1", dict.fromkeys(self.pairs, 1))
        self.judge("a2", {pair: 1 if at > 1 else 3 for at, pair in enumerate(self.pairs)})
        self.pull()

    def settle_all(self) -> None:
        """j1 settles both disputes as 2."""
        self.push("adjudication")
        self.judge("j1", dict.fromkeys(self.disputed, 2), "adjudicate")
        self.pull("adjudication")

    def grades(self) -> dict[Pair, int]:
        """The final grades."""
        return {(one.query_id, one.doc_id): one.relevance for one in self.outcome.qrels}

    def asked_pairs(self, name: str, round: str = "judge") -> list[tuple[str, ...]]:
        return [tuple(map(str, split_key(key))) for key in self.tasks(name, round)]


def result(grade: int | None) -> list[dict[str, Any]]:
    """What a person sends by choosing this grade."""
    return write_result({}, grade=grade, cannot_judge="outside my field" if grade is None else None)


@dataclass(frozen=True)
class Rounds(Small):
    """One query of ten documents, planned for two, sent to a server in memory and answered there."""

    queries: Sequence[tuple[str, Sequence[str]]] = ((QUERIES[0].topic_id, ("method",)),)

    def plan(self) -> list[Assignment]:
        """In another order than the pool's: what is sent may not tell in which order it was drawn."""
        return [
            Assignment(QUERY, doc_id, name, 1 + at * step % len(DOCUMENTS))
            for name, step in (("a1", 3), ("a2", 7))
            for at, doc_id in enumerate(DOCUMENTS)
        ]

    def sent(self, ws: Workspace) -> None:
        _on_server(ws, World.push)

    def judged(self, ws: Workspace) -> None:
        _on_server(ws, World.judge_all)

    def settled(self, ws: Workspace) -> None:
        _on_server(ws, World.settle_all)


@contextmanager
def world(stage: str, folder: Path) -> Iterator[World]:
    """A copy of the study at this stage in `folder`, with a server of its own as it was then."""
    with served(copied(Rounds(), stage, folder)) as made:
        yield made


def _on_server(ws: Workspace, step: Callable[[World], object]) -> None:
    with served(ws) as made:
        step(made)
        _server_of(ws).write_bytes(pickle.dumps(made.studio.kept()))


@contextmanager
def served(ws: Workspace) -> Iterator[World]:
    """The study and a server of its own."""
    studio, state = StudioInMemory(), _server_of(ws)
    for email in PEOPLE.values():
        studio.sign_up(email)
    with studio.served():
        if state.exists():
            studio.restore(pickle.loads(state.read_bytes()))
            state.unlink()
        yield World(ws.root, studio)


def _server_of(ws: Workspace) -> Path:
    """Where the server's state is kept with a study that is copied."""
    return ws.cache / "server.pickle"
