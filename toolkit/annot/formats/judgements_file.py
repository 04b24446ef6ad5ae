"""Judgements in files: our own and those of other tools, exports of Label Studio, and RELISH."""

from __future__ import annotations

import difflib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from annot.base.errors import Faults, InputError, json_problem
from annot.base.names import moment_of, near
from annot.base.records import Adjudication, Decision, Judgement, Pool, immutable
from annot.formats.cleaning import without_direction
from annot.formats.input_files import (
    ByColumn,
    Strict,
    checked,
    chosen_rows,
    decoded,
    json_lines,
    plain,
    read_objects,
    read_table,
)

# ----------------------------------------------------------------------------------------------------------------------
# Judgements in files: those of other tools (CSV with a header, or JSON Lines), and our own as JSON Lines.
# ----------------------------------------------------------------------------------------------------------------------


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
"""The names under which each field is found when none is given; case, and hyphen or space for `_`, do not matter."""
MARKS = {"set_aside": "on another version of a text", "returned": "given when the pair was returned"}
"""Marks of our own judgements that do not count here, each with the reason."""
ADJUDICATOR = "adjudicator"
OF_DECISIONS = frozenset(("origin", ADJUDICATOR))
"""Keys by which our own final grades are known."""
SECOND_CHOICE = {"grade": ("score", "label"), "assessor": (ADJUDICATOR,)}
"""Names of the field that count only if none of `NAMES` is there: a score may also be a ranking's, and a label the name
of the grade. A table of adjudicators alone has final grades."""
REQUIRED = ("query", "document", "assessor", "grade")
NO_GRADE = frozenset(("", "-", "na", "n/a", "none", "null"))
"""Spellings of a judgement without a grade, in any case. Not `nan`, which a calculation that went wrong leaves."""
NOTHING = NO_GRADE | {"nan"}
"""Spellings of a missing time and of missing seconds."""

SHORTEST_MOMENT = 1e8
"""Number from which a bare number is a moment in Unix time (1973 in seconds): no pair takes three years."""
_MILLISECONDS = 1e11


@immutable
class FileJudgement:
    """One row, with the names as the file has them; `assessor` may be a person's name."""

    line: int
    query: str
    document: str
    assessor: str
    grade: int | None
    """None if the row has none."""
    judged_at: str | None
    """ISO 8601, UTC."""
    seconds: float | None
    comment: str | None
    occasion: int
    """2 where the same person judged the same pair again without knowing; 1 otherwise."""
    row: Mapping[str, Any]
    """The row as it was read, by column."""
    annotation: str = ""
    """Mark that distinguishes several judgements of one pair by one person; empty if there is only one."""
    cannot_judge: str | None = None
    """Reason why there is no grade, if the file gives one."""
    flags: tuple[str, ...] = ()
    """Reasons why it does not count."""
    changed_at: str | None = None
    """Time of the last change, as `judged_at`; None if the file does not have it."""
    account: str | None = None
    """The number of the assessor's account, if `assessor` is its address."""


def columns_of(rows: Collection[FileJudgement]) -> ByColumn:
    """The rows as columns, by the names of their fields."""
    return {name: list(map(attrgetter(name), rows)) for name in FileJudgement.__match_args__}


def judgement_columns(**columns: Sequence[Any]) -> ByColumn:
    """A column for each field of `FileJudgement`; those that are not given have its default."""
    number = len(columns["line"])
    return {field.name: columns.get(field.name) or [field.default] * number for field in fields_of(FileJudgement)}


