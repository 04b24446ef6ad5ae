"""What cleaning changed: the paper, its texts before and after, and in which ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annot.formats.cleaning import Way, ways


class Cleaned(NamedTuple):
    """A paper of which a text is not what its source has."""

    paper_id: str
    ways: tuple[str, ...]
    """`cleaning.Way`, in its order."""
    before: Mapping[str, Any]
    """`title`, and `abstract` as it came: a list of sentences or one string; only those that changed."""
    after: Mapping[str, Any]
    """The same, the abstract as a list of sentences."""

    @property
    def other_number(self) -> bool:
        """Whether the abstract came as sentences, and has another number of them now."""
        given = self.before.get("abstract", "")
        return not isinstance(given, str) and len(given) != len(self.after["abstract"])


def cleaned(
    paper_id: str, *, title: tuple[str, str], abstract: tuple[str | Sequence[str], Sequence[str]], heading: bool
) -> Cleaned | None:
    """What was changed of a paper, each text given as it came and as it is now; None where nothing was.

    An abstract that came as one string is cut into sentences: line ends and white space between these are no change.
    heading: whether a leading "Abstract." went.
    """
    came, sentences = abstract
    whole = isinstance(came, str)
    raw = [line.strip() for line in came.splitlines() if line.strip()] if isinstance(came, str) else list(came)
    changed = " ".join(raw) != " ".join(sentences) if whole else raw != list(sentences)
    found = {Way.HEADING} if heading else set()
    for text in raw if changed else ():
        found |= ways(text)
    if title[0] != title[1]:
        found |= ways(title[0])
    if not found:
        return None
    before: dict[str, Any] = {"title": title[0]} if title[0] != title[1] else {}
    after: dict[str, Any] = {"title": title[1]} if before else {}
    if changed:
        before["abstract"], after["abstract"] = came, list(sentences)
    return Cleaned(paper_id, tuple(way.value for way in Way if way in found), before, after)


PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER = "papers", "titles", "abstracts", "other number of sentences"


@dataclass(frozen=True, slots=True)
class CleanedCounts:
    """How many papers were cleaned."""

    papers: int
    titles: int
    abstracts: int
    other_number: int
    """Papers that have another number of sentences than their source."""
    ways: tuple[tuple[str, int], ...]
    """What was wrong, and in how many papers."""


def counts_of(counted: Mapping[str, int]) -> CleanedCounts:
    """The counts, of how many papers are counted under each of `kinds`."""
    papers, titles, abstracts, other = (counted.get(name, 0) for name in (PAPERS, TITLES, ABSTRACTS, OTHER_NUMBER))
    ways_found = tuple((way.value, counted[way]) for way in Way if counted.get(way))
    return CleanedCounts(papers, titles, abstracts, other, ways_found)


def kinds(one: Cleaned) -> tuple[str, ...]:
    """What a changed paper is counted under."""
    texts = [name for name, key in ((TITLES, "title"), (ABSTRACTS, "abstract")) if key in one.before]
    return (PAPERS, *texts, *one.ways, *([OTHER_NUMBER] if one.other_number else []))
