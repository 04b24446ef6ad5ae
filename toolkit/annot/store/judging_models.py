"""The tables of judging: people, their plan, projects and tasks on servers, and all that they answered.

`annot.store.models` says how tables are declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sqlalchemy import Column, Constraint, Index, Table

from annot.base.records import Adjudication, Assessor, Assignment, Judgement, OfPair, Returned
from annot.store.models import GRADE_IN_RANGE, LINE, check, column, columns_of, from_1, made, numbered, to, unique

PAIR = ("query_id", "doc_id")
WHOSE = (*PAIR, "assessor")


def to_query() -> Constraint:
    return to(query_id="query.query_id")


def to_person() -> Constraint:
    return to(assessor="assessor.assessor")


class Plan(NamedTuple):
    """What is known of the current plan besides its assignments; `created` is ISO 8601, UTC."""

    sha256: str
    seed: int
    created: str
    per_pair: int | None = None
    """How many judgements each pair is to have; None if the judgements were imported."""
    vacant: tuple[tuple[str, str], ...] = ()
    """(query_id, doc_id) of the pairs that no assignment names any more, since their assessors left."""


class SampleDesign(NamedTuple):
    """By which rule pairs are drawn; fixed with the first sample but for `share`, which may rise."""

    share: float
    """Of the pairs of the pools, expected to be drawn."""
    across: str
    """What the share is of: `query`, every query's pool, or `study`, all of them together."""
    floor: float
    """The smallest probability of a pair."""
    unranked: float
    """The probability of a document that no method ranked: cited, or found by hand."""
    seed: int
    created: str
    """ISO 8601, UTC."""
    cheap_label: str | None = None
    """The opinion that predicts grades besides the rankings; it may change until a drawn pair is judged."""

    def faults_of_label(self, found: str | None) -> tuple[str, ...]:
        """What is wrong if annot.toml has `found` in its place, in words; nothing if they are the same."""
        if found == self.cheap_label:
            return ()
        return (f"sample.cheap_label: found {found or 'none'}, planned with {self.cheap_label or 'none'}",)


@dataclass(frozen=True, slots=True)
class SampledPair(OfPair):
    """One pair of a pool under the sample."""

    query_id: str
    doc_id: str
    rank: int | None
    """In the fusion of the rankings, from 1, as they were when the pair came under the sample; None without a rank."""
    batch: int
    """1 for what was there at the first sample, a higher number for what came later together; 0 for what was planned
    whole before."""
    probability: float
    """With which it is drawn at the share on record, as rounded: above 0, at most 1."""
    drawn: bool
    ranks: Mapping[str, int]
    """By method, the rank from which `rank` was made."""


class PoolSample(NamedTuple):
    """The sample on record."""

    design: SampleDesign
    pairs: Mapping[tuple[str, str], SampledPair]
    """By (query_id, doc_id): every pair of the pools that is under the sample, drawn or not."""

    @property
    def weights(self) -> dict[tuple[str, str], float]:
        """For how many pairs of the pools each drawn one stands."""
        return {pair: 1 / one.probability for pair, one in self.pairs.items() if one.drawn}

    def drawn(self, query_id: str, doc_id: str) -> bool:
        """Whether the pair is to be judged; one that is not under the sample is."""
        found = self.pairs.get((query_id, doc_id))
        return found is None or found.drawn


Kind = Literal["comments", "reasons"]
"""What assessors write beside their grades, and what adjudicators write beside the final ones."""
How = Literal["letter", "screen", "consent"]


class Notice(NamedTuple):
    """What one person knows from one moment on."""

    assessor: str
    kind: Kind
    how: How
    """By a letter of `annot invite` or the screen they work on; `consent` is to all that they wrote until then."""
    at: str
    """ISO 8601, UTC."""
    published: bool
    """Whether it says that their words are published."""
    words: str = ""
    """How the lead has the consent."""


StoredRound = Literal[
    "judge", "adjudicate", "train", "train-feedback", "substudy-abstract", "substudy-full", "hidden-gold", "labels"
]
"""What a project is for. The answers of the first two make the collection; those of the others never count there.

Hidden gold has no project: its pairs stand in those of the round `judge`. The tasks of `labels` ask about a query paper
each, and none of them is on record.
"""


