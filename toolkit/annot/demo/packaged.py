"""The packaged files of the demonstration: papers, what is simulated about them, the query papers, and the people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Topic
from annot.base.stats.seeding import generator
from annot.study.workspace import write_file


class Latent(NamedTuple):
    """What a paper of the demo corpus is about."""

    problem: str
    subproblem: str
    method: str
    """The family of the method."""
    submethod: str
    claim: str
    """The question that its result speaks to."""
    polarity: int
    """1 if the paper supports the claim, -1 if it finds the opposite, 0 if it makes no claim."""


class MadeQuestion(NamedTuple):
    """A question that is asked of the demo corpus, and which papers answer it."""

    topic: Topic
    problem: str
    subproblem: str
    answered_by: Mapping[str, Sequence[str]]
    """Traits of papers, each with the values that make an answer."""


class QueryPaper(NamedTuple):
    """A paper of the demo corpus that is used as query, and the facets under which it is used."""

    paper_id: str
    facets: tuple[str, ...]


def corpus_text() -> str:
    """The corpus as plain JSON lines, as a person would have it on disk."""
    return read("corpus.jsonl")


def write_corpus(path: Path) -> int:
    """Write the corpus to a file, and return how many papers it has. Raises InputError if another file is there."""
    text = corpus_text()
    if path.is_dir():
        raise InputError(f"{path}: found a folder, expected a file name", hint=f"name a file: {path / 'papers.jsonl'}")
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        raise InputError(
            f"{path}: found another file, which was not changed", hint="name a file that does not exist yet"
        )
    write_file(path, text)
    return len(text.splitlines())


def latents() -> dict[str, Latent]:
    """What each paper is about, by `paper_id`. Only the simulation may know it."""
    return {paper_id: Latent(**traits) for paper_id, traits in json.loads(read("latent.json")).items()}


def query_papers() -> tuple[QueryPaper, ...]:
    """The query papers of the demonstration, oldest first."""
    return tuple(QueryPaper(paper["paper_id"], tuple(paper["facets"])) for paper in json.loads(read("queries.json")))


def questions() -> tuple[MadeQuestion, ...]:
    """The questions of the demonstration of questions. Only the simulation may know what answers them."""
    texts = "topic_id", "title", "description", "narrative"
    about = "problem", "subproblem", "answered_by"
    return tuple(
        MadeQuestion(Topic(*(one[name] for name in texts)), *(one[name] for name in about))
        for one in json.loads(read("questions.json"))
    )


def frozen(kind: str) -> dict[str, str]:
    """The `rankings` from which the demonstration draws its pools, or its baseline `runs`, by file name.

    With the rankings comes their manifest, and with each run its metadata.
    """
    folder = resources.files(f"annot.demo.frozen_{kind}")
    return {
        file.name: file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith((".run", ".json"))
    }


def read(name: str) -> str:
    """The text of a packaged file."""
    return resources.files("annot.demo").joinpath(name).read_text(encoding="utf-8")


COMMENT_RATE = 0.04
SPREAD_OF_TIMES = 0.45
"""Standard deviation of the logarithm of the time that a judgement takes."""
STABLE = 0.7
"""How strongly two views of a pair by one person, on two occasions, go together: the correlation of their noise."""


Remarks = Mapping[str, Any]
"""What simulated people write: `grades`, a list for each grade; `over_ruled`, `lower`, `higher` and `given_fits` for
decisions."""
REMARKS: dict[str, Remarks] = json.loads(read("remarks.json"))
"""By the kind of the study."""


class SimulatedAnswer(NamedTuple):
    """What a person gives for one pair: a grade, or the reason why there is none."""

    grade: int | None
    cannot_judge: str | None
    comment: str | None
    lead_time: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class SimulatedAssessor:
    """One person's way of judging. The same pair under the same seed always gets the same answer on an occasion."""

    name: str
    severity: float
    """In grades: how much less similar than it is a pair looks to this person; negative for the lenient."""
    noise: float
    """In grades: standard deviation of what varies from pair to pair."""
    thresholds: tuple[float, ...]
    """The similarity from which grade 1, 2, 3 ... is given, ascending."""
    cannot_judge_rate: float
    seconds: float
    """The median time for a pair."""

    def judge(
        self,
        query_id: str,
        doc_id: str,
        occasion: int = 1,
        *,
        relevance: float,
        seed: int,
        reasons: Sequence[str],
        remarks: Remarks = REMARKS["facets"],
    ) -> SimulatedAnswer:
        """The answer for one pair. Asked again on another occasion, the person remembers some of the first view.

        relevance: how similar the pair is in truth, in [0, 3]. reasons: what may be said where nothing can be judged.
        """
        rng = generator(seed, "judge", self.name, query_id, doc_id)
        at_once = relevance < self.thresholds[0] / 2
        lead_time = _seconds(rng, self.seconds * (0.5 if at_once else 1.0))
        if rng.random() < self.cannot_judge_rate:
            return SimulatedAnswer(None, str(rng.choice(list(reasons))), None, lead_time)
        view = rng.normal(0.0, 1.0)
        if occasion > 1:
            fresh = generator(seed, "judge again", self.name, query_id, doc_id, str(occasion)).normal(0.0, 1.0)
            view = STABLE * view + math.sqrt(1 - STABLE**2) * fresh
        grade = _grade(relevance - self.severity + self.noise * view, self.thresholds)
        comment = str(rng.choice(remarks["grades"][min(grade, 3)])) if rng.random() < COMMENT_RATE else None
        return SimulatedAnswer(grade, None, comment, lead_time)


