"""CSFCube's readable annotation files: one query and facet, its candidates with text, ratings, grade and sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annot.base.errors import Faults, InputError, numbered
from annot.base.names import near
from annot.base.records import Paper

GRADE_WORDS = {"Irrelevant (0)": 0, "Related (+1)": 1, "Similar (+2)": 2, "Identical (+3)": 3}
ASSESSOR_OF_ANNOTATOR = {"1": "a3", "2": "a4", "3": "a2", "4": "a1"}
"""The readable files number the annotators differently from the JSON files, whose `relevance_ann3` is our `a3`."""

_PAPER_RULE = "=" * 35
_IDENTITY = (
    re.compile(r"paper_id: (?P<paper_id>\S+); YEAR: (?P<year>None|-?\d{1,4})"),
    "'paper_id: <id>; YEAR: <year>'",
)
_RATINGS = (
    re.compile(
        r"difference: (?P<difference>\d); annotator(?P<first>[1-4]): (?P<rating>-1|[0-3]); "
        r"annotator(?!(?P=first))(?P<second>[1-4]): (?P<other>-1|[0-3])"
    ),
    "'difference: d; annotatorX: a; annotatorY: b', X and Y two of 1 to 4, a and b 0 to 3, or -1 for none",
)
_TEXT = (
    (re.compile(r"TITLE: ?(?P<title>.*)"), "'TITLE: ...'"),
    (re.compile(r"ABSTRACT: *(?P<abstract>.*)"), "'ABSTRACT: ...'"),
)
_QUERY_HEAD = ((re.compile("={70}"), "a line of 70 '='"), _IDENTITY, *_TEXT)
_CANDIDATE_HEAD = (
    (re.compile(_PAPER_RULE), "a line of 35 '='"),
    _IDENTITY,
    (re.compile(r"adju relevance: (?P<grade>.+)"), "'adju relevance: <grade>'"),
    _RATINGS,
    (re.compile(r"sources: (?P<sources>\S+(?: - \S+)*)"), "'sources: <method> - <method>'"),
    *_TEXT,
)
"""The first lines of a block, and how messages call them. Sentences follow."""
_SENTENCE = re.compile(r"(?P<label>\w+): ?(?P<text>.*)")

Line = tuple[int, str]


class RatedPair(NamedTuple):
    """A candidate, its adjudicated grade, and what each assessor gave; None if no rating was left (-1)."""

    doc_id: str
    grade: int
    ratings: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """One readable file. Its candidates are sorted by falling grade: their order must not reach an assessor."""

    query: Paper
    papers: dict[str, Paper]
    """Every paper with its text, the query's too (where the query is a candidate as well, the query's own)."""
    pairs: dict[str, RatedPair]
    """By candidate."""
    sources: dict[str, tuple[str, ...]]
    """The methods that had each candidate; the first one drew it."""


def read_readable(lines: Iterable[str], faults: Faults, *, paper: Callable[..., Paper]) -> ReadableFile | None:
    """The content of one `<query>-<facet>-adju.txt`; None when it has faults, which are added to `faults`.

    paper: `paper_text.paper_of` with its rules.
    """
    before = len(faults.found)
    blocks: list[list[Line]] = []
    for number, line in numbered(lines, faults):
        if not blocks or line == _PAPER_RULE:
            blocks.append([])
        blocks[-1].append((number, line))
    papers: list[Paper] = []
    pairs: dict[str, RatedPair] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for position, block in enumerate(blocks):
        found = _fields_of(block, _CANDIDATE_HEAD if position else _QUERY_HEAD, faults)
        if found is None:
            continue
        doc_id = found["paper_id"]
        try:
            papers.append(
                paper(
                    doc_id,
                    found["title"],
                    [sentence["text"] for sentence in found["sentences"]],
                    year=None if found["year"] == "None" else int(found["year"]),
                    labels=[sentence["label"] for sentence in found["sentences"]],
                    citations=(),
                )
            )
        except InputError as error:
            for fault in error.faults:
                faults.add(f"paper {doc_id}: {fault}", line=block[0][0])
        if position:
            if doc_id in pairs:
                faults.add(f"candidate {doc_id} is listed twice", line=block[0][0])
            pairs[doc_id] = _pair(found, block, faults)
            sources[doc_id] = tuple(found["sources"].split(" - "))
    if not blocks:
        faults.add("found no paper")
    if len(faults.found) > before:
        return None
    return ReadableFile(papers[0], {one.paper_id: one for one in reversed(papers)}, pairs, sources)


def _fields_of(block: list[Line], head: Sequence[tuple[re.Pattern[str], str]], faults: Faults) -> dict[str, Any] | None:
    """What the lines of one paper say, by the names in the patterns, and its `sentences`; None with faults."""
    if len(block) < len(head):
        faults.add(f"{len(block)} lines for one paper, expected at least {len(head)}", line=block[-1][0])
        return None
    before = len(faults.found)
    found: dict[str, Any] = {}
    for line, (pattern, expected) in zip(block, head, strict=False):
        found |= _match(pattern, line, expected, faults)
    opening = [(block[len(head) - 1][0], found["abstract"])] if found.get("abstract") else []
    lines = [*opening, *block[len(head) :]]
    found["sentences"] = [_match(_SENTENCE, line, "'<label>: <sentence>'", faults) for line in lines]
    return found if len(faults.found) == before else None


def _match(pattern: re.Pattern[str], line: Line, expected: str, faults: Faults) -> dict[str, str]:
    match = pattern.fullmatch(line[1])
    if match is None:
        faults.add(f"found {line[1][:60]!r}, expected {expected}", line=line[0])
        return {}
    return match.groupdict()


def _pair(found: dict[str, Any], block: list[Line], faults: Faults) -> RatedPair:
    word = found["grade"]
    if word not in GRADE_WORDS:
        faults.add(f"grade {word!r}: {near(word, GRADE_WORDS)}", line=block[2][0])
    ratings = {
        ASSESSOR_OF_ANNOTATOR[found["first"]]: int(found["rating"]),
        ASSESSOR_OF_ANNOTATOR[found["second"]]: int(found["other"]),
    }
    if int(found["difference"]) != max(ratings.values()) - min(ratings.values()):
        faults.add(f"difference {found['difference']} between {found['rating']} and {found['other']}", line=block[3][0])
    given = {assessor: None if rating == -1 else rating for assessor, rating in sorted(ratings.items())}
    return RatedPair(found["paper_id"], GRADE_WORDS.get(word, 0), given)
