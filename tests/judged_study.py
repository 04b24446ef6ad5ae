"""A judged and settled study of the packaged corpus, made without Label Studio: what a pull would bring is recorded.

The way to the plan is the steps' own, from the frozen rankings; simulated people answer, and what a server would know
of them (accounts, ids, payloads) stands in the store as after a real pull.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from uuid import UUID

import tomlkit
from annot.base.records import Adjudication, Assessor, Judgement, Source
from annot.base.settings import Settings
from annot.base.settings.sections import TERM_AND_EMBEDDING_METHODS
from annot.demo import packaged
from annot.demo.packaged import ADJUDICATOR, CAST
from annot.demo.simulated_people import latent_relevance
from annot.formats.trec import read_run
from annot.pools.pool_design import DesignOverrides
from annot.publishing.release.questions import answer_sheet, questions
from annot.steps import corpus, plan, pool, qrels
from annot.steps import query as queries
from annot.steps import run as runs
from annot.steps.init import init
from annot.store import adjudications, facet_labels, judgements, people, projects
from annot.store.database import Store, open_store
from annot.store.people import Notice, record_notices
from annot.store.queries import put_queries, read_queries
from annot.store.runs import Imported, put_import
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from demo_collection import papers

SEED = 13
SERVER = "http://studio.judges.example:8080"
ACCOUNTS = {
    "a1": "ada.planter@judges.example",
    "a2": "b2@judges.example",
    "a3": "c3@judges.example",
    "a4": "d4@judges.example",
    "j1": "jo.settler@judges.example",
}
COLLECTION = {
    "title": "A demonstration collection",
    "description": "Fictional abstracts, judged by programs.",
    "creators": ["The demo makers"],
    "licence": "CC-BY-4.0",
    "text_licence": "CC0-1.0",
    "url": "https://collection.example/demo",
    "published": "2031-02-03",
}
TOLD_AT = "2029-01-01T00:00:00+00:00"
REASONS = ("not readable", "not enough context")


def judged_study(
    folder: Path, *, query_papers: int, pulled_at: str = "2030-01-01T00:00:00+00:00", first_id: int = 1
) -> Workspace:
    """The study in `folder`, ready for a release: judged, adjudicated, with qrels, runs and an answered datasheet.

    query_papers: how many of the demonstration's nine, each with two facets. pulled_at: the clock of the pull.
    first_id: where the server's ids begin.
    """
    ws = _workspace(folder)
    source = ws.root / "papers.jsonl"
    source.write_text(packaged.corpus_text(), encoding="utf-8")
    corpus.add(ws, [source], form=None, dry_run=False, advance=_quietly)
    with open_store(ws.database_url, create=False) as store:
        labels = [facet_labels.FacetLabels(one.paper_id, one.labels or (), "carried") for one in papers()]
        with store.begin() as session:
            facet_labels.replace_labels(session, labels)
        for one in packaged.query_papers()[:query_papers]:
            for facet in one.facets:
                queries.add(ws, one.paper_id, facet=facet, sentences=None, dry_run=False)
        types = {one.paper_id: kind for one, kind in zip(packaged.query_papers(), cycle(Settings().queries.types))}
        with store.begin() as session:
            known = read_queries(session)
            put_queries(session, [replace(query, paper_type=types[query.paper_id]) for query in known])
        for name, text in packaged.frozen("rankings").items():
            ws.rankings.mkdir(parents=True, exist_ok=True)
            (ws.rankings / name).write_text(text, encoding="utf-8")
        pool.build(
            ws, overrides=DesignOverrides(), redraw=False, frozen=True, grow=False, dry_run=False, advance=_quietly
        )
        cast = [Assessor(name, account, name == ADJUDICATOR.name) for name, account in ACCOUNTS.items()]
        with store.begin() as session:
            people.put_assessors(session, cast)
        told = [
            Notice(one.assessor, "reasons" if one.adjudicator else "comments", "screen", TOLD_AT, True) for one in cast
        ]
        with store.begin() as session:
            record_notices(session, told)
        plan.make(ws, queries=(), shares={}, seed=None, grow=False, dry_run=False)
        _pull(store, ws.settings, pulled_at, first_id)
        with store.begin() as session:
            put_import(session, Imported(Source.SIMULATION, "0" * 64, {"notice": "Simulated.", "cast": []}))
    for name, text in packaged.frozen("runs").items():
        if name.endswith(".json"):
            record = json.loads(text)
            lines = packaged.frozen("runs")[f"{record['tag']}.run"].splitlines()
            runs.adopt(ws, record["tag"], read_run(lines, name=name).rankings, facts=record["settings"])
    qrels.write(ws, partial=False)
    return ws


def answered(**given: str) -> str:
    """The text of a `datasheet.toml` with an answer to every question; `given` by section and key, `__` between."""
    answers = {one.id: f"What is true of {one.id}." for one in questions() if one.kind == "prose"}
    answers["composition.people"] = "No."
    return answer_sheet(answers | {key.replace("__", "."): text for key, text in given.items()})


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _workspace(folder: Path) -> Workspace:
    init(folder, name="annot-demo", dry_run=False)
    path = folder / "annot.toml"
    settings = tomlkit.parse(path.read_text(encoding="utf-8"))
    settings["seed"] = SEED
    settings["collection"].update(COLLECTION)
    methods = [*TERM_AND_EMBEDDING_METHODS, "lsa", "cited"]
    settings["release"].update({"comments": "published", "reasons": "published"})
    settings["pool"].update({"per_method": 3, "ranking_depth": 50, "methods": methods})
    path.write_text(tomlkit.dumps(settings), encoding="utf-8")
    (folder / "datasheet.toml").write_text(answered(), encoding="utf-8")
    return Workspace.open(folder)


def _pull(store: Store, settings: Settings, pulled_at: str, first_id: int) -> None:
    """Everybody answers everything, and all of it is pulled."""
    truth = packaged.latents()
    with store.read() as session:
        known = {query.query_id: query for query in read_queries(session)}
        planned = people.read_assignments(session)
    users = {name: first_id + at for at, name in enumerate(ACCOUNTS)}
    cast = {person.name: person for person in CAST}
    given = []
    for at, one in enumerate(planned, start=first_id):
        query = known[one.query_id]
        relevance = latent_relevance(query.paper_id, query.facet, one.doc_id, truth)
        answer = cast[one.assessor].judge(*one.asked, relevance=relevance, seed=SEED, reasons=REASONS)
        judgement = Judgement(
            one.query_id,
            one.doc_id,
            one.assessor,
            answer.grade,
            cannot_judge=answer.cannot_judge,
            comment=answer.comment,
            judged_at=pulled_at,
            lead_time=answer.lead_time,
            occasion=one.occasion,
        )
        payload = {
            "id": at,
            "task": at,
            "project": users[one.assessor],
            "completed_by": users[one.assessor],
            "unique_id": str(UUID(int=at)),
            "lead_time": answer.lead_time,
        }
        given.append(judgements.SourcedJudgement(judgement, "label-studio", str(at), payload, server="1 of 2031"))
    with store.begin() as session:
        for name, user in users.items():
            kind: projects.StoredRound = "adjudicate" if name == ADJUDICATOR.name else "judge"
            project = projects.open_project(
                session, round=kind, assessor=name, server="1 of 2031", url=SERVER, version="1.23.2", account_id=user
            )
            projects.set_remote_project(session, project.project, user)
            tasks = {one.asked: at for at, one in enumerate(planned, start=first_id) if one.assessor == name}
            projects.record_tasks(session, project.project, tasks)
        judgements.record_judgements(session, given, recorded_at=pulled_at)
    with store.begin() as session:
        settled = []
        for at, dispute in enumerate(outcome_of(session, settings).settlement.disputed, start=first_id):
            query = known[dispute.query_id]
            ruling = ADJUDICATOR.settle(
                dispute.query_id,
                dispute.doc_id,
                relevance=latent_relevance(query.paper_id, query.facet, dispute.doc_id, truth),
                grades=[one.grade for one in dispute.judgements],
                seed=SEED,
            )
            decision = Adjudication(
                dispute.query_id,
                dispute.doc_id,
                ADJUDICATOR.name,
                ruling.grade,
                "shown",
                tuple(one.assessor for one in dispute.judgements),
                reason="one judged another facet",
                comment=ruling.comment,
                judged_at=pulled_at,
                lead_time=ruling.lead_time,
            )
            payload = {"id": at, "completed_by": users[ADJUDICATOR.name], "project": users[ADJUDICATOR.name]}
            settled.append(adjudications.SourcedAdjudication(decision, "label-studio", str(at), payload))
        adjudications.record_adjudications(session, settled, recorded_at=pulled_at)


def _quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""
