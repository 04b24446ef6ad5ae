"""Runs measured with each option of a selection by its name."""

from collections.abc import Iterable, Mapping, Sequence

from annot.base.records import Qrel
from annot.measuring.evaluation.measures import Evaluation, JudgedWhole, MeasureSelection, Run
from annot.measuring.sampled import estimates as sampled
from annot.measuring.sampled.grades import PoolGrades


def evaluate(
    run: Run, qrels: Iterable[Qrel], *, convention: str, relevant_from: int, ties: str, measures: Sequence[str] = ()
) -> Evaluation:
    judged = JudgedWhole(tuple(qrels), ())
    return judged.measured(run, judged.graded, MeasureSelection(convention, measures, relevant_from), ties=ties)


def estimates(
    runs: Mapping[str, Run],
    pools: Mapping[str, PoolGrades],
    *,
    convention: str,
    relevant_from: int,
    ties: str,
    measures: Sequence[str] = (),
) -> dict[str, Evaluation]:
    return sampled.estimates(runs, pools, MeasureSelection(convention, measures, relevant_from), ties=ties)
