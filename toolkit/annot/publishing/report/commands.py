"""Tables that commands print, with their columns. A template takes them as `tables.NAME`.

A table that only one step makes is declared in that step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from annot.base.names import StudyVocabulary, percent
from annot.publishing.report.cells import SECONDS, Number, coefficient, measured
from annot.publishing.report.tables import Column, Columns, Row, columns_for

if TYPE_CHECKING:
    from annot.base.records import Draw, Pool, PoolEntry
    from annot.corpus.labelling import LabelScore
    from annot.judging.exchange.collecting import PulledProject
    from annot.judging.exchange.sending import SentProject
    from annot.judging.planning import PlannedTogether
    from annot.judging.rounds.labels import PulledLabels
    from annot.judging.trial_answers import ComparedGradings, GradeGap, HiddenGoldResult, TrainedAssessor, View
    from annot.judging.withdrawn import WithdrawnAnswer
    from annot.measuring.agreement.estimates import AgreementOfGradings
    from annot.pools.drawn_pools import GrownPool, MethodFacts
    from annot.pools.pooling import Version
    from annot.pools.selection import ChosenShare
    from annot.ranking.systems.system import System

SHOWN_DOCUMENTS = 5
"""Documents that are named where a pool grew."""


def counts(heading: str, n: str) -> Columns[tuple[str, int | str]]:
    """Table of counts by name."""
    return Columns([Column(heading, lambda row: row[0])], [Column(n, lambda row: row[1])])


def sent(heading: str, pairs: str) -> Columns[SentProject]:
    """Each person's project after a push."""
    return Columns(
        [Column(heading, lambda row: row.assessor)],
        [
            Column(pairs, lambda row: row.planned),
            Column("already sent", lambda row: row.there),
            Column("sent now", lambda row: row.sent),
            Column("updated", lambda row: row.updated),
            Column("withdrawn", lambda row: row.withdrawn),
            Column("address", lambda row: row.address),
        ],
    )


def pulled(heading: str, assigned: str, judged: str) -> Columns[PulledProject]:
    """Each person's project after a pull."""
    return Columns(
        [Column(heading, lambda row: row.assessor)],
        [
            Column(assigned, lambda row: row.assigned),
            Column(judged, lambda row: row.judged),
            Column("new", lambda row: row.new),
            Column("changed", lambda row: row.changed),
            Column("flagged", lambda row: row.flagged),
            Column("lost", lambda row: row.lost),
        ],
    )


def pulled_labels(heading: str, assigned: str, corrected: str) -> Columns[PulledLabels]:
    """Corrections of each person."""
    return Columns(
        [Column(heading, lambda row: row.assessor)],
        [
            Column(assigned, lambda row: row.assigned),
            Column(corrected, lambda row: row.judged),
            Column("sentences changed", lambda row: row.sentences),
            Column("queries changed", lambda row: row.queries),
        ],
    )


WITHDRAWN: Columns[WithdrawnAnswer] = Columns(
    [
        Column("query", lambda row: row.query_id, "query_id"),
        Column("document", lambda row: row.doc_id, "doc_id"),
        Column("person", lambda row: row.assessor, "assessor"),
        Column("counts", lambda row: row.counts),
        Column("reason", lambda row: row.why),
    ],
    [Column("grade", lambda row: "-" if row.grade is None else row.grade)],
)
PLAN_OVERLAPS: Columns[PlannedTogether] = Columns(
    [Column("assessor", lambda row: row.first), Column("with", lambda row: row.second)],
    [Column("pairs of both", lambda row: row.pairs)],
)


CHOSEN: Columns[Any] = Columns([Column("paper", lambda row: row.paper_id), Column("facet", lambda row: row.facet)])
SHARES: Columns[tuple[str, ChosenShare]] = Columns(
    [Column("kind", lambda row: row[0]), Column("value", lambda row: row[1].value)],
    [Column("chosen", lambda row: row[1].chosen), Column("available", lambda row: row[1].available)],
)
SCORES: Columns[tuple[str, LabelScore]] = Columns(
    [Column("label", lambda row: row[0])],
    [
        Column("precision", lambda row: _digits(row[1].precision, ".3f")),
        Column("recall", lambda row: _digits(row[1].recall, ".3f")),
        Column("F1", lambda row: _digits(row[1].f1, ".3f")),
        Column("n", lambda row: row[1].support),
    ],
)


def labels(total: int) -> Columns[tuple[str, int]]:
    """Number of sentences with each label."""
    return Columns(
        [Column("label", lambda row: row[0])],
        [Column("sentences", lambda row: row[1]), Column("share", lambda row: percent(row[1] / total, 1))],
    )


def added(words: StudyVocabulary) -> Columns[GrownPool]:
    """Documents that were added to each pool."""
    return Columns(
        [
            Column(words.topic, lambda row: row.topic_id, "query_paper"),
            Column("documents", lambda row: " ".join((*row.added[:SHOWN_DOCUMENTS], *_more(row.added))), ""),
        ],
        [
            Column("", lambda row: len(row.queries), "queries"),
            Column("added", lambda row: len(row.added)),
            Column("queries", lambda row: len(row.queries), ""),
            Column("pool", lambda row: row.size, "size"),
            Column("", lambda row: " ".join(row.added), "documents"),
        ],
    )


