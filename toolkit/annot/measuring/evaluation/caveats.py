"""Sentences that a reader of the figures of runs needs; queries are named once for all runs that share them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from annot.base.names import counted, verb
from annot.base.records import grouped
from annot.measuring.evaluation.measures import Evaluation

MOST_NAMED = 5
"""Largest number of queries that are named within a sentence."""


def nothing_relevant(highest: int, relevant_from: int) -> str:
    """Warning that no grade counts as relevant, with the setting to change; "" if one does.

    highest: the highest grade of a judged document.
    """
    if highest >= relevant_from:
        return ""
    if highest < 1:
        return f"no judged document is relevant, because the highest grade is {highest}: P, R, AP and their like are 0"
    return (
        f"no judged document has grade {relevant_from} or higher, so none counts as relevant, and P, R, AP and their "
        f"like are 0; the highest grade is {highest}, so set `relevant_from = {highest}` ([evaluation] in annot.toml, "
        "or an argument of `annot.evaluate`)"
    )


def caveats(
    evaluations: Mapping[str, Evaluation],
    *,
    unknown: Mapping[str, int],
    unable: Mapping[str, Sequence[str]],
    complete: bool,
    some_relevant: bool,
) -> Iterator[str]:
    """Sentences about runs, by tag.

    unknown: number of queries of the run that are not in the study. unable: the queries that its system cannot rank
    for. complete: True if all of the pools was judged; a pair that was not drawn is not unjudged. some_relevant: True
    if a judged document is relevant.
    """
    for tag, evaluation in evaluations.items():
        missing = sum(len(query.missing) for query in evaluation.queries)
        unjudged = sum(query.unjudged for query in evaluation.queries)
        if missing:
            left = counted(missing, "judged document") if complete else f"{counted(missing, 'document')} of the pools"
            yield f"{tag}: leaves out {left}"
        if unjudged and complete:
            yield f"{tag}: ranks {counted(unjudged, 'unjudged document')}; unjudged counts as not relevant"
        elif unjudged:
            yield f"{tag}: ranks {counted(unjudged, 'document')} of no pool; they count as not relevant"
    for queries, tags in _sharing({tag: run.not_submitted for tag, run in evaluations.items()}):
        score = verb(len(tags), "so its score there is 0", "so their scores there are 0")
        ranks = verb(len(tags), "ranks", "rank")
        yield f"{', '.join(tags)}: {ranks} no documents for {_named(queries, f', {score}')}"
    if some_relevant:
        none = "no document is relevant" if complete else "no drawn document is relevant"
        for queries, tags in _sharing({tag: run.without_relevant for tag, run in evaluations.items()}):
            owners = "" if len(tags) == len(evaluations) else f"{', '.join(tags)}: "
            yield f"{owners}{none} for {_named(queries)}"
    for tag, count in unknown.items():
        if count:
            yield f"{tag}: {counted(count, 'query')} of the run {verb(count, 'is', 'are')} not in this study"
    for queries, tags in _sharing(unable):
        owners = verb(len(tags), "its system", "their systems")
        yield f"{', '.join(tags)}: not compared where {', '.join(queries)} count, which {owners} cannot rank for"


def _sharing(queries: Mapping[str, Sequence[str]]) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    """Queries, and the tags of the runs that have exactly these; runs without queries are left out."""
    return grouped((tuple(of_run), tag) for tag, of_run in queries.items() if of_run).items()


def _named(query_ids: Sequence[str], then: str = "") -> str:
    """Names of the queries and the clause about them; a long list starts with its number, so that a note can be cut
    short.
    """
    names = ", ".join(query_ids)
    return f"{names}{then}" if len(query_ids) <= MOST_NAMED else f"{counted(len(query_ids), 'query')}{then}: {names}"
