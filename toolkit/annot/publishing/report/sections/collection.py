"""The queries and the pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from annot.base.records import CITED, WHOLE, Pool
from annot.base.stats.values import Estimate, Undefined
from annot.pools.pool_facts import facts_of
from annot.publishing.report import figures
from annot.publishing.report.cells import ESTIMATED, SHARE, Number, measured
from annot.publishing.report.document import Chapter, Figure, Table
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, each, table
from annot.publishing.report.words import sentence, sentences
from annot.study.shown_versions import NumberedVersion, by_part, changed_versions

NOT_JUDGED = Undefined("no pair is judged")


class _Topic(NamedTuple):
    query_id: str
    topic_id: str
    title: str


def appendix(study: Study) -> Iterator[Chapter]:
    """What was judged; a study that was judged in another tool may have no corpus and no pools here."""
    blocks = (_queries(study),) if study.snapshot.faceted else ()
    yield Chapter("queries", "Queries", sentences("collection.queries", study=study), (*_topics(study), *blocks))
    if study.pools:
        yield _pools(study)
    if changed := changed_versions({**study.snapshot.shown, **by_part(study.snapshot.text_versions)}):
        yield Chapter("versions", "What assessors were shown", sentences("collection.shown"), (_versions(changed),))


def _versions(changed: Sequence[NumberedVersion]) -> Table:
    """What was sent in several versions, each with its day and the reason."""
    return table(
        "versions",
        changed,
        [
            Column("What", lambda one: one.name.removeprefix("the ")),
            Column("Version", lambda one: one.number),
            Column("Sent from", lambda one: one.since),
            Column("Why it was changed", lambda one: one.why or ""),
        ],
        caption="collection.versions",
    )


def _topics(study: Study) -> Iterator[Table]:
    """The topics that are texts, with their pairs, and those of them that are relevant."""
    relevant_from = study.settings.evaluation.relevant_from
    graded = Counter(decision.query_id for decision in study.decisions)
    relevant = Counter(decision.query_id for decision in study.decisions if decision.grade >= relevant_from)
    numbers = [
        Column[_Topic]("Pairs", lambda topic: graded[topic.query_id]),
        Column[_Topic]("Relevant", lambda topic: relevant[topic.query_id]),
    ]
    if (pools := study.grade_counts) is not None:
        estimates = {query_id: pool.number(relevant_from, level=study.level) for query_id, pool in pools.items()}
        none = Estimate(NOT_JUDGED, NOT_JUDGED)
        numbers = [
            Column("Pairs", lambda topic: len(study.pools[topic.topic_id].entries)),
            Column("Judged pairs", lambda topic: graded[topic.query_id]),
            Column("Relevant", lambda topic: measured(estimates.get(topic.query_id, none), ESTIMATED)),
        ]
    asked = [
        _Topic(query.query_id, query.topic_id, study.snapshot.texts[query.topic_id].title)
        for query in study.queries
        if query.topic_id in study.snapshot.texts
    ]
    if asked:
        yield table(
            "topics",
            asked,
            [Column("Topic", lambda topic: topic.query_id, "query_id"), Column("Title", lambda topic: topic.title)],
            numbers,
            caption="collection.topics",
            relevant_from=relevant_from,
            sampled=pools is not None,
            level=study.level,
        )


def _queries(study: Study) -> Table:
    per_facet = Counter(query.facet for query in study.queries)
    # Queries of imported judgements have no sentences where their papers are not here.
    labelled = any(query.sentences for query in study.queries)
    labels = study.settings.facets
    facets = [Column[str]("Facet", str)]
    if labelled:
        facets.append(Column("Sentence labels", lambda facet: ", ".join(labels.get(facet, ()))))
    return table(
        "queries",
        [facet for facet in dict.fromkeys((*labels, WHOLE)) if per_facet[facet]],
        facets,
        [Column("Queries", lambda facet: per_facet[facet])],
        caption="collection.by_facet",
        labelled=labelled,
    )


def _pools(study: Study) -> Chapter:
    facts = facts_of(study.pools)
    methods = sorted(facts.methods, key=lambda one: _cited_first(one.method))
    drawn = sum(one.drawn for one in methods)
    by_method = table(
        "pools",
        methods,
        [Column("Method", lambda one: one.method)],
        [
            Column("Documents", lambda one: one.drawn),
            Column("Share", lambda one: Number(one.drawn / drawn if drawn else None, SHARE)),
            Column("Deepest rank", lambda one: one.deepest),
        ],
        caption="collection.drawn",
    )
    quotas: dict[str, set[int]] = {}
    for pool in study.pools.values():
        quotas.setdefault(pool.mode, set()).update(() if pool.per_method is None else (pool.per_method,))
    by_mode = {mode: sorted(of) for mode, of in sorted(quotas.items())}
    # The table first: a tall figure that does not fit on the sheet would leave it half empty.
    told = (
        *sentences("collection.pools", study=study, sizes=facts.sizes, quotas=by_mode, versions=facts.versions),
        *sentences("collection.origins", origins=study.origins),
        *sentences("runs.few_abstracts", few=study.origins.few_abstracts),
    )
    of_several = [drawing(study.pools)] if len(study.pools) > 1 else []
    return Chapter("pools", "Pools", told, (by_method, *of_several))


def drawing(pools: Mapping[str, Pool]) -> Figure:
    """Each pool by the method that added its documents."""
    bars = _by_method(pools)
    return Figure(
        sentence("collection.pools_figure"),
        figures.stacked_bars(bars, order=_methods(pools), unit="documents"),
        sentence("collection.pools_drawn", bars=bars),
    )


def sizes(pools: Mapping[str, Pool]) -> Table:
    """The same as a table: a row a pool, below all together, with a column for each method."""
    bars = _by_method(pools)
    return table(
        "pool-sizes",
        [("together", sum(bars.values(), Counter())), *bars.items()],
        [Column("Query", lambda one: one[0], "query_id")],
        [
            Column("Documents", lambda one: one[1].total()),
            *each(_methods(pools), lambda one, method: one[1][method]),
        ],
        caption="collection.sizes",
        command="annot pool show",
    )


def _by_method(pools: Mapping[str, Pool]) -> dict[str, Counter[str]]:
    return {name: Counter(entry.drawn.method for entry in pool.entries) for name, pool in pools.items()}


def _methods(pools: Mapping[str, Pool]) -> list[str]:
    """Those that took part, also those that added nothing."""
    return sorted({method for pool in pools.values() for method in pool.methods}, key=_cited_first)


def _cited_first(method: str) -> tuple[bool, str]:
    return method != CITED, method
