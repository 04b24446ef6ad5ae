"""Does it matter who judged? The runs ranked under each assessor's grades, the final ones, and mixtures of both."""

from __future__ import annotations

import json
from typing import Any

from annot.agreement import Bootstrap, Interval, Undefined, to_json
from annot.errors import InputError
from annot.measures import MEASURES
from annot.report.text import text_table
from annot.reusability import Comparison, DoesItMatter, Mattering, does_it_matter
from annot.steps import evaluate as evaluate_step
from annot.steps import qrels as qrels_step
from annot.steps.names import check_name
from annot.steps.outcome import outcome_of
from annot.store.database import open_store
from annot.workspace import Workspace, write_file

EXACT_UP_TO = 20
"""Queries up to which the randomisation test counts every sign flip."""
PERMUTATIONS = 10_000
ALPHA = 0.05


def measure(ws: Workspace, *, dialect: str, measure_name: str, mixtures: int) -> DoesItMatter:
    """Rank the runs of `exports/runs/` under every grading and write `exports/reusability.json`."""
    check_name(dialect, tuple(MEASURES), what="dialect")
    check_name(measure_name, MEASURES[dialect], what=f"measure of dialect {dialect}")
    qrels = qrels_step.read(ws)
    runs = evaluate_step.read_runs(ws, ())
    if len(runs) < 2:
        raise InputError(
            f"{ws.runs}: {len(runs)} run(s), expected at least 2 to rank", hint="make baselines with `annot run`"
        )
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        judgements = outcome_of(session).judgements
    settings = Mattering(
        dialect=dialect,
        measure=measure_name,
        relevant_from=ws.settings.evaluation.relevant_from,
        mixtures=mixtures,
        alpha=ALPHA,
        exact_up_to=EXACT_UP_TO,
        permutations=PERMUTATIONS,
        bootstrap=Bootstrap(ws.settings.agreement.resamples, ws.settings.agreement.level, ws.settings.seed),
    )
    found = does_it_matter(runs, judgements, qrels, settings)
    write_file(ws.exports / "reusability.json", json.dumps(as_data(found), indent=2, ensure_ascii=False) + "\n")
    return found


def as_data(found: DoesItMatter) -> Any:
    """The answer as JSON can carry it."""
    return to_json(found)


def describe(found: DoesItMatter) -> str:
    """The rankings, how they compare, and the mixtures."""
    settings = found.settings
    head = (
        f"{settings.measure} in dialect {settings.dialect}, {len(found.runs)} runs, {len(found.queries)} queries, "
        f"{found.n_pairs} pairs; significant at p <= {settings.alpha} (paired randomisation, uncorrected)"
    )
    return "\n\n".join(
        [
            head,
            text_table(("grades of", "queries", "runs, best first"), ranking_rows(found)),
            text_table(("grades of", "against", "tau", "interval", "reversed", "swaps", "queries"), tau_rows(found)),
            mixtures_text(found),
            *found.notes,
        ]
    )


def ranking_rows(found: DoesItMatter) -> list[tuple[object, ...]]:
    """The runs in order under each grading, with their means in percent."""
    return [
        (one.name, len(one.queries), ", ".join(f"{tag} {100 * mean:.2f}" for tag, mean in one.means.items()))
        for one in found.rankings
    ]


def tau_rows(found: DoesItMatter) -> list[tuple[object, ...]]:
    """Each comparison of two gradings."""
    return [
        (
            one.first,
            one.second,
            number(one.tau),
            _interval(one),
            f"{one.reversed_pairs} of {one.n_run_pairs}",
            len(one.swaps),
            one.n_queries,
        )
        for one in found.comparisons
    ]


def mixtures_text(found: DoesItMatter) -> str:
    """What happens when chance decides whose grade counts."""
    mixed = found.mixtures
    spread = ""
    if not isinstance(mixed.tau_range, Undefined):
        low, high = mixed.tau_range
        spread = f" (middle {100 * found.settings.bootstrap.level:g}%: {low:.2f} to {high:.2f})"
    return (
        f"{mixed.n} mixtures, each pair's grade from one of its assessors at random: mean tau with the final ranking "
        f"{number(mixed.tau)}{spread}; {mixed.same_order} rank the runs exactly alike; {mixed.with_swap} have a "
        "significant pair of runs in another order"
    )


def number(value: float | Undefined) -> str:
    """Tau to two decimals, or why there is none."""
    return f"undefined: {value.reason}" if isinstance(value, Undefined) else f"{value:.2f}"


def _interval(one: Comparison) -> str:
    for found in (one.intervals.bca, one.intervals.percentile):
        if isinstance(found, Interval):
            return f"[{found.low:.2f}, {found.high:.2f}]"
    return ""
