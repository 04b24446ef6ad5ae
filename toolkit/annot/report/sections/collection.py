"""The corpus, the queries and the pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from annot.pooling import CITED, shares
from annot.records import Pool
from annot.report import figures
from annot.report.document import Figure, Section, Table, rows_of, share
from annot.report.study import Study

DRAWN = {
    "round-robin": "the methods drew in turn, one new document each",
    "blocks": "the methods drew one after the other, each its whole quota at once",
}
"""How a pool was drawn, by its mode."""


def corpus(study: Study) -> Section:
    origin = ", ".join(f"{count:,} {name}" for name, count in study.origins.items())
    settings = study.settings
    per_facet = Counter(query.facet for query in study.queries)
    # Queries of imported judgements have no sentences where their papers are not here.
    labelled = any(query.sentences for query in study.queries)
    rows = [
        [facet, *([", ".join(labels)] if labelled else []), per_facet[facet]]
        for facet, labels in settings.facets.items()
        if per_facet[facet]
    ]
    corpus = f"{study.papers:,} papers. Sentence labels by origin: {origin or 'none'}. " if study.papers else ""
    emphasis = "; the facet's sentences are emphasised to the assessors" if study.made_elsewhere is None else ""
    return Section(
        "corpus",
        "Corpus and queries" if study.papers else "Queries",
        (f"{corpus}A query is a paper and one facet of it{emphasis}.",),
        (
            Table(
                "Queries by facet, and the sentence labels that make each facet." if labelled else "Queries by facet.",
                ("Facet", *(["Sentence labels"] if labelled else []), "Queries"),
                rows_of(rows),
                "annot query list",
                numeric_from=2 if labelled else 1,
            ),
        ),
    )


def pools(study: Study) -> Section:
    names = list(dict.fromkeys(method for pool in study.pools.values() for method in pool.methods))
    order = sorted(names, key=lambda name: (name != CITED, name))
    drawn = {
        paper_id: dict(Counter(entry.drawn.method for entry in pool.entries)) for paper_id, pool in study.pools.items()
    }
    totals = Counter[str]()
    deepest: dict[str, int] = {}
    for pool in study.pools.values():
        for one in shares(pool):
            totals[one.method] += one.drawn
            if one.deepest is not None:
                deepest[one.method] = max(deepest.get(one.method, 0), one.deepest)
    size = sum(totals.values())
    rows = [[name, totals[name], share(totals[name], size), deepest.get(name)] for name in order]
    sizes = sorted(len(pool.entries) for pool in study.pools.values())
    modes = " ".join(f"{how[0].upper()}{how[1:]}." for how in _ways(study.pools.values()))
    figure = Figure(
        "Documents of each pool by the method that drew them.",
        figures.stacked_bars(
            {name: {k: float(v) for k, v in parts.items()} for name, parts in drawn.items()},
            order=order,
            unit="documents",
        ),
        f"Stacked bars for {len(drawn)} pools of {sizes[0]} to {sizes[-1]} documents.",
    )
    table = Table(
        "What each method drew, and how deep it had to go.",
        ("Method", "Drawn", "Share", "Deepest rank"),
        rows_of(rows),
        "annot pool show QUERY",
    )
    mean = sum(sizes) / len(sizes)
    return Section(
        "pools",
        "Pools",
        (
            f"{len(sizes)} pools of {sizes[0]} to {sizes[-1]} documents, {mean:.2f} on average. {modes} "
            "A document already in the pool is passed over and the method draws further down."
            + ("" if study.pooled else " The judged pairs do not come from these pools."),
        ),
        # The table first: a tall figure that does not fit on the sheet would leave it half empty.
        (table, figure),
    )


def _ways(pools: Iterable[Pool]) -> list[str]:
    """How the pools were drawn, in words; quotas that differ under one way of drawing stand together."""
    quotas: dict[str, set[int]] = {}
    for pool in pools:
        quotas.setdefault(pool.mode, set()).update(() if pool.per_method is None else (pool.per_method,))
    return [
        f"{DRAWN[mode]}{f', {_either(sorted(of))} documents from each method' if of else ''}"
        for mode, of in sorted(quotas.items())
    ]


def _either(numbers: Sequence[int]) -> str:
    """`12`, `12 or 33`, `12, 13 or 33`."""
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last
