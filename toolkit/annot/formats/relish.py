"""RELISH: seed articles of PubMed, each with the articles that a scientist found relevant, partly so, or not.

Brown and Zhou, Database 2019, doi:10.1093/database/baz085; the file is RELISH_v1.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from pydantic import ConfigDict

from annot.base.errors import Faults, json_problem
from annot.formats.json_lines import Strict, checked
from annot.formats.judgements_file import FileJudgement

GRADES: Mapping[str, int] = {"irrelevant": 0, "partial": 1, "relevant": 2}


class _Response(Strict):
    model_config = ConfigDict(extra="forbid")

    relevant: list[str]
    partial: list[str]
    irrelevant: list[str]


class _Entry(Strict):
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
        if (entry := checked(_Entry.model_validate, record, faults, place=place)) is None:
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
