"""The collection over time: documents, judged pairs and the scores of the runs, by version of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annot.base.stats.values import Undefined
from annot.pools.one_version import read_version
from annot.publishing.report import figures
from annot.publishing.report.cells import MEASURE, Number
from annot.publishing.report.sections.runs import scores_by_version
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Chapter, Column, Table, columns_for, picture, sentences, table
from annot.publishing.report.verdict import lines_of_all_queries
from annot.ranking.index import trained_version
from annot.store.papers import count_papers

MOST_DRAWN = len(figures.MARKERS)
"""Runs that the drawing has; its data has all."""


SIZES = ("papers", "queries", "judged pairs", "judgements")
DRAWN = ("papers", "judged pairs")


def history(study: Study) -> dict[str, dict[str, int]]:
    """Numbers of papers, queries, pairs with a final grade, and judgements, by version of the corpus, the oldest first;
    none if it has only one."""
    ws, corpora, sizes = study.snapshot.ws, study.snapshot.corpora, {}
    for corpus in corpora if len(corpora) > 1 else ():
        earlier = read_version(ws, corpus)
        judgements = sum(judgement.counts for judgement in earlier.outcome.judgements)
        documents = count_papers(ws.corpus) - len(earlier.outside)
        counts = documents, len(earlier.queries), len(earlier.outcome.decisions), judgements
        sizes[corpus] = dict(zip(SIZES, counts, strict=True))
    return sizes


def body(study: Study) -> Iterator[Chapter]:
    """One drawing of papers, judged pairs and scores, and their tables; nothing if the corpus has one version."""
    if not (sizes := study.once(history)):
        return
    evaluated, words, scored = study.evaluated, study.words, tuple[Table, ...]()
    scores: dict[str, dict[str, Number]] = {}
    if not isinstance(evaluated, Undefined):
        facet = lines_of_all_queries(evaluated)[0][0].facet
        scored = tuple(scores_by_version(evaluated, facet))
        for row in evaluated.by_version:
            if row.facet == facet:
                scores.setdefault(row.run, {})[row.corpus] = Number(row.value, MEASURE, row.interval)
    measure = "" if isinstance(evaluated, Undefined) else evaluated.measure
    bracketed = any(score.ends for of_run in scores.values() for score in of_run.values())
    values: dict[str, Any] = {"sizes": sizes, "scores": scores, "measure": measure, "bracketed": bracketed}
    counts = {name: {corpus: size[name] for corpus, size in sizes.items()} for name in DRAWN}
    drawn = figures.over_time(
        {words.said(name).capitalize(): count for name, count in counts.items()}, scores, unit=f"{measure}, %"
    )
    trained_in, corpora = study.settings.word_vectors.trained_in, study.snapshot.corpora
    trained = Column[tuple[str, dict[str, int]]](
        "Word vectors trained on", lambda row: trained_version(trained_in, corpora, row[0]), "words"
    )
    rows = table(
        "over-time",
        sizes.items(),
        [Column("Version", lambda row: row[0])],
        [*columns_for(SIZES, lambda row, name: row[1][name], str.capitalize), trained],
        caption="over_time.sizes",
        words=words,
    )
    figure = picture("over-time", drawn, "over_time.", **values, most=MOST_DRAWN, words=words)
    text = sentences("over_time.body", **values, words=words)
    yield Chapter("over-time", "The collection over time", text, (figure, rows, *scored))
