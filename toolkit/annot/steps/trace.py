"""The story of a pair: its texts, its place in the pool, every answer, and the final grade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from annot.base.errors import InputError
from annot.base.names import close_to, known_query
from annot.base.records import (
    WHOLE,
    Addition,
    Assignment,
    Decision,
    Judgement,
    PairReturn,
    Paper,
    Pool,
    PoolEntry,
    Query,
    Source,
    Topic,
)
from annot.formats.trec import read_tagged_run
from annot.pools.pooling import versions_by_document
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.terminal import printed, rendered
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.facet_labels import read_labels
from annot.store.models import PoolSample, SampledPair
from annot.store.papers import find_papers
from annot.store.shown import Display, display_parts
from annot.study.outcome import Outcome, Pair
from annot.study.shown_versions import with_text
from annot.study.snapshot import Snapshot, exported_qrels, snapshot_of
from annot.study.workspace import Workspace

Sourced = SourcedJudgement | SourcedAdjudication
Standing = Literal[
    "agreed", "adjudicated", "nobody can judge", "returned", "in dispute", "incomplete", "not planned", "not drawn"
]


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """One revision of an answer, by an assessor or an adjudicator."""

    person: str
    role: Literal["assessor", "adjudicator"]
    repeat: bool
    """True if it answers a hidden repeat."""
    revision: int
    grade: int | None
    cannot_judge: str | None
    reason: str | None
    comment: str | None
    at: str | None
    """Time of this revision, by the server's clock; for the lead's decision and for lost answers the time of the
    record."""
    recorded_at: str | None
    lead_time: float | None
    flags: tuple[str, ...]
    source: str
    annotation: str
    counts: bool
    """True if the final grade rests on it, or if it is the valid answer to a hidden repeat."""
    versions: tuple[str, ...]
    """Versions of guidelines, screen and texts that the assessor saw, for those that were sent in several."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Story of one pair: its texts, its place in the pool, its answers, its grade, and its rank in each run."""

    query: Query
    doc_id: str
    topic: Paper | Topic | None
    """Text of the topic as the pair is judged; None without a corpus."""
    document: Paper | None
    """Text of the document as the pair is judged; None without a corpus."""
    pool: PoolEntry | None
    added: Addition | None
    """Cause of its addition, if it was added after the draw."""
    sampled: SampledPair | None
    """Probability of its being judged; None if the pools are judged in full."""
    given_to: tuple[Assignment, ...]
    """Assignments; for imported judgements their order is that of the imported records."""
    returned: tuple[PairReturn, ...]
    imported: bool
    """True if the judgements were made elsewhere."""
    answers: tuple[TracedAnswer, ...]
    """Every revision of every judgement and adjudication, in the order recorded."""
    standing: Standing
    decision: Decision | None
    qrel: int | None
    """Line in exports/qrels.txt; None if the file or the line is not there: unjudged, which is not 0."""
    runs: dict[str, int | None]
    """Rank in each run; None if it left the document out."""


def trace(ws: Workspace, query_id: str, doc_id: str) -> Trace:
    """The story of the pair. Raises InputError, with the near name, for an unknown query or document."""
    pair = (query_id, doc_id)
    with ws.reading() as session:
        snapshot = snapshot_of(session, ws)
        query = known_query({query.query_id: query for query in snapshot.queries}, query_id)
        labels = {paper.paper_id: paper.labels for paper in read_labels(session, [query.topic_id, doc_id])}
        judged = JUDGEMENTS.history(session, query_id, doc_id)
        settled = ADJUDICATIONS.history(session, query_id, doc_id)
        history: tuple[Sourced, ...] = (*judged, *settled)
        displays = display_parts(session, (answer.shown_sha256 for answer in history))
    outcome, pool = snapshot.outcome, snapshot.pools.get(query.topic_id)
    corpus = find_papers(ws.corpus, [query.topic_id, doc_id]) if ws.has_corpus else {}
    texts = {name: _as_judged(snapshot, pair, paper, labels.get(name)) for name, paper in corpus.items()}
    entry, added = _pooled(pool, doc_id)
    runs = dict(_ranks(ws.runs, pair))
    if not (doc_id in texts or entry or history or any(runs.values())):
        _refuse_unknown(pair, pool, snapshot.assignments)
    traced = _answers(history, snapshot, query, displays)
    return Trace(
        query=query,
        doc_id=doc_id,
        topic=snapshot.texts.get(query.topic_id) or texts.get(query.topic_id),
        document=texts.get(doc_id),
        pool=entry,
        added=added,
        sampled=snapshot.sample.pairs.get(pair) if snapshot.sample else None,
        given_to=tuple(assignment for assignment in snapshot.assignments if assignment.pair == pair),
        returned=tuple(pair_return for pair_return in outcome.returned if pair_return.pair == pair),
        imported=_imported(judged),
        answers=tuple(sorted(traced, key=lambda answer: answer.recorded_at or "")),
        standing=_standing(pair, outcome, snapshot.sample),
        decision=next((decision for decision in outcome.decisions if decision.pair == pair), None),
        qrel=_exported_grade(snapshot, pair),
        runs=runs,
    )


def _as_judged(snapshot: Snapshot, pair: Pair, paper: Paper, labels: Sequence[str] | None) -> Paper:
    """The paper in the version on which the pair is judged, with the labels on record, which are of the newest."""
    judged = snapshot.judged_texts.get(pair)
    required = judged.required.get(paper.paper_id) if judged else None
    for version in snapshot.text_versions.get(paper.paper_id, ()):
        if version.sha256 == required:
            paper = with_text(paper, version.body)
    known = labels is not None and len(labels) == len(paper.sentences)
    return replace(paper, labels=tuple(labels) if known and labels else None)


