"""Forecasts: of the study that is on its way, of a whole study by its design, and of pools of other depths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import mean

from annot.base.errors import MissingInput
from annot.base.names import StudyVocabulary, check_name
from annot.base.records import CITED, Advance, Pool, Query, Ranking, grouped
from annot.base.stats.values import Estimate, Undefined
from annot.judging import planning, progress
from annot.measuring.agreement import coefficients, estimates
from annot.measuring.forecast.design import (
    ALL,
    Design,
    DesignForecast,
    Together,
    TopicSetSize,
    pool_size,
    simulate_design,
)
from annot.measuring.forecast.hours import HOUR, Rules, cost_of, hours_for, seconds_of, speed_of, times
from annot.measuring.study_analyses import differences_shown
from annot.pools import admission, drawn_pools, pool_design
from annot.pools.frozen_rankings import needed_topics, not_ranked, read_rankings
from annot.publishing.report.cells import COST, DETECTABLE, HOURS, SHARE, WHOLE, Number, Quantity, measured
from annot.publishing.report.cells import coefficient as kind_of
from annot.publishing.report.status_page import describe as describe
from annot.publishing.report.status_page import tables as tables
from annot.publishing.report.tables import Column, Columns, Table, sentences
from annot.publishing.report.terminal import rendered, table_text
from annot.study.snapshot import read_snapshot
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
    forecast: DesignForecast
    runs: TopicSetSize | Undefined
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
        Column("difference shown", lambda study: _of_runs(study, "shown", DETECTABLE)),
        Column("topics needed", lambda study: _of_runs(study, "needed", WHOLE)),
    ],
)
"""The forecast of a design as data; the template has it in words."""


def _of_runs(found: SimulatedStudy, name: str, kind: Quantity) -> Number:
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
    """The depths side by side."""

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
    joint = estimates.joint_grades(answered, per_pair=team, seed=rules.seed)
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
    n_documents = pool_size(methods=len(pooled.ranked_methods), per_method=pooled.per_method, cited=round(mean_cited))
    everyone = [person for person in snapshot.people if not person.adjudicator]
    n_assessors = len(everyone) if assessors is None else assessors
    n_queries = len(snapshot.queries) if queries is None else queries
    pairs_of_person = n_queries * n_documents * team / max(1, n_assessors)
    simulated = simulate_design(
        Design(
            queries=n_queries,
            pool_size=n_documents,
            per_pair=team,
            assessors=n_assessors,
            repeats=share if pairs_of_person >= planning.FEWEST_FOR_REPEATS else 0.0,
        ),
        pilot=answers,
        together=_together(joint, team, coefficient, ws, rules),
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
        with_time=sum(seconds_of(answer) is not None for answer in answers),
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


def _together(
    joint: estimates.JointGrades, team: int, coefficient: str, ws: Workspace, rules: Rules
) -> Together | Undefined:
    if not len(joint.tables):
        return Undefined(f"no pair of the pilot was judged by {team} people; the most was {joint.most}")
    grades = ws.settings.scale.grades
    units = estimates.units_of(joint.patterns, grades, missing=ws.settings.judging.missing)
    return Together(
        query_ids=joint.query_ids,
        tables=joint.tables,
        disputed=joint.disputed,
        coefficient=lambda tables: estimates.coefficient(tables, units, grades, name=coefficient),
        interval=lambda tables, topics: estimates.interval(
            tables, units, grades, name=coefficient, level=rules.level, topics=topics
        ),
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
        disputed=times(forecast.disputed, 100),
        title=found.title,
        whole=ALL,
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
    speed = speed_of(by_assessor, fence=rules.fence)
    chosen = tuple(depths) or tuple(sorted({*DEPTHS, usual.per_method}))

    def of_depth(depth: int) -> DesignedPools:
        deep = {topic_id: replace(design, per_method=depth) for topic_id, design in designs.items()}
        drawn = drawn_pools.draw_pools(rankings, deep, admitted, current=current)
        pairs = _pairs(drawn, queries)
        judgements = len(pairs) * settings.judging.per_pair
        if seconds is None:
            hours = hours_for(speed, _evenly(judgements, sorted(by_assessor)), rules)
        else:
            hours = Estimate(judgements * seconds / HOUR, Undefined("the time per judgement was set"))
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
            cost=cost_of(hours, rules),
        )

    return DepthForecast(
        mode=usual.mode,
        methods=usual.methods,
        queries=len(queries),
        pools=len(designs),
        per_pair=settings.judging.per_pair,
        timed=sum(seconds_of(answer) is not None for answer in answers) if seconds is None else 0,
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


def _evenly(judgements: int, names: Sequence[str]) -> dict[str, float]:
    """So many judgements for each person with a known speed; without one, all for one person."""
    return {name: judgements / len(names) for name in names} or {"": float(judgements)}


def _shared(rankings: Sequence[Ranking], depth: int) -> float:
    tops = [{doc.doc_id for doc in ranking[:depth]} for ranking in rankings]
    shares = [mean(any(doc_id in other for other in tops if other is not top) for doc_id in top) for top in tops if top]
    return mean(shares) if shares else 0.0
