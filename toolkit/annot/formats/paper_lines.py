"""Papers from JSON Lines: plain, and in the style of CSFCube and S2ORC."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from annot.errors import InputError
from annot.formats.faults import Faults, json_problem, near, numbered
from annot.formats.paper_text import paper_of
from annot.records import Paper

ID_FIELDS = ("paper_id", "id", "_id")
LABEL_FIELDS = ("labels", "pred_labels")
CITATION_FIELDS = ("citations", "outbound_citations")


def read_papers(lines: Iterable[str], *, name: str, clean_text: bool) -> Iterator[Paper]:
    """The papers of a JSON Lines file, one object a line, as they come.

    Fields, found by their names (the first that is there and not null counts); any others are ignored:

    - id: `paper_id`, `id` or `_id`; a string or an integer, without white space. Required.
    - title: `title`, a string. Required; null is read as an empty title.
    - abstract: `abstract`, a list of sentences or one string (then split by `sentences.split_sentences`). Required;
      null is read as no sentence, so that the filters of the corpus count the paper.
    - year: `year` or `metadata.year`; an integer of at most four digits, also as a string, or null.
    - labels: `labels` or `pred_labels`, one for each sentence of a list; `background` or `background_label`.
      Where `pred_labels_truncated` is true and labels are missing at the end, the paper has no labels.
    - citations: `citations` or `outbound_citations`, a list of ids.

    `clean_text` cleans titles and sentences (`cleaning.clean`), drops sentences of which nothing stays, and drops a
    leading `Abstract.`, with their labels.

    Raises InputError after the last line with every fault, `name:17: ...`; that every line is blank is one, too. A
    faulty line yields no paper, so what was yielded counts only once the iterator has ended.
    """
    faults = Faults(name)
    number = 0
    for number, line in numbered(lines, faults):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.add(json_problem(error), line=number)
            continue
        if not isinstance(record, dict):
            faults.add(f"found {_kind(record)}, expected one JSON object a line", line=number)
            continue
        try:
            yield paper_from(record, clean_text=clean_text)
        except InputError as error:
            for fault in error.faults:
                faults.add(fault, line=number)
    if number == 0 and not faults.found:
        faults.add("found no line, or blank ones alone, expected one paper a line (JSON Lines)")
        faults.raise_if_any(hint="nothing was kept; is this the file that was meant?")
    faults.raise_if_any(hint="nothing was kept; mend or remove these lines")


def paper_from(record: dict[str, Any], *, clean_text: bool) -> Paper:
    """The paper in one JSON object; fields as `read_papers` says. Raises InputError with the faults, without place."""
    faults: list[str] = []
    paper_id = _paper_id(record, faults)
    title = _text(record, "title", faults)
    abstract = _abstract(record, faults)
    year = _year(record, faults)
    labels = _labels(record, faults)
    citations = _citations(record, faults)
    if abstract is None:
        labels = None
    elif labels is not None and isinstance(abstract, str):
        faults.append("labels need `abstract` as a list of sentences, found one string")
    elif labels is not None and len(labels) != len(abstract):
        if record.get("pred_labels_truncated") is True and len(labels) < len(abstract):
            labels = None
        else:
            faults.append(f"{len(labels)} labels for {len(abstract)} sentences")
    if faults or abstract is None:
        raise InputError("not a paper", faults=faults)
    return paper_of(paper_id, title, abstract, year=year, labels=labels, citations=citations, clean_text=clean_text)


def _paper_id(record: dict[str, Any], faults: list[str]) -> str:
    field = _first(record, ID_FIELDS)
    if field is None:
        faults.append(f"no id: expected one of the fields {', '.join(ID_FIELDS)}")
        return ""
    return _id(record[field], field, faults)


def _id(value: Any, field: str, faults: list[str]) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        faults.append(f"{field}: found {_kind(value)}, expected a string")
    elif not value or any(char.isspace() or not char.isprintable() for char in value):
        faults.append(f"{field}: found {value!r}, expected an id without white space")
    else:
        return value
    return ""


def _text(record: dict[str, Any], field: str, faults: list[str]) -> str:
    if field not in record:
        faults.append(f"no field {field!r}: {near(field, record) if record else 'the object is empty'}")
        return ""
    value = record[field]
    if value is not None and not isinstance(value, str):
        faults.append(f"{field}: found {_kind(value)}, expected a string")
        return ""
    return value or ""


def _abstract(record: dict[str, Any], faults: list[str]) -> str | list[str] | None:
    """One string or sentences; None where there is a fault."""
    before = len(faults)
    value = record.get("abstract")
    if not isinstance(value, list):
        text = _text(record, "abstract", faults)
        return (text or []) if len(faults) == before else None
    wrong = [position for position, sentence in enumerate(value, 1) if not isinstance(sentence, str)]
    if wrong:
        faults.append(f"abstract: entry {wrong[0]} is {_kind(value[wrong[0] - 1])}, expected a string")
        return None
    return value


def _year(record: dict[str, Any], faults: list[str]) -> int | None:
    value = record.get("year")
    metadata = record.get("metadata")
    if value is None and isinstance(metadata, dict):
        value = metadata.get("year")
    if value is None:
        return None
    if isinstance(value, int | str) and not isinstance(value, bool) and re.fullmatch("-?[0-9]{1,4}", str(value)):
        return int(value)
    faults.append(f"year: found {repr(value)[:40]}, expected an integer of at most four digits, or null")
    return None


def _labels(record: dict[str, Any], faults: list[str]) -> list[str] | None:
    field = _first(record, LABEL_FIELDS)
    if field is None:
        return None
    value = record[field]
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        faults.append(f"{field}: found {_kind(value)}, expected a list of strings")
        return None
    return value


def _citations(record: dict[str, Any], faults: list[str]) -> list[str]:
    field = _first(record, CITATION_FIELDS)
    if field is None:
        return []
    value = record[field]
    if not isinstance(value, list):
        faults.append(f"{field}: found {_kind(value)}, expected a list of ids")
        return []
    return [_id(cited, f"{field}[{position}]", faults) for position, cited in enumerate(value)]


def _first(record: dict[str, Any], fields: tuple[str, ...]) -> str | None:
    return next((field for field in fields if record.get(field) is not None), None)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
