"""Records of the server, and readings of its annotations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple

from annot.base.records import OLDER, SUPERSEDED, PairKey
from annot.base.words import is_english
from annot.store.answers import SourcedAnswer

# ----------------------------------------------------------------------------------------------------------------------
# The names on the labelling screens, by which tasks are built, screens rendered, and annotations read.
# ----------------------------------------------------------------------------------------------------------------------


Screen = Literal["judge", "adjudicate", "full-text", "feedback", "facets"]

TEXT = "pair"
"""The one text region of a screen: query and candidate side by side."""

RATING = "rating"
REASON = "cannot_judge"
COMMENT = "comment"
SENTENCE_LABEL = "sentence_label"
SETTLED_BY = "settled_by"
"""Adjudication only: why the two differ, in one key."""

REASON_NEEDED, CAUSE_NEEDED, CAUSE_MISSING = "reason_needed", "cause_needed", "cause_missing"
"""Adjudication only, hidden on the screen: the first two are filled in on a task whose grades are far apart, and the
second is gone while the adjudicator cannot judge. The third is required until a cause is given. Each has its name as
its only choice: equal values on one screen uncheck each other."""
NEEDED_COMMENT = "needed_comment"
"""The adjudicator's comment where it has to be given: Label Studio requires one box always, or never."""

CANNOT_JUDGE = "cannot judge"
"""The value of `RATING` that is no grade; it opens the reasons."""

CANNOT_JUDGE_KEY = "c"

COLUMN_KEYS = {"query": "q", "cand": "c", "narrative": "n", "rest": "m", "criteria": "g"}
"""Keys to places on the page, with Alt (Alt+Shift in Firefox, Ctrl+Option on a Mac): the two columns, their folded
parts, and the meaning of the grades."""


class KeyedValue(NamedTuple):
    """A value as it is stored, and the key that gives it; no key is one of Label Studio's own."""

    value: str
    key: str


def reasons(language: str) -> tuple[KeyedValue, ...]:
    """Reasons why a pair cannot be judged; `language` is the collection's (BCP 47)."""
    return (
        KeyedValue("text missing or broken", "t"),
        KeyedValue("not in English" if is_english(language) else "not in the language of the collection", "e"),
        KeyedValue("outside my field", "f"),
        KeyedValue("other, see comment", "n"),
    )


KNOWN_REASONS = frozenset(reason.value for language in ("en", "") for reason in reasons(language))
"""Reasons of every language: an answer is kept when the setting is changed."""

DIFFERENCES = (
    KeyedValue("another aspect of the facet", "k"),
    KeyedValue("facet label wrong", "w"),
    KeyedValue("context needed", "d"),
    KeyedValue("slip", "s"),
    KeyedValue("guideline gap", "g"),
    KeyedValue("none of these", "z"),
)
"""Why two assessors differ; the last, as grades far apart need a cause. In CSFCube they had most often seen another
aspect of the facet. No key is a letter by which an assessor is called on the screen."""
DIFFERENCES_OF_WHOLES = (
    KeyedValue("topic read differently", "k"),
    KeyedValue("document unclear", "d"),
    *DIFFERENCES[3:],
)
"""Why two assessors differ where no facet is judged."""

_LABEL_STUDIO_KEYS = "u"
"""The letters that Label Studio 1.23.2 takes for itself."""


def label_keys(labels: Sequence[str]) -> tuple[KeyedValue, ...]:
    """The sentence `labels` in their order, each with a key that no other control has: at most 16 labels.

    `other` has x. Every other label has its first letter where that is free, else the next free letter of its name,
    else of the alphabet. Of two with the same first letter the earlier has it. The five of the default have b, o, m,
    r, x.
    """
    taken = {CANNOT_JUDGE_KEY, *_LABEL_STUDIO_KEYS, *(keyed.key for keyed in (*reasons("en"), *DIFFERENCES))}
    keys: dict[str, str] = {}
    wishes = [{label: "x" if label == "other" else label[0] for label in labels}]
    wishes.append({label: label + ascii_lowercase for label in labels})
    for wish in wishes:
        for label in labels:
            free = [letter for letter in wish[label].lower() if letter in ascii_lowercase and letter not in taken]
            if label not in keys and free:
                keys[label] = free[0]
                taken.add(free[0])
    # The alphabet is enough for 14 labels.
    spare = iter(ascii_lowercase)
    return tuple(KeyedValue(label, keys.get(label) or f"shift+{next(spare)}") for label in labels)


