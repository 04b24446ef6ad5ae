"""The effect of the assessor: the runs ranked under each assessor's grades, the final ones, and random choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from annot.base.errors import InputError
from annot.base.names import check_name, counted
from annot.measuring.assessor_effect.rankings import AssessorEffect
from annot.measuring.effect_of_study import assessor_effect_of
from annot.measuring.evaluation.evaluated import PRIMARY
from annot.measuring.evaluation.gradings import MEASURES
from annot.measuring.measured import primary_of, read_run_files
from annot.measuring.results import EFFECT_FILE, as_text, keep
from annot.publishing.report.document import Table
from annot.publishing.report.notices import tell_untrue
from annot.publishing.report.sections.effect import method
from annot.publishing.report.terminal import table_text, wrapped
from annot.study.exports import exported_qrels
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def measure(
    ws: Workspace, *, convention: str | None, measure_name: str | None, tell: Callable[[str], None]
) -> AssessorEffect:
    """Rank the runs of `exports/runs/` under every grading and write `exports/assessor-effect.json`.

    `tell` says if that cannot be written, and what is not true of the study. convention, measure_name: None takes
    those by which runs are compared.
    """
    convention = convention or primary_of(ws.settings)[0]
    check_name(convention, tuple(MEASURES), what="convention")
    measure_name = measure_name or PRIMARY[convention]
    check_name(measure_name, MEASURES[convention], what=f"measure of convention {convention}")
    snapshot = read_snapshot(ws)
    qrels, runs = exported_qrels(snapshot), read_run_files(snapshot.ws)
    if len(runs) < 2:
        raise InputError(
            f"{ws.runs}: {counted(len(runs), 'run')}, expected at least 2", hint="make baselines with `annot run`"
        )
    effect = assessor_effect_of(snapshot, runs, qrels, convention=convention, measure=measure_name)
    tell_untrue(ws, snapshot.states, "effect", tell=tell)
    keep(ws, EFFECT_FILE, as_text(effect), tell=tell)
    return effect


def describe(found: AssessorEffect, tables: Iterable[Table]) -> str:
    """The rankings, how they compare, and what chance in who judged does to them."""
    return "\n\n".join([*map(wrapped, method(found)), *map(table_text, tables)])
