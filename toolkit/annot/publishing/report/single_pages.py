"""Pages by themselves: the certificate, the meeting, and one pair's story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from annot.base.names import OF_PAPERS, StudyVocabulary
from annot.base.records import Judgement, Paper, Topic
from annot.base.settings import CollectionSettings
from annot.base.stats.values import Estimate
from annot.base.words import ENGLISH, ENGLISH_CODE, Words
from annot.judging.comments import Meeting
from annot.measuring.agreement.estimates import TOGETHER, GroupAgreement
from annot.measuring.reusability import JUDGED, MOST_PAPERS, Certificate
from annot.publishing.report import cells, side_by_side
from annot.publishing.report.sections.agreement import figure_of, reported_groups
from annot.publishing.report.side_by_side import Screens
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Document,
    Reply,
    Row,
    SideBySide,
    Table,
    in_words,
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
    page = Document(
        title=sentence("reusability.title", title=title),
        subtitle="",
        notice=notice,
        answers=(Reply("Reusability", verdict, sentences("reusability.reasons", **values)),),
        body=tuple(_sections(certificate, words)),
    )
    return in_words(page, words)


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
    limits = {"judged": JUDGED, "most_papers": MOST_PAPERS}
    return {"words": words, "found": certificate, "unjudged": unjudged, **limits}


# ----------------------------------------------------------------------------------------------------------------------
# The page for the meeting between two batches.
# ----------------------------------------------------------------------------------------------------------------------


MEETING_COMMAND = "annot meeting"
MEETING_PARTS = ("widest", "recurring", "remarks", "agreement")


def meeting_page(
    meeting: Meeting,
    *,
    title: str,
    titles: Mapping[str, Paper],
    texts: Mapping[str, Topic],
    query_papers: Mapping[str, str],
    screens: Screens,
    words: StudyVocabulary,
    say: Words,
) -> Document:
    """titles: the papers that are in the corpus; texts: the topics that are texts, by id. query_papers: the topic of
    each query. say: the words of the study's language."""
    topics: Mapping[str, Paper | Topic] = {**titles, **texts}
    heads = side_by_side.heads(words, say)

    def columns_of(judgement: Callable[[Row], Judgement]) -> list[Column[Row]]:
        """The pair of a row."""

        def query(row: Row) -> str:
            query_id = judgement(row).query_id
            return _title(topics.get(query_papers[query_id]), query_id, screens.collection, say)

        def document(row: Row) -> str:
            doc_id = judgement(row).doc_id
            return _title(titles.get(doc_id), doc_id, screens.collection, say)

        facet: Column[Row] = _facet_column(lambda row: meeting.facets[judgement(row).query_id], words, say)
        return [facet, Column(heads[0], query), Column(heads[1], document)]

    def comments(answers: Sequence[Judgement]) -> str:
        return "; ".join(f"{_answer(answer, say)}: {answer.comment}" for answer in answers if answer.comment)

    tables = {
        "widest": _meeting_table(
            "widest",
            meeting.widest,
            [
                *columns_of(lambda answers: answers[0]),
                Column(say("meeting.grades"), lambda answers: _grades(answers, say)),
                Column(say("meeting.comments"), comments),
            ],
            say=say,
        ),
        "recurring": _meeting_table(
            "recurring",
            meeting.recurring,
            [
                _facet_column(lambda row: row.facet, words, say),
                Column(say("meeting.grades"), lambda row: listed([row.low, row.high], say("meeting.and"))),
            ],
            [Column(say("meeting.pair_count"), lambda row: row.pairs), Column(say("meeting.of"), lambda row: row.of)],
            say=say,
        ),
        "remarks": _meeting_table(
            "remarks",
            meeting.remarks,
            [
                *columns_of(lambda answer: answer),
                Column(say("meeting.grade"), lambda row: _answer(row, say)),
                Column(say("meeting.comment"), lambda row: row.comment),
            ],
            say=say,
        ),
        "agreement": _agreement(meeting, words, say),
    }

    def again(number: int, answers: Sequence[Judgement]) -> SideBySide:
        """The pair with its texts, to read it again."""
        query_id, doc_id = answers[0].pair
        candidate, facet, grades = titles.get(doc_id), meeting.facets[query_id], _grades(answers, say)
        heading = f"{say.name(facet)}, {grades}" if words.faceted else grades
        return side_by_side.side_by_side(
            answers[0].pair,
            facet,
            sorted({answer.grade for answer in answers if answer.grade is not None}, reverse=True),
            topics.get(query_papers[query_id]),
            candidate,
            screens,
            words,
            summary=f"{number}. {heading}: {(candidate and candidate.title) or doc_id}",
            say=say,
        )

    pairs_again = tuple(again(number, answers) for number, answers in enumerate(meeting.widest, start=1))
    values = {
        "say": say,
        "meeting": meeting,
        "of": "facets" if words.faceted else "texts",
        "level": say.written(100 * (meeting.agreement.level or 0)),
        "reasons": [f"{say.choice(reason)} ({count})" for reason, count in meeting.cannot_judge],
    }
    since, until = (say.date(datetime.fromisoformat(moment).date()) for moment in (meeting.since, meeting.until))
    pairs = say("meeting.pairs", count=meeting.pairs)
    page = Document(
        title=say("meeting.title", title=title),
        subtitle=say("meeting.subtitle", pairs=pairs, since=since, until=until, differing=meeting.differing),
        notice=say("meeting.notice"),
        body=tuple(
            Chapter(
                name,
                say(f"meeting.{name}"),
                sentences(f"meeting.{name}", **values),
                (*((tables[name],) if tables[name].rows else ()), *(pairs_again if name == "widest" else ())),
            )
            for name in MEETING_PARTS
        ),
        language=say.language,
    )
    return in_words(page, words) if say.language == ENGLISH_CODE else page


