"""What is on record, part by part, as one hash each: whether what was made of a part still follows from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, SQLModel

from annot.base.records import Source
from annot.store.base import table
from annot.store.facet_labels import count_by_origin
from annot.store.judging_models import (
    AcceptedRow,
    AssessorRow,
    ChainRow,
    GoldRow,
    GuidelinesRow,
    PlanRow,
    ReturnedRow,
    TrialAssignmentRow,
    TrialRow,
)
from annot.store.models import FacetLabelsRow, ImportRow, PoolAdditionRow, PoolRow, QueryRow, RunRow, SplitRow

PARTS: dict[str, tuple[type[SQLModel], ...]] = {
    "queries": (QueryRow,),
    "pools": (PoolRow, PoolAdditionRow),
    "people": (AssessorRow,),
    "planned": (PlanRow, ReturnedRow),
    "judged": (AcceptedRow,),
    "hidden": (TrialAssignmentRow,),
    "trials": (TrialRow, GoldRow),
    "guidelines": (GuidelinesRow,),
    "runs": (RunRow,),
    "splits": (SplitRow,),
    "imports": (ImportRow,),
}
CHAINS = {"judged": ("judgement", "adjudication"), "trials": ("trial_judgement",)}
"""The append-only tables, of which the last link tells all rows."""


def read_states(session: Session) -> dict[str, str]:
    """A hash of each part; accounts are in none."""
    ends = {row.name: [row.length, row.last_sha256] for row in session.connection().execute(table(ChainRow).select())}
    found = {
        part: state([*(_rows(session, model) for model in models), [ends.get(name) for name in CHAINS.get(part, ())]])
        for part, models in PARTS.items()
    }
    corrected = table(FacetLabelsRow).c
    wanted = select(corrected.paper_id, corrected.labels).where(corrected.origin == Source.CORRECTED)
    rows = sorted(map(tuple, session.connection().execute(wanted)))
    return found | {"labels": state([sorted(count_by_origin(session).items()), rows])}


def state(value: Any) -> str:
    """The hash of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _rows(session: Session, model: type[SQLModel]) -> Iterable[Any]:
    rows = table(model)
    columns = [column for column in rows.c if column.name != "account"]
    found = session.connection().execute(select(*columns).order_by(*rows.primary_key.columns))
    return [list(row) for row in found]
