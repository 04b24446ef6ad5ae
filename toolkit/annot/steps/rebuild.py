"""A lost database anew, from the study's files and the server: for when there is no backup."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlmodel import Session

from annot.errors import InputError, MissingInput, StudioError
from annot.exchange.connection import on_servers
from annot.exchange.locating import marker_of
from annot.exchange.whose_server import people_with_servers
from annot.facets.query_sentences import facet_sentences
from annot.formats.plan_file import read_plan_lines, read_pool_lines
from annot.formats.trec import rankings_sha256, read_run
from annot.labelstudio.gateway import Gateway
from annot.planning import plan_lines
from annot.pooling import CITED
from annot.records import Assessor, Assignment, Pool, Query
from annot.report.terminal import told
from annot.store import people, pools, queries
from annot.store.database import Store, open_store
from annot.store.judgements import read_judgements
from annot.store.projects import Round
from annot.study.corpus_facts import labels_of
from annot.study.workspace import Workspace, read_manifest

ROUNDS: tuple[Round, ...] = ("judge", "adjudicate")
UNKNOWN = "unknown"
"""Stands for the hash of rankings that are no longer there."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a database was made of."""

    queries: int
    pools: int
    assignments: int
    people: tuple[str, ...]
    without_account: tuple[str, ...]
    """People whose account neither the database nor the server tells."""
    notes: tuple[str, ...]


def rebuild(ws: Workspace, *, url: str | None, api_key: str | None, dry_run: bool) -> Rebuilt:
    """Put queries, pools, people and plan on record as the files and the server have them.

    Labels of sentences have to be there (`annot facets`). What is on record already stays: queries whose sentences were
    chosen by hand, people with their accounts. Raises InputError where a plan or a judgement is on record.
    """
    assignments = _plan(ws)
    drawn = _pools(ws)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            if people.read_plan(session) is not None or read_judgements(session):
                raise InputError(
                    f"{store.place}: holds a plan or judgements, expected a new database",
                    hint="only a lost database is made anew; `annot restore` brings a backup back",
                )
            known = {query.query_id: query for query in queries.read_queries(session)}
            here = {person.assessor: person for person in people.read_assessors(session)}
            wanted = sorted({assignment.query_id for assignment in assignments})
            found = [known[name] if name in known else _query(ws, session, name) for name in wanted]
        notes = [
            f"{query.query_id}: taken with all sentences of its facet; was it by chosen sentences, add it before "
            "(`annot query add --sentences`)"
            for query in found
            if query.query_id not in known and not query.sentences
        ]
        names = {assignment.assessor for assignment in assignments}
        everyone = _people(ws, store, here, names, notes, url=url, api_key=api_key)
        if not dry_run:
            text = plan_lines(assignments)
            seed = int(read_manifest(ws.pools / "plan.manifest.json", hint="draw it with `annot plan`")["seed"])
            plan = people.Plan(
                hashlib.sha256(text.encode()).hexdigest(), seed, datetime.now(UTC).isoformat(timespec="seconds")
            )
            with store.begin() as session:
                queries.put_queries(session, found)
                pools.replace_pools(session, drawn, rankings_sha256=_digests(ws, drawn))
                people.put_assessors(session, everyone)
                people.replace_plan(session, assignments, plan=plan)
    return Rebuilt(
        queries=len(found),
        pools=len(drawn),
        assignments=len(assignments),
        people=tuple(person.assessor for person in everyone),
        without_account=tuple(person.assessor for person in everyone if person.account is None),
        notes=tuple(notes),
    )


def describe(rebuilt: Rebuilt) -> str:
    """What was made, and what comes next."""
    return told("rebuilt", rebuilt=rebuilt)


def _plan(ws: Workspace) -> tuple[Assignment, ...]:
    path = ws.pools / "plan.jsonl"
    if not path.is_file():
        raise MissingInput(f"{path}: not there, so nobody knows who was to judge what", hint="restore a backup")
    return read_plan_lines(_lines(path), name=str(path))


def _pools(ws: Workspace) -> list[Pool]:
    paths = sorted(ws.query_pools.glob("*.jsonl"))
    if not paths:
        raise MissingInput(f"{ws.query_pools}: no pools", hint="restore a backup")
    return [read_pool_lines(_lines(path), name=str(path)) for path in paths]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _query(ws: Workspace, session: Session, query_id: str) -> Query:
    """The query of this id, by the sentences of its facet. Raises InputError where no facet ends the id."""
    facet = max((name for name in ws.settings.facets if query_id.endswith(f"-{name}")), key=len, default=None)
    if facet is None:
        raise InputError(
            f"query {query_id}: found no facet at its end, expected one of {', '.join(ws.settings.facets)}",
            hint="put [facets] of annot.toml back as it was",
        )
    paper_id = query_id.removesuffix(f"-{facet}")
    labels = labels_of(session, [paper_id])[paper_id]
    return Query(query_id, paper_id, facet, facet_sentences(labels, facet, facets=ws.settings.facets))


def _people(
    ws: Workspace,
    store: Store,
    here: Mapping[str, Assessor],
    planned: set[str],
    notes: list[str],
    *,
    url: str | None,
    api_key: str | None,
) -> list[Assessor]:
    """Everyone of the plan and of the server's projects, with the account that answered most in each project."""
    found = dict(here)

    def look(gateway: Gateway, _names: Sequence[str]) -> None:
        addresses = {number: address for address, number in gateway.user_ids().items()}
        for round in ROUNDS:
            begin = marker_of(ws.settings.collection.name, round, "")
            for marker, project in gateway.projects_by_marker(begin).items():
                name = marker.removeprefix(begin)
                if name not in found:
                    account = addresses.get(_answered(gateway, project) or -1)
                    found[name] = Assessor(name, account, round == "adjudicate")

    try:
        away = on_servers(ws, store, people_with_servers(ws), look, url=url, api_key=api_key)
        notes += [f"{one.assessor}: no account could be read: {one.why}" for one in away]
    except StudioError as error:
        notes.append(f"no accounts could be read: {'; '.join([error.message, *error.faults])}")
    found |= {name: Assessor(name, None, False) for name in planned - found.keys()}
    return [found[name] for name in sorted(found)]


def _answered(gateway: Gateway, project: int) -> int | None:
    """The account that gave most answers of a project; None where there are none."""
    answers = Counter(annotation["completed_by"] for task in gateway.pull(project) for annotation in task.annotations)
    return next((account for account, _ in answers.most_common(1)), None)


def _digests(ws: Workspace, drawn: Sequence[Pool]) -> dict[str, str]:
    """The hashes of the rankings behind the pools, of those that are there."""
    found = {}
    runs = {}
    for path in ws.rankings.glob("*.run"):
        runs[path.stem] = read_run(_lines(path), name=str(path)).rankings
    for pool in drawn:
        methods = [method for method in pool.methods if method != CITED]
        whole = all(method in runs for method in methods)
        rankings = {method: {pool.paper_id: runs[method].get(pool.paper_id, ())} for method in methods if whole}
        found[pool.paper_id] = rankings_sha256(rankings, pool.paper_id) if whole else UNKNOWN
    return found
