"""JSON Lines: objects with the number of their line, records as lines, and what a model finds wrong, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from annot.base.errors import Faults, json_problem, numbered
from annot.base.names import near

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
AS_JSON = "backslashreplace"
"""How a lone surrogate, which UTF-8 does not have, is written: as the JSON it came in has it."""
_TELLING_DECODER = json.JSONDecoder(parse_constant=str)


def read_objects(
    lines: Iterable[str], faults: Faults, *, constants: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object on each line that is not blank, with the line's number.

    NaN and infinity are read as null; with `constants`, as the text that they are.
    """
    decoder = _TELLING_DECODER if constants else _DECODER
    for number, line in numbered(lines, faults):
        try:
            record = decoder.decode(line)
        except (ValueError, RecursionError) as error:
            faults.add(json_problem(error), line=number)
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            faults.add(f"found {json.dumps(record)[:40]}, expected one JSON object per line", line=number)


class Strict(BaseModel):
    """What takes no value of another type, though it could be turned into one of its own."""

    model_config = ConfigDict(strict=True)


def read_models(lines: Iterable[str], faults: Faults, model: type[M]) -> Iterator[tuple[int, M]]:
    """The object on each line as its model has it, with the line's number."""
    for number, record in read_objects(lines, faults):
        if (read := checked(model.model_validate, record, faults, line=number)) is not None:
            yield number, read


def checked(
    validate: Callable[[Any], T], value: Any, faults: Faults, *, line: int | None = None, place: str | None = None
) -> T | None:
    """The value as its model has it; None if it has faults, which are added to `faults`."""
    try:
        return validate(value)
    except ValidationError as error:
        for problem in in_words(error):
            faults.add(problem, line=line, place=place)
    return None


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One record a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def in_words(error: ValidationError) -> list[str]:
    """Each fault that a pydantic model found: the place, what was found, what was expected; entries count from 1."""
    faults = []
    for fault in error.errors(include_url=False):
        *parents, last = fault["loc"] or ("",)
        place = ", ".join(f"entry {part + 1}" if isinstance(part, int) else part for part in [*parents, last])
        if fault["type"] == "missing" and isinstance(last, int):
            problem = f"found {fault['input']!r:.60}, expected more entries"
        elif fault["type"] == "missing":
            found = near(str(last), [key for key in fault["input"] if key != last], others="found")
            place, problem = ", ".join(map(str, parents)), f"no field {last!r}: {found}"
        elif fault["type"] == "extra_forbidden":
            problem = f"found {fault['input']!r:.60}, expected no such field"
        elif fault["type"] == "value_error":
            problem = str(fault["ctx"]["error"])
        else:
            problem = f"found {fault['input']!r:.60}, " + re.sub(r"^\w+ should (be|have) ", "expected ", fault["msg"])
        faults.append(f"{place}: {problem}" if place else problem)
    return faults
