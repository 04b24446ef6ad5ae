"""Pages by themselves: the certificate, the meeting, and one pair's story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from annot.base.names import called
from annot.base.records import WHOLE, Addition, Draw, PairReturn, Paper, Topic
from annot.base.stats.values import Estimate
from annot.judging.comments import DifferingPair, Meeting, Remark
from annot.measuring.agreement.estimates import GroupAgreement
from annot.measuring.reusability import JUDGED, MOST_PAPERS, Certificate, SampledCertificate
from annot.publishing.report.cells import ESTIMATED, LOSS, MEASURE, NONE, SHARE, TAU, Number, coefficient
from annot.publishing.report.sections.agreement import shown_of
from annot.publishing.report.side_by_side import Screens, side_by_side
from annot.publishing.report.tables import (
    Chapter,
    Column,
    Columns,
    Document,
    Reply,
    SideBySide,
    Table,
    listed,
    of_facet,
    sentence,
    sentences,
    table,
)
from annot.publishing.report.terminal import printed, rendered
from annot.store.models import SampledPair

# ----------------------------------------------------------------------------------------------------------------------
# The certificate as one page: its first sentence is the verdict.
# ----------------------------------------------------------------------------------------------------------------------


def certificate_page(found: Certificate, *, title: str, notice: str | None) -> Document:
    """The verdict with its reasons, then what it rests on. notice: of the collection, as in its report."""
    values = _values(found)
    verdict = sentence("reusability.verdict", **values)
    return Document(
        title=sentence("reusability.title", title=title),
        subtitle="",
        notice=notice,
        answers=(Reply("Reusability", verdict, sentences("reusability.reasons", **values)),),
        body=tuple(_sections(found)),
    )


def terminal(found: Certificate) -> tuple[str, list[Table]]:
    """The verdict with its reasons, and the tables."""
    values = _values(found)
    told = [sentence("reusability.verdict", **values) + ".", *sentences("reusability.reasons", **values)]
    return "\n".join(told), [one for section in _sections(found) for one in section.blocks if isinstance(one, Table)]


def _sections(found: Certificate) -> Iterator[Chapter]:
    yield Chapter("losses", "What each method alone found", sentences("reusability.losses"), (_losses(found),))
    judged = "Judged of the first 20" if not isinstance(found, SampledCertificate) else "In the pools, of the first 20"
    runs = table(
        "runs",
        found.runs,
        [Column("Run", lambda one: one.run), Column("Also a pool method", lambda one: one.pooled)],
        [
            Column(judged, lambda one: Number(one.judged_at_20, SHARE)),
            Column("As it is", lambda one: Number(one.as_it_is, MEASURE)),
            Column("Condensed", lambda one: Number(one.condensed, MEASURE)),
        ],
        caption="reusability.unjudged_table",
        command=CERTIFICATE_COMMAND,
    )
    yield Chapter("unjudged", f"Unjudged {called().document}s", sentences("reusability.unjudged"), (runs,))


def _losses(found: Certificate) -> Table:
    return table(
        "losses",
        found.losses,
        [Column("Without", lambda one: one.method)],
        [
            Column("Pairs from it alone", lambda one: one.alone),
            Column("Relevant ones", lambda loss: _relevant(loss.alone_relevant)),
            Column("Loss, points", lambda one: Number(one.loss, LOSS, one.interval)),
            Column("Score", lambda one: Number(one.score, MEASURE)),
            Column("Score without it", lambda one: Number(one.without, MEASURE)),
            Column("Rank", lambda one: one.rank or NONE),
            Column("Rank without it", lambda one: one.rank_without or NONE),
            Column("Tau", lambda one: Number(one.tau, TAU) if one.ranked else NONE),
        ],
        caption="reusability.losses_table",
        command=CERTIFICATE_COMMAND,
        found=found,
    )


def _relevant(count: int | Estimate) -> int | Number:
    return count if isinstance(count, int) else Number(count.value, ESTIMATED, count.interval)


CERTIFICATE_COMMAND = "annot reusability"


def _values(found: Certificate) -> dict[str, object]:
    unjudged = [run.run for run in found.runs if run.judged_at_20 < JUDGED]
    return {"found": found, "judged": JUDGED, "most_papers": MOST_PAPERS, "unjudged": unjudged}


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
            command=MEETING_COMMAND,
        ),
        "recurring": table(
            "recurring-grades",
            meeting.recurring,
            [of_facet(lambda one: one.facet), Column("Grades", lambda one: f"{one.low} and {one.high}")],
            [Column("Pairs", lambda one: one.pairs), Column("Of", lambda one: one.of)],
            caption="meeting.recurring_table",
            command=MEETING_COMMAND,
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
            command=MEETING_COMMAND,
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
        command=MEETING_COMMAND,
    )


# ----------------------------------------------------------------------------------------------------------------------
# What is known of one pair, as a record and as text.
# ----------------------------------------------------------------------------------------------------------------------


Standing = Literal[
    "agreed", "adjudicated", "nobody can judge", "returned", "in dispute", "incomplete", "not planned", "not drawn"
]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an abstract; `position` counts from 1."""

    position: int
    text: str
    label: str | None
    facet: str | None


