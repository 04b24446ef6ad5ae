"""The whole story of a pair: from the corpus record to its rank in each run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import close_to, known_query
from annot.base.records import Adjudication, Assignment, Draw, Judgement, Paper, Pool, Query, Source
from annot.corpus.corpus_facts import recorded_sha256
from annot.formats.trec import TrecRun, read_run
from annot.pools.pooling import versions_by_document
from annot.publishing.report import single_pages
from annot.store import facet_labels, models, papers, projects, shown
from annot.store.answers import (
    ADJUDICATIONS,
    JUDGEMENTS,
    SourcedAdjudication,
    SourcedJudgement,
    read_opinions,
    shown_at,
)
from annot.store.facet_labels import FacetLabels
from annot.store.models import ShownOpinions
from annot.study.outcome import Outcome
from annot.study.shown_versions import VersionNumbers
from annot.study.snapshot import Snapshot, exported_qrels, snapshot_of
from annot.study.workspace import Workspace

Displays = Mapping[str, shown.Display]
"""Displays that answers were given on, by hash."""


def trace(ws: Workspace, query_id: str, doc_id: str) -> single_pages.Trace:
    """The story of the pair. Raises InputError, with the near name, for an unknown query or document."""
    pair = (query_id, doc_id)
    with ws.reading() as session:
        snapshot = snapshot_of(session, ws)
        query = known_query({query.query_id: query for query in snapshot.queries}, query_id)
        ids = [query.topic_id, doc_id]
        labels = {paper.paper_id: paper for paper in facet_labels.read_labels(session, ids)}
        sent_to = tuple(_sent_to(session, snapshot, pair))
        judged = JUDGEMENTS.history(session, query_id, doc_id)
        settled = ADJUDICATIONS.history(session, query_id, doc_id)
        opinions = read_opinions(session, query_id, doc_id)
        answers: tuple[SourcedJudgement | SourcedAdjudication, ...] = (*judged, *settled)
        displays = shown.display_parts(session, (answer.shown_sha256 for answer in answers))
        texts_of_pair = tuple(_text_versions(session, query.topic_id, doc_id, answers, displays, snapshot))
    outcome = snapshot.outcome
    topic = snapshot.texts.get(query.topic_id)
    pool = snapshot.pools.get(query.topic_id)
    texts = _texts(ws, ids, texts_of_pair)
    pooled = _pooled(pool, doc_id, snapshot.rankings_sha256.get(query.topic_id, ""))
    had_by = () if pooled else _had_by(ws, query.topic_id, doc_id)
    runs = _runs(ws, query_id, doc_id)
    if not any((doc_id in texts, pooled, judged, settled, had_by, *(run.rank for run in runs))):
        _refuse_unknown(query_id, doc_id, pool, snapshot.assignments)
    decision = {decision.pair: decision for decision in outcome.decisions}.get(pair)
    given_answers = _given_answers(answers, outcome, displays, texts_of_pair)
    return single_pages.Trace(
        query_id=query_id,
        doc_id=doc_id,
        facet=query.facet,
        query_sentences=tuple(place + 1 for place in query.sentences),
        query_paper=None if topic else _paper(ws, texts.get(query.topic_id), labels.get(query.topic_id)),
        topic=topic,
        document=_paper(ws, texts.get(doc_id), labels.get(doc_id)),
        corpus_sha256=recorded_sha256(ws) if texts else None,
        pool=pooled,
        had_by=had_by,
        sampled=snapshot.sample.pairs.get(pair) if snapshot.sample else None,
        given_to=tuple((row.assessor, row.position, row.occasion) for row in snapshot.assignments if row.pair == pair),
        returned=tuple(pair_return for pair_return in outcome.returned if pair_return.pair == pair),
        imported=bool(judged) and not any(answer.source == Source.LABEL_STUDIO for answer in judged),
        sent_to=sent_to,
        versions=tuple(_versions(answers, query, displays, VersionNumbers(snapshot.shown))),
        said=tuple(sorted(given_answers, key=lambda answer: answer.recorded_at or "")),
        shown=tuple(_shown(settled, judged, opinions)),
        standing=_standing(pair, outcome, snapshot.sample),
        **{name: getattr(decision, name, None) for name in ("grade", "adjudicator", "reason")},
        qrel=_exported_grade(snapshot, pair),
        runs=runs,
        texts=texts_of_pair,
    )


def _sent_to(session: Session, snapshot: Snapshot, pair: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Person and round of the projects that have the pair."""
    for project in snapshot.projects:
        if project.round in ("judge", "adjudicate"):
            tasks = projects.read_tasks(session, project.project)
            if any(pair_key.pair == pair for pair_key in tasks):
                yield project.assessor, project.round


def _exported_grade(snapshot: Snapshot, pair: tuple[str, str]) -> int | None:
    qrels = exported_qrels(snapshot) if snapshot.ws.qrels.is_file() else ()
    return next((qrel.relevance for qrel in qrels if (qrel.query_id, qrel.doc_id) == pair), None)


