"""Forecasts: of the study that is on its way, of a whole study by its design, of pools of other depths, of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import mean
from typing import NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import StudyVocabulary, check_name, counted, percent
from annot.base.records import CITED, Advance, Pool, Query, Ranking, grouped, nested
from annot.base.stats.values import Estimate, Undefined
from annot.judging import planning, progress
from annot.judging.pool_samples import Frozen, design_of, documents_to_plan, frozen_of, planned_whole, rule_of, share_of
from annot.measuring.agreement import coefficients, estimates
from annot.measuring.evaluation.measures import family_of, groups_of
from annot.measuring.forecast import design as study_design
from annot.measuring.forecast import hours as labour
from annot.measuring.forecast import sample
from annot.measuring.measured import primary_of, read_run_files
from annot.measuring.sampled_study import features_of
from annot.measuring.study_analyses import differences_shown
from annot.pools import admission, drawn_pools, pool_design, pooling
from annot.pools.frozen_rankings import needed_topics, not_ranked, read_rankings
from annot.publishing.report.cells import (
    COST,
    DETECTABLE,
    ESTIMATED,
    HOURS,
    MEASURE,
    POINTS,
    SHARE,
    WHOLE,
    WIDER,
    Number,
    Quantity,
    measured,
)
from annot.publishing.report.cells import coefficient as kind_of
from annot.publishing.report.status_page import describe as describe
from annot.publishing.report.status_page import tables as tables
from annot.publishing.report.tables import Column, Columns, Table, sentences
from annot.publishing.report.terminal import rendered, table_text
from annot.store.models import PoolSample
from annot.store.pools import sample_judged_since
from annot.study.outcome import Pair
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

DEPTHS = (5, 10, 13, 20, 33, 50)
"""13 and 33 are the quotas of CSFCube's pools of about 100 and 250."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """Judgements that the forecast is based on."""

    queries: int
    pairs: int
    """Judged by as many as the design asks."""
    chosen: int
    """Number of these that were drawn from pairs with more judgements."""
    judgements: int
    with_time: int
    cited: float
    """Documents of a pool that came in as cited, on average."""


@dataclass(frozen=True, slots=True)
class SimulatedStudy:
    """The forecast of a design with the pilot behind it."""

    pools: pool_design.PoolDesign
    """Rule by which pools are drawn; by depth, they are smaller than the design's if methods agree."""
    pools_differ: tuple[tuple[str, str, str], ...]
    """(setting, value of the pools on record, value in annot.toml): the forecast is for pools like those on record."""
    coefficient: str
    title: str
    """Title of the coefficient, on the study's scale."""
    missing: str
    """The policy for missing judgements, by name."""
    repeats: float
    """The share of repeats that was asked for; the design has none if an assessor has too few pairs for it."""
    currency: str
    pilot: Pilot
    forecast: study_design.DesignForecast
    runs: study_design.TopicSetSize | Undefined
    """Differences between the pilot's runs that the design shows."""


DESIGN = Columns[SimulatedStudy](
    [],
    [
        Column("pairs", lambda study: study.forecast.pairs),
        Column("judgements", lambda study: study.forecast.judgements),
        Column("hours judging", lambda study: measured(study.forecast.hours_judging, HOURS)),
        Column("hours per assessor", lambda study: Number(study.forecast.hours_per_assessor, HOURS)),
        Column("disputed", lambda study: measured(study.forecast.disputed, SHARE)),
        Column("hours adjudicating", lambda study: measured(study.forecast.hours_adjudicating, HOURS)),
        Column("hours", lambda study: measured(study.forecast.hours, HOURS)),
        Column("cost", lambda study: measured(study.forecast.cost, COST)),
        Column("coefficient", lambda study: measured(study.forecast.coefficient, kind_of(study.coefficient))),
        Column("width", lambda study: measured(study.forecast.width, kind_of(study.coefficient))),
        Column("difference shown", lambda study: _number_of_runs(study, "shown", DETECTABLE)),
        Column("topics needed", lambda study: _number_of_runs(study, "needed", WHOLE)),
    ],
)
"""The forecast of a design as data; the template has it in words."""


def _number_of_runs(found: SimulatedStudy, name: str, kind: Quantity) -> Number:
    return Number(found.runs, kind) if isinstance(found.runs, Undefined) else measured(getattr(found.runs, name), kind)


