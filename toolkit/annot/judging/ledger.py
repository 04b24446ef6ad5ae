"""The ledger: the file from which, with pools, plan and server, a lost database is made anew."""

from __future__ import annotations

import json
from itertools import groupby
from typing import NamedTuple

from annot.base.errors import InputError
from annot.formats.json_lines import json_lines
from annot.judging.plan_on_record import PLAN_FILE
from annot.store import people
from annot.store.database import open_store
from annot.store.ledger import Ledger, count_revisions, read_ledger
from annot.study.workspace import Workspace, write_file

LEDGER_FILE = "ledger.jsonl"
FORM = 1


class LedgerFile(NamedTuple):
    """What the file holds."""

    rows: Ledger
    revisions: int
    """Of answers, that the database held when it was written."""


def keep_ledger(ws: Workspace) -> None:
    """Bring the file up to date with the database, where that differs.

    A database that does not know the plan on disk is a new one: the file is all that is left of the one before.
    """
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        rows, revisions = read_ledger(session), count_revisions(session)
        new = not rows or (people.read_plan(session) is None and (ws.pools / PLAN_FILE).is_file())
    path = ws.root / LEDGER_FILE
    if new:
        return
    lines = [{"annot_ledger": FORM, "revisions": revisions}]
    text = json_lines([*lines, *({"table": name, **row} for name, of_table in rows.items() for row in of_table)])
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_file(path, text)


def read_ledger_file(ws: Workspace) -> LedgerFile | None:
    """What the file holds; None where there is none. Raises InputError where it is no ledger."""
    path = ws.root / LEDGER_FILE
    if not path.is_file():
        return None
    try:
        head, *rows = map(json.loads, path.read_text(encoding="utf-8").rstrip("\n").split("\n"))
        if head.pop("annot_ledger") != FORM:
            raise ValueError("of another form")
        by_table = {
            name: [{key: row[key] for key in row if key != "table"} for row in of_table]
            for name, of_table in groupby(rows, lambda row: str(row["table"]))
        }
        return LedgerFile(by_table, int(head["revisions"]))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: not a ledger: {error}", hint="take it from a backup, or move it away") from None
