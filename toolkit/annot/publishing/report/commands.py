"""The tables that commands print: their columns, by what a row is. A template takes them as `tables.NAME`.

What a step alone makes has its columns beside it, in the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from annot.publishing.report.cells import SECONDS, Number, coefficient, measured
from annot.publishing.report.tables import Column, Columns, Row, each

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
    from annot.pools.selection import ChosenShare, QueryToMake
    from annot.ranking.systems.system import System
    from annot.ranking.systems.training_loop import Point

SHOWN_DOCUMENTS = 5
"""Documents that are named where a pool grew."""


def counts(what: str, n: str) -> Columns[tuple[str, int | str]]:
    """How many there are of each."""
    return Columns([Column(what, lambda one: one[0])], [Column(n, lambda one: one[1])])


def sent(who: str, pairs: str) -> Columns[SentProject]:
    """Each person's project after a push."""
    return Columns(
        [Column(who, lambda one: one.assessor)],
        [
            Column(pairs, lambda one: one.planned),
            Column("already sent", lambda one: one.there),
            Column("sent now", lambda one: one.sent),
            Column("updated", lambda one: one.updated),
            Column("withdrawn", lambda one: one.withdrawn),
            Column("address", lambda one: one.address),
        ],
    )


def pulled(who: str, assigned: str, judged: str) -> Columns[PulledProject]:
    """Each person's project after a pull."""
    return Columns(
        [Column(who, lambda one: one.assessor)],
        [
            Column(assigned, lambda one: one.assigned),
            Column(judged, lambda one: one.judged),
            Column("new", lambda one: one.new),
            Column("changed", lambda one: one.changed),
            Column("flagged", lambda one: one.flagged),
            Column("lost", lambda one: one.lost),
        ],
    )


def pulled_labels(who: str, assigned: str, corrected: str) -> Columns[PulledLabels]:
    """What each person has corrected."""
    return Columns(
        [Column(who, lambda one: one.assessor)],
        [
            Column(assigned, lambda one: one.assigned),
            Column(corrected, lambda one: one.judged),
            Column("sentences changed", lambda one: one.sentences),
            Column("queries changed", lambda one: one.queries),
        ],
    )


WITHDRAWN: Columns[WithdrawnAnswer] = Columns(
    [
        Column("query", lambda one: one.query_id, "query_id"),
        Column("document", lambda one: one.doc_id, "doc_id"),
        Column("person", lambda one: one.assessor, "assessor"),
        Column("counts", lambda one: one.counts),
        Column("reason", lambda one: one.why),
    ],
    [Column("grade", lambda one: "-" if one.grade is None else one.grade)],
)
PLAN_OVERLAPS: Columns[PlannedTogether] = Columns(
    [Column("assessor", lambda one: one.first), Column("with", lambda one: one.second)],
    [Column("pairs of both", lambda one: one.pairs)],
)


CHOSEN: Columns[QueryToMake] = Columns(
    [Column("paper", lambda one: one.paper_id), Column("facet", lambda one: one.facet)]
)
SHARES: Columns[tuple[str, ChosenShare]] = Columns(
    [Column("kind", lambda one: one[0]), Column("value", lambda one: one[1].value)],
    [Column("chosen", lambda one: one[1].chosen), Column("available", lambda one: one[1].available)],
)
SCORES: Columns[tuple[str, LabelScore]] = Columns(
    [Column("label", lambda one: one[0])],
    [
        Column("precision", lambda one: _digits(one[1].precision, ".3f")),
        Column("recall", lambda one: _digits(one[1].recall, ".3f")),
        Column("F1", lambda one: _digits(one[1].f1, ".3f")),
        Column("n", lambda one: one[1].support),
    ],
)


def labels(total: int) -> Columns[tuple[str, int]]:
    """How many sentences have each label."""
    return Columns(
        [Column("label", lambda one: one[0])],
        [Column("sentences", lambda one: one[1]), Column("share", lambda one: f"{100 * one[1] / total:.1f}%")],
    )


ADDED: Columns[GrownPool] = Columns(
    [
        Column("query paper", lambda one: one.topic_id),
        Column("documents", lambda one: " ".join((*one.added[:SHOWN_DOCUMENTS], *_more(one.added))), ""),
    ],
    [
        Column("", lambda one: len(one.queries), "queries"),
        Column("added", lambda one: len(one.added)),
        Column("queries", lambda one: len(one.queries), ""),
        Column("pool", lambda one: one.size, "size"),
        Column("", lambda one: " ".join(one.added), "documents"),
    ],
)
METHODS: Columns[MethodFacts] = Columns(
    [Column("method", lambda one: one.method)],
    [
        Column("pools", lambda one: one.pools),
        Column("drawn", lambda one: one.drawn),
        Column("drawn alone", lambda one: one.alone),
        Column("deepest rank", lambda one: one.deepest),
        Column("ran out", lambda one: one.dry),
    ],
)
VERSIONS: Columns[Version] = Columns(
    [
        Column("version", lambda one: one.number),
        Column("method", lambda one: one.method),
        Column("reason", lambda one: one.reason or ""),
        Column("by", lambda one: one.made_by or ""),
        Column("on", lambda one: (one.made_at or "")[:10]),
    ],
    [
        Column("to depth", lambda one: one.depth),
        Column("pools", lambda one: one.pools),
        Column("added", lambda one: one.documents),
    ],
)


