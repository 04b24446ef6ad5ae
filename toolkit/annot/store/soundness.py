"""Whether the judgements and adjudications on record are those that were recorded: hash by hash, number by number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select

from annot.base.records import Adjudication, Judgement
from annot.store.base import LINE, table
from annot.store.judging_models import AdjudicationRow, JudgementRow, TrialJudgementRow
from annot.store.revisions import BESIDE_RECORD, hash_of
from annot.store.rows import field_names

KINDS = ((JudgementRow, Judgement), (AdjudicationRow, Adjudication), (TrialJudgementRow, Judgement))


def unsound_revisions(connection: Connection) -> Iterator[str]:
    """What speaks against the append-only tables: contents without their hash, and gaps between the revisions."""
    for model, record in KINDS:
        rows = table(model)
        names = [name for name in field_names(record) if name != "revision"] + [*BESIDE_RECORD]
        line = LINE[rows.name]
        last: tuple[tuple[Any, ...], int] = ((), 0)
        order = [rows.c[name] for name in (*line, "revision")]
        for row in connection.execute(select(rows).order_by(*order).execution_options(yield_per=1_000)).mappings():
            place = f"{rows.name} {row['id']} ({row['query_id']} {row['doc_id']}, revision {row['revision']})"
            if row["content_sha256"] not in _hashes({name: row[name] for name in names}):
                yield f"{place}: its content is not what was recorded"
            key = tuple(row[name] for name in line)
            expected = last[1] + 1 if last[0] == key else 1
            if row["revision"] != expected:
                yield f"{place}: expected revision {expected}"
            last = key, row["revision"]


def _hashes(content: dict[str, Any]) -> Iterator[str]:
    """The hash of the content in every way in which it may have been recorded."""
    yield hash_of(content)
    seconds = content["lead_time"]
    if seconds is not None and seconds == int(seconds):
        # Whole seconds may have been recorded as such; the database has one kind of number there.
        yield hash_of({**content, "lead_time": int(seconds)})
