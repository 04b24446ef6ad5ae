"""What a study has, row by row: its queries, comments, and how far each assessor is. Commands print these tables, and
`annot.open_study` gives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from annot.base.names import moment_of
from annot.base.records import WHOLE
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.terminal import bar, share_done

if TYPE_CHECKING:
    from annot.base.records import Assessor, Query, Topic
    from annot.study.outcome import Outcome
    from annot.study.snapshot import Snapshot
    from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """One query as the list shows it; sentences count from 1."""

    query_id: str
    topic_id: str
    kind: Literal["paper", "text"]
    """What its topic is."""
    facet: str
    year: int | None
    title: str
    sentences: tuple[int, ...]
    paper_type: str | None


QUERIES = Columns[ListedQuery](
    [
        Column("query", lambda one: one.query_id, "query_id"),
        Column("", lambda one: one.topic_id, "paper_id"),
        Column("", lambda one: one.facet, "facet"),
        Column("year", lambda one: one.year),
        Column("sentences", lambda one: ",".join(map(str, one.sentences))),
        Column("title", lambda one: one.title),
    ]
)


def query_columns(listed: Sequence[ListedQuery]) -> Columns[ListedQuery]:
    """What is listed of these queries: where topics are texts, `topic_id`; of texts alone that are judged whole, no
    facet, year or sentences."""
    if all(one.kind == "paper" for one in listed):
        return QUERIES
    whole = all(one.kind == "text" and one.facet == WHOLE for one in listed)
    left_out = ("facet", "year", "sentences") if whole else ()
    named = [replace(one, name="topic_id") if one.field == "paper_id" else one for one in QUERIES.names]
    return Columns([one for one in named if one.field not in left_out])


def listed_queries(ws: Workspace, queries: Sequence[Query], texts: Mapping[str, Topic]) -> tuple[ListedQuery, ...]:
    """These queries with the titles of their topics. texts: the topics that are texts; of the corpus, only the papers
    of the others are read."""
    from annot.corpus.corpus_facts import papers_of
    from annot.store.papers import find_papers

    # A query without sentences came with a file of judgements: its paper need not be here.
    found = papers_of(ws, [query.topic_id for query in queries if query.sentences])
    if ws.has_corpus:
        found |= find_papers(ws.corpus, [query.topic_id for query in queries if query.topic_id not in texts])
    listed = []
    for query in queries:
        paper = found.get(query.topic_id)
        year, title = (None, "") if paper is None else (paper.year, paper.title)
        kind: Literal["paper", "text"] = "paper"
        if query.topic_id in texts:
            kind, title = "text", texts[query.topic_id].title
        places = tuple(place + 1 for place in query.sentences)
        listed.append(
            ListedQuery(query.query_id, query.topic_id, kind, query.facet, year, title, places, query.paper_type)
        )
    return tuple(listed)


@dataclass(frozen=True, slots=True)
class ListedTopic:
    """One topic, and how many queries it has; description and narrative are those of a text."""

    topic_id: str
    kind: Literal["paper", "text"]
    title: str
    description: str | None
    narrative: str | None
    queries: int


TOPICS = Columns[ListedTopic](
    [
        Column("", lambda one: one.topic_id, "topic_id"),
        Column("kind", lambda one: one.kind),
        Column("title", lambda one: one.title),
        Column("description", lambda one: one.description),
        Column("narrative", lambda one: one.narrative),
        Column("queries", lambda one: one.queries),
    ]
)


def listed_topics(ws: Workspace, queries: Sequence[Query], texts: Mapping[str, Topic]) -> tuple[ListedTopic, ...]:
    """The topics of these queries, by id. texts: the topics that are texts."""
    from annot.store.papers import find_papers

    asked = Counter(query.topic_id for query in queries)
    found = find_papers(ws.corpus, asked.keys() - texts.keys()) if ws.has_corpus else {}
    return tuple(
        ListedTopic(one, "text", topic.title, topic.description, topic.narrative, asked[one])
        if (topic := texts.get(one))
        else ListedTopic(one, "paper", found[one].title if one in found else "", None, None, asked[one])
        for one in sorted(asked)
    )


@dataclass(frozen=True, slots=True)
class Comment:
    """What one assessor wrote of one pair."""

    judged_at: str | None
    """ISO 8601, UTC; None if an imported judgement has no moment."""
    assessor: str
    query_id: str
    doc_id: str
    facet: str
    occasion: int
    """2 where it answers a hidden repeat, or a later one that the pair was returned for."""
    grade: int | None
    cannot_judge: str | None
    comment: str
    counts: bool
    """Whether the answer that it belongs to does."""


COMMENTS = Columns[Comment](
    [
        Column("judged at", lambda one: (one.judged_at or "-")[:16].replace("T", " "), ""),
        Column("", lambda one: one.judged_at, "judged_at"),
        Column("assessor", lambda one: one.assessor),
        Column("query", lambda one: one.query_id, "query_id"),
        Column("document", lambda one: one.doc_id, "doc_id"),
        Column("", lambda one: one.occasion, "occasion"),
        Column("grade", lambda one: one.cannot_judge or ("none" if one.grade is None else one.grade), ""),
        Column("", lambda one: one.grade, "grade"),
        Column("", lambda one: one.cannot_judge, "cannot_judge"),
        Column("comment", lambda one: one.comment),
        Column("", lambda one: one.counts, "counts"),
    ]
)


def comments_of(snapshot: Snapshot) -> tuple[Comment, ...]:
    """The comments of the latest answers, newest first; those without a moment last."""
    facets, earliest = snapshot.facets, datetime.min.replace(tzinfo=UTC)
    answers = sorted(snapshot.outcome.everything, key=lambda one: (one.query_id, one.doc_id, one.assessor))
    return tuple(
        Comment(
            answer.judged_at,
            answer.assessor,
            answer.query_id,
            answer.doc_id,
            facets[answer.query_id],
            answer.occasion,
            answer.grade,
            answer.cannot_judge,
            answer.comment,
            answer.counts,
        )
        for answer in sorted(answers, key=lambda one: moment_of(one.judged_at) or earliest, reverse=True)
        if answer.comment
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How many pairs one assessor has, and has judged."""

    assessor: str
    assigned: int
    judged: int
    left: bool
    """Whether they have left the study."""


PROGRESS = Columns[Progress](
    [
        Column("assessor", lambda one: one.assessor + (" (left)" if one.left else ""), ""),
        Column("", lambda one: one.assessor, "assessor"),
    ],
    [
        Column("assigned", lambda one: one.assigned),
        Column("judged", lambda one: one.judged),
        Column("done", lambda one: share_done(one.judged, one.assigned), ""),
        Column("progress", lambda one: bar(one.judged, one.assigned), ""),
        Column("", lambda one: one.left, "left"),
    ],
)


def progress_of(people: Iterable[Assessor], outcome: Outcome) -> tuple[Progress, ...]:
    """Everyone who was assigned pairs; hidden repeats are among them, hidden gold is not."""
    judged = Counter(name for name, _ in outcome.progress.given)
    assigned = judged + outcome.progress.left_by_assessor
    return tuple(
        Progress(person.assessor, assigned[person.assessor], judged[person.assessor], left=person.left_on is not None)
        for person in people
        if assigned[person.assessor]
    )
