"""Annotations as the server gives them, read into what a judgement needs, and written the same way.

The server stores whatever it gets: grades off the scale, empty results, unknown controls, another account's work. So
nothing is believed: what keeps an annotation from counting is said in words (`flags`), what is merely odd is noted
(`notes`), and the payload stays as it came.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annot.labelstudio import controls
from annot.labelstudio.studio_records import Payload, PulledTask
from annot.records import LABELS

_REASONS = tuple(reason.value for reason in controls.REASONS)
_GROUNDS = tuple(ground.value for ground in controls.GROUNDS)
_KNOWN = (controls.RATING, controls.REASON, controls.COMMENT, controls.SENTENCE_LABEL, controls.SETTLED_BY)
_SENTENCE = re.compile(r"(query|cand)-(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one annotation says. It counts when `flags` is empty: one grade of the scale, or one reason, not both."""

    annotation_id: int | None
    account: int | None
    """User id of `completed_by`."""
    grade: int | None
    cannot_judge: str | None
    comment: str | None
    settled_by: str | None
    """Adjudication only: the ground chosen by key."""
    labels: Mapping[str, str]
    """The label of each sentence, by region id (`query-0`, `cand-3`; positions count from 0)."""
    corrected: tuple[str, ...]
    """The ids in `labels` that the person changed or set."""
    lead_time: float | None
    """Seconds."""
    created_at: str | None
    updated_at: str | None
    flags: tuple[str, ...]
    notes: tuple[str, ...]
    payload: Payload


def read_task(task: PulledTask, *, grades: Sequence[int], expected_account: int) -> tuple[Reading, ...]:
    """Every annotation on a task, oldest first; at most one has no flags: the latest of the expected account."""
    readings = [read_annotation(a, grades=grades, expected_account=expected_account) for a in task.annotations]
    readings.sort(key=lambda reading: (reading.updated_at or "", reading.annotation_id or 0))
    counting = [reading for reading in readings if not reading.flags]
    superseded = {id(reading) for reading in counting[:-1]}
    return tuple(
        replace(reading, flags=(f"superseded by annotation {counting[-1].annotation_id}",))
        if id(reading) in superseded
        else reading
        for reading in readings
    )


def read_annotation(payload: Payload, *, grades: Sequence[int], expected_account: int) -> Reading:
    """What one annotation says, with everything that is wrong with it; never raises."""
    results = [item for item in _list(payload.get("result")) if isinstance(item, dict)]
    flags: list[str] = []
    notes: list[str] = []
    account = _account(payload.get("completed_by"))
    if payload.get("was_cancelled"):
        flags.append("skipped")
    if account != expected_account:
        flags.append(f"by account {account}, planned for account {expected_account}")
    changed_by = _account(payload.get("updated_by"))
    if changed_by is not None and changed_by != account:
        flags.append(f"last changed by account {changed_by}, not by its author")
    grade, cannot_judge = _judgement(results, grades, flags)
    labels, corrected = _labels(results, notes)
    lead_time = _lead_time(payload.get("lead_time"), notes)
    unknown = sorted({str(item.get("from_name")) for item in results} - set(_KNOWN))
    notes += [f"unknown control {name!r}" for name in unknown]
    return Reading(
        annotation_id=_integer(payload.get("id")),
        account=account,
        grade=grade,
        cannot_judge=cannot_judge,
        comment=" ".join(_texts(results)) or None,
        settled_by=next((c for c in _choices(results, controls.SETTLED_BY) if c in _GROUNDS), None),
        labels=labels,
        corrected=corrected,
        lead_time=lead_time,
        created_at=_moment(payload.get("created_at")),
        updated_at=_moment(payload.get("updated_at")),
        flags=tuple(flags),
        notes=tuple(notes),
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
    rated = _choices(results, controls.RATING)
    reasons = _choices(results, controls.REASON)
    if not rated:
        flags.append("no grade")
        return None, None
    if len(rated) > 1:
        flags.append(f"{len(rated)} grades ({', '.join(map(str, rated))}), expected one")
        return None, None
    if rated[0] == controls.CANNOT_JUDGE:
        if len(reasons) == 1 and reasons[0] in _REASONS:
            return None, reasons[0]
        flags.append("cannot judge, without one of the reasons" if not reasons else f"unknown reason {reasons!r}")
        return None, None
    grade = next((known for known in grades if str(known) == rated[0]), None)
    if grade is None:
        flags.append(f"grade {rated[0]!r} is not on the scale {min(grades)} to {max(grades)}")
    elif reasons:
        flags.append("a grade and a reason for not judging")
    return grade, None


def _labels(results: list[dict[str, Any]], notes: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    labels: dict[str, str] = {}
    corrected: set[str] = set()
    own = 0
    for item in results:
        if item.get("from_name") != controls.SENTENCE_LABEL:
            continue
        region = str(item.get("id"))
        value = item.get("value")
        chosen = _list(value.get("labels")) if isinstance(value, dict) else []
        if not _SENTENCE.fullmatch(region):
            own += 1
        elif len(chosen) != 1 or chosen[0] not in LABELS:
            notes.append(f"sentence {region}: found labels {chosen!r}, expected one of {', '.join(LABELS)}")
        else:
            labels[region] = chosen[0]
            if item.get("origin") != "prediction":
                corrected.add(region)
    if own:
        notes.append(f"{own} marked passage(s) that are no sentence of the task")
    return labels, tuple(sorted(corrected))


def _choices(results: list[dict[str, Any]], control: str) -> list[Any]:
    found: list[Any] = []
    for item in results:
        if item.get("from_name") == control:
            value = item.get("value")
            found += _list(value.get("choices")) if isinstance(value, dict) else []
    return found


def _texts(results: list[dict[str, Any]]) -> list[str]:
    texts: list[str] = []
    for item in results:
        if item.get("from_name") == controls.COMMENT:
            value = item.get("value")
            text = value.get("text") if isinstance(value, dict) else None
            texts += [text] if isinstance(text, str) else [part for part in _list(text) if isinstance(part, str)]
    return [text.strip() for text in texts if text.strip()]


def _lead_time(value: Any, notes: list[str]) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        notes.append(f"lead time {value!r} is no number of seconds")
        return None
    return float(value)


def _account(value: Any) -> int | None:
    return _integer(value.get("id") if isinstance(value, dict) else value)


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moment(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _choice(control: str, value: str) -> dict[str, Any]:
    return _result(control, "choices", {"choices": [value]})


def _result(control: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": control, "to_name": controls.TEXT, "type": kind, "value": value, "origin": "manual"}
