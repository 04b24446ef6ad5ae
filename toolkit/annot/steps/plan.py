"""The plan: who judges what, in which order. It is drawn before anything is sent; what was not sent is taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, known_query, moment_now
from annot.base.records import Assignment
from annot.base.stats.inference import FEWEST_QUERIES, critical_t, fewest_for_median, least_effect
from annot.judging.plan_on_record import (
    MANIFEST_FILE,
    PLAN_FILE,
    frozen_hashes,
    plan_sha256,
    record_plan,
    take_from_plan,
    write_plan,
)
from annot.judging.planning import draw_plan, papers_by_facet, papers_shared, renumbered
from annot.judging.pool_samples import (
    check_cheap_label,
    design_of,
    documents_to_plan,
    kept_hashes,
    planned_whole,
    sample_of,
    share_of,
)
from annot.measuring.diagnosis.findings import papers_needed
from annot.measuring.evaluation.comparisons import ALPHA, FEWEST_PAPERS
from annot.measuring.forecast.sample import SharesForecast
from annot.pools.drawn_pools import refuse_growth
from annot.pools.pooling import refuse_zero
from annot.publishing.report.tables import Column, Columns, sentences
from annot.store import judgements, people, pools, projects
from annot.store.pools import read_queries, read_sample, replace_sample, to_judge
from annot.study.backups import keep_backup
from annot.study.workspace import Workspace, read_manifest, sha256_of


@dataclass(frozen=True, slots=True)
class Load:
    """What one assessor has to do."""

    assessor: str
    queries: int
    pairs: int
    repeats: int
    """Pairs of theirs that are asked a second time."""


LOADS = Columns[Load](
    [Column("assessor", lambda one: one.assessor)],
    [
        Column("queries", lambda one: one.queries),
        Column("pairs", lambda one: one.pairs),
        Column("repeats", lambda one: one.repeats),
    ],
)


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The plan: how many pairs, who has how many, and the hash to hold it by."""

    pairs: int
    assignments: int
    new: int
    sha256: str
    loads: tuple[Load, ...]
    notes: tuple[str, ...]
    forecast: SharesForecast | None = None
    """Of the share that is asked for, in a dry run."""


