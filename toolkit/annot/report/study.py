"""What a report is about: the records of a study, all from one look, and nothing of the database they came from."""

from __future__ import annotations

from dataclasses import dataclass

from annot.agreement import PERCENTAGES, AgreementTable, Bootstrap, GroupAgreement, Interval, Summary, Undefined
from annot.evaluation import Evaluated
from annot.records import Decision, Judgement, Pool, Query
from annot.report.diagnosed import Diagnosed
from annot.reusability import DoesItMatter
from annot.settings import Settings


@dataclass(frozen=True, slots=True)
class Study:
    """Everything that the sections are made from."""

    settings: Settings
    papers: int
    """0 where the study was judged elsewhere and has no corpus here."""
    origins: dict[str, int]
    """Papers by the origin of their sentence labels."""
    queries: tuple[Query, ...]
    pools: dict[str, Pool]
    pairs: int
    """Pairs that were given to assessors."""
    judgements: tuple[Judgement, ...]
    agreed: int
    adjudicated: int
    open: int
    """Pairs in dispute without a decision."""
    decisions: tuple[Decision, ...]
    agreement: AgreementTable
    diagnosed: Diagnosed
    evaluated: Evaluated | Undefined
    mattering: DoesItMatter | Undefined
    """Both, or why there is nothing to measure or to rank."""
    run_settings: tuple[tuple[str, str], ...]
    """Each run's tag and its settings in words."""
    notice: str | None
    """What a reader must know before believing any number."""
    made_elsewhere: str | None
    """How the judgements were made, where that was not here."""

    @property
    def bootstrap(self) -> Bootstrap:
        """How the report's own intervals are drawn."""
        return Bootstrap(self.settings.agreement.resamples, self.settings.agreement.level, self.settings.seed)


def group_named(table: AgreementTable, name: str) -> GroupAgreement:
    """One facet's group, or the one of all together."""
    return next(group for group in table.groups if group.name == name)


def interval(summary: Summary, statistic: str) -> str:
    """The interval of a summary's median, mean or pooled figure: BCa, else percentile; empty where there is none."""
    if summary.intervals is None:
        return ""
    found = summary.intervals[statistic]
    for one in (found.bca, found.percentile):
        if isinstance(one, Interval):
            return f"[{one.low:z.2f}, {one.high:z.2f}]"
    return ""


def value(name: str, figure: float | Undefined) -> str:
    """A figure of the coefficient `name`: a percentage to two decimals, any other to four, or the word for having none.

    CSFCube's Table 2 prints percentages so; of the coefficients it prints two decimals, cut or rounded.
    """
    if isinstance(figure, Undefined):
        return "undefined"
    return f"{figure:z.2f}" if name in PERCENTAGES else f"{figure:z.4f}"


def plain(figure: float | Undefined) -> float | None:
    """A figure for a drawing."""
    return None if isinstance(figure, Undefined) else figure
