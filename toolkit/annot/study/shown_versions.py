"""The versions of what people were shown, numbered, and which of them each answer was given by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annot.base.records import WHOLE
from annot.store.shown import IMPORTED, Display, Part, ShownVersion

Versions = Mapping[tuple[Part, str], Sequence[ShownVersion]]
"""By part and subject, the oldest first."""
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
    """What it is a version of, in words."""
    number: int
    """From 1, in the order in which they were first sent."""
    count: int
    """How many there are."""
    since: str
    """The day on which it was first sent (ISO 8601)."""
    why: str | None
    program: str | None
    sha256: str
    body: str
    in_force: bool
    """Whether it is the one that was sent last."""

    def __str__(self) -> str:
        """The version in words, with its day and reason."""
        why = f": {self.why}" if self.why else ""
        return f"{self.name}, version {self.number} of {self.count}, first sent on {self.since}{why}"


def numbered(versions: Versions) -> tuple[NumberedVersion, ...]:
    """Each distinct content of each thing; one that was sent again is no other version."""
    found: list[NumberedVersion] = []
    for (part, subject), rows in versions.items():
        if subject == IMPORTED:
            continue
        first: dict[str, ShownVersion] = {}
        for row in rows:
            first.setdefault(row.sha256, row)
        for number, row in enumerate(first.values(), start=1):
            made = NumberedVersion(
                part=part,
                subject=subject,
                name=_name(part, subject),
                number=number,
                count=len(first),
                since=row.since[:10],
                why=row.why,
                program=row.program,
                sha256=row.sha256,
                body=row.body,
                in_force=row.sha256 == rows[-1].sha256,
            )
            found.append(made)
    return tuple(found)


def _name(part: Part, subject: str) -> str:
    if part == "screen":
        return SCREENS.get(subject, f"the screen {subject}")
    return "the guidelines" if (part, subject) == ("guidelines", WHOLE) else NAMES[part].format(subject=subject)


def changed_versions(versions: Versions) -> tuple[NumberedVersion, ...]:
    """The versions of those things that were sent in several."""
    return tuple(one for one in numbered(versions) if one.count > 1)


def later_versions(versions: Versions) -> tuple[NumberedVersion, ...]:
    """Every version but the first of its thing."""
    return tuple(version for version in numbered(versions) if version.number > 1)


def versions_in(
    display: Display | None, facet: str, changed: Sequence[NumberedVersion], *, screen: str = "judge"
) -> list[NumberedVersion]:
    """The versions by which an answer was given, of what has several. facet: of its query. screen: its kind.

    display: what its task showed; nothing is known without.
    """
    subjects = {"scale": "", "facet": facet, "guidelines": facet, "screen": screen}
    return [
        one
        for one in changed
        if display is not None and subjects.get(one.part) == one.subject and display.get(one.part) == one.sha256
    ]
