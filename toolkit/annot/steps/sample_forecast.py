"""Forecasts of the work and the certainty of a sample of the pools, before the first judgement.

Shares side by side, and the share that hours or a budget allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import counted
from annot.base.records import Advance, Ranking, nested
from annot.base.stats.values import Estimate, Undefined
from annot.judging.planning import FEWEST_FOR_REPEATS
from annot.judging.pool_samples import Frozen, design_of, documents_to_plan, frozen_of, planned_whole, rule_of, share_of
from annot.judging.progress import rules_of, settled_of
from annot.measuring.evaluation.measures import family_of
from annot.measuring.forecast import design, sample
from annot.measuring.forecast import sample as share_forecasts
from annot.measuring.forecast.hours import NO_TIMES, Effort, Rules, settling_of, speed_of
from annot.measuring.measured import primary_of, read_run_files
from annot.measuring.sampled.estimates import groups_of
from annot.measuring.sampled_study import features_of
from annot.pools import pooling
from annot.publishing.report import tables, terminal
from annot.publishing.report.cells import COST, ESTIMATED, HOURS, MEASURE, POINTS, WIDER, Number
from annot.publishing.report.cells import measured as measured_number
from annot.store import models, pools
from annot.study.outcome import Pair
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

LEVEL = 0.9
"""Level of the ranges."""


@dataclass(frozen=True, slots=True)
class ShareFound:
    """The share that hours or a budget allow, and the work that it is expected to take."""

    share: float
    pairs: pooling.ExpectedPairs
    hours: Estimate
    cost: Estimate
    notes: tuple[str, ...]


class _Study(NamedTuple):
    """Facts that a share is forecast from."""

    snapshot: Snapshot
    frozen: Frozen
    rule: pooling.SampleRule
    effort: Effort
    """Without the share of disputes, which depends on the pairs that are drawn."""
    disputed: Mapping[Pair, bool]
    """True if an adjudicator must settle the pair, for each pair that all its assessors have answered."""
    share_on_record: float
    """0 where there is no sample."""
    looked: bool
    """True if drawn pairs are judged, so that a larger share is a second look."""

    def effort_of(self, pi: pooling.Probabilities) -> Effort:
        """Effort for the pairs of a draw. An answered pair counts for others: pi now by pi when it was drawn."""
        sample, among, all_pairs = self.snapshot.sample, 0.0, 0.0
        for (query_id, doc_id), disputed in self.disputed.items():
            worth = pi.get(query_id, {}).get(doc_id, 0.0) / _probability(sample, query_id, doc_id)
            among, all_pairs = among + worth * disputed, all_pairs + worth
        return replace(self.effort, disputed=among / all_pairs if all_pairs else None)


def share_for(
    ws: Workspace,
    *,
    hours: float | None,
    cost: float | None,
    seconds: float | None,
    queries: tuple[str, ...],
    only_new: bool = False,
) -> ShareFound:
    """The largest share of the pools whose expected hours, or cost, are within the limit.

    One of `hours` and `cost` is given. seconds: time of a judgement; None takes the judgements so far. queries,
    only_new: as in `annot plan`. Judged pairs count as work, too. Raises InputError if the smallest sample is above the
    limit, or a larger share is drawn already.
    """
    study = _study(ws, queries=queries, seconds=seconds, only_new=only_new)
    rate = ws.settings.forecast.hourly_rate
    option = f"--hours {hours:g}" if cost is None else f"--cost {cost:g}"
    if cost is not None and not rate:
        raise MissingInput(f"{option}: no hourly rate is set", hint="set hourly_rate under [forecast] in annot.toml")
    if not study.effort.known:
        raise MissingInput(f"{option}: {NO_TIMES.reason}", hint="give the time of one judgement with --seconds")
    limit = hours if cost is None or not rate else cost / rate
    assert limit is not None

    def taken_by(pi: pooling.Probabilities) -> float:
        return study.effort_of(pi).value(pooling.expected_pairs(pi).mean)

    def drawn_with(share: float) -> pooling.Probabilities:
        return pooling.probabilities(study.frozen, share=share, rule=study.rule)

    def amount(taken: float) -> str:
        return f"{taken:,.1f} hours" if cost is None else f"{taken * (rate or 0.0):,.2f} {currency}"

    currency = ws.settings.forecast.currency
    least = taken_by(drawn_with(1 / pooling.SHARES))
    if least > limit:
        raise InputError(
            f"{option}: the smallest sample takes {amount(least)}",
            hint="it has 8 pairs of each query, and every pair has a chance (`floor` and `unranked` in annot.toml)",
        )
    share = pooling.share_within(study.frozen, limit=limit, acts=taken_by, rule=study.rule)
    if share < study.share_on_record:
        raise InputError(
            f"{option}: enough for {share:g} of the pools, but {study.share_on_record:g} of them are drawn already, "
            f"which takes {amount(taken_by(drawn_with(study.share_on_record)))}",
            hint="a sample grows only; `annot plan --withdraw` takes back what was not sent",
        )
    pi = drawn_with(share)
    pairs, effort = pooling.expected_pairs(pi), study.effort_of(pi)
    found = effort.hours(pairs)
    return ShareFound(
        share,
        pairs,
        found,
        effort.cost(pairs),
        tables.sentences(
            "commands.share_found",
            asked=option,
            only_new=only_new,
            share=share,
            pairs=round(pairs.mean),
            taken=amount(effort.value(pairs.mean)),
            **_counted(effort),
        ),
    )


def _counted(effort: Effort) -> dict[str, object]:
    """Values of the sentence on the coverage of the hours."""
    return {
        "effort": effort,
        "no_times": "" if effort.known else NO_TIMES.reason,
        "no_rate": effort.rules.hourly_rate is None,
        "settling": effort.settling.reason if isinstance(effort.settling, Undefined) else "",
    }


def shares(
    ws: Workspace,
    *,
    shares: Sequence[float] = sample.SHARES,
    seconds: float | None,
    queries: tuple[str, ...] = (),
    only_new: bool = False,
    relevant: float | None = None,
    advance: Advance,
) -> share_forecasts.SharesForecast:
    """Pairs, hours, cost and certainty for each of these shares of the pools.

    seconds, queries: as in `share_for`. only_new: pairs of whole pools that are planned count as certain. relevant: the
    relevant documents that a query is expected to have; None if that is not known.
    Certainty is seen on the queries whose pairs are all judged, from four topics on. Otherwise it is assumed, by a grid
    of simulated studies.
    """
    study = _study(ws, queries=queries, seconds=seconds, only_new=only_new)
    snapshot, settings = study.snapshot, ws.settings
    convention, measure = primary_of(settings)
    topics = len({snapshot.topics[query_id] for query_id in study.frozen})
    pilot = _pilot(study, convention)
    seen_on = None if isinstance(pilot, Undefined) else pilot[1]
    pairs = sum(map(len, study.frozen.values()))
    expected = share_forecasts.ExpectedStudy(
        measure=measure,
        highest=settings.scale.grades[-1],
        topics=topics,
        pairs=pairs / len(study.frozen),
        relevant=relevant,
        level=settings.agreement.level,
    )
    rows = []
    for done, share in enumerate(shares, start=1):
        pi = pooling.probabilities(study.frozen, share=share, rule=study.rule)
        if isinstance(pilot, Undefined):
            certain = share_forecasts.assumed(share, expected)
        else:
            judged, described = pilot
            family = family_of(convention, measure)
            assert family is not None
            measured = share_forecasts.MeasuredDesign(
                *family,
                relevant_from=settings.evaluation.relevant_from,
                highest=settings.scale.grades[-1],
                predict=settings.sample.predict == "ranker",
                topics=topics,
                level=settings.agreement.level,
                redraws=described.redraws if share < 1 else 1,
                seed=settings.seed,
            )
            certain = share_forecasts.certainty(judged, pi, measured)
        effort = study.effort_of(pi)
        rows.append(share_forecasts.row_of(share, pooling.expected_pairs(pi), effort, certain))
        advance(done, len(shares))
    forecast = share_forecasts.SharesForecast(
        queries=len(study.frozen),
        topics=topics,
        pairs=pairs,
        convention=convention,
        measure=measure,
        level=LEVEL,
        interval_level=settings.agreement.level,
        currency=settings.forecast.currency,
        seen_on=seen_on,
        why_assumed=pilot.reason if isinstance(pilot, Undefined) else "",
        relevant=relevant,
        rows=tuple(rows),
        notes=(),
    )
    told = tables.sentences(
        "commands.sample_shares",
        words=study.snapshot.words,
        found=forecast,
        label=settings.sample.cheap_label,
        looked=study.looked,
        **_counted(effort),
    )
    return replace(forecast, notes=told)


def table_of(found: share_forecasts.SharesForecast) -> tables.Table:
    """A row for each share."""
    columns = tables.Columns[share_forecasts.ShareForecast](
        [
            tables.Column("share", lambda forecast: f"{100 * forecast.share:g}%", ""),
            tables.Column("", lambda forecast: forecast.share, "share"),
        ],
        [
            tables.Column("pairs", lambda forecast: measured_number(forecast.pairs, ESTIMATED)),
            tables.Column("hours", lambda forecast: measured_number(forecast.hours, HOURS)),
            tables.Column(f"cost, {found.currency}", lambda forecast: measured_number(forecast.cost, COST), "cost"),
            tables.Column("mean wider by", lambda forecast: measured_number(forecast.level, WIDER), "level_wider"),
            tables.Column(
                "difference wider by", lambda forecast: measured_number(forecast.difference, WIDER), "difference_wider"
            ),
            tables.Column("mean ±", lambda forecast: Number(forecast.half_width, MEASURE), "half_width"),
            tables.Column("bias", lambda forecast: Number(forecast.bias, POINTS), "bias"),
            tables.Column("advice", lambda forecast: forecast.why_not, ""),
            tables.Column("", lambda forecast: forecast.advised, "advised"),
        ],
    )
    return columns.of(found.rows)


def describe(found: share_forecasts.SharesForecast, table: tables.Table) -> str:
    """Text of the table of shares, with its sources."""
    return terminal.rendered("sample-shares", found=found, shares=terminal.table_text(table))


def _pilot(study: _Study, convention: str) -> tuple[share_forecasts.JudgedQueries, share_forecasts.SeenOn] | Undefined:
    """The queries whose pairs are all judged, with their description; Undefined if they are too few."""
    snapshot, sample = study.snapshot, study.snapshot.sample
    grades = _judged_grades(study)
    topics = {query_id: snapshot.topics[query_id] for query_id in grades}
    if len(set(topics.values())) < design.MIN_UNITS:
        finished = counted(len(set(topics.values())), snapshot.words.topic)
        return Undefined(f"all pairs are judged for only {finished}, and {design.MIN_UNITS} are needed")
    ranks = {query_id: pooling.ranks_on_record(snapshot.pools[topic_id]) for query_id, topic_id in topics.items()}
    methods = sorted({method for by_method in ranks.values() for method in by_method})
    own_runs = _own_runs(study.snapshot.ws, grades)
    lists = {
        query_id: [groups_of(run[query_id], convention, "order") for run in own_runs.values()]
        if own_runs
        else [_by_rank(ranks[query_id].get(method, {}), study.frozen[query_id]) for method in methods]
        for query_id in grades
    }
    runs = len(own_runs) or len(methods)
    if not runs:
        return Undefined("there are neither runs nor rankings to measure")
    fused = {name: {doc_id: place.rank for doc_id, place in study.frozen[name].items()} for name in grades}
    seen_on = share_forecasts.SeenOn(
        queries=len(grades),
        topics=len(set(topics.values())),
        runs=runs,
        own_runs=bool(own_runs),
        redraws=share_forecasts.redraws_of(len(grades)),
        filled_in=any(len(of_query) < len(study.frozen[query_id]) for query_id, of_query in grades.items()),
    )
    drawn_with = {
        query_id: {doc_id: _probability(sample, query_id, doc_id) for doc_id in places}
        for query_id, places in fused.items()
    }
    return share_forecasts.JudgedQueries(grades, lists, features_of(snapshot, fused), topics, drawn_with), seen_on


def _judged_grades(study: _Study) -> dict[str, dict[str, int]]:
    """Grades by query and document, of the queries whose pairs to judge have all ended."""
    sample, outcome = study.snapshot.sample, study.snapshot.outcome
    grade_of = nested((qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in outcome.qrels)
    for query_id, doc_id in outcome.unjudgeable:
        grade_of.setdefault(query_id, {})[doc_id] = 0
    grades: dict[str, dict[str, int]] = {}
    for query_id, places in study.frozen.items():
        documents = [doc_id for doc_id in places if sample is None or sample.drawn(query_id, doc_id)]
        of_query = grade_of.get(query_id, {})
        if documents and all(doc_id in of_query for doc_id in documents):
            grades[query_id] = {doc_id: of_query[doc_id] for doc_id in documents}
    return grades


def _probability(sample: models.PoolSample | None, query_id: str, doc_id: str) -> float:
    """Probability with which the pair was drawn; 1 for a pair outside the sample, which is judged for certain."""
    under = None if sample is None else sample.pairs.get((query_id, doc_id))
    return 1.0 if under is None else under.probability


def _own_runs(ws: Workspace, queries: Collection[str]) -> dict[str, dict[str, Ranking]]:
    """The runs in exports/runs that rank for all of these queries."""
    runs = read_run_files(ws) if any(ws.runs.glob("*.run")) else {}
    return {tag: run for tag, run in runs.items() if run.keys() >= set(queries)}


def _by_rank(ranks: Mapping[str, int], documents: Collection[str]) -> list[tuple[str, ...]]:
    """A method's ranking of a pool: documents that it did not rank tie at the end."""
    ranked = sorted((rank, doc_id) for doc_id, rank in ranks.items() if doc_id in documents)
    others = tuple(sorted(set(documents) - ranks.keys()))
    return [*((doc_id,) for _, doc_id in ranked), *([others] if others else [])]


