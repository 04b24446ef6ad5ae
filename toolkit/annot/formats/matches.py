"""Which sentences a run matched, in `TAG.matches.jsonl` beside the run: `{"query_id", "doc_id", "matches"}` a line.

Each match is `[query_sentence, doc_sentence, weight]`, with the similarity of the two behind it where it is known;
positions from 0 in the two abstracts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from annot.base.errors import Faults
from annot.formats.json_lines import read_models

ENDING = ".matches.jsonl"


class Match(NamedTuple):
    """A sentence of the query and a sentence of a document that a score rests on."""

    query_sentence: int
    doc_sentence: int
    weight: float
    """The share of the score's mass that goes from the one to the other; 1 for a single best pair."""
    similarity: float | None = None
    """Cosine, or negated distance: higher is better."""


Matches = Mapping[str, Mapping[str, tuple[Match, ...]]]
"""The matches of each document of each query, heaviest first."""

_Sentence = Annotated[int, Field(strict=True, ge=0)]
_Figure = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query_id: str
    doc_id: str
    matches: list[tuple[_Sentence, _Sentence, _Figure] | tuple[_Sentence, _Sentence, _Figure, _Figure]]


def read_matches(lines: Iterable[str], *, name: str) -> dict[tuple[str, str], tuple[Match, ...]]:
    """The matches of each (query_id, doc_id). Raises InputError with every fault, a pair given twice among them."""
    faults = Faults(name)
    found: dict[tuple[str, str], tuple[Match, ...]] = {}
    for number, line in read_models(lines, faults, _Line):
        if (line.query_id, line.doc_id) in found:
            faults.add(f"document {line.doc_id!r} is listed twice for query {line.query_id!r}", line=number)
        found[line.query_id, line.doc_id] = tuple(Match(*match) for match in line.matches)
    faults.raise_if_any()
    return found


def match_lines(matches: Matches) -> str:
    """The text of the file; figures of six decimals."""
    return "".join(
        json.dumps({"query_id": query_id, "doc_id": doc_id, "matches": list(map(_rounded, found))}) + "\n"
        for query_id, documents in matches.items()
        for doc_id, found in documents.items()
    )


def closest(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Of each sentence of the query the closest of the document, the first of several as close."""
    found: dict[int, Match] = {}
    for match in sorted(matches, key=lambda match: (match.query_sentence, -match.weight, match.doc_sentence)):
        found.setdefault(match.query_sentence, match)
    return tuple(found.values())


def _rounded(match: Match) -> list[float]:
    return [value if isinstance(value, int) else round(value, 6) for value in match if value is not None]
