"""Pages by themselves: the certificate, the meeting, and one pair's story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annot.base.names import OF_PAPERS, StudyVocabulary
from annot.base.records import Paper, Topic
from annot.base.stats.values import Estimate
from annot.judging.comments import DifferingPair, Meeting
from annot.measuring.agreement.estimates import GroupAgreement
from annot.measuring.reusability import JUDGED, MOST_PAPERS, Certificate
from annot.publishing.report import cells
from annot.publishing.report.sections.agreement import figure_of, reported_groups
from annot.publishing.report.side_by_side import Screens, side_by_side
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Document,
    Reply,
    SideBySide,
    Table,
    facet_column,
    listed,
    sentence,
    sentences,
    table,
)

# ----------------------------------------------------------------------------------------------------------------------
# The certificate as one page: its first sentence is the verdict.
# ----------------------------------------------------------------------------------------------------------------------


def certificate_page(
    certificate: Certificate, words: StudyVocabulary = OF_PAPERS, *, title: str, notice: str | None
) -> Document:
    """The verdict with its reasons, then its basis. notice: of the collection, as in its report."""
    values = _values(certificate, words)
    verdict = sentence("reusability.verdict", **values)
    return Document(
        title=sentence("reusability.title", title=title),
        subtitle="",
        notice=notice,
        answers=(Reply("Reusability", verdict, sentences("reusability.reasons", **values)),),
        body=tuple(_sections(certificate, words)),
    )


def terminal(certificate: Certificate, words: StudyVocabulary = OF_PAPERS) -> tuple[str, list[Table]]:
    """The verdict with its reasons, and the tables."""
    values = _values(certificate, words)
    lines = [sentence("reusability.verdict", **values) + ".", *sentences("reusability.reasons", **values)]
    return "\n".join(lines), [
        block for section in _sections(certificate, words) for block in section.blocks if isinstance(block, Table)
    ]


def _sections(certificate: Certificate, words: StudyVocabulary) -> Iterator[Chapter]:
    text = sentences("reusability.losses", words=words)
    yield Chapter("losses", "What each method alone found", text, (_losses(certificate, words),))
    judged = "Judged of the first 20" if certificate.left_out is None else "In the pools, of the first 20"
    runs = table(
        "runs",
        certificate.runs,
        [Column("Run", lambda row: row.run), Column("Also a pool method", lambda row: row.pooled)],
        [
            Column(judged, lambda row: cells.Number(row.judged_at_20, cells.SHARE)),
            Column("As it is", lambda row: cells.Number(row.as_it_is, cells.MEASURE)),
            Column("Condensed", lambda row: cells.Number(row.condensed, cells.MEASURE)),
        ],
        caption="reusability.unjudged_table",
        command=CERTIFICATE_COMMAND,
    )
    yield Chapter("unjudged", f"Unjudged {words.document}s", sentences("reusability.unjudged", words=words), (runs,))


def _losses(certificate: Certificate, words: StudyVocabulary) -> Table:
    return table(
        "losses",
        certificate.losses,
        [Column("Without", lambda row: row.method)],
        [
            Column("Pairs from it alone", lambda row: row.alone),
            Column("Relevant ones", lambda row: _relevant(row.alone_relevant)),
            Column("Loss, points", lambda row: cells.Number(row.loss, cells.LOSS, row.interval)),
            Column("Score", lambda row: cells.Number(row.score, cells.MEASURE)),
            Column("Score without it", lambda row: cells.Number(row.without, cells.MEASURE)),
            Column("Rank", lambda row: row.rank or cells.NONE),
            Column("Rank without it", lambda row: row.rank_without or cells.NONE),
            Column("Tau", lambda row: cells.Number(row.tau, cells.TAU) if row.ranked else cells.NONE),
        ],
        caption="reusability.losses_table",
        command=CERTIFICATE_COMMAND,
        words=words,
        found=certificate,
    )


CERTIFICATE_COMMAND = "annot reusability"


def _relevant(count: int | Estimate) -> int | cells.Number:
    return count if isinstance(count, int) else cells.measured(count, cells.ESTIMATED)


def _values(certificate: Certificate, words: StudyVocabulary) -> dict[str, object]:
    unjudged = [run.run for run in certificate.runs if run.judged_at_20 < JUDGED]
    return {
        "words": words,
        "found": certificate,
        "judged": JUDGED,
        "most_papers": MOST_PAPERS,
        "unjudged": unjudged,
    }


# ----------------------------------------------------------------------------------------------------------------------
# The page for the meeting between two batches.
# ----------------------------------------------------------------------------------------------------------------------


MEETING_COMMAND = "annot meeting"
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
    screens: Screens,
    words: StudyVocabulary,
) -> Document:
    """titles: the papers that are in the corpus; texts: the topics that are texts, by id. query_papers: the topic of
    each query."""
    topics: Mapping[str, Paper | Topic] = {**titles, **texts}

    candidate = "Candidate" if words.unit == "paper" else "Document"
    tables = {
        "widest": table(
            "widest-gaps",
            meeting.widest,
            [
                facet_column(lambda row: row.facet, words),
                Column("Query", lambda row: _title(topics, query_papers[row.query_id], row.query_id)),
                Column(candidate, lambda row: _title(titles, row.doc_id, row.doc_id), "candidate"),
                Column("Grades", lambda row: " and ".join(map(str, row.grades))),
                Column("Comments", lambda row: "; ".join(": ".join(comment) for comment in row.comments)),
            ],
            caption="meeting.widest_table",
            command=MEETING_COMMAND,
            words=words,
        ),
        "recurring": table(
            "recurring-grades",
            meeting.recurring,
            [facet_column(lambda row: row.facet, words), Column("Grades", lambda row: f"{row.low} and {row.high}")],
            [Column("Pairs", lambda row: row.pairs), Column("Of", lambda row: row.of)],
            caption="meeting.recurring_table",
            command=MEETING_COMMAND,
            words=words,
        ),
        "remarks": table(
            "comments",
            meeting.remarks,
            [
                facet_column(lambda row: row.facet, words),
                Column("Query", lambda row: _title(topics, query_papers[row.query_id], row.query_id)),
                Column(candidate, lambda row: _title(titles, row.doc_id, row.doc_id), "candidate"),
                Column("Grade", lambda row: row.said),
                Column("Comment", lambda row: row.comment),
            ],
            caption="meeting.remarks_table",
            command=MEETING_COMMAND,
            words=words,
        ),
        "agreement": _agreement(meeting, words),
    }
    again = tuple(
        _side_by_side(number, pair, topics.get(query_papers[pair.query_id]), titles.get(pair.doc_id), screens, words)
        for number, pair in enumerate(meeting.widest, start=1)
    )
    return Document(
        title=sentence("meeting.title", title=title),
        subtitle=sentence("meeting.subtitle", meeting=meeting),
        notice=sentence("meeting.notice"),
        body=tuple(
            Chapter(
                *(
                    name,
                    heading,
                    sentences(f"meeting.{name}", words=words, meeting=meeting, level=meeting.agreement.level),
                ),
                (
                    *((tables[name],) if tables[name].rows else ()),
                    *(again if name == "widest" else ()),
                ),
            )
            for name, heading in HEADINGS.items()
        ),
    )


def _side_by_side(
    number: int,
    pair: DifferingPair,
    query: Paper | Topic | None,
    candidate: Paper | Topic | None,
    screens: Screens,
    words: StudyVocabulary = OF_PAPERS,
) -> SideBySide:
    grades = listed(list(dict.fromkeys(pair.grades)))
    heading = f"{pair.facet}, {grades}" if words.faceted else grades
    summary = f"{number}. {heading}: {(candidate and candidate.title) or pair.doc_id}"
    return side_by_side(
        (pair.query_id, pair.doc_id),
        pair.facet,
        dict.fromkeys(pair.grades),
        query,
        candidate,
        screens,
        words,
        summary=summary,
    )


def _title(titles: Mapping[str, Paper | Topic], topic_or_doc: str, name: str) -> str:
    title = titles.get(topic_or_doc)
    return f"{title.title} ({name})" if title and title.title else name


def _agreement(meeting: Meeting, words: StudyVocabulary) -> Table:
    """Agreement on each facet before the period and in it; a facet that was not judged then has no figure."""
    periods = {"before": meeting.before, "this period": meeting.agreement}
    names = dict.fromkeys(
        group.name
        for table in periods.values()
        for group in (table.groups if words.faceted else reported_groups(table))
    )
    rows = [
        (name, when, next((group for group in table.groups if group.name == name), None))
        for name in names
        for when, table in periods.items()
    ]

    def figure(name: str, group: GroupAgreement | None) -> cells.Number | None:
        return None if group is None else figure_of(name, group.before, "pooled")

    return table(
        "agreement-of-the-period",
        rows,
        [facet_column(lambda row: row[0], words), Column("When", lambda row: row[1])],
        [
            Column("Queries", lambda row: row[2].n_queries if row[2] else 0),
            Column("Pairs", lambda row: row[2].n_pairs if row[2] else 0),
            Column("Alpha" if words.binary else "Alpha (ordinal)", lambda row: figure("alpha_ordinal", row[2])),
            Column("Equal grades, %", lambda row: figure("percent", row[2])),
        ],
        caption="meeting.agreement_table",
        command=MEETING_COMMAND,
        words=words,
    )
