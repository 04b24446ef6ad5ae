"""The sections of the report, one module a subject, each from the records of the study alone."""

from __future__ import annotations

from annot.report.document import Document, Section
from annot.report.sections.adjudication import adjudication
from annot.report.sections.agreement import agreement, each_query
from annot.report.sections.assessors import assessors
from annot.report.sections.collection import corpus, pools
from annot.report.sections.evaluation import evaluation
from annot.report.sections.grades import grades
from annot.report.sections.judging import judgements
from annot.report.sections.mattering import mattering
from annot.report.sections.summary import facts
from annot.report.study import Study


def document(study: Study, *, chain: tuple[tuple[str, str], ...]) -> Document:
    """The whole report. `chain`: the files it rests on with their SHA-256, corpus first."""
    collection = study.settings.collection
    return Document(
        title=f"{collection.title}: how it was judged, and what it measures",
        subtitle=f"Collection {collection.name}, version {collection.version}",
        notice=study.notice,
        facts=tuple(facts(study)),
        sections=tuple(_sections(study)),
        chain=chain,
    )


def _sections(study: Study) -> list[Section]:
    # A study that was judged in another tool may have no corpus and no pools here.
    sections = [corpus(study), *([pools(study)] if study.pools else [])]
    sections += [judgements(study), agreement(study), adjudication(study)]
    sections.append(assessors(study.diagnosed))
    if study.decisions:
        sections.append(grades(study))
    return [*sections, evaluation(study), mattering(study.mattering), each_query(study)]
