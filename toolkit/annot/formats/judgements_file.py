"""Judgements that were made with another tool: CSV with a header, or JSON Lines, one judgement a row."""

from __future__ import annotations

import difflib
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from annot.formats.faults import Faults
from annot.formats.json_lines import read_objects
from annot.formats.spreadsheet import decoded, plain, read_table

NAMES: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "topic", "topic_id", "qid"),
    "document": ("document", "document_id", "doc", "doc_id", "docid", "docno", "candidate", "candidate_id"),
    "assessor": ("assessor", "assessor_id", "annotator", "annotator_id", "judge", "rater", "coder", "worker"),
    "grade": ("grade", "relevance", "rating", "rel", "judgement", "judgment"),
    "time": ("time", "judged_at", "timestamp", "created_at", "datetime", "date"),
    "seconds": ("seconds", "lead_time", "duration", "time_spent"),
    "occasion": ("occasion",),
    "comment": ("comment", "comments", "note", "notes", "remark"),
}
"""The names under which each field is found when none is given; case, and hyphen or blank for `_`, do not matter."""
SECOND_CHOICE = {"grade": ("score",)}
"""Names that stand for the field only where none of `NAMES` does: a score may also be a ranking's."""
REQUIRED = ("query", "document", "assessor", "grade")
NO_GRADE = frozenset(("", "-", "na", "n/a", "nan", "none", "null"))
"""How a judgement that has no grade is written, in any case."""

SHORTEST_MOMENT = 1e8
"""A bare number from here on is a moment in Unix time (1973 in seconds): nobody takes three years over one pair."""
_MILLISECONDS = 1e11


@dataclass(frozen=True, slots=True)
class FileJudgement:
    """One row, with the names as the file has them; `assessor` may be a person's name."""

    line: int
    query: str
    document: str
    assessor: str
    grade: int | None
    """None where the row has none."""
    judged_at: str | None
    """ISO 8601, UTC."""
    seconds: float | None
    comment: str | None
    occasion: int
    """2 where the same person judged the same pair again without knowing; 1 otherwise."""
    row: Mapping[str, Any]
    """The row as it was read, by column."""


def read_judgements(
    data: bytes, *, name: str, columns: Mapping[str, str], scale: Sequence[str]
) -> tuple[FileJudgement, ...]:
    """The judgements in the bytes of a file, in its order.

    columns: the column of each field that the caller names; others are found by `NAMES`, those that are not required
    only where they are there. scale: the names of the grades from 0 upward; a grade is a number of the scale or one of
    these names. time: a moment (ISO 8601, UTC where it has no zone, or Unix time), or else the seconds it took.
    CSV is read as `annot.formats.spreadsheet` does; a file whose first character is `{` is JSON Lines.
    Raises InputError with the line of every fault; an assessor's name is not repeated in any.
    """
    faults = Faults(name)
    text = decoded(data)
    rows: list[tuple[int, dict[str, Any]]]
    if text.lstrip().startswith("["):
        faults.add("found a JSON array, expected one object a line")
        rows = []
    elif text.lstrip().startswith("{"):
        rows = list(read_objects(io.StringIO(text), faults))
    else:
        named = [heading for names in (*NAMES.values(), *SECOND_CHOICE.values()) for heading in names]
        rows = [*read_table(text, faults, known={plain(heading) for heading in [*columns.values(), *named]}).rows]
    if not rows:
        if not faults.found:
            faults.add("found no judgement")
        faults.raise_if_any()
    before = len(faults.found)
    fields = _fields([heading for _, row in rows for heading in row], columns, faults)
    if len(faults.found) > before:
        faults.raise_if_any(hint="name the columns with --query-column, --document-column and so on")
    reading = _Reading(fields, scale, faults)
    judgements = [judgement for line, row in rows if (judgement := reading.judgement(line, row)) is not None]
    _refuse_doubles(judgements, faults)
    faults.raise_if_any()
    return tuple(judgements)


def _refuse_doubles(judgements: Iterable[FileJudgement], faults: Faults) -> None:
    seen: dict[tuple[str, str, str, int], int] = {}
    for judgement in judgements:
        key = (judgement.query, judgement.document, judgement.assessor, judgement.occasion)
        if key in seen:
            problem = (
                f"{judgement.query} {judgement.document}: this assessor judged the pair on line {seen[key]} already"
            )
            faults.add(f"{problem}; mark a repeated judgement with occasion 2", line=judgement.line)
        seen.setdefault(key, judgement.line)


def _fields(headings: Sequence[str], columns: Mapping[str, str], faults: Faults) -> dict[str, str]:
    """The column of each field that there is."""
    fields: dict[str, str] = {}
    for field, names in NAMES.items():
        taken = {column for other, column in columns.items() if other != field}
        there = [heading for heading in dict.fromkeys(headings) if heading not in taken]
        wanted = (columns[field],) if field in columns else names
        found = _called(there, wanted)
        if not found and field not in columns:
            found = _called(there, SECOND_CHOICE.get(field, ()))
        # A name that is given exactly wins over one that only looks like it.
        found = [heading for heading in found if heading == columns.get(field)] or found
        if len(found) > 1:
            faults.add(f"columns {' and '.join(map(repr, found))} could both be the {field}")
        elif found:
            fields[field] = found[0]
        elif field in columns or field in REQUIRED:
            others = {name for other, names in NAMES.items() if other != field for name in _called(there, names)}
            near = difflib.get_close_matches(wanted[0], [heading for heading in there if heading not in others], 1)
            expected = f"did you mean {near[0]!r}?" if near else f"expected one named {' or '.join(wanted)}"
            faults.add(f"no column for the {field}; {expected}")
    return fields


