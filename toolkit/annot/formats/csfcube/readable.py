"""CSFCube's readable annotation files: one query and facet, its candidates with text, ratings, grade and sources."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from annot.errors import InputError
from annot.formats.faults import Faults, numbered
from annot.formats.paper_text import paper_of
from annot.names import near
from annot.records import Paper

GRADE_WORDS = {"Irrelevant (0)": 0, "Related (+1)": 1, "Similar (+2)": 2, "Identical (+3)": 3}
ASSESSOR_OF_ANNOTATOR = {"1": "a3", "2": "a4", "3": "a2", "4": "a1"}
"""The readable files number the annotators differently from the JSON files, whose `relevance_ann3` is our `a3`."""

_FILE_RULE = "=" * 70
_PAPER_RULE = "=" * 35
_PAPER = re.compile(r"paper_id: (\S+); YEAR: (None|-?\d{1,4})")
_RATINGS = re.compile(r"difference: (\d{1,4}); annotator(\d): (-?\d{1,4}); annotator(\d): (-?\d{1,4})")
_SENTENCE = re.compile(r"(\w+): ?(.*)")
_QUERY_HEAD = 2
_CANDIDATE_HEAD = 5

Line = tuple[int, str]


class RatedPair(NamedTuple):
    """A candidate, its adjudicated grade, and what each assessor gave; None where no rating was left (-1)."""

    doc_id: str
    grade: int
    ratings: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """What one readable file says. Its candidates stand by falling grade: their order must not reach an assessor."""

    query: Paper
    papers: dict[str, Paper]
    """Every paper with its text, the query's too (where the query is a candidate as well, the query's own)."""
    pairs: tuple[RatedPair, ...]
    sources: dict[str, tuple[str, ...]]
    """The methods that had each candidate; the first one drew it."""


def read_readable(lines: Iterable[str], *, faults: Faults, clean_text: bool) -> ReadableFile | None:
    """The content of one `<query>-<facet>-adju.txt`; None when it has faults, which are added to `faults`."""
    before = len(faults.found)
    blocks = _blocks(numbered(lines, faults), faults)
    if not blocks:
        faults.add("no paper in it")
        return None
    query: Paper | None = None
    papers: dict[str, Paper] = {}
    pairs: dict[str, RatedPair] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for position, block in enumerate(blocks):
        head = _QUERY_HEAD if position == 0 else _CANDIDATE_HEAD
        if len(block) <= head:
            faults.add(f"{len(block)} lines for one paper, expected at least {head + 1}", line=block[-1][0])
            continue
        paper = _paper(block[0], block[head - 1], block[head:], faults, clean_text=clean_text)
        if paper is None:
            continue
        if position == 0:
            query = paper
        else:
            if paper.paper_id in pairs:
                faults.add(f"candidate {paper.paper_id} is there twice", line=block[0][0])
            pairs[paper.paper_id] = _pair(paper.paper_id, block[1], block[2], faults)
            sources[paper.paper_id] = _sources(block[3], faults)
        papers.setdefault(paper.paper_id, paper)
    if query is None or len(faults.found) > before:
        return None
    return ReadableFile(query, papers, tuple(pairs.values()), sources)


def _blocks(lines: Iterable[Line], faults: Faults) -> list[list[Line]]:
    """The lines of each paper; the first paper is the query."""
    blocks: list[list[Line]] = []
    for number, line in lines:
        if not blocks and line != _FILE_RULE:
            faults.add(f"found {line[:40]!r}, expected a line of 70 '='", line=number)
        if not blocks or line == _PAPER_RULE:
            blocks.append([(number, line)])
        else:
            blocks[-1].append((number, line))
    for block in blocks:
        if len(block) > 1:
            del block[0]
    return blocks


def _paper(first: Line, title: Line, body: list[Line], faults: Faults, *, clean_text: bool) -> Paper | None:
    before = len(faults.found)
    identity = _match(_PAPER, first, "'paper_id: <id>; YEAR: <year>'", faults)
    if not title[1].startswith("TITLE:"):
        faults.add(f"found {title[1][:40]!r}, expected 'TITLE: ...'", line=title[0])
    if not body[0][1].startswith("ABSTRACT:"):
        faults.add(f"found {body[0][1][:40]!r}, expected 'ABSTRACT: ...'", line=body[0][0])
    labels, sentences = [], []
    for position, (number, line) in enumerate(body):
        text = line.removeprefix("ABSTRACT:").lstrip(" ") if position == 0 else line
        if position == 0 and not text:
            continue
        found = _match(_SENTENCE, (number, text), "'<label>: <sentence>'", faults)
        if found:
            labels.append(found[1])
            sentences.append(found[2])
    if identity is None or len(faults.found) > before:
        return None
    try:
        return paper_of(
            identity[1],
            title[1].removeprefix("TITLE:").removeprefix(" "),
            sentences,
            year=None if identity[2] == "None" else int(identity[2]),
            labels=labels,
            citations=(),
            clean_text=clean_text,
        )
    except InputError as error:
        for fault in error.faults:
            faults.add(f"paper {identity[1]}: {fault}", line=body[0][0])
        return None


def _pair(doc_id: str, grade: Line, ratings: Line, faults: Faults) -> RatedPair:
    word = grade[1].removeprefix("adju relevance: ")
    if not grade[1].startswith("adju relevance: ") or word not in GRADE_WORDS:
        faults.add(f"grade {word!r}: {near(word, GRADE_WORDS)}", line=grade[0])
    given: dict[str, int | None] = {}
    found = _match(_RATINGS, ratings, "'difference: d; annotatorX: a; annotatorY: b'", faults)
    if found:
        numbers = (found[2], found[4])
        values = (int(found[3]), int(found[5]))
        if not set(numbers) <= set(ASSESSOR_OF_ANNOTATOR) or numbers[0] == numbers[1]:
            faults.add(f"annotators {numbers[0]} and {numbers[1]}, expected two of 1 to 4", line=ratings[0])
        elif not all(-1 <= value <= 3 for value in values):
            faults.add(f"ratings {values[0]} and {values[1]}, expected 0 to 3, or -1 for none", line=ratings[0])
        elif int(found[1]) != abs(values[0] - values[1]):
            faults.add(f"difference {found[1]} between {values[0]} and {values[1]}", line=ratings[0])
        else:
            by_assessor = {ASSESSOR_OF_ANNOTATOR[n]: v for n, v in zip(numbers, values, strict=True)}
            given = {assessor: None if value == -1 else value for assessor, value in sorted(by_assessor.items())}
    return RatedPair(doc_id, GRADE_WORDS.get(word, 0), given)


def _sources(line: Line, faults: Faults) -> tuple[str, ...]:
    names = tuple(line[1].removeprefix("sources: ").split(" - "))
    if not line[1].startswith("sources: ") or not all(names):
        faults.add(f"found {line[1][:40]!r}, expected 'sources: <method> - <method>'", line=line[0])
    return names


def _match(pattern: re.Pattern[str], line: Line, expected: str, faults: Faults) -> re.Match[str] | None:
    found = pattern.fullmatch(line[1])
    if found is None:
        faults.add(f"found {line[1][:60]!r}, expected {expected}", line=line[0])
    return found
