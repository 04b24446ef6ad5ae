"""Who answers what in a study of the tests: written straight into the store, as a pull would."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol
from uuid import UUID

from annot.base.records import Adjudication, Judgement, Source
from annot.store import people, projects
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.models import ImportedSource
from annot.store.pools import read_queries
from annot.store.runs import put_import
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from annot_demo import simulated_people
from annot_demo.simulated_people import ADJUDICATOR, CAST, latent_relevance

GOLDEN = Path(__file__).resolve().parents[1]
PULLED_AT = "2026-01-01T00:00:00+00:00"
SEED = 13
SERVER = "http://studio.judges.example:8080"
ACCOUNTS = {
    "a1": "ada.planter@judges.example",
    "a2": "b2@judges.example",
    "a3": "c3@judges.example",
    "a4": "d4@judges.example",
    "j1": "jo.settler@judges.example",
}


class Answers(Protocol):
    """Who answers what."""

    def judged(self, ws: Workspace) -> None: ...

    def settled(self, ws: Workspace) -> None: ...


def record(
    ws: Workspace,
    given: Iterable[Judgement] = (),
    decided: Iterable[Adjudication] = (),
    *,
    prefix: str = "",
    at: str = PULLED_AT,
) -> None:
    """What people gave, written into the store as a pull would.

    prefix: what the ids of their annotations begin with, if a server is to give others.
    """
    judged = [SourcedJudgement(one, "label-studio", f"{prefix}{number}", None) for number, one in enumerate(given, 1)]
    settled = [
        SourcedAdjudication(one, "label-studio", f"{prefix}{number}", None) for number, one in enumerate(decided, 1)
    ]
    with ws.writing() as session:
        JUDGEMENTS.record(session, judged, recorded_at=at)
        ADJUDICATIONS.record(session, settled, recorded_at=at)


@dataclass(frozen=True)
class Golden:
    """The frozen judgements and decisions of the demonstration, whose golden files hold for the study."""

    def judged(self, ws: Workspace) -> None:
        record(ws, (Judgement(**{**one, "flags": tuple(one["flags"])}) for one in _golden("judgements")))

    def settled(self, ws: Workspace) -> None:
        decided = [one for one in _golden("decisions") if one["origin"] == "adjudicated"]
        record(
            ws,
            decided=[
                Adjudication(
                    one["query_id"], one["doc_id"], one["adjudicator"], one["grade"], "shown", (), reason=one["reason"]
                )
                for one in decided
            ],
        )


@dataclass(frozen=True)
class ByPlace:
    """a1 gives 0 to 3 in turn; a2 differs on every second four pairs, which j1 settles as a1 judged."""

    reason: ClassVar = "guideline gap"
    comment: ClassVar = "One aspect is shared."

    @staticmethod
    def final(ws: Workspace) -> dict[tuple[str, str], int]:
        """The final grade of each pair, all four."""
        with ws.reading() as session:
            pairs = sorted(one.pair_key.pair for one in people.read_assignments(session, "a1"))
        return {pair: at % 4 for at, pair in enumerate(pairs)}

    def judged(self, ws: Workspace) -> None:
        final = self.final(ws).items()
        record(
            ws,
            (
                Judgement(*pair, name, (grade + differs) % 4)
                for at, (pair, grade) in enumerate(final)
                for name, differs in (("a1", 0), ("a2", at % 8 < 4))
            ),
            prefix="by-place-",
        )

    def settled(self, ws: Workspace) -> None:
        said: dict[str, Any] = {"reason": self.reason, "comment": self.comment, "judged_at": PULLED_AT}
        final = enumerate(self.final(ws).items())
        record(
            ws,
            decided=[
                Adjudication(*pair, "j1", grade, "shown", (), **said) for at, (pair, grade) in final if at % 8 < 4
            ],
            prefix="by-place-",
        )


@dataclass(frozen=True)
class Simulated:
    """Simulated people answer everything; their accounts, ids and payloads are on record as after a real pull."""

    pulled_at: str = "2030-01-01T00:00:00+00:00"
    first_id: int = 1
    """Where the server's ids begin."""
    server: ClassVar = "1 of 2031"

    @property
    def users(self) -> dict[str, int]:
        return {name: self.first_id + at for at, name in enumerate(ACCOUNTS)}

    def judged(self, ws: Workspace) -> None:
        truth, users = simulated_people.latents(), self.users
        cast = {person.name: person for person in CAST}
        with ws.writing() as session:
            known = {one.query_id: one for one in read_queries(session)}
            planned = people.read_assignments(session)
            given = []
            for at, one in enumerate(planned, start=self.first_id):
                asked = known[one.query_id]
                answer = cast[one.assessor].judge(
                    *one.pair_key,
                    relevance=latent_relevance(asked.topic_id, asked.facet, one.doc_id, truth),
                    seed=SEED,
                    reasons=("not readable", "not enough context"),
                )
                judgement = Judgement(
                    one.query_id,
                    one.doc_id,
                    one.assessor,
                    answer.grade,
                    cannot_judge=answer.cannot_judge,
                    comment=answer.comment,
                    judged_at=self.pulled_at,
                    lead_time=answer.lead_time,
                    occasion=one.occasion,
                )
                user = users[one.assessor]
                payload: dict[str, object] = {"id": at, "task": at, "project": user, "completed_by": user}
                payload |= {"unique_id": str(UUID(int=at)), "lead_time": answer.lead_time}
                given.append(SourcedJudgement(judgement, "label-studio", str(at), payload, server=self.server))
            for name, user in users.items():
                project = projects.open_project(
                    session,
                    round="adjudicate" if name == ADJUDICATOR.name else "judge",
                    assessor=name,
                    server=self.server,
                    url=SERVER,
                    version="1.23.2",
                    account_id=user,
                )
                projects.set_remote_project(session, project.project, user)
                tasks = {
                    one.pair_key: at for at, one in enumerate(planned, start=self.first_id) if one.assessor == name
                }
                projects.record_tasks(session, project.project, tasks)
            JUDGEMENTS.record(session, given, recorded_at=self.pulled_at)

    def settled(self, ws: Workspace) -> None:
        truth, user = simulated_people.latents(), self.users[ADJUDICATOR.name]
        with ws.writing() as session:
            known = {one.query_id: one for one in read_queries(session)}
            settled = []
            for at, dispute in enumerate(outcome_of(session, ws.settings).disputed, start=self.first_id):
                pair, asked = dispute[0].pair, known[dispute[0].query_id]
                ruling = ADJUDICATOR.settle(
                    *pair,
                    relevance=latent_relevance(asked.topic_id, asked.facet, pair[1], truth),
                    grades=[one.grade for one in dispute],
                    seed=SEED,
                )
                decision = Adjudication(
                    *pair,
                    ADJUDICATOR.name,
                    ruling.grade,
                    "shown",
                    tuple(one.assessor for one in dispute),
                    reason="one judged another facet",
                    comment=ruling.comment,
                    judged_at=self.pulled_at,
                    lead_time=ruling.lead_time,
                )
                payload = {"id": at, "completed_by": user, "project": user}
                settled.append(SourcedAdjudication(decision, "label-studio", str(at), payload))
            ADJUDICATIONS.record(session, settled, recorded_at=self.pulled_at)
        with ws.writing() as session:
            put_import(session, ImportedSource(Source.SIMULATION, "0" * 64, {"notice": "Simulated.", "cast": []}))


def _golden(name: str) -> list[dict[str, Any]]:
    path = GOLDEN / "exports" / "demo" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