@dataclass(frozen=True, slots=True)
class DesignedPools:
    """The pools by one depth."""

    per_method: int
    shared: float
    """Share of a method's best papers that another method has among its own; the mean over methods and pools."""
    smallest: int
    mean: float
    largest: int
    """Documents of a pool."""
    pairs: int
    """Number of pairs of a query and a document, over all queries."""
    new: int
    """Number of pairs that the pools on record do not have."""
    judgements: int
    dry: int
    """Pools for which a method runs out of documents."""
    hours: Estimate
    """Hours of judging."""
    cost: Estimate


@dataclass(frozen=True, slots=True)
class DepthForecast:
    """The depths, compared."""

    mode: str
    methods: tuple[str, ...]
    queries: int
    pools: int
    per_pair: int
    timed: int
    """Judgements with a time behind the hours; 0 where the time was given."""
    level: float
    """Level of the intervals."""
    currency: str
    depths: tuple[DesignedPools, ...]


def depths(designed: DepthForecast) -> Table:
    """A row for each depth."""
    columns = Columns[DesignedPools](
        [],
        [
            Column("per method", lambda design: design.per_method),
            Column("shared", lambda design: Number(design.shared, SHARE)),
            Column("mean pool", lambda design: f"{design.mean:.0f}", ""),
            Column("", lambda design: design.mean, "mean"),
            Column("from", lambda design: design.smallest),
            Column("to", lambda design: design.largest),
            Column("ran out", lambda design: design.dry),
            Column("pairs", lambda design: design.pairs),
            Column("new", lambda design: design.new),
            Column("judgements", lambda design: design.judgements),
            Column("hours", lambda design: measured(design.hours, HOURS)),
            Column(f"cost, {designed.currency}", lambda design: measured(design.cost, COST), "cost"),
        ],
    )
    return columns.of(designed.depths)


def forecast(
    ws: Workspace, *, clock: Callable[[], datetime] = lambda: datetime.now().astimezone()
) -> progress.StudyProgress:
    """Progress of the study; days are those of the clock's time zone. Raises MissingInput when nothing is planned."""
    return progress.progress_of(read_snapshot(ws), now=clock())


def design(
    ws: Workspace,
    *,
    queries: int | None,
    assessors: int | None,
    per_method: int | None,
    coefficient: str,
    difference: float = 5.0,
) -> SimulatedStudy:
    """Simulate the design many times with the effects that the study has shown so far.

    queries, assessors: None takes those of the study. per_method: None takes that of its pools or, without
    pools, of annot.toml. difference: between two runs that is to be shown, in points of 100. Raises
    MissingInput if no pair was judged by two people yet.
    """
    check_name(coefficient, tuple(coefficients.COEFFICIENTS), what="--coefficient")
    settings = ws.settings
    snapshot = read_snapshot(ws)
    outcome = snapshot.outcome
    answers = [answer for answer in outcome.judgements if not answer.flags and answer.grade is not None]
    answered = estimates.ratings_of(outcome.of_answered_pairs, (), snapshot.facets)
    team, share = settings.judging.per_pair, settings.judging.repeats
    rules = progress.rules_of(settings)
    joint = study_design.joint_grades(
        answered, per_pair=team, seed=rules.seed, grades=settings.scale.grades, missing=settings.judging.missing
    )
    if joint.most < min(team, 2):
        raise MissingInput(
            "no pilot: no pair was judged by two people",
            hint="let two people judge a few queries, then run `annot pull`",
        )
    by_settings = pool_design.design_of_settings(settings)
    usual = pool_design.usual_design(pool_design.recorded_designs(snapshot.pools.values()))
    pooled = pool_design.apply_overrides(usual or by_settings, pool_design.DesignOverrides(per_method=per_method))
    differing = pool_design.design_differences(usual, by_settings) if usual else ()
    cited = [sum(entry.drawn.method == CITED for entry in pool.entries) for pool in snapshot.pools.values()]
    mean_cited = float(mean(cited)) if cited else 0.0
    n_documents = study_design.pool_size(
        methods=len(pooled.ranked_methods), per_method=pooled.per_method, cited=round(mean_cited)
    )
    everyone = [person for person in snapshot.people if not person.adjudicator]
    n_assessors = len(everyone) if assessors is None else assessors
    n_queries = len(snapshot.queries) if queries is None else queries
    pairs_of_person = n_queries * n_documents * team / max(1, n_assessors)
    simulated = study_design.simulate_design(
        study_design.Design(
            queries=n_queries,
            pool_size=n_documents,
            per_pair=team,
            assessors=n_assessors,
            repeats=share if pairs_of_person >= planning.FEWEST_FOR_REPEATS else 0.0,
        ),
        pilot=answers,
        joint=joint
        if len(joint.tables)
        else Undefined(f"no pair of the pilot was judged by {team} people; the most was {joint.most}"),
        coefficient=coefficient,
        settled=progress.settled_of(outcome),
        dispute_seconds=settings.forecast.dispute_seconds,
        simulations=settings.forecast.simulations,
        rules=rules,
        topics=snapshot.topics,
    )
    pilot = Pilot(
        queries=len(joint.tables),
        pairs=int(joint.tables.sum()),
        chosen=joint.chosen,
        judgements=len(answers),
        with_time=sum(labour.seconds_of(answer) is not None for answer in answers),
        cited=mean_cited,
    )
    return SimulatedStudy(
        pools=pooled,
        pools_differ=tuple(name for name in differing if per_method is None or name[0] != "per_method"),
        coefficient=coefficient,
        title=coefficients.titles_of(settings.scale.grades)[coefficient],
        missing=settings.judging.missing,
        repeats=share,
        currency=settings.forecast.currency,
        pilot=pilot,
        forecast=simulated,
        runs=differences_shown(snapshot, n_queries, difference=difference / 100),
    )


