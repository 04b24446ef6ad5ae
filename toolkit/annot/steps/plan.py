"""The plan: the pairs of each person, in order. It is drawn before the first push; unsent pairs can be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annot.base.errors import InputError, MissingInput
from annot.base.names import check_name, known_query, moment_now, sha256_of
from annot.base.records import Assessor, Assignment, Query
from annot.base.stats.inference import FEWEST_QUERIES, critical_t, fewest_for_median, least_effect
from annot.judging import plan_on_record, planning, pool_samples
from annot.measuring.diagnosis.findings import papers_needed
from annot.measuring.evaluation.comparisons import ALPHA, FEWEST_PAPERS
from annot.measuring.forecast.sample import SharesForecast
from annot.pools import drawn_pools, pooling
from annot.publishing.report.tables import Column, Columns, sentences
from annot.store import models, people, pools, projects
from annot.store.answers import JUDGEMENTS
from annot.study.backups import keep_backup
from annot.study.snapshot import Snapshot, snapshot_of
from annot.study.workspace import Workspace, read_manifest


@dataclass(frozen=True, slots=True)
class Load:
    """Work of one assessor."""

    assessor: str
    queries: int
    pairs: int
    repeats: int
    """Pairs of the assessor that come a second time."""


LOADS = Columns[Load](
    [Column("assessor", lambda load: load.assessor)],
    [
        Column("queries", lambda load: load.queries),
        Column("pairs", lambda load: load.pairs),
        Column("repeats", lambda load: load.repeats),
    ],
)


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A plan in figures, and the hash of its file."""

    pairs: int
    assignments: int
    new: int
    sha256: str
    loads: tuple[Load, ...]
    notes: tuple[str, ...]
    forecast: SharesForecast | None = None
    """Forecast for the requested share, in a dry run."""


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
    """Draw the plan for the pools as they are; planned pairs keep their places.

    queries: queries to add; without any, all queries are planned. shares: the hours of people
    relative to others; they are remembered, and those of people not named stay as they were. seed: None takes that of
    the plan on record, else annot.toml's. grow: pairs may be added to a study that was sent; raises InputError if
    pairs would be added without it. sample: plan a sample of the pools with this expected share; None keeps the share
    on record, with all of the pools if there is no sample. only_new: if whole pools are planned already, these pairs
    stay and count as drawn for certain, and only the others are drawn.
    """
    with ws.reading() as session:
        snapshot, documents = snapshot_of(session, ws), pools.documents_by_query(session, withdrawn=True)
        judged = pools.sample_judged_since(session) is not None
        sent = projects.was_sent(session)
        settling = plan_on_record.adjudicators_of(session)
    current, before = snapshot.assignments, snapshot.plan
    queries_by_id = {query.query_id: query for query in snapshot.queries}
    ws = ws.replaced(seed=None if before is None else before.seed).replaced(seed=seed)
    judging, recorded_shares = ws.settings.judging, _recorded_shares(snapshot.people)
    for name in shares:
        check_name(name, [person.assessor for person in snapshot.people], what="--share")
    pooled = pool_samples.documents_to_plan(queries_by_id, documents, queries, current)
    drawn_sample = _sample(ws, snapshot, pooled, share=sample, only_new=only_new, judged=judged)
    hours = _hours(ws, snapshot.people, recorded_shares | dict(shares))
    assignments = planning.draw_plan(
        pools.to_judge(pooled, drawn_sample),
        queries_by_id,
        list(hours),
        per_pair=judging.per_pair,
        assignment=judging.assignment,
        repeats=judging.repeats,
        seed=ws.settings.seed,
        current=current,
        shares=hours,
        withdrawn=snapshot.outcome.withdrawn,
        barred={pair: names & hours.keys() for pair, names in settling.items()},
    )
    new = set(assignments) - set(current)
    added, filled = _new_pairs(new, current, before, judging.per_pair)
    if not dry_run:
        with ws.writing() as session:
            if drawn_sample is not None and pools.withdrawn_ids(session) != snapshot.outcome.withdrawn:
                raise InputError("documents were withdrawn while the sample was drawn", hint="run this command again")
            drawn_pools.refuse_growth(session, added, grow=grow)
            pools.replace_sample(session, drawn_sample)
            people.set_shares(session, shares)
            if new or before is None:
                plan_on_record.record_plan(ws, session, assignments, per_pair=judging.per_pair)
        _write_file(ws, snapshot, assignments, drawn_sample)
    members = Counter(assignment.pair for assignment in assignments if assignment.occasion == 1)
    raised = pool_samples.share_of(drawn_sample) > pool_samples.share_of(snapshot.sample) > 0
    notes = sentences(
        "commands.planned",
        sample=drawn_sample,
        judged=judged,
        raised=judged and raised,
        short=sum(count < judging.per_pair for count in members.values()),
        per_pair=judging.per_pair,
        before=len(current),
        new=len(new),
        by_query=sorted(added.items()),
        filled=filled,
        unheeded=() if new else tuple(_unheeded(ws, before, shares, recorded_shares)),
        pairs=len(members),
        sent=sent,
        wants_grow=all((sent, added, dry_run, not grow)),
        dry_run=dry_run,
    )
    return PlanSummary(
        pairs=len({assignment.pair for assignment in assignments}),
        assignments=len(assignments),
        new=len(new),
        sha256=plan_on_record.plan_sha256(assignments),
        loads=_loads(assignments, hours),
        notes=notes + _power(ws, assignments, queries_by_id),
    )


