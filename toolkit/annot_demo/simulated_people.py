"""Packaged files of the demonstration, and simulated people who answer through the Label Studio API."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from annot.base.errors import InputError
from annot.base.records import Advance, PairKey, Query, Topic
from annot.base.settings import Kind
from annot.base.stats.inference import generator
from annot.judging.exchange.outgoing import OutgoingProject
from annot.judging.exchange.servers import connect, open_accounts, task_keys
from annot.judging.rounds import judging
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import DIFFERENCES, DIFFERENCES_OF_WHOLES, Payload, write_result
from annot.labelstudio.studio_records import reasons as reasons_in
from annot.labelstudio.tasks import TaskKeys, split_key
from annot.store import people, projects
from annot.store.models import Project, StoredRound
from annot.store.pools import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The packaged files of the demonstration: papers, what is simulated about them, the query papers, and the people.
# ----------------------------------------------------------------------------------------------------------------------


class Latent(NamedTuple):
    """Contents of a paper of the demo corpus."""

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


def corpus_text() -> str:
    """The corpus as plain JSON lines, as a person would have it on disk."""
    return read("corpus.jsonl")


def write_corpus(path: Path) -> int:
    """Write the corpus to a file, and return how many papers it has. Raises InputError if another file is there."""
    text = corpus_text()
    if path.exists() and path.read_bytes() != text.encode("utf-8"):
        raise InputError(
            f"{path}: found another file, which was not changed", hint="name a file that does not exist yet"
        )
    write_file(path, text)
    return len(text.splitlines())


def latents() -> dict[str, Latent]:
    """Contents of each paper, by `paper_id`. Only the simulation may know them."""
    return {paper_id: Latent(**traits) for paper_id, traits in json.loads(read("latent.json")).items()}


def query_papers() -> dict[str, tuple[str, ...]]:
    """The facets of each query paper of the demonstration, by its id, oldest first."""
    return {paper["paper_id"]: tuple(paper["facets"]) for paper in json.loads(read("queries.json"))}


def questions() -> tuple[MadeQuestion, ...]:
    """The questions of the demonstration of questions. Only the simulation may know their answers."""
    texts = "topic_id", "title", "description", "narrative"
    about = "problem", "subproblem", "answered_by"
    return tuple(
        MadeQuestion(Topic(*(question[name] for name in texts)), *(question[name] for name in about))
        for question in json.loads(read("questions.json"))
    )


def frozen(kind: str) -> dict[str, str]:
    """The `rankings` from which the demonstration draws its pools, or its baseline `runs`, by file name.

    With the rankings comes their manifest, and with each run its metadata.
    """
    folder = resources.files(f"annot_demo.frozen_{kind}")
    return {
        file.name: file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith((".run", ".json"))
    }


def read(name: str) -> str:
    """The text of a packaged file."""
    return resources.files("annot_demo").joinpath(name).read_text(encoding="utf-8")


COMMENT_RATE = 0.04
SPREAD_OF_TIMES = 0.45
"""Standard deviation of the logarithm of the time that a judgement takes."""
STABLE = 0.7
"""Correlation of the noise in two views of a pair by one person, on two occasions."""


Remarks = Mapping[str, Any]
"""Texts of simulated people: `grades`, a list for each grade; `over_ruled`, `lower`, `higher` and `given_fits` for
decisions."""
REMARKS: dict[str, Remarks] = json.loads(read("remarks.json"))
"""Texts by the kind of the study."""


class SimulatedAnswer(NamedTuple):
    """A person's answer to one pair: a grade, or the reason why there is none."""

    grade: int | None
    cannot_judge: str | None
    comment: str | None
    lead_time: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class SimulatedAssessor:
    """A person's way of judging. The same pair under the same seed always gets the same answer on an occasion."""

    name: str
    severity: float
    """Strictness, in grades: similarity that a pair loses in this person's view; negative for the lenient."""
    noise: float
    """Standard deviation, in grades, of the part that varies from pair to pair."""
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
        """The answer for one pair. On another occasion, the person remembers part of the first view.

        relevance: how similar the pair is in truth, in [0, 3]. reasons: those that a person may give for not judging.
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
    """Adjudicator who sees the assessors' grades, usually takes one of them, and sometimes overrules them all."""

    name: str
    noise: float
    thresholds: tuple[float, ...]
    over_rule_rate: float
    """Probability that the adjudicator's view prevails if no assessor gave it."""
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
        """The decision on one pair, its reason as comment; `grades`: those of the assessors, None without one."""
        rng = generator(seed, "settle", self.name, query_id, doc_id)
        lead_time = _seconds(rng, self.seconds)
        perceived = relevance + rng.normal(0.0, self.noise)
        own_grade = _grade(perceived, self.thresholds)
        grades_given = sorted({grade for grade in grades if grade is not None})
        if not grades_given:
            return SimulatedAnswer(own_grade, None, "The assessors could not judge this pair, but I could.", lead_time)
        if own_grade not in grades_given:
            if rng.random() < self.over_rule_rate:
                return SimulatedAnswer(own_grade, None, str(rng.choice(remarks["over_ruled"])), lead_time)
            own_grade = min(grades_given, key=lambda grade: abs(grade - perceived))
        if len(grades_given) == 1:
            return SimulatedAnswer(own_grade, None, remarks["given_fits"], lead_time)
        return SimulatedAnswer(
            own_grade, None, str(rng.choice(remarks["lower" if own_grade == grades_given[0] else "higher"])), lead_time
        )


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