def describe_design(found: SimulatedStudy, words: StudyVocabulary) -> str:
    """The forecast in words."""
    forecast = found.forecast
    fixed = {"policy": estimates.IN_WORDS[found.missing], "fewest": planning.FEWEST_FOR_REPEATS}
    head = sentences("commands.simulated", found=found, **fixed)
    return rendered(
        "simulated",
        words=words,
        found=found,
        head=head,
        n_cited=round(found.pilot.cited),
        disputed=labour.times(forecast.disputed, 100),
        whole=study_design.ALL,
    )


def pools(
    ws: Workspace, *, depths: Sequence[int], mode: str | None, seconds: float | None, advance: Advance
) -> DepthForecast:
    """Draw the pools by each depth from the rankings on disk, otherwise like the pools on record.

    depths: without any, `DEPTHS` and that on record, as far as the rankings go. mode: None takes the one on record.
    seconds: the time of a judgement; None estimates it from the judgements on record.
    Raises MissingInput if there are no rankings.
    """
    settings = ws.settings
    snapshot = read_snapshot(ws)
    queries, current, texts = snapshot.queries, snapshot.pools, snapshot.texts
    answers = [answer for answer in snapshot.outcome.judgements if answer.counts]
    usual = pool_design.apply_overrides(
        pool_design.usual_design(pool_design.recorded_designs(current.values()))
        or pool_design.design_of_settings(settings),
        pool_design.DesignOverrides(mode=mode),
    )
    topics = pool_design.topics_of(ws, {query.topic_id for query in queries}, texts)
    left_out = (
        pool_design.unranked_texts(ws, usual.methods, topics.texts, frozen=not_ranked(ws)) if topics.texts else {}
    )
    designs = {
        topic_id: pool_design.design_for_text(usual, topic_id, left_out) if topic_id in texts else usual
        for topic_id in topics.ids
    }
    rankings = read_rankings(ws, needed_topics(designs, current))
    duplicates = admission.near_duplicates(ws, keep=False, advance=advance)
    now = admission.admissions(ws, topics.citations, rankings, duplicates=duplicates, current=current)
    admitted = admission.as_recorded(now, admission.recorded_admissions(ws))
    rules = progress.rules_of(settings)
    by_assessor = grouped((answer.assessor, answer) for answer in answers)
    speed = labour.speed_of(by_assessor, fence=rules.fence)
    if seconds is not None:
        by_assessor, speed = {labour.VACANT: []}, labour.set_speed(seconds, labour.VACANT)
    chosen = tuple(depths) or tuple(sorted({*DEPTHS, usual.per_method}))

    def of_depth(depth: int) -> DesignedPools:
        deep = {topic_id: replace(design, per_method=depth) for topic_id, design in designs.items()}
        drawn = drawn_pools.draw_pools(rankings, deep, admitted, current=current)
        pairs = _pairs(drawn, queries)
        judgements = len(pairs) * settings.judging.per_pair
        hours = labour.hours_for(speed, _even_shares(judgements, sorted(by_assessor)), rules)
        sizes = [len(pool.entries) for pool in drawn]
        return DesignedPools(
            per_method=depth,
            shared=mean(
                _shared([rankings[method][topic_id] for method in design.ranked_methods], depth)
                for topic_id, design in designs.items()
            ),
            smallest=min(sizes),
            mean=mean(sizes),
            largest=max(sizes),
            pairs=len(pairs),
            new=len(pairs - _pairs(current.values(), queries)),
            judgements=judgements,
            dry=sum(bool(pool.dry) for pool in drawn),
            hours=hours,
            cost=labour.cost_of(hours, rules),
        )

    return DepthForecast(
        mode=usual.mode,
        methods=usual.methods,
        queries=len(queries),
        pools=len(designs),
        per_pair=settings.judging.per_pair,
        timed=sum(labour.seconds_of(answer) is not None for answer in answers) if seconds is None else 0,
        level=rules.level,
        currency=settings.forecast.currency,
        depths=tuple(of_depth(depth) for depth in chosen),
    )


