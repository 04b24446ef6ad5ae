"""What a design will take and show, from the pilot in the store: hours, cost, and how sure its agreement will be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annot.agreement import COEFFICIENTS, TITLES, Bootstrap, to_json
from annot.agreement.paired import coefficient as coefficient_of
from annot.agreement.paired import interval as interval_of
from annot.agreement.paired import tables_of
from annot.agreement.ratings import ratings_of
from annot.errors import MissingInput
from annot.forecast import Design, DesignForecast, Unknown, pool_size, simulate_design, winsorised
from annot.pooling import CITED
from annot.steps.agreement import with_what_was_asked
from annot.steps.forecasting import estimate, figure, rules_of
from annot.steps.names import check_name
from annot.steps.outcome import Outcome, outcome_of
from annot.store import people, pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.workspace import Workspace

RESAMPLES = 500
"""Of each simulated study: the width is a mean over all of them, so more would cost time and tell no more."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """What the forecast was learnt from."""

    queries: int
    pairs: int
    """Judged by two."""
    judgements: int
    with_time: int
    assessors: int
    settled_with_time: int
    cited: float
    """Documents of a pool that came in as cited, on average."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """The forecast of a design with the pilot behind it."""

    per_method: int
    methods: tuple[str, ...]
    coefficient: str
    currency: str
    pilot: Pilot
    forecast: DesignForecast


def simulate(
    ws: Workspace,
    *,
    queries: int | None,
    per_method: int | None,
    assessors: int | None,
    per_pair: int | None,
    repeats: float | None,
    hourly_rate: float | None,
    coefficient: str,
    seed: int | None,
) -> Simulated:
    """Play the design through many times with what the study in the store has shown so far.

    What is None is taken as the study has it: its number of queries and assessors, the rest from annot.toml. Raises
    MissingInput when no pair was judged by two people yet.
    """
    check_name(coefficient, tuple(COEFFICIENTS), what="--coefficient")
    settings = ws.settings
    grades = settings.scale.grades
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        known = read_queries(session)
        everyone = [one for one in people.read_assessors(session) if not one.adjudicator]
        drawn = pools.read_pools(session)
        outcome = outcome_of(session)
    given = [one for one in outcome.judgements if not one.flags and one.grade is not None]
    tables = tables_of(ratings_of(with_what_was_asked(outcome), (), {one.query_id: one.facet for one in known}), grades)
    if not len(tables):
        raise MissingInput(
            "no pilot: no pair was judged by two people yet", hint="let two assessors judge a few queries, and pull"
        )
    methods = tuple(one for one in settings.pool.methods if one != CITED and one not in settings.pool.without)
    cited = [sum(entry.drawn.method == CITED for entry in pool.entries) for pool in drawn.values()]
    mean_cited = float(np.mean(cited)) if cited else 0.0
    quota = settings.pool.per_method if per_method is None else per_method
    rules = rules_of(settings, hourly_rate)
    rules = rules if seed is None else replace(rules, seed=seed)
    settled = _settled_seconds(outcome)
    found = simulate_design(
        Design(
            queries=len(known) if queries is None else queries,
            pool_size=pool_size(methods=len(methods), per_method=quota, cited=round(mean_cited)),
            per_pair=settings.judging.per_pair if per_pair is None else per_pair,
            assessors=len(everyone) if assessors is None else assessors,
            repeats=settings.judging.repeats if repeats is None else repeats,
        ),
        pilot=given,
        tables=tables,
        coefficient=lambda drawn: coefficient_of(drawn, grades, name=coefficient),
        interval=lambda drawn, key: interval_of(
            drawn, grades, name=coefficient, plan=Bootstrap(RESAMPLES, rules.level, key)
        ),
        adjudication_seconds=float(winsorised(settled, fence=rules.fence).mean()) if len(settled) else None,
        simulations=settings.forecast.simulations,
        rules=rules,
    )
    pilot = Pilot(
        queries=len(tables),
        pairs=int(tables.sum()),
        judgements=len(given),
        with_time=sum(one.lead_time is not None and one.lead_time > 0 for one in given),
        assessors=len({one.assessor for one in given}),
        settled_with_time=len(settled),
        cited=mean_cited,
    )
    return Simulated(quota, methods, coefficient, settings.forecast.currency, pilot, found)


def as_data(found: Simulated) -> Any:
    """The forecast as JSON can carry it; what has no value is `{"undefined": reason}`."""
    return to_json(found)


def describe(found: Simulated) -> str:
    """The forecast in words."""
    one, pilot = found.forecast, found.pilot
    cited = f" and {round(pilot.cited)} cited" if round(pilot.cited) else ""
    disputed = one.disputed if isinstance(one.disputed, Unknown) else 100 * one.disputed
    rows = [
        ["queries", str(one.design.queries)],
        ["documents a query", f"{one.design.pool_size} ({found.per_method} by each of {len(found.methods)}{cited})"],
        [
            "judgements",
            f"{one.judgements:,} ({one.pairs:,} pairs, {one.design.per_pair} assessors each"
            + (f", and {100 * one.design.repeats:.3g}% of them again)" if one.design.repeats else ")"),
        ],
        ["hours of judging", estimate(one.hours_judging, "")],
        ["  of each assessor", f"{figure(one.hours_per_assessor)} ({one.design.assessors} assessors)"],
        [
            "disputes, % of pairs",
            f"unknown: {disputed.undefined}" if isinstance(disputed, Unknown) else figure(disputed),
        ],
        [
            "hours of settling them",
            f"unknown: {one.hours_adjudicating.undefined}"
            if isinstance(one.hours_adjudicating, Unknown)
            else figure(one.hours_adjudicating),
        ],
        ["hours in all", estimate(one.hours, "")],
        [f"cost, {found.currency}", estimate(one.cost, "", digits=0)],
        [TITLES[found.coefficient], estimate(one.coefficient, "", digits=3)],
        ["  width of its interval", estimate(one.width, "", digits=3)],
    ]
    width = max(len(row[0]) for row in rows)
    head = (
        f"from a pilot of {pilot.pairs} pairs judged twice on {pilot.queries} queries, {pilot.with_time} of "
        f"{pilot.judgements} judgements with a time; {one.simulated} simulated studies"
        + (f", {one.undefined} of them without a value" if one.undefined else "")
    )
    return "\n".join([head, "", *(f"{name.ljust(width)}  {value}" for name, value in rows)])


def _settled_seconds(outcome: Outcome) -> Any:
    times = [one.lead_time for one in outcome.adjudications.values() if one.lead_time is not None and one.lead_time > 0]
    return np.array(times, dtype=np.float64)