def _text_versions(
    session: Session,
    topic_id: str,
    doc_id: str,
    answers: Sequence[SourcedJudgement | SourcedAdjudication],
    displays: Displays,
    snapshot: Snapshot,
) -> Iterator[single_pages.TracedVersion]:
    """Versions of the texts of the pair that were corrected."""
    query_id = next((answer.record.query_id for answer in answers), "")
    judged_texts = snapshot.judged_texts.get((query_id, doc_id))
    recorded = shown.read_versions(session, "text")
    sides: tuple[tuple[Literal["query", "document"], str, str], ...]
    sides = (("query", "topic", topic_id), ("document", "document", doc_id))
    for side, part, text_id in sides:
        versions = recorded.get(("text", text_id), ())
        required = judged_texts.required.get(text_id) if judged_texts else None
        for number, version in enumerate(versions if versions[1:] else (), start=1):
            text = json.loads(version.body)
            people = dict.fromkeys(
                _person(answer) for answer in answers if _shown_in(displays, answer).get(part) == version.sha256
            )
            latest = versions[-1].sha256
            yield single_pages.TracedVersion(
                text_id=text_id,
                side=side,
                number=number,
                since=version.since,
                why=version.why,
                sha256=version.sha256,
                title=text["title"],
                sentences=tuple(text["sentences"]),
                is_shown=version.sha256 == (required or latest) and version.sha256 != latest,
                people=tuple(people),
            )


def _person(answer: SourcedJudgement | SourcedAdjudication) -> str:
    record = answer.record
    return record.assessor if isinstance(record, Judgement) else record.adjudicator


def _shown_in(displays: Displays, answer: SourcedJudgement | SourcedAdjudication) -> shown.Display:
    return displays.get(answer.shown_sha256 or "", {})


def _texts(ws: Workspace, ids: Sequence[str], versions: Iterable[single_pages.TracedVersion]) -> dict[str, Paper]:
    """The papers of the pair, in the versions that are shown."""
    texts = papers.find_papers(ws.corpus, ids) if ws.has_corpus else {}
    for version in versions:
        if version.is_shown:
            texts[version.text_id] = replace(texts[version.text_id], title=version.title, sentences=version.sentences)
    return texts


def _versions(
    answers: Sequence[SourcedJudgement | SourcedAdjudication],
    query: Query,
    displays: Mapping[str, shown.Display],
    numbers: VersionNumbers,
) -> Iterator[str]:
    """Sentences on what was shown with the pair for each revision of an answer, if it was sent in several versions."""
    for answer in answers:
        display = displays.get(answer.shown_sha256 or "")
        screen = "adjudicate" if isinstance(answer.record, Adjudication) else "judge"
        if shown := numbers.of(display, query, answer.record.doc_id, screen=screen):
            words = "; ".join(map(str, shown.values()))
            yield f"{_person(answer)} (revision {answer.record.revision}) was shown {words}"


def _refuse_unknown(query_id: str, doc_id: str, pool: Pool | None, plan: tuple[Assignment, ...]) -> None:
    documents = {assignment.doc_id for assignment in plan if assignment.query_id == query_id}
    documents |= {entry.doc_id for entry in pool.entries} if pool is not None else set()
    close = close_to(doc_id, sorted(documents))
    raise InputError(
        f"document {doc_id!r}: not in the corpus, nor judged or ranked for {query_id}{close and f'; {close}'}",
        hint=f"`annot pool show {query_id}` lists its documents",
    )


def _paper(ws: Workspace, paper: Paper | None, labels: FacetLabels | None) -> single_pages.TracedPaper | None:
    if paper is None:
        return None
    # The labels on record are of the newest version.
    labels = labels if labels is not None and len(labels.labels) == len(paper.sentences) else None
    sentence_labels = labels.labels if labels is not None else (None,) * len(paper.sentences)
    # The hash of a document that is no passage is the same as before there were passages.
    values = {name: value for name, value in asdict(paper).items() if name != "part_of" or value is not None}
    record = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return single_pages.TracedPaper(
        paper_id=paper.paper_id,
        title=paper.title,
        year=paper.year,
        part_of=paper.part_of,
        sentences=tuple(
            single_pages.Sentence(position, text, label, label and ws.settings.facet_of(label))
            for position, (text, label) in enumerate(zip(paper.sentences, sentence_labels, strict=True), start=1)
        ),
        labels_origin=labels and labels.origin,
        sha256=hashlib.sha256(record.encode()).hexdigest(),
    )


def _pooled(pool: Pool | None, doc_id: str, rankings_sha256: str) -> single_pages.PoolOrigin | None:
    if pool is None:
        return None
    settings = {name: getattr(pool, name) for name in ("mode", "per_method", "ranking_depth", "seed")}
    version = versions_by_document(pool).get(doc_id)
    added = next((addition for addition in pool.additions if addition.version == version), None)
    for position, entry in enumerate(pool.entries, start=1):
        if entry.doc_id == doc_id:
            return single_pages.PoolOrigin(
                *(position, len(pool.entries), entry.drawn, entry.also),
                rankings_sha256=rankings_sha256,
                added=added,
                **settings,
            )
    return None


