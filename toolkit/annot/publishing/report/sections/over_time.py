"""The collection over time: documents, judged pairs and the scores of the runs, by version of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annot.base.stats.values import Undefined
from annot.pools.one_version import read_version
from annot.publishing.report import figures
from annot.publishing.report.cells import MEASURE, Number
from annot.publishing.report.sections.runs import scores_by_version
from annot.publishing.report.study import Study
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Figure,
    Table,
    sentence,
    sentences,
    table,
)
from annot.publishing.report.verdict import lines_of_all_queries
from annot.store.papers import count_papers

MOST_DRAWN = len(figures.MARKERS)
"""Runs that the drawing has; its data has all."""


@dataclass(frozen=True, slots=True)
class VersionSize:
    """Size of the collection with one version of its corpus."""

    version: str
    documents: int
    queries: int
    pairs: int
    """Pairs with a final grade."""
    judgements: int


def history(study: Study) -> tuple[VersionSize, ...]:
    """Sizes of the collection with each version of its corpus, the oldest first; none if it has only one."""
    ws, corpora = study.snapshot.ws, study.snapshot.corpora
    snapshots = {corpus: read_version(ws, corpus) for corpus in corpora if len(corpora) > 1}
    return tuple(
        VersionSize(
            corpus,
            count_papers(ws.corpus) - len(then.outside),
            len(then.queries),
            len(then.outcome.decisions),
            sum(judgement.counts for judgement in then.outcome.judgements),
        )
        for corpus, then in snapshots.items()
    )


def body(study: Study) -> Iterator[Chapter]:
    """One drawing of documents, judged pairs and scores, and their tables; nothing if the corpus has one version."""
    if not (sizes := study.once(history)):
        return
    evaluated, words = study.evaluated, study.words
    columns = [
        Column[VersionSize](f"{words.document}s".capitalize(), lambda size: size.documents, "documents"),
        Column[VersionSize]("Queries", lambda size: size.queries),
        Column[VersionSize]("Judged pairs", lambda size: size.pairs),
        Column[VersionSize]("Judgements", lambda size: size.judgements),
    ]
    versions = [Column[VersionSize]("Version", lambda size: size.version)]
    counts = {column.heading: {size.version: int(str(column.cell(size))) for size in sizes} for column in columns}
    del counts["Queries"], counts["Judgements"]
    scores: dict[str, dict[str, Number]] = {}
    measure, scored = "", tuple[Table, ...]()
    if not isinstance(evaluated, Undefined):
        facet = lines_of_all_queries(evaluated)[0][0].facet
        measure, scored = evaluated.measure, tuple(scores_by_version(evaluated, facet))
        for row in evaluated.by_version:
            if row.facet == facet:
                scores.setdefault(row.run, {})[row.corpus] = Number(row.value, MEASURE, row.interval)
    values: dict[str, Any] = {"sizes": sizes, "scores": scores, "measure": measure, "most": MOST_DRAWN, "words": words}
    values["bracketed"] = any(score.ends for of_run in scores.values() for score in of_run.values())
    yield Chapter(
        "over-time",
        "The collection over time",
        sentences("over_time.body", **values),
        (
            Figure(
                "over-time",
                sentence("over_time.figure", **values),
                figures.over_time(counts, scores, unit=f"{measure}, %"),
                sentence("over_time.drawn", **values),
            ),
            table("over-time", sizes, versions, columns, caption="over_time.sizes", words=words),
            *scored,
        ),
    )