def _study(ws: Workspace, *, queries: tuple[str, ...], seconds: float | None, only_new: bool = False) -> _Study:
    snapshot = read_snapshot(ws)
    queries_by_id = {query.query_id: query for query in snapshot.queries}
    documents = {
        query.query_id: tuple(entry.doc_id for entry in snapshot.pools[query.topic_id].entries)
        for query in snapshot.queries
        if query.topic_id in snapshot.pools
    }
    pooled = documents_to_plan(queries_by_id, documents, queries, snapshot.assignments)
    sample = snapshot.sample
    with ws.reading() as session:
        judged = pools.sample_judged_since(session) is not None
    design = design_of(
        ws.settings.sample,
        share=None,
        seed=ws.settings.seed if snapshot.plan is None else snapshot.plan.seed,
        created="",
        before=None if sample is None else sample.design,
        judged=judged,
    )
    whole: frozenset[Pair] = frozenset()
    if only_new:
        whole = planned_whole(pooled, snapshot.assignments, snapshot.plan, sample=sample, only_new=True)
    frozen = frozen_of(snapshot.pools, [queries_by_id[name] for name in pooled], before=sample, whole=whole)
    effort = _effort(snapshot, seconds, replace(rules_of(ws.settings), level=LEVEL))
    return _Study(snapshot, frozen, rule_of(design), effort, _disputed(snapshot), share_of(sample), judged)