def _write_file(
    ws: Workspace, snapshot: Snapshot, assignments: tuple[Assignment, ...], sample: models.PoolSample | None
) -> None:
    """Write the file of the plan and its manifest, unless they are up to date."""
    file, known_hashes = ws.pools / plan_on_record.PLAN_FILE, plan_on_record.frozen_hashes(ws)
    frozen = pool_samples.kept_hashes(known_hashes, before=snapshot.sample, after=sample)
    in_file = file.is_file() and sha256_of(file) == plan_on_record.plan_sha256(assignments)
    new = set(assignments) - set(snapshot.assignments)
    manifest = ws.pools / plan_on_record.MANIFEST_FILE
    # Pools that were drawn again have a file of their own even if no pair came.
    rests_on = read_manifest(manifest, hint="").get("inputs") if manifest.is_file() else None
    if new or not in_file or frozen != known_hashes or rests_on != plan_on_record.inputs_of(ws):
        seed = ws.settings.seed if new or snapshot.plan is None else snapshot.plan.seed
        plan_on_record.write_plan(ws.replaced(seed=seed), assignments, frozen=frozen)


def _sample(
    ws: Workspace,
    snapshot: Snapshot,
    pooled: Mapping[str, tuple[str, ...]],
    *,
    share: float | None,
    only_new: bool,
    judged: bool,
) -> models.PoolSample | None:
    """The sample to plan, with the part of it on record; None if all documents of the pools are planned.

    pooled: the documents of the queries to plan. judged: True if a pair of the sample is judged.
    """
    recorded, queries = snapshot.sample, {query.query_id: query for query in snapshot.queries}
    recorded_design = None if recorded is None else recorded.design
    pool_samples.check_cheap_label(
        ws.settings,
        recorded_design,
        samples=share is not None or recorded is not None,
        topics=len({queries[query_id].topic_id for query_id in pooled}),
    )
    if share is None and recorded is None:
        return None
    whole = pool_samples.planned_whole(pooled, snapshot.assignments, snapshot.plan, sample=recorded, only_new=only_new)
    pooling.refuse_zero(ws.settings.judging.missing)
    design = pool_samples.design_of(
        ws.settings.sample,
        share=share,
        seed=ws.settings.seed,
        created=moment_now(),
        before=recorded_design,
        judged=judged,
    )
    # A query whose plan was taken back stays under the sample: over a study, the share is of all of them.
    sampled = sorted({*pooled, *(query_id for query_id, _ in (recorded.pairs if recorded else ()))})
    return pool_samples.sample_of(
        snapshot.pools,
        [queries[name] for name in sampled],
        design=design,
        before=recorded,
        whole=whole,
        withdrawn=snapshot.outcome.withdrawn,
    )


def _recorded_shares(everyone: Iterable[Assessor]) -> dict[str, float]:
    return {person.assessor: person.share for person in everyone if person.share is not None}


def _hours(ws: Workspace, everyone: Iterable[Assessor], shares: Mapping[str, float]) -> dict[str, float]:
    """Hours of each person who can get pairs, relative to the others."""
    may_assess = ws.settings.adjudication.adjudicator_may_assess
    return {
        person.assessor: shares.get(person.assessor, 1.0)
        for person in everyone
        if person.left_on is None and (may_assess or not person.adjudicator)
    }


def _new_pairs(
    new: Iterable[Assignment], current: Iterable[Assignment], before: models.Plan | None, per_pair: int
) -> tuple[Counter[str], int]:
    """Number of pairs that the plan grows by, for each query, and of planned pairs that get an assessor they lacked.

    A person who takes the place of one who left adds no pair; a third opinion on every pair is growth.
    """
    planned = {assignment.pair for assignment in current}.union(before.vacant if before else ())
    if before is not None and (before.per_pair or per_pair) < per_pair:
        planned = set()
    pairs = {assignment.pair for assignment in new}
    return Counter(query_id for query_id, _ in pairs - planned), len(pairs & planned)


