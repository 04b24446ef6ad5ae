"""Annotations as the server gives them, read into what a judgement needs, and written the same way.

The server stores whatever it gets: grades off the scale, empty results, unknown controls, another account's work. So
nothing is believed: what keeps an annotation from counting is said in words (`flags`), and the payload stays as it
came, with the sentence labels that a person may have corrected.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annot.base.records import OLDER, SUPERSEDED, Asked
from annot.labelstudio import controls
from annot.labelstudio.studio_records import Payload
from annot.store.revisions import Sourced

_DIFFERENCES = {one.value for one in (*controls.DIFFERENCES, *controls.DIFFERENCES_OF_WHOLES)}

SKIPPED = "skipped"
BY_ANOTHER = "by account"
"""How the flag begins of an annotation that is not the person's."""
EDITED = "last changed by account"
"""How the flag begins of an annotation that somebody else changed after its author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one annotation says. It counts when `flags` is empty: one grade of the scale, or one reason, not both."""

    asked: Asked
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
    """Of what stood beside the task when the annotation was last changed; known where its project is."""

    @property
    def annotation(self) -> str:
        """The server's id, as text."""
        return str(self.payload["id"])


def read_task(
    annotations: Sequence[Payload],
    *,
    asked: Asked,
    grades: Sequence[int],
    accounts: Collection[int],
    on_record: Mapping[str, Sourced[Any]] | None = None,
) -> tuple[Reading, ...]:
    """Every annotation on a task, oldest first; at most one has no flags: the latest of the person's accounts.

    accounts: the server's ids of the accounts that are the person's. on_record: the annotations that counted before, by
    their ids as text; they are the person's whatever has become of the account.
    """
    in_order = sorted(annotations, key=lambda payload: (payload["updated_at"], payload["id"]))
    known = on_record or {}
    readings = [
        read_annotation(payload, asked=asked, grades=grades, accounts=accounts, on_record=known.get(str(payload["id"])))
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
    asked: Asked,
    grades: Sequence[int],
    accounts: Collection[int],
    on_record: Sourced[Any] | None = None,
) -> Reading:
    """What one annotation says, with everything that keeps it from counting; never raises.

    on_record: what counted when it was read the last time. A server that was restored gives the number of an annotation
    twice; the moment at which it was made tells the two apart.
    """
    results = [item for item in _list(payload.get("result")) if isinstance(item, dict)]
    flags: list[str] = []
    account = account_of(payload)
    own: set[int | None] = set(accounts)
    if on_record is not None and on_record.record.judged_at == payload.get("created_at"):
        # The server forgets whose an annotation was when it removes the account.
        account = on_record.account if account is None else account
        own.add(on_record.account)
        if (payload.get("updated_at") or "") < (on_record.changed_at or ""):
            flags.append(OLDER)
    if payload.get("was_cancelled"):
        flags.append(SKIPPED)
    if account not in own:
        planned = " or ".join(map(str, sorted(accounts))) or "none that is known"
        flags.append(f"{BY_ANOTHER} {account}, planned for account {planned}")
    changed_by = id_of(payload.get("updated_by"))
    if changed_by is not None and changed_by not in {account, *own}:
        flags.append(f"{EDITED} {changed_by}, not by its author")
    grade, cannot_judge = _judgement(results, grades, flags)
    differences = [given for given in _given(results, controls.SETTLED_BY, "choices") if given in _DIFFERENCES]
    lead_time = payload.get("lead_time")
    return Reading(
        asked=asked,
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
        result.append(_choice(controls.RATING, str(grade)))
    if cannot_judge is not None:
        result.append(_choice(controls.RATING, controls.CANNOT_JUDGE))
        result.append(_choice(controls.REASON, cannot_judge))
    if settled_by is not None:
        result.append(_choice(controls.SETTLED_BY, settled_by))
    if comment:
        result.append(_result(controls.COMMENT, "textarea", {"text": [comment]}))
    return result


def _judgement(results: list[dict[str, Any]], grades: Sequence[int], flags: list[str]) -> tuple[int | None, str | None]:
    rated = _given(results, controls.RATING, "choices")
    reasons = _given(results, controls.REASON, "choices")
    if not rated:
        flags.append("no grade")
        return None, None
    if len(rated) > 1:
        flags.append(f"{len(rated)} grades ({', '.join(map(str, rated))}), expected one")
        return None, None
    if rated[0] == controls.CANNOT_JUDGE:
        if len(reasons) == 1 and reasons[0] in controls.KNOWN_REASONS:
            return None, reasons[0]
        flags.append("cannot judge, without one of the reasons" if not reasons else f"unknown reason {reasons!r}")
        return None, None
    grade = next((known for known in grades if str(known) == rated[0]), None)
    if grade is None:
        flags.append(f"grade {rated[0]!r} is not on the scale {min(grades)} to {max(grades)}")
    elif reasons:
        flags.append("a grade and a reason for not judging")
    return grade, None


def _comment(results: list[dict[str, Any]]) -> str | None:
    written = (text for name in (controls.COMMENT, controls.NEEDED_COMMENT) for text in _given(results, name, "text"))
    texts = [text.strip() for text in written if isinstance(text, str)]
    return " ".join(filter(None, texts)) or None


def _given(results: list[dict[str, Any]], control: str, kind: str) -> list[Any]:
    """What was chosen or written with one control."""
    values = [item.get("value") for item in results if item.get("from_name") == control]
    found = [value.get(kind) for value in values if isinstance(value, dict)]
    # A program may have sent a lone text outside a list; a lone choice is not believed.
    return [given for one in found for given in ([one] if kind == "text" and isinstance(one, str) else _list(one))]


def account_of(payload: Payload) -> int | None:
    """The server's id of the account that made the annotation."""
    return id_of(payload.get("completed_by"))


def id_of(value: Any) -> int | None:
    """The id of an account; the server gives it alone or with what else it knows of the person."""
    user_id = value.get("id") if isinstance(value, dict) else value
    return user_id if isinstance(user_id, int) and not isinstance(user_id, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _choice(control: str, value: str) -> dict[str, Any]:
    return _result(control, "choices", {"choices": [value]})


def _result(control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": control, "to_name": controls.TEXT, "type": kind, "value": value, "origin": "manual"}
