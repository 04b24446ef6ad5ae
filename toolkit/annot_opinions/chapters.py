"""Chapters of the report on models' opinions, and their part of datasheet and card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annot.base.names import OF_PAPERS, StudyVocabulary
from annot.base.stats.values import Estimate, Undefined
from annot.base.templating import render
from annot.publishing.report import cells
from annot.publishing.report.sections.whole import ReportSections
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Chapter, Column, Table, columns_for, facet_column, sentences, table

from annot_opinions.label_quality import EACH, FINAL, PEOPLE, OpinionAgreement, Worth
from annot_opinions.measured import MeasuredOpinion, recorded_opinions, reported_opinions
from annot_opinions.self_preference import RunUnderOpinion

# ----------------------------------------------------------------------------------------------------------------------
# Opinions of models, and their quality; nothing in a study in which no model was asked.
# ----------------------------------------------------------------------------------------------------------------------


COMMAND = "annot opinion report"
FIGURES = {
    "percent": "Agreement, %",
    "kappa": "Kappa",
    "alpha_ordinal": "Alpha (ordinal)",
    "kappa_linear": "Kappa (linear)",
}


def body(study: Study) -> Iterator[Chapter]:
    """Opening sentences, and a table with a row for each opinion."""
    if reported := reported_opinions(study):
        yield Chapter(
            "opinions",
            "What a model would have judged",
            tuple(paragraphs_of(reported)),
            (overview(reported, study.words),),
        )


def appendix(study: Study) -> Iterator[Chapter]:
    """Chapter with all figures of every opinion."""
    if reported := reported_opinions(study):
        yield Chapter(
            "opinions-all",
            "Opinions of models, compared with people",
            method(reported, study.words),
            tuple(tables(reported, study.words)),
        )


def paragraphs_of(opinions: Sequence[MeasuredOpinion]) -> Iterator[str]:
    """A paragraph for each opinion: its first sentence, and notes on it."""
    for opinion in opinions:
        yield " ".join(sentences("opinions.told", worth=opinion.worth, standing=opinion.standing))


def method(opinions: Sequence[MeasuredOpinion], words: StudyVocabulary) -> tuple[str, ...]:
    """Method of the figures."""
    return sentences(
        "opinions.method",
        words=words,
        worth=opinions[0].worth,
        repeats=any(opinion.worth.itself for opinion in opinions),
    )


def tables(opinions: Sequence[MeasuredOpinion], words: StudyVocabulary = OF_PAPERS) -> Iterator[Table]:
    """Agreement, confusion, people in whose place it was tested, and the runs."""
    worths = [opinion.worth for opinion in opinions]
    yield agreement(worths, words)
    for worth in worths:
        yield _confusion(worth)
    if any(worth.standing_in.against for worth in worths):
        yield _against(worths)
    if not all(isinstance(worth.favour, Undefined) for worth in worths):
        yield _runs(worths, words)


def overview(opinions: Sequence[MeasuredOpinion], words: StudyVocabulary = OF_PAPERS) -> Table:
    """One row for each opinion."""
    return table(
        "opinions",
        [row for opinion in opinions for row in _rows_of_opinion(opinion)],
        [
            Column[MeasuredOpinion]("Opinion", lambda row: row.worth.name),
            Column("Model", lambda row: row.worth.model),
            Column("Verdict", lambda row: str(row.worth.verdict)),
        ],
        [
            Column("Pairs", lambda row: row.worth.n_pairs),
            Column("Unreadable", lambda row: row.worth.n_unreadable),
            Column("Cannot judge", lambda row: row.worth.n_declined, "cannot_judge"),
            Column("Alpha with final grades", lambda row: _alpha(row.worth, FINAL), "alpha_final"),
            Column("with assessors", lambda row: _alpha(row.worth, EACH), "alpha_assessors"),
            Column("assessors with each other", lambda row: _alpha(row.worth, PEOPLE), "alpha_people"),
            Column("with itself", lambda row: _self_agreement(row.worth), "alpha_itself"),
            Column("May replace one", lambda row: _may(row.worth), "may_replace_one"),
            Column("Favours", lambda row: _favours(row.worth), "favours"),
            Column("Cost", lambda row: round(row.standing.cost, 2), "cost"),
        ],
        caption="opinions.overview",
        words=words,
        command=COMMAND,
    )


def _rows_of_opinion(opinion: MeasuredOpinion) -> Iterator[MeasuredOpinion]:
    """The opinion, and a second row on the pairs that people judged by the versions in its prompt."""
    yield opinion
    other_versions = opinion.worth.other_versions
    if other_versions is not None and other_versions.within is not None:
        yield replace(opinion, worth=replace(other_versions.within, name=f"{opinion.worth.name}, same versions"))


def agreement(worths: Sequence[Worth], words: StudyVocabulary) -> Table:
    """Agreement with each assessor, with the final grades, and of people with each other."""

    def figure(row: tuple[Worth, OpinionAgreement], name: str) -> cells.Number | str:
        between = row[1].between
        if name not in between.figures:
            return cells.NONE
        return cells.measured(between.figures[name], cells.coefficient(name))

    return table(
        "opinion-agreement",
        [(worth, row) for worth in worths for row in worth.agreement if row.between.n_pairs],
        [
            Column("Opinion" if len(worths) > 1 else "", lambda row: row[0].name, "opinion"),
            facet_column(lambda row: row[1].facet, words),
            Column("Grades", lambda row: "all" if row[1].binarised_at is None else f"{row[1].binarised_at} or higher"),
            Column("With", lambda row: row[1].whom),
        ],
        [Column("Pairs", lambda row: row[1].between.n_pairs), *columns_for(FIGURES, figure, FIGURES.__getitem__)],
        caption="opinions.agreement",
        words=words,
        command=COMMAND,
    )


def _confusion(worth: Worth) -> Table:
    rows = [*zip(worth.grades, worth.confusion, strict=True)]
    return table(
        f"opinion-confusion-{worth.name}",
        rows,
        [Column[tuple[int, tuple[int, ...]]]("Final grade", lambda row: str(row[0]), "final")],
        [
            *columns_for(
                worth.grades, lambda row, grade: row[1][worth.grades.index(grade)], lambda grade: f"grade {grade}"
            ),
            Column("unreadable", lambda row: row[1][-1]),
        ],
        caption="opinions.confusion",
        command=COMMAND,
        worth=worth,
    )


def _against(worths: Sequence[Worth]) -> Table:
    return table(
        "opinion-in-place-of",
        [(worth, person) for worth in worths for person in worth.standing_in.against],
        [
            Column("Opinion" if len(worths) > 1 else "", lambda row: row[0].name, "opinion"),
            Column("In place of", lambda row: row[1].assessor, "assessor"),
        ],
        [
            Column("Pairs", lambda row: row[1].n_pairs),
            Column("At least as near", lambda row: cells.Number(row[1].model_as_near, cells.SHARE), "model_as_near"),
            Column("Person nearer, net", lambda row: cells.Number(row[1].behind, cells.SHARE), "behind"),
            Column("p", lambda row: cells.Number(row[1].p, cells.P)),
            Column("Wins", lambda row: row[1].wins),
        ],
        caption="opinions.against",
        command=COMMAND,
        epsilon=worths[0].standing_in.epsilon,
    )


def _runs(worths: Sequence[Worth], words: StudyVocabulary) -> Table:
    favours = [worth.favour for worth in worths if not isinstance(worth.favour, Undefined)]
    of_family = Column[tuple[Worth, RunUnderOpinion]](
        "Of its family", lambda row: "yes" if row[1].run in row[0].related else "", "related"
    )
    return table(
        "opinion-runs",
        [(worth, run) for worth in worths if not isinstance(worth.favour, Undefined) for run in worth.favour.runs],
        [
            Column("Opinion" if len(worths) > 1 else "", lambda row: row[0].name, "opinion"),
            Column("Run", lambda row: row[1].run),
            *([of_family] if any(favour.related for favour in worths) else []),
        ],
        [
            Column("By people", lambda row: cells.Number(row[1].by_people, cells.MEASURE), "by_people"),
            Column("By the model", lambda row: cells.Number(row[1].by_model, cells.MEASURE), "by_model"),
            Column("Gain", lambda row: cells.Number(row[1].gain, cells.POINTS), "gain"),
            Column("Explained by errors", lambda row: cells.Number(row[1].explained, cells.POINTS), "explained"),
            Column(
                "Beyond", lambda row: cells.measured(Estimate(row[1].beyond, row[1].interval), cells.POINTS), "beyond"
            ),
            Column("p", lambda row: cells.Number(min(row[1].p_gains, row[1].p_loses), cells.P)),
            Column("Verdict", lambda row: _run_cell(row[1]), "verdict"),
        ],
        caption="opinions.runs",
        words=words,
        command=COMMAND,
        found=favours[0],
    )


def _alpha(worth: Worth, compared_with: str) -> cells.Number | str:
    alpha = worth.alphas.get(compared_with)
    return cells.NONE if alpha is None else cells.measured(alpha, cells.COEFFICIENT)


def _self_agreement(worth: Worth) -> cells.Number | str:
    return (
        cells.NONE if worth.itself is None else cells.measured(worth.itself.figures["alpha_ordinal"], cells.COEFFICIENT)
    )


def _may(worth: Worth) -> str:
    return {True: "yes", False: "no", None: "not known"}[worth.standing_in.may]


def _run_cell(run: RunUnderOpinion) -> str:
    return "gains" if run.gains else "may gain" if run.suspected else "loses" if run.loses else cells.NONE


def _favours(worth: Worth) -> str:
    if isinstance(worth.favour, Undefined):
        return "not known"
    if worth.favour.gaining:
        return ", ".join(worth.favour.gaining)
    return "no run" if worth.favour.none else "too few topics"


# ----------------------------------------------------------------------------------------------------------------------
# Datasheet and card of a release: the same first sentences, with the figures on record.
# ----------------------------------------------------------------------------------------------------------------------


def page_parts(study: Study) -> Iterator[Chapter]:
    """The part on models of datasheet and card, if one was asked whose opinion is reported, or asked early."""
    reported = reported_opinions(study)
    trials = [opinion.standing for opinion in recorded_opinions(study) if not opinion.standing.reported]
    early = [standing for standing in trials if standing.early]
    if reported or early:
        rows = [(opinion.standing, lines) for opinion, lines in zip(reported, paragraphs_of(reported), strict=True)]
        values = {"opinions": rows, "early_trials": early, "published": study.terms.published}
        pairs = "the same pairs" if reported else "some pairs"
        introduction = f"Models were asked for their opinion of {pairs}, apart from people's grades:"
        text = render("opinions.md.j2", values, overrides=study.snapshot.ws.root / "templates")
        yield Chapter("opinions", "What models would have judged", (introduction, text))


SECTIONS = ReportSections(body=body, appendix=appendix, pages=page_parts)
