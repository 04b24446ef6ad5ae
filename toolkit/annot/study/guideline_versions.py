"""Guidelines that change in the middle of a study: noticed before they are sent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from annot.base.errors import FindingError
from annot.store.guidelines import SentGuidelines
from annot.study import guidelines
from annot.study.workspace import Workspace

Versions = Mapping[str, tuple[SentGuidelines, ...]]
"""By facet, the oldest first."""


def changed(ws: Workspace, facets: Iterable[str], versions: Versions) -> list[str]:
    """Facets whose guidelines are no longer those that were sent last."""
    return [facet for facet in facets if facet in versions and versions[facet][-1].text != _text(ws, facet)]


def to_send(ws: Workspace, facets: Iterable[str], versions: Versions, *, why: str | None) -> list[SentGuidelines]:
    """The guidelines of these facets that are not on record as they are now.

    Raises FindingError where some have changed since they were sent and nobody says why.
    """
    facets = sorted(facets)
    others = changed(ws, facets, versions)
    if others and not (why or "").strip():
        raise FindingError(
            f"the guidelines of {', '.join(others)} have changed", hint='send them with --guidelines-changed "why"'
        )
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    new = [facet for facet in facets if facet not in versions or facet in others]
    texts = {facet: _text(ws, facet) for facet in new}
    return [
        SentGuidelines(facet, now, _sha256(text), text, why if facet in others else None)
        for facet, text in texts.items()
    ]


def distinct(versions: Iterable[SentGuidelines]) -> list[SentGuidelines]:
    """The versions of one facet by their first sending: a text that was sent again is no other version."""
    first: dict[str, SentGuidelines] = {}
    for sent in versions:
        first.setdefault(sent.sha256, sent)
    return list(first.values())


def hashes(ws: Workspace, facets: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of the guidelines of each facet as they are now."""
    return {facet: _sha256(_text(ws, facet)) for facet in sorted(facets)}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(ws: Workspace, facet: str) -> str:
    return guidelines.shown(ws, facet).text
