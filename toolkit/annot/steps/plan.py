"""Drawing the plan: who judges what, in which order, before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annot.diagnosis.findings import papers_needed
from annot.errors import InputError, MissingInput
from annot.names import check_name, known_query
from annot.planning.drawing import draw_plan
from annot.planning.handing_on import renumbered
from annot.planning.too_small import papers_by_facet, papers_shared
from annot.records import Assignment, Query
from annot.report.words import sentences
from annot.stats.clustered import FEWEST_QUERIES
from annot.stats.medians import fewest_for_median
from annot.store import judgements, people, projects
from annot.store.database import open_store
from annot.store.pools import documents_by_query
from annot.store.queries import read_queries
from annot.study.growth import refuse_growth
from annot.study.plan_file import plan_sha256, record_plan, write_plan
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Load:
    """What one assessor has to do."""

    assessor: str
    queries: int
    pairs: int
    repeats: int
    """Pairs of theirs that are asked a second time."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan: how many pairs, who has how many, and the hash to hold it by."""

    pairs: int
    assignments: int
    new: int
    sha256: str
    loads: tuple[Load, ...]
    notes: tuple[str, ...]


def make(
    ws: Workspace, *, queries: tuple[str, ...], shares: Mapping[str, float], seed: int | None, grow: bool, dry_run: bool
) -> Planned:
    """Draw the plan for the pools as they are; what is planned already keeps its place.

    `queries` limits what is added to these queries; without any, all queries are planned. shares: the hours of people
    relative to others; they are remembered, and those of people not named stay as they were. seed: None takes that of
    the plan on record, else annot.toml's. grow: pairs may be added to a study that was sent; raises InputError where
    they would be without it.
    """
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            known = {query.query_id: query for query in read_queries(session)}
            documents = documents_by_query(session)
            everyone = people.read_assessors(session)
            standing = people.read_assignments(session)
            before = people.read_plan(session)
            sent = projects.was_sent(session)
        if seed is None:
            seed = ws.settings.seed if before is None else before.seed
        ws = ws.replaced(seed=seed)
        for name in shares:
            check_name(name, [person.assessor for person in everyone], what="--share")
        wanted = _wanted(known, documents, queries, standing)
        former = {person.assessor for person in everyone if person.left_on is not None}
        assessors = [
            person.assessor
            for person in everyone
            if person.assessor not in former
            and (not person.adjudicator or ws.settings.adjudication.adjudicator_may_assess)
        ]
        recorded = {person.assessor: person.share for person in everyone if person.share is not None}
        assignments = draw_plan(
            wanted,
            known,
            assessors,
            per_pair=ws.settings.judging.per_pair,
            assignment=ws.settings.judging.assignment,
            repeats=ws.settings.judging.repeats,
            seed=seed,
            standing=standing,
            former=former,
            shares={**recorded, **shares},
        )
        new = set(assignments) - set(standing)
        added = Counter(query_id for query_id, _ in {one.pair for one in new})
        if not dry_run:
            with store.begin() as session:
                refuse_growth(session, added, grow=grow)
                people.set_shares(session, shares)
                record_plan(ws, session, assignments)
            write_plan(ws, assignments)
    members = Counter(one.pair for one in assignments if one.occasion == 1)
    needed = {
        "difference": papers_needed(len({one.assessor for one in assignments}), len(ws.settings.scale.grades)),
        "mean": FEWEST_QUERIES,
        "median": fewest_for_median(ws.settings.agreement.level),
    }
    shared, by_facet = papers_shared(assignments, known), papers_by_facet(assignments, known)
    notes = sentences(
        "commands.planned",
        short=sum(count < ws.settings.judging.per_pair for count in members.values()),
        per_pair=ws.settings.judging.per_pair,
        before=len(standing),
        new=len(new),
        by_query=sorted(added.items()),
        wants_grow=sent and new and dry_run and not grow,
        dry_run=dry_run,
        needed=needed,
        shared=sorted(set(shared.values())),
        n_people=len(shared),
        apart=[name for name, papers in shared.items() if papers < needed["difference"]],
        few=[(facet, papers) for facet, papers in by_facet.items() if papers < needed["median"]],
    )
    return Planned(
        pairs=len({assignment.pair for assignment in assignments}),
        assignments=len(assignments),
        new=len(new),
        sha256=plan_sha256(assignments),
        loads=_loads(assignments, sorted({*assessors, *(one.assessor for one in assignments)})),
        notes=notes,
    )


def shares_of(given: Iterable[str]) -> dict[str, float]:
    """`a1=2` as a person and their share. Raises InputError with everything that is not of that form."""
    found: dict[str, float] = {}
    faults = []
    for text in given:
        name, _, share = text.partition("=")
        try:
            found[name] = float(share)
        except ValueError:
            found[name] = 0.0
        if not name or not 0 < found[name] < float("inf"):
            faults.append(f"--share {text}: expected a name and a number above 0, such as a1=2")
    if faults:
        raise InputError("the shares cannot be read", faults=faults)
    return found


def withdraw(ws: Workspace, *, queries: tuple[str, ...], dry_run: bool) -> int:
    """Take back the pairs that were sent to nobody and that nobody has judged; returns how many assignments they had.

    `queries` limits it to these queries. Raises MissingInput when nothing is planned, InputError when nothing can be
    taken back: people would go on with tasks that nobody knows of.
    """
    with open_store(ws.database_url, create=False) as store, store.begin() as session:
        standing = people.read_assignments(session)
        if not standing:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        known = {query.query_id: query for query in read_queries(session)}
        chosen = {known_query(known, name).query_id for name in queries} or set(known)
        sent = projects.read_sent(session)
        bound = {asked.pair for of_person in sent.values() for asked in of_person}
        bound |= {one.pair for one in judgements.read_judgements(session)}
        leaving = {one for one in standing if one.query_id in chosen and one.pair not in bound}
        if not leaving:
            of = f" of {', '.join(sorted(chosen))}" if queries else ""
            who = f"; tasks were sent to {', '.join(sorted(sent))}" if sent else ""
            raise InputError(f"every planned pair{of} was sent or judged{who}", hint="another plan needs a new study")
        remaining = renumbered(one for one in standing if one not in leaving)
        if remaining:
            record_plan(ws, session, remaining)
        else:
            people.withdraw_plan(session)
        if dry_run:
            session.rollback()
            return len(leaving)
    write_plan(ws, remaining)
    return len(leaving)


def _wanted(
    known: dict[str, Query],
    documents: dict[str, tuple[str, ...]],
    queries: tuple[str, ...],
    standing: tuple[Assignment, ...],
) -> dict[str, tuple[str, ...]]:
    """The documents to judge of each query to plan; queries that stand in the plan stay in it."""
    chosen = {known_query(known, name).query_id for name in queries} or set(known)
    chosen |= {assignment.query_id for assignment in standing}
    without_pool = sorted(name for name in chosen if name not in documents)
    if not known:
        raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
    if without_pool:
        raise MissingInput(f"no pool for {', '.join(without_pool)}", hint="draw the pools with `annot pool`")
    return {name: documents[name] for name in sorted(chosen)}


def _loads(assignments: tuple[Assignment, ...], assessors: list[str]) -> tuple[Load, ...]:
    pairs = Counter(assignment.assessor for assignment in assignments if assignment.occasion == 1)
    repeats = Counter(assignment.assessor for assignment in assignments if assignment.occasion > 1)
    queries = Counter(name for name, _ in {(assignment.assessor, assignment.query_id) for assignment in assignments})
    return tuple(Load(name, queries[name], pairs[name], repeats[name]) for name in sorted(assessors))
