"""Abstracts with labelled sentences as JSON Lines: CSAbstruct's (`sentences`) and our own (`abstract`)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import NamedTuple

from annot.errors import InputError
from annot.records import LABELS


class LabelledAbstract(NamedTuple):
    """One abstract to learn from or to be scored on: its sentences, and the label of each."""

    sentences: tuple[str, ...]
    labels: tuple[str, ...]


def read_labelled(lines: Iterable[str], *, name: str) -> tuple[LabelledAbstract, ...]:
    """The abstracts in `lines`, one JSON object a line: `labels`, and `sentences` or `abstract`; other keys are free.

    Empty lines are passed over. Raises InputError with the line of every fault; `name` is the file in the messages.
    """
    abstracts: list[LabelledAbstract] = []
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if not text.strip():
            continue
        found = _read(text)
        if isinstance(found, str):
            faults.append(f"{name}:{number}: {found}")
        else:
            abstracts.append(found)
    if faults:
        raise InputError(f"{name}: {len(faults)} line(s) cannot be used", faults=faults)
    if not abstracts:
        raise InputError(
            f"{name}: no abstracts found",
            hint='expected one JSON object a line: {"abstract": ["...", "..."], "labels": ["background", "method"]}',
        )
    return tuple(abstracts)


def _read(text: str) -> LabelledAbstract | str:
    """The abstract on one line, or what is wrong with it."""
    try:
        record = json.loads(text)
    except ValueError as error:
        return f"not JSON: {error}"
    except RecursionError:
        return "not JSON that can be read: nested too deeply"
    if not isinstance(record, dict):
        return f"found {type(record).__name__}, expected an object"
    key = "sentences" if "sentences" in record else "abstract"
    missing = [name for name in (key, "labels") if name not in record]
    if missing:
        wanted = ["`sentences` or `abstract`" if name == "abstract" else f"`{name}`" for name in missing]
        return f"found no {' and no '.join(wanted)}; its keys are {', '.join(record) or 'none'}"
    for name in (key, "labels"):
        value = record[name]
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            return f"`{name}` is not a list of strings"
    sentences, labels = tuple(record[key]), tuple(record["labels"])
    if not sentences:
        return f"`{key}` is empty, expected at least one sentence"
    if len(sentences) != len(labels):
        return f"found {len(labels)} label(s) for {len(sentences)} sentence(s), expected one each"
    unknown = sorted(set(labels) - set(LABELS))
    if unknown:
        return "; ".join(unknown_label(label) for label in unknown)
    return LabelledAbstract(sentences, labels)


def unknown_label(label: str) -> str:
    """What to say of a label that is none of `LABELS`, with the near name where there is one."""
    near = difflib.get_close_matches(label.lower(), LABELS, 1)
    return f"unknown label {label!r}, " + (f"did you mean {near[0]!r}?" if near else f"expected {', '.join(LABELS)}")
