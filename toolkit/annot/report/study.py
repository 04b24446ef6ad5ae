"""What a report is about: the records of a study, all from one look, and nothing of the database they came from."""

from __future__ import annotations

from dataclasses import dataclass

from annot.agreement import AgreementTable, Bootstrap, GroupAgreement, Undefined
from annot.assessor_effect import AssessorEffect
from annot.diagnosis.overview import Looked
from annot.evaluation.evaluated import Evaluated
from annot.records import Decision, Judgement, Pool, Query
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
    pooled: bool
    """Whether the judged pairs come from these pools; not where judgements were imported without them."""
    pairs: int
    """Pairs that were given to assessors."""
    judgements: tuple[Judgement, ...]
    agreed: int
    """Pairs settled without a person: their assessors gave the same grade, or there is only one."""
    single: int
    """Those that only one assessor had."""
    adjudicated: int
    open: int
    """Pairs in dispute without a decision."""
    incomplete: int
    """Pairs that not all of their assessors have answered."""
    decisions: tuple[Decision, ...]
    agreement: AgreementTable
    binarised: tuple[AgreementTable, ...]
    """The headline coefficients at each grade or higher against lower; empty on a scale of two grades."""
    diagnosed: Looked
    evaluated: Evaluated | Undefined
    mattering: AssessorEffect | Undefined
    """Both, or why there is nothing to measure or to rank."""
    run_settings: tuple[tuple[str, str], ...]
    """Each run's tag and its settings in words."""
    notice: str | None
    """What a reader must know before believing any number."""
    made_elsewhere: str | None
    """How the judgements were made, where that was not here."""

    @property
    def graded(self) -> int:
        """Judgements that count and have a grade."""
        return sum(not one.flags and one.grade is not None for one in self.judgements)

    @property
    def query_papers(self) -> int:
        """Papers that queries were made of."""
        return len({query.paper_id for query in self.queries})

    @property
    def bootstrap(self) -> Bootstrap:
        """How the report's own intervals are drawn."""
        return Bootstrap(self.settings.agreement.resamples, self.settings.agreement.level, self.settings.seed)


def group_named(table: AgreementTable, name: str) -> GroupAgreement:
    """One facet's group, or the one of all together."""
    return next(group for group in table.groups if group.name == name)


def plain(figure: float | Undefined) -> float | None:
    """A figure for a drawing."""
    return None if isinstance(figure, Undefined) else figure
