"""The scores that a study had before each top-up of its pools, from the qrels without the pairs that came then."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from annot.base.records import Qrel, Ranking, Source, nested
from annot.measuring.evaluation.comparisons import Restated, ToppedUp, restated_scores
from annot.measuring.evaluation.evaluated import CHANCE, Evaluated
from annot.measuring.measured import evaluation_of
from annot.pools.pooling import Version, came_in, versions_of
from annot.study.adjudication import Pair
from annot.study.snapshot import Snapshot

Runs = Mapping[str, Mapping[str, Ranking]]


class TopUp(NamedTuple):
    """A top-up of which something is judged, and every pair that came with it or later."""

    version: Version
    pairs: frozenset[Pair]
    judged: int


def topups(snapshot: Snapshot, qrels: Collection[Qrel]) -> list[TopUp]:
    """The oldest first; none where the pools were not topped up, or nothing of it is judged."""
    judged = {(qrel.query_id, qrel.doc_id) for qrel in qrels}
    came = {paper_id: came_in(pool) for paper_id, pool in snapshot.pools.items()}
    found = []
    for version in versions_of(snapshot.pools.values()):
        if version.depth is None:
            continue
        added = [
            ((query.query_id, doc_id), number)
            for query in snapshot.queries
            for doc_id, number in came.get(query.paper_id, {}).items()
            if number >= version.number
        ]
        if any(number == version.number and pair in judged for pair, number in added):
            pairs = frozenset(pair for pair, _ in added)
            found.append(TopUp(version, pairs, len(pairs & judged)))
    return found


def with_restated(
    snapshot: Snapshot,
    runs: Runs,
    qrels: tuple[Qrel, ...],
    evaluated: Evaluated,
    *,
    measures: tuple[str, ...] = (),
    ties: str = "order",
    average: str = "test",
) -> Evaluated:
    """The evaluation with the scores that there were before each top-up; as it is where there was none.

    The scores before one are measured as `evaluation_of` does, on the qrels without the pairs that were added then and
    later. Of a run of our own, and of one that was brought in without what is in no pool, these papers are left out,
    too: it would not have ranked them.
    """
    topped_up, before = [], []
    for one in topups(snapshot, qrels):
        if left := tuple(qrel for qrel in qrels if (qrel.query_id, qrel.doc_id) not in one.pairs):
            measured = evaluation_of(
                snapshot,
                _as_they_were(snapshot, runs, one.pairs),
                left,
                conventions=(evaluated.convention,),
                measures=measures,
                ties=ties,
                average=average,
            )
            topped_up.append(ToppedUp(one.version.number, one.version.method, one.judged))
            before.append(_values(measured, evaluated))
    if not topped_up:
        return evaluated
    scores = restated_scores(before, _values(evaluated, evaluated))
    return replace(evaluated, restated=Restated(tuple(topped_up), evaluated.convention, evaluated.measure, scores))


def _values(evaluated: Evaluated, by: Evaluated) -> dict[str, dict[str, float]]:
    """By facet and run, on what runs are compared by."""
    return nested(
        (line.facet, line.run, line.values[by.measure])
        for line in evaluated.lines
        if line.convention == by.convention and line.run != CHANCE
    )


def _as_they_were(snapshot: Snapshot, runs: Runs, added: Collection[Pair]) -> dict[str, dict[str, Ranking]]:
    whole = {
        run.tag
        for run in snapshot.runs
        if run.kind == Source.IMPORTED and run.facts.get("rules", {}).get("foreign") == "keep"
    }
    pooled = {run.tag for run in snapshot.runs} - whole
    return {
        tag: {
            query_id: tuple(doc for doc in ranking if tag not in pooled or (query_id, doc.doc_id) not in added)
            for query_id, ranking in rankings.items()
        }
        for tag, rankings in runs.items()
    }
