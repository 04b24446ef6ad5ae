"""Does it matter who judged? The runs ranked under each assessor's grades, the final ones, and mixtures of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annot.agreement import Bootstrap, to_json
from annot.assessor_effect import DoesItMatter, Mattering, does_it_matter
from annot.errors import InputError
from annot.evaluation.measures import MEASURES
from annot.names import check_name
from annot.report.intervals import how_drawn
from annot.report.sections.mattering import comparison_text, gradings_text, mixtures_text, ranking_rows, tau_rows
from annot.report.text import text_table
from annot.steps import evaluate as evaluate_step
from annot.steps import qrels as qrels_step
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, write_file

EXACT_UP_TO = 20
"""Queries up to which the randomisation test counts every sign flip."""
PERMUTATIONS = 10_000
ALPHA = 0.05
DIALECT, MEASURE, MIXTURES = "trec", "nDCG", 500
"""What the command and the report ask when nothing else is asked."""


def measure(ws: Workspace, *, dialect: str, measure_name: str, mixtures: int) -> DoesItMatter:
    """Rank as `compute` does and write `exports/reusability.json`."""
    found = compute(ws, dialect=dialect, measure_name=measure_name, mixtures=mixtures)
    write_file(*file_of(ws, found))
    return found


def file_of(ws: Workspace, found: DoesItMatter) -> tuple[Path, str]:
    """`exports/reusability.json` and what it holds."""
    return ws.exports / "reusability.json", json.dumps(as_data(found), indent=2, ensure_ascii=False) + "\n"


def compute(ws: Workspace, *, dialect: str, measure_name: str, mixtures: int) -> DoesItMatter:
    """Rank the runs of `exports/runs/` under every grading."""
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
    return does_it_matter(runs, judgements, qrels, settings)


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
            gradings_text(),
            text_table(("grades of", "queries", "pairs", "no grade", "runs, best first"), ranking_rows(found)),
            f"{comparison_text(found)} {how_drawn(settings.bootstrap, over='queries')}",
            text_table(("grades of", "against", "tau", "interval", "reversed", "swaps", "queries"), tau_rows(found)),
            mixtures_text(found),
            *found.notes,
        ]
    )