def _called(headings: Iterable[str], names: Iterable[str]) -> list[str]:
    """The headings that are one of the names."""
    wanted = {plain(name) for name in names}
    return [heading for heading in headings if plain(heading) in wanted]


class _Reading:
    """Rows being read by the columns found; what is wrong with them gathers in `faults`."""

    def __init__(self, fields: Mapping[str, str], scale: Sequence[str], faults: Faults) -> None:
        self._fields = fields
        self._scale = scale
        self._grades = {name.casefold(): grade for grade, name in enumerate(scale)}
        self._faults = faults

    def judgement(self, line: int, row: Mapping[str, Any]) -> FileJudgement | None:
        before = len(self._faults.found)
        query, document = self._id("query", line, row), self._id("document", line, row)
        assessor = self._text("assessor", row)
        if not assessor:
            self._faults.add("no assessor, expected who judged", line=line)
        grade = self._grade(line, row)
        judged_at, seconds = self._time(line, row)
        given = self._seconds(line, row)
        occasion = self._occasion(line, row)
        if len(self._faults.found) > before:
            return None
        return FileJudgement(
            line=line,
            query=query,
            document=document,
            assessor=assessor,
            grade=grade,
            judged_at=judged_at,
            seconds=seconds if given is None else given,
            comment=self._text("comment", row) or None,
            occasion=occasion,
            row=row,
        )

    def _text(self, field: str, row: Mapping[str, Any]) -> str:
        value = row.get(self._fields.get(field, ""), "")
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return "" if value is None else str(value).strip()

    def _id(self, field: str, line: int, row: Mapping[str, Any]) -> str:
        value = row.get(self._fields[field], "")
        text = self._text(field, row)
        if isinstance(value, bool | float | list | dict):
            self._faults.add(f"{field} {value!r}, expected an id", line=line)
        elif not text:
            self._faults.add(f"no {field}, expected an id", line=line)
        elif any(char.isspace() for char in text):
            self._faults.add(f"{field} {text!r}, expected an id without white space", line=line)
        elif re.fullmatch(r"[0-9]+[.,][0-9]+E\+[0-9]+", text, re.IGNORECASE):
            self._faults.add(f"{field} {text!r}: a spreadsheet turned the id into a number", line=line)
        return text

    def _grade(self, line: int, row: Mapping[str, Any]) -> int | None:
        text = self._text("grade", row)
        if text.casefold() in NO_GRADE:
            return None
        # Spreadsheets write a grade in a column with gaps as 3.0, or 3,0.
        number = re.fullmatch(r"([0-9]{1,9})(?:[.,]0+)?", text)
        grade = int(number[1]) if number else self._grades.get(text.casefold())
        if grade is None or grade >= len(self._scale):
            expected = f"expected 0 to {len(self._scale) - 1}, or nothing where there is none"
            self._faults.add(f"grade {text!r}, {expected}", line=line)
            return None
        return grade

    def _time(self, line: int, row: Mapping[str, Any]) -> tuple[str | None, float | None]:
        """The moment of the judgement, or the seconds it took."""
        text = self._text("time", row)
        if text.casefold() in NO_GRADE:
            return None, None
        number = _number(text)
        try:
            if number is None or re.fullmatch("[0-9]{8}", text):
                moment = datetime.fromisoformat(text)
                moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
                return moment.astimezone(UTC).isoformat(), None
            if number >= SHORTEST_MOMENT:
                moment = datetime.fromtimestamp(number / (1000 if number >= _MILLISECONDS else 1), tz=UTC)
                return moment.isoformat(), None
        except (ValueError, OverflowError, OSError):
            expected = "expected ISO 8601 (2031-03-14T18:00:00Z), Unix time, or the seconds it took"
            self._faults.add(f"time {text!r}, {expected}", line=line)
            return None, None
        return None, number

    def _occasion(self, line: int, row: Mapping[str, Any]) -> int:
        text = self._text("occasion", row) or "1"
        if not re.fullmatch("[1-9]", text):
            self._faults.add(f"occasion {text!r}, expected 1, or 2 for a repeat", line=line)
            return 1
        return int(text)

    def _seconds(self, line: int, row: Mapping[str, Any]) -> float | None:
        text = self._text("seconds", row)
        if text.casefold() in NO_GRADE:
            return None
        number = _number(text)
        if number is None:
            self._faults.add(f"seconds {text!r}, expected a number, 0 or more", line=line)
        return number


def _number(text: str) -> float | None:
    """A number, 0 or more, with a decimal point or comma."""
    try:
        number = float(text.replace(",", ".", 1))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 and "_" not in text else None
