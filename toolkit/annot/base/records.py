"""The small immutable records that travel between the rooms. Ids are strings, always.

Scored documents are in order of score, highest first, then of id, smallest first. The program's own scores are rounded
to `SCORE_DIGITS` significant digits (`ranked`), because their last digits depend on the linear algebra library. Scores
of others keep their digits (`annot.base.scored`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple, TypeVar

K = TypeVar("K")
L = TypeVar("L")
V = TypeVar("V")

Advance = Callable[[int, int | None], None]
"""Called with what is done so far, and with the total if it is known."""


class Source(StrEnum):
    """Where something on record comes from, under the name that the store keeps."""

    LABEL_STUDIO = "label-studio"
    FILE = "judgements-file"
    CSFCUBE = "csfcube"
    SIMULATION = "simulation"
    CORPUS = "corpus"
    UNRATED = "unrated queries"
    """Queries whose papers were drawn at random and taken without a rating."""
    BASELINE = "baseline"
    IMPORTED = "imported"
    """A run that was made elsewhere."""
    CARRIED = "carried"
    """Sentence labels that the corpus brought."""
    PREDICTED = "predicted"
    """Sentence labels of a model; in the store, followed by a colon and the first letters of the model's SHA-256."""
    CORRECTED = "corrected"
    """Sentence labels that a person corrected; no program writes over these."""


SUPERSEDED = "superseded by annotation"
"""How the flag begins of an answer that the same person gave again in another annotation; its number follows."""

OLDER = "older than the answer on record"
"""The flag of an annotation that the server holds in an earlier state than before, as after a restore from a backup."""


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper of the corpus: what people see (title, sentences of the abstract) and what methods use."""

    paper_id: str
    title: str
    sentences: tuple[str, ...]
    year: int | None = None
    labels: tuple[str, ...] | None = None
    """The label of each sentence as the corpus carries it; None if it carries none."""
    citations: tuple[str, ...] = ()
    """Ids of the papers it cites, in the corpus or not."""
    part_of: str | None = None
    """The document that a passage is from, which need not be in the corpus; None for a document."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic that is a text; one that is a paper has no record but the paper's."""

    topic_id: str
    title: str
    """The short form; of a question, the question."""
    description: str | None = None
    """What is asked, in a sentence or two."""
    narrative: str | None = None
    """What counts as an answer, and what does not."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What else its source has of it, by name."""


WHOLE = "whole"
"""The facet of a query of which the whole is judged."""


@dataclass(frozen=True, slots=True)
class Query:
    """A topic and what is judged of it: a facet, or the whole.

    `query_id` is `<topic_id>-<facet>` of a paper, and the topic's id where a text is judged whole.
    """

    query_id: str
    topic_id: str
    """What is asked: the id of the query paper, or of a text."""
    facet: str
    sentences: tuple[int, ...]
    """Positions (from 0) of the sentences of the query paper that make the query; none of a text."""
    paper_type: str | None = None
    """What kind of paper it is, as the rating sheet or the imported release has it."""


class ScoredDoc(NamedTuple):
    """A document and its score; higher is better."""

    doc_id: str
    score: float


Ranking = tuple[ScoredDoc, ...]
"""Documents best first, in the order of `annot.base.scored.in_order`."""