# ----------------------------------------------------------------------------------------------------------------------
# Simulated people at work: they answer through the Label Studio API with accounts of their own.
# ----------------------------------------------------------------------------------------------------------------------


MOST = 3.0
"""Similarity runs from 0 to this, on the scale of the grades."""

JITTER = 0.3
"""Largest difference in similarity between pairs of one kind: uniform, at most this much either way."""


_LIKENESS = json.loads(read("likeness.json"))
"""Weights of the parts of similarity. A problem is two digits; with a letter it is one of its sub-problems."""
RELATED_PROBLEMS = {frozenset(pair) for pair in _LIKENESS["related_problems"]}
AREAS = _LIKENESS["areas"]
RELATED_METHODS = {frozenset(pair) for pair in _LIKENESS["related_methods"]}

COARSE_METHODS = frozenset({"resource", "empirical"})
"""Families that name a kind of paper: two corpora, or two studies of others' systems, are made alike only at large."""


def latent_relevance(query_paper: str, facet: str, doc: str, latent: Mapping[str, Latent]) -> float:
    """Similarity of two papers under a facet, in [0, 3], from their contents.

    The pair's own jitter follows from the three ids alone. A facet that the demo does not know is an InputError.
    """
    try:
        base = _BASE[facet](latent[query_paper], latent[doc])
    except KeyError:
        raise InputError(
            f"{query_paper} / {facet} / {doc}: cannot be simulated, as the demo has none of these"
        ) from None
    shift = generator(0, "jitter", facet, query_paper, doc).uniform(-JITTER, JITTER)
    return float(min(MOST, max(0.0, base + shift)))


def answer_relevance(question: MadeQuestion, doc: str, latent: Mapping[str, Latent]) -> float:
    """Relevance of a paper to a question, in [0, 3], from the contents of the paper.

    The pair's own jitter follows from the two ids alone.
    """
    shift = generator(0, "jitter", question.topic.topic_id, doc).uniform(-JITTER, JITTER)
    return float(min(MOST, max(0.0, _answer_to(question, latent[doc]) + shift)))


def _answer_to(question: MadeQuestion, doc: Latent) -> float:
    if question.problem != doc.problem:
        return 0.3 if _problems_related(question, doc) else 0.0
    if any(getattr(doc, trait) in values for trait, values in question.answered_by.items()):
        # What answers it for the neighbouring task is a part of the answer.
        return 2.9 if question.subproblem == doc.subproblem else 1.9
    return 1.0


def _background(query: Latent, doc: Latent) -> float:
    if query.problem == doc.problem:
        return 2.9 if query.subproblem == doc.subproblem else 2.0
    if _problems_related(query, doc):
        return 1.1
    return 0.7 if _same_area(query, doc) else 0.0


