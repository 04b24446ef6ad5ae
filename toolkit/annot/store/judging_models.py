"""The tables of judging: people, their plan, projects and tasks on servers, and all their answers.

`annot.store.models` explains the declaration of tables.
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
    """Facts about the current plan besides its assignments; `created` is ISO 8601, UTC."""

    sha256: str
    seed: int
    created: str
    per_pair: int | None = None
    """Judgements that each pair is to have; None if the judgements were imported."""
    vacant: tuple[tuple[str, str], ...] = ()
    """Pairs that no assignment names any longer, since their assessors left, as (query_id, doc_id)."""


class SampleDesign(NamedTuple):
    """Rule by which pairs are drawn; fixed with the first sample but for `share`, which may rise."""

    share: float
    """Share of the pairs of the pools that is expected to be drawn."""
    across: str
    """Base of the share: `query`, every query's pool, or `study`, all of them together."""
    floor: float
    """The smallest probability of a pair."""
    unranked: float
    """The probability of a document that no method ranked: cited, or found by hand."""
    seed: int
    created: str
    """ISO 8601, UTC."""
    cheap_label: str | None = None
    """The opinion that predicts grades besides the rankings; it may change until a drawn pair is judged."""

    def faults_of_label(self, label_in_file: str | None) -> tuple[str, ...]:
        """Faults if annot.toml has `found` in its place, in words; none if they are the same."""
        if label_in_file == self.cheap_label:
            return ()
        return (f"sample.cheap_label: found {label_in_file or 'none'}, planned with {self.cheap_label or 'none'}",)


@dataclass(frozen=True, slots=True)
class SampledPair(OfPair):
    """One pair of a pool under the sample."""

    query_id: str
    doc_id: str
    rank: int | None
    """Rank in the fusion of the rankings, from 1, at the time when the pair came under the sample; None without a
    rank."""
    batch: int
    """Batch: 1 for pairs of the first sample, a higher number for pairs that came later together; 0 for pairs of pools
    that were planned whole before."""
    probability: float
    """Inclusion probability at the share on record, as rounded: above 0, at most 1."""
    drawn: bool
    ranks: Mapping[str, int]
    """Ranks by method, from which `rank` was made."""


class PoolSample(NamedTuple):
    """The sample on record."""

    design: SampleDesign
    pairs: Mapping[tuple[str, str], SampledPair]
    """Pairs of the pools under the sample, drawn or not, by (query_id, doc_id)."""

    @property
    def weights(self) -> dict[tuple[str, str], float]:
        """Number of pairs of the pools that each drawn one represents."""
        return {pair: 1 / sampled.probability for pair, sampled in self.pairs.items() if sampled.drawn}

    def drawn(self, query_id: str, doc_id: str) -> bool:
        """True if the pair is to be judged; so is a pair that is not under the sample."""
        sampled_pair = self.pairs.get((query_id, doc_id))
        return sampled_pair is None or sampled_pair.drawn


Kind = Literal["comments", "reasons"]
"""Texts of assessors next to their grades, and of adjudicators next to the final ones."""
How = Literal["letter", "screen", "consent"]


class Notice(NamedTuple):
    """Notice that a person has from one moment on."""

    assessor: str
    kind: Kind
    how: How
    """Way of the notice: a letter of `annot invite` or the screen they work on; `consent` is to all that they wrote
    until then."""
    at: str
    """ISO 8601, UTC."""
    published: bool
    """True if it announces that their words are published."""
    words: str = ""
    """Evidence of the consent, in the lead's words."""


StoredRound = Literal[
    "judge", "adjudicate", "train", "train-feedback", "substudy-abstract", "substudy-full", "hidden-gold", "labels"
]
"""Purpose of a project. The answers of the first two make the collection; those of the others never count there.

Hidden gold has no project: its pairs are in those of the round `judge`. The tasks of `labels` ask about a query paper
each, and none of them is on record.
"""