CITED = "cited"
"""The arm of the papers that the query paper cites; it has no ranking and no quota."""
MANUAL = "manual"
"""The arm of the candidates that a person found; it has no ranking."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How one method came to one pooled document.

    `rank` counts from 1 in that method's ranking; it is None in an imported pool that names its methods and no ranks.
    `score` is None for `cited` and where `rank` is. `turn` counts the draws of the pool from 1; it is None if the
    method also had the document but did not draw it, and in an imported pool that does not tell its order.
    """

    method: str
    rank: int | None
    score: float | None
    turn: int | None


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """One document of a pool: the draw that brought it in, and the other methods that had it within the depth."""

    doc_id: str
    drawn: Draw
    also: tuple[Draw, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """What was added to a pool after it had been drawn, as one version of it."""

    version: int
    """From 2, the drawn pool being 1; what is added to several pools at once has one number."""
    method: str
    """Whose papers they are; `manual` where a person found them."""
    depth: int | None
    """How many of the method's best are in the pool since; None if a person found them."""
    documents: tuple[str, ...]
    reason: str | None
    made_by: str | None
    """Who added them; stays in the database, as does `made_at`."""
    made_at: str | None
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The documents to judge for a topic, in the order drawn, with what happened while drawing.

    All queries of one topic share its pool.
    """

    topic_id: str
    mode: str
    per_method: int | None
    ranking_depth: int | None
    seed: int | None
    methods: tuple[str, ...]
    """The methods in the order in which they drew for this topic; `cited` first where it took part."""
    without: tuple[str, ...]
    """Methods left out on request."""
    dry: tuple[str, ...]
    """Methods that ran out of new documents before their quota was full."""
    cited_outside: int | None
    """How many cited papers are not in the corpus."""
    entries: tuple[PoolEntry, ...]
    additions: tuple[Addition, ...] = ()
    """What was added after the draw, the oldest first. Their methods stand in `methods`, behind those that drew."""


@dataclass(frozen=True, slots=True)
class Assessor:
    """A person under a pseudonym (`a1`). The account is an identity: it stays in the database."""

    assessor: str
    account: str | None
    adjudicator: bool
    left_on: str | None = None
    """When they left the study (ISO 8601, UTC): what they answered stays, and they get nothing new."""
    share: float | None = None
    """The hours they have, relative to others; None is 1."""


class Asked(NamedTuple):
    """What one person is asked once: a pair, and the occasion, 2 where the same person is asked the same pair again."""

    query_id: str
    doc_id: str
    occasion: int = 1

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id


class OfPair:
    """A record of one pair."""

    __slots__ = ()
    query_id: str
    doc_id: str

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id


class OnOccasion(OfPair):
    """A record of what one person is asked once."""

    __slots__ = ()
    occasion: int

    @property
    def asked(self) -> Asked:
        """What a person is asked."""
        return Asked(self.query_id, self.doc_id, self.occasion)


class Answer(OfPair):
    """What a person said of one pair."""

    __slots__ = ()
    grade: int | None
    cannot_judge: str | None
    flags: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether it is an answer, a grade or a reason for none, that nothing speaks against."""
        return not self.flags and (self.grade is not None or self.cannot_judge is not None)


@dataclass(frozen=True, slots=True)
class Assignment(OnOccasion):
    """One pair given to one assessor. `position` is its place in that assessor's sequence, from 1.

    `occasion` is 2 for a hidden repeat: the same pair given to the same assessor again, to see who agrees with
    themselves.
    """

    query_id: str
    doc_id: str
    assessor: str
    position: int
    occasion: int = 1


@dataclass(frozen=True, slots=True)
class Returned(OnOccasion):
    """A pair that was put before its assessor again, with the reason that they read."""

    query_id: str
    doc_id: str
    assessor: str
    occasion: int
    """Of the answer that was asked for; no hidden repeat has it."""
    why: str
    returned_at: str
    """ISO 8601, UTC."""
    withdrawn_at: str | None = None
    """When it was taken back; an answer to it does not count then."""
    contested: bool = False
    """Of one that was taken back: an adjudicator decides on the pair, also where the grades are equal."""


@dataclass(frozen=True, slots=True)
class Judgement(Answer, OnOccasion):
    """What one assessor said of one pair, in one revision.

    `grade` is None if none was given: then `cannot_judge` carries the reason, or the judgement is missing.
    `flags` are the reasons for which it does not count; an empty tuple means that it counts.
    """

    query_id: str
    doc_id: str
    assessor: str
    grade: int | None
    revision: int = 1
    cannot_judge: str | None = None
    comment: str | None = None
    judged_at: str | None = None
    """ISO 8601, UTC; stays in the database."""
    lead_time: float | None = None
    """Seconds; stays in the database."""
    flags: tuple[str, ...] = ()
    occasion: int = 1
    """2 for the answer to a hidden repeat, which says something of the assessor and nothing of the pair. Where the pair
    was put before its assessor again (`Returned`), the answer has the occasion of that."""


@dataclass(frozen=True, slots=True)
class Adjudication(Answer):
    """What one adjudicator decided of one pair, in one revision."""

    query_id: str
    doc_id: str
    adjudicator: str
    grade: int | None
    ratings: str
    """The policy in force: were the assessors' grades `shown`, `hidden`, or judged first and revealed then."""
    shown: tuple[str, ...]
    """The assessors in the order in which their grades were shown; empty if none were."""
    revision: int = 1
    """Counted by the store; not looked at when it is recorded."""
    cannot_judge: str | None = None
    reason: str | None = None
    comment: str | None = None
    judged_at: str | None = None
    """ISO 8601, UTC; stays in the database."""
    lead_time: float | None = None
    """Seconds; stays in the database."""
    flags: tuple[str, ...] = ()
    """The reasons for which it does not count; empty means that it counts."""

    @property
    def asked(self) -> Asked:
        """What was asked of the adjudicator."""
        return Asked(self.query_id, self.doc_id)


@dataclass(frozen=True, slots=True)
class Decision(OfPair):
    """The final grade of one pair and where it comes from.

    `origin` is `agreed` (the assessors gave the same grade) or `adjudicated` (a person settled it).
    """

    query_id: str
    doc_id: str
    grade: int
    origin: Literal["agreed", "adjudicated"]
    adjudicator: str | None = None
    reason: str | None = None


class Qrel(NamedTuple):
    """One line of the qrels. A pair that is not there is unjudged, which is never the same as 0."""

    query_id: str
    doc_id: str
    relevance: int


SCORE_DIGITS = 6
WRITTEN = f".{SCORE_DIGITS}g"
"""The format of the program's own scores in files."""


def round_score(score: float) -> float:
    """`score` at `SCORE_DIGITS` significant digits, the precision of the program's own scores."""
    return float(format(score, WRITTEN))


def ranked(scored: Iterable[ScoredDoc]) -> tuple[ScoredDoc, ...]:
    """The documents best first: rounded score descending, then `doc_id` ascending."""
    # Tuples compare faster than a key is made for each document.
    falling = sorted([(-round_score(score), doc_id) for doc_id, score in scored])
    return tuple([ScoredDoc(doc_id, -negated) for negated, doc_id in falling])


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values under each key, keys and values in the order in which they first come."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def nested(triples: Iterable[tuple[K, L, V]]) -> dict[K, dict[L, V]]:
    """The value under both keys; of several the last."""
    found: dict[K, dict[L, V]] = {}
    for first, second, value in triples:
        found.setdefault(first, {})[second] = value
    return found
