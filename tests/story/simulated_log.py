"""What simulated people said, by their own account, held against what the store has: every answer, every change.

The store is read with plain SQL and the final grades are made by plain code, so that nothing is compared with itself.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from annot.base.records import PairKey

Pair = tuple[str, str]
"""(query_id, doc_id)."""


class Said(NamedTuple):
    """One state of an answer."""

    grade: int | None
    cannot_judge: str | None
    comment: str | None
    reason: str | None = None
    """Of a decision: why the assessors differ."""


class Key(NamedTuple):
    """Whose answer to what. round: `judge`, `adjudicate`, `train` or `hidden-gold`."""

    round: str
    person: str
    pair_key: PairKey


@dataclass(slots=True)
class Line:
    """One answer from the first state to the last."""

    states: list[Said]
    pulled: list[Said] = field(default_factory=list)
    """Those that stood when answers were pulled, each once: the revisions that the store must have."""
    seen: int = 0

    def pull(self) -> None:
        """What stands now is pulled."""
        if self.seen < len(self.states):
            self.pulled.append(self.states[-1])
            self.seen = len(self.states)


class Log:
    """The simulation's own record. Several people may write at once."""

    def __init__(self) -> None:
        self.lines: dict[Key, Line] = {}
        self._lock = threading.Lock()

    def give(self, key: Key, said: Said) -> None:
        """A first answer. Given again because the server broke off, it is the same one."""
        with self._lock:
            line = self.lines.setdefault(key, Line([said]))
        assert line.states == [said], f"{key}: answered twice"

    def change(self, key: Key, said: Said) -> None:
        """Another answer in place of the last."""
        self.lines[key].states.append(said)

    def pull(self, round: str) -> None:
        """All answers of the round are pulled."""
        for key, line in self.lines.items():
            if key.round == round:
                line.pull()

    def now(self, round: str) -> dict[Key, Said]:
        """The answers of the round as they stand."""
        return {key: line.states[-1] for key, line in self.lines.items() if key.round == round}


@dataclass(frozen=True, slots=True)
class Plan:
    """The published plan: whose first answer each pair wants, and which answers are hidden repeats."""

    assessors: dict[Pair, set[str]]
    repeats: set[tuple[str, PairKey]]

    @classmethod
    def read(cls, folder: Path) -> Plan:
        """From `pools/plan.jsonl`."""
        assessors: dict[Pair, set[str]] = {}
        repeats = set()
        for text in (folder / "pools" / "plan.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(text)
            asked = PairKey(one["query_id"], one["doc_id"], one.get("occasion", 1))
            if asked.occasion == 1:
                assessors.setdefault(asked.pair, set()).add(one["assessor"])
            else:
                repeats.add((one["assessor"], asked))
        return cls(assessors, repeats)

    def kind(self, key: Key) -> str:
        """Where the store must have it: answers to pairs that the plan gives to others are to hidden gold."""
        hidden = key.round == "judge" and key.person not in self.assessors.get(key.pair_key.pair, ())
        return "hidden-gold" if hidden else key.round


def current(log: Log, plan: Plan) -> dict[Pair, dict[str, Said]]:
    """The answers that final grades are made of: each assessor's first, or the one given when a pair was returned."""
    found: dict[Pair, dict[str, Said]] = {pair: {} for pair in plan.assessors}
    for key, said in sorted(log.now("judge").items()):
        if plan.kind(key) == "judge" and (key.person, key.pair_key) not in plan.repeats:
            found[key.pair_key.pair][key.person] = said
    return found


def final_grades(log: Log, plan: Plan) -> dict[Pair, int]:
    """The grade of each pair that has one: an adjudicator's, else what its assessors agree on."""
    settled = {key.pair_key.pair: said.grade for key, said in log.now("adjudicate").items() if said.grade is not None}
    grades: dict[Pair, int | None] = {}
    for pair, answers in current(log, plan).items():
        given = {said.grade for said in answers.values()}
        if pair in settled:
            grades[pair] = settled[pair]
        elif len(answers) == len(plan.assessors[pair]) and len(given) == 1 and None not in given:
            (grades[pair],) = given
    return {pair: grade for pair, grade in grades.items() if grade is not None}


def differences(log: Log, plan: Plan, database: Path) -> Iterator[str]:
    """Every answer of which the store has other revisions than the log, too many, too few, or flagged ones."""
    expected = {key._replace(round=plan.kind(key)): line.pulled for key, line in log.lines.items()}
    recorded = dict(_recorded(database))
    for key in sorted(expected.keys() | recorded.keys()):
        revisions, wanted = recorded.get(key, []), expected.get(key, [])
        if revisions != wanted:
            yield f"{key.round} {key.person} {' '.join(map(str, key.pair_key))}: on record {revisions}, said {wanted}"


def qrels_differences(log: Log, plan: Plan, qrels: Path) -> Iterator[str]:
    """Every pair whose line in the qrels is another than the log makes of it."""
    written: dict[Pair, int] = {}
    for text in qrels.read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, grade = text.split()
        if (query_id, doc_id) in written:
            yield f"qrels {query_id} {doc_id}: twice"
        written[query_id, doc_id] = int(grade)
    expected = final_grades(log, plan)
    for pair in sorted(expected.keys() | written.keys()):
        if written.get(pair) != expected.get(pair):
            yield f"qrels {' '.join(pair)}: written {written.get(pair)}, expected {expected.get(pair)}"


def _recorded(database: Path) -> Iterator[tuple[Key, list[Said]]]:
    """The revisions of each answer in the order recorded; what no person said (a flag, a second annotation) stands out
    as a comment."""
    said = "grade, cannot_judge, comment"
    queries = {
        "judge": f"SELECT assessor, query_id, doc_id, occasion, {said}, NULL, annotation, flags FROM judgement",
        "adjudicate": f"SELECT adjudicator, query_id, doc_id, 1, {said}, reason, annotation, flags FROM adjudication",
        "trial": f"SELECT assessor, query_id, doc_id, occasion, {said}, source, annotation, flags FROM trial_judgement",
    }
    with closing(sqlite3.connect(database)) as connection:
        for round, query in queries.items():
            found: dict[Key, tuple[str, list[Said]]] = {}
            for person, *asked, grade, cannot, comment, more, annotation, flags in connection.execute(
                f"{query} ORDER BY id"
            ):
                key = Key(more if round == "trial" else round, person, PairKey(*asked))
                first, revisions = found.setdefault(key, (annotation, []))
                if first != annotation or json.loads(flags):
                    comment = f"annotation {annotation} beside {first}, flags {flags}: {comment}"
                revisions.append(Said(grade, cannot, comment, more if round == "adjudicate" else None))
            yield from ((key, revisions) for key, (_, revisions) in found.items())
