"""Moments as text, read back."""

from __future__ import annotations

from datetime import UTC, datetime

from annot.base.errors import InputError


def moment_of(text: str | None) -> datetime | None:
    """A day or a moment in ISO 8601, UTC where it has no zone; None for anything else.

    >>> moment_of("2031-03-14").isoformat()
    '2031-03-14T00:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_given(text: str, *, option: str) -> datetime:
    """What was given with an option. Raises InputError where it is no moment."""
    moment = moment_of(text)
    if moment is None:
        raise InputError(f"{option} {text!r}: no day, expected ISO 8601", hint="for example 2031-03-14")
    return moment
