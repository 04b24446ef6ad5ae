"""The labels of query papers to people who correct them, and their corrections back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from annot.base.errors import InputError, MissingInput, StudioError
from annot.base.names import check_name
from annot.base.records import Advance, Paper, Query, Source
from annot.corpus.corpus_facts import labels_of, papers_of
from annot.judging.exchange.connection import Away, away_finding, away_notes, on_servers
from annot.judging.exchange.corrected_labels import Correction, correction_of
from annot.judging.exchange.locating import locate, marker_of
from annot.judging.exchange.material import check_labels
from annot.judging.exchange.parcels import Parcel, check_spec, private_words, spec_of
from annot.judging.exchange.sending import bring_project
from annot.judging.exchange.whose_server import isolated, people_with_servers
from annot.labelstudio.annotations import account_of
from annot.labelstudio.delivery import deliver
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.screens import check_predictions, label_instructions_html
from annot.labelstudio.task_lint import lint_tasks
from annot.labelstudio.tasks import LABELS_SHOWN, facets_task, pair_key
from annot.store import people, projects
from annot.store.database import Store, open_store
from annot.store.facet_labels import FacetLabels, put_corrections, read_labels
from annot.store.projects import Project
from annot.store.queries import put_queries, read_queries
from annot.study import guidelines
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SentLabels:
    """One person's project after a push."""

    assessor: str
    planned: int
    there: int
    sent: int
    address: str


@dataclass(frozen=True, slots=True)
class PulledLabels:
    """What one person has corrected."""

    assessor: str
    planned: int
    answered: int
    sentences: int
    """Sentences whose label is another one now."""
    queries: int
    """Queries that are other sentences now."""


def push(
    ws: Workspace, names: Sequence[str], *, dry_run: bool, advance: Advance
) -> tuple[tuple[SentLabels, ...], tuple[str, ...]]:
    """Send each query paper to one of the people named; a paper that somebody has stays with them.

    Returns the rows, and what a person should know. Raises MissingInput without queries, InputError for people who are
    not known or have no account on the server.
    """
    with open_store(ws.database_url, create=False) as store:
        return _push(ws, store, names, dry_run=dry_run, advance=advance)


def _push(
    ws: Workspace,
    store: Store,
    names: Sequence[str],
    *,
    dry_run: bool,
    advance: Advance,
) -> tuple[tuple[SentLabels, ...], tuple[str, ...]]:
    papers, everyone = _material(ws, store)
    for name in names:
        check_name(name, list(everyone), what="assessor")
    if not papers:
        raise MissingInput("no queries", hint="choose them with `annot query choose` or `annot query add`")
    screen = guidelines.screen(ws, "facets")
    numbers = {paper_id: f"{number} of {len(papers)}" for number, paper_id in enumerate(papers, start=1)}
    tasks = {key_of(name): facets_task(key_of(name), papers[name], progress=numbers[name]) for name in papers}
    with store.read() as session:
        private = private_words(ws, session)
    instructions = label_instructions_html(guidelines.page(ws, "labels"), labels=ws.settings.labels.names)
    specs = {name: spec_of(ws, Parcel(name, screen, instructions, {}), "labels") for name in names}
    for name, spec in specs.items():
        check_spec(spec, name, private)
    lint_tasks(list(tasks.values()), screen="facets", labels=ws.settings.labels.names, private=private)
    check_predictions(screen, list(tasks.values()))
    if dry_run:
        shares = (len([*papers][at :: len(names)]) for at in range(len(names)))
        return tuple(SentLabels(name, share, 0, 0, "not sent") for name, share in zip(names, shares, strict=True)), ()
    given: dict[str, str] = {}
    accounts: dict[str, int] = {}
    sent: list[SentLabels] = []
    notes: list[str] = []

    def look(gateway: Gateway, here: Sequence[str]) -> None:
        accounts.update(_accounts(gateway, {name: everyone[name] for name in here if name in names}))
        given.update(_given(ws, store, gateway, here, tasks))

    def send(gateway: Gateway, here: Sequence[str]) -> None:
        server, version = gateway.identity(), gateway.version()
        for name in here:
            with store.begin() as session:
                known = projects.open_project(
                    session,
                    round="labels",
                    assessor=name,
                    server=server,
                    url=gateway.url,
                    version=version,
                    account_id=accounts[name],
                    now=datetime.now(UTC).isoformat(timespec="seconds"),
                )
            brought = bring_project(store, gateway, specs[name], known, tasks)
            project = brought.project_id
            notes.extend(brought.notes(name))
            mine = [tasks[key] for key, person in given.items() if person == name]
            delivery = deliver(gateway, project, mine)
            there = len(mine) - delivery.sent
            sent.append(SentLabels(name, len(mine), there, delivery.sent, gateway.labelling_url(project)))
            advance(len(sent), len(names))

    _refuse_away(on_servers(ws, store, _asked(ws, everyone, names), look))
    _spread(given, tasks, names)
    _refuse_away(on_servers(ws, store, names, send))
    return tuple(sent), tuple(notes)


