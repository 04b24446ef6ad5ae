"""The story of a pair: its texts, its place in the pool, every answer, and the final grade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annot.base import records
from annot.base.errors import InputError
from annot.base.names import close_to, known_query
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.terminal import printed, rendered
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement
from annot.store.facet_labels import read_labels
from annot.store.models import PoolSample, SampledPair
from annot.store.papers import find_papers
from annot.store.shown import Display, display_parts
from annot.study.outcome import Outcome, Pair
from annot.study.shown_versions import with_text
from annot.study.snapshot import Snapshot, snapshot_of
from annot.study.workspace import Workspace

Sourced = SourcedJudgement | SourcedAdjudication
OF_RECORD = ("revision", "grade", "cannot_judge", "reason", "comment", "lead_time", "flags")
"""Fields of a traced answer that are those of the judgement or the adjudication."""
Standing = Literal[
    "agreed", "adjudicated", "nobody can judge", "returned", "in dispute", "incomplete", "not planned", "not drawn"
]


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """One revision of an answer."""

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
    """Versions of guidelines, screen and texts that the person saw, for those that were sent in several."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Story of one pair: its texts, its place in the pool, its answers and its grade."""

    query: records.Query
    doc_id: str
    topic: records.Paper | records.Topic | None
    """Text of the topic as the pair is judged; None without a corpus."""
    document: records.Paper | None
    """Text of the document as the pair is judged; None without a corpus."""
    pool: records.PoolEntry | None
    added: records.Addition | None
    """Cause of its addition, if it was added after the draw."""
    sampled: SampledPair | None
    """Probability of its being judged; None if the pools are judged in full."""
    given_to: tuple[records.Assignment, ...]
    """Assignments; for imported judgements their order is that of the imported records."""
    returned: tuple[records.PairReturn, ...]
    answers: tuple[TracedAnswer, ...]
    """Every revision of every judgement and adjudication, in the order recorded."""
    standing: Standing
    decision: records.Decision | None


def trace(ws: Workspace, query_id: str, doc_id: str) -> Trace:
    """The story of the pair. Raises InputError, with the near name, for an unknown query or document."""
    pair = (query_id, doc_id)
    with ws.reading() as session:
        snapshot = snapshot_of(session, ws)
        query = known_query({query.query_id: query for query in snapshot.queries}, query_id)
        labels = {paper.paper_id: paper.labels for paper in read_labels(session, [query.topic_id, doc_id])}
        judged = JUDGEMENTS.history(session, query_id, doc_id)
        settled = ADJUDICATIONS.history(session, query_id, doc_id)
        history: list[Sourced] = sorted((*judged, *settled), key=lambda sourced: sourced.recorded_at or "")
        displays = display_parts(session, (answer.shown_sha256 for answer in history))
    outcome, pool = snapshot.outcome, snapshot.pools.get(query.topic_id)
    corpus = find_papers(ws.corpus, [query.topic_id, doc_id]) if ws.has_corpus else {}
    texts = {name: _as_judged(snapshot, pair, paper, labels.get(name)) for name, paper in corpus.items()}
    entry, added = _pooled(pool, doc_id)
    if not (doc_id in texts or entry or history):
        _refuse_unknown(pair, pool, snapshot.assignments)
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
        answers=tuple(_answers(history, snapshot, query, displays)),
        standing=_standing(pair, outcome, snapshot.sample),
        decision=next((decision for decision in outcome.decisions if decision.pair == pair), None),
    )


def _as_judged(snapshot: Snapshot, pair: Pair, paper: records.Paper, labels: Sequence[str] | None) -> records.Paper:
    """The paper in the version on which the pair is judged, with the labels on record, which are of the newest."""
    judged = snapshot.judged_texts.get(pair)
    required = judged.required.get(paper.paper_id) if judged else None
    for version in snapshot.text_versions.get(paper.paper_id, ()):
        if version.sha256 == required:
            paper = with_text(paper, version.body)
    known = labels is not None and len(labels) == len(paper.sentences)
    return replace(paper, labels=tuple(labels) if known and labels else None)