def documents(pool: Pool, titles: Mapping[str, str]) -> Columns[PoolEntry]:
    """The documents of a pool in the order drawn."""
    return Columns(
        [
            Column("", lambda one: pool.topic_id, "query_paper"),
            Column("", lambda one: one.doc_id, "doc_id"),
            Column("turn", lambda one: one.drawn.turn),
            Column("document", lambda one: one.doc_id, ""),
            Column("drawn by", lambda one: one.drawn.method, "method"),
            Column("rank", lambda one: one.drawn.rank),
            Column("", lambda one: one.drawn.score, "score"),
            Column("score", lambda one: _digits(one.drawn.score, ".6g") or "", ""),
            Column("also ranked by", lambda one: " ".join(map(_ranked, one.also)), "also_had_by"),
            Column("title", lambda one: titles.get(one.doc_id, "")[:60], ""),
        ]
    )


SYSTEMS: Columns[System] = Columns(
    [Column("system", lambda one: one.name)],
    [
        Column("family", lambda one: one.family),
        Column("source", lambda one: one.source),
        Column("query", lambda one: one.query),
        Column("candidate", lambda one: one.candidate),
        Column("needs", lambda one: one.needs),
    ],
)
CURVE: Columns[Point] = Columns(
    [Column("step", lambda one: f"{one.step:,}")],
    [
        Column("learning rate", lambda one: f"{one.learning_rate:.2g}"),
        Column("loss", lambda one: _digits(one.train_loss, ".4f") or ""),
        Column("dev loss", lambda one: f"{one.dev_loss:.4f}"),
        Column("dev accuracy", lambda one: f"{100 * one.dev_accuracy:.1f}%"),
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

    def cell(one: Row, name: str) -> Number:
        found = agreement(one)
        rests_on = (("queries", found.n_queries), ("pairs", found.n_pairs))
        return replace(measured(found.figures[name], coefficient(name)), rests_on=rests_on)

    return each(names, cell, lambda name: "" if name in unprinted else AGREED[name])


TRAINING: Columns[TrainedAssessor] = Columns(
    [Column("assessor", lambda one: one.assessor)],
    [
        Column("gold pairs", lambda one: one.gold, "given"),
        Column("answered", lambda one: one.answered),
        Column("", lambda one: one.verdict, "verdict"),
        *_agreed(lambda one: one.agreement, AGREED, unprinted=("alpha_ordinal", "kappa")),
        Column("looked at again", lambda one: one.looked_at, ""),
        Column("verdict", lambda one: one.verdict, ""),
    ],
)
PROBED: Columns[HiddenGoldResult] = Columns(
    [Column("assessor", lambda one: one.assessor)],
    [
        Column("hidden gold", lambda one: one.hidden, "given"),
        Column("answered", lambda one: one.answered),
        *_agreed(lambda one: one.agreement, AGREED, unprinted=("alpha_ordinal", "kappa")),
    ],
)
FURTHEST: Columns[GradeGap] = Columns(
    [Column("query", lambda one: one.query_id), Column("document", lambda one: one.doc_id)],
    [
        Column("grade", lambda one: one.grade),
        Column("gold", lambda one: one.gold),
        Column("why", lambda one: one.why),
    ],
)
VIEWS: Columns[View] = Columns(
    [Column("judged on", lambda one: one.view, "first")],
    [
        Column("pairs", lambda one: one.pairs, ""),
        Column("answered", lambda one: one.answered, ""),
        Column("cannot judge", lambda one: one.cannot_judge, ""),
        Column(
            "seconds per pair",
            lambda one: replace(measured(one.seconds, SECONDS), rests_on=(("pairs", one.timed),)),
            "median_seconds",
        ),
    ],
)
COMPARED_VIEWS: Columns[ComparedGradings] = Columns(
    [Column("between", lambda one: one.first, "first"), Column("and", lambda one: one.second, "second")],
    [
        Column("pairs", lambda one: one.agreement.n_pairs, ""),
        *_agreed(lambda one: one.agreement, ("spearman_rho", "alpha_ordinal", "kappa", "percent")),
    ],
)


def _digits(value: float | None, form: str) -> str | None:
    return None if value is None else format(value, form)


def _more(names: Sequence[str]) -> list[str]:
    return ["..."] if len(names) > SHOWN_DOCUMENTS else []


def _ranked(draw: Draw) -> str:
    return draw.method if draw.rank is None else f"{draw.method}:{draw.rank}"
