"""What a release of a sampled study has: the table of all pairs, a program that evaluates runs by it, and warnings.

`qrels.txt` has the judged pairs. TREC's form for samples, the prels of the Million Query Track (topic, document,
judgement, 1, probability; Carterette, Pavlu, Fang and Kanoulas 2009, Million Query Track 2009 Overview), has no place
for pairs that were not drawn, nor for predictions. So there is one table, and `PRELS` makes that form from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from annot.base.stats.values import Undefined
from annot.base.templating import render
from annot.measuring.evaluation.computed import MeasuresAsked
from annot.measuring.evaluation.graded_pools import JudgedWhole
from annot.measuring.sampled.grades import KINDS
from annot.measuring.sampled_study import DrawnPairs, drawn_pairs
from annot.publishing.report.document import Table
from annot.publishing.report.sections.grades import final_grades
from annot.publishing.report.study import Study
from annot.publishing.report.words import sentence
from annot.study.snapshot import Snapshot

SAMPLE_FILE = "sample.tsv"
EVALUATOR_FILE = "evaluate_sample.py"
COLUMNS = ("query_id", "doc_id", "grade", "probability")
"""The first columns of the table. After them: f0, f1, ..., the predicted probability of each grade, and the weights of
the predictions, w_ and a kind of measure."""
PRELS = f"awk -F'\\t' 'NR > 1 && $3 != \"\" {{print $1, $2, $3, 1, $4}}' {SAMPLE_FILE} > prels.txt"


@dataclass(frozen=True, slots=True)
class SampleInWords:
    """What card, datasheet, Croissant and the module for ir_datasets say of the sample."""

    certificate: str
    """How much was judged, and what that costs; the same in the report."""
    warning: str
    """By how much a plain evaluation of the qrels is wrong."""
    n_grades: int
    grades: Table
    """The estimated final grades of the whole pools."""
    interval_level: float
    """Of the intervals in it."""
    opinion: str = ""
    """The opinion that predicts grades besides the rankings; empty if there is none."""
    kinds: tuple[str, ...] = KINDS
    """Of measures, each with a weight of the predictions."""
    prels: str = PRELS


def sampled_of(study: Study) -> SampleInWords | None:
    """None if all pairs of the pools were to be judged."""
    if study.sample_cost is None:
        return None
    off = list(_plainly_off(study))
    measure = None if isinstance(study.evaluated, Undefined) else study.evaluated.measure
    return SampleInWords(
        certificate=study.certificate,
        warning=sentence(
            "sample.warning", off=[abs(one) for one in off], measure=measure, files=(SAMPLE_FILE, EVALUATOR_FILE)
        ),
        n_grades=len(study.settings.scale.grades),
        grades=final_grades(study),
        interval_level=study.level,
        opinion=opinion_of(study.snapshot),
    )


def opinion_of(study: Snapshot) -> str:
    """The opinion that predicts grades besides the rankings; empty if there is none."""
    label = study.sample and study.sample.design.cheap_label
    return drawn_pairs(study, study.outcome.qrels, unfinished=True).opinion if label else ""


def _plainly_off(study: Study) -> Iterator[float]:
    """What plain evaluation of the qrels gives, less the estimate: of each run, on the measure that decides."""
    evaluated = study.evaluated
    if isinstance(evaluated, Undefined):
        return
    asked = MeasuresAsked(evaluated.convention, (evaluated.measure,), evaluated.relevant_from)
    plain = JudgedWhole(study.outcome.qrels, ())
    for tag, by_convention in evaluated.evaluations.items():
        estimated = {one.query_id: one.values[evaluated.measure] for one in by_convention[evaluated.convention].queries}
        found = {
            one.query_id: one.values for one in plain.measured(study.runs[tag], estimated, asked, ties="order").queries
        }
        off = (found.get(query_id, {}).get(evaluated.measure, 0.0) - of for query_id, of in estimated.items())
        yield math.fsum(off) / len(estimated)


def sample_files(study: Snapshot) -> dict[str, str]:
    """The table and the program that reads it; none if all pairs of the pools were to be judged."""
    if not study.samples:
        return {}
    drawn = drawn_pairs(study, study.outcome.qrels, unfinished=True)
    relevant_from = study.ws.settings.evaluation.relevant_from
    values = {"file": SAMPLE_FILE, "relevant_from": relevant_from, "opinion": drawn.opinion, "kinds": KINDS}
    return {SAMPLE_FILE: sample_table(drawn), EVALUATOR_FILE: render(f"{EVALUATOR_FILE}.j2", values, overrides=None)}


def sample_table(drawn: DrawnPairs) -> str:
    """A line for each pair of the pools; the grade is empty if it was not drawn, and 0 if nobody could judge it.

    Probabilities are those on record. In a draft with drawn pairs that have no grade yet they are multiplied by the
    share of the drawn pairs of the query that have one, as in `annot evaluate --so-far`.
    """
    predicted, weights = drawn.predicted, drawn.weights
    predictions = (*(f"f{grade}" for grade in range(drawn.highest + 1)), *(f"w_{kind}" for kind in KINDS))
    lines = ["\t".join((*COLUMNS, *predictions))]
    nothing = (1.0, *[0.0] * drawn.highest)
    for query_id, of in sorted(drawn.pi.items()):
        for doc_id, probability in sorted(of.items()):
            f = nothing if predicted is None else predicted[query_id][doc_id]
            grade = drawn.judged[query_id].get(doc_id, "")
            w = (0.0 if weights is None else weights[query_id][kind] for kind in KINDS)
            cells = (query_id, doc_id, grade, repr(probability), *(f"{number:.6f}" for number in (*f, *w)))
            lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"
