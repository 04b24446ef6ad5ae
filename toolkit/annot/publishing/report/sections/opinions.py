"""Opinions of models, and judging beside the collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from annot.base.stats.values import Estimate, Undefined
from annot.judging.opinions.on_record import OpinionStatus
from annot.judging.trial_answers import HIDDEN, TRAIN, recorded_against_gold, recorded_substudy
from annot.measuring.opinions.agreement import EACH, FINAL, PEOPLE, AgainstOne, OpinionAgreement
from annot.measuring.opinions.label_quality import Worth
from annot.measuring.opinions.self_preference import RunUnderOpinion
from annot.publishing.report.cells import (
    COEFFICIENT,
    MEASURE,
    NONE,
    PERCENTAGE,
    POINTS,
    SECONDS,
    SHARE,
    Number,
    P,
    coefficient,
    measured,
)
from annot.publishing.report.study import MeasuredOpinion, Study
from annot.publishing.report.tables import Chapter, Column, Table, each, of_facet, sentences, table

# ----------------------------------------------------------------------------------------------------------------------
# What models would have judged, and what that is worth; nothing in a study in which none was asked.
# ----------------------------------------------------------------------------------------------------------------------


COMMAND = "annot opinion report"
FIGURES = {
    "percent": "Agreement, %",
    "kappa": "Kappa",
    "alpha_ordinal": "Alpha (ordinal)",
    "kappa_linear": "Kappa (linear)",
}


def body(study: Study) -> Iterator[Chapter]:
    """The first sentences, and a table with a row for each opinion."""
    if reported := study.reported_opinions:
        yield Chapter("opinions", "What a model would have judged", tuple(told(reported)), (overview(reported),))


def appendix(study: Study) -> Iterator[Chapter]:
    """All figures."""
    if reported := study.reported_opinions:
        yield Chapter(
            "opinions-all", "Opinions of models, compared with people", method(reported), tuple(tables(reported))
        )


def told(found: Sequence[MeasuredOpinion]) -> Iterator[str]:
    """A paragraph for each opinion: its first sentence, and what else to know of it."""
    for one in found:
        yield " ".join(sentences("opinions.told", worth=one.worth, standing=one.standing))


class OpinionInWords(NamedTuple):
    """What datasheet and card say of an opinion."""

    standing: OpinionStatus
    told: str


def in_words(found: Sequence[MeasuredOpinion]) -> tuple[OpinionInWords, ...]:
    """Each with its paragraph."""
    return tuple(OpinionInWords(one.standing, text) for one, text in zip(found, told(found), strict=True))


def method(found: Sequence[MeasuredOpinion]) -> tuple[str, ...]:
    """How the figures were made."""
    return sentences("opinions.method", worth=found[0].worth, repeats=any(one.worth.itself for one in found))


def tables(found: Sequence[MeasuredOpinion]) -> Iterator[Table]:
    """Agreement, confusion, people in whose place it was tested, and the runs."""
    worths = [one.worth for one in found]
    yield agreement(worths)
    for one in worths:
        yield _confusion(one)
    if any(one.standing_in.against for one in worths):
        yield _against(worths)
    if not all(isinstance(one.favour, Undefined) for one in worths):
        yield _runs(worths)


def overview(found: Sequence[MeasuredOpinion]) -> Table:
    """One row for each opinion."""
    return table(
        "opinions",
        [row for one in found for row in _with_same_versions(one)],
        [
            Column[MeasuredOpinion]("Opinion", lambda one: one.worth.name),
            Column("Model", lambda one: one.worth.model),
            Column("Verdict", lambda one: str(one.worth.verdict)),
        ],
        [
            Column("Pairs", lambda one: one.worth.n_pairs),
            Column("Unreadable", lambda one: one.worth.n_unreadable),
            Column("Cannot judge", lambda one: one.worth.n_declined, "cannot_judge"),
            Column("Alpha with final grades", lambda one: _alpha(one.worth, FINAL), "alpha_final"),
            Column("with assessors", lambda one: _alpha(one.worth, EACH), "alpha_assessors"),
            Column("assessors with each other", lambda one: _alpha(one.worth, PEOPLE), "alpha_people"),
            Column("with itself", lambda one: _with_itself(one.worth), "alpha_itself"),
            Column("May replace one", lambda one: _may(one.worth), "may_replace_one"),
            Column("Favours", lambda one: _favours(one.worth), "favours"),
            Column("Cost", lambda one: round(one.standing.cost, 2), "cost"),
        ],
        caption="opinions.overview",
        command=COMMAND,
    )


def _with_same_versions(one: MeasuredOpinion) -> Iterator[MeasuredOpinion]:
    """The opinion, and a second row on the pairs that people judged by the versions in its prompt."""
    yield one
    others = one.worth.other_versions
    if others is not None and others.within is not None:
        yield replace(one, worth=replace(others.within, name=f"{one.worth.name}, same versions"))


class _Row(NamedTuple):
    worth: Worth
    row: OpinionAgreement


def agreement(found: Sequence[Worth]) -> Table:
    """With each assessor, with the final grades, and people with each other."""

    def figure(one: _Row, name: str) -> Number | str:
        between = one.row.between
        if name not in between.figures:
            return NONE
        return measured(between.figures[name], coefficient(name))

    return table(
        "opinion-agreement",
        [_Row(one, row) for one in found for row in one.agreement if row.between.n_pairs],
        [
            Column("Opinion" if len(found) > 1 else "", lambda one: one.worth.name, "opinion"),
            of_facet(lambda one: one.row.facet),
            Column(
                "Grades", lambda one: "all" if one.row.binarised_at is None else f"{one.row.binarised_at} or higher"
            ),
            Column("With", lambda one: one.row.whom),
        ],
        [
            Column("Pairs", lambda one: one.row.between.n_pairs),
            *each(FIGURES, figure, FIGURES.__getitem__),
        ],
        caption="opinions.agreement",
        command=COMMAND,
    )


def _confusion(one: Worth) -> Table:
    rows = [*zip(one.grades, one.confusion, strict=True)]
    return table(
        f"opinion-confusion-{one.name}",
        rows,
        [Column[tuple[int, tuple[int, ...]]]("Final grade", lambda row: str(row[0]), "final")],
        [
            *each(one.grades, lambda row, grade: row[1][one.grades.index(grade)], lambda grade: f"grade {grade}"),
            Column("unreadable", lambda row: row[1][-1]),
        ],
        caption="opinions.confusion",
        command=COMMAND,
        worth=one,
    )


class _Person(NamedTuple):
    worth: Worth
    one: AgainstOne


def _against(found: Sequence[Worth]) -> Table:
    return table(
        "opinion-in-place-of",
        [_Person(worth, one) for worth in found for one in worth.standing_in.against],
        [
            Column("Opinion" if len(found) > 1 else "", lambda row: row.worth.name, "opinion"),
            Column("In place of", lambda row: row.one.assessor, "assessor"),
        ],
        [
            Column("Pairs", lambda row: row.one.n_pairs),
            Column("At least as near", lambda row: Number(row.one.model_as_near, SHARE), "model_as_near"),
            Column("Person nearer, net", lambda row: Number(row.one.behind, SHARE), "behind"),
            Column("p", lambda row: Number(row.one.p, P)),
            Column("Wins", lambda row: row.one.wins),
        ],
        caption="opinions.against",
        command=COMMAND,
        epsilon=found[0].standing_in.epsilon,
    )


class _Run(NamedTuple):
    worth: Worth
    one: RunUnderOpinion


def _runs(found: Sequence[Worth]) -> Table:
    known = [one.favour for one in found if not isinstance(one.favour, Undefined)]
    of_family = Column[_Run]("Of its family", lambda row: "yes" if row.one.run in row.worth.related else "", "related")
    return table(
        "opinion-runs",
        [_Run(worth, one) for worth in found if not isinstance(worth.favour, Undefined) for one in worth.favour.runs],
        [
            Column("Opinion" if len(found) > 1 else "", lambda row: row.worth.name, "opinion"),
            Column("Run", lambda row: row.one.run),
            *([of_family] if any(one.related for one in found) else []),
        ],
        [
            Column("By people", lambda row: Number(row.one.by_people, MEASURE), "by_people"),
            Column("By the model", lambda row: Number(row.one.by_model, MEASURE), "by_model"),
            Column("Gain", lambda row: Number(row.one.gain, POINTS), "gain"),
            Column("Explained by errors", lambda row: Number(row.one.explained, POINTS), "explained"),
            Column("Beyond", lambda row: measured(Estimate(row.one.beyond, row.one.interval), POINTS), "beyond"),
            Column("p", lambda row: Number(min(row.one.p_gains, row.one.p_loses), P)),
            Column("Verdict", lambda row: _of_run(row.one), "verdict"),
        ],
        caption="opinions.runs",
        command=COMMAND,
        found=known[0],
    )


def _alpha(one: Worth, whom: str) -> Number | str:
    of_all = [row for row in one.agreement if row.binarised_at is None and row.facet == one.agreement[-1].facet]
    found = [row.between.figures["alpha_ordinal"] for row in of_all if row.whom == whom]
    return measured(found[0], COEFFICIENT) if found else NONE


def _with_itself(one: Worth) -> Number | str:
    return NONE if one.itself is None else measured(one.itself.figures["alpha_ordinal"], COEFFICIENT)


def _may(one: Worth) -> str:
    return {True: "yes", False: "no", None: "not known"}[one.standing_in.may]


def _of_run(run: RunUnderOpinion) -> str:
    return "gains" if run.gains else "may gain" if run.suspected else "loses" if run.loses else NONE


def _favours(one: Worth) -> str:
    if isinstance(one.favour, Undefined):
        return "not known"
    if one.favour.gaining:
        return ", ".join(one.favour.gaining)
    return "no run" if one.favour.none else "too few topics"


# ----------------------------------------------------------------------------------------------------------------------
# Judging beside the collection, as it is on record: who passed the training, hidden gold, and the sub-study.
# ----------------------------------------------------------------------------------------------------------------------


_OnRecord = Mapping[str, Any]


def trials_appendix(study: Study) -> Iterator[Chapter]:
    """The training with hidden gold, and the sub-study; each where something of it is on record."""
    on_record = study.snapshot.trials
    trained = list(recorded_against_gold(on_record, TRAIN))
    hidden = list(recorded_against_gold(on_record, HIDDEN))
    blocks = [
        *([_against_gold("training", "Gold pairs", "gold", trained, verdict=True)] if trained else []),
        *([_against_gold("hidden-gold", "Hidden pairs", "hidden", hidden)] if hidden else []),
    ]
    if blocks:
        told = sentences("trials.against_gold", trained=trained, hidden=hidden, level=study.level)
        yield Chapter("training", "Training of the assessors", told, tuple(blocks))
    substudy = recorded_substudy(on_record)
    if substudy is not None:
        told = sentences("trials.substudy_told", substudy=substudy, level=study.level)
        yield Chapter("substudy", "Sub-study on full texts", told, tuple(_substudy(substudy)))


def _against_gold(name: str, asked: str, gold: str, rows: Sequence[_OnRecord], *, verdict: bool = False) -> Table:
    return table(
        name,
        rows,
        [Column("Assessor", lambda one: one["assessor"])],
        [
            *([Column[_OnRecord]("Batches", lambda one: one["batches"])] if verdict else []),
            Column(asked, lambda one: one[gold]),
            Column("Answered", lambda one: one["answered"]),
            Column("Compared", lambda one: one["pairs"]),
            Column("Kappa (quadratic)", lambda one: measured(one["kappa"], COEFFICIENT)),
            *([Column[_OnRecord]("Verdict", lambda one: one["verdict"])] if verdict else []),
        ],
        caption=f"trials.{name.replace('-', '_')}",
        command="annot train report",
    )


def _substudy(found: _OnRecord) -> Iterator[Table]:
    command = "annot substudy report"
    titles = {"spearman_rho": "Spearman's rho", "alpha_ordinal": "Alpha (ordinal)", "kappa": "Cohen's kappa"}
    yield table(
        "substudy",
        found["compared"],
        [Column[_OnRecord]("First", lambda one: one["first"]), Column("Second", lambda one: one["second"])],
        [
            Column("Pairs", lambda one: one["pairs"]),
            *each(titles, lambda one, name: measured(one["figures"][name], COEFFICIENT), titles.__getitem__),
            Column("Equal grades, %", lambda one: measured(one["figures"]["percent"], PERCENTAGE)),
        ],
        caption="trials.substudy",
        command=command,
    )
    yield table(
        "substudy-times",
        found["views"],
        [Column[_OnRecord]("View", lambda one: one["view"])],
        [
            Column("Timed pairs", lambda one: one["timed"]),
            Column("Seconds per pair", lambda one: measured(one["seconds"], SECONDS)),
        ],
        caption="trials.substudy_times",
        command=command,
    )
