"""The guidelines as they were sent, each version whole: what stood on the screen when a pair was judged."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from sqlmodel import Session

from annot.store.models import GuidelinesRow
from annot.store.rows import insert_records, read_records


class SentGuidelines(NamedTuple):
    """The guidelines of one facet from one moment on."""

    facet: str
    sent_at: str
    """ISO 8601, UTC."""
    sha256: str
    """Of `text`."""
    text: str
    """The page of the facet and the general one, Markdown."""
    why: str | None
    """Why they were changed, in the lead's words; None for the first."""


def record_guidelines(session: Session, sent: Iterable[SentGuidelines]) -> None:
    """Note down that these are sent from now on; what was sent before stays on record."""
    insert_records(session, GuidelinesRow, sent)


def read_guidelines(session: Session) -> dict[str, tuple[SentGuidelines, ...]]:
    """The versions of each facet's guidelines, the oldest first."""
    found: dict[str, tuple[SentGuidelines, ...]] = {}
    for sent in sorted(read_records(session, GuidelinesRow, SentGuidelines), key=attrgetter("facet", "sent_at")):
        found[sent.facet] = (*found.get(sent.facet, ()), sent)
    return found