@dataclass(frozen=True, slots=True)
class TracedPaper:
    """A paper as the corpus has it, or in the version that the pair is judged on."""

    paper_id: str
    title: str
    year: int | None
    part_of: str | None
    """The document that it is a passage of."""
    sentences: tuple[Sentence, ...]
    labels_origin: str | None
    """`carried` by the corpus, `corrected` by a person, or `predicted:<model>`; None if there are no labels."""
    sha256: str
    """Of the record as JSON, its keys sorted."""


@dataclass(frozen=True, slots=True)
class TracedVersion:
    """One version of a text that was corrected."""

    text_id: str
    side: Literal["query", "document"]
    number: int
    """From 1."""
    since: str
    """ISO 8601, UTC."""
    why: str | None
    """Why it was corrected; None for the first."""
    sha256: str
    title: str
    sentences: tuple[str, ...]
    is_shown: bool
    """Whether the pair is judged on it."""
    people: tuple[str, ...]
    """Who gave an answer that is on record with it before them."""

    @property
    def name(self) -> str:
        """Such as `version 1 of the document`."""
        return f"version {self.number} of the {self.side}"


@dataclass(frozen=True, slots=True)
class PoolOrigin:
    """How the document came into the pool, and what the pool was drawn by."""

    position: int
    size: int
    drawn: Draw
    also: tuple[Draw, ...]
    mode: str
    per_method: int | None
    ranking_depth: int | None
    seed: int | None
    rankings_sha256: str
    added: Addition | None
    """What brought it in where it was added after the draw."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One revision of what one person said, judging or adjudicating."""

    person: str
    role: Literal["assessor", "adjudicator"]
    occasion: int
    """2 for the answer to a hidden repeat; of a returned pair, that of the return."""
    repeat: bool
    """It answers a hidden repeat."""
    revision: int
    grade: int | None
    cannot_judge: str | None
    reason: str | None
    comment: str | None
    at: str | None
    """When this revision was given, by the server's clock; of the lead's word and of what is gone, when recorded."""
    judged_at: str | None
    """When the person first answered."""
    recorded_at: str | None
    lead_time: float | None
    flags: tuple[str, ...]
    source: str
    annotation: str
    counts: bool
    """It is the one that the final grade is made of, or the answer to a hidden repeat, and carries no flag."""
    on_versions: tuple[str, ...] = ()
    """On which versions of texts that were corrected it was given."""