def describe_pools(designed: DepthForecast, depths: Table) -> str:
    """The depths as a table, and the source of the hours."""
    return rendered("pool-design", designed=designed, depths=table_text(depths))


def _pairs(drawn_pools: Iterable[Pool], queries: Sequence[Query]) -> set[tuple[str, str]]:
    documents = {pool.topic_id: [entry.doc_id for entry in pool.entries] for pool in drawn_pools}
    return {(query.query_id, doc_id) for query in queries for doc_id in documents.get(query.topic_id, ())}


def _even_shares(judgements: int, names: Sequence[str]) -> dict[str, float]:
    """This many judgements, spread evenly over the people with a known speed; if there are none, all for one person."""
    return {name: judgements / len(names) for name in names} or {"": float(judgements)}


def _shared(rankings: Sequence[Ranking], depth: int) -> float:
    tops = [{doc.doc_id for doc in ranking[:depth]} for ranking in rankings]
    shares = [mean(any(doc_id in other for other in tops if other is not top) for doc_id in top) for top in tops if top]
    return mean(shares) if shares else 0.0


# ----------------------------------------------------------------------------------------------------------------------
# Forecasts of a sample of the pools: shares side by side, and the share that hours or a budget allow.
# ----------------------------------------------------------------------------------------------------------------------


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
    effort: labour.Effort
    """Without the share of disputes, which depends on the pairs that are drawn."""
    disputed: Mapping[Pair, bool]
    """True if an adjudicator must settle the pair, for each pair that all its assessors have answered."""
    share_on_record: float
    """0 where there is no sample."""
    looked: bool
    """True if drawn pairs are judged, so that a larger share is a second look."""

    def effort_of(self, pi: pooling.Probabilities) -> labour.Effort:
        """Effort for the pairs of a draw. An answered pair is weighted by pi now over pi when it was drawn."""
        on_record, disputed_pairs, all_pairs = self.snapshot.sample, 0.0, 0.0
        for (query_id, doc_id), disputed in self.disputed.items():
            worth = pi.get(query_id, {}).get(doc_id, 0.0) / _probability(on_record, query_id, doc_id)
            disputed_pairs, all_pairs = disputed_pairs + worth * disputed, all_pairs + worth
        return replace(self.effort, disputed=disputed_pairs / all_pairs if all_pairs else None)


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
    if isinstance(study.effort.speed, Undefined):
        raise MissingInput(f"{option}: {labour.NO_TIMES.reason}", hint="give the time of one judgement with --seconds")
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
        sentences(
            "commands.share_found",
            asked=option,
            only_new=only_new,
            share=share,
            pairs=round(pairs.mean),
            taken=amount(effort.value(pairs.mean)),
            **_counted(effort),
        ),
    )


