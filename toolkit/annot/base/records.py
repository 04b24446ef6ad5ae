"""Small immutable records that travel between the rooms, the order of documents, and the judgements that count."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from operator import gt, itemgetter
from typing import Literal, NamedTuple, TypeVar, dataclass_transform

from annot.base.errors import InputError

# ----------------------------------------------------------------------------------------------------------------------
# Small immutable records that rooms exchange. Ids are strings, always.
#
# Scored documents are in order of score, highest first, then of id, smallest first. The program's own scores are
# rounded to `SCORE_DIGITS` significant digits (`ranked`), because their last digits depend on the linear algebra
# library. Scores of others keep their digits (`annot.base.records`).
# ----------------------------------------------------------------------------------------------------------------------


K = TypeVar("K")
L = TypeVar("L")
V = TypeVar("V")

Advance = Callable[[int, int | None], None]
"""Called with the number of parts that are done, and with the total if it is known."""


@dataclass_transform(frozen_default=True)
def immutable(record: type[V]) -> type[V]:
    """Make a dataclass whose fields mypy lets no code change; a check at run time would make it take four times as long
    to read the records of a large study."""
    return dataclass(slots=True, unsafe_hash=True)(record)


class Source(StrEnum):
    """Origin of something on record, under the name that the store keeps."""

    LABEL_STUDIO = "label-studio"
    FILE = "judgements-file"
    CSFCUBE = "csfcube"
    SIMULATION = "simulation"
    CORPUS = "corpus"
    UNRATED = "unrated queries"
    """Queries whose papers were drawn at random and taken without a rating."""
    BASELINE = "baseline"
    IMPORTED = "imported"
    """Run that was made elsewhere."""
    CARRIED = "carried"
    """Sentence labels that came with the corpus."""
    PREDICTED = "predicted"
    """Sentence labels of a model; in the store, followed by a colon and the first letters of the model's SHA-256."""
    CORRECTED = "corrected"
    """Sentence labels that a person corrected; no program writes over these."""


NAMELESS_ADJUDICATOR = "adjudicator"
"""The person who settled the differences of a collection that gives no name."""

SUPERSEDED = "superseded by annotation"
"""Beginning of the flag of an answer that the same person gave again in another annotation; its number follows."""

OLDER = "older than the answer on record"
"""Flag of an annotation that the server has in an earlier state than before, as after a restore from a backup."""


@dataclass(frozen=True, slots=True)
class Paper:
    """Paper of the corpus: the parts that people see (title, sentences of the abstract) and those that methods use."""

    paper_id: str
    title: str
    sentences: tuple[str, ...]
    year: int | None = None
    labels: tuple[str, ...] | None = None
    """Label of each sentence in the corpus; None if it has none."""
    citations: tuple[str, ...] = ()
    """Ids of the papers it cites, in the corpus or not."""
    part_of: str | None = None
    """Document that a passage is from, which need not be in the corpus; None for a document."""
    language: str | None = None
    """Code of its language (ISO 639) if it is another than that of the collection."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Topic that is a text; one that is a paper has no record but the paper's."""

    topic_id: str
    title: str
    """Short form; of a question, the question."""
    description: str | None = None
    """Information need in a sentence or two."""
    narrative: str | None = None
    """Definition of an answer: content that counts, and content that does not."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Other fields of its source, by name."""


WHOLE = "whole"
"""Facet of a query that is judged as a whole."""


@dataclass(frozen=True, slots=True)
class Query:
    """Topic and the part of it that is judged: a facet, or the whole.

    `query_id` is `<topic_id>-<facet>` of a paper, and the topic's id if a text is judged as a whole.
    """

    query_id: str
    topic_id: str
    """Id of the query paper, or of a text."""
    facet: str
    sentences: tuple[int, ...]
    """Positions (from 0) of the sentences of the query paper that make the query; none of a text."""
    paper_type: str | None = None
    """Type of the paper in the rating sheet or the imported release."""


class ScoredDoc(NamedTuple):
    """Document and its score; higher is better."""

    doc_id: str
    score: float


_scored_doc: Callable[[tuple[str, float]], ScoredDoc] = partial(tuple.__new__, ScoredDoc)


class PlacedDoc(ScoredDoc):
    """Document in a ranking of new documents alone, with its rank among all."""

    rank: int

    @classmethod
    def at(cls, rank: int, doc: ScoredDoc) -> PlacedDoc:
        """The document at this rank."""
        placed = cls(*doc)
        placed.rank = rank
        return placed


Ranking = tuple[ScoredDoc, ...]
"""Documents best first, in the order of `annot.base.records.in_order`."""


