"""Does it matter who judged? The runs ranked under each assessor's grades, the final ones, and mixtures of both."""

from __future__ import annotations

from typing import Any

from annot.agreement import to_json
from annot.assessor_effect import DoesItMatter
from annot.errors import InputError
from annot.evaluation.measures import MEASURES
from annot.names import check_name
from annot.report.intervals import how_drawn
from annot.report.sections.mattering import comparison_text, gradings_text, mixtures_text, ranking_rows, tau_rows
from annot.report.text import text_table
from annot.study.exports import exported_qrels
from annot.study.measured import assessor_effect_of, read_run_files
from annot.study.results import assessor_effect_file
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file


def measure(ws: Workspace, *, dialect: str, measure_name: str, mixtures: int) -> DoesItMatter:
    """Rank the runs of `exports/runs/` under every grading and write `exports/assessor-effect.json`."""
    check_name(dialect, tuple(MEASURES), what="dialect")
    check_name(measure_name, MEASURES[dialect], what=f"measure of dialect {dialect}")
    qrels, runs = exported_qrels(ws), read_run_files(ws)
    if len(runs) < 2:
        raise InputError(
            f"{ws.runs}: {len(runs)} run(s), expected at least 2 to rank", hint="make baselines with `annot run`"
        )
    effect = assessor_effect_of(
        read_snapshot(ws), runs, qrels, dialect=dialect, measure=measure_name, mixtures=mixtures
    )
    write_file(*assessor_effect_file(ws, effect))
    return effect


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