def _counted(effort: labour.Effort) -> dict[str, object]:
    """Values of the sentence on the coverage of the hours."""
    return {
        "effort": effort,
        "no_times": effort.speed.reason if isinstance(effort.speed, Undefined) else "",
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
) -> sample.SharesForecast:
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
    rows = []
    for done, share in enumerate(shares, start=1):
        pi = pooling.probabilities(study.frozen, share=share, rule=study.rule)
        if isinstance(pilot, Undefined):
            certain = sample.assumed(
                share,
                measure=measure,
                highest=settings.scale.grades[-1],
                topics=topics,
                pairs=pairs / len(study.frozen),
                relevant=relevant,
                level=settings.agreement.level,
            )
        else:
            judged, described = pilot
            family = family_of(convention, measure)
            assert family is not None
            setting = sample.MeasuredDesign(
                *family,
                relevant_from=settings.evaluation.relevant_from,
                highest=settings.scale.grades[-1],
                predict=settings.sample.predict == "ranker",
                topics=topics,
                level=settings.agreement.level,
                redraws=described.redraws if share < 1 else 1,
                seed=settings.seed,
            )
            certain = sample.certainty(judged, pi, setting)
        effort = study.effort_of(pi)
        rows.append(sample.row_of(share, pooling.expected_pairs(pi), effort, certain))
        advance(done, len(shares))
    forecast = sample.SharesForecast(
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
    words = sentences(
        "commands.sample_shares",
        words=study.snapshot.words,
        found=forecast,
        label=settings.sample.cheap_label,
        looked=study.looked,
        **_counted(effort),
    )
    return replace(forecast, notes=words)


def shares_table(found: sample.SharesForecast) -> Table:
    """A row for each share."""
    columns = Columns[sample.ShareForecast](
        [
            Column("share", lambda forecast: percent(forecast.share), ""),
            Column("", lambda forecast: forecast.share, "share"),
        ],
        [
            Column("pairs", lambda forecast: measured(forecast.pairs, ESTIMATED)),
            Column("hours", lambda forecast: measured(forecast.hours, HOURS)),
            Column(f"cost, {found.currency}", lambda forecast: measured(forecast.cost, COST), "cost"),
            Column("mean wider by", lambda forecast: measured(forecast.level, WIDER), "level_wider"),
            Column("difference wider by", lambda forecast: measured(forecast.difference, WIDER), "difference_wider"),
            Column("mean ±", lambda forecast: Number(forecast.half_width, MEASURE), "half_width"),
            Column("bias", lambda forecast: Number(forecast.bias, POINTS), "bias"),
            Column("advice", lambda forecast: forecast.why_not, ""),
            Column("", lambda forecast: forecast.advised, "advised"),
        ],
    )
    return columns.of(found.rows)


def describe_shares(found: sample.SharesForecast, table: Table) -> str:
    """Text of the table of shares, with its sources."""
    return rendered("sample-shares", found=found, shares=table_text(table))


def _pilot(study: _Study, convention: str) -> tuple[sample.JudgedQueries, sample.SeenOn] | Undefined:
    """Queries whose pairs are all judged, with their description; Undefined if there are too few."""
    snapshot = study.snapshot
    grades = _judged_grades(study)
    topics = {query_id: snapshot.topics[query_id] for query_id in grades}
    if len(set(topics.values())) < study_design.MIN_UNITS:
        finished = counted(len(set(topics.values())), snapshot.words.topic)
        return Undefined(f"all pairs are judged for only {finished}, and {study_design.MIN_UNITS} are needed")
    ranks = {query_id: pooling.ranks_on_record(snapshot.pools[topic_id]) for query_id, topic_id in topics.items()}
    methods = sorted({method for by_method in ranks.values() for method in by_method})
    own_runs = _exported_runs(study.snapshot.ws, grades)
    lists = {
        query_id: [groups_of(run[query_id], convention, "order") for run in own_runs.values()]
        if own_runs
        else [_ranking_levels(ranks[query_id].get(method, {}), study.frozen[query_id]) for method in methods]
        for query_id in grades
    }
    runs = len(own_runs) or len(methods)
    if not runs:
        return Undefined("there are neither runs nor rankings to measure")
    fused = {name: {doc_id: place.rank for doc_id, place in study.frozen[name].items()} for name in grades}
    seen_on = sample.SeenOn(
        queries=len(grades),
        topics=len(set(topics.values())),
        runs=runs,
        own_runs=bool(own_runs),
        redraws=sample.redraws_of(len(grades)),
        filled_in=any(len(of_query) < len(study.frozen[query_id]) for query_id, of_query in grades.items()),
    )
    drawn_with = {
        query_id: {doc_id: _probability(snapshot.sample, query_id, doc_id) for doc_id in places}
        for query_id, places in fused.items()
    }
    return sample.JudgedQueries(grades, lists, features_of(snapshot, fused), topics, drawn_with), seen_on


def _judged_grades(study: _Study) -> dict[str, dict[str, int]]:
    """Grades by query and document, for the queries whose pairs are all closed."""
    drawn, outcome = study.snapshot.sample, study.snapshot.outcome
    grade_of = nested((qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in outcome.qrels)
    for query_id, doc_id in outcome.unjudgeable:
        grade_of.setdefault(query_id, {})[doc_id] = 0
    grades: dict[str, dict[str, int]] = {}
    for query_id, places in study.frozen.items():
        documents = [doc_id for doc_id in places if drawn is None or drawn.drawn(query_id, doc_id)]
        of_query = grade_of.get(query_id, {})
        if documents and all(doc_id in of_query for doc_id in documents):
            grades[query_id] = {doc_id: of_query[doc_id] for doc_id in documents}
    return grades


def _probability(drawn: PoolSample | None, query_id: str, doc_id: str) -> float:
    """Probability with which the pair was drawn; 1 for a pair outside the sample, which is judged for certain."""
    probability = None if drawn is None else drawn.pairs.get((query_id, doc_id))
    return 1.0 if probability is None else probability.probability


def _exported_runs(ws: Workspace, queries: Collection[str]) -> dict[str, dict[str, Ranking]]:
    """The runs in exports/runs that rank for all of these queries."""
    runs = read_run_files(ws) if any(ws.runs.glob("*.run")) else {}
    return {tag: run for tag, run in runs.items() if run.keys() >= set(queries)}


def _ranking_levels(ranks: Mapping[str, int], documents: Collection[str]) -> list[tuple[str, ...]]:
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
    drawn = snapshot.sample
    judged = ws.read(sample_judged_since) is not None
    sampled = design_of(
        ws.settings.sample,
        share=None,
        seed=ws.settings.seed if snapshot.plan is None else snapshot.plan.seed,
        created="",
        before=None if drawn is None else drawn.design,
        judged=judged,
    )
    planned = snapshot.assignments, snapshot.plan
    whole = planned_whole(pooled, *planned, sample=drawn, only_new=True) if only_new else frozenset[Pair]()
    of_pooled = [queries_by_id[name] for name in pooled]
    frozen = frozen_of(snapshot.pools, of_pooled, before=drawn, whole=whole, withdrawn=snapshot.outcome.withdrawn)
    effort = _effort(snapshot, seconds, replace(progress.rules_of(ws.settings), level=LEVEL))
    return _Study(snapshot, frozen, rule_of(sampled), effort, _disputed(snapshot), share_of(drawn), judged)


def _disputed(snapshot: Snapshot) -> dict[Pair, bool]:
    outcome, per_pair = snapshot.outcome, snapshot.ws.settings.judging.per_pair
    answers = Counter(answer.pair for answer in outcome.of_answered_pairs)
    disputed = {dispute[0].pair for dispute in outcome.disputed}
    return {pair: pair in disputed for pair, count in answers.items() if count >= per_pair > 1}


def _effort(snapshot: Snapshot, seconds: float | None, rules: labour.Rules) -> labour.Effort:
    settings, outcome = snapshot.ws.settings, snapshot.outcome
    answers = [answer for answer in outcome.everything if answer.counts]
    by_assessor = grouped((answer.assessor, answer) for answer in answers)
    speed = labour.speed_of(by_assessor, fence=rules.fence, topics=snapshot.topics)
    if seconds is not None:
        by_assessor, speed = {labour.VACANT: []}, labour.set_speed(seconds, labour.VACANT)
    return labour.Effort(
        per_pair=settings.judging.per_pair,
        assessors=sum(
            person.left_on is None and (not person.adjudicator or settings.adjudication.adjudicator_may_assess)
            for person in snapshot.people
        ),
        repeats=settings.judging.repeats,
        fewest_for_repeats=planning.FEWEST_FOR_REPEATS,
        names=sorted(by_assessor),
        speed=speed,
        disputed=None,
        settling=labour.settling_of(
            progress.settled_of(outcome),
            seconds=settings.forecast.dispute_seconds,
            fence=rules.fence,
            topics=snapshot.topics,
        ),
        rules=rules,
    )