@dataclass(frozen=True, slots=True)
class SimulatedAdjudicator:
    """Someone who sees the grades that were given, mostly takes one of them, and now and then over-rules all."""

    name: str
    noise: float
    thresholds: tuple[float, ...]
    over_rule_rate: float
    """How often a view of their own that nobody gave prevails."""
    seconds: float

    def settle(
        self,
        query_id: str,
        doc_id: str,
        *,
        relevance: float,
        grades: Sequence[int | None],
        seed: int,
        remarks: Remarks = REMARKS["facets"],
    ) -> SimulatedAnswer:
        """The decision on one pair, its reason as comment; `grades` are those given, None if somebody could not."""
        rng = generator(seed, "settle", self.name, query_id, doc_id)
        lead_time = _seconds(rng, self.seconds)
        perceived = relevance + rng.normal(0.0, self.noise)
        own = _grade(perceived, self.thresholds)
        given = sorted({grade for grade in grades if grade is not None})
        if not given:
            return SimulatedAnswer(own, None, "The assessors could not judge this pair, but I could.", lead_time)
        if own not in given:
            if rng.random() < self.over_rule_rate:
                return SimulatedAnswer(own, None, str(rng.choice(remarks["over_ruled"])), lead_time)
            own = min(given, key=lambda grade: abs(grade - perceived))
        if len(given) == 1:
            return SimulatedAnswer(own, None, remarks["given_fits"], lead_time)
        return SimulatedAnswer(own, None, str(rng.choice(remarks["lower" if own == given[0] else "higher"])), lead_time)


CAST = (
    SimulatedAssessor("a1", 0.0, 0.4, (0.5, 1.5, 2.5), 0.004, 34.0),
    SimulatedAssessor("a2", 0.2, 0.45, (0.5, 1.5, 2.5), 0.008, 41.0),
    SimulatedAssessor("a3", -0.2, 0.5, (0.5, 1.5, 2.5), 0.004, 27.0),
    SimulatedAssessor("a4", 0.1, 0.65, (0.6, 1.6, 2.4), 0.012, 22.0),
)
"""The assessors of the demonstration: one balanced, one strict, one lenient, one hasty."""

ADJUDICATOR = SimulatedAdjudicator("j1", 0.35, (0.5, 1.5, 2.5), 0.6, 55.0)
"""The adjudicator of the demonstration."""


def _grade(perceived: float, thresholds: Sequence[float]) -> int:
    return sum(perceived >= threshold for threshold in thresholds)


def _seconds(rng: np.random.Generator, median: float) -> float:
    return round(float(median * rng.lognormal(0.0, SPREAD_OF_TIMES)), 1)