class Project(NamedTuple):
    """One person's project of one round on one server; `remote_id` is None until the server is known to have it."""

    project: int
    round: StoredRound
    assessor: str
    server: str
    """What tells the server from others, whatever its address."""
    url: str
    """The address at which it was met the last time."""
    version: str
    """The release of Label Studio that it was then."""
    account_id: int | None
    """The server's id of the person's account; None after the account was changed."""
    remote_id: int | None
    created: str | None = None
    """When the server made it; None in older records."""
    sent_on: str | None = None
    """When it was first noted down (ISO 8601, UTC); None if that is not known."""
    shows: Mapping[str, Any] | None = None
    """Its screen, title, instructions and settings as they were after the last push; None in older records."""
    set_back: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """When a push found which of these changed by hand, and as what."""

    def __hash__(self) -> int:
        """By its number: what it shows cannot be hashed."""
        return hash(self.project)


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


ShownOpinion = tuple[str, int | None, str | None, str | None]
"""Assessor, grade, why they could not judge, comment."""


class ShownOpinions(NamedTuple):
    """What one adjudicator's task showed from `sent_at` (ISO 8601, UTC) on, in the order shown."""

    query_id: str
    doc_id: str
    adjudicator: str
    sent_at: str
    opinions: tuple[ShownOpinion, ...]


class AskedModel(NamedTuple):
    """One model with one prompt, whose opinion is asked under a name of the lead's."""

    name: str
    url: str
    model: str
    settings: Mapping[str, Any]
    """Of `annot.toml`, those that an answer depends on."""
    prompts: Mapping[str, str]
    """By facet, the prompt without its pair."""
    examples: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the gold pairs that the prompts show: they are never asked."""
    since: str
    """ISO 8601, UTC."""
    early: tuple[tuple[str, str, str], ...] = ()
    """What was done before people had judged: the moment, `asked` or `shown`, and the lead's reason."""


class ModelCall(NamedTuple):
    """One request to a model's server, noted down before it is sent and completed by what came back."""

    name: str
    query_id: str
    doc_id: str
    repeat: int
    """Which opinion on the pair it is for, from 1."""
    attempt: int
    """Which request for this opinion it is, from 1."""
    state: Literal["sent", "read", "cannot_judge", "unreadable", "failed"]
    """`sent`: nothing came back before the program ended. `cannot_judge`: read, but without a grade."""
    prompt_sha256: str
    sent_at: str
    """ISO 8601, UTC."""
    cost: float
    """The most that it can cost, until it is known; then that."""
    estimated: bool = True
    """Whether cost and tokens are not the server's."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    status: int | None = None
    """HTTP's; None if no answer came."""
    served: str | None = None
    """The model's name as the server gave it."""
    version: str | None = None
    """What else the server calls it (`system_fingerprint`)."""
    answer: str | None = None
    """The whole answer as it came, or what went wrong."""
    grade: int | None = None
    reason: str | None = None
    shown_sha256: str | None = None
    """Of the display of its prompt (`annot.store.shown`): as a task's, with `prompt` in the place of `screen`."""

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id


def answers_table(name: str, record: type, person: str) -> Table:
    """An append-only table of revisions: triggers refuse every UPDATE and DELETE.

    Besides the record it has where the answer comes from (`annot.store.revisions.Sourced`), the hash of its content,
    and `chain_sha256`, the row's link of `annot.store.hashes`.
    """
    counted = [one for one in ("occasion", "revision") if one in (*LINE[name], "revision")]
    columns: list[Column[Any]] = [numbered(), *columns_of(record)]
    columns += [column(one, str) for one in ("source", "server", "annotation", "recorded_at")]
    columns += [column(one, str | None) for one in ("changed_at", "ruling", "shown_sha256")]
    columns += [column("account", int | None), column("payload", Mapping)]
    columns += [column(one, str) for one in ("content_sha256", "chain_sha256")]
    return made(
        name,
        columns,
        *(to_query(), to(**{person: "assessor.assessor"})),
        unique("line", *LINE[name], "revision"),
        check("grade", GRADE_IN_RANGE),
        *map(from_1, counted),
        Index("query_doc", *PAIR),
    )


