"""A Dask scheduler with workers on this machine, in processes of their own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from annot.base.parallel import Engine

QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "5s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "5s",
    "DASK_DISTRIBUTED__ADMIN__TICK__CYCLE": "10s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
}
"""Workers that watch themselves take a minute of processor until the last test: a seventh of it with these."""


@contextmanager
def local_cluster(*, workers: int = 2, threads: int = 1) -> Iterator[Engine]:
    """Workers that Dask starts again when they die; all of it ends with this process, however that ends."""
    pytest.importorskip("distributed")
    with subprocess.Popen(
        [sys.executable, __file__, str(workers), str(threads)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ
        | {
            # Workers import what they are sent from where this process imports it.
            "PYTHONPATH": os.pathsep.join(sys.path),
            # One that dies again within this time is taken for lost, and not started any more.
            "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1h",
            **QUIET,
        },
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "the cluster did not start"
        try:
            yield Engine(processes=1, cluster=address)
        finally:
            process.stdin.close()


async def _serve(workers: int, threads: int) -> None:
    from distributed import LocalCluster

    made = LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=":0", asynchronous=True)
    async with made as cluster:
        print(cluster.scheduler_address, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(*map(int, sys.argv[1:])))