def pull(
    ws: Workspace, *, dry_run: bool, advance: Advance
) -> tuple[tuple[PulledLabels, ...], tuple[str, ...], tuple[Away, ...]]:
    """Record every corrected abstract: its labels, and the sentences of its queries.

    Returns the rows, the notes, and whose server could not be asked.
    """
    rows: list[PulledLabels] = []
    notes: list[str] = []
    with open_store(ws.database_url, create=False) as store:
        papers, everyone = _material(ws, store)
        queries, sent = _queries(store)
        made_at = _made_at(store, papers)
        by_key = {key_of(paper_id): paper for paper_id, paper in papers.items()}

        def take(gateway: Gateway, here: Sequence[str]) -> None:
            ids = gateway.user_ids()
            for known in _known(store, gateway, here):
                take_project(gateway, known, {ids.get((everyone[known.assessor] or "").lower()), known.account_id})

        def take_project(gateway: Gateway, known: Project, accounts: set[int | None]) -> None:
            name = known.assessor
            project = _located(ws, gateway, known, by_key)
            if project is None:
                notes.append(f"{name}: the project is gone from {gateway.url}; what was pulled of it before holds")
                return
            pulled = [task for task in gateway.pull(project) if task.key in by_key]
            corrections = []
            for task in pulled:
                answers = [one for one in task.annotations if not one.get("was_cancelled")]
                own = [one for one in answers if account_of(one) in accounts - {None}]
                if len(own) < len(answers):
                    notes.append(f"{name}: {len(answers) - len(own)} answer(s) of another account are not taken")
                if own:
                    answer = max(own, key=lambda one: (one["updated_at"], one["id"]))
                    paper = by_key[task.key or ""]
                    last = made_at.get(paper.paper_id)
                    if last is not None and datetime.fromisoformat(answer["updated_at"]) < last:
                        notes.append(
                            f"{paper.paper_id}: {name}'s correction is older than the one on record, which holds"
                        )
                    else:
                        corrections.append(correction_of(ws, paper, answer, queries, sent))
            if not dry_run and corrections:
                with store.begin() as session:
                    put_corrections(session, (_labels(one) for one in corrections if one.paper.labels is not None))
                    put_queries(session, [query for one in corrections for query in one.queries])
            rows.append(
                PulledLabels(
                    name,
                    len(pulled),
                    len(corrections),
                    sum(one.changed for one in corrections),
                    sum(len(one.queries) for one in corrections),
                )
            )
            notes.extend(note for one in corrections for note in one.notes)
            advance(len(rows), None)

        away = on_servers(ws, store, _asked(ws, everyone, ()), take)
    if not rows and not away:
        raise MissingInput("no labels were sent to be corrected", hint="send them with `annot facets push NAME`")
    return tuple(rows), (*notes, *away_notes(away)), away


def key_of(paper_id: str) -> str:
    """The key of a paper's task."""
    return pair_key(paper_id, LABELS_SHOWN)


