"""A later release of the program, with further migrations."""

from collections.abc import Callable

import pytest
from annot.store import schema
from annot.store.schema import Migration
from sqlalchemy import Connection

RELEASE = "9.1.0"


def plant(monkeypatch: pytest.MonkeyPatch, *changes: Callable[[Connection], None]) -> None:
    """Go on as release 9.1.0, which has these migrations besides the present ones."""
    later = [Migration(RELEASE, change) for change in changes]
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, *later])
