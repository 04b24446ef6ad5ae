"""The stage of a study: its records at one moment, of which `annot status` counts and the next step follows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from annot.base.records import Asked, Assessor, Assignment, Query
from annot.store import facet_labels, people, pools, projects
from annot.store.guidelines import read_guidelines
from annot.store.queries import read_queries
from annot.study.adjudication import Pair
from annot.study.guidelines import changed
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Stage:
    """The records, from one look at the store."""

    labelled: int
    """Papers with sentence labels."""
    queries: tuple[Query, ...]
    documents: dict[str, tuple[str, ...]]
    """Of each query's pool."""
    everyone: tuple[Assessor, ...]
    plan: tuple[Assignment, ...]
    sent: dict[str, set[Asked]]
    """What people were sent to judge, without hidden gold."""
    outcome: Outcome
    guidelines_changed: tuple[str, ...]
    """Facets whose guidelines are no longer those that were sent."""

    @property
    def answered(self) -> set[tuple[str, Asked]]:
        """Every answer that counts, planned or not."""
        return {(one.assessor, one.asked) for one in self.outcome.everything if one.counts}

    @property
    def to_withdraw(self) -> int:
        """Unanswered tasks of people who do not have the pairs any more."""
        have = {(planned.assessor, planned.asked) for planned in self.plan} | self.answered
        have |= {(returned.assessor, returned.asked) for returned in self.outcome.returned}
        return sum((name, asked) not in have for name, own in self.sent.items() for asked in own)

    @property
    def unassigned(self) -> tuple[Pair, ...]:
        """Pairs that lack an assessor, since somebody left; not those that count all the same."""
        wanted = self.outcome.per_pair or 0
        return tuple(
            pair
            for pair, names in self.outcome.planned.items()
            if len(names) < wanted and pair not in self.outcome.accepted
        )


def stage_of(session: Session, ws: Workspace) -> Stage:
    """The stage as this transaction sees it."""
    return Stage(
        labelled=sum(facet_labels.count_by_origin(session).values()),
        queries=read_queries(session),
        documents=pools.documents_by_query(session),
        everyone=people.read_assessors(session),
        plan=people.read_assignments(session),
        sent=projects.read_sent(session),
        outcome=outcome_of(session, ws.settings),
        guidelines_changed=tuple(changed(ws, ws.settings.facets, read_guidelines(session))),
    )