METHODS: Columns[MethodFacts] = Columns(
    [Column("method", lambda row: row.method)],
    [
        Column("pools", lambda row: row.pools),
        Column("drawn", lambda row: row.drawn),
        Column("drawn alone", lambda row: row.alone),
        Column("deepest rank", lambda row: row.deepest),
        Column("ran out", lambda row: row.dry),
    ],
)
VERSIONS: Columns[Version] = Columns(
    [
        Column("version", lambda row: row.number),
        Column("method", lambda row: row.method),
        Column("reason", lambda row: row.reason or ""),
        Column("by", lambda row: row.made_by or ""),
        Column("on", lambda row: (row.made_at or "")[:10]),
    ],
    [
        Column("to depth", lambda row: row.depth),
        Column("pools", lambda row: row.pools),
        Column("added", lambda row: row.documents),
    ],
)


def documents(pool: Pool, titles: Mapping[str, str]) -> Columns[PoolEntry]:
    """The documents of a pool in the order drawn."""
    return Columns(
        [
            Column("", lambda row: pool.topic_id, "query_paper"),
            Column("", lambda row: row.doc_id, "doc_id"),
            Column("turn", lambda row: row.drawn.turn),
            Column("document", lambda row: row.doc_id, ""),
            Column("drawn by", lambda row: row.drawn.method, "method"),
            Column("rank", lambda row: row.drawn.rank),
            Column("", lambda row: row.drawn.score, "score"),
            Column("score", lambda row: _digits(row.drawn.score, ".6g") or "", ""),
            Column("also ranked by", lambda row: " ".join(map(_ranked, row.also)), "also_had_by"),
            Column("title", lambda row: titles.get(row.doc_id, "")[:60], ""),
        ]
    )


SYSTEMS: Columns[System] = Columns(
    [Column("system", lambda row: row.name)],
    [
        Column("family", lambda row: row.family),
        Column("source", lambda row: row.source),
        Column("query", lambda row: row.query),
        Column("candidate", lambda row: row.candidate),
        Column("needs", lambda row: row.needs),
    ],
)
AGREED = {
    "kappa_quadratic": "kappa (quadratic)",
    "spearman_rho": "Spearman's rho",
    "alpha_ordinal": "alpha (ordinal)",
    "kappa": "Cohen's kappa",
    "percent": "agreement, %",
}


def _agreed(
    agreement: Callable[[Row], AgreementOfGradings], names: Iterable[str], *, unprinted: Sequence[str] = ()
) -> list[Column[Row]]:
    """A column for each of these coefficients of a row's agreement; the `unprinted` ones are in the data alone."""

    def cell(row: Row, name: str) -> Number:
        comparison = agreement(row)
        rests_on = (("queries", comparison.n_queries), ("pairs", comparison.n_pairs))
        return replace(measured(comparison.figures[name], coefficient(name)), rests_on=rests_on)

    return columns_for(names, cell, lambda name: "" if name in unprinted else AGREED[name])


TRAINING: Columns[TrainedAssessor] = Columns(
    [Column("assessor", lambda row: row.assessor)],
    [
        Column("gold pairs", lambda row: row.gold, "given"),
        Column("answered", lambda row: row.answered),
        Column("", lambda row: row.verdict, "verdict"),
        *_agreed(lambda row: row.agreement, AGREED, unprinted=("alpha_ordinal", "kappa")),
        Column("looked at again", lambda row: row.looked_at, ""),
        Column("verdict", lambda row: row.verdict, ""),
    ],
)
PROBED: Columns[HiddenGoldResult] = Columns(
    [Column("assessor", lambda row: row.assessor)],
    [
        Column("hidden gold", lambda row: row.hidden, "given"),
        Column("answered", lambda row: row.answered),
        *_agreed(lambda row: row.agreement, AGREED, unprinted=("alpha_ordinal", "kappa")),
    ],
)
FURTHEST: Columns[GradeGap] = Columns(
    [Column("query", lambda row: row.query_id), Column("document", lambda row: row.doc_id)],
    [Column("grade", lambda row: row.grade), Column("gold", lambda row: row.gold), Column("why", lambda row: row.why)],
)
VIEWS: Columns[View] = Columns(
    [Column("judged on", lambda row: row.view, "first")],
    [
        Column("pairs", lambda row: row.pairs, ""),
        Column("answered", lambda row: row.answered, ""),
        Column("cannot judge", lambda row: row.cannot_judge, ""),
        Column(
            "seconds per pair",
            lambda row: replace(measured(row.seconds, SECONDS), rests_on=(("pairs", row.timed),)),
            "median_seconds",
        ),
    ],
)
COMPARED_VIEWS: Columns[ComparedGradings] = Columns(
    [Column("between", lambda row: row.first, "first"), Column("and", lambda row: row.second, "second")],
    [
        Column("pairs", lambda row: row.agreement.n_pairs, ""),
        *_agreed(lambda row: row.agreement, ("spearman_rho", "alpha_ordinal", "kappa", "percent")),
    ],
)


def _digits(value: float | None, form: str) -> str | None:
    return None if value is None else format(value, form)


def _more(names: Sequence[str]) -> list[str]:
    return ["..."] if len(names) > SHOWN_DOCUMENTS else []


def _ranked(draw: Draw) -> str:
    return draw.method if draw.rank is None else f"{draw.method}:{draw.rank}"
