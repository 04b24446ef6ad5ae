"""Runs as others hand them in: a TREC run file, or CSFCube's ranked pools in JSON, with what their maker says of them.

Nothing is put right here: documents that are there twice stay twice, so that whoever takes the run can say so. The
metadata is that of ir_metadata (Breuer, Keller and Schaer 2022, ir_metadata: An Extensible Metadata Schema for IR
Experiments, SIGIR; https://www.ir-metadata.org), as the head of the run file or in a file of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from annot.base.errors import Faults, InputError, json_problem, numbered
from annot.base.names import near
from annot.base.records import ScoredDoc
from annot.formats.input_files import unicode_of_start
from annot.formats.trec import run_columns, score_of

_RANKED_POOLS = re.compile(r"test-pid2pool-csfcube-(?P<tag>.+)-(?P<facet>[^-/]+)-ranked\.json")
FIELDS = (
    *("schema-version", "run-version", "tag", "platform", "research goal", "implementation", "method", "actor", "data"),
    *("system", "seed", "software", "settings", "hashes", "hardware", "seconds"),
)
"""Of the metadata: those of ir_metadata 0.1, then what it has no place for."""


@dataclass(frozen=True, slots=True)
class SubmittedRun:
    """One file as it was handed in."""

    form: str
    """`trec` or `csfcube`."""
    documents: dict[str, tuple[ScoredDoc, ...]]
    """By query id (in a ranked pool by query paper), in the order of ranks; higher scores are better."""
    rising: tuple[str, ...] = ()
    """Queries whose scores only rise from rank to rank, as distances do."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Of the file's own head."""


def read_submitted(data: bytes, *, name: str) -> SubmittedRun:
    """The run in `data`. Raises InputError with every line that is none of a run's, and every score that is no number.

    A TREC run may begin with ir_metadata's head, in lines that start with `#`. In a ranked pool a smaller distance is
    better: scores are distances with the other sign.
    """
    faults = Faults(name)
    try:
        text = data.decode(unicode_of_start(data)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        faults.add(f"not UTF-8: {error.reason}", line=data.count(b"\n", 0, error.start) + 1)
        faults.raise_if_any(hint="expected a TREC run or CSFCube's ranked pools in JSON")
        raise
    run = _ranked_pools(text, faults) if text.lstrip().startswith("{") else _trec(text, faults)
    hint = "expected a TREC run (query_id Q0 doc_id rank score tag) or CSFCube's ranked pools in JSON"
    faults.raise_if_any(hint=hint, found=run.documents, nothing="found no document")
    return run


def read_metadata(text: str, *, name: str) -> dict[str, Any]:
    """The metadata in YAML, of which JSON is a part. Raises InputError with every field that is not known."""
    faults = Faults(name)
    found = _metadata(text, faults)
    faults.raise_if_any(hint="https://www.ir-metadata.org lists the fields")
    return found


def higher_is_better(run: SubmittedRun, *, name: str, distances: bool) -> SubmittedRun:
    """The run with higher scores for better documents; distances: those of a TREC run are distances.

    Raises InputError if scores that are none rise from rank to rank, as distances do.
    """
    if run.form == "trec" and distances:
        negated = {
            query_id: tuple(ScoredDoc(doc.doc_id, -doc.score) for doc in docs)
            for query_id, docs in run.documents.items()
        }
        return SubmittedRun(run.form, negated, (), run.metadata)
    if run.rising:
        raise InputError(
            f"{name}: the scores of {len(run.rising)} queries rise from rank to rank, as distances do",
            faults=run.rising[:3],
            hint="higher scores are better in a TREC run; if these are distances, add --distances",
        )
    return run


def facet_in_name(file_name: str) -> str | None:
    """The facet in the name of a file of CSFCube's ranked pools.

    >>> facet_in_name("test-pid2pool-csfcube-specter-method-ranked.json")
    'method'
    """
    found = _RANKED_POOLS.fullmatch(file_name)
    return found["facet"] if found else None


def _trec(text: str, faults: Faults) -> SubmittedRun:
    ranked: dict[str, list[tuple[int, ScoredDoc]]] = {}
    tags: set[str] = set()
    lines = list(numbered(text.splitlines(), faults))
    head = [re.sub("^# ?", "", line) for _, line in lines if line.startswith("#")]
    for number, columns in run_columns((one for one in lines if not one[1].startswith("#")), faults):
        query_id, _, doc_id, rank, score, tag = columns
        if (value := score_of(score, faults, line=number)) is None:
            continue
        tags.add(tag)
        place = int(rank) if rank.isascii() and rank.isdigit() and len(rank) < 10 else number
        ranked.setdefault(query_id, []).append((place, ScoredDoc(doc_id, value)))
    if len(tags) > 1:
        faults.add(f"{len(tags)} tags ({', '.join(sorted(tags)[:3])}), expected one run per file")
    documents = {
        query_id: tuple(doc for _, doc in sorted(of, key=lambda one: one[0])) for query_id, of in ranked.items()
    }
    return SubmittedRun("trec", documents, tuple(_rising(documents)), _metadata("\n".join(head), faults))


def _ranked_pools(text: str, faults: Faults) -> SubmittedRun:
    documents: dict[str, tuple[ScoredDoc, ...]] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            faults.add("a query is listed twice in one object")
        return dict(pairs)

    try:
        found = json.loads(text, object_pairs_hook=members)
    except (ValueError, RecursionError) as error:
        faults.add(json_problem(error), line=error.lineno if isinstance(error, json.JSONDecodeError) else None)
        return SubmittedRun("csfcube", {})
    for query, rows in found.items():
        kept = []
        for at, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
            match row:
                case [str(doc_id), int() | float() as distance] if doc_id and math.isfinite(distance):
                    kept.append(ScoredDoc(doc_id, -float(distance)))
                case _:
                    faults.add(f"found {json.dumps(row)[:40]}, expected [candidate, distance]", place=f"{query}, {at}")
        falling = next((at for at in range(1, len(kept)) if kept[at].score > kept[at - 1].score), None)
        if falling is not None:
            expected = f"distance {-kept[falling].score:g} after {-kept[falling - 1].score:g}, expected smallest first"
            faults.add(expected, place=f"{query}, {falling + 1}")
        if kept:
            documents[query] = tuple(kept)
    return SubmittedRun("csfcube", documents)


def _rising(documents: dict[str, tuple[ScoredDoc, ...]]) -> Iterator[str]:
    for query_id, docs in documents.items():
        scores = [doc.score for doc in docs]
        if scores == sorted(scores) and scores[0] < scores[-1]:
            yield query_id


def _metadata(text: str, faults: Faults) -> dict[str, Any]:
    kept = [line for line in text.splitlines() if line.strip() not in ("ir_metadata.start", "ir_metadata.end")]
    try:
        found = yaml.safe_load("\n".join(kept))
    except yaml.YAMLError as error:
        faults.add(f"metadata: not YAML: {' '.join(str(error).split())}")
        return {}
    if found is None:
        return {}
    if not isinstance(found, dict):
        faults.add(f"metadata: found {str(found)[:40]!r}, expected fields and values")
        return {}
    for key in found:
        if key not in FIELDS:
            faults.add(f"metadata: unknown field {key!r}; {near(str(key), FIELDS)}")
    # Through JSON, in which it is kept: a date becomes text.
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain
