"""A Dask scheduler with workers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from annot.shards import Engine


@contextmanager
def local_cluster(*, workers: int = 2, threads: int = 1) -> Iterator[Engine]:
    """Workers in processes of their own, which Dask starts again when they die."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=":0") as made:
        yield Engine(processes=1, cluster=made.scheduler_address)
