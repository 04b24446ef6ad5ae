"""How far the study is, from the store alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annot.store import facet_labels, people, pools, projects
from annot.store.database import open_store
from annot.store.guidelines import read_guidelines
from annot.store.queries import read_queries
from annot.study.guideline_versions import changed
from annot.study.outcome import Outcome, answered_of, outcome_of
from annot.study.overtaken import overtaken_of
from annot.study.withdrawn import withdrawn_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Progress:
    """How many pairs one assessor has, and has judged."""

    assessor: str
    assigned: int
    judged: int
    left: bool
    """Whether they have left the study."""


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
    overtaken: int
    """Answers that changed after their pair was adjudicated."""
    lost: int
    """Answers that count although the server no longer has them as they were."""
    withdrawn: int
    """Answers that count no longer, because the lead accepted it."""
    guidelines_changed: tuple[str, ...]
    """Facets whose guidelines are no longer those that were sent."""
    unassigned: int
    """Pairs that lack an assessor, since somebody left."""
    accepted: int
    """Pairs that count although they have fewer judgements than planned."""
    to_withdraw: int
    """Unanswered tasks on the server for people who do not have the pairs any more."""
    next_command: str


def status(ws: Workspace) -> Status:
    """Count what is there."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        labelled = sum(facet_labels.count_by_origin(session).values())
        queries = read_queries(session)
        documents = pools.documents_by_query(session)
        plan = people.read_assignments(session)
        everyone = people.read_assessors(session)
        sent = projects.read_sent(session)
        answered = answered_of(session)
        outcome = outcome_of(session, ws.settings)
        sent_guidelines = read_guidelines(session)
        overtaken, not_as_they_were = overtaken_of(session), withdrawn_of(session)
    assigned = Counter(planned.assessor for planned in plan)
    judged = Counter(answer.assessor for answer in (*outcome.judgements, *outcome.repeats) if answer.counts)
    have = {(planned.assessor, planned.asked) for planned in plan}
    have |= {(returned.assessor, returned.asked) for returned in outcome.returned}
    return Status(
        labelled_papers=labelled,
        queries=len(queries),
        pools=len({query.paper_id for query in queries if query.query_id in documents}),
        pairs=len(outcome.planned),
        assessors=tuple(
            Progress(
                person.assessor, assigned[person.assessor], judged[person.assessor], left=person.left_on is not None
            )
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
        overtaken=len(overtaken),
        lost=sum(answer.counts for answer in not_as_they_were),
        withdrawn=sum(not answer.counts for answer in not_as_they_were),
        guidelines_changed=tuple(changed(ws, ws.settings.facets, sent_guidelines)),
        unassigned=sum(
            len(names) < (outcome.per_pair or 0) and pair not in outcome.accepted
            for pair, names in outcome.planned.items()
        ),
        accepted=len(outcome.accepted),
        to_withdraw=sum(
            (name, asked) not in have and (name, asked) not in answered for name, own in sent.items() for asked in own
        ),
        next_command=_next(labelled, len(queries), len(documents), bool(everyone), outcome),
    )


def _next(labelled: int, queries: int, documents: int, people_there: bool, outcome: Outcome) -> str:
    """The command that moves the study on, by the order of the flow; judgements made elsewhere need no corpus."""
    stages = (
        (not labelled and not outcome.judgements, "annot corpus add, then annot facets"),
        (not queries, "annot query sample, or annot query add"),
        (not documents and not outcome.judgements, "annot pool"),
        (not people_there, "annot assessor add"),
        (not outcome.planned, "annot plan"),
        (not outcome.judgements, "annot push, and annot pull once people have judged"),
        (set(outcome.incomplete) - set(outcome.short), "annot pull"),
        (outcome.short, "annot assessor add, then annot plan; or annot qrels --allow-single"),
        (
            outcome.waiting,
            "annot push, which sends what was returned, and annot pull once it is answered (annot adjudicate status "
            "--returned says how to take it back)",
        ),
        (outcome.open and not labelled, "annot import judgements with the adjudicator's grades (--adjudicator)"),
        (outcome.open, "annot adjudicate push, and annot adjudicate pull once they are settled"),
        (not documents, "annot agreement, annot qrels, annot report"),
        (True, "annot agreement, annot qrels, annot run, annot evaluate, annot report"),
    )
    return next(command for here, command in stages if here)
