"""Versions of content that people were shown, numbered, and the version that each answer was given by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from annot.base.records import WHOLE, Query
from annot.store.shown import IMPORTED, Display, Part, ShownVersion

Versions = Mapping[tuple[Part, str], Sequence[ShownVersion]]
"""Versions by part and subject, the oldest first."""


class AnswerOfPair(Protocol):
    """An answer to a pair, of a person or a model."""

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""


Answer = TypeVar("Answer", bound=AnswerOfPair)
NAMES = {
    "scale": "the names of the grades",
    "facet": "the labels of {subject}",
    "guidelines": "the guidelines of {subject}",
    "topic": "the topic {subject}",
    "text": "the text of {subject}",
}
SCREENS = {"judge": "the screen for judging", "adjudicate": "the screen for adjudication"}


@dataclass(frozen=True, slots=True)
class NumberedVersion:
    """One content among all that one thing had."""

    part: Part
    subject: str
    name: str
    """Name of the content in words."""
    number: int
    """Number from 1, in the order of the first sending."""
    count: int
    """Number of all versions."""
    since: str
    """The day on which it was first sent (ISO 8601)."""
    why: str | None
    program: str | None
    sha256: str
    body: str
    in_force: bool
    """True for the version that was sent last."""

    def __str__(self) -> str:
        """The version in words, with its day and reason."""
        why = f": {self.why}" if self.why else ""
        return f"{self.name}, version {self.number} of {self.count}, first sent on {self.since}{why}"


def by_part(texts: Mapping[str, Sequence[ShownVersion]]) -> Versions:
    """The versions of papers, by part and subject. texts: by id."""
    return {("text", text_id): versions for text_id, versions in texts.items()}


def numbered(versions: Versions) -> tuple[NumberedVersion, ...]:
    """Distinct contents of each thing, numbered; a content that was sent again is no other version."""
    versions_found: list[NumberedVersion] = []
    for (part, subject), rows in versions.items():
        if subject == IMPORTED:
            continue
        first_sent: dict[str, ShownVersion] = {}
        for row in rows:
            first_sent.setdefault(row.sha256, row)
        for number, row in enumerate(first_sent.values(), start=1):
            version = NumberedVersion(
                part=part,
                subject=subject,
                name=_name(part, subject),
                number=number,
                count=len(first_sent),
                since=row.since[:10],
                why=row.why,
                program=row.program,
                sha256=row.sha256,
                body=row.body,
                in_force=row.sha256 == rows[-1].sha256,
            )
            versions_found.append(version)
    return tuple(versions_found)


def _name(part: Part, subject: str) -> str:
    if part == "screen":
        return SCREENS.get(subject, f"the screen {subject}")
    return "the guidelines" if (part, subject) == ("guidelines", WHOLE) else NAMES[part].format(subject=subject)


def changed_versions(versions: Versions) -> tuple[NumberedVersion, ...]:
    """The versions of those things that were sent in several."""
    return tuple(version for version in numbered(versions) if version.count > 1)


def later_versions(versions: Versions) -> tuple[NumberedVersion, ...]:
    """Every version but the first of its thing."""
    return tuple(version for version in numbered(versions) if version.number > 1)


def version_record(version: NumberedVersion) -> dict[str, Any]:
    """A version in the file of versions, without its content."""
    names = ("part", "subject", "number", "since", "why", "program", "in_force", "sha256")
    return {name: getattr(version, name) for name in names}


class VersionNumbers:
    """Versions of content that was shown in several, and those among them that a display has."""

    def __init__(self, versions: Versions) -> None:
        self._changed = {
            (version.part, version.subject, version.sha256): version for version in changed_versions(versions)
        }

    def of(
        self, display: Display | None, query: Query, doc_id: str, *, screen: str = "judge"
    ) -> dict[str, NumberedVersion]:
        """The versions by which an answer was given, by the part of the display; none if the display is not known.

        screen: the kind of the answer's screen.
        """
        subjects = {
            "scale": ("scale", ""),
            "facet": ("facet", query.facet),
            "guidelines": ("guidelines", query.facet),
            "screen": ("screen", screen),
            "topic": ("text", query.topic_id),
            "document": ("text", doc_id),
        }
        keys = {name: (*subject, (display or {}).get(name)) for name, subject in subjects.items()}
        return {name: self._changed[key] for name, key in keys.items() if key in self._changed}

    def __bool__(self) -> bool:
        """True if anything was shown in several versions."""
        return bool(self._changed)


def numbers_of_answers(
    displays: Mapping[Answer, Display], numbers: VersionNumbers, queries: Iterable[Query]
) -> dict[Answer, dict[str, int]]:
    """Number of each version by which an answer was given, for content that was shown in several. displays: by
    answer."""
    by_id = {query.query_id: query for query in queries} if numbers else {}
    return {
        answer: {part: version.number for part, version in versions.items()}
        for answer, display in (displays.items() if numbers else ())
        if (versions := numbers.of(display, by_id[answer.pair[0]], answer.pair[1]))
    }