def _had_by(ws: Workspace, paper_id: str, doc_id: str) -> tuple[Draw, ...]:
    """The rankings that the pools were drawn from and that have the document, although no method drew it."""
    return tuple(
        Draw(path.stem, rank, ranked.score, None)
        for path, run in _read_runs(ws.rankings)
        for rank, ranked in enumerate(run.rankings.get(paper_id, ()), start=1)
        if ranked.doc_id == doc_id
    )


def _runs(ws: Workspace, query_id: str, doc_id: str) -> tuple[single_pages.InRun, ...]:
    in_runs = []
    for _, run in _read_runs(ws.runs):
        ranking = run.rankings.get(query_id, ())
        ranks = ((rank, ranked.score) for rank, ranked in enumerate(ranking, start=1) if ranked.doc_id == doc_id)
        rank, score = next(ranks, (None, None))
        in_runs.append(single_pages.InRun(run.tag, rank, score, len(ranking)))
    return tuple(in_runs)


def _read_runs(folder: Path) -> Iterator[tuple[Path, TrecRun]]:
    for path in sorted(folder.glob("*.run")):
        with path.open(encoding="utf-8") as lines:
            yield path, read_run(lines, name=str(path))


def _given_answers(
    history: Iterable[SourcedJudgement | SourcedAdjudication],
    outcome: Outcome,
    displays: Displays,
    versions: Sequence[single_pages.TracedVersion],
) -> Iterator[single_pages.GivenAnswer]:
    """Every revision of the answers, and whether it counts."""
    fields = ("revision", "grade", "cannot_judge", "comment", "judged_at", "lead_time", "flags")
    for sourced in history:
        answer, repeats = sourced.record, False
        if isinstance(answer, Judgement):
            repeats = any((other.asked, other.assessor) == (answer.asked, answer.assessor) for other in outcome.repeats)
            # Answers of earlier revisions differ at least in their revision.
            counts = not answer.flags and (answer in outcome.current or answer in outcome.repeats)
        else:
            pair = answer.pair
            counts = answer == outcome.adjudications.get(pair) or answer in outcome.unjudgeable.get(pair, ())
        displayed = {*map(str, _shown_in(displays, sourced).values())}
        values: dict[str, Any] = {name: getattr(answer, name) for name in fields}
        yield single_pages.GivenAnswer(
            **values,
            person=_person(sourced),
            role="assessor" if isinstance(answer, Judgement) else "adjudicator",
            occasion=answer.asked.occasion,
            repeat=repeats,
            reason=getattr(answer, "reason", None),
            at=(sourced.ruling is None and _moment(sourced)) or sourced.recorded_at,
            recorded_at=sourced.recorded_at,
            source=sourced.source if sourced.ruling is None else f"{sourced.ruling} by the lead",
            annotation=sourced.annotation,
            counts=counts,
            on_versions=tuple(version.name for version in versions if version.sha256 in displayed),
        )


def _moment(sourced: SourcedJudgement | SourcedAdjudication) -> str | None:
    """Time at which the answer was given or changed; a changed answer keeps its first time in `judged_at`."""
    return sourced.changed_at or sourced.record.judged_at


def _shown(
    settled: tuple[SourcedAdjudication, ...], judged: tuple[SourcedJudgement, ...], opinions: tuple[ShownOpinions, ...]
) -> Iterator[single_pages.ShownGrades]:
    """Grades that each adjudicator saw, for each answer that they gave."""
    for sourced in settled:
        answer, moment = sourced.record, _moment(sourced)
        if sourced.ruling is not None or (answer.grade is None and answer.cannot_judge is None):
            continue
        sent = shown_at(opinions, answer.adjudicator, moment) if answer.ratings == "shown" else None
        if sent is not None:
            grades = tuple((name, grade) for name, grade, *_ in sent.opinions)
        else:
            grade_of = {earlier.record.assessor: earlier.record.grade for earlier in _until(judged, moment)}
            grades = tuple((name, grade_of.get(name)) for name in answer.shown)
        yield single_pages.ShownGrades(
            answer.adjudicator, answer.revision, moment, answer.ratings, grades, sent is not None
        )


def _until(judged: tuple[SourcedJudgement, ...], moment: str | None) -> Iterator[SourcedJudgement]:
    """The answers that were given by a moment, in their order."""
    end = None if moment is None else datetime.fromisoformat(moment)
    for sourced in judged:
        given_at = _moment(sourced)
        if sourced.record.counts and (end is None or given_at is None or datetime.fromisoformat(given_at) <= end):
            yield sourced


def _standing(pair: tuple[str, str], outcome: Outcome, sample: models.PoolSample | None) -> single_pages.Standing:
    if pair in outcome.adjudications:
        return "adjudicated"
    if pair in outcome.unjudgeable:
        return "nobody can judge"
    if pair not in outcome.planned:
        return "not planned" if sample is None or sample.drawn(*pair) else "not drawn"
    if pair in outcome.waiting:
        return "returned"
    if pair in outcome.open:
        return "in dispute"
    return "incomplete" if pair in outcome.incomplete else "agreed"