@dataclass(frozen=True, slots=True)
class ShownGrades:
    """What one adjudicator saw beside the two texts when they gave an answer: the policy, and the grades as shown."""

    adjudicator: str
    revision: int
    at: str | None
    """When they gave the answer or changed it, by the server's clock."""
    ratings: str
    grades: tuple[tuple[str, int | None], ...]
    on_record: bool
    """The grades are those of the task that was sent. Otherwise they are those that people had given by then."""


@dataclass(frozen=True, slots=True)
class InRun:
    """What one run did with the document for this query; rank None if it left it out."""

    tag: str
    rank: int | None
    score: float | None
    of: int
    """Documents it ranked for the query."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that is known of one pair."""

    query_id: str
    doc_id: str
    facet: str
    query_sentences: tuple[int, ...]
    """The query's sentences, from 1: those that assessors saw emphasised."""
    query_paper: TracedPaper | None
    topic: Topic | None
    """What is asked, where it is a text and no paper."""
    document: TracedPaper | None
    corpus_sha256: str | None
    pool: PoolOrigin | None
    had_by: tuple[Draw, ...]
    """Of a document that is not in the pool: the rankings that have it, with its rank."""
    sampled: SampledPair | None
    """With which probability it is judged; None if the pools are judged whole."""
    given_to: tuple[tuple[str, int, int], ...]
    """(assessor, place in their sequence, occasion: 2 for a hidden repeat); of judgements that were imported nobody was
    given anything here, and the place is that in the imported records."""
    returned: tuple[PairReturn, ...]
    """When it was put before an assessor again, and why."""
    imported: bool
    """The judgements were made elsewhere."""
    sent_to: tuple[tuple[str, str], ...]
    """(person, round) of the Label Studio projects that have the pair; round is `judge` or `adjudicate`."""
    versions: tuple[str, ...]
    """By which versions each answer was given, in words, of what was sent in several."""
    said: tuple[GivenAnswer, ...]
    """Every revision of every judgement and adjudication, in the order recorded."""
    shown: tuple[ShownGrades, ...]
    standing: Standing
    grade: int | None
    """The final grade in the store."""
    adjudicator: str | None
    reason: str | None
    qrel: int | None
    """In exports/qrels.txt; None if the file or the line is not there: unjudged, which is not 0."""
    runs: tuple[InRun, ...]
    texts: tuple[TracedVersion, ...] = ()
    """Of the query paper and the document, if they were corrected. These have the version that the pair is judged
    on."""


def _counts(one: GivenAnswer) -> str:
    if one.counts:
        return "as a repeat" if one.repeat else "yes"
    return "; ".join(one.flags) or "superseded"


ANSWERS = Columns[GivenAnswer](
    [
        Column("given at", lambda one: one.at or "-"),
        Column("person", lambda one: one.person),
        Column("role", lambda one: one.role),
        Column("revision", lambda one: one.revision),
        Column("grade", lambda one: "none" if one.grade is None else one.grade),
        Column("seconds", lambda one: "-" if one.lead_time is None else f"{one.lead_time:.1f}"),
        Column("counts", _counts),
        Column("source", lambda one: f"{one.source} {one.annotation}".strip()),
        Column(
            "remarks",
            lambda one: "; ".join(filter(None, (*one.on_versions, one.cannot_judge, one.reason, one.comment))),
        ),
    ]
)
RUNS = Columns[InRun](
    [
        Column("run", lambda one: one.tag),
        Column("rank", lambda one: "left out" if one.rank is None else one.rank),
        Column("score", lambda one: "" if one.score is None else f"{one.score:.6g}"),
        Column("documents ranked", lambda one: one.of),
    ]
)


def describe(trace: Trace) -> str:
    """The story as text, in the order of the work."""
    judges = [person for person, round in trace.sent_to if round == "judge"]
    answers, runs = printed(ANSWERS, trace.said), printed(RUNS, trace.runs)
    whole = trace.facet == WHOLE
    return rendered("trace", trace=trace, whole=whole, judges=judges, answers=answers, runs=runs)
