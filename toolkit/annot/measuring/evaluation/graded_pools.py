"""Pools whose grades measure runs: judged completely, or a sample of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from annot.base.names import counted
from annot.base.records import Judgement, Qrel, ScoredDoc, grouped, nested, ranked
from annot.base.stats.values import Estimate
from annot.measuring.evaluation.chance import Cut, Documents, random_orders
from annot.measuring.evaluation.computed import MeasuresAsked, Run, Values
from annot.measuring.evaluation.measures import Evaluation, columns, evaluate, single_assessor_ceiling

MOST_EMPTY = 0.2
"""Largest share of queries in which nothing relevant may be drawn. Above it, intervals may hold less often than they
say (`benchmarks/sampled_predictions.py`).
"""


class GradedPools(Protocol):
    """Pools on which runs can be measured, however they were judged."""

    @property
    def whole(self) -> bool:
        """True if every document of the pools was to be judged."""

    @property
    def query_ids(self) -> Collection[str]:
        """Queries that are graded."""

    @property
    def highest(self) -> int:
        """Highest grade of a judged document."""

    def columns(self, convention: str, wishes: tuple[str, ...]) -> tuple[str, ...]:
        """Measures to show: those of the convention, and those of `wishes` that it knows."""

    def measured(self, run: Run, query_ids: Collection[str], selection: MeasuresAsked, *, ties: str) -> Evaluation:
        """Measures of the run on these queries."""

    def chance(self, documents: Documents, cuts: Collection[Cut], selection: MeasuresAsked) -> dict[Cut, Values]:
        """Figures of a random order of the documents of each query, cut at the given lengths."""

    def one_assessor(self, selection: MeasuresAsked) -> dict[str, Values]:
        """Measures of a ranking by one assessor's grades, by query; empty if they are not known."""

    def best_order(self, selection: MeasuresAsked) -> Evaluation | None:
        """Measures of the best order of the documents of each query; None if they are not known."""


@dataclass(frozen=True, slots=True)
class JudgedWhole:
    """Pools in which every document was to be judged."""

    qrels: tuple[Qrel, ...]
    judgements: tuple[Judgement, ...]
    """Judgements behind the qrels."""

    @property
    def whole(self) -> bool:
        return True

    @property
    def query_ids(self) -> Collection[str]:
        return {qrel.query_id for qrel in self.qrels}

    @property
    def highest(self) -> int:
        return max((qrel.relevance for qrel in self.qrels), default=0)

    def columns(self, convention: str, wishes: tuple[str, ...]) -> tuple[str, ...]:
        return columns(convention, wishes)

    def measured(self, run: Run, query_ids: Collection[str], selection: MeasuresAsked, *, ties: str) -> Evaluation:
        qrels = tuple(qrel for qrel in self.qrels if qrel.query_id in query_ids)
        return evaluate(
            run,
            qrels,
            convention=selection.convention,
            relevant_from=selection.relevant_from,
            ties=ties,
            measures=selection.names,
        )

    def chance(self, documents: Documents, cuts: Collection[Cut], selection: MeasuresAsked) -> dict[Cut, Values]:
        return random_orders(documents, cuts, nested(self.qrels), selection)

    def one_assessor(self, selection: MeasuresAsked) -> dict[str, Values]:
        return single_assessor_ceiling(self.judgements, self.qrels, selection)

    def best_order(self, selection: MeasuresAsked) -> Evaluation:
        documents = grouped((qrel.query_id, ScoredDoc(qrel.doc_id, float(qrel.relevance))) for qrel in self.qrels)
        best = {query_id: ranked(of_query) for query_id, of_query in documents.items()}
        return self.measured(best, self.query_ids, selection, ties="order")


@dataclass(frozen=True, slots=True)
class ByOpinion:
    """Effect of a model's opinion as a further prediction of grades, on the measure that compares runs."""

    name: str
    model: str
    """Name of the model; empty if no model was asked under this name."""
    pairs: int
    """Pairs of the pools that the opinion helps to predict; 0 if the rankings alone predict."""
    difference: float | None
    """Change of the width of an interval of a difference between two runs against the rankings alone, as a share, below
    0 if it is narrower; the median over all pairs of runs. None if it is unknown.
    """
    level: float | None
    """Change of the width of an interval of a run's mean, in the same way."""
    means: Mapping[str, tuple[float, float]]
    """Mean of each run with the opinion and with the rankings alone."""
    other_texts: int = 0
    """Pairs on which the model read another version of a text than they are judged on."""

    @property
    def told(self) -> str:
        """Sentence about the effect, without its full stop."""
        if not self.pairs:
            return (
                f"the opinion of {self.name} predicts nothing, because the model was not asked in time about whole "
                "pools of several topics; the rankings alone predict"
            )
        change, figure = (self.level, "a run") if self.difference is None else (self.difference, "a difference")
        if change is None:
            return f"the opinion of {self.name} and the rankings predict"
        percent = f"{100 * abs(change):.0f}%"
        compared = "as wide as" if percent == "0%" else f"{percent} {'narrower' if change < 0 else 'wider'} than"
        return (
            f"with the opinion of {self.name} as prediction, the interval of {figure} is {compared} with the rankings "
            "alone"
        )


@dataclass(frozen=True, slots=True)
class SampleCost:
    """Cost of a sample on the measure that compares runs, over all queries."""

    drawn: int
    pairs: int
    """Pairs of the pools."""
    share: float
    """Share that was requested. By chance, a little more or less was drawn."""
    level: Estimate
    """Widening of an interval of a run's mean, as a fraction; the median over runs, with a range."""
    difference: Estimate
    """Widening of an interval of a difference between two runs; the median over all pairs of runs."""
    outside: int
    """Estimates of runs on queries that cannot be the true value; they count in the means and are not shown."""
    floored: int
    """Queries whose ideal was raised to the documents found, or to one document of the lowest relevant grade."""
    queries: int = 0
    """Queries that are measured."""
    empty: int = 0
    """Queries in which no drawn document is relevant: their values are predictions, or 0 without predictions."""
    so_far: float | None = None
    """Share of the drawn pairs that have a grade; None if all have one."""
    opinion: ByOpinion | None = None
    """Effect of the opinion that predicts grades, if there is one."""

    @property
    def too_empty(self) -> bool:
        """True if so many queries are empty that intervals hold less often than they say."""
        return self.empty > MOST_EMPTY * self.queries

    @property
    def told_empty(self) -> str:
        """Sentence about empty queries, without its full stop."""
        return f"no drawn document is relevant in {self.empty} of {counted(self.queries, 'query')}"