def _pooled(pool: Pool | None, doc_id: str) -> tuple[PoolEntry | None, Addition | None]:
    """The document in the pool, and the addition that brought it after the draw."""
    if pool is None:
        return None, None
    version = versions_by_document(pool).get(doc_id)
    return (
        next((entry for entry in pool.entries if entry.doc_id == doc_id), None),
        next((addition for addition in pool.additions if addition.version == version), None),
    )


def _imported(judged: Sequence[SourcedJudgement]) -> bool:
    return bool(judged) and not any(answer.source == Source.LABEL_STUDIO for answer in judged)


def _refuse_unknown(pair: Pair, pool: Pool | None, plan: Iterable[Assignment]) -> None:
    query_id, doc_id = pair
    documents = {assignment.doc_id for assignment in plan if assignment.query_id == query_id}
    documents |= {entry.doc_id for entry in pool.entries} if pool is not None else set()
    close = close_to(doc_id, sorted(documents))
    raise InputError(
        f"document {doc_id!r}: not in the corpus, nor judged or ranked for {query_id}{close and f'; {close}'}",
        hint=f"`annot pool show {query_id}` lists its documents",
    )


def _exported_grade(snapshot: Snapshot, pair: Pair) -> int | None:
    qrels = exported_qrels(snapshot) if snapshot.ws.qrels.is_file() else ()
    return next((qrel.relevance for qrel in qrels if (qrel.query_id, qrel.doc_id) == pair), None)


def _ranks(folder: Path, pair: Pair) -> Iterator[tuple[str, int | None]]:
    query_id, doc_id = pair
    for path in sorted(folder.glob("*.run")):
        with path.open(encoding="utf-8") as lines:
            tag, rankings = read_tagged_run(lines, name=str(path))
        ranked = [document.doc_id for document in rankings.get(query_id, ())]
        yield tag, ranked.index(doc_id) + 1 if doc_id in ranked else None


def _answers(
    history: Iterable[Sourced], snapshot: Snapshot, query: Query, displays: Mapping[str, Display]
) -> Iterator[TracedAnswer]:
    """Every revision of the answers, whether it counts, and what was on the screen."""
    outcome, numbers = snapshot.outcome, snapshot.version_numbers
    for sourced in history:
        answer, repeat = sourced.record, False
        if isinstance(answer, Judgement):
            repeat = any(
                (other.pair_key, other.assessor) == (answer.pair_key, answer.assessor) for other in outcome.repeats
            )
            # Answers of earlier revisions differ at least in their revision.
            counts = not answer.flags and (answer in outcome.current or answer in outcome.repeats)
        else:
            pair = answer.pair
            counts = answer == outcome.adjudications.get(pair) or answer in outcome.unjudgeable.get(pair, ())
        screen = "judge" if isinstance(answer, Judgement) else "adjudicate"
        shown = numbers.of(displays.get(sourced.shown_sha256 or ""), query, answer.doc_id, screen=screen)
        yield TracedAnswer(
            person=answer.assessor if isinstance(answer, Judgement) else answer.adjudicator,
            role="assessor" if isinstance(answer, Judgement) else "adjudicator",
            repeat=repeat,
            revision=answer.revision,
            grade=answer.grade,
            cannot_judge=answer.cannot_judge,
            reason=getattr(answer, "reason", None),
            comment=answer.comment,
            # A changed answer keeps its first time in `judged_at`.
            at=(sourced.ruling is None and (sourced.changed_at or answer.judged_at)) or sourced.recorded_at,
            recorded_at=sourced.recorded_at,
            lead_time=answer.lead_time,
            flags=answer.flags,
            source=sourced.source if sourced.ruling is None else f"{sourced.ruling} by the lead",
            annotation=sourced.annotation,
            counts=counts,
            versions=tuple(map(str, shown.values())),
        )


def _standing(pair: Pair, outcome: Outcome, sample: PoolSample | None) -> Standing:
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


def _counts(answer: TracedAnswer) -> str:
    if answer.counts:
        return "as a repeat" if answer.repeat else "yes"
    return "; ".join(answer.flags) or "superseded"


ANSWERS = Columns[TracedAnswer](
    [
        Column("given at", lambda row: row.at or "-"),
        Column("person", lambda row: row.person),
        Column("role", lambda row: row.role),
        Column("revision", lambda row: row.revision),
        Column("grade", lambda row: "none" if row.grade is None else row.grade),
        Column("seconds", lambda row: "-" if row.lead_time is None else f"{row.lead_time:.1f}"),
        Column("counts", _counts),
        Column("source", lambda row: f"{row.source} {row.annotation}".strip()),
        Column("remarks", lambda row: "; ".join(filter(None, (row.cannot_judge, row.reason, row.comment)))),
    ]
)
RUNS = Columns[tuple[str, int | None]](
    [Column("run", lambda row: row[0]), Column("rank", lambda row: "left out" if row[1] is None else row[1])]
)


def describe(story: Trace) -> str:
    """The story as text, in the order of the work."""
    answers, runs = printed(ANSWERS, story.answers), printed(RUNS, story.runs.items())
    whole = story.query.facet == WHOLE
    return rendered("trace", trace=story, whole=whole, answers=answers, runs=runs)
