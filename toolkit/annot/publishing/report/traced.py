"""What is known of one pair, as a record and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from annot.base.records import WHOLE, Addition, Draw, Returned, Topic
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.terminal import printed, rendered
from annot.store.judging_models import SampledPair

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
class Pooled:
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
    pool: Pooled | None
    had_by: tuple[Draw, ...]
    """Of a document that is not in the pool: the rankings that have it, with its rank."""
    sampled: SampledPair | None
    """With which probability it is judged; None if the pools are judged whole."""
    given_to: tuple[tuple[str, int, int], ...]
    """(assessor, place in their sequence, occasion: 2 for a hidden repeat); of judgements that were imported nobody was
    given anything here, and the place is that in the imported records."""
    returned: tuple[Returned, ...]
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