ASSESSOR_TABLE = made(
    "assessor", columns_of(Assessor, key=["assessor"]), unique("account", "account"), check("named", "assessor <> ''")
)
"""A person. The account is an identity and never leaves the database unasked."""
ASSIGNMENT_TABLE = made(
    "assignment",
    columns_of(Assignment, key=(*WHOSE, "occasion")),
    *(to_query(), to_person()),
    unique("position", "assessor", "position"),
    *(from_1("occasion"), from_1("position")),
)
RETURNED_TABLE = made(
    "returned",
    columns_of(Returned, key=(*WHOSE, "occasion")),
    *(to_query(), to_person()),
    check("occasion_from_2", "occasion >= 2"),
    check("why", "why <> ''"),
)
PLAN_TABLE = made("plan", [column("id", int, key=True), *columns_of(Plan)], check("one", "id = 1"))
"""The plan that the assignments make; there is one."""
SAMPLE_TABLE = made(
    "sample",
    [column("id", int, key=True), *columns_of(SampleDesign)],
    check("one", "id = 1"),
    check("share", "share > 0 AND share <= 1"),
)
"""The rule by which pairs are drawn from the pools; there is one at most."""
SAMPLED_TABLE = made(
    "sampled_pair",
    columns_of(SampledPair, key=PAIR),
    to_query(),
    *(from_1("rank"), check("batch_from_0", "batch >= 0")),
    check("probability", "probability > 0 AND probability <= 1"),
)
"""Every pair that is under the sample, drawn or not."""
ACCEPTED_TABLE = made(
    "accepted",
    [column(name, str, key=name in PAIR) for name in (*PAIR, "why", "accepted_at")],
    to_query(),
    check("why", "why <> ''"),
)
"""A pair whose final grade may rest on fewer judgements than were planned."""
PROJECT_TABLE = made(
    "project",
    [numbered(), *columns_of(Project, without=["project"])],
    to_person(),
    unique("round_assessor_server", "round", "assessor", "server"),
    unique("remote_id", "server", "remote_id"),
)
"""One assessor's project of one round on one server."""
TASK_TABLE = made(
    "task",
    [
        *(column(name, kind, key=True) for name, kind in (("project_id", int), *dict.fromkeys(PAIR, str).items())),
        *(column("occasion", int, key=True), column("remote_id", int)),
        column("shown", tuple),
    ],
    *(to(project_id="project.id"), to_query()),
    unique("remote_id", "project_id", "remote_id"),
)
"""The server's task for one pair in one project.

shown: `[moment, SHA-256]` of each display (`annot.store.shown`) that it had, from that moment on, the oldest first.
"""
TASK_SECRET_TABLE = made("task_secret", [column("id", int, key=True), column("secret", str)], check("one", "id = 1"))
"""With what the keys of tasks are sealed; there is one, from the first push on."""
CHAIN_TABLE = made("chain", [column("name", str, key=True), column("length", int), column("last_sha256", str)])
"""The end of the chain over the rows of one append-only table: how many were recorded, and the last link."""
JUDGEMENT_TABLE = answers_table("judgement", Judgement, "assessor")
ADJUDICATION_TABLE = answers_table("adjudication", Adjudication, "adjudicator")
SHOWN_OPINIONS_TABLE = made(
    "shown_opinions",
    columns_of(ShownOpinions, key=(*PAIR, "adjudicator", "sent_at")),
    *(to_query(), to(adjudicator="assessor.assessor")),
)
NOTICE_TABLE = made(
    "told",
    columns_of(Notice, key=["assessor", "kind", "how", "at"]),
    to_person(),
    check("kind", "kind IN ('comments', 'reasons')"),
    check("how", "how IN ('letter', 'screen', 'consent')"),
    check("words", "how <> 'consent' OR words <> ''"),
)
TRIAL_TABLE = made("trial", [column("name", str, key=True), column("facts", Mapping)])
"""What is on record of a sub-study, or of one assessor's training; `name` says which."""
TRIAL_ASSIGNMENT_TABLE = made(
    "trial_assignment",
    [*(column(name, str, key=True) for name in ("round", "assessor", *PAIR)), column("position", int)],
    *(to_query(), to_person()),
    unique("position", "round", "assessor", "position"),
    from_1("position"),
)
"""One pair given to one assessor in a round whose answers never count as judgements of the collection."""
TRIAL_JUDGEMENT_TABLE = answers_table("trial_judgement", Judgement, "assessor")
"""Answers in such a round, which is their `source`; a table of its own, so that none can count."""
GOLD_TABLE = made(
    "gold",
    columns_of(Gold, key=PAIR),
    to_query(),
    unique("position", "position"),
    check("grade", "grade >= 0 AND grade <= 9"),
    from_1("position"),
)
OPINION_TABLE = made("opinion", columns_of(AskedModel, key=["name"]), check("named", "name <> ''"))
"""What is asked under one name. Judgements are people's: no model's opinion is ever among them."""
OPINION_CALL_TABLE = made(
    "opinion_call",
    columns_of(ModelCall, key=["name", *PAIR, "repeat", "attempt"]),
    *(to(name="opinion.name"), to_query(), from_1("repeat"), from_1("attempt")),
    check("state", "state IN ('sent', 'read', 'cannot_judge', 'unreadable', 'failed')"),
    check("grade", GRADE_IN_RANGE),
    check("grade_if_read", "(state = 'read') = (grade IS NOT NULL)"),
    check("cost", "cost >= 0"),
)