def repeated(keys: Sequence[Hashable], lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Place of each row whose key was on another line before, and that line."""
    line_of: dict[Hashable, int] = {}
    for place, key in enumerate(keys if len({*keys}) < len(keys) else ()):
        if (earlier := line_of.setdefault(key, lines[place])) != lines[place]:
            yield place, earlier


def read_judgements(data: bytes, *, name: str, columns: Mapping[str, str], scale: Sequence[str]) -> ByColumn:
    """The judgements in the bytes of a file, in its order: a column for each field of `FileJudgement`.

    columns: the column of each field that the caller names; others are found by `NAMES`, those that are not required
    only where they are there. scale: the names of the grades from 0 upward; a grade is a number of the scale or one of
    these names. time: a moment (ISO 8601, UTC where it has no zone, or Unix time), or else the seconds it took.
    CSV is read as `annot.formats.input_files` does; a file whose first character is `{` is JSON Lines.
    Raises InputError with the line of every fault; an assessor's name is not repeated in any.
    """
    faults = Faults(name)
    text = decoded(data)
    lines: Sequence[int] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    cells: ByColumn = {}
    if text.lstrip().startswith("["):
        faults.add("found a JSON array, expected one object per line")
    elif text.lstrip().startswith("{"):
        objects = _not_agreed(list(read_objects(io.StringIO(text), faults, constants=True)))
        lines, rows = [line for line, _ in objects], [row for _, row in objects]
        cells = {name: [row.get(name, "") for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}
    else:
        named = [heading for names in (*NAMES.values(), *SECOND_CHOICE.values()) for heading in names]
        headings = {plain(heading) for heading in [*columns.values(), *named]}
        csv_table = read_table(text, faults, known_headings=headings)
        lines, rows, cells = csv_table.lines, csv_table.cells, csv_table.cells.columns
    if not rows:
        faults.raise_if_any(found=rows, nothing="found no judgement, expected a header and one row each")
    faults_before = len(faults.found)
    fields = _fields([*cells], columns, faults)
    if len(faults.found) > faults_before:
        faults.raise_if_any(hint="name the columns with --query-column, --document-column and so on")
    judgements = _judgements_of(lines, rows, {field: cells[name] for field, name in fields.items()}, scale, faults)
    judgements = _with_our_marks(judgements, cells)
    keys = list(zip(*(judgements[field] for field in ("query", "document", "assessor", "occasion")), strict=True))
    for place, earlier in repeated(keys, judgements["line"]):
        problem = f"{' '.join(keys[place][:2])}: this assessor judged the pair on line {earlier} already"
        faults.add(f"{problem}; mark a repeated judgement with occasion 2", line=judgements["line"][place])
    faults.raise_if_any()
    return judgements


def _not_agreed(objects: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """The rows without those final grades of ours that assessors agreed on, which follow from their judgements."""
    if objects and objects[0][1].keys() >= OF_DECISIONS:
        return [(line, row) for line, row in objects if row.get(ADJUDICATOR)]
    return objects


def _with_our_marks(judgements: ByColumn, cells: ByColumn) -> ByColumn:
    """The answers with columns `cannot_judge` and `flags` if a study exported or released them.

    An answer that did not count there does not count here. Nor does the answer to a returned pair, since the file does
    not have the reason why the pair was returned.
    """
    are_decisions = cells.keys() >= OF_DECISIONS
    if not (are_decisions or cells.keys() >= {*OF_JUDGEMENT}):
        return judgements
    why, rows = "reason" if are_decisions else "cannot_judge", judgements["row"]
    flags = [(*_listed(row.get("flags")), *(word for mark, word in MARKS.items() if row.get(mark))) for row in rows]
    answers = zip(rows, judgements["grade"], strict=True)
    reasons = [_text(row.get(why)) or None if grade is None else None for row, grade in answers]
    return {**judgements, "cannot_judge": reasons, "flags": flags}


def _listed(flags: Any) -> Iterator[str]:
    yield from filter(None, map(_text, flags)) if isinstance(flags, list) else ()


def adjudicators_in(judgements: ByColumn) -> tuple[str, ...]:
    """Names of all people in a table that has a column of adjudicators and none of assessors."""
    headings = list(judgements["row"][0])
    alone = _called(headings, [ADJUDICATOR]) and not _called(headings, NAMES["assessor"])
    return tuple(sorted({*judgements["assessor"]})) if alone else ()


def _fields(headings: Sequence[str], columns: Mapping[str, str], faults: Faults) -> dict[str, str]:
    """The column of each field that the file has."""
    fields: dict[str, str] = {}
    for field, names in NAMES.items():
        reserved = {column for other, column in columns.items() if other != field}
        free = [heading for heading in dict.fromkeys(headings) if heading not in reserved]
        expected = (columns[field],) if field in columns else names
        matches = _called(free, expected)
        if not matches and field not in columns:
            matches = _called(free, SECOND_CHOICE.get(field, ()))
        # A name that is given exactly wins over one that only looks like it.
        matches = [heading for heading in matches if heading == columns.get(field)] or matches
        if len(matches) > 1:
            faults.add(f"columns {' and '.join(map(repr, matches))} could both be the {field}")
        elif matches:
            fields[field] = matches[0]
        elif field in columns or field in REQUIRED:
            faults.add(_missing_column_fault(field, free, expected))
    return fields


def _missing_column_fault(field: str, headings: Sequence[str], expected: Sequence[str]) -> str:
    """The fault that no column has the field, with the heading that may be meant."""
    of_others = {name for other, names in NAMES.items() if other != field for name in _called(headings, names)}
    unread = [heading for heading in headings if heading not in of_others]
    close = difflib.get_close_matches(expected[0], unread)
    remedy = f"did you mean {close[0]!r}?" if close else f"expected one named {' or '.join(expected)}"
    return f"no column for the {field}; {remedy}"


def has_columns(headings: Sequence[str]) -> bool:
    """True if each required field is found among the headings, by its known names."""
    return all(_called(headings, (*NAMES[field], *SECOND_CHOICE.get(field, ()))) for field in REQUIRED)


def _called(headings: Iterable[str], names: Iterable[str]) -> list[str]:
    """The headings that are one of the names."""
    plain_names = {plain(name) for name in names}
    return [heading for heading in headings if plain(heading) in plain_names]


Reader = Callable[[Any], Any]


def _readers(scale: Sequence[str]) -> dict[str, Reader]:
    return {
        "query": _id_of_row,
        "document": _id_of_row,
        "assessor": _assessor,
        "grade": partial(_grade, scale=scale),
        "time": _time,
        "seconds": _seconds,
        "occasion": _occasion,
        "comment": lambda value: _text(value) or None,
    }


def _judgements_of(
    lines: Sequence[int],
    rows: Sequence[Mapping[str, Any]],
    cells: ByColumn,
    scale: Sequence[str],
    faults: Faults,
) -> ByColumn:
    """The rows by their cells in the column of each field, without those that have faults, which are added to
    `faults`."""
    columns: dict[str, Sequence[Any]] = {}
    wrong: dict[int, list[str]] = {}
    for field, reader in _readers(scale).items():
        columns[field], problems = _read_column(field, reader, cells.get(field) or [""] * len(lines))
        for place, problem in problems:
            wrong.setdefault(place, []).append(problem)
    for place, found in sorted(wrong.items()):
        for problem in found:
            faults.add(problem, line=lines[place])
    times = columns.pop("time")
    moments, seconds = ([time and time[part] for time in times] for part in (0, 1))
    columns["seconds"] = [read if raw is None else raw for raw, read in zip(columns["seconds"], seconds, strict=True)]
    judgements = judgement_columns(line=lines, row=rows, judged_at=moments, **columns)
    return chosen_rows(judgements, [place not in wrong for place in range(len(lines))]) if wrong else judgements


def _read_column(field: str, reader: Reader, values: Sequence[Any]) -> tuple[Sequence[Any], list[tuple[int, str]]]:
    """Contents of a column, and the place and words of each fault."""
    if set(map(type, values)) == {str}:
        # A column has few texts, many times each.
        read = {text: _tried(field, reader, text) for text in set(values)}
        tried = list(map(read.__getitem__, values))
    else:
        tried = [_tried(field, reader, value) for value in values]
    return [content for content, _ in tried], [(place, problem) for place, (_, problem) in enumerate(tried) if problem]


def _tried(field: str, reader: Reader, value: Any) -> tuple[Any, str]:
    """Content of a value, and its fault; empty if it has none."""
    try:
        return reader(value), ""
    except ValueError as error:
        return None, f"{field} {value!r}, {error}" if _text(value) else f"no {field}, {error}"


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _id_of_row(value: Any) -> str:
    text = _text(value)
    if not text or isinstance(value, bool | float | list | dict):
        raise ValueError("expected an id")
    if any(char.isspace() for char in text):
        raise ValueError("expected an id without white space")
    if re.fullmatch(r"[0-9]+[.,][0-9]+E\+[0-9]+", text, re.IGNORECASE):
        raise ValueError("expected an id; a spreadsheet turned it into a number")
    return text


def _assessor(value: Any) -> str:
    if not _text(value):
        raise ValueError("expected the name of an assessor")
    return _text(value)


def _grade(value: Any, *, scale: Sequence[str]) -> int | None:
    text = _text(value).casefold()
    if text in NO_GRADE:
        return None
    # Spreadsheets write a grade in a column with gaps as 3.0, or 3,0.
    number = re.fullmatch(r"([0-9]{1,9})(?:[.,]0+)?", text)
    grades = {name.casefold(): grade for grade, name in enumerate(scale)}
    grade = int(number[1]) if number else grades.get(text)
    if grade is None or grade >= len(scale):
        raise ValueError(f"expected 0 to {len(scale) - 1}, or an empty cell if there is none")
    return grade


def _time(value: Any) -> tuple[str | None, float | None]:
    """The moment of the judgement, or the seconds it took."""
    text = _text(value)
    if text.casefold() in NOTHING:
        return None, None
    number = _number(text)
    try:
        if number is None or re.fullmatch("[0-9]{8}", text):
            if (moment := moment_of(text)) is None:
                raise ValueError
        elif number >= SHORTEST_MOMENT:
            moment = datetime.fromtimestamp(number / (1000 if number >= _MILLISECONDS else 1), tz=UTC)
        else:
            return None, number
        return moment.astimezone(UTC).isoformat(), None
    except (ValueError, OverflowError, OSError):
        raise ValueError("expected ISO 8601 (2031-03-14T18:00:00Z), Unix time, or the seconds it took") from None


def _seconds(value: Any) -> float | None:
    text = _text(value)
    if text.casefold() in NOTHING:
        return None
    if (number := _number(text)) is None:
        raise ValueError("expected a number, 0 or more")
    return number


def _occasion(value: Any) -> int:
    text = _text(value) or "1"
    if not re.fullmatch("[1-9]", text):
        raise ValueError("expected 1, or 2 for a repeat")
    return int(text)


def _number(text: str) -> float | None:
    """A number, 0 or more, with a decimal point or comma."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 and "_" not in text else None


def write_judgements(
    judgements: Iterable[Judgement],
    *,
    again: Collection[Judgement],
    comments: Collection[Judgement],
    versions: Mapping[Judgement, Mapping[str, int]],
    set_aside: Collection[Judgement] = (),
) -> str:
    """One judgement a line, by query, document, assessor and occasion, which is 2 for a hidden repeat.

    again: those that were given because the pair was put before its assessor again; they are marked with `returned`.
    comments: those whose comments are written. versions: by part, the number of the version by which it was given, if
    something was shown in several. set_aside: those on another version of a text than the pair is judged on; they are
    marked, and do not count.
    `grade` is null where an assessor could not judge; then `cannot_judge` is the reason. Judgements that do not count
    (flagged) and those that are missing have no line.
    """
    counted = (judgement for judgement in judgements if judgement.counts)
    return _lines(
        judgement_record(judgement, judgement in again, comment=judgement.comment if judgement in comments else None)
        | ({"versions": dict(versions[judgement])} if versions.get(judgement) else {})
        | ({"set_aside": True} if judgement in set_aside else {})
        for judgement in sorted(counted, key=attrgetter("query_id", "doc_id", "assessor", "occasion"))
    )


OF_JUDGEMENT = ("query_id", "doc_id", "assessor", "occasion", "grade", "cannot_judge")


def judgement_record(judgement: Judgement, again: bool, **fields: Any) -> dict[str, Any]:
    """A judgement and `others` about it; again: whether it was given because the pair was returned."""
    returned = {"returned": True} if again else {}
    return {name: getattr(judgement, name) for name in OF_JUDGEMENT} | fields | returned


NOBODY = "nobody can judge"
"""Origin of a pair without a grade: no adjudicator could judge it."""


def decided(decisions: Iterable[Decision], unjudgeable: Iterable[Adjudication]) -> list[dict[str, Any]]:
    """Record for each pair that is closed without a grade, by query and document.

    unjudgeable: the last ruling on each pair that cannot be judged; its `grade` is None, and the reason
    is the adjudicator's.
    """
    names = ("query_id", "doc_id", "grade", "origin", "adjudicator", "reason")
    records = [{name: getattr(decision, name) for name in names} for decision in decisions]
    records += [
        dict(zip(names, (last.query_id, last.doc_id, None, NOBODY, last.adjudicator, last.cannot_judge), strict=True))
        for last in unjudgeable
    ]
    return sorted(records, key=itemgetter("query_id", "doc_id"))


def write_decisions(
    decisions: Iterable[Decision], unjudgeable: Iterable[Adjudication], *, comments: Mapping[tuple[str, str], str]
) -> str:
    """Outcome of each pair, a line each, in the form of `decided`.

    comments: of the adjudicator on a pair, in addition to the reason, by (query_id, doc_id).
    """
    return _lines(
        record | {"comment": comments.get((record["query_id"], record["doc_id"]))}
        for record in decided(decisions, unjudgeable)
    )


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    # What a person wrote must not make the rest of its line read as something else.
    return without_direction(json_lines(records))


def pool_lines(pool: Pool) -> str:
    """Pool as JSON lines: the draw and the additions, then an entry a line in the order drawn.

    The lines do not name the person who added something, nor the time.
    """
    record = asdict(pool, dict_factory=_fields_without_versions)
    entries, additions = record.pop("entries"), record.pop("additions")
    if additions:
        names = ("version", "method", "depth", "reason", "documents", "corpus")
        record["additions"] = [{name: addition[name] for name in names if name in addition} for addition in additions]
    return json_lines([record, *entries])


def _fields_without_versions(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The fields, without those about versions of the corpus if there are none."""
    return {name: value for name, value in fields if value is not None or name not in ("corpus", "new_rank")}


# ----------------------------------------------------------------------------------------------------------------------
# Judgements in the JSON of others: exports of any Label Studio project, and RELISH.
#
# An export has one object a task with every annotation on it. RELISH has seed articles of PubMed, each with the
# articles that a scientist found relevant, partly so, or not (Brown and Zhou, Database 2019,
# doi:10.1093/database/baz085; the file is RELISH_v1.json).
# ----------------------------------------------------------------------------------------------------------------------


SKIPPED = "skipped"
"""The flag of an annotation that the person cancelled."""
TYPES = ("choices", "rating", "number", "taxonomy")
"""Keys under which a control keeps its values."""


def read_export(
    data: bytes, *, name: str, places: Mapping[str, str], grades: Mapping[str, int | None], scale: Sequence[str]
) -> ByColumn:
    """Every annotation of every task, by the time of its last change; drafts and predictions are no judgements.

    places: of `query` and `document`, the key of the task's data that holds the id; of `grade` and, if there is one, of
    `comment`, the name of the control with which it was given. grades: the grade of each value of the control; None if
    it says that the pair could not be judged. What it does not name is a number of the scale or the name of a grade.
    `line` of a judgement is the number of its task, `assessor` the address of its account, or the account's number if
    no task of the export has an address for it.
    Raises InputError with the task of every fault; no address is repeated in any.
    """
    faults = Faults(name)
    plain_grades = {_plain(text): grade for text, grade in grades.items()}
    plain_grades = {**{text.casefold(): grade for grade, text in enumerate(scale)}, **plain_grades}
    plain_grades = {**{str(grade): grade for grade in range(len(scale))}, **plain_grades}
    judgements = []
    controls: dict[str, None] = {}
    for task, annotation in _annotations(data, faults):
        place = f"task {task.get('id', '?')}"
        controls.update(dict.fromkeys(item["from_name"] for item in _results(annotation)))
        try:
            judgements.append(_judgement_of_annotation(task, annotation, places, plain_grades, len(scale)))
        except ValueError as error:
            faults.add(str(error), place=place)
    if controls and (rating := places["grade"]) not in controls:
        faults.add(f"no annotation has a control named {rating!r}; {near(rating, controls)}")
    faults.raise_if_any(found=judgements, nothing="found no annotations")
    addresses = {row.account: row.assessor for row in judgements if row.account is not None}
    judgements = [
        replace(row, assessor=address, account=row.assessor)
        if (address := addresses.get(row.assessor)) is not None
        else row
        for row in judgements
    ]
    judgements.sort(
        key=lambda row: (row.changed_at or row.judged_at or "", row.line, len(row.annotation), row.annotation)
    )
    return columns_of(judgements)


def grades_named(grade_names: Sequence[str], scale: Sequence[str]) -> dict[str, int | None]:
    """Values and grades of arguments such as `Highly relevant=3`; `=none` means that the pair could not be judged.

    >>> grades_named(["Highly relevant=3", "Broken=none"], ["no", "a bit", "much", "all"])
    {'Highly relevant': 3, 'Broken': None}
    """
    grade_of: dict[str, int | None] = {}
    for text in grade_names:
        value, sign, grade = text.rpartition("=")
        value, grade = value.strip(), grade.strip()
        if not sign or not value or not (grade.casefold() in NO_GRADE or grade in map(str, range(len(scale)))):
            raise InputError(f"--grade {text!r}: expected VALUE=GRADE, a grade from 0 to {len(scale) - 1} or none")
        grade_of[value] = None if grade.casefold() in NO_GRADE else int(grade)
    return grade_of


def _annotations(data: bytes, faults: Faults) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each annotation with its task; anything that is no such export is a fault."""
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
    for position, task in enumerate(tasks, start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            faults.add("no data, expected a task of Label Studio", place=f"entry {position}")
        elif not isinstance(task.get("annotations"), list):
            faults.add("no list of annotations", place=f"task {task.get('id', '?')}")
        else:
            for annotation in task["annotations"]:
                if isinstance(annotation, dict):
                    yield task, annotation
                else:
                    faults.add(f"found {annotation!r:.40}, expected an annotation", place=f"task {task.get('id', '?')}")


def _judgement_of_annotation(
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    places: Mapping[str, str],
    grades: Mapping[str, int | None],
    n: int,
) -> FileJudgement:
    """Judgement of an annotation. Raises ValueError with the fault."""
    number = annotation.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError("an annotation without a number (id)")
    cancelled = bool(annotation.get("was_cancelled"))
    chosen = _control_values(annotation, places["grade"])
    if len(chosen) > 1 and not cancelled:
        raise ValueError(f"annotation {number}: {len(chosen)} values of {places['grade']!r}, expected one")
    grade = None
    if chosen and not cancelled:
        if (value := _plain(chosen[0])) not in grades:
            raise ValueError(
                f"annotation {number}: {chosen[0]!r:.60} is not a grade from 0 to {n - 1}; "
                'say which with --grade "VALUE=GRADE"'
            )
        grade = grades[value]
    comments = [
        text.strip() for text in _control_values(annotation, places.get("comment"), ("text",)) if isinstance(text, str)
    ]
    seconds = annotation.get("lead_time")
    judged_at, changed_at = (_moment(annotation, key, number) for key in ("created_at", "updated_at"))
    assessor, account = _person(annotation.get("completed_by"), number)
    return FileJudgement(
        line=task["id"] if isinstance(task.get("id"), int) else 0,
        query=_id_of_task(task, places["query"]),
        document=_id_of_task(task, places["document"]),
        assessor=assessor,
        grade=grade,
        judged_at=judged_at,
        seconds=float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None,
        comment=" ".join(filter(None, comments)) or None,
        occasion=1,
        row=annotation,
        annotation=str(number),
        cannot_judge=str(chosen[0]) if chosen and grade is None and not cancelled else None,
        flags=(SKIPPED,) if cancelled else (),
        changed_at=changed_at,
        account=account,
    )


def _id_of_task(task: Mapping[str, Any], key: str) -> str:
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
    """Values of each control."""
    results = annotation.get("result")
    items = results if isinstance(results, list) else []
    return [item for item in items if isinstance(item, dict) and isinstance(item.get("from_name"), str)]


def _control_values(annotation: Mapping[str, Any], control: str | None, kinds: Sequence[str] = TYPES) -> list[Any]:
    """Values of one control."""
    values: list[Any] = []
    for item in _results(annotation):
        if item["from_name"] == control and isinstance(item.get("value"), dict):
            for kind in kinds:
                value = item["value"].get(kind)
                values += value if isinstance(value, list) else [] if value is None else [value]
    return values


def _plain(value: Any) -> str:
    """A value as it is compared: numbers without a fraction of zero, text without case."""
    return _text(value).casefold()


GRADES: Mapping[str, int] = {"irrelevant": 0, "partial": 1, "relevant": 2}


class _Response(Strict):
    model_config = ConfigDict(extra="forbid")

    relevant: list[str]
    partial: list[str]
    irrelevant: list[str]


class _Seed(Strict):
    pmid: str
    response: _Response


_SEEDS = TypeAdapter(list[_Seed])


def read_relish(data: bytes, *, name: str) -> ByColumn:
    """The judgements in the bytes of RELISH's JSON: grade 2 for relevant, 1 for partial, 0 for irrelevant.

    Queries and documents are PubMed ids. The file does not say who judged: of a seed article that several people
    judged, the first entry is `a1`'s, the second `a2`'s. `line` is the entry's number, from 1.
    Raises InputError with every fault: an entry of another form, a document twice in one entry.
    """
    faults = Faults(name)
    entries: Sequence[_Seed] = ()
    try:
        entries = checked(_SEEDS.validate_python, json.loads(data), faults) or ()
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error))
    judgements: list[FileJudgement] = []
    counts = Counter[str]()
    for number, entry in enumerate(entries, 1):
        counts[entry.pmid] += 1
        graded = [(doc_id, grade) for label, grade in GRADES.items() for doc_id in getattr(entry.response, label)]
        for doc_id, count in Counter(doc_id for doc_id, _ in graded).items():
            if count > 1:
                faults.add(f"document {doc_id!r} occurs {count} times", place=f"entry {number}")
        judgements += (
            FileJudgement(
                *(number, entry.pmid, doc_id, f"a{counts[entry.pmid]}", grade, None, None, None, 1),
                row={"entry": number},
            )
            for doc_id, grade in graded
        )
    faults.raise_if_any(found=entries, nothing="found no entry, expected some with `pmid` and `response`")
    return columns_of(judgements)
