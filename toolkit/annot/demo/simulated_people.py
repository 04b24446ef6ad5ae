"""Simulated people at work: they answer through the Label Studio API with accounts of their own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from annot.demo import packaged
from annot.demo.cast import ADJUDICATOR, CAST, SimulatedAssessor
from annot.demo.relevance import latent_relevance
from annot.exchange.connection import connect, passwords_file
from annot.exchange.sending import Parcel
from annot.labelstudio.accounts import Account, make_accounts
from annot.labelstudio.annotations import write_result
from annot.labelstudio.controls import GROUNDS, REASONS
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.tasks import split_key
from annot.records import Asked, Query
from annot.stats.seeding import generator
from annot.steps import adjudicate, push
from annot.store import people, projects
from annot.store.database import open_store
from annot.store.projects import Project, Round
from annot.store.queries import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

Relevance = Callable[[Query, str], float]
"""How similar a document is to a query in truth, in [0, 3]."""

Advance = Callable[[int, int | None], None]

Respond = Callable[[Asked, dict[str, Any]], tuple[list[dict[str, Any]], float]]
"""A person's answer to one task: the result to submit and the seconds it took."""


def judge(ws: Workspace, *, seed: int, truth: Relevance, advance: Advance) -> int:
    """Every assessor judges what is left in their project; returns how many judgements there are then."""
    known = _known(ws)
    reasons = [reason.value for reason in REASONS]

    def responder(person: SimulatedAssessor) -> Respond:
        def respond(asked: Asked, task: dict[str, Any]) -> tuple[list[dict[str, Any]], float]:
            relevance = truth(known[asked.query_id], asked.doc_id)
            answer = person.judge(*asked, relevance=relevance, seed=seed, reasons=reasons)
            result = write_result(task, grade=answer.grade, cannot_judge=answer.cannot_judge, comment=answer.comment)
            return result, answer.lead_time

        return respond

    return _work(ws, "judge", {person.name: responder(person) for person in CAST}, advance)


def settle(ws: Workspace, *, seed: int, truth: Relevance, advance: Advance) -> int:
    """The adjudicator settles what is left; returns how many decisions there are then."""
    known = _known(ws)
    with open_store(ws.database_url) as store, store.read() as session:
        disputes = {(dispute.query_id, dispute.doc_id): dispute for dispute in outcome_of(session).settlement.disputed}

    def respond(asked: Asked, task: dict[str, Any]) -> tuple[list[dict[str, Any]], float]:
        query_id, doc_id = asked.pair
        ruling = ADJUDICATOR.settle(
            query_id,
            doc_id,
            relevance=truth(known[query_id], doc_id),
            grades=[judgement.grade for judgement in disputes[asked.pair].judgements],
            seed=seed,
        )
        ground = GROUNDS[int(generator(seed, "ground", *asked.pair).integers(len(GROUNDS)))].value
        return write_result(task, grade=ruling.grade, comment=ruling.reason, settled_by=ground), ruling.lead_time

    return _work(ws, "adjudicate", {ADJUDICATOR.name: respond}, advance)


def demo_relevance() -> Relevance:
    """What is true of the packaged papers."""
    latents = packaged.latents()
    return lambda query, doc_id: latent_relevance(query.paper_id, query.facet, doc_id, latents)


def _known(ws: Workspace) -> dict[str, Query]:
    with open_store(ws.database_url) as store, store.read() as session:
        return {query.query_id: query for query in read_queries(session)}


def _work(ws: Workspace, round: Round, responders: Mapping[str, Respond], advance: Advance) -> int:
    """Everybody at once, each with their own token, each in the order of their own project."""
    with open_store(ws.database_url) as store:
        made = push.parcels_of(ws, store) if round == "judge" else adjudicate.parcels_of(ws, store)
        parcels = {parcel.assessor: parcel for parcel in made}
        with store.read() as session:
            every = projects.read_projects(session, round=round)
            accounts = {person.assessor: person.account or "" for person in people.read_assessors(session)}
    with connect(ws, url=None, api_key=None) as gateway:
        server = gateway.identity()
        project_of = {
            project.assessor: project for project in every if project.server == server and project.remote_id is not None
        }
        busy = [name for name in responders if name in project_of and name in parcels]
        opened = make_accounts(
            gateway.url,
            [accounts[name] for name in busy],
            invitation=gateway.invitation,
            passwords=passwords_file(ws),
        )
    tokens = dict(zip(busy, opened, strict=True))
    total = sum(len(parcels[name].tasks) for name in busy)
    answered = itertools.count(1)

    def one_more() -> None:
        advance(next(answered), total)

    with ThreadPoolExecutor(max_workers=max(1, len(busy))) as pool:
        counts = pool.map(
            lambda name: _answer(project_of[name], parcels[name], tokens[name], responders[name], one_more), busy
        )
        return sum(counts)


def _answer(project: Project, parcel: Parcel, account: Account, respond: Respond, one_more: Callable[[], None]) -> int:
    """Answer what is open in a project; returns how many tasks have an answer then."""
    assert project.remote_id is not None
    sent = dict(zip(parcel.asked, parcel.tasks, strict=True))
    with Gateway(project.url, account.token) as gateway:
        there = [(split_key(task.key), task) for task in gateway.tasks_of(project.remote_id) if task.key is not None]
        tasks = [(asked, task) for asked, task in there if asked in sent]
        for asked, task in tasks:
            if not task.annotations:
                result, lead_time = respond(asked, sent[asked])
                gateway.annotate(task.task_id, result, lead_time=lead_time)
            one_more()
        return len(tasks)
