"""Pools and plan, read back from the files that `annot pool` and `annot plan` write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annot.base.errors import InputError
from annot.base.records import Addition, Assignment, Draw, Pool, PoolEntry
from annot.formats.faults import Faults
from annot.formats.json_lines import read_objects

HINT = "the file was changed by hand; take it from a backup"


def read_plan_lines(lines: Iterable[str], *, name: str) -> tuple[Assignment, ...]:
    """The assignments of `plan.jsonl`. Raises InputError with every line that is none."""
    faults = Faults(name)
    found = []
    for number, record in read_objects(lines, faults):
        try:
            found.append(Assignment(**record))
        except TypeError:
            faults.add(f"found the fields {', '.join(record)}, expected an assignment", line=number)
    faults.raise_if_any()
    return tuple(found)


def read_pool_lines(lines: Iterable[str], *, name: str) -> Pool:
    """The pool of one query paper, as `pool_lines` writes it. Raises InputError where it is none."""
    faults = Faults(name)
    records = [record for _, record in read_objects(lines, faults)]
    faults.raise_if_any()
    try:
        head, *entries = records
        listed = {field: tuple(head[field]) for field in ("methods", "without", "dry")}
        additions = tuple(map(_addition, head.get("additions", ())))
        return Pool(**{**head, **listed, "additions": additions, "entries": tuple(map(_entry, entries))})
    except (TypeError, KeyError, ValueError):
        raise InputError(f"{name}: no pool as `annot pool` writes it", hint=HINT) from None


def _entry(record: dict[str, Any]) -> PoolEntry:
    return PoolEntry(record["doc_id"], Draw(**record["drawn"]), tuple(Draw(**draw) for draw in record["also"]))


def _addition(record: dict[str, Any]) -> Addition:
    return Addition(**{**record, "documents": tuple(record["documents"])}, made_by=None, made_at=None)
