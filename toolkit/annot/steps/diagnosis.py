"""Assessors one by one and two by two: how they judge, whether they change, and why they disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annot.agreement import COEFFICIENTS
from annot.diagnosis import (
    Drift,
    Pace,
    Repeat,
    Streak,
    Undefined,
    drifts,
    paces,
    panel_of,
    sequences_of,
    streaks,
    to_json,
)
from annot.errors import MissingInput
from annot.report.diagnosed import Diagnosed, diagnosed
from annot.report.sections.assessors import against_rows, finding_lines, matrix_rows, repeat_rows
from annot.report.text import text_table
from annot.steps.outcome import Outcome, outcome_of
from annot.store import people
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.workspace import Workspace

ALPHA = 0.02
"""The chance of any false finding, over all that is tested; `benchmarks/diagnosis_power.py` shows what it holds."""
PERMUTATIONS = 2_000
WINSORISE = 0.05
"""Share of the times at either end that is set to the limit: what idling does to a mean."""
TOO_FAST_SECONDS, TOO_FAST_SHARE = 3.0, 0.2
"""A judgement is too fast below so many seconds, or below this share of the assessors' median."""
HARDEST, EXAMPLES = 3, 5


@dataclass(frozen=True, slots=True)
class Looked:
    """What does not depend on the clock, and what does."""

    diagnosed: Diagnosed
    paces: tuple[Pace, ...]
    streaks: tuple[Streak, ...]
    drifts: tuple[Drift, ...]


def look(ws: Workspace) -> Looked:
    """Look at everyone who judged. Raises MissingInput when nobody did."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        outcome = outcome_of(session)
        facets = {query.query_id: query.facet for query in read_queries(session)}
        plan = people.read_assignments(session)
    found = of_outcome(ws, outcome, facets)
    panel = panel_of(outcome.judgements, outcome.decisions, facets, scale=ws.settings.scale.grades)
    sequences = sequences_of(outcome.judgements, plan)
    seed = ws.settings.seed
    return Looked(
        found,
        paces(
            sequences,
            winsorise=WINSORISE,
            floor=TOO_FAST_SECONDS,
            fraction=TOO_FAST_SHARE,
            level=ws.settings.agreement.level,
        ),
        streaks(sequences, alpha=ALPHA, permutations=PERMUTATIONS, seed=seed),
        drifts(panel, sequences, winsorise=WINSORISE, alpha=ALPHA, permutations=PERMUTATIONS, seed=seed),
    )


def of_outcome(ws: Workspace, outcome: Outcome, facets: dict[str, str]) -> Diagnosed:
    """What does not depend on the clock, of one state of the study."""
    if not any(one.grade is not None and not one.flags for one in outcome.judgements):
        raise MissingInput("no judgements", hint="bring them in with `annot pull` or `annot import judgements`")
    return diagnosed(
        panel_of(outcome.judgements, outcome.decisions, facets, scale=ws.settings.scale.grades),
        repeats_of(outcome),
        coefficient=COEFFICIENTS["kappa_quadratic"],
        alpha=ALPHA,
        level=ws.settings.agreement.level,
        seed=ws.settings.seed,
        hardest=HARDEST,
        examples=EXAMPLES,
    )


def repeats_of(outcome: Outcome) -> tuple[Repeat, ...]:
    """What an assessor was asked a second time and answered with a grade both times."""
    graded = {
        (one.asked, one.assessor): one.grade for one in outcome.everything if not one.flags and one.grade is not None
    }
    return tuple(
        Repeat(one.assessor, *one.asked.pair, first, second)
        for one in outcome.repeats
        if (second := graded.get((one.asked, one.assessor))) is not None
        and (first := graded.get((one.asked._replace(occasion=one.occasion - 1), one.assessor))) is not None
    )


def as_data(looked: Looked) -> Any:
    """Everything as JSON can carry it."""
    return to_json(looked)


def describe(looked: Looked) -> str:
    """Everything as text."""
    changed = [one for one in looked.drifts if one.changed]
    long = [one for one in looked.streaks if one.flagged]
    pace = [
        [
            one.assessor,
            one.n,
            _number(one.median),
            _number(one.winsorised_mean),
            one.too_fast.count,
            one.capped,
        ]
        for one in looked.paces
        if one.n
    ]
    matrix = ["assessor", "against", "pairs", "same", "kappa (quadratic)", "difference"]
    against = ["assessor", "pairs", "as the final grade", "bias", "severity", "upheld"]
    parts = [
        text_table(matrix, matrix_rows(looked.diagnosed)),
        text_table(against, against_rows(looked.diagnosed)),
        text_table(
            ["assessor", "repeats", "same grade again", "within one", "later grade less the first"],
            repeat_rows(looked.diagnosed),
        ),
        text_table(["assessor", "timed", "median s", "winsorised mean s", "too fast", "idle"], pace),
        "\n".join(["why they disagree:", *(f"  {line}" for line in finding_lines(looked.diagnosed))]),
        "\n".join(
            [
                "change over time:",
                *(
                    f"  {one.assessor}: {one.measure} changes over {one.axis}, p = {_number(one.p_value)}: "
                    + ", ".join(f"{level.label} {level.mean:.2f} (n {level.n})" for level in one.levels)
                    for one in changed
                ),
                *(
                    f"  {one.assessor}: {run.length} times grade {run.grade} in a row from judgement {run.start} on"
                    for one in long
                    for run in one.flagged
                ),
                *(["  nothing beyond chance"] if not changed and not long else []),
            ]
        ),
    ]
    return "\n\n".join(part for part in parts if part)


def _number(value: float | Undefined) -> str:
    return "undefined" if isinstance(value, Undefined) else f"{value:.3g}"
