"""Which sentences a run matched, in `TAG.matches.jsonl` beside the run: `{"query_id", "doc_id", "matches"}` a line.

Each match is `[query_sentence, candidate_sentence, weight]`, positions from 0 in the two abstracts. The weight is the
run's own (a similarity, the mass of a transport plan); higher is closer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from annot.formats.faults import Faults
from annot.formats.json_lines import read_models

ENDING = ".matches.jsonl"


class Match(NamedTuple):
    """A sentence of the query paper, a sentence of the candidate, and how close they are."""

    query_sentence: int
    candidate_sentence: int
    weight: float


_Sentence = Annotated[int, Field(strict=True, ge=0)]
_Weight = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query_id: str
    doc_id: str
    matches: list[tuple[_Sentence, _Sentence, _Weight]]


def read_matches(lines: Iterable[str], *, name: str) -> dict[tuple[str, str], tuple[Match, ...]]:
    """The matches of each (query_id, doc_id). Raises InputError with every fault, a pair given twice among them."""
    faults = Faults(name)
    found: dict[tuple[str, str], tuple[Match, ...]] = {}
    for number, line in read_models(lines, faults, _Line):
        if (line.query_id, line.doc_id) in found:
            faults.add(f"document {line.doc_id!r} is there twice for query {line.query_id!r}", line=number)
        found[line.query_id, line.doc_id] = tuple(Match(*match) for match in line.matches)
    faults.raise_if_any()
    return found


def closest(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Of each sentence of the query the closest of the candidate, the first of several as close."""
    found: dict[int, Match] = {}
    for match in sorted(matches, key=lambda match: (match.query_sentence, -match.weight, match.candidate_sentence)):
        found.setdefault(match.query_sentence, match)
    return tuple(found.values())
