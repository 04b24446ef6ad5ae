"""The whole report: its first screen, and its sections, each from the records of the study alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from annot import __version__
from annot.base.names import percent
from annot.base.plugins import loaded, versions_of
from annot.base.stats.values import Undefined
from annot.measuring.measured import primary_of
from annot.publishing.report import verdict
from annot.publishing.report.cells import WIDEST
from annot.publishing.report.notices import RESTS_ON, notices, verdict_if_untrue
from annot.publishing.report.sections import agreement, assessors, collection, over_time, runs
from annot.publishing.report.sections.agreement import alpha, disputed
from annot.publishing.report.sections.assessors import values_of_order
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Chapter, Document, Fact, Reply, Table, Tile, in_words, sentence, sentences
from annot.publishing.terms import citation_of, known_licence, licence_named

QUESTIONS = {
    "what": "What is this collection?",
    "trust": "Can its judgements be trusted?",
    "best": "Which system is best?",
    "next": "What should be done next?",
}
TILES = ("pairs", "people", "alpha", "best")
VERDICTS = ("trust", "best")
"""Answers that draw a conclusion; there is none if its foundation does not hold."""


Sections = Callable[[Study], Iterable[Chapter]]
"""Function that makes chapters of the report."""


def _none(_study: Study) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class ReportSections:
    """Chapters that a wing or a plug-in adds to the report."""

    body: Sections = _none
    """Chapters at the end of the text."""
    appendix: Sections = _none
    """Chapters at the end of the appendix, before the rules."""
    pages: Sections = _none
    """Chapters of datasheet and card, of Markdown. The card has no headings for them; their first paragraph is for it
    alone."""


MakeFacts = Callable[[Study], Iterable[Fact]]
"""Function that makes facts of a release, which datasheet, card, report and Croissant have."""


def sections_added(study: Study) -> tuple[ReportSections, ...]:
    """Parts of report, datasheet and card that wings and plug-ins add."""
    return tuple(loaded("report_sections", study.settings.plugins.names).values())


def document(study: Study, *, chain: tuple[tuple[str, str], ...]) -> Document:
    """The whole report. `chain`: the files it rests on with their SHA-256, corpus first."""
    collection_settings = study.settings.collection
    values, added = _values(study), sections_added(study)
    report = Document(
        title=collection_settings.title,
        subtitle=sentence("answers.subtitle", collection=collection_settings),
        about=about(study),
        notice=study.notice,
        tiles=tuple(Tile(*sentences(f"answers.{name}_tile", **values)) for name in TILES),
        picture=runs.glance(study.evaluated) or next(agreement.drawing(study.agreement, study.words), None),
        answers=answers(study, values),
        body=_with_notes(
            study,
            agreement.body(study),
            collection.grades_body(study),
            *collection.examples_body(study),
            runs.body(study),
            *over_time.body(study),
            assessors.body(study),
            *(chapter for sections in added for chapter in sections.body(study)),
        ),
        appendix=_with_notes(
            study,
            *collection.appendix(study),
            *collection.grades_appendix(study),
            *collection.examples_appendix(study),
            *agreement.appendix(study),
            assessors.appendix(study),
            *assessors.trials_appendix(study),
            *runs.appendix(study),
            *runs.analyses_appendix(study),
            *assessors.effect_appendix(study),
            *(chapter for sections in added for chapter in sections.appendix(study)),
            Chapter("methods", "Methods, ready to paste", (*sentences("methods.introduction"), *methods(study))),
            _rules(study),
        ),
        chain=chain,
    )
    return in_words(report, study.words)


COUNTING = ("judgements", "analyses", "assessors")
"""Chapters that count grades as they were given."""
ESTIMATING = ("grades", "final-grades")
"""Chapters that estimate how many documents of the pools have a grade."""


def _with_notes(study: Study, *chapters: Chapter) -> tuple[Chapter, ...]:
    """Chapters, each with its untrue foundations before anything else, and at the end of its text the notes that a
    reader needs if a sample of the pools was judged."""
    additions: dict[str, tuple[str, ...]] = {}
    if study.snapshot.sample is not None:
        additions["pools"] = sentences("collection.drawn_pairs", sample=study.snapshot.sample)
        additions |= dict.fromkeys(COUNTING, sentences("grades.drawn_pairs_counted"))
        additions |= dict.fromkeys(ESTIMATING, sentences("grades.pools_estimated", words=study.words))
    return tuple(
        replace(
            chapter,
            paragraphs=(
                *notices(study.findings, RESTS_ON.get(chapter.anchor, frozenset()), study.words),
                *chapter.paragraphs,
                *additions.get(chapter.anchor, ()),
            ),
        )
        for chapter in chapters
    )


def about(study: Study) -> tuple[Fact, ...]:
    """Facts such as makers and licence; the same in datasheet, card and Croissant."""
    terms, named, work = study.terms, study.settings.collection, study.work
    added: Mapping[str, MakeFacts] = loaded("release_facts", study.settings.plugins.names)
    licence = licence_named(terms.licence) if terms.licence else None
    texts = known_licence(terms.text_licence) if terms.with_text else None
    facts = (
        Fact("Makers", ", ".join(named.creators)),
        Fact("Version", ", ".join(filter(None, (named.version, terms.published)))),
        Fact("Licence", *licence[:2]) if licence else Fact("Licence", ""),
        Fact("Licence of the topics", terms.topic_licence),
        Fact("Licence of the texts", *texts[:2]) if texts else Fact("Licence of the texts", terms.text_licence),
        Fact("Address", named.url, named.url if named.url.startswith(("https://", "http://")) else ""),
        Fact("Software", software(study)),
        Fact("Hours of work", "" if isinstance(work.hours, Undefined) else sentence("answers.work", work=work)),
        *(fact for make_facts in added.values() for fact in make_facts(study)),
        Fact("Cite as", citation_of(named, terms) if named.creators or named.citation else ""),
    )
    return tuple(fact for fact in facts if fact.words)


def software(study: Study) -> str:
    """This program and its plug-ins, with their versions."""
    return ", ".join((f"annot {__version__}", *versions_of(study.settings.plugins.names).values()))


def methods(study: Study) -> tuple[str, ...]:
    """Paragraph on methods for a paper, from the records: who judged what, how, and with which version."""
    rulings = study.outcome.adjudications.values()
    return sentences(
        "methods.methods",
        **_values(study),
        agreement=study.agreement,
        methods=sorted({method for pool in study.pools.values() for method in pool.methods}),
        sizes=sorted(len(pool.entries) for pool in study.pools.values()),
        scale=study.settings.scale.names,
        # A demonstration is the same whichever server it has.
        versions=[] if study.notice else sorted({project.version for project in study.snapshot.projects}),
        adjudicators=len({ruling.adjudicator for ruling in rulings}),
        settled=len(rulings),
        ratings=sorted({ruling.ratings for ruling in rulings}),
        software=software(study),
    )


def tables(study: Study) -> Iterator[Table]:
    """Every table of the report; those that need no measuring come first."""
    for section in (*collection.appendix(study), *collection.grades_appendix(study)):
        yield from section.tables
    if study.decisions:
        yield collection.final_grades(study)
    yield from agreement.differences(study)
    yield from runs.settings(study)
    report = document(study, chain=())
    for section in (*report.body, *report.appendix):
        yield from section.tables


def answers(study: Study, values: Mapping[str, object] | None = None) -> tuple[Reply, ...]:
    """First screen: the collection, its quality, the best run, the next step. values: all that sentences may name."""
    values = values or _values(study)
    return tuple(
        Reply(
            question,
            (name in VERDICTS and verdict_if_untrue(study.findings, RESTS_ON[name]))
            or sentence(f"answers.{name}_verdict", **values),
            (*notices(study.findings, RESTS_ON[name], study.words), *sentences(f"answers.{name}", **values)),
        )
        for name, question in QUESTIONS.items()
    )


def _values(study: Study) -> dict[str, object]:
    """All that the sentences may name."""
    together = study.agreement.groups[-1]
    effect = None if isinstance(study.effect, Undefined) else study.effect
    diagnosis = study.diagnosed.diagnosed.diagnosis
    agreement, best = alpha(study.agreement), verdict.best(study.evaluated)
    reliability = verdict.reliability(agreement)
    robustness = verdict.robustness(study.effect, study.evaluated, judged_twice=together.n_pairs)
    return {
        "study": study,
        "words": study.words,
        "level": percent(study.settings.agreement.level),
        "together": together,
        "facets": [(group.name, group.n_queries) for group in study.agreement.groups[:-1]],
        "assessors": len({judgement.assessor for judgement in study.judgements if judgement.counts}),
        "judged": len({judgement.pair for judgement in study.judgements if judgement.counts}),
        "alpha": agreement,
        "alpha_after": alpha(study.agreement, after=True),
        "disputed": disputed(study.agreement),
        "reliability": reliability,
        "robustness": robustness,
        "known": reliability != "unknown" and robustness in ("robust", "order", "fragile"),
        "effect": effect,
        "tau": None if effect is None else verdict.tau(effect),
        "order_changes": "" if effect is None else sentence("effect.changes", **values_of_order(effect, study.words)),
        "best": best,
        **{
            name: sentence(f"runs.{name}", best=best, words=study.words) if best else ""
            for name in ("too_few", "lead", "groups", "like_chance")
        },
        "limits": verdict,
        "gaps": () if isinstance(diagnosis, Undefined) else diagnosis.gaps,
        "findings": () if isinstance(diagnosis, Undefined) else diagnosis.findings,
        "unfinished": study.open + study.incomplete,
    }


def _rules(study: Study) -> Chapter:
    """The rules behind the first screen, and how intervals and digits are made."""
    return Chapter(
        "rules",
        "Rules, intervals and digits",
        sentences(
            "answers.rules",
            words=study.words,
            limits=verdict,
            widest=WIDEST,
            measured=primary_of(study.snapshot.ws.settings),
            level=study.level,
            pooled=study.snapshot.sample is not None,
        ),
    )
