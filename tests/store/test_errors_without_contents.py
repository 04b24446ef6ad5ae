"""Errors of the database name the statement, not its values: these may be the words of an assessor."""

import os
from pathlib import Path

import pytest
from annot.store.database import open_store
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError


@pytest.mark.parametrize("writable", [True, False], ids=["to write", "to read only"])
def test_an_error_does_not_show_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    path = tmp_path / "annot.db"
    open_store(f"sqlite:///{path}").close()
    if not writable:
        monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)
    with open_store(f"sqlite:///{path}") as store, store.read() as session, pytest.raises(DBAPIError) as error:
        session.connection().execute(text("SELECT * FROM no_such_table WHERE said = :said"), {"said": "a secret"})
    assert "no_such_table" in str(error.value)
    assert "secret" not in str(error.value)