# ----------------------------------------------------------------------------------------------------------------------
# Records that the gateway and the steps exchange; none has a type of the client library.
# ----------------------------------------------------------------------------------------------------------------------


KEY = "pair_id"
"""The field of a task's data that holds our key."""

TEXT_FIELD = "pair_html"
"""The field of a task's data that holds the two papers."""

Payload = Mapping[str, Any]
"""A JSON object as the server sent it or will get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSpec:
    """Specification of a project. `marker` is our own key: titles are not unique on the server."""

    marker: str
    """One word, such as `my-collection/judge/a1`; it is in brackets at the end of the description."""
    title: str
    """3 to 50 characters."""
    description: str
    label_config: str
    instructions: str
    """HTML, shown on entering the stream and behind a button of the top bar."""
    color: str
    may_be_empty: bool = False
    """True if a task may be submitted with nothing chosen, labelled or written."""


class StudioProject(NamedTuple):
    """A project as the server has it."""

    project_id: int
    created: str | None
    """Moment of its creation, as the server writes it: a server that was restored gives an id twice."""
    tasks: int
    annotations: int
    """All annotations, cancelled ones included."""
    settings: Mapping[str, Any]
    """Its screen, its title, its instructions and the gateway's `PROJECT_SETTINGS`, as they are now."""
    opens_instructions: bool
    """True if the instructions open whenever the page is loaded, as they do until the person has answered."""


IN_WORDS = {"label_config": "the screen", "title": "the title", "expert_instruction": "the instructions"}
"""Parts of a project that people see, besides its tasks; settings go by the server's own names."""


class StudioTask(NamedTuple):
    """A task as the server lists it. `key` is our own, opened; None for a task without one."""

    task_id: int
    key: str | None
    annotations: int
    """All annotations, cancelled ones included."""
    data: Payload
    """Fields that the task shows."""
    updated_at: str | None = None
    """Moment when it or an annotation of it was last made, changed or deleted, as the server writes it."""


class PulledTask(NamedTuple):
    """A task and every annotation on it, verbatim; an empty tuple where there is none (or none any more)."""

    key: str | None
    annotations: tuple[dict[str, Any], ...]
    updated_at: str | None = None
    """Moment as in `StudioTask`."""
    data: Mapping[str, Any] = {}
    """Fields that the task shows."""
    task_id: int | None = None
    """The server's."""


class Prediction(NamedTuple):
    """A prediction, which fills in a task before any person has answered."""

    task_id: int
    model_version: str | None
    score: float | None
    result: tuple[Payload, ...]


class Delivery(NamedTuple):
    """Result of an import. `task_ids` maps every key of the request to its one task on the server."""

    task_ids: dict[str, int]
    sent: int
    """Tasks sent by this call and found afterwards; the others were there already."""
    spared: int
    """Tasks that are not there and were not sent, because their answer is known."""
    removed: int
    """Number of these that were on the server unanswered and are deleted now."""
    updated: int
    """Unanswered tasks that were there and showed something else, such as another place in the person's order."""
    renewed: int
    """Tasks that were there, and were deleted and sent again."""


def labelling_url(server: str, project_id: int) -> str:
    """The link to give to the person whose project it is: it opens the stream of tasks and nothing else."""
    return f"{server}/projects/{project_id}/data?labeling=1"


def project_url(server: str, project_id: int) -> str:
    """The link for the lead: it opens the project with all of its tasks."""
    return f"{server.rstrip('/')}/projects/{project_id}/data"