def _method(query: Latent, doc: Latent) -> float:
    same_problem = query.problem == doc.problem
    if query.method == doc.method:
        if query.method in COARSE_METHODS or query.submethod != doc.submethod:
            return 1.9 if same_problem else 1.1
        # Near-identical asks for the mechanism and for what it works on; on other objects the details are comparable.
        return 2.9 if same_problem else 2.0
    if frozenset((query.method, doc.method)) in RELATED_METHODS:
        return 1.0
    return 0.2 if same_problem else 0.0


def _result(query: Latent, doc: Latent) -> float:
    same_claim = query.claim == doc.claim
    if query.problem == doc.problem:
        same_task = query.subproblem == doc.subproblem
        # Near-identical in one of two ways: findings on one question, opposite ones too, or methods tried on one task.
        if (same_claim and query.polarity and doc.polarity) or (same_task and _proposes(query) and _proposes(doc)):
            return 2.9
        return 1.9 if same_claim or same_task else 1.1
    if same_claim and query.polarity and doc.polarity:
        return 1.2 if _problems_related(query, doc) or _same_area(query, doc) else 1.0
    return 0.0


def _proposes(paper: Latent) -> bool:
    """True for a methodological paper: one that proposes or tries a method, no resource and no study of others."""
    return paper.method not in COARSE_METHODS


_BASE: dict[str, Callable[[Latent, Latent], float]] = {"background": _background, "method": _method, "result": _result}


def _problems_related(query: Latent | MadeQuestion, other: Latent) -> bool:
    return any(
        frozenset((left, right)) in RELATED_PROBLEMS
        for left in (query.problem, query.problem + query.subproblem)
        for right in (other.problem, other.problem + other.subproblem)
    )


def _same_area(query: Latent, other: Latent) -> bool:
    return any(query.problem in area and other.problem in area for area in AREAS)


Relevance = Callable[[Query, str], float]
"""True similarity of a document to a query, in [0, 3]."""


Respond = Callable[[PairKey], tuple[SimulatedAnswer, str | None] | None]
"""A person's answer to a task and, for a decision, the reason why the assessors differ; None leaves it open."""


def judge(ws: Workspace, *, seed: int, truth: Relevance, advance: Advance) -> int:
    """Judge the open pairs of each assessor's project; returns the number of judgements on record."""
    return work(ws, "judge", judging_people(ws, seed=seed, truth=truth), advance)


def settle(ws: Workspace, *, seed: int, truth: Relevance, advance: Advance) -> int:
    """Settle the open disputes as the adjudicator; returns the number of decisions on record."""
    return work(ws, "adjudicate", settling_people(ws, seed=seed, truth=truth), advance)


def judging_people(ws: Workspace, *, seed: int, truth: Relevance) -> dict[str, Respond]:
    """Assessors by name, with their way of judging."""
    known = _known(ws)
    reasons = [reason.value for reason in reasons_in(ws.settings.collection.language)]
    remarks = REMARKS[ws.settings.kind]

    def respond(person: SimulatedAssessor, pair_key: PairKey) -> tuple[SimulatedAnswer, None]:
        relevance = truth(known[pair_key.query_id], pair_key.doc_id)
        return person.judge(*pair_key, relevance=relevance, seed=seed, reasons=reasons, remarks=remarks), None

    return {person.name: partial(respond, person) for person in CAST}


def settling_people(ws: Workspace, *, seed: int, truth: Relevance) -> dict[str, Respond]:
    """The adjudicator by name, with their way of settling the current disputes."""
    known = _known(ws)
    remarks = REMARKS[ws.settings.kind]
    *causes, _ = DIFFERENCES if ws.settings.faceted else DIFFERENCES_OF_WHOLES
    with ws.reading() as session:
        disputes = {dispute[0].pair: dispute for dispute in outcome_of(session, ws.settings).disputed}

    def respond(pair_key: PairKey) -> tuple[SimulatedAnswer, str]:
        relevance = truth(known[pair_key.query_id], pair_key.doc_id)
        grades = [judgement.grade for judgement in disputes[pair_key.pair]]
        why = causes[int(generator(seed, "difference", *pair_key.pair).integers(len(causes)))].value
        answer = ADJUDICATOR.settle(*pair_key.pair, relevance=relevance, grades=grades, seed=seed, remarks=remarks)
        return answer, why

    return {ADJUDICATOR.name: respond}