CITED = "cited"
"""Arm of the papers that the query paper cites; it has no ranking and no quota."""
CHANCE = "chance"
"""Name under which rankings by chance are measured beside runs; no run has it."""
MANUAL = "manual"
"""Arm of the candidates that a person found; it has no ranking."""
GROWN = "new documents"
"""Method of an addition that draws from the documents that came with a version of the corpus, by every method that drew
the pool."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw of one pooled document by one method.

    `rank` counts from 1 in that method's ranking; it is None in an imported pool that names its methods and no ranks.
    `score` is None for `cited` and if `rank` is. `turn` counts the draws of the pool from 1; it is None if the method
    also had the document but did not draw it, and in an imported pool without an order of its draws.
    """

    method: str
    rank: int | None
    score: float | None
    turn: int | None
    new_rank: int | None = None
    """Rank among the documents that came with a version of the corpus, if it was drawn from these alone; `rank` is then
    that among all."""


@immutable
class PoolEntry:
    """Document of a pool: the draw that brought it in, and the other methods that had it within the depth."""

    doc_id: str
    drawn: Draw
    also: tuple[Draw, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """Documents added to a pool after it had been drawn, as one version of it."""

    version: int
    """Version from 2, the drawn pool being 1; additions to several pools at once have one number."""
    method: str
    """Method that ranked the papers; `manual` if a person found them, `GROWN` if every method drew new ones."""
    depth: int | None
    """Number of the method's best papers that are in the pool since; None if a person found them, and for `GROWN` the
    number that each method draws."""
    documents: tuple[str, ...]
    reason: str | None
    made_by: str | None
    """Person who added them; stays in the database, as does `made_at`."""
    made_at: str | None
    """Moment in ISO 8601, UTC."""
    corpus: str | None = None
    """Version of the corpus that it was drawn from; None without versions."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents to judge for a topic, in the order drawn, with a record of the draw.

    All queries of one topic share its pool.
    """

    topic_id: str
    mode: str
    per_method: int | None
    ranking_depth: int | None
    seed: int | None
    methods: tuple[str, ...]
    """Methods in the order in which they drew for this topic; `cited` is first if it took part."""
    without: tuple[str, ...]
    """Methods left out on request."""
    dry: tuple[str, ...]
    """Methods that ran out of new documents before their quota was full."""
    cited_outside: int | None
    """Number of cited papers that are not in the corpus."""
    entries: tuple[PoolEntry, ...]
    additions: tuple[Addition, ...] = ()
    """Additions after the draw, the oldest first. Their methods are in `methods`, behind those that drew."""
    corpus: str | None = None
    """Version of the corpus that it was drawn from; None for the first, or without versions."""

    @property
    def of_corpus(self) -> str | None:
        """Version of the corpus that all methods have drawn from last; None for the first."""
        return next((addition.corpus for addition in reversed(self.additions) if addition.method == GROWN), self.corpus)

    @property
    def corpora(self) -> dict[str, str | None]:
        """Version of the corpus with which each document came into the pool; None is the first."""
        came = dict.fromkeys((entry.doc_id for entry in self.entries), self.corpus)
        return came | {
            doc_id: addition.corpus for addition in reversed(self.additions) for doc_id in addition.documents
        }


@dataclass(frozen=True, slots=True)
class Assessor:
    """Person under a pseudonym (`a1`). The account is an identity: it stays in the database."""

    assessor: str
    account: str | None
    adjudicator: bool
    left_on: str | None = None
    """Moment when they left the study (ISO 8601, UTC): their answers stay, and they get nothing new."""
    share: float | None = None
    """Hours they have, relative to others; None is 1."""
    language: str | None = None
    """Language of their screens and letters; None is that of the study."""


class PairKey(NamedTuple):
    """Key of a question to one person: a pair, and the occasion, 2 if the same person is asked the same pair again."""

    query_id: str
    doc_id: str
    occasion: int = 1

    @property
    def pair(self) -> tuple[str, str]:
        """Pair as (query_id, doc_id)."""
        return self.query_id, self.doc_id


class OfPair:
    """Record of one pair."""

    __slots__ = ()
    query_id: str
    doc_id: str

    @property
    def pair(self) -> tuple[str, str]:
        """Pair as (query_id, doc_id)."""
        return self.query_id, self.doc_id


class OnOccasion(OfPair):
    """Record of a question to one person."""

    __slots__ = ()
    occasion: int

    @property
    def pair_key(self) -> PairKey:
        """Key of the question."""
        return PairKey(self.query_id, self.doc_id, self.occasion)


class Answer(OfPair):
    """Answer of a person on one pair."""

    __slots__ = ()
    grade: int | None
    cannot_judge: str | None
    flags: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """True if it is an answer, a grade or a reason for none, without flags."""
        return not self.flags and (self.grade is not None or self.cannot_judge is not None)


@immutable
class Assignment(OnOccasion):
    """Pair given to one assessor. `position` is its place in that assessor's sequence, from 1.

    `occasion` is 2 for a hidden repeat: the same pair given to the same assessor again, to measure their consistency.
    """

    query_id: str
    doc_id: str
    assessor: str
    position: int
    occasion: int = 1


@dataclass(frozen=True, slots=True)
class PairReturn(OnOccasion):
    """Pair that was returned to its assessor, with the reason that they read."""

    query_id: str
    doc_id: str
    assessor: str
    occasion: int
    """Occasion of the requested answer; no hidden repeat has it."""
    why: str
    returned_at: str
    """Moment in ISO 8601, UTC."""
    withdrawn_at: str | None = None
    """Moment when it was taken back; an answer to it does not count then."""
    contested: bool = False
    """True if it was taken back and an adjudicator decides on the pair, even if the grades are equal."""


@immutable
class Judgement(Answer, OnOccasion):
    """Answer of one assessor on one pair, in one revision.

    `grade` is None if none was given: then `cannot_judge` carries the reason, or the judgement is missing. `flags` are
    the reasons why it does not count; an empty tuple means that it counts.
    """

    query_id: str
    doc_id: str
    assessor: str
    grade: int | None
    revision: int = 1
    cannot_judge: str | None = None
    comment: str | None = None
    judged_at: str | None = None
    """Moment in ISO 8601, UTC; stays in the database."""
    lead_time: float | None = None
    """Seconds; stays in the database."""
    flags: tuple[str, ...] = ()
    occasion: int = 1
    """Number 2 for the answer to a hidden repeat, which is about the assessor and not about the pair. If the pair was
    returned to its assessor (`PairReturn`), the answer has the occasion of that.
    """


@dataclass(frozen=True, slots=True)
class Adjudication(Answer):
    """Decision of one adjudicator on one pair, in one revision."""

    query_id: str
    doc_id: str
    adjudicator: str
    grade: int | None
    ratings: str
    """Policy in force: were the assessors' grades `shown`, `hidden`, or judged first and revealed then."""
    shown: tuple[str, ...]
    """Assessors in the order in which their grades were shown; empty if none were."""
    revision: int = 1
    """Revision number that the store counts; ignored when it is recorded."""
    cannot_judge: str | None = None
    reason: str | None = None
    comment: str | None = None
    judged_at: str | None = None
    """Moment in ISO 8601, UTC; stays in the database."""
    lead_time: float | None = None
    """Seconds; stays in the database."""
    flags: tuple[str, ...] = ()
    """Reasons why it does not count; empty means that it counts."""

    @property
    def pair_key(self) -> PairKey:
        """Key of the question to the adjudicator."""
        return PairKey(self.query_id, self.doc_id)


@immutable
class Decision(OfPair):
    """Final grade of one pair and its origin.

    `origin` is `agreed` (the assessors gave the same grade) or `adjudicated` (a person settled it).
    """

    query_id: str
    doc_id: str
    grade: int
    origin: Literal["agreed", "adjudicated"]
    adjudicator: str | None = None
    reason: str | None = None


class Gold(NamedTuple):
    """A pair with the grade that assessors in training are to learn. `position` is its place, from 1."""

    query_id: str
    doc_id: str
    grade: int
    why: str
    position: int

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id


class Qrel(NamedTuple):
    """Line of the qrels. A pair without one is unjudged, which is never the same as 0."""

    query_id: str
    doc_id: str
    relevance: int


SCORE_DIGITS = 6
WRITTEN = f".{SCORE_DIGITS}g"
"""Format of the program's own scores in files."""


def round_score(score: float) -> float:
    """Round `score` to `SCORE_DIGITS` significant digits, the precision of the program's own scores."""
    return float(format(score, WRITTEN))


def ranked(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """Order the documents best first: rounded score descending, then `doc_id` ascending."""
    return in_order((doc_id, round_score(score)) for doc_id, score in scored)


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Group the values by key, keys and values in the order in which they first come."""
    groups: defaultdict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


def nested(triples: Iterable[tuple[K, L, V]]) -> dict[K, dict[L, V]]:
    """Nest the values by both keys; of several the last counts."""
    by_first: dict[K, dict[L, V]] = {}
    for first, second, value in triples:
        by_first.setdefault(first, {})[second] = value
    return by_first


# ----------------------------------------------------------------------------------------------------------------------
# Orders of documents whose scores come from outside.
#
# Such scores keep all their digits. trec_eval reads them in single precision, and puts the larger id first if they
# tie; its measures are taken in that order (`as_trec_eval`).
# ----------------------------------------------------------------------------------------------------------------------


def in_order(scored: Iterable[tuple[str, float]]) -> tuple[ScoredDoc, ...]:
    """Order the documents with all digits of their scores, best first: score descending, then `doc_id` ascending."""
    pairs = list(scored)
    scores = [score for _, score in pairs]
    if not all(map(gt, scores, scores[1:])):
        # Tuples compare faster than a key is made for each document, and become records faster than these are made.
        pairs = [(doc_id, -negated) for negated, doc_id in sorted([(-score, doc_id) for doc_id, score in pairs])]
    return tuple(map(_scored_doc, pairs))


def single_precision(scores: Iterable[float]) -> list[float]:
    """Convert scores as trec_eval reads them: 16777217 becomes 16777216, and 1e39 infinite."""
    return array("f", scores).tolist()


def as_trec_eval(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """Order the documents as trec_eval does, which ignores the ranks in a run file.

    Scores tie if they are equal in single precision; ties go by `doc_id` descending (`form_res_rels.c`).
    """
    documents = list(scored)
    scores = single_precision(map(itemgetter(1), documents))
    if all(map(gt, scores, scores[1:])):
        # Most runs come in their order, without ties.
        return tuple(documents)
    documents.sort(key=itemgetter(0), reverse=True)
    scores = single_precision([doc.score for doc in documents])
    # Documents with equal scores keep their order.
    order = sorted(range(len(documents)), key=scores.__getitem__, reverse=True)
    return tuple([documents[position] for position in order])


# ----------------------------------------------------------------------------------------------------------------------
# Judgements that count: the latest of several revisions, and none that carries flags.
# ----------------------------------------------------------------------------------------------------------------------


FIRST = 1
"""Occasion of everything but the hidden repeats."""


def counted(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Latest revision of each judgement that carries no flag, in the order in which pairs first come.

    The answer to a hidden repeat is a judgement of its own. Raises InputError if one assessor has two judgements of a
    pair in one revision.
    """
    counting, doubles = _latest(judgements)
    _refuse(doubles)
    return counting


def first_judgements(
    judgements: Iterable[Judgement],
    decisions: Collection[Decision],
    facets: Mapping[str, str],
    *,
    grades: Collection[int] | None,
) -> tuple[Judgement, ...]:
    """Judgements that count and are no repeats, all checked.

    facets: the facet of each `query_id`. grades: the scale; None takes any grade. Raises InputError for a double
    judgement, a query without facet, or a grade outside the scale.
    """
    counting, faults = _latest(judgement for judgement in judgements if judgement.occasion == FIRST)
    unknown = sorted({judgement.query_id for judgement in counting} - set(facets))
    faults += [f"{query_id}: judged, but not a known query" for query_id in unknown]
    if grades is not None:
        graded = [
            (judgement.query_id, judgement.doc_id, judgement.assessor, judgement.grade)
            for judgement in counting
            if judgement.grade is not None
        ]
        graded += [(decision.query_id, decision.doc_id, "the final decision", decision.grade) for decision in decisions]
        faults += [
            f"{query_id} {doc_id}: {assessor} has grade {grade}, expected one of {', '.join(map(str, grades))}"
            for query_id, doc_id, assessor, grade in graded
            if grade not in grades
        ]
    _refuse(faults)
    return counting


def _latest(judgements: Iterable[Judgement]) -> tuple[tuple[Judgement, ...], list[str]]:
    """Judgements that count, and a fault for each that is listed twice."""
    latest: dict[tuple[str, str, str, int], Judgement] = {}
    faults: dict[str, None] = {}
    for judgement in judgements:
        key = (judgement.query_id, judgement.doc_id, judgement.assessor, judgement.occasion)
        other = latest.get(key)
        if other is not None and other.revision == judgement.revision:
            faults[f"{' '.join(key[:3])}: two judgements with revision {judgement.revision}, expected one"] = None
        if other is None or other.revision < judgement.revision:
            latest[key] = judgement
    return tuple(judgement for judgement in latest.values() if not judgement.flags), list(faults)


def _refuse(faults: Collection[str]) -> None:
    if faults:
        raise InputError("these judgements cannot be used", faults=faults)