def _power(ws: Workspace, assignments: Sequence[Assignment], queries: Mapping[str, Query]) -> tuple[str, ...]:
    """Sentences on the differences that a study of this size can show."""
    needed = {
        "difference": papers_needed(
            len({assignment.assessor for assignment in assignments}), len(ws.settings.scale.grades)
        ),
        "mean": FEWEST_QUERIES,
        "median": fewest_for_median(ws.settings.agreement.level),
    }
    n_topics = len({queries[assignment.query_id].topic_id for assignment in assignments})
    shared, by_facet = planning.papers_shared(assignments, queries), planning.papers_by_facet(assignments, queries)
    return sentences(
        "commands.plan_power",
        words=ws.vocabulary,
        per_pair=ws.settings.judging.per_pair,
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


def _unheeded(
    ws: Workspace, before: models.Plan | None, shares: Mapping[str, float], recorded: Mapping[str, float]
) -> Iterator[str]:
    """Options that differ from those of the plan on record, which they cannot change any more."""
    if before is None:
        return
    if ws.settings.seed != before.seed:
        yield f"seed {ws.settings.seed}"
    yield from (f"share {name}={share:g}" for name, share in shares.items() if recorded.get(name, 1.0) != share)
    manifest = ws.pools / plan_on_record.MANIFEST_FILE
    drawn = read_manifest(manifest, hint="draw it with `annot plan`") if manifest.is_file() else {}
    for name in ("assignment", "repeats"):
        if name in drawn and drawn[name] != getattr(ws.settings.judging, name):
            yield f"{name} {getattr(ws.settings.judging, name)}"


def shares_of(texts: Iterable[str]) -> dict[str, float]:
    """People and their shares, from texts such as `a1=2`. Raises InputError with every text that has another form."""
    shares: dict[str, float] = {}
    faults = []
    for text in texts:
        name, _, share = text.partition("=")
        try:
            shares[name] = float(share)
        except ValueError:
            shares[name] = 0.0
        if not name or not 0 < shares[name] < float("inf"):
            faults.append(f"--share {text}: expected a name and a number above 0, such as a1=2")
    if faults:
        raise InputError("the shares cannot be read", faults=faults)
    return shares


def _loads(assignments: tuple[Assignment, ...], assessors: Iterable[str]) -> tuple[Load, ...]:
    pairs = Counter(assignment.assessor for assignment in assignments if assignment.occasion == 1)
    repeats = Counter(assignment.assessor for assignment in assignments if assignment.occasion > 1)
    queries = Counter(name for name, _ in {(assignment.assessor, assignment.query_id) for assignment in assignments})
    return tuple(
        Load(name, queries[name], pairs[name], repeats[name]) for name in sorted({*assessors, *pairs, *repeats})
    )


def withdraw(ws: Workspace, *, queries: tuple[str, ...], sent: bool, dry_run: bool) -> int:
    """Take back the pairs that were neither sent nor judged; returns the number of their assignments.

    queries: take back only these. sent: take these queries back although they were sent, if no answer to them is
    on record. The next push withdraws their tasks, and answers given until then return to the plan. Raises
    MissingInput if nothing is planned, InputError if nothing can be taken back: people would go on with tasks that
    are not in the plan.
    """
    if sent and not queries:
        raise InputError(
            "--sent: found no --query, expected the queries to take back", hint="name each one with --query"
        )
    with ws.writing() as session:
        current = people.read_assignments(session)
        queries_by_id = pools.queries_by_id(session)
        if not current:
            raise MissingInput("nothing is planned", hint="draw the plan with `annot plan`")
        chosen = {known_query(queries_by_id, name).query_id for name in queries} or set(queries_by_id)
        bound = _bound_pairs(session, chosen, sent=sent)
        leaving = {row for row in current if row.query_id in chosen and row.pair not in bound}
        if not leaving:
            people_with_tasks = sorted(projects.read_sent(session))
            of_queries = f" of {', '.join(sorted(chosen))}" if queries else ""
            sent_note = f"; tasks were sent to {', '.join(people_with_tasks)}" if people_with_tasks else ""
            raise InputError(
                f"every planned pair{of_queries} was sent or judged{sent_note}",
                hint="to take back a query without answers: `annot plan --withdraw --query QUERY --sent`",
            )
        remaining = planning.renumbered(row for row in current if row not in leaving)
        if not dry_run:
            keep_backup(ws, "before plan withdraw")
            plan_on_record.take_from_plan(ws, session, remaining, leaving, queries=chosen)
            if not (remaining or sent):
                pools.replace_sample(session, None)
    if not dry_run:
        plan_on_record.write_plan(ws, remaining)
    return len(leaving)


def _bound_pairs(session: models.Session, queries: set[str], *, sent: bool) -> set[tuple[str, str]]:
    """Pairs that stay in the plan: judged ones and, unless `sent`, those that were sent.

    Raises InputError with `sent` if one of the queries is judged.
    """
    judged = {judgement.pair for judgement in JUDGEMENTS.records(session)}
    if not sent:
        return judged | {pair_key.pair for tasks in projects.read_sent(session).values() for pair_key in tasks}
    if with_answers := sorted(queries & {query_id for query_id, _ in judged}):
        raise InputError(f"{', '.join(with_answers)}: already judged", hint="a query with answers stays in the plan")
    return judged
