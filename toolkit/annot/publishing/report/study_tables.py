"""Tables of a study, row by row: its queries, comments, and the progress of each assessor. Commands print them, and
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
    from annot.base.records import Assessor, Judgement, Query, Topic
    from annot.study.outcome import Outcome
    from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """One query as the list shows it; sentences count from 1."""

    query_id: str
    topic_id: str
    kind: Literal["paper", "text"]
    """Kind of its topic."""
    facet: str
    year: int | None
    title: str
    sentences: tuple[int, ...]
    paper_type: str | None


QUERIES = Columns[ListedQuery](
    [
        Column("query", lambda row: row.query_id, "query_id"),
        Column("", lambda row: row.topic_id, "paper_id"),
        Column("", lambda row: row.facet, "facet"),
        Column("year", lambda row: row.year),
        Column("sentences", lambda row: ",".join(map(str, row.sentences))),
        Column("title", lambda row: row.title),
    ]
)


def query_columns(listed: Sequence[ListedQuery]) -> Columns[ListedQuery]:
    """Columns for these queries: if topics are texts, `topic_id`; for texts alone that are judged as a whole, no facet,
    year or sentences."""
    if all(query.kind == "paper" for query in listed):
        return QUERIES
    judged_whole = all(query.kind == "text" and query.facet == WHOLE for query in listed)
    left_out = ("facet", "year", "sentences") if judged_whole else ()
    named = [replace(column, name="topic_id") if column.field == "paper_id" else column for column in QUERIES.names]
    return Columns([column for column in named if column.field not in left_out])


def listed_queries(ws: Workspace, queries: Sequence[Query], texts: Mapping[str, Topic]) -> tuple[ListedQuery, ...]:
    """These queries with the titles of their topics. texts: the topics that are texts; of the corpus, only the papers
    of the others are read."""
    from annot.corpus.corpus_facts import papers_of
    from annot.store.papers import find_papers

    # A query without sentences came with a file of judgements: its paper need not be here.
    papers = papers_of(ws, [query.topic_id for query in queries if query.sentences])
    if ws.has_corpus:
        papers |= find_papers(ws.corpus, [query.topic_id for query in queries if query.topic_id not in texts])
    listed = []
    for query in queries:
        paper = papers.get(query.topic_id)
        year, title = (None, "") if paper is None else (paper.year, paper.title)
        kind: Literal["paper", "text"] = "paper"
        if query.topic_id in texts:
            kind, title = "text", texts[query.topic_id].title
        places = tuple(place + 1 for place in query.sentences)
        listed.append(
            ListedQuery(query.query_id, query.topic_id, kind, query.facet, year, title, places, query.paper_type)
        )
    return tuple(listed)


def topic_columns(ws: Workspace, queries: Sequence[Query], texts: Mapping[str, Topic]) -> Columns[str]:
    """Columns of the topics of these queries, by id. texts: the topics that are texts; they alone have a description
    and a narrative.
    """
    from annot.store.papers import find_papers

    queries_of_topic = Counter(query.topic_id for query in queries)
    papers = find_papers(ws.corpus, queries_of_topic.keys() - texts.keys()) if ws.has_corpus else {}
    titles = {paper_id: paper.title for paper_id, paper in papers.items()}
    titles |= {topic_id: topic.title for topic_id, topic in texts.items()}

    def text(topic_id: str, name: str) -> str | None:
        return getattr(texts[topic_id], name) if topic_id in texts else None

    return Columns(
        [
            Column("", str, "topic_id"),
            Column("kind", lambda topic_id: "text" if topic_id in texts else "paper"),
            Column("title", lambda topic_id: titles.get(topic_id, "")),
            Column("description", lambda topic_id: text(topic_id, "description")),
            Column("narrative", lambda topic_id: text(topic_id, "narrative")),
            Column("queries", lambda topic_id: queries_of_topic[topic_id]),
        ]
    )


def comment_columns(facets: Mapping[str, str]) -> Columns[Judgement]:
    """Columns of comments, each with the answer that it belongs to. facets: by query."""
    return Columns(
        [
            Column("judged at", lambda row: (row.judged_at or "-")[:16].replace("T", " "), ""),
            Column("", lambda row: row.judged_at, "judged_at"),
            Column("assessor", lambda row: row.assessor),
            Column("query", lambda row: row.query_id, "query_id"),
            Column("document", lambda row: row.doc_id, "doc_id"),
            Column("", lambda row: facets[row.query_id], "facet"),
            Column("", lambda row: row.occasion, "occasion"),
            Column("grade", lambda row: row.cannot_judge or ("none" if row.grade is None else row.grade), ""),
            Column("", lambda row: row.grade, "grade"),
            Column("", lambda row: row.cannot_judge, "cannot_judge"),
            Column("comment", lambda row: row.comment),
            Column("", lambda row: row.counts, "counts"),
        ]
    )


def commented(answers: Iterable[Judgement]) -> list[Judgement]:
    """The answers that have a comment, newest first; those without a moment last."""
    earliest = datetime.min.replace(tzinfo=UTC)
    written = [answer for answer in answers if answer.comment]
    written.sort(key=lambda answer: (answer.query_id, answer.doc_id, answer.assessor))
    return sorted(written, key=lambda answer: moment_of(answer.judged_at) or earliest, reverse=True)


@dataclass(frozen=True, slots=True)
class Progress:
    """Number of pairs that one assessor has, and has judged."""

    assessor: str
    assigned: int
    judged: int
    left: bool
    """True if they have left the study."""


PROGRESS = Columns[Progress](
    [
        Column("assessor", lambda row: row.assessor + (" (left)" if row.left else ""), ""),
        Column("", lambda row: row.assessor, "assessor"),
    ],
    [
        Column("assigned", lambda row: row.assigned),
        Column("judged", lambda row: row.judged),
        Column("done", lambda row: share_done(row.judged, row.assigned), ""),
        Column("progress", lambda row: bar(row.judged, row.assigned), ""),
        Column("", lambda row: row.left, "left"),
    ],
)


def progress_of(
    people: Iterable[Assessor], outcome: Outcome, others: Counter[str] | None = None
) -> tuple[Progress, ...]:
    """Everyone who was assigned pairs; hidden repeats are among them, hidden gold is not. others: number of each
    person's judgements that the outcome does not have."""
    judged = outcome.progress.given + (others or Counter())
    assigned = judged + outcome.progress.left_by_assessor
    return tuple(
        Progress(person.assessor, assigned[person.assessor], judged[person.assessor], left=person.left_on is not None)
        for person in people
        if assigned[person.assessor]
    )
