"""Differences between the runs of a study that a design of so many queries shows, on one record of it."""

from __future__ import annotations

from annot.base.errors import MissingInput
from annot.base.stats.values import Undefined
from annot.measuring.forecast.topics import TopicSetSize, topic_set_size
from annot.measuring.measured import evaluation_of, primary_of, read_run_files
from annot.study.snapshot import Snapshot


def differences_shown(snapshot: Snapshot, n_queries: int, *, difference: float) -> TopicSetSize | Undefined:
    """Least difference that the design shows, by the runs on the queries of the pilot that are judged completely.

    n_queries: of the design. difference: the one to show, a fraction of the measure by which runs are compared.
    """
    try:
        runs = read_run_files(snapshot.ws)
    except MissingInput:
        return Undefined("there are no runs; `annot run` makes baselines")
    outcome = snapshot.outcome
    partly = {query_id for query_id, _ in (*outcome.progress.unfinished, *outcome.open)}
    qrels = tuple(qrel for qrel in outcome.qrels if qrel.query_id not in partly)
    if not qrels or len(runs) < 2:
        return Undefined("no query is judged whole yet" if not qrels else "there is one run")
    convention, _ = primary_of(snapshot.ws.settings)
    evaluated = evaluation_of(snapshot, runs, qrels, conventions=(convention,), average="plain", unfinished=True)
    if not evaluated.verdicts:
        return Undefined("no two runs rank for the same queries")
    topics = len({query.topic_id for query in snapshot.queries})
    return topic_set_size(
        evaluated.comparisons,
        evaluated.verdicts[-1],
        topics=max(1, round(n_queries * topics / len(snapshot.queries))),
        difference=difference,
        level=snapshot.ws.settings.forecast.level,
    )
