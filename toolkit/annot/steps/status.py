"""How far the study is, from the store alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annot.report.terminal import told
from annot.store import facet_labels, people, pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.outcome import Outcome, outcome_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Progress:
    """How many pairs one assessor has, and has judged."""

    assessor: str
    assigned: int
    judged: int


@dataclass(frozen=True, slots=True)
class Status:
    """The study in counts, and the command that comes next."""

    labelled_papers: int
    queries: int
    pools: int
    pairs: int
    assessors: tuple[Progress, ...]
    incomplete: int
    returned: int
    """How often a pair was put before its assessor again."""
    waiting: int
    """Pairs that were returned and wait for the answer."""
    agreed: int
    disputed: int
    settled: int
    unjudgeable: int
    """Pairs that nobody can judge: they have ended, without a grade."""
    open: int
    next_command: str


def status(ws: Workspace) -> Status:
    """Count what is there."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        labelled = sum(facet_labels.count_by_origin(session).values())
        queries = read_queries(session)
        documents = pools.documents_by_query(session)
        plan = people.read_assignments(session)
        everyone = people.read_assessors(session)
        outcome = outcome_of(session, ws.settings)
    assigned = Counter(planned.assessor for planned in plan)
    judged = Counter(answer.assessor for answer in (*outcome.judgements, *outcome.repeats) if answer.counts)
    return Status(
        labelled_papers=labelled,
        queries=len(queries),
        pools=len({query.paper_id for query in queries if query.query_id in documents}),
        pairs=len(outcome.planned),
        assessors=tuple(
            Progress(person.assessor, assigned[person.assessor], judged[person.assessor])
            for person in everyone
            if assigned[person.assessor]
        ),
        incomplete=len(outcome.incomplete),
        returned=len(outcome.returned),
        waiting=len(outcome.waiting),
        agreed=len(outcome.settlement.agreed),
        disputed=len(outcome.settlement.disputed),
        settled=len(outcome.adjudications),
        unjudgeable=len(outcome.unjudgeable),
        open=len(outcome.open),
        next_command=_next(labelled, len(queries), len(documents), bool(everyone), outcome),
    )


def describe(found: Status) -> str:
    """The counts in words."""
    return told("status", found=found)


def _next(labelled: int, queries: int, documents: int, people_there: bool, outcome: Outcome) -> str:
    """The command that moves the study on, by the order of the flow; judgements made elsewhere need no corpus."""
    stages = (
        (not labelled and not outcome.judgements, "annot corpus add, then annot facets"),
        (not queries, "annot query sample, or annot query add"),
        (not documents and not outcome.judgements, "annot pool"),
        (not people_there, "annot assessor add"),
        (not outcome.planned, "annot plan"),
        (not outcome.judgements, "annot push, and annot pull once people have judged"),
        (outcome.incomplete, "annot pull"),
        (outcome.waiting, "annot push, which sends what was returned, and annot pull once it is answered"),
        (outcome.open and not labelled, "annot import judgements with the adjudicator's grades (--adjudicator)"),
        (outcome.open, "annot adjudicate push, and annot adjudicate pull once they are settled"),
        (not documents, "annot agreement, annot qrels, annot report"),
        (True, "annot agreement, annot qrels, annot run, annot evaluate, annot report"),
    )
    return next(command for here, command in stages if here)
