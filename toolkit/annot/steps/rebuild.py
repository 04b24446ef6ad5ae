"""A lost database anew, from the study's files, the newest backup beside them, and the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlmodel import Session

from annot.base.errors import InputError, MissingInput, StoreError, StudioError
from annot.base.records import Addition, Assessor, Assignment, Pool, Query
from annot.base.templating import counted
from annot.corpus.corpus_facts import labels_of
from annot.corpus.facets.query_sentences import facet_sentences
from annot.formats.plan_file import read_plan_lines, read_pool_lines
from annot.formats.trec import rankings_sha256, read_run
from annot.judging.exchange.server_projects import Adopted, adopt_projects, own_projects
from annot.judging.exchange.servers import on_servers, people_with_servers
from annot.judging.ledger import LedgerFile, read_ledger_file
from annot.judging.plan_file import MANIFEST_FILE, PLAN_FILE, plan_sha256
from annot.labelstudio.annotations import account_of
from annot.labelstudio.gateway import Gateway
from annot.pools.frozen_rankings import lines_of
from annot.pools.pooling import CITED, MANUAL
from annot.store import people, pools, queries
from annot.store.database import Store, open_store
from annot.store.facet_labels import FacetLabels, put_corrections
from annot.store.judgements import read_judgements
from annot.store.ledger import Ledger, copy_revisions, put_ledger, read_ledger
from annot.store.task_secret import keep_secret, read_secret
from annot.study.old_database import database_of, newest_backup
from annot.study.workspace import Workspace, read_manifest

LATER_SECONDS = 2.0
"""An answer that was last changed so long after it was made was given more than once."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a database was made of."""

    queries: int
    corrected: int
    """Papers with corrected labels."""
    pools: int
    assignments: int
    tasks: int
    """Found on the server again; none of a dry run."""
    people: tuple[str, ...]
    without_account: tuple[str, ...]
    """People whose account neither the database nor a backup nor the server tells."""
    backup: Path | None
    """The newest backup in the study's folder, from which revisions of answers were taken."""
    revisions: int
    lost: tuple[str, ...]
    """What could not be had, each with its number."""


def rebuild(ws: Workspace, *, dry_run: bool) -> Rebuilt:
    """Put everything on record that files, the newest backup in the study's folder, and the server still have.

    Queries, labels and what else people decided come from the ledger, or from that backup; queries that neither has are
    taken by the labels of their facet (`annot facets` before). What is on record already stays. Raises InputError where
    a plan or a judgement is on record.
    """
    assignments, drawn = _plan(ws), _pools(ws)
    file = read_ledger_file(ws)
    lost: list[str] = []
    with ExitStack() as end:
        store = end.enter_context(open_store(ws.database_url, create=False))
        path = newest_backup(ws)
        old = None
        try:
            old = end.enter_context(database_of(path)) if path else None
        except StoreError as error:
            lost.append(f"everything in {path}: {error.message}")
        ledger = file.rows if file else read_ledger(old) if old else {}
        with store.read() as session:
            if people.read_plan(session) is not None or read_judgements(session):
                raise InputError(
                    f"{store.place}: holds a plan or judgements", hint="`annot restore` brings a backup back"
                )
            found = _queries(ws, session, ledger, {one.query_id for one in assignments}, lost)
            everyone = {person.assessor: person for person in people.read_assessors(session)}
        everyone = _known_people(ledger, old) | everyone
        names = {assignment.assessor for assignment in assignments}
        here, changed = _people(ws, store, everyone, names, lost)
        drawn = _with_makers(drawn, ledger)
        digests = _digests(ws, drawn)
        if without := sum(digest == pools.UNKNOWN_RANKINGS for digest in digests.values()):
            lost.append(
                f"what {without} of {len(drawn)} pools were drawn from: their rankings are not in pools/rankings"
            )
        facts = read_manifest(ws.pools / MANIFEST_FILE, hint="draw it with `annot plan`")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        plan = people.Plan(plan_sha256(assignments), int(facts["seed"]), now, facts["per_pair"])
        corrected = [
            FacetLabels(row["paper_id"], tuple(row["labels"].split(",")), row["origin"], row.get("corrected_at"))
            for row in ledger.get("facet_labels", ())
        ]
        with store.begin() as session:
            queries.put_queries(session, found)
            put_corrections(session, corrected)
            pools.replace_pools(session, drawn, rankings_sha256=digests)
            people.put_assessors(session, here)
            people.replace_plan(session, assignments, plan=plan)
            put_ledger(session, ledger)
            revisions = copy_revisions(old, session) if old else 0
            if old and (secret := read_secret(old)):
                keep_secret(session, secret)
            if dry_run:
                session.rollback()
        tasks = 0 if dry_run else _adopted(ws, store, lost)
    lost += _lost_revisions(file, revisions, changed, old=old is not None)
    return Rebuilt(
        queries=len(found),
        corrected=len(corrected),
        pools=len(drawn),
        assignments=len(assignments),
        tasks=tasks,
        people=tuple(person.assessor for person in here),
        without_account=tuple(person.assessor for person in here if person.account is None),
        backup=path if old else None,
        revisions=revisions,
        lost=tuple(lost),
    )


def _plan(ws: Workspace) -> tuple[Assignment, ...]:
    path = ws.pools / PLAN_FILE
    if not path.is_file():
        raise MissingInput(f"{path}: not there, so nobody knows who was to judge what", hint="restore a backup")
    return read_plan_lines(_lines(path), name=str(path))


def _pools(ws: Workspace) -> list[Pool]:
    paths = sorted(ws.query_pools.glob("*.jsonl"))
    if not paths:
        raise MissingInput(f"{ws.query_pools}: no pools", hint="restore a backup")
    return [read_pool_lines(_lines(path), name=str(path)) for path in paths]


