"""The parts of the report, one module a subject, each from the records of the study alone."""

from __future__ import annotations

from collections.abc import Iterator

from annot import __version__
from annot.measuring.measured import CONVENTION, MEASURE
from annot.publishing.report import verdict
from annot.publishing.report.document import Chapter, Document, Table
from annot.publishing.report.sections import agreement, analyses, assessors, collection, effect, grades, runs, trials
from annot.publishing.report.sections.answers import answers
from annot.publishing.report.study import Study
from annot.publishing.report.words import sentence, sentences


def document(study: Study, *, chain: tuple[tuple[str, str], ...]) -> Document:
    """The whole report. `chain`: the files it rests on with their SHA-256, corpus first."""
    collection_settings = study.settings.collection
    return Document(
        title=collection_settings.title,
        subtitle=sentence("answers.subtitle", collection=collection_settings, annot_version=__version__),
        notice=study.notice,
        answers=answers(study),
        body=(agreement.body(study), grades.body(study), runs.body(study), effect.body(study)),
        appendix=(
            *collection.appendix(study),
            *grades.appendix(study),
            *agreement.appendix(study),
            assessors.appendix(study.diagnosed),
            *trials.appendix(study),
            *runs.appendix(study),
            *analyses.appendix(study),
            *effect.appendix(study),
            _rules(study),
        ),
        chain=chain,
    )


def tables(study: Study) -> Iterator[Table]:
    """Every table of the report; those that need no measuring come first."""
    for section in (*collection.appendix(study), *grades.appendix(study)):
        yield from section.tables
    if study.decisions:
        yield grades.final_grades(study)
    yield from agreement.differences(study)
    yield from runs.settings(study)
    made = document(study, chain=())
    for section in (*made.body, *made.appendix):
        yield from section.tables


def _rules(study: Study) -> Chapter:
    """The rules behind the first screen, and how intervals and digits are made."""
    return Chapter(
        "rules",
        "Rules, intervals and digits",
        sentences("answers.rules", limits=verdict, measured=(CONVENTION, MEASURE), level=study.level),
    )
