"""The queries and the pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from annot.base.records import CITED
from annot.pools.pooling import shares, versions_of
from annot.publishing.report import figures
from annot.publishing.report.cells import SHARE, Number
from annot.publishing.report.document import Chapter, Figure, Table
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, table
from annot.publishing.report.words import sentence, sentences


def appendix(study: Study) -> Iterator[Chapter]:
    """What was judged; a study that was judged in another tool may have no corpus and no pools here."""
    yield Chapter("queries", "Queries", sentences("collection.queries", study=study), (_queries(study),))
    if study.pools:
        yield _pools(study)


def _queries(study: Study) -> Table:
    per_facet = Counter(query.facet for query in study.queries)
    # Queries of imported judgements have no sentences where their papers are not here.
    labelled = any(query.sentences for query in study.queries)
    labels = study.settings.facets
    facets = [Column[str]("Facet", str)]
    if labelled:
        facets.append(Column("Sentence labels", lambda facet: ", ".join(labels[facet])))
    return table(
        "queries",
        filter(per_facet.get, labels),
        facets,
        [Column("Queries", lambda facet: per_facet[facet])],
        caption="collection.by_facet",
        labelled=labelled,
    )


def _pools(study: Study) -> Chapter:
    pools = study.pools.values()
    names = dict.fromkeys(method for pool in pools for method in pool.methods)
    order = sorted(names, key=lambda name: (name != CITED, name))
    drawn = {paper: Counter(entry.drawn.method for entry in pool.entries) for paper, pool in study.pools.items()}
    totals = Counter[str]()
    deepest: dict[str, int] = {}
    for pool in pools:
        for share in shares(pool):
            totals[share.method] += share.drawn
            if share.deepest is not None:
                deepest[share.method] = max(deepest.get(share.method, 0), share.deepest)
    by_method = table(
        "pools",
        order,
        [Column[str]("Method", str)],
        [
            Column("Documents", lambda method: totals[method]),
            Column("Share", lambda method: Number(totals[method] / totals.total() if totals else None, SHARE)),
            Column("Deepest rank", lambda method: deepest.get(method)),
        ],
        caption="collection.drawn",
    )
    quotas: dict[str, set[int]] = {}
    for pool in pools:
        quotas.setdefault(pool.mode, set()).update(() if pool.per_method is None else (pool.per_method,))
    sizes = sorted(len(pool.entries) for pool in pools)
    values = {"sizes": sizes, "quotas": {mode: sorted(of) for mode, of in sorted(quotas.items())}, "study": study}
    values["versions"] = versions_of(pools)
    bars = {paper: {name: float(n) for name, n in parts.items()} for paper, parts in drawn.items()}
    figure = Figure(
        sentence("collection.pools_figure"),
        figures.stacked_bars(bars, order=order, unit="documents"),
        sentence("collection.pools_drawn", sizes=sizes),
    )
    # The table first: a tall figure that does not fit on the sheet would leave it half empty.
    told = (*sentences("collection.pools", **values), *sentences("collection.origins", origins=study.origins))
    told += sentences("runs.few_abstracts", few=study.origins.few_abstracts)
    return Chapter("pools", "Pools", told, (by_method, figure))