def _pooled(pool: records.Pool | None, doc_id: str) -> tuple[records.PoolEntry | None, records.Addition | None]:
    """The document in the pool, and the addition that brought it after the draw."""
    entries, additions = (pool.entries, pool.additions) if pool else ((), ())
    return (
        next((entry for entry in entries if entry.doc_id == doc_id), None),
        next((addition for addition in additions if doc_id in addition.documents), None),
    )


def _refuse_unknown(pair: Pair, pool: records.Pool | None, plan: Iterable[records.Assignment]) -> None:
    query_id, doc_id = pair
    documents = {assignment.doc_id for assignment in plan if assignment.query_id == query_id}
    documents |= {entry.doc_id for entry in pool.entries} if pool is not None else set()
    close = close_to(doc_id, sorted(documents))
    raise InputError(
        f"document {doc_id!r}: not in the corpus, nor judged for {query_id}{close and f'; {close}'}",
        hint=f"`annot pool show {query_id}` lists its documents",
    )


def _answers(
    history: Iterable[Sourced], snapshot: Snapshot, query: records.Query, displays: Mapping[str, Display]
) -> Iterator[TracedAnswer]:
    """Every revision of the answers, whether it counts, and what was on the screen."""
    repeats = {(answer.asked, answer.assessor) for answer in snapshot.outcome.repeats}
    for sourced in history:
        answer = sourced.record
        is_judgement = isinstance(answer, records.Judgement)
        person = answer.assessor if isinstance(answer, records.Judgement) else answer.adjudicator
        shown = snapshot.version_numbers.of(
            displays.get(sourced.shown_sha256 or ""),
            query,
            answer.doc_id,
            screen="judge" if is_judgement else "adjudicate",
        )
        fields: dict[str, Any] = {name: getattr(answer, name, None) for name in OF_RECORD}
        # A changed answer keeps its first time in `judged_at`.
        yield TracedAnswer(
            person=person,
            role="assessor" if is_judgement else "adjudicator",
            repeat=(answer.asked, person) in repeats,
            at=(sourced.ruling is None and (sourced.changed_at or answer.judged_at)) or sourced.recorded_at,
            recorded_at=sourced.recorded_at,
            source=sourced.source if sourced.ruling is None else f"{sourced.ruling} by the lead",
            annotation=sourced.annotation,
            counts=_counts(answer, snapshot.outcome),
            versions=tuple(map(str, shown.values())),
            **fields,
        )


def _counts(answer: records.Judgement | records.Adjudication, outcome: Outcome) -> bool:
    # Answers of earlier revisions differ at least in their revision.
    if isinstance(answer, records.Judgement):
        return not answer.flags and (answer in outcome.current or answer in outcome.repeats)
    return answer == outcome.adjudications.get(answer.pair) or answer in outcome.unjudgeable.get(answer.pair, ())


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


def _counts_in_words(row: TracedAnswer) -> str:
    if row.counts:
        return "as a repeat" if row.repeat else "yes"
    return "; ".join(row.flags) or "superseded"


ANSWERS = Columns[TracedAnswer](
    [
        Column("given at", lambda row: row.at or "-"),
        Column("person", lambda row: row.person),
        Column("role", lambda row: row.role),
        Column("revision", lambda row: row.revision),
        Column("grade", lambda row: "none" if row.grade is None else row.grade),
        Column("seconds", lambda row: "-" if row.lead_time is None else f"{row.lead_time:.1f}"),
        Column("counts", _counts_in_words),
        Column("source", lambda row: f"{row.source} {row.annotation}".strip()),
        Column("remarks", lambda row: "; ".join(filter(None, (row.cannot_judge, row.reason, row.comment)))),
    ]
)


def describe(story: Trace) -> str:
    """The story as text, in the order of the work."""
    whole = story.query.facet == records.WHOLE
    return rendered("trace", trace=story, whole=whole, answers=printed(ANSWERS, story.answers))