def _with_makers(drawn: Sequence[Pool], ledger: Ledger) -> list[Pool]:
    """The pools with what the files do not tell of their additions: who made them, and when."""
    known = {(row["paper_id"], row["version"]): row for row in ledger.get("pool_addition", ())}

    def told(paper_id: str, addition: Addition) -> Addition:
        row = known.get((paper_id, addition.version), {})
        return replace(addition, made_by=row.get("made_by"), made_at=row.get("made_at"))

    return [replace(pool, additions=tuple(told(pool.paper_id, one) for one in pool.additions)) for pool in drawn]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _queries(ws: Workspace, session: Session, ledger: Ledger, planned: set[str], lost: list[str]) -> list[Query]:
    """The queries on record, then those of the ledger, then those of the plan, by the sentences of their facet."""
    known = {row["query_id"]: Query(**row | {"sentences": tuple(row["sentences"])}) for row in ledger.get("query", ())}
    known |= {query.query_id: query for query in queries.read_queries(session)}
    unknown = sorted(planned - known.keys())
    if unknown:
        lost.append(f"chosen sentences, corrected labels and types of papers of {counted(len(unknown), 'query')}")
    known |= {name: _query(ws, session, name) for name in unknown}
    return [known[name] for name in sorted(known)]


def _query(ws: Workspace, session: Session, query_id: str) -> Query:
    """The query of this id, by the sentences of its facet. Raises InputError where no facet ends the id."""
    facet = max((name for name in ws.settings.facets if query_id.endswith(f"-{name}")), key=len, default=None)
    if facet is None:
        raise InputError(f"query {query_id}: ends in no facet", hint="put [facets] of annot.toml back as it was")
    paper_id = query_id.removesuffix(f"-{facet}")
    labels = labels_of(session, [paper_id])[paper_id]
    return Query(query_id, paper_id, facet, facet_sentences(labels, facet, facets=ws.settings.facets))


def _known_people(ledger: Ledger, old: Session | None) -> dict[str, Assessor]:
    """The people of the ledger, with the accounts of the backup."""
    accounts = {one.assessor: one.account for one in people.read_assessors(old)} if old else {}
    rows = ledger.get("assessor", ())
    return {row["assessor"]: Assessor(**row, account=accounts.get(row["assessor"])) for row in rows}


def _people(
    ws: Workspace, store: Store, known: Mapping[str, Assessor], planned: set[str], lost: list[str]
) -> tuple[list[Assessor], int]:
    """Everyone, with the account that answered most in their project where none is known; and the changed answers."""
    found = {name: Assessor(name, None, False) for name in planned} | dict(known)
    changed = 0

    def look(gateway: Gateway, _names: Sequence[str]) -> None:
        nonlocal changed
        addresses = {number: address for address, number in gateway.user_ids().items()}
        for round, name, project in own_projects(ws, gateway):
            if round == "labels":
                continue
            answers = [one for task in gateway.snapshot(project)["tasks"] for one in task["annotations"]]
            changed += sum(_was_changed(answer) for answer in answers)
            person = found.get(name) or Assessor(name, None, round == "adjudicate")
            accounts = Counter(account_of(answer) for answer in answers)
            most = next((account for account, _ in accounts.most_common(1)), None)
            found[name] = replace(person, account=person.account or addresses.get(most or -1))

    try:
        away = on_servers(ws, store, people_with_servers(ws), look)
        lost += [f"the account of {one.assessor}, which only their server tells: {one.why}" for one in away]
    except StudioError as error:
        lost.append(f"accounts that only the server tells: {'; '.join([error.message, *error.faults])}")
    return [found[name] for name in sorted(found)], changed


def _adopted(ws: Workspace, store: Store, lost: list[str]) -> int:
    """Take the projects on the server on record; how many tasks they hold."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found: list[Adopted] = []

    def adopt(gateway: Gateway, _names: Sequence[str]) -> None:
        found.append(adopt_projects(ws, store, gateway, now=now))

    try:
        on_servers(ws, store, people_with_servers(ws), adopt)
    except StudioError:
        return 0
    if returned := sum(one.returned for one in found):
        lost.append(f"when {counted(returned, 'pair')} went back to an assessor: the reasons are on the server")
    if sealed := sum(one.sealed for one in found):
        lost.append(
            f"the questions of {counted(sealed, 'task')} on the server: .annot/task-keys opens the keys, put it back"
        )
    return sum(one.tasks for one in found)


def _was_changed(answer: Mapping[str, Any]) -> bool:
    made, last = (datetime.fromisoformat(answer[name]) for name in ("created_at", "updated_at"))
    return (last - made).total_seconds() > LATER_SECONDS


def _lost_revisions(file: LedgerFile | None, revisions: int, changed: int, *, old: bool) -> Iterator[str]:
    if file is not None and revisions < file.revisions:
        yield f"{file.revisions - revisions} of {file.revisions} revisions of answers; `annot pull` brings the last"
    elif not old and changed:
        yield f"{counted(changed, 'answer')} on the server, as before the last change"


def _digests(ws: Workspace, drawn: Sequence[Pool]) -> dict[str, str]:
    """The hashes of the rankings behind the pools, of those that are there."""
    found = {}
    runs = {}
    for path in ws.rankings.glob("*.run"):
        runs[path.stem] = read_run(_lines(path), name=str(path)).rankings
    for pool in drawn:
        methods = [method for method in pool.methods if method not in (CITED, MANUAL)]
        whole = all(method in runs for method in methods)
        rankings = {method: {pool.paper_id: runs[method].get(pool.paper_id, ())} for method in methods if whole}
        found[pool.paper_id] = rankings_sha256(lines_of(rankings), pool.paper_id) if whole else pools.UNKNOWN_RANKINGS
    return found
