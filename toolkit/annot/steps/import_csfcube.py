"""A collection made elsewhere, brought in whole: CSFCube's release."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import tomlkit
from sqlmodel import Session

from annot.errors import InputError
from annot.formats.csfcube import ADJUDICATOR, CsfcubeFacts, Release, is_release_file, read_release
from annot.formats.trec import write_run
from annot.planning import plan_lines
from annot.records import Adjudication, Assessor, Assignment, Source
from annot.store import adjudications, facet_labels, judgements, papers, people, pools, queries, runs
from annot.store.database import open_store
from annot.study.corpus_facts import write_corpus_manifest
from annot.study.exports import export_qrels
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace, write_file

UNKNOWN = "unknown"
"""What the adjudicator saw of the grades: the release does not say."""
CORPUS_FILE = "csfcube.parquet"


@dataclass(frozen=True, slots=True)
class ImportedRelease:
    """What was brought in: counts by kind, and notes on the quirks that were met."""

    counts: dict[str, int]
    notes: tuple[str, ...]
    facts: CsfcubeFacts


def csfcube(ws: Workspace, folder: Path, *, dry_run: bool) -> ImportedRelease:
    """Bring the release in `folder` into an empty study; the same folder again changes nothing.

    Sets `judging.missing = "zero"`: the release's published figures count a rating that is missing as grade 0.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected a CSFCube release")
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_release_file(path.relative_to(folder).as_posix())
    }
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    release = read_release(files, name=str(folder), facet_labels=ws.settings.facets, clean_text=True)
    imported = ImportedRelease(_counts(release), tuple(_notes(release.facts)), release.facts)
    _refuse_other_work(ws, digest.hexdigest())
    if not dry_run:
        _write_corpus(ws, release)
        with open_store(ws.database_url, create=False) as store, store.begin() as session:
            _store(session, release, ws, digest.hexdigest(), imported)
        _write_runs(ws, release)
        if release.decisions:
            # Final grades and runs come together, so that the import can be evaluated as it is.
            with open_store(ws.database_url, create=False) as store, store.read() as session:
                outcome = outcome_of(session)
            export_qrels(ws, outcome)
        _set_missing_policy(ws.settings_file)
    return imported


