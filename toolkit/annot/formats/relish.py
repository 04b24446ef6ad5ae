"""RELISH: seed articles of PubMed, each with the articles that a scientist found relevant, partly so, or not.

Brown and Zhou, Database 2019, doi:10.1093/database/baz085; the file is RELISH_v1.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from annot.base.errors import Faults, json_problem
from annot.formats.json_lines import in_words
from annot.formats.judgements_file import FileJudgement

GRADES: Mapping[str, int] = {"irrelevant": 0, "partial": 1, "relevant": 2}


class _Response(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    relevant: list[str]
    partial: list[str]
    irrelevant: list[str]


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

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
        try:
            entry = _Entry.model_validate(record)
        except ValidationError as error:
            for fault in in_words(error):
                faults.add(fault, place=f"entry {number}")
            continue
        seen[entry.pmid] += 1
        graded = [(doc_id, grade) for label, grade in GRADES.items() for doc_id in getattr(entry.response, label)]
        for doc_id, count in Counter(doc_id for doc_id, _ in graded).items():
            if count > 1:
                faults.add(f"document {doc_id!r} occurs {count} times", place=f"entry {number}")
        judgements += (_judgement(number, entry.pmid, f"a{seen[entry.pmid]}", *pair) for pair in graded)
    faults.raise_if_any()
    return tuple(judgements)


def _judgement(number: int, query: str, assessor: str, doc_id: str, grade: int) -> FileJudgement:
    row: dict[str, Any] = {"entry": number}
    return FileJudgement(number, query, doc_id, assessor, grade, None, None, None, 1, row)
