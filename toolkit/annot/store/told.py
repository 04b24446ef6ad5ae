"""What people were told of the publication of their words, and what they consented to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from sqlmodel import Session

from annot.store.judging_models import ToldRow
from annot.store.rows import insert_records, read_records

Kind = Literal["comments", "reasons"]
"""What assessors write beside their grades, and what adjudicators write beside the final ones."""
How = Literal["letter", "screen", "consent"]


class Told(NamedTuple):
    """What one person knows from one moment on."""

    assessor: str
    kind: Kind
    how: How
    """By a letter of `annot invite` or the screen they work on; `consent` is to all that they wrote until then."""
    at: str
    """ISO 8601, UTC."""
    published: bool
    """Whether it says that their words are published."""
    words: str = ""
    """How the lead has the consent."""


def read_told(session: Session) -> tuple[Told, ...]:
    """Everything on record, the oldest first."""
    return tuple(sorted(read_records(session, ToldRow, Told), key=lambda one: (one.at, one.assessor, one.kind)))


def note_told(session: Session, told: Iterable[Told]) -> None:
    """Note these down, but for what the last of the same kind said as well."""
    last = {(one.assessor, one.kind, one.how): one for one in read_told(session)}
    new = []
    for one in told:
        before = last.get((one.assessor, one.kind, one.how))
        if one.how == "consent" or (one.published if before is None else before.published != one.published):
            new.append(one)
    if new:
        insert_records(session, ToldRow, new)
