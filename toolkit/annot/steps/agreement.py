"""Agreement of the assessors, their effect on the order of the runs, and points for them to discuss."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import StudyVocabulary, check_name, counted, known_query, moment_given, moment_of
from annot.judging.comments import Meeting
from annot.measuring import assessor_effect, measured, study_analyses
from annot.measuring.agreement.estimates import POLICIES, AgreementTable, in_words
from annot.measuring.diagnosis.findings import AssessorAnalysis
from annot.measuring.evaluation import evaluated, measures
from annot.publishing.report import notices, pages, side_by_side, single_pages, study_tables
from annot.publishing.report.sections import agreement, assessors
from annot.publishing.report.tables import Table, sentences
from annot.publishing.report.terminal import table_text, wrapped
from annot.store import papers
from annot.study import guidelines
from annot.study.provenance import note
from annot.study.snapshot import exported_qrels, read_snapshot
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Agreement of the assessors: by facet, by assessor, by version of the guidelines.
# ----------------------------------------------------------------------------------------------------------------------


ASSESSOR, GUIDELINES = "assessor", "guidelines"


def measure(
    ws: Workspace, *, missing: str | None, binarised_at: int | None, tell: Callable[[str], None]
) -> AgreementTable:
    """Coefficients with their intervals; `missing` None takes the policy of annot.toml.

    binarised_at: compare "this grade or higher" instead of grades. The coefficients of annot.toml, on unchanged grades,
    are written to `exports/agreement.json` too; `tell` reports if that fails, and untrue parts of the study.
    """
    if missing is not None:
        check_name(missing, tuple(POLICIES), what="--missing")
    snapshot = read_snapshot(ws)
    table = measured.agreement_of(snapshot, missing=missing, binarised_at=binarised_at)
    notices.report_untrue(snapshot, "agreement", tell=tell)
    if table.missing == ws.settings.judging.missing and binarised_at is None:
        measured.keep(ws, measured.AGREEMENT_FILE, measured.as_text(table), tell=tell)
        note(ws, "agreement", snapshot.states)
    return table


def describe(table: AgreementTable, words: StudyVocabulary, *, per_query: bool, every: bool) -> str:
    """The tables as text: a line for each facet, before and after; on request each query, each coefficient."""
    tables = agreement.terminal(table, words, per_query=per_query, all_statistics=every)
    how = {
        "policy": in_words(table.missing, binary=table.binary),
        "bracketed": any(printed.bracketed for printed in tables),
    }
    method = sentences("agreement.terminal", words=words, table=table, **how)
    return "\n\n".join([*map(table_text, tables), *map(wrapped, method)])


def by_assessor(ws: Workspace, *, queries: Collection[str]) -> AssessorAnalysis:
    """Grading of each assessor: habits, changes over time, reasons for disagreement.

    Raises MissingInput without judgements, InputError for an unknown query.
    """
    snapshot = read_snapshot(ws)
    queries_by_id = {query.query_id: query for query in snapshot.queries}
    for name in queries:
        known_query(queries_by_id, name)
    return measured.assessors_of(snapshot)


def assessor_tables(looked: AssessorAnalysis, words: StudyVocabulary, *, queries: Collection[str]) -> tuple[Table, ...]:
    """The tables of the report's section. queries: show hard candidates of these only, and all of them."""
    return tuple(assessors.tables(looked, words, queries))


def describe_assessors(looked: AssessorAnalysis, tables: Iterable[Table], words: StudyVocabulary) -> str:
    """The section of the report as text."""
    conclusions, method = assessors.conclusions(looked, words), assessors.method(looked)
    first, last = ("\n".join(map(wrapped, sentences)) for sentences in (conclusions, method))
    return "\n\n".join(part for part in (first, *map(table_text, tables), last) if part)


def by_guidelines(ws: Workspace) -> tuple[measured.ByGuidelines, ...]:
    """Agreement by each version of the guidelines; empty if no facet has several."""
    return measured.agreement_by_guidelines(read_snapshot(ws))


# ----------------------------------------------------------------------------------------------------------------------
# The effect of the assessor: the runs ranked under each assessor's grades, the final ones, and random choices.
# ----------------------------------------------------------------------------------------------------------------------


