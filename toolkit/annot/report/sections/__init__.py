"""The parts of the report, one module a subject, each from the records of the study alone."""

from __future__ import annotations

from annot.report import verdict
from annot.report.document import Document, Section
from annot.report.sections import agreement, assessors, collection, effect, grades, runs
from annot.report.sections.answers import answers
from annot.report.study import Study
from annot.report.words import sentence, sentences
from annot.study.measured import CONVENTION, MEASURE


def document(study: Study, *, chain: tuple[tuple[str, str], ...]) -> Document:
    """The whole report. `chain`: the files it rests on with their SHA-256, corpus first."""
    collection_settings = study.settings.collection
    return Document(
        title=collection_settings.title,
        subtitle=sentence("answers.subtitle", collection=collection_settings),
        notice=study.notice,
        answers=answers(study),
        body=(agreement.body(study), grades.body(study), runs.body(study), effect.body(study)),
        appendix=(
            *collection.appendix(study),
            *grades.appendix(study),
            *agreement.appendix(study),
            assessors.appendix(study.diagnosed),
            *runs.appendix(study),
            *effect.appendix(study),
            _rules(study),
        ),
        chain=chain,
    )


def _rules(study: Study) -> Section:
    """The rules behind the first screen, and how intervals and digits are made."""
    return Section(
        "rules",
        "Rules, intervals and digits",
        sentences("answers.rules", limits=verdict, measured=(CONVENTION, MEASURE), plan=study.bootstrap),
    )