class Project(NamedTuple):
    """One person's project of one round on one server; `remote_id` is None until the server is known to have it."""

    project: int
    round: StoredRound
    assessor: str
    server: str
    """Identity of the server, independent of its address."""
    url: str
    """The address at which it was met the last time."""
    version: str
    """The release of Label Studio that it was then."""
    account_id: int | None
    """The server's id of the person's account; None after the account was changed."""
    remote_id: int | None
    created: str | None = None
    """Time when the server made it; None in older records."""
    sent_on: str | None = None
    """Time of its first record (ISO 8601, UTC); None if that is not known."""
    shows: Mapping[str, Any] | None = None
    """Screen, title, instructions and settings after the last push; None in older records."""
    set_back: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Changes by hand that pushes found: the moment, and the parts with their changed values."""

    def __hash__(self) -> int:
        """Hash of its number, because `shows` cannot be hashed."""
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
    """Opinions that one adjudicator's task showed from `sent_at` (ISO 8601, UTC) on, in the order shown."""

    query_id: str
    doc_id: str
    adjudicator: str
    sent_at: str
    opinions: tuple[ShownOpinion, ...]


class AskedModel(NamedTuple):
    """One model with one prompt, asked for opinions under a name that the lead gives."""

    name: str
    url: str
    model: str
    settings: Mapping[str, Any]
    """Settings of `annot.toml` that an answer depends on."""
    prompts: Mapping[str, str]
    """Prompt of each facet without its pair."""
    examples: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the gold pairs that the prompts show: they are never asked."""
    since: str
    """ISO 8601, UTC."""
    early: tuple[tuple[str, str, str], ...] = ()
    """Steps before people had judged: the moment, `asked` or `shown`, and the lead's reason."""


class ModelCall(NamedTuple):
    """One request to a model's server, recorded before it is sent and completed by the answer."""

    name: str
    query_id: str
    doc_id: str
    repeat: int
    """Number of the opinion on the pair, from 1."""
    attempt: int
    """Number of the request for this opinion, from 1."""
    state: Literal["sent", "read", "cannot_judge", "unreadable", "failed"]
    """`sent`: nothing came back before the program ended. `cannot_judge`: read, but without a grade."""
    prompt_sha256: str
    sent_at: str
    """ISO 8601, UTC."""
    cost: float
    """The most that it can cost, until it is known; then that."""
    estimated: bool = True
    """True if cost and tokens are not the server's."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    status: int | None = None
    """HTTP's; None if no answer came."""
    served: str | None = None
    """The model's name as the server gave it."""
    version: str | None = None
    """Version of the model that the server names (`system_fingerprint`)."""
    answer: str | None = None
    """The complete answer as it came, or the error."""
    grade: int | None = None
    reason: str | None = None
    shown_sha256: str | None = None
    """Hash of the display of its prompt (`annot.store.shown`): like a task's, with `prompt` instead of `screen`."""

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id


def answers_table(name: str, record: type, person: str) -> Table:
    """An append-only table of revisions: triggers refuse every UPDATE and DELETE.

    Besides the record it has the origin of the answer (`annot.store.revisions.Sourced`), the hash of its content, and
    `chain_sha256`, the row's link of `annot.store.hashes`.
    """
    counted = [column_name for column_name in ("occasion", "revision") if column_name in (*LINE[name], "revision")]
    columns: list[Column[Any]] = [numbered(), *columns_of(record)]
    columns += [column(column_name, str) for column_name in ("source", "server", "annotation", "recorded_at")]
    columns += [column(column_name, str | None) for column_name in ("changed_at", "ruling", "shown_sha256")]
    columns += [column("account", int | None), column("payload", Mapping)]
    columns += [column(column_name, str) for column_name in ("content_sha256", "chain_sha256")]
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
"""Facts about the plan that the assignments make; there is one."""
SAMPLE_TABLE = made(
    "sample",
    [column("id", int, key=True), *columns_of(SampleDesign)],
    check("one", "id = 1"),
    check("share", "share > 0 AND share <= 1"),
)
"""Rule by which pairs are drawn from the pools; there is one at most."""
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
"""Secret that seals the keys of tasks; there is one, from the first push on."""
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
"""Facts of a sub-study, or of one assessor's training, by `name`."""
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
"""Models that are asked, by name. Judgements are people's: no model's opinion is ever among them."""
OPINION_CALL_TABLE = made(
    "opinion_call",
    columns_of(ModelCall, key=["name", *PAIR, "repeat", "attempt"]),
    *(to(name="opinion.name"), to_query(), from_1("repeat"), from_1("attempt")),
    check("state", "state IN ('sent', 'read', 'cannot_judge', 'unreadable', 'failed')"),
    check("grade", GRADE_IN_RANGE),
    check("grade_if_read", "(state = 'read') = (grade IS NOT NULL)"),
    check("cost", "cost >= 0"),
)
