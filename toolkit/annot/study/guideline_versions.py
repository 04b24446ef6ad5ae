"""Guidelines that change in the middle of a study: noticed before they are sent, and who judged by which."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from annot.errors import FindingError
from annot.records import Judgement
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
            f"the guidelines of {', '.join(others)} have changed since {versions[others[0]][-1].sent_at[:10]}",
            hint='send them with `--guidelines-changed "why"`, and agreement is shown by version; or take it back',
        )
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    new = [facet for facet in facets if facet not in versions or facet in others]
    return [_sent(facet, now, _text(ws, facet), why if facet in others else None) for facet in new]


def version_of(judgement: Judgement, versions: tuple[SentGuidelines, ...]) -> int:
    """By which version the judgement was given, from 1: that of its moment; the first where it has none."""
    if judgement.judged_at is None:
        return 1
    moment = datetime.fromisoformat(judgement.judged_at)
    return max(1, sum(datetime.fromisoformat(sent.sent_at) <= moment for sent in versions))


def _sent(facet: str, at: str, text: str, why: str | None) -> SentGuidelines:
    return SentGuidelines(facet, at, hashlib.sha256(text.encode()).hexdigest(), text, why)


def _text(ws: Workspace, facet: str) -> str:
    return guidelines.shown(ws, facet).text