def demo_relevance(kind: Kind = "facets") -> Relevance:
    """Truth about the packaged papers: their similarity, or their relevance to the packaged questions."""
    paper_latents = latents()
    if kind != "facets":
        question_of_topic = {question.topic.topic_id: question for question in questions()}
        return lambda query, doc_id: answer_relevance(question_of_topic[query.topic_id], doc_id, paper_latents)
    return lambda query, doc_id: latent_relevance(query.topic_id, query.facet, doc_id, paper_latents)


def _known(ws: Workspace) -> dict[str, Query]:
    with ws.reading() as session:
        return {query.query_id: query for query in read_queries(session)}


def work(ws: Workspace, round: StoredRound, responders: Mapping[str, Respond], advance: Advance) -> int:
    """Let all people answer at once, each with their own token and in the order of their own project.

    Returns how many tasks have an answer; those that have one already are left as they are. In the rounds that
    make the collection, only what is still to be judged or settled is looked at. Raises StudioError if the server goes
    away; the same call goes on from there.
    """
    made: list[OutgoingProject] | None = None
    if round in _OUTGOING:
        made = _OUTGOING[round](ws)
    with ws.reading() as session:
        every = projects.read_projects(session, round=round)
        accounts = {person.assessor: person.account or "" for person in people.read_assessors(session)}
    asked_of = None if made is None else {project.assessor: project.tasks for project in made}
    with connect(ws) as gateway:
        server = gateway.identity()
        busy = [
            project
            for project in every
            if project.server == server
            and project.assessor in responders
            and (asked_of is None or project.assessor in asked_of)
        ]
        tokens = open_accounts(ws, gateway, {name: accounts[name] for name in (project.assessor for project in busy)})
    total = None if asked_of is None else sum(len(asked_of[project.assessor]) for project in busy)
    answered = itertools.count(1)

    def one_more() -> None:
        advance(next(answered), total)

    keys = task_keys(ws)

    def answer(project: Project, token: str) -> int:
        sent = None if asked_of is None else asked_of[project.assessor]
        return _answer(project, sent, token, responders[project.assessor], keys=keys, one_more=one_more)

    with ThreadPoolExecutor(max_workers=max(1, len(busy))) as pool:
        return sum(pool.map(answer, busy, tokens))


_OUTGOING: dict[StoredRound, Callable[[Workspace], list[OutgoingProject]]] = {
    "judge": judging.outgoing_of,
    "adjudicate": judging.adjudication_outgoing_of,
}
"""Pairs that people find in their projects."""


def _answer(
    project: Project,
    sent: Mapping[PairKey, Payload] | None,
    token: str,
    respond: Respond,
    *,
    keys: TaskKeys,
    one_more: Callable[[], None],
) -> int:
    """Answer the open tasks of a project; returns the number of tasks with an answer.

    sent: the tasks that matter, with what is predicted on them; None if all do.
    """
    done = 0
    with Gateway(project.url, token, keys=lambda: keys) as gateway:
        tasks = [(split_key(task.key), task) for task in gateway.tasks_of(project.number) if task.key is not None]
        # A server that was ended between an answer and its count has the answer: Label Studio shows the task no more.
        first = next((task.task_id for _, task in tasks if not task.annotations), None)
        looked_at = () if first is None else gateway.pull(project.number, task_ids=[first])
        uncounted = {task.key for task in looked_at if task.annotations}
        for pair_key, task in tasks:
            if sent is not None and pair_key not in sent:
                continue
            if not task.annotations and task.key not in uncounted:
                response = respond(pair_key)
                if response is None:
                    continue
                answer, why = response
                result = write_result(
                    {} if sent is None else sent[pair_key],
                    grade=answer.grade,
                    cannot_judge=answer.cannot_judge,
                    comment=answer.comment,
                    settled_by=why,
                )
                gateway.annotate(task.task_id, result, lead_time=answer.lead_time)
            done += 1
            one_more()
    return done
