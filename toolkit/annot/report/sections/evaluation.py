"""What the runs reach on the final grades."""

from __future__ import annotations

from annot.evaluation import Evaluated
from annot.measures import MEASURES
from annot.report.document import Figure, Section, Table, rows_of
from annot.report.study import Study


def evaluation(study: Study, evaluated: Evaluated) -> Section:
    blocks: list[Table | Figure] = []
    for dialect, names in MEASURES.items():
        rows = [
            [line.facet, line.run, *(f"{100 * line.values[name]:.2f}" for name in names), line.queries, line.average]
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
        blocks.append(
            Table("Settings of the runs.", ("Run", "Settings"), study.run_settings, "annot run", numeric_from=2)
        )
    made_here = {tag for tag, _ in study.run_settings}
    elsewhere = sorted(evaluated.evaluations.keys() - made_here)
    origin = (f"How these runs were made is not on record here: {', '.join(elsewhere)}.",) if elsewhere else ()
    candidates = "the pool" if study.pooled else "the judged documents"
    return Section(
        "evaluation",
        "Evaluation",
        (
            f"Relevant from grade {evaluated.relevant_from} in the binary measures. The dialect csfcube computes as "
            "that release's script does, trec as trec_eval does. The line chance is the expected value of a random "
            f"order of {candidates}.",
            *origin,
            *evaluated.notes,
        ),
        tuple(blocks),
    )