# ----------------------------------------------------------------------------------------------------------------------
# Annotations as the server gives them, read for judgements, and written the same way.
#
# The server stores whatever it gets: grades off the scale, empty results, unknown controls, another account's work.
# So nothing is believed: `flags` says why an annotation does not count, and the payload stays as
# it came, with the sentence labels that a person may have corrected.
# ----------------------------------------------------------------------------------------------------------------------


_DIFFERENCES = {difference.value for difference in (*DIFFERENCES, *DIFFERENCES_OF_WHOLES)}

SKIPPED = "skipped"
BY_ANOTHER = "by account"
"""Beginning of the flag of an annotation by another account."""
DELETED = "by an account that the server has deleted"
"""Flag of an annotation whose account is gone and that was never an answer on record."""
EDITED = "last changed by account"
"""Beginning of the flag of an annotation that another account changed after its author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnnotation:
    """Reading of one annotation. It counts when `flags` is empty: one grade of the scale, or one reason, not both."""

    pair_key: PairKey
    grade: int | None
    cannot_judge: str | None
    comment: str | None
    settled_by: str | None
    """Adjudication only: why the assessors differ, chosen by key."""
    lead_time: float | None
    """Seconds."""
    created_at: str | None
    changed_at: str | None
    account: int | None
    """The server's id of the account that it came from."""
    flags: tuple[str, ...]
    payload: Payload
    shown_sha256: str | None = None
    """Hash of the display when the annotation was last changed; known if its project is."""

    @property
    def annotation(self) -> str:
        """The server's id, as text."""
        return str(self.payload["id"])


def read_task(
    annotations: Sequence[Payload],
    *,
    pair_key: PairKey,
    grades: Sequence[int],
    accounts: Collection[int],
    on_record: Mapping[str, SourcedAnswer[Any]] | None = None,
) -> tuple[ReadAnnotation, ...]:
    """Every annotation on a task, oldest first; at most one has no flags: the latest of the person's accounts.

    accounts: the server's ids of the accounts that are the person's. on_record: the annotations that counted before, by
    their ids as text; they are the person's whatever has become of the account.
    """
    in_order = sorted(annotations, key=lambda payload: (payload["updated_at"], payload["id"]))
    recorded = on_record or {}
    readings = [
        read_annotation(
            payload, pair_key=pair_key, grades=grades, accounts=accounts, on_record=recorded.get(str(payload["id"]))
        )
        for payload in in_order
    ]
    counting = [place for place, reading in enumerate(readings) if not reading.flags]
    for place in counting[:-1]:
        latest = readings[counting[-1]].payload["id"]
        readings[place] = replace(readings[place], flags=(f"{SUPERSEDED} {latest}",))
    return tuple(readings)


def read_annotation(
    payload: Payload,
    *,
    pair_key: PairKey,
    grades: Sequence[int],
    accounts: Collection[int],
    on_record: SourcedAnswer[Any] | None = None,
) -> ReadAnnotation:
    """The reading of one annotation, with everything that keeps it from counting; never raises.

    on_record: answer that counted when it was last read. A server that was restored gives the number of an annotation
    twice; the moment at which it was made tells the two apart.
    """
    results = [item for item in _list(payload.get("result")) if isinstance(item, dict)]
    flags: list[str] = []
    account = id_of(payload.get("completed_by"))
    own_accounts: set[int | None] = set(accounts)
    if on_record is not None and on_record.record.judged_at == payload.get("created_at"):
        # The server forgets whose an annotation was when it removes the account.
        account = on_record.account if account is None else account
        own_accounts.add(on_record.account)
        if (payload.get("updated_at") or "") < (on_record.changed_at or ""):
            flags.append(OLDER)
    if payload.get("was_cancelled"):
        flags.append(SKIPPED)
    if account not in own_accounts:
        # Without the person's own accounts: another one of theirs is no change of this answer.
        flags.append(DELETED if account is None else f"{BY_ANOTHER} {account}, which is not this person's")
    changed_by = id_of(payload.get("updated_by"))
    if changed_by is not None and changed_by not in {account, *own_accounts}:
        flags.append(f"{EDITED} {changed_by}, not by its author")
    grade, cannot_judge = _judgement(results, grades, flags)
    differences = [cause for cause in _values_of(results, SETTLED_BY, "choices") if cause in _DIFFERENCES]
    lead_time = payload.get("lead_time")
    return ReadAnnotation(
        pair_key=pair_key,
        grade=grade,
        cannot_judge=cannot_judge,
        comment=_comment(results),
        settled_by=differences[0] if differences else None,
        lead_time=float(lead_time) if isinstance(lead_time, int | float) and 0 <= lead_time < math.inf else None,
        created_at=payload.get("created_at"),
        changed_at=payload.get("updated_at"),
        account=account,
        flags=tuple(flags),
        payload=payload,
    )