def measure_assessor_effect(
    ws: Workspace, *, convention: str | None, measure_name: str | None, tell: Callable[[str], None]
) -> assessor_effect.AssessorEffect:
    """Rank the runs of `exports/runs/` under every grading and write `exports/assessor-effect.json`.

    `tell` reports if that cannot be written, and untrue parts of the study. convention, measure_name: None takes
    those by which runs are compared.
    """
    convention = convention or measured.primary_of(ws.settings)[0]
    check_name(convention, tuple(measures.MEASURES), what="convention")
    measure_name = measure_name or evaluated.PRIMARY[convention]
    check_name(measure_name, measures.MEASURES[convention], what=f"measure of convention {convention}")
    snapshot = read_snapshot(ws)
    qrels, runs = exported_qrels(snapshot), measured.read_run_files(snapshot.ws)
    if len(runs) < 2:
        raise InputError(
            f"{ws.runs}: {counted(len(runs), 'run')}, expected at least 2", hint="make baselines with `annot run`"
        )
    effect = study_analyses.assessor_effect_of(snapshot, runs, qrels, convention=convention, measure=measure_name)
    notices.report_untrue(snapshot, "effect", tell=tell)
    measured.keep(ws, measured.EFFECT_FILE, measured.as_text(effect), tell=tell)
    return effect


def describe_assessor_effect(
    found: assessor_effect.AssessorEffect, tables: Iterable[Table], words: StudyVocabulary
) -> str:
    """Text of the rankings, their differences, and the part of chance in the choice of assessors."""
    return "\n\n".join([*map(wrapped, assessors.effect_method(found, words)), *map(table_text, tables)])


# ----------------------------------------------------------------------------------------------------------------------
# The page for the talk between two batches.
# ----------------------------------------------------------------------------------------------------------------------


PAGE, MARKDOWN = "meeting.html", "meeting.md"


@dataclass(frozen=True, slots=True)
class WrittenMeeting:
    """Path of the page, and figures on it."""

    path: Path
    since: str
    until: str
    pairs: int
    differing: int
    shown: int
    remarks: int
    held_back: int


def write(ws: Workspace, *, since: str | None, out: Path | None) -> WrittenMeeting:
    """Write `meeting.html` and the same as Markdown.

    since: the first day of the period; None takes the last days up to the newest answer. out: the folder to write into
    instead of `exports/`.
    """
    start = None if since is None else moment_given(since, option="--since")
    snapshot = read_snapshot(ws)
    meeting = Meeting(snapshot, since=start)
    query_papers, say = snapshot.topics, guidelines.words_in(ws, None)
    facets = {meeting.facets[answers[0].query_id] for answers in meeting.widest}
    doc_ids = {answer.doc_id for answers in (*meeting.widest, meeting.remarks) for answer in answers}
    doc_ids |= set(query_papers.values())
    made = single_pages.meeting_page(
        meeting,
        title=ws.settings.collection.title,
        titles=papers.find_papers(ws.corpus, sorted(doc_ids)) if ws.has_corpus else {},
        texts=snapshot.texts,
        query_papers=query_papers,
        screens=side_by_side.screens_of(snapshot, doc_ids, facets, say),
        words=snapshot.words,
        say=say,
    )
    folder = ws.exports if out is None else out
    write_file(folder / MARKDOWN, pages.markdown(made))
    write_file(folder / PAGE, pages.page(made, overrides=ws.root / "templates"))
    return WrittenMeeting(
        folder / PAGE,
        meeting.since,
        meeting.until,
        meeting.pairs,
        meeting.differing,
        len(meeting.widest),
        len(meeting.remarks),
        meeting.held_back,
    )


# ----------------------------------------------------------------------------------------------------------------------
# What assessors wrote with their answers, while the study runs.
# ----------------------------------------------------------------------------------------------------------------------


def listing(ws: Workspace, *, since: str | None) -> Table:
    """Table of the comments of the latest answers, newest first; those without a moment last.

    since: a day or a moment in ISO 8601; comments without a moment are left out then.
    """
    first = None if since is None else moment_given(since, option="--since")
    snapshot = read_snapshot(ws)
    written = study_tables.commented(snapshot.outcome.everything)
    if first is not None:
        written = [answer for answer in written if (moment := moment_of(answer.judged_at)) and moment >= first]
    return study_tables.comment_columns(snapshot.facets).of(written)
