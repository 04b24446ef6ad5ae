"""Simulated people at work: they answer through the Label Studio API with accounts of their own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from annot.base.errors import InputError
from annot.base.records import Advance, Asked, Query
from annot.base.settings import Kind
from annot.base.stats.seeding import generator
from annot.demo import packaged
from annot.demo.packaged import ADJUDICATOR, CAST, REMARKS, Latent, MadeQuestion, SimulatedAnswer, SimulatedAssessor
from annot.judging.exchange.outgoing import Outgoing
from annot.judging.exchange.servers import connect, open_accounts, task_keys
from annot.judging.rounds import adjudication, judging
from annot.labelstudio.annotations import write_result
from annot.labelstudio.controls import DIFFERENCES, DIFFERENCES_OF_WHOLES
from annot.labelstudio.controls import reasons as reasons_in
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import Payload
from annot.labelstudio.tasks import TaskKeys, split_key
from annot.store import people, projects
from annot.store.projects import Project, StoredRound
from annot.store.queries import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

MOST = 3.0
"""Similarity runs from 0 to this, on the scale of the grades."""

JITTER = 0.3
"""What makes one pair a little closer than the next of its kind: uniform, at most this much either way."""


_LIKENESS = json.loads(packaged.read("likeness.json"))
"""What is alike. A problem is two digits; with a letter it is one of its sub-problems."""
RELATED_PROBLEMS = {frozenset(pair) for pair in _LIKENESS["related_problems"]}
AREAS = _LIKENESS["areas"]
RELATED_METHODS = {frozenset(pair) for pair in _LIKENESS["related_methods"]}

COARSE_METHODS = frozenset({"resource", "empirical"})
"""Families that name a kind of paper: two corpora, or two studies of others' systems, are made alike only at large."""


def latent_relevance(query_paper: str, facet: str, doc: str, latent: Mapping[str, Latent]) -> float:
    """Similarity of two papers under a facet, in [0, 3], from what they are about.

    The pair's own jitter follows from the three ids alone. A facet that the demo does not know is an InputError.
    """
    try:
        base = _BASE[facet](latent[query_paper], latent[doc])
    except KeyError:
        raise InputError(
            f"{query_paper} / {facet} / {doc} cannot be simulated: expected papers of the demo corpus and one of "
            f"the facets {', '.join(_BASE)}"
        ) from None
    shift = generator(0, "jitter", facet, query_paper, doc).uniform(-JITTER, JITTER)
    return float(min(MOST, max(0.0, base + shift)))


def answer_relevance(question: MadeQuestion, doc: str, latent: Mapping[str, Latent]) -> float:
    """How well a paper answers a question, in [0, 3], from what the paper is about.

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
    """Whether it is a methodological paper: one that proposes or tries a method, no resource and no study of others."""
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
"""How similar a document is to a query in truth, in [0, 3]."""


Respond = Callable[[Asked], tuple[SimulatedAnswer, str | None] | None]
"""A person's answer to what is asked, and, where it is a decision, why the assessors differ; None leaves it open."""


def judge(ws: Workspace, *, seed: int, truth: Relevance, advance: Advance) -> int:
    """Every assessor judges what is left in their project; returns how many judgements there are then."""
    return work(ws, "judge", judging_people(ws, seed=seed, truth=truth), advance)


def settle(ws: Workspace, *, seed: int, truth: Relevance, advance: Advance) -> int:
    """The adjudicator settles what is left; returns how many decisions there are then."""
    return work(ws, "adjudicate", settling_people(ws, seed=seed, truth=truth), advance)


def judging_people(ws: Workspace, *, seed: int, truth: Relevance) -> dict[str, Respond]:
    """Every assessor by name, and how they answer."""
    known = _known(ws)
    reasons = [reason.value for reason in reasons_in(ws.settings.collection.language)]
    remarks = REMARKS[ws.settings.kind]

    def respond(person: SimulatedAssessor, asked: Asked) -> tuple[SimulatedAnswer, None]:
        relevance = truth(known[asked.query_id], asked.doc_id)
        return person.judge(*asked, relevance=relevance, seed=seed, reasons=reasons, remarks=remarks), None

    return {person.name: partial(respond, person) for person in CAST}


