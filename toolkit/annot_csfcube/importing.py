"""A CSFCube release brought into an empty study."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import moment_now
from annot.base.records import NAMELESS_ADJUDICATOR, Adjudication, Assessor, Assignment, Source
from annot.base.settings import Settings
from annot.corpus import adding, corpus_facts
from annot.formats import trec
from annot.formats.cleaning import kinds
from annot.formats.input_files import content_of
from annot.judging.plan_on_record import UNKNOWN, plan_sha256
from annot.publishing.report.tables import sentences
from annot.steps.imports import ImportKind
from annot.store import facet_labels, papers, people, pools, runs, shown
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.models import ImportedSource, Plan, Session, StoredRun
from annot.study.outcome import outcome_of
from annot.study.snapshot import export_qrels
from annot.study.workspace import Workspace, write_file, write_setting

from annot_csfcube.contents import is_release_file
from annot_csfcube.files import CsfcubeFacts, Release, read_release

CORPUS_FILE = "csfcube.parquet"


@dataclass(frozen=True, slots=True)
class ImportedRelease:
    """Contents of the import: counts by kind, and notes on irregularities."""

    counts: dict[str, int]
    notes: tuple[str, ...]
    facts: CsfcubeFacts
    cleaned: adding.Cleanings
    """Number of papers that have another text than in the release."""


def import_release(ws: Workspace, folder: Path, *, dry_run: bool) -> ImportedRelease:
    """Bring the release in `folder` into an empty study; the same folder again changes nothing.

    Sets `judging.missing = "zero"`: the release's published figures count a rating that is missing as grade 0.
    """
    if not folder.is_dir():
        problem = "a file" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {problem}, expected the folder of a CSFCube release")
    files = {
        path.relative_to(folder).as_posix(): content_of(path, expected="a CSFCube release")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_release_file(path.relative_to(folder).as_posix())
    }
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    release = read_release(
        files, name=str(folder), known_labels=ws.settings.labels.names, facet_labels=ws.settings.facets
    )
    _refuse_other_work(ws, digest.hexdigest())
    cleaning = adding.CleaningCount()
    cleaning.take((kinds(paper), paper) for paper in release.changed)
    cleaned = cleaning.written(None if dry_run else ws.corpus, digest.hexdigest())
    notes = sentences("commands.csfcube", facts=release.facts)
    notes += sentences("cleaned.cleaned", cleanings=cleaned, noun="paper")
    imported = ImportedRelease(_counts(release), notes, release.facts, cleaned)
    if not dry_run:
        with papers.PaperWriter(ws.corpus, name=CORPUS_FILE) as writer:
            for paper in release.papers:
                writer.add(paper)
        corpus_facts.write_corpus_manifest(ws)
        run_files = {tag: trec.write_run(rankings, tag=tag) for tag, rankings in release.runs.items()}
        with ws.writing() as session:
            _store(session, release, run_files, digest.hexdigest(), settings=ws.settings)
            facts = {**imported.counts, "cleaned": cleaning.facts}
            runs.put_import(session, ImportedSource(Source.CSFCUBE, digest.hexdigest(), facts))
        for tag, text in run_files.items():
            write_file(ws.run_file(tag), text)
        if release.decisions:
            # Final grades and runs come together, so that the import can be evaluated as it is.
            with ws.reading() as session:
                outcome = outcome_of(session, ws.settings)
            export_qrels(ws, outcome, release.queries, ())
        write_setting(ws.settings_file, "judging", "missing", "zero")
    return imported


def _refuse_other_work(ws: Workspace, digest: str) -> None:
    """Raise InputError if the study has other work than this import."""
    with ws.reading() as session:
        earlier = runs.read_imports(session)
        if any((other.what, other.source_sha256) == (Source.CSFCUBE, digest) for other in earlier):
            return
        other = bool(pools.read_queries(session) or earlier)
    if other or any(path.name != CORPUS_FILE for path in ws.corpus.glob("*.parquet")):
        raise InputError(f"{ws.root}: found another study, expected an empty one", hint="create one with `annot init`")


def _store(session: Session, release: Release, run_files: dict[str, str], digest: str, *, settings: Settings) -> None:
    recorded_at = moment_now()
    shown.keep_imported_scale(session, settings.scale.names, since=recorded_at)
    corrected = set(release.facts.corrected_queries)
    facet_labels.replace_labels(
        session,
        (
            facet_labels.FacetLabels(
                paper.paper_id, paper.labels, Source.CORRECTED if paper.paper_id in corrected else Source.CARRIED
            )
            for paper in release.papers
            if paper.labels is not None
        ),
    )
    pools.replace_queries(session, release.queries)
    pools.replace_pools(session, release.pools, rankings_sha256={pool.topic_id: digest for pool in release.pools})
    names = sorted({judgement.assessor for judgement in release.judgements})
    assessors = [Assessor(name, None, False) for name in names]
    people.put_assessors(session, [*assessors, Assessor(NAMELESS_ADJUDICATOR, None, True)])
    plan = _plan_of(release)
    people.replace_plan(session, plan, plan=Plan(plan_sha256(plan), settings.seed, recorded_at))
    JUDGEMENTS.record(
        session,
        (SourcedJudgement(judgement, Source.CSFCUBE, "", None) for judgement in release.judgements),
        recorded_at=recorded_at,
    )
    ADJUDICATIONS.record(
        session,
        (
            SourcedAdjudication(
                Adjudication(decision.query_id, decision.doc_id, NAMELESS_ADJUDICATOR, decision.grade, UNKNOWN, ()),
                Source.CSFCUBE,
                "",
                None,
            )
            for decision in release.decisions
            if decision.origin == "adjudicated"
        ),
        recorded_at=recorded_at,
    )
    for name, folds in release.splits.items():
        runs.put_split(session, name, folds)
    runs.put_runs(
        session,
        (
            StoredRun(tag, Source.CSFCUBE, {"imported": True}, hashlib.sha256(text.encode()).hexdigest())
            for tag, text in run_files.items()
        ),
    )


def _plan_of(release: Release) -> list[Assignment]:
    """Assignments in the order of the release, which has no other."""
    counts = Counter[str]()
    plan = []
    for judgement in release.judgements:
        counts[judgement.assessor] += 1
        plan.append(Assignment(judgement.query_id, judgement.doc_id, judgement.assessor, counts[judgement.assessor]))
    return plan


def _counts(release: Release) -> dict[str, int]:
    return {
        "papers": len(release.papers),
        "query papers": len({query.topic_id for query in release.queries}),
        "queries": len(release.queries),
        "pools": len(release.pools),
        "pairs": len(release.decisions),
        "judgements": len(release.judgements),
        "missing judgements": release.facts.missing_ratings,
        "adjudicated pairs": sum(decision.origin == "adjudicated" for decision in release.decisions),
        "splits": len(release.splits),
        "runs": len(release.runs),
    }


def _is_release(folder: Path) -> bool:
    return any(is_release_file(path.relative_to(folder).as_posix()) for path in folder.rglob("*"))


IMPORT = ImportKind(is_folder=_is_release, read=import_release)
