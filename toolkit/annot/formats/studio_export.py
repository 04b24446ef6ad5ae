"""Judgements in the JSON of others: exports of any Label Studio project, and RELISH.

An export has one object a task with every annotation on it. RELISH has seed articles of PubMed, each with the articles
that a scientist found relevant, partly so, or not (Brown and Zhou, Database 2019, doi:10.1093/database/baz085; the file
is RELISH_v1.json).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from pydantic import ConfigDict

from annot.base.errors import Faults, InputError, json_problem
from annot.base.names import moment_of, near
from annot.formats.json_lines import Strict, checked
from annot.formats.judgements_file import NO_GRADE, FileJudgement

SKIPPED = "skipped"
"""The flag of an annotation that the person cancelled."""
GIVEN = ("choices", "rating", "number", "taxonomy")
"""Under what a control keeps what was given with it."""


@dataclass(frozen=True, slots=True)
class ExportKeys:
    """Where a judgement stands in the tasks and annotations of the export."""

    rating: str
    """The name of the control with which the grade was given."""
    query: str
    """The key of the task's data that holds the query's id."""
    document: str
    """The key of the task's data that holds the document's id."""
    comment: str | None
    """The name of the control with which a comment was written."""


def read_export(
    data: bytes, *, name: str, keys: ExportKeys, grades: Mapping[str, int | None], scale: Sequence[str]
) -> tuple[FileJudgement, ...]:
    """Every annotation of every task, by the time of its last change; drafts and predictions are no judgements.

    grades: what was given with the control, and the grade that it stands for; None if it says that the pair could
    not be judged. What it does not name is a number of the scale or the name of a grade. `line` of a judgement is the
    number of its task, `assessor` the address of its account, or the account's number if no task of the export has an
    address for it.
    Raises InputError with the task of every fault; no address is repeated in any.
    """
    faults = Faults(name)
    wanted = {_plain(text): grade for text, grade in grades.items()}
    wanted = {**{text.casefold(): grade for grade, text in enumerate(scale)}, **wanted}
    wanted = {**{str(grade): grade for grade in range(len(scale))}, **wanted}
    found = []
    controls: dict[str, None] = {}
    for task, annotation in _annotations(data, faults):
        place = f"task {task.get('id', '?')}"
        controls.update(dict.fromkeys(item["from_name"] for item in _results(annotation)))
        try:
            found.append(_judgement(task, annotation, keys, wanted, len(scale)))
        except ValueError as error:
            faults.add(str(error), place=place)
    if controls and keys.rating not in controls:
        faults.add(f"no annotation has a control named {keys.rating!r}; {near(keys.rating, controls)}")
    faults.raise_if_any(found=found, nothing="found no annotations")
    addresses = {row.account: row.assessor for row in found if row.account is not None}
    found = [
        replace(row, assessor=address, account=row.assessor)
        if (address := addresses.get(row.assessor)) is not None
        else row
        for row in found
    ]
    return tuple(sorted(found, key=_place))


def _place(row: FileJudgement) -> tuple[str, int, int, str]:
    return row.changed_at or row.judged_at or "", row.line, len(row.annotation), row.annotation


def grades_named(given: Sequence[str], scale: Sequence[str]) -> dict[str, int | None]:
    """`Highly relevant=3` as what was given and its grade; `=none` says that the pair could not be judged.

    >>> grades_named(["Highly relevant=3", "Broken=none"], ["no", "a bit", "much", "all"])
    {'Highly relevant': 3, 'Broken': None}
    """
    found: dict[str, int | None] = {}
    for text in given:
        value, sign, grade = text.rpartition("=")
        value, grade = value.strip(), grade.strip()
        if not sign or not value or not (grade.casefold() in NO_GRADE or grade in map(str, range(len(scale)))):
            raise InputError(f"--grade {text!r}: expected VALUE=GRADE, a grade from 0 to {len(scale) - 1} or none")
        found[value] = None if grade.casefold() in NO_GRADE else int(grade)
    return found


def _annotations(data: bytes, faults: Faults) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each annotation with its task; what is no such export is a fault."""
    hint = "in Label Studio: Export, format JSON"
    try:
        tasks = json.loads(data, parse_constant=lambda _: None)
    except UnicodeDecodeError as error:
        raise InputError(f"{faults.name}: not UTF-8 at byte {error.start}", hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{faults.name}: {json_problem(error)}", hint=hint) from None
    if not isinstance(tasks, list):
        raise InputError(f"{faults.name}: found {type(tasks).__name__}, expected a list of tasks", hint=hint)
    if any(isinstance(task, dict) and "annotation_id" in task and "annotations" not in task for task in tasks):
        raise InputError(f"{faults.name}: JSON-MIN, which leaves out skipped and revised annotations", hint=hint)
    for at, task in enumerate(tasks, start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            faults.add("no data, expected a task of Label Studio", place=f"entry {at}")
        elif not isinstance(task.get("annotations"), list):
            faults.add("no list of annotations", place=f"task {task.get('id', '?')}")
        else:
            for annotation in task["annotations"]:
                if isinstance(annotation, dict):
                    yield task, annotation
                else:
                    faults.add(f"found {annotation!r:.40}, expected an annotation", place=f"task {task.get('id', '?')}")


def _judgement(
    task: Mapping[str, Any], annotation: Mapping[str, Any], keys: ExportKeys, grades: Mapping[str, int | None], n: int
) -> FileJudgement:
    """Raises ValueError with what is wrong."""
    number = annotation.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError("an annotation without a number (id)")
    cancelled = bool(annotation.get("was_cancelled"))
    said = _given(annotation, keys.rating)
    if len(said) > 1 and not cancelled:
        raise ValueError(f"annotation {number}: {len(said)} values of {keys.rating!r}, expected one")
    grade = None
    if said and not cancelled:
        if (value := _plain(said[0])) not in grades:
            raise ValueError(
                f"annotation {number}: {said[0]!r:.60} is not a grade from 0 to {n - 1}; "
                'say which with --grade "VALUE=GRADE"'
            )
        grade = grades[value]
    comments = [text.strip() for text in _given(annotation, keys.comment, ("text",)) if isinstance(text, str)]
    seconds = annotation.get("lead_time")
    judged_at, changed_at = (_moment(annotation, key, number) for key in ("created_at", "updated_at"))
    assessor, account = _person(annotation.get("completed_by"), number)
    return FileJudgement(
        line=task["id"] if isinstance(task.get("id"), int) else 0,
        query=_id(task, keys.query),
        document=_id(task, keys.document),
        assessor=assessor,
        grade=grade,
        judged_at=judged_at,
        seconds=float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None,
        comment=" ".join(filter(None, comments)) or None,
        occasion=1,
        row=annotation,
        annotation=str(number),
        cannot_judge=str(said[0]) if said and grade is None and not cancelled else None,
        flags=(SKIPPED,) if cancelled else (),
        changed_at=changed_at,
        account=account,
    )


def _id(task: Mapping[str, Any], key: str) -> str:
    if key not in task["data"]:
        raise ValueError(f"no {key!r} in the data of the task; {near(key, task['data'])}")
    value = task["data"][key]
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text or any(letter.isspace() for letter in text):
        raise ValueError(f"{key} {value!r:.60}, expected an id without white space")
    return text


def _person(completed_by: Any, number: int) -> tuple[str, str | None]:
    """The address of the account and its number, or its number alone and None."""
    address = account = None
    if isinstance(completed_by, dict):
        address, completed_by = completed_by.get("email"), completed_by.get("id")
    if isinstance(completed_by, str | int) and not isinstance(completed_by, bool):
        account = str(completed_by).strip()
    if isinstance(address, str) and address.strip():
        return address.strip(), account or None
    if not account:
        raise ValueError(f"annotation {number}: does not say who made it (completed_by)")
    return account, None


def _moment(annotation: Mapping[str, Any], key: str, number: int) -> str | None:
    value = annotation.get(key)
    if value is None:
        return None
    if (moment := moment_of(str(value))) is None:
        raise ValueError(f"annotation {number}: {key} {value!r:.40}, expected a date and time in ISO 8601")
    return moment.astimezone(UTC).isoformat()


def _results(annotation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was given with each control."""
    found = annotation.get("result")
    items = found if isinstance(found, list) else []
    return [item for item in items if isinstance(item, dict) and isinstance(item.get("from_name"), str)]


def _given(annotation: Mapping[str, Any], control: str | None, kinds: Sequence[str] = GIVEN) -> list[Any]:
    """What was given with one control."""
    found: list[Any] = []
    for item in _results(annotation):
        if item["from_name"] == control and isinstance(item.get("value"), dict):
            for kind in kinds:
                value = item["value"].get(kind)
                found += value if isinstance(value, list) else [] if value is None else [value]
    return found


def _plain(value: Any) -> str:
    """A value as it is compared: numbers without a fraction of zero, text without case."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold()


GRADES: Mapping[str, int] = {"irrelevant": 0, "partial": 1, "relevant": 2}


class _Response(Strict):
    model_config = ConfigDict(extra="forbid")

    relevant: list[str]
    partial: list[str]
    irrelevant: list[str]


class _Seed(Strict):
    pmid: str
    response: _Response


def read_relish(data: bytes, *, name: str) -> tuple[FileJudgement, ...]:
    """The judgements in the bytes of RELISH's JSON: grade 2 for relevant, 1 for partial, 0 for irrelevant.

    Queries and documents are PubMed ids. The file does not say who judged: of a seed article that several people
    judged, the first entry is `a1`'s, the second `a2`'s. `line` is the entry's number, from 1.
    Raises InputError with every fault: an entry of another form, a document twice in one entry.
    """
    faults = Faults(name)
    try:
        entries = json.loads(data)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error))
        entries = []
    else:
        if not isinstance(entries, list) or not entries:
            faults.add(f"found {json.dumps(entries)[:40]}, expected a list of entries with `pmid` and `response`")
            entries = []
    judgements: list[FileJudgement] = []
    seen = Counter[str]()
    for number, record in enumerate(entries, 1):
        place = f"entry {number}"
        if (entry := checked(_Seed.model_validate, record, faults, place=place)) is None:
            continue
        seen[entry.pmid] += 1
        graded = [(doc_id, grade) for label, grade in GRADES.items() for doc_id in getattr(entry.response, label)]
        for doc_id, count in Counter(doc_id for doc_id, _ in graded).items():
            if count > 1:
                faults.add(f"document {doc_id!r} occurs {count} times", place=place)
        judgements += (
            FileJudgement(
                *(number, entry.pmid, doc_id, f"a{seen[entry.pmid]}", grade, None, None, None, 1), row={"entry": number}
            )
            for doc_id, grade in graded
        )
    faults.raise_if_any()
    return tuple(judgements)
