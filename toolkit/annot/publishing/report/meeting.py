"""The page for the meeting between two batches."""

from __future__ import annotations

from collections.abc import Mapping

from annot.base.names import called
from annot.base.records import Paper, Topic
from annot.judging.meeting import DifferingPair, Meeting, Remark
from annot.measuring.agreement.summaries import GroupAgreement
from annot.publishing.report.cells import Number, coefficient
from annot.publishing.report.document import Chapter, Document, SideBySide, Table
from annot.publishing.report.sections.agreement import shown_of
from annot.publishing.report.side_by_side import Screens, side_by_side
from annot.publishing.report.tables import Column, of_facet, table
from annot.publishing.report.words import listed, sentence, sentences

COMMAND = "annot meeting"
HEADINGS = {
    "widest": "Widest gaps",
    "recurring": "Grades that often differ on the same pair",
    "remarks": "Comments on other pairs",
    "agreement": "Agreement in this period and before it",
}


def meeting_page(
    meeting: Meeting,
    *,
    title: str,
    titles: Mapping[str, Paper],
    texts: Mapping[str, Topic],
    query_papers: Mapping[str, str],
    said: Screens,
) -> Document:
    """titles: the papers that are in the corpus; texts: the topics that are texts, by id. query_papers: the topic of
    each query."""
    topics: Mapping[str, Paper | Topic] = {**titles, **texts}

    def query(one: DifferingPair | Remark) -> str:
        return _title(topics, query_papers[one.query_id], one.query_id)

    def candidate(one: DifferingPair | Remark) -> str:
        return _title(titles, one.doc_id, one.doc_id)

    tables = {
        "widest": table(
            "widest-gaps",
            meeting.widest,
            [
                of_facet(lambda one: one.facet),
                Column("Query", lambda one: query(one)),
                Column(
                    "Candidate" if called().unit == "paper" else "Document", lambda one: candidate(one), "candidate"
                ),
                Column("Grades", lambda one: " and ".join(map(str, one.grades))),
                Column("Comments", lambda one: "; ".join(": ".join(said) for said in one.comments)),
            ],
            caption="meeting.widest_table",
            command=COMMAND,
        ),
        "recurring": table(
            "recurring-grades",
            meeting.recurring,
            [of_facet(lambda one: one.facet), Column("Grades", lambda one: f"{one.low} and {one.high}")],
            [Column("Pairs", lambda one: one.pairs), Column("Of", lambda one: one.of)],
            caption="meeting.recurring_table",
            command=COMMAND,
        ),
        "remarks": table(
            "comments",
            meeting.remarks,
            [
                of_facet(lambda one: one.facet),
                Column("Query", lambda one: query(one)),
                Column(
                    "Candidate" if called().unit == "paper" else "Document", lambda one: candidate(one), "candidate"
                ),
                Column("Grade", lambda one: one.said),
                Column("Comment", lambda one: one.comment),
            ],
            caption="meeting.remarks_table",
            command=COMMAND,
        ),
        "agreement": _agreement(meeting),
    }
    again = tuple(
        _side_by_side(at, pair, topics.get(query_papers[pair.query_id]), titles.get(pair.doc_id), said)
        for at, pair in enumerate(meeting.widest, start=1)
    )
    return Document(
        title=sentence("meeting.title", title=title),
        subtitle=sentence("meeting.subtitle", meeting=meeting),
        notice=sentence("meeting.notice"),
        body=tuple(
            Chapter(
                *(name, heading, sentences(f"meeting.{name}", meeting=meeting, level=meeting.agreement.level)),
                (
                    *((tables[name],) if tables[name].rows else ()),
                    *(again if name == "widest" else ()),
                ),
            )
            for name, heading in HEADINGS.items()
        ),
    )


def _side_by_side(
    at: int, pair: DifferingPair, query: Paper | Topic | None, candidate: Paper | Topic | None, said: Screens
) -> SideBySide:
    grades = listed(list(dict.fromkeys(pair.grades)))
    asked = f"{pair.facet}, {grades}" if called().faceted else grades
    summary = f"{at}. {asked}: {(candidate and candidate.title) or pair.doc_id}"
    return side_by_side(
        (pair.query_id, pair.doc_id), pair.facet, dict.fromkeys(pair.grades), query, candidate, said, summary=summary
    )


def _title(titles: Mapping[str, Paper | Topic], topic_or_doc: str, name: str) -> str:
    found = titles.get(topic_or_doc)
    return f"{found.title} ({name})" if found and found.title else name


def _agreement(meeting: Meeting) -> Table:
    """Agreement on each facet before the period and in it; a facet that was not judged then has no figure."""
    periods = {"before": meeting.before, "this period": meeting.agreement}
    names = dict.fromkeys(
        group.name for found in periods.values() for group in (found.groups if called().faceted else shown_of(found))
    )
    rows = [
        (name, when, next((group for group in found.groups if group.name == name), None))
        for name in names
        for when, found in periods.items()
    ]

    def figure(name: str, group: GroupAgreement | None) -> Number | None:
        if group is None:
            return None
        summary = group.before[name]
        return Number(summary.pooled, coefficient(name), (summary.intervals or {}).get("pooled"))

    return table(
        "agreement-of-the-period",
        rows,
        [of_facet(lambda one: one[0]), Column("When", lambda one: one[1])],
        [
            Column("Queries", lambda one: one[2].n_queries if one[2] else 0),
            Column("Pairs", lambda one: one[2].n_pairs if one[2] else 0),
            Column("Alpha" if called().binary else "Alpha (ordinal)", lambda one: figure("alpha_ordinal", one[2])),
            Column("Equal grades, %", lambda one: figure("percent", one[2])),
        ],
        caption="meeting.agreement_table",
        command=COMMAND,
    )
