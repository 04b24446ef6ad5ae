"""What the runs reach on the final grades."""

from __future__ import annotations

from annot.evaluation.evaluated import Line
from annot.evaluation.measures import MEASURES
from annot.report.document import Figure, Section, Table, rows_of
from annot.report.intervals import how_drawn, interval_text
from annot.report.study import Study
from annot.stats.undefined import Undefined

ANCHOR, TITLE = "evaluation", "Evaluation"


def evaluation(study: Study) -> Section:
    """The measures of every run by facet and together in both dialects, each with its interval."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return Section(ANCHOR, TITLE, (f"No run is measured here: {evaluated.reason}.",))
    blocks: list[Table | Figure] = []
    for dialect, names in MEASURES.items():
        rows = [
            [line.facet, line.run, *(_figure(line, name) for name in names), line.queries, line.average]
            for line in evaluated.lines
            if line.dialect == dialect
        ]
        blocks.append(
            Table(
                f"Dialect {dialect}, in percent.",
                ("Facet", "Run", *names, "Queries", "Average"),
                rows_of(rows),
                f"annot evaluate --dialect {dialect}",
                numeric_from=2,
            )
        )
    if study.run_settings:
        settings = Table("Settings of the runs.", ("Run", "Settings"), study.run_settings, "annot run", numeric_from=2)
        blocks.append(settings)
    made_here = {tag for tag, _ in study.run_settings}
    elsewhere = sorted(evaluated.evaluations.keys() - made_here)
    origin = (f"How these runs were made is not on record here: {', '.join(elsewhere)}.",) if elsewhere else ()
    candidates = "the pool" if study.pooled else "the judged documents"
    return Section(
        ANCHOR,
        TITLE,
        (
            f"Relevant from grade {evaluated.relevant_from} in the binary measures. The dialect csfcube computes as "
            "that release's script does, trec as trec_eval does. The line chance is the expected value of a random "
            f"order of {candidates}.",
            how_drawn(evaluated.bootstrap, over="query papers, two facets of one paper together"),
            *origin,
            *(f"{note}." for note in evaluated.notes),
        ),
        tuple(blocks),
    )


def _figure(line: Line, name: str) -> str:
    return f"{100 * line.values[name]:.2f} {interval_text(line.intervals[name], scale=100)}".strip()
