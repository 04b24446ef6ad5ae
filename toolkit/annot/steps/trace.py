"""One pair's whole story: from the corpus record to what each run did with it."""

from __future__ import annotations

import difflib
import hashlib
import json
from dataclasses import asdict

from annot.errors import InputError
from annot.formats.trec import read_run
from annot.names import known_query
from annot.records import Assignment, Draw, Paper, Pool, Source
from annot.report.traced import InRun, PaperTold, Pooled, Said, Sentence, Shown, Standing, Trace
from annot.store import adjudications, facet_labels, judgements, papers, projects
from annot.store.adjudications import SourcedAdjudication
from annot.store.database import open_store
from annot.store.facet_labels import FacetLabels
from annot.store.judgements import SourcedJudgement
from annot.study.corpus_facts import has_corpus, recorded_sha256
from annot.study.exports import exported_qrels
from annot.study.outcome import Outcome
from annot.study.snapshot import snapshot_of
from annot.study.workspace import Workspace


def trace(ws: Workspace, query_id: str, doc_id: str) -> Trace:
    """The story of the pair. Raises InputError, with the near name, for a query or document nobody knows."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        snapshot = snapshot_of(session, ws)
        query = known_query({known.query_id: known for known in snapshot.queries}, query_id)
        ids = [query.paper_id, doc_id]
        labels = {one.paper_id: one for one in facet_labels.read_labels(session, ids)}
        sent_to = [
            (project.assessor, project.round)
            for project in snapshot.projects
            if (query_id, doc_id) in {asked.pair for asked in projects.read_tasks(session, project.project)}
        ]
        judged = judgements.read_history(session, query_id, doc_id)
        settled = adjudications.read_history(session, query_id, doc_id)
    plan, outcome = snapshot.assignments, snapshot.outcome
    pool = snapshot.pools.get(query.paper_id)
    rankings_sha256 = snapshot.rankings_sha256.get(query.paper_id, "")
    found = papers.find_papers(ws.corpus, ids) if has_corpus(ws) else {}
    pooled = _pooled(pool, doc_id, rankings_sha256)
    had_by = () if pooled else _had_by(ws, query.paper_id, doc_id)
    runs = _runs(ws, query_id, doc_id)
    if not (doc_id in found or pooled or judged or settled or had_by or any(run.rank for run in runs)):
        _refuse_unknown(query_id, doc_id, pool, plan)
    pair = (query_id, doc_id)
    decision = next((one for one in outcome.decisions if (one.query_id, one.doc_id) == pair), None)
    said = (*_judged(judged, outcome), *_settled(settled, outcome))
    return Trace(
        query_id=query_id,
        doc_id=doc_id,
        facet=query.facet,
        query_sentences=tuple(place + 1 for place in query.sentences),
        query_paper=_told(ws, found.get(query.paper_id), labels.get(query.paper_id)),
        document=_told(ws, found.get(doc_id), labels.get(doc_id)),
        corpus_sha256=recorded_sha256(ws) if found else None,
        pool=pooled,
        had_by=had_by,
        given_to=tuple((one.assessor, one.position, one.occasion) for one in plan if one.asked.pair == pair),
        imported=bool(judged) and not any(one.source == Source.LABEL_STUDIO for one in judged),
        sent_to=tuple(sent_to),
        said=tuple(sorted(said, key=lambda one: one.recorded_at or "")),
        shown=_shown(settled, outcome),
        standing=_standing(pair, outcome),
        grade=None if decision is None else decision.grade,
        adjudicator=None if decision is None else decision.adjudicator,
        reason=None if decision is None else decision.reason,
        qrel=_qrel(ws, pair),
        runs=runs,
    )


def _refuse_unknown(query_id: str, doc_id: str, pool: Pool | None, plan: tuple[Assignment, ...]) -> None:
    known = {one.doc_id for one in plan if one.query_id == query_id}
    known |= {entry.doc_id for entry in pool.entries} if pool is not None else set()
    near = difflib.get_close_matches(doc_id, sorted(known), 1)
    raise InputError(
        f"document {doc_id!r}: not in the corpus, nor judged or ranked for {query_id}"
        + (f"; did you mean {near[0]!r}?" if near else ""),
        hint=f"`annot pool show {query_id}` lists its documents",
    )


def _told(ws: Workspace, paper: Paper | None, labels: FacetLabels | None) -> PaperTold | None:
    if paper is None:
        return None
    own = labels.labels if labels is not None else (None,) * len(paper.sentences)
    record = json.dumps(asdict(paper), sort_keys=True, ensure_ascii=False)
    return PaperTold(
        paper_id=paper.paper_id,
        title=paper.title,
        year=paper.year,
        sentences=tuple(
            Sentence(at, text, label, None if label is None else ws.settings.facet_of(label))
            for at, (text, label) in enumerate(zip(paper.sentences, own, strict=True), start=1)
        ),
        labels_origin=None if labels is None else labels.origin,
        sha256=hashlib.sha256(record.encode()).hexdigest(),
    )


def _pooled(pool: Pool | None, doc_id: str, rankings_sha256: str) -> Pooled | None:
    for at, entry in enumerate(pool.entries if pool is not None else (), start=1):
        if entry.doc_id == doc_id:
            assert pool is not None
            return Pooled(
                position=at,
                size=len(pool.entries),
                drawn=entry.drawn,
                also=entry.also,
                mode=pool.mode,
                per_method=pool.per_method,
                ranking_depth=pool.ranking_depth,
                seed=pool.seed,
                rankings_sha256=rankings_sha256,
            )
    return None


def _had_by(ws: Workspace, paper_id: str, doc_id: str) -> tuple[Draw, ...]:
    """The rankings that the pools were drawn from and that have the document, though nobody drew it."""
    found = []
    for path in sorted(ws.rankings.glob("*.run")):
        with path.open(encoding="utf-8") as lines:
            ranking = read_run(lines, name=str(path)).rankings.get(paper_id, ())
        found += [Draw(path.stem, at, doc.score, None) for at, doc in enumerate(ranking, 1) if doc.doc_id == doc_id]
    return tuple(found)


def _runs(ws: Workspace, query_id: str, doc_id: str) -> tuple[InRun, ...]:
    found = []
    for path in sorted(ws.runs.glob("*.run")):
        with path.open(encoding="utf-8") as lines:
            run = read_run(lines, name=str(path))
        ranking = run.rankings.get(query_id, ())
        place = next((at for at, doc in enumerate(ranking) if doc.doc_id == doc_id), None)
        if place is None:
            found.append(InRun(run.tag, None, None, len(ranking)))
        else:
            found.append(InRun(run.tag, place + 1, ranking[place].score, len(ranking)))
    return tuple(found)


def _judged(history: tuple[SourcedJudgement, ...], outcome: Outcome) -> list[Said]:
    # A record that stands is one of the current ones; those of earlier revisions differ at least in their number.
    return [
        Said(
            person=one.judgement.assessor,
            role="assessor",
            occasion=one.judgement.occasion,
            revision=one.judgement.revision,
            grade=one.judgement.grade,
            cannot_judge=one.judgement.cannot_judge,
            reason=None,
            comment=one.judgement.comment,
            judged_at=one.judgement.judged_at,
            recorded_at=one.recorded_at,
            lead_time=one.judgement.lead_time,
            flags=one.judgement.flags,
            source=one.source,
            annotation=one.annotation,
            counts=not one.judgement.flags and one.judgement in outcome.everything,
        )
        for one in history
    ]


def _settled(history: tuple[SourcedAdjudication, ...], outcome: Outcome) -> list[Said]:
    standing = tuple(outcome.adjudications.values())
    return [
        Said(
            person=one.adjudication.adjudicator,
            role="adjudicator",
            occasion=1,
            revision=one.adjudication.revision,
            grade=one.adjudication.grade,
            cannot_judge=one.adjudication.cannot_judge,
            reason=one.adjudication.reason,
            comment=one.adjudication.comment,
            judged_at=one.adjudication.judged_at,
            recorded_at=one.recorded_at,
            lead_time=one.adjudication.lead_time,
            flags=one.adjudication.flags,
            source=one.source,
            annotation=one.annotation,
            counts=one.adjudication in standing,
        )
        for one in history
    ]


def _shown(history: tuple[SourcedAdjudication, ...], outcome: Outcome) -> tuple[Shown, ...]:
    found: dict[str, Shown] = {}
    for sourced in history:
        one = sourced.adjudication
        grades = {
            judgement.assessor: judgement.grade
            for judgement in outcome.judgements
            if (judgement.query_id, judgement.doc_id) == (one.query_id, one.doc_id)
        }
        found[one.adjudicator] = Shown(
            one.adjudicator, one.ratings, tuple((name, grades.get(name)) for name in one.shown)
        )
    return tuple(found.values())


def _standing(pair: tuple[str, str], outcome: Outcome) -> Standing:
    if pair in outcome.adjudications:
        return "adjudicated"
    if pair not in outcome.planned:
        return "not planned"
    if pair in outcome.open:
        return "in dispute"
    return "incomplete" if pair in outcome.incomplete else "agreed"


def _qrel(ws: Workspace, pair: tuple[str, str]) -> int | None:
    """The pair's grade in the qrels that were written."""
    if not ws.qrels.is_file():
        return None
    return next((qrel.relevance for qrel in exported_qrels(ws) if (qrel.query_id, qrel.doc_id) == pair), None)