def make(
    ws: Workspace,
    *,
    queries: tuple[str, ...],
    shares: Mapping[str, float],
    seed: int | None,
    grow: bool,
    dry_run: bool,
    sample: float | None = None,
    only_new: bool = False,
) -> PlanSummary:
    """Draw the plan for the pools as they are; what is planned already keeps its place.

    `queries` limits what is added to these queries; without any, all queries are planned. shares: the hours of people
    relative to others; they are remembered, and those of people not named stay as they were. seed: None takes that of
    the plan on record, else annot.toml's. grow: pairs may be added to a study that was sent; raises InputError if
    they would be without it. sample: plan a sample of the pools with this expected share; None goes on as is on record,
    with all of the pools where there is no sample. only_new: where whole pools are planned already, these pairs stay
    and count as drawn for certain, and only the others are drawn.
    """
    with ws.reading() as session:
        known = {query.query_id: query for query in read_queries(session)}
        documents = pools.documents_by_query(session)
        everyone = people.read_assessors(session)
        current = people.read_assignments(session)
        before = people.read_plan(session)
        sent = projects.was_sent(session)
        sampled = sampled_before = read_sample(session)
        drawn_from = pools.read_pools(session)
        judged = pools.sample_judged_since(session) is not None
    if seed is None:
        seed = ws.settings.seed if before is None else before.seed
    ws = ws.replaced(seed=seed)
    for name in shares:
        check_name(name, [person.assessor for person in everyone], what="--share")
    wanted = documents_to_plan(known, documents, queries, current)
    check_cheap_label(
        ws.settings,
        None if sampled is None else sampled.design,
        samples=sample is not None or sampled is not None,
        topics=len({known[query_id].topic_id for query_id in wanted}),
    )
    if sample is not None or sampled is not None:
        whole = planned_whole(wanted, current, before, sample=sampled, only_new=only_new)
        refuse_zero(ws.settings.judging.missing)
        design = design_of(
            ws.settings.sample,
            share=sample,
            seed=seed,
            created=moment_now(),
            before=None if sampled is None else sampled.design,
            judged=judged,
        )
        # A query whose plan was taken back stays under the sample: over a study, the share is of all of them.
        under = sorted({*wanted, *(query_id for query_id, _ in (sampled.pairs if sampled else ()))})
        sampled = sample_of(drawn_from, [known[name] for name in under], design=design, before=sampled, whole=whole)
        wanted = to_judge(wanted, sampled)
    former = {person.assessor for person in everyone if person.left_on is not None}
    assessors = [
        person.assessor
        for person in everyone
        if person.assessor not in former and (not person.adjudicator or ws.settings.adjudication.adjudicator_may_assess)
    ]
    recorded = {person.assessor: person.share for person in everyone if person.share is not None}
    hours = {name: {**recorded, **shares}.get(name, 1.0) for name in assessors}
    assignments = draw_plan(
        wanted,
        known,
        assessors,
        per_pair=ws.settings.judging.per_pair,
        assignment=ws.settings.judging.assignment,
        repeats=ws.settings.judging.repeats,
        seed=seed,
        current=current,
        former=former,
        shares=hours,
    )
    new = set(assignments) - set(current)
    per_pair = ws.settings.judging.per_pair
    # Whoever takes the place of a person who left adds no pair; a third opinion on every pair is growth.
    known_pairs = {one.pair for one in current}.union(before.vacant if before else ())
    if before is not None and (before.per_pair or per_pair) < per_pair:
        known_pairs = set()
    given = {one.pair for one in new}
    added = Counter(query_id for query_id, _ in given - known_pairs)
    unheeded = () if new or before is None else tuple(_unheeded(ws, before, shares, recorded))
    if not dry_run:
        with ws.writing() as session:
            refuse_growth(session, added, grow=grow)
            replace_sample(session, sampled)
            people.set_shares(session, shares)
            if new or before is None:
                record_plan(ws, session, assignments, per_pair=per_pair)
        file, known_hashes = ws.pools / PLAN_FILE, frozen_hashes(ws)
        frozen = kept_hashes(known_hashes, before=sampled_before, after=sampled)
        in_file = file.is_file() and sha256_of(file) == plan_sha256(assignments)
        if new or not in_file or frozen != known_hashes:
            write_plan(ws if new or before is None else ws.replaced(seed=before.seed), assignments, frozen=frozen)
    members = Counter(one.pair for one in assignments if one.occasion == 1)
    needed = {
        "difference": papers_needed(len({one.assessor for one in assignments}), len(ws.settings.scale.grades)),
        "mean": FEWEST_QUERIES,
        "median": fewest_for_median(ws.settings.agreement.level),
    }
    n_topics = len({known[one.query_id].topic_id for one in assignments})
    shared, by_facet = papers_shared(assignments, known), papers_by_facet(assignments, known)
    notes = sentences(
        "commands.planned",
        sample=sampled,
        judged=judged,
        raised=judged and share_of(sampled) > share_of(sampled_before) > 0,
        short=sum(count < ws.settings.judging.per_pair for count in members.values()),
        per_pair=ws.settings.judging.per_pair,
        before=len(current),
        new=len(new),
        by_query=sorted(added.items()),
        filled=len(given & known_pairs),
        unheeded=unheeded,
        too_many=_too_many(hours, per_pair) if new or shares else (),
        n_assessors=len(assessors),
        pairs=len(members),
        sent=sent,
        wants_grow=sent and added and dry_run and not grow,
        dry_run=dry_run,
        needed=needed,
        shared=sorted(set(shared.values())),
        assignment=ws.settings.judging.assignment,
        n_topics=n_topics,
        visible=None
        if n_topics < FEWEST_PAPERS
        else least_effect(n_topics, critical=critical_t(n_topics, alpha=ALPHA)),
        fewest=FEWEST_PAPERS,
        n_people=len(shared),
        apart=[name for name, papers in shared.items() if papers < needed["difference"]],
        few=[(facet, papers) for facet, papers in by_facet.items() if papers < needed["median"]],
    )
    return PlanSummary(
        pairs=len({assignment.pair for assignment in assignments}),
        assignments=len(assignments),
        new=len(new),
        sha256=plan_sha256(assignments),
        loads=_loads(assignments, sorted({*assessors, *(one.assessor for one in assignments)})),
        notes=notes,
    )