def _material(ws: Workspace, store: Store) -> tuple[dict[str, Paper], dict[str, str | None]]:
    """The query papers with their labels, by id, and everybody's account."""
    with store.read() as session:
        ids = sorted({query.paper_id for query in read_queries(session)})
        labels = labels_of(session, ids)
        everyone = {person.assessor: person.account for person in people.read_assessors(session)}
    check_labels(ws, labels)
    found = papers_of(ws, ids)
    return {paper_id: replace(found[paper_id], labels=labels[paper_id]) for paper_id in ids}, everyone


def _queries(store: Store) -> tuple[dict[str, list[Query]], set[str]]:
    """The queries of each paper, and the papers of which some query was sent to be judged."""
    with store.read() as session:
        queries: dict[str, list[Query]] = {}
        for query in read_queries(session):
            queries.setdefault(query.paper_id, []).append(query)
        asked = {
            asked.query_id
            for project in projects.read_projects(session)
            for asked in projects.read_tasks(session, project.project)
        }
    sent = {paper_id for paper_id, own in queries.items() if any(query.query_id in asked for query in own)}
    return queries, sent


def _made_at(store: Store, papers: Iterable[str]) -> dict[str, datetime]:
    """When the corrections on record were made, as far as that is known."""
    with store.read() as session:
        return {
            one.paper_id: datetime.fromisoformat(one.corrected_at)
            for one in read_labels(session, papers)
            if one.corrected_at is not None
        }


def _labels(one: Correction) -> FacetLabels:
    return FacetLabels(one.paper.paper_id, one.paper.labels or (), Source.CORRECTED, one.made_at)


def _asked(ws: Workspace, everyone: Iterable[str], names: Sequence[str]) -> list[str]:
    """Those who may have papers, and those named: in mode `server` somebody without a server has none."""
    with_server = people_with_servers(ws)
    return [name for name in everyone if name in names or name in with_server or not isolated(ws)]


def _refuse_away(away: Sequence[Away]) -> None:
    """Raise StudioError where a server is away: nobody knows which papers its person has."""
    if (found := away_finding(away, "annot facets push")) is not None:
        raise StudioError(found.message, faults=found.faults, hint=found.hint)


def _known(store: Store, gateway: Gateway, people: Sequence[str]) -> list[Project]:
    """The projects of these people on the server, as they are on record."""
    server = gateway.identity()
    with store.read() as session:
        every = projects.read_projects(session, round="labels")
    return [one for one in every if one.server == server and one.assessor in people and one.remote_id is not None]


def _located(ws: Workspace, gateway: Gateway, known: Project, own: Collection[str]) -> int | None:
    marker = marker_of(ws.settings.collection.name, "labels", known.assessor)
    found = locate(gateway, known, marker=marker, own=own)
    return None if found is None else found.project_id


def _given(
    ws: Workspace, store: Store, gateway: Gateway, people: Sequence[str], tasks: dict[str, Any]
) -> dict[str, str]:
    """Who of these people has which papers already, by their tasks' keys."""
    given: dict[str, str] = {}
    for known in _known(store, gateway, people):
        project = _located(ws, gateway, known, tasks)
        if project is not None:
            given |= {
                task.key: known.assessor
                for task in gateway.tasks_of(project)
                if task.key is not None and task.key in tasks
            }
    return given


def _spread(given: dict[str, str], tasks: Iterable[str], names: Sequence[str]) -> None:
    """Give each paper that nobody has to whoever of those named has fewest."""
    load = Counter(given.values())
    for key in tasks:
        if key not in given:
            given[key] = min(names, key=lambda person: (load[person], names.index(person)))
            load[given[key]] += 1


def _accounts(gateway: Gateway, accounts: dict[str, str | None]) -> dict[str, int]:
    """The server's id of each account. Raises InputError naming those without one."""
    ids = gateway.user_ids()
    found = {name: ids[account.lower()] for name, account in accounts.items() if account and account.lower() in ids}
    faults = [f"{name}: the server has no account of this person" for name in accounts if name not in found]
    if faults:
        hint = "give an address with `annot assessor add`, and let the person sign up: `annot invite` has the link"
        raise InputError(f"{len(faults)} person(s) cannot open {gateway.url}", faults=faults, hint=hint)
    return found
