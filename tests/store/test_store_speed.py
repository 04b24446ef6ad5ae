"""Sizes of a large study: a statement for each row would take minutes, many rows at once take seconds."""

from __future__ import annotations

import time

from annot.records import Draw, Judgement, Pool, PoolEntry, Source
from annot.store.database import Store
from annot.store.facet_labels import FacetLabels, read_labels, replace_labels
from annot.store.judgements import SourcedJudgement, read_judgements, record_judgements
from annot.store.pools import read_pools, replace_pools

PATIENCE = 120.0
"""Seconds; an idle machine needs a tenth of it."""


def test_200_000_facet_labels_are_written_and_read_in_seconds(store: Store) -> None:
    labels = [
        FacetLabels(f"{n:09d}", ("background", "method", "method", "result"), Source.CARRIED) for n in range(200_000)
    ]
    started = time.monotonic()
    with store.begin() as session:
        replace_labels(session, labels)
    written = time.monotonic()
    with store.begin() as session:
        replace_labels(session, labels)
        assert sum(1 for _ in read_labels(session)) == 200_000
    print(f"labels: written {written - started:.1f} s, again {time.monotonic() - written:.1f} s")
    assert time.monotonic() - started < PATIENCE


def test_100_000_pool_entries_are_written_and_read_in_seconds(store: Store) -> None:
    pools = [
        Pool(
            f"p{paper}", "round-robin", 33, 500, 13, ("cited", "m"), (), (), 0,
            tuple(
                PoolEntry(f"d{n}", Draw("m", n + 1, 1 / (n + 1), n + 1), (Draw("other", n + 2, 0.5, None),))
                for n in range(250)
            ),
        )
        for paper in range(400)
    ]  # fmt: skip
    sha256 = {pool.paper_id: "r" for pool in pools}
    started = time.monotonic()
    with store.begin() as session:
        replace_pools(session, pools, rankings_sha256=sha256)
    written = time.monotonic()
    with store.read() as session:
        assert len(read_pools(session)) == 400
    print(f"pools: written {written - started:.1f} s, read {time.monotonic() - written:.1f} s")
    assert time.monotonic() - started < PATIENCE


def test_20_000_judgements_are_recorded_and_read_in_seconds(study: Store) -> None:
    payload = {"result": [{"value": {"start": n, "text": "word " * 20}} for n in range(10)]}
    judged = [
        SourcedJudgement(Judgement("p1-method", f"d{n // 2}", f"a{n % 2 + 1}", n % 4), "label-studio", str(n), payload)
        for n in range(20_000)
    ]
    started = time.monotonic()
    for expected in ((20_000, 0, 0), (0, 0, 20_000)):
        with study.begin() as session:
            assert record_judgements(session, judged, recorded_at="2024-01-01T00:00:00Z") == expected
    written = time.monotonic()
    with study.read() as session:
        assert len(read_judgements(session)) == 20_000
    print(f"judgements: recorded twice {written - started:.1f} s, read {time.monotonic() - written:.1f} s")
    assert time.monotonic() - started < PATIENCE
