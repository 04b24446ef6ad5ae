"""The pools by whose grades runs are measured: judged whole, or a sample of them."""

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
"""The share of queries in which nothing relevant may be drawn. Where it is more, intervals may hold less often than
they say (`benchmarks/sampled_predictions.py`)."""


class GradedPools(Protocol):
    """Something that measures runs on pools, however they were judged."""

    @property
    def whole(self) -> bool:
        """Whether every document of the pools was to be judged."""

    @property
    def query_ids(self) -> Collection[str]:
        """The queries that are graded."""

    @property
    def highest(self) -> int:
        """The highest grade of a judged document."""

    def columns(self, convention: str, asked: tuple[str, ...]) -> tuple[str, ...]:
        """The measures to show: those of the convention, and those of `asked` that it knows."""

    def measured(self, run: Run, query_ids: Collection[str], asked: MeasuresAsked, *, ties: str) -> Evaluation:
        """The run on these of the queries."""

    def chance(self, documents: Documents, cuts: Collection[Cut], asked: MeasuresAsked) -> dict[Cut, Values]:
        """The figures of a random order of the documents of each query, of which the first so many are ranked."""

    def one_assessor(self, asked: MeasuresAsked) -> dict[str, Values]:
        """What a ranking by one assessor's grades reaches, by query; empty if it is not known."""

    def best_order(self, asked: MeasuresAsked) -> Evaluation | None:
        """The best order of the documents of each query; None if it is not known."""


@dataclass(frozen=True, slots=True)
class JudgedWhole:
    """Pools in which every document was to be judged."""

    qrels: tuple[Qrel, ...]
    judgements: tuple[Judgement, ...]
    """Those behind the qrels."""

    @property
    def whole(self) -> bool:
        return True

    @property
    def query_ids(self) -> Collection[str]:
        return {qrel.query_id for qrel in self.qrels}

    @property
    def highest(self) -> int:
        return max((qrel.relevance for qrel in self.qrels), default=0)

    def columns(self, convention: str, asked: tuple[str, ...]) -> tuple[str, ...]:
        return columns(convention, asked)

    def measured(self, run: Run, query_ids: Collection[str], asked: MeasuresAsked, *, ties: str) -> Evaluation:
        mine = tuple(qrel for qrel in self.qrels if qrel.query_id in query_ids)
        return evaluate(
            run,
            mine,
            convention=asked.convention,
            relevant_from=asked.relevant_from,
            ties=ties,
            measures=asked.names,
        )

    def chance(self, documents: Documents, cuts: Collection[Cut], asked: MeasuresAsked) -> dict[Cut, Values]:
        return random_orders(documents, cuts, nested(self.qrels), asked)

    def one_assessor(self, asked: MeasuresAsked) -> dict[str, Values]:
        return single_assessor_ceiling(self.judgements, self.qrels, asked)

    def best_order(self, asked: MeasuresAsked) -> Evaluation:
        documents = grouped((qrel.query_id, ScoredDoc(qrel.doc_id, float(qrel.relevance))) for qrel in self.qrels)
        best = {query_id: ranked(of_query) for query_id, of_query in documents.items()}
        return self.measured(best, self.query_ids, asked, ties="order")


@dataclass(frozen=True, slots=True)
class ByOpinion:
    """What it brings that a model's opinion predicts grades too, on the measure that compares runs."""

    name: str
    model: str
    """Empty if no model was asked under this name."""
    pairs: int
    """Pairs of the pools that the opinion helps to predict; 0 if the rankings alone predict."""
    difference: float | None
    """By how much an interval of a difference between two runs is wider than with the rankings alone, as a share, and
    below 0 if it is narrower; the median over all pairs of runs. None if it is unknown."""
    level: float | None
    """The same of a run's mean."""
    means: Mapping[str, tuple[float, float]]
    """By run, its mean with the opinion and with the rankings alone."""
    other_texts: int = 0
    """Pairs on which the model read another version of a text than they are judged on."""

    @property
    def told(self) -> str:
        """In a sentence without its end."""
        if not self.pairs:
            return (
                f"the opinion of {self.name} predicts nothing, because the model was not asked in time about whole "
                "pools of several topics; the rankings alone predict"
            )
        by, what = (self.level, "a run") if self.difference is None else (self.difference, "a difference")
        if by is None:
            return f"the opinion of {self.name} and the rankings predict"
        percent = f"{100 * abs(by):.0f}%"
        compared = "as wide as" if percent == "0%" else f"{percent} {'narrower' if by < 0 else 'wider'} than"
        return (
            f"with the opinion of {self.name} as prediction, the interval of {what} is {compared} with the rankings "
            "alone"
        )


@dataclass(frozen=True, slots=True)
class SampleCost:
    """What a sample costs on the measure that compares runs, over all queries."""

    drawn: int
    pairs: int
    """Of the pools."""
    share: float
    """The share that was asked for. By chance, more or less was drawn."""
    level: Estimate
    """By how much an interval of a run's mean is wider, as a fraction; the median over runs, with a range."""
    difference: Estimate
    """The same of a difference between two runs; the median over all pairs of runs."""
    outside: int
    """Estimates of runs on queries that cannot be the value; they count in the means and are not shown."""
    floored: int
    """Queries whose ideal was raised to what was found, or to one document of the lowest relevant grade."""
    queries: int = 0
    """Those that are measured."""
    empty: int = 0
    """Queries in which no drawn document is relevant: their values are predictions, or 0 without predictions."""
    so_far: float | None = None
    """The share of the drawn pairs that have a grade; None if all have one."""
    opinion: ByOpinion | None = None
    """What an opinion brings that is to predict grades."""

    @property
    def too_empty(self) -> bool:
        """Whether these queries are so many that intervals hold less often than they say."""
        return self.empty > MOST_EMPTY * self.queries

    @property
    def told_empty(self) -> str:
        """In a sentence without its end."""
        return f"no drawn document is relevant in {self.empty} of {counted(self.queries, 'query')}"
