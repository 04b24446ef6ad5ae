"""What a design will take and show, from the pilot in the store: hours, cost, and how sure its agreement will be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annot.base.errors import MissingInput
from annot.base.names import check_name
from annot.base.stats.values import Undefined
from annot.base.templating import counted
from annot.judging.planning.hidden_repeats import FEWEST_FOR_REPEATS
from annot.judging.progress import rules_of, settled_of
from annot.measuring.agreement.coefficients import COEFFICIENTS, TITLES
from annot.measuring.agreement.joint import JointGrades, joint_grades, units_of
from annot.measuring.agreement.joint import coefficient as coefficient_of
from annot.measuring.agreement.joint import interval as interval_of
from annot.measuring.agreement.ratings import IN_WORDS, ratings_of
from annot.measuring.forecast.design import ALL, Together, pool_size, simulate_design
from annot.measuring.forecast.hours import seconds_of, times
from annot.measuring.forecast.outlook import Design, DesignForecast, Rules
from annot.pools.pool_design import asked_design, design_of_settings, differences, recorded_designs, usual_design
from annot.pools.pooling import CITED
from annot.publishing.report.terminal import told
from annot.publishing.report.words import sentences
from annot.store import people, pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Pilot:
    """What the forecast was learnt from."""

    queries: int
    pairs: int
    """Judged by as many as the design asks."""
    chosen: int
    """Of these, judged by more: as many were drawn."""
    judgements: int
    with_time: int
    assessors: int
    settled_with_time: int
    cited: float
    """Documents of a pool that came in as cited, on average."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """The forecast of a design with the pilot behind it."""

    mode: str
    """How pools are drawn; by depth, they are smaller than the design's where methods agree."""
    per_method: int
    methods: tuple[str, ...]
    pools_differ: tuple[tuple[str, str, str], ...]
    """(what, of the pools on record, in annot.toml): the forecast is for pools like those on record."""
    coefficient: str
    missing: str
    """The policy for missing judgements, by name."""
    repeats: float
    """The share of repeats that was asked for; the design has none where an assessor has too few pairs for it."""
    currency: str
    pilot: Pilot
    forecast: DesignForecast


def simulate(
    ws: Workspace, *, queries: int | None, assessors: int | None, per_method: int | None, coefficient: str
) -> Simulated:
    """Play the design through many times with what the study in the store has shown so far.

    queries, assessors: None takes those of the study. per_method: None takes how its pools were drawn, and where it has
    none, what annot.toml says. Raises MissingInput when no pair was judged by two people yet.
    """
    check_name(coefficient, tuple(COEFFICIENTS), what="--coefficient")
    settings = ws.settings
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        known = read_queries(session)
        everyone = [person for person in people.read_assessors(session) if not person.adjudicator]
        drawn = pools.read_pools(session)
        outcome = outcome_of(session, ws.settings)
    given = [answer for answer in outcome.judgements if not answer.flags and answer.grade is not None]
    answered = ratings_of(outcome.of_answered_pairs, (), {query.query_id: query.facet for query in known})
    team, share = settings.judging.per_pair, settings.judging.repeats
    rules = rules_of(settings)
    joint = joint_grades(answered, per_pair=team, seed=rules.seed)
    if joint.most < min(team, 2):
        raise MissingInput("no pilot: no pair was judged by two people", hint="let two judge a few queries, and pull")
    by_settings = design_of_settings(settings)
    usual = usual_design(recorded_designs(drawn.values()))
    pooled = asked_design(usual or by_settings, {"per_method": per_method})
    differing = differences(usual, by_settings) if usual else ()
    cited = [sum(entry.drawn.method == CITED for entry in pool.entries) for pool in drawn.values()]
    mean_cited = float(np.mean(cited)) if cited else 0.0
    n_documents = pool_size(methods=len(pooled.ranked_methods), per_method=pooled.per_method, cited=round(mean_cited))
    n_assessors = len(everyone) if assessors is None else assessors
    n_queries = len(known) if queries is None else queries
    each = n_queries * n_documents * team / max(1, n_assessors)
    settled = settled_of(outcome)
    found = simulate_design(
        Design(
            queries=n_queries,
            pool_size=n_documents,
            per_pair=team,
            assessors=n_assessors,
            repeats=share if each >= FEWEST_FOR_REPEATS else 0.0,
        ),
        pilot=given,
        together=_together(joint, team, coefficient, ws, rules),
        settled=settled,
        dispute_seconds=settings.forecast.dispute_seconds,
        simulations=settings.forecast.simulations,
        rules=rules,
        papers={query.query_id: query.paper_id for query in known},
    )
    pilot = Pilot(
        queries=len(joint.tables),
        pairs=int(joint.tables.sum()),
        chosen=joint.chosen,
        judgements=len(given),
        with_time=sum(seconds_of(answer) is not None for answer in given),
        assessors=len({answer.assessor for answer in given}),
        settled_with_time=sum(seconds_of(ruling) is not None for ruling in settled),
        cited=mean_cited,
    )
    return Simulated(
        mode=pooled.mode,
        per_method=pooled.per_method,
        methods=pooled.ranked_methods,
        pools_differ=tuple(one for one in differing if per_method is None or one[0] != "per_method"),
        coefficient=coefficient,
        missing=settings.judging.missing,
        repeats=share,
        currency=settings.forecast.currency,
        pilot=pilot,
        forecast=found,
    )


def _together(joint: JointGrades, team: int, coefficient: str, ws: Workspace, rules: Rules) -> Together | Undefined:
    if not len(joint.tables):
        return Undefined(f"no pair of the pilot was judged by {team}; the most is {joint.most}")
    grades = ws.settings.scale.grades
    units = units_of(joint.patterns, grades, missing=ws.settings.judging.missing)
    return Together(
        query_ids=joint.query_ids,
        tables=joint.tables,
        disputed=joint.disputed,
        coefficient=lambda tables: coefficient_of(tables, units, grades, name=coefficient),
        interval=lambda tables, papers: interval_of(
            tables, units, grades, name=coefficient, level=rules.level, papers=papers
        ),
    )


def describe(found: Simulated) -> str:
    """The forecast in words."""
    forecast = found.forecast
    sizes = [(forecast.queries_judged, "for agreement and disputes"), (forecast.queries_timed, "for times")]
    head = sentences(
        "commands.simulated",
        found=found,
        basis=", ".join(f"{counted(n, 'query')} {what}" for n, what in sizes if n) or "no query",
        policy=IN_WORDS[found.missing],
        fewest=FEWEST_FOR_REPEATS,
    )
    return told(
        "simulated",
        found=found,
        head=head,
        n_cited=round(found.pilot.cited),
        disputed=times(forecast.disputed, 100),
        title=TITLES[found.coefficient],
        whole=ALL,
    )