def settling_people(ws: Workspace, *, seed: int, truth: Relevance) -> dict[str, Respond]:
    """The adjudicator by name, and how they settle the disputes that there are now."""
    known = _known(ws)
    remarks = REMARKS[ws.settings.kind]
    *causes, _ = DIFFERENCES if ws.settings.faceted else DIFFERENCES_OF_WHOLES
    with ws.reading() as session:
        disputes = {dispute.pair: dispute for dispute in outcome_of(session, ws.settings).settlement.disputed}

    def respond(asked: Asked) -> tuple[SimulatedAnswer, str]:
        relevance = truth(known[asked.query_id], asked.doc_id)
        grades = [judgement.grade for judgement in disputes[asked.pair].judgements]
        why = causes[int(generator(seed, "difference", *asked.pair).integers(len(causes)))].value
        answer = ADJUDICATOR.settle(*asked.pair, relevance=relevance, grades=grades, seed=seed, remarks=remarks)
        return answer, why

    return {ADJUDICATOR.name: respond}


def demo_relevance(kind: Kind = "facets") -> Relevance:
    """What is true of the packaged papers: how alike they are, or how well they answer the packaged questions."""
    latents = packaged.latents()
    if kind != "facets":
        asked = {one.topic.topic_id: one for one in packaged.questions()}
        return lambda query, doc_id: answer_relevance(asked[query.topic_id], doc_id, latents)
    return lambda query, doc_id: latent_relevance(query.topic_id, query.facet, doc_id, latents)


def _known(ws: Workspace) -> dict[str, Query]:
    with ws.reading() as session:
        return {query.query_id: query for query in read_queries(session)}


def work(ws: Workspace, round: StoredRound, responders: Mapping[str, Respond], advance: Advance) -> int:
    """All people answer at once, each with their own token and in the order of their own project.

    Returns how many tasks have an answer then; those that have one already are left as they are. In the rounds that
    make the collection, only what is still to be judged or settled is looked at. Raises StudioError if the server goes
    away; the same call goes on from there.
    """
    made: list[Outgoing] | None = None
    if round in _OUTGOING:
        made = _OUTGOING[round](ws)
    with ws.reading() as session:
        every = projects.read_projects(session, round=round)
        accounts = {person.assessor: person.account or "" for person in people.read_assessors(session)}
    asked_of = None if made is None else {one.assessor: one.tasks for one in made}
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


_OUTGOING: dict[StoredRound, Callable[[Workspace], list[Outgoing]]] = {
    "judge": judging.outgoing_of,
    "adjudicate": adjudication.outgoing_of,
}
"""What people are to find in their projects."""


def _answer(
    project: Project,
    sent: Mapping[Asked, Payload] | None,
    token: str,
    respond: Respond,
    *,
    keys: TaskKeys,
    one_more: Callable[[], None],
) -> int:
    """Answer what is open in a project; returns how many tasks have an answer then.

    sent: the tasks that matter, with what is predicted on them; None if all do.
    """
    assert project.remote_id is not None
    done = 0
    with Gateway(project.url, token, keys=lambda: keys) as gateway:
        there = [(split_key(task.key), task) for task in gateway.tasks_of(project.remote_id) if task.key is not None]
        # A server that was ended between an answer and its count has the answer: Label Studio shows the task no more.
        first = next((task.task_id for _, task in there if not task.annotations), None)
        looked_at = () if first is None else gateway.pull(project.remote_id, task_ids=[first])
        uncounted = {task.key for task in looked_at if task.annotations}
        for asked, task in there:
            if sent is not None and asked not in sent:
                continue
            if not task.annotations and task.key not in uncounted:
                response = respond(asked)
                if response is None:
                    continue
                answer, why = response
                result = write_result(
                    {} if sent is None else sent[asked],
                    grade=answer.grade,
                    cannot_judge=answer.cannot_judge,
                    comment=answer.comment,
                    settled_by=why,
                )
                gateway.annotate(task.task_id, result, lead_time=answer.lead_time)
            done += 1
            one_more()
    return done
