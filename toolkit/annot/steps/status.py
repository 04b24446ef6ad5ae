"""Progress of the study, from the store alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from annot.judging.next_step import next_step
from annot.judging.stage import Stage
from annot.judging.withdrawn import withdrawn_of
from annot.publishing.report import study_tables, tables
from annot.store.answers import has_times
from annot.study.backups import NIGHT_FILE
from annot.study.outcome import Pair, changed_after_adjudication, outcome_of, rushed_pairs
from annot.study.plain_pairs import states_of
from annot.study.workspace import Workspace

OVERDUE = timedelta(hours=36)
"""Age from which on the last night is too long ago."""


@dataclass(frozen=True, slots=True)
class Status:
    """The study in counts, and the command that comes next."""

    labelled_papers: int | None
    """Number of labelled papers; None if nothing is judged by facets, so that no sentence needs a label."""
    queries: int
    pools: int
    pairs: int
    assessors: tuple[study_tables.Progress, ...]
    states: dict[str, int]
    """Number of planned pairs by state; together they are all."""
    to_judge: int
    """Judgements that are still to be given: of planned pairs, hidden repeats and returned pairs."""
    incomplete: int
    returned: int
    """Number of returns of pairs to their assessors."""
    waiting: int
    """Pairs that were returned and wait for the answer."""
    agreed: int
    disputed: int
    settled: int
    unjudgeable: int
    """Pairs that cannot be judged: they are closed without a grade."""
    open: int
    changed_after_adjudication: int
    """Number of answers that changed after their pairs were adjudicated."""
    lost: int
    """Answers that count although the server no longer has them as they were."""
    withdrawn: int
    """Answers that count no longer, because the lead accepted it."""
    changed: tuple[str, ...]
    """Settings that differ from the sent ones, such as `the names of the grades`; the sent ones count."""
    versions: tuple[str, ...]
    """Texts that were sent again after a change: each later version, with its day and reason."""
    corrected: int
    """Texts that were corrected."""
    to_decide: int
    """Pairs that wait for the lead's decision, because a text was corrected after they were judged."""
    on_other_texts: int
    """Unanswered tasks on the server with a text before its correction, or that wait for the decision."""
    unassigned: int
    """Pairs that lack an assessor, because a person left."""
    accepted: int
    """Pairs that count although they have fewer judgements than planned."""
    not_drawn: int
    """Number of pairs of the pools that the sample leaves out."""
    to_withdraw: int
    """Unanswered tasks on the server for people who do not have the pairs any more."""
    rushed: tuple[str, ...]
    """Answers that came faster than anyone can read, a line for each person."""
    night: tuple[str, ...]
    """Failures of the last `annot studio nightly`, or that none has run since; empty if all went well."""
    next_command: str
    """Next command, with capitals for a choice of the lead; empty if nothing is left to do."""
    next_why: str
    next_who: str
    """People who act before the command: "you", or people by pseudonym."""


def status(ws: Workspace) -> Status:
    """Count papers, queries, pairs, judgements and files of the study."""
    with ws.reading() as session:
        timed = has_times(session)
        stage = Stage(session, ws, whole=timed)
        coming = next_step(stage.facts())
        changed, withdrawn = changed_after_adjudication(session), withdrawn_of(session)
        plain, outcome, rushed = stage.plain, stage.outcome, tuple[str, ...]()
        if timed and outcome.everything:
            fast = rushed_pairs(session, outcome)
            if any(fast[1].values()):
                from annot.judging.exchange.audit import rushed_of

                rushed = tuple(map(str, rushed_of(fast)))
        return Status(
            labelled_papers=stage.labelled if ws.settings.faceted else None,
            queries=len(stage.queries),
            pools=len({query.topic_id for query in stage.queries if query.query_id in stage.pooled}),
            pairs=stage.pairs,
            assessors=study_tables.progress_of(stage.everyone, outcome, plain.given),
            states=states_of(outcome, plain),
            to_judge=outcome.progress.left,
            incomplete=len(outcome.incomplete),
            returned=len(outcome.returned),
            waiting=len(outcome.waiting),
            agreed=plain.number - plain.disputed + len(outcome.agreed),
            disputed=plain.disputed + len(outcome.disputed),
            settled=len(outcome.adjudications),
            unjudgeable=len(outcome.unjudgeable),
            open=plain.disputed + len(outcome.open),
            changed_after_adjudication=len(changed),
            lost=sum(answer.counts for answer in withdrawn),
            withdrawn=sum(not answer.counts for answer in withdrawn),
            changed=tuple(dict.fromkeys(change.name for change in stage.changes)),
            versions=stage.versions,
            corrected=stage.corrected,
            to_decide=len(stage.waiting),
            on_other_texts=stage.on_other_texts,
            unassigned=len(outcome.progress.vacant),
            accepted=len(outcome.accepted),
            not_drawn=stage.not_drawn,
            to_withdraw=stage.to_withdraw,
            rushed=rushed,
            night=_night(ws),
            next_command=coming.command,
            next_why=coming.why,
            next_who=coming.who,
        )


def _night(ws: Workspace) -> tuple[str, ...]:
    path = ws.cache / NIGHT_FILE
    if not path.is_file():
        return ()
    try:
        night = json.loads(path.read_text(encoding="utf-8"))
        at = datetime.fromisoformat(night["at"])
        late = datetime.now(at.tzinfo) - at > OVERDUE
        return tuple(f"the night of {at:%Y-%m-%d}: {failure}" for failure in night["failures"]) or (
            (f"no nightly pull, backup and check since {at:%Y-%m-%d}",) if late else ()
        )
    except (ValueError, KeyError, TypeError):
        return (f"{path}: cannot be read; `annot studio nightly` writes it again",)


def adjudication(ws: Workspace) -> tables.Table:
    """Number of pairs of each query that are agreed, in dispute, settled and open; of those returned, only the ones
    without a new answer. Pairs that cannot be judged are closed without a grade.
    """
    outcome = ws.read(outcome_of, ws.settings)

    def count(heading: str, pairs: Iterable[Pair], name: str | None = None) -> tables.Column[str]:
        of_query = Counter(query_id for query_id, _ in pairs)
        return tables.Column(heading, lambda query_id: of_query[query_id], name)

    counts = [
        count("pairs", outcome.planned),
        count("incomplete", outcome.incomplete),
        count("returned, unanswered", outcome.waiting, "waiting"),
        count("agreed", (decision.pair for decision in outcome.agreed)),
        count("disputed", (dispute[0].pair for dispute in outcome.disputed)),
        count("settled", outcome.adjudications),
        count("cannot be judged", outcome.unjudgeable, "unjudgeable"),
        count("open", outcome.open),
    ]
    queries = sorted({query_id for query_id, _ in outcome.planned})
    return tables.table("", queries, [tables.Column[str]("query", str, "query_id")], counts)
