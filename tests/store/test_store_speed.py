"""Many rows go with one statement: with one for each, a large study would take minutes instead of seconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annot.base.records import Draw, Judgement, Pool, PoolEntry, Source
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import Store
from annot.store.facet_labels import FacetLabels, read_labels, replace_labels
from annot.store.pools import read_pools, replace_pools
from sqlalchemy import Engine, event

ROWS_AT_ONCE = 100
"""Rows of a statement, on average, and at least; the clock would only show how busy the machine is."""


@contextmanager
def many_at_once(rows: int) -> Iterator[None]:
    """Check that these rows need no more statements than `ROWS_AT_ONCE` rows each allow; prints the seconds."""
    statements: list[str] = []

    def count(_connection: Any, _cursor: Any, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", count)
    began = time.monotonic()
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    print(f"{rows} rows: {len(statements)} statements, {time.monotonic() - began:.1f} s")
    assert 0 < len(statements) <= rows / ROWS_AT_ONCE


def test_facet_labels_are_written_and_read_many_at_once(store: Store) -> None:
    labels = [
        FacetLabels(f"{n:09d}", ("background", "method", "method", "result"), Source.CARRIED) for n in range(20_000)
    ]
    for _ in range(2):
        with many_at_once(len(labels)), store.begin() as session:
            replace_labels(session, labels)
    with many_at_once(len(labels)), store.read() as session:
        assert sum(1 for _ in read_labels(session)) == 20_000


def test_pool_entries_are_written_and_read_many_at_once(store: Store) -> None:
    pools = [
        Pool(
            f"p{paper}", "round-robin", 33, 500, 13, ("cited", "m"), (), (), 0,
            tuple(
                PoolEntry(f"d{n}", Draw("m", n + 1, 1 / (n + 1), n + 1), (Draw("other", n + 2, 0.5, None),))
                for n in range(250)
            ),
        )
        for paper in range(40)
    ]  # fmt: skip
    sha256 = {pool.topic_id: "r" for pool in pools}
    with many_at_once(10_000), store.begin() as session:
        replace_pools(session, pools, rankings_sha256=sha256)
    with many_at_once(10_000), store.read() as session:
        assert len(read_pools(session)) == 40


def test_judgements_are_recorded_and_read_many_at_once(study: Store) -> None:
    payload = {"result": [{"value": {"start": n, "text": "word " * 20}} for n in range(10)]}
    judged = [
        SourcedJudgement(Judgement("p1-method", f"d{n // 2}", f"a{n % 2 + 1}", n % 4), "label-studio", str(n), payload)
        for n in range(5_000)
    ]
    for expected in ((5_000, 0, 0), (0, 0, 5_000)):
        with many_at_once(len(judged)), study.begin() as session:
            assert JUDGEMENTS.record(session, judged, recorded_at="2024-01-01T00:00:00Z") == expected
    with many_at_once(len(judged)), study.read() as session:
        assert len(JUDGEMENTS.records(session)) == 5_000