def _disputed(snapshot: Snapshot) -> dict[Pair, bool]:
    outcome, per_pair = snapshot.outcome, snapshot.ws.settings.judging.per_pair
    answers = Counter(answer.pair for answer in outcome.of_answered_pairs)
    disputed = {dispute.pair for dispute in outcome.disputed}
    return {pair: pair in disputed for pair, count in answers.items() if count >= per_pair > 1}


def _effort(snapshot: Snapshot, seconds: float | None, rules: Rules) -> Effort:
    settings, outcome = snapshot.ws.settings, snapshot.outcome
    answers = [answer for answer in outcome.everything if answer.counts]
    names = sorted({answer.assessor for answer in answers})
    speed = speed_of(
        {name: [answer for answer in answers if answer.assessor == name] for name in names},
        fence=rules.fence,
        topics=snapshot.topics,
    )
    return Effort(
        per_pair=settings.judging.per_pair,
        assessors=sum(
            person.left_on is None and (not person.adjudicator or settings.adjudication.adjudicator_may_assess)
            for person in snapshot.people
        ),
        repeats=settings.judging.repeats,
        fewest_for_repeats=FEWEST_FOR_REPEATS,
        names=names,
        speed=speed,
        seconds=seconds,
        disputed=None,
        settling=settling_of(
            settled_of(outcome), seconds=settings.forecast.dispute_seconds, fence=rules.fence, topics=snapshot.topics
        ),
        rules=rules,
    )