def _refuse_other_work(ws: Workspace, digest: str) -> None:
    """An import fills an empty study, or finds its own work there; it never mixes with another study."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        same = any(
            earlier.what == Source.CSFCUBE and earlier.source_sha256 == digest for earlier in runs.read_imports(session)
        )
        if same:
            return
        other = bool(queries.read_queries(session) or runs.read_imports(session))
    if other or any(path.name != CORPUS_FILE for path in ws.corpus.glob("*.parquet")):
        raise InputError(
            f"{ws.root}: holds another study, expected an empty one",
            hint="make a new one with `annot init` and import there",
        )


def _write_corpus(ws: Workspace, release: Release) -> None:
    with papers.PaperWriter(ws.corpus, name=CORPUS_FILE) as writer:
        for paper in release.papers:
            writer.add(paper)
    write_corpus_manifest(ws)


def _store(session: Session, release: Release, ws: Workspace, digest: str, imported: ImportedRelease) -> None:
    recorded_at = datetime.now(UTC).isoformat(timespec="seconds")
    corrected = set(release.facts.corrected_queries)
    facet_labels.replace_labels(
        session,
        (
            facet_labels.FacetLabels(
                paper.paper_id,
                paper.labels,
                Source.CORRECTED if paper.paper_id in corrected else Source.CARRIED,
            )
            for paper in release.papers
            if paper.labels is not None
        ),
    )
    queries.replace_queries(session, release.queries)
    pools.replace_pools(session, release.pools, rankings_sha256={pool.paper_id: digest for pool in release.pools})
    names = sorted({judgement.assessor for judgement in release.judgements})
    people.put_assessors(session, [*(Assessor(name, None, False) for name in names), Assessor(ADJUDICATOR, None, True)])
    plan = _plan_of(release)
    text = plan_lines(plan)
    people.replace_plan(
        session, plan, plan=people.Plan(hashlib.sha256(text.encode()).hexdigest(), ws.settings.seed, recorded_at)
    )
    judgements.record_judgements(
        session,
        (judgements.SourcedJudgement(judgement, Source.CSFCUBE, "", None) for judgement in release.judgements),
        recorded_at=recorded_at,
    )
    adjudications.record_adjudications(
        session,
        (
            adjudications.SourcedAdjudication(
                Adjudication(decision.query_id, decision.doc_id, ADJUDICATOR, decision.grade, UNKNOWN, ()),
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
            runs.StoredRun(
                run.tag,
                Source.CSFCUBE,
                {"imported": True},
                hashlib.sha256(write_run(run.rankings, tag=run.tag).encode()).hexdigest(),
            )
            for run in release.runs
        ),
    )
    runs.put_import(session, runs.Imported(Source.CSFCUBE, digest, imported.counts))


def _plan_of(release: Release) -> list[Assignment]:
    """Who judged what, in the order of the release: it tells no other."""
    position: dict[str, int] = {}
    plan = []
    for judgement in release.judgements:
        position[judgement.assessor] = position.get(judgement.assessor, 0) + 1
        plan.append(Assignment(judgement.query_id, judgement.doc_id, judgement.assessor, position[judgement.assessor]))
    return plan


def _write_runs(ws: Workspace, release: Release) -> None:
    for run in release.runs:
        write_file(ws.runs / f"{run.tag}.run", write_run(run.rankings, tag=run.tag))


def _set_missing_policy(path: Path) -> None:
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    judging = document.setdefault("judging", tomlkit.table())
    if judging.get("missing") != "zero":
        judging["missing"] = "zero"
        write_file(path, tomlkit.dumps(document))


def _counts(release: Release) -> dict[str, int]:
    return {
        "papers": len(release.papers),
        "query papers": len({query.paper_id for query in release.queries}),
        "queries": len(release.queries),
        "pools": len(release.pools),
        "pairs": len(release.decisions),
        "judgements": len(release.judgements),
        "missing judgements": release.facts.missing_ratings,
        "adjudicated pairs": sum(decision.origin == "adjudicated" for decision in release.decisions),
        "splits": len(release.splits),
        "runs": len(release.runs),
    }


def _notes(facts: CsfcubeFacts) -> list[str]:
    notes = [f"papers come from {facts.papers_from}"]
    if facts.missing_ratings:
        notes.append(
            f"{facts.missing_ratings} rating(s) of -1 are stored as missing; annot.toml now says "
            'judging.missing = "zero", as the published figures count them'
        )
    if facts.dropped_candidates:
        dropped = ", ".join(f"{name} (in {count} pools)" for name, count in facts.dropped_candidates.items())
        notes.append(f"left out candidates without a rating and a text: {dropped}")
    if facts.self_candidates:
        notes.append(f"query papers in their own pools, kept: {', '.join(facts.self_candidates)}")
    if facts.hubs:
        notes.append(f"candidates in at least half of the pools, always graded 0: {', '.join(facts.hubs)}")
    if facts.corrected_queries:
        notes.append(f"{len(facts.corrected_queries)} query papers have labels corrected by hand; those are used")
    if facts.differing_papers:
        notes.append(
            f"{len(facts.differing_papers)} papers differ in readable_annotations; {facts.papers_from} is used"
        )
    if facts.unranked:
        notes.append(f"{len(facts.unranked)} judged candidate(s) are missing from a released run")
    if facts.left_out:
        notes.append(f"{len(facts.left_out)} queries of other facets are listed but have no ratings here")
    if not facts.pools_in_order:
        notes.append("this folder does not say in which order the pools were drawn")
    return notes