def _unheeded(
    ws: Workspace, before: people.Plan, shares: Mapping[str, float], recorded: Mapping[str, float]
) -> Iterator[str]:
    """What was asked for otherwise than the plan on record was drawn, and changes nothing of it."""
    if ws.settings.seed != before.seed:
        yield f"seed {ws.settings.seed}"
    yield from (f"share {name}={share:g}" for name, share in shares.items() if recorded.get(name, 1.0) != share)
    manifest = ws.pools / MANIFEST_FILE
    drawn = read_manifest(manifest, hint="draw it with `annot plan`") if manifest.is_file() else {}
    for name in ("assignment", "repeats"):
        if name in drawn and drawn[name] != getattr(ws.settings.judging, name):
            yield f"{name} {getattr(ws.settings.judging, name)}"


def _too_many(hours: Mapping[str, float], per_pair: int) -> tuple[str, ...]:
    """Whose hours are more than those of a person who judges every pair, which is the most there is; all, if all do."""
    if len(hours) <= per_pair:
        return tuple(hours) if len(set(hours.values())) > 1 else ()
    return tuple(name for name, share in hours.items() if share * per_pair > sum(hours.values()))


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


def _loads(assignments: tuple[Assignment, ...], assessors: list[str]) -> tuple[Load, ...]:
    pairs = Counter(assignment.assessor for assignment in assignments if assignment.occasion == 1)
    repeats = Counter(assignment.assessor for assignment in assignments if assignment.occasion > 1)
    queries = Counter(name for name, _ in {(assignment.assessor, assignment.query_id) for assignment in assignments})
    return tuple(Load(name, queries[name], pairs[name], repeats[name]) for name in sorted(assessors))


def withdraw(ws: Workspace, *, queries: tuple[str, ...], sent: bool, dry_run: bool) -> int:
    """Take back the pairs that were neither sent nor judged; returns how many assignments they had.

    `queries` limits it to these queries. sent: take these queries back although they were sent, if no answer to them is
    on record. Their tasks go with the next push, and what was answered until then comes back into the plan. Raises
    MissingInput when nothing is planned, InputError when nothing can be taken back: people would go on with tasks that
    are not in the plan.
    """
    if sent and not queries:
        raise InputError(
            "--sent: found no --query, expected the queries to take back", hint="name each one with --query"
        )
    with ws.writing() as session:
        current = people.read_assignments(session)
        known = {query.query_id: query for query in read_queries(session)}
        if not current:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        chosen = {known_query(known, name).query_id for name in queries} or set(known)
        bound = {one.pair for one in judgements.read_judgements(session)}
        tasks = projects.read_sent(session)
        if not sent:
            bound |= {asked.pair for of_person in tasks.values() for asked in of_person}
        elif judged := sorted(chosen & {query_id for query_id, _ in bound}):
            raise InputError(f"{', '.join(judged)}: already judged", hint="a query with answers stays in the plan")
        leaving = {one for one in current if one.query_id in chosen and one.pair not in bound}
        if not leaving:
            of = f" of {', '.join(sorted(chosen))}" if queries else ""
            who = f"; tasks were sent to {', '.join(sorted(tasks))}" if tasks else ""
            raise InputError(
                f"every planned pair{of} was sent or judged{who}",
                hint="to take back a query without answers: `annot plan --withdraw --query QUERY --sent`",
            )
        remaining = renumbered(one for one in current if one not in leaving)
        if not dry_run:
            keep_backup(ws, "before plan withdraw")
            take_from_plan(ws, session, remaining, leaving, queries=chosen)
            if not (remaining or sent):
                replace_sample(session, None)
    if not dry_run:
        write_plan(ws, remaining)
    return len(leaving)