def _meeting_table(
    name: str, rows: Iterable[Row], names: Sequence[Column[Row]], numbers: Sequence[Column[Row]] = (), *, say: Words
) -> Table:
    key = f"meeting.{name}_table"
    made = table(name, rows, names, numbers, caption="meeting.caption", command=MEETING_COMMAND, say=say, key=key)
    return replace(made, notes=(say("meeting.no_figure"),)) if made.notes else made


def _facet_column(facet: Callable[[Row], str], words: StudyVocabulary, say: Words) -> Column[Row]:
    def name(row: Row) -> str:
        return say("meeting.together") if facet(row) == TOGETHER else say.name(facet(row))

    return Column(say("meeting.facet") if words.faceted else "", name, "facet")


def _grades(answers: Iterable[Judgement], say: Words) -> str:
    """The grades, each once."""
    return listed(
        list(dict.fromkeys(answer.grade for answer in answers if answer.grade is not None)), say("meeting.and")
    )


def _answer(answer: Judgement, say: Words) -> str:
    """The grade, or the reason for none."""
    reason = answer.cannot_judge
    return say("task.could_not", reason=say.choice(reason or "")) if answer.grade is None else str(answer.grade)


def _title(text: Paper | Topic | None, name: str, collection: CollectionSettings, say: Words) -> str:
    """The title of a text with its name; the name alone if there is no title."""
    return side_by_side.text_cell(f"{text.title} ({name})", text, collection, say) if text and text.title else name


def _agreement(meeting: Meeting, words: StudyVocabulary, say: Words = ENGLISH) -> Table:
    """Agreement on each facet before the period and in it; a facet that was not judged then has no figure."""
    periods = {say("meeting.before"): meeting.before, say("meeting.period"): meeting.agreement}
    names = dict.fromkeys(
        group.name
        for table in periods.values()
        for group in (table.groups if words.faceted else reported_groups(table))
    )
    rows = [
        (name, period, next((group for group in table.groups if group.name == name), None))
        for name in names
        for period, table in periods.items()
    ]

    def figure(name: str, group: GroupAgreement | None) -> cells.Number | None:
        return None if group is None else replace(figure_of(name, group.before, "pooled"), say=say)

    return _meeting_table(
        "agreement",
        rows,
        [_facet_column(lambda row: row[0], words, say), Column(say("meeting.when"), lambda row: row[1])],
        [
            Column(say("meeting.queries"), lambda row: row[2].n_queries if row[2] else 0),
            Column(say("meeting.pair_count"), lambda row: row[2].n_pairs if row[2] else 0),
            Column(say("meeting.alpha"), lambda row: figure("alpha_ordinal", row[2])),
            Column(say("meeting.equal_grades"), lambda row: figure("percent", row[2])),
        ],
        say=say,
    )