def write_result(
    task: Payload,
    *,
    grade: int | None = None,
    cannot_judge: str | None = None,
    comment: str | None = None,
    settled_by: str | None = None,
) -> list[dict[str, Any]]:
    """The result that a person gives on the screen by these keys, with the task's predicted labels left as they are."""
    result = [
        {**region, "origin": "prediction"}
        for prediction in task.get("predictions", ())
        for region in prediction["result"]
    ]
    if grade is not None:
        result.append(_choice(RATING, str(grade)))
    if cannot_judge is not None:
        result.append(_choice(RATING, CANNOT_JUDGE))
        result.append(_choice(REASON, cannot_judge))
    if settled_by is not None:
        result.append(_choice(SETTLED_BY, settled_by))
    if comment:
        result.append(_result(COMMENT, "textarea", {"text": [comment]}))
    return result


def _judgement(results: list[dict[str, Any]], grades: Sequence[int], flags: list[str]) -> tuple[int | None, str | None]:
    rated = _values_of(results, RATING, "choices")
    reasons = _values_of(results, REASON, "choices")
    if not rated:
        flags.append("no grade")
        return None, None
    if len(rated) > 1:
        flags.append(f"{len(rated)} grades ({', '.join(map(str, rated))}), expected one")
        return None, None
    if rated[0] == CANNOT_JUDGE:
        if len(reasons) == 1 and reasons[0] in KNOWN_REASONS:
            return None, reasons[0]
        flags.append("cannot judge, without one of the reasons" if not reasons else f"unknown reason {reasons!r}")
        return None, None
    grade = next((valid for valid in grades if str(valid) == rated[0]), None)
    if grade is None:
        flags.append(f"grade {rated[0]!r} is not on the scale {min(grades)} to {max(grades)}")
    elif reasons:
        flags.append("a grade and a reason for not judging")
    return grade, None


def _comment(results: list[dict[str, Any]]) -> str | None:
    written = (text for name in (COMMENT, NEEDED_COMMENT) for text in _values_of(results, name, "text"))
    texts = [text.strip() for text in written if isinstance(text, str)]
    return " ".join(filter(None, texts)) or None


def _values_of(results: list[dict[str, Any]], control: str, kind: str) -> list[Any]:
    """Values that were chosen or written with one control."""
    values = [item.get("value") for item in results if item.get("from_name") == control]
    chosen = [value.get(kind) for value in values if isinstance(value, dict)]
    # A program may have sent a lone text outside a list; a lone choice is not believed.
    return [
        text for entry in chosen for text in ([entry] if kind == "text" and isinstance(entry, str) else _list(entry))
    ]


def id_of(value: Any) -> int | None:
    """The id of an account; the server gives it alone or with further facts about the person."""
    user_id = value.get("id") if isinstance(value, dict) else value
    return user_id if isinstance(user_id, int) and not isinstance(user_id, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _choice(control: str, value: str) -> dict[str, Any]:
    return _result(control, "choices", {"choices": [value]})


def _result(control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": control, "to_name": TEXT, "type": kind, "value": value, "origin": "manual"}
